package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

// Alerts tell the owners of an account, outside the dashboard, what needs their
// attention. The walk:
//
//	the regular work of scheduler → Service.Alert → for every channel:
//	Attention → what began, is over, or lasts for a day (message.go) →
//	Config.Alert sends it as one message → settled in one commit
//
// A message is made when it is sent, of what is true then. The conditions that
// it names are kept with its outcome, so a restart neither repeats nor forgets
// them. After a failure a new message is made for the next try.

// Preferences are what the alerts of an account are about.
type Preferences struct {
	Lang  app.Lang
	Muted []AttentionKind // kinds of Kinds that no alert names
}

// Kinds are the kinds that alerts can be about: those that begin and end
// by themselves.
var Kinds = []AttentionKind{
	AttentionMatch, AttentionWebhook, AttentionStream, AttentionFailed, AttentionSource, AttentionInbound, AttentionBank, AttentionCodes,
	AttentionPlan, AttentionServer, AttentionAlert,
}

// alertNames says what the alerts of each kind of Kinds are about.
var alertNames = map[AttentionKind]app.Text{
	AttentionMatch:   {EN: "A cashier asks you to match money without a code", VI: "Thu ngân nhờ ghép tiền không có mã"},
	AttentionWebhook: {EN: "A webhook is not reaching your shop", VI: "Webhook không gửi được"},
	AttentionStream:  {EN: "A stream is not reaching its broker", VI: "Luồng giao dịch không gửi được"},
	AttentionFailed:  {EN: "Deliveries fail after all six attempts", VI: "Có thông báo thất bại sau cả sáu lần gửi"},
	AttentionSource:  {EN: "A source has gone silent, or its calls are refused", VI: "Nguồn giao dịch không gửi gì hoặc lần gọi bị từ chối"},
	AttentionInbound: {EN: "Received items need attention: unassigned, unreadable or in conflict",
		VI: "Giao dịch nhận được cần xử lý: tài khoản chưa liên kết, không đọc được, hoặc trùng mã nhưng khác số tiền"},
	AttentionBank:   {EN: "A bank account has an error", VI: "Tài khoản ngân hàng có lỗi"},
	AttentionPlan:   {EN: "Your plan expires within a week, or has expired", VI: "Gói dịch vụ còn dưới một tuần hoặc đã hết hạn"},
	AttentionServer: {EN: "The server needs attention: disk, certificate, backup", VI: "Máy chủ cần xử lý: ổ đĩa, chứng chỉ, sao lưu"},
	AttentionCodes:  {EN: "Payment codes are almost used up", VI: "Mã thanh toán sắp hết"},
	AttentionAlert:  {EN: "The other alert channel is failing", VI: "Một kênh cảnh báo khác không gửi được"},
}

// AlertName says what alerts of a kind of Kinds are about.
func (k AttentionKind) AlertName() app.Text { return alertNames[k] }

// Error is why a message didn't go out. Its text says what the other
// server answered and what to do about it; it never holds a secret.
type Error struct {
	Text       app.Text
	RetryAfter time.Duration // as the other side asked; 0: it didn't
	Partly     bool          // some of the recipients got it
	Gone       bool          // the recipient is there no more
}

func (e *Error) Error() string { return e.Text.EN }

// Outcome is what SettleAlert stores after a look at a channel.
type Outcome struct {
	Channel    Channel     // with SentAt, Failures, Problem and RetryAt as they are now
	Conditions []Condition // all of the channel
	Message    *Message    // nil: none was tried
}

