package alert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

// Phones ring for payments and for what needs attention. The walk:
//
//	every second scheduler → Service.PaymentPushes: what was recorded since the last look →
//	what each phone must still get → one Push of all of it for each phone that may ring now;
//	every minute scheduler → Service.AttentionPushes: Attention → what began (message.go);
//	then Service.SendPush → Config.Push sends it → it is done, or tried again
//
// The payments that a phone must still get are in memory only. So a payment rings at most
// once: one that was recorded or being sent when the server was killed may not ring at all.
// Only webhooks and the dashboard promise every payment. A message about what needs
// attention may come twice, if the server was killed while it was sent.

// Push is one message to a phone.
type Push struct {
	Phone   Phone
	Key     []byte        // private, of the account
	Payload []byte        // JSON, as static/sw.js reads it
	TTL     time.Duration // how long the push service tries to bring it
	Topic   string        // a later message of a topic replaces one that waits; empty: none

	payments   owed
	conditions []Condition
}

// The times of pushes.
const (
	// paymentLife is how long a payment is news, and attentionLife what needs attention.
	paymentLife   = 5 * time.Minute
	attentionLife = 24 * time.Hour
	// paymentLate is how old a payment is at most when it is recorded and rings. What is
	// older was recorded to complete the books.
	paymentLate = time.Hour
	// pushPause is the least time between two messages of payments to a phone. Payments
	// that come within it share one.
	pushPause = 15 * time.Second
	// pushesAtOnce is how many messages are on their way at a time.
	pushesAtOnce = 32
)

// pushRetries are the waits after the first, second … failure of a message. After the
// last one it is given up.
var pushRetries = []time.Duration{10 * time.Second, 30 * time.Second, time.Minute}

// owed is the payments that a phone must still get.
type owed struct {
	app.Amounts
	last  app.Transaction
	mixed bool      // they are of several bank accounts
	since time.Time // when the first of them was recorded
}

func (o owed) and(later owed) owed {
	if o.Count == 0 || later.Count == 0 {
		return cmp.Or(o, later)
	}
	later.mixed = later.mixed || o.mixed || o.last.BankAccountID != later.last.BankAccountID
	later.Count, later.Total, later.since = o.Count+later.Count, o.Total+later.Total, o.since
	return later
}

// ringing is the state of the messages of one kind to a phone.
type ringing struct {
	owed  owed
	next  time.Time // no message goes out before
	tries int       // that failed, of one message
	busy  bool      // a message is on its way
}

// ringKey names the messages of one kind to a phone.
type ringKey struct {
	phoneID   int64
	attention bool
}

// pushes holds the messages that phones must still get.
type pushes struct {
	mu       sync.Mutex
	seen     int64 // id of the last transaction that was looked at
	begun    bool  // seen is known: what was recorded before the start of the server never rings
	ringings map[ringKey]*ringing
}

func (p *pushes) of(key ringKey) *ringing {
	r := p.ringings[key]
	if r == nil {
		r = &ringing{}
		p.ringings[key] = r
	}
	return r
}

// begin tells whether a message may go out at now, and notes that it does.
func (p *pushes) begin(key ringKey, now time.Time) bool {
	busy := 0
	for _, r := range p.ringings {
		if r.busy {
			busy++
		}
	}
	r := p.of(key)
	if r.busy || now.Before(r.next) || busy >= pushesAtOnce {
		return false
	}
	r.busy = true
	return true
}

