package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/fold"
)

// FailedDeliveries goes through the index of the failed ones and stops reading
// at limit. Their transactions are looked at one by one: there are few
// failures, and a word that is searched for may be in half of all
// transactions.
func (s *Store) FailedDeliveries(ctx context.Context, accountID int64, f app.FailedFilter, limit int) ([]app.FailedDelivery, error) {
	if err := s.checkHistoryFilter(ctx, accountID, app.HistoryFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID}); err != nil {
		return nil, err
	}
	from, args := failedOf(accountID, f)
	rows, err := s.query(ctx, `SELECT d.id, d.webhook_id, (SELECT max(id) FROM attempts INDEXED BY attempts_delivery WHERE delivery_id = d.id)`+from, args...)
	if err != nil {
		return nil, storageError(err)
	}
	defer rows.Close()
	var list []app.FailedDelivery
	for len(list) < limit && rows.Next() {
		var d app.FailedDelivery
		var last sql.NullInt64
		if err := rows.Scan(&d.DeliveryID, &d.WebhookID, &last); err != nil {
			return nil, storageError(err)
		}
		if d.HistoryID = last.Int64; last.Valid { // its attempts may be pruned
			list = append(list, d)
		}
	}
	return list, storageError(rows.Err())
}

// failedOf is where the failed deliveries d of a filter come from that can be
// resent, one webhook after another.
func failedOf(accountID int64, f app.FailedFilter) (from string, args []any) {
	var c conditions
	c.add("w.account_id = ? AND w.is_active = 1 AND w.deleted_at IS NULL", accountID)
	index := narrowDeliveries(&c, "deliveries_failed", f.WebhookID, f.TransactionID, f.From, f.To)
	if f.Type != "" {
		c.add("t.type = ?", string(f.Type))
	}
	if f.Query != "" {
		c.add("instr(t.search, ?) > 0", fold.String(f.Query))
	}
	transaction := "d.transaction_id"
	from = ` FROM webhooks w CROSS JOIN deliveries d INDEXED BY ` + index + ` ON d.webhook_id = w.id AND d.state = 2`
	if f.Type != "" || f.Query != "" {
		transaction = "t.id" // so that the rest is looked at where the text fits
		from += ` CROSS JOIN transactions t ON t.id = d.transaction_id`
	}
	return from + ` WHERE ` + c.where.String() + ` AND ` + notTold(transaction), c.args
}

func (s *Store) ResendMany(ctx context.Context, accountID int64, historyIDs []int64, key app.IdempotencyKey, now time.Time) (app.ResendResult, error) {
	return writing(ctx, s, func(tx *tx) (r app.ResendResult, err error) {
		before, found, err := earlier(tx, accountID, key, now)
		if err != nil || found {
			r.Count = int(before.result)
			return r, err
		}
		seen := map[int64]bool{}
		for _, historyID := range historyIDs {
			original, err := resendable(tx, accountID, historyID)
			if original.ID != 0 && seen[original.ID] {
				continue
			}
			seen[original.ID] = true
			if refused := (*app.Error)(nil); errors.As(err, &refused) {
				r.Refused = append(r.Refused, app.RefusedResend{HistoryID: historyID, Err: refused})
				continue
			}
			if err != nil {
				return r, err
			}
			id, err := addResend(tx, original.ID, historyID, now)
			if err != nil {
				return r, err
			}
			r.Deliveries = append(r.Deliveries, app.Delivery{
				ID: id, AccountID: accountID, WebhookID: original.WebhookID, TransactionID: original.TransactionID,
				State: app.DeliveryPending, DueAt: now, CreatedAt: now, ResendOf: historyID,
			})
		}
		r.Count = len(r.Deliveries)
		return r, keepKey(tx, accountID, key, keptResult{result: int64(r.Count)}, now)
	})
}

// narrowDeliveries adds what filters of deliveries d have in common, and gives
// the index that they are found by: index, unless a better one fits.
func narrowDeliveries(c *conditions, index string, webhookID, transactionID int64, from, to time.Time) string {
	if webhookID != 0 {
		c.add("w.id = ?", webhookID)
	}
	if transactionID != 0 {
		index = "deliveries_transaction"
		c.add("d.transaction_id = ?", transactionID)
	}
	if !from.IsZero() {
		c.add("d.created_ms >= ?", from.UnixMilli())
	}
	if !to.IsZero() {
		c.add("d.created_ms < ?", to.UnixMilli())
	}
	return index
}
