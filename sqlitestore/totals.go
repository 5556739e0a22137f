package sqlitestore

import (
	"math"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// totals collects what the jobs of one commit add to the kept totals, and writes
// it before the commit: each total is written once, however many rows it counts.
type totals struct {
	transactions []transactionDelta
	attempts     []attemptDelta
	calls        []callDelta
	balances     []balanceDelta
	sums         map[int64]int64 // of the amounts of an account, with the amounts of this commit; see tx.takes
}

type transactionDelta struct {
	id, accountID, bankAccountID int64
	at                           time.Time
	day                          app.Day
	direction                    app.Direction
	amount                       int64
	receivingNumber              string // empty: none was named
	removed                      bool
}

type attemptDelta struct {
	id, accountID, webhookID int64
	transactionID            int64 // 0: a sample
	startedAt                time.Time
	ok                       bool
}

type callDelta struct {
	sourceID    int64
	at          time.Time
	transaction bool
}

// balanceDelta is a balance that a provider sent with a transaction.
type balanceDelta struct {
	bankAccountID, sourceID int64
	day                     app.Day
	at                      time.Time // of the transaction
	amount                  int64
}

type totalsMark struct{ transactions, attempts, calls, balances int }

func (t *totals) reset() { t.rewind(totalsMark{}) }

func (t *totals) mark() totalsMark {
	return totalsMark{len(t.transactions), len(t.attempts), len(t.calls), len(t.balances)}
}

// rewind removes what was added since mark, because its rows were rolled back.
func (t *totals) rewind(m totalsMark) {
	t.transactions = t.transactions[:m.transactions]
	t.attempts = t.attempts[:m.attempts]
	t.calls = t.calls[:m.calls]
	t.balances = t.balances[:m.balances]
	clear(t.sums)
}

func (t *totals) addTransaction(d transactionDelta) {
	t.transactions = append(t.transactions, d)
	if sum, known := t.sums[d.accountID]; known {
		t.sums[d.accountID] = d.addTo(app.Amounts{Total: sum}).Total
	}
}

// takes reports whether the sum of an account still fits into 64 bits with one more amount.
// It is the sum of money in and money out, so that each smaller sum fits too.
func (t *tx) takes(accountID, amount int64) bool {
	sum, known := t.totals.sums[accountID]
	if !known {
		var in, out int64
		t.fail(t.queryRow(`SELECT in_amount, out_amount FROM account_totals WHERE account_id = ?`, accountID).Scan(&in, &out))
		if sum = math.MaxInt64; out <= sum-in {
			sum = in + out
		}
		for _, d := range t.totals.transactions {
			if d.accountID == accountID {
				sum = d.addTo(app.Amounts{Total: sum}).Total
			}
		}
		t.totals.sums[accountID] = sum
	}
	return amount <= math.MaxInt64-sum
}

func (t *totals) addCall(sourceID int64, at time.Time, transaction bool) {
	if sourceID != 0 {
		t.calls = append(t.calls, callDelta{sourceID, at, transaction})
	}
}

// flush writes all totals, in the transaction that adds the rows.
func (t *totals) flush(tx *tx) error {
	return tx.together(func() error {
		if len(t.transactions) > 0 {
			t.flushTransactions(tx)
		}
		if len(t.attempts) > 0 {
			t.flushAttempts(tx)
			t.flushHealth(tx)
		}
		t.flushCalls(tx)
		t.flushBalances(tx)
		return nil
	})
}

type dayKey struct {
	owner     int64  // an account or a bank account
	number    string // a receiving number of it; empty: the whole bank account
	day       app.Day
	direction app.Direction
}

const addAmounts = ` ON CONFLICT DO UPDATE SET count = count + excluded.count, amount = amount + excluded.amount`

func (t *totals) flushTransactions(tx *tx) {
	accounts, bankAccounts := map[int64]app.Flow{}, map[int64]app.Amounts{}
	accountDays, bankAccountDays, numberDays := map[dayKey]app.Amounts{}, map[dayKey]app.Amounts{}, map[dayKey]app.Amounts{}
	for _, d := range t.transactions {
		sums := accounts[d.accountID]
		sums.Add(d.direction, d.addTo(app.Amounts{}))
		accounts[d.accountID] = sums
		bankAccounts[d.bankAccountID] = d.addTo(bankAccounts[d.bankAccountID])
		key := dayKey{owner: d.accountID, day: d.day, direction: d.direction}
		accountDays[key] = d.addTo(accountDays[key])
		key.owner = d.bankAccountID
		bankAccountDays[key] = d.addTo(bankAccountDays[key])
		if key.number = d.receivingNumber; key.number != "" {
			numberDays[key] = d.addTo(numberDays[key])
		}
	}
	for id, sums := range accounts {
		tx.exec(`UPDATE account_totals SET in_count = in_count + ?, in_amount = in_amount + ?, out_count = out_count + ?, out_amount = out_amount
			+ ? WHERE account_id = ?`, sums.In.Count, sums.In.Total, sums.Out.Count, sums.Out.Total, id)
	}
	for id, sum := range bankAccounts {
		tx.exec(`INSERT INTO bank_account_totals (bank_account_id, count, amount) VALUES (?, ?, ?)`+addAmounts, id, sum.Count, sum.Total)
	}
	for key, sum := range accountDays {
		tx.exec(`INSERT INTO account_days (account_id, day, type, count, amount) VALUES (?, ?, ?, ?, ?)`+addAmounts,
			key.owner, int64(key.day), string(key.direction), sum.Count, sum.Total)
	}
	for key, sum := range bankAccountDays {
		tx.exec(`INSERT INTO bank_account_days (bank_account_id, day, type, count, amount) VALUES (?, ?, ?, ?, ?)`+addAmounts,
			key.owner, int64(key.day), string(key.direction), sum.Count, sum.Total)
	}
	for key, sum := range numberDays {
		tx.exec(`INSERT INTO receiving_number_days (bank_account_id, receiving_number, day, type, count, amount) VALUES (?, ?, ?, ?, ?, ?)`+
			addAmounts, key.owner, key.number, int64(key.day), string(key.direction), sum.Count, sum.Total)
	}
	for _, d := range t.transactions {
		if d.removed { // it may have been the last of its day
			tx.exec(`DELETE FROM account_days WHERE account_id = ? AND day = ? AND type = ? AND count = 0`, d.accountID, int64(d.day),
				string(d.direction))
			tx.exec(`DELETE FROM bank_account_days WHERE bank_account_id = ? AND day = ? AND type = ? AND count = 0`, d.bankAccountID, int64(d.day),
				string(d.direction))
			tx.exec(`DELETE FROM receiving_number_days WHERE bank_account_id = ? AND receiving_number = ? AND day = ? AND type = ? AND count = 0`,
				d.bankAccountID, d.receivingNumber, int64(d.day), string(d.direction))
			tx.exec(`DELETE FROM bank_account_totals WHERE bank_account_id = ? AND count = 0`, d.bankAccountID)
		}
	}
}

func (d transactionDelta) addTo(a app.Amounts) app.Amounts {
	if d.removed {
		return app.Amounts{Count: a.Count - 1, Total: a.Total - d.amount}
	}
	return app.Amounts{Count: a.Count + 1, Total: a.Total + d.amount}
}

func (t *totals) flushAttempts(tx *tx) {
	type sum struct{ made, failed int64 }
	sums := map[int64]sum{}
	for _, d := range t.attempts {
		s := sums[d.accountID]
		s.made++
		if !d.ok {
			s.failed++
		}
		sums[d.accountID] = s
	}
	for id, s := range sums {
		tx.exec(`UPDATE account_totals SET attempts_made = attempts_made + ?1, attempts_failed = attempts_failed + ?2, history_rows =
			history_rows + ?1 WHERE account_id = ?3`, s.made, s.failed, id)
	}
}

// flushCalls writes when each source was last called, and when a call last recorded a
// transaction.
func (t *totals) flushCalls(tx *tx) {
	last := map[int64]callDelta{}
	for _, d := range t.calls {
		d.transaction = d.transaction || last[d.sourceID].transaction
		last[d.sourceID] = d
	}
	for id, d := range last {
		tx.exec(`UPDATE sources SET last_call_at = ?1, last_transaction_at = iif(?2, ?1, last_transaction_at) WHERE id = ?3`,
			d.at.Unix(), d.transaction, id)
	}
}

// flushBalances keeps the last balance of each day. If several transactions have the same
// second, the one that was recorded last counts, since lists are in that order.
func (t *totals) flushBalances(tx *tx) {
	type key struct {
		bankAccountID int64
		day           app.Day
	}
	last := map[key]balanceDelta{}
	for _, d := range t.balances {
		k := key{d.bankAccountID, d.day}
		if before, found := last[k]; !found || !d.at.Before(before.at) {
			last[k] = d
		}
	}
	for _, d := range last {
		tx.exec(`INSERT INTO bank_account_balances (bank_account_id, day, amount, at, source_id) VALUES (?1, ?2, ?3, ?4, ?5)
				ON CONFLICT DO UPDATE SET amount = ?3, at = ?4, source_id = ?5 WHERE at <= ?4`,
			d.bankAccountID, int64(d.day), d.amount, d.at.Unix(), d.sourceID)
	}
}

// hourOf is the hour of an instant, counted from 1970 in UTC.
func hourOf(t time.Time) int64 { return t.UnixMilli() / time.Hour.Milliseconds() }

type hourKey struct{ webhookID, hour int64 }

// streak is how some attempts of a webhook change its number of failures in a row: after a
// success the count starts again.
type streak struct {
	lastID, failed int64
	succeeded      bool
}

func (t *totals) flushHealth(tx *tx) {
	hours, streaks := map[hourKey]delivery.HourHealth{}, map[int64]streak{}
	for _, d := range t.attempts { // in the order of their ids
		row := streaks[d.webhookID]
		row.lastID = d.id
		if d.ok {
			row.failed, row.succeeded = 0, true
		} else {
			row.failed++
		}
		streaks[d.webhookID] = row
		if d.transactionID == 0 { // a test
			continue
		}
		key := hourKey{d.webhookID, hourOf(d.startedAt)}
		hour := hours[key]
		if d.ok {
			hour.Succeeded++
		} else {
			hour.Failed++
		}
		hours[key] = hour
	}
	for key, hour := range hours {
		tx.exec(`INSERT INTO webhook_hours (webhook_id, hour, succeeded, failed) VALUES (?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed`,
			key.webhookID, key.hour, hour.Succeeded, hour.Failed)
	}
	for id, row := range streaks {
		tx.exec(`INSERT INTO webhook_totals (webhook_id, last_attempt_id, failed_in_row) VALUES (?1, ?2, ?3)
				ON CONFLICT DO UPDATE SET last_attempt_id = ?2, failed_in_row = iif(?4, 0, failed_in_row) + ?3`,
			id, row.lastID, row.failed, row.succeeded)
	}
}
