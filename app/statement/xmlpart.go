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
	maxPart  = 4 << 30 // bytes of XML of one part
	maxToken = 4 << 20 // bytes of one tag, text or comment
	maxDepth = 64      // of elements within elements
)

var (
	errBigPart  = errors.New("more than 4 GiB of XML")
	errBigToken = errors.New("more than 4 MiB in one piece")
	errDeep     = errors.New("elements nested too deeply")

	errUnbalanced = errors.New("an element ends that didn't begin")
)

// xmlPart is one XML file of a spreadsheet, read as a stream.
type xmlPart struct {
	source  io.ReadCloser
	decoder *xml.Decoder
	size    int64 // as declared
	read    int64 // of the source
	token   int64 // of that, since the last token
	depth   int
}

// openPart opens a part in UTF-8, in which bytes that are no UTF-8 become
// U+FFFD. A part in another encoding is damaged XML.
func openPart(file *zip.File) (*xmlPart, error) {
	source, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	p := &xmlPart{source: source, size: int64(min(file.UncompressedSize64, maxPart))}
	p.decoder = xml.NewDecoder(unicode.UTF8.NewDecoder().Reader(p))
	return p, nil
}

// Read keeps within the bounds.
func (p *xmlPart) Read(b []byte) (int, error) {
	n, err := p.source.Read(b)
	p.read += int64(n)
	p.token += int64(n)
	switch {
	case p.read > maxPart:
		return 0, errBigPart
	case p.token > maxToken:
		return 0, errBigToken
	}
	return n, err
}

// next gives the next token. It is valid until the one after it. Name spaces
// aren't looked up, which would cost a fifth of the time: the names of these
// parts are plain without them.
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

// drain reads what is left: only the end of a part tells whether its checksum
// is right.
func (p *xmlPart) drain() error {
	for {
		if _, err := p.next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// close ends the reading; its error would be one that reading gave before.
func (p *xmlPart) close() { _ = p.source.Close() }

// elements calls f for every element of a small part that begins, until the
// part ends.
func elements(file *zip.File, f func(name string, attrs []xml.Attr)) error {
	p, err := openPart(file)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		if start, ok := token.(xml.StartElement); ok {
			f(start.Name.Local, start.Attr)
		}
	}
}

// attr gives the value of an attribute, whatever its name space.
func attr(attrs []xml.Attr, name string) string {
	for _, a := range attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
