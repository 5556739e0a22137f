package sqlitestore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/payment"
)

// shiftColumns are a shift s with the sums of its bills, as far as a limit shows them. param is the limit.
func shiftColumns(param string) string {
	return `s.id, s.account_id, s.user_id, s.user_name, s.opened_at, s.closed_at, s.received,
	(SELECT json_array(count(*), count(*) FILTER (WHERE r.paid_at IS NOT NULL AND ` + overpaid + ` = 0), coalesce(sum(r.received), 0),
		coalesce(sum(` + overpaid + `), 0), coalesce(sum(r.transfer_amount - r.received) FILTER (WHERE r.paid_at IS NULL AND r.received > 0), 0))
	FROM (SELECT r.paid_at, r.transfer_amount, ` + limitedReceived(param) + ` AS received FROM payment_requests r WHERE r.shift_id = s.id) r)`
}

func scanShift(row scanner) (sh payment.Shift, err error) {
	return scanShiftAnd(row)
}

// scanShiftAnd scans a row with columns before those of the shift.
func scanShiftAnd(row scanner, before ...any) (sh payment.Shift, err error) {
	var figures string
	err = row.Scan(append(before, &sh.ID, &sh.AccountID, &sh.UserID, &sh.UserName, secondsInto(&sh.OpenedAt), secondsInto(&sh.ClosedAt),
		&sh.ReceivedAtClosing, &figures)...)
	if err != nil {
		return sh, noRowsAs(err, payment.ErrNoShift)
	}
	f := &sh.ShiftFigures
	return sh, json.Unmarshal([]byte(figures), &[]any{&f.Bills, &f.Full, &f.Received, &f.Over, &f.Under})
}

var oneShift = `SELECT ` + shiftColumns("?3") + ` FROM shifts s WHERE s.id = ?1 AND s.account_id = ?2`

func (s *Store) Shift(ctx context.Context, accountID, id int64) (payment.Shift, error) {
	sh, err := scanShift(s.queryRow(ctx, oneShift, id, accountID, limitOf(ctx)))
	if err == nil {
		err = s.limitAtClosing(ctx, &sh)
	}
	return sh, err
}

// limitAtClosing limits the amount at the closing of a shift to what ctx shows.
func (s *Store) limitAtClosing(ctx context.Context, sh *payment.Shift) error {
	if sh.ClosedAt.IsZero() || limitOf(ctx) == nil {
		return nil
	}
	c, err := s.ShiftClosing(ctx, sh.AccountID, sh.ID, sh.ClosedAt)
	sh.ReceivedAtClosing = c.Received
	return err
}

func (s *Store) OpenShift(ctx context.Context, accountID, userID int64) (payment.Shift, bool, error) {
	sh, err := scanShift(s.queryRow(ctx,
		`SELECT `+shiftColumns("?3")+` FROM shifts s WHERE s.user_id = ?1 AND s.account_id = ?2 AND s.closed_at IS NULL`, userID, accountID,
		limitOf(ctx)))
	if err == payment.ErrNoShift {
		return sh, false, nil
	}
	return sh, err == nil, err
}

func (s *Store) Shifts(ctx context.Context, accountID, userID int64, page app.Page) ([]payment.Shift, int64, error) {
	const where = ` FROM shifts s WHERE s.account_id = ?1 AND (?2 = 0 OR s.user_id = ?2)`
	total, err := readOne[int64](ctx, s, `SELECT count(*)`+where, accountID, userID)
	if err != nil {
		return nil, 0, err
	}
	list, err := readAll(ctx, s, scanShift, `SELECT `+shiftColumns("?5")+where+` ORDER BY s.id DESC LIMIT ?3 OFFSET ?4`, accountID, userID,
		page.Size, page.Offset(), limitOf(ctx))
	for i := range list {
		if err == nil {
			err = s.limitAtClosing(ctx, &list[i])
		}
	}
	return list, total, err
}

// shiftOf returns the id of the cashier's open shift, and opens one if none is open.
func (t *tx) shiftOf(r payment.Request) int64 {
	id := findValue[int64](t, `SELECT id FROM shifts WHERE user_id = ? AND account_id = ? AND closed_at IS NULL`, r.CashierID, r.AccountID)
	if id != 0 {
		return id
	}
	return t.insert(`INSERT INTO shifts (account_id, user_id, user_name, opened_at) VALUES (?, ?, ?, ?)`, r.AccountID, r.CashierID,
		r.CreatedBy, r.CreatedAt.Unix())
}

// shiftBills selects the bills of a shift ?1. shiftMoney selects the money without a bill that came
// during the shift, from ?2 to ?3, to the bank accounts of its bills, in an account ?4.
const shiftBills = `SELECT ` + paymentColumns + paymentFrom +
	` WHERE r.shift_id = ?1 AND r.shift_id IS NOT NULL ORDER BY r.id DESC LIMIT ?2`

var shiftMoney = `SELECT ` + transactionColumns + ` FROM transactions t INDEXED BY transactions_unmatched
	JOIN bank_accounts b ON b.id = t.bank_account_id WHERE t.account_id = ?4
	AND t.unmatched > 0 AND t.unmatched = 1 AND t.occurred_at >= ?2 - 86400
	AND iif(t.date_only, t.created_at, t.occurred_at) BETWEEN ?2 AND ?3
	AND t.bank_account_id IN (SELECT bank_account_id FROM payment_requests WHERE shift_id = ?1 AND shift_id IS NOT NULL)
	AND ` + isShown("t", "?5") + ` ORDER BY t.id DESC LIMIT ?6`

