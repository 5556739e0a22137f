package delivery

import (
	"context"
	"time"

	"baoco/app"
)

// HealthHours is how many hours the health of a webhook goes back.
const HealthHours = 24

// HourHealth counts the attempts that began in one hour.
type HourHealth struct{ Succeeded, Failed int64 }

// WebhookHealth is how a webhook's attempts went lately.
type WebhookHealth struct {
	WebhookID   int64
	Hours       [HealthHours]HourHealth // without tests; clock hours in UTC; the last is the present one
	FailedInRow int64                   // attempts since the last success, tests included
	Retrying    int64                   // deliveries that failed so far and are tried again, up to CountedUpTo
	RetryAt     time.Time               // when the first of these is tried again; zero: none
	HistoryID   int64                   // of the last attempt; 0: none, or it was pruned
	Last        Result                  // of the last attempt, without Body and Phases
}

// Sum adds up the hours.
func (h WebhookHealth) Sum() (sum HourHealth) {
	for _, hour := range h.Hours {
		sum.Succeeded += hour.Succeeded
		sum.Failed += hour.Failed
	}
	return sum
}

// WebhookHealths reads the health of every webhook of an account, by webhook
// id.
func (s *Service) WebhookHealths(ctx context.Context, accountID int64, now time.Time) (map[int64]WebhookHealth, error) {
	list, err := s.store.WebhookHealth(ctx, accountID, 0, now)
	byID := make(map[int64]WebhookHealth, len(list))
	for _, h := range list {
		byID[h.WebhookID] = h
	}
	return byID, err
}

// WebhookHealth reads the health of one webhook; CodeNotFound if it doesn't exist.
func (s *Service) WebhookHealth(ctx context.Context, accountID, webhookID int64, now time.Time) (WebhookHealth, error) {
	list, err := s.store.WebhookHealth(ctx, accountID, webhookID, now)
	return app.Find(list, err, func(WebhookHealth) bool { return true }, ErrNoWebhook)
}

// Health counts the attempts of the last 24 hours and the queue.
type Health struct {
	Delivered, Failed int64 // attempts, without tests
	Pending           int64 // deliveries
	Unmended          bool  // a delivery that failed is to be tried again, or was given up and not resent
}

// DeliveryHealth reads the counts of the last 24 hours of the clock.
func (s *Service) DeliveryHealth(ctx context.Context, accountID int64, now time.Time) (h Health, err error) {
	sum, err := s.store.RecentAttempts(ctx, accountID, now)
	if err != nil {
		return h, err
	}
	h.Delivered, h.Failed = sum.Succeeded, sum.Failed
	if h.Pending, err = s.PendingDeliveries(ctx, accountID, 0); err != nil || h.Failed == 0 {
		return h, err
	}
	hooks, err := s.WebhookHealths(ctx, accountID, now)
	if err != nil {
		return h, err
	}
	for _, hook := range hooks {
		h.Unmended = h.Unmended || hook.Retrying > 0
	}
	if !h.Unmended {
		failed, _, e := s.FailedDeliveries(ctx, accountID, Filter{From: now.Add(-app.Recently)}, 1)
		h.Unmended, err = len(failed) > 0, e
	}
	return h, err
}
