package sqlitestore

import (
	"time"

	"baoco/app"
)

// totals gathers what the work of one commit adds to the kept totals, and
// writes it once before the commit: a busy commit touches each total once,
// however many rows it counts.
type totals struct {
	transactions []transactionDelta
	attempts     []attemptDelta
	calls        []callDelta
}

type transactionDelta struct {
	id, accountID, bankAccountID int64
	at                           time.Time
	day                          app.Day
	direction                    app.Direction
	amount                       int64
	removed                      bool
}

type attemptDelta struct {
	id, accountID, webhookID int64
	transactionID            int64 // 0: a sample
	startedAt                time.Time
	direction                app.Direction
	ok                       bool
}

type callDelta struct {
	sourceID    int64
	at          time.Time
	transaction bool
}

type totalsMark struct{ transactions, attempts, calls int }

func (t *totals) reset() { t.rewind(totalsMark{}) }

func (t *totals) mark() totalsMark {
	return totalsMark{len(t.transactions), len(t.attempts), len(t.calls)}
}

// rewind forgets what was added since mark, because its rows were undone.
func (t *totals) rewind(m totalsMark) {
	t.transactions = t.transactions[:m.transactions]
	t.attempts = t.attempts[:m.attempts]
	t.calls = t.calls[:m.calls]
}

func (t *totals) addTransaction(d transactionDelta) { t.transactions = append(t.transactions, d) }

func (t *totals) addAttempt(d attemptDelta) { t.attempts = append(t.attempts, d) }

func (t *totals) addCall(sourceID int64, at time.Time, transaction bool) {
	if sourceID != 0 {
		t.calls = append(t.calls, callDelta{sourceID, at, transaction})
	}
}

func (t *totals) flush(tx *tx) error {
	if err := t.flushTransactions(tx); err != nil {
		return err
	}
	if err := t.flushAttempts(tx); err != nil {
		return err
	}
	if err := t.flushBlocks(tx); err != nil {
		return err
	}
	if err := t.flushHealth(tx); err != nil {
		return err
	}
	return t.flushCalls(tx)
}

type dayKey struct {
	owner     int64
	day       app.Day
	direction app.Direction
}

func (t *totals) flushTransactions(tx *tx) error {
	if len(t.transactions) == 0 {
		return nil
	}
	accounts := map[int64][2]app.Amounts{}
	bankAccounts := map[int64]app.Amounts{}
	accountDays := map[dayKey]app.Amounts{}
	bankAccountDays := map[dayKey]app.Amounts{}
	for _, d := range t.transactions {
		sums := accounts[d.accountID]
		i := 0
		if d.direction == app.Out {
			i = 1
		}
		sums[i] = d.addTo(sums[i])
		accounts[d.accountID] = sums
		bankAccounts[d.bankAccountID] = d.addTo(bankAccounts[d.bankAccountID])
		key := dayKey{d.accountID, d.day, d.direction}
		accountDays[key] = d.addTo(accountDays[key])
		key.owner = d.bankAccountID
		bankAccountDays[key] = d.addTo(bankAccountDays[key])
	}
	for id, sums := range accounts {
		if err := tx.exec(`UPDATE account_totals SET in_count = in_count + ?, in_amount = in_amount + ?,
				out_count = out_count + ?, out_amount = out_amount + ? WHERE account_id = ?`,
			sums[0].Count, sums[0].Total, sums[1].Count, sums[1].Total, id); err != nil {
			return err
		}
	}
	for id, sum := range bankAccounts {
		if err := tx.exec(`INSERT INTO bank_account_totals (bank_account_id, count, amount) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET count = count + excluded.count, amount = amount + excluded.amount`, id, sum.Count, sum.Total); err != nil {
			return err
		}
	}
	if err := insertDays(tx, accountDays, bankAccountDays); err != nil {
		return err
	}
	return t.dropEmpty(tx)
}

// dropEmpty drops the totals that nothing is left of.
func (t *totals) dropEmpty(tx *tx) error {
	done := map[dayKey]bool{}
	for _, d := range t.transactions {
		key := dayKey{d.bankAccountID, d.day, d.direction}
		if !d.removed || done[key] {
			continue
		}
		done[key] = true
		err := tx.exec(`DELETE FROM account_days WHERE account_id = ? AND day = ? AND type = ? AND count = 0`, d.accountID, int64(d.day), string(d.direction))
		if err == nil {
			err = tx.exec(`DELETE FROM bank_account_days WHERE bank_account_id = ? AND day = ? AND type = ? AND count = 0`, d.bankAccountID, int64(d.day), string(d.direction))
		}
		if err == nil {
			err = tx.exec(`DELETE FROM bank_account_totals WHERE bank_account_id = ? AND count = 0`, d.bankAccountID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// insertDays adds sums to the totals of days.
func insertDays(tx *tx, accounts, bankAccounts map[dayKey]app.Amounts) error {
	for key, sum := range accounts {
		if err := tx.exec(`INSERT INTO account_days (account_id, day, type, count, amount) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET count = count + excluded.count, amount = amount + excluded.amount`,
			key.owner, int64(key.day), string(key.direction), sum.Count, sum.Total); err != nil {
			return err
		}
	}
	for key, sum := range bankAccounts {
		if err := tx.exec(`INSERT INTO bank_account_days (bank_account_id, day, type, count, amount) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET count = count + excluded.count, amount = amount + excluded.amount`,
			key.owner, int64(key.day), string(key.direction), sum.Count, sum.Total); err != nil {
			return err
		}
	}
	return nil
}

func (d transactionDelta) addTo(a app.Amounts) app.Amounts {
	if d.removed {
		return app.Amounts{Count: a.Count - 1, Total: a.Total - d.amount}
	}
	return app.Amounts{Count: a.Count + 1, Total: a.Total + d.amount}
}

func (t *totals) flushAttempts(tx *tx) error {
	if len(t.attempts) == 0 {
		return nil
	}
	sums := map[int64][2]int64{}
	for _, d := range t.attempts {
		sum := sums[d.accountID]
		sum[0]++
		if !d.ok {
			sum[1]++
		}
		sums[d.accountID] = sum
	}
	for id, sum := range sums {
		if err := tx.exec(`UPDATE account_totals SET attempts_made = attempts_made + ?1,
				attempts_failed = attempts_failed + ?2, history_rows = history_rows + ?1 WHERE account_id = ?3`,
			sum[0], sum[1], id); err != nil {
			return err
		}
	}
	return nil
}

func (t *totals) flushCalls(tx *tx) error {
	if len(t.calls) == 0 {
		return nil
	}
	last := map[int64]callDelta{}
	for _, d := range t.calls {
		d.transaction = d.transaction || last[d.sourceID].transaction
		last[d.sourceID] = d
	}
	for id, d := range last {
		var transactionAt any
		if d.transaction {
			transactionAt = d.at.Unix()
		}
		if err := tx.exec(`UPDATE sources SET last_call_at = ?, last_transaction_at = coalesce(?, last_transaction_at) WHERE id = ?`,
			d.at.Unix(), transactionAt, id); err != nil {
			return err
		}
	}
	return nil
}
