package statement

import (
	"slices"
	"strings"
)

// The words of the lines around a table that state balances and totals, folded.
// partWords are in the names of balances and totals that aren't those of the whole
// table, otherSumWords in the names of totals of something else than amounts.
var (
	openingWords  = []string{"so du dau ky", "so du dau", "du dau ky", "du dau", "opening balance", "beginning balance"}
	closingWords  = []string{"so du cuoi ky", "so du cuoi", "du cuoi ky", "du cuoi", "closing balance", "ending balance"}
	partWords     = []string{"ngay", "trang", "thang", "day", "page", "luy ke", "mang sang", "chuyen sang"}
	debitWords    = []string{"no", "ghi no", "debit", "debits", "chi", "rut ra", "withdrawals", "tien ra"}
	creditWords   = []string{"co", "ghi co", "credit", "credits", "thu", "gui vao", "deposits", "tien vao"}
	otherSumWords = []string{"so giao dich", "so luong", "so mon", "so lenh", "so but toan", "number", "no of", "count", "phi", "thue", "lai",
		"fee", "fees", "tax", "interest", "luy ke", "mang sang", "chuyen sang"}
)

// hasAny tells whether a word of list stands in words.
func hasAny(words string, list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return hasWord(words, w) })
}

// readBalance reads a balance or a total; ok is false where the cell holds none
// that can be read.
func readBalance(c cell) (n int64, ok bool) {
	n, ok, err := parseBalance(c)
	return n, ok && err == nil
}

// isSummary tells whether a line names balances and totals, and the line below it
// holds their values, each below its name.
func isSummary(names, values record) bool {
	n := 0
	for i, c := range names.cells {
		text := c.plain()
		if text == "" {
			continue
		}
		if _, ok := readBalance(values.cell(i)); c.number || !ok || !beginsSum(text) && directionOf(text) == "" {
			return false
		}
		n++
	}
	return n >= 2 && n == values.filled()
}

// noteSummary keeps the balances and totals of such two lines.
func (r *Reader) noteSummary(names, values record) error {
	for i, c := range names.cells {
		if value, ok := readBalance(values.cell(i)); ok && c.plain() != "" {
			if err := r.noteStated(wordsOf(c.plain()), values.line, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// note keeps the balances and totals that a line outside the rows states.
func (r *Reader) note(rec record) error {
	for i, c := range rec.cells {
		text := c.words()
		if text == "" || len(text) > 200 || !beginsSum(text) {
			continue
		}
		label, _ := cutLabel(text)
		if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
			label = text[:colon]
		}
		if value, ok := r.statedValue(rec, i); ok {
			if err := r.noteStated(wordsOf(label), rec.line, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteStated keeps a balance for the end of the account, and compares a total with
// the rows. words is its name.
func (r *Reader) noteStated(words string, line int, value int64) error {
	if hasAny(words, partWords) && !hasAny(words, []string{"dau ky", "cuoi ky"}) {
		return nil
	}
	debit, credit := hasAny(words, debitWords), hasAny(words, creditWords)
	switch {
	case hasAny(words, openingWords):
		r.present.opening = append(r.present.opening, stated{line, value})
	case hasAny(words, closingWords):
		r.present.closing = append(r.present.closing, stated{line, value})
	case hasAny(words, []string{"so du", "du", "balance"}), hasAny(words, otherSumWords):
	case debit && !credit:
		return r.present.total(line, &value, nil, r.file)
	case credit && !debit:
		return r.present.total(line, nil, &value, r.file)
	}
	return nil
}

// statedValue is the value that belongs to the label in cell i. It stands behind
// the label in the same cell, in the column of balances, or in the next cell that
// holds something.
func (r *Reader) statedValue(rec record, i int) (int64, bool) {
	text := rec.cells[i].plain()
	_, value := cutLabel(text)
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
		value = text[colon+1:]
	}
	if n, ok := readBalance(cell{text: value}); ok {
		return n, true
	}
	if at := r.header.columns.of(fieldBalance); at > i || r.lines > 0 && at >= 0 {
		if n, ok := readBalance(rec.cell(at)); ok {
			return n, true
		}
	}
	for _, c := range rec.cells[i+1:] {
		if c.plain() != "" {
			return readBalance(c)
		}
	}
	return 0, false
}

// sumLine compares a line of totals within the table with the rows.
func (r *Reader) sumLine(l line) error {
	words := ""
	for _, c := range l.cells {
		if text := c.words(); beginsSum(text) && len(text) < 200 {
			words = wordsOf(text)
			break
		}
	}
	if hasAny(words, []string{"so du", "du dau", "du cuoi", "balance"}) {
		return r.note(l.record)
	}
	if hasAny(words, otherSumWords) {
		return nil
	}
	value := func(f field) *int64 {
		if n, ok := readBalance(l.cell(r.header.columns.of(f))); ok {
			return &n
		}
		return nil
	}
	debit, credit := value(fieldDebit), value(fieldCredit)
	switch isDebit, isCredit := hasAny(words, debitWords), hasAny(words, creditWords); {
	case debit == nil && credit == nil:
		if n := value(fieldAmount); n != nil {
			return r.present.amountTotal(l.line, *n, r.file)
		}
		return nil
	case isDebit && !isCredit && debit == nil:
		debit, credit = credit, nil
	case isCredit && !isDebit && credit == nil:
		debit, credit = nil, debit
	}
	return r.present.total(l.line, debit, credit, r.file)
}
