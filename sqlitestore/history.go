package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/fold"
)

// History finds the ids of the page first, then their rows.
func (s *Store) History(ctx context.Context, accountID int64, f delivery.HistoryFilter) ([]delivery.Attempt, int64, error) {
	if err := s.checkHistoryFilter(ctx, accountID, f); err != nil {
		return nil, 0, err
	}
	var ids []int64
	var total int64
	var err error
	switch {
	case f.ID != 0 || f.DeliveryID != 0 || f.TransactionID != 0:
		ids, total, err = s.scanAttempts(ctx, accountID, f)
	case f.Query != "":
		ids, total, err = s.searchAttempts(ctx, accountID, f)
	default:
		ids, total, err = s.listAttempts(ctx, accountID, f)
	}
	if err != nil || len(ids) == 0 {
		return nil, total, err
	}
	list, err := readAll(ctx, s, scanAttempt, `SELECT `+attemptColumns+`, `+deliveryColumns+`, `+payloadColumns+` FROM json_each(?) page CROSS JOIN attempts a ON a.id = page.value
			JOIN deliveries d ON d.id = a.delivery_id`+payloadFrom+` ORDER BY page.key`, joinIDs(ids))
	return list, total, err
}

// listAttempts lists by a filter that blocks are counted by.
func (s *Store) listAttempts(ctx context.Context, accountID int64, f delivery.HistoryFilter) (ids []int64, total int64, err error) {
	b := attemptBlocks(accountID, f)
	enough := f.Page.Offset() + int64(f.Page.Size)
	if b.hasConditions() {
		// Blocks of more rows than are counted needn't be read.
		l, err := s.planByBlocks(ctx, attemptTable, b, f.Page.CountTo == 0, max(enough, f.Page.CountTo+1))
		if err != nil {
			return nil, 0, err
		}
		ids, total, err := l.list(ctx, s, f.Page)
		return ids, counted(total, f.Page), err
	}
	l, err := s.planByBlocks(ctx, attemptTable, b, false, enough)
	if err != nil {
		return nil, 0, err
	}
	if total, err = s.keptAttempts(ctx, accountID, f.UntilID); err != nil {
		return nil, 0, err
	}
	ids, err = l.page(ctx, s, f.Page)
	return ids, total, err
}

// keptAttempts reads the kept number of attempts, up to an id unless that is 0.
func (s *Store) keptAttempts(ctx context.Context, accountID, untilID int64) (total int64, err error) {
	if err := s.queryRow(ctx, `SELECT history_rows FROM account_totals WHERE account_id = ?`, accountID).Scan(&total); err != nil {
		return 0, storageError(err)
	}
	if untilID == 0 {
		return total, nil
	}
	newer, err := s.planByBlocks(ctx, attemptTable, blockFilter{accountID: accountID, kinds: &conditions{}, from: openFrom, to: openTo, since: untilID}, true, 0)
	if err != nil {
		return 0, err
	}
	n, err := newer.total(ctx, s)
	return total - n, err
}

// counted returns a total, or app.Uncounted where it is greater than the page counts to.
func counted(total int64, p app.Page) int64 {
	if p.CountTo > 0 && total > p.CountTo {
		return app.Uncounted
	}
	return total
}

// attemptBlocks returns the part of a filter that blocks are counted by.
func attemptBlocks(accountID int64, f delivery.HistoryFilter) blockFilter {
	b := blockFilter{accountID: accountID, kinds: attemptKinds(f), from: openFrom, to: openTo, until: f.UntilID}
	if !f.From.IsZero() {
		b.from = f.From.UnixMilli()
	}
	if !f.To.IsZero() {
		b.to = f.To.UnixMilli()
	}
	return b
}

// hasConditions reports whether the filter has a condition besides the account and
// the bounds of ids.
func (f blockFilter) hasConditions() bool {
	return len(f.kinds.args) > 0 || f.from != openFrom || f.to != openTo
}

// attemptKinds returns the conditions on the columns that blocks are counted by.
func attemptKinds(f delivery.HistoryFilter) *conditions {
	var c conditions
	if f.WebhookID != 0 {
		c.add("webhook_id = ?", f.WebhookID)
	}
	if f.OK != nil {
		c.add("ok = ?", *f.OK)
	}
	if f.Type != "" {
		c.add("type = ?", string(f.Type))
	}
	return &c
}

