package sheet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"golang.org/x/text/encoding/charmap"
)

// oldWorkbook is a workbook of Excel 97 or Excel 5 (.xls): a stream of records ([MS-XLS]), first
// those of the workbook and then those of each sheet.
//
// It is read here: the libraries for Go panic, or go on with other values, where a record is damaged.
type oldWorkbook struct {
	stream   []byte
	read     int              // bytes of records that were read
	letters  *charmap.Charmap // of a workbook of Excel 5; nil: its texts are Unicode
	sheets   []oldSheet
	strings  []string // the shared texts
	formats  numberFormats
	date1904 bool
}

type oldSheet struct {
	name   string
	begin  int // in the stream
	hidden bool
}

// The records that are read.
const (
	recordFormula   = 0x06
	recordEnd       = 0x0A
	record1904      = 0x22
	recordPassword  = 0x2F
	recordContinue  = 0x3C
	recordLetters   = 0x42
	recordStale     = 0x5E
	recordColumns   = 0x7D
	recordSheet     = 0x85
	recordRKs       = 0xBD
	recordRichLabel = 0xD6
	recordStyle     = 0xE0
	recordMerged    = 0xE5
	recordStrings   = 0xFC
	recordShared    = 0xFD
	recordNumber    = 0x203
	recordLabel     = 0x204
	recordTruth     = 0x205
	recordText      = 0x207 // of the formula before
	recordRow       = 0x208
	recordRK        = 0x27E
	recordFormat    = 0x41E
	recordBegin     = 0x809
)

const (
	// maxOldWorkbook is the size of a file, which is read into memory as a whole, and once more as
	// its stream. In a statement 30,000 rows take some 13 MB.
	maxOldWorkbook = 16 << 20
	maxOldColumns  = 256 // Excel 97 has no more
)

var (
	errOldTooLarge = refused("A workbook of Excel 97 (.xls) of more than 16 MiB can’t be read; save it as .xlsx or .csv.",
		"Không đọc được bảng tính Excel 97 (.xls) lớn hơn 16 MiB; hãy lưu lại thành .xlsx hoặc .csv.")
	errPassword = refused("This workbook is protected by a password; open it in Excel or LibreOffice, remove the password (File, Info, "+
		"Protect Workbook), and save it again.",
		"Bảng tính này có mật khẩu; hãy mở bằng Excel hoặc LibreOffice, gỡ mật khẩu (Tệp, Thông tin, Bảo vệ sổ làm việc) rồi lưu lại.")
	errRecord  = errors.New("a record that is too short or can't be here")
	errLetters = errors.New("letters of another code page than 1252 and 1258")
)

// openOldWorkbook reads all records but those of the sheets.
func (f *File) openOldWorkbook() error {
	if f.size > maxOldWorkbook {
		return errOldTooLarge
	}
	content := make([]byte, f.size)
	if _, err := f.file.ReadAt(content, 0); err != nil {
		return err
	}
	name, stream, err := readOLE(content, "encryptedpackage", "workbook", "book")
	if err != nil {
		return err
	}
	if name == "encryptedpackage" {
		return errPassword
	}
	w := &oldWorkbook{stream: stream}
	err = w.readGlobals()
	f.table, f.Date1904 = w.sheet, w.date1904
	for _, s := range w.sheets {
		f.Sheets = append(f.Sheets, s.name)
	}
	return err
}

