package sqlitestore

import (
	"container/list"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
)

// query runs a prepared read.
func (s *Store) query(ctx context.Context, query string, args ...any) (readRows, error) {
	one, err := s.statements.take(ctx, s.reads, query)
	if err != nil {
		return readRows{}, s.seen(err)
	}
	defer s.statements.giveBack(one)
	rows, err := one.stmt.QueryContext(ctx, args...)
	return readRows{rows, s}, s.seen(err)
}

// queryRow runs a prepared read of one row.
func (s *Store) queryRow(ctx context.Context, query string, args ...any) scanner {
	one, err := s.statements.take(ctx, s.reads, query)
	if err != nil {
		return failedRow{s.seen(err)}
	}
	defer s.statements.giveBack(one)
	return readRow{one.stmt.QueryRowContext(ctx, args...), s}
}

// seen ends the server where a read met damage: it would acknowledge what the
// file can't hold.
func (s *Store) seen(err error) error {
	if known := storageError(err); errors.Is(known, ErrDamaged) && !isSearchDamage(err) {
		s.noteFatal(known)
	}
	return err
}

// readRows and readRow are what a read gives.
type readRows struct {
	*sql.Rows
	s *Store
}

func (r readRows) Err() error { return r.s.seen(r.Rows.Err()) }

type readRow struct {
	*sql.Row
	s *Store
}

func (r readRow) Scan(dest ...any) error { return r.s.seen(r.Row.Scan(dest...)) }

// keptReads is how many read statements stay prepared, on up to four connections
// each. Listings have thousands, one for every combination of filters; what
// everybody asks for all the time is far fewer.
const keptReads = 128

// readStatements are the prepared statements of a database that were used last. The zero
// value is empty.
type readStatements struct {
	mu      sync.Mutex
	byQuery map[string]*list.Element // of *readStatement
	order   list.List                // the last used first
}

// readStatement is a prepared statement. One that makes room for others is closed once
// nobody uses it.
type readStatement struct {
	query   string
	stmt    *sql.Stmt
	users   int
	dropped bool
}

// take gives the statement of a query, until it is given back.
func (r *readStatements) take(ctx context.Context, db *sql.DB, query string) (*readStatement, error) {
	if one := r.find(query, nil); one != nil {
		return one, nil
	}
	stmt, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, storageError(err)
	}
	one := r.find(query, stmt)
	if one.stmt != stmt { // another was quicker
		_ = stmt.Close()
	}
	return one, nil
}

// find gives the statement that is kept of a query, or keeps stmt where there
// is none; nil where that is nil.
func (r *readStatements) find(query string, stmt *sql.Stmt) *readStatement {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.byQuery[query]
	switch {
	case at != nil:
		r.order.MoveToFront(at)
	case stmt == nil:
		return nil
	default:
		if r.byQuery == nil {
			r.byQuery = map[string]*list.Element{}
		}
		at = r.order.PushFront(&readStatement{query: query, stmt: stmt})
		r.byQuery[query] = at
		if r.order.Len() > keptReads {
			r.drop(r.order.Back())
		}
	}
	one := at.Value.(*readStatement)
	one.users++
	return one
}

func (r *readStatements) drop(at *list.Element) {
	one := r.order.Remove(at).(*readStatement)
	delete(r.byQuery, one.query)
	if one.dropped = true; one.users == 0 {
		_ = one.stmt.Close()
	}
}

// giveBack ends the use of a statement. Rows that are still read keep it open by
// themselves.
func (r *readStatements) giveBack(one *readStatement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.users--; one.users == 0 && one.dropped {
		_ = one.stmt.Close()
	}
}

func (r *readStatements) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for at := r.order.Front(); at != nil; at = at.Next() {
		errs = append(errs, at.Value.(*readStatement).stmt.Close())
	}
	return errors.Join(errs...)
}

// scanner is a row of either side.
type scanner interface{ Scan(dest ...any) error }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// rowSet are rows of either side.
type rowSet interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// collect reads all rows with scan.
func collect[T any](rows rowSet, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, storageError(err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, storageError(err)
		}
		all = append(all, one)
	}
	return all, storageError(rows.Err())
}

// scanIDs reads a query's page of ids.
func (s *Store) scanIDs(ctx context.Context, query string, args []any, page app.Page) ([]int64, error) {
	return readAll(ctx, s, scanOne[int64], query+` LIMIT ? OFFSET ?`, append(args, page.Size, page.Offset())...)
}

// exists gives otherwise where query finds no row.
func (s *Store) exists(ctx context.Context, query string, id, accountID int64, otherwise error) error {
	var one int
	err := s.queryRow(ctx, query, id, accountID).Scan(&one)
	if noRows(err) {
		return otherwise
	}
	return storageError(err)
}

// conditions gathers the WHERE clause of a filtered listing.
type conditions struct {
	where strings.Builder
	args  []any
}

func (c *conditions) add(clause string, args ...any) {
	if c.where.Len() > 0 {
		c.where.WriteString(" AND ")
	}
	c.where.WriteString(clause)
	c.args = append(c.args, args...)
}

func (c *conditions) join(other *conditions) {
	if other.where.Len() > 0 {
		c.add(other.where.String(), other.args...)
	}
}

// scanOne scans a row of one column.
func scanOne[T any](row scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// readOne reads the one column of the one row of a query.
func readOne[T any](ctx context.Context, s *Store, query string, args ...any) (T, error) {
	value, err := scanOne[T](s.queryRow(ctx, query, args...))
	return value, storageError(err)
}

// readAll reads all rows of a query.
func readAll[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := s.query(ctx, query, args...)
	return collect(rows, err, scan)
}

// Constants of Go as SQL texts. Each is formatted once: a text that changed from
// call to call would be prepared anew each time.
var (
	maxID      = strconv.FormatInt(math.MaxInt64, 10)
	hourMillis = strconv.FormatInt(time.Hour.Milliseconds(), 10)
)

// joinIDs writes ids as a JSON array, for json_each.
func joinIDs(ids []int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	b.WriteByte(']')
	return b.String()
}

// Times in the file: seconds or milliseconds, NULL for the zero time.

func unixOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

func unixMilliOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// intInto scans an integer of the file into what a function makes of it. NULL
// leaves the variable as it is.
type intInto func(n int64)

func (into intInto) Scan(value any) error {
	switch n := value.(type) {
	case nil:
	case int64:
		into(n)
	default:
		return fmt.Errorf("%T is not an integer", value)
	}
	return nil
}

func secondsInto(t *time.Time) intInto { return func(n int64) { *t = time.Unix(n, 0) } }
func millisInto(t *time.Time) intInto  { return func(n int64) { *t = time.UnixMilli(n) } }

func durationInto(d *time.Duration) intInto {
	return func(n int64) { *d = time.Duration(n) * time.Millisecond }
}

// nullIfZero is an optional reference: NULL for 0.
func nullIfZero(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
