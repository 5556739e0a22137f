package dashboard_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"
)

const statementHeader = "Số tài khoản:," + apptest.SomeAccount +
	",,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào\n"

// The test isn't parallel: it looks at what is left in the temporary directory.
func TestImportPages(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Webhook("https://shop.vn/", delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	b.Get("/transactions").Shows(t, `href="/transactions/import"`)
	b.Get("/transactions/import").WantStatus(t, http.StatusOK)
	file := statementHeader + "02/11/2026,77,<script>alert(1)</script>,11.000,\n02/11/2026,78,GUI XE,,5.000\n02/11/2026,79,HONG,,abc\n"
	a := b.Upload("/transactions/import", `<script>x.csv`, file)
	a.Shows(t, "nothing recorded yet", "2 new transactions", "Amount could not be read", "1 row", "+5,000\u00a0₫ money in",
		"−11,000\u00a0₫ money out", "<td>3</td>", "−11,000\u00a0₫</td>")
	a.Hides(t, "00:00:00") // the file has dates alone
	refused := b.Upload("/transactions/import", "refused.csv",
		strings.Replace(file, "Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào", "Số GD,Nội dung,Số tiền,\n,,,Xanh,Đỏ", 1))
	refused.WantStatus(t, http.StatusUnprocessableEntity)
	refused.Shows(t, "column D, “Số tiền Xanh”")
	if w.WantTransactions(0); strings.Contains(a.Body, "<script>alert") || strings.Contains(a.Body, "<script>x") {
		t.Error("a file's text is a script")
	}
	sum := sumOf(t, a)
	// Another file than the one that was looked at is looked at.
	a = b.Upload("/transactions/import", "b.csv", file+"03/11/2026,80,KHAC,,7.000\n", "sum", sum, "notify", "1")
	a.Shows(t, "not those you checked", "3 new transactions")
	w.WantTransactions(0)
	b.Upload("/transactions/import", "a.csv", file, "sum", sum).Shows(t, "File imported")
	w.WantTransactions(2)
	if n := w.Rows("deliveries"); n != 0 {
		t.Errorf("%d deliveries nobody asked for", n)
	}
	b.Upload("/transactions/import", "a.csv", file, "sum", sum).Shows(t, "Duplicates</dt><dd>2<")
	b.Upload("/transactions/import", "b.csv", file+"03/11/2026,80,KHAC,,7.000\n", "sum", sumOf(t, a), "notify", "1").Shows(t,
		"Notifications sent to your shop</dt><dd>1<")
	w.WantTransactions(3)
	if n := w.Rows("deliveries"); n != 1 {
		t.Errorf("%d deliveries", n)
	}

	other := strings.Replace(file, apptest.SomeAccount, "0881000000606", 1)
	b.Upload("/transactions/import", "c.csv", other).Shows(t, "0881000000606 is not linked", "There is nothing new to import.")
	// The account is part of what was checked.
	b.Upload("/transactions/import", "a.csv", file, "sum", sum, "bank_account_id", "1").Shows(t, "not those you checked",
		"nothing recorded yet")
	nobody := strings.Replace(file, "Số tài khoản:,"+apptest.SomeAccount, ",", 1)
	w.Link("ACB", "555")
	a = b.Upload("/transactions/import", "d.csv", nobody)
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, `id="bank_account_id-problem"`)
	b.Upload("/transactions/import", "d.csv", nobody, "bank_account_id", "2").Shows(t, "2 new transactions")
	b.Upload("/transactions/import", "d.csv", nobody, "bank_account_id", "99").WantStatus(t, http.StatusUnprocessableEntity)
	for _, c := range []struct {
		name, file string
		status     int
	}{
		{"", "", 422}, {"a.pdf", "%PDF-1.4", 422}, {"a.csv", "", 422}, {"a.csv", "hello", 422}, {"a.xlsx", "PK\x03\x04broken", 422},
		{"a.csv", statementHeader + strings.Repeat("02/11/2026,1,A,,5.000\n", 10_001), 413},
		{"a.csv", statementHeader + strings.Repeat("x", 33<<20), 413},
	} {
		if a := b.Upload("/transactions/import", c.name, c.file); a.Status != c.status || !strings.Contains(a.Body, `role="alert"`) ||
			strings.Contains(a.Body, `name="sum"`) {
			t.Errorf("%s, %d bytes: %d, want %d\n%.3000s", c.name, len(c.file), a.Status, c.status, a.Body)
		}
	}
	b.Post("/transactions/import", "sum", sum).WantStatus(t, http.StatusUnprocessableEntity)
	w.WantTransactions(3)
	if left, _ := filepath.Glob(filepath.Join(dir, "baoco-statement-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err := os.Stat(dir)
	apptest.Must(t, err)
}

// A file that was looked at, or is refused, needn't be chosen again: by whoever sent
// it, as long as it is the last one.
func TestImportKeepsTheFile(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("ACB", "555")
	lan, hoa := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	file := strings.Replace(statementHeader, "Số tài khoản:,"+apptest.SomeAccount, ",", 1) + "02/11/2026,77,A,11.000,\n"
	held := func(a webtest.Answer) string {
		t.Helper()
		m := regexp.MustCompile(`name="held" value="([0-9a-f]{64})"`).FindStringSubmatch(a.Body)
		if m == nil {
			t.Fatalf("%d: no file is kept", a.Status)
		}
		return m[1]
	}
	a := lan.Upload("/transactions/import", "a.csv", file)
	a.Shows(t, "must be chosen", "<bdi>a.csv</bdi>", "you needn’t choose it again")
	a.Hides(t, "required accept")
	key := held(a)
	a = lan.Upload("/transactions/import", "", "", "held", key, "bank_account_id", "2")
	a.Shows(t, "1 new transaction", "<bdi>a.csv</bdi>")
	hoa.Upload("/transactions/import", "", "", "held", key, "bank_account_id", "2", "sum", sumOf(t, a)).Shows(t, "no longer kept here")
	w.WantTransactions(0)
	lan.Upload("/transactions/import", "", "", "held", key, "bank_account_id", "2", "sum", sumOf(t, a)).Shows(t, "File imported")
	w.WantTransactions(1)
	lan.Upload("/transactions/import", "", "", "held", key, "bank_account_id", "2").Shows(t, "no longer kept here")
	// Another file that is chosen counts, and takes the place of the first.
	key = held(lan.Upload("/transactions/import", "a.csv", file))
	a = lan.Upload("/transactions/import", "b.csv", file+"03/11/2026,78,B,7.000,\n", "held", key, "bank_account_id", "2")
	a.Shows(t, "<bdi>b.csv</bdi>", "1 new transaction")
	lan.Upload("/transactions/import", "", "", "held", key).Shows(t, "no longer kept here")
	lan.Upload("/transactions/import", "", "", "held", "").Shows(t, "Choose a file")
	// What is no table isn't kept.
	lan.Upload("/transactions/import", "a.pdf", "%PDF-1.4").Hides(t, `name="held"`)
	large := file + strings.Repeat(",,,"+strings.Repeat("x", 100)+",\n", 45_000)
	lan.Upload("/transactions/import", "large.csv", large, "bank_account_id", "2").Hides(t, `name="held"`)
}

// The columns of a file that isn't understood are chosen on the page, with the rules
// of the command line's --map.
func TestImportColumns(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	const path = "/transactions/import"
	a := b.Upload(path, "any.csv", "Shop <Lan>,,,\nwhen,what,plus,minus\n02/11/2026,BAN HANG,5.000,\n03/11/2026,MUA <HANG>,,7.000\n")
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, "Choose which columns these are.", `<details class="columns" open>`, "Shop <Lan>", `name="column-A"`, `name="column-D"`,
		"MUA <HANG>", "<td>4</td>")
	a.Hides(t, `name="column-E"`, `name="sum"`, "--map")
	held := []string{"held", regexp.MustCompile(`name="held" value="([^"]+)"`).FindStringSubmatch(a.Body)[1]}
	send := func(pairs ...string) webtest.Answer { return b.Upload(path, "", "", append(held, pairs...)...) }
	send("column-A", "date", "column-B", "date").Shows(t, "Two columns are chosen for the same thing.")
	send("column-A", "date", "column-B", "content").Shows(t, "has the columns that were named")
	send("column-A", "colour").WantStatus(t, http.StatusUnprocessableEntity)
	columns := []string{"column-A", "date", "column-B", "content", "column-C", "credit", "column-D", "debit"}
	a = send(columns...)
	a.Shows(t, "2 new transactions", "+5,000\u00a0₫ money in", "−7,000\u00a0₫ money out", `<option value="credit" selected>`)
	w.WantTransactions(0)
	// Other columns than those that were looked at are looked at.
	send("column-A", "date", "column-B", "content", "column-C", "debit", "column-D", "credit", "sum", sumOf(t, a)).Shows(t,
		"not those you checked", "−5,000\u00a0₫ money out")
	w.WantTransactions(0)
	send(append(columns, "sum", sumOf(t, a))...).Shows(t, "File imported")
	if list := w.WantTransactions(2); list[0].Type == list[1].Type {
		t.Errorf("%+v", list)
	}
	// What the headings are taken for is shown.
	b.Upload(path, "acb.csv", statementHeader+"02/11/2026,77,A,11.000,\n").Shows(t, "1 new transaction", "Money out (by its heading)",
		`<details class="columns"><summary>`)
}

// A file that doesn't agree with itself is recorded only once somebody accepts it.
func TestImportDifferences(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	const path = "/transactions/import"
	file := statementHeader + "02/11/2026,77,A,11.000,\n,,Tổng cộng,12.000,\n"
	a := b.Upload(path, "a.csv", file)
	a.Shows(t, "Line 4: the total is 12.000, but the rows make 11.000", `name="accept_differences"`, "1 new transaction")
	refused := b.Upload(path, "a.csv", file, "sum", sumOf(t, a))
	refused.WantStatus(t, http.StatusUnprocessableEntity)
	refused.Shows(t, "Line 4: the total is 12.000")
	w.WantTransactions(0)
	b.Upload(path, "a.csv", file, "sum", sumOf(t, a), "accept_differences", "1").Shows(t, "File imported")
	w.WantTransactions(1)
}

// As many rows as there may be are imported within the time of a request.
func TestImportAsManyRowsAsThereMayBe(t *testing.T) {
	t.Parallel()
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it measures how long 10,000 rows take")
	}
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	var file strings.Builder
	file.WriteString(statementHeader)
	for i := range 10_000 {
		fmt.Fprintf(&file, "%02d/10/2026,%d,THANH TOAN DON HANG %d,,5.000\n", i%28+1, i, i)
	}
	b := w.Browser().SignIn("lan")
	sum := sumOf(t, b.Upload("/transactions/import", "a.csv", file.String()))
	began := time.Now()
	b.Upload("/transactions/import", "a.csv", file.String(), "sum", sum).Shows(t, "Recorded</dt><dd><strong>10,000<")
	t.Logf("10,000 rows in %v", time.Since(began))
}

