package alert

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"baoco/app"
	"baoco/app/pattern"
)

// A channel can report every payment, if somebody switched that on. The walk:
//
//	every second scheduler → Service.PaymentChannels → for each that may send now:
//	Service.SendPayments: the payments after the last one that was sent → one message of
//	as many as fit → Config.Alert sends it → settled in one commit
//
// The file holds the id up to which a feed has sent its payments: payments that come while
// the channel is down, or while no server runs, are sent later and in order. A message is
// sent again if its result is unknown because the server was killed or the answer came
// too late.

// PaymentFeed says which payments a channel reports, and up to which it has. The channel's
// alerts are separate: they neither wait for the feed nor fail with it.
type PaymentFeed struct {
	On            bool
	BankAccountID int64         // 0: all
	Type          app.Direction // empty: both
	Least         int64         // smallest amount; 0: any
	Content       bool          // messages hold the content

	SentThrough int64 // id of the last transaction that was sent or left out
	Sending
}

const (
	// feedPause is the least time between two messages of payments. Telegram takes 20
	// messages a minute to a group; this leaves room for alerts, and for messages
	// that arrive closer together than they went off.
	feedPause = 3500 * time.Millisecond
	// feedLate is the age from which on a message says that it comes late.
	feedLate = 15 * time.Minute
	// FeedRead is how many payments are looked at for one message. More don't fit.
	FeedRead = 150
	// FeedOldest is how long before its recording a payment that is sent may have
	// happened. An older one was recorded to complete the books.
	FeedOldest = 7 * 24 * time.Hour
)

// feedRetries are the waits after the first, second … failure in a row. The last
// one repeats.
var feedRetries = []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// feedBytes is how long a message of payments may be, in bytes: never more than the
// service takes of characters. Discord takes 2,000, and a character that means
// something to it is sent as two.
var feedBytes = map[Medium]int{Telegram: 4000, Zalo: 1900, Discord: 950, Slack: 4000, Lark: 6000, Ntfy: 3800}

// TakesPayments reports whether a channel of the medium can tell of every payment.
func (m Medium) TakesPayments() bool { return feedBytes[m] > 0 }

// SetPaymentFeed switches the feed of a channel on or off, or changes what it tells.
// A feed that is new tells what is recorded from then on.
func (s *Service) SetPaymentFeed(ctx context.Context, accountID int64, medium Medium, f PaymentFeed) error {
	c, err := s.AlertChannel(ctx, accountID, medium)
	if err != nil {
		return err
	}
	var v app.Invalid
	if !medium.TakesPayments() {
		v.Add("medium", "is not one that can tell of every payment", "không gửi được từng giao dịch")
	}
	if f.Type != "" && f.Type != app.In && f.Type != app.Out {
		v.Add("type", "must be IN, OUT or empty for both", "phải là IN, OUT hoặc để trống nếu lấy cả hai")
	}
	if f.Least < 0 || f.Least > app.MaxAmount {
		v.Add("min_amount", "must be an amount", "phải là một số tiền")
	}
	if err := v.Err(); err != nil {
		return err
	}
	if f.BankAccountID != 0 {
		banks, err := s.rooms.Ledger.BankAccounts(ctx, accountID)
		if _, err = app.Find(banks, err, func(b app.BankAccount) bool { return b.ID == f.BankAccountID },
			app.ErrUnknownBankAccountID); err != nil {
			return err
		}
	}
	return s.store.SetPaymentFeed(ctx, c.ID, f)
}

// PaymentChannels lists the channels whose feeds may send at now.
func (s *Service) PaymentChannels(ctx context.Context, now time.Time) ([]Channel, error) {
	channels, err := s.AlertChannels(ctx, 0)
	return slices.DeleteFunc(channels, func(c Channel) bool { return !c.Feed.On || c.SettingsLost || c.Feed.waits(now) }), err
}

func (f PaymentFeed) waits(now time.Time) bool { return f.Sending.waits(feedPause, time.Hour, now) }

