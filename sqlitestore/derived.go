package sqlitestore

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"time"

	"baoco/app"

	"modernc.org/sqlite"
)

// derived is a table, or some columns of one, that can be counted from other rows. It is
// kept so that statistics and lists don't read all of these rows. Doctor compares the kept
// values with the counted ones, and a repair changes the rows that differ.
//
// In the queries ?1 is the first hour that webhook_hours still holds.
type derived struct {
	check   string // the name of doctor's check that compares it
	name    string // for doctor's messages; empty: the table
	table   string // empty: it is only compared
	columns string
	key     string // the key of table, if a repair changes only columns; empty: it also inserts and deletes rows
	kept    string // the query of the kept values; empty: all of key and columns
	counted string // the query of the right values
	full    bool   // it reads all transactions, attempts or calls: in a large file doctor does so only if asked
}

// derivedTables lists all derived tables, each after the tables that it is counted from.
var derivedTables = []derived{
	{check: "totals", table: "bank_account_days", columns: "bank_account_id, day, type, count, amount", full: true,
		counted: `SELECT bank_account_id, local_day(occurred_at, (SELECT value FROM settings WHERE name = 'timezone')), type,
			count(*), sum(amount) FROM transactions GROUP BY 1, 2, 3`},
	{check: "totals", table: "receiving_number_days", columns: "bank_account_id, receiving_number, day, type, count, amount", full: true,
		counted: `SELECT bank_account_id, receiving_number, local_day(occurred_at, (SELECT value FROM settings WHERE name = 'timezone')), type,
			count(*), sum(amount) FROM transactions INDEXED BY transactions_receiving WHERE receiving_number <> '' GROUP BY 1, 2, 3, 4`},
	{check: "totals", table: "account_days", columns: "account_id, day, type, count, amount",
		counted: `SELECT b.account_id, d.day, d.type, sum(d.count), sum(d.amount)
			FROM bank_account_days d JOIN bank_accounts b ON b.id = d.bank_account_id GROUP BY 1, 2, 3`},
	{check: "totals", table: "bank_account_totals", columns: "bank_account_id, count, amount",
		counted: `SELECT bank_account_id, sum(count), sum(amount) FROM bank_account_days GROUP BY 1`},
	{check: "totals", table: "account_totals", key: "account_id", columns: "in_count, in_amount, out_count, out_amount",
		counted: `SELECT a.id, coalesce(sum(d.count) FILTER (WHERE d.type = 'IN'), 0), coalesce(sum(d.amount) FILTER (WHERE d.type = 'IN'), 0),
				coalesce(sum(d.count) FILTER (WHERE d.type = 'OUT'), 0), coalesce(sum(d.amount) FILTER (WHERE d.type = 'OUT'), 0)
			FROM accounts a LEFT JOIN account_days d ON d.account_id = a.id GROUP BY 1`},
	{check: "totals", name: "open items", table: "inbound_events", key: "id", columns: "open", full: true,
		counted: `SELECT id, ` + openItems + ` FROM inbound_events`},
	{check: "totals", table: "payment_requests", key: "id", columns: "received, transfers",
		counted: `SELECT r.id, coalesce(sum(t.amount), 0), count(t.id) FROM payment_requests r
			LEFT JOIN payment_matches m ON m.request_id = r.id LEFT JOIN transactions t ON t.id = m.transaction_id GROUP BY 1`},
	{check: "totals", name: "paid payment requests", kept: `SELECT id, paid_at IS NOT NULL FROM payment_requests`,
		counted: `SELECT id, received >= amount - tolerance FROM payment_requests`},

	{check: "history", name: "history_rows", table: "account_totals", key: "account_id", columns: "history_rows",
		counted: `SELECT id, (SELECT count(*) FROM attempts INDEXED BY attempts_list WHERE account_id = a.id) FROM accounts a`},
	// Pruned attempts can't be counted, so these numbers may be greater than those of the rows.
	{check: "history", name: "attempts_made", table: "account_totals", key: "account_id", columns: "attempts_made, attempts_failed",
		counted: `SELECT account_id, made, min(max(attempts_failed, failed), made) FROM
			(SELECT account_id, max(attempts_made, history_rows) AS made, attempts_failed,
				(SELECT count(*) FROM attempts a INDEXED BY attempts_failed WHERE a.account_id = t.account_id AND a.ok = 0) AS failed
			FROM account_totals t)`},
	{check: "history", table: "webhook_hours", columns: "webhook_id, hour, succeeded, failed", full: true,
		kept: `SELECT webhook_id, hour, succeeded, failed FROM webhook_hours WHERE hour >= ` + firstHour,
		counted: `SELECT a.webhook_id, a.started_ms / ` + hourMillis + `, sum(a.ok), sum(1 - a.ok)
			FROM attempts a JOIN deliveries d ON d.id = a.delivery_id AND d.transaction_id IS NOT NULL
			WHERE a.started_ms >= ` + firstHour + ` * ` + hourMillis + ` GROUP BY 1, 2`},
	{check: "history", table: "webhook_totals", columns: "webhook_id, last_attempt_id, failed_in_row", full: true, counted: streaks},

	{check: "search", name: "searched_to", kept: `SELECT ` + searchedTo + ` > coalesce(max(id), 0) FROM transactions`, counted: `SELECT 0`},
	{check: "search", name: "transactions_search", counted: `SELECT id FROM (` + lastIndexed + `)`,
		kept: `SELECT id FROM (` + lastIndexed + `) t WHERE EXISTS (SELECT 1 FROM transactions_search
			WHERE transactions_search MATCH '"' || replace(substr(t.search, -12), '"', '""') || '"' AND rowid = t.id)`},
	{check: "search", table: "transactions_unsent", columns: "account_id, transaction_id", full: true,
		kept: `SELECT account_id, transaction_id FROM transactions_unsent k
			WHERE NOT EXISTS (SELECT 1 FROM transactions t WHERE t.id = k.transaction_id AND t.account_id = k.account_id
				AND (t.id > ` + searchedTo + ` OR NOT (` + unsent + `)))`,
		counted: `SELECT account_id, id FROM transactions t WHERE id <= ` + searchedTo + ` AND ` + unsent},
}

