package statement_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"baoco/app/statement"
)

// question is the beginning of what a person is asked, behind the line of the first row.
const question = " the sheet hides something that is read, or shows it otherwise; number of such rows: "

// TestUnseen: what is read and not shown by the sheet is asked about, with the first row and their number.
func TestUnseen(t *testing.T) {
	const want = "1 IN 5 a, 2 OUT 3 b, 3 IN 4 c"
	styled := func(code, at string) func(f *excelize.File) error {
		return func(f *excelize.File) error {
			id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
			if err != nil {
				return err
			}
			return f.SetCellStyle("Sheet1", at, at, id)
		}
	}
	for name, test := range map[string]struct {
		change     func(f *excelize.File) error
		asks, want string
	}{
		"a row":    {func(f *excelize.File) error { return f.SetRowVisible("Sheet1", 3, false) }, "3" + question + "1", want},
		"a column": {func(f *excelize.File) error { return f.SetColVisible("Sheet1", "B", false) }, "2" + question + "3", want},
		"a column of no width": {func(f *excelize.File) error { return f.SetColWidth("Sheet1", "B", "C", 0) },
			"2" + question + "3", want},
		"amounts":                  {func(f *excelize.File) error { return f.SetColVisible("Sheet1", "C", false) }, "3" + question + "1", want},
		"taxes":                    {func(f *excelize.File) error { return f.SetColVisible("Sheet1", "H", false) }, "3" + question + "1", want},
		"a column that isn't read": {func(f *excelize.File) error { return f.SetColVisible("Sheet1", "F", false) }, "", want},
		"the sheet": {func(f *excelize.File) error {
			_, err := f.NewSheet("Other")
			f.SetActiveSheet(1)
			must(t, f.SetSheetVisible("Sheet1", false))
			return err
		}, "2" + question + "3", want},
		"the row of the header": {func(f *excelize.File) error { return f.SetRowVisible("Sheet1", 1, false) },
			"2" + question + "3", want},
		"the name of a column":          {styled(`;;;"Gửi vào"`, "C1"), "3" + question + "1", want},
		"a status":                      {styled(`;;;"Trạng thái"`, "F1"), "2" + question + "3", want},
		"a column of numbers from 1":    {func(f *excelize.File) error { return f.SetColVisible("Sheet1", "I", false) }, "", want},
		"the account of the other side": {func(f *excelize.File) error { return f.SetColVisible("Sheet1", "J", false) }, "", want},
		"a number from 1 without a date": {func(f *excelize.File) error {
			must(t, f.SetColVisible("Sheet1", "I", false))
			return f.SetCellStr("Sheet1", "A4", "")
		}, "4" + question + "1", "1 IN 5 a, 2 OUT 3 b, 2 IN 4 c"},
		"a date with another day":      {styled(`d"0/"m`, "A4"), "4" + question + "1", want},
		"a date with parts of seconds": {styled(`d/m/yyyy h:mm:ss.000`, "A4"), "", want},
		"a row of no height":           {func(f *excelize.File) error { return f.SetRowHeight("Sheet1", 3, 0.1) }, "3" + question + "1", want},
		"columns of no usual width": {func(f *excelize.File) error {
			none := 0.1
			return f.SetSheetProps("Sheet1", &excelize.SheetPropsOptions{DefaultColWidth: &none})
		}, "2" + question + "3", want},
		"a text with more digits":         {styled(`@"000"`, "B3"), "3" + question + "1", want},
		"a text that isn't shown":         {styled(`0;0;0;`, "B3"), "3" + question + "1", want},
		"a date as another":               {styled(`"05/11/2026"`, "A4"), "4" + question + "1", want},
		"a date that isn't shown":         {styled(`;;;`, "A4"), "4" + question + "1", want},
		"a date and a text as they are":   {styled(`[$-1010000]d/m/yyyy;@`, "A4"), "", want},
		"a zero that isn't shown":         {styled(`#,##0;-#,##0;;@`, "D3"), "", want},
		"a zero that is shown as a dash":  {styled(`_-* #,##0_-;-* #,##0_-;_-* "-"??_-;_-@_-`, "D3"), "", want},
		"a zero that is shown as another": {styled(`0;-0;"1000"`, "D3"), "", "Line 3: column D shows “1000” where the cell holds 0"},
		"0 and a format without a sign":   {styled(`0;0`, "D3"), "", want},
	} {
		f := excelize.NewFile()
		for y, row := range [][]any{{"Ngày", "Nội dung", "Rút ra", "Gửi vào", "Số dư", "Ghi chú", "Phí", "Thuế", "STT", "TK đối ứng"},
			{46327, "a", nil, 5, 105, "x", nil, nil, 1, "123456789"}, {46328, "b", 3, 0, 102, "y", 0, 0, 2, "123456789"},
			{46329, "c", nil, 4, 106, "z", nil, nil, 3, "123456789"}} {
			at, err := excelize.CoordinatesToCellName(1, y+1)
			must(t, err)
			must(t, f.SetSheetRow("Sheet1", at, &row))
		}
		must(t, test.change(f))
		path := saved(t, f)
		rows, err := tryRows(t, path, statement.Options{Zone: zone})
		if got := brief(rows); err == nil && got != test.want || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, test.want)
		}
		list, _ := differences(t, path)
		if got := strings.Join(list, ", "); !strings.HasPrefix(got, test.asks) || test.asks == "" && got != "" {
			t.Errorf("%s asks %q, want %q", name, got, test.asks)
		}
	}
}

