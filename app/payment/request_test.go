package payment_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/paymentcode"
	"baoco/app/services"
	"baoco/app/upkeep"
)

// cashDesk is a shop that asks for payments, at a time that its test says.
type cashDesk struct {
	*apptest.World
	now      time.Time
	payments int
}

func newCashDesk(t *testing.T) *cashDesk {
	t.Helper()
	d := &cashDesk{World: apptest.Open(t, apptest.NewFile(t), services.Config{}), now: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)}
	t.Cleanup(d.Close)
	d.Link("ACB", "1000")
	d.CodePattern("DH")
	return d
}

// ask creates a payment request.
func (d *cashDesk) ask(in payment.RequestCreate) payment.Request {
	d.T.Helper()
	r, err := d.Services.Payments.CreatePaymentRequest(context.Background(), 1, in, app.IdempotencyKey{}, d.now)
	apptest.Must(d.T, err)
	return r
}

// pay records money in on a bank account, or money out of it where amount is negative.
func (d *cashDesk) pay(number string, amount int64, content string) app.Transaction {
	d.T.Helper()
	return d.payAt(d.now, number, amount, content)
}

// payAt is pay for a transfer that was made at another time than it is recorded.
func (d *cashDesk) payAt(at time.Time, number string, amount int64, content string) app.Transaction {
	d.T.Helper()
	return d.record(1, inbound.Incoming{AccountNumber: number, Amount: amount, Content: content, Time: at})
}

// payOn is pay for a transfer of which only the day is known.
func (d *cashDesk) payOn(day app.Day, amount int64, content string) app.Transaction {
	d.T.Helper()
	return d.record(1, inbound.Incoming{AccountNumber: "1000", Amount: amount, Content: content, Time: day.Start(d.Services.Ledger.Zone()),
		DateOnly: true})
}

func (d *cashDesk) record(accountID int64, e inbound.Incoming) app.Transaction {
	d.T.Helper()
	d.payments++
	e.EventID, e.Gateway, e.Type = fmt.Sprint("pay", d.payments), "ACB", app.In
	if e.AccountNumber == "2000" {
		e.Gateway = "VCB"
	}
	if e.Amount < 0 {
		e.Type, e.Amount = app.Out, -e.Amount
	}
	t, _, err := d.Services.Inbound.RecordByHand(context.Background(), accountID, inbound.TransactionCreate{Incoming: e}, d.now)
	apptest.Must(d.T, err)
	return t
}

// today is the day of now in the zone of the installation.
func (d *cashDesk) today() app.Day { return app.DayOf(d.now, d.Services.Ledger.Zone()) }

// set changes the settings of the account.
func (d *cashDesk) set(u app.AccountUpdate) {
	d.T.Helper()
	_, err := d.Services.Ledger.UpdateAccount(context.Background(), 1, u)
	apptest.Must(d.T, err)
}

// read gives what has become of a request.
func (d *cashDesk) read(r payment.Request) payment.Request {
	d.T.Helper()
	r, err := d.Services.Payments.PaymentRequest(context.Background(), 1, r.ID)
	apptest.Must(d.T, err)
	return r
}

func (d *cashDesk) cancel(r payment.Request) {
	d.T.Helper()
	_, err := d.Services.Payments.CancelPaymentRequest(context.Background(), 1, r.ID, d.now)
	apptest.Must(d.T, err)
}

// is checks what has become of a request: its status, what came and how much is due.
func (d *cashDesk) is(r payment.Request, status app.PaymentStatus, received, rest int64) {
	d.T.Helper()
	now := d.read(r)
	if now.Status(d.now) != status || now.Received != received || now.Rest() != rest {
		d.T.Errorf("it is %s, received %d, rest %d; want %s, %d, %d", now.Status(d.now), now.Received, now.Rest(), status, received, rest)
	}
	page, err := d.Services.Payments.PaymentRequests(context.Background(), 1,
		payment.Filter{Status: status, Code: r.Code, Page: app.Page{Number: 1, Size: 100}}, d.now)
	apptest.Must(d.T, err)
	if !slices.ContainsFunc(page.Rows, func(other payment.Request) bool { return other.ID == r.ID }) {
		d.T.Errorf("it isn't in the list of those that are %s", status)
	}
}

// sent is what the deliveries of a transaction say of its request.
func sent(t app.Transaction) string {
	p := delivery.PayloadOf(t).PaymentRequest
	if p.ID == 0 {
		return "none"
	}
	return fmt.Sprintf("%d %s %s %d/%d", p.ID, p.Reference, p.Status, p.Received, p.Due)
}

func (d *cashDesk) says(t app.Transaction, want string) {
	d.T.Helper()
	if got := sent(t); got != want {
		d.T.Errorf("its deliveries say %q, want %q", got, want)
	}
}

func TestPaymentStatus(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r := d.ask(payment.RequestCreate{Amount: 200_000, Reference: "HD-1", ExpiresIn: 30 * time.Minute})
	d.is(r, app.PaymentOpen, 0, 200_000)
	d.says(d.pay("1000", 200, "CK"+r.Code), "1 HD-1 underpaid 200/200000")
	d.is(r, app.PaymentUnderpaid, 200, 199_800)
	d.says(d.pay("1000", 199_799, r.Code+" cam on"), "1 HD-1 underpaid 199999/200000")
	d.says(d.pay("1000", 1, r.Code), "1 HD-1 paid 200000/200000")
	d.is(r, app.PaymentPaid, 200_000, 0)
	d.says(d.pay("1000", 1, r.Code), "1 HD-1 overpaid 200001/200000")
	d.is(r, app.PaymentOverpaid, 200_001, 0)
	d.says(d.pay("1000", -200_000, r.Code), "none") // money out
	d.says(d.pay("1000", 5, "DH00000000"), "none")
	d.is(r, app.PaymentOverpaid, 200_001, 0)
	if _, err := d.Services.Payments.CancelPaymentRequest(t.Context(), 1, r.ID, d.now); err != payment.ErrIsPaid {
		t.Errorf("a paid request was cancelled: %v", err)
	}
}

// The last second of a request counts; what the bank dates later is late, whenever it is
// recorded.
func TestPaymentAtTheEnd(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	in := payment.RequestCreate{Amount: 1000, ExpiresIn: time.Minute}
	early, late, both, none := d.ask(in), d.ask(in), d.ask(in), d.ask(in)
	end := d.now.Add(time.Minute)
	d.pay("1000", 400, both.Code)
	d.now = end
	d.is(none, app.PaymentOpen, 0, 1000)
	d.now = end.Add(time.Second)
	d.is(none, app.PaymentExpired, 0, 1000)
	d.is(both, app.PaymentUnderpaid, 400, 600)
	d.payAt(end, "1000", 1000, early.Code) // the provider was slow
	d.payAt(end.Add(time.Second), "1000", 1000, late.Code)
	d.payAt(end.Add(time.Second), "1000", 600, both.Code)
	d.is(early, app.PaymentPaid, 1000, 0)
	d.is(late, app.PaymentPaidLate, 1000, 0)
	d.is(both, app.PaymentPaidLate, 1000, 0)
	d.payAt(end.Add(time.Hour), "1000", 1, early.Code)
	d.is(early, app.PaymentOverpaid, 1001, 0)
}

