package sqlitestore

import (
	"context"
	"fmt"
	"math"
	"time"

	"baoco/app"
)

// pagePlan is a listing cut into segments: ranges of ids or of times, in the order
// of the listing. The number of rows in a segment is mostly known from kept
// counts, so that a page far down is reached, and the total counted, without
// reading the rows before it.
type pagePlan struct {
	segments []segment // in the order of the listing
	partial  bool      // segments that the page doesn't need were left out
}

// segment is a range of ids or of times.
type segment struct {
	rows        *rowQuery
	first, last int64 // bounds of the query, both included
	count       int64 // number of its rows
	known       bool  // count is right; else the rows must be counted
}

// rowQuery is a query of the ids in a segment. The bounds of the segment come
// before args.
type rowQuery struct {
	sql     string
	order   string // ORDER BY; left out where rows are counted
	args    []any
	byBlock bool       // the segment's block is a parameter after the bounds
	cost    int64      // of each id between the bounds; see workPerRow
	found   int64      // and of each id that the query returns
	each    *candidate // nil: every id that the index gives is in the listing
}

// candidate is a query of the ids that an index gives, and of whether each meets
// the rest of the filter. With it the number of rows that are looked at can be
// limited. An id may come twice in a row.
type candidate struct {
	sql  string
	args []any // before the bounds
	cost int64 // of each id
}

func (g segment) args() []any {
	args := []any{g.first, g.last}
	if g.rows.byBlock {
		args = append(args, blockOf(g.first))
	}
	return append(args, g.rows.args...)
}

// total is the number of rows in all segments.
func (l *pagePlan) total(ctx context.Context, s *Store) (n int64, err error) {
	for i := range l.segments {
		if err := l.count(ctx, s, i); err != nil {
			return 0, err
		}
		n += l.segments[i].count
	}
	return n, nil
}

