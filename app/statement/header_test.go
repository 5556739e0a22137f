package statement_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"baoco/app"
	"baoco/app/statement"
)

// columnsOf gives the fields of the columns of a header, "-" where a column is
// none; empty where it isn't a header.
func columnsOf(t *testing.T, path string, o statement.Options) string {
	t.Helper()
	r, err := statement.Open(t.Context(), path, o)
	if err != nil {
		return ""
	}
	defer r.Close()
	fields := r.Layout().Columns
	for i, f := range fields {
		if f == "" {
			fields[i] = "-"
		}
	}
	return strings.TrimRight(strings.Join(fields, " "), " -")
}

func TestHeaders(t *testing.T) {
	for header, want := range map[string]string{
		"Ngày;Nội dung;Số tiền":                                         "date content amount",
		"NGÀY GD;DIỄN GIẢI;PS NỢ;PS CÓ;SỐ DƯ":                           "date content debit credit balance",
		"No.;Date;Details;Withdrawals;Deposits;Balance":                 "index date content debit credit balance",
		"Ngày;Nợ;Có;Mô tả":                                              "date debit credit content",
		"Ngày;Mô tả;No;Có":                                              "date content index credit",
		"STT;Thời gian;Tiền ra;Tiền vào;Nội dung;Người chuyển":          "index date debit credit content counterpart",
		"Ngày;Giờ;Nội dung;Thu;Chi":                                     "date time content credit debit",
		"Ngày giao dịch;Số tiền;Nợ/Có;Nội dung giao dịch;Mã giao dịch":  "date amount type content number",
		"Date;Amount;+/-;Description":                                   "date amount type content",
		"Date;Amount;D/C;Description":                                   "date amount type content",
		"transactionDate;transferAmount;transferType;content;gateway":   "date amount type content",
		"Date (UTC+7);Amount (VND);Memo":                                "date amount content",
		"Posting date;Value date;Debit amount;Credit amount;Remarks":    "posting date - debit credit content",
		"Ngày;Số tiền ghi nợ/Debit (VND);Số tiền ghi có/Credit (VND);X": "date debit credit",
		"Ngày hạch toán;Ngày giao dịch;Phí;Thuế;Ghi nợ;Ghi có":          "posting date date charge - debit credit",
		"Ngày;Số TK đối ứng;Tên TK đối ứng;Số TK;Số tiền":               "date counterpart - - amount",
		"Transaction Date;Beneficiary account number;Debit;Credit":      "date counterpart debit credit",

		"date_time;trans_no;credit;debit;detail":                    "date number credit debit content",
		"TransactionDate;Amount;CD;Description;Reference;PCTime":    "date amount type content number time",
		"postingDate;creditDebitIndicator;amount;memo;benAccountNo": "posting date type amount content",
		"transaction_date;amount_in;amount_out;transaction_content": "date credit debit content",
		"NgayGD;SoTienGhiNo;SoTienGhiCo;DienGiai;SoDu":              "date debit credit content balance",

		"Ngày;Số tiền ghi nợ/có;Nội dung":        "date amount content",
		"Date;Debit/Credit amount;Details":       "date amount content",
		"Ngày;Tiền vào/ra;Nội dung":              "date amount content",
		"Ngày;Ghi nợ/Ghi có;Số tiền;Nội dung":    "date type amount content",
		"Ngày;Tài khoản ghi nợ;Số tiền;Nội dung": "date - amount content",
		"Ngày;Credit account;Nợ;Có":              "date - debit credit",
		"Ngày;Ghi có;Số dư khả dụng;Nội dung":    "date credit - content",

		"Ngày;TK ghi có;Nội dung;Mã GD":             "",
		"Ngày;Nội dung":                             "",
		"Tổng ghi nợ;Tổng ghi có;Từ ngày;Đến ngày":  "",
		"Ngày 01/11/2026;Số tiền;Nội dung":          "",
		"Số dư nợ;Số dư có;Ngày":                    "",
		"a;b;c":                                     "",
		"Ngày;Nội dung;Số tiền 1.000.000":           "",
		strings.Repeat("Ngày ", 100) + ";Số tiền;x": "",
	} {
		rows := "\n01/11/2026;01/11/2026;1.000;1.000\n"
		if got := columnsOf(t, write(t, header+rows), statement.Options{Zone: zone}); got != want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
		if got := columnsOf(t, write(t, strings.Repeat("\n", 119)+header+rows), statement.Options{Zone: zone}); got != want {
			t.Errorf("%s: %s in line 120, want %s", header, got, want)
		}
		if got := columnsOf(t, write(t, strings.Repeat("\n", 120)+header+rows), statement.Options{Zone: zone}); got != "" {
			t.Errorf("%s: found in line 121", header)
		}
	}
}

