package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"baoco/app"
)

// What follows from the rows, but isn't counted by blocks of them: the indexes
// that IndexSearch writes, and the health of webhooks.

// search compares the indexes of amounts and of what no shop was told of with
// the transactions up to searched_to. Of the search texts SQLite itself keeps
// watch, where everything is read.
func (d *doctor) search(ctx context.Context) (c app.Check, err error) {
	d.Progress("indexes of transactions")
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer tx.Rollback()
	var searched, newest int64
	err = tx.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER), coalesce((SELECT max(id) FROM transactions), 0) FROM settings WHERE name = 'searched_to'`).Scan(&searched, &newest)
	if err != nil {
		return c, err
	}
	if searched > newest {
		return failed(app.Textf("The search index says that it holds transactions up to %d, but the last is %d.", "Chỉ mục tìm kiếm ghi đến giao dịch %d, nhưng giao dịch cuối là %d.", searched, newest), cureTotals), nil
	}
	blocks, all := d.sample(newest)
	wrong, err := wrongIndexes(ctx, tx, blocks, all, searched)
	switch {
	case err != nil:
		return c, err
	case len(wrong) > 0:
		return failed(app.Textf("Lists find transactions by these, which differ from the transactions: %s", "Các danh sách tìm giao dịch theo những bảng này, nhưng chúng khác với giao dịch: %s",
			strings.Join(wrong, ", ")), cureTotals), nil
	case !all:
		return fine("%d transactions are not indexed yet; the indexes agree with the rows in %d of %d blocks; --full compares all.",
			"%d giao dịch chưa vào chỉ mục; các chỉ mục khớp với các dòng trong %d trên %d khối; --full so tất cả.", newest-searched, len(blocks), newest>>blockShift+1)
	}
	return fine("%d transactions are not indexed yet; searches read them one by one.", "%d giao dịch chưa vào chỉ mục; khi tìm sẽ đọc từng giao dịch.", newest-searched)
}

// indexedRows are the transactions of some blocks (?1) up to searched_to (?2).
const indexedRows = ` FROM json_each(?1) b CROSS JOIN transactions t ON t.id BETWEEN b.value * 4096 AND min(b.value * 4096 + 4095, ?2)`

// wrongIndexes names the tables with rows that are missing or wrong in some
// blocks, or with more rows than there should be.
func wrongIndexes(ctx context.Context, tx *sql.Tx, blocks []int64, all bool, searched int64) (wrong []string, err error) {
	for _, look := range []struct {
		table, query string
		all          bool // only where all rows are read
	}{
		{"transaction_amounts", `SELECT count(*)` + indexedRows + ` LEFT JOIN transaction_amounts k
			ON k.account_id = t.account_id AND k.block = b.value AND k.amount = t.amount AND k.id = t.id
			WHERE k.bank_account_id IS NOT t.bank_account_id OR k.type IS NOT t.type OR k.occurred_at IS NOT t.occurred_at`, false},
		{"transaction_amounts", `SELECT (SELECT count(*) FROM transaction_amounts) + (SELECT count(*) FROM transactions WHERE id > ?2) - (SELECT count(*) FROM transactions)
			WHERE ?1 IS NOT NULL`, false},
		{"transactions_unsent", `SELECT count(*)` + indexedRows + ` WHERE NOT EXISTS (SELECT 1 FROM transactions_unsent k WHERE k.account_id = t.account_id AND k.transaction_id = t.id)
			AND ` + inState(app.DeliveryUnsent, "t.id"), false},
		{"transactions_unsent", `SELECT count(*) FROM transactions_unsent k LEFT JOIN transactions t ON t.id = k.transaction_id
			WHERE t.account_id IS NOT k.account_id AND ?1 IS NOT NULL AND ?2 IS NOT NULL`, true},
	} {
		if look.all && !all || len(wrong) > 0 && wrong[len(wrong)-1] == look.table {
			continue
		}
		var n int64
		if err := tx.QueryRowContext(ctx, look.query, joinIDs(blocks), searched).Scan(&n); err != nil {
			return nil, fmt.Errorf("%s: %w", look.table, err)
		}
		if n != 0 {
			wrong = append(wrong, look.table)
		}
	}
	return wrong, nil
}

// attemptsSince are the attempts since the hour ?1, out of the blocks that hold
// some.
const attemptsSince = ` FROM (SELECT DISTINCT block FROM attempt_blocks WHERE last_at >= ?1 * 3600000) b
		CROSS JOIN attempts a ON a.id BETWEEN b.block * 4096 AND b.block * 4096 + 4095 AND a.started_ms >= ?1 * 3600000`

// hoursOfRows counts them by webhook and hour.
const hoursOfRows = `SELECT a.webhook_id, a.started_ms / 3600000, count(*) FILTER (WHERE a.ok = 1), count(*) FILTER (WHERE a.ok = 0)` + attemptsSince + ` GROUP BY 1, 2`

// streaksOfRows gives the last attempt of each webhook, how many failed since
// the last that succeeded, and whether that one is there.
const streaksOfRows = `SELECT a.webhook_id AS webhook_id, max(a.id) AS last, count(*) FILTER (WHERE a.id > l.ok) AS failed, l.ok > 0 AS known
	FROM attempts a JOIN (SELECT webhook_id, coalesce(max(id) FILTER (WHERE ok = 1), 0) AS ok FROM attempts GROUP BY 1) l ON l.webhook_id = a.webhook_id GROUP BY 1`

// wrongHours counts the hours since ?1 that know of fewer attempts than there
// are, and those that know of more.
const wrongHours = `WITH r (webhook_id, hour, succeeded, failed) AS MATERIALIZED (` + hoursOfRows + `)
	SELECT (SELECT count(*) FROM r LEFT JOIN webhook_hours k ON k.webhook_id = r.webhook_id AND k.hour = r.hour
			WHERE coalesce(k.succeeded, 0) < r.succeeded OR coalesce(k.failed, 0) < r.failed),
		(SELECT count(*) FROM webhook_hours k LEFT JOIN r ON r.webhook_id = k.webhook_id AND r.hour = k.hour
			WHERE k.hour >= ?1 AND (k.succeeded > coalesce(r.succeeded, 0) OR k.failed > coalesce(r.failed, 0)))`

// allThere tells whether every attempt since the hour ?1 is still there: nothing
// was ever pruned, or the ids go on without a gap from the one before the first.
const allThere = `SELECT NOT EXISTS (SELECT 1 FROM account_totals WHERE attempts_made > history_rows)
	OR EXISTS (SELECT 1 FROM attempts WHERE id = f.id - 1) AND (SELECT count(*) = max(id) - f.id + 1 FROM attempts WHERE id >= f.id)
	FROM (SELECT min(a.id) AS id` + attemptsSince + `) f`

// wrongHealth names the tables of the health of webhooks that differ from the
// attempts: by the hour, for as long as hours are kept, and, where all rows are
// read, in a row. What was pruned isn't missed.
func (d *doctor) wrongHealth(ctx context.Context, tx *sql.Tx, all bool) (wrong []string, err error) {
	first := hourOf(d.Now.Add(-healthKept))
	var fewer, more, streaks int64
	var whole bool
	err = tx.QueryRowContext(ctx, wrongHours, first).Scan(&fewer, &more)
	if err == nil && more > 0 {
		err = tx.QueryRowContext(ctx, allThere, first).Scan(&whole)
	}
	if err == nil && all {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM (`+streaksOfRows+`) r LEFT JOIN webhook_totals k ON k.webhook_id = r.webhook_id
			WHERE k.last_attempt_id IS NOT r.last OR k.failed_in_row < r.failed OR r.known AND k.failed_in_row <> r.failed`).Scan(&streaks)
	}
	if fewer > 0 || more > 0 && whole {
		wrong = append(wrong, "webhook_hours")
	}
	if streaks > 0 {
		wrong = append(wrong, "webhook_totals")
	}
	return wrong, err
}
