package web_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// upload sends a form with a file.
func (b *browser) upload(path, name, file string, pairs ...string) answer {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		must(b.t, form.WriteField(pairs[i], pairs[i+1]))
	}
	if name != "" {
		part, err := form.CreateFormFile("file", name)
		must(b.t, err)
		_, err = io.WriteString(part, file)
		must(b.t, err)
	}
	must(b.t, form.Close())
	request, err := http.NewRequest("POST", b.base+path, &body)
	must(b.t, err)
	for name, values := range b.header {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	response, err := b.client.Do(request)
	must(b.t, err)
	defer response.Body.Close()
	answered, err := io.ReadAll(response.Body)
	must(b.t, err)
	return answer{response.StatusCode, response.Header, string(answered)}
}

// sum is the hidden field by which the second form names the file of the first.
func (a answer) sum(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`name="sum" value="([0-9a-f]{64}-\d*)"`).FindStringSubmatch(a.body)
	if m == nil {
		t.Fatalf("%d, nothing to confirm\n%s", a.status, a.body)
	}
	return m[1]
}

const statementHeader = "Số tài khoản:," + someAccount + ",,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào\n"

// The test isn't parallel: it looks at what is left in the temporary directory.
func TestImportPages(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	w.webhook("https://shop.vn/", app.WebhookAll)
	b := w.browser().signIn("lan")
	b.get("/transactions").shows(t, `href="/transactions/import"`)
	b.get("/transactions/import").wantStatus(t, http.StatusOK)
	file := statementHeader + "02/11/2026,77,<script>alert(1)</script>,11.000,\n02/11/2026,78,GUI XE,,5.000\n02/11/2026,79,HONG,,abc\n"
	a := b.upload("/transactions/import", `<script>x.csv`, file)
	a.shows(t, "nothing recorded yet", "2 new transactions", "Amount could not be read", "1 row", "+5,000\u00a0₫ money in", "−11,000\u00a0₫ money out", "<td>3</td>", "−11,000\u00a0₫</td>")
	for _, refused := range []struct{ file, says string }{
		{statementHeader + "02/11/2026,77,A,11.000,\n,,Tổng cộng,12.000,\n", "Line 4: the totals are debit 12.000"},
		{strings.Replace(file, "Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào", "Số GD,Nội dung,Số tiền,\n,,,Xanh,Đỏ", 1), "column D, “Số tiền Xanh”"},
	} {
		a := b.upload("/transactions/import", "refused.csv", refused.file)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		a.shows(t, refused.says)
	}
	if w.wantTransactions(0); strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "<script>x") {
		t.Error("a file's text is a script")
	}
	sum := a.sum(t)
	// Another file than the one that was looked at is looked at.
	a = b.upload("/transactions/import", "b.csv", file+"03/11/2026,80,KHAC,,7.000\n", "sum", sum, "notify", "1")
	a.shows(t, "not the one you checked", "3 new transactions")
	w.wantTransactions(0)
	b.upload("/transactions/import", "a.csv", file, "sum", sum).shows(t, "File imported")
	w.wantTransactions(2)
	if n := w.rows("deliveries"); n != 0 {
		t.Errorf("%d deliveries nobody asked for", n)
	}
	b.upload("/transactions/import", "a.csv", file, "sum", sum).shows(t, "Duplicates</dt><dd>2<")
	b.upload("/transactions/import", "b.csv", file+"03/11/2026,80,KHAC,,7.000\n", "sum", a.sum(t), "notify", "1").shows(t, "Notifications sent to your shop</dt><dd>1<")
	w.wantTransactions(3)
	if n := w.rows("deliveries"); n != 1 {
		t.Errorf("%d deliveries", n)
	}

	other := strings.Replace(file, someAccount, "0881000000606", 1)
	b.upload("/transactions/import", "c.csv", other).shows(t, "0881000000606 is not linked", "0 new transactions")
	// The account is part of what was checked.
	b.upload("/transactions/import", "a.csv", file, "sum", sum, "bank_account_id", "1").shows(t, "not the one you checked", "nothing recorded yet")
	nobody := strings.Replace(file, "Số tài khoản:,"+someAccount, ",", 1)
	w.link("ACB", "555")
	a = b.upload("/transactions/import", "d.csv", nobody)
	a.wantStatus(t, http.StatusUnprocessableEntity)
	a.shows(t, `id="bank_account_id-problem"`)
	b.upload("/transactions/import", "d.csv", nobody, "bank_account_id", "2").shows(t, "2 new transactions")
	b.upload("/transactions/import", "d.csv", nobody, "bank_account_id", "99").wantStatus(t, http.StatusUnprocessableEntity)
	for _, c := range []struct {
		name, file string
		status     int
	}{
		{"", "", 422}, {"a.pdf", "%PDF-1.4", 422}, {"a.csv", "", 422}, {"a.csv", "hello", 422}, {"a.xlsx", "PK\x03\x04broken", 422},
		{"a.csv", statementHeader + strings.Repeat("02/11/2026,1,A,,5.000\n", 10_001), 413}, {"a.csv", statementHeader + strings.Repeat("x", 33<<20), 413},
	} {
		if a := b.upload("/transactions/import", c.name, c.file); a.status != c.status || !strings.Contains(a.body, `role="alert"`) || strings.Contains(a.body, `name="sum"`) {
			t.Errorf("%s, %d bytes: %d, want %d\n%.3000s", c.name, len(c.file), a.status, c.status, a.body)
		}
	}
	b.post("/transactions/import", "sum", sum).wantStatus(t, http.StatusUnprocessableEntity)
	w.wantTransactions(3)
	if left, _ := filepath.Glob(filepath.Join(dir, "baoco-statement-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err := os.Stat(dir)
	must(t, err)
}

// As many rows as there may be are imported within the time of a request.
func TestImportAsManyRowsAsThereMayBe(t *testing.T) {
	t.Parallel()
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it measures how long 10,000 rows take")
	}
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	var file strings.Builder
	file.WriteString(statementHeader)
	for i := range 10_000 {
		fmt.Fprintf(&file, "%02d/10/2026,%d,THANH TOAN DON HANG %d,,5.000\n", i%28+1, i, i)
	}
	b := w.browser().signIn("lan")
	sum := b.upload("/transactions/import", "a.csv", file.String()).sum(t)
	began := time.Now()
	b.upload("/transactions/import", "a.csv", file.String(), "sum", sum).shows(t, "Recorded</dt><dd><strong>10,000<")
	t.Logf("10,000 rows in %v", time.Since(began))
}

