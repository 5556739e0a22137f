package sheet

import (
	"cmp"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// pageTable reads a web page: the .xls files of some banks are web pages. It reads all tables
// as one, each below the one before. A text outside the tables is a line of one cell, since it
// may name the account or the currency.
type pageTable struct {
	file   *os.File
	size   int64
	tokens *html.Tokenizer
	rows   []pageRow // the first is outside tables, each further one is in a table within the one before
	ready  []Record
	line   int
	unseen bool            // from here on, content may be hidden or shown as another one
	styles map[string]bool // isOdd for each style that was checked
	err    error
}

// maxPageColumns is how many columns a table may have: each column costs time in each row.
const maxPageColumns = 256

// pageRow is a row whose end isn't read yet.
type pageRow struct {
	begun  bool
	open   bool // a cell, or a line outside tables, is open for more text
	cells  []Cell
	cell   int      // the index of the present cell
	text   []byte   // the text of the present cell
	size   int      // bytes of all texts before, and of values
	spans  []int    // for each column, over how many rows its cell still extends, with this one
	tables bool     // a cell holds a table
	unseen bool     // a part of the row may be hidden
	values []string // values in attributes of the present cell
}

func (f *File) page(int) (Table, error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	t := &pageTable{file: f.file, size: f.size, tokens: html.NewTokenizer(decoded(f.file, f.sample)), rows: make([]pageRow, 1),
		styles: map[string]bool{}}
	t.tokens.SetMaxBuf(maxLine)
	return t, nil
}

func (t *pageTable) Progress() (done, total int64) {
	done, _ = t.file.Seek(0, io.SeekCurrent)
	return done, t.size
}

// Next returns the next row that isn't empty. A page that ends within a table is damaged.
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
		case html.CommentToken:
			t.comment(string(t.tokens.Text()))
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
	if !r.open {
		if strings.TrimFunc(s, IsSpace) == "" {
			return
		}
		if len(t.rows) > 1 {
			t.err = errOutside
			return
		}
		r.begun, r.open, r.cells = true, true, make([]Cell, 1)
	}
	if r.text = append(r.text, s...); r.size+len(r.text) > maxRowText {
		t.err = errLarge
	}
}

// These errors refuse text that a browser shows at another place, or doesn't show.
var (
	errOutside = errors.New("a text in a table, outside its cells")
	errHidden  = errors.New("a part of a page that isn't shown, below others")
)

var blanks = regexp.MustCompile(`[ \t\r\f]+`)

func (r *pageRow) endCell() {
	if len(r.cells) > 0 {
		c := &r.cells[r.cell]
		c.Text = strings.TrimSpace(blanks.ReplaceAllString(string(r.text), " "))
		for _, v := range r.values {
			if !agrees(Cell{Text: v}.Plain(), c.Plain()) {
				c.Text, c.Unseen = cmp.Or(c.Text, v), true
			}
		}
		r.size, r.text, r.values = r.size+len(r.text), nil, nil
	}
}

func (t *pageTable) startTag(tag html.Token) {
	hidden := t.isHidden(tag)
	switch tag.Data {
	case "tr", "td", "th":
	case "col", "colgroup", "link", "base":
		t.hide(hidden, true)
	default:
		t.hide(hidden, false)
	}
	switch tag.Data {
	case "style":
		t.tokens.Next()
		style := string(t.tokens.Text())
		t.hide(t.isOdd(style) || thinSize.MatchString(style), true)
	case "script", "title": // the text within isn't shown
		t.tokens.Next()
	case "table":
		if len(t.rows) == 1 {
			t.endRow()
		} else if t.row().tables = true; len(t.rows) > maxDepth {
			t.err = errLarge
		}
		t.hide(t.row().unseen, false)
		t.rows = append(t.rows, pageRow{})
	case "thead", "tbody", "tfoot":
		t.endGroup()
	case "caption":
		t.endRow()
		t.beginCell(1, 1)
	case "tr":
		t.endRow()
		r := t.row()
		r.begun, r.unseen = true, hidden || r.unseen && slices.ContainsFunc(r.spans, func(n int) bool { return n > 0 })
	case "td", "th":
		t.beginCell(span(tag, "colspan"), span(tag, "rowspan"))
		t.row().unseen = t.row().unseen || hidden
		t.values(tag)
	default:
		t.breakLine(tag.Data)
	}
}

