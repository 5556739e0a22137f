package sqlitestore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/payment"
)

// paymentCode is the code of a payment request r. Once a later request has the same code, the
// file has the code with a space and the id after it.
const paymentCode = `substr(r.code, 1, instr(r.code || ' ', ' ') - 1)`

// paymentEnd is when a payment request r was paid in full or cancelled, or will expire, in
// seconds. NULL: it doesn't end by itself.
const paymentEnd = `coalesce(nullif(max(coalesce(r.paid_at, 0), coalesce(r.cancelled_at, 0)), 0), r.expires_at)`

// codeTaken is true if a new request can't have the code of a request r. The parameter is the
// time before which r must have ended.
const codeTaken = `coalesce(` + paymentEnd + ` >= ?1, 1)`

const paymentColumns = `r.id, r.account_id, r.token, ` + paymentCode +
	`, r.reference, r.amount, r.transfer_amount, r.tolerance, r.return_url, r.created_by, r.created_at, r.receiving_number,
	r.expires_at, r.cancelled_at, r.received, r.transfers, r.paid_at, r.late, coalesce(r.shift_id, 0), coalesce((SELECT user_id FROM shifts
	WHERE id = r.shift_id), 0), b.unlinked_at IS NOT NULL, ` + bankAccountColumns

const paymentFrom = ` FROM payment_requests r JOIN bank_accounts b ON b.id = r.bank_account_id`

func scanPaymentRequest(row scanner) (payment.Request, error) {
	return scanPaymentRequestAnd(row)
}

// scanPaymentRequestAnd scans a row with columns before those of the request.
func scanPaymentRequestAnd(row scanner, before ...any) (r payment.Request, err error) {
	err = row.Scan(append(append(before, &r.ID, &r.AccountID, &r.Token, &r.Code, &r.Reference, &r.Amount, &r.TransferAmount, &r.Tolerance,
		&r.ReturnURL, &r.CreatedBy, secondsInto(&r.CreatedAt), &r.PayTo, secondsInto(&r.ExpiresAt), secondsInto(&r.CancelledAt), &r.Received,
		&r.Transfers, secondsInto(&r.PaidAt), &r.Late, &r.ShiftID, &r.CashierID, &r.Unlinked), bankAccountDest(&r.BankAccount)...)...)
	return r, noRowsAs(err, payment.ErrNoRequest)
}

// paymentStatus is the status of a payment request r, as in payment.Request. now is an
// instant in SQL, in seconds.
func paymentStatus(now string) string {
	return `CASE WHEN r.paid_at IS NOT NULL THEN iif(r.late, 'paid_late', iif(` + overpaid + ` > 0, 'overpaid', 'paid'))
		WHEN r.cancelled_at IS NOT NULL THEN 'cancelled' WHEN r.received > 0 THEN 'underpaid' WHEN r.expires_at < ` + now +
		` THEN 'expired' ELSE 'open' END`
}

// overpaid is how much more came for a payment request r than was asked for.
const overpaid = `iif(r.paid_at IS NULL, 0, max(0, r.received - r.transfer_amount))`

// paymentOfTransaction is the state of the request that a transaction t is matched with,
// in JSON. The request has received money, so its status needs no time.
var paymentOfTransaction = `(SELECT json_object('id', r.id, 'reference', r.reference, 'status', ` + paymentStatus("0") +
	`, 'due', r.amount, 'received', r.received, 'overpaid', ` + overpaid + `)
	FROM payment_matches m JOIN payment_requests r ON r.id = m.request_id WHERE m.transaction_id = t.id)`

// paymentInto scans the state of a payment request; NULL: none.
type paymentInto struct{ state *app.PaymentState }

func (p paymentInto) Scan(value any) error {
	switch text := value.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(text), p.state)
	}
	return fmt.Errorf("%T is not the state of a payment request", value)
}

