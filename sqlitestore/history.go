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
	l, err := s.attemptListing(ctx, accountID, f)
	if err != nil {
		return nil, 0, err
	}
	var total int64
	if f == (delivery.HistoryFilter{UntilID: f.UntilID, Page: f.Page}) {
		total, err = s.keptAttempts(ctx, accountID, f.UntilID)
	} else {
		total, err = s.count(ctx, l, f.Page.CountTo)
		total = counted(total, f.Page)
	}
	if err != nil {
		return nil, 0, err
	}
	ids, err := s.page(ctx, l, total, f.Page)
	if err != nil || len(ids) == 0 {
		return nil, total, err
	}
	list, err := readAll(ctx, s, scanAttempt, `SELECT `+attemptColumns+`, `+deliveryColumns+`, `+payloadColumns+`
		FROM json_each(?) page CROSS JOIN attempts a ON a.id = page.value
		JOIN deliveries d ON d.id = a.delivery_id`+payloadFrom+` ORDER BY page.key`, jsonArray(ids))
	return list, total, err
}

// attemptListing decides how the history is read: from the attempts of the transactions
// that contain the text, if these are few, or else from all attempts in their order.
func (s *Store) attemptListing(ctx context.Context, accountID int64, f delivery.HistoryFilter) (listing, error) {
	c := attemptConditions(accountID, f)
	from := `a INDEXED BY attempts_list`
	switch {
	case f.ID != 0:
		from = `a NOT INDEXED`
	case f.DeliveryID != 0 || f.TransactionID != 0:
		from = `a INDEXED BY attempts_delivery`
	case f.Query != "" && f.OK != nil && !*f.OK:
		from = `a INDEXED BY attempts_failed`
	case f.Query != "":
		from = `a NOT INDEXED`
	}
	if f.Query != "" {
		of, few, err := s.deliveriesContaining(ctx, accountID, f.Query)
		switch {
		case err != nil:
			return listing{}, err
		case few && f.ID == 0:
			from = `a INDEXED BY attempts_delivery`
			c.join(of)
		default:
			from += withText
			c.add(textHolds, fold.String(f.Query))
		}
	}
	return listing{id: "a.id", order: ` ORDER BY a.id DESC`, opposite: ` ORDER BY a.id`,
		from: ` FROM attempts ` + from + ` WHERE ` + c.where.String(), args: c.args}, nil
}

// deliveriesContaining returns the condition that the delivery of an attempt a contains a
// text. If few is false, there are too many such deliveries, or the text is too short.
func (s *Store) deliveriesContaining(ctx context.Context, accountID int64, query string) (c *conditions, few bool, err error) {
	text, ok := holding(query)
	if !ok {
		return nil, false, nil
	}
	ids, few, err := s.few(ctx, text)
	c = &conditions{}
	c.add(`a.delivery_id IN (SELECT d.id FROM json_each(?) k
			CROSS JOIN deliveries d INDEXED BY deliveries_transaction ON d.transaction_id = k.value
		UNION ALL SELECT d.id FROM deliveries d INDEXED BY deliveries_samples WHERE d.account_id = ? AND d.sample IS NOT NULL
			AND instr(`+sampleText+`, ?) > 0)`, ids, accountID, fold.String(query))
	return c, few, err
}

// sampleText is the search text of the test payload of a delivery d, in SQL.
const sampleText = `lower(json_extract(d.sample, '$.Content') || char(10) || json_extract(d.sample, '$.TransactionNumber'))`

// withText joins the rows that have the search text of an attempt a, and textHolds is the
// condition on this text. A subquery for each row would take three times as long.
const (
	withText  = ` CROSS JOIN deliveries d ON d.id = a.delivery_id LEFT JOIN transactions t ON t.id = d.transaction_id`
	textHolds = `instr(coalesce(t.search, ` + sampleText + `), ?) > 0`
)

// keptAttempts returns the kept number of attempts, without those after untilID; 0: all.
func (s *Store) keptAttempts(ctx context.Context, accountID, untilID int64) (int64, error) {
	return readOne[int64](ctx, s, `SELECT history_rows - iif(?2 = 0, 0,
			(SELECT count(*) FROM attempts INDEXED BY attempts_list WHERE account_id = ?1 AND id > ?2))
		FROM account_totals WHERE account_id = ?1`, accountID, untilID)
}

// counted returns a total, or app.Uncounted if it is above Page.CountTo.
func counted(total int64, p app.Page) int64 {
	if p.CountTo > 0 && total > p.CountTo {
		return app.Uncounted
	}
	return total
}

// attemptConditions returns the conditions of a filter on an attempt a, without the text.
func attemptConditions(accountID int64, f delivery.HistoryFilter) *conditions {
	var c conditions
	c.add("a.account_id = ?", accountID)
	c.addIf(f.ID != 0, "a.id = ?", f.ID)
	c.addIf(f.DeliveryID != 0, "a.delivery_id = ?", f.DeliveryID)
	c.addIf(f.TransactionID != 0, "a.delivery_id IN (SELECT id FROM deliveries WHERE transaction_id = ?)", f.TransactionID)
	c.addIf(f.WebhookID != 0, "a.webhook_id = ?", f.WebhookID)
	switch { // literals, as in the index attempts_failed
	case f.OK == nil:
	case *f.OK:
		c.add("a.ok = 1")
	default:
		c.add("a.ok = 0")
	}
	c.addIf(f.Type != "", "a.type = ?", string(f.Type))
	c.between("a.started_ms", unixMilliOrNull(f.From), unixMilliOrNull(f.To))
	c.addIf(f.UntilID != 0, "a.id <= ?", f.UntilID)
	return &c
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

const attemptColumns = `a.id, a.number, a.url, a.started_ms, a.duration_ms, a.dns_ms, a.connect_ms, a.tls_ms, a.wait_ms, a.status_code,
	a.error, a.detail,
	a.response_body, iif(d.state = 0 AND d.attempts = a.number AND NOT (SELECT is_active FROM webhooks
	WHERE id = a.webhook_id), NULL, a.next_ms)`

func scanAttempt(row scanner) (delivery.Attempt, error) {
	var a delivery.Attempt
	var p payloadScan
	r := &a.Result
	var detail string
	dest := []any{&a.ID, &a.Number, &a.URL, millisInto(&r.StartedAt), durationInto(&r.Duration), durationInto(&r.Phases.DNS),
		durationInto(&r.Phases.Connect),
		durationInto(&r.Phases.TLS), durationInto(&r.Phases.Wait), &r.StatusCode, &r.Error, &detail, &r.Body, millisInto(&a.NextAttemptAt)}
	if err := row.Scan(append(append(dest, deliveryDest(&a.Delivery)...), p.dest()...)...); err != nil {
		return a, err
	}
	r.Detail = delivery.ParseDetail(detail)
	if a.Delivery.State == app.DeliveryCancelled && a.Number == a.Delivery.Attempts {
		a.NextAttemptAt = time.Time{} // the webhook was deleted before the planned attempt
	}
	var err error
	a.Payload, err = p.payload(a.Delivery.TransactionID)
	return a, err
}
