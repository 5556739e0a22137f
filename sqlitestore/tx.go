package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// tx is the transaction that a caller's work runs in, on the writer's
// connection. Every statement is prepared once for the life of the process.
//
// A write that fails is the failure of the job: no later statement of the job runs, each
// returns that error, and so does the job. The same holds for a look-up by find, findValue or
// findAll that fails, and for an error of refuse. The function of the job then continues with
// zero values, and nothing that it does is kept.
//
// tx calls the driver without database/sql, which guards connections that are shared. The
// writer's isn't shared, and without the guard a statement takes a quarter less time (3.6
// instead of 4.5 µs for an insert or a look-up by key) and half the memory.
type tx struct {
	conn    driver.Conn
	sealer  *sealer
	stmts   map[string]*statement
	args    []driver.NamedValue // used again for every statement
	totals  *totals
	failed  error // of the first write of the running job that failed
	changes int64 // rows written since the process started
	step    stepBegin
	unnamed func() app.Actor    // see Options
	stepped func(changes int64) // called after each job with the number of rows that it changed; nil except in tests

	caches       map[int64]*recordCache // by account
	channels     map[int64][]channel    // rows of bank_account_channels, by bank account
	cacheVersion int64                  // of the file, when they were read
}

type statement struct {
	driver.Stmt
	changesCache bool // the statement changes a table that caches are read from
}

func newTx(conn driver.Conn, sealer *sealer) *tx {
	return &tx{
		conn: conn, sealer: sealer, stmts: map[string]*statement{}, totals: &totals{sums: map[int64]int64{}},
		caches: map[int64]*recordCache{}, channels: map[int64][]channel{},
	}
}

// close closes the statements and the connection. With open statements the
// connection would stay open, and the write-ahead log with it.
func (t *tx) close() error {
	var errs []error
	for _, stmt := range t.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}

// prepare returns the prepared statement of a query, and its arguments as the driver
// takes them. The arguments are valid until the next call.
func (t *tx) prepare(query string, args []any) (*statement, []driver.NamedValue, error) {
	if t.failed != nil {
		return nil, nil, t.failed
	}
	stmt, err := t.statement(query)
	if err != nil {
		return nil, nil, err
	}
	values, err := t.bind(args)
	return stmt, values, err
}

// statement returns the statement of a query, which is prepared once.
func (t *tx) statement(query string) (*statement, error) {
	stmt := t.stmts[query]
	if stmt == nil {
		prepared, err := t.conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
		if err != nil {
			return nil, fmt.Errorf("prepare %.60q: %w", query, err)
		}
		stmt = &statement{Stmt: prepared, changesCache: changesCache.MatchString(query)}
		t.stmts[query] = stmt
	}
	return stmt, nil
}

// bind returns arguments as the driver takes them, valid until the next call.
func (t *tx) bind(args []any) ([]driver.NamedValue, error) {
	t.args = t.args[:0]
	for i, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, err
		}
		t.args = append(t.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return t.args, nil
}

// insertInto is the statement that inserts a row with these columns.
func insertInto(table, columns string) string {
	return `INSERT INTO ` + table + ` (` + columns + `) VALUES (?` + strings.Repeat(`, ?`, strings.Count(columns, ",")) + `)`
}

// control runs a statement that belongs to no job, such as COMMIT.
func (t *tx) control(query string, args ...any) error {
	_, err := t.run(query, args)
	return err
}

// together runs fn, whose writes fail together. It returns the error of the first write that
// failed, or else the error of fn.
func (t *tx) together(fn func() error) error {
	err := fn()
	err, t.failed = cmp.Or(t.failed, err), nil
	return err
}

// exec runs a statement. It takes no context: an interrupted statement would
// undo other jobs of the batch.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.write(query, args)
	return err
}

// insert runs a statement and returns the id of the row that it inserted.
func (t *tx) insert(query string, args ...any) (id int64) {
	result, err := t.write(query, args)
	if err == nil {
		id, err = result.LastInsertId()
	}
	t.fail(err)
	return id
}

// change runs a statement and returns how many rows it changed.
func (t *tx) change(query string, args ...any) (rows int64) {
	result, err := t.write(query, args)
	if err == nil {
		rows, err = result.RowsAffected()
	}
	t.fail(err)
	return rows
}

// changeOne runs a statement that changes one row. If there is no such row, none is the failure.
func (t *tx) changeOne(none error, query string, args ...any) {
	t.refuse(t.change(query, args...) == 0, none)
}

// fail makes err, if it isn't nil, the failure of the job.
func (t *tx) fail(err error) error {
	t.failed = cmp.Or(t.failed, err)
	return err
}

// refuse makes err the failure of the job if a condition holds.
func (t *tx) refuse(condition bool, err error) {
	if condition {
		t.fail(err)
	}
}

// find reads the one row of a query. If there is no row, none is the failure; with a nil none it
// returns the zero value.
func find[T any](t *tx, none error, scan func(scanner) (T, error), query string, args ...any) T {
	value, err := scan(t.queryRow(query, args...))
	t.fail(noRowsAs(err, none))
	return value
}

// findValue reads the one column of the one row of a query.
func findValue[T any](t *tx, query string, args ...any) T {
	return find(t, nil, scanOne[T], query, args...)
}