func (t *pageTable) endTag(name string) {
	switch {
	case name == "table" && len(t.rows) > 1:
		t.endRow()
		t.rows = t.rows[:len(t.rows)-1]
	case name == "thead", name == "tbody", name == "tfoot":
		t.endGroup()
	case name == "tr", name == "caption":
		t.endRow()
	case (name == "td" || name == "th") && len(t.rows) > 1:
		t.row().open = false
	default:
		t.breakLine(name)
	}
}

// endGroup ends a group of rows, and with it the cells that extend over several rows.
func (t *pageTable) endGroup() {
	if len(t.rows) > 1 {
		t.endRow()
		t.row().spans = nil
	}
}

// breakLine ends a line within a cell, or the line outside tables. Superscripts, subscripts and texts
// that are struck out are lines too, so that none becomes a digit of an amount.
func (t *pageTable) breakLine(tag string) {
	switch tag {
	case "br", "p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "center", "body", "sup", "sub", "del", "s", "strike":
		if len(t.rows) == 1 {
			t.endRow()
		} else if len(t.row().cells) > 0 {
			t.text("\n")
		}
	}
}

// span returns over how many columns or rows a cell extends, by the rules of browsers: 0 rows are
// all rows of the group.
func span(tag html.Token, key string) int {
	for _, a := range tag.Attr {
		if a.Key != key {
			continue
		}
		digits := spanForm.FindStringSubmatch(a.Val)
		if digits == nil {
			return 1
		}
		switch n, err := strconv.Atoi(digits[1]); {
		case err != nil || n > maxRows || n == 0 && key == "rowspan":
			return maxRows
		default:
			return max(n, 1)
		}
	}
	return 1
}

var spanForm = regexp.MustCompile(`^[ \t\n\f\r]*\+?([0-9]+)`)

func (t *pageTable) beginCell(columns, rows int) {
	r := t.row()
	r.endCell()
	for len(r.cells) < len(r.spans) && r.spans[len(r.cells)] > 0 {
		r.cells = append(r.cells, Cell{})
	}
	r.begun, r.open, r.cell = true, true, len(r.cells)
	if r.cell+columns > maxPageColumns {
		t.err = errLarge
		return
	}
	r.cells = append(r.cells, make([]Cell, columns)...)
	r.cells[r.cell].Span = columns
	r.spans = append(r.spans, make([]int, max(0, len(r.cells)-len(r.spans)))...)
	for i := r.cell; i < len(r.cells); i++ {
		if r.spans[i] > 0 {
			t.err = errNested
		}
		r.spans[i] = rows
	}
}

// endRow adds the row as a line, unless it is empty. A filled row with a table in it is refused, since
// the table would move its cells to other columns.
func (t *pageTable) endRow() {
	r := t.row()
	if !r.begun || t.err != nil {
		return
	}
	if t.line++; t.line > maxRows {
		t.err = errLarge
	}
	r.endCell()
	for i := range r.cells {
		r.cells[i].Unseen = r.cells[i].Unseen || r.unseen || t.unseen
	}
	if found := (Record{t.line, r.cells}); found.Filled() > 0 {
		if t.ready = append(t.ready, found); r.tables {
			t.ready, t.err = nil, errNested
		}
	}
	for i, n := range r.spans {
		r.spans[i] = max(0, n-1)
	}
	*r = pageRow{spans: r.spans, unseen: r.unseen}
}
