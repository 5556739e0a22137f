package inbound_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// bankForm is how a bank tells of a movement: its SMS, the notice of its app, and what their
// texts have of the time. Every form has the account, the signed amount, the time, the
// balance and the content, in this order of arguments.
type bankForm struct {
	bank, sender, pack, sms, notice, clock string
	told                                   bool // it tells the balance
}

var bankForms = []bankForm{
	{"VCB", "Vietcombank", "com.VCB", "SD TK %[1]s %[2]sVND luc %[3]s. SD %[4]sVND. Ref %[5]s",
		"Số dư TK VCB %[1]s %[2]s VND lúc %[3]s. Số dư %[4]s VND. Ref %[5]s", "02-01-2006 15:04:05", true},
	{"TCB", "Techcombank", "vn.com.techcombank.bb.app", "TK %[1]s\nSo tien GD:%[2]s\nSo du:%[4]s\n%[5]s",
		"%[2]s VND\nTai khoan Thanh toan: %[1]s\nSo du: VND %[4]s\n%[5]s", "", true},
	{"MBB", "MBBank", "com.mbmobile", "TK %[1]s|GD: %[2]sVND %[3]s |SD: %[4]sVND|ND: %[5]s",
		"TK %[1]s|GD: %[2]sVND %[3]s|SD:%[4]sVND|ND: %[5]s", "02/01/06 15:04", true},
	{"ACB", "ACB", "mobile.acb.com.vn", "ACB: TK %[1]s(VND) %[2]s luc %[3]s. GD: %[5]s",
		"ACB: TK %[1]s (VND) %[2]s luc %[3]s GD: %[5]s", "15:04 02/01/2006", false},
}

// teller reports the movements of one bank account, in their order.
type teller struct {
	source inbound.Source
	notice bool
	told   int
}

// shopBank is a bank account with its movements, and who tells of them.
type shopBank struct {
	bankForm
	id        int64
	account   string
	movements []bankMovement
	tellers   []*teller
	of        map[int64]int // the movement that each call told
	log       []string
}

type bankMovement struct {
	at      time.Time
	amount  int64
	out     bool
	balance int64
	content string
	number  string
}

type oracle struct {
	*webtest.World
	random *rand.Rand
	calls  int
}

// Whatever an SMS, a notice of an app and a provider tell of the movements of a bank account,
// again and again, early and late, among payments that really came twice: no movement is two
// transactions, and none is lost. What can't be known waits for a person.
//
//	BAOCO_FULL=1 go test ./web/inbound -run TestOneNoticeIsOneMovement -v
func TestOneNoticeIsOneMovement(t *testing.T) {
	t.Parallel()
	o := &oracle{World: webtest.NewWorld(t)}
	capcom6, toURL, forwarder := o.Source("capcom6", "", ""), o.Source("sms-to-url", "", ""), o.Source("smsforwarder", "", "")
	sepay := o.Sepay()
	movements, decisions := 0, 0
	for most, i := apptest.Rounds(100, 10_000), 0; o.calls < most; i++ {
		o.random = rand.New(rand.NewPCG(34, uint64(i)))
		b := &shopBank{bankForm: bankForms[i%len(bankForms)], account: fmt.Sprint(190300000 + i), of: map[int64]int{}}
		linked := o.Link(b.bank, b.account)
		b.id = linked.ID
		b.movements = o.movements()
		all := []*teller{{source: capcom6}, {source: toURL}, {source: forwarder}, {source: forwarder, notice: true}, {source: sepay}}
		o.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		b.tellers = all[:1+o.random.IntN(3)]
		for {
			open := slices.DeleteFunc(slices.Clone(b.tellers), func(r *teller) bool { return r.told == len(b.movements) })
			if len(open) == 0 {
				break
			}
			o.tell(b, open[o.random.IntN(len(open))])
			o.check(b)
		}
		decisions += o.settle(b)
		movements += len(b.movements)
		if n := len(o.recorded(b)); n != len(b.movements) {
			t.Fatalf("%d transactions for %d movements\n%s", n, len(b.movements), strings.Join(b.log, "\n"))
		}
		o.Unlinks(b.id)
	}
	t.Logf("%d movements, told %d times; %d decisions by a person", movements, o.calls, decisions)
}