// Money for a cancelled request is counted in it, and nothing says that it is simply
// paid.
func TestPaymentAfterCancelling(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r := d.ask(payment.RequestCreate{Amount: 1000})
	for range 2 { // the second time changes nothing
		_, err := d.Services.Payments.CancelPaymentRequest(t.Context(), 1, r.ID, d.now)
		apptest.Must(t, err)
	}
	d.says(d.pay("1000", 999, r.Code), "1  cancelled 999/1000")
	d.is(r, app.PaymentCancelled, 999, 1)
	d.says(d.payAt(d.now.Add(-25*time.Hour), "1000", 1, r.Code), "none")                  // of before the request: another order's code
	d.says(d.payAt(d.now.Add(-7*time.Hour), "1000", 1, r.Code), "1  paid_late 1000/1000") // a clock of another zone
	d.is(r, app.PaymentPaidLate, 1000, 0)
}

func TestPaymentTolerance(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	before := d.ask(payment.RequestCreate{Amount: 100_000})
	d.set(app.AccountUpdate{PaymentTolerance: new(int64(5000))})
	r, small := d.ask(payment.RequestCreate{Amount: 100_000}), d.ask(payment.RequestCreate{Amount: 1000})
	d.pay("1000", 94_999, before.Code)
	d.pay("1000", 94_999, r.Code)
	d.is(before, app.PaymentUnderpaid, 94_999, 5001)
	d.is(r, app.PaymentUnderpaid, 94_999, 5001)
	d.pay("1000", 1, r.Code)
	d.is(r, app.PaymentPaid, 95_000, 0)
	d.pay("1000", 5000, r.Code)
	d.is(r, app.PaymentPaid, 100_000, 0)
	d.pay("1000", 1, r.Code)
	d.is(r, app.PaymentOverpaid, 100_001, 0)
	d.pay("1000", 899, small.Code) // a tenth at most
	d.is(small, app.PaymentUnderpaid, 899, 101)
	d.pay("1000", 1, small.Code)
	d.is(small, app.PaymentPaid, 900, 0)
	for _, wrong := range []int64{-1, 100_001} {
		if _, err := d.Services.Ledger.UpdateAccount(t.Context(), 1,
			app.AccountUpdate{PaymentTolerance: &wrong}); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("a tolerance of %d: %v", wrong, err)
		}
	}
}

func TestPaymentByReference(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	first := d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD-2026/7"})
	second := d.ask(payment.RequestCreate{Amount: 500, Reference: "HD-2026/7"})
	other := d.ask(payment.RequestCreate{Amount: 500, Reference: "HD-2026/77"})
	for _, content := range []string{"hd2026", "HD 2026", "don 2026/7", "HD-2026/7 va HD-2026/77", "HD-2026/7-1", "XHD2026/7"} {
		d.says(d.pay("1000", 1000, content), "none")
	}
	d.says(d.pay("1000", 1000, "thanh toan hđ 2026/7 nguyen van a"), "1 HD-2026/7 paid 1000/1000")
	d.says(d.pay("1000", 500, "HD20267"), "2 HD-2026/7 paid 500/500")
	d.says(d.pay("1000", 5, "HD20267"), "2 HD-2026/7 overpaid 505/500")
	d.is(first, app.PaymentPaid, 1000, 0)
	d.is(second, app.PaymentOverpaid, 505, 0)
	d.is(other, app.PaymentOpen, 0, 500)
	d.says(d.pay("1000", 500, "HD20267 "+other.Code), "none") // two orders
	d.says(d.pay("1000", 500, "HD202677 "+other.Code), "3 HD-2026/77 paid 500/500")
	d.says(d.pay("1000", 500, "HD202677 DH00000000"), "none") // an order that isn't known
	page, err := d.Services.Payments.PaymentRequests(t.Context(), 1,
		payment.Filter{Reference: "HD-2026/7", Page: app.Page{Number: 1, Size: 1}}, d.now)
	apptest.Must(t, err)
	if page.Total != 2 || page.Due != 1500 || page.Received != 1505 || len(page.Rows) != 1 || page.Rows[0].ID != second.ID {
		t.Errorf("the requests of a reference add up to %+v", page)
	}
	// An order of this year isn't paid by the transfer of an earlier one with its number.
	d.says(d.payAt(d.now.Add(-time.Hour), "1000", 500, "HD20267"), "none")
}

// Banks cut contents and join words of their own to them. What they did to a reference
// doesn't matter where the request asks for just this amount, unless a request has a longer
// reference.
func TestPaymentByReferenceInBanksForms(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	table, err := os.ReadFile("testdata/references.tsv")
	apptest.Must(t, err)
	forms := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	for i, form := range forms {
		columns := strings.Split(form, "\t")
		reference, content, amount := columns[0], columns[1], int64(1000*(i+1))
		r := d.ask(payment.RequestCreate{Amount: amount, Reference: reference})
		d.says(d.pay("1000", amount-1, content), "none")
		d.says(d.pay("1000", amount, content), fmt.Sprintf("%d %s paid %d/%d", r.ID, reference, amount, amount))
		d.says(d.pay("1000", amount, content), "none") // it is paid
	}
	if len(forms) < 20 {
		t.Errorf("%d forms", len(forms))
	}
	r := d.ask(payment.RequestCreate{Amount: 77, Reference: "HD-2025"})
	for _, content := range []string{"thanh toan don hang cua chi HD2025..", "nguyen van a chuyen tien HD2025 113", "ABC-HD2025",
		"thanh toan don hang cua HD2025-1", "HD2025-B", "MOMO-HD2025-1", "103968000085-HD2025-HD2026", "nguyen van a chuyen tien XHD2025",
		"thanh toan don hang HD2025 va don 2026", "103968000085-HD2025-CHUYEN TIEN HD2026"} {
		d.says(d.pay("1000", 77, content), "none")
	}
	longer := d.ask(payment.RequestCreate{Amount: 77, Reference: "HD-2025/113"})
	cut := "nguyen van a chuyen tien HD2025"
	d.says(d.pay("1000", 77, cut), "none")
	d.says(d.pay("1000", 77, cut+"113"), fmt.Sprintf("%d HD-2025/113 paid 77/77", longer.ID))
	d.says(d.pay("1000", 77, cut), "none")
	d.is(r, app.PaymentOpen, 0, 77)
}

// Money that comes too late and is too much is told as both, in deliveries and in listings.
func TestPaymentLateAndTooMuch(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	expired, cancelled := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: time.Minute}), d.ask(payment.RequestCreate{Amount: 1000})
	d.cancel(cancelled)
	d.now = d.now.Add(time.Hour)
	for _, r := range []payment.Request{expired, cancelled} {
		for i, c := range []struct{ amount, received, overpaid int64 }{{300, 300, 0}, {1200, 1500, 500}, {7, 1507, 507}} {
			paid := d.pay("1000", c.amount, r.Code)
			kept, err := d.Services.Ledger.Transaction(t.Context(), 1, paid.ID)
			apptest.Must(t, err)
			var text string
			if c.overpaid > 0 {
				d.is(r, app.PaymentPaidLate, c.received, 0)
				text = fmt.Sprintf(`{"due":1000,"id":%d,"overpaid":%d,"received":%d,"reference":"","status":"paid_late"}`, r.ID, c.overpaid, c.received)
			}
			body := string(delivery.PayloadOf(paid).Body("whsec_"))
			if got := d.read(r).Overpaid(); got != c.overpaid || kept.PaymentRequest.Overpaid != c.overpaid || !strings.Contains(body, text) ||
				strings.Contains(body, "overpaid") != (c.overpaid > 0) {
				t.Errorf("transfer %d: overpaid %d, a listing says %+v, delivered %s", i, got, kept.PaymentRequest, body)
			}
		}
	}
}