const searchedTo = `(SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'searched_to')`

// unsent is true if a transaction t has no deliveries but cancelled ones. transactions_unsent
// may also hold transactions that have some, and transactions after searched_to.
var unsent = inState(app.DeliveryUnsent, "t.id")

// lastIndexed are the newest transactions in the index of search texts.
const lastIndexed = `SELECT id, search FROM transactions WHERE id <= ` + searchedTo + ` AND length(search) >= 3 ORDER BY id DESC LIMIT 5`

// searchTerms compares the index of search texts with all texts, by the number of terms and
// their places: each three characters in a row are a term. The table search_terms shows the
// index; see showTerms.
var searchTerms = derived{check: "search", name: "transactions_search",
	kept: `SELECT count(*), coalesce(sum(doc), 0), coalesce(sum(doc * (offset + 1)), 0) FROM temp.search_terms`,
	counted: `SELECT coalesce(sum(n), 0), coalesce(sum(id * n), 0), coalesce(sum(id * (n * (n + 1) / 2)), 0)
		FROM (SELECT id, max(length(search) - 2, 0) AS n FROM transactions WHERE id <= ` + searchedTo + `)`}

// firstHour is the first hour of which no attempts were pruned. Attempts are pruned in the
// order in which they ended.
var firstHour = `max(?1, iif(EXISTS (SELECT 1 FROM account_totals WHERE attempts_made > history_rows),
	coalesce((SELECT a.started_ms / ` + hourMillis + ` + 2 FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
		WHERE d.state <> 0 ORDER BY a.id LIMIT 1), 0), 0))`

// streaks selects the last attempt of each webhook, and how many failed after the last one
// that succeeded. If all successes were pruned, more may have failed than the rows show, so
// the kept number counts if it is higher. If all attempts were pruned, the kept values count.
const streaks = `SELECT r.webhook_id, r.last, max(r.failed, iif(r.ok = 0, coalesce(k.failed_in_row, 0), 0)) FROM
		(SELECT a.webhook_id, max(a.id) AS last, count(*) FILTER (WHERE a.id > l.ok) AS failed, l.ok AS ok FROM attempts a
			JOIN (SELECT webhook_id, coalesce(max(id) FILTER (WHERE ok = 1), 0) AS ok FROM attempts GROUP BY 1) l
			ON l.webhook_id = a.webhook_id GROUP BY 1) r
		LEFT JOIN webhook_totals k ON k.webhook_id = r.webhook_id
	UNION ALL SELECT webhook_id, last_attempt_id, failed_in_row FROM webhook_totals WHERE webhook_id NOT IN (SELECT webhook_id FROM attempts)`

