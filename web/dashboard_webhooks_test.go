package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

var (
	secretPattern = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)
	oncePattern   = regexp.MustCompile(`name="once" value="([^"]+)"`)
)

// secretOf is the secret that a page shows.
func (a answer) secretOf(t *testing.T) string {
	t.Helper()
	secret := secretPattern.FindString(html.UnescapeString(a.body))
	if a.status != http.StatusOK || secret == "" {
		t.Fatalf("%d, no secret on the page\n%s", a.status, a.body)
	}
	return secret
}

// once is the key of the form on a page.
func (a answer) once(t *testing.T) string {
	t.Helper()
	found := oncePattern.FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("%d, no form that counts once\n%s", a.status, a.body)
	}
	return found[1]
}

// shows checks that a page says all of texts.
func (a answer) shows(t *testing.T, texts ...string) {
	t.Helper()
	page := html.UnescapeString(a.body)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%d, the page does not say %q\n%s", a.status, text, a.body)
		}
	}
}

func (w *world) webhooks() []app.Webhook {
	w.t.Helper()
	list, err := w.service.Webhooks(context.Background(), 1)
	must(w.t, err)
	return list
}

// failed waits until that many attempts of a webhook have failed.
func (w *world) failed(webhookID, n int64) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		h, err := w.service.WebhookHealth(context.Background(), 1, webhookID, time.Now())
		must(w.t, err)
		if h.Sum().Failed == n {
			return
		}
	}
	w.t.Fatalf("webhook %d never failed %d times", webhookID, n)
}

func TestWebhookForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	bank := w.link("ACB", "1234567")
	b := w.browser().signIn("lan")
	b.get("/webhooks").shows(t, "Create your first webhook", "Use HTTPS", `name="once"`, "1234567")
	for _, c := range []struct {
		form []string
		says []string
	}{
		{[]string{}, []string{`id="name-problem"`, `id="url-problem"`, `id="type-problem"`, `aria-invalid="true"`}},
		{[]string{"name", "cửa hàng", "webhook_url", "ftp://shop.vn", "type", "IN"}, []string{`value="cửa hàng"`, `value="ftp://shop.vn"`, `id="url-problem"`}},
		{[]string{"name", "shop", "webhook_url", "http://10.0.0.1/", "type", "IN"}, []string{`id="url-problem"`}},
		{[]string{"name", "a\u202egnp.exe", "webhook_url", "https://shop.vn/", "type", "IN"}, []string{`id="name-problem"`}},
		{[]string{"name", "\u200b", "webhook_url", "https://shop.vn/", "type", "ALL"}, []string{`id="name-problem"`, `value="ALL" selected`}},
		{[]string{"name", "shop", "webhook_url", "https://shop.vn/", "type", "IN", "bank_account_id", "99"}, []string{`id="bank-problem"`}},
		{[]string{"name", "shop", "webhook_url", "https://shop.vn/", "type", "IN", "bank_account_id", "x"}, []string{`id="bank-problem"`}},
		{[]string{"name", "shop", "webhook_url", "https://shop.vn/", "type", "SIDEWAYS"}, []string{`id="type-problem"`}},
	} {
		a := b.post("/webhooks", append(c.form, "once", "again")...)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		a.shows(t, append(c.says, `name="once" value="again"`)...)
	}
	if list := w.webhooks(); len(list) != 0 {
		t.Fatalf("made of nothing: %+v", list)
	}
	// What was refused didn't use the form up.
	a := b.post("/webhooks", "once", "again", "name", " shop ", "webhook_url", "http://shop.vn/baoco", "type", "OUT", "bank_account_id", fmt.Sprint(bank.ID))
	a.secretOf(t)
	a.shows(t, "HTTPS is recommended")
	list := w.webhooks()
	if len(list) != 1 || list[0].Name != "shop" || list[0].URL != "http://shop.vn/baoco" || list[0].Type != app.WebhookOut || list[0].BankAccountID != bank.ID || !list[0].IsActive {
		t.Errorf("%+v", list)
	}
	for _, c := range [][]string{{"name", "", "webhook_url", "x", "type", "y"}, {"name", "shop"}} {
		a := b.post("/webhooks/1/edit", c...)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		a.shows(t, `id="url-problem"`)
	}
	b.post("/webhooks/1/edit", "name", "kho", "webhook_url", "https://shop.vn/new", "type", "ALL").goes(t, "/webhooks/1")
	b.get("/webhooks/1").shows(t, "Saved.", "https://shop.vn/new", "kho", "Money in and out", "1234567")
	b.get("/webhooks/1/edit").shows(t, `value="kho"`)
	b.get("/webhooks").shows(t, "shop.vn", "kho", "Nothing sent")
}

