package sqlitestore

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/fold"
)

// indexStep is how many transactions one commit adds to the index of search
// texts: a few milliseconds of the writer's time.
const indexStep = "250"

// IndexSearch adds one step of what was recorded since the last one to the
// index of search texts, and gives how many transactions are left.
//
// Recording itself leaves the index alone: written with each small commit it
// would cost more than the rest of a transaction. A search reads what is not
// indexed yet.
func (s *Store) IndexSearch(ctx context.Context) (left int64, err error) {
	return writing(ctx, s, func(tx *tx) (left int64, err error) {
		var from, to int64
		err = tx.queryRow(`SELECT CAST(value AS INTEGER), coalesce((SELECT max(id) FROM
				(SELECT id FROM transactions WHERE id > CAST(value AS INTEGER) ORDER BY id LIMIT `+indexStep+`)), 0)
			FROM settings WHERE name = 'searched_to'`).Scan(&from, &to)
		if err != nil || to == 0 {
			return 0, err
		}
		if err := tx.exec(`INSERT INTO transactions_search (rowid, search) SELECT id, search FROM transactions WHERE id > ? AND id <= ?`, from, to); err != nil {
			return 0, err
		}
		if err := tx.exec(`UPDATE settings SET value = ? WHERE name = 'searched_to'`, to); err != nil {
			return 0, err
		}
		return left, tx.queryRow(`SELECT max(id) - ? FROM transactions`, to).Scan(&left)
	})
}

// Unindexed is about how many transactions a search has to read.
func (s *Store) Unindexed(ctx context.Context) (n int64, err error) {
	err = s.queryRow(ctx, `SELECT coalesce((SELECT max(id) FROM transactions), 0) - CAST(value AS INTEGER) FROM settings WHERE name = 'searched_to'`).Scan(&n)
	return n, storageError(err)
}

// searchTerm is a query that the index can answer: the index knows every three
// characters.
type searchTerm struct {
	text   string // folded
	phrase string // for MATCH; empty: too short for the index
	to     int64  // ids up to it are indexed
}

func (s *Store) searchTerm(ctx context.Context, query string) (searchTerm, error) {
	q := searchTerm{text: fold.String(query)}
	if utf8.RuneCountInString(q.text) < 3 || strings.ContainsRune(q.text, 0) {
		return q, nil
	}
	q.phrase = `"` + strings.ReplaceAll(q.text, `"`, `""`) + `"`
	err := s.queryRow(ctx, `SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'searched_to'`).Scan(&q.to)
	return q, storageError(err)
}

// matching is a query of the ids of transactions that hold the term.
func (q searchTerm) matching() (string, []any) {
	if q.phrase == "" {
		return `SELECT id FROM transactions WHERE instr(search, ?) > 0`, []any{q.text}
	}
	return `SELECT rowid FROM transactions_search WHERE transactions_search MATCH ? AND rowid <= ?
		UNION ALL SELECT id FROM transactions WHERE id > ? AND instr(search, ?) > 0`, []any{q.phrase, q.to, q.to, q.text}
}

// bySearch leaps over nothing, but reads only what matches: the ids that are
// indexed, and those after them.
func (s *Store) bySearch(ctx context.Context, q searchTerm, c *conditions, f app.TransactionFilter) (*leap, error) {
	order, ascending := " DESC", f.Sort == app.SortID
	if ascending {
		order = ""
	}
	unindexed := &rowQuery{
		sql:  `SELECT t.id FROM transactions t NOT INDEXED WHERE t.id BETWEEN ? AND ? AND ` + c.where.String() + ` AND instr(t.search, ?) > 0 ORDER BY t.id` + order,
		args: append(c.args[:len(c.args):len(c.args)], q.text),
	}
	var accounts int
	if err := s.queryRow(ctx, `SELECT count(*) FROM accounts`).Scan(&accounts); err != nil {
		return nil, storageError(err)
	}
	indexed := &rowQuery{
		sql: `SELECT s.rowid FROM transactions_search s CROSS JOIN transactions t ON t.id = s.rowid
			WHERE s.rowid BETWEEN ? AND ? AND s.transactions_search MATCH ? AND ` + c.where.String() + ` ORDER BY s.rowid` + order,
		args: append([]any{q.phrase}, c.args...),
	}
	if accounts == 1 && len(c.args) == 1 { // no other condition than the account
		indexed = &rowQuery{
			sql:  `SELECT rowid FROM transactions_search WHERE rowid BETWEEN ? AND ? AND transactions_search MATCH ? ORDER BY rowid` + order,
			args: []any{q.phrase},
		}
	}
	until := f.UntilID
	if until == 0 {
		until = math.MaxInt64
	}
	l := &leap{[]segment{{rows: unindexed, first: q.to + 1, last: until}, {rows: indexed, first: 0, last: min(q.to, until)}}}
	if ascending {
		l.segments[0], l.segments[1] = l.segments[1], l.segments[0]
	}
	return l, nil
}

// scanIDs reads a query's page of ids.
func (s *Store) scanIDs(ctx context.Context, query string, args []any, page app.Page) ([]int64, error) {
	rows, err := s.query(ctx, query+` LIMIT ? OFFSET ?`, append(args, page.Size, page.Offset())...)
	return collect(rows, err, func(row scanner) (id int64, err error) { return id, row.Scan(&id) })
}
