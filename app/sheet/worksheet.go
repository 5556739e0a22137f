package sheet

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// xlsxTable reads the rows of one sheet as a stream.
type xlsxTable struct {
	part   *xmlPart
	view   view
	inRows bool // within <sheetData>
	ended  bool
	line   int
}

func (w *workbook) sheet(i int) (Table, error) {
	view, err := w.readView(w.sheets[i])
	if err != nil {
		return nil, damaged(1, err)
	}
	part, err := w.openPart(w.sheets[i].part, maxRow)
	if err != nil {
		return nil, damaged(1, err)
	}
	return &xlsxTable{part: part, view: view}, nil
}

func (t *xlsxTable) Progress() (done, total int64) { return t.part.read, t.part.size }

// next returns the next row that the sheet holds; empty rows may be left out. The end
// of a sheet is that of its part: only there it is known whether the checksum is right.
func (t *xlsxTable) Next() (Record, error) {
	for {
		token, err := t.part.next()
		if errors.Is(err, io.EOF) {
			return Record{}, io.EOF
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch name := token.Name.Local; {
			case name == "sheetData" && (t.inRows || t.ended):
				err = errNested
			case name == "sheetData":
				t.inRows = true
			case name == "row" && t.inRows:
				var row Record
				if row, err = t.row(token); err == nil {
					return row, nil
				}
			}
		case xml.EndElement:
			if token.Name.Local == "sheetData" {
				t.inRows, t.ended = false, true
			}
		}
		if err != nil {
			return Record{}, damaged(t.line+1, err)
		}
	}
}

type xmlCell struct {
	Name   string     `xml:"r,attr"`
	Kind   string     `xml:"t,attr"`
	Style  string     `xml:"s,attr"`
	Value  []xmlText  `xml:"v"`
	Inline []xmlRich  `xml:"is"`
	Cells  []struct{} `xml:"c"`

	Formula *struct {
		Always string `xml:"ca,attr"`
		Text   string `xml:",chardata"`
	} `xml:"f"`
}

// row reads a row whose element has just begun. Rows stand in ascending order, and so
// do the cells of a row.
func (t *xlsxTable) row(start xml.StartElement) (r Record, err error) {
	var row struct {
		Number string     `xml:"r,attr"`
		Hidden string     `xml:"hidden,attr"`
		Height string     `xml:"ht,attr"`
		Cells  []xmlCell  `xml:"c"`
		Rows   []struct{} `xml:"row"`
	}
	if err := t.part.decoder.DecodeElement(&row, &start); err != nil {
		return r, err
	}
	r.Line = t.line + 1
	if row.Number != "" {
		r.Line, err = strconv.Atoi(row.Number)
	}
	if err != nil || r.Line <= t.line || r.Line > maxRows || len(row.Rows) > 0 {
		return r, errNested
	}
	column, size := 0, 0
	for _, x := range row.Cells {
		if column++; x.Name != "" {
			letters := strings.TrimRight(x.Name, "0123456789")
			n, ok := ColumnNumber(letters)
			if !ok || n < column || x.Name[len(letters):] != strconv.Itoa(r.Line) {
				return r, fmt.Errorf("cell %q in row %d after column %d", x.Name, r.Line, column-1)
			}
			column = n
		}
		c, err := t.cell(x)
		style, _ := strconv.Atoi(x.Style) // none: the first
		c = t.part.book.formats.show(style, c)
		if size += len(c.Text) + len(c.Shown); size > maxRowText || column > MaxColumns {
			err = errLarge
		}
		if err != nil {
			return r, err
		}
		if c.Text != "" {
			r.Cells = append(append(r.Cells, make([]Cell, column-1-len(r.Cells))...), c)
		}
	}
	if isTrue(row.Hidden) || isThin(row.Height) {
		t.view.rows[r.Line] = true
	}
	t.view.mark(&r)
	t.line = r.Line
	return r, t.part.book.spend(cellWork * len(r.Cells))
}

func (t *xlsxTable) cell(x xmlCell) (c Cell, err error) {
	switch {
	case len(x.Value)+len(x.Inline) > 1, len(x.Cells) > 0, len(x.Value) > 0 && len(x.Value[0].Within) > 0:
		return c, errNested
	case t.isStale(x):
		return Cell{Text: NotCalculated}, nil
	case len(x.Inline) > 0:
		c.Text, err = x.Inline[0].text()
		return c, err
	case len(x.Value) == 0:
		return c, nil
	}
	switch text, plain := x.Value[0].Text, strings.TrimSpace(x.Value[0].Text); x.Kind {
	case "s":
		i, err := strconv.Atoi(plain)
		if shared := t.part.book.strings; err == nil && i >= 0 && i < len(shared) {
			return Cell{Text: shared[i]}, nil
		} else if plain == "" {
			return c, nil
		}
		return c, fmt.Errorf("there is no shared text %q", plain)
	case "", "n":
		return Cell{Text: plain, Number: plain != ""}, nil
	case "b":
		return Cell{Text: map[string]string{"0": "FALSE", "1": "TRUE"}[text]}, nil
	default:
		return Cell{Text: unescape(text)}, nil
	}
}

// volatile finds the functions that are calculated each time a workbook is opened.
var volatile = regexp.MustCompile(`(?i)\b(NOW|TODAY|RAND\w*|OFFSET|INDIRECT|CELL|INFO)\s*\(`)

// isStale tells whether a cell has a formula that is still to be calculated.
func (t *xlsxTable) isStale(x xmlCell) bool {
	if x.Formula == nil || t.part.book.stale || isTrue(x.Formula.Always) || volatile.MatchString(x.Formula.Text) {
		return x.Formula != nil
	}
	return x.Kind != "str" && (len(x.Value) == 0 || x.Value[0].Text == "") // a text may be empty
}

// ColumnNumber reads the letters of a column: A is 1, XFD is 16384.
func ColumnNumber(letters string) (int, bool) {
	n := 0
	for _, c := range strings.ToUpper(letters) {
		if c < 'A' || c > 'Z' || n > MaxColumns {
			return 0, false
		}
		n = n*26 + int(c-'A') + 1
	}
	return n, n > 0
}