func paymentOrNull(p app.PaymentState) any {
	if p.ID == 0 {
		return nil
	}
	return string(p.AppendJSON(nil))
}

// paymentMatch is a request that a transaction will be matched with, without the
// transaction. Its id is 0 if no request was found.
type paymentMatch struct {
	payment.Request
	foundBy payment.Match
	by      string // the name of the user who matches by hand
}

// keep counts a transaction in the request.
func (m paymentMatch) keep(tx *tx, t app.Transaction, now time.Time) {
	late := m.LateFor(t, now)
	tx.exec(`INSERT INTO payment_matches (transaction_id, request_id, found_by, late, matched_at, matched_by)
		VALUES (?, ?, ?, ?, ?, ?)`, t.ID, m.ID, string(m.foundBy), late, now.Unix(), m.by)
	keepReceived(tx, m.With(t.Amount, late, now))
}

// keepLater counts a transaction in the request that was recorded earlier, without it.
func (m paymentMatch) keepLater(tx *tx, t app.Transaction, now time.Time) {
	tx.exec(`UPDATE transactions SET unmatched = 0 WHERE id = ?`, t.ID)
	m.keep(tx, t, now)
}

func keepReceived(tx *tx, r payment.Request) {
	tx.exec(`UPDATE payment_requests SET received = ?, transfers = ?, paid_at = ?, late = ? WHERE id = ?`, r.Received, r.Transfers,
		unixOrNull(r.PaidAt), r.Late, r.ID)
}

// unmatch removes the matches of transactions, and counts their requests again.
func unmatch(tx *tx, transactionIDs ...int64) {
	ids := jsonArray(transactionIDs)
	requests := findAll(tx, scanOne[int64],
		`SELECT DISTINCT m.request_id FROM json_each(?) k CROSS JOIN payment_matches m ON m.transaction_id = k.value`, ids)
	if len(requests) == 0 {
		return
	}
	tx.exec(`UPDATE transactions SET unmatched = 1 WHERE id IN (SELECT m.transaction_id FROM json_each(?) k
		CROSS JOIN payment_matches m ON m.transaction_id = k.value)`, ids)
	tx.exec(`DELETE FROM payment_matches WHERE transaction_id IN (SELECT value FROM json_each(?))`, ids)
	for _, id := range requests {
		r := find(tx, nil, scanPaymentRequest, `SELECT `+paymentColumns+paymentFrom+` WHERE r.id = ?`, id)
		left := findAll(tx, func(row scanner) (p payment.Transfer, err error) {
			return p, row.Scan(&p.Amount, &p.Late, secondsInto(&p.MatchedAt))
		}, `SELECT t.amount, m.late, m.matched_at FROM payment_matches m INDEXED BY payment_matches_request
			JOIN transactions t ON t.id = m.transaction_id
			WHERE m.request_id = ? ORDER BY m.matched_at, m.transaction_id`, id)
		keepReceived(tx, r.Recount(left))
	}
}

var paymentTransfers = `SELECT m.found_by, m.late, m.matched_at, m.matched_by, ` + transactionColumns +
	` FROM payment_matches m INDEXED BY payment_matches_request JOIN transactions t ON t.id = m.transaction_id
	JOIN bank_accounts b ON b.id = t.bank_account_id WHERE m.request_id = ?1 AND ` + isShown("t", "?3") +
	` ORDER BY m.matched_at, m.transaction_id LIMIT ?2`

func scanPaymentTransfer(row scanner) (p payment.Transfer, err error) {
	p.Transaction, err = scanTransactionAnd(row, &p.FoundBy, &p.Late, secondsInto(&p.MatchedAt), &p.MatchedBy)
	return p, err
}

func (s *Store) PaymentTransfers(ctx context.Context, accountID, requestID int64, limit int) ([]payment.Transfer, error) {
	if _, err := s.PaymentRequest(ctx, accountID, requestID); err != nil {
		return nil, err
	}
	return readAll(ctx, s, scanPaymentTransfer, paymentTransfers, requestID, limit, limitOf(ctx))
}

