package app

import (
	"context"
	"time"
)

// DeliveryProgress is a delivery with its webhook and its last attempt: what
// somebody wants to know of a transaction that a shop is told of.
type DeliveryProgress struct {
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

// Newest says how far the file has got, of all accounts: whatever is new has a
// higher id.
type Newest struct {
	TransactionID, AttemptID, InboundEventID int64
	DeliveryID                               int64
}

// DeliveriesOf lists the deliveries of transactions by transaction id.
func (s *Service) DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) (map[int64][]DeliveryProgress, error) {
	list, err := s.store.DeliveriesOf(ctx, accountID, transactionIDs)
	byTransaction := map[int64][]DeliveryProgress{}
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
