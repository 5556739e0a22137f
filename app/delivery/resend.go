package delivery

import (
	"context"
	"time"

	"baoco/app"
)

// Resendable refuses the resend of a delivery that is still pending, or whose
// webhook is deleted or not active.
func (d Delivery) Resendable(deleted, active bool) error {
	switch {
	case deleted:
		return errWebhookDeleted
	case !active:
		return ErrWebhookInactive
	case d.State == app.DeliveryPending:
		return errDeliveryPending
	}
	return nil
}

// MaxResend is how many deliveries are resent in one commit at most.
const MaxResend = 500

// Filter narrows the failed or the pending deliveries; zero values do not.
type Filter struct {
	WebhookID     int64
	TransactionID int64
	Type          app.Direction
	From, To      time.Time // of the delivery: made from From on, before To
	Query         string    // in content or transaction number, as typed
}

// Replays reports whether the filter is that of a replay of one webhook, which
// has no limit.
func (f Filter) Replays() bool {
	return f.WebhookID != 0 && f.TransactionID == 0 && f.Type == "" && f.Query == ""
}

// Failed is a delivery that ended as failed.
type Failed struct {
	DeliveryID, WebhookID int64
	HistoryID             int64 // its last attempt
}

// ResendResult is the result of resending many.
type ResendResult struct {
	Count      int        // new deliveries; of a repeated request, those of the first
	Deliveries []Delivery // the new ones; none for a repeated request or a replay
	Refused    []RefusedResend
	More       bool // more are left, beyond MaxResend
}

// RefusedResend is a history record that can't be resent. The code of Err is
// CodeNotFound, CodeWebhookDeleted, CodeWebhookInactive or CodeDeliveryPending.
type RefusedResend struct {
	HistoryID int64
	Err       *app.Error
}

// FailedDeliveries lists the first deliveries that ResendFailed would resend
// now, at most most of them. more says that more are left.
func (s *Service) FailedDeliveries(ctx context.Context, accountID int64, f Filter, most int) (list []Failed, more bool, err error) {
	list, err = s.store.FailedDeliveries(ctx, accountID, f, most+1)
	if len(list) > most {
		return list[:most], true, err
	}
	return list, false, err
}

// ResendMany resends the deliveries of history records, each once, at most
// MaxResend of them.
func (s *Service) ResendMany(ctx context.Context, accountID int64, historyIDs []int64, key app.IdempotencyKey,
	now time.Time) (ResendResult, error) {
	if len(historyIDs) > MaxResend {
		return ResendResult{}, errTooManyResends
	}
	r, err := s.store.ResendMany(ctx, accountID, historyIDs, key, now)
	var webhooks []int64
	for _, d := range r.Deliveries {
		webhooks = append(webhooks, d.WebhookID)
	}
	s.Wake(ordered(webhooks), nil)
	return r, err
}

// ResendFailed resends the failed deliveries of a filter: all of them if
// f.Replays, else at most MaxResend.
func (s *Service) ResendFailed(
	ctx context.Context, accountID int64, f Filter, key app.IdempotencyKey, now time.Time,
) (r ResendResult, err error) {
	if f.Replays() {
		r.Count, err = s.Replay(ctx, accountID, ReplayCreate{WebhookID: f.WebhookID, From: f.From, To: f.To, Key: key}, now)
		return r, err
	}
	list, more, err := s.FailedDeliveries(ctx, accountID, f, MaxResend)
	if err != nil {
		return ResendResult{}, err
	}
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.HistoryID
	}
	r, err = s.ResendMany(ctx, accountID, ids, key, now)
	r.More = more
	return r, err
}

var errTooManyResends error = app.InvalidField("id", "names more than 500 records", "có quá 500 bản ghi")

// Resend makes a new delivery of a history record's payload, with the whole
// retry schedule.
func (s *Service) Resend(ctx context.Context, accountID, historyID int64, key app.IdempotencyKey, now time.Time) (Delivery, error) {
	d, err := s.store.Resend(ctx, accountID, historyID, key, now)
	if err == nil {
		s.Wake([]int64{d.WebhookID}, nil)
	}
	return d, err
}

// ReplayCreate names the failed deliveries of a webhook that are to be resent.
type ReplayCreate struct {
	WebhookID int64
	From, To  time.Time // made from From on, before To; zero: open
	Key       app.IdempotencyKey
}

// Replay resends the failed deliveries of a webhook as Store.Replay says, and
// returns how many there were.
func (s *Service) Replay(ctx context.Context, accountID int64, in ReplayCreate, now time.Time) (int, error) {
	n, err := s.store.Replay(ctx, accountID, in, now)
	if err == nil && n > 0 {
		s.Wake([]int64{in.WebhookID}, nil)
	}
	return n, err
}

var errWebhookDeleted error = app.Refused(app.CodeWebhookDeleted,
	app.Text{EN: "The webhook of this record was deleted.", VI: "Webhook của bản ghi này đã bị xoá."})

// ErrWebhookInactive refuses a resend to a webhook that is switched off.
var ErrWebhookInactive error = app.Refused(app.CodeWebhookInactive,
	app.Text{EN: "The webhook is disabled; enable it first.", VI: "Webhook đang tắt, hãy bật lại trước."})

var errDeliveryPending error = app.Refused(app.CodeDeliveryPending,
	app.Text{EN: "The delivery is still being tried; its next attempt is scheduled.", VI: "Lần gửi này vẫn đang được thử lại theo lịch."})

// SendableNow refuses a delivery that isn't pending, or whose webhook w is deleted
// or sends nothing at present.
func (d Delivery) SendableNow(deleted bool, w Webhook) error {
	switch {
	case deleted:
		return errWebhookDeleted
	case d.State != app.DeliveryPending:
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

// SendNow makes a pending delivery due at once. Its next attempt is then made, and the
// schedule continues after it. A delivery that is due or in flight stays as it is.
func (s *Service) SendNow(ctx context.Context, accountID, deliveryID int64, key app.IdempotencyKey, now time.Time) error {
	err := s.store.SendNow(ctx, accountID, deliveryID, key, now)
	if err == nil {
		s.sweep()
	}
	return err
}

// SendWaiting makes all pending deliveries of a webhook due at once, and returns how
// many were not due before.
func (s *Service) SendWaiting(ctx context.Context, accountID, webhookID int64, key app.IdempotencyKey, now time.Time) (int, error) {
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

var errNotPending error = app.Conflict("The delivery isn’t waiting any more.", "Thông báo này không còn chờ nữa.")
