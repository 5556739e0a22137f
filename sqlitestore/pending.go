package sqlitestore

import (
	"context"

	"baoco/app"
	"baoco/app/fold"
)

// Pending goes through the index of the queue: it costs as much as waits, not
// as there ever was.
func (s *Store) Pending(ctx context.Context, accountID int64, f app.PendingFilter) ([]app.PendingDelivery, int64, error) {
	if err := s.checkHistoryFilter(ctx, accountID, app.HistoryFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID}); err != nil {
		return nil, 0, err
	}
	ids, total, err := s.pendingIDs(ctx, accountID, f)
	if err != nil || len(ids) == 0 {
		return nil, total, err
	}
	// One that was attempted meanwhile has left the list.
	rows, err := s.query(ctx, `SELECT `+progressColumns+`, NOT w.is_active, `+secretLost+`, `+payloadColumns+` FROM json_each(?) page CROSS JOIN deliveries d ON d.id = page.value`+
		progressFrom+payloadFrom+` WHERE d.state = 0 ORDER BY page.key`, joinIDs(ids))
	list, err := collect(rows, err, func(row scanner) (app.PendingDelivery, error) {
		var one app.PendingDelivery
		var progress progressScan
		var p payloadScan
		err := row.Scan(append(append(progress.dest(), &one.Paused, &one.SecretLost), p.dest()...)...)
		if err == nil {
			one.DeliveryProgress = progress.progress()
			one.Payload, err = p.payload(one.TransactionID)
		}
		return one, err
	})
	return list, total, err
}

// pendingIDs finds the ids of a page and how many there are on all pages. What
// the index doesn't tell is looked at once, for both.
func (s *Store) pendingIDs(ctx context.Context, accountID int64, f app.PendingFilter) (ids []int64, total int64, err error) {
	from, args := pendingOf(accountID, f)
	const order = ` ORDER BY w.is_active AND NOT (` + secretLost + `) DESC, d.due_ms, d.id`
	if f.Type == "" && f.Query == "" && f.From.IsZero() && f.To.IsZero() {
		if err := s.queryRow(ctx, `SELECT count(*)`+from, args...).Scan(&total); err != nil {
			return nil, 0, storageError(err)
		}
		ids, err = s.scanIDs(ctx, `SELECT d.id`+from+order, args, f.Page)
		return ids, counted(total, f.Page), err
	}
	rows, err := s.query(ctx, `SELECT d.id`+from+order, args...)
	all, err := collect(rows, err, func(row scanner) (id int64, err error) { return id, row.Scan(&id) })
	total = int64(len(all))
	return all[min(total, f.Page.Offset()):min(total, f.Page.Offset()+int64(f.Page.Size))], counted(total, f.Page), err
}

// pendingOf is where the pending deliveries d of a filter come from, with
// their webhooks w.
func pendingOf(accountID int64, f app.PendingFilter) (from string, args []any) {
	var c conditions
	c.add("w.account_id = ? AND w.deleted_at IS NULL", accountID)
	index := narrowDeliveries(&c, "deliveries_due", f.WebhookID, f.TransactionID, f.From, f.To)
	if f.Type != "" {
		c.add("coalesce(t.type, json_extract(d.sample, '$.TransferType')) = ?", string(f.Type))
	}
	if f.Query != "" {
		c.add(textHolds, fold.String(f.Query))
	}
	from = ` FROM webhooks w CROSS JOIN deliveries d INDEXED BY ` + index + ` ON d.webhook_id = w.id AND d.state = 0`
	if f.Type != "" || f.Query != "" {
		from += ` LEFT JOIN transactions t ON t.id = d.transaction_id`
	}
	return from + ` WHERE ` + c.where.String(), c.args
}
