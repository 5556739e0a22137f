package sqlitestore

import (
	"context"
	"fmt"
	"math"
	"time"

	"baoco/app"
)

// pagePlan is how a listing reaches a page far down without reading what comes
// before it, and counts what it doesn't read: the rows lie in segments, and
// how many of them a segment holds is kept.
type pagePlan struct {
	segments []segment // in the order of the listing
	partial  bool      // segments that a page doesn't need were left out
}

// segment is a range of ids or of times.
type segment struct {
	rows        *rowQuery
	first, last int64 // bounds of the query, both included
	count       int64 // of its rows
	known       bool  // count is that of the filter; else it must be counted
}

// rowQuery reads the ids of the rows in a segment: its bounds come before args.
type rowQuery struct {
	sql     string
	order   string // of the listing: what counts the rows leaves it out
	args    []any
	byBlock bool       // the number of the segment's block comes after the bounds
	cost    int64      // of looking at what lies between the bounds, for each id
	found   int64      // and more for each that is of the filter
	each    *candidate // nil: what is found is of the filter
}

// candidate is a rowQuery that also gives what isn't of the filter, and whether
// it is: so many can be looked at, and no more. An id may come twice.
type candidate struct {
	sql  string
	args []any // of the conditions, before the bounds
	cost int64
}

func (g segment) args() []any {
	args := []any{g.first, g.last}
	if g.rows.byBlock {
		args = append(args, blockOf(g.first))
	}
	return append(args, g.rows.args...)
}

// total counts the rows of all segments.
func (l *pagePlan) total(ctx context.Context, s *Store) (n int64, err error) {
	for i := range l.segments {
		if err := l.count(ctx, s, i); err != nil {
			return 0, err
		}
		n += l.segments[i].count
	}
	return n, nil
}

// list gives the ids of a page, and how many there are on all pages.
func (l *pagePlan) list(ctx context.Context, s *Store, p app.Page) ([]int64, int64, error) {
	total, err := l.total(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	ids, err := l.page(ctx, s, p)
	return ids, total, err
}

// page gives the ids of a page.
func (l *pagePlan) page(ctx context.Context, s *Store, p app.Page) ([]int64, error) {
	offset, size := p.Offset(), p.Size
	ids := make([]int64, 0, size)
	for i := range l.segments {
		if len(ids) == size {
			break
		}
		if offset > 0 {
			if err := l.count(ctx, s, i); err != nil {
				return nil, err
			}
			if n := l.segments[i].count; n <= offset {
				offset -= n
				continue
			}
		}
		var err error
		if ids, err = s.readSegment(ctx, l.segments[i], ids, offset, size); err != nil {
			return nil, err
		}
		offset = 0
	}
	return ids, nil
}

func (l *pagePlan) count(ctx context.Context, s *Store, i int) error {
	g := &l.segments[i]
	if g.known {
		return nil
	}
	err := s.queryRow(ctx, `SELECT count(*) FROM (`+g.rows.sql+`)`, g.args()...).Scan(&g.count)
	g.known = err == nil
	return storageError(err)
}

// readSegment appends ids of a segment after offset others, until there are
// size.
func (s *Store) readSegment(ctx context.Context, g segment, ids []int64, offset int64, size int) ([]int64, error) {
	rows, err := s.query(ctx, g.rows.sql+g.rows.order, g.args()...)
	if err != nil {
		return nil, storageError(err)
	}
	defer rows.Close()
	for len(ids) < size && rows.Next() {
		if offset--; offset >= 0 {
			continue
		}
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, storageError(err)
		}
		ids = append(ids, id)
	}
	return ids, storageError(rows.Err())
}

// reach is how much a listing that is counted to n rows looks at to find them,
// n times over, in units of about a quarter of a microsecond: four milliseconds
// for 2,000 rows. What a rowQuery costs for an id and a candidate for itself
// depends on what is looked at.
const (
	reach        = 8
	readStep     = 2000 // between two looks at what is left
	segmentCost  = 60   // its query
	rowCost      = 3    // a row among its neighbours
	stateCost    = 6    // and whether it has deliveries
	deliveryCost = 8    // and how they went
	entryCost    = 8    // an entry of an index, and deliveries
	lookUpCost   = 20   // and the row somewhere in the file
)

