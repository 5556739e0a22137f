package statement

import "strings"

// The lines around the rows of a table that say something about them. Words are
// folded.
var (
	openingWords  = []string{"so du dau ky", "so du dau", "du dau ky", "du dau", "opening balance", "beginning balance"}
	closingWords  = []string{"so du cuoi ky", "so du cuoi", "du cuoi ky", "du cuoi", "closing balance", "ending balance"}
	partWords     = []string{"ngay", "trang", "thang", "day", "page", "luy ke", "mang sang"} // of what a balance or a sum is, that isn't of the whole
	debitWords    = []string{"no", "ghi no", "debit", "debits", "chi", "rut ra", "withdrawals", "tien ra"}
	creditWords   = []string{"co", "ghi co", "credit", "credits", "thu", "gui vao", "deposits", "tien vao"}
	otherSumWords = []string{"so giao dich", "so luong", "so mon", "so lenh", "so but toan", "number", "no of", "count", "phi", "thue", "lai", "fee", "fees", "tax", "interest", "luy ke", "mang sang"}
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
		words := wordsOf(label)
		if hasAny(words, partWords) && !hasAny(words, []string{"dau ky", "cuoi ky"}) {
			continue
		}
		value, ok := r.claimed(rec, i)
		if !ok {
			continue
		}
		debit, credit := sumSide(words)
		switch {
		case hasAny(words, openingWords):
			r.book.opening = append(r.book.opening, claim{rec.line, value})
		case hasAny(words, closingWords):
			r.book.closing = append(r.book.closing, claim{rec.line, value})
		case hasAny(words, []string{"so du", "du", "balance"}), hasAny(words, otherSumWords):
		case debit != credit:
			side := []*int64{nil, nil}
			side[map[bool]int{true: 0, false: 1}[debit]] = &value
			if err := r.book.total(rec.line, side[0], side[1], r.file); err != nil {
				return err
			}
		}
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
