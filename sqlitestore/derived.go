package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"time"

	"baoco/app"

	"modernc.org/sqlite"
)

// derived describes a table, or some columns of one, that can be counted from other
// rows. It is kept so that statistics and listings don't read all of them.
//
// In its queries ?1 is a JSON array of blocks of ids, ?2 the first hour that
// webhook_hours still holds, and {rows} stands for the rows t: all of them, those
// of the blocks, or those of a step of IndexSearch.
type derived struct {
	check   string // the name of doctor's check that compares it
	name    string // for doctor's messages; empty: the table
	table   string // empty: nothing is written, it is only compared
	columns string
	key     string // the key of table where its rows stay and only columns are updated; empty: the rows are made anew
	counted string // the query that counts key and columns from the rows
	rows    string // the table whose blocks of ids it is kept by; empty: it is counted as a whole
	block   string // the block of a row of table, in SQL
	indexed bool   // IndexSearch writes it, some time after the rows
	more    bool   // it may hold more rows than are counted
	full    bool   // doctor compares it only where it reads everything
	differs string // the query that counts what is wrong; empty: the rows that differ from counted
}

// derivedTables lists all of them, each after those that it is counted from. Doctor
// compares them, Recount makes them anew, and IndexSearch writes the indexed
// ones. Code that removes attempts calls recountBlocks; transactions are removed
// by removeTransactions alone.
var derivedTables = []derived{
	{check: "totals", table: "bank_account_days", columns: "bank_account_id, day, type, count, amount", full: true,
		counted: `SELECT t.bank_account_id, local_day(t.occurred_at, (SELECT value FROM settings WHERE name = 'timezone')), t.type, count(*), sum(t.amount)
			FROM {rows} GROUP BY 1, 2, 3`, rows: "transactions"},
	{check: "totals", table: "account_days", columns: "account_id, day, type, count, amount",
		counted: `SELECT b.account_id, d.day, d.type, sum(d.count), sum(d.amount) FROM bank_account_days d JOIN bank_accounts b ON b.id = d.bank_account_id GROUP BY 1, 2, 3`},
	{check: "totals", table: "bank_account_totals", columns: "bank_account_id, count, amount",
		counted: `SELECT bank_account_id, sum(count), sum(amount) FROM bank_account_days GROUP BY 1`},
	{check: "totals", table: "account_totals", key: "account_id", columns: "in_count, in_amount, out_count, out_amount",
		counted: `SELECT a.id, coalesce(sum(d.count) FILTER (WHERE d.type = 'IN'), 0), coalesce(sum(d.amount) FILTER (WHERE d.type = 'IN'), 0),
				coalesce(sum(d.count) FILTER (WHERE d.type = 'OUT'), 0), coalesce(sum(d.amount) FILTER (WHERE d.type = 'OUT'), 0)
			FROM accounts a LEFT JOIN account_days d ON d.account_id = a.id GROUP BY 1`},
	{check: "totals", table: "transaction_blocks", columns: "account_id, block, bank_account_id, type, count, first_at, last_at", rows: "transactions", block: "block",
		counted: `SELECT t.account_id, ` + sqlBlockOf("t.id") + `, t.bank_account_id, t.type, count(*), min(t.occurred_at), max(t.occurred_at) FROM {rows} GROUP BY 1, 2, 3, 4`},
	{check: "totals", name: "transaction_blocks",
		differs: apart(`SELECT account_id, type, sum(count) FROM transaction_blocks GROUP BY 1, 2`, `SELECT account_id, type, sum(count) FROM account_days GROUP BY 1, 2`)},
	{check: "totals", name: "open items", table: "inbound_events", key: "id", columns: "open", full: true,
		counted: `SELECT id, ` + openItems + ` FROM inbound_events`},
	{check: "totals", table: "payment_requests", key: "id", columns: "received, transfers",
		counted: `SELECT r.id, coalesce(sum(t.amount), 0), count(t.id) FROM payment_requests r LEFT JOIN payment_matches m ON m.request_id = r.id LEFT JOIN transactions t ON t.id = m.transaction_id GROUP BY 1`},
	{check: "totals", name: "paid payment requests", differs: `SELECT count(*) FROM payment_requests WHERE (paid_at IS NOT NULL) <> (received >= amount - tolerance)`},

	{check: "history", table: "attempt_blocks", rows: "attempts", block: "block",
		columns: "account_id, block, webhook_id, type, ok, count, first_at, last_at, first_transaction, last_transaction",
		counted: `SELECT t.account_id, ` + sqlBlockOf("t.id") + `, t.webhook_id, t.type, t.ok, count(*), min(t.started_ms), max(t.started_ms),
				coalesce(min(d.transaction_id), ` + maxID + `), coalesce(max(d.transaction_id), 0)
			FROM {rows} CROSS JOIN deliveries d ON d.id = t.delivery_id GROUP BY 1, 2, 3, 4, 5`},
	{check: "history", name: "history_rows", table: "account_totals", key: "account_id", columns: "history_rows",
		counted: `SELECT a.id, coalesce(sum(b.count), 0) FROM accounts a LEFT JOIN attempt_blocks b ON b.account_id = a.id GROUP BY 1`},
	// Pruned attempts can't be counted: these numbers are at least those of the rows.
	{check: "history", name: "attempts_made", table: "account_totals", key: "account_id", columns: "attempts_made, attempts_failed",
		counted: `SELECT t.account_id, max(t.attempts_made, t.history_rows), min(max(t.attempts_failed, coalesce(sum(b.count), 0)), max(t.attempts_made, t.history_rows))
			FROM account_totals t LEFT JOIN attempt_blocks b ON b.account_id = t.account_id AND b.ok = 0 GROUP BY 1`},
	{check: "history", table: "webhook_hours", columns: "webhook_id, hour, succeeded, failed", counted: hoursOfRows, differs: wrongHours},
	{check: "history", table: "webhook_totals", columns: "webhook_id, last_attempt_id, failed_in_row", full: true,
		counted: `SELECT webhook_id, last, failed FROM (` + streaksOfRows + `)`, differs: wrongStreaks},

	{check: "search", table: "transactions_search", columns: "rowid, search", rows: "transactions", indexed: true,
		counted: `SELECT t.id, t.search FROM {rows} WHERE t.id <= ` + searchedTo, differs: `SELECT 0`}, // see wrongSearch
	{check: "search", table: "transaction_amounts", columns: "account_id, block, amount, id, bank_account_id, type, occurred_at", rows: "transactions", block: "block", indexed: true,
		counted: `SELECT t.account_id, ` + sqlBlockOf("t.id") + `, t.amount, t.id, t.bank_account_id, t.type, t.occurred_at FROM {rows} WHERE t.id <= ` + searchedTo},
	{check: "search", name: "transaction_amounts",
		differs: `SELECT (SELECT count(*) FROM transaction_amounts) + (SELECT count(*) FROM transactions WHERE id > ` + searchedTo + `) - (SELECT count(*) FROM transactions)`},
	{check: "search", table: "transactions_unsent", columns: "account_id, transaction_id", rows: "transactions", block: sqlBlockOf("transaction_id"), indexed: true, more: true,
		counted: `SELECT t.account_id, t.id FROM {rows} WHERE t.id <= ` + searchedTo + ` AND ` + inState(app.DeliveryUnsent, "t.id")},
	{check: "search", name: "transactions_unsent", full: true,
		differs: `SELECT count(*) FROM transactions_unsent k LEFT JOIN transactions t ON t.id = k.transaction_id WHERE t.account_id IS NOT k.account_id`},
}

