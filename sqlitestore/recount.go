package sqlitestore

import (
	"context"
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
)

// Recount counts every kept total anew from the rows, in one commit; the
// calendar is that of the installation. What was pruned can't be counted: the
// attempts ever made are at least those that are there.
func (s *Store) Recount(ctx context.Context) error {
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
		queries = append(append(queries, recountBlocks[:]...),
			`UPDATE account_totals AS t SET history_rows = c.n, attempts_made = max(attempts_made, c.n), attempts_failed = min(max(attempts_failed, c.failed), max(attempts_made, c.n))
				FROM (SELECT a.id, count(r.id) AS n, count(r.id) FILTER (WHERE r.ok = 0) AS failed FROM accounts a LEFT JOIN attempts r ON r.account_id = a.id GROUP BY 1) AS c
				WHERE c.id = t.account_id`,
			`UPDATE inbound_events SET open = `+openItems+` WHERE open <> `+openItems)
		for _, query := range queries {
			if err := tx.exec(query); err != nil {
				return err
			}
		}
		return nil
	})
}
