package sqlitestore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"baoco/app"
	"baoco/app/delivery"
)

// attemptSearch is a search in the history: the attempts whose transaction or test
// payload contains a term, newest first.
//
// A frequent term is found by reading attempts until there are enough, and so is
// any term among few failed attempts. For a rarer one the transactions that contain
// it are read, newest first, until they have enough attempts; the index of search
// texts finds them unless the term is too short. Attempts are nearly in the order
// of their transactions; the blocks of attempts tell where they are not.
type attemptSearch struct {
	accountID int64
	term      searchTerm
	where     *conditions // on a row a of attempts, the term left out
	blocks    blockFilter
	failed    bool  // only failed attempts are looked for
	first     int64 // least id of a transaction of such attempts
	last      int64 // greatest id of one
	page      app.Page
}

// pageEnd is the number of attempts up to the end of the page.
func (q *attemptSearch) pageEnd() int { return clampInt(q.page.Offset() + int64(q.page.Size)) }

// clampInt is n as an int, or the greatest int on a 32-bit machine.
func clampInt(n int64) int { return int(min(n, math.MaxInt)) }

// enough is how many attempts must be found: all of them where all are counted.
func (q *attemptSearch) enough() int {
	if q.page.CountTo == 0 {
		return math.MaxInt
	}
	return max(q.pageEnd(), int(q.page.CountTo)+1)
}

// searchAttempts lists by a filter with a text.
func (s *Store) searchAttempts(ctx context.Context, accountID int64, f delivery.HistoryFilter) (ids []int64, total int64, err error) {
	q, err := s.attemptSearch(ctx, accountID, f)
	if err != nil {
		return nil, 0, err
	}
	read, err := s.frequentText(ctx, q.term.text, q.first, q.last)
	if err == nil && !read && q.failed {
		read, err = s.fewFailed(ctx, q)
	}
	if err != nil {
		return nil, 0, err
	}
	switch {
	case read && f.Page.CountTo == 0:
		if total, err = s.countRead(ctx, q); err == nil {
			ids, err = s.readAttempts(ctx, q, q.pageEnd())
		}
	case read:
		ids, err = s.readAttempts(ctx, q, q.enough())
		total = counted(int64(len(ids)), f.Page)
	default:
		ids, err = s.walkAttempts(ctx, q)
		total = counted(int64(len(ids)), f.Page)
	}
	return ids[min(len(ids), clampInt(f.Page.Offset())):min(len(ids), q.pageEnd())], total, err
}

func (s *Store) attemptSearch(ctx context.Context, accountID int64, f delivery.HistoryFilter) (q *attemptSearch, err error) {
	q = &attemptSearch{accountID: accountID, where: attemptConditions(accountID, f), blocks: attemptBlocks(accountID, f), last: math.MaxInt64, page: f.Page, failed: f.OK != nil && !*f.OK}
	if q.term, err = s.searchTerm(ctx, f.Query); err != nil || !q.blocks.hasConditions() {
		return q, err
	}
	where := q.blocks.where()
	err = s.queryRow(ctx, `SELECT coalesce(min(first_transaction), 1), coalesce(max(last_transaction), 0) FROM attempt_blocks WHERE `+where.where.String(), where.args...).
		Scan(&q.first, &q.last)
	return q, storageError(err)
}

// fewFailed reports whether a search has fewer than 1,000 failed attempts to look
// at.
func (s *Store) fewFailed(ctx context.Context, q *attemptSearch) (bool, error) {
	where := q.blocks.where()
	return readOne[bool](ctx, s, `SELECT coalesce(sum(count), 0) < 1000 FROM attempt_blocks WHERE `+where.where.String(), where.args...)
}

// from is FROM for reading attempts one after another.
func (q *attemptSearch) from() string {
	if q.failed {
		return ` FROM attempts a INDEXED BY attempts_failed` + withText
	}
	return ` FROM attempts a NOT INDEXED` + withText
}

// sampleText is the text of the test payload of a row d of deliveries, in SQL.
const sampleText = `lower(json_extract(d.sample, '$.Content') || char(10) || json_extract(d.sample, '$.TransactionNumber'))`

// withText joins the rows that hold the text of an attempt a, and textHolds is the
// condition on it. A subquery for each row would take three times as long.
const (
	withText  = ` CROSS JOIN deliveries d ON d.id = a.delivery_id LEFT JOIN transactions t ON t.id = d.transaction_id`
	textHolds = `instr(coalesce(t.search, ` + sampleText + `), ?) > 0`
)

