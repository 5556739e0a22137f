package app

import (
	"context"
	"time"
)

// SendableNow refuses a delivery that isn't pending, or whose webhook w is deleted
// or sends nothing at present.
func (d Delivery) SendableNow(deleted bool, w Webhook) error {
	switch {
	case deleted:
		return errWebhookDeleted
	case d.State != DeliveryPending:
		return errNotPending
	}
	return w.Sends()
}

// Sends refuses if the webhook is switched off or has lost its secret.
func (w Webhook) Sends() error {
	switch {
	case !w.IsActive:
		return ErrWebhookInactive
	case w.SecretLost:
		return ErrSecretLost
	}
	return nil
}

// SendNow makes a pending delivery due at once. It is its next attempt, and the
// schedule goes on from there. One that is due or in flight stays as it is.
func (s *Service) SendNow(ctx context.Context, accountID, deliveryID int64, key IdempotencyKey, now time.Time) error {
	err := s.store.SendNow(ctx, accountID, deliveryID, key, now)
	if err == nil {
		s.sweep()
	}
	return err
}

// SendWaiting makes all pending deliveries of a webhook due at once, and gives how
// many were not.
func (s *Service) SendWaiting(ctx context.Context, accountID, webhookID int64, key IdempotencyKey, now time.Time) (int, error) {
	n, err := s.store.SendWaiting(ctx, accountID, webhookID, key, now)
	if err == nil {
		s.sweep()
	}
	return n, err
}

func (s *Service) sweep() {
	if c := s.courier.Load(); c != nil {
		c.Sweep()
	}
}

// errNotPending refuses to send what needs no attempt any more.
var errNotPending error = Refused(CodeConflict, Text{"The delivery isn’t waiting any more.", "Thông báo này không còn chờ nữa."})
