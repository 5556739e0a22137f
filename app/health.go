package app

import (
	"context"
	"time"
)

// HealthHours is how many hours the health of a webhook goes back.
const HealthHours = 24

// HourHealth is how the attempts went that began in one hour.
type HourHealth struct{ Succeeded, Failed int64 }

// WebhookHealth is how a webhook's attempts went lately, those of tests too.
type WebhookHealth struct {
	WebhookID   int64
	Hours       [HealthHours]HourHealth // of the clock in UTC; the last is that of now
	FailedInRow int64                   // attempts since the last that succeeded
	HistoryID   int64                   // of the last attempt; 0: none, or it isn't kept any more
	Last        Result                  // of it, without Body and Phases
}

// Sum is all hours together.
func (h WebhookHealth) Sum() (sum HourHealth) {
	for _, hour := range h.Hours {
		sum.Succeeded += hour.Succeeded
		sum.Failed += hour.Failed
	}
	return sum
}

// WebhookHealths reads the health of every webhook of an account, by id of the
// webhook.
func (s *Service) WebhookHealths(ctx context.Context, accountID int64, now time.Time) (map[int64]WebhookHealth, error) {
	list, err := s.store.WebhookHealth(ctx, accountID, 0, now)
	byID := make(map[int64]WebhookHealth, len(list))
	for _, h := range list {
		byID[h.WebhookID] = h
	}
	return byID, err
}

// WebhookHealth reads the health of one webhook; CodeNotFound where there is
// none.
func (s *Service) WebhookHealth(ctx context.Context, accountID, webhookID int64, now time.Time) (WebhookHealth, error) {
	list, err := s.store.WebhookHealth(ctx, accountID, webhookID, now)
	return find(list, err, func(WebhookHealth) bool { return true }, ErrNoWebhook)
}

// DeliveryHealth is how the attempts of a day went.
type DeliveryHealth struct {
	Delivered, Failed int64 // attempts
	Pending           int64 // deliveries that are still to be attempted
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
