package statement

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"baoco/app"
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

// maxSheets is how many sheets a workbook may have.
const maxSheets = 1000

var errTooManySheets = fmt.Errorf("more than %d sheets", maxSheets)

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
	err = w.elements(name, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			v := attr(e, "date1904")
			w.date1904 = v == "1" || v == "true"
		case "sheet":
			r := related[attr(e, "id")]
			if part, ok := w.parts[r.target]; ok && r.kind == "worksheet" {
				w.sheets = append(w.sheets, sheet{attr(e, "name"), part})
			}
			if len(w.sheets) > maxSheets {
				return errTooManySheets
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(w.sheets) == 0 {
		return fmt.Errorf("%s names no sheet", name)
	}
	for _, r := range related {
		if w.parts[r.target] != nil && r.kind == "sharedStrings" && w.strings == nil {
			err = w.readStrings(r.target)
		}
	}
	return err
}

// elements calls f for every element of a part that lists other parts.
func (w *workbook) elements(name string, f func(start xml.StartElement) error) error {
	file, ok := w.parts[name]
	if !ok {
		return fmt.Errorf("%s is missing", name)
	}
	p, err := w.openPart(file)
	if err != nil {
		return err
	}
	p.list = true
	return p.elements(f)
}

// relationship names a part to which another part refers, and what it is.
type relationship struct{ kind, target string }

// relationships reads a list of relationships by their ids; it is empty where
// there is no such part. Targets are relative to dir.
func (w *workbook) relationships(list, dir string) (map[string]relationship, error) {
	found := map[string]relationship{}
	if list = partName("", list); w.parts[list] == nil {
		return found, nil
	}
	err := w.elements(list, func(e xml.StartElement) error {
		if e.Name.Local == "Relationship" {
			found[attr(e, "Id")] = relationship{path.Base(attr(e, "Type")), partName(dir, attr(e, "Target"))}
		}
		return nil
	})
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

// maxSharedStrings is how much memory the shared texts of a workbook may take,
// in bytes. A hundred thousand rows with three texts each need about 25 MiB.
const (
	maxSharedStrings = 64 << 20
	stringHeader     = 16 // bytes that a string takes beside its text
)

// readStrings reads the texts that cells name by their number, from 0.
func (w *workbook) readStrings(name string) error {
	p, err := w.openPart(w.parts[name])
	if err != nil {
		return err
	}
	size := 0
	var buf []byte
	return p.elements(func(start xml.StartElement) error {
		if start.Name.Local != "si" {
			return nil
		}
		if buf, err = p.richText(buf[:0]); err != nil {
			return err
		}
		text := unescape(string(buf))
		if size += len(text) + stringHeader; size > maxSharedStrings {
			return errManyStrings()
		}
		w.strings = append(w.strings, text)
		return nil
	})
}

// richText appends the text of the element that has just begun: the text of its
// <t> elements, of which there is one for each font. The pronunciation (<rPh>)
// that East Asian texts have is left out.
func (p *xmlPart) richText(buf []byte) ([]byte, error) {
	var inText, inSound bool
	for end := p.depth - 1; p.depth > end; {
		token, err := p.next()
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if inText {
				return nil, errNested
			}
			inText = token.Name.Local == "t"
			inSound = inSound || token.Name.Local == "rPh"
		case xml.EndElement:
			inText = inText && token.Name.Local != "t"
			inSound = inSound && token.Name.Local != "rPh"
		case xml.CharData:
			if inText && !inSound && len(buf) < maxToken {
				buf = append(buf, token...)
			}
		}
	}
	return buf, nil
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
