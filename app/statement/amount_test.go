package statement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"baoco/app/statement"
)

// TestAmounts reads amounts from a signed column: an amount is exact, or a
// fault that says why, or nothing.
func TestAmounts(t *testing.T) {
	const fraction, groups, syntax, size, cut = "whole number", "more than one way", "could not be read", "9999999999999", "scientific"
	tests := []amountTest{
		{"1", 1, ""},
		{"150000", 150000, ""},
		{"000150000", 150000, ""},
		{"1.234", 1234, ""},
		{"1,234", 1234, ""},
		{"1 234", 1234, ""},
		{"1\u00a0234\u00a0567", 1234567, ""},
		{"1\u202f234", 1234, ""},
		{"1.234.567", 1234567, ""},
		{"1,234,567", 1234567, ""},
		{"1,234.00", 1234, ""},
		{"1.234,00", 1234, ""},
		{"1.234.567,0", 1234567, ""},
		{"1 234,000", 1234, ""},
		{"1234.00", 1234, ""},
		{"1234,0", 1234, ""},
		{"1.00", 1, ""},
		{"100.000", 100000, ""},
		{"1234.000", 1234, ""},
		{"9.999.999.999.999", 9999999999999, ""},
		{" 1.234 VND ", 1234, ""},
		{"1.234đ", 1234, ""},
		{"1.234 Đ", 1234, ""},
		{"1.234₫", 1234, ""},
		{"VND 1,234", 1234, ""},
		{"1,234 vnđ", 1234, ""},
		{"+1.234", 1234, ""},
		{"+ 1.234 VND", 1234, ""},
		{"-1.234", -1234, ""},
		{"−1.234", -1234, ""},
		{"1.234-", -1234, ""},
		{"(1.234)", -1234, ""},
		{"(1,234.00 VND)", -1234, ""},
		{"-1.234.567 đ", -1234567, ""},
		{`="1.234"`, 1234, ""},
		{"'1234", 1234, ""},

		{"1.234\nVND", 1234, ""},
		{"0", 0, ""},
		{"0.00", 0, ""},
		{"0,000", 0, ""},
		{"-", 0, ""},
		{"–", 0, ""},
		{"-0", 0, ""},

		{"1.23", 0, groups},
		{"12,5", 0, groups},
		{"1.2345", 0, groups},
		{"1,23,456", 0, groups},
		{"12,34,567", 0, groups},
		{"1.234.56", 0, groups},
		{"1234.567.890", 0, groups},
		{".5", 0, groups},
		{"5.", 0, groups},
		{"1..234", 0, groups},
		{"1,234.567,89", 0, groups},
		{"012.345", 0, groups},
		{"12 34", 0, groups},
		{"500\n000", 0, groups},
		{"\u202e521000", 0, syntax},
		{"1,234.50", 0, fraction},
		{"1.234,5", 0, fraction},
		{"1234.56", 0, fraction},
		{"1234.567", 0, fraction},
		{"0.123", 0, fraction},
		{"1,234.567", 0, fraction},
		{"10.000.000.000.000", 0, size},
		{"99999999999999999999999999", 0, size},
		{"1.5E+07", 0, cut},
		{"1,5e7", 0, cut},
		{"1e400", 0, cut},
		{"abc1", 0, syntax},
		{"1.234 USD", 0, syntax},
		{"--5", 0, syntax},
		{"(5", 0, syntax},
		{"1-2", 0, syntax},
		{"１２３", 0, syntax},
		{"٣", 0, syntax},
		{"#REF!", 0, syntax},
		{"1'234", 0, syntax},
	}
	for _, test := range tests {
		path := write(t, "Ngày;Nội dung;Số tiền (VND)\n01/11/2026;x;\""+strings.ReplaceAll(test.text, `"`, `""`)+"\"\n02/11/2026;y;+1\n")
		rows, err := tryRows(t, path, statement.Options{Zone: zone})
		checkAmount(t, test, rows, err)
	}
}