// The last request of a reference takes what comes too much, one that was cancelled only
// where there is no other.
func TestPaymentByReferenceOfEnded(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	cancelled := d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD9"})
	d.cancel(cancelled)
	cancelled = d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD-9A"})
	d.cancel(cancelled)
	d.says(d.pay("1000", 1000, "HD9A"), "2 HD-9A paid_late 1000/1000")
	d.says(d.pay("1000", 1000, "HD 9"), "none") // too short
	paid := d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD-9A"})
	d.says(d.pay("1000", 1000, "HD9A"), "3 HD-9A paid 1000/1000")
	d.says(d.pay("1000", 1000, "HD9A"), "3 HD-9A overpaid 2000/1000")
	d.is(paid, app.PaymentOverpaid, 2000, 0)
}

func TestPaymentByAmount(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	distinct := payment.RequestCreate{Amount: 200_000, BankAccountID: 1, ExpiresIn: 10 * time.Minute, DistinctAmount: true}
	if _, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, distinct, app.IdempotencyKey{},
		d.now); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("a distinct amount that isn't allowed: %v", err)
	}
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	plain := d.ask(payment.RequestCreate{Amount: 200_000, BankAccountID: 1})
	seen := map[int64]bool{}
	var list []payment.Request
	for range 99 {
		r := d.ask(distinct)
		if r.TransferAmount <= 200_000 || r.TransferAmount > 200_099 || seen[r.TransferAmount] {
			t.Fatalf("it asks for %d", r.TransferAmount)
		}
		seen[r.TransferAmount] = true
		list = append(list, r)
	}
	if _, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, distinct, app.IdempotencyKey{},
		d.now); err != payment.ErrNoFreeAmount {
		t.Errorf("a hundredth distinct amount: %v", err)
	}
	elsewhere := distinct
	elsewhere.BankAccountID = second.ID
	asked := d.ask(elsewhere) // another bank account has amounts of its own
	r, notAsked := list[0], list[5].TransferAmount
	if notAsked == asked.TransferAmount { // both are chosen at random
		notAsked = list[6].TransferAmount
	}
	d.says(d.pay("1000", 200_000, "chuyen tien"), "none") // plain, by its amount alone
	d.is(plain, app.PaymentOpen, 0, 200_000)
	d.says(d.pay("2000", notAsked, "chuyen tien"), "none")
	d.says(d.pay("1000", r.TransferAmount, "DH00000000"), "none") // the content says another order
	d.says(d.pay("1000", r.TransferAmount, "nguyen van a chuyen tien"), fmt.Sprintf("%d  paid %d/200000", r.ID, r.TransferAmount))
	d.says(d.pay("1000", r.TransferAmount, "nguyen van a chuyen tien"), "none") // once
	d.says(d.pay("1000", list[4].TransferAmount, "MBVCB.3278907687.NGUYEN VAN A chuyen tien.CT tu 0071000888888 NGUYEN VAN A toi 19354957"),
		fmt.Sprintf("%d  paid %d/200000", list[4].ID, list[4].TransferAmount))
	d.is(r, app.PaymentPaid, r.TransferAmount, 0)
	d.pay("1000", 200_000, list[1].Code) // the amount without the đồng is enough
	d.is(list[1], app.PaymentPaid, 200_000, 0)
	// Two that ask for it: neither.
	twice := d.ask(payment.RequestCreate{Amount: list[2].TransferAmount, BankAccountID: 1})
	d.says(d.pay("1000", list[2].TransferAmount, "chuyen tien"), "none")
	d.cancel(twice)
	d.says(d.pay("1000", list[2].TransferAmount, "chuyen tien"), "none")                          // whoever saw the cancelled one may pay it
	d.says(d.payAt(d.now.Add(-time.Hour), "1000", list[3].TransferAmount, "chuyen tien"), "none") // before it was made
	d.now = d.now.Add(11 * time.Minute)
	d.says(d.pay("1000", list[3].TransferAmount, "chuyen tien"), "none") // it has ended
	d.says(d.payAt(d.now.Add(-2*time.Minute), "1000", list[3].TransferAmount, "chuyen tien"),
		fmt.Sprintf("%d  paid %d/200000", list[3].ID, list[3].TransferAmount))
}

func TestPaymentByHand(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r, other := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: time.Hour}), d.ask(payment.RequestCreate{Amount: 1000})
	lost, out, later := d.pay("1000", 1000, "chuyen tien"), d.pay("1000", -1000, "tra lai"),
		d.payAt(d.now.Add(2*time.Hour), "1000", 1000, "chuyen tien")
	match := func(r payment.Request, t app.Transaction) error {
		_, err := d.Services.Payments.MatchTransaction(context.Background(), 1, r.ID, t.ID, d.now)
		return err
	}
	unmatch := func(r payment.Request, t app.Transaction) error {
		_, err := d.Services.Payments.UnmatchTransaction(context.Background(), 1, r.ID, t.ID)
		return err
	}
	apptest.Must(t, match(r, lost))
	d.is(r, app.PaymentPaid, 1000, 0)
	d.says(lost, "none") // what was delivered stays
	if err := match(other, lost); app.CodeOf(err) != app.CodeConflict || !strings.Contains(err.Error(), "payment request 1 already") {
		t.Errorf("a transfer was matched twice: %v", err)
	}
	if err := match(other, out); err != payment.ErrNotMoneyIn {
		t.Errorf("money out was matched: %v", err)
	}
	if err := unmatch(other, lost); err != payment.ErrNotMatched {
		t.Errorf("a match of another request was undone: %v", err)
	}
	for _, id := range []int64{0, 99} {
		if _, err := d.Services.Payments.MatchTransaction(t.Context(), 1, r.ID, id, d.now); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("transaction %d: %v", id, err)
		}
		if _, err := d.Services.Payments.MatchTransaction(t.Context(), 1, id, lost.ID, d.now); err != payment.ErrNoRequest {
			t.Errorf("request %d: %v", id, err)
		}
	}
	apptest.Must(t, unmatch(r, lost))
	d.is(r, app.PaymentOpen, 0, 1000)
	apptest.Must(t, match(r, later))
	d.is(r, app.PaymentPaidLate, 1000, 0)
	apptest.Must(t, match(r, lost))
	d.is(r, app.PaymentPaidLate, 2000, 0) // it became full late
	apptest.Must(t, unmatch(r, later))
	d.is(r, app.PaymentPaid, 1000, 0) // what is left came in time
	auto := d.pay("1000", 1, r.Code)
	apptest.Must(t, unmatch(r, auto)) // also what baoco matched
	d.is(r, app.PaymentPaid, 1000, 0)
	d.says(auto, "1  overpaid 1001/1000")
	kept, err := d.Services.Ledger.Transaction(t.Context(), 1, auto.ID)
	apptest.Must(t, err)
	if d.says(kept, "1  overpaid 1001/1000"); kept.PaymentRequest.ID != 0 {
		t.Errorf("a listing says %+v", kept.PaymentRequest)
	}
	second := d.SecondAccount()
	if _, err := d.Services.Payments.MatchTransaction(t.Context(), second, r.ID, auto.ID, d.now); err != payment.ErrNoRequest {
		t.Errorf("the request of another account: %v", err)
	}
}