// TestUnseenXLS: likewise in a workbook of Excel 97.
func TestUnseenXLS(t *testing.T) {
	format := func(code string) string {
		return xlsRecord(0x41E, 164, len(code), "\x00"+code) + xlsRecord(0xE0, 0, 164)
	}
	row := func(line, flags int) string { return xlsRecord(0x208, line, 0, 3, 300, uint32(0), flags, 0) }
	column := func(at, width, flags int) string { return xlsRecord(0x7D, at, at, width, 0, flags) }
	rows := xlsRow(1, xlsRecord(0x204, 1, 1, 0, wide("a")), 1000) + xlsRow(2, xlsRecord(0x204, 2, 1, 0, wide("b")), 2000)
	for name, test := range map[string]struct{ above, cells, asks string }{
		"as it is":          {"", column(1, 2000, 0) + row(2, 0x140) + rows, ""},
		"a row":             {"", row(2, 0x20) + rows, "3" + question + "1"},
		"one of usual size": {"", xlsRecord(0x208, 2, 0, 3, 0x8000, uint32(0), 0x140, 0) + rows, ""},
		"one of no height":  {"", xlsRecord(0x208, 2, 0, 3, 1, uint32(0), 0x140, 0) + rows, "3" + question + "1"},
		"a column":          {"", column(1, 2000, 1) + rows, "2" + question + "2"},
		"one of no width":   {"", column(1, 0, 0) + rows, "2" + question + "2"},
		"one behind":        {"", column(3, 0, 1) + rows, ""},
		"beneath a merged":  {"", rows + xlsRecord(0xE5, 2, 8, 9, 0, 1, 1, 2, 1, 1), "3" + question + "1"},
		"a chart":           {"", rows + xlsSheet + row(1, 0x20) + xlsEnd, ""},
		"all texts":         {format(`0;-0;0;@"0"`), rows, "2" + question + "2"},
		"a text is no date": {format(`General;@`), rows, ""},
	} {
		list, err := differences(t, xlsFile(t, test.above, test.cells))
		if got := strings.Join(list, ", "); err != nil || !strings.HasPrefix(got, test.asks) || test.asks == "" && got != "" {
			t.Errorf("%s asks %q, %v; want %q", name, got, err, test.asks)
		}
	}
	hidden := ole("Workbook", xlsStream("", rows))
	hidden[bytes.Index(hidden, []byte("\x85\x00"))+8] = 1
	list, err := differences(t, write(t, string(hidden)))
	if got := strings.Join(list, ", "); err != nil || !strings.HasPrefix(got, "2"+question+"2") {
		t.Errorf("a hidden sheet asks %q, %v", got, err)
	}
}

