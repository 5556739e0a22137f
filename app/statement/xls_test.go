package statement_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"baoco/app/sheet"
	"baoco/app/statement"
)

// TestXLS: workbooks of Excel 97 and Excel 5, as several programs write them, hold cell by cell what the
// same program writes as XLSX, and say the same.
func TestXLS(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xls")
	must(t, err)
	if len(files) < 5 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		name, _, _ := strings.Cut(file, ".")
		if diff := cmp.Diff(allCells(t, name+".xlsx"), allCells(t, file)); diff != "" {
			t.Errorf("%s: (-xlsx +xls):\n%s", file, diff)
		}
		o := statement.Options{Zone: zone}
		if diff := cmp.Diff(read(t, name+".xlsx", o), read(t, file, o)); diff != "" {
			t.Errorf("%s: (-xlsx +xls):\n%s", file, diff)
		}
		want, _ := differences(t, name+".xlsx")
		got, _ := differences(t, file)
		if !slices.Equal(got, want) || strings.Contains(file, "hidden") && !strings.HasPrefix(got[0], "5"+question+"3") {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// allCells gives the lines of all sheets that hold something; LibreOffice rounds the 15th digit of a number, and Excel 5
// had no merged cells.
func allCells(t *testing.T, path string) map[string][]sheet.Record {
	t.Helper()
	f, err := sheet.Open(t.Context(), path, 0)
	must(t, err)
	defer f.Close()
	all := map[string][]sheet.Record{}
	for i, name := range f.Sheets {
		table, err := f.Sheet(i)
		must(t, err)
		for {
			r, err := table.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			for i, c := range r.Cells {
				r.Cells[i].Span = 0
				if f, err := strconv.ParseFloat(c.Text, 64); err == nil && c.Number {
					r.Cells[i].Text = strconv.FormatFloat(f, 'g', 14, 64)
					r.Cells[i].Shown = strings.Replace(c.Shown, strings.TrimPrefix(c.Text, "-"), "x", 1)
				}
			}
			if r.Filled() > 0 {
				all[name] = append(all[name], r)
			}
		}
	}
	return all
}

// bits are the bytes of numbers, low byte first, and of texts.
func bits(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case int: // most fields have 16 bits
			b = binary.LittleEndian.AppendUint16(b, uint16(p))
		default:
			b, _ = binary.Append(b, binary.LittleEndian, p)
		}
	}
	return b
}

// xlsRecord is a record of a workbook of Excel 97.
func xlsRecord(id int, parts ...any) string {
	body := bits(parts...)
	return string(bits(id, len(body), body))
}

// wide is a text of 16 bits a letter, behind its length.
func wide(s string) []byte {
	units := utf16.Encode([]rune(s))
	return bits(len(units), byte(1), units)
}

const (
	xlsBook  = "\x09\x08\x04\x00\x00\x06\x05\x00"
	xlsSheet = "\x09\x08\x04\x00\x00\x06\x10\x00"
	isText   = "\x00\x00\x00\x00\x00\x00\xFF\xFF" // the value of a formula
	xlsEnd   = "\x0A\x00\x00\x00"
)

// xlsStream is a workbook whose only sheet has a header and the cells; above are records of the workbook.
func xlsStream(above, cells string) string {
	begin := len(xlsBook+above) + len(xlsRecord(0x85, uint32(0), 0, "\x01\x00a")+xlsEnd)
	return xlsBook + above + xlsRecord(0x85, uint32(begin), 0, "\x01\x00a") + xlsEnd + xlsSheet +
		xlsRecord(0x204, 0, 0, 0, wide("Ngày")) + xlsRecord(0x204, 0, 1, 0, wide("Nội dung")) +
		xlsRecord(0x204, 0, 2, 0, wide("Ghi có")) + cells + xlsEnd
}

