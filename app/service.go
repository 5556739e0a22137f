package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app/passkey"
)

// Config is what a Service works with.
type Config struct {
	Store     Store
	Zone      *time.Location
	Targets   *TargetPolicy
	Providers []ProviderKind
	// Read reads the transactions of a body.
	Read ReadInbound
	// Poll reads the next page of a source's list of transactions. progress is
	// that of the page before, empty in the beginning. The error is a
	// [*PollError], or that of ctx where nothing was asked. Only kinds with
	// CatchUp have lists.
	Poll func(ctx context.Context, source Source, progress string, now time.Time) (PolledPage, error)
	// Send makes one attempt of a delivery.
	Send func(ctx context.Context, o Outgoing) Result
	// OpenBroker gives a publisher, which connects when it publishes.
	OpenBroker func(b Broker) Publisher
	// Alert sends one message on a channel. The error is an [*AlertError] where
	// the owner can do something about it.
	Alert func(ctx context.Context, c AlertChannel, m AlertMessage) error
	// DayPath is the path, with its query, of the dashboard's page of a day.
	DayPath func(Day) string
	// AttentionPath is the path, with its query, of the dashboard's page where
	// something can be ended. Alerts link to it.
	AttentionPath func(Attention) string
	// Schedule is the waits before the attempts; nil: RetrySchedule. The
	// demonstration has shorter ones.
	Schedule []time.Duration
}

// Service is the use cases. It is safe for concurrent use.
//
// What no rule decides is not written here: it is asked of [Reader] and
// changed by [Writer].
type Service struct {
	Reader
	Writer
	store    Store
	zone     *time.Location
	config   Config
	courier  atomic.Pointer[Courier] // nil: nothing is attempted in this process
	meter    Meter                   // nil: nobody counts
	probe    atomic.Pointer[probe]
	catchUps catchUps
	recorded recorded

	challenges passkey.Challenges
	// When the last scheduled backup failed; nil: it didn't.
	backupFailed  atomic.Pointer[time.Time]
	replica       atomic.Pointer[ReplicaCheck] // nil: nobody has looked at one
	newestAtStart atomic.Pointer[time.Time]    // what the file held last when the server started; nil: it is no server
	clockStep     atomic.Pointer[ClockStep]    // nil: the clock was not set
}

// probe is the result of the last look at the storage.
type probe struct {
	at  time.Time
	err error
}

// staleProbe is the age of a probe from which on the next one must be hanging:
// the storage has stalled.
const staleProbe = 8 * time.Second

// NewService makes the use cases over c.
func NewService(c Config) *Service {
	if c.Schedule == nil {
		c.Schedule = RetrySchedule
	}
	return &Service{
		Reader: c.Store, Writer: c.Store, store: c.Store, zone: c.Zone, config: c,
		catchUps: catchUps{busy: map[int64]bool{}, notBefore: map[int64]time.Time{}},
	}
}

// Zone is the zone of every Y-m-d H:i:s.
func (s *Service) Zone() *time.Location { return s.zone }

// Courier makes the attempts of due deliveries.
type Courier struct {
	// Wake is told of new deliveries: the webhooks that got them, and
	// Recording.Ready. It is called from any goroutine and must return quickly.
	Wake func(webhookIDs []int64, ready []Outgoing)
	// Sweep has it look for due deliveries of every webhook. It returns at once.
	Sweep func()
	// InFlight lists the deliveries that are being attempted, by webhook. The list is
	// empty for a webhook of which an attempt has just ended.
	InFlight func() map[int64][]int64
	// Swept is when it last ended a look for due deliveries. It looks twice a
	// second.
	Swept func() time.Time
	// Shortage says what this machine lacks for the attempts of a webhook;
	// empty: nothing.
	Shortage func(webhookID int64) Cause
}

// SetCourier names the courier. Without one the sweep of another process finds
// the deliveries.
func (s *Service) SetCourier(c Courier) { s.courier.Store(&c) }

// Meter counts what the use cases do. Its methods return at once.
type Meter interface {
	// Recorded is told what became of the transactions that a source named, or a file or
	// a person; then source is zero.
	Recorded(source Source, r Recording)
	// Attempted is told of an attempt of a delivery that was recorded.
	Attempted(r Result)
}

// SetMeter names who counts, before the service is used.
func (s *Service) SetMeter(m Meter) { s.meter = m }

// recorded wakes whoever waits for new transactions.
type recorded struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next recording; nil: nobody waits
}