// TestMerged: what stands beneath a merged cell isn't shown, and an amount that stands in the columns of both
// directions says none.
func TestMerged(t *testing.T) {
	row := func(n, amount string) string {
		return `<row r="` + n + `">` + texts("A"+n, "01/11/2026", "B"+n, "a") + `<c r="` + amount + `"><v>5</v></c></row>`
	}
	const sheet, both = "xl/worksheets/sheet1.xml", "1 IN 5 a, 1 OUT 5 a"
	for merged, test := range map[string]struct{ asks, want string }{
		"B2:B9":         {"4" + question + "1", both},
		"B1:B9":         {"2" + question + "2", both},
		"B3:B4":         {"4" + question + "1", both},
		"A4:B4":         {"4" + question + "1", both},
		"C2:D2":         {"2" + question + "1", both},
		"B2:B9 B2:B3":   {"4" + question + "1", both},
		"E9:F9 B2:B9":   {"4" + question + "1", both},
		"E2:F9 A1:A3":   {"2" + question + "1", both},
		"E2:F9 A5:XFD9": {"", both},
		"C2:C3 D2:F2":   {"", both},
		"C2:C4":         {"4" + question + "1", both},
		"C4:D4":         {"", "1 IN 5 a, 1 ! transferType"},
		"C4:XFE4":       {"", "damaged"},
		"D4:C4":         {"", "damaged"},
		"ZZZZZ4:C4":     {"", "damaged"},

		strings.Repeat(" A9:XFD9", 1<<22>>14+1): {"", "damaged"},
	} {
		p := parts(`<row r="1">` + texts("A1", "Ngày", "B1", "Nội dung", "C1", "Rút ra", "D1", "Gửi vào") + `</row>` + row("2", "D2") +
			row("4", "C4"))
		list := "</sheetData>"
		for _, ref := range strings.Fields(merged) {
			list += "<" + strings.Repeat("x", 50) + ":mergeCell\nref='" + ref + "'/>"
		}
		p[sheet] = strings.Replace(p[sheet], "</sheetData>", list, 1)
		path := write(t, zipped(t, p))
		rows, err := tryRows(t, path, statement.Options{Zone: zone})
		got := brief(rows)
		if err != nil && strings.Contains(err.Error(), "damaged") {
			got = "damaged"
		}
		questions, _ := differences(t, path)
		asks := strings.Join(questions, ", ")
		if got != test.want || !strings.HasPrefix(asks, test.asks) || test.asks == "" && asks != "" {
			t.Errorf("%.40s: %s asks %q, %v; want %s, %q", merged, got, asks, err, test.want, test.asks)
		}
	}
	p := parts("") // a quarter of a million merged cells
	p[sheet] = strings.Replace(p[sheet], "</sheetData>", "</sheetData>"+strings.Repeat("<mergeCell ref='H1:H1'/>", 1<<18), 1)
	if _, err := tryRows(t, write(t, zipped(t, p)), statement.Options{Zone: zone}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("too many merged cells: %v", err)
	}
	const page = "<table><tr><td>Ngày<td>Nội dung<td>Rút ra<td>Gửi vào<tr><td>01/11/2026<td>a<td colspan=2>5.000" +
		"<tr><td>02/11/2026<td>b<td>6.000<td><tr><td>03/11/2026<td>c<td colspan=2>-<tr><td colspan=2>Tổng<td colspan=2>6.000</table>"
	rows, err := tryRows(t, write(t, page), statement.Options{Zone: zone})
	if got := brief(rows); err != nil || got != "1 ! transferType, 2 OUT 6000 b" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestStaleFormulas: what a formula came to isn't known where the workbook says that it is still to be calculated.
func TestStaleFormulas(t *testing.T) {
	row := func(cell string) string {
		return headerRow + `<row r="2"><c r="A2" t="str"><v>01/11/2026</v></c><c r="B2" t="str"><f>IF(1,"","")</f><v></v></c>` + cell + `</row>`
	}
	const value, known, unknown = `<c r="C2"><f>4+1</f><v>5</v></c>`, "1 IN 5", "1 ! transferAmount"
	for name, test := range map[string]struct{ cell, book, want string }{
		"calculated":            {value, "", known},
		"no value":              {`<c r="C2"><f>4+1</f></c>`, "", unknown},
		"an empty value":        {`<c r="C2"><f>4+1</f><v></v></c>`, "", unknown},
		"calculated each day":   {`<c r="C2"><f>IF(today ()>1,5,500)</f><v>5</v></c>`, "", unknown},
		"calculated whenever":   {`<c r="C2"><f ca="1">NOW()</f><v>5</v></c>`, "", unknown},
		"not whenever":          {`<c r="C2"><f ca="0">4+1</f><v>5</v></c>`, "", known},
		"when it is opened":     {value, `<calcPr fullCalcOnLoad="1"/>`, unknown},
		"not when it was saved": {value, `<calcPr calcCompleted="0"/>`, unknown},
		"together with its date": {`</row><row r="3"><c r="A3"><f>TODAY()</f><v>46327</v></c>` +
			`<c r="B3" t="str"><v>b</v></c><c r="C3"><f>TODAY()</f><v>5</v></c>`, "", "0 ! transferAmount"},
		"a number is no formula": {`<c r="C2"><v>5</v></c>`, `<calcPr fullCalcOnLoad="true"/>`, "1 IN 5 #N/A"},
	} {
		p := parts(row(test.cell))
		p["xl/workbook.xml"] = strings.Replace(p["xl/workbook.xml"], "</workbook>", test.book+"</workbook>", 1)
		rows, err := tryRows(t, write(t, zipped(t, p)), statement.Options{Zone: zone})
		if got := brief(rows); got != test.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, test.want)
		}
	}
	formula := xlsRecord(6, 1, 1, 0, float64(12), 0, uint32(0), "\x01\x00x")
	if rows := readRows(t, xlsFile(t, "", xlsRecord(0x5E, 0)+xlsRow(1, formula, 1000)), statement.Options{Zone: zone}); brief(rows) !=
		"1 IN 1000 #N/A" {
		t.Error(brief(rows))
	}
}
