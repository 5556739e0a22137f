package sqlitestore

import (
	"context"

	"baoco/app"
)

// Money for a payment request may come to another bank account or receiving number than that of
// the request. A user who is limited sees of a request no amount that came to a hidden one.

// hiddenReceived is what came for a payment request r in transactions that a limit, which
// isn't NULL, hides. param is the limit, and more a further condition on a match m.
func hiddenReceived(param, more string) string {
	return `(SELECT coalesce(sum(h.amount), 0) FROM payment_matches m INDEXED BY payment_matches_request
		JOIN transactions h ON h.id = m.transaction_id
		WHERE m.request_id = r.id ` + more + ` AND NOT (` + isShown("h", param) + `))`
}

// seenReceived is what came for a payment request r, as somebody sees it from whom a limit hides something:
// of what was paid in full without what came there beyond what is asked for. The rest stays, or the customer
// would be asked for it twice. param is the limit.
func seenReceived(param string) string {
	return `iif(` + param + ` IS NULL OR r.paid_at IS NULL, r.received,
		max(r.received - ` + hiddenReceived(param, "") + `, min(r.received, r.transfer_amount)))`
}

// withinLimit leaves of what transactions say of their payment requests what ctx shows:
// that there is one for a hidden bank account, without a status, and of others what came without it.
func (s *Store) withinLimit(ctx context.Context, list []app.Transaction) ([]app.Transaction, error) {
	limit := limitOf(ctx)
	if limit == nil {
		return list, nil
	}
	var ids []int64
	for _, t := range list {
		ids = append(ids, t.PaymentRequest.ID, t.PaymentSent.ID)
	}
	hidden, err := readMap(ctx, s, func(row scanner) (request, amount int64, err error) {
		err = row.Scan(&request, &amount)
		return request, amount, err
	}, `SELECT r.id, `+hiddenReceived("?2", "")+` FROM payment_requests r WHERE r.id IN (SELECT value FROM json_each(?1)) AND `+
		isShown("r", "?2"), jsonArray(ids), limit)
	if err != nil {
		return nil, err
	}
	for i := range list {
		for _, p := range []*app.PaymentState{&list[i].PaymentRequest, &list[i].PaymentSent} {
			amount, found := hidden[p.ID]
			switch {
			case !found:
				*p = app.PaymentState{ID: p.ID}
			case amount > 0:
				p.Received = max(p.Received-amount, list[i].Amount)
				p.Overpaid = max(0, min(p.Overpaid, p.Received-p.Due))
				if p.Status == app.PaymentOverpaid && p.Received <= p.Due {
					p.Status = app.PaymentPaid
				}
			}
		}
	}
	return list, nil
}