// SetAlertPreferences changes what the alerts of an account are about.
func (s *Service) SetAlertPreferences(ctx context.Context, accountID int64, p Preferences) error {
	var v app.Invalid
	if p.Lang != app.Vietnamese && p.Lang != app.English {
		v.Add("lang", "must be vi or en", "phải là vi hoặc en")
	}
	slices.Sort(p.Muted)
	p.Muted = slices.Compact(p.Muted)
	for _, kind := range p.Muted {
		if !slices.Contains(Kinds, kind) {
			v.Add("kind", fmt.Sprintf("must be one of %v", Kinds), fmt.Sprintf("phải là một trong %v", Kinds))
			break
		}
	}
	if err := v.Err(); err != nil {
		return err
	}
	return s.store.SetAlertPreferences(ctx, accountID, p)
}

// The times of alerts.
const (
	// Timeout is how long the sending of one message may take.
	Timeout = 25 * time.Second
	// alertPause is the least time between two messages of a channel.
	alertPause = time.Minute
	// alertReminder is how often a message repeats what still lasts.
	alertReminder = 24 * time.Hour
	// alertCalm is how long something must be gone before it counts as over.
	// What comes and goes within that time is one condition.
	alertCalm = 10 * time.Minute
)

// Reaches tells whether alerts of a kind reach anybody: a channel is set up and doesn't fail, and
// the kind isn't muted.
func (s *Service) Reaches(ctx context.Context, accountID int64, kind AttentionKind) (bool, error) {
	p, err := s.AlertPreferences(ctx, accountID)
	if err != nil || slices.Contains(p.Muted, kind) {
		return false, err
	}
	channels, err := s.AlertChannels(ctx, accountID)
	return slices.ContainsFunc(channels, func(c Channel) bool { return !c.SettingsLost && c.Failures < WorryingFailures }), err
}

// alertRetries are the waits after the first, second … failure in a row. The
// last one repeats.
var alertRetries = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// alertsAtOnce is how many channels are served at a time.
const alertsAtOnce = 8

// Alerted is the result for a channel that had something to tell.
type Alerted struct {
	Channel Channel // as it is now
	Err     error   // why not every recipient got the message; nil: all did
	Changed bool    // it fails for the first time, or works again
}

// Alert sends every channel of every account the news that it has for it at
// now, and gives the results of the channels that had news. A channel that
// fails keeps no other back.
func (s *Service) Alert(ctx context.Context, in upkeep.Installation, now time.Time) ([]Alerted, error) {
	channels, err := s.AlertChannels(ctx, 0)
	if err != nil {
		return nil, err
	}
	var (
		mu      sync.Mutex
		results []Alerted
		running sync.WaitGroup
		slots   = make(chan struct{}, alertsAtOnce)
	)
	for _, c := range channels {
		if c.SettingsLost {
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-slots }()
			var result Alerted
			var attempted bool
			if err := app.Protected(func() error { result, attempted = s.alertChannel(ctx, c, in, now); return nil }); err != nil {
				result, attempted = Alerted{Channel: c, Err: err}, true
			}
			if attempted {
				mu.Lock()
				defer mu.Unlock()
				results = append(results, result)
			}
		})
	}
	running.Wait()
	return results, nil
}

// alertChannel serves one channel. attempted is true if there was news, or an error
// occurred before.
func (s *Service) alertChannel(ctx context.Context, c Channel, in upkeep.Installation, now time.Time) (_ Alerted, attempted bool) {
	news, err := s.alertNews(ctx, c, in, now)
	if err != nil {
		return Alerted{c, err, false}, true
	}
	o := Outcome{Channel: c, Conditions: news.conditions}
	day, dayDue := s.reportDue(c, now)
	month, monthDue := s.monthDue(c, now)
	reports := (dayDue || monthDue) && news.none()
	if news.none() && !reports || c.waits(alertPause, slices.Max(alertRetries), now) {
		if news.changed {
			err = s.store.SettleAlert(ctx, o)
		}
		return Alerted{c, err, false}, err != nil
	}
	var message Message
	switch {
	case reports && dayDue:
		message, err = s.reportMessage(ctx, c, day, in, now)
	case reports:
		message, err = s.monthMessage(ctx, c, month, in, now)
	default:
		message, err = s.alertMessage(ctx, c, news, in)
	}
	if err != nil {
		return Alerted{c, err, false}, true
	}
	err = s.sendAlert(ctx, c, message)
	if err != nil && ctx.Err() != nil {
		return Alerted{}, false // the service stops: nothing is known, and it is tried again
	}
	message.At, message.Tries = now, c.Failures+1
	o.Message = &message
	if message.settle(err); message.Sent {
		o.Conditions = news.afterSending(now)
		switch {
		case reports && dayDue:
			o.Channel.ReportedDay = day
		case reports:
			o.Channel.ReportedMonth = month
		}
	}
	changed := o.Channel.attempted(message, alertRetries, err, now)
	if settled := s.store.SettleAlert(context.WithoutCancel(ctx), o); settled != nil {
		err = settled
	}
	return Alerted{o.Channel, err, changed}, true
}

