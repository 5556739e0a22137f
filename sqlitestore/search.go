package sqlitestore

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"baoco/app/fold"
)

// indexStep is how many transactions one commit adds to the indexes: a few
// milliseconds of the writer's time.
const indexStep = "250"

// IndexSearch adds up to indexStep transactions to the indexes of search texts, of
// amounts and of unsent transactions. It returns the number of ids from there to
// the newest transaction.
//
// Recording doesn't write these indexes: in each small commit they would cost more
// than all the rest of it. Listings read the rows that are not indexed yet.
func (s *Store) IndexSearch(ctx context.Context) (left int64, err error) {
	return writing(ctx, s, func(tx *tx) (left int64, err error) {
		var from, to int64
		err = tx.queryRow(`SELECT CAST(value AS INTEGER), coalesce((SELECT max(id) FROM
				(SELECT id FROM transactions WHERE id > CAST(value AS INTEGER) ORDER BY id LIMIT `+indexStep+`)), 0)
			FROM settings WHERE name = 'searched_to'`).Scan(&from, &to)
		if err != nil || to == 0 {
			return 0, err
		}
		if err := indexRows(tx.exec, from, to); err != nil {
			return 0, err
		}
		return left, tx.queryRow(`SELECT max(id) - ? FROM transactions`, to).Scan(&left)
	})
}

// Unindexed counts the transactions that are not indexed yet, up to 10,000.
func (s *Store) Unindexed(ctx context.Context) (int64, error) {
	return readOne[int64](ctx, s, `SELECT count(*) FROM (SELECT 1 FROM transactions NOT INDEXED WHERE id > `+searchedTo+` LIMIT 10000)`)
}

// searchTerm is a text that is searched for. The index knows texts by every three
// characters of them.
type searchTerm struct {
	text   string // folded
	phrase string // the part of it for MATCH; empty: it is too short for the index
	whole  bool   // phrase is all of the text; else each row that it finds is checked
	to     int64  // ids up to it are indexed
}

func (s *Store) searchTerm(ctx context.Context, query string) (searchTerm, error) {
	q := searchTerm{text: fold.String(query)}
	if q.phrase, q.whole = searchPhrase(q.text); q.phrase == "" {
		return q, nil
	}
	var err error
	q.to, err = s.searchedTo(ctx)
	return q, err
}

// searchPhrase returns the MATCH phrase that finds a folded text, and whether it is
// all of the text. It is empty where the text is too short for the index.
func searchPhrase(text string) (phrase string, whole bool) {
	if utf8.RuneCountInString(text) < 3 || strings.ContainsRune(text, 0) {
		return "", false
	}
	piece := longestAsked(text)
	return `"` + strings.ReplaceAll(piece, `"`, `""`) + `"`, piece == text
}

// askedLength is the greatest length of a phrase, in characters. For each three of
// them the index reads every text that contains them: for a frequent word that is
// 25 ms in a million transactions.
const askedLength = 20

// longestAsked returns the part of a text that the index is asked for. Of a longer
// text it is the part with the most digits, since contents differ by their numbers.
func longestAsked(text string) string {
	runes := []rune(text)
	if len(runes) <= askedLength {
		return text
	}
	best, digits, most := 0, 0, -1
	for i, r := range runes {
		if unicode.IsDigit(r) {
			digits++
		}
		from := i + 1 - askedLength
		if from > 0 && unicode.IsDigit(runes[from-1]) {
			digits--
		}
		if from >= 0 && digits > most {
			best, most = from, digits
		}
	}
	return string(runes[best : best+askedLength])
}

// searchedTo is the id up to which transactions are indexed.
func (s *Store) searchedTo(ctx context.Context) (int64, error) {
	return readOne[int64](ctx, s, `SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'searched_to'`)
}

// A text is frequent if frequentOf of the newest textSample transactions contain it.
const (
	textSample = "1000"
	frequentOf = "80"
)

// frequentText reports whether a text is frequent among the transactions from last
// back to first. Reading rows then finds it sooner than the index does.
func (s *Store) frequentText(ctx context.Context, text string, first, last int64) (bool, error) {
	return readOne[bool](ctx, s, `SELECT count(*) >= `+frequentOf+` FROM (SELECT search FROM transactions NOT INDEXED WHERE id BETWEEN ? AND ?
		ORDER BY id DESC LIMIT `+textSample+`) WHERE instr(search, ?) > 0`, first, last, text)
}
