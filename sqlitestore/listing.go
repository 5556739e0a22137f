package sqlitestore

import (
	"cmp"
	"context"
	"slices"

	"baoco/app"
)

// listing is a query of rows that have an id.
type listing struct {
	from            string // FROM, up to the end of WHERE
	args            []any
	order, opposite string    // ORDER BY, and its reverse
	id              string    // the column of the id
	sums            *app.Flow // of all rows; nil: not known
}

// page reads the ids of a page. It reads from the start or from the end of the listing of
// total rows, whichever is nearer to the page.
func (s *Store) page(ctx context.Context, l listing, total int64, p app.Page) ([]int64, error) {
	skip := p.Offset()
	size := min(int64(p.Size), total-skip)
	if size <= 0 {
		return nil, nil
	}
	order, behind := l.order, total-skip-size
	if behind < skip {
		order, skip = l.opposite, behind
	}
	ids, err := readAll(ctx, s, scanOne[int64], `SELECT `+l.id+l.from+order+` LIMIT ? OFFSET ?`, append(slices.Clone(l.args), size, skip)...)
	if order == l.opposite {
		slices.Reverse(ids)
	}
	return ids, err
}

// count counts the rows, and stops at one more than most; 0: it counts all.
func (s *Store) count(ctx context.Context, l listing, most int64) (int64, error) {
	if most == 0 {
		return readOne[int64](ctx, s, `SELECT count(*)`+l.from, l.args...)
	}
	return readOne[int64](ctx, s, `SELECT count(*) FROM (SELECT 1`+l.from+l.order+` LIMIT ?)`, append(slices.Clone(l.args), most+1)...)
}

// fewIDs is up to how many transactions of an index are looked at one by one. If an index
// finds more, all rows of the account are read in the order of the listing: that costs less,
// or fills a page sooner.
const fewIDs = 20_000

// found is a query of the ids of the transactions that meet a condition. It may return an id
// twice, and ids of another account.
type found struct {
	query string
	args  []any
	rest  app.TransactionFilter // the other conditions of the filter
}

func (f *found) or(query string, args ...any) {
	if f.query != "" {
		f.query += ` UNION ALL `
	}
	f.query, f.args = f.query+query, append(f.args, args...)
}

// few returns the ids of a query, in JSON; few is false if it has more than fewIDs.
func (s *Store) few(ctx context.Context, f found) (ids string, few bool, err error) {
	var n int
	most := cmp.Or(s.fewIDs, fewIDs)
	err = s.queryRow(ctx, `SELECT count(*), json_group_array(id) FROM (SELECT DISTINCT id FROM (`+f.query+`) LIMIT ?)`,
		append(slices.Clone(f.args), most+1)...).Scan(&n, &ids)
	return ids, n <= most, err
}
