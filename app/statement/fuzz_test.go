package statement_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/statement"
)

// FuzzCSV: any bytes end without a panic, and what is a transaction without a
// fault has money in one direction.
func FuzzCSV(f *testing.F) {
	path := filepath.Join(f.TempDir(), "statement")
	files, err := filepath.Glob(filepath.Join(samples, "*.csv"))
	must(f, err)
	for _, file := range files {
		f.Add([]byte(readFile(f, file)))
	}
	for _, seed := range []string{
		"sep=;\nNgày;Nội dung;Số tiền\n01/11/2026;x;-1.000\n", "\xff\xfeN\x00g\x00", "\"", "Date,Amount,x\n01/11/2026,\"1,0\n00",
		"Date\tDebit\tCredit\n\t\t5\n",
		"Loại tiền;VND\nNgày;Nội dung;Số tiền;;Số dư\n;;Nợ;Có;\n01/11/2026;x;5;;95\n02/11/2026;y;;7;102\nNgày;Nội dung;Số tiền;;Số " +
			"dư\n;;Có;Nợ;\nTổng;;5;7;\n;Số dư cuối kỳ;;;102\n",
		"Số dư đầu kỳ: 5;;\nNgày;Có;Phí;Số dư\n2/1/26;5;1;9\n1/1/26;5;;5\nTổng ghi có: 10;;\nSTK: 1x2;;\n1/1/26;5;;5\n",
		"Ngày,Nợ,Có\r01/11/2026,(5),\r,,6\r", "PK\x03\x04", "\x00", "Ng\xe0y;S\xf4\xec ti\xea\xccn;X\n1/1/26;5;",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) { checkFile(t, path, content) })
}

// FuzzXLSX: likewise for the XML of a sheet, of shared texts and of a number format, within
// a workbook that is whole.
func FuzzXLSX(f *testing.F) {
	path := filepath.Join(f.TempDir(), "statement")
	row := `<row r="2"><c r="A2"><v>46327.5</v></c><c r="B2" t="s"><v>1</v></c><c r="C2"><v>1.5E+5</v></c></row>`
	shared := parts("")["xl/sharedStrings.xml"]
	f.Add(headerRow+row, shared, `#,##0 "đ"`)
	f.Add(headerRow+`<row><c t="inlineStr"><is><r><t>01/11/2026</t></r></is></c><c/><c t="d"><v>-5</v></c></row>`, shared,
		`_(* #,##0,.0%_);[Red]\(#\)`)
	f.Add(headerRow+`<row r="9"><c r="XFD9" t="b"><v>1</v></c><c r="A9" t="e"><v>#N/A</v></c></row></sheetData>`,
		`<sst><si><t>a_x0041_b</t></si>`, `[$$-409]General`)
	f.Add(headerRow+strings.Replace(row, "<row ", `<row hidden="1" `, 1)+`</sheetData><cols><col min="2" max="3" hidden="1"/></cols>`+
		`<mergeCells><mergeCell ref="A2:C9"/><mergeCell ref="B3:C4"/></mergeCells>`, shared, `0;-0;"1";@"000"`)
	f.Add(`<row r="-5"><c r="A0"><v>&#x1F;</v></c></row><row`, "", "\"")
	f.Add("\xff\xfe<\x00", "\xfe\xff\x00<", "[$")
	f.Fuzz(func(t *testing.T, rows, shared, format string) {
		p := parts(rows)
		var code strings.Builder
		must(t, xml.EscapeText(&code, []byte(format)))
		p["xl/styles.xml"] = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="` + code.String() +
			`"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`
		p["xl/_rels/workbook.xml.rels"] = strings.ReplaceAll(p["xl/_rels/workbook.xml.rels"], "</Relationships>",
			`<Relationship Id="rId3" Type="/styles" Target="styles.xml"/></Relationships>`)
		p["xl/sharedStrings.xml"] = shared
		checkFile(t, path, []byte(zipped(t, p)))
	})
}

