package sqlitestore

import (
	"math"
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

// blockKey names what a block counts. ofID is the bank account of
// transactions, the webhook of attempts.
type blockKey struct {
	accountID, block, ofID int64
	direction              app.Direction
	ok                     bool
}

type blockSum struct{ count, first, last int64 }

func (s blockSum) plus(at int64) blockSum {
	if s.count == 0 {
		return blockSum{1, at, at}
	}
	return blockSum{s.count + 1, min(s.first, at), max(s.last, at)}
}

// attemptSum is a blockSum of attempts, with the range of their transactions.
type attemptSum struct {
	blockSum
	firstTransaction, lastTransaction int64
}

func (s attemptSum) plus(d attemptDelta) attemptSum {
	if s.count == 0 {
		s.firstTransaction = math.MaxInt64
	}
	s.blockSum = s.blockSum.plus(d.startedAt.UnixMilli())
	if d.transactionID != 0 {
		s.firstTransaction, s.lastTransaction = min(s.firstTransaction, d.transactionID), max(s.lastTransaction, d.transactionID)
	}
	return s
}

func (t *totals) flushBlocks(tx *tx) error {
	transactions, attempts := map[blockKey]blockSum{}, map[blockKey]attemptSum{}
	removed := map[blockKey]bool{}
	for _, d := range t.transactions {
		key := blockKey{d.accountID, d.id >> blockShift, d.bankAccountID, d.direction, false}
		transactions[key] = transactions[key].plus(d.at.Unix())
		removed[key] = removed[key] || d.removed
	}
	for _, d := range t.attempts {
		key := blockKey{d.accountID, d.id >> blockShift, d.webhookID, d.direction, d.ok}
		attempts[key] = attempts[key].plus(d)
	}
	const merge = ` ON CONFLICT DO UPDATE SET count = count + excluded.count, first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`
	for k, sum := range transactions {
		if removed[k] {
			if err := recountBlock(tx, k); err != nil {
				return err
			}
			continue
		}
		if err := tx.exec(`INSERT INTO transaction_blocks (account_id, block, bank_account_id, type, count, first_at, last_at) VALUES (?, ?, ?, ?, ?, ?, ?)`+merge,
			k.accountID, k.block, k.ofID, string(k.direction), sum.count, sum.first, sum.last); err != nil {
			return err
		}
	}
	for k, sum := range attempts {
		if err := tx.exec(`INSERT INTO attempt_blocks (account_id, block, webhook_id, type, ok, count, first_at, last_at, first_transaction, last_transaction)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`+merge+`, first_transaction = min(first_transaction, excluded.first_transaction),
				last_transaction = max(last_transaction, excluded.last_transaction)`,
			k.accountID, k.block, k.ofID, string(k.direction), k.ok, sum.count, sum.first, sum.last, sum.firstTransaction, sum.lastTransaction); err != nil {
			return err
		}
	}
	return nil
}

// recountBlock counts a block of transactions anew, after rows of it were
// removed.
func recountBlock(tx *tx, k blockKey) error {
	err := tx.exec(`DELETE FROM transaction_blocks WHERE account_id = ? AND block = ? AND bank_account_id = ? AND type = ?`, k.accountID, k.block, k.ofID, string(k.direction))
	if err != nil {
		return err
	}
	return tx.exec(`INSERT INTO transaction_blocks (account_id, block, bank_account_id, type, count, first_at, last_at)
		SELECT account_id, id / 4096, bank_account_id, type, count(*), min(occurred_at), max(occurred_at) FROM transactions NOT INDEXED
		WHERE id BETWEEN ?2 * 4096 AND ?2 * 4096 + 4095 AND account_id = ?1 AND bank_account_id = ?3 AND type = ?4 GROUP BY 1, 2, 3, 4`,
		k.accountID, k.block, k.ofID, string(k.direction))
}

func hourOf(t time.Time) int64 { return t.UnixMilli() / time.Hour.Milliseconds() }

type hourKey struct{ webhookID, hour int64 }

// streak is what attempts do to the failures in a row: those before one that
// succeeded don't count any more.
type streak struct {
	last, failed int64
	succeeded    bool
}

func (t *totals) flushHealth(tx *tx) error {
	if len(t.attempts) == 0 {
		return nil
	}
	hours, streaks := map[hourKey]app.HourHealth{}, map[int64]streak{}
	for _, d := range t.attempts { // in the order of their ids
		key := hourKey{d.webhookID, hourOf(d.startedAt)}
		hour, row := hours[key], streaks[d.webhookID]
		row.last = d.id
		if d.ok {
			hour.Succeeded++
			row.failed, row.succeeded = 0, true
		} else {
			hour.Failed++
			row.failed++
		}
		hours[key], streaks[d.webhookID] = hour, row
	}
	for key, hour := range hours {
		if err := tx.exec(`INSERT INTO webhook_hours (webhook_id, hour, succeeded, failed) VALUES (?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed`,
			key.webhookID, key.hour, hour.Succeeded, hour.Failed); err != nil {
			return err
		}
	}
	for id, row := range streaks {
		if err := tx.exec(`INSERT INTO webhook_totals (webhook_id, last_attempt_id, failed_in_row) VALUES (?1, ?2, ?3)
				ON CONFLICT DO UPDATE SET last_attempt_id = ?2, failed_in_row = iif(?4, 0, failed_in_row) + ?3`,
			id, row.last, row.failed, row.succeeded); err != nil {
			return err
		}
	}
	return nil
}
