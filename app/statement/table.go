package statement

import "strings"

// table is a file of any format, as lines of cells.
type table interface {
	// next returns the next line, and io.EOF after the last one. The caller may
	// keep the record.
	next() (record, error)
	// progress returns how much was read, in bytes.
	progress() (done, total int64)
	close() error
}

// record is one line of a table.
type record struct {
	line  int // in the file or the sheet, from 1
	cells []cell
}

// cell is the content of one cell.
type cell struct {
	text   string
	number bool // a number of a spreadsheet: text is its exact value
}

// cell returns the cell of column i, from 0. It is empty where the line has no such
// column.
func (r record) cell(i int) cell {
	if i < 0 || i >= len(r.cells) {
		return cell{}
	}
	return r.cells[i]
}

// filled counts the cells of the line that hold something.
func (r record) filled() int {
	n := 0
	for _, c := range r.cells {
		if c.plain() != "" {
			n++
		}
	}
	return n
}

func (r record) blank() bool { return r.filled() == 0 }

// plain returns the text without the space around it and without the marks by which
// Excel takes a number for a text: ="0123" and '0123.
func (c cell) plain() string {
	s := strings.TrimFunc(c.text, isSpace)
	if inner, ok := strings.CutPrefix(s, `="`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok {
			return strings.TrimFunc(inner, isSpace)
		}
	}
	if len(s) > 1 && s[0] == '\'' && isDigit(s[1]) {
		return s[1:]
	}
	return s
}

// words is the text of a cell; it is empty where the cell holds a number.
func (c cell) words() string {
	if c.number {
		return ""
	}
	return c.plain()
}

// isSpace tells whether r is invisible: a space that spreadsheets use, or a mark
// without width.
func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x2069
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