func (o *oracle) movements() (list []bankMovement) {
	at, balance := time.Now().Add(-12*time.Hour), int64(10_000_000)
	contents := []string{"NGUYEN VAN A chuyen tien", "ck", "", "ANH BA tra tien ca phe", "mua 2 bo ban ghe", "0912345678 thanh toan"}
	for n := range 3 + o.random.IntN(8) {
		at = at.Add(time.Duration(o.random.IntN(400)) * time.Second)
		m := bankMovement{at: at, amount: 50_000 * (1 + o.random.Int64N(2)), out: o.random.IntN(8) == 0,
			number: fmt.Sprintf("FT%08d", o.random.IntN(1e8)), content: contents[o.random.IntN(len(contents))]}
		if o.random.IntN(3) == 0 {
			m.content = fmt.Sprintf("LE THI B DH%06d", 100_000+n)
		}
		if balance += m.amount; m.out {
			balance -= 2 * m.amount
		}
		m.balance = balance
		list = append(list, m)
	}
	return list
}

// tell has a teller tell its next movement, perhaps more than once.
func (o *oracle) tell(b *shopBank, r *teller) {
	n := r.told
	r.told++
	m, zone := b.movements[n], o.Services.Ledger.Zone()
	for again := range 1 + o.random.IntN(5)/3 {
		before, late := o.newestCall(), time.Duration(o.random.IntN(90))*time.Second
		var got webtest.Counts
		if r.source.Provider == "sepay" {
			x := apptest.Transfer{ID: fmt.Sprint(b.account, "-", n), Number: m.number, Account: b.account, Gateway: b.bank,
				Content: m.content + " ", Amount: m.amount, Date: app.FormatTime(m.at, zone),
				Direction: map[bool]string{true: "OUT", false: "IN"}[m.out]}
			got = o.Sends(r.source, x.Sepay()).Counts(o.T)
		} else {
			if b.clock != "" && b.told && o.random.IntN(4) == 0 {
				late = time.Duration(o.random.IntN(8*60)) * time.Minute // the phone was off
			}
			x := b.text(m, r.notice, zone)
			x.Received, x.ID = m.at.Add(late), fmt.Sprint(b.account, n, again)
			body := map[app.Provider]func() string{"capcom6": x.Capcom6, "sms-to-url": x.SMSToURL,
				"smsforwarder": func() string { return x.Forwarder(r.source, time.Now()).Encode() }}[r.source.Provider]()
			got = o.Sends(r.source, body).Counts(o.T)
		}
		o.calls++
		if id := o.newestCall(); id != before {
			b.of[id] = n
		}
		b.log = append(b.log, fmt.Sprintf("%s notice=%t tells of %d (%s, %s late, %d, balance %d, %q): %+v", r.source.Provider, r.notice, n,
			m.at.In(zone).Format(time.TimeOnly), late, m.amount, m.balance, m.content, got))
		if got.Rejected+got.Unassigned+got.Conflicts != 0 {
			o.T.Fatalf("%s", strings.Join(b.log, "\n"))
		}
	}
}

// text is the SMS of a movement, or the notice of the bank's app.
func (b *shopBank) text(m bankMovement, notice bool, zone *time.Location) apptest.PhoneText {
	grouped := func(n int64) string {
		s := fmt.Sprint(n)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	}
	sign, clock := map[bool]string{true: "-", false: "+"}[m.out], ""
	if b.clock != "" {
		clock = m.at.In(zone).Format(b.clock)
	}
	x := apptest.PhoneText{Sender: b.sender, Text: b.sms}
	if notice {
		x = apptest.PhoneText{Sender: b.pack, Text: b.notice, Title: "Thông báo biến động số dư"}
	}
	x.Text = fmt.Sprintf(x.Text, b.account, sign+grouped(m.amount), clock, grouped(m.balance), m.content)
	return x
}

// newestCall is the id of the newest call in the log; 0: there is none.
func (o *oracle) newestCall() int64 {
	list, _, err := o.Services.Inbound.InboundEventsBefore(o.T.Context(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 1}})
	if err != nil {
		o.T.Fatal(err)
	}
	if len(list) == 0 {
		return 0
	}
	return list[0].ID
}

