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

// DeliveryHealth is how the attempts of a day went.
type DeliveryHealth struct {
	Delivered, Failed int64 // attempts
	Pending           int64 // deliveries that are still to be attempted
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

// DeliveryHealth reads how the last 24 hours of the clock went.
func (s *Service) DeliveryHealth(ctx context.Context, accountID int64, now time.Time) (h DeliveryHealth, err error) {
	sum, err := s.store.RecentAttempts(ctx, accountID, now)
	if err != nil {
		return h, err
	}
	h.Delivered, h.Failed = sum.Succeeded, sum.Failed
	h.Pending, err = s.PendingDeliveries(ctx, accountID)
	return h, err
}