var onePaymentRequest = `SELECT ` + paymentColumns + paymentFrom + ` WHERE r.id = ?1 AND r.account_id = ?2 AND ` +
	isShown("r", "?3")

func (s *Store) PaymentRequest(ctx context.Context, accountID, id int64) (payment.Request, error) {
	return scanPaymentRequest(s.queryRow(ctx, onePaymentRequest, id, accountID, limitOf(ctx)))
}

func (s *Store) PaymentRequestByToken(ctx context.Context, token string) (payment.Request, error) {
	return scanPaymentRequest(s.queryRow(ctx, `SELECT `+paymentColumns+paymentFrom+` WHERE r.token = ?`, token))
}

func (s *Store) PaymentRequests(ctx context.Context, accountID int64, f payment.Filter, now time.Time) (page payment.Page, err error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return page, err
	}
	var c conditions
	c.add("r.account_id = ?", accountID)
	c.within(ctx, "r")
	c.addIf(f.BankAccountID != 0, "+r.bank_account_id = ?", f.BankAccountID) // the index of bank_account_id has no account
	c.addIf(f.Reference != "", "r.reference = ? AND r.reference <> ''", f.Reference)
	c.addIf(f.ShiftID != 0, "r.shift_id = ? AND r.shift_id IS NOT NULL", f.ShiftID)
	c.addIf(f.Code != "", "(r.code = ? OR r.code > ? || ' ' AND r.code < ? || '!')", f.Code, f.Code, f.Code)
	c.between("r.created_at", unixOrNull(f.From), unixOrNull(f.To))
	c.addIf(f.Status != "", paymentStatus("?")+" = ?", now.Unix(), string(f.Status))
	// If no index narrows the list, its page is read in the order of the ids: by the time of
	// creation all requests would be sorted.
	newestFirst := f.From.IsZero() && f.To.IsZero() && f.Reference == "" && f.Code == "" && f.ShiftID == 0
	switch f.Status {
	case app.PaymentOpen, app.PaymentUnderpaid, app.PaymentExpired: // for the index
		c.add("r.paid_at IS NULL AND r.cancelled_at IS NULL")
		newestFirst = false
	}
	where := ` WHERE ` + c.where.String()
	received, args := `r.received`, []any{now.Unix()}
	if limit := limitOf(ctx); limit != nil {
		received, args = `r.received - `+hiddenReceived("?2", ""), append(args, limit)
	}
	err = s.queryRow(ctx,
		`SELECT count(*), coalesce(sum(r.amount) FILTER (WHERE r.cancelled_at IS NULL OR r.paid_at IS NOT NULL), 0),
			coalesce(sum(r.received), 0), coalesce(sum(r.amount - r.received)
				FILTER (WHERE r.paid_at IS NULL AND r.cancelled_at IS NULL AND coalesce(r.expires_at >= ?1, 1)), 0)
			FROM (SELECT r.amount, r.cancelled_at, r.paid_at, r.expires_at, `+received+` AS received FROM payment_requests r`+where+`) r`,
		append(args, c.args...)...).Scan(&page.Total, &page.Due, &page.Received, &page.Waiting)
	if err != nil {
		return page, err
	}
	if newestFirst {
		where = strings.Replace(where, "r.account_id", "+r.account_id", 1)
	}
	page.Rows, err = readAll(ctx, s, scanPaymentRequest, `SELECT `+paymentColumns+paymentFrom+where+` ORDER BY r.id DESC LIMIT ? OFFSET ?`,
		append(c.args, f.Page.Size, f.Page.Offset())...)
	return page, err
}

