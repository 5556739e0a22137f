package sqlitestore

import (
	"context"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/payment"
)

// This file has money without a code that a cashier takes for a bill, or asks an owner to match.

func (s *Store) RequestsAsking(ctx context.Context, accountID, bankAccountID, amount int64) ([]payment.Request, error) {
	return readAll(ctx, s, scanPaymentRequest, `SELECT `+paymentColumns+` FROM payment_requests r INDEXED BY payment_requests_asked
		JOIN bank_accounts b ON b.id = r.bank_account_id
		WHERE r.bank_account_id = ?2 AND r.asked = ?3 AND r.account_id = ?1 AND r.paid_at IS NULL AND r.cancelled_at IS NULL AND `+
		isShown("r", "?4")+` ORDER BY r.id DESC LIMIT ?5`, accountID, bankAccountID, amount, limitOf(ctx), payment.MaxCandidates)
}

// anyReference is true if a request of an account ?1 has one of the references ?2.
const anyReference = `SELECT EXISTS (SELECT 1 FROM json_each(?2) k CROSS JOIN payment_requests r INDEXED BY payment_requests_reference_key
	ON r.account_id = ?1 AND r.reference_key = k.value AND r.reference_key <> '')`

func (s *Store) AnyReference(ctx context.Context, accountID int64, references []string) (bool, error) {
	return readOne[bool](ctx, s, anyReference, accountID, jsonArray(references))
}

func (s *Store) TakeTransaction(ctx context.Context, accountID int64, k payment.Take, now time.Time,
	may func(app.Account, payment.Request, app.Transaction, payment.Names) error) (payment.Request, error) {
	return s.changePayment(ctx, accountID, k.RequestID, func(tx *tx, r payment.Request) error {
		if _, used := earlier(tx, accountID, k.Key, now); used {
			return nil
		}
		t := transactionToMatch(ctx, tx, accountID, k.TransactionID)
		if t.PaymentRequest.ID == r.ID {
			return nil
		}
		account := txAccount(tx, accountID)
		names := payment.Names{Codes: tx.recordCache(accountID).codes, AnyReference: func(references []string) (bool, error) {
			return scanOne[bool](tx.queryRow(anyReference, accountID, jsonArray(references)))
		}}
		tx.fail(may(account, r, t, names))
		refuseAside(tx, t.ID)
		keepKey(tx, accountID, k.Key, keptResult{}, now)
		return tx.matchByHand(ctx, r, t, app.DeedPaymentTake, now)
	})
}

// refuseAside refuses a transaction that a user has put aside after a till had offered it.
func refuseAside(tx *tx, transactionID int64) {
	state := findValue[int](tx, `SELECT unmatched FROM transactions WHERE id = ?`, transactionID)
	tx.refuse(state == isAside, payment.ErrAside)
}

func (s *Store) AskToMatch(ctx context.Context, accountID int64, k payment.Take, now time.Time,
	may func(payment.Request, app.Transaction) error) error {
	_, err := s.changePayment(ctx, accountID, k.RequestID, func(tx *tx, r payment.Request) error {
		t := transactionToMatch(ctx, tx, accountID, k.TransactionID)
		tx.fail(may(r, t))
		refuseAside(tx, t.ID)
		by, _ := app.ActorOf(ctx)
		return tx.exec(`INSERT INTO asked_matches (transaction_id, request_id, account_id, asked_at, asked_by) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, t.ID, r.ID, accountID, now.Unix(), app.CleanText(by.Name, 100))
	})
	return err
}

func (s *Store) AskedMatches(ctx context.Context, accountID int64, since time.Time, limit int) ([]payment.AskedMatch, error) {
	return readAll(ctx, s, func(row scanner) (a payment.AskedMatch, err error) {
		return a, row.Scan(&a.TransactionID, &a.RequestID, &a.Amount, &a.Code, &a.AskedBy, secondsInto(&a.AskedAt))
	}, `SELECT a.transaction_id, a.request_id, t.amount, `+paymentCode+`, a.asked_by, a.asked_at
		FROM asked_matches a JOIN transactions t ON t.id = a.transaction_id
		JOIN payment_requests r ON r.id = a.request_id WHERE a.account_id = ?1 AND a.asked_at >= ?2 AND t.unmatched = 1
		AND r.paid_at IS NULL AND r.cancelled_at IS NULL AND `+isShown("t", "?3")+` AND `+isShown("r", "?3")+
		` ORDER BY a.asked_at DESC, a.transaction_id DESC LIMIT ?4`, accountID, since.Unix(), limitOf(ctx), limit)
}

func (s *Store) MatchedByHand(ctx context.Context, accountID, bankAccountID int64, since time.Time) ([]payment.Transfer, error) {
	list, err := readAll(ctx, s, scanPaymentTransfer, `SELECT m.found_by, m.late, m.matched_at, m.matched_by, `+transactionColumns+
		` FROM payment_matches m INDEXED BY payment_matches_hand JOIN transactions t ON t.id = m.transaction_id
		JOIN bank_accounts b ON b.id = t.bank_account_id WHERE m.found_by = 'hand' AND m.matched_at >= ?3 AND t.account_id = ?1
		AND (?2 = 0 OR t.bank_account_id = ?2) AND `+isShown("t", "?4")+
		` ORDER BY m.matched_at DESC, m.transaction_id DESC LIMIT ?5`, accountID, bankAccountID, since.Unix(), limitOf(ctx), payment.CounterRows)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	shown := make([]app.Transaction, len(list))
	for i, m := range list {
		shown[i] = m.Transaction
	}
	if shown, err = s.withinLimit(ctx, shown); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Transaction = shown[i]
	}
	return list, nil
}