// list returns the ids of a page and the number of rows on all pages.
func (l *pagePlan) list(ctx context.Context, s *Store, p app.Page) ([]int64, int64, error) {
	total, err := l.total(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	ids, err := l.page(ctx, s, p)
	return ids, total, err
}

// page returns the ids of a page.
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

// readSegment skips offset ids of a segment and appends the next ones to ids, until
// it holds size ids.
func (s *Store) readSegment(ctx context.Context, g segment, ids []int64, offset int64, size int) ([]int64, error) {
	rows, err := s.query(ctx, g.rows.sql+g.rows.order, g.args()...)
	err = each(rows, err, func(row scanner) (bool, error) {
		if offset--; offset >= 0 {
			return false, nil
		}
		id, err := scanOne[int64](row)
		ids = append(ids, id)
		return len(ids) >= size, err
	})
	return ids, err
}

// workPerRow limits the work of a listing that counts to n rows: to workPerRow*n
// units of about 0.25 µs, which are 4 ms for 2,000 rows. Below are the units of
// each kind of look.
const (
	workPerRow   = 8
	readStep     = 2000 // units after which the remaining work is looked at again
	segmentCost  = 60   // the query of a segment
	rowCost      = 3    // a row that is read with its neighbours
	stateCost    = 6    // such a row, and whether it has deliveries
	deliveryCost = 8    // the states of a row's deliveries
	entryCost    = 8    // an entry of an index, and the deliveries of its transaction
	lookUpCost   = 20   // an entry of an index, and its row somewhere in the file
)

// readTo reads ids from the beginning until there are more than most, or until left
// units of work are used up. searchedTo is 0 where the listing was read to
// its end, else the last id that was looked at. The segments must be in
// descending order.
func (l *pagePlan) readTo(ctx context.Context, s *Store, most, left int64) (ids []int64, searchedTo int64, err error) {
	back := int64(0)
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

// lookAt appends the ids of a segment that meet the filter until there are size of
// them, or until left units of work are used up. It returns the units that remain,
// and the last id that it looked at if it stopped for want of units, else 0.
func (s *Store) lookAt(ctx context.Context, g segment, ids []int64, left int64, size int) ([]int64, int64, int64, error) {
	rows, err := s.query(ctx, g.rows.each.sql, append(g.rows.each.args[:len(g.rows.each.args):len(g.rows.each.args)], g.args()...)...)
	var last, searchedTo int64
	err = each(rows, err, func(row scanner) (enough bool, err error) {
		var id int64
		var fits bool
		if err := row.Scan(&id, &fits); err != nil {
			return false, err
		}
		if left <= 0 && last != 0 && id != last {
			searchedTo = last
			return true, nil
		}
		left -= g.rows.each.cost
		if fits && (len(ids) == 0 || ids[len(ids)-1] != id) {
			ids = append(ids, id)
		}
		last = id
		return len(ids) >= size, nil
	})
	return ids, left, searchedTo, err
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

// blockFilter is a filter as far as blocks are counted by it, and more conditions
// on single rows.
type blockFilter struct {
	accountID int64
	kinds     *conditions // on columns that rows and blocks have in common
	rows      *conditions // on rows alone; nil: none
	rowCost   int64       // units of work for each row that is read for rows
	foundCost int64       // and for each row that meets rows
	blocks    *conditions // on blocks alone; nil: none
	from, to  int64       // the time of a row is at least from, and before to
	since     int64       // ids are above it
	until     int64       // ids are at most it; 0: any
	ascending bool
}

// from and to of a blockFilter without bounds of time.
const (
	openFrom = math.MinInt64
	openTo   = math.MaxInt64
)

// where gives the conditions on blocks that may hold rows of the filter.
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

// blockRange returns the least and the greatest id that rows of a filter can have:
// the bounds of its first and last block.
func (s *Store) blockRange(ctx context.Context, t blockTable, f blockFilter) (first, last int64, err error) {
	where := f.where()
	err = s.queryRow(ctx, `SELECT coalesce(min(block), 0), coalesce(max(block), -1) FROM `+t.blocks+` t WHERE `+where.where.String(), where.args...).Scan(&first, &last)
	return firstID(first), lastID(last), storageError(err)
}

// planByBlocks makes a segment of each block that may hold rows of the filter.
// Unless all is set it stops once the segments are known to hold enough rows.
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
	l := &pagePlan{}
	var held int64
	err = each(rows, err, func(row scanner) (bool, error) {
		var block, count, first, last int64
		if err := row.Scan(&block, &count, &first, &last); err != nil {
			return false, err
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
		l.partial = !all && held >= enough
		return l.partial, nil
	})
	return l, err
}

// daysOf is the table of the kept totals of days that a filter needs, and the
// conditions on it but for those on days.
func daysOf(accountID int64, f app.TransactionFilter) (table string, c *conditions) {
	table, c = "bank_account_days", &conditions{}
	switch {
	case f.BankAccountID != 0:
		c.add("bank_account_id = ?", f.BankAccountID)
	case f.Among != nil:
		c.add("bank_account_id IN (SELECT value FROM json_each(?))", joinIDs(f.Among))
	default:
		table = "account_days"
		c.add("account_id = ?", accountID)
	}
	if f.Type != "" {
		c.add("type = ?", string(f.Type))
	}
	return table, c
}

// planByDays makes a segment of each local day of the zone that has transactions
// of the filter.
func (s *Store) planByDays(ctx context.Context, accountID int64, f app.TransactionFilter, zone *time.Location) (*pagePlan, error) {
	days, where := daysOf(accountID, f)
	var rowsOnly conditions
	rowsOnly.add("account_id = ?", accountID)
	rowsOnly.join(kindsOf(f))
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
		sql: `SELECT id FROM transactions t INDEXED BY transactions_time WHERE occurred_at BETWEEN ? AND ? AND ` + rowsOnly.where.String()}
	newer, err := s.newerThan(ctx, accountID, f.UntilID)
	if err != nil {
		return nil, err
	}
	rows, err := s.query(ctx, `SELECT day, sum(count) FROM `+days+` WHERE `+where.where.String()+` GROUP BY day ORDER BY day`+order, where.args...)
	segments, err := collect(rows, err, func(row scanner) (g segment, err error) {
		var day app.Day
		err = row.Scan(&day, &g.count)
		begin, end := day.Start(zone).Unix(), (day + 1).Start(zone).Unix()
		g.known = from <= begin && end <= to && (newer.last < begin || end <= newer.first)
		g.first, g.last = max(begin, from), min(end, to)-1
		g.rows = read
		return g, err
	})
	return &pagePlan{segments: segments}, err
}

// span is from the first moment to the last, in unix seconds. An empty one ends
// before it begins.
type span struct{ first, last int64 }

// newerSeen is how many transactions newerThan reads at most.
const newerSeen = 5000

// newerThan returns when the transactions above an id happened: days outside it have
// as many rows up to the id as in all. Where there are too many to read, it is all
// time. It is empty where id is 0, for no limit.
func (s *Store) newerThan(ctx context.Context, accountID, id int64) (newer span, err error) {
	newer = span{math.MaxInt64, math.MinInt64}
	if id == 0 {
		return newer, nil
	}
	var n int
	err = s.queryRow(ctx, `SELECT count(*), coalesce(min(iif(account_id = ?1, occurred_at, NULL)), ?3), coalesce(max(iif(account_id = ?1, occurred_at, NULL)), ?4)
		FROM (SELECT account_id, occurred_at FROM transactions WHERE id > ?2 ORDER BY id LIMIT ?5)`,
		accountID, id, newer.first, newer.last, newerSeen).Scan(&n, &newer.first, &newer.last)
	if n == newerSeen {
		newer = span{math.MinInt64, math.MaxInt64}
	}
	return newer, storageError(err)
}
