package statement_test

import (
	"strings"
	"testing"

	"baoco/app/statement"
)

// TestWhatIsATransaction holds the rules of row.go, on one table with a column
// for numbers of transactions and on one without.
func TestWhatIsATransaction(t *testing.T) {
	const header = "Ngày;Số CT;Nội dung;Nợ;Có;Số dư\n"
	const short = "Ngày;Nội dung;Nợ;Có;Số dư\n"
	for _, test := range []struct {
		name, content, want string
	}{
		{"blank lines", header + "\n;;;;;\n \u00a0;\t;;;;\n01/11/2026;1;x;;5;\n\n", "1 IN 5 x"},
		{"opening balance",
			header + "01/11/2026;;Số dư đầu kỳ;;;5\n;;Số dư đầu kỳ;;;5\n01/11/2026;;Số dư đầu kỳ;;5;5\n;;SỐ DƯ ĐẦU KỲ;;5;5\n", ""},
		{"a balance with a number is a transfer", header + "01/11/2026;77;So du dau ky;;5;5\n", "1 IN 5 So du dau ky 77"},
		{"a content that begins like a sum", header + "01/11/2026;;Tổng cộng đơn hàng;;5;\n", "1 IN 5 Tổng cộng đơn hàng"},
		{"sums",
			header + ";;Tổng cộng;5;6;\nTổng;;;5;6;\nTOTAL:;;;5;;\n;;Cộng phát sinh trong kỳ;5;6;\n;;;5;6;\n;;;5;;\n-;;;5;;\nPhát sinh;;;5;;\n", ""},
		{"no date but a number", header + ";9;Tổng cộng;;5;\n", "0 IN 5 Tổng cộng 9"},
		{"no date but a content", header + ";;DH1;;5;\n", "0 IN 5 DH1"},
		{"a company", short + ";Tổng công ty ABC;;5;\n;Công ty XYZ;5;;\n", "0 IN 5 Tổng công ty ABC, 0 OUT 5 Công ty XYZ"},
		{"unreadable date", header + "32/11/2026;1;x;;5;\nhôm qua;2;y;5;;\n2026;;;;5;\n", "0 IN 5 x, 0 OUT 5 y, 0 IN 5"},
		{"both sides", header + "01/11/2026;1;x;5;6;\n01/11/2026;1;y;5;0;\n01/11/2026;1;z;-;6;\n", "1 ! transferType, 1 OUT 5 y 1, 1 IN 6 z 1"},
		{"unreadable amount", header + "01/11/2026;1;x;abc;;\n01/11/2026;1;y;;1.2;\n01/11/2026;1;z;;########;\n;;;abc;;\n",
			"1 ! transferAmount, 1 ! transferAmount, 1 ! transferAmount"},
		{"no amount", header + "01/11/2026;1;x;;;5\n01/11/2026;1;y;0;0,00;5\n", "1 ! transferAmount"},
		{"negative credit", header + "01/11/2026;1;x;;-5;\n", "1 ! transferType"},
		{"negative debits", header + "01/11/2026;1;x;-5;;\n01/11/2026;2;y;(6);;\n", "1 OUT 5 x, 1 OUT 6 y"},
		{"a correction among debits", header + "01/11/2026;1;x;5;;\n01/11/2026;2;y;-6;;\n", "1 OUT 5 x, 1 ! transferType"},
		{"header again", header + "01/11/2026;1;x;5;;\nTrang 2;;;;;\n;;;;;\n" + header + "02/11/2026;2;y;;6;\n", "1 OUT 5 x 1, 2 IN 6 y 2"},
		{"another header", header + "01/11/2026;1;x;5;;\n;;;;;\nNgày;Có;Nợ;Nội dung;Số CT;\n02/11/2026;6;;y;2;\n", "1 OUT 5 x 1, 2 IN 6 y 2"},
		{"header in English below", header + "Date;No.;Description;Debit;Credit;Balance\n02/11/2026;2;y;;6;\n", "2 IN 6 y 2"},
		{"content that goes on",
			header + "01/11/2026;1;x;5;;\n;;more;;;\n;;\"and\nmore\";;;\n;;;;;\n;;not this;;;\n02/11/2026;2;y;;6;\n;;Tổng cộng;;;\n;;nor this;;;\n",
			"1 OUT 5 x more and more, 2 IN 6 y"},
		{"too wide", header + "01/11/2026;1;x;y;5;;;;z\n01/11/2026;1;x;5;;;;;\n", "1 ! line, 1 OUT 5 x 1"},
		{"too short", header + "01/11/2026;1;x\n01/11/2026;1;x;5\n01/11/2026;1;x;5;\n", "1 ! line, 1 ! line, 1 OUT 5 x 1"},
		{"unclosed quotes", header + "01/11/2026;1;\"x;5;;\n01/11/2026;1;y;5;;\n01/11/2026;1;\"z;5;;\n01/11/2026;1;w;5;;\n",
			"1 ! line, 1 OUT 5 y 1, 1 ! line, 1 OUT 5 w 1"},
		{"unclosed quote far above another", header + "01/11/2026;1;\"x;5;;\n" + strings.Repeat("01/11/2026;1;y;5;;\n",
			3) + "01/11/2026;1;\"z\"\"\";5;;\n", "1 ! line" + strings.Repeat(", 1 OUT 5 y 1", 3) + `, 1 OUT 5 z" 1`},
		{"accounts",
			"Số tài khoản: 0123456789\n" + header +
				"01/11/2026;1;x;5;;\nSố tài khoản;;9876543210;;;\n01/11/2026;1;x;5;;\nAccount No.:;;;;;\n01/11/2026;1;x;5;;\n",
			"1 OUT 5 x 1 acc 0123456789, 1 OUT 5 x 1 acc 9876543210, 1 OUT 5 x 1"},
		{"an account in a money column", "Tài khoản: 0123.456.789 (VND)\n" + header + "Số TK:;;;0011223344;;\n01/11/2026;1;x;5;;\n",
			"1 OUT 5 x acc 0011223344"},
		{"no account", "Số tài khoản đối ứng: 0123456789\nTên tài khoản: CTY 123456\nTừ ngày: 01/11/2026\n" + header + "01/11/2026;1;x;5;;\n",
			"1 OUT 5 x"},
		{"a content like an account line", header + "x;1;Tài khoản 0123456789;5;;\n", "0 OUT 5 Tài khoản 0123456789"},
		{"a counter of rows is no number", header + "01/11/2026;1;x;5;;\n01/11/2026;2;y;5;;\n", "1 OUT 5 x, 1 OUT 5 y"},
		{"numbered columns", header + "(1);(2);(3);(4);(5);(6)\n01/11/2026;1;x;5;;\n02/11/2026;1;y;5;;\n1;2;3;4;5;6\n",
			"1 OUT 5 x 1, 2 OUT 5 y 1, 0 ! transferType"},
	} {
		rows, err := tryRows(t, write(t, test.content), statement.Options{Zone: zone})
		if got := brief(rows); err != nil || got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}

// TestBankOfTitles: a bank is the one that the titles name, whatever its layout.
func TestBankOfTitles(t *testing.T) {
	acb := "Ngày hiệu lực,Ngày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào,Số dư\n"
	for content, want := range map[string]string{
		acb:                   "",
		"Vietcombank\n" + acb: "VCB",
		"ACB\n" + acb:         "ACB",
		"VPBank - Ngân hàng TMCP Việt Nam Thịnh Vượng\n" + acb: "VPB",
		"NGÂN HÀNG TMCP SÀI GÒN THƯƠNG TÍN\n" + acb:            "STB",
		"NGAN HANG NGOAI THUONG VIET NAM\n" + acb:              "VCB",
		"MB\n" + acb: "MBB",
		"NGÂN HÀNG TMCP KỸ THƯƠNG VIỆT NAM - TECHCOMBANK\nNgày,Nội dung,Nợ,Có\n": "TCB",
		"Techcombank, Vietcombank\nNgày,Nội dung,Nợ,Có\n":                        "",
		"Ngày,Nội dung,Nợ,Có\n":                                                  "",
	} {
		r, err := statement.Open(t.Context(), write(t, content), statement.Options{Zone: zone})
		must(t, err)
		if got := r.Layout().Bank; got != want {
			t.Errorf("%q: bank %q, want %q", content, got, want)
		}
		must(t, r.Close())
	}
}

// TestProgress ends at the size of the file.
func TestProgress(t *testing.T) {
	const rows = 20_000
	content := "Ngày,Nội dung,Ghi có\n" + strings.Repeat("01/11/2026,x,5\n", rows)
	for name, path := range map[string]string{
		"CSV":  write(t, content),
		"XLSX": workbook(t, headerRow+strings.Repeat(`<row><c t="str"><v>01/11/2026</v></c><c/><c><v>5</v></c></row>`, rows)),
	} {
		r, err := statement.Open(t.Context(), path, statement.Options{Zone: zone})
		must(t, err)
		before, total := r.Progress()
		if before > total/2 || total < 10*rows {
			t.Errorf("%s: %d of %d at the beginning", name, before, total)
		}
		n := 0
		for ; ; n++ {
			if _, err := r.Next(); err != nil {
				break
			}
		}
		if done, _ := r.Progress(); n != rows || done != total {
			t.Errorf("%s: %d rows, %d of %d at the end", name, n, done, total)
		}
		must(t, r.Close())
	}
}
