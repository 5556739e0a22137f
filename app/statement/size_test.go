package statement_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/statement"
)

// bigCSV and bigBook are files of n transactions, of 1, 2, 3 … VND; the texts
// of the book are shared.
func bigCSV(n int) string {
	var b strings.Builder
	b.WriteString("Ngày hạch toán,Ngày giao dịch,Phát sinh nợ,Phát sinh có,Số dư,Nội dung\n")
	for i := range n {
		fmt.Fprintf(&b, "01/11/2026,01/11/2026 10:11:12,,%d,%d,%s\n", i+1, (i+1)*(i+2)/2, content(i))
	}
	return b.String()
}

func bigBook(n int) map[string]string {
	var rows, shared strings.Builder
	shared.WriteString("<sst>")
	for i := range n {
		fmt.Fprintf(&rows, `<row><c><v>46327</v></c><c t="s"><v>%d</v></c><c><v>%d</v></c></row>`, i, i+1)
		fmt.Fprintf(&shared, `<si><t>%s</t></si>`, content(i))
	}
	shared.WriteString("</sst>")
	p := parts(headerRow + rows.String())
	p["xl/sharedStrings.xml"] = shared.String()
	return p
}

func content(i int) string {
	return fmt.Sprintf("NGUYEN VAN A chuyen tien DH%d mua hang tai cua hang %s", i, strings.Repeat("x", 1+i%500))
}

