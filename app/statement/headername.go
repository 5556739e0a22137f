package statement

import (
	"slices"
	"strings"

	"baoco/app"
)

// directionWords are the whole names, folded, of the parts of a divided column of
// amounts.
var directionWords = map[string]field{
	"ra": fieldDebit, "rut": fieldDebit, "rut tien": fieldDebit, "giam": fieldDebit, "xuat": fieldDebit, "out": fieldDebit,
	"ghi no": fieldDebit,
	"vao":    fieldCredit, "gui": fieldCredit, "gui tien": fieldCredit, "nop": fieldCredit, "nop tien": fieldCredit, "tang": fieldCredit,
	"nhap": fieldCredit, "in": fieldCredit, "ghi co": fieldCredit,
}

// directionOf tells by the name of a column in a group of columns which way its
// money goes. It is empty where the name doesn't say.
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
		width = max(width, len(r.cells))
	}
	names := make([]headerName, width)
	group := ""
	for i := range names {
		name := headerName{own: rows[0].cell(i).words()}
		for _, r := range rows[1:] {
			if text := r.cell(i).words(); text != "" {
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

func (n headerName) String() string {
	return strings.TrimSpace(n.own + " " + strings.Join(n.below, " "))
}

// is tells whether a person means the column by where.
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
	columnLedger   = app.Text{
		EN: "a balance that is divided into two is that of a company’s own ledger, where debit is money in",
		VI: "số dư chia hai bên là của sổ kế toán công ty, ở đó Nợ là tiền vào",
	}
)

// field tells what the column holds. divided tells whether the header has a group
// of amounts whose columns have names of their own. problem says why a column of
// money isn't clear.
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

// amountField tells what a column in a group of amounts holds if its name isn't a
// direction.
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
