package statement

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// The size that a sheet can have.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
)

var errManyRows = errors.New("more rows than a sheet can have")

// xlsxTable reads the cells of one sheet as a stream.
type xlsxTable struct {
	file    *os.File
	book    *workbook
	part    *xmlPart
	inRows  bool // within <sheetData>
	line    int
	column  int    // the column of the present cell, from 0
	text    []byte // the text in that cell
	columns int    // how many columns the line before has, as a guess for the next
}

func (w *workbook) open(s sheet, file *os.File) (*xlsxTable, error) {
	part, err := openPart(s.part)
	if err != nil {
		return nil, damaged(1, err)
	}
	return &xlsxTable{file: file, book: w, part: part}, nil
}

// next returns the next row that the sheet holds; empty rows may be left out.
func (t *xlsxTable) next() (record, error) {
	for {
		token, err := t.part.next()
		if err != nil {
			if errors.Is(err, io.EOF) && t.line == 0 && !t.inRows {
				return record{}, io.EOF
			}
			return record{}, damaged(t.line+1, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch {
			case token.Name.Local == "sheetData":
				t.inRows = true
			case token.Name.Local == "row" && t.inRows:
				return t.row(token)
			}
		case xml.EndElement:
			if token.Name.Local == "sheetData" {
				if err := t.part.elements(func(xml.StartElement) error { return nil }); err != nil {
					return record{}, damaged(t.line+1, err)
				}
				t.line, t.inRows = 0, false
				return record{}, io.EOF
			}
		}
	}
}

// row reads a row whose element has just begun.
func (t *xlsxTable) row(start xml.StartElement) (record, error) {
	t.line++
	if n, err := strconv.Atoi(attr(start, "r")); err == nil && n > t.line {
		t.line = n
	}
	if t.line > maxRows {
		return record{}, damaged(t.line, errManyRows)
	}
	r := record{line: t.line, cells: make([]cell, 0, t.columns)}
	t.column = -1
	for end := t.part.depth - 1; t.part.depth > end; {
		token, err := t.part.next()
		if err != nil {
			return r, damaged(t.line, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "c" {
			if err := t.cell(start, &r); err != nil {
				return r, damaged(t.line, err)
			}
		}
	}
	t.columns = len(r.cells)
	return r, nil
}

// cell reads a cell, whose element has just begun, into r.
func (t *xlsxTable) cell(start xml.StartElement, r *record) error {
	t.column++
	if name := attr(start, "r"); name != "" {
		n, ok := columnNumber(strings.TrimRight(name, "0123456789"))
		if !ok {
			return fmt.Errorf("cell %q", name)
		}
		t.column = n - 1
	}
	if t.column >= maxColumns {
		return fmt.Errorf("more than %d columns", maxColumns)
	}
	kind := attr(start, "t")
	c, err := t.value(kind)
	if err != nil || c.text == "" {
		return err
	}
	for len(r.cells) <= t.column {
		r.cells = append(r.cells, cell{})
	}
	r.cells[t.column] = c
	return nil
}

// value reads the content of a cell of a kind, up to the end of its element.
func (t *xlsxTable) value(kind string) (cell, error) {
	t.text = t.text[:0]
	inValue := false
	for end := t.part.depth - 1; t.part.depth > end; {
		token, err := t.part.next()
		if err != nil {
			return cell{}, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "v":
				inValue = true
			case "is":
				if t.text, err = t.part.richText(t.text); err != nil {
					return cell{}, err
				}
			}
		case xml.EndElement:
			inValue = inValue && token.Name.Local != "v"
		case xml.CharData:
			if inValue && len(t.text) < maxToken {
				t.text = append(t.text, token...)
			}
		}
	}
	text := string(t.text)
	switch kind {
	case "s":
		return t.shared(strings.TrimSpace(text))
	case "", "n":
		text = strings.TrimSpace(text)
		return cell{text, text != ""}, nil
	case "b":
		return cell{text: map[string]string{"0": "FALSE", "1": "TRUE"}[text]}, nil
	}
	return cell{text: unescape(text)}, nil
}

func (t *xlsxTable) shared(number string) (cell, error) {
	if number == "" {
		return cell{}, nil
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(t.book.strings) {
		return cell{}, fmt.Errorf("there is no shared text %q", number)
	}
	return cell{text: t.book.strings[i]}, nil
}

func (t *xlsxTable) progress() (done, total int64) { return t.part.read, t.part.size }

func (t *xlsxTable) close() error { return t.file.Close() }

// columnNumber reads the letters of a column: A is 1, XFD is 16384.
func columnNumber(letters string) (int, bool) {
	n := 0
	for _, c := range strings.ToUpper(letters) {
		if c < 'A' || c > 'Z' || n > maxColumns {
			return 0, false
		}
		n = n*26 + int(c-'A') + 1
	}
	return n, n > 0
}
