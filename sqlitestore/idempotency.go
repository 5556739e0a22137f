package sqlitestore

import (
	"time"

	"baoco/app"
	"baoco/app/inbound"
)

// keptResult is the result of a request with an idempotency key, from which the same
// answer is made again.
type keptResult struct {
	result  int64
	outcome inbound.Outcome
}

// earlier finds the result of an earlier request with the same idempotency key. If that
// was another request the error is a conflict.
func earlier(tx *tx, accountID int64, key app.IdempotencyKey, now time.Time) (before keptResult, found bool, err error) {
	if key.Key == "" {
		return before, false, nil
	}
	var operation string
	var hash []byte
	err = tx.queryRow(`SELECT operation, hash, result, outcome FROM idempotency_keys WHERE account_id = ? AND key = ? AND created_ms > ?`,
		accountID, key.Key, now.Add(-app.IdempotencyWindow).UnixMilli()).Scan(&operation, &hash, &before.result, &before.outcome)
	switch {
	case noRows(err):
		return before, false, nil
	case err == nil && (operation != key.Operation || string(hash) != string(key.Hash[:])):
		return before, false, app.ErrIdempotencyReused
	}
	return before, err == nil, err
}

// useForm uses up the key of a form within the transaction that does what the
// form says.
func useForm(tx *tx, accountID int64, key app.IdempotencyKey, now time.Time) error {
	_, used, err := earlier(tx, accountID, key, now)
	if err == nil && used {
		err = app.ErrFormUsed
	}
	if err != nil {
		return err
	}
	return keepKey(tx, accountID, key, keptResult{}, now)
}

func keepKey(tx *tx, accountID int64, key app.IdempotencyKey, result keptResult, now time.Time) error {
	if key.Key == "" {
		return nil
	}
	return tx.exec(`INSERT OR REPLACE INTO idempotency_keys (account_id, key, operation, hash, result, outcome, created_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		accountID, key.Key, key.Operation, key.Hash[:], result.result, string(result.outcome), now.UnixMilli())
}
