package statement

import (
	"strings"
)

// The lines around the rows of a table that say something about them. Words are
// folded.
var (
	openingWords  = []string{"so du dau ky", "so du dau", "du dau ky", "du dau", "opening balance", "beginning balance"}
	closingWords  = []string{"so du cuoi ky", "so du cuoi", "du cuoi ky", "du cuoi", "closing balance", "ending balance"}
	partWords     = []string{"ngay", "trang", "thang", "day", "page", "luy ke", "mang sang", "chuyen sang"} // of what a balance or a sum is, that isn't of the whole
	debitWords    = []string{"no", "ghi no", "debit", "debits", "chi", "rut ra", "withdrawals", "tien ra"}
	creditWords   = []string{"co", "ghi co", "credit", "credits", "thu", "gui vao", "deposits", "tien vao"}
	otherSumWords = []string{"so giao dich", "so luong", "so mon", "so lenh", "so but toan", "number", "no of", "count", "phi", "thue", "lai", "fee", "fees", "tax", "interest", "luy ke", "mang sang", "chuyen sang"}
)

func hasAny(words string, list []string) bool {
	for _, w := range list {
		if hasWord(words, w) {
			return true
		}
	}
	return false
}

// sumSide tells whether the name of a sum is of debits, of credits, or of both.
func sumSide(words string) (debit, credit bool) {
	return hasAny(words, debitWords), hasAny(words, creditWords)
}

// isSummary tells whether a line names balances and sums that stand in the line
// below it, each below its name.
func isSummary(names, values record) bool {
	n := 0
	for i, c := range names.cells {
		text := c.plain()
		if text == "" {
			continue
		}
		_, ok, err := parseBalance(values.cell(i))
		if c.number || !ok || err != nil || !beginsSum(text) && directionOf(text) == "" {
			return false
		}
		n++
	}
	return n >= 2 && n == values.filled()
}

func (r *Reader) noteSummary(names, values record) error {
	for i, c := range names.cells {
		if c.plain() == "" {
			continue
		}
		if value, ok, err := parseBalance(values.cell(i)); ok && err == nil {
			if err := r.noteClaim(wordsOf(c.plain()), values.line, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// note keeps what a line outside the rows says about balances and sums.
func (r *Reader) note(rec record) error {
	for i, c := range rec.cells {
		text := c.plain()
		if c.number || text == "" || len(text) > 200 || !beginsSum(text) {
			continue
		}
		label, _ := cutLabel(text)
		if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
			label = text[:colon]
		}
		if value, ok := r.claimed(rec, i); ok {
			if err := r.noteClaim(wordsOf(label), rec.line, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteClaim keeps a balance, or a sum, by its name.
func (r *Reader) noteClaim(words string, line int, value int64) error {
	if hasAny(words, partWords) && !hasAny(words, []string{"dau ky", "cuoi ky"}) {
		return nil
	}
	debit, credit := sumSide(words)
	switch {
	case hasAny(words, openingWords):
		r.book.opening = append(r.book.opening, claim{line, value})
	case hasAny(words, closingWords):
		r.book.closing = append(r.book.closing, claim{line, value})
	case hasAny(words, []string{"so du", "du", "balance"}), hasAny(words, otherSumWords):
	case debit && !credit:
		return r.book.total(line, &value, nil, r.file)
	case credit && !debit:
		return r.book.total(line, nil, &value, r.file)
	}
	return nil
}

// claimed is the value that belongs to the label in cell i: behind it in the
// cell, in the column of balances, or in the next cell that holds something.
func (r *Reader) claimed(rec record, i int) (int64, bool) {
	text := rec.cells[i].plain()
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
		if n, ok, err := parseBalance(cell{text: text[colon+1:]}); ok && err == nil {
			return n, true
		}
	} else if _, value := cutLabel(text); value != "" {
		if n, ok, err := parseBalance(cell{text: value}); ok && err == nil {
			return n, true
		}
	}
	if at := r.header.columns.of(fieldBalance); at > i || r.lines > 0 && at >= 0 {
		if n, ok, err := parseBalance(rec.cell(at)); ok && err == nil {
			return n, true
		}
	}
	for _, c := range rec.cells[i+1:] {
		if c.plain() == "" {
			continue
		}
		n, ok, err := parseBalance(c)
		return n, ok && err == nil
	}
	return 0, false
}

// sumLine compares a line of totals within the table with the rows.
func (r *Reader) sumLine(l line) error {
	words := ""
	for _, c := range l.cells {
		if !c.number && beginsSum(c.plain()) && len(c.plain()) < 200 {
			words = wordsOf(c.plain())
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
		n, ok, err := parseBalance(l.cell(r.header.columns.of(f)))
		if !ok || err != nil {
			return nil
		}
		return &n
	}
	debit, credit := value(fieldDebit), value(fieldCredit)
	switch isDebit, isCredit := sumSide(words); {
	case debit == nil && credit == nil:
		if n := value(fieldAmount); n != nil {
			return r.book.amountTotal(l.line, *n, r.file)
		}
		return nil
	case isDebit && !isCredit && debit == nil:
		debit, credit = credit, nil
	case isCredit && !isDebit && credit == nil:
		debit, credit = nil, debit
	}
	return r.book.total(l.line, debit, credit, r.file)
}