var importActions = []action{
	{"GET", "/transactions/import"}, {"POST", "/transactions/import"}, {"GET", "/transactions/import/%d/undo"},
	{"POST", "/transactions/import/%d/undo"},
}

func TestImportTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	owner := w.Browser().SignIn("lan")
	mine := statementHeader + "01/11/2026,76,A,,11.000\n"
	owner.Upload("/transactions/import", "mine.csv", mine, "sum", sumOf(t, owner.Upload("/transactions/import", "mine.csv", mine))).Shows(t,
		`href="/transactions/import/1/undo"`)
	actions(importActions).wantOwnersOnly(w, 1, apptest.SomeAccount, func() string { return fmt.Sprint(w.Rows("transactions")) })
	file := statementHeader + "02/11/2026,77,A,,11.000\n"
	cashier, stranger := w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger")
	if a := cashier.Get("/transactions"); strings.Contains(a.Body, "/transactions/import") {
		t.Error("a cashier is shown the import")
	}
	cashier.Upload("/transactions/import", "a.csv", file).WantStatus(t, http.StatusForbidden)
	a := stranger.Upload("/transactions/import", "a.csv", file)
	a.Shows(t, "is not linked", "There is nothing new to import.")
	a.Hides(t, `name="sum"`)
	stranger.Upload("/transactions/import", "a.csv", file, "sum", sumOf(t, owner.Upload("/transactions/import", "a.csv", file))).Shows(t,
		"Recorded</dt><dd><strong>0<")
	stranger.Upload("/transactions/import", "a.csv", file, "bank_account_id", "1").WantStatus(t, http.StatusUnprocessableEntity)
	w.WantTransactions(1)
	// The owner takes it back, and is asked before.
	owner.Get("/transactions/import").Shows(t, "<bdi>mine.csv", `href="/transactions/import/1/undo"`)
	owner.Get("/transactions/import/1/undo").Shows(t, "Undo the import of", "+11,000\u00a0₫ money in", "Dated 01 Nov 2026 to 01 Nov 2026",
		`action="/transactions/import/1/undo"`)
	w.WantTransactions(1)
	if a := owner.Post("/transactions/import/1/undo"); a.Status != http.StatusSeeOther {
		t.Errorf("%d\n%s", a.Status, a.Body)
	}
	w.WantTransactions(0)
	owner.Get("/transactions/import").Shows(t, "transactions removed: 1, kept: 0.", "Undone ·")
	// What the shop was told of stays, and the page doesn't say otherwise.
	w.Webhook("https://shop.example.vn/baoco", delivery.WebhookAll)
	sum := sumOf(t, owner.Upload("/transactions/import", "mine.csv", mine))
	owner.Upload("/transactions/import", "mine.csv", mine, "notify", "1", "sum", sum)
	owner.Post("/transactions/import/2/undo")
	w.WantTransactions(1)
	owner.Get("/transactions/import").Shows(t, "transactions removed: 0, kept: 1.", "Undone, but these stay: 1 transaction ·")
}

