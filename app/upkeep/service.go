// Package upkeep has the state of the installation: warnings, backups, pruning, checks, the replica.
package upkeep

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Service is the use cases of the installation: its state, backups and checks. It
// is safe for concurrent use.
type Service struct {
	Records
	store    Store
	zone     *time.Location
	attempts atomic.Pointer[Attempts] // nil: nothing is attempted in this process
	probe    atomic.Pointer[probe]
	// When the last scheduled backup failed; nil: it didn't.
	backupFailed atomic.Pointer[time.Time]
	replica      atomic.Pointer[ReplicaCheck] // nil: nobody has looked at one
	clockStep    atomic.Pointer[ClockStep]    // nil: the clock was not set
}

// NewService makes the use cases over a store.
func NewService(store Store, zone *time.Location) *Service {
	return &Service{Records: store, store: store, zone: zone}
}

// Attempts reports which deliveries are being attempted.
type Attempts struct {
	// InFlight lists the deliveries that are being attempted, by webhook. The list is
	// empty for a webhook whose attempt has just ended.
	InFlight func() map[int64][]int64
	// Swept is when the courier last looked for due deliveries, which it does twice a
	// second.
	Swept func() time.Time
}

// SetAttempts sets where Service reads which deliveries are being attempted.
func (s *Service) SetAttempts(a Attempts) { s.attempts.Store(&a) }

// probe is the result of the last look at the storage.
type probe struct {
	at  time.Time
	err error
}

// staleProbe is the age of a probe from which on the next one must be hanging:
// the storage has stalled.
const staleProbe = 8 * time.Second

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

// Alive is nil as long as the writer commits and the courier sweeps, or report an
// error. Otherwise only a restart can help. With a full disk the server is alive, since
// it needs somebody who makes room, and no restart.
func (s *Service) Alive(now time.Time) error {
	c := s.attempts.Load()
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
