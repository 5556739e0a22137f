package statement

import (
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// sampleSize is how much of a text file is looked at to know its encoding and
// its delimiter.
const sampleSize = 256 << 10

// utf8Reader gives r, whose beginning is sample, as UTF-8 without a byte order
// mark. What is neither UTF-8 nor UTF-16 is taken for Windows-1258, which
// Excel writes on Vietnamese computers.
func utf8Reader(r io.Reader, sample []byte) io.Reader {
	switch {
	case bytes.HasPrefix(sample, []byte{0xEF, 0xBB, 0xBF}):
		return transform.NewReader(r, unicode.UTF8BOM.NewDecoder())
	case bytes.HasPrefix(sample, []byte{0xFF, 0xFE}), bytes.HasPrefix(sample, []byte{0xFE, 0xFF}):
		return transform.NewReader(r, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case !utf8.Valid(wholeLines(sample)):
		return transform.NewReader(r, charmap.Windows1258.NewDecoder())
	}
	return r
}

// wholeLines is sample without the line that its end cuts.
func wholeLines(sample []byte) []byte {
	if len(sample) < sampleSize {
		return sample
	}
	return sample[:bytes.LastIndexAny(sample, "\r\n")+1]
}
