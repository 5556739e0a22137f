package sheet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"baoco/app"
)

// File is a file of cells: a text file of delimited cells, a workbook or a web page. The
// content of the file decides which, not its name.
type File struct {
	Sheets   []string // names of the sheets of a workbook, one empty name for a web page; nil: a text file
	Date1904 bool     // a workbook counts its days from 1904, as on old Macs

	// Ended returns an error when reading must stop, since nobody waits for the rows any more.
	Ended func() error

	file   *os.File
	size   int64
	sample []byte // the beginning of a text file
	rows   int    // the file may take the work of so many rows; 0: of any number
	table  func(sheet int) (Table, error)
}

// Table is a text file, or a sheet, as lines of cells.
type Table interface {
	// Next returns the next line, and io.EOF after the last one. The caller may
	// keep the record.
	Next() (Record, error)
	// Progress returns how much was read, in bytes.
	Progress() (done, total int64)
}

// Open opens a file to be read until ctx ends. A file of another kind is an [app.Error] that says
// what to do. A workbook may take the work of so many rows; 0: of any number.
func Open(ctx context.Context, path string, rows int) (f *File, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f = &File{file: file, Ended: ctx.Err, rows: rows}
	if err := f.begin(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *File) Close() error { return f.file.Close() }

// Sheet returns the rows of sheet i, from 0, of a workbook.
func (f *File) Sheet(i int) (Table, error) { return f.table(i) }

// begin reads the beginning of a file, which shows its kind.
func (f *File) begin() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	f.sample = make([]byte, min(sampleSize, f.size))
	n, err := f.file.ReadAt(f.sample, 0)
	if f.sample = f.sample[:n]; err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	begins := func(mark string) bool { return bytes.HasPrefix(f.sample, []byte(mark)) }
	switch {
	case isPage(f.sample):
		f.Sheets, f.table = []string{""}, f.page
		return nil
	case begins("PK\x03\x04"), begins("PK\x05\x06"):
		err = f.openWorkbook()
	case begins("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"):
		err = f.openOldWorkbook()
	default:
		return notTable(f.sample)
	}
	if known := (*app.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	return &app.Error{
		Code: app.CodeValidation,
		Text: app.Text{
			EN: "The file is damaged or is not an Excel workbook; open it in a spreadsheet program and save it again as .xlsx or .csv.",
			VI: "Tệp bị hỏng hoặc không phải là bảng tính Excel; hãy mở bằng phần mềm bảng tính rồi lưu lại thành .xlsx hoặc .csv.",
		},
		Err: err,
	}
}

// beginning returns the beginning of a text file, in lower case.
func beginning(sample []byte) string {
	return strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(sample[:min(len(sample), 1024)], []byte("\xEF\xBB\xBF")), " \t\r\n")))
}

// isPage tells whether a file is a web page: some banks name web pages .xls.
func isPage(sample []byte) bool {
	text := beginning(sample)
	return strings.HasPrefix(text, "<?xml") && strings.Contains(text, "<html") ||
		slices.ContainsFunc([]string{"<!doctype html", "<html", "<head", "<meta", "<style", "<body", "<div", "<table"},
			func(tag string) bool { return strings.HasPrefix(text, tag) })
}

// notTable refuses an empty file, a PDF file and an XML file by the first bytes, and says
// what to do. It returns nil for any other file.
func notTable(sample []byte) error {
	switch text := beginning(sample); {
	case len(sample) == 0:
		return refused("The file is empty.", "Tệp rỗng.")
	case strings.HasPrefix(text, "%pdf"):
		return refused("This is a PDF file; download the statement from the bank as Excel or CSV.",
			"Đây là tệp PDF; hãy tải sao kê từ ngân hàng ở dạng Excel hoặc CSV.")
	case strings.HasPrefix(text, "<?xml"): // some banks name such a file .xls
		return refused("This is an XML file, whatever its name says; open it in Excel or LibreOffice and save it as .xlsx or .csv.",
			"Đây là tệp XML dù tên tệp có đuôi gì; hãy mở bằng Excel hoặc LibreOffice rồi lưu lại thành .xlsx hoặc .csv.")
	}
	return nil
}

func refused(en, vi string) error { return app.Refused(app.CodeValidation, app.Text{EN: en, VI: vi}) }

// damaged returns an error with the line at which a file can't be read further. It returns a
// refusal unchanged.
func damaged(line int, err error) error {
	if known := (*app.Error)(nil); errors.As(err, &known) {
		return err
	}
	return &app.Error{
		Code: app.CodeValidation,
		Text: app.Text{
			EN: fmt.Sprintf("The file is damaged at line %d; open it in a spreadsheet program and save it again as .xlsx or .csv.", line),
			VI: fmt.Sprintf("Tệp bị hỏng ở dòng %d; hãy mở bằng phần mềm bảng tính rồi lưu lại thành .xlsx hoặc .csv.", line),
		},
		Err: err,
	}
}

// Record is one line of a table.
type Record struct {
	Line  int // the number of the line in the file or the sheet, from 1
	Cells []Cell
}

// Cell is the content of one cell.
type Cell struct {
	Text   string
	Number bool // a number of a workbook: Text is its exact value
	// Shown is a number as its format shows it, with a currency or a minus, but unrounded and
	// without marks between its digits. It isn't a number if the format divides or multiplies
	// it, or makes a date of it.
	Shown string
	// Unseen tells that a person who looks at the sheet doesn't see the content: its row or its
	// column is hidden, a merged cell covers it, or its format shows another content.
	Unseen bool
	Span   int // over how many columns a merged cell extends; 0 or 1: only its own
}

// NotCalculated is the text of a formula that is still to be calculated: a person who opens the
// workbook sees another value than the stored one.
const NotCalculated = "#N/A"

// Cell returns the cell of column i, from 0; empty: the line has no such column.
func (r Record) Cell(i int) Cell {
	if i < 0 || i >= len(r.Cells) {
		return Cell{}
	}
	return r.Cells[i]
}

// Filled counts the cells of the line that aren't empty.
func (r Record) Filled() int {
	n := 0
	for _, c := range r.Cells {
		if c.Plain() != "" {
			n++
		}
	}
	return n
}

// Plain returns the text without the space around it and without the marks that make a
// number a text in Excel: ="0123" and '0123.
func (c Cell) Plain() string {
	s := strings.TrimFunc(c.Text, IsSpace)
	if inner, ok := strings.CutPrefix(s, `="`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok {
			return strings.TrimFunc(inner, IsSpace)
		}
	}
	if len(s) > 1 && s[0] == '\'' && s[1] >= '0' && s[1] <= '9' {
		return s[1:]
	}
	return s
}

// Words is the text of a cell, empty for a number.
func (c Cell) Words() string {
	if c.Number {
		return ""
	}
	return c.Plain()
}

// IsSpace tells whether r is invisible: a space that spreadsheets use, or a mark
// without width.
func IsSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x2069
}