// PaymentPushes gives the messages of payments that phones are to be sent at now. Each must
// be given to SendPush, also where there is an error.
func (s *Service) PaymentPushes(ctx context.Context, now time.Time) ([]Push, error) {
	s.pushes.mu.Lock()
	defer s.pushes.mu.Unlock()
	after := s.pushes.seen
	if !s.pushes.begun {
		after = -1
	}
	payments, seen, err := s.store.PaymentsToPush(ctx, after, now.Add(-paymentLife))
	if err != nil {
		return nil, err
	}
	s.pushes.seen, s.pushes.begun = max(seen, s.pushes.seen), true
	payments = slices.DeleteFunc(payments, func(t app.Transaction) bool { return t.CreatedAt.Sub(t.KnownAt()) > paymentLate })
	if len(payments)+len(s.pushes.ringings) == 0 {
		return nil, nil
	}
	phones, err := s.Phones(ctx, 0)
	if err != nil {
		return nil, err
	}
	var list []Push
	there := map[int64]bool{}
	for _, p := range phones {
		there[p.ID] = true
		key := ringKey{phoneID: p.ID}
		for _, t := range payments {
			if p.rings(t) {
				r := s.pushes.of(key)
				r.owed = r.owed.and(owed{app.Amounts{Count: 1, Total: t.Amount}, t, false, t.CreatedAt})
			}
		}
		r := s.pushes.ringings[key]
		if r == nil || r.owed.Count == 0 {
			continue
		}
		if now.Sub(r.owed.since) >= paymentLife || p.quiet(now, s.zone) {
			r.owed, r.tries = owed{}, 0
			continue
		}
		push, err := s.paymentPush(ctx, p, r.owed, now)
		if err != nil {
			return list, err
		}
		if s.pushes.begin(key, now) {
			list, r.owed = append(list, push), owed{}
		}
	}
	for key, r := range s.pushes.ringings {
		if !r.busy && (!there[key.phoneID] || r.owed.Count == 0 && r.tries == 0 && !now.Before(r.next)) {
			delete(s.pushes.ringings, key)
		}
	}
	return list, nil
}

func (p Phone) rings(t app.Transaction) bool {
	return p.Payments && p.AccountID == t.AccountID && t.Amount >= p.Least && (p.BankAccountID == 0 || p.BankAccountID == t.BankAccountID) &&
		(!p.Limited || slices.Contains(p.BankAccounts, t.BankAccountID) && (p.ReceivingNumber == "" || p.ReceivingNumber == t.ReceivingNumber))
}

// notice is what a phone shows, and where it leads.
type notice struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Path  string `json:"path"`
	Tag   string `json:"tag,omitempty"` // it takes the place of the notice with the same one
}

func (s *Service) push(ctx context.Context, p Phone, n notice, life time.Duration) (Push, error) {
	payload, err := json.Marshal(n)
	if err != nil {
		return Push{}, err
	}
	key, err := s.store.PushKey(ctx, p.AccountID)
	return Push{Phone: p, Key: key, Payload: payload, TTL: life}, err
}

// paymentPush says no more than the phone's user chose: a lock screen shows it to everybody.
func (s *Service) paymentPush(ctx context.Context, p Phone, o owed, now time.Time) (Push, error) {
	n := notice{Title: app.Text{EN: "Money came in", VI: "Có tiền vào"}.In(p.Lang), Path: "/transactions/" + strconv.FormatInt(o.last.ID, 10)}
	money := app.GroupDigits(o.Total, p.Lang) + "\u00a0₫"
	switch {
	case o.Count > 1:
		n.Path, n.Body = "/transactions", counted(o.Count, "payment", "payments", "khoản").In(p.Lang)
		if p.Amounts {
			n.Body += ", " + money
		}
	case p.Amounts:
		n.Body = "+" + money
	default:
		n.Body = app.Text{EN: "Tap to see it", VI: "Chạm để xem"}.In(p.Lang)
	}
	if p.Amounts && !o.mixed {
		n.Body += " · " + o.last.Bank + " " + app.Tail(o.last.AccountNumber)
	}
	if p.Cashier {
		n.Path = "/till"
	}
	push, err := s.push(ctx, p, n, paymentLife-now.Sub(o.since))
	push.payments = o
	if o.Count > 1 {
		push.Topic = "payments"
	}
	return push, err
}

// AttentionPushes gives the messages of what needs attention that phones are to be sent at
// now. Each must be given to SendPush, also where there is an error.
func (s *Service) AttentionPushes(ctx context.Context, in upkeep.Installation, now time.Time) ([]Push, error) {
	phones, err := s.Phones(ctx, 0)
	if err != nil {
		return nil, err
	}
	var list []Push
	present := map[int64][]Attention{} // by account
	for _, p := range phones {
		if !p.Attention || !p.Owner || p.quiet(now, s.zone) {
			continue
		}
		all, read := present[p.AccountID]
		if !read {
			if all, err = s.Attention(ctx, p.AccountID, in, now); err != nil {
				return list, err
			}
			present[p.AccountID] = all
		}
		push, err := s.attentionPush(ctx, p, all, now)
		if err != nil {
			return list, err
		}
		s.pushes.mu.Lock()
		if push.Payload != nil && s.pushes.begin(ringKey{p.ID, true}, now) {
			list = append(list, push)
		}
		s.pushes.mu.Unlock()
	}
	return list, nil
}