func findAll[T any](t *tx, scan func(scanner) (T, error), query string, args ...any) []T {
	all, err := queryAll(t, scan, query, args...)
	t.fail(err)
	return all
}

func (t *tx) write(query string, args []any) (driver.Result, error) {
	result, err := t.run(query, args)
	return result, t.fail(err)
}

func (t *tx) run(query string, args []any) (driver.Result, error) {
	stmt, values, err := t.prepare(query, args)
	if err != nil {
		return nil, err
	}
	if stmt.changesCache {
		t.forgetCache()
	}
	result, err := stmt.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), values)
	if err != nil {
		return nil, err
	}
	n, err := result.RowsAffected()
	t.changes += n
	return result, err
}

func (t *tx) query(query string, args ...any) (*txRows, error) {
	stmt, values, err := t.prepare(query, args)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), values)
	if err != nil {
		return nil, err
	}
	return &txRows{rows: rows, row: make([]driver.Value, len(rows.Columns()))}, nil
}

func (t *tx) queryRow(query string, args ...any) scanner {
	rows, err := t.query(query, args...)
	if err != nil {
		return failedRow{err}
	}
	return oneRow{rows}
}

func queryAll[T any](tx *tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.query(query, args...)
	return collect(rows, err, scan)
}

// rollback ends the transaction. It is safe if SQLite has ended it already.
func (t *tx) rollback() {
	_ = t.control(`ROLLBACK`)
	t.forgetCache()
}

// txRows are the rows of a query inside a transaction.
type txRows struct {
	rows driver.Rows
	row  []driver.Value
	err  error
}

func (r *txRows) Next() bool {
	if r.err == nil {
		r.err = r.rows.Next(r.row)
	}
	return r.err == nil
}

func (r *txRows) Err() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

func (r *txRows) Close() error { return r.rows.Close() }

func (r *txRows) Scan(dest ...any) error {
	if len(dest) != len(r.row) {
		return fmt.Errorf("%d columns into %d variables", len(r.row), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, r.row[i]); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

// oneRow scans the first row of a query, and closes it.
type oneRow struct{ rows *txRows }

func (r oneRow) Scan(dest ...any) (err error) {
	defer func() { err = errors.Join(err, r.rows.Close()) }()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	return r.rows.Scan(dest...)
}

// assign converts a value of the driver to the type of *dest. NULL needs a
// []byte or a sql.Scanner.
func assign(dest any, value driver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(value)
	case *[]byte:
		switch v := value.(type) {
		case nil:
			*d = nil
			return nil
		case []byte:
			*d = append([]byte{}, v...)
			return nil
		}
	case *bool:
		if v, ok := value.(int64); ok {
			*d = v != 0
			return nil
		}
	case *string:
		if v, ok := value.(string); ok {
			*d = v
			return nil
		}
	case *int64:
		if v, ok := value.(int64); ok {
			*d = v
			return nil
		}
	default:
		switch to := reflect.ValueOf(dest).Elem(); v := value.(type) {
		case string:
			if to.Kind() == reflect.String {
				to.SetString(v)
				return nil
			}
		case int64:
			if to.CanInt() && !to.OverflowInt(v) {
				to.SetInt(v)
				return nil
			}
		}
	}
	return fmt.Errorf("%T does not fit into %T", value, dest)
}

// Long work is done in steps, each in its own commit, so that a provider's call
// waits for one step at most. A step ends when it has changed stepRows rows, or
// when it has changed wholeRows and taken stepTime: a call of a few elements is
// one commit even on a slow machine. A single statement of a step changes at
// most stepRows rows.
const (
	stepRows  = 400
	stepTime  = 20 * time.Millisecond
	wholeRows = 20
)

// stepLimit is stepRows in a statement: with a parameter as its LIMIT, SQLite would
// prepare the statement again for each value.
var stepLimit = ` LIMIT ` + strconv.Itoa(stepRows)

// full reports whether the running step must end.
func (t *tx) full() bool {
	changed := t.changes - t.step.changes
	return changed >= stepRows || changed >= wholeRows && time.Since(t.step.began) >= stepTime
}

// stepBegin is where the running job began.
type stepBegin struct {
	changes int64
	began   time.Time
}

// inSteps calls fn in one commit after another, each time with the state that
// the last call returned, until fn reports that there is no more to do. With an
// error it returns the state of the last commit. From the second step on, only
// one caller of inSteps at a time has a step in the writer's queue.
func inSteps[T any](ctx context.Context, s *Store, state T, fn func(tx *tx, state T) (_ T, more bool, err error)) (T, error) {
	type step struct {
		state T
		more  bool
	}
	done, err := step{state, true}, error(nil)
	for turn := false; err == nil && done.more; turn = true {
		if turn {
			select {
			case s.longWork <- struct{}{}:
			case <-ctx.Done():
				return done.state, storageError(ctx.Err())
			}
		}
		var next step
		next, err = writing(ctx, s, func(tx *tx) (n step, err error) {
			n.state, n.more, err = fn(tx, done.state)
			return n, err
		})
		if turn {
			<-s.longWork
		}
		if err == nil {
			done = next
		}
	}
	return done.state, err
}