// Sending is how the messages of a channel, or those of its feed, went out.
type Sending struct {
	SentAt   time.Time // of the last message; zero: never
	Failures int       // in a row, since then
	Problem  app.Text  // of the last of them
	RetryAt  time.Time // when it is tried again; zero: nothing failed
}

// waits reports whether it isn't yet time for the next message, which follows the last
// after pause and a failure after longest at most. A clock that was set back silences
// nothing.
func (s Sending) waits(pause, longest time.Duration, now time.Time) bool {
	if since := now.Sub(s.SentAt); since >= 0 && since < pause {
		return true
	}
	wait := s.RetryAt.Sub(now)
	return wait > 0 && wait <= longest
}

// attempted notes a try, and reports whether the state changed: this is the first
// failure, or the end of failures.
func (s *Sending) attempted(m Message, waits []time.Duration, err error, now time.Time) bool {
	before := s.Failures
	if m.Sent {
		*s = Sending{SentAt: now}
		return before > 0
	}
	s.Failures++
	s.Problem = m.Problem
	s.RetryAt = now.Add(alertWait(waits, s.Failures, err))
	return before == 0
}

// alertWait is how long to wait after so many failures in a row, of which err is the
// last: one of waits, or as long as the service asks for, at most an hour.
func alertWait(waits []time.Duration, failures int, err error) time.Duration {
	wait := waits[min(failures, len(waits))-1]
	if e, found := errors.AsType[*Error](err); found {
		wait = min(max(wait, e.RetryAfter), time.Hour)
	}
	return wait
}

func (s *Service) sendAlert(ctx context.Context, c Channel, m Message) error {
	return guarded(ctx, func(ctx context.Context) error { return s.config.Send(ctx, c, m) })
}

// guarded sends one message within Timeout. A panic of the sender is an error that names
// its type only: its value may hold a secret.
func guarded(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := app.Protected(func() error { return send(ctx) })
	if panicked, found := errors.AsType[*app.PanicError](err); found {
		return fmt.Errorf("panic while sending an alert: %T", panicked.Value)
	}
	return err
}

// TestAlert sends a test to a channel now. The error is an [*Error] where
// the test didn't arrive.
func (s *Service) TestAlert(ctx context.Context, accountID int64, medium Medium, in upkeep.Installation, now time.Time) error {
	c, err := s.AlertChannel(ctx, accountID, medium)
	if err != nil {
		return err
	}
	if c.SettingsLost {
		return &Error{Text: c.Problem}
	}
	p, err := s.AlertPreferences(ctx, accountID)
	if err != nil {
		return err
	}
	channels := ""
	if in.BaseURL != "" {
		channels = in.BaseURL + Attention{Kind: AttentionAlert}.Path()
	}
	m := alertTest(p.Lang, medium, channels)
	m.At, m.Tries = now, 1
	err = s.sendAlert(ctx, c, m)
	m.settle(err)
	if kept := s.store.NoteAlertTest(context.WithoutCancel(ctx), c, m); kept != nil {
		return kept
	}
	return err
}
