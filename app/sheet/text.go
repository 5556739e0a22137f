package sheet

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

// These are the bounds of a text file. The first sampleSize bytes show its encoding and
// its delimiter. A line may hold a cell of some megabytes. A quoted cell may extend over
// maxCellLines further lines; a quote that isn't closed by then is a mistake in its own line,
// and doesn't swallow the transactions below it.
const (
	sampleSize   = 256 << 10
	maxLine      = 8 << 20
	maxCellLines = 64
)

var (
	errLongLine  = errors.New("longer than 8 MiB")
	errManyCells = fmt.Errorf("more than %d columns", MaxColumns)
)

// textTable reads a text file of cells between delimiters.
type textTable struct {
	file      *os.File
	size      int64
	text      *bufio.Reader
	delimiter byte
	line      int      // number of the line that was returned last
	ahead     [][]byte // the lines below line that were read already
}

// Delimiters are the bytes that may stand between cells.
const Delimiters = ",;\t|"

// Text returns the lines of a text file whose cells are separated by delimiter.
func (f *File) Text(delimiter byte) Table {
	_, _ = f.file.Seek(0, io.SeekStart)
	t := newTextTable(f.file, f.sample, delimiter)
	t.file, t.size = f.file, f.size
	return t
}

// Sample returns the first lines of a text file, which may end within a line.
func (f *File) Sample(delimiter byte) Table {
	return newTextTable(bytes.NewReader(f.sample), f.sample, delimiter)
}

func newTextTable(r io.Reader, sample []byte, delimiter byte) *textTable {
	return &textTable{text: bufio.NewReaderSize(decoded(r, sample), 64<<10), delimiter: delimiter}
}

// decoded reads in UTF-8 a text that begins with sample.
func decoded(r io.Reader, sample []byte) io.Reader {
	if e := encodingOf(sample); e != nil {
		return e.NewDecoder().Reader(r)
	}
	return r
}

// encodingOf finds the encoding of a text that begins with sample; nil: UTF-8 without
// a byte order mark. A text that is neither UTF-8 nor UTF-16 is taken for
// Windows-1258, which Excel writes on Vietnamese computers.
func encodingOf(sample []byte) encoding.Encoding {
	var zeros [2]int // zero bytes at even places, and at odd ones
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	whole := sample
	if len(sample) == sampleSize { // the last line is cut
		whole = sample[:bytes.LastIndexByte(sample, '\n')+1]
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

// Next returns the next line, also a blank one.
func (t *textTable) Next() (Record, error) {
	line, err := t.peekLine(0)
	if err != nil {
		return Record{}, err
	}
	t.ahead = t.ahead[1:]
	t.line++
	r := Record{Line: t.line}
	fields, err := t.split(line)
	if err == nil && len(fields) > MaxColumns {
		err = damaged(t.line, errManyCells)
	}
	if err != nil {
		return Record{}, err
	}
	r.Cells = make([]Cell, len(fields))
	for i, f := range fields {
		r.Cells[i].Text = f
	}
	return r, nil
}

// split cuts a line into cells, together with the lines below into which a quoted cell
// extends.
func (t *textTable) split(line []byte) ([]string, error) {
	if bytes.IndexByte(line, '"') < 0 {
		if bytes.Count(line, []byte{t.delimiter}) >= MaxColumns {
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
	if fields, err := t.parse(whole, false); err == nil && len(fields) <= MaxColumns {
		t.ahead = t.ahead[more:]
		t.line += more
		return fields, nil
	}
	return t.parse(line, true)
}

// parse reads whole as one record. If lazy is set, a quote within a cell is a part of the
// cell.
func (t *textTable) parse(whole []byte, lazy bool) ([]string, error) {
	r := csv.NewReader(bytes.NewReader(whole))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = rune(t.delimiter), -1, lazy
	fields, err := r.Read()
	if err != nil {
		return nil, damaged(t.line, err)
	}
	return fields, nil
}

// peekLine returns line i, from 0, below the line that was returned last.
func (t *textTable) peekLine(i int) ([]byte, error) {
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
func (t *textTable) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := t.text.ReadSlice('\n')
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

func (t *textTable) Progress() (done, total int64) {
	done, _ = t.file.Seek(0, io.SeekCurrent)
	return done, t.size
}