// The code of a request is new, and one that every bank's way of writing it is read of.
func TestPaymentCodes(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	create := func(in payment.RequestCreate) error {
		in.Amount = 1000
		_, err := d.Services.Payments.CreatePaymentRequest(context.Background(), 1, in, app.IdempotencyKey{}, d.now)
		return err
	}
	seen := map[string]bool{}
	for range 200 {
		r := d.ask(payment.RequestCreate{Amount: 1000})
		if seen[r.Code] || len(r.Code) != 10 || !strings.HasPrefix(r.Code, "DH") || len(r.Token) != 22 || seen[r.Token] {
			t.Fatalf("code %q, token %q", r.Code, r.Token)
		}
		seen[r.Code], seen[r.Token] = true, true
		for _, content := range []string{strings.ToLower(r.Code), "CK" + r.Code, "DH " + r.Code[2:],
			"MBVCB.3278907687." + r.Code + ".CT tu 0071000888888"} {
			if got := sent(d.pay("1000", 1, content)); got == "none" {
				t.Errorf("%q isn't matched", content)
			}
		}
	}
	given := d.ask(payment.RequestCreate{Amount: 1000, Code: "dh 1234-5678"})
	if given.Code != "DH12345678" {
		t.Errorf("it has the code %s", given.Code)
	}
	if err := create(payment.RequestCreate{Code: "DH12345678"}); err != payment.ErrCodeTaken {
		t.Errorf("a code twice: %v", err)
	}
	for _, code := range []string{"DH1234567", "XX12345678", "DH123456789", "*", strings.Repeat("A1", 5000)} {
		if err := create(payment.RequestCreate{Code: code}); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("the code %.20q: %v", code, err)
		}
	}
	if err := create(payment.RequestCreate{Prefix: "NO"}); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("a prefix that no pattern has: %v", err)
	}
}

// A pattern of few codes says so before they are used up and once they are; then the next
// pattern gives codes. A code is free again when late money for its request has come.
func TestPaymentCodesUsedUp(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	defer w.Close()
	d := &cashDesk{World: w, now: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)}
	d.Link("ACB", "1000")
	if _, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 1}, app.IdempotencyKey{},
		d.now); err != payment.ErrNoPattern {
		t.Errorf("without a pattern: %v", err)
	}
	d.Pattern("AB", 3, 3)
	almost := func() (prefixes string) {
		list, err := d.Services.Alerts.Attention(t.Context(), 1, upkeep.Installation{}, d.now)
		apptest.Must(t, err)
		for _, a := range list {
			if a.Kind == alert.AttentionCodes {
				prefixes += a.Text.EN[:len("Payment codes that begin with AB")]
			}
		}
		return prefixes
	}
	made := 0
	for err := error(nil); err == nil; made++ {
		_, err = d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 1}, app.IdempotencyKey{}, d.now)
		if err != nil && err != payment.ErrNoFreeCode {
			t.Fatal(err)
		}
	}
	if made < 900 || made > 1001 {
		t.Errorf("%d codes of a thousand were given", made)
	}
	if got := almost(); got != "Payment codes that begin with AB" {
		t.Errorf("all codes are taken: %q", got)
	}
	d.Pattern("CD", 20, 23)
	next := false
	for range 100 { // the last few of AB may still be found
		next = next || strings.HasPrefix(d.ask(payment.RequestCreate{Amount: 1}).Code, "CD")
	}
	if !next {
		t.Error("no request without a prefix has a code of the next pattern")
	}
	if r := d.ask(payment.RequestCreate{Amount: 1, Prefix: "cd"}); len(r.Code) != 22 {
		t.Errorf("it has the code %s", r.Code)
	}
}

// TestPaymentCodeAgain: a code is given again thirty days after the end of its request,
// which keeps it, and money by the code is then for the new one.
func TestPaymentCodeAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   payment.RequestCreate
		end  func(d *cashDesk, r payment.Request)
	}{
		{"paid", payment.RequestCreate{}, func(d *cashDesk, r payment.Request) { d.pay("1000", 1000, r.Code) }},
		{"cancelled", payment.RequestCreate{ExpiresIn: payment.MaxExpiry}, func(d *cashDesk, r payment.Request) { d.cancel(r) }},
		{"expired", payment.RequestCreate{ExpiresIn: time.Hour}, func(d *cashDesk, r payment.Request) { d.now = r.ExpiresAt }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newCashDesk(t)
			again := func(want error) (r payment.Request) {
				t.Helper()
				r, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 2000, Code: "DH12345678"},
					app.IdempotencyKey{}, d.now)
				if err != want {
					t.Fatalf("the code again: %v, want %v", err, want)
				}
				return r
			}
			c.in.Amount, c.in.Code = 1000, "DH12345678"
			first := d.ask(c.in)
			d.now = d.now.Add(40 * time.Minute)
			again(payment.ErrCodeTaken)
			c.end(d, first)
			d.now = d.now.Add(payment.CodeKept)
			again(payment.ErrCodeTaken)
			d.now = d.now.Add(time.Second)
			second := again(nil)
			d.pay("1000", 2000, "ck dh12345678")
			d.is(second, app.PaymentPaid, 2000, 0)
			if was := d.read(first); was.Code != first.Code || was.Received == 2000 {
				t.Errorf("the first request has the code %s and received %d", was.Code, was.Received)
			}
			page, err := d.Services.Payments.PaymentRequests(t.Context(), 1,
				payment.Filter{Code: first.Code, Page: app.Page{Number: 1, Size: 10}}, d.now)
			if err != nil || page.Total != 2 || page.Rows[0].ID != second.ID || page.Rows[1].ID != first.ID {
				t.Errorf("of the code are listed %+v, %v", page.Rows, err)
			}
			again(payment.ErrCodeTaken)
		})
	}
}

// TestCodesAlmostUsedUp: the warning begins at nine tenths of the codes of a pattern.
func TestCodesAlmostUsedUp(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.Pattern("AB", 3, 3)
	var codes []string
	reader := app.NewCodeReader([]app.CodePattern{{Pattern: paymentcode.Pattern{Prefix: "AB", Least: 3, Most: 3,
		Alphabet: paymentcode.Digits}}})
	for i := range 1000 {
		if code := fmt.Sprintf("AB%03d", i); reader.Read(code).Text == code {
			codes = append(codes, code)
		}
	}
	threshold := (len(codes)*9 + 9) / 10
	for i, code := range codes[:threshold] {
		if i == threshold-1 {
			if list, err := d.Services.Payments.AlmostUsedUp(t.Context(), 1, d.now); err != nil || len(list) != 0 {
				t.Fatalf("%d of %d codes are taken: %v, %v", i, len(codes), list, err)
			}
		}
		d.ask(payment.RequestCreate{Amount: 1, Code: code, ExpiresIn: time.Minute})
	}
	if list, err := d.Services.Payments.AlmostUsedUp(t.Context(), 1, d.now); err != nil || len(list) != 1 || list[0].Prefix != "AB" {
		t.Errorf("%d of %d codes are taken: %v, %v", threshold, len(codes), list, err)
	}
	d.now = d.now.Add(time.Minute + payment.CodeKept + time.Second)
	if list, err := d.Services.Payments.AlmostUsedUp(t.Context(), 1, d.now); err != nil || len(list) != 0 {
		t.Errorf("all codes are free again: %v, %v", list, err)
	}
}