// readAttempts reads attempts, newest first, until enough hold the term.
func (s *Store) readAttempts(ctx context.Context, q *attemptSearch, enough int) (ids []int64, err error) {
	l := &pagePlan{}
	if q.failed { // they lie together
		var all segment
		all.first, all.last, err = s.blockRange(ctx, attemptTable, q.blocks)
		l.segments = []segment{all}
	} else {
		l, err = s.planByBlocks(ctx, attemptTable, q.blocks, true, 0)
	}
	if err != nil {
		return nil, err
	}
	read := &rowQuery{
		sql:  `SELECT a.id` + q.from() + ` WHERE a.id BETWEEN ? AND ? AND ` + q.where.where.String() + ` AND ` + textHolds + ` ORDER BY a.id DESC`,
		args: append(slices.Clone(q.where.args), q.term.text),
	}
	for _, g := range l.segments {
		if len(ids) == enough {
			break
		}
		if ids, err = s.readSegment(ctx, segment{rows: read, first: g.first, last: g.last}, ids, 0, enough); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// found returns the queries of the attempts a of the transactions m that contain the
// term: first of the transactions that are not indexed yet, then of the others.
func (q *attemptSearch) found(columns, order string) []segment {
	query := func(from, holds string, terms ...any) *rowQuery {
		return &rowQuery{
			sql: `SELECT ` + columns + ` FROM ` + from + ` CROSS JOIN deliveries d INDEXED BY deliveries_transaction ON d.transaction_id = m.rowid
				CROSS JOIN attempts a INDEXED BY attempts_delivery ON a.delivery_id = d.id
				WHERE m.rowid BETWEEN ? AND ? AND ` + holds + ` AND ` + q.where.where.String() + order,
			args: append(terms, q.where.args...),
		}
	}
	l := []segment{{rows: query(`transactions m NOT INDEXED`, `instr(m.search, ?) > 0`, q.term.text), first: max(q.first, q.term.to+1), last: q.last}}
	if q.term.phrase != "" {
		holds, terms := `m.transactions_search MATCH ?`, []any{q.term.phrase}
		if !q.term.whole {
			holds += ` AND (SELECT instr(search, ?) FROM transactions WHERE id = m.rowid) > 0`
			terms = append(terms, q.term.text)
		}
		l = append(l, segment{rows: query(`transactions_search m`, holds, terms...), first: q.first, last: min(q.last, q.term.to)})
	}
	return l
}

// foundAttempts are attempts in the order of their transactions.
type foundAttempts struct {
	ids    []int64
	oldest int64 // id of the oldest transaction that was read
}

// walkAttempts reads the transactions that contain the term, newest first, until
// they have enough attempts. It returns the attempts newest first.
func (s *Store) walkAttempts(ctx context.Context, q *attemptSearch) ([]int64, error) {
	ids, err := s.sampleAttempts(ctx, q)
	if err != nil {
		return nil, err
	}
	f := &foundAttempts{ids, math.MaxInt64}
	more := false
	for _, g := range q.found(`m.rowid, a.id`, ` ORDER BY m.rowid DESC`) {
		if more, err = s.walkSegment(ctx, g, q.enough(), f); more || err != nil {
			break
		}
	}
	if more && err == nil {
		err = s.addLate(ctx, q, f)
	}
	slices.SortFunc(f.ids, newestFirst)
	return f.ids, err
}

func newestFirst(a, b int64) int { return cmp.Compare(b, a) }

// walkSegment adds the attempts of whole transactions until there are enough. more
// is true if transactions were left unread.
func (s *Store) walkSegment(ctx context.Context, g segment, enough int, f *foundAttempts) (more bool, err error) {
	rows, err := s.query(ctx, g.rows.sql, g.args()...)
	err = each(rows, err, func(row scanner) (bool, error) {
		var transaction, id int64
		if err := row.Scan(&transaction, &id); err != nil {
			return false, err
		}
		if more = transaction != f.oldest && len(f.ids) >= enough; !more {
			f.ids, f.oldest = append(f.ids, id), transaction
		}
		return more, nil
	})
	return more, err
}

// addLate adds the attempts that belong on the page although their transaction is
// older than those that were read: it was retried late, or resent. Only blocks
// with attempts of such transactions are read.
func (s *Store) addLate(ctx context.Context, q *attemptSearch, f *foundAttempts) error {
	slices.SortFunc(f.ids, newestFirst)
	least := f.ids[q.pageEnd()-1] // older attempts aren't on the page
	where := q.blocks.where()
	where.add("block >= ? AND first_transaction < ?", blockOf(least), f.oldest)
	blocks, err := readAll(ctx, s, scanOne[int64], `SELECT DISTINCT block FROM attempt_blocks WHERE `+where.where.String(), where.args...)
	for _, block := range blocks {
		if err != nil {
			break
		}
		g := segment{first: max(least, firstID(block)), last: lastID(block), rows: &rowQuery{
			sql: `SELECT a.id FROM attempts a NOT INDEXED CROSS JOIN deliveries d ON d.id = a.delivery_id CROSS JOIN transactions t ON t.id = d.transaction_id
				WHERE a.id BETWEEN ? AND ? AND d.transaction_id < ? AND ` + q.where.where.String() + ` AND instr(t.search, ?) > 0`,
			args: append(append([]any{f.oldest}, q.where.args...), q.term.text),
		}}
		f.ids, err = s.readSegment(ctx, g, f.ids, 0, math.MaxInt)
	}
	return err
}

// sampleAttempts finds the attempts of test deliveries.
func (s *Store) sampleAttempts(ctx context.Context, q *attemptSearch) ([]int64, error) {
	return readAll(ctx, s, scanOne[int64], `SELECT a.id FROM deliveries d INDEXED BY deliveries_samples CROSS JOIN attempts a INDEXED BY attempts_delivery ON a.delivery_id = d.id
		WHERE d.account_id = ? AND d.sample IS NOT NULL AND instr(`+sampleText+`, ?) > 0 AND `+q.where.where.String(),
		append([]any{q.accountID, q.term.text}, q.where.args...)...)
}

// countRead counts the attempts that contain the term by reading all of them.
func (s *Store) countRead(ctx context.Context, q *attemptSearch) (total int64, err error) {
	first, last, err := s.blockRange(ctx, attemptTable, q.blocks)
	if err != nil {
		return 0, err
	}
	err = s.queryRow(ctx, `SELECT count(*)`+q.from()+` WHERE a.id BETWEEN ? AND ? AND `+q.where.where.String()+` AND `+textHolds,
		append(append([]any{first, last}, q.where.args...), q.term.text)...).Scan(&total)
	return total, storageError(err)
}
