package sqlitestore

import (
	"container/list"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/access"
)

// query runs a prepared query on the connections for reading.
func (s *Store) query(ctx context.Context, query string, args ...any) (readRows, error) {
	one, err := s.statements.take(ctx, s.reads, query)
	if err != nil {
		return readRows{}, s.translated(err)
	}
	defer s.statements.giveBack(one)
	rows, err := one.stmt.QueryContext(ctx, args...)
	return readRows{rows, s}, s.translated(err)
}

// queryRow runs a prepared query of one row.
func (s *Store) queryRow(ctx context.Context, query string, args ...any) scanner {
	one, err := s.statements.take(ctx, s.reads, query)
	if err != nil {
		return failedRow{s.translated(err)}
	}
	defer s.statements.giveBack(one)
	return readRow{one.stmt.QueryRowContext(ctx, args...), s}
}

// translated is storageError, and reports a damaged file to the process, which ends: it must
// not acknowledge what the file can't hold.
func (s *Store) translated(err error) error {
	known := storageError(err)
	if errors.Is(known, ErrDamaged) && !isSearchDamage(err) {
		s.noteFatal(known)
	}
	return known
}

// readRows and readRow are rows whose errors are translated.
type readRows struct {
	*sql.Rows
	s *Store
}

func (r readRows) Err() error { return r.s.translated(r.Rows.Err()) }

type readRow struct {
	*sql.Row
	s *Store
}

func (r readRow) Scan(dest ...any) error { return r.s.translated(r.Row.Scan(dest...)) }

// keptReads is how many queries stay prepared, on up to four connections each.
// Listings have thousands of texts, one for every combination of filters; few of
// them are used often.
const keptReads = 128

// readStatements are the prepared statements that were used last. The zero value
// is empty.
type readStatements struct {
	mu      sync.Mutex
	byQuery map[string]*list.Element // of *readStatement
	order   list.List                // the most recently used first
}

// readStatement is a prepared statement. After it was dropped to make room for
// another it is closed once nobody uses it.
type readStatement struct {
	query   string
	stmt    *sql.Stmt
	users   int
	dropped bool
}

// take returns the prepared statement of a query. The caller gives it back.
func (r *readStatements) take(ctx context.Context, db *sql.DB, query string) (*readStatement, error) {
	if one := r.find(query, nil); one != nil {
		return one, nil
	}
	stmt, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	one := r.find(query, stmt)
	if one.stmt != stmt { // another was quicker
		_ = stmt.Close()
	}
	return one, nil
}

// find returns the statement that is kept for a query. Where there is none it
// keeps stmt; if that is nil too it returns nil.
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

// giveBack ends the use of a statement. Rows that are still being read keep it
// open.
func (r *readStatements) giveBack(one *readStatement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.users--; one.users == 0 && one.dropped {
		_ = one.stmt.Close()
	}
}

