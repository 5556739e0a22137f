package app

import (
	"context"
	"time"
)

// PendingFilter narrows the pending deliveries; zero values do not.
type PendingFilter struct {
	WebhookID     int64
	TransactionID int64
	Type          Direction
	From, To      time.Time // of the delivery: made from From on, before To
	Query         string    // in content or transaction number, as typed
	Page          Page
}

// PendingDelivery is a delivery that is still to be attempted, with its
// webhook and its last attempt, if there was one.
type PendingDelivery struct {
	LatestDelivery
	Paused bool // the webhook is switched off: nothing is sent until it is on again
	// SecretLost says that nothing is sent until the webhook's secret is rotated.
	SecretLost bool
	// Shortage is what this server lacks for the next attempt, which is made
	// as soon as it can be; empty: nothing.
	Shortage Text
	Payload  Payload
}

// Pending lists what is still to be attempted, in the order of the next
// attempts, those last that wait for somebody to switch their webhook on or to
// rotate its secret, and how many there are on all pages.
func (s *Service) Pending(ctx context.Context, accountID int64, f PendingFilter) ([]PendingDelivery, int64, error) {
	list, total, err := s.store.Pending(ctx, accountID, f)
	for i := range list {
		list[i].Shortage = s.shortageOf(list[i].Delivery)
	}
	return list, total, err
}
