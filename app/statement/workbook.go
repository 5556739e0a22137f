package statement

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"baoco/app"
)

// The bounds of a spreadsheet, so that no file of a few bytes can take all the
// memory there is. A sheet of a million rows has about 500 MB of XML, a hundred
// thousand rows with three texts each need about 25 MiB of shared texts. A
// spreadsheet program writes 32,767 characters into a cell at most.
const (
	maxXML           = 1 << 30 // bytes of XML of all parts
	maxList          = 4 << 20 // of XML of a part that lists other parts
	maxText          = 4 << 20 // of XML of one shared text
	maxRow           = 1 << 20 // of XML of one row
	maxDepth         = 64      // elements within elements
	maxSheets        = 1000
	maxRows          = 1 << 20
	maxColumns       = 1 << 14
	maxRowText       = 256 << 10 // bytes of text of one row, since many cells may name one long text
	maxSharedStrings = 64 << 20  // bytes of memory
	stringHeader     = 16        // bytes that a string takes beside its text
)

var (
	errMuchXML    = errors.New("more than 1 GiB of XML")
	errBigList    = errors.New("more than 4 MiB of names of parts")
	errBigPiece   = errors.New("a row, a text or a tag is too long")
	errDeep       = errors.New("elements nested too deeply")
	errManySheets = fmt.Errorf("more than %d sheets", maxSheets)
	errTwoTables  = errors.New("the rows of a sheet stand in two places")
	errNested     = errors.New("an element where it can't be: in a text, a row in a row, a cell in a cell, two values in a cell")
	errLongRow    = errors.New("a row with more than 256 KiB of text")
)

// workbook is an XLSX file: a zip archive of XML parts (ECMA-376).
//
// It is read here and not by a spreadsheet library: the one that there is for Go
// (excelize, with which the tests write their files) ends a sheet without an
// error where its XML is damaged, and returns another text for a shared string
// that is missing. A control character in the content of one transfer would make
// every transaction below it disappear.
type workbook struct {
	parts    map[string]*zip.File // by name in lower case
	sheets   []sheet
	strings  []string // the shared texts
	date1904 bool     // days are counted from 1904, as on old Macs
	read     int64    // bytes of XML that were read
}

type sheet struct {
	name string
	part *zip.File
}

// openWorkbook reads all parts but the sheets.
func openWorkbook(r io.ReaderAt, size int64) (*workbook, error) {
	w := &workbook{parts: map[string]*zip.File{}}
	err := w.readParts(r, size)
	if err == nil {
		return w, nil
	}
	if known := (*app.Error)(nil); errors.As(err, &known) {
		return nil, known
	}
	return nil, &app.Error{
		Code: app.CodeValidation,
		Text: app.Text{
			EN: "The file is damaged or is not an Excel workbook; open it in a spreadsheet program and save it again as .xlsx or .csv.",
			VI: "Tệp bị hỏng hoặc không phải là bảng tính Excel; hãy mở bằng phần mềm bảng tính rồi lưu lại thành .xlsx hoặc .csv.",
		},
		Err: err,
	}
}

