package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

// What is kept beside the rows, counted from them: bank accounts and accounts
// from the days, blocks from the rows themselves.
var (
	recountBanks = [...]string{
		`DELETE FROM bank_account_totals`,
		`INSERT INTO bank_account_totals (bank_account_id, count, amount) SELECT bank_account_id, sum(count), sum(amount) FROM bank_account_days GROUP BY 1`,
	}
	recountAccounts = `UPDATE account_totals SET in_count = d.ins, in_amount = d.in_sum, out_count = d.outs, out_amount = d.out_sum
		FROM (SELECT account_id, coalesce(sum(count) FILTER (WHERE type = 'IN'), 0) AS ins, coalesce(sum(amount) FILTER (WHERE type = 'IN'), 0) AS in_sum,
			coalesce(sum(count) FILTER (WHERE type = 'OUT'), 0) AS outs, coalesce(sum(amount) FILTER (WHERE type = 'OUT'), 0) AS out_sum
			FROM account_days GROUP BY 1) d WHERE d.account_id = account_totals.account_id`
	recountBlocks = [...]string{
		`DELETE FROM transaction_blocks`,
		`INSERT INTO transaction_blocks (account_id, block, bank_account_id, type, count, first_at, last_at)
			SELECT account_id, id / 4096, bank_account_id, type, count(*), min(occurred_at), max(occurred_at) FROM transactions GROUP BY 1, 2, 3, 4`,
		`DELETE FROM attempt_blocks`,
		`INSERT INTO attempt_blocks (account_id, block, webhook_id, type, ok, count, first_at, last_at, first_transaction, last_transaction)
			SELECT a.account_id, a.id / 4096, a.webhook_id, a.type, a.ok, count(*), min(a.started_ms), max(a.started_ms),
				coalesce(min(d.transaction_id), 9223372036854775807), coalesce(max(d.transaction_id), 0)
			FROM attempts a CROSS JOIN deliveries d ON d.id = a.delivery_id GROUP BY 1, 2, 3, 4, 5`,
	}
	recountStreaks = [...]string{
		`DELETE FROM webhook_totals`,
		`INSERT INTO webhook_totals (webhook_id, last_attempt_id, failed_in_row) SELECT webhook_id, last, failed FROM (` + streaksOfRows + `)`,
	}
	// An index that claims more than there is begins anew, and is made by
	// IndexSearch; the others follow it.
	indexAnew = [...]string{
		`INSERT INTO transactions_search (transactions_search) SELECT 'delete-all' WHERE ` + searchedTo + ` > (SELECT coalesce(max(id), 0) FROM transactions)`,
		`UPDATE settings SET value = '0' WHERE name = 'searched_to' AND CAST(value AS INTEGER) > (SELECT coalesce(max(id), 0) FROM transactions)`,
		`DELETE FROM transaction_amounts`,
		`INSERT INTO transaction_amounts (account_id, block, amount, id, bank_account_id, type, occurred_at)
			SELECT account_id, id / 4096, amount, id, bank_account_id, type, occurred_at FROM transactions WHERE id <= ` + searchedTo + ` ORDER BY 1, 2, 3, 4`,
		`DELETE FROM transactions_unsent`,
		`INSERT INTO transactions_unsent (account_id, transaction_id)
			SELECT account_id, id FROM transactions t WHERE id <= ` + searchedTo + ` AND ` + inState(app.DeliveryUnsent, "t.id") + ` ORDER BY 1, 2`,
	}
)

const searchedTo = `(SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'searched_to')`

// Recount counts every kept total anew from the rows, and makes the indexes that
// lists find transactions by, in one commit; the calendar is that of the
// installation. What was pruned can't be counted: the attempts ever made are at
// least those that are there. The hours of webhooks are kept up to now.
func (s *Store) Recount(ctx context.Context, now time.Time) error {
	zone, err := s.Zone(ctx)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error {
		for _, query := range []string{
			`INSERT INTO account_totals (account_id) SELECT id FROM accounts WHERE true ON CONFLICT DO NOTHING`,
			`UPDATE account_totals SET in_count = 0, in_amount = 0, out_count = 0, out_amount = 0`,
			`DELETE FROM account_days`, `DELETE FROM bank_account_days`,
		} {
			if err := tx.exec(query); err != nil {
				return err
			}
		}
		if err := recountDays(tx, zone); err != nil {
			return err
		}
		queries := append(recountBanks[:], recountAccounts)
		queries = append(append(queries, recountBlocks[:]...), recountStreaks[:]...)
		queries = append(append(queries, indexAnew[:]...),
			`UPDATE account_totals AS t SET history_rows = c.n, attempts_made = max(attempts_made, c.n), attempts_failed = min(max(attempts_failed, c.failed), max(attempts_made, c.n))
				FROM (SELECT a.id, count(r.id) AS n, count(r.id) FILTER (WHERE r.ok = 0) AS failed FROM accounts a LEFT JOIN attempts r ON r.account_id = a.id GROUP BY 1) AS c
				WHERE c.id = t.account_id`,
			`UPDATE inbound_events SET open = `+openItems+` WHERE open <> `+openItems)
		for _, query := range queries {
			if err := tx.exec(query); err != nil {
				return err
			}
		}
		if err := tx.exec(`DELETE FROM webhook_hours`); err != nil {
			return err
		}
		return tx.exec(`INSERT INTO webhook_hours (webhook_id, hour, succeeded, failed) `+hoursOfRows, hourOf(now.Add(-healthKept)))
	})
}
