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
	newestAtStart atomic.Pointer[time.Time] // time of what was recorded last before this process; nil: not said
	meter         func(Source, Recording)   // nil: nobody counts
}

// NewService makes the use cases over a store.
func NewService(store Store, c Config, ledger *app.Service, deliveries *delivery.Service) *Service {
	return &Service{
		Records: store, store: store, zone: ledger.Zone(), config: c, ledger: ledger, deliveries: deliveries,
		catchUps: catchUps{busy: map[int64]bool{}, notBefore: map[int64]time.Time{}},
	}
}

// CountRecordings has counted called with what became of the transactions that a source
// named, or a file or a person; then source is zero. It must return at once. It is set
// before the service is used.
func (s *Service) CountRecordings(counted func(Source, Recording)) { s.meter = counted }

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
