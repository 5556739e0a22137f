package statement

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"baoco/app"
)

// workbook is an XLSX file: a zip archive of XML parts (ECMA-376).
//
// It is read here and not by a spreadsheet library, since the one there is
// for Go (excelize, which the tests write their files with) ends a sheet
// without an error where its XML is damaged, and gives another text for a
// shared string that is missing. A control character that somebody put in a
// transfer's content would make every transaction below it disappear.
type workbook struct {
	parts    map[string]*zip.File // by name in lower case
	sheets   []sheet
	strings  []string // the shared texts
	date1904 bool     // days are counted from 1904, as on old Macs
}

type sheet struct {
	name string
	part *zip.File
}

// openWorkbook reads what stands before the cells.
func openWorkbook(r io.ReaderAt, size int64) (*workbook, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, notSpreadsheet(err)
	}
	w := &workbook{parts: map[string]*zip.File{}}
	for _, f := range archive.File {
		w.parts[partName("", f.Name)] = f
	}
	main := "xl/workbook.xml"
	roots, err := w.relationships("_rels/.rels", "")
	if err != nil {
		return nil, notSpreadsheet(err)
	}
	for _, r := range roots {
		if r.kind == "officeDocument" {
			main = r.target
		}
	}
	if err := w.readMain(main); err != nil {
		var known *app.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, notSpreadsheet(err)
	}
	return w, nil
}

// readMain reads the main part: the names of the sheets and where they are.
func (w *workbook) readMain(name string) error {
	main, ok := w.parts[name]
	if !ok {
		return fmt.Errorf("%s is missing", name)
	}
	related, err := w.relationships(path.Join(path.Dir(name), "_rels", path.Base(name)+".rels"), path.Dir(name))
	if err != nil {
		return err
	}
	err = elements(main, func(element string, attrs []xml.Attr) {
		switch element {
		case "workbookPr":
			v := attr(attrs, "date1904")
			w.date1904 = v == "1" || v == "true"
		case "sheet":
			r := related[attr(attrs, "id")]
			if part, ok := w.parts[r.target]; ok && r.kind == "worksheet" {
				w.sheets = append(w.sheets, sheet{attr(attrs, "name"), part})
			}
		}
	})
	if err != nil {
		return err
	}
	if len(w.sheets) == 0 {
		return fmt.Errorf("%s names no sheet", name)
	}
	for _, r := range related {
		if part, ok := w.parts[r.target]; ok && r.kind == "sharedStrings" && w.strings == nil {
			w.strings, err = readSharedStrings(part)
		}
	}
	return err
}

// relationship says where a part that another one names is.
type relationship struct{ kind, target string }

// relationships reads a list of relationships by their ids; an empty one where
// there is none. Their targets are within dir.
func (w *workbook) relationships(list, dir string) (map[string]relationship, error) {
	found := map[string]relationship{}
	part, ok := w.parts[partName("", list)]
	if !ok {
		return found, nil
	}
	err := elements(part, func(element string, attrs []xml.Attr) {
		if element == "Relationship" {
			found[attr(attrs, "Id")] = relationship{path.Base(attr(attrs, "Type")), partName(dir, attr(attrs, "Target"))}
		}
	})
	return found, err
}

// partName is the name of a part as it is looked up. Some programs write
// backslashes, or letters of another case than they refer to.
func partName(dir, name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	if !strings.HasPrefix(name, "/") {
		name = path.Join(dir, name)
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

func notSpreadsheet(err error) error {
	return &app.Error{
		Code: app.CodeValidation,
		Text: app.Text{
			EN: "The file is damaged or is not an Excel workbook; open it in a spreadsheet program and save it again as .xlsx or .csv.",
			VI: "Tệp bị hỏng hoặc không phải là bảng tính Excel; hãy mở bằng phần mềm bảng tính rồi lưu lại thành .xlsx hoặc .csv.",
		},
		Err: err,
	}
}

// maxSharedStrings is how much memory the shared texts of a workbook may take,
// in bytes. A hundred thousand rows with three texts each need about 25 MiB.
const (
	maxSharedStrings = 64 << 20
	stringHeader     = 16 // bytes that a string takes beside its text
)

func errManyStrings() error {
	return app.Refused(app.CodeValidation, app.Text{
		EN: "The workbook holds too much text to be read as .xlsx (more than 64 MiB); save it as .csv in a spreadsheet program and import that file.",
		VI: "Bảng tính chứa quá nhiều văn bản để đọc ở dạng .xlsx (hơn 64 MiB); hãy lưu lại thành .csv bằng phần mềm bảng tính rồi nhập tệp đó.",
	})
}

// readSharedStrings reads the texts that the cells of a workbook name by
// number, from 0.
func readSharedStrings(file *zip.File) (texts []string, err error) {
	p, err := openPart(file)
	if err != nil {
		return nil, err
	}
	defer p.close()
	size := 0
	var buf []byte
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if start, ok := token.(xml.StartElement); err == nil && ok && start.Name.Local == "si" {
			if buf, err = p.richText(buf[:0]); err == nil {
				text := unescape(string(buf))
				if size += len(text) + stringHeader; size > maxSharedStrings {
					return nil, errManyStrings()
				}
				texts = append(texts, text)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: text %d: %w", file.Name, len(texts)+1, err)
		}
	}
}

// richText appends the text of the element that has just begun: that of its
// <t>s, be they in runs of several fonts, but not of the pronunciation (<rPh>)
// that East Asian texts have.
func (p *xmlPart) richText(buf []byte) ([]byte, error) {
	var inText, inSound bool
	for end := p.depth - 1; p.depth > end; {
		token, err := p.next()
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = inText || token.Name.Local == "t"
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

// unescape replaces _xHHHH_, as spreadsheets write characters that XML can't
// hold (ECMA-376, 22.9.2.19).
func unescape(s string) string {
	at := strings.Index(s, "_x")
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at:]
		if len(s) >= 7 && s[6] == '_' {
			if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
				b.WriteRune(rune(n))
				s = s[7:]
				at = strings.Index(s, "_x")
				continue
			}
		}
		b.WriteString(s[:2])
		s = s[2:]
		at = strings.Index(s, "_x")
	}
	b.WriteString(s)
	return b.String()
}