// TestNumberCells reads amounts that are numbers of a workbook: by their
// value, whatever their format shows.
func TestNumberCells(t *testing.T) {
	tests := []amountTest{
		{"150000", 150000, ""},
		{"1.5E+7", 15000000, ""},
		{"1.5E7", 15000000, ""},
		{"-1.5E+7", -15000000, ""},
		{"1500000.0", 1500000, ""},
		{"0", 0, ""},
		{"0.0", 0, ""},
		{"1.234", 0, "whole number"},
		{"150000.00000000003", 0, "whole number"},
		{"1E+13", 0, "9999999999999"},
		{"NaN", 0, ""},
		{"1,234", 0, "could not be read"},
	}
	for _, test := range tests {
		path := workbook(t, `<row r="1">`+texts("A1", "Ngày", "B1", "Nội dung", "C1", "Số tiền")+`</row>`+
			`<row r="2"><c r="A2"><v>46327</v></c>`+texts("B2", "x")+`<c r="C2" s="1"><v>`+test.text+`</v></c></row>`+
			`<row r="3"><c r="A3"><v>46328</v></c>`+texts("B3", "y", "C3", "+1")+`</row>`)
		rows, err := tryRows(t, path, statement.Options{Zone: zone})
		if test.text == "NaN" {
			test.fault = "could not be read"
		}
		checkAmount(t, test, rows, err)
	}
}

// amountTest is how an amount is written in a cell, and how it is read.
type amountTest struct {
	text  string
	want  int64
	fault string
}

// checkAmount looks at the first of two rows; the second has a sign, so that
// the column tells which way money went. No amount in the only column of them
// means that the file isn't understood.
func checkAmount(t *testing.T, test amountTest, rows []statement.Row, err error) {
	t.Helper()
	if test.want == 0 && test.fault == "" {
		if err == nil || !strings.Contains(err.Error(), "no amount") {
			t.Errorf("%q: is read as %v, %v", test.text, rows, err)
		}
		return
	}
	if len(rows) != 2 || err != nil {
		t.Errorf("%q: %d rows, %v", test.text, len(rows), err)
		return
	}
	row := rows[0]
	amount := row.Amount
	if row.Type == "OUT" {
		amount = -amount
	}
	switch {
	case test.fault == "" && (row.Fault != nil || amount != test.want):
		t.Errorf("%q: %swant %d", test.text, format(row), test.want)
	case test.fault != "" && (row.Fault == nil || !strings.Contains(row.Fault.Text.EN, test.fault) || row.Amount != 0):
		t.Errorf("%q: %swant a fault %q", test.text, format(row), test.fault)
	}
}

// TestDates reads dates, dd/mm/yyyy being the order of Vietnam.
func TestDates(t *testing.T) {
	tests := []struct{ text, want string }{
		{"01/11/2026", "2026-11-01 00:00:00"},
		{"1/2/2026", "2026-02-01 00:00:00"},
		{"01-11-2026", "2026-11-01 00:00:00"},
		{"01.11.2026", "2026-11-01 00:00:00"},
		{"01/11/26", "2026-11-01 00:00:00"},
		{"2026-11-01", "2026-11-01 00:00:00"},
		{"2026/11/1", "2026-11-01 00:00:00"},
		{"01/11/2026 10:11", "2026-11-01 10:11:00"},
		{"01/11/2026 10:11:12", "2026-11-01 10:11:12"},
		{"01/11/2026\n10:11:12", "2026-11-01 10:11:12"},
		{"01/11/2026 - 10:11:12", "2026-11-01 10:11:12"},
		{"01/11/2026 10:11:12.345", "2026-11-01 10:11:12"},
		{"01/11/2026 1:05 PM", "2026-11-01 13:05:00"},
		{"01/11/2026 12:05:00 AM", "2026-11-01 00:05:00"},
		{"01/11/2026 12:05 PM", "2026-11-01 12:05:00"},
		{"2026-11-01T10:11:12", "2026-11-01 10:11:12"},
		{"2026-11-01T03:11:12Z", "2026-11-01 10:11:12"},
		{"2026-11-01T10:11:12+07:00", "2026-11-01 10:11:12"},
		{"29/02/2028", "2028-02-29 00:00:00"},
		{"01/11/2026 23:59:60", "2026-11-01 00:00:00"},
		{"01/11/2026 Chủ nhật", "2026-11-01 00:00:00"},
		{"01/11/2026 10:11:x", "2026-11-01 00:00:00"},
		{"01/11/2026 10:111", "2026-11-01 00:00:00"},
		{"2026-011-01", "-"},

		{"11/31/2026", "-"},
		{"29/02/2026", "-"},
		{"00/11/2026", "-"},
		{"01/11", "-"},
		{"01/11/2026/5", "2026-11-01 00:00:00"},
		{"01/11-2026", "-"},
		{"01/11/20261", "-"},
		{"01/11/026", "-"},
		{"46327", "-"},
		{"hôm qua 1", "-"},
		{"9999999999999/1/2026", "-"},
	}
	for _, test := range tests {
		path := write(t, "Ngày;Nội dung;Ghi có\n\""+test.text+"\";x;1.000\n")
		rows := readRows(t, path, statement.Options{Zone: zone})
		if len(rows) != 1 || rows[0].Fault != nil {
			t.Errorf("%q: %v", test.text, rows)
			continue
		}
		if got := strings.Split(format(rows[0]), " | ")[1]; got != test.want {
			t.Errorf("%q is read as %s, want %s", test.text, got, test.want)
		}
	}
}