// readTo reads the ids of the first pages, until there are more than most, and
// tells how far it came: to the end (0), or to an id, after which it had looked
// at enough. The segments are in descending order.
func (l *pagePlan) readTo(ctx context.Context, s *Store, most int64) (ids []int64, searchedTo int64, err error) {
	left, back := most*reach, int64(0)
	for _, g := range l.segments {
		for g.first <= g.last {
			if left <= 0 {
				return ids, back, nil
			}
			part := g
			if g.rows.cost > 0 { // it is read row by row
				part.first = max(g.first, g.last-readStep/g.rows.cost)
			}
			left -= segmentCost + g.rows.cost*(part.last-part.first+1)
			before := len(ids)
			if g.rows.each == nil {
				ids, err = s.readSegment(ctx, part, ids, 0, int(most)+1)
			} else {
				ids, left, searchedTo, err = s.lookAt(ctx, part, ids, left, int(most)+1)
			}
			if err != nil || searchedTo != 0 || int64(len(ids)) > most {
				return ids, searchedTo, err
			}
			left -= g.rows.found * int64(len(ids)-before)
			back, g.last = part.first, part.first-1
		}
	}
	return ids, 0, nil
}

// lookAt appends ids of a segment until there are size, or until left is spent
// on candidates. It gives the rest of left, and the last id that it looked at
// where there are others behind it.
func (s *Store) lookAt(ctx context.Context, g segment, ids []int64, left int64, size int) ([]int64, int64, int64, error) {
	rows, err := s.query(ctx, g.rows.each.sql, append(g.rows.each.args[:len(g.rows.each.args):len(g.rows.each.args)], g.args()...)...)
	if err != nil {
		return ids, left, 0, storageError(err)
	}
	defer rows.Close()
	var last int64
	for len(ids) < size && rows.Next() {
		var id int64
		var fits bool
		if err := rows.Scan(&id, &fits); err != nil {
			return ids, left, 0, storageError(err)
		}
		if left <= 0 && last != 0 && id != last {
			return ids, left, last, nil
		}
		left -= g.rows.each.cost
		if fits && (len(ids) == 0 || ids[len(ids)-1] != id) {
			ids = append(ids, id)
		}
		last = id
	}
	return ids, left, 0, storageError(rows.Err())
}

// blockSize is how many ids a block has: block n holds those from n*blockSize
// on. The file is written in blocks of this size, so that another size needs a
// migration that makes what is kept by blocks anew.
const blockSize = 1 << 12

func blockOf(id int64) int64 { return id / blockSize }

// firstID and lastID are the least and the greatest id of a block.
func firstID(block int64) int64 { return block * blockSize }
func lastID(block int64) int64  { return firstID(block+1) - 1 }

// The same in SQL, for expressions of an id and of a block.

func sqlBlockOf(id string) string    { return fmt.Sprintf("%s / %d", id, blockSize) }
func sqlFirstID(block string) string { return fmt.Sprintf("%s * %d", block, blockSize) }
func sqlInBlock(id, block string) string {
	return fmt.Sprintf("%[1]s BETWEEN %[2]s * %[3]d AND %[2]s * %[3]d + %[4]d", id, block, blockSize, blockSize-1)
}

// blockTable is a table whose rows are counted by blocks of ids.
type blockTable struct{ name, blocks, at string }

var (
	transactionTable = blockTable{"transactions", "transaction_blocks", "occurred_at"}
	attemptTable     = blockTable{"attempts", "attempt_blocks", "started_ms"}
)

// blockFilter hasConditions a listing by what blocks are counted by.
type blockFilter struct {
	accountID int64
	kinds     *conditions // on columns that rows and blocks have in common
	rows      *conditions // on rows alone; nil: none
	rowCost   int64       // of looking at a row, where there are such conditions
	foundCost int64       // and more where it meets them
	blocks    *conditions // on blocks alone; nil: none
	from, to  int64       // of the table's time: from from on, before to
	since     int64       // ids above it
	until     int64       // ids up to it; 0: all
	ascending bool
}

// Bounds of a blockFilter that leave it open.
const (
	openFrom = math.MinInt64
	openTo   = math.MaxInt64
)

// where is the condition on blocks that may hold rows of the filter.
func (f blockFilter) where() *conditions {
	var c conditions
	c.add("account_id = ?", f.accountID)
	c.join(f.kinds)
	if f.from != openFrom {
		c.add("last_at >= ?", f.from)
	}
	if f.to != openTo {
		c.add("first_at < ?", f.to)
	}
	if f.since != 0 {
		c.add("block >= ?", blockOf(f.since))
	}
	if f.until != 0 {
		c.add("block <= ?", blockOf(f.until))
	}
	return &c
}

// blockRange gives the ids that the rows of a filter can have: those of its
// first block to those of its last.
func (s *Store) blockRange(ctx context.Context, t blockTable, f blockFilter) (first, last int64, err error) {
	where := f.where()
	err = s.queryRow(ctx, `SELECT coalesce(min(block), 0), coalesce(max(block), -1) FROM `+t.blocks+` t WHERE `+where.where.String(), where.args...).Scan(&first, &last)
	return firstID(first), lastID(last), storageError(err)
}