// TestSize: a long file costs little memory and no temporary file, and every
// row is right.
func TestSize(t *testing.T) {
	n := 10_000
	if apptest.Full() {
		n = 100_000
	}
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	for name, path := range map[string]string{"CSV": write(t, bigCSV(n)), "XLSX": write(t, zipped(t, bigBook(n)))} {
		most := int64(1 << 20)
		if name == "XLSX" {
			most = int64(500 * n) // its texts
		}
		before := heap()
		r, err := statement.Open(t.Context(), path, statement.Options{Zone: zone})
		must(t, err)
		for i := range n {
			row, err := r.Next()
			must(t, err)
			if row.Fault != nil || row.Amount != int64(i+1) || row.Type != app.In || row.Content != content(i) {
				t.Fatalf("%s: row %d is %+v", name, i, row)
			}
			if i%(n/4) == n/8 {
				if grown := heap() - before; grown > most {
					t.Errorf("%s: %d KiB of memory in row %d", name, grown>>10, i)
				}
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", name, err)
		}
		must(t, r.Close())
	}
}

// TestTooManyTexts: a workbook whose texts would take too much memory, by their
// length or by their number, is refused with what to do.
func TestTooManyTexts(t *testing.T) {
	tests := map[string]string{"long": strings.Repeat("<si><t>"+strings.Repeat("x", 4<<20-100)+"</t></si>", 17)}
	if apptest.Full() {
		tests["many"] = strings.Repeat("<si/>", 64<<20/16+1)
	}
	for name, texts := range tests {
		p := parts(headerRow)
		p["xl/sharedStrings.xml"] = "<sst>" + texts + "</sst>"
		_, err := statement.Open(t.Context(), write(t, zipped(t, p)), statement.Options{Zone: zone})
		var e *app.Error
		if !errors.As(err, &e) || e.Code != app.CodeValidation || !strings.Contains(e.Text.EN, "save it as .csv") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSmallFileOfMuch: a workbook of some kilobytes takes neither all memory nor minutes,
// whatever its XML repeats.
func TestSmallFileOfMuch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Ngày ", 50_000)
	cells := strings.Repeat(`<c t="s"><v>0</v></c>`, 2)
	with := func(rows, name, content string) map[string]string {
		p := parts(rows)
		if name != "" {
			p[name] = content
		}
		return p
	}
	const rels, sheets = "xl/_rels/workbook.xml.rels", "xl/workbook.xml"
	first := parts("")
	for name, p := range map[string]map[string]string{
		"a long text in many cells": with(headerRow+"<row>"+cells+"</row>", "xl/sharedStrings.xml", "<sst><si><t>"+long+"</t></si></sst>"),
		"long texts in a row":       with(headerRow+"<row>"+strings.Repeat(`<c t="str"><v>`+long[:100_000]+`</v></c>`, 3)+"</row>", "", ""),
		"many sheets": with(headerRow, sheets,
			strings.ReplaceAll(first[sheets], "</sheets>", strings.Repeat(`<sheet name="a" r:id="rId1"/>`, 1000)+"</sheets>")),
		"many related parts": with(headerRow, rels,
			strings.ReplaceAll(first[rels], "</Rel", strings.Repeat(`<Relationship Id="x"/>`, 200_000)+"</Rel")),
		"many elements in the list": with(headerRow, sheets,
			strings.ReplaceAll(first[sheets], "</sheets>", "</sheets>"+strings.Repeat("<definedName/>", 400_000))),
	} {
		r, err := statement.Open(t.Context(), write(t, zipped(t, p)), statement.Options{Zone: zone})
		for err == nil {
			_, err = r.Next()
		}
		if r != nil {
			must(t, r.Close())
		}
		if app.CodeOf(err) != app.CodeValidation || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkCSV(b *testing.B)  { benchmark(b, bigCSV(100_000)) }
func BenchmarkXLSX(b *testing.B) { benchmark(b, zipped(b, bigBook(100_000))) }

func benchmark(b *testing.B, file string) {
	path := write(b, file)
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		rows += len(readRows(b, path, statement.Options{Zone: zone}))
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// A line of more cells than a sheet has columns is refused: a million of them
// would take seconds.
func TestCSVLineOfManyCells(t *testing.T) {
	t.Parallel()
	const head, row = "Ngày;Số tiền ghi có;Nội dung\n", "20/11/2026;5.000;tra tien"
	for name, c := range map[string]struct{ content, want string }{
		"as many as a sheet has": {head + row + strings.Repeat(";", 1<<14-3) + "\n", ""},
		"more":                   {head + row + strings.Repeat(";", 1<<14-2) + "\n", "damaged at line 2"},
		"more, with quotes":      {head + `20/11/2026;5.000;"tra tien"` + strings.Repeat(";", 1<<14-2) + "\n", "damaged at line 2"},
		"no header":              {strings.Repeat("a;", 1_000_000), "header"},
	} {
		r, err := statement.Open(t.Context(), write(t, c.content), statement.Options{})
		for err == nil {
			_, err = r.Next()
		}
		if r != nil {
			must(t, r.Close())
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300s", name, got)
		}
	}
}

// TestWideHeader: a line of very many texts is no header, since to look for one among
// 120 lines as wide as a sheet would take minutes.
func TestWideHeader(t *testing.T) {
	t.Parallel()
	for more, want := range map[int]string{77: "", 78: "No header row"} {
		header := "Ngày;Số tiền ghi có;Nội dung" + strings.Repeat(";x", more)
		r, err := statement.Open(t.Context(), write(t, header+"\n20/11/2026;5.000;tra tien\n"), statement.Options{})
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d more cells: %v", more, err)
		}
		if r != nil {
			must(t, r.Close())
		}
	}
}

// counted is a context that ends after some looks at it.
type counted struct {
	context.Context
	looks, most int
}

func (c *counted) Err() error {
	if c.looks++; c.looks > c.most {
		return context.Canceled
	}
	return nil
}

// TestWork: the work that a file may take follows from the rows that it may have, and ends with the one who waits for it.
func TestWork(t *testing.T) {
	t.Parallel()
	good := `<row r="2"><c r="A2" t="str"><v>01/11/2026</v></c><c r="C2"><v>1000</v></c></row>`
	with := func(part, inner string) string {
		p := parts(headerRow + good)
		end := strings.LastIndex(p[part], "</")
		p[part] = p[part][:end] + inner + p[part][end:]
		return zipped(t, p)
	}
	const sheet, many = "xl/worksheets/sheet1.xml", 2000
	for name, file := range map[string]string{
		"elements":     with(sheet, strings.Repeat("<a/>", many)),
		"in a row":     zipped(t, parts(headerRow+good+"<row>"+strings.Repeat("<a/>", many)+"</row>")),
		"in a list":    with("xl/workbook.xml", strings.Repeat("<a/>", many)),
		"shared texts": with("xl/sharedStrings.xml", strings.Repeat("<si/>", many)),
		"columns":      with(sheet, "<!--"+strings.Repeat("<col />", many)+"-->"),
		"bytes":        with(sheet, strings.Repeat(" ", 300_000)),
		"a cell far away": zipped(t, parts(headerRow+good+`<row r="3"><c r="XFD3" t="str"><v>x</v></c></row>`+
			`<row r="4"><c r="XFD4" t="str"><v>x</v></c></row>`)),
		"lines of text":  "Ngày;Nội dung;Ghi có\n01/11/2026;a;1000\n" + strings.Repeat("a;b\n", 65),
		"lines of dates": "Ngày;Nội dung;Ghi có\n01/11/2026;a;1000\n" + strings.Repeat("01/11/2026;;\n", 129),
	} {
		path := write(t, file)
		_, err := tryRows(t, path, statement.Options{Zone: zone, MaxRows: 16})
		if err == nil || !strings.Contains(err.Error(), "save it as .csv") && !errors.Is(err, statement.ErrTooManyRows) {
			t.Errorf("%s: %v", name, err)
		}
		if rows, err := tryRows(t, path, statement.Options{Zone: zone}); strings.TrimSuffix(brief(rows), " a") != "1 IN 1000" {
			t.Errorf("%s, any number of rows: %s, %v", name, brief(rows), err)
		}
		whole := &counted{t.Context(), 0, 1 << 30}
		r, err := statement.Open(whole, path, statement.Options{Zone: zone})
		must(t, err)
		for err == nil {
			_, err = r.Next()
		}
		must(t, r.Close())
		if name == "elements" && whole.looks < many {
			t.Errorf("%d looks", whole.looks)
		}
		for most := range 20 {
			ctx := &counted{t.Context(), 0, whole.looks * most / 20}
			r, err := statement.Open(ctx, path, statement.Options{Zone: zone})
			for err == nil {
				_, err = r.Next()
			}
			if r != nil {
				must(t, r.Close())
			}
			if !errors.Is(err, context.Canceled) || ctx.looks > ctx.most+20 {
				t.Errorf("%s: %v after %d looks of %d", name, err, ctx.looks, ctx.most)
			}
		}
	}
}