// TestHeaderInTwoRows: the header of a group of columns above their own.
func TestHeaderInTwoRows(t *testing.T) {
	path := write(t, `Sao kê,,,
Ngày,Phát sinh,,Nội dung
,Nợ,Có,
(1),(2),(3),(4)
01/11/2026,,"1.000",DH1
`)
	want := "date debit credit content"
	if got := columnsOf(t, path, statement.Options{Zone: zone}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	rows := readRows(t, path, statement.Options{Zone: zone})
	if len(rows) != 1 || rows[0].Amount != 1000 || rows[0].Type != app.In {
		t.Errorf("got %v", rows)
	}
}

// TestDelimiters: each is found by the header, whatever else stands in the
// file.
func TestDelimiters(t *testing.T) {
	for _, d := range []string{",", ";", "\t", "|"} {
		content := strings.Join([]string{"Ngày", "Nội dung", "Số tiền"}, d) + "\n" +
			strings.Join([]string{"01/11/2026", `"a,b;c|d` + "\t" + `e,,,,,"`, `"+1.000"`}, d) + "\n"
		for _, before := range []string{"", "sep=" + d + "\n", "Kính gửi: a, b, c; d | e\n\n"} {
			rows := readRows(t, write(t, before+content), statement.Options{Zone: zone})
			if len(rows) != 1 || rows[0].Amount != 1000 || rows[0].Content != "a,b;c|d\te,,,,," || rows[0].Line != 2+strings.Count(before, "\n") {
				t.Errorf("%q: %+v", before+content, rows)
			}
		}
	}
}

// TestEncodings beside those of TestSamples.
func TestEncodings(t *testing.T) {
	for name, content := range map[string]string{
		"Windows-1258":     "Ng\xe0y;N\xf4\xf2i dung;S\xf4\xec ti\xea\xccn\n01/11/2026;\xf0\xf4\xecc;+1.000\n",
		"old Windows ends": "Ngày;Nội dung;Số tiền\r\r\n01/11/2026;đốc;+1.000\r\r\n",
	} {
		rows := readRows(t, write(t, content), statement.Options{Zone: zone})
		if len(rows) != 1 || rows[0].Amount != 1000 || app.SearchText(rows[0].Content, "") != "doc\n" {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}

// TestMap places columns as a person says.
func TestMap(t *testing.T) {
	const file = "Báo cáo;;;;\nWhen;What;How much;Kind;Ref\n01/11/2026;DH1;1.000;co;A1\n02/11/2026;DH2;2.000;no;A2\n"
	const bare = "x;1;y\n\n01/11/2026;DH1;1.000;7\n02/11/2026;DH2;-2.000;8\nTổng;;3.000;\n"
	for _, test := range []struct {
		content, fields, want string
	}{
		{file, "date=When content=What amount=HOW_MUCH type=kind number=Ref", "1 IN 1000 DH1 A1, 2 OUT 2000 DH2 A2"},
		{file, "date=A content=B amount=C type=D id=E", "1 IN 1000 DH1 id A1, 2 OUT 2000 DH2 id A2"},
		{file, "date=1 content=2 amount=3 type=4", "1 IN 1000 DH1, 2 OUT 2000 DH2"},
		{file, "amount=How_much type=4", "1 IN 1000 A1, 2 OUT 2000 A2"},
		{bare, "date=A content=B amount=C number=4", "1 IN 1000 DH1 7, 2 OUT 2000 DH2 8"},
		{bare, "date=a content=b credit=c", "1 IN 1000 DH1, 2 ! transferType"},
		{bare, "content=B amount=C account=D", "0 IN 1000 DH1 acc 7, 0 OUT 2000 DH2 acc 8"},
		{"Ngày;Ghi nợ;Ghi có;Số tiền;Nội dung\n01/11/2026;5;;+7;x\n", "amount=D", "1 IN 7 x"},
		{"Ngày;Ghi nợ;Ghi có;Số tiền;Nội dung\n01/11/2026;;5;7;x\n", "credit=C", "1 IN 5 x"},
		{"Ngày;Ngày giao dịch;Nội dung;Số tiền\n01/11/2026;02/11/2026;x;+7\n", "", "2 IN 7 x"},
		{"Ngày giao dịch;Ngày hạch toán;Nội dung;Số tiền\n01/11/2026;02/11/2026;x;+7\n", "date=Ngày_hạch_toán", "2 IN 7 x"},
		{"Ngày giao dịch;Ngày hạch toán;Nội dung;Số tiền\n;02/11/2026;x;+7\n", "", "2 IN 7 x"},
		{"Ngày;Nội dung;Ghi có;Phí\n01/11/2026;x;;5\n", "debit=Phí", "1 OUT 5 x"},
		{file, "date=When amount=Z", "refused"},
		{file, "date=When amount=Nothing", "refused"},
		{file, "date=When", "refused"},
		{bare, "date=A amount=B", "refused"},
		{bare, "date=A amount=0", "refused"},
		{file, "datum=A", "refused"},
		{file, "amount=", "refused"},
	} {
		o := statement.Options{Zone: zone}
		for pair := range strings.FieldsSeq(test.fields) {
			key, column, _ := strings.Cut(pair, "=")
			if o.Map == nil {
				o.Map = map[string]string{}
			}
			o.Map[key] = strings.ReplaceAll(column, "_", " ")
		}
		rows, err := tryRows(t, write(t, test.content), o)
		if got := brief(rows); err != nil && test.want != "refused" || err == nil && got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.fields, got, err, test.want)
		}
		if err != nil && app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%s: %v is not for people", test.fields, err)
		}
	}
}

