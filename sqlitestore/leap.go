package sqlitestore

import (
	"context"

	"baoco/app"
)

// leap is how a listing reaches a page far down without reading what comes
// before it, and counts what it doesn't read: the rows lie in segments, and
// how many of them a segment holds is kept.
type leap struct {
	segments []segment // in the order of the listing
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
		args = append(args, g.first>>blockShift)
	}
	return append(args, g.rows.args...)
}

// total counts the rows of all segments.
func (l *leap) total(ctx context.Context, s *Store) (n int64, err error) {
	for i := range l.segments {
		if err := l.count(ctx, s, i); err != nil {
			return 0, err
		}
		n += l.segments[i].count
	}
	return n, nil
}

// list gives the ids of a page, and how many there are on all pages.
func (l *leap) list(ctx context.Context, s *Store, p app.Page) ([]int64, int64, error) {
	total, err := l.total(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	ids, err := l.page(ctx, s, p)
	return ids, total, err
}

// page gives the ids of a page.
func (l *leap) page(ctx context.Context, s *Store, p app.Page) ([]int64, error) {
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

func (l *leap) count(ctx context.Context, s *Store, i int) error {
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
	reach       = 8
	readStep    = 2000 // between two looks at what is left
	segmentCost = 60   // its query
	rowCost     = 3    // a row among its neighbours
	stateCost   = 6    // and whether it has deliveries
	toldCost    = 8    // and how they went
	entryCost   = 8    // an entry of an index, and deliveries
	lookUpCost  = 20   // and the row somewhere in the file
)

// readTo reads the ids of the first pages, until there are more than most, and
// tells how far it came: to the end (0), or to an id, after which it had looked
// at enough. The segments are in descending order.
func (l *leap) readTo(ctx context.Context, s *Store, most int64) (ids []int64, searchedTo int64, err error) {
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
