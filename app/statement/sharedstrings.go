package statement

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"baoco/app"
)

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
