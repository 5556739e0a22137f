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

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
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

// csvTable reads a text file of cells between delimiters.
type csvTable struct {
	file      *os.File
	size      int64
	text      *bufio.Reader
	end       byte // of a line: '\n', or '\r' in files of old Macs
	delimiter byte
	line      int      // number of the line that was returned last
	ahead     [][]byte // lines below it that were read already
	feed      feed
	strict    *csv.Reader // nil: make a new one
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
	t := &csvTable{text: bufio.NewReaderSize(utf8Reader(r, sample), 64<<10), end: '\n', delimiter: delimiter}
	if bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(sample, '\r') >= 0 {
		t.end = '\r'
	}
	return t
}

// next returns the next line, also a blank one.
func (t *csvTable) next() (record, error) {
	line, err := t.nextLine()
	if err != nil {
		return record{}, err
	}
	t.line++
	r := record{line: t.line}
	if t.line == 1 && len(line) == 5 && strings.EqualFold(string(line[:4]), "sep=") {
		return r, nil // Excel names the delimiter so
	}
	fields, err := t.split(line)
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
		if bytes.Count(line, []byte{t.delimiter}) >= maxColumns {
			return nil, damaged(t.line, errManyCells)
		}
		return strings.Split(string(line), string(rune(t.delimiter))), nil
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
	fields, err := t.parse(line, true)
	switch {
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", t.line, err)
	case len(fields) > maxColumns:
		return nil, damaged(t.line, errManyCells)
	}
	return fields, nil
}

// nextLine returns the next line without its end, and without NULs.
func (t *csvTable) nextLine() ([]byte, error) {
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		return line, nil
	}
	return t.readLine()
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

func (t *csvTable) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := t.text.ReadSlice(t.end)
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, damaged(t.line+len(t.ahead)+1, errLongLine)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			line = bytes.TrimRight(line, "\r\n")
			if bytes.IndexByte(line, 0) >= 0 {
				line = bytes.ReplaceAll(line, []byte{0}, nil)
			}
			return line, nil
		}
		return nil, err
	}
}

var (
	errLongLine  = errors.New("longer than 8 MiB")
	errManyCells = fmt.Errorf("more than %d columns", maxColumns)
)

func (t *csvTable) progress() (done, total int64) {
	done, _ = t.file.Seek(0, io.SeekCurrent)
	return done, t.size
}

func (t *csvTable) close() error { return t.file.Close() }

// parse reads the one record that whole is, by encoding/csv.
func (t *csvTable) parse(whole []byte, lazy bool) ([]string, error) {
	r := t.strict
	if r == nil || lazy {
		r = csv.NewReader(&t.feed)
		r.Comma, r.FieldsPerRecord, r.LazyQuotes = rune(t.delimiter), -1, lazy
	}
	t.feed.rest = append(whole, '\n')
	t.strict = nil // after an error it would hold the rest of the record
	fields, err := r.Read()
	if err == nil && !lazy {
		t.strict = r
	}
	return fields, err
}

// feed gives a csv.Reader one record at a time, so that a quote that isn't
// closed ends with its record.
type feed struct{ rest []byte }

func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// utf8Reader decodes r, which begins with sample, to UTF-8 without a byte order
// mark. A text that is neither UTF-8 nor UTF-16 is taken for Windows-1258, which
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

// wholeLines returns sample without the line that is cut by its end.
func wholeLines(sample []byte) []byte {
	if len(sample) < sampleSize {
		return sample
	}
	return sample[:bytes.LastIndexAny(sample, "\r\n")+1]
}
