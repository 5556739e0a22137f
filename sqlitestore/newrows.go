package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// rowsAtOnce is how many rows one statement writes at most.
const rowsAtOnce = 16

// table is one of those that recording and sending fill. Its new rows wait until many are
// written by one statement, which takes half the time of one statement for each: much of
// an insert is its beginning and its end, and the look-up for AUTOINCREMENT.
type table struct {
	name     string
	numbered bool           // the first column is the id
	width    int            // number of columns
	last     string         // query of the last id
	inserts  map[int]string // by number of rows
}

var (
	inboundEvents = newTable("inbound_events", true, `id, account_id, source_id, channel, received_ms, body, recorded, duplicates, unassigned, conflicts, rejected, open`)
	transactions  = newTable("transactions", true, `id, account_id, bank_account_id, source_id, channel, inbound_event_id, import_id, number, type, amount,
		content, search, occurred_at, date_only, date_flaw, zone_offset, created_at, code, payment_request, balance, available, unclocked, unmatched`)
	deliveries = newTable("deliveries", true, `id, account_id, webhook_id, transaction_id, state, attempts, retry, due_ms, created_ms, single`)
	eventIDs   = newTable("event_ids", false, `account_id, source_id, channel, event_id, transaction_id, item_id, merged`)
	attempts   = newTable("attempts", true, `id, account_id, delivery_id, webhook_id, type, number, url, started_ms, duration_ms, dns_ms, connect_ms, tls_ms,
		wait_ms, status_code, ok, error, detail, response_body, next_ms`)
)

// filledTables are all of them, in the order in which their rows refer to one another.
var filledTables = []*table{inboundEvents, transactions, deliveries, eventIDs, attempts}

func newTable(name string, numbered bool, columns string) *table {
	into := &table{name: name, numbered: numbered, width: strings.Count(columns, ",") + 1, inserts: map[int]string{}}
	into.last = fmt.Sprintf(`SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = '%s'), 0), coalesce((SELECT max(rowid) FROM %[1]s), 0))`, name)
	row := `(?` + strings.Repeat(`, ?`, into.width-1) + `)`
	for n := rowsAtOnce; n > 0; n /= 2 {
		into.inserts[n] = fmt.Sprintf(`INSERT INTO %s (%s) VALUES %s`, name, columns, row+strings.Repeat(`, `+row, n-1))
	}
	return into
}

// newRows are the rows that a transaction has added and not yet written. Any statement
// that looks at one of their tables has them written first (see [tx.prepare]). The few
// that run for every transaction and find none of them go without.
type newRows struct {
	values    map[*table][]any
	keys      map[rowKey]bool
	lastID    map[*table]int64 // that was given; known again after a look at the file
	unwritten bool
	unseen    bool  // the statement that runs finds none of them
	failed    error // they could not be written: what was added is lost, and the transaction must not be committed
}

// rowKey is what new rows are looked up by: an event id of a source, on a channel, or the
// number of a transaction of a bank account, or its amount and who reported it.
type rowKey struct {
	owner         int64
	channel, text string
}

func noRowsYet() newRows {
	return newRows{values: map[*table][]any{}, keys: map[rowKey]bool{}, lastID: map[*table]int64{}}
}

// add has a row written before the commit, and gives its id.
func (t *tx) add(into *table, values ...any) (id int64, err error) {
	r := &t.rows
	if into.numbered {
		last, known := r.lastID[into]
		if !known {
			if err := t.queryRow(into.last).Scan(&last); err != nil {
				return 0, err
			}
		}
		id = last + 1
		r.lastID[into] = id
		r.values[into] = append(r.values[into], id)
	}
	r.values[into] = append(r.values[into], values...)
	r.unwritten = true
	t.changes++
	return id, nil
}

// writeRows writes the new rows. They may be of other works than the one that runs, so an
// error is kept for the writer.
func (t *tx) writeRows() error {
	r := &t.rows
	if r.failed != nil || !r.unwritten {
		return r.failed
	}
	var err error
	for _, into := range filledTables {
		values := r.values[into]
		for n := rowsAtOnce; err == nil && len(values) > 0; {
			for n*into.width > len(values) {
				n /= 2
			}
			err = t.insertRows(into.inserts[n], values[:n*into.width])
			values = values[n*into.width:]
		}
	}
	r.drop()
	r.failed = err
	return err
}

func (t *tx) insertRows(query string, values []any) error {
	stmt, err := t.statement(query)
	if err != nil {
		return err
	}
	args, err := t.bind(values)
	if err == nil {
		_, err = stmt.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), args)
	}
	return err
}

// drop forgets the rows: they are written, or nobody wants them any more.
func (r *newRows) drop() {
	for into, values := range r.values {
		clear(values)
		r.values[into] = values[:0]
	}
	clear(r.keys)
	r.unwritten, r.failed = false, nil
}

// queryRowOf is queryRow for a statement that finds new rows by key only.
func (t *tx) queryRowOf(key rowKey, query string, args ...any) scanner {
	t.rows.unseen = !t.rows.keys[key]
	defer func() { t.rows.unseen = false }()
	return t.queryRow(query, args...)
}

// queryOf is query for a statement that finds new rows by key only.
func (t *tx) queryOf(key rowKey, query string, args ...any) (*txRows, error) {
	t.rows.unseen = !t.rows.keys[key]
	defer func() { t.rows.unseen = false }()
	return t.query(query, args...)
}

// changeCommitted is change for a statement whose rows were committed before.
func (t *tx) changeCommitted(query string, args ...any) (int64, error) {
	t.rows.unseen = true
	defer func() { t.rows.unseen = false }()
	return t.change(query, args...)
}