// differences returns the query that counts the rows in only one of kept and counted.
func (k derived) differences() string {
	kept := cmp.Or(k.kept, `SELECT `+k.allColumns()+` FROM `+k.table)
	return `WITH kept AS MATERIALIZED (` + kept + `), counted AS MATERIALIZED (` + k.counted + `)
		SELECT count(*) FROM (SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted)
			UNION ALL SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept))`
}

func (k derived) allColumns() string {
	if k.key == "" {
		return k.columns
	}
	return k.key + ", " + k.columns
}

// repair returns the statements that change the rows that differ.
func (k derived) repair() []string {
	switch {
	case k.table == "":
		return nil
	case k.key != "":
		of := func(table string) string { return table + "." + strings.ReplaceAll(k.columns, ", ", ", "+table+".") }
		return []string{`WITH c (` + k.allColumns() + `) AS (` + k.counted + `)
			UPDATE ` + k.table + ` AS k SET (` + k.columns + `) = (` + of("c") + `) FROM c WHERE c.` + k.key + ` = k.` + k.key + ` AND (` + of("k") +
			`) IS NOT (` + of("c") + `)`}
	}
	all := `SELECT ` + k.columns + ` FROM ` + k.table
	return []string{
		`DELETE FROM ` + k.table + ` WHERE (` + k.columns + `) IN (` + cmp.Or(k.kept, all) + ` EXCEPT SELECT * FROM (` + k.counted + `))`,
		`INSERT INTO ` + k.table + ` (` + k.columns + `) SELECT * FROM (` + k.counted + `) EXCEPT ` + all,
	}
}

// recount repairs some derived tables. Hours of webhooks older than healthKept are left alone.
func recount(tx *tx, now time.Time, which ...derived) error {
	for _, k := range which {
		for _, query := range k.repair() {
			if err := tx.exec(query, hourOf(now.Add(-healthKept))); err != nil {
				return fmt.Errorf("count %s: %w", cmp.Or(k.name, k.table), err)
			}
		}
	}
	return nil
}

// Recount makes all derived tables again: totals and counts in one commit, and then the
// index of search texts, step by step; after an error in between IndexSearch continues.
// Days are those of the installation's zone. Pruned attempts can't be counted, so the
// number of attempts ever made is at least the number of rows. Hours of webhooks older
// than healthKept are removed.
func (s *Store) Recount(ctx context.Context, now time.Time) error {
	err := s.write(ctx, func(tx *tx) error {
		for _, query := range []string{
			`INSERT INTO transactions_search (transactions_search) VALUES ('delete-all')`, // rows can't be deleted without their texts
			`DELETE FROM transactions_unsent`,
			`DELETE FROM webhook_hours WHERE hour < ?1`, // they are no longer shown
			`UPDATE settings SET value = '0' WHERE name = 'searched_to'`,
			`INSERT INTO account_totals (account_id) SELECT id FROM accounts WHERE true ON CONFLICT DO NOTHING`,
		} {
			tx.exec(query, hourOf(now.Add(-healthKept)))
		}
		return recount(tx, now, derivedTables...)
	})
	for left := int64(1); err == nil && left > 0; {
		left, err = s.IndexSearch(ctx)
	}
	return err
}

func init() {
	// local_day(t, zone) is the day of an instant by the calendar of a zone.
	var zones sync.Map // name → *time.Location
	sqlite.MustRegisterDeterministicScalarFunction("local_day", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		at, isTime := args[0].(int64)
		name, isName := args[1].(string)
		if !isTime || !isName {
			return nil, fmt.Errorf("local_day(%T, %T)", args[0], args[1])
		}
		zone, ok := zones.Load(name)
		if !ok {
			loaded, err := time.LoadLocation(name)
			if err != nil {
				return nil, err
			}
			zone, _ = zones.LoadOrStore(name, loaded)
		}
		return int64(app.DayOf(time.Unix(at, 0), zone.(*time.Location))), nil
	})
}
