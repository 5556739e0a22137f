package sqlitestore

import (
	"context"

	"baoco/app"
)

// Money for a payment request may come to another bank account or receiving number than that of
// the request. A limited user doesn't see the amounts that came to a hidden one.

// hiddenReceived is the amount that came for a payment request r in transactions that a limit
// hides. param is the limit, which isn't NULL, and more a further condition on a match m.
func hiddenReceived(param, more string) string {
	return `(SELECT coalesce(sum(h.amount), 0) FROM payment_matches m INDEXED BY payment_matches_request
		JOIN transactions h ON h.id = m.transaction_id
		WHERE m.request_id = r.id ` + more + ` AND NOT (` + isShown("h", param) + `))`
}

// limitedReceived is the amount that came for a payment request r, as a limited user sees it. If r is paid in
// full, hidden amounts are left out, but only down to the amount asked for: with less the customer would be
// asked to pay twice. param is the limit.
func limitedReceived(param string) string {
	return `iif(` + param + ` IS NULL OR r.paid_at IS NULL, r.received,
		max(r.received - ` + hiddenReceived(param, "") + `, min(r.received, r.transfer_amount)))`
}

// withinLimit limits the payment requests in transactions to what ctx shows. Of a request for a hidden
// bank account only the id stays; from other requests the hidden amounts are left out.
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
