package statement

import (
	"cmp"
	"slices"
	"strings"
)

// headerLines is how far down a header row is looked for: statements have up
// to some dozens of lines of titles.
const headerLines = 120

// columns says in which column, from 0, a field stands.
type columns map[field]int

func (c columns) of(f field) int {
	if i, ok := c[f]; ok {
		return i
	}
	return -1
}

func (c columns) has(f field) bool { return c.of(f) >= 0 }

func (c columns) money() bool { return c.has(fieldDebit) || c.has(fieldCredit) || c.has(fieldAmount) }

// complete tells whether the columns are those of a table of transactions.
func (c columns) complete() bool {
	return (c.has(fieldDate) || c.has(fieldPosting)) && c.money() && len(c) >= 3
}

// header is where the table of a file begins and what its columns hold.
type header struct {
	line    int // of its first line; 0: there is none
	columns columns
	charges []int    // columns of fees, taxes and interest, from 0
	names   []string // as they stand in the file
	rows    []string // the same, each of its rows in one text
	next    int      // index of the record after it
}

// name is the header of the column of a field, empty where the table has none.
func (h header) name(f field) string {
	if i := h.columns.of(f); i >= 0 && i < len(h.names) {
		return h.names[i]
	}
	return ""
}

// findHeader looks for the header among the first lines of a file.
func findHeader(lines []record, o Options) (header, bool, error) {
	for i := range lines {
		if h, ok, err := headerAt(lines[i:], o); ok {
			h.next += i
			return h, true, err
		}
	}
	h, ok := headless(lines, o)
	return h, ok, nil
}

// list gives the columns from left to right, for people.
func (h header) list() []Column {
	var list []Column
	for f, i := range h.columns {
		list = append(list, Column{Field: string(f), Number: i + 1, Header: h.name(f)})
	}
	slices.SortFunc(list, func(a, b Column) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Field, b.Field))
	})
	return list
}

// headerRows is how many rows a header may go over: a group of columns, their
// names, and these in another language.
const headerRows = 4

// headerAt reads the header that begins with the first of some lines, and may
// go over the ones below it: "Số tiền" above "Nợ" and "Có". An error says what
// of a header isn't understood.
func headerAt(lines []record, o Options) (h header, ok bool, err error) {
	if len(lines) == 0 || lines[0].filled() < 2 {
		return h, false, nil
	}
	_, alone, _ := headerColumns([]record{lines[0]}, o)
	n := 1
	if alone || titled(lines[0]) {
		for n < min(len(lines), headerRows) && lowerRow(lines[n]) {
			if _, complete, _ := headerColumns([]record{lines[n]}, o); complete && !alone {
				break // a header of its own below a title
			}
			n++
		}
	}
	// The most rows that make a header: a name of the table may stand below it.
	columns, ok, err := headerColumns(lines[:n], o)
	if !ok {
		return h, false, nil
	}
	h = header{line: lines[0].line, columns: columns, names: stackedNames(lines[:n]), next: n, charges: chargeColumns(lines[:n])}
	for _, r := range lines[:n] {
		h.rows = append(h.rows, strings.Join(r.texts(), "\t"))
	}
	return h, true, err
}

// titled tells whether a line may be one row of a header in several: some
// cells, and no amount, date or account number in any.
func titled(r record) bool { return r.filled() >= 2 && lowerRow(r) }

// lowerRow tells whether a line may be a row of a header below its first.
func lowerRow(r record) bool {
	n := 0
	for _, c := range r.cells {
		text := c.plain()
		if text == "" {
			continue
		}
		n++
		if c.number || headerKey(text) == "" || strings.Trim(text, "0123456789.,()[]- ") == "" || beginsSum(text) && fieldOf(text) != fieldBalance {
			return false
		}
		if label, _ := cutLabel(text); isAccountLabel(label) && fieldOf(text) != fieldAccount {
			return false
		}
	}
	return n >= 2 || n == 1 && slices.ContainsFunc(r.texts(), func(name string) bool { return directionOf(name) != "" })
}

// amountFields are the columns of amounts, moneyFields all columns of money. They
// must be understood beyond doubt.
var (
	amountFields = []field{fieldDebit, fieldCredit, fieldAmount}
	moneyFields  = append(amountFields, fieldBalance)
)

// headerColumns tells what the columns below some rows hold, if these are a
// header.
func headerColumns(rows []record, o Options) (found columns, ok bool, err error) {
	names := headerNames(rows)
	divided := slices.ContainsFunc(names, func(n headerName) bool { return n.own != "" && fieldOf(n.own) == fieldAmount && len(n.below) > 0 })
	found = columns{}
	for i, name := range names {
		f, problem := name.field(divided)
		if f == "" {
			continue
		}
		money := slices.Contains(moneyFields, f)
		words := headerKey(name.group + " " + name.String())
		switch {
		case !money:
		case problem.EN != "":
		case foreignUnit(words):
			problem = columnForeign
		case multipleUnit(words):
			problem = columnMultiple
		case found.has(f) && f != fieldBalance:
			problem = columnTwice
		}
		if problem.EN != "" && err == nil {
			err = errHeader(rows[0].line, i, name.String(), problem)
		}
		if !found.has(f) {
			found[f] = i
		}
	}
	if i, ok := dividedBalance(names); ok && err == nil {
		err = errHeader(rows[0].line, i, names[i].String(), columnLedger)
	}
	if day, ok := found[fieldDay]; ok {
		delete(found, fieldDay)
		if !found.has(fieldDate) {
			found[fieldDate] = day
		}
	}
	if len(o.Map) == 0 {
		return found, found.complete(), err
	}
	if o.mapsMoney() {
		err = nil
	}
	found, ok = mapped(found, names, o)
	return found, ok, err
}

// dividedBalance finds the second of two columns for the sides of a balance, "Dư
// nợ" and "Dư có".
func dividedBalance(names []headerName) (second int, ok bool) {
	debit := slices.IndexFunc(names, func(n headerName) bool { return hasWord(headerKey(n.String()), "du no") })
	credit := slices.IndexFunc(names, func(n headerName) bool { return hasWord(headerKey(n.String()), "du co") })
	return max(debit, credit), debit >= 0 && credit >= 0 && debit != credit
}

// chargeColumns are those of fees, taxes and interest, from 0.
func chargeColumns(rows []record) (list []int) {
	for i, name := range headerNames(rows) {
		if f, _ := name.field(false); f == fieldCharge {
			list = append(list, i)
		}
	}
	return list
}