// readGlobals reads the records of the workbook.
func (w *oldWorkbook) readGlobals() error {
	r := &records{book: w}
	w.letters = charmap.Windows1252
	switch begin, version := r.next(), r.u16(); {
	case begin == recordBegin && version == 0x600:
		w.letters = nil
	case begin != recordBegin || version != 0x500:
		return errRecord
	}
	codes, styles := map[int]string{}, []int{}
	for r.err == nil {
		switch id := r.next(); id {
		case recordPassword:
			return errPassword
		case record1904:
			w.date1904 = r.u16() != 0
		case recordLetters:
			r.readLetters()
		case recordSheet:
			s := oldSheet{begin: int(min(r.u32(), maxSharedStrings))} // a stream isn't longer
			state, kind := r.u8(), r.u8()
			s.hidden = state&3 != 0
			if s.name = r.text(r.u8()); kind == 0 {
				w.sheets = append(w.sheets, s)
			}
		case recordFormat:
			id := r.u16()
			if w.letters != nil {
				codes[id] = r.text(r.u8())
			} else {
				codes[id] = r.text(r.u16())
			}
		case recordStyle:
			r.u16()
			styles = append(styles, r.u16())
		case recordStrings:
			r.readStrings()
		case recordEnd:
			if len(w.sheets) == 0 || len(w.sheets) > maxSheets {
				return fmt.Errorf("%d sheets", len(w.sheets))
			}
			w.formats, r.err = newFormats(codes, styles)
			return r.err
		}
	}
	return r.err
}

func (r *records) readLetters() {
	page := r.u16()
	switch w := r.book; {
	case w.letters == nil || page == 1252 || page == 0x8001:
	case page == 1258:
		w.letters = charmap.Windows1258
	default:
		r.fail(errLetters)
	}
}

// readStrings reads the shared texts.
func (r *records) readStrings() {
	r.u32() // how often cells name them
	size := 0
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		r.fill()
		text := r.text(r.u16())
		if size += len(text) + stringHeader; size > maxSharedStrings {
			r.fail(errTooMuch)
		}
		r.book.strings = append(r.book.strings, text)
	}
}

// oldTable reads the rows of one sheet.
type oldTable struct {
	records
	view  view
	stale bool      // what formulas come to is still to be calculated
	line  int       // of the row that was returned last
	ahead []oldCell // cells that were read already
	depth int       // 0: at the end of the sheet; 2 and more: in what is within it, such as a chart
}

type oldCell struct {
	line, column int // from 1
	Cell
}

func (w *oldWorkbook) sheet(i int) (Table, error) {
	t := &oldTable{records: records{book: w, at: w.sheets[i].begin}, depth: 1}
	if t.next() != recordBegin {
		return nil, damaged(1, errRecord)
	}
	var err error
	if t.view, err = t.readView(w.sheets[i].hidden); err != nil {
		return nil, damaged(1, err)
	}
	return t, nil
}

// readView reads a sheet for the first time, since its merged cells stand behind the rows.
func (r records) readView(hidden bool) (view, error) {
	v := newView(hidden)
	for depth := 1; depth > 0 && r.err == nil; {
		switch id := r.next(); {
		case id == recordBegin:
			depth++
		case id == recordEnd:
			depth--
		case depth > 1:
		case id == recordColumns:
			first, last, width, _ := r.u16()+1, r.u16()+1, r.u16(), r.u16()
			if r.u16()&1 != 0 || width < 128 { // half a character
				r.fail(v.add(cover{0, maxRows, first, min(last, MaxColumns)}))
			}
		case id == recordRow:
			line := r.u16() + 1
			r.take(4)
			height := r.u16() // in twentieths of a point; beyond 0x7FFF: the usual one
			r.take(4)
			if r.u16()&0x20 != 0 || height < 10 {
				v.rows[line] = true
			}
		case id == recordMerged:
			for n := r.u16(); n > 0 && r.err == nil; n-- {
				top, bottom, left, right := r.u16()+1, r.u16()+1, r.u16()+1, r.u16()+1
				r.fail(v.add(cover{top, bottom, left, right}))
			}
		}
	}
	v.sort()
	return v, r.err
}

func (t *oldTable) Progress() (done, total int64) { return int64(t.at), int64(len(t.book.stream)) }