func TestPaymentRequestRefused(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	for name, in := range map[string]payment.RequestCreate{
		"no amount": {BankAccountID: 1}, "a negative one": {Amount: -5, BankAccountID: 1},
		"one beyond the limit": {Amount: app.MaxAmount + 1, BankAccountID: 1},
		"which bank account":   {Amount: 5}, "an unknown one": {Amount: 5, BankAccountID: 99},
		"a long reference":        {Amount: 5, BankAccountID: 1, Reference: strings.Repeat("a", 10_000)},
		"a line in it":            {Amount: 5, BankAccountID: 1, Reference: "a\nb"},
		"seconds":                 {Amount: 5, BankAccountID: 1, ExpiresIn: 90 * time.Second},
		"more than a year":        {Amount: 5, BankAccountID: 1, ExpiresIn: payment.MaxExpiry + time.Minute},
		"the past":                {Amount: 5, BankAccountID: 1, ExpiresIn: -time.Minute},
		"a script":                {Amount: 5, BankAccountID: 1, ReturnURL: "javascript:alert(1)"},
		"a path":                  {Amount: 5, BankAccountID: 1, ReturnURL: "/orders"},
		"a password":              {Amount: 5, BankAccountID: 1, ReturnURL: "https://a:b@shop.vn/"},
		"a space":                 {Amount: 5, BankAccountID: 1, ReturnURL: "https://shop.vn/ a"},
		"a long address":          {Amount: 5, BankAccountID: 1, ReturnURL: "https://shop.vn/" + strings.Repeat("a", 2048)},
		"distinct without an end": {Amount: 5, BankAccountID: 1, DistinctAmount: true},
		"distinct for long":       {Amount: 5, BankAccountID: 1, DistinctAmount: true, ExpiresIn: 8 * 24 * time.Hour},
	} {
		if _, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, in, app.IdempotencyKey{},
			d.now); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := d.Services.Ledger.ToggleBankAccount(t.Context(), 1, second.ID, d.now)
	apptest.Must(t, err)
	if _, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 5, BankAccountID: second.ID},
		app.IdempotencyKey{}, d.now); err != payment.ErrToInactive {
		t.Errorf("to a bank account that is switched off: %v", err)
	}
	key := app.IdempotencyKey{Key: "order-1", Operation: "POST"}
	first, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 5, BankAccountID: 1}, key, d.now)
	apptest.Must(t, err)
	again, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 5, BankAccountID: 1}, key, d.now)
	apptest.Must(t, err)
	if again.ID != first.ID || again.Code != first.Code || again.Token != first.Token {
		t.Errorf("the same request again made %+v", again)
	}
}

// A transfer that comes by another bank account of the account, by one that is switched
// off, by a statement or only once its bank account is linked, is matched like any other.
func TestPaymentByEveryWay(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	_, err := d.Services.Ledger.ToggleBankAccount(t.Context(), 1, second.ID, d.now)
	apptest.Must(t, err)
	r := d.ask(payment.RequestCreate{Amount: 1000, BankAccountID: 1})
	e := inbound.Incoming{EventID: "a", Gateway: "VCB", AccountNumber: "2000", Type: app.In, Amount: 100, Content: r.Code, Time: d.now}
	_, _, err = d.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: e}, d.now)
	apptest.Must(t, err)
	d.is(r, app.PaymentUnderpaid, 100, 900)
	native := d.Native()
	e.EventID, e.AccountNumber, e.Gateway = "b", "3000", "ACB"
	for range 2 { // what is repeated counts once
		_, err = d.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: native, Channel: app.ChannelCall, ReceivedAt: d.now, Body: []byte("{}"),
				Elements: []inbound.Incoming{e}})
		apptest.Must(t, err)
	}
	d.is(r, app.PaymentUnderpaid, 100, 900)
	d.Link("ACB", "3000")
	d.is(r, app.PaymentUnderpaid, 200, 800)
	e.EventID, e.AccountNumber = "c", "1000"
	for range 2 {
		_, err = d.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: native, Channel: app.ChannelCall, ReceivedAt: d.now, Body: []byte("{}"),
				Elements: []inbound.Incoming{e}})
		apptest.Must(t, err)
	}
	d.is(r, app.PaymentUnderpaid, 300, 700)
}

// Money goes to the request of its own account only, whatever its code and its reference
// are elsewhere.
func TestPaymentOfAnotherAccount(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	in := payment.RequestCreate{Amount: 1000, Code: "DH12345678", Reference: "HD-2026/7"}
	r, second := d.ask(in), d.SecondAccount()
	_, err := d.Services.Inbound.LinkBankAccount(t.Context(), second,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "5000", AccountName: "TRAN THI B"}, d.now)
	apptest.Must(t, err)
	_, err = d.Services.Ledger.CreateCodePattern(t.Context(), second,
		paymentcode.Pattern{Prefix: "DH", Least: 8, Most: 8, Alphabet: paymentcode.Digits}, d.now)
	apptest.Must(t, err)
	create := func(in payment.RequestCreate) payment.Request {
		r, err := d.Services.Payments.CreatePaymentRequest(t.Context(), second, in, app.IdempotencyKey{}, d.now)
		apptest.Must(t, err)
		return r
	}
	create(payment.RequestCreate{Amount: 1000}) // there are requests in both
	theirs := func(content string) app.Transaction {
		return d.record(second, inbound.Incoming{AccountNumber: "5000", Amount: 1000, Content: content, Time: d.now})
	}
	d.says(theirs("DH12345678"), "none")
	d.says(theirs("HD-2026/7"), "none")
	own := create(in) // the code is free there
	d.says(theirs("DH12345678"), fmt.Sprintf("%d HD-2026/7 paid 1000/1000", own.ID))
	d.says(theirs("HD-2026/7"), fmt.Sprintf("%d HD-2026/7 overpaid 2000/1000", own.ID))
	d.is(r, app.PaymentOpen, 0, 1000)
	d.says(d.pay("1000", 400, "DH12345678"), "1 HD-2026/7 underpaid 400/1000")
	d.says(d.pay("1000", 600, "HD-2026/7"), "1 HD-2026/7 paid 1000/1000")
	if _, err := d.Services.Payments.MatchTransaction(t.Context(), 1, r.ID, theirs("chuyen tien").ID,
		d.now); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("the money of another account was matched: %v", err)
	}
}

// The page asks for the distinct amount until something has come, and then for the rest.
func TestAskedAmount(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	r := d.ask(payment.RequestCreate{Amount: 200_000, ExpiresIn: time.Hour, DistinctAmount: true})
	asks := func(amount int64) {
		t.Helper()
		now := d.read(r)
		transfer, text, err := now.Transfer()
		digits := fmt.Sprint(amount)
		if err != nil || now.Asked() != amount || transfer.Amount != amount || transfer.Content != r.Code ||
			!strings.Contains(text, fmt.Sprintf("54%02d%s", len(digits), digits)) {
			t.Errorf("it asks for %d by %q, want %d, %v", now.Asked(), text, amount, err)
		}
	}
	asks(r.TransferAmount)
	d.pay("1000", 80_000, r.Code)
	d.is(r, app.PaymentUnderpaid, 80_000, 120_000)
	asks(120_000)
	d.says(d.pay("1000", r.TransferAmount, "chuyen tien"), "none") // the rest is asked for, not this
	d.pay("1000", 120_000, r.Code)
	d.is(r, app.PaymentPaid, 200_000, 0)
}

