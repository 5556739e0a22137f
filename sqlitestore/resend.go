package sqlitestore

import (
	"context"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/fold"
)

// FailedDeliveries reads the index of failed deliveries and stops at limit. It looks
// at their transactions one by one: there are few failures, while half of all
// transactions may contain the text that is searched for.
func (s *Store) FailedDeliveries(ctx context.Context, accountID int64, f delivery.Filter, limit int) ([]delivery.Failed, error) {
	if err := s.checkHistoryFilter(ctx, accountID,
		delivery.HistoryFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID}); err != nil {
		return nil, err
	}
	from, args := failedOf(accountID, f)
	rows, err := s.query(ctx,
		`SELECT d.id, d.webhook_id, coalesce((SELECT max(id) FROM attempts INDEXED BY attempts_delivery WHERE delivery_id = d.id), 0)`+from,
		args...)
	var list []delivery.Failed
	err = each(rows, err, func(row scanner) (bool, error) {
		var d delivery.Failed
		err := row.Scan(&d.DeliveryID, &d.WebhookID, &d.HistoryID)
		if d.HistoryID != 0 { // 0: its attempts are pruned
			list = append(list, d)
		}
		return len(list) >= limit, err
	})
	return list, err
}

// failedOf returns FROM and WHERE for the failed deliveries d of a filter that can be
// resent, one webhook after another.
func failedOf(accountID int64, f delivery.Filter) (from string, args []any) {
	var c conditions
	c.add("w.account_id = ? AND w.is_active = 1 AND w.deleted_at IS NULL", accountID)
	index := narrowDeliveries(&c, "deliveries_failed", f)
	c.addIf(f.Type != "", "t.type = ?", string(f.Type))
	c.addIf(f.Query != "", "instr(t.search, ?) > 0", fold.String(f.Query))
	transaction := "d.transaction_id"
	from = ` FROM webhooks w CROSS JOIN deliveries d INDEXED BY ` + index + ` ON d.webhook_id = w.id AND d.state = 2`
	if f.Type != "" || f.Query != "" {
		transaction = "t.id" // so that the costly condition comes after the text
		from += ` CROSS JOIN transactions t ON t.id = d.transaction_id`
	}
	return from + ` WHERE ` + c.where.String() + ` AND ` + isLatestFailure(transaction), c.args
}

func (s *Store) ResendMany(ctx context.Context, accountID int64, historyIDs []int64, key app.IdempotencyKey,
	now time.Time) (delivery.ResendResult, error) {
	return writing(ctx, s, func(tx *tx) (r delivery.ResendResult, err error) {
		if before, found := earlier(tx, accountID, key, now); found {
			r.Count = int(before.result)
			return r, nil
		}
		seen := map[int64]bool{}
		for _, historyID := range historyIDs {
			original, err := resendable(tx, accountID, historyID)
			if original.ID != 0 && seen[original.ID] {
				continue
			}
			seen[original.ID] = true
			if refused, ok := errors.AsType[*app.Error](err); ok {
				r.Refused = append(r.Refused, delivery.RefusedResend{HistoryID: historyID, Err: refused})
				continue
			}
			if err != nil {
				return r, err
			}
			id := addResend(tx, original.ID, historyID, now)
			r.Deliveries = append(r.Deliveries, delivery.Delivery{
				ID: id, AccountID: accountID, WebhookID: original.WebhookID, TransactionID: original.TransactionID,
				State: app.DeliveryPending, DueAt: now, CreatedAt: now, ResendOf: historyID,
			})
		}
		r.Count = len(r.Deliveries)
		if r.Count > 0 {
			tx.audit(ctx, accountID, app.DeedDeliveryResend, r.Deliveries[0].ID, app.AuditDetail{Count: int64(r.Count)})
		}
		keepKey(tx, accountID, key, keptResult{result: int64(r.Count)}, now)
		return r, nil
	})
}

// narrowDeliveries adds the conditions of a filter on deliveries d, without those on
// transactions, and returns the index to use: index, unless another one is better.
func narrowDeliveries(c *conditions, index string, f delivery.Filter) string {
	c.addIf(f.WebhookID != 0, "w.id = ?", f.WebhookID)
	if f.TransactionID != 0 {
		index = "deliveries_transaction"
		c.add("d.transaction_id = ?", f.TransactionID)
	}
	c.between("d.created_ms", unixMilliOrNull(f.From), unixMilliOrNull(f.To))
	return index
}