// attentionPush names the kinds of what began, and of what lasts for a day; without a
// payload: there is none.
func (s *Service) attentionPush(ctx context.Context, p Phone, present []Attention, now time.Time) (Push, error) {
	preferences, err := s.AlertPreferences(ctx, p.AccountID)
	if err != nil {
		return Push{}, err
	}
	tells := func(kind AttentionKind, _ string) bool {
		return slices.Contains(Kinds, kind) && !slices.Contains(preferences.Muted, kind)
	}
	present = slices.DeleteFunc(slices.Clone(present), func(a Attention) bool { return !tells(a.Kind, a.Key) })
	news := compareAlerts(p.Conditions, present, tells, now)
	items := append(news.begun, news.lasting...)
	if len(items) == 0 {
		if after := news.afterSending(now); !slices.Equal(after, p.Conditions) {
			err = s.store.SettlePhone(ctx, p.ID, after)
		}
		return Push{}, err
	}
	n := notice{Title: app.Text{EN: "Needs attention", VI: "Cần xử lý"}.In(p.Lang), Path: "/", Tag: "attention"}
	if len(items) == 1 {
		n.Path = items[0].Path()
	}
	var names []string
	for _, item := range items {
		if name := item.Kind.AlertName().In(p.Lang); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	n.Body = strings.Join(names, "\n")
	push, err := s.push(ctx, p, n, attentionLife)
	push.Topic, push.conditions = n.Tag, news.afterSending(now)
	return push, err
}

// SendPush sends a message. The error says why it didn't arrive at the push service: it is
// tried again a few times, or the phone is removed where it is gone.
func (s *Service) SendPush(ctx context.Context, p Push, now time.Time) error {
	err := guarded(ctx, func(ctx context.Context) error { return s.config.Push(ctx, p) })
	ended := s.pushes.end(p, err, now)
	if ended && p.payments.Count == 0 {
		err = errors.Join(err, s.store.SettlePhone(context.WithoutCancel(ctx), p.Phone.ID, p.conditions))
	}
	return errors.Join(err, s.removeGone(ctx, p.Phone, err, now))
}

// end notes how the sending of a message ended. It tells whether the message isn't tried
// again.
func (p *pushes) end(sent Push, err error, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.of(ringKey{sent.Phone.ID, sent.payments.Count == 0})
	r.busy = false
	if err != nil && r.tries < len(pushRetries) {
		r.tries++
		r.next, r.owed = now.Add(alertWait(pushRetries, r.tries, err)), sent.payments.and(r.owed)
		return false
	}
	r.next, r.tries = now.Add(pushPause), 0
	return true
}

func (s *Service) removeGone(ctx context.Context, p Phone, sent error, now time.Time) error {
	if e, known := errors.AsType[*Error](sent); !known || !e.Gone {
		return nil
	}
	ctx = app.ActingAs(context.WithoutCancel(ctx), app.Actor{Way: app.WayServer, At: now})
	if err := s.RemovePhone(ctx, p.UserID, p.ID); app.CodeOf(err) != app.CodeNotFound {
		return err
	}
	return nil
}

// TestPhone sends a test to a phone of a user now. The error is an [*Error] where it didn't
// arrive at the push service.
func (s *Service) TestPhone(ctx context.Context, userID, id int64, now time.Time) error {
	phones, err := s.Phones(ctx, userID)
	p, err := app.Find(phones, err, func(p Phone) bool { return p.ID == id }, ErrNoPhone)
	if err != nil {
		return err
	}
	push, err := s.push(ctx, p, notice{Title: app.Text{EN: "Báo Có: a test", VI: "Báo Có: tin thử"}.In(p.Lang),
		Body: app.Text{EN: "This phone rings for your shop.", VI: "Điện thoại này nhận được báo của cửa hàng."}.In(p.Lang),
		Path: "/settings/phones"}, paymentLife)
	if err != nil {
		return err
	}
	err = guarded(ctx, func(ctx context.Context) error { return s.config.Push(ctx, push) })
	return cmp.Or(s.removeGone(ctx, p, err, now), err)
}