// Of the requests of one reference the one that can be paid is.
func TestPaymentAmongReferences(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	began := d.now
	for i, c := range []struct{ first, second, want string }{
		{"cancelled", "open", "second"}, {"open", "cancelled", "first"},
		{"paid", "open", "second"}, {"open", "paid", "first"},
		{"expired", "open", "second"}, {"open", "expired", "first"},
		{"expired", "paid", "first"}, {"paid", "expired", "second"},
		{"expired", "cancelled", "first"}, {"cancelled", "expired", "second"},
		{"paid", "cancelled", "first"}, {"cancelled", "paid", "second"},
		{"open", "open", "first"}, {"expired", "expired", "second"}, {"paid", "paid", "second"}, {"cancelled", "cancelled", "second"},
		{"other amount", "open", "second"}, {"open", "other amount", "first"}, {"other amount", "other amount", "first"},
		{"part", "other amount", "first"}, {"other amount", "part", "second"}, // its rest is the amount
	} {
		d.now = began
		reference := fmt.Sprintf("DON-%d", 3001+i)
		made := map[string]payment.Request{}
		for _, one := range [][2]string{{"first", c.first}, {"second", c.second}} {
			in := payment.RequestCreate{Amount: 1000, Reference: reference, ExpiresIn: time.Hour}
			switch one[1] {
			case "expired":
				in.ExpiresIn = time.Minute
			case "other amount":
				in.Amount = 700
			case "part":
				in.Amount = 1500
			}
			r := d.ask(in)
			switch one[1] {
			case "cancelled":
				d.cancel(r)
			case "paid":
				d.pay("1000", 1000, r.Code)
			case "part":
				d.pay("1000", 500, r.Code)
			}
			made[one[0]] = r
		}
		d.now = began.Add(2 * time.Minute)
		paid := d.pay("1000", 1000, reference)
		if got := delivery.PayloadOf(paid).PaymentRequest.ID; got != made[c.want].ID {
			t.Errorf("of (%s, %s) request %d is paid, want the %s of %d and %d", c.first, c.second, got, c.want, made["first"].ID, made["second"].ID)
		}
	}
	d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD-2026/7"})
	d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD2026/7"})
	d.says(d.pay("1000", 1000, "HD 2026/7"), "none") // two references that look the same
}

// A reference that a hundred requests have may be that of any; a code is of one.
func TestPaymentOfManyRequests(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	in := payment.RequestCreate{Amount: 1000, Reference: "KH-2026A"}
	var last payment.Request
	for range payment.MaxCandidates - 1 {
		last = d.ask(in)
	}
	d.says(d.pay("1000", 300, "KH-2026A"), "1 KH-2026A underpaid 300/1000")
	for range 2 {
		d.ask(in)
		d.says(d.pay("1000", 300, "KH-2026A"), "none")
	}
	d.says(d.pay("1000", 300, "KH-2026A "+last.Code), fmt.Sprintf("%d KH-2026A underpaid 300/1000", last.ID))
}

// A transfer of which only the day is known may have been made at any time of it.
func TestPaymentOfADay(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.now = d.today().Start(d.Services.Ledger.Zone()).Add(15*time.Hour + 59*time.Minute + 59*time.Second)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	day := d.today()
	in := payment.RequestCreate{Amount: 1000, Reference: "HD-2026/7", ExpiresIn: time.Hour, DistinctAmount: true}
	r := d.ask(in)
	for _, way := range []struct {
		amount  int64
		content string
	}{{400, r.Code}, {400, "HD-2026/7"}, {r.TransferAmount, "chuyen tien"}} {
		d.says(d.payOn(day-1, way.amount, way.content), "none")
	}
	d.says(d.payOn(day, r.TransferAmount, "chuyen tien"), fmt.Sprintf("1 HD-2026/7 paid %d/1000", r.TransferAmount))
	in = payment.RequestCreate{Amount: 1000, ExpiresIn: time.Hour}
	inTime, byReference, late, later := d.ask(in), d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD-2026/8", ExpiresIn: time.Hour}),
		d.ask(in), d.ask(in)
	in.ExpiresIn = 8 * time.Hour
	lastSecond, tomorrow := d.ask(in), d.ask(in)
	d.now = d.now.Add(time.Hour)
	d.payOn(day, 1000, inTime.Code)
	d.payOn(day, 1000, "HD-2026/8")
	d.is(inTime, app.PaymentPaid, 1000, 0)
	d.is(byReference, app.PaymentPaid, 1000, 0)
	d.now = d.now.Add(time.Second)
	d.payOn(day, 1000, late.Code) // its bank doesn't say that it was before
	d.is(late, app.PaymentPaidLate, 1000, 0)
	d.now = d.now.Add(20 * time.Hour)
	d.payOn(day, 1000, later.Code)
	d.payOn(day, 1000, lastSecond.Code) // which ends with the day
	d.payOn(day+1, 1000, tomorrow.Code)
	d.is(later, app.PaymentPaidLate, 1000, 0)
	d.is(lastSecond, app.PaymentPaid, 1000, 0)
	d.is(tomorrow, app.PaymentPaidLate, 1000, 0)
}

// The clock of a bank may be ten minutes behind, and of another zone where the code says
// which request it is.
func TestPaymentBeforeItsRequest(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	r := d.ask(payment.RequestCreate{Amount: 1000, Reference: "HD-2026/7", ExpiresIn: time.Hour})
	distinct := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: time.Hour, DistinctAmount: true})
	for _, way := range []struct {
		slack   time.Duration
		amount  int64
		content string
		want    string
	}{{24 * time.Hour, 100, r.Code, "1 HD-2026/7 underpaid 100/1000"}, {10 * time.Minute, 100, "HD-2026/7", "1 HD-2026/7 underpaid 200/1000"},
		{10 * time.Minute, distinct.TransferAmount, "chuyen tien", fmt.Sprintf("2  paid %d/1000", distinct.TransferAmount)}} {
		d.says(d.payAt(d.now.Add(-way.slack-time.Second), "1000", way.amount, way.content), "none")
		d.says(d.payAt(d.now.Add(-way.slack), "1000", way.amount, way.content), way.want)
	}
}

// The amount alone says nothing where the content says something, or another request
// asks for it.
func TestPaymentByDoubtfulAmount(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true), PaymentTolerance: new(int64(5000))})
	distinct := func() payment.Request {
		return d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: time.Hour, DistinctAmount: true})
	}
	r := distinct()
	d.ask(payment.RequestCreate{Amount: 500, Reference: "HD-2026/7"})
	d.ask(payment.RequestCreate{Amount: 500, Reference: "HD-2026/77"})
	for _, content := range []string{"HD-2026/7 va HD-2026/77", "HD-2026/8 va HD-2026/9", "HD-2026/8", "DH00000000 HD-2026/7",
		"HD-2026/7 DH00000000", "DH0000"} {
		d.says(d.pay("1000", r.TransferAmount, content), "none")
	}
	// The rest of another request counts, but for one that is paid but for the tolerance.
	for _, c := range []struct {
		amount int64
		want   string
	}{{5000, "none"}, {50_000, fmt.Sprintf("%d  paid %d/1000", r.ID, r.TransferAmount)}} {
		part := d.ask(payment.RequestCreate{Amount: c.amount})
		d.pay("1000", c.amount-r.TransferAmount, part.Code)
		d.says(d.pay("1000", r.TransferAmount, "chuyen tien"), c.want)
		if d.read(part).PaidAt.IsZero() {
			d.cancel(part)
		}
	}
	r = distinct()
	asked := d.ask(payment.RequestCreate{Amount: r.TransferAmount})
	d.says(d.pay("1000", r.TransferAmount, "chuyen tien"), "none")
	d.is(asked, app.PaymentOpen, 0, r.TransferAmount)
	d.is(r, app.PaymentOpen, 0, 1000)
}