var importActions = []struct{ method, path string }{
	{"GET", "/transactions/import"}, {"POST", "/transactions/import"}, {"GET", "/transactions/import/%d/undo"}, {"POST", "/transactions/import/%d/undo"},
}

func TestImportTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	owner := w.browser().signIn("lan")
	mine := statementHeader + "01/11/2026,76,A,,11.000\n"
	owner.upload("/transactions/import", "mine.csv", mine, "sum", owner.upload("/transactions/import", "mine.csv", mine).sum(t)).shows(t, `href="/transactions/import/1/undo"`)
	w.wantOwnersOnly(t, importActions, 1, someAccount, func() string { return fmt.Sprint(w.rows("transactions")) })
	file := statementHeader + "02/11/2026,77,A,,11.000\n"
	cashier, stranger := w.browser().signIn("cashier"), w.browser().signIn("stranger")
	if a := cashier.get("/transactions"); strings.Contains(a.body, "/transactions/import") {
		t.Error("a cashier is shown the import")
	}
	cashier.upload("/transactions/import", "a.csv", file).wantStatus(t, http.StatusForbidden)
	a := stranger.upload("/transactions/import", "a.csv", file)
	a.shows(t, "is not linked", "0 new transactions")
	stranger.upload("/transactions/import", "a.csv", file, "sum", a.sum(t)).shows(t, "Recorded</dt><dd><strong>0<")
	stranger.upload("/transactions/import", "a.csv", file, "bank_account_id", "1").wantStatus(t, http.StatusUnprocessableEntity)
	w.wantTransactions(1)
	// The owner takes it back, and is asked before.
	owner.get("/transactions/import").shows(t, "<bdi>mine.csv", `href="/transactions/import/1/undo"`)
	owner.get("/transactions/import/1/undo").shows(t, "Undo the import of", "+11,000\u00a0₫ money in", "Dated 01 Nov 2026 to 01 Nov 2026", `action="/transactions/import/1/undo"`)
	w.wantTransactions(1)
	if a := owner.post("/transactions/import/1/undo"); a.status != http.StatusSeeOther {
		t.Errorf("%d\n%s", a.status, a.body)
	}
	w.wantTransactions(0)
	owner.get("/transactions/import").shows(t, "transactions removed: 1, kept: 0.", "Undone ·")
	// What the shop was told of stays, and the page doesn't say otherwise.
	w.webhook("https://shop.example.vn/baoco", app.WebhookAll)
	owner.upload("/transactions/import", "mine.csv", mine, "notify", "1", "sum", owner.upload("/transactions/import", "mine.csv", mine).sum(t))
	owner.post("/transactions/import/2/undo")
	w.wantTransactions(1)
	owner.get("/transactions/import").shows(t, "transactions removed: 0, kept: 1.", "Undone, but these stay: 1 transaction ·")
}
