package statement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"baoco/app/statement"
)

// sheetNumber is a number as it is written in a sheet.
type sheetNumber string

// formatted writes a workbook with one amount, and a text with a minus below it.
func formatted(t *testing.T, value any, style excelize.Style) string {
	f := excelize.NewFile()
	for at, v := range map[string]any{"A1": "Ngày", "B1": "Nội dung", "C1": "Số tiền", "A2": "01/11/2026", "B2": "a", "C2": value,
		"A3": "02/11/2026", "B3": "b", "C3": "-7"} {
		must(t, f.SetCellValue("Sheet1", at, v))
	}
	if written, ok := value.(sheetNumber); ok {
		must(t, f.SetCellDefault("Sheet1", "C2", string(written)))
	}
	id, err := f.NewStyle(&style)
	must(t, err)
	must(t, f.SetCellStyle("Sheet1", "C2", "C2", id))
	return saved(t, f)
}

// TestNumberFormats: an amount is the number that a person sees, or it isn't read.
func TestNumberFormats(t *testing.T) {
	const in, out, foreign = "1 IN 5000 a, 2 OUT 7 b", "1 OUT 5000 a, 2 OUT 7 b", "1 ! currency, 2 OUT 7 b"
	for _, test := range []struct {
		format string
		value  int
		want   string // what is read, or which text is shown in the refusal
	}{
		{`#,##0`, 5000, in}, {`#,##0`, -5000, out}, {`0.00`, 5000, in}, {`# ##0`, 5000, in}, {`0.00E+00`, 5000, in}, {`@`, 5000, in},
		{`General" đ"`, 5000, in}, {`#,##0\ "₫"`, 5000, in}, {`#,##0 [$₫-42A];[Red]-#,##0 [$₫-42A]`, -5000, out}, {`[$VND] #,##0`, 5000, in},
		{`"VNĐ" #,##0`, -5000, out}, {`-[$₫-42A]#,##0`, -5000, "“--₫5000”"}, {`+#,##0;-#,##0;0`, 5000, in}, {`#,##0_);(#,##0)`, 5000, in},
		{`#,##0_);[Red](#,##0)`, -5000, out}, {`_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)`, -5000, out},
		{`_-* #,##0\ "₫"_-;\-* #,##0\ "₫"_-;_-* "-"\ "₫"_-;_-@_-`, -5000, out}, {`#,##0;-[$₫-42A]#,##0`, -5000, out},
		{`_-* #,##0\ _₫_-;\-* #,##0\ _₫_-;_-* "-"??\ _₫_-;_-@_-`, 5000, in}, {`[$-42A]#,##0`, 5000, in}, {`[$-vi-VN]#,##0`, 5000, in},
		{`#.##0,00`, 5000, in}, {`#,##0đ`, 5000, in}, {`#,##0\ "VND"_);(#,##0\ "VND")`, -5000, out}, {`#,##0.00,`, 5000, "“5000,”"},

		{`#,##0" đ USD"`, 5000, foreign},
		{`[$$-409]#,##0.00`, 5000, foreign}, {`[$€-2]\ #,##0.00`, 5000, foreign}, {`"USD" #,##0`, 5000, foreign}, {`#,##0 "usd"`, -5000, foreign},
		{`[$USD] #,##0`, 5000, foreign}, {`$#,##0`, 5000, foreign}, {`[$$-409]#,##0.00;[RED]\-[$$-409]#,##0.00`, -5000, foreign},
		{`#,##0\ [$¥-411]`, 5000, foreign}, {`"US$"* #,##0`, 5000, foreign}, {`(#,##0 "EUR")`, 5000, foreign},

		{`-#,##0`, 5000, "“-5000”"}, {`(#,##0)`, 5000, "“(5000)”"}, {`#,##0;#,##0`, -5000, "“5000”"}, {`#,##0;[Red]#,##0`, -5000, "“5000”"},
		{`+#,##0;+#,##0`, -5000, "“+5000”"}, {`#,##0,`, 5000, "“5000,”"}, {`#,##0,,"M"`, 5000, "“5000,,M”"}, {`0.0,`, 5000, "“5000,”"},
		{`0,.0`, 5000, "“5000,.0”"}, {`0%`, 5000, "“5000%”"}, {`0.00\%`, 5000, "“5000%”"}, {`#,##0"000"`, 5000, "“5000000”"},
		{`0\.00`, 5000, "“5000.00”"}, {`"nghìn" #,##0`, 5000, "“nghìn 5000”"}, {`#,##0 "tr"`, 5000, "“5000 tr”"}, {`;;;`, 5000, "“”"},
		{`dd/mm/yyyy`, 5000, "“dd/mm/yyyy”"}, {`[>=1000]#,##0,;#,##0`, 5000, "“5000,”"}, {`#,##0 "CR"`, 5000, "“5000 CR”"},
		{`[>=1000]#,##0;0`, 5000, in}, {`[>=1000]#,##0;0`, -5000, "“[>=1000]5000;5000”"}, {`[<0]-#,##0;#,##0`, 5000, in},
		{`[Red][<0]-#,##0;#,##0`, -5000, out}, {`[<0]#,##0;#,##0`, -5000, "“5000”"}, {`[=0]"-";[<0](#,##0);#,##0`, -5000, out},
		{`[=0]"-";[<0](#,##0);#,##0`, 5000, in}, {`[<=5000]#,##0;#,##0,`, 5000, in}, {`[<5000]#,##0;#,##0,`, 5000, "“5000,”"},
		{`[>5000]#,##0;#,##0,`, 5000, "“5000,”"}, {`[<>5000]#,##0,;0`, 5000, in}, {`[<>5]#,##0,;0`, 5000, "“5000,”"},
		{`[>=1000]#,##0`, 500, "“[>=1000]500”"}, {`[>=9000]#,##0;0;0"0"`, 5000, "“[>=9000]5000;5000;50000”"},
		{`[<9000]#,##0;0`, -5000, "“[<9000]5000;5000”"},
		{`#,##0;[>5]#,##0`, 5000, "“5000;[>5]5000”"},
		{`###\.###`, 5000, in}, {`#\.###\ "đ"`, 5000, in}, {`#\ ##0;-#\ ##0`, -5000, out}, {`#\.###\.###`, 5000, "“5000.###.###”"},
		{`0\.000`, 500, "“500.###”"}, {`[>=1000000]#\.###\.###;[>=1000]#\.###;0`, 5000, in}, {`0".000"`, 5000, "“5000.000”"},
		{`"đã trả"`, 5000, "“đã trả”"}, {`0 "x" 0`, 5000, "“5000 x 0”"},
	} {
		rows, err := tryRows(t, formatted(t, test.value, excelize.Style{CustomNumFmt: &test.format}), statement.Options{Zone: zone})
		if got := brief(rows); err == nil && got != test.want ||
			err != nil && !strings.Contains(err.Error(), "Line 2: column C shows "+test.want) {
			t.Errorf("%s of %d: %s, %v; want %s", test.format, test.value, got, err, test.want)
		}
	}
	byHand := `#\.###`
	for value, want := range map[string]string{"5000.0": "", "500.0": "“500.0.###”"} { // as some programs write numbers
		path := formatted(t, sheetNumber(value), excelize.Style{CustomNumFmt: &byHand})
		_, err := tryRows(t, path, statement.Options{Zone: zone})
		if want == "" && err != nil || want != "" && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v; want %s", value, err, want)
		}
	}
	for id, want := range map[int]string{0: in, 1: in, 3: in, 4: in, 9: "", 10: "", 11: in, 14: "", 22: "", 37: in, 38: in, 46: "", 49: in} {
		rows, err := tryRows(t, formatted(t, 5000, excelize.Style{NumFmt: id}), statement.Options{Zone: zone})
		if got := brief(rows); err == nil && got != want || want != "" && err != nil {
			t.Errorf("format %d: %s, %v; want %s", id, got, err, want)
		}
	}
}

// TestForeignFormatAround: a balance in another currency, beside a row or above the table,
// says what the amounts are in.
func TestForeignFormatAround(t *testing.T) {
	dollars := "[$$-409]#,##0.00"
	for at, want := range map[string]string{"D5": "2 ! currency", "B1": "Line 1: it says “$”"} {
		f := excelize.NewFile()
		for y, row := range [][]any{{"Số dư đầu kỳ", 100}, {"Ngày", "Nội dung", "Ghi có", "Số dư"}, {"01/11/2026", "a", 5, 105}, {},
			{"02/11/2026", "b", 7, 112}} {
			cell, err := excelize.CoordinatesToCellName(1, y+1)
			must(t, err)
			must(t, f.SetSheetRow("Sheet1", cell, &row))
		}
		id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &dollars})
		must(t, err)
		must(t, f.SetCellStyle("Sheet1", at, at, id))
		rows, err := tryRows(t, saved(t, f), statement.Options{Zone: zone})
		if got := brief(rows); err == nil && !strings.HasSuffix(got, want) || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", at, got, err, want)
		}
	}
}