// A distinct amount is free again a day after its request was made, where that was paid
// or cancelled, and a day after its end where it wasn't.
func TestDistinctAmountIsKept(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	const week = 7 * 24 * time.Hour
	began := d.now
	at := func(after time.Duration, free int) (made []payment.Request) {
		t.Helper()
		d.now = began.Add(after)
		for {
			r, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1,
				payment.RequestCreate{Amount: 1000, ExpiresIn: week, DistinctAmount: true}, app.IdempotencyKey{}, d.now)
			if err == payment.ErrNoFreeAmount {
				break
			}
			apptest.Must(t, err)
			made = append(made, r)
		}
		if len(made) != free {
			t.Errorf("%v later %d amounts are free, want %d", after, len(made), free)
		}
		return made
	}
	list := at(0, 99)
	d.cancel(list[0])
	d.pay("1000", 1000, list[1].Code)
	at(time.Second, 0)
	at(24*time.Hour-time.Second, 0)
	again := at(24*time.Hour+time.Second, 2)
	at(week+24*time.Hour-time.Second, 0)
	last := at(week+24*time.Hour+time.Second, 97)
	d.says(d.pay("1000", last[0].TransferAmount, "chuyen tien"), fmt.Sprintf("%d  paid %d/1000", last[0].ID, last[0].TransferAmount))
	d.says(d.pay("1000", again[0].TransferAmount, "chuyen tien"), fmt.Sprintf("%d  paid %d/1000", again[0].ID, again[0].TransferAmount))
}

// The day for which an amount is kept begins with the end of its request, however long ago
// that was made: its payer may still transfer it.
func TestDistinctAmountIsKeptFromTheEnd(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	const day = 24 * time.Hour
	in := payment.RequestCreate{Amount: 1000, ExpiresIn: 7 * day, DistinctAmount: true}
	var list []payment.Request
	for range 99 {
		list = append(list, d.ask(in))
	}
	free := func() int {
		t.Helper()
		_, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, in, app.IdempotencyKey{}, d.now)
		if err == payment.ErrNoFreeAmount {
			return 0
		}
		apptest.Must(t, err)
		return 1
	}
	cancelled, paid := list[0], list[1]
	d.now = d.now.Add(2 * day)
	d.cancel(cancelled)
	d.pay("1000", paid.TransferAmount, paid.Code)
	for _, later := range []time.Duration{time.Minute, day - 2*time.Minute} {
		d.now = d.now.Add(later)
		if free() != 0 {
			t.Errorf("%v later an amount of a request that has ended is given again", later)
		}
		d.says(d.pay("1000", cancelled.TransferAmount, "chuyen tien"), "none")
	}
	d.now = d.now.Add(2 * time.Minute)
	if free()+free() != 2 || free() != 0 {
		t.Error("two amounts are free a day after the end of their requests")
	}

	// An older request without a distinct amount ends: its payer, too, may still transfer it.
	other := list[2]
	plain := d.ask(payment.RequestCreate{Amount: other.TransferAmount})
	d.now = d.now.Add(2 * day)
	d.cancel(plain)
	d.now = d.now.Add(time.Minute)
	d.says(d.pay("1000", other.TransferAmount, "chuyen tien"), "none")
	d.is(other, app.PaymentOpen, 0, 1000)
}

// What is left after an undone match counts in the order in which it was matched.
func TestUnmatchKeepsTheOrder(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: time.Hour})
	inTime, late, third := d.pay("1000", 1000, "chuyen tien"), d.payAt(d.now.Add(2*time.Hour), "1000", 1000, "chuyen tien"),
		d.pay("1000", 1, "chuyen tien")
	for _, one := range []app.Transaction{late, inTime, third} {
		_, err := d.Services.Payments.MatchTransaction(t.Context(), 1, r.ID, one.ID, d.now)
		apptest.Must(t, err)
		d.now = d.now.Add(time.Second)
	}
	_, err := d.Services.Payments.UnmatchTransaction(t.Context(), 1, r.ID, third.ID)
	apptest.Must(t, err)
	d.is(r, app.PaymentPaidLate, 2000, 0)
}

// The longest expiries are allowed, and a request is open in the whole of its last second.
func TestPaymentExpiry(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	year := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: 365 * 24 * time.Hour})
	week := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: 7 * 24 * time.Hour, DistinctAmount: true})
	began := d.now
	for r, end := range map[payment.Request]time.Duration{year: 365 * 24 * time.Hour, week: 7 * 24 * time.Hour} {
		d.now = began.Add(end + time.Second/2)
		if d.is(r, app.PaymentOpen, 0, 1000); !d.read(r).Payable(d.now) {
			t.Errorf("it isn't payable half a second into its last second")
		}
		d.now = began.Add(end + time.Second)
		if d.is(r, app.PaymentExpired, 0, 1000); d.read(r).Payable(d.now) {
			t.Errorf("it is payable after its end")
		}
	}
}

// A pattern stays while money may come by its codes.
func TestDeleteCodePatternInUse(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	remove := func(want error) {
		t.Helper()
		list, err := d.Services.Ledger.CodePatterns(t.Context(), 1)
		apptest.Must(t, err)
		if err := d.Services.Ledger.DeleteCodePattern(t.Context(), 1, list[len(list)-1].ID, d.now); err != want {
			t.Errorf("deleting the pattern %s: %v, want %v", list[len(list)-1].Prefix, err, want)
		}
	}
	d.CodePattern("KH")
	expires := d.ask(payment.RequestCreate{Amount: 1000, ExpiresIn: time.Minute})
	remove(nil) // KH, which nothing has
	remove(app.ErrPatternInUse)
	d.now = expires.ExpiresAt
	remove(app.ErrPatternInUse)
	d.now = d.now.Add(time.Second)
	remove(nil)
	for _, end := range []func(payment.Request){d.cancel, func(r payment.Request) { d.pay("1000", 1000, r.Code) }} {
		d.CodePattern("DH")
		r := d.ask(payment.RequestCreate{Amount: 1000})
		d.pay("1000", 1, r.Code)
		remove(app.ErrPatternInUse)
		end(r)
		remove(nil)
	}
}

