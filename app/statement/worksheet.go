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

// The size that a sheet can have. Many cells may name one long shared text, and the
// first rows are held together while the header is looked for: so the texts of a row are
// bounded too. A spreadsheet program writes 32,767 characters into a cell at most.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
	maxRowText = 256 << 10 // bytes
)

var (
	errManyRows   = errors.New("more rows than a sheet can have")
	errManySheets = errors.New("the rows of a sheet stand in two places")
	errManyValues = errors.New("a cell with two values")
	errLongRow    = errors.New("a row with more than 256 KiB of text")
	errNested     = errors.New("an element where it can't be: in a text, a row in a row, a cell in a cell")
)

// xlsxTable reads the cells of one sheet as a stream.
type xlsxTable struct {
	file    *os.File
	book    *workbook
	part    *xmlPart
	inRows  bool // within <sheetData>
	line    int
	column  int    // the column of the present cell, from 0
	size    int    // bytes of text in the present row
	text    []byte // the text in that cell
	columns int    // how many columns the line before has, as a guess for the next
}

func (w *workbook) open(s sheet, file *os.File) (*xlsxTable, error) {
	part, err := w.openPart(s.part)
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
			case token.Name.Local == "sheetData" && t.inRows:
				return record{}, damaged(t.line+1, errManySheets)
			case token.Name.Local == "sheetData":
				t.inRows = true
			case token.Name.Local == "row" && t.inRows:
				return t.row(token)
			}
		case xml.EndElement:
			if token.Name.Local == "sheetData" {
				if err := t.part.elements(noSheetData); err != nil {
					return record{}, damaged(t.line+1, err)
				}
				t.line, t.inRows = 0, false
				return record{}, io.EOF
			}
		}
	}
}

func noSheetData(start xml.StartElement) error {
	if start.Name.Local == "sheetData" {
		return errManySheets
	}
	return nil
}

// row reads a row whose element has just begun. Rows stand in ascending order.
func (t *xlsxTable) row(start xml.StartElement) (record, error) {
	t.line++
	if number := attr(start, "r"); number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < t.line {
			return record{}, damaged(t.line, fmt.Errorf("row %q after line %d", number, t.line-1))
		}
		t.line = n
	}
	if t.line > maxRows {
		return record{}, damaged(t.line, errManyRows)
	}
	r := record{line: t.line, cells: make([]cell, 0, t.columns)}
	t.column, t.size = -1, 0
	for end := t.part.depth - 1; t.part.depth > end; {
		token, err := t.part.next()
		if err != nil {
			return r, damaged(t.line, err)
		}
		if start, ok := token.(xml.StartElement); ok {
			switch start.Name.Local {
			case "c":
				err = t.cell(start, &r)
			case "row", "sheetData":
				err = errNested
			}
			if err != nil {
				return r, damaged(t.line, err)
			}
		}
	}
	t.columns = len(r.cells)
	return r, nil
}

// cell reads a cell, whose element has just begun, into r. The cells of a row
// stand in ascending order.
func (t *xlsxTable) cell(start xml.StartElement, r *record) error {
	t.column++
	if name := attr(start, "r"); name != "" {
		letters := strings.TrimRight(name, "0123456789")
		n, ok := columnNumber(letters)
		if !ok || n <= t.column || name[len(letters):] != strconv.Itoa(t.line) {
			return fmt.Errorf("cell %q in row %d after column %d", name, t.line, t.column)
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
	if t.size += len(c.text); t.size > maxRowText {
		return errLongRow
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
	var found, inValue bool
	for end := t.part.depth - 1; t.part.depth > end; {
		token, err := t.part.next()
		if err != nil {
			return cell{}, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			switch {
			case inValue || name == "c":
				return cell{}, errNested
			case name != "v" && name != "is":
				continue
			case found:
				return cell{}, errManyValues
			}
			found, inValue = true, name == "v"
			if name == "is" {
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
