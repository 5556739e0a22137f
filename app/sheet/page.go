package sheet

import (
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// pageTable reads a web page, as which some banks write a file that they name .xls. Its tables
// are one table below the other. A text outside them is a line of one cell, since it may
// name the account or the currency.
type pageTable struct {
	file   *os.File
	size   int64
	tokens *html.Tokenizer
	rows   []pageRow // the first is outside tables, each other one is in a table within the one before
	ready  []Record
	line   int
	err    error
}

// pageRow is a row that isn't at its end.
type pageRow struct {
	begun  bool
	cells  []Cell
	cell   int    // that goes on
	text   []byte // of it
	size   int    // of all texts before
	spans  []int  // for each column how many rows the cell there goes on, with this one
	tables bool   // a cell holds a table
}

func (f *File) page(int) (Table, error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	t := &pageTable{file: f.file, size: f.size, tokens: html.NewTokenizer(decoded(f.file, f.sample)), rows: make([]pageRow, 1)}
	t.tokens.SetMaxBuf(maxLine)
	return t, nil
}

func (t *pageTable) Progress() (done, total int64) {
	done, _ = t.file.Seek(0, io.SeekCurrent)
	return done, t.size
}

// Next returns the next row that holds something. A page that ends within a table is damaged.
func (t *pageTable) Next() (Record, error) {
	for t.err == nil && len(t.ready) == 0 {
		switch t.tokens.Next() {
		case html.ErrorToken:
			t.endRow()
			if t.err = t.tokens.Err(); errors.Is(t.err, io.EOF) && len(t.rows) > 1 {
				t.err = io.ErrUnexpectedEOF
			}
		case html.TextToken:
			t.text(strings.ReplaceAll(string(t.tokens.Text()), "\n", " "))
		case html.StartTagToken, html.SelfClosingTagToken:
			t.startTag(t.tokens.Token())
		case html.EndTagToken:
			t.endTag(t.tokens.Token().Data)
		}
	}
	switch {
	case len(t.ready) > 0:
		r := t.ready[0]
		t.ready = t.ready[1:]
		return r, nil
	case errors.Is(t.err, io.EOF):
		return Record{}, io.EOF
	}
	return Record{}, damaged(t.line+1, t.err)
}

func (t *pageTable) row() *pageRow { return &t.rows[len(t.rows)-1] }

func (t *pageTable) text(s string) {
	r := t.row()
	if len(r.cells) == 0 {
		if strings.TrimFunc(s, IsSpace) == "" {
			return
		}
		r.begun, r.cells = true, make([]Cell, 1) // outside the cells of a table
	}
	if r.text = append(r.text, s...); r.size+len(r.text) > maxRowText {
		t.err = errLarge
	}
}

var blanks = regexp.MustCompile(`[ \t\r\f]+`)

func (r *pageRow) endCell() {
	if len(r.cells) > 0 {
		r.cells[r.cell].Text = strings.TrimSpace(blanks.ReplaceAllString(string(r.text), " "))
		r.size, r.text = r.size+len(r.text), nil
	}
}

func (t *pageTable) startTag(tag html.Token) {
	switch tag.Data {
	case "script", "style", "title": // the text within isn't seen
		t.tokens.Next()
	case "table":
		if len(t.rows) == 1 {
			t.endRow()
		} else if t.row().tables = true; len(t.rows) > maxDepth {
			t.err = errLarge
		}
		t.rows = append(t.rows, pageRow{})
	case "tr":
		t.endRow()
		t.row().begun = true
	case "td", "th":
		t.beginCell(span(tag, "colspan"), span(tag, "rowspan"))
	default:
		t.breakLine(tag.Data)
	}
}

func (t *pageTable) endTag(name string) {
	switch {
	case name == "table" && len(t.rows) > 1:
		t.endRow()
		t.rows = t.rows[:len(t.rows)-1]
	case name == "tr":
		t.endRow()
	default:
		t.breakLine(name)
	}
}

// breakLine ends a line within a cell, or the line outside tables.
func (t *pageTable) breakLine(tag string) {
	switch tag {
	case "br", "p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "center", "body":
		if len(t.rows) == 1 {
			t.endRow()
		} else if len(t.row().cells) > 0 {
			t.text("\n")
		}
	}
}

// span is over how many columns or rows a cell goes.
func span(tag html.Token, key string) int {
	for _, a := range tag.Attr {
		if n, err := strconv.Atoi(a.Val); err == nil && n > 0 && a.Key == key {
			return min(n, maxRows)
		}
	}
	return 1
}

func (t *pageTable) beginCell(columns, rows int) {
	r := t.row()
	r.endCell()
	for len(r.cells) < len(r.spans) && r.spans[len(r.cells)] > 0 {
		r.cells = append(r.cells, Cell{})
	}
	r.begun, r.cell = true, len(r.cells)
	if r.cell+columns > MaxColumns {
		t.err = errLarge
		return
	}
	r.cells = append(r.cells, make([]Cell, columns)...)
	r.spans = append(r.spans, make([]int, max(0, len(r.cells)-len(r.spans)))...)
	for i := r.cell; i < len(r.cells); i++ {
		if r.spans[i] > 0 {
			t.err = errNested
		}
		r.spans[i] = rows
	}
}

// endRow takes what the row holds for a line. A table within a row that holds something else would move
// its cells to other columns.
func (t *pageTable) endRow() {
	r := t.row()
	if !r.begun || t.err != nil {
		return
	}
	if t.line++; t.line > maxRows {
		t.err = errLarge
	}
	r.endCell()
	if found := (Record{t.line, r.cells}); found.Filled() > 0 {
		if t.ready = append(t.ready, found); r.tables {
			t.ready, t.err = nil, errNested
		}
	}
	for i, n := range r.spans {
		r.spans[i] = max(0, n-1)
	}
	*r = pageRow{spans: r.spans}
}
