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

// IndexSearch adds one step of what was recorded since the last one to the
// indexes of search texts, of amounts and of what no shop was told of, and
// gives how many ids are left to the newest transaction.
//
// Recording itself leaves these indexes alone: written with each small commit
// they would cost more than the rest of a transaction. A listing reads what is
// not indexed yet.
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

// Unindexed counts to 10,000.
func (s *Store) Unindexed(ctx context.Context) (int64, error) {
	return readOne[int64](ctx, s, `SELECT count(*) FROM (SELECT 1 FROM transactions NOT INDEXED WHERE id > `+searchedTo+` LIMIT 10000)`)
}

// searchTerm is a query that the index can answer: the index knows every three
// characters.
type searchTerm struct {
	text   string // folded
	phrase string // for MATCH; empty: too short for the index
	whole  bool   // phrase is all of the text; else what it finds must be looked at
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

// searchPhrase is what the index is asked for to find a folded text, for MATCH,
// and whether that is all of the text. It is empty where the text is too short
// for the index.
func searchPhrase(text string) (phrase string, whole bool) {
	if utf8.RuneCountInString(text) < 3 || strings.ContainsRune(text, 0) {
		return "", false
	}
	piece := longestAsked(text)
	return `"` + strings.ReplaceAll(piece, `"`, `""`) + `"`, piece == text
}

// askedLength is how much of a text the index is asked for, in characters. It
// goes through all that holds three of them, for each three: of frequent words
// that is 25 milliseconds each in a million transactions.
const askedLength = 20

// longestAsked is the part of a text that the index is asked for: where it is
// longer, the one with the most digits, since contents differ by their numbers.
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

// Of how many of the newest transactions how many hold a text that is frequent.
const (
	textSample = "1000"
	frequentOf = "80"
)

// frequentText tells whether reading transactions from last back to first soon
// finds one that holds a text, sooner than the index does: that goes through
// the pieces of the text one by one, and so asking it costs more than a sample.
func (s *Store) frequentText(ctx context.Context, text string, first, last int64) (bool, error) {
	return readOne[bool](ctx, s, `SELECT count(*) >= `+frequentOf+` FROM (SELECT search FROM transactions NOT INDEXED WHERE id BETWEEN ? AND ?
		ORDER BY id DESC LIMIT `+textSample+`) WHERE instr(search, ?) > 0`, first, last, text)
}
