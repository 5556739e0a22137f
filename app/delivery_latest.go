package app

import (
	"context"
	"time"
)

// LatestDelivery is a delivery that no resend has replaced, with its webhook
// and its last attempt.
type LatestDelivery struct {
	Delivery
	WebhookName string
	URL         string // of the webhook now
	// Of the last attempt; zero where there was none.
	HistoryID  int64
	StatusCode int
	Error      ErrorClass
	Duration   time.Duration
}

// NewestIDs are the highest ids in the file, of all accounts. Whatever is new
// has a higher id.
type NewestIDs struct {
	TransactionID, AttemptID, InboundEventID int64
	DeliveryID                               int64
}

// DeliveriesOf lists the deliveries of transactions by transaction id.
func (s *Service) DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) (map[int64][]LatestDelivery, error) {
	list, err := s.store.DeliveriesOf(ctx, accountID, transactionIDs)
	byTransaction := map[int64][]LatestDelivery{}
	for _, d := range list {
		byTransaction[d.TransactionID] = append(byTransaction[d.TransactionID], d)
	}
	return byTransaction, err
}