// resendable returns the delivery of a history record, or an error that says why it
// can't be resent.
func resendable(tx *tx, accountID, historyID int64) (delivery.Delivery, error) {
	var d delivery.Delivery
	var deleted, active bool
	err := tx.queryRow(`SELECT `+deliveryColumns+`, w.deleted_at IS NOT NULL, w.is_active
		FROM attempts a JOIN deliveries d ON d.id = a.delivery_id JOIN webhooks w ON w.id = d.webhook_id
		WHERE a.id = ? AND a.account_id = ?`, historyID, accountID).Scan(append(deliveryDest(&d), &deleted, &active)...)
	if err != nil {
		return delivery.Delivery{}, noRowsAs(err, delivery.ErrNoHistory)
	}
	return d, d.Resendable(deleted, active)
}

func (s *Store) Resend(ctx context.Context, accountID, historyID int64, key app.IdempotencyKey, now time.Time) (delivery.Delivery, error) {
	return writing(ctx, s, func(tx *tx) (d delivery.Delivery, err error) {
		before, found := earlier(tx, accountID, key, now)
		id := before.result
		if !found {
			original, err := resendable(tx, accountID, historyID)
			if err != nil {
				return d, err
			}
			id = addResend(tx, original.ID, historyID, now)
			keepKey(tx, accountID, key, keptResult{result: id}, now)
			tx.audit(ctx, accountID, app.DeedDeliveryResend, id, app.AuditDetail{Count: 1})
		}
		return scanDelivery(tx.queryRow(`SELECT `+deliveryColumns+` FROM deliveries d WHERE d.id = ?`, id))
	})
}

// addResend queues a new delivery with the payload of another.
func addResend(tx *tx, deliveryID, historyID int64, now time.Time) int64 {
	return tx.insert(`INSERT INTO deliveries (account_id, webhook_id, transaction_id, sample, state, attempts, retry, due_ms, created_ms,
		resend_of, single)
		SELECT account_id, webhook_id, transaction_id, sample, 0, 0, 0, ?1, ?1, ?2, 0 FROM deliveries WHERE id = ?3`,
		now.UnixMilli(), historyID, deliveryID)
}

// isLatestFailure is true for a failed delivery d if it is the last failed one of the
// transaction to its webhook, and none is pending or delivered. The argument is the
// SQL expression of the transaction's id.
func isLatestFailure(transaction string) string {
	return transaction + ` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.transaction_id = ` + transaction +
		` AND o.webhook_id = d.webhook_id
		AND (o.state IN (0, 1) OR (o.state = 2 AND o.id > d.id)))`
}

// replayed is how far a replay has come in the index deliveries_failed.
type replayed struct {
	count                      int
	created, transaction, last int64 // the index entry of the last delivery that was looked at
	line                       int64 // of the audit log
}

// Replay stores the idempotency key with its last step. A request that was interrupted by a
// crash continues when it is repeated, and then counts only the rest.
func (s *Store) Replay(ctx context.Context, accountID int64, in delivery.ReplayCreate, now time.Time) (int, error) {
	end := replayEnd(in.To, now).UnixMilli()
	done, err := inSteps(ctx, s, replayed{created: max(0, in.From.UnixMilli())}, func(tx *tx, at replayed) (replayed, bool, error) {
		if before, found := earlier(tx, accountID, in.Key, now); found {
			return replayed{count: int(before.result)}, false, nil
		}
		w := txWebhook(tx, accountID, in.WebhookID)
		tx.refuse(!w.IsActive, delivery.ErrWebhookInactive)
		more, err := replayStep(tx, in.WebhookID, &at, end, now)
		d := app.AuditNamed(w.Name)
		d.Count = int64(at.count)
		at.line = tx.auditCount(ctx, app.AuditLine{
			ID: at.line, AccountID: accountID, Deed: app.DeedWebhookReplay, NounID: in.WebhookID, AuditDetail: d,
		})
		if err == nil && !more {
			keepKey(tx, accountID, in.Key, keptResult{result: int64(at.count)}, now)
		}
		return at, more, err
	})
	return done.count, err
}

// replayStep looks at the next failed deliveries, and resends those that are the
// latest failure of their transaction.
func replayStep(tx *tx, webhookID int64, at *replayed, end int64, now time.Time) (more bool, err error) {
	const next = ` FROM deliveries d INDEXED BY deliveries_failed WHERE d.webhook_id = ?1 AND d.state = 2 AND d.transaction_id IS NOT NULL
		AND (d.created_ms, d.transaction_id, d.id) > (?2, ?3, ?4) AND d.created_ms < ?5`
	const order = ` ORDER BY d.created_ms, d.transaction_id, d.id`
	begin := *at
	looked := 0
	rows, err := tx.query(`SELECT d.created_ms, d.transaction_id, d.id`+next+order+stepLimit, webhookID, begin.created,
		begin.transaction, begin.last, end)
	err = each(rows, err, func(row scanner) (bool, error) {
		looked++
		return false, row.Scan(&at.created, &at.transaction, &at.last)
	})
	if err != nil || looked == 0 {
		return false, err
	}
	n := tx.change(`INSERT INTO deliveries (account_id, webhook_id, transaction_id, state, attempts, retry, due_ms, created_ms,
		resend_of, single)
		SELECT d.account_id, d.webhook_id, d.transaction_id, 0, 0, 0, ?9, ?9, (SELECT max(a.id) FROM attempts a WHERE a.delivery_id = d.id), 0`+
		next+` AND (d.created_ms, d.transaction_id, d.id) <= (?6, ?7, ?8) AND `+isLatestFailure("d.transaction_id")+order,
		webhookID, begin.created, begin.transaction, begin.last, end, at.created, at.transaction, at.last, now.UnixMilli())
	at.count += int(n)
	return looked == stepRows, nil
}

