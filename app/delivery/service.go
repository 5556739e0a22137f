// Package delivery has webhooks and what they are sent: deliveries, attempts, resends, signatures, and
// explanations of failures.
package delivery

import (
	"context"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/target"
)

// Config is what a Service works with.
type Config struct {
	Targets *target.Policy
	// Send makes one attempt of a delivery.
	Send func(ctx context.Context, o Outgoing) Result
	// Schedule is the waits before the attempts; nil: RetrySchedule. The
	// demonstration has shorter ones.
	Schedule []time.Duration
}

// Service is the use cases of webhooks and deliveries. It is safe for concurrent
// use.
type Service struct {
	Records
	store   Store
	zone    *time.Location
	config  Config
	ledger  *app.Service
	courier atomic.Pointer[Courier] // nil: this process makes no attempts
	counted func(Result)            // nil: attempts aren't counted
}

// NewService makes the use cases over a store.
func NewService(store Store, c Config, ledger *app.Service) *Service {
	if c.Schedule == nil {
		c.Schedule = RetrySchedule
	}
	return &Service{Records: store, store: store, zone: ledger.Zone(), config: c, ledger: ledger}
}

// Courier makes the attempts of due deliveries.
type Courier struct {
	// Wake is called after new deliveries, with the webhooks that got them and
	// Recording.Ready. It is called from any goroutine and must return quickly.
	Wake func(webhookIDs []int64, ready []Outgoing)
	// Sweep starts a look for due deliveries of every webhook. It returns at once.
	Sweep func()
	// InFlight lists the deliveries that are being attempted, by webhook. The list is
	// empty for a webhook of which an attempt has just ended.
	InFlight func() map[int64][]int64
	// Swept is when the last look for due deliveries ended. The courier looks twice a
	// second.
	Swept func() time.Time
	// Shortage says what this machine is short of for the attempts of a webhook;
	// empty: nothing.
	Shortage func(webhookID int64) Cause
}

// SetCourier sets the courier. Without a courier the sweep of another process finds
// the deliveries.
func (s *Service) SetCourier(c Courier) { s.courier.Store(&c) }

// CountAttempts has counted called with each attempt that was recorded. counted must return
// at once, and is set before the service is used.
func (s *Service) CountAttempts(counted func(Result)) { s.counted = counted }

// Wake has the courier look at webhooks that got deliveries.
func (s *Service) Wake(webhookIDs []int64, ready []Outgoing) {
	if c := s.courier.Load(); c != nil && len(webhookIDs) > 0 {
		c.Wake(webhookIDs, ready)
	}
}

// shortageOf says what this machine is short of for a pending delivery.
func (s *Service) shortageOf(d Delivery) app.Text {
	c := s.courier.Load()
	if c == nil || d.State != app.DeliveryPending {
		return app.Text{}
	}
	return c.Shortage(d.WebhookID).Shortage()
}