// ole is a container with one stream: a sector that says what follows each sector, one of names, and the stream.
func ole(name, stream string) []byte {
	stream += strings.Repeat("\x00", max(4096, (len(stream)+511)/512*512)-len(stream))
	next := bits(uint32(math.MaxUint32), uint32(0xFFFFFFFE))
	for i := range len(stream) / 512 {
		next = append(next, bits(uint32(i+3))...)
	}
	next = append(next[:len(next)-4], bits(uint32(0xFFFFFFFE))...)
	next = append(next, strings.Repeat("\xFF", 512-len(next))...)
	entry := func(name string, kind byte, child, begin, size int) []byte {
		letters := utf16.Encode([]rune(name))
		return bits(letters, make([]byte, 64-2*len(letters)), 2*len(letters)+2, kind, byte(1), uint32(math.MaxUint32), uint32(math.MaxUint32),
			uint32(child), make([]byte, 36), uint32(begin), uint32(size), uint32(0))
	}
	const none, end = -1, -2 // of 32 bits
	header := bits("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", make([]byte, 16), 0x3E, 3, 0xFFFE, 9, 6, make([]byte, 10), uint32(1),
		uint32(1), uint32(0),
		uint32(4096), uint32(0xFFFFFFFE), uint32(0), uint32(0xFFFFFFFE), uint32(0), uint32(0), strings.Repeat("\xFF", 108*4))
	return bits(header, next, entry("Root Entry", 5, 1, end, 0), entry(name, 2, none, 2, len(stream)), make([]byte, 256), stream)
}

func xlsFile(t testing.TB, above, cells string) string {
	t.Helper()
	return write(t, string(ole("Workbook", xlsStream(above, cells))))
}

func xlsRow(line int, content string, amount float64) string {
	return xlsRecord(0x204, line, 0, 0, wide("01/11/2026")) + content + xlsRecord(0x203, line, 2, 0, amount)
}

// TestXLSCells reads what programs write into cells.
func TestXLSCells(t *testing.T) {
	formula := func(value any) string { return xlsRecord(6, 1, 1, 0, value, 0, uint32(0), "\x01\x00x") }
	texts := xlsRecord(0xFC, uint32(2), uint32(2), wide("Tiền hàng"), 2, "\x00ab")
	for _, test := range []struct{ name, above, cell, want string }{
		{"shared text", texts, xlsRecord(0xFD, 1, 1, 0, uint32(1)), "ab"},
		{"text", "", xlsRecord(0x204, 1, 1, 0, wide("Tiền")), "Tiền"},
		{"text of bytes", "", xlsRecord(0x204, 1, 1, 0, 3, "\x00ab\xE0"), "abà"},
		{"integer", "", xlsRecord(0x27E, 1, 1, 0, uint32(1234<<2|2)), "1234"},
		{"negative integer", "", xlsRecord(0x27E, 1, 1, 0, int32(-1234<<2|2)), "-1234"},
		{"hundredths", "", xlsRecord(0x27E, 1, 1, 0, uint32(1234<<2|3)), "12.34"},
		{"short number", "", xlsRecord(0x27E, 1, 1, 0, uint32(math.Float64bits(1.5)>>32)), "1.5"},
		{"number", "", xlsRecord(0x203, 1, 1, 0, 1e15/3), "333333333333333.3"},
		{"formula of a number", "", formula(float64(12)), "12"},
		{"formula that is calculated each time", "", xlsRecord(6, 1, 1, 0, float64(12), 0, uint32(0), "\x04\x00\x19\x01\x00\x00"), "#N/A"},
		{"formula that is still to be calculated", "", xlsRecord(6, 1, 1, 0, float64(12), 1, uint32(0), "\x01\x00x"), "#N/A"},
		{"formula of a text", "", formula(isText) + xlsRecord(0x4BC, 1, 1) + xlsRecord(0x207, wide("Tiền")), "Tiền"},
		{"formula of nothing", "", formula("\x03\x00\x00\x00\x00\x00\xFF\xFF"), ""},
		{"truth", "", xlsRecord(0x205, 1, 1, 0, "\x01\x00"), "TRUE"},
		{"formula of a truth", "", formula("\x01\x00\x00\x00\x00\x00\xFF\xFF"), "FALSE"},
		{"error", "", xlsRecord(0x205, 1, 1, 0, "\x2A\x01"), "#N/A"},
		{"formula of an error", "", formula("\x02\x00\x07\x00\x00\x00\xFF\xFF"), "#DIV/0!"},
		{"several integers", "", xlsRecord(0xBD, 1, 1, 0, uint32(7<<2|2), 1), "7"},
		{"a chart", "", xlsSheet + xlsRecord(0x203, 0, 9, 0, float64(9)) + xlsEnd + xlsRecord(0x204, 1, 1, 0, wide("a")), "a"},
		{"text over two records", xlsRecord(0xFC, uint32(1), uint32(1), 3, "\x01\x01\x1E") + xlsRecord(0x3C, "\x00bc"),
			xlsRecord(0xFD, 1, 1, 0, uint32(0)), "ḁbc"},
		{"fonts over two records", xlsRecord(0xFC, uint32(2), uint32(2), 1, "\x0C", 2, uint32(3), "a12345") +
			xlsRecord(0x3C, "678xyz", 1, "\x00b"),
			xlsRecord(0xFD, 1, 1, 0, uint32(1)), "b"},
		{"texts over two records", xlsRecord(0xFC, uint32(2), uint32(2), 1, "\x00a") + xlsRecord(0x3C, 1, "\x00b"),
			xlsRecord(0xFD, 1, 1, 0, uint32(1)), "b"},
	} {
		rows, err := tryRows(t, xlsFile(t, test.above, xlsRow(1, test.cell, 1000)), statement.Options{Zone: zone})
		if err != nil || len(rows) != 1 || rows[0].Content != test.want || rows[0].Amount != 1000 {
			t.Errorf("%s: %+v, %v; want %q", test.name, rows, err, test.want)
		}
	}
}