// scanAttempts lists by a filter that few rows meet: of one attempt, one delivery or
// one transaction.
func (s *Store) scanAttempts(ctx context.Context, accountID int64, f delivery.HistoryFilter) (ids []int64, total int64, err error) {
	from, c := attemptsOf(accountID, f)
	from += ` WHERE ` + c.where.String()
	if err := s.queryRow(ctx, `SELECT count(*)`+from, c.args...).Scan(&total); err != nil {
		return nil, 0, storageError(err)
	}
	ids, err = s.scanIDs(ctx, `SELECT a.id`+from+` ORDER BY a.id DESC`, c.args, f.Page)
	return ids, counted(total, f.Page), err
}

// attemptConditions returns the conditions of a filter on a row a of attempts, the
// text left out.
func attemptConditions(accountID int64, f delivery.HistoryFilter) *conditions {
	var c conditions
	c.add("a.account_id = ?", accountID)
	if f.ID != 0 {
		c.add("a.id = ?", f.ID)
	}
	if f.DeliveryID != 0 {
		c.add("a.delivery_id = ?", f.DeliveryID)
	}
	if f.TransactionID != 0 {
		c.add("a.delivery_id IN (SELECT id FROM deliveries WHERE transaction_id = ?)", f.TransactionID)
	}
	if f.WebhookID != 0 {
		c.add("a.webhook_id = ?", f.WebhookID)
	}
	switch { // literals, as in the index attempts_failed
	case f.OK == nil:
	case *f.OK:
		c.add("a.ok = 1")
	default:
		c.add("a.ok = 0")
	}
	if f.Type != "" {
		c.add("a.type = ?", string(f.Type))
	}
	if !f.From.IsZero() {
		c.add("a.started_ms >= ?", f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		c.add("a.started_ms < ?", f.To.UnixMilli())
	}
	if f.UntilID != 0 {
		c.add("a.id <= ?", f.UntilID)
	}
	return &c
}

// attemptsOf returns FROM and the conditions of the attempts a of a filter, the text
// included.
func attemptsOf(accountID int64, f delivery.HistoryFilter) (from string, c *conditions) {
	from, c = ` FROM attempts a`, attemptConditions(accountID, f)
	if f.Query != "" {
		from += withText
		c.add(textHolds, fold.String(f.Query))
	}
	return from, c
}

// checkHistoryFilter refuses ids that name nothing in this account.
func (s *Store) checkHistoryFilter(ctx context.Context, accountID int64, f delivery.HistoryFilter) error {
	var v app.Invalid
	for _, ref := range []struct {
		field, query string
		id           int64
	}{
		{"webhook_id", `SELECT 1 FROM webhooks WHERE id = ? AND account_id = ?`, f.WebhookID},
		{"delivery_id", `SELECT 1 FROM deliveries WHERE id = ? AND account_id = ?`, f.DeliveryID},
		{"transaction_id", `SELECT 1 FROM transactions WHERE id = ? AND account_id = ?`, f.TransactionID},
	} {
		if ref.id == 0 {
			continue
		}
		err := s.exists(ctx, ref.query, ref.id, accountID, app.ErrUnknownReference(ref.field))
		if v.Merge(err); err != nil && app.CodeOf(err) != app.CodeValidation {
			return err
		}
	}
	return v.Err()
}

const attemptColumns = `a.id, a.number, a.url, a.started_ms, a.duration_ms, a.dns_ms, a.connect_ms, a.tls_ms, a.wait_ms, a.status_code, a.error, a.detail,
	a.response_body, iif(d.state = 0 AND d.attempts = a.number AND NOT (SELECT is_active FROM webhooks WHERE id = a.webhook_id), NULL, a.next_ms)`

func scanAttempt(row scanner) (delivery.Attempt, error) {
	var a delivery.Attempt
	var p payloadScan
	r := &a.Result
	var detail string
	dest := []any{&a.ID, &a.Number, &a.URL, millisInto(&r.StartedAt), durationInto(&r.Duration), durationInto(&r.Phases.DNS), durationInto(&r.Phases.Connect),
		durationInto(&r.Phases.TLS), durationInto(&r.Phases.Wait), &r.StatusCode, &r.Error, &detail, &r.Body, millisInto(&a.NextAttemptAt)}
	if err := row.Scan(append(append(dest, deliveryDest(&a.Delivery)...), p.dest()...)...); err != nil {
		return a, err
	}
	r.Detail = delivery.ParseDetail(detail)
	if a.Delivery.State == app.DeliveryCancelled && a.Number == a.Delivery.Attempts {
		a.NextAttemptAt = time.Time{} // its next attempt was planned, and then its webhook was deleted
	}
	var err error
	a.Payload, err = p.payload(a.Delivery.TransactionID)
	return a, err
}