var shiftAndClosing = `SELECT coalesce(s.closing, ''), ` + shiftColumns("?3") + ` FROM shifts s WHERE s.id = ?1 AND s.account_id = ?2`

func (s *Store) ShiftClosing(ctx context.Context, accountID, id int64, now time.Time) (c payment.Closing, err error) {
	var kept string
	sh, err := scanShiftAnd(s.queryRow(ctx, shiftAndClosing, id, accountID, limitOf(ctx)), &kept)
	switch {
	case err != nil:
		return c, err
	case kept != "":
		if err = json.Unmarshal([]byte(kept), &c); err == nil {
			err = s.limitClosing(ctx, &c, sh.ClosedAt)
		}
		return c, err
	case !sh.ClosedAt.IsZero():
		return payment.Closing{ShiftFigures: sh.ShiftFigures}, nil
	}
	bills, err := readAll(ctx, s, scanPaymentRequest, shiftBills, id, payment.MaxClosing)
	if err != nil {
		return c, err
	}
	money, err := readAll(ctx, s, scanTransaction, shiftMoney, id, sh.OpenedAt.Unix(), now.Unix(), accountID, limitOf(ctx),
		payment.MaxClosing)
	c = payment.NewClosing(sh.ShiftFigures, bills, money, now)
	if err == nil {
		err = s.limitClosing(ctx, &c, now)
	}
	c.ShiftFigures = sh.ShiftFigures // these are limited already
	return c, err
}

// limitClosing limits a closing that was made at a moment to what ctx shows. The amount of a bill
// is limited as in limitedReceived, and hidden money without a bill is left out.
func (s *Store) limitClosing(ctx context.Context, c *payment.Closing, at time.Time) error {
	limit := limitOf(ctx)
	if limit == nil {
		return nil
	}
	var bills, money []int64
	for _, b := range c.List {
		bills = append(bills, b.ID)
	}
	for _, m := range c.Unbilled {
		money = append(money, m.ID)
	}
	hidden, err := readMap(ctx, s, func(row scanner) (id int64, r [2]int64, err error) {
		err = row.Scan(&id, &r[0], &r[1])
		return id, r, err
	}, `SELECT r.id, r.transfer_amount, `+hiddenReceived("?2", "AND m.matched_at <= ?3")+` FROM payment_requests r
		WHERE r.id IN (SELECT value FROM json_each(?1))`, jsonArray(bills), limit, at.Unix())
	if err != nil {
		return err
	}
	for i := range c.List {
		b := &c.List[i]
		asked, unseen := hidden[b.ID][0], hidden[b.ID][1]
		over := b.Received - asked
		if over <= 0 || unseen == 0 || b.Status != app.PaymentOverpaid && b.Status != app.PaymentPaidLate {
			continue
		}
		less := min(over, unseen)
		b.Received, c.Received, c.Over = b.Received-less, c.Received-less, c.Over-less
		if less == over {
			c.Full++
			if b.Status == app.PaymentOverpaid {
				b.Status = app.PaymentPaid
			}
		}
	}
	shown, err := readAll(ctx, s, scanOne[int64], `SELECT t.id FROM transactions t WHERE t.id IN (SELECT value FROM json_each(?1)) AND `+
		isShown("t", "?2"), jsonArray(money), limit)
	c.Unbilled = slices.DeleteFunc(c.Unbilled, func(m payment.ClosingMoney) bool { return !slices.Contains(shown, m.ID) })
	c.UnbilledCount, c.UnbilledSum = int64(len(c.Unbilled)), 0
	for _, m := range c.Unbilled {
		c.UnbilledSum += m.Amount
	}
	return err
}

// CloseShift stores everything, also if the user is limited: reading limits it.
func (s *Store) CloseShift(ctx context.Context, accountID, id int64, in payment.ShiftCount, now time.Time) error {
	return s.write(ctx, func(tx *tx) error {
		sh := find(tx, nil, scanShift, oneShift, id, accountID, nil)
		tx.refuse(!sh.ClosedAt.IsZero(), payment.ErrShiftClosed)
		bills := findAll(tx, scanPaymentRequest, shiftBills, id, payment.MaxClosing)
		money := findAll(tx, scanTransaction, shiftMoney, id, sh.OpenedAt.Unix(), now.Unix(), accountID, nil, payment.MaxClosing)
		c := payment.NewClosing(sh.ShiftFigures, bills, money, now)
		c.Cash, c.Note = in.Cash, in.Note
		kept, err := json.Marshal(c)
		if err != nil {
			return err
		}
		tx.exec(`UPDATE shifts SET closed_at = ?, received = ?, closing = ? WHERE id = ?`, now.Unix(), sh.Received, string(kept), id)
		cash := ""
		if c.Cash != nil {
			cash = fmt.Sprint(*c.Cash)
		}
		return tx.audit(ctx, accountID, app.DeedShiftClose, id, app.AuditNamed(sh.UserName).Changed("bills", "", c.Bills).
			Changed("received", "", c.Received).Changed("over", "0", c.Over).Changed("under", "0", c.Under).
			Changed("unbilled", "0", c.UnbilledSum).Changed("cash", "", cash).Changed("note", "", c.Note))
	})
}