// TestXLSNumbers: a date is no amount, nor is a number that its format shows as another one.
func TestXLSNumbers(t *testing.T) {
	format := func(code string) string {
		return xlsRecord(0x41E, 164, len(code), "\x00"+code) + xlsRecord(0xE0, 0, 164)
	}
	for name, above := range map[string]string{"date": format("dd/mm/yyyy"), "thousands": format("#,##0,"),
		"known date": xlsRecord(0xE0, 0, 14),
		"percent":    xlsRecord(0xE0, 0, 9)} {
		rows, err := tryRows(t, xlsFile(t, above, xlsRow(1, "", 46327)), statement.Options{Zone: zone})
		if !strings.Contains(fmt.Sprint(err), "where the cell holds 46327") {
			t.Errorf("%s: %+v, %v", name, rows, err)
		}
	}
}

// TestDamagedXLS: where a file can't be read on is an error, never the end of it.
func TestDamagedXLS(t *testing.T) {
	good := xlsRow(1, "", 1000)
	cell := xlsRecord(0x203, 2, 2, 0, float64(1))
	long := xlsRecord(0xFC, uint32(1), uint32(1), 30000, "\x00"+strings.Repeat("x", 8000)) +
		strings.Repeat(xlsRecord(0x3C, "\x00"+strings.Repeat("x", 8000)), 2) + xlsRecord(0x3C, "\x00"+strings.Repeat("x", 6000))
	var many strings.Builder
	for i := range 10 {
		many.WriteString(xlsRecord(0xFD, 2, i, 0, uint32(0)))
	}
	for name, test := range map[string]struct{ above, cells string }{
		"no such shared text":   {"", good + xlsRecord(0xFD, 2, 1, 0, uint32(0))},
		"a cell twice":          {"", good + cell + cell},
		"a column before":       {"", good + cell + xlsRecord(0x203, 2, 1, 0, float64(1))},
		"a row before":          {"", good + xlsRecord(0x203, 0, 5, 0, float64(1))},
		"no number":             {"", good + xlsRecord(0x203, 2, 2, 0, math.NaN())},
		"a short number":        {"", good + xlsRecord(0x203, 2, 2, 0, float32(1))},
		"a short row":           {"", good + xlsRecord(0xBD, 2, 1, 0, 7)},
		"a short text":          {"", good + xlsRecord(0x204, 2, 1, 0, 3, "\x00ab")},
		"formula without text":  {"", good + xlsRecord(6, 2, 1, 0, isText) + cell},
		"no end":                {"", good + "\x03\x02\xFF\xFF"},
		"too many columns":      {"", good + xlsRecord(0x203, 2, 256, 0, float64(1))},
		"too much in a row":     {long, good + many.String()},
		"texts cut":             {xlsRecord(0xFC, uint32(2), uint32(2), 1, "\x00a"), good},
		"half a letter":         {xlsRecord(0xFC, uint32(1), uint32(1), 2, "\x01a\x00b") + xlsRecord(0x3C, "\x01\x00"), good},
		"a format that is long": {xlsRecord(0x41E, 164, 2000, "\x00"+strings.Repeat("0", 2000)), good},
		"sheets at one place":   {strings.Repeat(xlsRecord(0x85, uint32(0), 0, "\x01\x00a"), 900), good},
		"many sheets":           {strings.Repeat(xlsRecord(0x85, uint32(0), 0, "\x01\x00a"), 1000), good},
		"a sheet out of it":     {xlsRecord(0x85, uint32(math.MaxUint32), 0, "\x01\x00a"), good},
		"a sheet within":        {xlsRecord(0x85, uint32(8), 0, "\x01\x00a"), good},
	} {
		rows, err := tryRows(t, xlsFile(t, test.above, test.cells), statement.Options{Zone: zone})
		if !strings.Contains(fmt.Sprint(err), "damaged") {
			t.Errorf("%s: %+v, %v", name, rows, err)
		}
	}
}

