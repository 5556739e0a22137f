package command

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baoco/app/apptest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// importWorld is a directory with a database in which one bank account is
// linked: ACB 0072413870.
type importWorld struct {
	t   *testing.T
	dir string
}

func newImportWorld(t *testing.T) importWorld {
	t.Helper()
	w := importWorld{t, t.TempDir()}
	apptest.NewFileAt(t, filepath.Join(w.dir, "baoco.db"))
	w.run(0, "bank", "link", "--bank", "ACB", "--number", "0072413870", "--name", "CTY AN BINH")
	return w
}

// run runs a command on the database and checks its exit code.
func (w importWorld) run(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	got, stdout, stderr := baoco("", append(args, "--db", filepath.Join(w.dir, "baoco.db"))...)
	if got != code {
		w.t.Fatalf("baoco %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout, stderr
}

func (w importWorld) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	must(w.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// importCounts is what of an import the tests look at.
type importCounts struct{ Rows, Recorded, Duplicates, Rejected, Deliveries int64 }

func (w importWorld) imports(want importCounts, args ...string) imported {
	w.t.Helper()
	code := 0
	if want.Rejected > 0 && want.Rejected == want.Rows {
		code = 6
	}
	stdout, _ := w.run(code, append([]string{"transaction", "import", "-o", "json"}, args...)...)
	var r imported
	must(w.t, json.Unmarshal([]byte(stdout), &r))
	if got := (importCounts{r.Rows, r.Recorded, r.Duplicates, r.Rejected, r.Deliveries}); got != want {
		w.t.Fatalf("import %s: %+v, want %+v\n%s", strings.Join(args, " "), got, want, stdout)
	}
	return r
}

// transactions lists what is recorded, oldest first.
func (w importWorld) transactions() (list []string) {
	w.t.Helper()
	stdout, _ := w.run(0, "transaction", "list", "--sort", "id", "--limit", "100", "-o", "json")
	var all []struct {
		Type, Content     string
		Amount            int64
		TransactionDate   string `json:"transaction_date"`
		TransactionNumber string `json:"transaction_number"`
	}
	must(w.t, json.Unmarshal([]byte(stdout), &all))
	for _, t := range all {
		list = append(list, fmt.Sprintf("%s %s %d %s %s", t.TransactionDate, t.Type, t.Amount, t.TransactionNumber, t.Content))
	}
	return list
}

const acbHeader = "Số tài khoản:,0072413870,,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào\n"

func TestImport(t *testing.T) {
	w := newImportWorld(t)
	path := filepath.Join("..", "..", "testdata", "statement", "acb.csv")
	rejects := filepath.Join(w.dir, "rejects.csv")

	// A dry run tells the same and records nothing.
	w.imports(importCounts{Rows: 4, Recorded: 4}, path, "--dry-run", "--rejects", rejects)
	if list := w.transactions(); len(list) != 0 {
		t.Fatalf("a dry run recorded %q", list)
	}
	r := w.imports(importCounts{Rows: 4, Recorded: 4}, path, "--rejects", rejects)
	if r.Bank == nil || *r.Bank != "ACB" || r.Rejects != nil || r.Error != nil {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(rejects); !os.IsNotExist(err) {
		t.Errorf("a reject file without rejects: %v", err)
	}
	want := []string{
		"2026-10-31 00:00:00 IN 1500000 1234 NGUYEN VAN A CK DH123",
		"2026-11-02 00:00:00 OUT 250000 1235 TRA TIEN HANG, HD 77",
	}
	if diff := cmp.Diff(want, w.transactions()[:2]); diff != "" {
		t.Error(diff)
	}
	w.imports(importCounts{Rows: 4, Duplicates: 4}, path, "--rejects", rejects)
	w.imports(importCounts{Rows: 4, Duplicates: 4}, path, "--dry-run", "--rejects", rejects)
	if n := len(w.transactions()); n != 4 {
		t.Errorf("%d transactions after a second import", n)
	}
}

// Files overlap, and what is alike in one of them is as many transactions as
// there are rows.
func TestImportOverlap(t *testing.T) {
	w := newImportWorld(t)
	numbered := "02/11/2026,77,PHI,11.000,\n"
	alike := "02/11/2026,,GUI XE,,5.000\n"
	w.imports(importCounts{Rows: 3, Recorded: 3}, w.file("a.csv", acbHeader+numbered+alike+alike))
	w.imports(importCounts{Rows: 5, Recorded: 2, Duplicates: 3}, w.file("b.csv", acbHeader+alike+alike+alike+numbered+numbered))
	w.imports(importCounts{Rows: 2, Duplicates: 2}, w.file("c.csv", acbHeader+alike+numbered))
	// Another export of the bank's writes times and contents otherwise.
	w.imports(importCounts{Rows: 1, Duplicates: 1}, w.file("d.csv", acbHeader+"02/11/2026 10:15:00,77,PHI QUAN LY,11.000,\n"))
	// Another day, another amount, another direction: another transaction.
	w.imports(importCounts{Rows: 3, Recorded: 3},
		w.file("e.csv", acbHeader+"03/11/2026,77,PHI,11.000,\n02/11/2026,77,PHI,11.001,\n02/11/2026,77,PHI,,11.000\n"))
	if n := len(w.transactions()); n != 8 {
		t.Errorf("%d transactions, want 8: %q", n, w.transactions())
	}
}

func TestImportNotify(t *testing.T) {
	w := newImportWorld(t)
	w.run(0, "webhook", "create", "--name", "shop", "--url", "https://shop.example.vn/", "--type", "IN")
	in, out := "02/11/2026,1,x,,5.000\n", "02/11/2026,2,x,6.000,\n"
	w.imports(importCounts{Rows: 2, Recorded: 2}, w.file("a.csv", acbHeader+in+out))
	w.imports(importCounts{Rows: 3, Recorded: 1, Duplicates: 2, Deliveries: 1},
		w.file("b.csv", acbHeader+in+out+"02/11/2026,3,x,,7.000\n"), "--notify")
}

func TestImportRejects(t *testing.T) {
	w := newImportWorld(t)
	path := w.file("a.csv", acbHeader+"02/11/2026,1,good,,5.000\n02/11/2026,2,both,1.000,5.000\n02/11/2026,3,fraction,,\"5,50\"\n")
	r := w.imports(importCounts{Rows: 3, Recorded: 1, Rejected: 2}, path)
	if r.Rejects == nil || len(r.Reasons) == 0 {
		t.Fatalf("%+v", r)
	}
	file, err := os.Open(*r.Rejects)
	must(t, err)
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	must(t, err)
	if len(rows) != 2 || rows[0][0] != "4" || rows[0][1] == "" || rows[0][4] != "both" || rows[1][0] != "5" || rows[1][6] != "5,50" {
		t.Errorf("reject file %q", rows)
	}
	// An account that isn't linked: nothing is kept of the rows, so that they
	// are recorded once it is.
	other := w.file("b.csv", strings.Replace(acbHeader, "0072413870", "0881000000606", 1)+"02/11/2026,1,x,,5.000\n")
	if r := w.imports(importCounts{Rows: 1, Rejected: 1}, other); !strings.Contains(r.Reasons[0].Reason,
		"0881000000606 is not a linked bank account") {
		t.Errorf("%+v", r.Reasons)
	}
	w.run(0, "bank", "link", "--bank", "VCB", "--number", "0881000000606", "--name", "B")
	w.imports(importCounts{Rows: 1, Recorded: 1}, other)
}

func TestImportMapped(t *testing.T) {
	w := newImportWorld(t)
	path := w.file("any.csv", "when;what, exactly;plus;code\n2026-11-02;DH1;5000;A1\n2026-11-02;DH2;-7000;A2\n")
	columns := []string{"--map", "date=when", "--map", "content=what, exactly", "--map", "amount=plus", "--map", "id=code"}
	w.imports(importCounts{Rows: 2, Recorded: 2}, append(columns, path)...)
	if diff := cmp.Diff([]string{"2026-11-02 00:00:00 IN 5000  DH1", "2026-11-02 00:00:00 OUT 7000  DH2"}, w.transactions()); diff != "" {
		t.Error(diff)
	}
	// The file's own ids: another amount under one of them is a conflict.
	r := w.imports(importCounts{Rows: 2, Duplicates: 1, Rejected: 1},
		append(columns, w.file("again.csv", "when;what, exactly;plus;code\n2026-11-02;DH1;5000;A1\n2026-11-02;DH2;-7001;A2\n"))...)
	if !strings.Contains(r.Reasons[0].Reason, "another amount") {
		t.Errorf("%+v", r.Reasons)
	}
	// Which account a file is about must be clear.
	w.run(0, "bank", "link", "--bank", "VCB", "--number", "0881000000606", "--name", "B")
	if _, stderr := w.run(2, append(append([]string{"transaction", "import"}, columns...), path)...); !strings.Contains(stderr,
		"--bank-account-id") {
		t.Error(stderr)
	}
	w.imports(importCounts{Rows: 2, Duplicates: 2}, append(columns, path, "--bank-account-id", "1")...)
	w.run(3, append(append([]string{"transaction", "import"}, columns...), path, "--bank-account-id", "77")...)
}

func TestImportWorkbook(t *testing.T) {
	w := newImportWorld(t)
	book := excelize.NewFile()
	for n, row := range [][]any{
		{"BẢNG SAO KÊ GIAO DỊCH"}, {"Số tài khoản:", "0072413870"}, {},
		{"Ngày giao dịch", "Số GD", "Nội dung giao dịch", "Số tiền rút ra", "Số tiền gửi vào"},
		{"02/11/2026", "1", "DH1", nil, 1500000}, {"03/11/2026", "2", "DH2", 250000, nil}, {"Tổng cộng", nil, nil, 250000, 1500000},
	} {
		cell, err := excelize.CoordinatesToCellName(1, n+1)
		must(t, err)
		must(t, book.SetSheetRow("Sheet1", cell, &row))
	}
	path := filepath.Join(w.dir, "book.xlsx")
	must(t, book.SaveAs(path))
	w.imports(importCounts{Rows: 2, Recorded: 2}, path)
	// The same as CSV is the same.
	w.imports(importCounts{Rows: 2, Duplicates: 2}, w.file("book.csv", acbHeader+"02/11/2026,1,DH1,,1.500.000\n03/11/2026,2,DH2,250.000,\n"))
}

// TestRejectsAreNoFormulas: what a payer wrote is a text in the workbook of the bank, and no
// formula in the file of its rejected rows.
func TestRejectsAreNoFormulas(t *testing.T) {
	w := newImportWorld(t)
	r := w.imports(importCounts{Rows: 2, Recorded: 1, Rejected: 1},
		w.file("acb.csv", acbHeader+"02/11/2026,1,DH1,,1.500.000\n31/02/2026,2,=1+A1,-250000,\n"))
	data, err := os.ReadFile(*r.Rejects)
	must(t, err)
	if !strings.Contains(string(data), ",'=1+A1,-250000,") {
		t.Errorf("reject file %q", data)
	}
}

func TestImportRefuses(t *testing.T) {
	w := newImportWorld(t)
	w.run(3, "transaction", "import", filepath.Join(w.dir, "missing.csv"))
	w.run(2, "transaction", "import")
	w.run(2, "transaction", "import", "a", "b")
	w.run(2, "transaction", "import", w.file("a.csv", acbHeader), "--map", "amount")
	for name, c := range map[string]struct{ text, says string }{
		"old.xls":  {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600), ".xlsx"},
		"none.csv": {"nothing,here\n1,2\n", "--map"},
		// Whose account it is isn't guessed: the file is another bank's than the only account.
		"payer.csv": {"Ngày giao dịch,Phát sinh nợ,Phát sinh có,Nội dung,Đơn vị thụ hưởng/đơn vị chuyển,Tài khoản,Ngân hàng đối tác\n" +
			"01/11/2026,0,1.500.000,DH1,NGUYEN VAN A,19354957,ACB\n", "--bank-account-id"}, // whose account it is isn't said
		"several.csv": {"Số tài khoản: 0072413870\nTài khoản thanh toán: 0072413871\n" + acbHeader[strings.Index(acbHeader, "Ngày"):] +
			"02/11/2026,1,x,,5.000\n", "--bank-account-id"},
		"other.csv": {"NGÂN HÀNG TMCP KỸ THƯƠNG VIỆT NAM - TECHCOMBANK\nNgày giao dịch,Nội dung,Nợ,Có\n02/11/2026,DH1,,1.500.000\n",
			"--bank-account-id"},
	} {
		code, _, stderr := baoco("", "transaction", "import", w.file(name, c.text), "--accept-differences", "--db",
			filepath.Join(w.dir, "baoco.db"))
		if code == 0 || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
	}
	if list := w.transactions(); len(list) != 0 {
		t.Errorf("recorded %q", list)
	}
}

// What was exported is known when it is imported again.
func TestExportIsKnown(t *testing.T) {
	w := newImportWorld(t)
	for i := range 3 {
		w.run(0, "transaction", "add", "--amount", "35000", "--content", "=cà phê", "--transaction-number", fmt.Sprintf("FT%d", i), "--date",
			"2026-11-20 10:00:00")
	}
	w.run(0, "transaction", "add", "--amount", "35000", "--type", "OUT", "--transaction-number", "FT9")
	for _, format := range []string{"csv", "xlsx"} {
		path := filepath.Join(w.dir, "export."+format)
		stdout, _ := w.run(0, "transaction", "export", "--format", format, "--output-file", path, "-o", "json")
		var e struct{ Transactions int }
		must(t, json.Unmarshal([]byte(stdout), &e))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || e.Transactions != 4 {
			t.Errorf("%+v, %v, %v", e, info, err)
		}
		w.imports(importCounts{Rows: 4, Duplicates: 4}, path)
	}
	link := filepath.Join(w.dir, "stdout")
	must(t, os.Symlink("export.csv", link))
	if _, stderr := w.run(2, "transaction", "export", "--output-file", link); !strings.Contains(stderr, "is something else") {
		t.Error(stderr)
	}
	if target, err := os.Readlink(link); target != "export.csv" {
		t.Errorf("the link was replaced: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, ".baoco-export-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A file that isn't understood leaves nothing behind: not the rows above the line that
// says so either.
func TestImportUnderstoodOrRefused(t *testing.T) {
	w := newImportWorld(t)
	w.run(0, "webhook", "create", "--name", "shop", "--url", "https://shop.example.vn/", "--type", "ALL")
	rows := strings.Repeat("02/11/2026,,GUI XE,,5.000\n", 1200)
	for name, c := range map[string]struct{ text, says string }{
		"currency.csv": {"Loại tiền: USD,,,,\n" + acbHeader + rows + "02/11/2026,1,x,,100.00\n", "it says “Loại tiền: USD”"},
		"amount.csv":   {"Số tài khoản:,0072413870\nNgày,Nội dung,Số tiền,\n,,Xanh,Đỏ\n02/11/2026,x,5.000,\n", "column C"},
		"unsigned.csv": {"Số tài khoản:,0072413870\nNgày,Nội dung,Số tiền\n02/11/2026,x,5.000\n", "column"},
	} {
		path := w.file(name, c.text)
		for _, dry := range [][]string{{"--dry-run"}, nil} {
			if _, stderr := w.run(2, append([]string{"transaction", "import", path, "--notify"}, dry...)...); !strings.Contains(stderr, c.says) {
				t.Errorf("%s: %s", name, stderr)
			}
		}
	}
	if list := w.transactions(); len(list) != 0 {
		t.Errorf("recorded of refused files: %q", list)
	}
	// Money out in a header of two rows, and an impossible date.
	path := w.file("two.csv",
		"Số tài khoản:,0072413870,,\nNgày,Nội dung,Số "+
			"tiền,\n,,Nợ,Có\n02/11/2026,ra,5.000,\n03/11/2026,vào,,7.000\n31/02/2026,ngày,,9.000\n02/11/2036,sau "+
			"này,,9.000\nTổng cộng,,5.000,25.000\n")
	want := importCounts{Rows: 4, Recorded: 2, Rejected: 2}
	r := w.imports(want, path, "--dry-run")
	if r.OutAmount != 5000 || r.OutCount != 1 || r.InAmount != 7000 || r.InCount != 1 || len(r.FirstRows) != 2 ||
		r.FirstRows[0].Type != "OUT" || len(r.Skipped) != 1 || r.Skipped[0].First != 8 {
		t.Errorf("%+v", r)
	}
	reasons := []rejectReason{{"Date does not exist or is in an unknown format", 1}, {"Date is more than a day in the future", 1}}
	if diff := cmp.Diff(reasons, r.Reasons); diff != "" {
		t.Error(diff)
	}
	if _, stderr := w.run(2, "transaction", "import", path); !strings.Contains(stderr, "“Có” as money in") || len(w.transactions()) > 0 {
		t.Errorf("nothing says which side is money in: %s", stderr)
	}
	w.imports(want, path, "--accept-differences")
	if diff := cmp.Diff([]string{"2026-11-02 00:00:00 OUT 5000  ra", "2026-11-03 00:00:00 IN 7000  vào"}, w.transactions()); diff != "" {
		t.Error(diff)
	}
	// An account that isn't understood is not the only linked one.
	for _, account := range []string{"12345", "PMQ72413870", "0072xxx870"} {
		other := w.file("other.csv", strings.Replace(acbHeader, "0072413870", account, 1)+"04/11/2026,1,x,,5.000\n")
		if r := w.imports(importCounts{Rows: 1, Rejected: 1}, other); !strings.Contains(r.Reasons[0].Reason,
			account+" is not a linked bank account") {
			t.Errorf("%+v", r.Reasons)
		}
	}
}

// A file that doesn't agree with itself is shown, and recorded once somebody accepts it.
func TestImportDifferences(t *testing.T) {
	w := newImportWorld(t)
	path := w.file("totals.csv", acbHeader+"02/11/2026,77,GUI XE,,5.000\nTổng cộng,,,,6.000\n")
	const says = "the total is 6.000, but the rows make 5.000"
	r := w.imports(importCounts{Rows: 1, Recorded: 1}, path, "--dry-run")
	if diff := cmp.Diff([]difference{{4, says}}, r.Differences); diff != "" {
		t.Error(diff)
	}
	_, stderr := w.run(2, "transaction", "import", path)
	if !strings.Contains(stderr, "Line 4: "+says) || !strings.Contains(stderr, "--accept-differences") || len(w.transactions()) > 0 {
		t.Errorf("%s, %q", stderr, w.transactions())
	}
	w.imports(importCounts{Rows: 1, Recorded: 1}, path, "--accept-differences")
}

// Who names the account is believed where the file says less, and not where it says another.
func TestImportNamedAccount(t *testing.T) {
	for _, test := range []struct {
		head     string
		recorded int64
	}{{"Số tài khoản:,0072413870", 1}, {"Số tài khoản:,72413870", 1}, {"Số tài khoản:,0072xxx870", 1}, {"VIETCOMBANK", 1}, {"", 1},
		{"Số tài khoản:,0881000000606", 0}} {
		w := newImportWorld(t)
		w.imports(importCounts{Rows: 1, Recorded: test.recorded, Rejected: 1 - test.recorded},
			w.file("a.csv", test.head+"\nNgày,Nội dung,Ghi có,Tài khoản\n02/11/2026,x,5.000,0881000000607\n"), "--bank-account-id", "1")
	}
}

// A number that is one bank account's own and another's receiving number means neither where the
// file names no bank.
func TestImportNumberOfTwoBankAccounts(t *testing.T) {
	w := newImportWorld(t)
	w.run(0, "bank", "link", "--bank", "BIDV", "--number", "1234567890", "--name", "A", "--receiving-number", "0072413870",
		"--receiving-number", "96247CISI2")
	n := 0
	imports := func(recorded int64, number string, more ...string) {
		t.Helper()
		n++
		file := w.file("a.csv", fmt.Sprintf("Số tài khoản:,%s\nNgày,Nội dung,Ghi có\n02/11/2026,x%d,5.000\n", number, n))
		w.imports(importCounts{Rows: 1, Recorded: recorded, Rejected: 1 - recorded}, append(more, file)...)
	}
	imports(0, "0072413870")
	imports(1, "0072413870", "--bank-account-id", "1")
	imports(1, "1234567890")
	imports(1, "96247CISI2")
	if list, _ := w.run(0, "transaction", "list", "-o", "json"); strings.Count(list, `"receiving_number": "96247CISI2"`) != 1 {
		t.Errorf("one came to the receiving number:\n%s", list)
	}
}

// A dry run writes nothing beside the file.
func TestImportDryRunWritesNothing(t *testing.T) {
	w := newImportWorld(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	must(t, os.WriteFile(path, []byte(acbHeader+"31/02/2026,77,GUI XE,,5.000\n"), 0o400))
	w.imports(importCounts{Rows: 1, Rejected: 1}, path, "--dry-run")
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 {
		t.Errorf("%v", files)
	}
	w.imports(importCounts{Rows: 1, Rejected: 1}, path)
}

// TestImportRealStatements: the layouts of files that banks wrote, found in public, with
// other names, numbers and amounts. Each is imported whole.
func TestImportRealStatements(t *testing.T) {
	const tcb, mbb = "TCB 19030000000017", "MBB 9970000064"
	for _, test := range []struct {
		file, accounts string // the last account is named where named is true
		named          bool
		want           []string
	}{
		{"tcb_same_second", tcb, false, []string{"2026-04-02 14:15:07 IN 1000000 FT26092000000003 CONG TY B thanh toan DH001236",
			"2026-04-02 13:23:33 IN 700000 FT26092000000002 CONG TY C TT DH001235",
			"2026-04-02 13:23:33 IN 1000000 FT26092000000001 CONG TY D TT DH001234"}},
		{"tcb_count_lines", tcb, false, []string{"2026-04-02 14:15:07 IN 1000000 FT26092000000003 CONG TY B thanh toan DH001236",
			"2026-04-02 13:23:33 IN 1000000 FT26092000000001 CONG TY D TT DH001234",
			"2026-04-02 13:23:33 IN 700000 FT26092000000002 CONG TY C TT DH001235"}},
		{"tcb_fee_only", tcb, false, []string{"2026-04-02 14:15:07 IN 300000 FT26092000000003 CONG TY B thanh toan DH001236",
			"2026-04-02 08:14:32 OUT 110000 HB.0900000005-20260402 Thu phi Homebanking thang 4/2026 cua thue bao 0900000005",
			"2026-04-02 08:02:00 OUT 16000 LD2600000001 Thu no lai (LD-IN) - So khe uoc ST2600000001"}},
		{"mb_web", tcb + "," + mbb, false, nil},
		{"mb_web", tcb + "," + mbb, true, []string{"2026-05-02 10:11:45 OUT 200000 FT26122000000002 Chuyen sang tai khoan khac",
			"2026-05-01 09:12:11 IN 1500000 FT26121000000001 NGUYEN VAN A DH001234"}},
		{"bilingual_account_col", mbb, false, nil},
		{"bilingual_account_col", "VCB 0071000000001," + mbb, true, []string{
			"2026-08-10 00:00:00 IN 1500000 FT26222000000001 NGUYEN VAN A DH001234", "2026-08-11 00:00:00 OUT 200000 FT26223000000002 Mua hang"}},
		{"vcb_tnx", "VCB 0011001932418", true, []string{"2024-09-01 00:00:00 IN 3000 5213.45946 267515.010924.122904.ung ho",
			"2024-09-01 00:00:00 IN 500000 5090.85797 MBVCB.6916176124.NGUYEN VAN A ung ho"}},
		{"vcb_mttq_dots", "VCB 0011001932418", true, []string{"2024-09-01 00:00:00 IN 3000 5213.45946 267515.010924.122904.ung ho dong bao",
			"2024-09-01 00:00:00 IN 500000 5090.85797 MBVCB.6916176124.NGUYEN VAN A ung ho.CT tu 0071000000001 NGUYEN VAN A toi 0011000000002",
			"2024-09-02 00:00:00 OUT 55000 5091.36331 Phi chuyen tien", "2024-09-02 00:00:00 IN 50000 5213.46946 NGUYEN VAN B ung ho"}},
		{"ctg_mttq_time", "CTG 111602391111", true, []string{
			"2024-09-10 12:01:29 IN 50000  CT DEN:425400011111 NGUYEN VAN A ung ho bao Yagi",
			"2024-09-10 12:01:30 IN 10000  CT DEN:425400011112 TRAN THI B ung ho"}},
		{"utf16le_nobom", "VBA 1500201113838", true, []string{"2026-08-10 00:00:00 IN 1500000  NGUYEN VAN A DH001234"}},
		{"vpb_tang", "VPB 150100008", false, []string{
			`2021-01-20 11:55:00 OUT 52200 FT21020385350000\I2B NGUYEN VAN A chuyen khoan`,
			"2021-01-11 11:36:00 IN 4000000 FT21011064650000 NHAN TU 020066550000 TRACE 443640 N D DH001235",
			`2021-01-10 10:10:00 IN 1000000 FT21010066660000\I2B NGUYEN VAN B DH001234`}},
	} {
		w := newImportWorld(t)
		args, last := []string{"transaction", "import", filepath.Join("..", "..", "testdata", "statement", "bank", test.file+".csv")}, 1
		for account := range strings.SplitSeq(test.accounts, ",") {
			bank, number, _ := strings.Cut(account, " ")
			w.run(0, "bank", "link", "--bank", bank, "--number", number, "--name", "A")
			last++
		}
		// No balance says which side is money in.
		if slices.Contains([]string{"bilingual_account_col", "vcb_tnx", "vcb_mttq_dots", "ctg_mttq_time", "utf16le_nobom"}, test.file) {
			args = append(args, "--accept-differences")
		}
		if test.named {
			args = append(args, "--bank-account-id", fmt.Sprint(last))
		}
		if test.want == nil {
			if _, stderr := w.run(2, args...); !strings.Contains(stderr, "--bank-account-id") || len(w.transactions()) > 0 {
				t.Errorf("%s: %s", test.file, stderr)
			}
			continue
		}
		w.run(0, args...)
		if diff := cmp.Diff(test.want, w.transactions()); diff != "" {
			t.Errorf("%s: %s", test.file, diff)
		}
		if stdout, _ := w.run(0, "transaction", "list", "--bank-account-id", fmt.Sprint(last), "-o", "json"); strings.Count(stdout, `"amount"`) !=
			len(test.want) {
			t.Errorf("%s: on another account: %s", test.file, stdout)
		}
	}
}

// An import is shown, taken back and made again; what a webhook may be told of
// stays.
func TestImportUndo(t *testing.T) {
	w := newImportWorld(t)
	path := filepath.Join("..", "..", "testdata", "statement", "acb.csv")
	r := w.imports(importCounts{Rows: 4, Recorded: 4}, path)
	if r.ImportID == nil {
		t.Fatalf("%+v", r)
	}
	undo := func(id int64, flags ...string) (v undoneJSON) {
		t.Helper()
		stdout, _ := w.run(0, append([]string{"transaction", "import", "--undo", fmt.Sprint(id), "-o", "json"}, flags...)...)
		must(t, json.Unmarshal([]byte(stdout), &v))
		return v
	}
	want := undoneJSON{ImportID: *r.ImportID, File: "acb.csv", DryRun: true, InCount: 2, InAmount: 1_599_000, OutCount: 2, OutAmount: 261_000,
		Notified: []string{}, Named: []string{}}
	got := undo(*r.ImportID, "--dry-run")
	if got.From == nil || *got.From != "2026-10-31 00:00:00" || *got.To != "2026-11-03 00:00:00" {
		t.Errorf("%+v", got)
	}
	got.From, got.To = nil, nil
	if diff := cmp.Diff(want, got); diff != "" || len(w.transactions()) != 4 {
		t.Errorf("a dry run: %s, %q", diff, w.transactions())
	}
	if _, stderr := w.run(0, "transaction", "import", "--undo", fmt.Sprint(*r.ImportID)); !strings.Contains(stderr,
		"2 in (1.599.000 VND), 2 out (261.000 VND), dated 2026-10-31 00:00:00 to 2026-11-03 00:00:00") {
		t.Error(stderr)
	}
	if list := w.transactions(); len(list) != 0 {
		t.Errorf("left: %q", list)
	}
	w.run(0, "doctor", "--full")
	if stdout, _ := w.run(0, "transaction", "import", "--undo", fmt.Sprint(*r.ImportID)); !strings.HasPrefix(stdout,
		fmt.Sprintf("Import %d was taken back already, at ", *r.ImportID)) {
		t.Error(stdout)
	}
	stdout, _ := w.run(0, "transaction", "import", "--list", "-o", "json")
	var list []importJSON
	must(t, json.Unmarshal([]byte(stdout), &list))
	if len(list) != 1 || list[0].UndoneAt == nil || list[0].InAmount != 1_599_000 {
		t.Errorf("%+v", list)
	}
	w.run(0, "webhook", "create", "--name", "shop", "--url", "https://shop.example.vn/", "--type", "IN")
	again := w.imports(importCounts{Rows: 4, Recorded: 4, Deliveries: 2}, path, "--notify")
	if v := undo(*again.ImportID); v.NotifiedCount != 2 || len(v.Notified) != 2 || v.OutCount != 2 || v.InCount != 0 {
		t.Errorf("%+v", v)
	}
	if list := w.transactions(); len(list) != 2 {
		t.Errorf("left: %q", list)
	}
	w.run(3, "transaction", "import", "--undo", "99")
	w.run(2, "transaction", "import", "--undo", "1", path)
	w.run(2, "transaction", "import", "--undo", "1", "--list")
}
