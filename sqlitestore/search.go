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

// IndexSearch adds up to indexStep transactions to the indexes of search texts and of
// unsent transactions. It returns how many ids are left up to the newest transaction.
//
// Recording doesn't write these indexes: in each small commit they would cost more
// than everything else. Listings read the rows that are not indexed yet.
func (s *Store) IndexSearch(ctx context.Context) (left int64, err error) {
	return writing(ctx, s, func(tx *tx) (left int64, err error) {
		var from, to int64
		err = tx.queryRow(`SELECT CAST(value AS INTEGER), coalesce((SELECT max(id) FROM
				(SELECT id FROM transactions WHERE id > CAST(value AS INTEGER) ORDER BY id LIMIT `+indexStep+`)), 0)
			FROM settings WHERE name = 'searched_to'`).Scan(&from, &to)
		if err != nil || to == 0 {
			return 0, err
		}
		for _, query := range []string{
			`INSERT INTO transactions_search (rowid, search) SELECT id, search FROM transactions WHERE id > ?1 AND id <= ?2`,
			`INSERT INTO transactions_unsent (account_id, transaction_id)
				SELECT account_id, id FROM transactions t WHERE id > ?1 AND id <= ?2 AND ` + unsent + ` ON CONFLICT DO NOTHING`,
			`UPDATE settings SET value = ?2 WHERE name = 'searched_to'`,
		} {
			tx.exec(query, from, to)
		}
		return left, tx.queryRow(`SELECT max(id) - ? FROM transactions`, to).Scan(&left)
	})
}

// Unindexed counts the transactions that are not indexed yet, up to 10,000.
func (s *Store) Unindexed(ctx context.Context) (int64, error) {
	return readOne[int64](ctx, s, `SELECT count(*) FROM (SELECT 1 FROM transactions NOT INDEXED WHERE id > `+searchedTo+` LIMIT 10000)`)
}

// holding returns the query of the transactions whose text contains query; false: query is
// too short for the index, whose terms have three characters.
func holding(query string) (f found, ok bool) {
	text := fold.String(query)
	phrase, whole := searchPhrase(text)
	if phrase == "" {
		return f, false
	}
	f.or(`SELECT rowid AS id FROM transactions_search k WHERE transactions_search MATCH ? AND rowid <= `+searchedTo, phrase)
	if !whole {
		f.query, f.args = f.query+` AND (SELECT instr(search, ?) FROM transactions WHERE id = k.rowid) > 0`, append(f.args, text)
	}
	f.or(`SELECT id FROM transactions NOT INDEXED WHERE id > `+searchedTo+` AND instr(search, ?) > 0`, text)
	return f, true
}

// searchPhrase returns the MATCH phrase that finds a folded text, and whether it is the
// whole text. It is empty if the text is too short for the index.
func searchPhrase(text string) (phrase string, whole bool) {
	if utf8.RuneCountInString(text) < 3 || strings.ContainsRune(text, 0) {
		return "", false
	}
	piece := longestAsked(text)
	return `"` + strings.ReplaceAll(piece, `"`, `""`) + `"`, piece == text
}

// askedLength is the greatest length of a phrase, in characters. For each three
// characters the index reads a list of all texts that contain them; for a frequent word
// this takes 25 ms in a million transactions.
const askedLength = 20

// longestAsked returns the part of a text that the index searches, at most askedLength
// characters: the part with the most digits, since contents differ by their numbers.
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