// recorded are the transactions of a bank account.
func (o *oracle) recorded(b *shopBank) (list []app.Transaction) {
	page, err := o.Services.Ledger.Transactions(o.T.Context(), 1, app.TransactionFilter{BankAccountID: b.id,
		Page: app.Page{Number: 1, Size: 100}})
	if err != nil {
		o.T.Fatal(err)
	}
	return page.Rows
}

type waitingCall struct{ event, transaction int64 }

// waiting are the calls that wait for a person, the oldest first.
func (o *oracle) waiting(b *shopBank) (list []waitingCall) {
	events, _, err := o.Services.Inbound.InboundEvents(o.T.Context(), 1,
		inbound.Filter{State: inbound.OutcomeMayBeRepeat, Page: app.Page{Number: 1, Size: 100}})
	if err != nil {
		o.T.Fatal(err)
	}
	for _, e := range events {
		for _, i := range e.Items {
			if _, own := b.of[e.ID]; own && i.State == inbound.OutcomeMayBeRepeat {
				list = append(list, waitingCall{e.ID, i.TransactionID})
			}
		}
	}
	slices.Reverse(list)
	return list
}

// check counts by amount and direction what was told, what is recorded and what waits.
func (o *oracle) check(b *shopBank) {
	type group struct {
		amount int64
		out    bool
	}
	toldOf, recorded, kept := map[group]int{}, map[group]int{}, map[group]int{}
	most := 0
	for _, r := range b.tellers {
		most = max(most, r.told)
	}
	for _, m := range b.movements[:most] {
		toldOf[group{m.amount, m.out}]++
	}
	for _, x := range o.recorded(b) {
		recorded[group{x.Amount, x.Type == app.Out}]++
	}
	for _, w := range o.waiting(b) {
		m := b.movements[b.of[w.event]]
		kept[group{m.amount, m.out}]++
	}
	for g, n := range toldOf {
		if recorded[g] > n || recorded[g]+kept[g] < n {
			o.T.Fatalf("%s: %d transactions of %v and %d that wait for %d movements\n%s", b.bank, recorded[g], g, kept[g], n,
				strings.Join(b.log, "\n"))
		}
	}
}

// settle does what a person does who knows the movements.
func (o *oracle) settle(b *shopBank) (decisions int) {
	for {
		list := o.waiting(b)
		if len(list) == 0 {
			return decisions
		}
		n := b.of[list[0].event]
		repeat := o.isRecorded(b, n) && o.standsFor(b, list[0].transaction, n)
		settled, err := o.Services.Inbound.SettleRepeat(o.T.Context(), 1, inbound.RepeatSettle{EventID: list[0].event, Repeat: repeat},
			time.Now())
		if err != nil {
			o.T.Fatal(err)
		}
		b.log = append(b.log, fmt.Sprintf("a person: the call about %d repeats %d: %t, %s", n, list[0].transaction, repeat, settled.Outcome))
		decisions++
		o.check(b)
	}
}

// movementsOf are those that calls told which are recorded as a transaction.
func (o *oracle) movementsOf(b *shopBank, transaction int64) (list []int) {
	for id, n := range b.of {
		e, err := o.Services.Inbound.ReadInboundEvent(o.T.Context(), 1, id)
		if err != nil {
			o.T.Fatal(err)
		}
		for _, i := range e.Elements {
			if i.TransactionID == transaction && i.State != inbound.OutcomeMayBeRepeat {
				list = append(list, n)
			}
		}
	}
	return list
}

func (o *oracle) isRecorded(b *shopBank, n int) bool {
	return slices.ContainsFunc(o.recorded(b), func(x app.Transaction) bool { return slices.Contains(o.movementsOf(b, x.ID), n) })
}

// standsFor tells whether a transaction is of movement n, or of one that nobody can tell from it.
func (o *oracle) standsFor(b *shopBank, transaction int64, n int) bool {
	return slices.ContainsFunc(o.movementsOf(b, transaction), func(other int) bool {
		x, m := b.movements[other], b.movements[n]
		return x.amount == m.amount && x.out == m.out && x.content == m.content
	})
}