const searchedTo = `(SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'searched_to')`

// attemptsSince gives the attempts a since the hour ?2, from the blocks that hold
// some.
var attemptsSince = ` FROM (SELECT DISTINCT block FROM attempt_blocks WHERE last_at >= ?2 * ` + hourMillis + `) b
		CROSS JOIN attempts a ON ` + sqlInBlock("a.id", "b.block") + ` AND a.started_ms >= ?2 * ` + hourMillis

// hoursOfRows counts attempts by webhook and hour, without tests.
var hoursOfRows = `SELECT a.webhook_id, a.started_ms / ` + hourMillis + `, count(*) FILTER (WHERE a.ok = 1), count(*) FILTER (WHERE a.ok = 0)` + attemptsSince +
	` JOIN deliveries d ON d.id = a.delivery_id AND d.transaction_id IS NOT NULL GROUP BY 1, 2`

// allThere is true if no attempt since the hour ?2 was pruned: none ever was, or
// the ids have no gap from the one before the first of them.
var allThere = `SELECT NOT EXISTS (SELECT 1 FROM account_totals WHERE attempts_made > history_rows)
	OR EXISTS (SELECT 1 FROM attempts WHERE id = f.id - 1) AND (SELECT count(*) = max(id) - f.id + 1 FROM attempts WHERE id >= f.id)
	FROM (SELECT min(a.id) AS id` + attemptsSince + `) f`

