package statement

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The texts of a workbook are held in memory: no more than so many bytes, and
// so many texts. A million rows with three texts each have about 200 MB.
const (
	maxStrings     = 512 << 20
	maxStringCount = 1 << 24
)

var errBigStrings = errors.New("more than 512 MiB or 16 million of texts")

// sharedStrings are the texts of a workbook, which its cells name by number.
type sharedStrings struct {
	text string
	ends []uint32 // where each text ends
}

// at gives text number i, from 0.
func (s *sharedStrings) at(i int) (string, bool) {
	if s == nil || i < 0 || i >= len(s.ends) {
		return "", false
	}
	begin := uint32(0)
	if i > 0 {
		begin = s.ends[i-1]
	}
	return s.text[begin:s.ends[i]], true
}

func readSharedStrings(file *zip.File) (*sharedStrings, error) {
	p, err := openPart(file)
	if err != nil {
		return nil, err
	}
	defer p.close()
	s := &sharedStrings{}
	var all strings.Builder
	all.Grow(int(min(p.size, maxStrings) / 2))
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			s.text = all.String()
			return s, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: text %d: %w", file.Name, len(s.ends)+1, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "si" {
			text, err := p.richText(nil)
			if err != nil {
				return nil, fmt.Errorf("%s: text %d: %w", file.Name, len(s.ends)+1, err)
			}
			if all.Len()+len(text) > maxStrings || len(s.ends) == maxStringCount {
				return nil, errBigStrings
			}
			all.WriteString(unescape(string(text)))
			s.ends = append(s.ends, uint32(all.Len()))
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
