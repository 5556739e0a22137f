package statement_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"baoco/app"
	"baoco/app/statement"
)

// TestDividedAmounts: a column of amounts that is divided into money out and
// money in, in a text file and with merged cells in a workbook.
func TestDividedAmounts(t *testing.T) {
	const want = "1 OUT 5000 a, 2 IN 7000 b"
	for _, names := range []string{
		"Nợ|Có", "Debit|Credit", "Chi|Thu", "Ghi nợ|Ghi có", "Rút ra|Gửi vào", "No|Co", "NỢ|CÓ", "Tiền ra|Tiền vào", "Ra|Vào", "Rút|Gửi",
		"Withdrawal|Deposit", "Phát sinh nợ|Phát sinh có",
		"Nợ/Debit|Có/Credit", "Giảm|Tăng", "Out|In",
	} {
		for _, group := range []string{"Số tiền", "Amount", "Số tiền (VND)", "Số tiền/Amount", "Phát sinh"} {
			if group == "Phát sinh" && !strings.Contains(names, "ợ") {
				continue
			}
			out, in, _ := strings.Cut(names, "|")
			check := func(kind, path, want string) {
				t.Helper()
				rows, err := tryRows(t, path, statement.Options{Zone: zone})
				if got := brief(rows); err != nil || got != want {
					t.Errorf("%s, %s above %s: %s, %v; want %s", kind, group, names, got, err, want)
				}
			}
			check("CSV",
				write(t, "Sao kê;;;;\nNgày;Nội dung;"+group+";;Mã GD\n;;"+out+";"+in+";\n01/11/2026;a;5.000;;\n02/11/2026;b;;7.000;\n"), want)
			check("the other way round",
				write(t, "Ngày;Nội dung;"+group+";;Mã GD\n;;"+in+";"+out+";\n01/11/2026;a;;5.000;\n02/11/2026;b;7.000;;\n"), want)
			check("in a third row",
				write(t,
					"Ngày;Nội dung;"+group+";;Mã GD\nDate;Description;Amount;;No.\n;;"+out+";"+in+";\n01/11/2026;a;5.000;;\n02/11/2026;b;;7.000;\n"), want)
			check("English below",
				write(t,
					"Ngày;Nội dung;"+group+";;Mã GD\n;;"+out+";"+in+";\nDate;Description;Debit;Credit;No.\n01/11/2026;a;5.000;;\n02/11/2026;b;;7.000;\n"),
				want)
			check("on two pages",
				write(t,
					"Ngày;Nội dung;"+group+";;Mã GD\n;;"+out+";"+in+";\n01/11/2026;a;5.000;;\nTrang 2;;;;\nNgày;Nội dung;"+group+";;Mã GD\n;;"+out+";"+in+
						";\n02/11/2026;b;;7.000;\n"), want)
			check("turned on the second page",
				write(t,
					"Ngày;Nội dung;"+group+";;Mã GD\n;;"+out+";"+in+";\n01/11/2026;a;5.000;;\nNgày;Mã GD;"+group+";;Nội dung\n;;"+in+";"+out+
						";\n02/11/2026;;7.000;;b\n"), want)
			f := excelize.NewFile()
			for i, row := range [][]any{{"Ngày", "Nội dung", group, nil, "Mã GD"}, {nil, nil, out, in}, {"01/11/2026", "a", 5000},
				{"02/11/2026", "b", nil, 7000}} {
				at, err := excelize.CoordinatesToCellName(1, i+1)
				must(t, err)
				must(t, f.SetSheetRow("Sheet1", at, &row))
			}
			for _, merged := range [][2]string{{"A1", "A2"}, {"B1", "B2"}, {"C1", "D1"}, {"E1", "E2"}} {
				must(t, f.MergeCell("Sheet1", merged[0], merged[1]))
			}
			check("XLSX", saved(t, f), want)
		}
	}
}

