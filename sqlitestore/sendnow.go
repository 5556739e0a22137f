package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

func (s *Store) SendNow(ctx context.Context, accountID, id int64, key app.IdempotencyKey, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		if _, found, err := earlier(tx, accountID, key, now); err != nil || found {
			return err
		}
		var d app.Delivery
		var w app.Webhook
		var deleted bool
		err := tx.queryRow(`SELECT `+deliveryColumns+`, w.deleted_at IS NOT NULL, w.is_active, `+secretLost+`
			FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = ? AND d.account_id = ?`, id, accountID).
			Scan(append(deliveryDest(&d), &deleted, &w.IsActive, &w.SecretLost)...)
		if err != nil {
			return noRowsAs(err, app.ErrNoDelivery)
		}
		if err := d.SendableNow(deleted, w); err != nil {
			return err
		}
		if err := tx.exec(`UPDATE deliveries SET due_ms = min(due_ms, ?) WHERE id = ?`, now.UnixMilli(), id); err != nil {
			return err
		}
		return keepKey(tx, accountID, key, keptResult{}, now)
	})
}

// SendWaiting leaves out what was attempted since now: it may have failed between
// two steps and wait again.
func (s *Store) SendWaiting(ctx context.Context, accountID, webhookID int64, key app.IdempotencyKey, now time.Time) (int, error) {
	return inSteps(ctx, s, 0, func(tx *tx, n int) (int, bool, error) {
		if before, found, err := earlier(tx, accountID, key, now); err != nil || found {
			return int(before.result), false, err
		}
		w, err := scanWebhook(tx.queryRow(oneWebhook, webhookID, accountID))
		if err != nil {
			return n, false, err
		}
		if err := w.Sends(); err != nil {
			return n, false, err
		}
		changed, err := tx.change(`UPDATE deliveries SET due_ms = ?1 WHERE id IN (
			SELECT d.id FROM deliveries d INDEXED BY deliveries_due WHERE d.state = 0 AND d.webhook_id = ?2 AND d.retry IN (0, 1) AND d.due_ms > ?1
			AND NOT EXISTS (SELECT 1 FROM attempts a INDEXED BY attempts_delivery WHERE a.delivery_id = d.id AND a.started_ms >= ?1)`+stepLimit+`)`,
			now.UnixMilli(), webhookID)
		n += int(changed)
		if err != nil || changed == stepRows {
			return n, true, err
		}
		return n, false, keepKey(tx, accountID, key, keptResult{result: int64(n)}, now)
	})
}