// Nobody is asked to pay to a bank account that the shop has taken away, and money that
// comes nevertheless is counted.
func TestPaymentSuspended(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	b := d.Link("VCB", "2000")
	r := d.ask(payment.RequestCreate{Amount: 1000, BankAccountID: b.ID})
	payable := func(want bool) {
		t.Helper()
		if now := d.read(r); now.Payable(d.now) != want || now.Suspended() == want {
			t.Errorf("payable %v, suspended %v", now.Payable(d.now), now.Suspended())
		}
	}
	payable(true)
	toggle := func() {
		_, err := d.Services.Ledger.ToggleBankAccount(t.Context(), 1, b.ID, d.now)
		apptest.Must(t, err)
	}
	toggle()
	payable(false)
	d.pay("2000", 100, r.Code)
	d.is(r, app.PaymentUnderpaid, 100, 900)
	toggle()
	payable(true)
	apptest.Must(t, d.Services.Ledger.UnlinkBankAccount(t.Context(), 1, b.ID, d.now))
	payable(false)
	d.pay("1000", 100, r.Code)
	if _, err := d.Services.Payments.CreatePaymentRequest(t.Context(), 1, payment.RequestCreate{Amount: 1000, BankAccountID: b.ID},
		app.IdempotencyKey{}, d.now); err != app.ErrUnknownBankAccountID {
		t.Errorf("to a bank account that was unlinked: %v", err)
	}
	again := d.Link("VCB", "2000")
	payable(again.ID == b.ID)
	d.pay("2000", 800, r.Code)
	d.is(r, app.PaymentPaid, 1000, 0)
}

// A limited user asks for money to the bank accounts that are shown.
func TestPaymentRequestOfLimitedUser(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	hidden := d.Link("VCB", "2000")
	ctx := access.SeeingOnly(t.Context(), access.BankAccountLimit{On: true, IDs: []int64{1}})
	for id, want := range map[int64]error{0: nil, 1: nil, hidden.ID: app.ErrUnknownBankAccountID} {
		r, err := d.Services.Payments.CreatePaymentRequest(ctx, 1, payment.RequestCreate{Amount: 1000, BankAccountID: id},
			app.IdempotencyKey{}, d.now)
		if err != want || err == nil && r.BankAccount.ID != 1 {
			t.Errorf("to bank account %d: to %d, %v, want %v", id, r.BankAccount.ID, err, want)
		}
	}
	r := d.ask(payment.RequestCreate{Amount: 1000, BankAccountID: hidden.ID})
	if _, err := d.Services.Payments.CancelPaymentRequest(ctx, 1, r.ID, d.now); err != payment.ErrNoRequest {
		t.Errorf("a hidden request was cancelled: %v", err)
	}
	own, theirs := d.ask(payment.RequestCreate{Amount: 1000, BankAccountID: 1}), d.pay("2000", 1000, "chuyen tien")
	if _, err := d.Services.Payments.MatchTransaction(ctx, 1, own.ID, theirs.ID, d.now); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("hidden money was matched: %v", err)
	}
}

// The sums of a listing leave out what was cancelled, unless it is paid.
func TestPaymentSums(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.ask(payment.RequestCreate{Amount: 1000})
	unpaid, paid := d.ask(payment.RequestCreate{Amount: 300}), d.ask(payment.RequestCreate{Amount: 50})
	d.cancel(unpaid)
	d.cancel(paid)
	d.pay("1000", 200, unpaid.Code)
	d.pay("1000", 51, paid.Code)
	page, err := d.Services.Payments.PaymentRequests(t.Context(), 1, payment.Filter{Page: app.Page{Number: 1, Size: 1}}, d.now)
	apptest.Must(t, err)
	if page.Total != 3 || page.Due != 1050 || page.Received != 251 {
		t.Errorf("%d requests, due %d, received %d; want 3, 1050, 251", page.Total, page.Due, page.Received)
	}
}

// A code of letters and digits has none that look alike, and money finds it.
func TestPaymentCodesOfLetters(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	for prefix, lengths := range map[string][2]int{"KH": {6, 6}, "MD": {4, 12}, "XZ": {10, 10}} {
		_, err := d.Services.Ledger.CreateCodePattern(t.Context(), 1,
			paymentcode.Pattern{Prefix: prefix, Least: lengths[0], Most: lengths[1], Alphabet: paymentcode.LettersAndDigits}, d.now)
		apptest.Must(t, err)
		for range 50 {
			r := d.ask(payment.RequestCreate{Amount: 1000, Prefix: prefix})
			rest, found := strings.CutPrefix(r.Code, prefix)
			if want := min(max(6, lengths[0]), lengths[1]); !found || len(rest) != want || strings.ContainsAny(rest, "01IJOSZ") {
				t.Errorf("it has the code %s", r.Code)
			}
			d.says(d.pay("1000", 400, "thanh toan "+strings.ToLower(r.Code)), fmt.Sprintf("%d  underpaid 400/1000", r.ID))
			d.says(d.pay("1000", 600, "MBVCB.3278907687."+r.Code+".CT tu 0071000888888"), fmt.Sprintf("%d  paid 1000/1000", r.ID))
		}
	}
}

// What a bank may have cut or joined pays a request only while it can be paid, and where no
// other reference goes on behind it, be it with letters. The rest of a request is an amount
// that it asks for too.
func TestPaymentByReferenceThatMayBeCut(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	const joined = "103968000085-%s-CHUYEN TIEN-OQCH0002sFyH-MOMO103968000085MOMO"
	expired := d.ask(payment.RequestCreate{Amount: 1000, Reference: "ORD1001", ExpiresIn: time.Minute})
	d.now = expired.ExpiresAt.Add(time.Hour)
	d.says(d.pay("1000", 1000, fmt.Sprintf(joined, "ORD1001")), "none")
	d.is(expired, app.PaymentExpired, 0, 1000)
	cancelled := d.ask(payment.RequestCreate{Amount: 1500, Reference: "ORD1002"})
	d.cancel(cancelled)
	d.says(d.pay("1000", 1500, fmt.Sprintf(joined, "ORD1002")), "none")

	short := d.ask(payment.RequestCreate{Amount: 2000, Reference: "ORD2001"})
	d.ask(payment.RequestCreate{Amount: 2001, Reference: "ORD2001B"})
	d.says(d.pay("1000", 2000, fmt.Sprintf(joined, "ORD2001")), "none")
	d.is(short, app.PaymentOpen, 0, 2000)

	half := d.ask(payment.RequestCreate{Amount: 3000, Reference: "ORD3001"})
	d.says(d.pay("1000", 1234, "ORD3001"), fmt.Sprintf("%d ORD3001 underpaid 1234/3000", half.ID))
	d.says(d.pay("1000", 1766, fmt.Sprintf(joined, "ORD3001")), fmt.Sprintf("%d ORD3001 paid 3000/3000", half.ID))
}

// A content prefix is no part of what a later report names, nor of what an earlier one did.
func TestLaterReportBehindAPrefix(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	_, err := d.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 1, app.BankAccountReceiving{ContentPrefix: "SEVQR"})
	apptest.Must(t, err)
	second := d.Native()
	tell := func(amount int64, number, before, after string) {
		t.Helper()
		d.record(1, inbound.Incoming{AccountNumber: "1000", Amount: amount, Number: number, Content: before, Time: d.now})
		got, err := d.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: second, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: d.now,
				Elements: []inbound.Incoming{{EventID: number, Number: number, Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: amount,
					Content: after, Time: d.now}}})
		apptest.Must(t, err)
		if got.Outcomes[0] != inbound.OutcomeDuplicate {
			t.Fatalf("%q was %s", after, got.Outcomes[0])
		}
	}
	paid, other := d.ask(payment.RequestCreate{Amount: 1000}), d.ask(payment.RequestCreate{Amount: 2000})
	tell(1000, "FT1", "", "SEVQR"+paid.Code)
	d.is(paid, app.PaymentPaid, 1000, 0)
	tell(2000, "FT2", "SEVQRDH99999999", "SEVQR "+other.Code)
	d.is(other, app.PaymentOpen, 0, 2000)
}