func (s *Store) CreatePaymentRequest(ctx context.Context, r payment.Request, choose func(payment.Choices) (payment.Request, error),
	key app.IdempotencyKey) (payment.Request, error) {
	return writing(ctx, s, func(tx *tx) (payment.Request, error) {
		if kept, found := earlier(tx, r.AccountID, key, r.CreatedAt); found {
			return find(tx, nil, scanPaymentRequest, onePaymentRequest, kept.result, r.AccountID, nil), nil
		}
		r, err := choose(paymentChoices(ctx, tx, r))
		if err != nil {
			return r, err
		}
		if r.CashierID != 0 {
			r.ShiftID = tx.shiftOf(r)
		}
		tx.exec(`UPDATE payment_requests SET code = code || ' ' || id WHERE account_id = ? AND code = ?`, r.AccountID, r.Code)
		r.ID = tx.insert(insertInto("payment_requests", `account_id, bank_account_id, token, code, reference, reference_key, amount,
			transfer_amount, tolerance, return_url, created_by, shift_id, created_at, expires_at, receiving_number`),
			r.AccountID, r.BankAccount.ID, r.Token, r.Code, r.Reference, r.ReferenceKey(), r.Amount, r.TransferAmount, r.Tolerance,
			r.ReturnURL, r.CreatedBy, nullIfZero(r.ShiftID), r.CreatedAt.Unix(), unixOrNull(r.ExpiresAt), r.PayTo)
		if !tx.recordCache(r.AccountID).payments {
			tx.forgetCache()
		}
		keepKey(tx, r.AccountID, key, keptResult{result: r.ID}, r.CreatedAt)
		tx.notePaymentChange()
		return r, tx.auditOften(ctx, time.Hour, app.AuditLine{
			AccountID: r.AccountID, Deed: app.DeedPaymentCreate, AuditDetail: app.AuditDetail{Count: 1},
		})
	})
}

func paymentChoices(ctx context.Context, tx *tx, r payment.Request) payment.Choices {
	return payment.Choices{
		Account:         txAccount(tx, r.AccountID),
		BankAccounts:    findAll(tx, shownBankAccount(ctx), shownBankAccounts, r.AccountID, limitOf(ctx)),
		ReceivingNumber: access.LimitOf(ctx).ReceivingNumber,
		Patterns:        findAll(tx, scanCodePattern, codePatternsOf, r.AccountID),
		CodeTaken: func(code string) (bool, error) {
			return scanOne[bool](tx.queryRow(`SELECT EXISTS (SELECT 1 FROM payment_requests r WHERE r.account_id = ?2 AND r.code = ?3
				AND `+codeTaken+`)`, r.CreatedAt.Add(-payment.CodeKept).Unix(), r.AccountID, code))
		},
		AmountTaken: func(bankAccountID, amount int64) (bool, error) {
			return scanOne[bool](tx.queryRow(`SELECT EXISTS (SELECT 1 FROM payment_requests r INDEXED BY payment_requests_amount
				WHERE bank_account_id = ?1 AND transfer_amount = ?2
				AND coalesce(`+paymentEnd+` > ?3, 1))`, bankAccountID, amount, r.CreatedAt.Add(-payment.DistinctAmountKept).Unix()))
		},
	}
}

func (s *Store) CodesTaken(ctx context.Context, accountID int64, codes []string, now time.Time) (int64, error) {
	return readOne[int64](ctx, s,
		`SELECT count(*) FROM json_each(?3) k CROSS JOIN payment_requests r ON r.account_id = ?2 AND r.code = k.value WHERE `+codeTaken,
		now.Add(-payment.CodeKept).Unix(), accountID, jsonArray(codes))
}

// notePaymentChange counts changes of payment requests that come without a new transaction,
// so that event streams report them.
func (t *tx) notePaymentChange() error {
	return t.exec(`INSERT INTO settings (name, value) VALUES ('payment_changes', '1') ON CONFLICT DO UPDATE
		SET value = CAST(value AS INTEGER) + 1`)
}

