package statement

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// The bounds of a spreadsheet, so that no file of a few bytes can take all the
// memory there is. A sheet of a million rows has about 500 MB of XML.
const (
	maxXML   = 1 << 30 // bytes of XML of all parts
	maxList  = 4 << 20 // bytes of XML of a part that lists other parts
	maxToken = 4 << 20 // bytes of one tag, text or comment
	maxDepth = 64      // of elements within elements
)

var (
	errMuchXML    = errors.New("more than 1 GiB of XML")
	errBigList    = errors.New("more than 4 MiB of names of parts")
	errBigToken   = errors.New("more than 4 MiB in one piece")
	errDeep       = errors.New("elements nested too deeply")
	errUnbalanced = errors.New("an element ends that didn't begin")
)

// xmlPart is one XML file of a spreadsheet, read as a stream. It reads from the
// file of the workbook and needs no closing.
type xmlPart struct {
	name    string
	source  io.Reader
	decoder *xml.Decoder
	book    *workbook
	size    int64 // in bytes, as the archive declares it
	list    bool  // it lists other parts
	read    int64 // bytes that were read
	token   int64 // bytes that were read for the present token
	depth   int   // elements that are open
}

// openPart opens a part in UTF-8; bytes that aren't UTF-8 become U+FFFD. A part
// in another encoding is damaged XML.
func (w *workbook) openPart(file *zip.File) (*xmlPart, error) {
	source, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	p := &xmlPart{name: file.Name, source: source, book: w, size: int64(min(file.UncompressedSize64, maxXML))}
	p.decoder = xml.NewDecoder(unicode.UTF8.NewDecoder().Reader(p))
	return p, nil
}

// Read reads from the part, within the bounds.
func (p *xmlPart) Read(b []byte) (int, error) {
	n, err := p.source.Read(b)
	p.read += int64(n)
	p.token += int64(n)
	p.book.read += int64(n)
	switch {
	case p.book.read > maxXML:
		return 0, errMuchXML
	case p.list && p.read > maxList:
		return 0, errBigList
	case p.token > maxToken:
		return 0, errBigToken
	}
	return n, err
}

// next returns the next token, which is valid until the one after it. It doesn't
// look up name spaces, which would cost a fifth of the time: the names of these
// parts are clear without them.
func (p *xmlPart) next() (xml.Token, error) {
	p.token = 0
	token, err := p.decoder.RawToken()
	switch token.(type) {
	case xml.StartElement:
		p.depth++
	case xml.EndElement:
		p.depth--
	}
	switch {
	case p.depth > maxDepth:
		return nil, errDeep
	case p.depth < 0:
		return nil, errUnbalanced
	case errors.Is(err, io.EOF) && p.depth > 0:
		return nil, io.ErrUnexpectedEOF
	}
	return token, err
}

// elements calls f for every element that begins, up to the end of the part. Only
// there it is known whether the checksum is right.
func (p *xmlPart) elements(f func(start xml.StartElement) error) error {
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if start, ok := token.(xml.StartElement); err == nil && ok {
			err = f(start)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
}

// attr returns the value of an attribute, in any name space.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
