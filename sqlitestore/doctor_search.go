package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"baoco/app"
	"baoco/app/upkeep"
)

// search compares the indexes that IndexSearch writes with the transactions up
// to searched_to.
func (d *doctor) search(ctx context.Context) (c upkeep.Check, err error) {
	d.Progress("indexes of transactions")
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer tx.Rollback()
	var searched, newest, left int64
	err = tx.QueryRowContext(ctx, `SELECT `+searchedTo+`, coalesce((SELECT max(id) FROM transactions), 0), (SELECT count(*) FROM transactions WHERE id > `+searchedTo+`)`).
		Scan(&searched, &newest, &left)
	if err != nil {
		return c, err
	}
	if searched > newest {
		return failed(app.Textf("The search index says that it holds transactions up to %d, but the last is %d.", "Chỉ mục tìm kiếm ghi đến giao dịch %d, nhưng giao dịch cuối là %d.", searched, newest), cureTotals), nil
	}
	sampled, err := d.sample(ctx, tx, transactionTable)
	if err != nil {
		return c, err
	}
	wrong, err := d.compare(ctx, tx, "search", sampled)
	lost := false
	if err == nil {
		lost, err = d.wrongSearch(ctx, tx, sampled.blocks)
	}
	if isSearchDamage(err) {
		lost, err = true, nil
	}
	if lost {
		wrong = append(wrong, "transactions_search")
	}
	switch {
	case err != nil:
		return c, err
	case len(wrong) > 0:
		return failed(app.Textf("Lists find transactions by these, which differ from the transactions: %s", "Các danh sách tìm giao dịch theo những bảng này, nhưng chúng khác với giao dịch: %s",
			strings.Join(wrong, ", ")), cureTotals), nil
	case !sampled.all():
		return fine("%d transactions are not indexed yet; the indexes agree with the rows in %d of %d blocks; --full compares all.",
			"%d giao dịch chưa vào chỉ mục; các chỉ mục khớp với các dòng trong %d trên %d khối; --full so tất cả.", left, len(sampled.blocks), sampled.of)
	}
	return fine("%d transactions are not indexed yet; searches read them one by one.", "%d giao dịch chưa vào chỉ mục; khi tìm sẽ đọc từng giao dịch.", left)
}

// wrongSearch reports whether the index of search texts differs from the
// transactions. Without Full it looks up only the last indexed transaction of each
// block.
func (d *doctor) wrongSearch(ctx context.Context, tx *sql.Tx, blocks []int64) (bool, error) {
	if d.Full {
		return wrongTerms(ctx, tx)
	}
	rows, err := tx.QueryContext(ctx, `SELECT t.id, t.search FROM json_each(?) b JOIN transactions t
		ON t.id = (SELECT max(id) FROM transactions WHERE `+sqlInBlock("id", "b.value")+` AND id <= `+searchedTo+`)`, joinIDs(blocks))
	type text struct {
		id     int64
		search string
	}
	texts, err := collect(rows, err, func(row scanner) (t text, err error) { return t, row.Scan(&t.id, &t.search) })
	for _, t := range texts {
		phrase, _ := searchPhrase(t.search)
		if err != nil || phrase == "" {
			continue
		}
		var id int64
		err = tx.QueryRowContext(ctx, `SELECT rowid FROM transactions_search WHERE transactions_search MATCH ? AND rowid = ?`, phrase, t.id).Scan(&id)
		if noRows(err) {
			return true, nil
		}
	}
	return false, err
}

// term is three characters, which the index knows texts by.
type term [3]rune

// termSum sums up the occurrences of a term: their number, the ids of their
// transactions, and their places in the texts.
type termSum struct{ count, ids, places int64 }

func (s *termSum) add(id, place, times int64) {
	s.count += times
	s.ids += times * id
	s.places += times * (id * (place + 1) & placeMask)
}

const placeMask = 1<<24 - 1

// wrongTerms reads all terms of the index, and all texts, and compares their sums.
func wrongTerms(ctx context.Context, tx *sql.Tx) (bool, error) {
	sums := map[term]*termSum{}
	sumOf := func(t term) *termSum {
		sum := sums[t]
		if sum == nil {
			sum = &termSum{}
			sums[t] = sum
		}
		return sum
	}
	rows, err := tx.QueryContext(ctx, `SELECT id, search FROM transactions WHERE id <= `+searchedTo)
	err = each(rows, err, func(row scanner) (bool, error) {
		var id int64
		var text string
		err := row.Scan(&id, &text)
		for place, t := range terms(text) {
			sumOf(t).add(id, int64(place), 1)
		}
		return false, err
	})
	if err != nil {
		return false, err
	}
	err = readTerms(ctx, tx, func(t term, stands termSum) {
		sum := sumOf(t)
		sum.count, sum.ids, sum.places = sum.count-stands.count, sum.ids-stands.ids, sum.places-stands.places
	})
	for _, sum := range sums {
		if *sum != (termSum{}) {
			return true, err
		}
	}
	return false, err
}

// terms yields the terms of a text as the index makes them: it skips NUL.
func terms(text string) func(yield func(place int, t term) bool) {
	return func(yield func(place int, t term) bool) {
		var t term
		n := 0
		for _, r := range text {
			if r == 0 {
				continue
			}
			t = term{t[1], t[2], r}
			if n++; n >= 3 && !yield(n-3, t) {
				return
			}
		}
	}
}

// readTerms calls take with the sum of every term in the index. SQLite shows the terms
// in a temporary table of the connection, so the file isn't changed.
func readTerms(ctx context.Context, tx *sql.Tx, take func(t term, stands termSum)) error {
	for _, query := range []string{
		`PRAGMA query_only = 0`,
		`CREATE VIRTUAL TABLE temp.search_terms USING fts5vocab(main, transactions_search, instance)`,
		`PRAGMA query_only = 1`,
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	rows, err := tx.QueryContext(ctx, `SELECT term, count(*), sum(doc), sum(doc * (offset + 1) & ?) FROM temp.search_terms GROUP BY term`, placeMask)
	return each(rows, err, func(row scanner) (bool, error) {
		var text string
		var stands termSum
		if err := row.Scan(&text, &stands.count, &stands.ids, &stands.places); err != nil {
			return false, err
		}
		three := []rune(text)
		if len(three) != 3 {
			return false, errors.New("the search index holds a term that isn't three characters")
		}
		take(term(three), stands)
		return false, nil
	})
}
