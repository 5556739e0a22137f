package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/payment"
)

// shiftColumns are a shift s with the sums of its bills.
const shiftColumns = `s.id, s.account_id, s.user_id, s.user_name, s.opened_at, s.closed_at, s.received,
	(SELECT count(*) FROM payment_requests r WHERE r.shift_id = s.id), (SELECT count(*) FROM payment_requests r WHERE r.shift_id = s.id
	AND r.paid_at IS NOT NULL),
	(SELECT coalesce(sum(r.received), 0) FROM payment_requests r WHERE r.shift_id = s.id)`

func scanShift(row scanner) (sh payment.Shift, err error) {
	err = row.Scan(&sh.ID, &sh.AccountID, &sh.UserID, &sh.UserName, secondsInto(&sh.OpenedAt), secondsInto(&sh.ClosedAt),
		&sh.ReceivedAtClosing,
		&sh.Bills, &sh.Full, &sh.Received)
	return sh, noRowsAs(err, payment.ErrNoShift)
}

const oneShift = `SELECT ` + shiftColumns + ` FROM shifts s WHERE s.id = ? AND s.account_id = ?`

func (s *Store) Shift(ctx context.Context, accountID, id int64) (payment.Shift, error) {
	sh, err := scanShift(s.queryRow(ctx, oneShift, id, accountID))
	return sh, storageError(err)
}

func (s *Store) OpenShift(ctx context.Context, accountID, userID int64) (payment.Shift, bool, error) {
	sh, err := scanShift(s.queryRow(ctx,
		`SELECT `+shiftColumns+` FROM shifts s WHERE s.user_id = ? AND s.account_id = ? AND s.closed_at IS NULL`, userID, accountID))
	if err == payment.ErrNoShift {
		return sh, false, nil
	}
	return sh, err == nil, storageError(err)
}

func (s *Store) Shifts(ctx context.Context, accountID, userID int64, page app.Page) ([]payment.Shift, int64, error) {
	const where = ` FROM shifts s WHERE s.account_id = ?1 AND (?2 = 0 OR s.user_id = ?2)`
	total, err := readOne[int64](ctx, s, `SELECT count(*)`+where, accountID, userID)
	if err != nil {
		return nil, 0, err
	}
	list, err := readAll(ctx, s, scanShift, `SELECT `+shiftColumns+where+` ORDER BY s.id DESC LIMIT ?3 OFFSET ?4`, accountID, userID,
		page.Size, page.Offset())
	return list, total, err
}

// shiftOf gives the open shift of a cashier, and opens one where there is none.
func (t *tx) shiftOf(r payment.Request) (int64, error) {
	id, err := scanOne[int64](t.queryRow(`SELECT id FROM shifts WHERE user_id = ? AND account_id = ? AND closed_at IS NULL`,
		r.CashierID, r.AccountID))
	if !noRows(err) {
		return id, err
	}
	return t.insert(`INSERT INTO shifts (account_id, user_id, user_name, opened_at) VALUES (?, ?, ?, ?)`, r.AccountID, r.CashierID,
		r.CreatedBy, r.CreatedAt.Unix())
}

func (s *Store) CloseShift(ctx context.Context, accountID, id int64, now time.Time) (payment.Shift, error) {
	return writing(ctx, s, func(tx *tx) (payment.Shift, error) {
		sh, err := scanShift(tx.queryRow(oneShift, id, accountID))
		if err != nil {
			return sh, err
		}
		if !sh.ClosedAt.IsZero() {
			return sh, payment.ErrShiftClosed
		}
		sh.ClosedAt, sh.ReceivedAtClosing = time.Unix(now.Unix(), 0), sh.Received
		if err := tx.exec(`UPDATE shifts SET closed_at = ?, received = ? WHERE id = ?`, now.Unix(), sh.Received, id); err != nil {
			return sh, err
		}
		return sh, tx.audit(ctx, accountID, app.DeedShiftClose, id, app.AuditNamed(sh.UserName))
	})
}