// The secret is on one page only, and what makes it counts once.
func TestWebhookSecretIsShownOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	form := []string{"name", "shop", "webhook_url", "https://shop.vn/baoco", "type", "IN", "once", b.get("/webhooks/new").once(t)}
	a := b.post("/webhooks", form...)
	first := a.secretOf(t)
	a.shows(t, "BAOCO_SECRET="+first+" PORT=9000 python3 receiver.py")
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Location") != "" || a.header.Get("Set-Cookie") != "" {
		t.Errorf("headers of the secret: %v", a.header)
	}
	rotation := []string{"overlap_hours", "24", "once", b.get("/webhooks/1/rotate").once(t)}
	a = b.post("/webhooks/1/rotate", rotation...)
	second := a.secretOf(t)
	a.shows(t, "the old secret keeps signing")
	if first == second {
		t.Error("the secret was not rotated")
	}
	b.get("/webhooks").shows(t, "Rotating secret")
	overlap := w.webhooks()[0].OverlapTo

	silent := func(what string, a answer) {
		t.Helper()
		if secretPattern.MatchString(html.UnescapeString(a.body)) {
			t.Errorf("%s shows a secret", what)
		}
	}
	// The browser's reload.
	for _, again := range []struct {
		path string
		form []string
	}{{"/webhooks", form}, {"/webhooks/1/rotate", rotation}} {
		a := b.post(again.path, again.form...)
		silent("the same form again", a)
		a.wantStatus(t, http.StatusOK)
		a.shows(t, "already shown")
	}
	if list := w.webhooks(); len(list) != 1 || !list[0].OverlapTo.Equal(overlap) {
		t.Errorf("a form counted twice: %+v", list)
	}
	for _, path := range []string{"/", "/webhooks", "/webhooks/new", "/webhooks/1", "/webhooks/1/edit", "/webhooks/1/rotate", "/webhooks/1/replay", "/webhooks/1/delete"} {
		a := b.get(path)
		a.wantStatus(t, http.StatusOK)
		silent(path, a)
	}
	// Nor is it in the file, or what belongs to it.
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(w.path + suffix)
		must(t, err)
		if strings.Contains(string(data), first) || strings.Contains(string(data), second) {
			t.Errorf("%s holds a secret in clear", w.path+suffix)
		}
	}

	a = b.post("/webhooks/1/env", "secret", second)
	if a.status != http.StatusOK || !strings.HasSuffix(a.body, "\nBAOCO_SECRET="+second+"\n") || !strings.Contains(a.header.Get("Content-Disposition"), `attachment; filename="baoco-webhook-1.env"`) ||
		a.header.Get("Cache-Control") != "no-store" || a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %v\n%s", a.status, a.header, a.body)
	}
	for _, secret := range []string{"", "whsec_", "whsec_AAAA", strings.TrimPrefix(second, "whsec_"), second + "\nPATH=/tmp", "<script>"} {
		b.post("/webhooks/1/env", "secret", secret).wantStatus(t, http.StatusUnprocessableEntity)
	}

	for _, hours := range []string{"", "-1", "169", "x", "1.5", "99999999999999999999"} {
		a := b.post("/webhooks/1/rotate", "overlap_hours", hours)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		silent("a refused rotation", a)
	}
	b.get("/webhooks/1").shows(t, "Activate new secret now")
	b.post("/webhooks/1/activate").goes(t, "/webhooks/1")
	b.post("/webhooks/1/activate").wantStatus(t, http.StatusConflict)
	b.get("/webhooks/1").shows(t, "Kept by you")
	b.post("/webhooks/1/rotate", "overlap_hours", "0").secretOf(t)
	if w.webhooks()[0].Rotating(time.Now()) {
		t.Error("without an overlap two secrets count")
	}
}

func TestWebhookTestSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	status := http.StatusOK
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(status)
		fmt.Fprint(rw, `<script>alert("answer")</script>`)
	}))
	defer shop.Close()
	hook, _ := w.webhook(shop.URL+"/hook", app.WebhookAll)
	other, _ := w.webhook(shop.URL, app.WebhookAll)
	b := w.browser().signIn("lan")
	b.post("/webhooks/1/test").goes(t, "/webhooks/1?tested=1")
	a := b.get("/webhooks/1?tested=1")
	a.shows(t, "Test succeeded", "200 ·", `<script>alert("answer")</script>`)
	if strings.Contains(a.body, "<script>alert") {
		t.Error("an answer's body is a script")
	}
	status = http.StatusInternalServerError
	b.post("/webhooks/1/test").goes(t, "/webhooks/1?tested=2")
	b.get("/webhooks/1?tested=2").shows(t, "Test failed", "500 ·", app.Result{StatusCode: 500, Error: app.ErrorHTTPStatus}.Explanation().EN)
	b.get("/webhooks").shows(t, "50\u00a0%", "attempts: 2", "1 succeeded, 1 failed")
	// An outcome is shown where it belongs only.
	for _, path := range []string{"/webhooks/1?tested=99", "/webhooks/1?tested=x", fmt.Sprintf("/webhooks/%d?tested=1", other.ID)} {
		if a := b.get(path); a.status != http.StatusOK || strings.Contains(a.body, `id="outcome"`) {
			t.Errorf("%s: %d shows an outcome", path, a.status)
		}
	}
	for range 2 {
		b.post("/webhooks/1/test")
	}
	b.get("/").shows(t, "is not reaching your shop: the last 3 attempts failed")
	b.get("/webhooks/1").shows(t, "Not reaching your shop", "3.")
	_, err := w.service.ToggleWebhook(t.Context(), 1, hook.ID, time.Now())
	must(t, err)
	if a := b.get("/"); strings.Contains(a.body, "is not reaching") {
		t.Error("one that is switched off needs attention")
	}
}

func TestWebhookSwitchReplayDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", "1234567")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	w.webhook(closed.URL, app.WebhookAll)
	for i := range 3 {
		_, _, err := w.service.RecordByHand(t.Context(), 1, app.Incoming{EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: "1234567", Type: app.In, Amount: 1000}, nil, app.IdempotencyKey{}, time.Now())
		must(t, err)
	}
	w.failed(1, 3)
	b := w.browser().signIn("lan")
	b.post("/webhooks/1/toggle", "active", "0").goes(t, "/webhooks/1")
	b.get("/webhooks/1").shows(t, "Webhook turned off", "Turn on")
	b.post("/webhooks/1/toggle", "active", "0").goes(t, "/webhooks/1") // twice is the same as once
	if w.webhooks()[0].IsActive {
		t.Error("switched off twice is on")
	}
	// As if all six attempts of two of them had failed.
	w.file(func(db *sql.DB) error {
		_, err := db.Exec(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6 WHERE id < 3`)
		return err
	})
	b.get("/webhooks/1/replay").shows(t, "2 to resend", "Turn it on first")
	b.post("/webhooks/1/replay").wantStatus(t, http.StatusConflict)
	b.get("/webhooks/1/delete").shows(t, "Waiting deliveries: <strong>1</strong>. They will be cancelled")
	b.post("/webhooks/1/toggle", "active", "1").goes(t, "/webhooks/1")
	b.get("/webhooks/1/replay?from=2026-01-01&to=2026-01-02").shows(t, "0 to resend", "No failed deliveries")
	b.get("/webhooks/1/replay?from=yesterday").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/webhooks/1/replay", "to", "soon").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/webhooks/1/replay", "from", "", "to", "").goes(t, "/webhooks/1")
	b.get("/webhooks/1").shows(t, "being resent: 2.")
	b.get("/webhooks/1/replay").shows(t, "0 to resend")

	for _, name := range []string{"", "tes", "other"} {
		a := b.post("/webhooks/1/delete", "name", name)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		a.shows(t, "Nothing was deleted")
	}
	if len(w.webhooks()) != 1 {
		t.Fatal("deleted under another name")
	}
	b.post("/webhooks/1/delete", "name", " TEST ").goes(t, "/webhooks")
	b.get("/webhooks").shows(t, "Its history is kept", "Create your first webhook")
	b.get("/webhooks/1").wantStatus(t, http.StatusNotFound)
}

// A webhook with deliveries that are not tried any more needs attention, until
// they are sent again.
func TestFailedDeliveriesNeedAttention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "cashier", app.RoleViewer)
	w.link("ACB", "1234567")
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(http.StatusBadGateway) }))
	defer shop.Close()
	hook, _ := w.webhook(shop.URL, app.WebhookAll)
	_, _, err := w.service.RecordByHand(t.Context(), 1, app.Incoming{EventID: "1", Gateway: "ACB", AccountNumber: "1234567", Type: app.In, Amount: 1000}, nil, app.IdempotencyKey{}, time.Now())
	must(t, err)
	w.failed(hook.ID, 1)
	b := w.browser().signIn("lan")
	const entry = "1 delivery failed in the last 24 hours"
	if a := b.get("/"); strings.Contains(a.body, entry) {
		t.Error("what is still tried needs attention")
	}
	w.file(func(db *sql.DB) error {
		_, err := db.Exec(`UPDATE deliveries SET state = 2, due_ms = NULL`)
		return err
	})
	b.get("/").shows(t, entry, `href="/deliveries?status=0&from=`)
	if a := w.browser().signIn("cashier").get("/"); strings.Contains(a.body, "/webhooks") {
		t.Error("the cashier sees webhooks")
	}
	b.post("/webhooks/1/replay").goes(t, "/webhooks/1")
	if a := b.get("/"); strings.Contains(a.body, entry) {
		t.Error("what is sent again needs attention")
	}
}

var webhookActions = []struct{ method, path string }{
	{"GET", "/webhooks/%d"}, {"GET", "/webhooks/%d/edit"}, {"POST", "/webhooks/%d/edit"}, {"POST", "/webhooks/%d/toggle"}, {"POST", "/webhooks/%d/test"},
	{"GET", "/webhooks/%d/rotate"}, {"POST", "/webhooks/%d/rotate"}, {"POST", "/webhooks/%d/activate"}, {"POST", "/webhooks/%d/env"},
	{"GET", "/webhooks/%d/replay"}, {"POST", "/webhooks/%d/replay"}, {"GET", "/webhooks/%d/delete"}, {"POST", "/webhooks/%d/delete"},
}

// Nobody but an owner of the account reaches a webhook, and nothing changes.
func TestWebhookTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "cashier", app.RoleViewer)
	second, err := w.service.CreateAccount(t.Context(), "second", time.Now())
	must(t, err)
	w.user(second.ID, "stranger", app.RoleOwner)
	hook, secret := w.webhook("https://shop.vn/secret-path", app.WebhookAll)
	form := []string{"name", "test", "webhook_url", "https://evil.example/", "type", "IN", "active", "0", "overlap_hours", "0", "secret", secret}
	before := w.webhooks()
	cashier, stranger, nobody := w.browser().signIn("cashier"), w.browser().signIn("stranger"), w.browser()
	ask := func(b *browser, method, path string) answer {
		if method == "GET" {
			return b.get(path)
		}
		return b.post(path, form...)
	}
	paths := append(webhookActions, []struct{ method, path string }{{"GET", "/webhooks"}, {"POST", "/webhooks"}, {"GET", "/webhooks/new"}}...)
	for _, action := range paths {
		path := action.path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, hook.ID)
			a := ask(stranger, action.method, path)
			a.wantStatus(t, http.StatusNotFound)
			for _, id := range []string{"0", "x", "99", "-1"} {
				ask(stranger, action.method, strings.Replace(action.path, "%d", id, 1)).wantStatus(t, http.StatusNotFound)
			}
		}
		ask(cashier, action.method, path).wantStatus(t, http.StatusForbidden)
		if a := ask(nobody, action.method, path); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/login") {
			t.Errorf("%s %s: %d for nobody", action.method, path, a.status)
		}
	}
	if a := stranger.get("/webhooks"); strings.Contains(a.body, "secret-path") || strings.Contains(a.body, "shop.vn/secret") {
		t.Error("another account's webhook is listed")
	}
	if after := w.webhooks(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("changed: %+v", after)
	}
	lan := w.browser().signIn("lan")
	lan.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	for _, action := range paths {
		if action.method == "POST" {
			lan.post(strings.Replace(action.path, "%d", "1", 1), form...).wantStatus(t, http.StatusForbidden)
		}
	}
	if after := w.webhooks(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("changed by another site: %+v", after)
	}
}

func TestHostileWebhooksAreInert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	for i, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "שלום\u200dx", strings.Repeat("w", 100), `{{.Data}}`} {
		raw := `https://shop.vn/a'"><script>alert(2)</script>?>&x=` + "`${process.exit()}`"
		a := b.post("/webhooks", "name", name, "webhook_url", strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E", "`", "%60").Replace(raw), "type", "IN")
		a.secretOf(t)
		pages := []answer{a, b.get("/webhooks")}
		for _, action := range webhookActions {
			if action.method == "GET" {
				pages = append(pages, b.get(fmt.Sprintf(action.path, i+1)))
			}
		}
		for _, a := range pages {
			a.wantStatus(t, http.StatusOK)
			for _, bad := range []string{"<script>alert", "<img src=x", "ZgotmplZ"} {
				if strings.Contains(a.body, bad) {
					t.Errorf("%q: a page holds %s", name, bad)
				}
			}
		}
		b.post(fmt.Sprintf("/webhooks/%d/delete", i+1), "name", strings.ReplaceAll(name, "\u200d", "")).goes(t, "/webhooks")
	}
}
