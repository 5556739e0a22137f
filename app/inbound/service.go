// Package inbound has what comes in: sources, calls, lists, files, retries, links, and which reports are
// of one movement.
package inbound

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

// Config is what a Service works with.
type Config struct {
	Targets   *target.Policy
	Providers []ProviderKind
	// Read reads the transactions of a body.
	Read Reader
	// Poll reads the next page of a source's list of transactions. progress is
	// that of the page before, empty in the beginning. The error is a
	// [*PollError], or that of ctx where nothing was asked. Only kinds with
	// CatchUp have lists.
	Poll func(ctx context.Context, source Source, progress string, now time.Time) (PolledPage, error)
}

// Service is the use cases of sources, calls, lists and files. It is safe for
// concurrent use.
type Service struct {
	Records
	store         Store
	zone          *time.Location
	config        Config
	ledger        *app.Service
	deliveries    *delivery.Service
	catchUps      catchUps
	recorded      recorded
	newestAtStart atomic.Pointer[time.Time] // time of the newest row from before this process; nil: not set
	meter         func(Source, Recording)   // nil: recordings aren't counted
}

// NewService makes the use cases over a store.
func NewService(store Store, c Config, ledger *app.Service, deliveries *delivery.Service) *Service {
	return &Service{
		Records: store, store: store, zone: ledger.Zone(), config: c, ledger: ledger, deliveries: deliveries,
		catchUps: catchUps{busy: map[int64]bool{}, notBefore: map[int64]time.Time{}},
	}
}

// CountRecordings has counted called with the recording of each call, file or typed
// transaction; for the latter two the source is zero. counted must return at once, and is set
// before the service is used.
func (s *Service) CountRecordings(counted func(Source, Recording)) { s.meter = counted }

// recorded wakes goroutines that wait for new transactions.
type recorded struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next recording; nil: no goroutine waits
}

// Recorded returns a channel that is closed when this process records transactions the
// next time. It doesn't notice those of another process.
func (s *Service) Recorded() <-chan struct{} {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	if s.recorded.next == nil {
		s.recorded.next = make(chan struct{})
	}
	return s.recorded.next
}

// counted counts the recording of a call, list, file or typed transaction, and announces
// it. For the latter two source is zero.
func (s *Service) counted(source Source, r Recording) {
	if s.meter != nil {
		s.meter(source, r)
	}
	s.announce(r)
}

func (s *Service) announce(r Recording) {
	s.deliveries.Wake(r.Webhooks, r.Ready)
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