// wrongHours counts the hours since ?2 with fewer attempts than there are rows, and
// those with more unless attempts were pruned.
var wrongHours = `WITH r (webhook_id, hour, succeeded, failed) AS MATERIALIZED (` + hoursOfRows + `),
	m (more) AS MATERIALIZED (SELECT count(*) FROM webhook_hours k LEFT JOIN r ON r.webhook_id = k.webhook_id AND r.hour = k.hour
			WHERE k.hour >= ?2 AND (k.succeeded > coalesce(r.succeeded, 0) OR k.failed > coalesce(r.failed, 0)))
	SELECT (SELECT count(*) FROM r LEFT JOIN webhook_hours k ON k.webhook_id = r.webhook_id AND k.hour = r.hour
			WHERE coalesce(k.succeeded, 0) < r.succeeded OR coalesce(k.failed, 0) < r.failed) + iif(more > 0 AND (` + allThere + `), more, 0) FROM m`

// streaksOfRows gives the last attempt of each webhook, how many failed after the
// last one that succeeded, and whether there is one that succeeded.
const streaksOfRows = `SELECT a.webhook_id AS webhook_id, max(a.id) AS last, count(*) FILTER (WHERE a.id > l.ok) AS failed, l.ok > 0 AS known
	FROM attempts a JOIN (SELECT webhook_id, coalesce(max(id) FILTER (WHERE ok = 1), 0) AS ok FROM attempts GROUP BY 1) l ON l.webhook_id = a.webhook_id GROUP BY 1`

// wrongStreaks counts the webhooks whose last attempt or number of failures in a
// row is wrong. Where all attempts that succeeded were pruned the number may be
// greater than what the rows say.
const wrongStreaks = `SELECT count(*) FROM (` + streaksOfRows + `) r LEFT JOIN webhook_totals k ON k.webhook_id = r.webhook_id
	WHERE k.last_attempt_id IS NOT r.last OR k.failed_in_row < r.failed OR r.known AND k.failed_in_row <> r.failed`

// from is the query that counts some rows.
func (k derived) from(rows string) string { return strings.ReplaceAll(k.counted, "{rows}", rows) }

func (k derived) allRows() string { return k.from(k.rows + ` t`) }

func (k derived) inBlocks() string {
	return k.from(`json_each(?1) b CROSS JOIN ` + k.rows + ` t ON ` + sqlInBlock("t.id", "b.value"))
}

// ofStep counts the rows with ids above ?1 and up to ?2.
func (k derived) ofStep() string {
	return k.from(`(SELECT * FROM transactions WHERE id > ?1 AND id <= ?2) t`)
}

func (k derived) insert(counted string) string {
	if k.more {
		counted += ` ON CONFLICT DO NOTHING`
	}
	return `INSERT INTO ` + k.table + ` (` + k.columns + `) ` + counted
}

// whereInBlocks chooses the rows of the table that belong to the blocks ?1.
func (k derived) whereInBlocks() string {
	return ` FROM ` + k.table + ` WHERE ` + k.block + ` IN (SELECT value FROM json_each(?1))`
}

// anew returns the statements that make all of it anew.
func (k derived) anew() []string {
	switch {
	case k.table == "":
		return nil
	case k.key != "":
		columns := "c." + strings.ReplaceAll(k.columns, ", ", ", c.")
		return []string{`WITH c (` + k.key + `, ` + k.columns + `) AS (` + k.allRows() + `) UPDATE ` + k.table + ` AS k SET (` + k.columns + `) = (` + columns + `)
			FROM c WHERE c.` + k.key + ` = k.` + k.key + ` AND (` + "k." + strings.ReplaceAll(k.columns, ", ", ", k.") + `) IS NOT (` + columns + `)`}
	}
	return []string{k.clear(), k.insert(k.allRows())}
}

