package acceptance_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/web/webtest/pages"
)

// What strangers send, and what users call things: markup, texts that run from right
// to left, signs that nobody sees, and words without an end.
var (
	hostile = `<script>alert(1)</script>"'>` +
		"\u202e abc \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \U0001f469\u200d\U0001f467 \U0001f4b8\U0001f4b8 " +
		"=HYPERLINK(\"http://x\") "
	endless   = strings.Repeat("dài", 600)
	unseen    = "\u200b\u2060\u00ad"
	forbidden = "\x01\x07\x1b[31m\u009b "
	// names have no signs that nobody sees
	hostName = `<script>alert(1)</script>"'> ` + "\u05e9\u05dc\u05d5\u05dd \U0001f4b8 " + strings.Repeat("W", 40)
)

// browserPages are the pages that TestBrowserPages visits.
var browserPages = []string{
	"/", "/?days=7", "/?days=14", "/?days=90", "/guide", "/guide?step=source&provider=payos", "/guide?step=counter", "/transactions",
	"/transactions?q=nothing", "/transactions?min=x",
	"/transactions/1", "/transactions/2", "/transactions/3", "/transactions/4", "/transactions/99",
	"/payments", "/payments?status=open", "/payments?payment_code=x", "/payments/1", "/payments/2", "/payments/new", "/payments/unmatched",
	"/payer?name=NGUYEN+VAN+A",
	"/payments/1/cancel", "/payments/99",
	"/till", "/till/2", "/till/99", "/till/display", "/till/2/receipt", "/shifts", "/shifts/1", "/shifts/1?paper=58",
	"/transactions/import", "/transactions/import/1/undo", "/transactions/chosen?row=1&row=2", "/day", "/day?date=2026-11-02",
	"/book", "/book/sheet?form=s1a&period=2026-11",
	"/book/sheet?form=s2e&period=2026-11",
	"/book/close?period=2026-10", "/book/open", "/book/revenue",
	"/report", "/report?from=2026-11-01&to=2026-11-30&by=bank_account", "/report?from=2026-11-02&to=2026-11-01",
	"/banks", "/banks/new", "/banks/1", "/banks/1/unlink",
	"/webhooks", "/webhooks/new", "/webhooks/1", "/webhooks/1/edit", "/webhooks/1/rotate", "/webhooks/1/replay",
	"/webhooks/1/delete", "/tools/signature",
	"/streams", "/streams/new", "/streams/1", "/streams/1/edit", "/streams/1/rotate", "/streams/1/delete",
	"/deliveries", "/deliveries?status=waiting", "/deliveries/1", "/deliveries/resend?row=1",
	"/inbound", "/inbound/sources/new", "/inbound/sources/new?provider=sepay", "/inbound/sources/1", "/inbound/sources/1/rotate",
	"/inbound/sources/1/remove",
	"/inbound/events", "/inbound/events/1", "/inbound/refused",
	"/keys", "/keys/1/revoke",
	"/settings", "/settings/sign-out", "/settings/sign-in", "/settings/sign-in/others", "/settings/users/2", "/settings/users/2/remove",
	"/settings/counters/1/revoke", "/settings/codes", "/settings/codes?content=DH001234", "/settings/codes/1/delete", "/settings/alerts",
	"/settings/phones",
	"/settings/alerts/email/remove", "/settings/audit", "/settings/audit?noun=webhook&id=1", "/settings/audit?way=kite", "/system",
	"/counter", "/counter/wrong", "/setup/wrong", "/help", "/help?q=quay", "/help?q=nothing", "/help/receiver",
	"/help/sepay-shop", "/help/install", "/help/wrong",
}

// A new page without a line above fails.
func TestBrowserPagesAreAll(t *testing.T) {
	t.Parallel()
	for _, page := range pages.Without(browserPages, "/login", "/login/code", "/login/passkey/options",
		"/settings/sign-in/passkeys/options", "/settings/sign-in/passkeys/{id}", "/manifest.webmanifest", "/banks/{id}/qr.png",
		"/counter/manifest.webmanifest", "/till/manifest.webmanifest", "/counter/{token}/manifest.webmanifest", "/counter/backlog", "/sw.js",
		"/report/file") {
		t.Errorf("TestBrowserPages doesn't visit %s", page)
	}
}