// readParts finds the main part and reads it: the names of the sheets, and the parts
// that they are in.
func (w *workbook) readParts(r io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return err
	}
	for _, f := range archive.File {
		w.parts[partName("", f.Name)] = f
	}
	roots, err := w.relationships("_rels/.rels", "")
	if err != nil {
		return err
	}
	name := "xl/workbook.xml"
	for _, r := range roots {
		if r.kind == "officeDocument" {
			name = r.target
		}
	}
	related, err := w.relationships(path.Join(path.Dir(name), "_rels", path.Base(name)+".rels"), path.Dir(name))
	if err != nil {
		return err
	}
	var book struct {
		Properties struct {
			Date1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := w.readList(name, &book); err != nil {
		return err
	}
	w.date1904 = book.Properties.Date1904 == "1" || book.Properties.Date1904 == "true"
	for _, s := range book.Sheets {
		if r := related[s.ID]; r.kind == "worksheet" && w.parts[r.target] != nil {
			w.sheets = append(w.sheets, sheet{s.Name, w.parts[r.target]})
		}
	}
	switch {
	case len(w.sheets) == 0:
		return fmt.Errorf("%s names no sheet", name)
	case len(w.sheets) > maxSheets:
		return errManySheets
	}
	for _, r := range related {
		if w.parts[r.target] != nil && r.kind == "sharedStrings" && w.strings == nil {
			err = w.readStrings(r.target)
		}
	}
	return err
}

// readList reads a part that lists other parts.
func (w *workbook) readList(name string, list any) error {
	file, ok := w.parts[name]
	if !ok {
		return fmt.Errorf("%s is missing", name)
	}
	source, err := file.Open()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(source, maxList+1))
	if err == nil && len(text) > maxList {
		err = errBigList
	}
	if err == nil {
		err = xml.Unmarshal(text, list)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// relationship names a part to which another part refers, and what it is.
type relationship struct{ kind, target string }

// relationships reads a list of relationships by their ids; it is empty where
// there is no such part. Targets are relative to dir.
func (w *workbook) relationships(name, dir string) (map[string]relationship, error) {
	found := map[string]relationship{}
	if name = partName("", name); w.parts[name] == nil {
		return found, nil
	}
	var list struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:",attr"`
			Target string `xml:",attr"`
		}
	}
	err := w.readList(name, &list)
	for _, r := range list.Relationship {
		found[r.ID] = relationship{path.Base(r.Type), partName(dir, r.Target)}
	}
	return found, err
}

// partName returns the name by which a part is looked up. Some programs write
// backslashes, or letters of another case than where they refer to the part.
func partName(dir, name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	if !strings.HasPrefix(name, "/") {
		name = path.Join(dir, name)
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// xmlPart is a part that is read as a stream. It reads from the file of the workbook
// and needs no closing.
type xmlPart struct {
	source    io.Reader
	raw       *xml.Decoder // the elements as they are written
	decoder   *xml.Decoder // the same within the bounds; every element that begins ends
	book      *workbook
	size      int64 // in bytes, as the archive declares it
	read      int64 // bytes that were read
	piece     int64 // of them, bytes for the present row, text or tag
	mostPiece int64
	depth     int // elements that are open
}

// openPart opens a part in UTF-8; bytes that aren't UTF-8 become U+FFFD. A part
// in another encoding is damaged XML.
func (w *workbook) openPart(file *zip.File, mostPiece int64) (*xmlPart, error) {
	source, err := file.Open()
	if err != nil {
		return nil, err
	}
	p := &xmlPart{source: source, book: w, size: int64(min(file.UncompressedSize64, maxXML)), mostPiece: mostPiece}
	p.raw = xml.NewDecoder(unicode.UTF8.NewDecoder().Reader(p))
	p.decoder = xml.NewTokenDecoder(p)
	return p, nil
}

// Read reads from the part, within the bounds.
func (p *xmlPart) Read(b []byte) (int, error) {
	n, err := p.source.Read(b)
	p.read += int64(n)
	p.piece += int64(n)
	if p.book.read += int64(n); p.book.read > maxXML {
		return 0, errMuchXML
	}
	if p.piece > p.mostPiece {
		return 0, errBigPiece
	}
	return n, err
}

// Token returns the next token for decoder.
func (p *xmlPart) Token() (xml.Token, error) {
	token, err := p.raw.RawToken()
	switch token.(type) {
	case xml.StartElement:
		p.depth++
	case xml.EndElement:
		p.depth--
	}
	if p.depth > maxDepth {
		return nil, errDeep
	}
	return token, err
}

// next returns the next token outside a row or text.
func (p *xmlPart) next() (xml.Token, error) {
	p.piece = 0
	return p.decoder.Token()
}

// xmlText is a text of a cell; it has no elements within it.
type xmlText struct {
	Text   string     `xml:",chardata"`
	Within []struct{} `xml:",any"`
}

// xmlRich is a text with a part for each font. The pronunciation (<rPh>) that East
// Asian texts have is left out.
type xmlRich struct {
	Plain []xmlText `xml:"t"`
	Runs  []struct {
		Text []xmlText `xml:"t"`
	} `xml:"r"`
}

func (x xmlRich) text() (string, error) {
	all := x.Plain
	for _, run := range x.Runs {
		all = append(all, run.Text...)
	}
	var b strings.Builder
	for _, part := range all {
		if b.WriteString(part.Text); len(part.Within) > 0 {
			return "", errNested
		}
	}
	return unescape(b.String()), nil
}

// readStrings reads the texts that cells name by their number, from 0.
func (w *workbook) readStrings(name string) error {
	p, err := w.openPart(w.parts[name], maxText)
	size := 0
	for err == nil {
		var token xml.Token
		token, err = p.next()
		start, ok := token.(xml.StartElement)
		if err != nil || !ok || start.Name.Local != "si" {
			continue
		}
		var rich xmlRich
		if err = p.decoder.DecodeElement(&rich, &start); err != nil {
			break
		}
		var text string
		text, err = rich.text()
		if size += len(text) + stringHeader; size > maxSharedStrings {
			return errManyStrings()
		}
		w.strings = append(w.strings, text)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

var escaped = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// unescape replaces _xHHHH_, as spreadsheets write characters that XML can't
// hold (ECMA-376, 22.9.2.19).
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	return escaped.ReplaceAllStringFunc(s, func(code string) string {
		n, _ := strconv.ParseUint(code[2:6], 16, 16)
		return string(rune(n))
	})
}

// xlsxTable reads the rows of one sheet as a stream.
type xlsxTable struct {
	file   *os.File
	book   *workbook
	part   *xmlPart
	inRows bool // within <sheetData>
	ended  bool
	line   int
}

func (w *workbook) open(s sheet, file *os.File) (*xlsxTable, error) {
	part, err := w.openPart(s.part, maxRow)
	if err != nil {
		return nil, damaged(1, err)
	}
	return &xlsxTable{file: file, book: w, part: part}, nil
}

func (t *xlsxTable) progress() (done, total int64) { return t.part.read, t.part.size }

func (t *xlsxTable) close() error { return t.file.Close() }

// next returns the next row that the sheet holds; empty rows may be left out. The end
// of a sheet is that of its part: only there it is known whether the checksum is right.
func (t *xlsxTable) next() (record, error) {
	for {
		token, err := t.part.next()
		if errors.Is(err, io.EOF) {
			return record{}, io.EOF
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch name := token.Name.Local; {
			case name == "sheetData" && (t.inRows || t.ended):
				err = errTwoTables
			case name == "sheetData":
				t.inRows = true
			case name == "row" && t.inRows:
				var row record
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
			return record{}, damaged(t.line+1, err)
		}
	}
}

type xmlCell struct {
	Name   string     `xml:"r,attr"`
	Kind   string     `xml:"t,attr"`
	Value  []xmlText  `xml:"v"`
	Inline []xmlRich  `xml:"is"`
	Cells  []struct{} `xml:"c"`
}

// row reads a row whose element has just begun. Rows stand in ascending order, and so
// do the cells of a row.
func (t *xlsxTable) row(start xml.StartElement) (record, error) {
	var row struct {
		Number string     `xml:"r,attr"`
		Cells  []xmlCell  `xml:"c"`
		Rows   []struct{} `xml:"row"`
		Sheets []struct{} `xml:"sheetData"`
	}
	if err := t.part.decoder.DecodeElement(&row, &start); err != nil {
		return record{}, err
	}
	line := t.line + 1
	if row.Number != "" {
		n, err := strconv.Atoi(row.Number)
		if err != nil || n < line {
			return record{}, fmt.Errorf("row %q after line %d", row.Number, t.line)
		}
		line = n
	}
	if line > maxRows || len(row.Rows)+len(row.Sheets) > 0 {
		return record{}, errNested
	}
	r, column, size := record{line: line}, 0, 0
	for _, x := range row.Cells {
		if column++; x.Name != "" {
			letters := strings.TrimRight(x.Name, "0123456789")
			n, ok := columnNumber(letters)
			if !ok || n < column || x.Name[len(letters):] != strconv.Itoa(line) {
				return record{}, fmt.Errorf("cell %q in row %d after column %d", x.Name, line, column-1)
			}
			column = n
		}
		c, err := t.cell(x)
		if size += len(c.text); size > maxRowText {
			err = errLongRow
		}
		if err == nil && column > maxColumns {
			err = errManyCells
		}
		if err != nil {
			return record{}, err
		}
		if c.text != "" {
			r.cells = append(append(r.cells, make([]cell, column-1-len(r.cells))...), c)
		}
	}
	t.line = line
	return r, nil
}

func (t *xlsxTable) cell(x xmlCell) (c cell, err error) {
	switch {
	case len(x.Value)+len(x.Inline) > 1, len(x.Cells) > 0, len(x.Value) > 0 && len(x.Value[0].Within) > 0:
		return c, errNested
	case len(x.Inline) > 0:
		c.text, err = x.Inline[0].text()
		return c, err
	case len(x.Value) == 0:
		return c, nil
	}
	text := x.Value[0].Text
	switch x.Kind {
	case "s":
		if text = strings.TrimSpace(text); text == "" {
			return c, nil
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(t.book.strings) {
			return c, fmt.Errorf("there is no shared text %q", text)
		}
		return cell{text: t.book.strings[i]}, nil
	case "", "n":
		text = strings.TrimSpace(text)
		return cell{text, text != ""}, nil
	case "b":
		return cell{text: map[string]string{"0": "FALSE", "1": "TRUE"}[text]}, nil
	}
	return cell{text: unescape(text)}, nil
}

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