// changePayment changes a payment request that ctx shows, and returns it as changed.
func (s *Store) changePayment(ctx context.Context, accountID, id int64,
	change func(tx *tx, r payment.Request) error) (payment.Request, error) {
	return writing(ctx, s, func(tx *tx) (payment.Request, error) {
		r := find(tx, nil, scanPaymentRequest, onePaymentRequest, id, accountID, limitOf(ctx))
		if err := change(tx, r); err != nil {
			return r, err
		}
		tx.notePaymentChange()
		return find(tx, nil, scanPaymentRequest, onePaymentRequest, id, accountID, nil), nil
	})
}

func (s *Store) CancelPaymentRequest(ctx context.Context, accountID, id int64, now time.Time) (payment.Request, error) {
	return s.changePayment(ctx, accountID, id, func(tx *tx, r payment.Request) error {
		switch {
		case !r.PaidAt.IsZero():
			return payment.ErrIsPaid
		case !r.CancelledAt.IsZero():
			return nil
		}
		tx.exec(`UPDATE payment_requests SET cancelled_at = ? WHERE id = ?`, now.Unix(), id)
		return tx.audit(ctx, accountID, app.DeedPaymentCancel, id, app.AuditNamed(r.Code))
	})
}

func (s *Store) PrintReceipt(ctx context.Context, accountID, id int64) (again bool, err error) {
	return writing(ctx, s, func(tx *tx) (bool, error) {
		r := find(tx, nil, scanPaymentRequest, onePaymentRequest, id, accountID, limitOf(ctx))
		again := findValue[bool](tx, `SELECT EXISTS (SELECT 1 FROM audit INDEXED BY audit_noun WHERE account_id = ?
			AND noun = 'payment_request' AND noun_id = ? AND deed = ?)`, accountID, id, string(app.DeedReceiptPrint))
		return again, tx.audit(ctx, accountID, app.DeedReceiptPrint, id, app.AuditNamed(r.Code))
	})
}

func (s *Store) MatchTransaction(ctx context.Context, accountID, requestID, transactionID int64, now time.Time) (payment.Request, error) {
	return s.changePayment(ctx, accountID, requestID, func(tx *tx, r payment.Request) error {
		t := transactionToMatch(ctx, tx, accountID, transactionID)
		tx.refuse(t.Type != app.In, payment.ErrNotMoneyIn)
		tx.refuse(t.PaymentRequest.ID != 0, payment.ErrMatchedAlready(t.PaymentRequest.ID))
		return tx.matchByHand(ctx, r, t, app.DeedPaymentMatch, now)
	})
}

func transactionToMatch(ctx context.Context, tx *tx, accountID, id int64) app.Transaction {
	return find(tx, app.ErrUnknownReference("transaction_id"), scanTransaction, oneTransaction, id, accountID, limitOf(ctx))
}

// matchByHand matches a transaction with a request; the actor in ctx does it.
func (t *tx) matchByHand(ctx context.Context, r payment.Request, tr app.Transaction, deed app.Deed, now time.Time) error {
	by, _ := app.ActorOf(ctx)
	paymentMatch{r, payment.MatchedByHand, app.CleanText(by.Name, 100)}.keepLater(t, tr, now)
	return t.audit(ctx, r.AccountID, deed, r.ID, app.AuditNamed(r.Code).Changed("transaction_id", "", tr.ID))
}

func (s *Store) UnmatchTransaction(ctx context.Context, accountID, requestID, transactionID int64) (payment.Request, error) {
	return s.changePayment(ctx, accountID, requestID, func(tx *tx, r payment.Request) error {
		t := transactionToMatch(ctx, tx, accountID, transactionID)
		tx.refuse(t.PaymentRequest.ID != requestID, payment.ErrNotMatched)
		unmatch(tx, transactionID)
		return tx.audit(ctx, accountID, app.DeedPaymentUnmatch, requestID, app.AuditNamed(r.Code).Changed("transaction_id", transactionID, ""))
	})
}
