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

// earlier finds the result of an earlier request with the same idempotency key. If that request
// was a different one, the new one is refused.
func earlier(tx *tx, accountID int64, key app.IdempotencyKey, now time.Time) (before keptResult, found bool) {
	if key.Key == "" {
		return before, false
	}
	var operation string
	var hash []byte
	err := tx.queryRow(`SELECT operation, hash, result, outcome FROM idempotency_keys WHERE account_id = ? AND key = ? AND created_ms > ?`,
		accountID, key.Key, now.Add(-app.IdempotencyWindow).UnixMilli()).Scan(&operation, &hash, &before.result, &before.outcome)
	tx.fail(noRowsAs(err, nil))
	found = err == nil
	tx.refuse(found && (operation != key.Operation || string(hash) != string(key.Hash[:])), app.ErrIdempotencyReused)
	return before, found
}

// useForm uses up the key of a form, in the transaction that does the work of the form.
func useForm(tx *tx, accountID int64, key app.IdempotencyKey, now time.Time) {
	_, used := earlier(tx, accountID, key, now)
	tx.refuse(used, app.ErrFormUsed)
	keepKey(tx, accountID, key, keptResult{}, now)
}

func keepKey(tx *tx, accountID int64, key app.IdempotencyKey, result keptResult, now time.Time) {
	if key.Key != "" {
		tx.exec(`INSERT OR REPLACE INTO idempotency_keys (account_id, key, operation, hash, result, outcome, created_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, accountID, key.Key, key.Operation, key.Hash[:], result.result, string(result.outcome), now.UnixMilli())
	}
}
