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

type progressStore interface {
	// DeliveriesOf lists the deliveries of transactions, oldest first, without
	// those that a resend has taken the place of.
	DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) ([]DeliveryProgress, error)
	// PendingDeliveries counts what is still to be attempted.
	PendingDeliveries(ctx context.Context, accountID int64) (int64, error)
	// Newest costs a look at the ends of a few indexes.
	Newest(ctx context.Context) (Newest, error)
	// SettledSince lists the transactions of the next few attempts after an
	// id, and the last of these.
	SettledSince(ctx context.Context, accountID, attemptID int64) (transactionIDs []int64, last int64, err error)
	// TransactionsSince counts the transactions after an id, and gives the id
	// that it counted up to.
	TransactionsSince(ctx context.Context, accountID, transactionID int64) (n, last int64, err error)
	// AttemptsSince counts the attempts of a filter after an id, and gives the
	// id that it counted up to. References of the filter that name nothing
	// count nothing.
	AttemptsSince(ctx context.Context, accountID int64, f HistoryFilter, attemptID int64) (n int, last int64, err error)
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
	h.Pending, err = s.store.PendingDeliveries(ctx, accountID)
	return h, err
}

// PendingDeliveries counts what is still to be attempted.
func (s *Service) PendingDeliveries(ctx context.Context, accountID int64) (int64, error) {
	return s.store.PendingDeliveries(ctx, accountID)
}

// Newest says how far the file has got; what is new to another account only
// wakes whoever waits for nothing.
func (s *Service) Newest(ctx context.Context) (Newest, error) {
	return s.store.Newest(ctx)
}

// SettledSince lists the transactions whose deliveries were attempted after an
// attempt, and the last attempt that was looked at.
func (s *Service) SettledSince(ctx context.Context, accountID, attemptID int64) ([]int64, int64, error) {
	return s.store.SettledSince(ctx, accountID, attemptID)
}

// TransactionsSince counts the transactions after one, and gives the id that the
// next count goes on from.
func (s *Service) TransactionsSince(ctx context.Context, accountID, transactionID int64) (n, last int64, err error) {
	return s.store.TransactionsSince(ctx, accountID, transactionID)
}

// AttemptsSince counts the attempts of a filter after one, and gives the id
// that the next count goes on from.
func (s *Service) AttemptsSince(ctx context.Context, accountID int64, f HistoryFilter, attemptID int64) (int, int64, error) {
	return s.store.AttemptsSince(ctx, accountID, f, attemptID)
}