// TestDateCells reads the numbers that spreadsheets keep dates as; what is
// written of them can be read again.
func TestDateCells(t *testing.T) {
	for serial, want := range map[string]string{
		"46327":               "2026-11-01 00:00:00",
		"46327.424444444441":  "2026-11-01 10:11:12",
		"46327.99999999":      "2026-11-02 00:00:00",
		"4.6327E+4":           "2026-11-01 00:00:00",
		"1":                   "-",
		"2958466":             "-",
		"20261101":            "-",
		"NaN":                 "-",
		"46327.0000000000001": "2026-11-01 00:00:00",
	} {
		path := workbook(t, `<row>`+texts("", "Ngày", "", "Nội dung", "", "Ghi có")+`</row><row><c><v>`+serial+`</v></c>`+texts("",
			"x")+`<c><v>1000</v></c></row>`)
		rows := readRows(t, path, statement.Options{Zone: zone})
		if len(rows) != 1 {
			t.Errorf("%s: %v", serial, rows)
			continue
		}
		if got := strings.Split(format(rows[0]), " | ")[1]; got != want {
			t.Errorf("%s is read as %s, want %s", serial, got, want)
		}
		if want != "-" && rows[0].Cells[0] != want {
			t.Errorf("%s is written as %s, want %s", serial, rows[0].Cells[0], want)
		}
	}
}

// TestLongNumbers keeps every digit of account numbers and references, or
// says that they are lost.
func TestLongNumbers(t *testing.T) {
	f := excelize.NewFile()
	for at, value := range map[string]any{
		"A1": "Date", "B1": "Reference", "C1": "Credit", "D1": "Account number", "E1": "Description",
		"A2": "01/11/2026", "B2": int64(123456789012345), "C2": 1000, "D2": int64(19034000000017), "E2": "as numbers",
		"A3": "01/11/2026", "B3": "0012345", "C3": 1000, "D3": "0034000000017", "E3": "as texts",
		"A4": "01/11/2026", "B4": int64(12345678901234567), "C4": 1000, "D4": "19034000000017", "E4": "a reference of 17 digits",
		"A5": "01/11/2026", "B5": "FT1", "C5": 1000, "D5": int64(1903400000001712345), "E5": "an account of 19 digits",
	} {
		must(t, f.SetCellValue("Sheet1", at, value))
	}
	var got strings.Builder
	for _, row := range readRows(t, saved(t, f), statement.Options{Zone: zone, Map: map[string]string{"account": "D"}}) {
		fault := ""
		if row.Fault != nil {
			fault = row.Fault.Field
		}
		fmt.Fprintf(&got, "%s|%s|%s\n", row.Number, row.AccountNumber, fault)
	}
	want := "123456789012345|19034000000017|\n0012345|0034000000017|\n|19034000000017|\nFT1|1903400000001712345|accountNumber\n"
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}
