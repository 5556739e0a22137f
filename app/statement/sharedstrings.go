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

// How much text a workbook may share among its cells. A million rows with
// three texts each have about 200 MB.
const (
	maxStrings     = 1 << 30
	maxStringCount = 1 << 24
)

var (
	errBigStrings = errors.New("more than 1 GiB or 16 million of texts")
	errNoString   = errors.New("no such shared text")
)

// sharedStrings are the texts of a workbook, which its cells name by number.
type sharedStrings struct {
	store textStore
	ends  []uint32 // where each text ends
}

// at gives text number i, from 0.
func (s *sharedStrings) at(i int) (string, error) {
	if s == nil || i < 0 || i >= len(s.ends) {
		return "", fmt.Errorf("%w: %d", errNoString, i)
	}
	begin := uint32(0)
	if i > 0 {
		begin = s.ends[i-1]
	}
	return s.store.text(int(begin), int(s.ends[i]))
}

func (s *sharedStrings) close() error {
	if s == nil {
		return nil
	}
	return s.store.close()
}

// readSharedStrings reads the part of the shared texts. What it gives is to
// be closed, also after an error.
func readSharedStrings(file *zip.File) (*sharedStrings, error) {
	s := &sharedStrings{}
	p, err := openPart(file)
	if err != nil {
		return s, err
	}
	defer p.close()
	var buf []byte
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if start, ok := token.(xml.StartElement); err == nil && ok && start.Name.Local == "si" {
			if buf, err = p.richText(buf[:0]); err == nil {
				err = s.add(unescape(string(buf)))
			}
		}
		if err != nil {
			return s, fmt.Errorf("%s: text %d: %w", file.Name, len(s.ends)+1, err)
		}
	}
}

func (s *sharedStrings) add(text string) error {
	if s.store.size()+len(text) > maxStrings || len(s.ends) == maxStringCount {
		return errBigStrings
	}
	s.ends = append(s.ends, uint32(s.store.size()+len(text)))
	return s.store.add(text)
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
