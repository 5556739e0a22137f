package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
)

// tx is the transaction that a caller's work runs in, on the writer's
// connection. Every statement is prepared once for the life of the process.
type tx struct {
	conn    *sql.Conn
	stmts   map[string]*statement
	totals  *totals
	changes int64 // rows written so far

	rosters       map[int64]*roster // by account
	rosterVersion int64             // of the file, when they were read
}

type statement struct {
	*sql.Stmt
	changesRoster bool
}

type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func (t *tx) prepared(query string) (*statement, error) {
	if stmt := t.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %.60q: %w", query, err)
	}
	t.stmts[query] = &statement{Stmt: stmt, changesRoster: changesRoster.MatchString(query)}
	return t.stmts[query], nil
}

// exec runs a statement. It takes no context: an interrupted statement would
// undo the work of others.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.run(query, args...)
	return err
}

// insert runs a statement and gives the id of the row that it inserted.
func (t *tx) insert(query string, args ...any) (int64, error) {
	result, err := t.run(query, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// change runs a statement and gives how many rows it changed.
func (t *tx) change(query string, args ...any) (int64, error) {
	result, err := t.run(query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *tx) run(query string, args ...any) (sql.Result, error) {
	stmt, err := t.prepared(query)
	if err != nil {
		return nil, err
	}
	if stmt.changesRoster {
		t.forgetRosters()
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err == nil {
		n, _ := result.RowsAffected()
		t.changes += n
	}
	return result, err
}

func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.prepared(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

func (t *tx) queryRow(query string, args ...any) scanner {
	stmt, err := t.prepared(query)
	if err != nil {
		return failedRow{err}
	}
	return stmt.QueryRowContext(context.Background(), args...)
}

// rollback ends the transaction whatever state it is in.
func (t *tx) rollback() {
	_ = t.exec(`ROLLBACK`)
	t.forgetRosters()
}