// Next returns the next row that holds something. Rows stand in ascending order, and so do the
// cells of a row.
func (t *oldTable) Next() (row Record, err error) {
	for size := 0; ; t.ahead = t.ahead[1:] {
		for len(t.ahead) == 0 && t.depth > 0 && t.err == nil {
			t.readRecord()
		}
		if t.err != nil {
			return Record{}, damaged(max(row.Line, t.line+1), t.err)
		}
		if len(t.ahead) == 0 || row.Line != 0 && t.ahead[0].line != row.Line {
			break
		}
		c := t.ahead[0]
		row.Line, size = c.line, size+len(c.Text)+len(c.Shown)
		switch {
		case c.line <= t.line, c.column <= len(row.Cells):
			t.fail(errRecord)
		case size > maxRowText, c.column > maxOldColumns:
			t.fail(errLarge)
		case c.Text != "":
			row.Cells = append(append(row.Cells, make([]Cell, c.column-1-len(row.Cells))...), c.Cell)
		}
	}
	if row.Line == 0 {
		return row, io.EOF
	}
	t.view.mark(&row)
	t.line = row.Line
	return row, nil
}

// readRecord reads a record, which may hold cells.
func (t *oldTable) readRecord() {
	id := t.next()
	switch id {
	case recordBegin:
		t.depth++
	case recordEnd:
		t.depth--
	}
	if t.depth != 1 {
		return
	}
	switch id {
	case recordStale:
		t.stale = true
	case recordRKs:
		for line, column := t.u16(), t.u16(); len(t.body) > 2 && t.err == nil; column++ {
			t.put(recordRK, line, column)
		}
	case recordFormula, recordRK, recordNumber, recordShared, recordLabel, recordRichLabel, recordTruth:
		t.put(id, t.u16(), t.u16())
	}
}

// put reads a cell.
func (t *oldTable) put(id, line, column int) {
	style := t.u16()
	t.ahead = append(t.ahead, oldCell{line + 1, column + 1, t.book.formats.show(style, t.cell(id))})
}

// cell reads what stands in a cell.
func (t *oldTable) cell(id int) (c Cell) {
	switch id {
	case recordRK:
		return t.number(rk(t.u32()))
	case recordNumber:
		return t.number(math.Float64frombits(little.Uint64(t.take(8))))
	case recordLabel, recordRichLabel:
		return Cell{Text: t.text(t.u16())}
	case recordTruth:
		value := t.u8()
		if t.u8() == 0 {
			return Cell{Text: truths[value]}
		}
		return Cell{Text: failures[value]}
	case recordShared:
		i := t.u32()
		if uint64(i) < uint64(len(t.book.strings)) {
			return Cell{Text: t.book.strings[i]}
		}
		t.fail(fmt.Errorf("there is no shared text %d", i))
		return c
	}
	value := t.take(8) // of a formula
	options := t.u16()
	// Its code begins behind six more bytes: with a mark if it is calculated each time the workbook is opened.
	volatile := len(t.body) >= 8 && t.body[6] == 0x19 && t.body[7]&1 != 0
	switch {
	case options&1 != 0 || t.stale || volatile:
		c.Text = NotCalculated
	case little.Uint16(value[6:]) != 0xFFFF:
		return t.number(math.Float64frombits(little.Uint64(value)))
	case value[0] == 0:
		return t.formulaText()
	case value[0] == 1:
		c.Text = truths[int(value[2])]
	case value[0] == 2:
		c.Text = failures[int(value[2])]
	}
	return c
}

// formulaText reads the text that a formula came to.
func (t *oldTable) formulaText() (c Cell) {
	for t.err == nil {
		switch t.next() {
		case recordText:
			c.Text = t.text(t.u16())
			return c
		case recordContinue, 0x221, 0x236, 0x4BC: // the formula of several cells
		default:
			t.fail(errRecord)
		}
	}
	return c
}

func (t *oldTable) number(value float64) Cell {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		t.fail(errRecord)
	}
	return Cell{Text: strconv.FormatFloat(value, 'f', -1, 64), Number: true}
}

// The texts of truth values and of errors.
var (
	truths   = map[int]string{0: "FALSE", 1: "TRUE"}
	failures = map[int]string{0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
)
