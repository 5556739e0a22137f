package sqlitestore

import (
	"context"

	"baoco/app"
	"baoco/app/payment"
)

// This file has money in without a payment request, and what a user decided about it.

func (s *Store) UnmatchedTransactions(ctx context.Context, accountID int64, f payment.UnmatchedFilter) ([]app.Transaction, int64, error) {
	first, err := readOne[int64](ctx, s, `SELECT coalesce(min(created_at), 0) FROM payment_requests WHERE account_id = ?`, accountID)
	if err != nil || first == 0 {
		return nil, 0, err
	}
	state := isUnmatched
	if f.Aside {
		state = isAside
	}
	const day = 24 * 60 * 60 // some banks give only the day, or no seconds, so the first payment may seem older than its request
	args := []any{accountID, max(first-day, f.Since.Unix()), limitOf(ctx), state, jsonArray(f.Without)}
	total, err := readOne[int64](ctx, s, `SELECT count(*) FROM transactions t `+unmatched, args...)
	if err != nil || f.Page.Size == 0 {
		return nil, total, err
	}
	rows, err := readAll(ctx, s, scanTransaction,
		`SELECT `+transactionColumns+` FROM (SELECT t.id FROM transactions t `+unmatched+
			` ORDER BY t.occurred_at DESC, t.id DESC LIMIT ?6 OFFSET ?7) page
		CROSS JOIN transactions t ON t.id = page.id JOIN bank_accounts b ON b.id = t.bank_account_id ORDER BY t.occurred_at DESC, t.id DESC`,
		append(args, f.Page.Size, f.Page.Offset())...)
	return rows, total, err
}

// Values of transactions.unmatched for money in; 0: it has a request, or came before the first request.
const (
	isUnmatched = 1
	isAside     = 2 // unmatched, and a user said that it belongs to no order
)

// unmatched selects the unmatched money of an account ?1 from ?2 on with the state ?4, by an index alone.
var unmatched = `INDEXED BY transactions_unmatched WHERE t.account_id = ?1 AND t.unmatched > 0 AND t.unmatched = ?4
	AND t.occurred_at >= ?2 AND t.id NOT IN (SELECT value FROM json_each(?5)) AND ` + isShown("t", "?3")

func (s *Store) PutAside(ctx context.Context, accountID, transactionID int64, aside bool) error {
	return s.write(ctx, func(tx *tx) error {
		before := find(tx, app.ErrNoTransaction, scanOne[int], `SELECT t.unmatched FROM transactions t
			WHERE t.id = ?1 AND t.account_id = ?2 AND `+isShown("t", "?3"), transactionID, accountID, limitOf(ctx))
		after, deed := isUnmatched, payment.DeedTakeBack
		if aside {
			after, deed = isAside, payment.DeedPutAside
		}
		tx.refuse(before == 0, payment.ErrNotUnmatched)
		if before == after {
			return nil
		}
		tx.exec(`UPDATE transactions SET unmatched = ? WHERE id = ?`, after, transactionID)
		tx.notePaymentChange()
		return tx.audit(ctx, accountID, deed, transactionID, app.AuditDetail{})
	})
}

func (s *Store) PaymentCandidates(ctx context.Context, accountID int64, limit int) ([]payment.Candidate, error) {
	return readAll(ctx, s, func(row scanner) (c payment.Candidate, err error) {
		c.Request, err = scanPaymentRequestAnd(row, &c.Contents)
		return c, err
	}, `SELECT coalesce((SELECT group_concat(t.content, ' ') FROM (SELECT transaction_id FROM payment_matches
			INDEXED BY payment_matches_request WHERE request_id = r.id ORDER BY transaction_id DESC LIMIT ?4) m
			CROSS JOIN transactions t ON t.id = m.transaction_id), ''), `+
		paymentColumns+`
		FROM payment_requests r INDEXED BY payment_requests_unpaid JOIN bank_accounts b ON b.id = r.bank_account_id
		WHERE r.account_id = ?1 AND r.paid_at IS NULL AND r.cancelled_at IS NULL AND `+isShown("r", "?2")+
		` ORDER BY r.id DESC LIMIT ?3`, accountID, limitOf(ctx), limit, payment.MaxContents)
}
