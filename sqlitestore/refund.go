package sqlitestore

import (
	"context"
	"math"

	"baoco/app"
	"baoco/app/payment"
)

// refunds returns the query of refunds of an account ?1 with money out from ?3 on, before ?4, by a
// condition on ?2.
func refunds(condition string) string {
	return `SELECT f.transaction_id, f.of_id, t.amount, t.occurred_at FROM refunds f JOIN transactions t ON t.id = f.transaction_id
		JOIN transactions i ON i.id = f.of_id WHERE f.account_id = ?1 AND ` + condition + ` AND f.occurred_at >= ?3 AND f.occurred_at < ?4
		AND ` + isShown("t", "?5") + ` AND ` + isShown("i", "?5") + ` ORDER BY f.transaction_id LIMIT ?6`
}

func scanRefund(row scanner) (r payment.Refund, err error) {
	return r, row.Scan(&r.OutID, &r.InID, &r.Amount, secondsInto(&r.At))
}

func (s *Store) Refunds(ctx context.Context, accountID int64, f payment.RefundFilter) ([]payment.Refund, error) {
	condition, id, end := "?2 = 0", int64(0), int64(math.MaxInt64)
	switch {
	case f.OutID != 0:
		condition, id = "f.transaction_id = ?2", f.OutID
	case f.InID != 0:
		condition, id = "f.of_id = ?2", f.InID
	case f.RequestID != 0:
		condition = "f.of_id IN (SELECT transaction_id FROM payment_matches INDEXED BY payment_matches_request WHERE request_id = ?2)"
		id = f.RequestID
	}
	if !f.To.IsZero() {
		end = f.To.Unix()
	}
	return readAll(ctx, s, scanRefund, refunds(condition), accountID, id, f.From.Unix(), end, limitOf(ctx), payment.MaxRefunds)
}

// refundOf is the query of the money in that a transaction refunds.
const refundOf = `SELECT of_id FROM refunds WHERE transaction_id = ?`

func (s *Store) LinkRefund(ctx context.Context, accountID, outID, inID int64) error {
	return s.write(ctx, func(tx *tx) error {
		out := txTransaction(ctx, tx, accountID, outID)
		in := transactionToMatch(ctx, tx, accountID, inID)
		of := findValue[int64](tx, refundOf, outID)
		if of == inID {
			return nil
		}
		tx.refuse(of != 0, payment.ErrNoRefund)
		refunded := findValue[int64](tx, `SELECT coalesce(sum(t.amount), 0) FROM refunds f
			JOIN transactions t ON t.id = f.transaction_id WHERE f.of_id = ?`, inID)
		tx.fail(payment.MayRefund(out, in, refunded))
		tx.exec(`INSERT INTO refunds (transaction_id, of_id, account_id, occurred_at) VALUES (?, ?, ?, ?)`, outID, inID, accountID,
			out.Time.Unix())
		return tx.audit(ctx, accountID, payment.DeedRefund, outID, app.AuditDetail{}.Changed("transaction_id", "", inID))
	})
}

func (s *Store) UnlinkRefund(ctx context.Context, accountID, outID int64) error {
	return s.write(ctx, func(tx *tx) error {
		txTransaction(ctx, tx, accountID, outID)
		of := findValue[int64](tx, refundOf, outID)
		if of == 0 {
			return nil
		}
		tx.exec(`DELETE FROM refunds WHERE transaction_id = ?`, outID)
		return tx.audit(ctx, accountID, payment.DeedRefundUndo, outID, app.AuditDetail{}.Changed("transaction_id", of, ""))
	})
}
