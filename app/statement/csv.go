package statement

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// The bounds of a text file. sampleSize is how much of its beginning shows its
// encoding and its delimiter. A line may hold a cell of some megabytes. A quoted
// cell may go over maxCellLines lines; a quote that isn't closed by then is a
// mistake in its own line, and doesn't swallow the transactions below it.
const (
	sampleSize   = 256 << 10
	maxLine      = 8 << 20
	maxCellLines = 64
)

var (
	errLongLine  = errors.New("longer than 8 MiB")
	errManyCells = fmt.Errorf("more than %d columns", maxColumns)
)

// csvTable reads a text file of cells between delimiters.
type csvTable struct {
	file      *os.File
	size      int64
	text      *bufio.Reader
	end       byte // of a line: '\n', or '\r' in files of old Macs
	delimiter byte
	line      int      // number of the line that was returned last
	ahead     [][]byte // lines below it that were read already
}

// delimiters are the bytes that may stand between cells.
const delimiters = ",;\t|"

// openCSV reads a file that begins with sample.
func openCSV(file *os.File, size int64, sample []byte, o Options) (*csvTable, error) {
	delimiter, ok := findDelimiter(sample, o)
	if !ok {
		return nil, errDelimiter
	}
	t := newCSVTable(file, sample, delimiter)
	t.file, t.size = file, size
	return t, nil
}

// findDelimiter finds the delimiter with which a header with the most columns is
// found. Where no header is known, only one delimiter may cut the lines: ok is
// false where a second one cuts half as many of them as the first, such as commas
// in the amounts of a file with semicolons. Columns that are named by letter don't
// matter here: they are those of the preview, which is read without them.
func findDelimiter(sample []byte, o Options) (delimiter byte, ok bool) {
	if !o.mapsHeaders() {
		o.Map = nil
	}
	best, most := byte(','), 0
	cut, second, widest := byte(','), 0, 0
	for _, d := range []byte(delimiters) {
		r := Reader{table: newCSVTable(bytes.NewReader(sample), sample, d)}
		lines := r.peek(headerLines)
		if h, _, _ := findHeader(lines, o); len(h.columns) > most && h.line > 0 {
			best, most = d, len(h.columns)
		}
		n := 0
		for _, l := range lines {
			if l.filled() >= 2 {
				n++
			}
		}
		if n > widest {
			cut, second, widest = d, widest, n
		} else {
			second = max(second, n)
		}
	}
	if most > 0 {
		return best, true
	}
	return cut, second*2 < max(widest, 1)
}

func newCSVTable(r io.Reader, sample []byte, delimiter byte) *csvTable {
	if e := encodingOf(sample); e != nil {
		r = e.NewDecoder().Reader(r)
	}
	t := &csvTable{text: bufio.NewReaderSize(r, 64<<10), end: '\n', delimiter: delimiter}
	if bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(sample, '\r') >= 0 {
		t.end = '\r'
	}
	return t
}

// encodingOf finds the encoding of a text that begins with sample; nil: UTF-8 without
// a byte order mark. A text that is neither UTF-8 nor UTF-16 is taken for
// Windows-1258, which Excel writes on Vietnamese computers.
func encodingOf(sample []byte) encoding.Encoding {
	var zeros [2]int // at even places, and at odd ones
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	whole := sample
	if len(sample) == sampleSize { // the last line is cut
		whole = sample[:bytes.LastIndexAny(sample, "\r\n")+1]
	}
	switch {
	case bytes.HasPrefix(sample, []byte{0xEF, 0xBB, 0xBF}):
		return unicode.UTF8BOM
	case bytes.HasPrefix(sample, []byte{0xFF, 0xFE}), bytes.HasPrefix(sample, []byte{0xFE, 0xFF}):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case zeros[0] == 0 && zeros[1] > len(sample)/4:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case zeros[1] == 0 && zeros[0] > len(sample)/4:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case !utf8.Valid(whole):
		return charmap.Windows1258
	}
	return nil
}

// next returns the next line, also a blank one.
func (t *csvTable) next() (record, error) {
	line, err := t.peekLine(0)
	if err != nil {
		return record{}, err
	}
	t.ahead = t.ahead[1:]
	t.line++
	r := record{line: t.line}
	if t.line == 1 && len(line) == 5 && strings.EqualFold(string(line[:4]), "sep=") {
		return r, nil // Excel names the delimiter so
	}
	fields, err := t.split(line)
	if err == nil && len(fields) > maxColumns {
		err = damaged(t.line, errManyCells)
	}
	if err != nil {
		return record{}, err
	}
	r.cells = make([]cell, len(fields))
	for i, f := range fields {
		r.cells[i].text = f
	}
	return r, nil
}

// split cuts a line into cells, together with the lines below it into which a
// quoted cell goes on.
func (t *csvTable) split(line []byte) ([]string, error) {
	if bytes.IndexByte(line, '"') < 0 {
		return strings.SplitN(string(line), string(rune(t.delimiter)), maxColumns+1), nil
	}
	whole, more := line, 0
	for ; bytes.Count(whole, []byte{'"'})%2 != 0 && more < maxCellLines && len(whole) < maxLine; more++ {
		next, err := t.peekLine(more)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		whole = append(append(whole[:len(whole):len(whole)], '\n'), next...)
	}
	if fields, err := t.parse(whole, false); err == nil && len(fields) <= maxColumns {
		t.ahead = t.ahead[more:]
		t.line += more
		return fields, nil
	}
	return t.parse(line, true)
}

// parse reads the one record that whole is. lazy takes a quote within a cell for a
// part of it.
func (t *csvTable) parse(whole []byte, lazy bool) ([]string, error) {
	r := csv.NewReader(bytes.NewReader(whole))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = rune(t.delimiter), -1, lazy
	fields, err := r.Read()
	if err != nil {
		return nil, damaged(t.line, err)
	}
	return fields, nil
}

// peekLine returns line i, from 0, below the line that was returned last.
func (t *csvTable) peekLine(i int) ([]byte, error) {
	for len(t.ahead) <= i {
		line, err := t.readLine()
		if err != nil {
			return nil, err
		}
		t.ahead = append(t.ahead, line)
	}
	return t.ahead[i], nil
}

// readLine reads a line without its end, and without NULs.
func (t *csvTable) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := t.text.ReadSlice(t.end)
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, damaged(t.line+len(t.ahead)+1, errLongLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte{0}, nil), nil
		}
		return nil, err
	}
}

func (t *csvTable) progress() (done, total int64) {
	done, _ = t.file.Seek(0, io.SeekCurrent)
	return done, t.size
}

func (t *csvTable) close() error { return t.file.Close() }