// replayEnd returns the end of a window of creation times: to, or by default an hour from
// now, since the clock may have been ahead.
func replayEnd(to, now time.Time) time.Time {
	if to.IsZero() {
		return now.Add(time.Hour)
	}
	return to
}

func (s *Store) Replayable(
	ctx context.Context, accountID int64, in delivery.ReplayCreate, most int, now time.Time,
) (n int64, all bool, err error) {
	rows, err := s.query(ctx,
		`SELECT `+isLatestFailure("d.transaction_id")+
			` FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_failed ON d.webhook_id = w.id
		WHERE w.id = ? AND w.account_id = ? AND d.state = 2 AND d.created_ms >= ? AND d.created_ms < ? ORDER BY d.created_ms DESC`,
		in.WebhookID, accountID, max(0, in.From.UnixMilli()), replayEnd(in.To, now).UnixMilli())
	looked := 0
	err = each(rows, err, func(row scanner) (bool, error) {
		if looked++; looked > most {
			return true, nil
		}
		failed, err := scanOne[bool](row)
		if failed {
			n++
		}
		return false, err
	})
	return n, looked <= most, err
}

func (s *Store) SendNow(ctx context.Context, accountID, id int64, key app.IdempotencyKey, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		if _, found := earlier(tx, accountID, key, now); found {
			return nil
		}
		var d delivery.Delivery
		var w delivery.Webhook
		var deleted bool
		err := tx.queryRow(`SELECT `+deliveryColumns+`, w.deleted_at IS NOT NULL, w.is_active, `+secretLost+`
			FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = ? AND d.account_id = ?`, id, accountID).
			Scan(append(deliveryDest(&d), &deleted, &w.IsActive, &w.SecretLost)...)
		if err != nil {
			return noRowsAs(err, delivery.ErrNoDelivery)
		}
		if err := d.SendableNow(deleted, w); err != nil {
			return err
		}
		tx.exec(`UPDATE deliveries SET due_ms = min(due_ms, ?) WHERE id = ?`, now.UnixMilli(), id)
		keepKey(tx, accountID, key, keptResult{}, now)
		return tx.audit(ctx, accountID, app.DeedDeliverySendNow, id, app.AuditDetail{})
	})
}

// SendWaiting leaves out deliveries that were attempted since now: one may have failed
// between two steps, and be pending again.
func (s *Store) SendWaiting(ctx context.Context, accountID, webhookID int64, key app.IdempotencyKey, now time.Time) (int, error) {
	type sending struct {
		count int
		line  int64 // of the audit log
	}
	done, err := inSteps(ctx, s, sending{}, func(tx *tx, at sending) (sending, bool, error) {
		if before, found := earlier(tx, accountID, key, now); found {
			return sending{count: int(before.result)}, false, nil
		}
		w := txWebhook(tx, accountID, webhookID)
		tx.fail(w.Sends())
		changed := tx.change(`UPDATE deliveries SET due_ms = ?1 WHERE id IN (
			SELECT d.id FROM deliveries d INDEXED BY deliveries_due WHERE d.state = 0 AND d.webhook_id = ?2 AND d.retry IN (0, 1) AND d.due_ms > ?1
			AND NOT EXISTS (SELECT 1 FROM attempts a INDEXED BY attempts_delivery WHERE a.delivery_id = d.id AND a.started_ms >= ?1)`+stepLimit+`)`,
			now.UnixMilli(), webhookID)
		at.count += int(changed)
		d := app.AuditNamed(w.Name)
		d.Count = int64(at.count)
		at.line = tx.auditCount(ctx, app.AuditLine{
			ID: at.line, AccountID: accountID, Deed: app.DeedWebhookSendNow, NounID: webhookID, AuditDetail: d,
		})
		if changed < stepRows {
			keepKey(tx, accountID, key, keptResult{result: int64(at.count)}, now)
		}
		return at, changed == stepRows, nil
	})
	return done.count, err
}