// A browser that goes away within its upload is no error of the server.
func TestImportCutOff(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	_, log, b := logging(w)
	conn := halfUpload(t, b)
	apptest.Must(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	apptest.Must(t, err)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 422 ") || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("%.100s\n%s", answer, log)
	}
}

// halfUpload sends half of a file, in a browser that is signed in.
func halfUpload(t *testing.T, b *webtest.Browser) net.Conn {
	t.Helper()
	base, err := url.Parse(b.Base)
	apptest.Must(t, err)
	conn, err := net.Dial("tcp", base.Host)
	apptest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	var cookies string
	for _, c := range b.Client.Jar.Cookies(base) {
		cookies += c.String() + "; "
	}
	_, err = fmt.Fprintf(conn,
		"POST /transactions/import HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: "+
			"100000\r\n\r\n"+
			"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nhalf", base.Host, cookies)
	apptest.Must(t, err)
	return conn
}

// Uploads that hang take no more than a few places, and of one user two; what ends
// gives its place back.
func TestImportsAtATime(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	file := statementHeader + "02/11/2026,77,A,11.000,\n"
	var ofFirst []net.Conn
	const users = 4
	for i := range users + 1 {
		name := fmt.Sprint("user", i)
		w.User(1, name, access.RoleOwner)
		b := w.Browser().SignIn(name)
		get := func() int { return b.Upload("/transactions/import", "a.csv", file).Status }
		if i == users {
			if a := b.Upload("/transactions/import", "a.csv", file); a.Status != http.StatusServiceUnavailable ||
				!strings.Contains(a.Body, "Too many files are being uploaded") {
				t.Errorf("beside two of each of %d users: %d", users, a.Status)
			}
			for _, conn := range ofFirst {
				apptest.Must(t, conn.Close())
			}
			apptest.Eventually(t, "there is a place again", func() bool { return get() == http.StatusOK })
			break
		}
		if got := get(); got != http.StatusOK {
			t.Errorf("beside two of each of %d users: %d", i, got)
		}
		apptest.Eventually(t, "a third upload of one user is refused", func() bool {
			conn := halfUpload(t, b) // which is refused itself while the whole one has a place
			if i == 0 {
				ofFirst = append(ofFirst, conn)
			}
			return get() == http.StatusServiceUnavailable
		})
	}
}