// Recorded gives a channel that is closed when this process records transactions the
// next time. Those of another process are only in the file.
func (s *Service) Recorded() <-chan struct{} {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	if s.recorded.next == nil {
		s.recorded.next = make(chan struct{})
	}
	return s.recorded.next
}

// counted counts what became of a call, list, file or typed transaction, and announces
// it. source is zero where none named it.
func (s *Service) counted(source Source, r Recording) {
	if s.meter != nil {
		s.meter.Recorded(source, r)
	}
	s.announce(r)
}

// announce wakes those that wait for what was recorded.
func (s *Service) announce(r Recording) {
	s.wake(r.Webhooks, r.Ready)
	if r.Recorded == 0 {
		return
	}
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	if s.recorded.next != nil {
		close(s.recorded.next)
		s.recorded.next = nil
	}
}

func (s *Service) wake(webhookIDs []int64, ready []Outgoing) {
	if c := s.courier.Load(); c != nil && len(webhookIDs) > 0 {
		c.Wake(webhookIDs, ready)
	}
}

// shortageOf is what this machine lacks for a pending delivery.
func (s *Service) shortageOf(d Delivery) Text {
	c := s.courier.Load()
	if c == nil || d.State != DeliveryPending {
		return Text{}
	}
	return c.Shortage(d.WebhookID).Shortage()
}

// find gives the first member of a list that is the wanted one, or the error
// that there is none. err is the error of reading the list.
func find[T any](list []T, err error, wanted func(T) bool, none error) (T, error) {
	i := slices.IndexFunc(list, wanted)
	if err == nil && i < 0 {
		err = none
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return list[i], nil
}

// Probe looks whether the storage works. Ready remembers the result, so that a
// readiness check never waits for a stalled disk.
func (s *Service) Probe(ctx context.Context, now time.Time) {
	s.probe.Store(&probe{now, s.store.Probe(ctx)})
}

// Ready is nil if the last probe was a moment ago and found the storage
// working, or if there was none yet.
func (s *Service) Ready(now time.Time) error {
	p := s.probe.Load()
	switch {
	case p == nil:
		return nil // just started
	case p.err == nil && now.Sub(p.at) > staleProbe:
		return errors.New("the storage hangs")
	}
	return p.err
}

// hangsAfter is how long the writer or the courier may be at one thing before it
// counts as hanging. A commit and a sweep take milliseconds. A foreign lock on the
// file ends them with an error after five seconds, and a full disk at once.
const hangsAfter = 30 * time.Second

// Alive is nil as long as the writer commits and the courier sweeps, or fail and
// say so. After another answer only a restart can help. That is why a full disk
// is alive: it needs somebody who makes room.
func (s *Service) Alive(now time.Time) error {
	c := s.courier.Load()
	switch {
	case c == nil:
		return nil // not yet started
	case now.Sub(s.store.WriterBeat()) > hangsAfter:
		return errors.New("the writer hangs")
	case now.Sub(c.Swept()) > hangsAfter:
		return errors.New("the courier hangs")
	}
	return nil
}

// IdempotencyKey makes a request safe to repeat within IdempotencyWindow: the
// same key and hash give the first result again, another hash is a conflict.
// The zero value is no key.
type IdempotencyKey struct {
	Key       string
	Operation string
	Hash      [32]byte
}

// IdempotencyWindow is how long a key is remembered.
const IdempotencyWindow = 24 * time.Hour

// ErrIdempotencyReused refuses a key that came with another request before.
var ErrIdempotencyReused error = Refused(CodeConflict, Text{
	"This Idempotency-Key was used with another request.",
	"Idempotency-Key này đã được dùng với một yêu cầu khác.",
})

// ErrSameName refuses a name that another one in use has. The form can be sent again
// as it is.
var ErrSameName = InvalidField("name",
	"is that of another one in use. Change it, so that you can tell the two apart, or send the form again to keep it",
	"đang được dùng cho một mục khác. Hãy đổi tên để dễ phân biệt, hoặc bấm lần nữa nếu vẫn muốn dùng tên này")

// ErrFormUsed refuses a form of the dashboard that was sent before. A page that
// shows a secret must not make a second one because a browser sends its form
// again.
var ErrFormUsed = Refused(CodeConflict, Text{
	"This form was already submitted, so nothing was done again. Secrets are shown only once.",
	"Biểu mẫu này đã được gửi trước đó nên không thực hiện lại. Nội dung chỉ hiển thị một lần sẽ không hiện lại.",
})