// planByBlocks leaps over blocks. Unless all of them are needed it reads no more
// of them than hold enough rows.
func (s *Store) planByBlocks(ctx context.Context, t blockTable, f blockFilter, all bool, enough int64) (*pagePlan, error) {
	order := " DESC"
	if f.ascending {
		order = ""
	}
	where := f.where()
	var rowsOnly conditions
	rowsOnly.add("account_id = ?", f.accountID)
	rowsOnly.join(f.kinds)
	if f.from != openFrom {
		rowsOnly.add(t.at+" >= ?", f.from)
	}
	if f.to != openTo {
		rowsOnly.add(t.at+" < ?", f.to)
	}
	if f.since != 0 {
		rowsOnly.add("id > ?", f.since)
	}
	if f.until != 0 {
		rowsOnly.add("id <= ?", f.until)
	}
	read := &rowQuery{}
	if f.rows != nil {
		rowsOnly.join(f.rows)
		read.cost, read.found = f.rowCost, f.foundCost
	}
	read.args = rowsOnly.args
	read.sql = `SELECT id FROM ` + t.name + ` t NOT INDEXED WHERE id BETWEEN ? AND ? AND ` + rowsOnly.where.String()
	read.order = ` ORDER BY id` + order
	group := ` GROUP BY block`
	if f.blocks != nil {
		group += ` HAVING ` + f.blocks.where.String()
		where.args = append(where.args, f.blocks.args...)
	}
	rows, err := s.query(ctx, `SELECT block, sum(count), min(first_at), max(last_at) FROM `+t.blocks+
		` t WHERE `+where.where.String()+group+` ORDER BY block`+order, where.args...)
	if err != nil {
		return nil, storageError(err)
	}
	defer rows.Close()
	l := &pagePlan{}
	var held int64
	for (all || held < enough) && rows.Next() {
		var block, count, first, last int64
		if err := rows.Scan(&block, &count, &first, &last); err != nil {
			return nil, storageError(err)
		}
		inside := first >= f.from && last < f.to && (f.since == 0 || block > blockOf(f.since)) && (f.until == 0 || block < blockOf(f.until)) && f.rows == nil
		if inside {
			held += count
		}
		g := segment{read, max(firstID(block), f.since+1), lastID(block), count, inside}
		if f.until != 0 {
			g.last = min(g.last, f.until)
		}
		if g.first <= g.last {
			l.segments = append(l.segments, g)
		}
	}
	l.partial = !all && held >= enough
	return l, storageError(rows.Err())
}

// planByDays leaps over the local days of transactions.
func (s *Store) planByDays(ctx context.Context, accountID int64, f app.TransactionFilter, zone *time.Location) (*pagePlan, error) {
	var where, rowsOnly conditions
	days := "account_days"
	rowsOnly.add("account_id = ?", accountID)
	if f.BankAccountID != 0 {
		days = "bank_account_days"
		where.add("bank_account_id = ?", f.BankAccountID)
		rowsOnly.add("bank_account_id = ?", f.BankAccountID)
	} else {
		where.add("account_id = ?", accountID)
	}
	if f.Type != "" {
		where.add("type = ?", string(f.Type))
		rowsOnly.add("type = ?", string(f.Type))
	}
	if f.UntilID != 0 {
		rowsOnly.add("id <= ?", f.UntilID)
	}
	from, to := int64(openFrom), int64(openTo)
	if !f.From.IsZero() {
		from = f.From.Unix()
		where.add("day >= ?", int64(app.DayOf(f.From, zone)))
	}
	if !f.To.IsZero() {
		to = f.To.Unix()
		where.add("day <= ?", int64(app.DayOf(f.To, zone)))
	}
	order := " DESC"
	if f.Sort == app.SortDate {
		order = ""
	}
	read := &rowQuery{args: rowsOnly.args, order: ` ORDER BY occurred_at` + order + `, id` + order,
		sql: `SELECT id FROM transactions INDEXED BY transactions_time WHERE occurred_at BETWEEN ? AND ? AND ` + rowsOnly.where.String()}
	rows, err := s.query(ctx, `SELECT day, sum(count) FROM `+days+` WHERE `+where.where.String()+` GROUP BY day ORDER BY day`+order, where.args...)
	segments, err := collect(rows, err, func(row scanner) (g segment, err error) {
		var day app.Day
		err = row.Scan(&day, &g.count)
		begin, end := day.Start(zone).Unix(), (day + 1).Start(zone).Unix()
		g.known = from <= begin && end <= to && f.UntilID == 0
		g.first, g.last = max(begin, from), min(end, to)-1
		g.rows = read
		return g, err
	})
	return &pagePlan{segments: segments}, err
}