// SendPayments sends one message of the next payments of a channel. attempted is true if
// there were any, or an error occurred before. One call at a time is made for a channel.
// It reads the channel again: c may be from before the last call.
func (s *Service) SendPayments(ctx context.Context, c Channel, now time.Time) (_ Alerted, attempted bool) {
	c, err := s.AlertChannel(ctx, c.AccountID, c.Medium)
	if app.CodeOf(err) == app.CodeNotFound || err == nil && (!c.Feed.On || c.SettingsLost || c.Feed.waits(now)) {
		return Alerted{}, false
	}
	if err != nil {
		return Alerted{c, err, false}, true
	}
	before := c.Feed
	payments, passed, err := s.store.PaymentsToSend(ctx, c)
	if err != nil {
		return Alerted{c, err, false}, true
	}
	if len(payments) == 0 {
		if passed > before.SentThrough {
			c.Feed.SentThrough = passed
			err = s.store.SettlePaymentFeed(ctx, c, before.SentThrough)
		}
		return Alerted{c, err, false}, err != nil
	}
	p, err := s.AlertPreferences(ctx, c.AccountID)
	if err != nil {
		return Alerted{c, err, false}, true
	}
	a, err := s.rooms.Ledger.Account(ctx, c.AccountID)
	if err != nil {
		return Alerted{c, err, false}, true
	}
	w := paymentWriter{lang: p.Lang, zone: s.zone, now: now, account: a, feed: before}
	message, n := w.message(c.Medium, payments)
	err = s.sendAlert(ctx, c, message)
	if err != nil && ctx.Err() != nil {
		return Alerted{}, false // the service stops: nothing is known, and it is sent again
	}
	message.settle(err)
	changed := c.Feed.attempted(message, payments[n-1].ID, err, now)
	if settled := s.store.SettlePaymentFeed(context.WithoutCancel(ctx), c, before.SentThrough); settled != nil {
		err = settled
	}
	return Alerted{c, err, changed}, true
}

// attempted updates the feed after a try to tell payments up to an id, and reports
// whether this is the first failure, or the end of failures.
func (f *PaymentFeed) attempted(m Message, last int64, err error, now time.Time) bool {
	f.SentAt = now
	if m.Sent {
		f.SentThrough = last
	}
	return f.Sending.attempted(m, feedRetries, err, now)
}

type paymentWriter struct {
	lang    app.Lang
	zone    *time.Location
	now     time.Time
	account app.Account
	feed    PaymentFeed
}

// message is one message of the first n payments: as many as fit.
func (w *paymentWriter) message(medium Medium, payments []app.Transaction) (_ Message, n int) {
	var head []string
	if w.account.ID != app.DefaultAccountID {
		head = append(head, alertSender(w.account))
	}
	if w.now.Sub(payments[0].CreatedAt) > feedLate {
		head = append(head, app.Text{EN: "Late: this could not be sent before.", VI: "Gửi muộn: trước đó chưa gửi được."}.In(w.lang))
	}
	room := feedBytes[medium] - len(strings.Join(head, "\n")) - 200 // for the sums
	var sum app.Flow
	var lines []string
	for _, t := range payments {
		line := w.line(t)
		if room -= len(line) + 1; room < 0 && n > 0 {
			break
		}
		n++
		lines = append(lines, line)
		sum.Add(t.Type, app.Amounts{Count: 1, Total: t.Amount})
	}
	subject := w.amount(payments[0]) + " · " + payments[0].Bank + " " + app.Tail(payments[0].AccountNumber)
	if n > 1 {
		var sums []string
		if sum.In.Count > 0 {
			sums = append(sums, "+"+w.money(sum.In.Total))
		}
		if sum.Out.Count > 0 {
			sums = append(sums, "−"+w.money(sum.Out.Total))
		}
		subject = counted(int64(n), "payment", "payments", "khoản").In(w.lang) + ": " + strings.Join(sums, ", ")
		head = append(head, subject)
	}
	return Message{Medium: medium, At: w.now, Tries: w.feed.Failures + 1, Subject: subject, Text: strings.Join(append(head, lines...), "\n")},
		n
}

func (w *paymentWriter) line(t app.Transaction) string {
	at := t.Time.In(w.zone)
	when := at.Format("15:04")
	switch {
	case t.DateOnly:
		when = at.Format("02/01")
	case app.DayOf(t.Time, w.zone) != app.DayOf(w.now, w.zone):
		when = at.Format("15:04 02/01")
	}
	line := w.amount(t) + " · " + t.Bank + " " + app.Tail(t.AccountNumber) + " · " + when
	if content := maskedContent(t.Content); w.feed.Content && content != "" {
		line += " · " + content
	}
	return line
}

func (w *paymentWriter) amount(t app.Transaction) string {
	if t.Type == app.Out {
		return "−" + w.money(t.Amount)
	}
	return "+" + w.money(t.Amount)
}

func (w *paymentWriter) money(n int64) string { return app.GroupDigits(n, w.lang) + "\u00a0₫" }

// shownContent is how many characters of a content a message has.
const shownContent = 80

var longNumber = pattern.Lazy(`[0-9]{9,}`)

// maskedContent is a content for a chat: in one line, and of numbers of nine digits
// or more, such as those of accounts and telephones, the last four digits alone.
func maskedContent(content string) string {
	content = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(content), " "))
	content = longNumber().ReplaceAllStringFunc(content, func(number string) string { return "…" + number[len(number)-4:] })
	return app.CleanText(content, shownContent)
}