// brief gives rows by day, direction, amount and texts.
func brief(rows []statement.Row) string {
	var all []string
	for _, row := range rows {
		day := "0"
		if !row.Time.IsZero() {
			day = row.Time.In(zone).Format("2")
		}
		words := []string{day, string(row.Type), row.Incoming.Content, row.Number}
		words[1] += " " + strconv.FormatInt(row.Amount, 10)
		if row.Fault != nil {
			words = []string{day, "! " + row.Fault.Field}
		}
		if row.EventID != "" {
			words = append(words, "id "+row.EventID)
		}
		if row.AccountNumber != "" {
			words = append(words, "acc "+row.AccountNumber)
		}
		all = append(all, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	return strings.Join(all, ", ")
}

// TestRefused: what isn't read says what to do.
func TestRefused(t *testing.T) {
	f := excelize.NewFile()
	must(t, f.SetCellValue("Sheet1", "A1", "Ngày"))
	encrypted := filepath.Join(t.TempDir(), "statement.xlsx")
	must(t, excelize.NewFile().SaveAs(encrypted, excelize.Options{Password: "secret"}))
	for name, test := range map[string]struct{ path, en, vi string }{
		"binary":       {write(t, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"+strings.Repeat("\x00", 2000)), ".xls", ".xlsx"},
		"password":     {encrypted, "password", "mật khẩu"},
		"empty":        {write(t, ""), "empty", "rỗng"},
		"page":         {write(t, "\n <HTML><table><tr><td>Ngày</td></tr></table></html>"), "Choose which columns", "Hãy chọn"},
		"XML":          {write(t, "<?xml version=\"1.0\"?><Workbook/>"), "XML", "XML"},
		"PDF":          {write(t, "%PDF-1.7\n"), "PDF", "PDF"},
		"other zip":    {write(t, zipped(t, map[string]string{"a.txt": "b"})), "not an Excel workbook", "không phải"},
		"no table":     {write(t, "a,b\nc,d\n"), "Choose which columns", "Hãy chọn"},
		"blank":        {write(t, "\n\n\n"), "Choose which columns", "Hãy chọn"},
		"empty sheet":  {saved(t, f), "Choose which columns", "Hãy chọn"},
		"broken zip":   {write(t, "PK\x03\x04 and no more"), "damaged", "hỏng"},
		"a long line":  {write(t, "Ngày,"+strings.Repeat("x", 9<<20)), "line 1", "dòng 1"},
		"NULs":         {write(t, strings.Repeat("\x00", 5000)), "Choose which columns", "Hãy chọn"},
		"a bare quote": {write(t, `"`), "Choose which columns", "Hãy chọn"},
	} {
		_, err := statement.Open(t.Context(), test.path, statement.Options{Zone: zone})
		var e *app.Error
		if !errors.As(err, &e) || e.Code != app.CodeValidation || !strings.Contains(e.Text.EN, test.en) || !strings.Contains(e.Text.VI, test.vi) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := statement.Open(t.Context(), filepath.Join(t.TempDir(), "none"), statement.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	if _, err := statement.Open(t.Context(), t.TempDir(), statement.Options{}); err == nil {
		t.Error("a directory is read")
	}
}

// TestSheets takes the sheet that is named, or the only one with a table.
func TestSheets(t *testing.T) {
	f := excelize.NewFile()
	for i, name := range []string{"Tóm tắt", "Tháng 10", "Tháng 11"} {
		_, err := f.NewSheet(name)
		must(t, err)
		if i > 0 {
			must(t, f.SetSheetRow(name, "A1", &[]any{"Ngày", "Nội dung", "Số tiền"}))
			must(t, f.SetSheetRow(name, "A2", &[]any{"01/11/2026", name, "+1000"}))
		}
	}
	path := saved(t, f)
	for sheet, want := range map[string]string{"": "", "Tháng 11": "Tháng 11", "thang 11": "Tháng 11", "Tóm tắt": "", "Tháng 12": ""} {
		rows, err := tryRows(t, path, statement.Options{Zone: zone, Sheet: sheet})
		if want == "" {
			if err == nil {
				t.Errorf("%s: %v", sheet, rows)
			}
			continue
		}
		if err != nil || len(rows) != 1 || rows[0].Content != want {
			t.Errorf("%s: %v, %v", sheet, rows, err)
		}
	}
}