// TestRefusedXLS: what isn't read says what to do.
func TestRefusedXLS(t *testing.T) {
	stream := xlsStream("", xlsRow(1, "", 1000))
	change := func(at int, with ...any) string {
		file := ole("Workbook", stream)
		copy(file[at:], bits(with...))
		return string(file)
	}
	five := func(s string) string { return strings.ReplaceAll(s, "\x00\x06", "\x00\x05") }
	for name, test := range map[string]struct{ file, want string }{
		"as it is":          {change(0), ""},
		"name":              {string(ole("BOOK", stream)), ""},
		"password":          {string(ole("Workbook", xlsStream(xlsRecord(0x2F, "x"), ""))), "password"},
		"other document":    {string(ole("WordDocument", stream)), "not an Excel workbook"},
		"Excel 4":           {string(ole("Book", strings.Replace(stream, "\x00\x06", "\x00\x04", 1))), "not an Excel workbook"},
		"letters":           {string(ole("Book", five(xlsBook)+xlsRecord(0x42, 932))), "not an Excel workbook"},
		"a folder":          {change(1024+128+66, byte(1)), "not an Excel workbook"},
		"no sheets":         {string(ole("Workbook", xlsBook+xlsEnd)), "not an Excel workbook"},
		"a macro sheet":     {string(ole("Workbook", xlsBook+xlsRecord(0x85, uint32(0), 0x100, "\x01\x00a")+xlsEnd)), "not an Excel workbook"},
		"circle":            {change(512+5*4, uint32(3)), "damaged"},
		"out of the file":   {change(512+5*4, uint32(5000)), "damaged"},
		"short":             {change(512+5*4, uint32(0xFFFFFFFE)), "damaged"},
		"circle of names":   {change(512+4, uint32(1)), "damaged"},
		"tree in a circle":  {change(1024+128+68, uint32(1)), "damaged"},
		"name out of file":  {change(1024+128+68, uint32(1000)), "damaged"},
		"list in a circle":  {change(68, uint32(2), uint32(1)), "damaged"},
		"list out of file":  {change(68, uint32(5000), uint32(1)), "damaged"},
		"huge":              {change(1024+128+120, uint32(math.MaxUint32)), "damaged"},
		"small, of nothing": {change(1024+128+120, uint32(100)), "damaged"},
		"other sectors":     {change(30, 31), "damaged"},
	} {
		rows, err := tryRows(t, write(t, test.file), statement.Options{Zone: zone})
		if test.want == "" && (err != nil || len(rows) != 1) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, %v; want %s", name, rows, err, test.want)
		}
	}
	label := func(column int, text string) string { return xlsRecord(0x204, 0, column, 0, len(text), text) }
	old := five(xlsBook) + xlsRecord(0x42, 1258) + xlsRecord(0x85, uint32(30), 0, "\x01a") + xlsEnd + five(xlsSheet) + label(0, "Ng\xE0y") +
		label(1, "Ti\xEA\xCCn") + xlsEnd
	if lines := allCells(t, write(t, string(ole("Book", old))))["a"]; len(lines) != 1 || lines[0].Cell(1).Text != "Ti\u00EA\u0300n" {
		t.Errorf("%+v", lines)
	}
	large := write(t, change(0))
	must(t, os.Truncate(large, 16<<20+1))
	if _, err := statement.Open(t.Context(), large, statement.Options{}); !strings.Contains(fmt.Sprint(err), "more than 16 MiB") {
		t.Errorf("16 MiB: %v", err)
	}
	for cut := 8; cut < len(stream); cut += 97 {
		if _, err := tryRows(t, write(t, change(0)[:cut]), statement.Options{Zone: zone}); err == nil {
			t.Errorf("a file cut after %d bytes is read", cut)
		}
	}
}