// close closes what is kept. It does so without the lock: closing a statement waits for
// those who wait with it for a connection, and whoever has the connection gives back
// another statement first, which takes the lock.
func (r *readStatements) close() error {
	r.mu.Lock()
	var all []*sql.Stmt
	for at := r.order.Front(); at != nil; at = at.Next() {
		all = append(all, at.Value.(*readStatement).stmt)
	}
	r.mu.Unlock()
	var errs []error
	for _, stmt := range all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// scanner is a row of a reading connection or of the writer's.
type scanner interface{ Scan(dest ...any) error }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// rowSet are rows of a reading connection or of the writer's.
type rowSet interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// each calls fn with one row after another, until fn has enough.
func each(rows rowSet, err error, fn func(row scanner) (enough bool, err error)) error {
	if err != nil {
		return storageError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if enough, err := fn(rows); err != nil || enough {
			return storageError(err)
		}
	}
	return storageError(rows.Err())
}

// collect reads all rows with scan.
func collect[T any](rows rowSet, err error, scan func(scanner) (T, error)) (all []T, _ error) {
	err = each(rows, err, func(row scanner) (bool, error) {
		one, err := scan(row)
		all = append(all, one)
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// noRowsAs is the error of a look-up, or none where it found no row.
func noRowsAs(err, none error) error {
	if noRows(err) {
		return none
	}
	return err
}

// exists returns the error otherwise if query finds no row.
func (s *Store) exists(ctx context.Context, query string, id, accountID int64, otherwise error) error {
	_, err := readOne[int](ctx, s, query, id, accountID)
	return noRowsAs(err, otherwise)
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

func (c *conditions) addIf(wanted bool, clause string, args ...any) {
	if wanted {
		c.add(clause, args...)
	}
}

// between bounds a column: from a value on, and before another; nil: no bound.
func (c *conditions) between(column string, from, to any) {
	c.addIf(from != nil, column+" >= ?", from)
	c.addIf(to != nil, column+" < ?", to)
}

// within narrows rows of money, of a table or alias, to what ctx shows.
func (c *conditions) within(ctx context.Context, table string) {
	limit := access.LimitOf(ctx)
	c.addIf(limit.On, table+".bank_account_id IN (SELECT value FROM json_each(?))", jsonArray(limit.IDs))
	c.addIf(limit.ReceivingNumber != "", table+".receiving_number = ?", limit.ReceivingNumber)
}

func (c *conditions) join(other *conditions) {
	if other.where.Len() > 0 {
		c.add(other.where.String(), other.args...)
	}
}

// The limit of a context, which says what bank accounts somebody sees, is a parameter
// of the queries that read bank accounts, transactions or sums: limitOf is the
// argument and isShown the condition.

// limitOf is what ctx shows, in JSON: the bank accounts, and the only receiving number, if
// there is one; nil: all.
func limitOf(ctx context.Context) any {
	limit := access.LimitOf(ctx)
	switch {
	case !limit.On:
		return nil
	case limit.ReceivingNumber == "":
		return `{"banks":` + jsonArray(limit.IDs) + `}`
	}
	return `{"banks":` + jsonArray(limit.IDs) + `,"number":"` + limit.ReceivingNumber + `"}`
}

// isShown is true if a row of money, of a table or alias with a bank account and a receiving
// number, is shown. param is the name of the parameter that limitOf is bound to.
func isShown(table, param string) string {
	return bankShown(table+".bank_account_id", param) + " AND (" + param + " ->> 'number' IS NULL OR " +
		table + ".receiving_number = " + param + " ->> 'number')"
}

// bankShown is true if something is shown of the bank account in a column.
func bankShown(column, param string) string {
	return "(" + param + " IS NULL OR " + column + " IN (SELECT value FROM json_each(" + param + ", '$.banks')))"
}

// leaveNumber leaves of the receiving numbers of a bank account the one that ctx is limited to.
func leaveNumber(ctx context.Context, b *app.BankAccount) {
	only := access.LimitOf(ctx).ReceivingNumber
	if only == "" {
		return
	}
	numbers := b.Receiving()
	b.ReceivingNumbers = ""
	if i := slices.IndexFunc(numbers, func(n app.ReceivingNumber) bool { return n.Number == only }); i >= 0 {
		b.ReceivingNumbers = numbers[i].String()
	}
}

// shownBankAccount scans a bank account with what ctx shows of it.
func shownBankAccount(ctx context.Context) func(row scanner) (app.BankAccount, error) {
	return func(row scanner) (app.BankAccount, error) {
		b, err := scanBankAccount(row)
		leaveNumber(ctx, &b)
		return b, err
	}
}

func scanOne[T any](row scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// columnsOnly is a scan function for rows that have no other columns than those of scan.
func columnsOnly[T any](scan func(row scanner, others ...any) (T, error)) func(scanner) (T, error) {
	return func(row scanner) (T, error) { return scan(row) }
}

// readOne reads the one column of the one row of a query.
func readOne[T any](ctx context.Context, s *Store, query string, args ...any) (T, error) {
	return scanOne[T](s.queryRow(ctx, query, args...))
}

// readAll reads all rows of a query.
func readAll[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := s.query(ctx, query, args...)
	return collect(rows, err, scan)
}

func readMap[K comparable, V any](
	ctx context.Context, s *Store, scan func(scanner) (K, V, error), query string, args ...any,
) (map[K]V, error) {
	values := map[K]V{}
	rows, err := s.query(ctx, query, args...)
	return values, each(rows, err, func(row scanner) (bool, error) {
		key, value, err := scan(row)
		values[key] = value
		return false, err
	})
}

// Constants of Go as SQL texts. Each is formatted once: a text that changed from
// call to call would be prepared anew each time.
var (
	maxID      = strconv.FormatInt(math.MaxInt64, 10)
	hourMillis = strconv.FormatInt(time.Hour.Milliseconds(), 10)
)

// newestTransaction is the query of the id of the newest transaction of all accounts; 0: there is none.
const newestTransaction = `SELECT coalesce(max(id), 0) FROM transactions`

// jsonArray formats ids or texts as a JSON array, for json_each.
func jsonArray[T int64 | string](list []T) string {
	if list == nil {
		return "[]"
	}
	array, err := json.Marshal(list)
	if err != nil {
		panic(err) // they always have a form in JSON
	}
	return string(array)
}

// Times are seconds or milliseconds since 1970 in the file, and NULL for the
// zero time.

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

// lines are texts without line breaks as they stand in the file, each in a line.
func lines(texts []string) string { return strings.Join(texts, "\n") }

// linesInto scans what lines wrote; nil where it is empty.
type linesInto struct{ texts *[]string }

func (into linesInto) Scan(value any) error {
	text, is := value.(string)
	if !is {
		return fmt.Errorf("%T is not a text", value)
	}
	if *into.texts = nil; text != "" {
		*into.texts = strings.Split(text, "\n")
	}
	return nil
}

// replace gives a field its new value; nil: it keeps the one it has.
func replace[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// nullIfZero is an id as an optional reference: NULL for 0.
func nullIfZero(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}
