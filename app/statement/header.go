package statement

import (
	"cmp"
	"slices"
	"strings"
)

// headerLines is how many lines are searched for a header: statements have up to
// some dozens of lines of titles.
const headerLines = 120

// columns says in which column, from 0, each field stands.
type columns map[field]int

func (c columns) of(f field) int {
	if i, ok := c[f]; ok {
		return i
	}
	return -1
}

func (c columns) has(f field) bool { return c.of(f) >= 0 }

func (c columns) money() bool { return slices.ContainsFunc(amountFields, c.has) }

// complete tells whether the columns are those of a table of transactions.
func (c columns) complete() bool {
	return (c.has(fieldDate) || c.has(fieldPosting)) && c.money() && len(c) >= 3
}

// header says where the table of a file begins and what its columns hold.
type header struct {
	line    int // number of its first line; 0: the table has no header
	columns columns
	charges []int    // columns of fees, taxes and interest, from 0
	names   []string // of all columns
	rows    []string // its rows, each in one text
	width   int      // how many cells a line of the table has
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

// list returns the columns from left to right, for people.
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

// headerRows is how many rows a header may have: the name of a group of columns,
// the names of the columns, and both in another language.
const headerRows = 4

// maxHeaderCells is how many cells a row of a header may have. To look for the columns
// of 120 lines as wide as a sheet would take minutes.
const maxHeaderCells = 200

// headerAt reads the header that begins with the first of some lines and may go on
// in the lines below: "Số tiền" above "Nợ" and "Có". An error says which column of
// a header isn't understood.
func headerAt(lines []record, o Options) (h header, ok bool, err error) {
	if len(lines) == 0 {
		return h, false, nil
	}
	if n := lines[0].filled(); n < 2 || n > maxHeaderCells {
		return h, false, nil
	}
	_, alone, _ := headerOf(lines[:1], o)
	n := 1
	if alone || titled(lines[0]) {
		for n < min(len(lines), headerRows) && lowerRow(lines[n]) {
			if _, complete, _ := headerOf(lines[n:n+1], o); complete && !alone {
				break // a header of its own below a title
			}
			n++
		}
	}
	return headerOf(lines[:n], o)
}

// titled tells whether a line may be one of several rows of a header: it has some
// cells, and no amount, date or account number in any of them.
func titled(r record) bool { return r.filled() >= 2 && lowerRow(r) }

// lowerRow tells whether a line may be a row of a header below its first.
func lowerRow(r record) bool {
	if r.filled() > maxHeaderCells {
		return false
	}
	n := 0
	for _, c := range r.cells {
		text := c.plain()
		if text == "" {
			continue
		}
		n++
		if c.number || headerKey(text) == "" || strings.Trim(text, "0123456789.,()[]- ") == "" || beginsSum(text) &&
			fieldOf(text) != fieldBalance {
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

// headerOf reads rows as a header; ok is false where they are none.
func headerOf(rows []record, o Options) (h header, ok bool, err error) {
	h = header{line: rows[0].line, columns: columns{}, next: len(rows)}
	for _, r := range rows {
		h.rows = append(h.rows, strings.Join(r.texts(), "\t"))
	}
	names := headerNames(rows)
	h.width = len(names)
	divided := slices.ContainsFunc(names, func(n headerName) bool { return fieldOf(n.own) == fieldAmount && len(n.below) > 0 })
	for i, name := range names {
		h.names = append(h.names, name.String())
		f, problem := name.field(divided)
		if f == "" {
			continue
		}
		words := headerKey(name.group + " " + name.String())
		switch {
		case f == fieldCharge:
			h.charges = append(h.charges, i)
		case !slices.Contains(moneyFields, f), problem.EN != "":
		case hasAny(words, foreignWords):
			problem = columnForeign
		case hasAny(words, multipleWords):
			problem = columnMultiple
		case h.columns.has(f) && f != fieldBalance:
			problem = columnTwice
		}
		if problem.EN != "" && err == nil {
			err = errHeader(rows[0].line, i, name.String(), problem)
		}
		if !h.columns.has(f) {
			h.columns[f] = i
		}
	}
	if i, ok := dividedBalance(h.names); ok && err == nil {
		err = errHeader(rows[0].line, i, h.names[i], columnLedger)
	}
	if day, ok := h.columns[fieldDay]; ok {
		delete(h.columns, fieldDay)
		if !h.columns.has(fieldDate) {
			h.columns[fieldDate] = day
		}
	}
	ok = h.columns.complete()
	if len(o.Map) > 0 {
		ok = place(h.columns, names, o)
	}
	if !ok {
		return header{}, false, nil
	}
	if o.mapsMoney() {
		err = nil
	}
	return h, true, err
}

// dividedBalance finds the second of two columns for the sides of a balance, "Dư
// nợ" and "Dư có".
func dividedBalance(names []string) (second int, ok bool) {
	debit := slices.IndexFunc(names, func(name string) bool { return hasWord(headerKey(name), "du no") })
	credit := slices.IndexFunc(names, func(name string) bool { return hasWord(headerKey(name), "du co") })
	return max(debit, credit), debit >= 0 && credit >= 0 && debit != credit
}