func TestBrowserPages(t *testing.T) {
	t.Parallel()
	tools := findBrowser(t)
	dir := t.TempDir()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Shop", strings.Repeat("x", 500))
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, hostile, forbidden, endless)
	}))
	defer shop.Close()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", hostName)
	do(t, dir, "bank", "link", "--bank", "VCB", "--number", strings.Repeat("7", 30), "--name", strings.Repeat("W", 100))
	do(t, dir, "webhook", "create", "--name", hostName, "--url", shop.URL+"/"+strings.Repeat("path", 100), "--type", "ALL")
	do(t, dir, "webhook", "create", "--name", strings.Repeat("w", 100), "--url",
		"http://shop.example/"+strings.Repeat("path", 100), "--type", "OUT")
	for _, content := range []string{"DH10293 thanh toan don hang", hostile, endless, unseen} {
		do(t, dir, "transaction", "add", "--account-number", "19354957", "--amount", "154900000000", "--content", content)
	}
	for _, direction := range []string{"IN", "OUT"} {
		do(t, dir, "transaction", "add", "--account-number", strings.Repeat("7", 30), "--amount", "9999999999999", "--type", direction)
	}
	must(t, os.WriteFile(filepath.Join(dir, "<img src=x onerror=alert(1)>"+strings.Repeat("w", 100)+".csv"),
		[]byte("Số tài khoản:,19354957,,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào\n"+
			"02/11/2026,FT1,"+endless+",,5.000\n03/11/2026,FT2,y,,7.000\n"), 0o600))
	doIn(t, dir, "transaction", "import", "<img src=x onerror=alert(1)>"+strings.Repeat("w", 100)+".csv")
	callHostile(t, dir, p)
	do(t, dir, "alert", "email", "--host", "mail.example", "--from", "shop@shop.example", "--to", "lan@shop.example", "--to",
		strings.Repeat("dai", 60)+"@shop.example")
	if code, _, stderr := baoco("", "alert", "test", "--db", filepath.Join(dir, "baoco.db")); code != terminal.ExitCheck {
		t.Fatalf("a test to nobody: exit %d, %s", code, stderr)
	}
	admin := (&apptest.World{T: t, Path: filepath.Join(dir, "baoco.db")}).Admin()
	_, _, err := admin.Streams.CreateStream(t.Context(), 1, stream.Create{
		Name: hostName, URL: "kafka://" + strings.Repeat("k.shop.example,", 9) + "k.shop.example", Topic: strings.Repeat("topic", 49),
	}, time.Now())
	must(t, err)
	do(t, dir, "code", "create", "--prefix", "WWWWWWWWWW", "--min-length", "15")
	createOwner(t, dir)
	do(t, dir, "user", "create", strings.Repeat("w", 50), "--password-file", filepath.Join(dir, "password.txt"))
	do(t, dir, "apikey", "create", hostName)
	request, err := admin.Payments.CreatePaymentRequest(t.Context(), 1,
		payment.RequestCreate{Amount: app.MaxAmount, BankAccountID: 2, Reference: hostName,
			ReturnURL: "https://shop.example/" + strings.Repeat("path", 100), ExpiresIn: time.Hour}, app.IdempotencyKey{}, time.Now())
	must(t, err)
	bill, err := admin.Payments.CreatePaymentRequest(app.ActingAs(t.Context(),
		app.Actor{Way: app.WayDashboard, Name: hostName, At: time.Now()}), 1,
		payment.RequestCreate{Amount: 154900000000, BankAccountID: 1, CashierID: 1, ExpiresIn: time.Hour}, app.IdempotencyKey{}, time.Now())
	must(t, err)
	do(t, dir, "transaction", "add", "--account-number", "19354957", "--amount", "999", "--content", bill.Code)
	do(t, dir, "transaction", "add", "--account-number", "19354957", "--amount", "154899999001", "--content", endless)
	counter := counterLink(t, dir, hostName, "--bank-account-id", "1", "--total")
	eventually(t, "the shop's answer", func() bool {
		var list []any
		must(t, json.Unmarshal([]byte(do(t, dir, "delivery", "list", "-o", "json")), &list))
		return len(list) > 0
	})
	tools.drive(t, "pages.mjs", map[string]any{"base": p.url, "name": "lan", "password": browserPassword,
		"paths": append(browserPages, counter, request.URLPath(), bill.URLPath(), "/pay/wrong")})
}

// callHostile calls a source: for an account that isn't linked, with an element that
// can't be read, and with a wrong secret.
func callHostile(t *testing.T, dir string, p *process) {
	t.Helper()
	var source createdSource
	must(t, json.Unmarshal([]byte(do(t, dir, "source", "add", "--provider", "native", "--name", hostName, "-o", "json")), &source))
	element := func(id, account string, amount any) map[string]any {
		return map[string]any{"id": id, "gateway": hostile, "accountNumber": account, "transactionNumber": id,
			"content": hostile + forbidden + endless, "transferType": "IN", "transferAmount": amount}
	}
	body, err := json.Marshal(map[string]any{"transactions": []any{element("FT8", strings.Repeat("8", 60), int64(999999999999)),
		element(hostName, "19354957", "<b>1</b>"), element("FT9", "19354957", int64(999999999999)), unseen}})
	must(t, err)
	for _, secret := range []string{source.Secret, "wrong"} {
		request, err := http.NewRequest("POST", p.url+source.URLPath, strings.NewReader(string(body)))
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+secret)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		answer, _ := io.ReadAll(response.Body)
		response.Body.Close()
		t.Logf("%s: %s", response.Status, answer)
	}
}
