package sheet

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// The bounds of a spreadsheet, so that no file of a few bytes can take all the memory there
// is, or all the time. A sheet of a million rows has about 500 MB of XML, a hundred thousand rows
// with three texts each need about 25 MiB of shared texts.
const (
	mostWork         = 8 << 30 // of all parts; those of sheets are read twice
	rowWork          = 1 << 15 // of one row, if the rows are bounded: 128 elements
	maxList          = 4 << 20 // of a part that lists other parts
	maxText          = 4 << 20 // of one shared text
	maxRow           = 1 << 20 // of one row
	maxDepth         = 64      // elements within elements
	maxSheets        = 1000
	maxRows          = 1 << 20
	MaxColumns       = 1 << 14
	maxRowText       = 256 << 10 // bytes of text of one row, since many cells may name one long text
	maxSharedStrings = 64 << 20  // bytes of memory
	stringHeader     = 16        // bytes that a string takes beside its text
)

var (
	errTooMuch = refused("The workbook holds too much to be read; save it as .csv in a spreadsheet program and import that file.",
		"Bảng tính quá lớn để đọc; hãy lưu lại thành .csv bằng phần mềm bảng tính rồi nhập tệp đó.")
	errLarge  = errors.New("larger than what a spreadsheet program writes")
	errNested = errors.New("an element where it can't be: in a text, a row in a row, a cell in a cell, two values in a cell")
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
	formats  numberFormats
	date1904 bool  // days are counted from 1904, as on old Macs
	stale    bool  // what formulas come to is still to be calculated
	work     int64 // what may still be done, in bytes of XML
	ended    func() error
}

// What else takes as long as so many bytes: an element, and a cell of a row, though it is empty.
const (
	elementWork = 1 << 8
	cellWork    = 1 << 4
)

// spend counts work that is to be done.
func (w *workbook) spend(work int) error {
	if w.work -= int64(work); w.work < 0 {
		return errTooMuch
	}
	return w.ended()
}

type sheet struct {
	name   string
	part   *zip.File
	hidden bool
}

// openWorkbook reads all parts but the sheets.
func (f *File) openWorkbook() error {
	w := &workbook{parts: map[string]*zip.File{}, work: cmp.Or(int64(f.rows)*rowWork, mostWork), ended: f.Ended}
	err := w.readParts(f.file, f.size)
	f.table, f.Date1904 = w.sheet, w.date1904
	for _, s := range w.sheets {
		f.Sheets = append(f.Sheets, s.name)
	}
	return err
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
	roots, err := w.related("")
	if err != nil {
		return err
	}
	name := "xl/workbook.xml"
	if i := slices.IndexFunc(roots, func(r relationship) bool { return r.kind == "officeDocument" }); i >= 0 {
		name = roots[i].target
	}
	related, err := w.related(name)
	if err != nil {
		return err
	}
	var book struct {
		Properties struct {
			Date1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string `xml:"name,attr"`
			ID    string `xml:"id,attr"`
			State string `xml:"state,attr"`
		} `xml:"sheets>sheet"`
		Formulas struct {
			Due  string `xml:"fullCalcOnLoad,attr"`
			Done string `xml:"calcCompleted,attr"`
		} `xml:"calcPr"`
	}
	if err := w.readList(name, &book); err != nil {
		return err
	}
	w.date1904 = isTrue(book.Properties.Date1904)
	w.stale = isTrue(book.Formulas.Due) || book.Formulas.Done != "" && !isTrue(book.Formulas.Done)
	byID := map[string]relationship{}
	for _, r := range slices.Backward(related) {
		byID[r.id] = r
	}
	for _, s := range book.Sheets {
		if r := byID[s.ID]; r.kind == "worksheet" && w.parts[r.target] != nil {
			w.sheets = append(w.sheets, sheet{s.Name, w.parts[r.target], s.State != "" && s.State != "visible"})
		}
	}
	if len(w.sheets) == 0 || len(w.sheets) > maxSheets {
		return fmt.Errorf("%d sheets", len(w.sheets))
	}
	for _, r := range related {
		switch {
		case w.parts[r.target] == nil || err != nil:
		case r.kind == "sharedStrings" && w.strings == nil:
			err = w.readStrings(r.target)
		case r.kind == "styles" && w.formats == nil:
			err = w.readStyles(r.target)
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
	p, err := w.openPart(file, maxList)
	if err == nil {
		err = p.decoder.Decode(list)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, p) // at the end it is known whether the checksum is right
	}
	return err
}

// relationship names a part to which another part refers, and what it is.
type relationship struct{ id, kind, target string }

// related reads the parts to which a part refers, in the order of the file: of two of one kind
// or one id the first one counts. It is empty where the part has no list of them. Targets are
// relative to the part.
func (w *workbook) related(to string) (found []relationship, err error) {
	dir := path.Dir(to)
	name := partName(dir, "_rels/"+strings.TrimPrefix(path.Base(to), ".")+".rels")
	if w.parts[name] == nil {
		return nil, nil
	}
	var list struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:",attr"`
			Target string `xml:",attr"`
		}
	}
	err = w.readList(name, &list)
	for _, r := range list.Relationship {
		found = append(found, relationship{r.ID, path.Base(r.Type), partName(dir, r.Target)})
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
	p := &xmlPart{source: source, book: w, size: int64(min(file.UncompressedSize64, mostWork)), mostPiece: mostPiece}
	p.raw = xml.NewDecoder(unicode.UTF8.NewDecoder().Reader(p))
	p.decoder = xml.NewTokenDecoder(p)
	return p, nil
}

// Read reads from the part for raw, within the bounds.
func (p *xmlPart) Read(b []byte) (int, error) {
	n, err := p.source.Read(b)
	if p.read, p.piece = p.read+int64(n), p.piece+int64(n); p.piece > p.mostPiece {
		return 0, errLarge
	}
	if err := p.book.spend(n); err != nil {
		return 0, err
	}
	return n, err
}

// Token returns the next token of raw for decoder.
func (p *xmlPart) Token() (xml.Token, error) {
	token, err := p.raw.RawToken()
	switch token.(type) {
	case xml.StartElement:
		p.depth++
		if err := p.book.spend(elementWork); err != nil {
			return nil, err
		}
	case xml.EndElement:
		p.depth--
	}
	if p.depth > maxDepth {
		return nil, errLarge
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

func (x xmlRich) text() (text string, err error) {
	all := x.Plain
	for _, run := range x.Runs {
		all = append(all, run.Text...)
	}
	for _, part := range all {
		if text += part.Text; len(part.Within) > 0 {
			err = errNested
		}
	}
	return unescape(text), err
}

// readStrings reads the texts that cells name by their number, from 0.
func (w *workbook) readStrings(name string) error {
	p, err := w.openPart(w.parts[name], maxText)
	for size := 0; err == nil; {
		var token xml.Token
		token, err = p.next()
		if start, ok := token.(xml.StartElement); err == nil && ok && start.Name.Local == "si" {
			var rich xmlRich
			var text string
			if err = p.decoder.DecodeElement(&rich, &start); err == nil {
				text, err = rich.text()
			}
			if size += len(text) + stringHeader; size > maxSharedStrings {
				return errTooMuch
			}
			w.strings = append(w.strings, text)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
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
