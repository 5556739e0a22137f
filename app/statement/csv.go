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

// The bounds of a text file. A line may hold a cell of some megabytes. A
// quoted cell may run over so many lines; a quote that isn't closed by then is
// a slip of that one line, and doesn't swallow the transactions below it.
const (
	maxLine      = 8 << 20
	maxCellLines = 64
)

// csvTable reads a text file of cells between delimiters.
type csvTable struct {
	file      *os.File
	size      int64
	counted   *countingReader
	text      *bufio.Reader
	end       byte // of a line: '\n', or '\r' in files of old Macs
	delimiter byte
	line      int      // of the last one given
	ahead     [][]byte // lines read beyond it
	feed      feed
	strict    *csv.Reader // nil: make a new one
}

// delimiters are tried in this order.
const delimiters = ",;\t|"

// openCSV reads file, from its beginning, with the delimiter for which
// columns, given the first lines, counts the most columns.
func openCSV(file *os.File, columns func([]record) int) (*csvTable, error) {
	sample, err := readSample(file)
	if err != nil {
		return nil, err
	}
	best, most := byte(0), 0
	for i := range len(delimiters) {
		lines := firstLines(newCSVTable(bytes.NewReader(sample), sample, delimiters[i]))
		if n := columns(lines); n > most {
			best, most = delimiters[i], n
		}
	}
	if best == 0 {
		best = commonDelimiter(sample)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	t := newCSVTable(file, sample, best)
	t.file, t.size = file, info.Size()
	return t, nil
}

// readSample reads the beginning of file and goes back to it.
func readSample(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	sample := make([]byte, min(sampleSize, max(info.Size(), 512)))
	n, err := io.ReadFull(file, sample)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return sample[:n], err
}

// firstLines gives the lines among which a header is looked for.
func firstLines(t *csvTable) []record {
	var lines []record
	for len(lines) < headerLines {
		r, err := t.next()
		if err != nil {
			break
		}
		lines = append(lines, r)
	}
	return lines
}

// commonDelimiter is the delimiter that occurs most.
func commonDelimiter(sample []byte) byte {
	best, most := delimiters[0], -1
	for i := range len(delimiters) {
		if n := bytes.Count(sample, []byte{delimiters[i]}); n > most {
			best, most = delimiters[i], n
		}
	}
	return best
}

func newCSVTable(r io.Reader, sample []byte, delimiter byte) *csvTable {
	t := &csvTable{counted: &countingReader{r: r}, end: '\n', delimiter: delimiter}
	t.text = bufio.NewReaderSize(utf8Reader(t.counted, sample), 64<<10)
	if bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(sample, '\r') >= 0 {
		t.end = '\r'
	}
	return t
}

// next gives the next line, blank ones too.
func (t *csvTable) next() (record, error) {
	line, err := t.nextLine()
	if err != nil {
		return record{}, err
	}
	t.line++
	r := record{line: t.line}
	if t.line == 1 && len(line) == 5 && strings.EqualFold(string(line[:4]), "sep=") {
		return r, nil // Excel's own remark
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

// split cuts line, and where a quoted cell goes on the lines below it, into
// cells.
func (t *csvTable) split(line []byte) ([]string, error) {
	if bytes.IndexByte(line, '"') < 0 {
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
	if fields, err := t.parse(whole, false); err == nil {
		t.ahead = t.ahead[more:]
		t.line += more
		return fields, nil
	}
	fields, err := t.parse(line, true)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", t.line, err)
	}
	return fields, nil
}

// nextLine gives the next line without its end, and without NULs.
func (t *csvTable) nextLine() ([]byte, error) {
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		return line, nil
	}
	return t.readLine()
}

// peekLine gives the line i below the last one given, from 0.
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

var errLongLine = errors.New("longer than 8 MiB")

func (t *csvTable) progress() (done, total int64) { return t.counted.n, t.size }

func (t *csvTable) close() error { return t.file.Close() }

// parse reads one record, which whole is, by encoding/csv.
func (t *csvTable) parse(whole []byte, lazy bool) ([]string, error) {
	r := t.strict
	if r == nil || lazy {
		r = csv.NewReader(&t.feed)
		r.Comma, r.FieldsPerRecord, r.LazyQuotes = rune(t.delimiter), -1, lazy
	}
	t.feed.rest = append(whole, '\n')
	t.strict = nil // holds the rest of the record after an error
	fields, err := r.Read()
	if err == nil && !lazy {
		t.strict = r
	}
	return fields, err
}

// feed hands a csv.Reader one record at a time, so that a quote which isn't
// closed ends with it.
type feed struct{ rest []byte }

func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// countingReader counts what was read, for progress.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

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