// TestNotUnderstood: what isn't understood, or doesn't agree with itself, is
// refused with the line where it stands.
func TestNotUnderstood(t *testing.T) {
	const two = "Ngày;Nội dung;Nợ;Có;Số dư\n"
	const one = "Ngày;Nội dung;Số tiền\n"
	for _, test := range []struct{ name, content, says string }{
		{"parts of an amount", "Ngày;Nội dung;Số tiền;;x\n;;Xanh;Đỏ;\n01/11/2026;a;5.000;;\n", "Line 1: column C, “Số tiền Xanh”"},
		{"one part is unknown", "Ngày;Nội dung;Số tiền;;x\n;;Nợ;Đỏ;\n01/11/2026;a;5.000;;\n", "Line 1: column D"},
		{"names that contradict each other", "Ngày;Nội dung;Ghi nợ;Ghi có\n;;Credit;Debit\n01/11/2026;a;5.000;\n", "contradict"},
		{"names of one column that contradict each other",
			"Ngày;Nội dung;Số tiền;\n;;Nợ;Có\n;;Credit;Debit\n01/11/2026;a;5.000;\n", "contradict"},
		{"an amount in other cells", one + "01/11/2026;a;-5.000\n02/11/2026;b;\n", "Line 3: it has a date and no amount in C “Số tiền”"},
		{"a dash for an amount", one + "01/11/2026;a;-5.000\n02/11/2026;b;-\n", "Line 3"},
		{"credits alone", "Ngày;Mô tả;No;Có\n01/11/2026;a;5.000;\n02/11/2026;a;;5.000\n", "Line 2"},
		{"no sign at all", one + "01/11/2026;a;5.000\n02/11/2026;b;6.000\n", "Line 2: nothing says whether"},
		{"no sign on the second table", one + "01/11/2026;a;-5.000\n;;\nNgày;Số tiền;Nội dung\n02/11/2026;6.000;b\n",
			"Line 5: nothing says whether"},
		{"two columns of one kind", "Ngày;Nội dung;Số tiền;Số tiền\n01/11/2026;a;-5.000;1\n", "another column"},
		{"a ledger", "Ngày;Nội dung;Phát sinh;;Số dư;\n;;Nợ;Có;Nợ;Có\n01/11/2026;a;5.000;;5.000;\n", "ledger"},
		{"debits with and without a minus", two + "01/11/2026;a;-5;;\n01/11/2026;a;5;;\n", "Line 3: the debit has no minus"},
		{"another currency in the header", "Ngày;Nội dung;Số tiền (USD)\n01/11/2026;a;-5\n", "another currency"},
		{"thousands in the header", "Ngày;Nội dung;Ghi nợ (nghìn đồng);Ghi có (nghìn đồng)\n01/11/2026;a;5;\n", "multiple of VND"},
		{"currency above", "Loại tiền: USD;;\n" + one + "01/11/2026;a;-100.00\n", "Line 1: it says “Loại tiền: USD”, but only amounts in VND"},
		{"currency beside", "Loại tiền/Currency;;USD\n" + one + "01/11/2026;a;-100.00\n", "Line 1: it says “USD”"},
		{"currency in English", "Currency: US Dollar;;\n" + one + "01/11/2026;a;-100.00\n", "Line 1"},
		{"currency between", one + "01/11/2026;a;-5\nTiền tệ: EUR;;\n01/11/2026;a;-5\n", "Line 3"},
		{"currency behind an account", "Số tài khoản: 0123456789 - USD;;\n" + one + "01/11/2026;a;-5\n",
			"Line 1: it says “Số tài khoản: 0123456789 - USD”, but only amounts in VND"},
		{"foreign currency in the title", "SAO KÊ TÀI KHOẢN NGOẠI TỆ;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"currency before a name", "Số tài khoản: 0123456789 (USD) - NGUYEN VAN A;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"currency beside an account", "Số tài khoản:;0123456789;USD\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"currency of the account in the title", "SAO KÊ TÀI KHOẢN USD;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"currency of a balance", "Số dư đầu kỳ:;10,000.00 USD;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"currency of the next account",
			"Số tài khoản: 0123456789;;\n" + one + "01/11/2026;a;-5\nSố tài khoản: 0123456780;Loại tiền: USD;\n01/11/2026;a;-5\n", "Line 4"},
		{"thousands without a label", "BẢNG KÊ (số tiền tính bằng nghìn đồng);;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"a multiple behind VND", "Đơn vị tính: VND 1.000;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"thousands behind VND", "Đơn vị tính: đồng x nghìn;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"thousands in English", "Statement - Amounts in thousand VND;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"a multiple alone", "Bảng kê (triệu đồng);;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"a ledger in one row", "Ngày;Nội dung;Phát sinh Nợ;Phát sinh Có;Dư Nợ;Dư Có\n01/11/2026;a;5.000;;5.000;\n", "Line 1: column F"},
		{"a ledger with its chart of accounts", "Ngày;Nội dung;TK đối ứng;Phát sinh Nợ;Phát sinh Có\n01/11/2026;a;131;5.000;\n",
			"Line 2: “131” is of a company’s own ledger"},
		{"a ledger by its title", "SỔ CHI TIẾT TÀI KHOẢN 112;;;\nNgày;Diễn giải;Nợ;Có\n01/11/2026;a;5.000;\n",
			"Line 1: “SỔ CHI TIẾT TÀI KHOẢN 112”"},
		{"a ledger with a balance missing", "Ngày;Nội dung;Nợ;Có;Số dư\n01/11/2026;a;5;;15\n02/11/2026;b;;2;\n03/11/2026;c;7;;20\n",
			"Line 4: by the running balances"},
		{"a ledger with a date that doesn't exist", "Ngày;Nội dung;Nợ;Có;Số dư\n01/11/2026;a;5;;15\n02/11/2026;b;;2;13\n31/11/2026;c;7;;20\n",
			"Line 3: by the running balances"},
		{"a ledger of one row behind its opening balance", "Ngày;Nội dung;Nợ;Có;Số dư\n;Số dư đầu kỳ;;;10\n01/11/2026;a;5;;15\n",
			"Line 3: by the running balances"},
		{"a ledger of equal amounts", "Ngày;Nội dung;Nợ;Có;Số dư\n;Số dư đầu kỳ;;;10\n01/11/2026;a;5;;15\n02/11/2026;b;5;;20\n",
			"Line 4: by the running balances"},
		{"thousands", "Đơn vị: nghìn đồng;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"thousands behind VND", "Bảng kê;VND'000;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"thousands in a header", "Ngày;Nội dung;Ghi nợ;Ghi có '000\n01/11/2026;a;;5\n", "Line 1: column D"},
		{"millions in a header", "Ngày;Nội dung;Ghi nợ;Ghi có (tr.đ)\n01/11/2026;a;;5\n", "Line 1: column D"},
		{"dollars in a header", "Ngày;Nội dung;Ghi nợ;Ghi có ($)\n01/11/2026;a;;5\n", "Line 1: column D"},
		{"thousands in digits", "(ĐVT: 1.000 VND);;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"millions", "Đơn vị tính: Triệu VND;;\n" + one + "01/11/2026;a;-5\n", "Line 1"},
		{"a lone decimal", one + "01/11/2026;a;-100.00\n", "Line 2: an amount like 100.00"},
		{"decimals and groups of one mark", two + "01/11/2026;a;1,234.00;;\n01/11/2026;a;5.000;;\n", "two ways"},
		{"decimals that aren't 0 and groups of one mark", two + "01/11/2026;a;1,234.50;;\n01/11/2026;a;5.000;;\n", "two ways"},
		{"groups of one mark, then decimals that aren't 0", two + "01/11/2026;a;500.000;;\n01/11/2026;a;1234.567;;\n", "two ways"},
		{"lone decimals, one of which isn't 0", one + "01/11/2026;a;-1,234.50\n01/11/2026;a;-100.00\n", "Line 3: an amount like 100.00"},
		{"two marks for groups", two + "01/11/2026;a;1,234;;\n01/11/2026;a;5.000;;\n", "two ways"},
		{"an account below", one + "01/11/2026;a;-5\nSố tài khoản: 0123456789;;\n", "Line 3: account 0123456789 is named only below"},
		{"the lower row of a header alone", "Ngày;Nội dung;Số tiền;;x\n;;Nợ;Có;\n01/11/2026;a;5.000;;\n;;Có;Nợ;\n02/11/2026;b;5.000;;\n",
			"Line 4: it looks like a header with debit and credit"},
		{"the lower row is turned",
			"Ngày;Nội dung;Số tiền;;Số dư\n;;Nợ;Có;\n01/11/2026;a;5;;95\nNgày;Nội dung;Số tiền;;Số dư\n;;Có;Nợ;\n02/11/2026;b;5;;90\n",
			"Line 6: by the running balances"},
		{"money out that can't be read", two + "01/11/2026;a;;5.000;\n02/11/2026;b;1,5 tr;;\n", "Line 3: column C “Nợ” can not be read"},
		{"one direction of a type", "Ngày;Nội dung;Số tiền;Loại\n01/11/2026;a;5.000;C\n02/11/2026;b;5.000;X\n03/11/2026;b;5.000;X\n",
			"Line 3: column D “Loại” can not be read"},
		{"one direction of an amount", one + "01/11/2026;a;+5.000\n02/11/2026;b;5.000 DR\n03/11/2026;b;5.000 DR\n",
			"Line 3: column C “Số tiền” can not be read"},
		{"another header that isn't understood", one + "01/11/2026;a;-5\nNgày;Nội dung;Số tiền;\n;;Xanh;Đỏ\n02/11/2026;a;5;\n",
			"Line 3: column C"},
	} {
		_, err := tryRows(t, write(t, test.content), statement.Options{Zone: zone})
		var e *app.Error
		if !errors.As(err, &e) || e.Code != app.CodeValidation || !strings.Contains(e.Text.EN, test.says) || e.Text.VI == "" {
			t.Errorf("%s: %v; want %s", test.name, err, test.says)
		}
	}
}

// TestDifferences: a file that doesn't agree with itself is read, and says where.
func TestDifferences(t *testing.T) {
	const two = "Ngày;Nội dung;Rút ra;Gửi vào;Số dư\n"
	const one = "Ngày;Nội dung;Số tiền\n"
	for _, test := range []struct{ name, content, says string }{
		{"balance, oldest first", two + "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\n03/11/2026;c;;4;98\n", "4 the balance doesn’t follow"},
		{"balance, newest first", two + "03/11/2026;c;;4;106\n02/11/2026;b;3;;102\n01/11/2026;a;;5;104\n31/10/2026;0;;1;100\n",
			"4 the balance doesn’t follow"},
		{"a balance is missing", two + "01/11/2026;a;;5;105\n02/11/2026;b;;3;\n03/11/2026;c;1;;940\n04/11/2026;d;;1;941\n",
			"4 the balance doesn’t follow"},
		{"a row is missing", two + "01/11/2026;a;;5.000;105.000\n02/11/2026;b;;4.000;119.000\n", "3 the balance doesn’t"},
		{"unreadable balance", two + "01/11/2026;a;;5.000;x1\n", "2 the balance “x1”"},
		{"opening balance", "Số dư đầu kỳ: 99;;;;\n" + two + "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\n",
			"1 the opening balance is 99, but the rows begin with 100"},
		{"closing balance", two + "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\n;Số dư cuối kỳ;;;103\n",
			"4 the closing balance is 103, but the rows make 102"},
		{"closing balance with its day", two + "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\n;Số dư cuối kỳ ngày 02/11/2026;;;103\n",
			"4 the closing balance is 103, but the rows make 102"},
		{"closing balance, newest first", "Số dư cuối kỳ;103;;;\n" + two + "02/11/2026;b;3;;102\n01/11/2026;a;;5;105\n",
			"1 the closing balance is 103, but the rows make 102"},
		{"closing balance without balances",
			"Số dư đầu kỳ;100;;\nSố dư cuối kỳ;103;;\nNgày;Nội dung;Rút ra;Gửi vào\n01/11/2026;a;;5\n02/11/2026;b;3;\n",
			"2 the closing balance is 103, but the rows make 102"},
		{"closing balance of the second account", "Số tài khoản: 1234567890;;;;\nSố dư đầu kỳ: 100;;;;\n" + two + "01/11/2026;a;;5;105\n" +
			";Số dư cuối kỳ;;;105\nSố tài khoản: 987654321;;;;\nSố dư đầu kỳ: 200;;;;\n" + two + "01/11/2026;a;;5;205\n;Số dư cuối kỳ;;;207\n",
			"10 the closing balance is 207, but the rows make 205"},
		{"totals", two + "01/11/2026;a;;5;\n02/11/2026;b;3;;\nTổng cộng;;3;6;\n", "4 the total is 6, but the rows make 5"},
		{"a total of debits", two + "01/11/2026;a;;5;\n02/11/2026;b;3;;\nTổng phát sinh nợ:;;;4;\n", "4 the total is 4, but the rows make 3"},
		{"a total above", "Tổng ghi có/Total credit: 6;;;;\n" + two + "01/11/2026;a;;5;\n", "1 the total is 6, but the rows make 5"},
		{"a total of amounts", one + "01/11/2026;a;-5\n02/11/2026;b;8\nCộng;;4\n", "4 the total is 4, but the rows make 3"},
		{"a summary below",
			two + "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\nSố dư đầu kỳ;;Phát sinh nợ;Phát sinh có;Số dư cuối kỳ\n100;;3;6;102\n",
			"5 the total is 6, but the rows make 5"},
	} {
		list, err := differences(t, write(t, test.content))
		if err != nil || len(list) != 1 || !strings.HasPrefix(list[0], test.says) {
			t.Errorf("%s: %q, %v; want %s", test.name, list, err, test.says)
		}
	}
}

// TestSidesAreAsked: columns named by the sides of an account mean one thing to a bank and the
// opposite in a company's own ledger. Without a balance that tells which, a person has to say so.
func TestSidesAreAsked(t *testing.T) {
	const rows, two = "01/11/2026;a;;5;\n02/11/2026;b;3;;\n", "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\n"
	for _, test := range []struct{ content, asks string }{
		{"Ngày;Diễn giải;Nợ;Có\n" + rows, "1 “Nợ” is read as money out, “Có” as money in"},
		{"Date;Description;Debit;Credit\n" + rows, "1 “Debit” is read as money out, “Credit” as money in"},
		{"Techcombank\nNgày;Diễn giải;Phát sinh nợ;Phát sinh có;Số dư\n" + rows, "2 “Phát sinh nợ” is read"},
		{"Ngày;Diễn giải;Nợ;Có;Số dư\n01/11/2026;a;;5;105\n", "1 “Nợ” is read"}, // it would follow either way
		{"Ngày;Diễn giải;Nợ;Có;Số dư\n01/11/2026;a;;5;100\n02/11/2026;b;5;;95\n03/11/2026;c;;5;90\n", "1 “Nợ” is read"},
		{"Số dư đầu kỳ;100;;\nSố dư cuối kỳ;100;;\nNgày;Diễn giải;Nợ;Có\n01/11/2026;a;;5\n02/11/2026;b;5;\n", "3 “Nợ” is read"},
		{"Số dư đầu kỳ;100;;\nSố dư cuối kỳ;102;;\nNgày;Diễn giải;Nợ;Có\n" + rows, ""},
		{"Số dư đầu kỳ;100;;;\nNgày;Diễn giải;Nợ;Có;Số dư\n01/11/2026;a;;5;105\n", ""},
		{"Ngày;Diễn giải;Nợ;Có;Số dư\n" + two, ""},
		{"Ngày;Diễn giải;Rút ra;Gửi vào\n" + rows, ""},
		{"Date;Description;Debit (money out);Credit\n" + rows, ""},
		{"Ngày;Diễn giải;Có\n01/11/2026;a;5\n", ""},
	} {
		list, err := differences(t, write(t, test.content))
		if err != nil || len(list) > 0 != (test.asks != "") || len(list) > 0 && !strings.HasPrefix(list[0], test.asks) {
			t.Errorf("%q: %q, %v; want %q", test.content, list, err, test.asks)
		}
	}
	r, err := statement.Open(t.Context(), write(t, "Ngày;Diễn giải;Nợ;Có\n"+rows),
		statement.Options{Zone: zone, Map: map[string]string{"debit": "Có", "credit": "Nợ"}})
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) || len(r.Differences()) > 0 {
		t.Errorf("a person chose the columns: %v, %v", r.Differences(), err)
	}
}

// differences are those of a file that is read to its end.
func differences(t *testing.T, path string) ([]string, error) {
	t.Helper()
	return differencesWith(t, path, statement.Options{Zone: zone})
}

func differencesWith(t *testing.T, path string, o statement.Options) (list []string, err error) {
	t.Helper()
	r, err := statement.Open(t.Context(), path, o)
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, d := range r.Differences() {
		list = append(list, fmt.Sprint(d.Line, " ", d.Text.EN))
	}
	return list, r.Close()
}

// TestSeveralAccounts: where each row names its account, each balance follows from the one above
// of the same account.
func TestSeveralAccounts(t *testing.T) {
	const above = "Ngày;Số tài khoản;Nội dung;Rút ra;Gửi vào;Số dư\n"
	const first, other = "01/11/2026;1234567890;a;;5;105\n", "01/11/2026;987654321;a;;7;907\n"
	for _, test := range []struct{ name, content, says string }{
		{"two by turns", above + first + other + "02/11/2026;1234567890;b;3;;102\n02/11/2026;987654321;b;1;;906\n", ""},
		{"a row of one is missing", above + first + other + "02/11/2026;1234567890;b;3;;102\n02/11/2026;987654321;b;1;;905\n",
			"5 the balance doesn’t follow"},
		{"what is stated is of both", "Số dư đầu kỳ;;;;;100\n" + above + first + other +
			"02/11/2026;1234567890;b;3;;102\n02/11/2026;987654321;b;1;;906\n", ""},
		{"one in two forms", above + first + "02/11/2026;1234-567.890;b;3;;102\n", ""},
		{"each row alone", above + first + other + "02/11/2026;555555555;b;3;;108\n", "1 most rows are alone in their account"},
		{"one is turned", above + first + other + "02/11/2026;1234567890;b;3;;102\n02/11/2026;987654321;b;1;;908\n",
			"Line 5: by the running balances"},
	} {
		list, err := differencesWith(t, write(t, test.content), statement.Options{Zone: zone, Map: map[string]string{"account": "Số tài khoản"}})
		got := strings.Join(list, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.says) || test.says == "" && got != "" {
			t.Errorf("%s: %s; want %s", test.name, got, test.says)
		}
	}
}

// TestUnderstood: what stands around rows and agrees with them is in order.
func TestUnderstood(t *testing.T) {
	const two = "Ngày;Nội dung;Rút ra;Gửi vào;Số dư\n"
	const rows = "01/11/2026;a;;5;105\n02/11/2026;b;3;;102\n03/11/2026;c;;4;106\n"
	const newest = "03/11/2026;c;;4;106\n02/11/2026;b;3;;102\n01/11/2026;a;;5;105\n"
	const want, back = "1 IN 5 a, 2 OUT 3 b, 3 IN 4 c", "3 IN 4 c, 2 OUT 3 b, 1 IN 5 a"
	for _, test := range []struct{ name, content, want string }{
		{"oldest first",
			"Số dư đầu kỳ: 100 VND;;;;\nSố dư cuối kỳ;;106;;\nTổng ghi nợ: 3;;Tổng ghi có:;9;\n" + two + rows +
				"Tổng cộng;;3;9;\n;Số dư cuối kỳ;;;106\n", want},
		{"newest first",
			"Số dư đầu kỳ: 100 VND;;;;\nSố dư cuối kỳ;;106;;\n" + two + newest + "Cộng phát sinh;;3;9;\n;Số dư đầu kỳ;;;100\n", back},
		{"sums of pages",
			two + "01/11/2026;a;;5;105\nCộng trang;;;5;\n02/11/2026;b;3;;102\n03/11/2026;c;;4;106\nCộng trang;;3;4;\nTổng cộng;;3;9;\n", want},
		{"balances of days",
			"Số dư đầu kỳ: 100;;;;\n" + two +
				"01/11/2026;a;;5;105\n;Số dư cuối ngày 01/11;;;105\n02/11/2026;b;3;;102\n;Số dư đầu ngày 03/11;;;102\n03/11/2026;c;;4;106\n", want},
		{"a total in the other column", two + rows + "Tổng phát sinh nợ:;;;3;\nTổng phát sinh có:;;9;;\n", want},
		{"sums of something else", two + rows + "Tổng số giao dịch:;;1;2;\nTổng phí:;;7;;\n", want},
		{"totals over a row that can't be read", "Tổng ghi có: 12;;;;\n" + two + "01/11/2026;a;;5;\n02/11/2026;b;;7x;\n",
			"1 IN 5 a, 2 ! transferAmount"},
		{"balances after a row that can't be read", "Số dư đầu kỳ: 100;;;;\n" + two + "01/11/2026;a;;7x;107\n02/11/2026;b;;5;112\n",
			"1 ! transferAmount, 2 IN 5 b"},
		{"some balances", two + "01/11/2026;a;;5;\n02/11/2026;b;3;;102\n03/11/2026;c;;4;\n;Số dư cuối kỳ;;;106\n;Số dư đầu kỳ;;;100\n", want},
		{"summaries",
			"Số dư đầu kỳ;;Tổng ghi nợ;Tổng ghi có;Số dư cuối kỳ\n100;;3;9;106\n" + two + rows +
				"Số dư đầu kỳ;;Phát sinh nợ;Phát sinh có;Số dư cuối kỳ\n100;;3;9;106\n", want},
		{"a second page without a sign", "Ngày;Nội dung;Số tiền\n01/11/2026;a;-5\nNgày;Nội dung;Số tiền\n02/11/2026;b;6\n",
			"1 OUT 5 a, 2 IN 6 b"},
		{"whom money came from", "Số tài khoản: 0123456789;;;\nNgày;Nội dung;Ghi có;Số TK\n01/11/2026;a;5;0123456780\n",
			"1 IN 5 a acc 0123456789"},
		{"an account of whom isn't said", "Vietcombank;;;\nNgày;Nội dung;Ghi có;Số TK\n01/11/2026;a;5;0123456780\n", "1 IN 5 a"},
		{"rows with the account of the file and with others",
			"Số tài khoản: 0123456789;;;\nNgày;Nội dung;Ghi có;Số TK\n01/11/2026;a;5;0123456789\n01/11/2026;a;5;0123456780\n",
			"1 IN 5 a acc 0123456789, 1 IN 5 a acc 0123456789"},
		{"a type that contradicts the column",
			"Ngày;Nội dung;Rút ra;Gửi vào;D/C\n01/11/2026;a;5;;D\n02/11/2026;b;;5;D\n", "1 OUT 5 a, 2 ! transferType"},
		{"an impossible date and a posting date", "Ngày giao dịch;Ngày hạch toán;Nội dung;Ghi có\n31/02/2026;01/03/2026;a;5\n;01/03/2026;b;5\n",
			"0 IN 5 a, 1 IN 5 b"},
		{"VND is named", "Loại tiền: VND;;;;\nĐơn vị: Công ty Triệu Phát;;;;\nĐVT: đồng;Currency/Loại tiền;VNĐ;;\n" + two + rows, want},
		{"a lone decimal where VND is named", "Loại tiền;VND;;;\nNgày;Nội dung;Số tiền\n01/11/2026;a;-100.00\n", "1 OUT 100 a"},
		{"a lone decimal beside groups", "Ngày;Nội dung;Số tiền\n01/11/2026;a;-100.00\n02/11/2026;b;100,000.00\n", "1 OUT 100 a, 2 IN 100000 b"},
		{"a day above its rows", "Ngày;Nội dung;Rút ra;Gửi vào\n01/11/2026;;;\n01/11/2026;a;;5\n", "1 IN 5 a"},
		{"a fee that the balance shows",
			"Ngày;Nội dung;Rút ra;Gửi vào;Phí;Số dư\n01/11/2026;a;;5;;105\n02/11/2026;b;3;;1;101\n03/11/2026;c;;4;;105\n", want},
		{"currency of each row", "Ngày;Nội dung;Ghi có;Loại tiền\n01/11/2026;a;5;VND\n01/11/2026;b;5.00;USD\n01/11/2026;c;5;\n",
			"1 IN 5 a, 1 ! currency, 1 ! currency"},
		{"another amount beside the debit",
			"Ngày;Nội dung;Rút ra;Gửi vào;Số tiền\n01/11/2026;a;5;;5\n02/11/2026;b;5;;6\n", "1 OUT 5 a, 2 ! transferType"},
		{"an account of few digits", "Số tài khoản: 12345;;;;\n" + two + rows, "1 IN 5 a acc 12345, 2 OUT 3 b acc 12345, 3 IN 4 c acc 12345"},
		{"an account with letters", "Account No.: PMQ123456;;;;\n" + two + "01/11/2026;a;;5;105\n", "1 IN 5 a acc PMQ123456"},
		{"an account in a title", "SAO KÊ TÀI KHOẢN 0123456789;;;;\n" + two + "01/11/2026;a;;5;105\n", "1 IN 5 a acc 0123456789"},
		{"an account in a title between tables",
			"Sao kê tài khoản 0123456789;;;;\n" + two + "01/11/2026;a;;5;105\nChi tiết giao dịch TK 0123456780;;;;\n" + two +
				"02/11/2026;b;3;;102\n", "1 IN 5 a acc 0123456789, 2 OUT 3 b acc 0123456780"},
		{"a help line between pages",
			"Số tài khoản: 0123456789;;;;\n" + two + "01/11/2026;a;;5;105\nMọi thắc mắc về tài khoản xin gọi 1900545413;;;;\n02/11/2026;b;3;;102\n",
			"1 IN 5 a acc 0123456789, 2 OUT 3 b acc 0123456789"},
		{"a name like a currency", "Số tài khoản: 0123456789 - NGUYEN THI YEN;;;;\n" + two + "01/11/2026;a;;5;105\n", "1 IN 5 a acc 0123456789"},
		{"names of companies and sums in words",
			"Tên tài khoản: CTY EUR VINA;;;;\nSố tài khoản: 0123456789;CONG TY USD;;;\nSố dư đầu kỳ: 100;;Năm nghìn đồng;;\n" + two +
				"01/11/2026;a;;5;105\n", "1 IN 5 a acc 0123456789"},
		{"amounts cut at their commas",
			"Ngày,Nội dung,Rút ra,Gửi vào,Kênh,Ghi chú\n01/11/2026,a,,1,000,000,,\n02/11/2026,b,2,500,000\n03/11/2026,c,,\"5,000\",,\n",
			"1 ! line, 2 ! line, 3 IN 5000 c"},
		{"balances before and after", "Ngày;Nội dung;Số dư trước;Rút ra;Gửi vào;Số dư sau\n01/11/2026;a;100;;5;105\n02/11/2026;b;105;3;;102\n",
			"1 IN 5 a, 2 OUT 3 b"},
		{"currencies in footers",
			two + rows + "Tổng số giao dịch: 3. Tỷ giá USD: 26.000;;;;\nLưu ý: Quý khách có tài khoản USD, EUR vui lòng liên hệ chi nhánh;;;;\n",
			want},
		{"payments that failed",
			"Ngày;Nội dung;Ghi có;Trạng thái\n01/11/2026;a;5;Thành công\n01/11/2026;b;6;Thất bại\n01/11/2026;c;7;Không thành " +
				"công\n01/11/2026;d;8;\n", "1 IN 5 a, 1 ! status, 1 ! status, 1 IN 8 d"},
		{
			"an accountant's form",
			"SỔ TIỀN GỬI NGÂN HÀNG;;;;;;\nNgày;Diễn giải;TK đối ứng;Số tiền;;;Ghi chú\n;;;Thu (gửi vào);Chi (rút ra);Còn " +
				"lại;\nA;B;C;1;2;3;D\n;Số dư đầu kỳ;;;;100;\n" +
				"01/11/2026;a;131;5;;105;\n02/11/2026;b;331;;3;102;\n;Cộng số phát sinh trong kỳ;;5;3;;\n", "1 IN 5 a, 2 OUT 3 b",
		},
		{"a masked account", "Số TK: 0123xxx789;;;;\n" + two + "01/11/2026;a;;5;105\n", "1 IN 5 a acc 0123xxx789"},
	} {
		rows, err := tryRows(t, write(t, test.content), statement.Options{Zone: zone})
		if got := brief(rows); err != nil || got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
		if list, err := differences(t, write(t, test.content)); err != nil || len(list) > 0 {
			t.Errorf("%s: %q, %v", test.name, list, err)
		}
	}
}

// TestChosenColumns: a person chose columns by their letters, so no header tells
// the delimiter. Nothing of a cell is left out of an amount.
func TestChosenColumns(t *testing.T) {
	const doubt = "Two different characters"
	for _, test := range []struct{ content, want string }{
		{"D1;D2;D3\n20/11/2026;5.116;x\n21/11/2026;7.000;y,z\n22/11/2026;8.000;\n", "20 IN 5116, 21 IN 7000, 22 IN 8000"},
		{"D1,D2\n20/11/2026,5000\n21/11/2026,\"7,000\"\n", "20 IN 5000, 21 IN 7000"},
		{"20/11/2026\t5.116,00\n21/11/2026\t7.116,00\n", doubt},
		{"D1;D2\n20/11/2026;5.116,50\n20/11/2026;7.116,50\n", doubt},
		{"D1;D2\n20/11/2026;1,5\n", doubt},
		{"Ngày;Số tiền ghi có\n20/11/2026;5.116,50\n", doubt},
		{"D1;D2;D3\n20/11/2026;5.000;tra tien,50\n", doubt},
		{"Kỳ, 1\nKỳ, 2\nKỳ, 3\nKỳ, 4\nD1;D2\n20/11/2026;5.116,50\n", "No line of the first 120"},
		{"D1,D2\n20/11/2026,1,500,000\n21/11/2026,400\n", "20 ! line, 21 IN 400"},
		{"20/11/2026,400\n20/11/2026,1,500,000\n", "20 IN 400, 20 ! line"},
	} {
		rows, err := tryRows(t, write(t, test.content), statement.Options{Zone: zone, Map: map[string]string{"date": "A", "credit": "B"}})
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v; want %s", test.content, err, test.want)
			}
			continue
		}
		if got := brief(rows); got != test.want {
			t.Errorf("%q: %s; want %s", test.content, got, test.want)
		}
	}
}

