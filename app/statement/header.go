package statement

import (
	"cmp"
	"slices"
	"strings"

	"baoco/app"
)

// These are the bounds of a header. Statements have up to some dozens of title lines above
// it. A header has up to four rows: the name of a group of columns, the names of the columns,
// and both in another language. maxHeaderCells bounds the time: 120 lines as wide as a sheet
// would take minutes.
const (
	headerLines    = 120
	headerRows     = 4
	maxHeaderCells = 80
)

// columns gives the column, from 0, of each field.
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
	charges []int        // columns of fees, taxes and interest, from 0
	names   []string     // of all columns
	unseen  map[int]bool // columns whose names a person doesn't see, from 0; true: another name is shown
	height  int          // how many rows the header has
	width   int          // how many cells a line of the table has
	next    int          // index of the record after the header
}

// name returns the header of the column of a field; empty: the table has no such column.
func (h header) name(f field) string {
	if i := h.columns.of(f); i >= 0 && i < len(h.names) {
		return h.names[i]
	}
	return ""
}

// amounts lists the columns of amounts and of fees, from 0.
func (h header) amounts() []int {
	list := slices.Clone(h.charges)
	for _, f := range amountFields {
		if h.columns.has(f) {
			list = append(list, h.columns[f])
		}
	}
	return list
}

// reads tells whether column i, from 0, is read for the transaction of a line. A counter of
// rows is read only in lines without a date. The account of the other side isn't part of the
// transaction: it can only refuse the file.
func (h header) reads(i int, dated bool) bool {
	for f, at := range h.columns {
		if at == i && f != fieldCounterpart && (f != fieldIndex || !dated) {
			return true
		}
	}
	return slices.Contains(h.charges, i)
}

// fields names what each column holds, for people.
func (h header) fields() []string {
	list := make([]string, len(h.names))
	for f, i := range h.columns {
		list = append(list, make([]string, max(0, i+1-len(list)))...)
		list[i] = string(f)
	}
	return list
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

// headerAt reads the header that begins with the first of some lines and may continue
// in the lines below: "Số tiền" above "Nợ" and "Có". An error names the column that isn't
// understood.
func headerAt(lines []record, o Options) (h header, ok bool, err error) {
	if len(lines) == 0 {
		return h, false, nil
	}
	if n := lines[0].Filled(); n < 2 || n > maxHeaderCells {
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
func titled(r record) bool { return r.Filled() >= 2 && lowerRow(r) }

// lowerRow tells whether a line may be a row of a header below its first.
func lowerRow(r record) bool {
	n, direction := 0, false
	for _, c := range r.Cells {
		text := c.Plain()
		if text == "" {
			continue
		}
		n++
		label, _ := cutLabel(text)
		if n > maxHeaderCells || c.Number || headerKey(text) == "" || strings.Trim(text, "0123456789.,()[]- ") == "" ||
			beginsSum(text) && fieldOf(text) != fieldBalance && headerKey(text) != " phat sinh trong ky " ||
			isAccountLabel(label) && fieldOf(text) != fieldAccount {
			return false
		}
		direction = direction || directionOf(text) != ""
	}
	return n >= 2 || direction
}

// headerOf reads rows as a header; ok is false if they are no header.
func headerOf(rows []record, o Options) (h header, ok bool, err error) {
	h = header{line: rows[0].Line, columns: columns{}, unseen: map[int]bool{}, height: len(rows), next: len(rows)}
	names := headerNames(rows)
	h.width = len(names)
	divided := slices.ContainsFunc(names, func(n headerName) bool { return fieldOf(n.own) == fieldAmount && len(n.below) > 0 })
	for i, name := range names {
		h.names = append(h.names, name.String())
		f, problem := name.field(divided)
		words := headerKey(name.group) + headerKey(name.String()) // a key of both together could have too many digits
		switch {
		case f == "", f == fieldOther:
			continue
		case f == fieldCharge:
			h.charges = append(h.charges, i)
		case !slices.Contains(moneyFields, f), problem.EN != "":
		case foreignWords.in(words), strings.ContainsAny(name.group+name.String(), "$€£¥"):
			problem = columnForeign
		case multipleWords.in(words):
			problem = columnMultiple
		case h.columns.has(f) && f != fieldBalance:
			problem = columnTwice
		}
		if problem.EN != "" && err == nil {
			err = errHeader(rows[0].Line, i, name.String(), problem)
		}
		if !h.columns.has(f) {
			h.columns[f] = i
		}
	}
	if i, problem := otherBook(h.names); i >= 0 && err == nil {
		err = errHeader(rows[0].Line, i, h.names[i], problem)
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
		for f, at := range h.columns { // a person may name a column of fees as another one
			h.charges = slices.DeleteFunc(h.charges, func(i int) bool { return i == at && f != fieldCharge })
		}
	}
	if !ok {
		return header{}, false, nil
	}
	if o.mapsMoney() {
		err = nil
	}
	for _, row := range rows {
		for i, c := range row.Cells {
			if other := c.Shown != "" && c.Shown != c.Text; other || c.Unseen && c.Plain() != "" {
				h.unseen[i] = h.unseen[i] || other
			}
		}
	}
	return h, true, err
}

// The words in the headers of the two sides of a balance, and in those of a loan.
var (
	debitBalance  = listOf("du no")
	creditBalance = listOf("du co")
	loanHeaders   = listOf("du no|lai phai tra|goc phai tra|giai ngan|outstanding|principal|disbursement")
)

// otherBook returns a column that no statement of a bank account has: the second of the two
// sides of a balance, or a column of a loan; -1: no such column.
func otherBook(names []string) (column int, problem app.Text) {
	find := func(words list) int {
		return slices.IndexFunc(names, func(name string) bool { return words.in(headerKey(name)) })
	}
	debit, credit := find(debitBalance), find(creditBalance)
	if debit >= 0 && credit >= 0 && debit != credit {
		return max(debit, credit), columnLedger
	}
	return find(loanHeaders), columnLoan
}

// headerName is the name of one column of a header: the text in its top row, or in
// a cell to the left that is merged with it, and the texts below.
type headerName struct {
	own   string   // the text in the top row
	group string   // own, or the group of the column to the left
	below []string // the texts in the other rows, without empty ones
}

func headerNames(rows []record) []headerName {
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Cells))
	}
	names := make([]headerName, width)
	group := ""
	for i := range names {
		name := headerName{own: rows[0].Cell(i).Words()}
		for _, r := range rows[1:] {
			if text := r.Cell(i).Words(); text != "" {
				name.below = append(name.below, text)
			}
		}
		if name.own != "" || len(name.below) == 0 {
			group = name.own
		}
		name.group = group
		names[i] = name
	}
	return names
}

