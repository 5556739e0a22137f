package sqlitestore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"baoco/app"
)

// attemptSearch is a search in the history: the attempts whose transaction or
// sample holds a term, newest first.
//
// A term that is frequent is found by reading attempts until there are enough,
// and so is any among the failed ones where there are few. One that is rarer is
// found by going through the transactions that hold it,
// newest first, also until there are enough: the index of search texts knows
// them, unless the term is too short for it. The order of attempts is nearly
// that of their transactions, and the blocks of attempts tell where it isn't.
type attemptSearch struct {
	accountID int64
	term      searchTerm
	where     *conditions // on a row a of attempts, but for the term
	blocks    blockFilter
	failed    bool  // they are only looked for among failed ones
	first     int64 // the ids that transactions of such attempts can have
	last      int64
	page      app.Page
}

// pageEnd is how many attempts there are to the end of the page.
func (q *attemptSearch) pageEnd() int { return clampInt(q.page.Offset() + int64(q.page.Size)) }

// clampInt is n as an int, which on a 32-bit machine holds less.
func clampInt(n int64) int { return int(min(n, math.MaxInt)) }

// enough is how many attempts have to be found: all of them where all are
// counted.
func (q *attemptSearch) enough() int {
	if q.page.CountTo == 0 {
		return math.MaxInt
	}
	return max(q.pageEnd(), int(q.page.CountTo)+1)
}

// searchAttempts serves the filters with a text.
func (s *Store) searchAttempts(ctx context.Context, accountID int64, f app.HistoryFilter) (ids []int64, total int64, err error) {
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

func (s *Store) attemptSearch(ctx context.Context, accountID int64, f app.HistoryFilter) (q *attemptSearch, err error) {
	q = &attemptSearch{accountID: accountID, where: attemptConditions(accountID, f), blocks: attemptBlocks(accountID, f), last: math.MaxInt64, page: f.Page, failed: f.OK != nil && !*f.OK}
	if q.term, err = s.searchTerm(ctx, f.Query); err != nil || !q.blocks.hasConditions() {
		return q, err
	}
	where := q.blocks.where()
	err = s.queryRow(ctx, `SELECT coalesce(min(first_transaction), 1), coalesce(max(last_transaction), 0) FROM attempt_blocks WHERE `+where.where.String(), where.args...).
		Scan(&q.first, &q.last)
	return q, storageError(err)
}

// fewFailed tells whether looking at all failed attempts of a search costs
// little.
func (s *Store) fewFailed(ctx context.Context, q *attemptSearch) (bool, error) {
	where := q.blocks.where()
	return s.few(ctx, `SELECT coalesce(sum(count), 0) < 1000 FROM attempt_blocks WHERE `+where.where.String(), where.args...)
}

// from is where attempts are read from, one after the other.
func (q *attemptSearch) from() string {
	if q.failed {
		return ` FROM attempts a INDEXED BY attempts_failed` + withText
	}
	return ` FROM attempts a NOT INDEXED` + withText
}

// sampleText is what a search in the sample of a row d of deliveries looks at.
const sampleText = `lower(json_extract(d.sample, '$.Content') || char(10) || json_extract(d.sample, '$.TransactionNumber'))`

// withText joins to rows a of attempts what their text is in, textHolds is the
// condition on it. They are a join, since a subquery for each row would take
// three times as long.
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

// found are queries of the attempts a, as ids, of the transactions m that hold
// the term, newest transaction first: of those that are not indexed yet, and of
// those that are.
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
	oldest int64 // of the transactions that were gone through
}

// walkAttempts goes through the transactions that hold the term, newest first,
// until there are enough attempts, and gives them newest first.
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

// walkSegment adds the attempts of whole transactions until there are enough;
// more tells that there are others.
func (s *Store) walkSegment(ctx context.Context, g segment, enough int, f *foundAttempts) (more bool, err error) {
	rows, err := s.query(ctx, g.rows.sql, g.args()...)
	if err != nil {
		return false, storageError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var transaction, id int64
		if err := rows.Scan(&transaction, &id); err != nil {
			return false, storageError(err)
		}
		if transaction != f.oldest && len(f.ids) >= enough {
			return true, nil
		}
		f.ids, f.oldest = append(f.ids, id), transaction
	}
	return false, storageError(rows.Err())
}

// addLate adds the attempts that belong on the page though their transaction
// is older than those that were gone through: it was tried again late, or
// resent. Only blocks with attempts of such transactions are read.
func (s *Store) addLate(ctx context.Context, q *attemptSearch, f *foundAttempts) error {
	slices.SortFunc(f.ids, newestFirst)
	least := f.ids[q.pageEnd()-1] // what is older isn't on the page
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

// sampleAttempts finds the attempts of samples.
func (s *Store) sampleAttempts(ctx context.Context, q *attemptSearch) ([]int64, error) {
	return readAll(ctx, s, scanOne[int64], `SELECT a.id FROM deliveries d INDEXED BY deliveries_samples CROSS JOIN attempts a INDEXED BY attempts_delivery ON a.delivery_id = d.id
		WHERE d.account_id = ? AND d.sample IS NOT NULL AND instr(`+sampleText+`, ?) > 0 AND `+q.where.where.String(),
		append([]any{q.accountID, q.term.text}, q.where.args...)...)
}

// countRead counts every attempt that holds the term by reading it.
func (s *Store) countRead(ctx context.Context, q *attemptSearch) (total int64, err error) {
	first, last, err := s.blockRange(ctx, attemptTable, q.blocks)
	if err != nil {
		return 0, err
	}
	err = s.queryRow(ctx, `SELECT count(*)`+q.from()+` WHERE a.id BETWEEN ? AND ? AND `+q.where.where.String()+` AND `+textHolds,
		append(append([]any{first, last}, q.where.args...), q.term.text)...).Scan(&total)
	return total, storageError(err)
}