// The columns of a preview are those that the letters name afterwards.
func TestPreviewHasTheColumns(t *testing.T) {
	path := write(t, "D1;D2;D3\n20/11/2026;5.116;x\n21/11/2026;7.000;y,z\n22/11/2026;8.000;\n")
	p, err := statement.Peek(t.Context(), path, statement.Options{Zone: zone})
	must(t, err)
	if got := strings.Join(p.Lines[1].Cells, "|"); got != "20/11/2026|5.116|x" {
		t.Error(got)
	}
	if _, err := statement.Peek(t.Context(), write(t, "D1;D2\n20/11/2026;5.116,50\n"), statement.Options{Zone: zone}); err == nil {
		t.Error("a preview of a file whose columns are in doubt")
	}
}

// TestOtherBooks: a loan, a credit card and a company's own ledger, where debit is money in,
// aren't the bank's statement of an account.
func TestOtherBooks(t *testing.T) {
	const two = "Ngày;Nội dung;Nợ;Có;Ghi chú\n"
	const rows = "01/11/2026;a;5000;;\n02/11/2026;b;;2000;\n"
	const want = "1 OUT 5000 a, 2 IN 2000 b"
	const account = "1 OUT 5000 a acc 11212345678, 2 IN 2000 b acc 11212345678"
	const loan, ledger = "is of a loan", "is of a company’s own ledger"
	for content, says := range map[string]string{
		"Sao kê khoản vay;;;;\n" + two + rows:                                        loan,
		"LOAN STATEMENT;;;;\n" + two + rows:                                          loan,
		"Hợp đồng tín dụng số 12;;;;\n" + two + rows:                                 loan,
		"Dư nợ hiện tại:;50.000.000;;;\n" + two + rows:                               loan,
		"Ngày;Nội dung;Ghi nợ;Ghi có;Dư nợ\n" + rows:                                 "column E, “Dư nợ”, is not read, since it is of a loan",
		"Ngày;Nội dung;Ghi nợ;Ghi có;Lãi phải trả\n" + rows:                          "column E, “Lãi phải trả”",
		"Date;Details;Debit;Credit;Outstanding\n" + rows:                             "column E, “Outstanding”",
		"SAO KÊ THẺ TÍN DỤNG;;\nNgày;Nội dung;Số tiền\n1/1/26;a;5\n2/1/26;b;-5\n":    loan,
		"KH: NGUYEN THI LOAN;;;;\n" + two + rows:                                     want,
		"SỔ CHI TIẾT TIỀN GỬI NGÂN HÀNG;;;;\n" + two + rows:                          ledger,
		strings.Repeat("CÔNG TY ", 20) + ";SỔ QUỸ;;;\n" + two + rows:                 ledger,
		"BANK BOOK;;;;\n" + two + rows:                                               ledger,
		"Mẫu số S08-DN;;;;\n" + two + rows:                                           ledger,
		"Tài khoản: 1121 - Tiền gửi VND;;;;\n" + two + rows:                          ledger,
		"Tài khoản:;112;;;\n" + two + rows:                                           ledger,
		"Số tài khoản: 1121 2345 678;;;;\n" + two + rows:                             account,
		"Tổng số tiền gửi: 2.000;Mã số Quý khách: 7;Hồ sơ chi tiết;;\n" + two + rows: want,
		"Ledger balance: 7.000;;;;\n" + two + rows:                                   want,
		"SỔ PHỤ TÀI KHOẢN;;;;\n" + two + rows:                                        want,
		"SỔ CHI TIẾT;;;;\nNgày;Nội dung;Chi;Thu\n" + rows:                            want,
		"Ngày;Nội dung;Ghi nợ;Ghi có;TK\n01/11/2026;a;5;;1121\n":                     ledger,
		"Ngày;Nội dung;Ghi nợ;Ghi có;TK ĐƯ\n01/11/2026;a;5;;131\n":                   ledger,
	} {
		got := ""
		rows, err := tryRows(t, write(t, content), statement.Options{Zone: zone})
		if got = brief(rows); err != nil {
			got = err.Error()
		}
		if err == nil && got != says || err != nil && !strings.Contains(got, says) {
			t.Errorf("%q: %s; want %s", content, got, says)
		}
		if says != loan && says != ledger {
			continue
		}
		o := statement.Options{Zone: zone, Map: map[string]string{"credit": "C"}}
		if _, err := tryRows(t, write(t, content), o); err != nil && strings.Contains(err.Error(), says) {
			t.Errorf("%q with a column that is named: %v", content, err)
		}
	}
}

