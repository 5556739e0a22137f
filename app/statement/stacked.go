package statement

import (
	"fmt"
	"slices"
	"strings"

	"baoco/app"
)

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
		h.rows = append(h.rows, strings.Join(texts(r), "\t"))
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
	return n >= 2 || n == 1 && slices.ContainsFunc(texts(r), func(name string) bool { return directionOf(name) != "" })
}

// directionWords are how the parts of a divided column of amounts are named,
// folded: the whole name of each.
var directionWords = map[string]field{
	"ra": fieldDebit, "rut": fieldDebit, "rut tien": fieldDebit, "giam": fieldDebit, "xuat": fieldDebit, "out": fieldDebit, "ghi no": fieldDebit,
	"vao": fieldCredit, "gui": fieldCredit, "gui tien": fieldCredit, "nop": fieldCredit, "nop tien": fieldCredit, "tang": fieldCredit, "nhap": fieldCredit, "in": fieldCredit, "ghi co": fieldCredit,
}

// directionOf tells which way the money of a column goes by the name of it
// within a group of columns; empty: it doesn't say.
func directionOf(name string) field {
	words := strings.TrimSpace(headerKey(name))
	if f := directionWords[words]; f != "" {
		return f
	}
	if f := fieldOf(name); f == fieldDebit || f == fieldCredit {
		return f
	}
	return ""
}

// headerName is the name of one column of a header: what stands in its topmost
// row, or in a cell to the left that is merged with it, and what stands below.
type headerName struct {
	own   string   // in the topmost row
	group string   // own, or that of the column to the left
	below []string // not empty
}

func headerNames(rows []record) []headerName {
	width := 0
	for _, r := range rows {
		width = max(width, len(r.cells))
	}
	names := make([]headerName, width)
	group := ""
	for i := range names {
		name := headerName{own: textOf(rows[0].cell(i))}
		for _, r := range rows[1:] {
			if text := textOf(r.cell(i)); text != "" {
				name.below = append(name.below, text)
			}
		}
		if name.own != "" {
			group = name.own
		} else if len(name.below) == 0 {
			group = ""
		}
		name.group = group
		names[i] = name
	}
	return names
}

func textOf(c cell) string {
	if c.number {
		return ""
	}
	return c.plain()
}

func (n headerName) String() string {
	return strings.TrimSpace(n.own + " " + strings.Join(n.below, " "))
}

func stackedNames(rows []record) []string {
	var list []string
	for _, name := range headerNames(rows) {
		list = append(list, name.String())
	}
	return list
}

// is tells whether the column is the one that a person wrote as where.
func (n headerName) is(where string) bool {
	return slices.ContainsFunc(append([]string{n.String(), n.own}, n.below...), func(name string) bool { return sameHeader(name, where) })
}

// Why a column of money isn't understood.
var (
	columnContradicts = app.Text{EN: "its names contradict each other", VI: "các tên của cột mâu thuẫn nhau"}
	columnDirection   = app.Text{EN: "nothing says whether its money came in or went out", VI: "không có gì cho biết tiền trong cột này là vào hay ra"}
	columnForeign     = app.Text{EN: "it is in another currency than VND", VI: "cột này không phải VND"}
	columnMultiple    = app.Text{EN: "it is in a multiple of VND", VI: "cột này tính theo bội số của VND (nghìn, triệu…)"}
	columnTwice       = app.Text{EN: "another column is of the same kind", VI: "có một cột khác cùng loại"}
	columnLedger      = app.Text{
		EN: "a balance that is divided into two is that of a company’s own ledger, where debit is money in",
		VI: "số dư chia hai bên là của sổ kế toán công ty, ở đó Nợ là tiền vào",
	}
)

// field tells what the column holds; divided, whether it may be within a group
// of amounts with names of their own. problem says why it isn't clear, where the
// column is one of money.
func (n headerName) field(divided bool) (f field, problem app.Text) {
	group := fieldOf(n.group)
	direction := field("")
	for _, name := range n.below {
		d := directionOf(name)
		if d == "" && group == fieldAmount && strings.TrimSpace(headerKey(name)) == "no" {
			d = fieldDebit // "Nợ" written without marks
		}
		if d != "" && direction != "" && d != direction {
			return group, columnContradicts
		}
		if d != "" {
			direction = d
		}
	}
	switch own := fieldOf(n.own); {
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

// amountField tells what a column in a group of amounts holds whose name isn't
// a direction.
func (n headerName) amountField(divided bool) (f field, problem app.Text) {
	for _, name := range n.below {
		f := fieldOf(name)
		switch {
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

// moneyFields are the columns that must be understood beyond doubt.
var moneyFields = []field{fieldDebit, fieldCredit, fieldAmount, fieldBalance}

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
	for _, f := range []field{fieldDebit, fieldCredit, fieldAmount} {
		if o.Map[string(f)] != "" {
			err = nil // a person says where money is
		}
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

// columnName gives the letters of column i, from 0.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

func errHeader(line, column int, name string, problem app.Text) error {
	letters := columnName(column)
	return app.Refused(app.CodeValidation, app.Text{
		EN: fmt.Sprintf("Line %d: column %s, “%s”, is not read, since %s. The command line takes other columns with --map, such as --map debit=%s.", line, letters, name, problem.EN, letters),
		VI: fmt.Sprintf("Dòng %d: không đọc cột %s, “%s”, vì %s. Dùng dòng lệnh để chỉ cột khác bằng --map, ví dụ --map debit=%s.", line, letters, name, problem.VI, letters),
	})
}