// FuzzWorkbook: likewise for the bytes of the file.
func FuzzWorkbook(f *testing.F) {
	path := filepath.Join(f.TempDir(), "statement")
	whole := []byte(zipped(f, parts(headerRow)))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(ole("Workbook", xlsStream("", xlsRow(1, "", 1000))))
	files, err := filepath.Glob("testdata/*.xls")
	must(f, err)
	for _, file := range files {
		f.Add([]byte(readFile(f, file)))
	}
	f.Fuzz(func(t *testing.T, content []byte) { checkFile(t, path, content) })
}

// FuzzXLS: likewise for the records of a workbook of Excel 97.
func FuzzXLS(f *testing.F) {
	path := filepath.Join(f.TempDir(), "statement")
	shared := xlsRecord(0xFC, uint32(1), uint32(1), 3, "\x01\x01\x1E") + xlsRecord(0x3C, "\x00bc")
	f.Add([]byte(xlsStream(shared, xlsRow(1, xlsRecord(0xFD, 1, 1, 0, uint32(0)), 1000))))
	f.Add([]byte(xlsStream(xlsRecord(0x22, 1)+xlsRecord(0x41E, 164, 1, "\x00d")+xlsRecord(0xE0, 0, 164),
		xlsRecord(0x27E, 1, 0, 0, uint32(46327<<2|2))+xlsRecord(6, 1, 1, 0, "\x00\x00\x00\x00\x00\x00\xFF\xFF")+xlsRecord(0x207, wide("Tiền"))+
			xlsRecord(0xBD, 1, 2, 0, uint32(7<<2|2), 0, uint32(8<<2|3), 3))))
	f.Add([]byte(xlsStream("", xlsRecord(0x7D, 1, 1, 0, 0, 1)+xlsRecord(0x208, 1, 0, 3, 300, uint32(0), 0x20, 0)+
		xlsRow(1, "", 1000)+xlsRecord(0xE5, 2, 8, 9, 0, 1, 1, 2, 1, 1))))
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) < 60_000 { // what one sector of the container can name
			checkFile(t, path, ole("Workbook", string(stream)))
		}
	})
}

// FuzzPage: likewise for a web page.
func FuzzPage(f *testing.F) {
	path := filepath.Join(f.TempDir(), "statement")
	f.Add(bankPage + "<tr><td>01/11/2026<td>a<td><td>5</table>")
	f.Add("<table><tr><td>Ngày<td>Nội dung<td>Có<tr><td rowspan=2>1/1/26<td><table><tr><td>x</table><td colspan=2>5</tr></table>x<style>")
	f.Fuzz(func(t *testing.T, page string) { checkFile(t, path, []byte("<table>"+page)) })
}

func checkFile(t *testing.T, path string, content []byte) {
	must(t, os.WriteFile(path, content, 0o600))
	for _, columns := range []map[string]string{nil, {"date": "A", "content": "B", "amount": "C"}} {
		r, err := statement.Open(t.Context(), path, statement.Options{Zone: zone, Map: columns})
		if err != nil {
			continue
		}
		for n, line := 0, 0; ; n++ {
			row, err := r.Next()
			if err != nil {
				if _, again := r.Next(); again == nil || errors.Is(err, io.EOF) != errors.Is(again, io.EOF) {
					t.Fatalf("after %v comes %v", err, again)
				}
				break
			}
			if n > len(content)*1000 || row.Line <= line {
				t.Fatalf("row %d is line %d after line %d", n, row.Line, line)
			}
			line = row.Line
			if row.Fault == nil && (row.Amount < 1 || row.Amount > app.MaxAmount || row.Type != app.In && row.Type != app.Out) {
				t.Fatalf("line %d is a transaction of %d %q", row.Line, row.Amount, row.Type)
			}
			if row.Fault != nil &&
				(row.Fault.Field == "" || row.Fault.Text.EN == "" || row.Fault.Text.VI == "" || !utf8.ValidString(row.Fault.Text.EN)) {
				t.Fatalf("line %d has the fault %v", row.Line, row.Fault)
			}
		}
		must(t, r.Close())
	}
}