func (n headerName) String() string {
	return strings.TrimSpace(n.own + " " + strings.Join(n.below, " "))
}

// is tells whether where, which a person entered, names the column.
func (n headerName) is(where string) bool {
	key := headerKey(where)
	return slices.ContainsFunc(append([]string{n.String(), n.own}, n.below...),
		func(name string) bool { return key != "" && headerKey(name) == key })
}

// The reasons why a column of money isn't understood.
var (
	columnContradicts = app.Text{EN: "its names contradict each other", VI: "các tên của cột mâu thuẫn nhau"}
	columnDirection   = app.Text{EN: "nothing says whether its money came in or went out",
		VI: "không có gì cho biết tiền trong cột này là vào hay ra"}
	columnForeign  = app.Text{EN: "it is in another currency than VND", VI: "cột này không phải VND"}
	columnMultiple = app.Text{EN: "it is in a multiple of VND", VI: "cột này tính theo bội số của VND (nghìn, triệu…)"}
	columnTwice    = app.Text{EN: "another column is of the same kind", VI: "có một cột khác cùng loại"}
	columnLoan     = app.Text{EN: "it is of a loan, whose money isn’t that of a bank account",
		VI: "cột này là của khoản vay, không phải tiền trong tài khoản"}
	columnLedger = app.Text{
		EN: "a balance that is divided into two is that of a company’s own ledger, where debit is money in",
		VI: "số dư chia hai bên là của sổ kế toán công ty, ở đó Nợ là tiền vào",
	}
)

// field returns the field of the column. divided tells whether the header has a group
// of amounts whose columns have their own names. problem says why a column of
// money isn't clear.
func (n headerName) field(divided bool) (f field, problem app.Text) {
	group, own, direction := fieldOf(n.group), fieldOf(n.own), field("")
	for _, name := range n.below {
		d := directionOf(name)
		if d == "" && group == fieldAmount && headerKey(name) == " no " {
			d = fieldDebit // "Nợ" written without marks
		}
		if d != "" && direction != "" && d != direction {
			return group, columnContradicts
		}
		direction = cmp.Or(d, direction)
	}
	switch {
	case direction != "" && group == fieldBalance:
		return fieldBalance, columnLedger
	case direction != "" && (own == fieldDebit || own == fieldCredit) && own != direction:
		return own, columnContradicts
	case direction != "" && (own == "" || own == fieldAmount || own == direction || own == fieldIndex && direction == fieldDebit):
		return direction, problem
	case group == fieldAmount && len(n.below) > 0:
		return n.amountField(divided)
	}
	if f = fieldOf(n.String()); f == "" && len(n.below) > 0 {
		f = fieldOf(n.group + " " + n.below[0])
	}
	return f, problem
}

// amountField returns the field of a column in a group of amounts if its name isn't a
// direction.
func (n headerName) amountField(divided bool) (f field, problem app.Text) {
	for _, name := range n.below {
		switch f := fieldOf(name); {
		case n.own == "" && f != "" && f != fieldAmount && f != fieldIndex:
			return f, problem
		case f == fieldAmount && n.own != "", onlyUnits(headerKey(name)):
		case n.own != "" || divided:
			return fieldAmount, columnDirection
		default:
			return "", problem
		}
	}
	return fieldAmount, problem
}
