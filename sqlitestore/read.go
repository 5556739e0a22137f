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

// translated is storageError. It reports a damaged file to the process, which then ends: it
// must not acknowledge transactions that the file can't hold.
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

// keptReads is how many queries stay prepared, each on up to mostReads connections.
// Listings have thousands of different queries, one for each combination of filters; few
// of them are used often.
const keptReads = 128

// readStatements are the prepared statements that were used last. The zero value
// is empty.
type readStatements struct {
	mu      sync.Mutex
	byQuery map[string]*list.Element // of *readStatement
	order   list.List                // the most recently used first
}

// readStatement is a prepared statement. If it was dropped to make room for another, it
// is closed when its last user gives it back.
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
	if one.stmt != stmt { // another caller has prepared it meanwhile
		_ = stmt.Close()
	}
	return one, nil
}

// find returns the kept statement of a query. If none is kept, it keeps stmt and returns
// it, which may be nil.
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

// close closes all kept statements, without the lock. To close a statement waits for its
// users, who may wait for a connection; and the user of that connection needs the lock to
// give a statement back.
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

// each calls fn with one row after another, until it returns enough or an error.
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

// noRowsAs returns the error none if a look-up found no row, and else err.
func noRowsAs(err, none error) error {
	if noRows(err) {
		return none
	}
	return err
}

// exists returns otherwise if a query finds no row.
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

// between bounds a column to values of at least from and below to; nil: no bound.
func (c *conditions) between(column string, from, to any) {
	c.addIf(from != nil, column+" >= ?", from)
	c.addIf(to != nil, column+" < ?", to)
}

// within narrows the rows of a table or alias with a bank account and a receiving number to
// those that ctx shows.
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

// Queries of bank accounts, transactions or sums have the limit of the context as a
// parameter, which says what bank accounts the user may see: limitOf is the argument and
// isShown the condition.

// limitOf returns the limit of ctx in JSON: the bank accounts, and the receiving number, if
// it has one; nil: no limit.
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

// isShown is true if the limit shows a row of a table or alias, which has a bank account and a
// receiving number. param is the name of the parameter that limitOf is bound to.
func isShown(table, param string) string {
	return bankShown(table+".bank_account_id", param) + " AND (" + param + " ->> 'number' IS NULL OR " +
		table + ".receiving_number = " + param + " ->> 'number')"
}

// bankShown is true if the limit shows something of the bank account in a column.
func bankShown(column, param string) string {
	return "(" + param + " IS NULL OR " + column + " IN (SELECT value FROM json_each(" + param + ", '$.banks')))"
}

// leaveNumber removes all receiving numbers of a bank account but the one that ctx is limited to.
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

// Constants of Go as SQL texts, formatted once.
var (
	maxID      = strconv.FormatInt(math.MaxInt64, 10)
	hourMillis = strconv.FormatInt(time.Hour.Milliseconds(), 10)
)

// newestTransaction is the query of the id of the newest transaction of all accounts; 0: none.
const newestTransaction = `SELECT coalesce(max(id), 0) FROM transactions`

// jsonArray formats ids or texts as a JSON array, for json_each.
func jsonArray[T int64 | string](list []T) string {
	if list == nil {
		return "[]"
	}
	array, err := json.Marshal(list)
	if err != nil {
		panic(err) // ids and texts always have a JSON form
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

// intInto scans an integer of the file and passes it to a function. For NULL the function
// isn't called.
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

// lines joins texts without line breaks for the file, one per line.
func lines(texts []string) string { return strings.Join(texts, "\n") }

// linesInto scans texts that lines has joined; nil for an empty value.
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

// replace sets a field to a new value; nil: it stays.
func replace[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// nullIfZero returns an id as an optional reference: NULL for 0.
func nullIfZero(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}