func (k derived) clear() string {
	if k.table == "transactions_search" { // whose rows can't be deleted without their texts
		return `INSERT INTO transactions_search (transactions_search) VALUES ('delete-all')`
	}
	return `DELETE FROM ` + k.table
}

// differences is the query that counts the rows of the table that are wrong: those
// of the blocks ?1 where it is kept by blocks.
func (k derived) differences() string {
	if k.differs != "" {
		return k.differs
	}
	stands, counted := `SELECT `+k.columns+` FROM `+k.table, k.allRows()
	switch {
	case k.key != "":
		stands = `SELECT ` + k.key + `, ` + k.columns + ` FROM ` + k.table
	case k.block != "":
		stands, counted = `SELECT `+k.columns+k.whereInBlocks(), k.inBlocks()
	}
	if k.more {
		return `SELECT count(*) FROM (` + counted + ` EXCEPT ` + stands + `)`
	}
	return apart(counted, stands)
}

// apart is the query that counts the rows that only one of two queries gives.
func apart(a, b string) string {
	return `SELECT count(*) FROM (SELECT * FROM (` + a + ` EXCEPT ` + b + `) UNION ALL SELECT * FROM (` + b + ` EXCEPT ` + a + `))`
}

// recountBlocks counts some blocks of ids of transactions or of attempts anew,
// after rows of them were removed. It leaves the indexes that IndexSearch writes.
func recountBlocks(tx *tx, rows string, blocks []int64) error {
	list := joinIDs(blocks)
	for _, k := range derivedTables {
		if k.rows != rows || k.block == "" || k.indexed {
			continue
		}
		for _, query := range []string{`DELETE` + k.whereInBlocks(), k.insert(k.inBlocks())} {
			if err := tx.exec(query, list); err != nil {
				return fmt.Errorf("count %s: %w", k.table, err)
			}
		}
	}
	return nil
}

// countAll makes anew whatever is kept and isn't indexed. The hours of webhooks
// are kept up to now. exec runs a statement.
func countAll(exec func(query string, args ...any) error, now time.Time) error {
	if err := exec(`INSERT INTO account_totals (account_id) SELECT id FROM accounts WHERE true ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	return countAnew(exec, func(k derived) bool { return !k.indexed }, now)
}

// countAnew makes some of it anew, in the order of derivedTables.
func countAnew(exec func(query string, args ...any) error, which func(derived) bool, now time.Time) error {
	for _, k := range derivedTables {
		if !which(k) {
			continue
		}
		for _, query := range k.anew() {
			if err := exec(query, nil, hourOf(now.Add(-healthKept))); err != nil {
				return fmt.Errorf("count %s: %w", k.table, err)
			}
		}
	}
	return nil
}

// indexRows adds the transactions with ids above from, up to to, to the indexes.
func indexRows(exec func(query string, args ...any) error, from, to int64) error {
	if err := exec(`UPDATE settings SET value = ? WHERE name = 'searched_to'`, to); err != nil {
		return err
	}
	for _, k := range derivedTables {
		if k.indexed {
			if err := exec(k.insert(k.ofStep()), from, to); err != nil {
				return fmt.Errorf("index %s: %w", k.table, err)
			}
		}
	}
	return nil
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

// Recount makes anew whatever is kept beside its rows: totals and counts in one
// commit, and then the indexes, step by step; after an error in between
// IndexSearch goes on with them. The calendar is that of the installation. What
// was pruned can't be counted: the attempts ever made are at least those that
// are there. The hours of webhooks are kept up to now.
func (s *Store) Recount(ctx context.Context, now time.Time) error {
	err := s.write(ctx, func(tx *tx) error {
		for _, k := range derivedTables {
			if k.indexed {
				if err := tx.exec(k.clear()); err != nil {
					return err
				}
			}
		}
		if err := tx.exec(`UPDATE settings SET value = '0' WHERE name = 'searched_to'`); err != nil {
			return err
		}
		return countAll(tx.exec, now)
	})
	for left := int64(1); err == nil && left > 0; {
		left, err = s.IndexSearch(ctx)
	}
	return err
}