// TestOthersAccountAbove: the account of the other side above a table, or between its rows, is never the file's.
func TestOthersAccountAbove(t *testing.T) {
	for line, want := range map[string]string{
		"Tài khoản người gửi: 0123456789": "", "Tài khoản đối ứng;0123456789": "", "Tài khoản bên gửi: 0123456789": "",
		"Số tài khoản người nộp tiền: 0123456789": "", "Sender account: 0123456789": "", "Account number of payer: 0123456789": "",
		"Người gửi;Số tài khoản: 0123456789": "", "Người gửi: A - Số tài khoản: 0123456789": "", "Counterparty;Account No.;0123456789": "",
		"Tài khoản tiền gửi thanh toán: 0123456789": "0123456789", "Tên tài khoản: A;Số tài khoản: 0123456789": "0123456789",
	} {
		r, err := statement.Open(t.Context(), write(t, line+";;\nNgày;Nội dung;Nợ;Có\n01/11/2026;a;5;\n"), statement.Options{Zone: zone})
		must(t, err)
		if got := r.Layout().AccountNumber; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		must(t, r.Close())
		const own, row = "Số tài khoản: 0999999999;;;\nNgày;Nội dung;Nợ;Có\n", "01/11/2026;a;5;\n"
		for _, row := range readRows(t, write(t, own+row+line+";;\n"+row), statement.Options{Zone: zone}) {
			if want == "" && row.AccountNumber != "0999999999" {
				t.Errorf("%s between rows: %q", line, row.AccountNumber)
			}
		}
	}
}
