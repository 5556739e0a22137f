package sqlitestore

import (
	"context"

	"baoco/app"
	"baoco/app/fold"
)

// latestColumns are those of a delivery d with its webhook w and its last
// attempt a, which latestFrom joins to it.
const (
	latestColumns = deliveryColumns + `, w.name, w.url, coalesce(a.id, 0), coalesce(a.status_code, 0), coalesce(a.error, ''), coalesce(a.duration_ms, 0)`
	latestFrom    = ` JOIN webhooks w ON w.id = d.webhook_id
		LEFT JOIN attempts a ON a.id = (SELECT max(id) FROM attempts INDEXED BY attempts_delivery WHERE delivery_id = d.id)`
)

func latestDest(l *app.LatestDelivery) []any {
	return append(deliveryDest(&l.Delivery), &l.WebhookName, &l.URL, &l.HistoryID, &l.StatusCode, &l.Error, durationInto(&l.Duration))
}

func (s *Store) DeliveriesOf(ctx context.Context, accountID int64, transactionIDs []int64) ([]app.LatestDelivery, error) {
	if len(transactionIDs) == 0 {
		return nil, nil
	}
	// Only the last delivery to each webhook is listed: the others were resent.
	rows, err := s.query(ctx, `SELECT `+latestColumns+`
		FROM json_each(?1) page
		CROSS JOIN deliveries d INDEXED BY deliveries_transaction ON d.transaction_id = page.value`+latestFrom+`
		WHERE d.account_id = ?2 AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.transaction_id = d.transaction_id AND o.webhook_id = d.webhook_id AND o.id > d.id)
		ORDER BY d.id`, joinIDs(transactionIDs), accountID)
	return collect(rows, err, func(row scanner) (app.LatestDelivery, error) {
		var l app.LatestDelivery
		err := row.Scan(latestDest(&l)...)
		return l, err
	})
}

func (s *Store) PendingDeliveries(ctx context.Context, accountID int64) (int64, error) {
	return readOne[int64](ctx, s, `SELECT count(*) FROM webhooks w JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0
			WHERE w.account_id = ? AND w.deleted_at IS NULL`, accountID)
}

func (s *Store) NewestIDs(ctx context.Context) (app.NewestIDs, error) {
	var n app.NewestIDs
	err := s.queryRow(ctx, `SELECT coalesce((SELECT max(id) FROM transactions), 0), coalesce((SELECT max(id) FROM attempts), 0),
			coalesce((SELECT max(id) FROM inbound_events), 0), coalesce((SELECT max(id) FROM deliveries), 0)`).
		Scan(&n.TransactionID, &n.AttemptID, &n.InboundEventID, &n.DeliveryID)
	return n, storageError(err)
}

func (s *Store) SettledSince(ctx context.Context, accountID, attemptID int64) ([]int64, int64, error) {
	type settled struct{ attempt, transaction int64 }
	rows, err := s.query(ctx, `SELECT a.id, CASE a.account_id WHEN ?1 THEN coalesce(d.transaction_id, 0) ELSE 0 END FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
			WHERE a.id > ?2 ORDER BY a.id LIMIT 200`, accountID, attemptID)
	list, err := collect(rows, err, func(row scanner) (v settled, err error) { return v, row.Scan(&v.attempt, &v.transaction) })
	last := attemptID
	var ids []int64
	seen := map[int64]bool{}
	for _, one := range list {
		last = one.attempt
		if one.transaction != 0 && !seen[one.transaction] {
			seen[one.transaction] = true
			ids = append(ids, one.transaction)
		}
	}
	return ids, last, err
}

// Pending reads the index of the queue: its cost grows with the pending deliveries,
// not with all there ever were.
func (s *Store) Pending(ctx context.Context, accountID int64, f app.PendingFilter) ([]app.PendingDelivery, int64, error) {
	if err := s.checkHistoryFilter(ctx, accountID, app.HistoryFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID}); err != nil {
		return nil, 0, err
	}
	ids, total, err := s.pendingIDs(ctx, accountID, f)
	if err != nil || len(ids) == 0 {
		return nil, total, err
	}
	// A delivery that was attempted meanwhile has left the list.
	rows, err := s.query(ctx, `SELECT `+latestColumns+`, NOT w.is_active, `+secretLost+`, `+payloadColumns+` FROM json_each(?) page CROSS JOIN deliveries d ON d.id = page.value`+
		latestFrom+payloadFrom+` WHERE d.state = 0 ORDER BY page.key`, joinIDs(ids))
	list, err := collect(rows, err, func(row scanner) (app.PendingDelivery, error) {
		var one app.PendingDelivery
		var p payloadScan
		err := row.Scan(append(append(latestDest(&one.LatestDelivery), &one.Paused, &one.SecretLost), p.dest()...)...)
		if err == nil {
			one.Payload, err = p.payload(one.TransactionID)
		}
		return one, err
	})
	return list, total, err
}

// pendingIDs returns the ids of a page and their number on all pages. Where the
// index doesn't answer the filter, one read serves both.
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
	all, err := readAll(ctx, s, scanOne[int64], `SELECT d.id`+from+order, args...)
	total = int64(len(all))
	return all[min(total, f.Page.Offset()):min(total, f.Page.Offset()+int64(f.Page.Size))], counted(total, f.Page), err
}

// pendingOf returns FROM and WHERE for the pending deliveries d of a filter, with
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
