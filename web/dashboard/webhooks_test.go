package dashboard_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/appsscript"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// A shop that was made for SePay: the form keeps what was chosen, and the key that the shop
// has is taken and never shown.
func TestSepayShopForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.User(1, "minh", access.RoleOwner)
	b := w.Browser().SignIn("minh")
	b.Get("/webhooks/new").Shows(t, `href="/webhooks/new?kind=sepay"`)
	b.Get("/webhooks/new?kind=sepay").Shows(t, `name="kind" value="sepay"`, `name="auth"`)
	fields := []string{"kind", "sepay", "auth", "hmac", "name", "woo", "webhook_url", "https://shop.vn/x", "type", "IN"}
	b.Post("/webhooks", append(fields, "once", webtest.FormKey(), "secret", "short")...).Shows(t, `id="secret-problem"`,
		`value="hmac" selected`)
	made := b.Post("/webhooks", append(fields, "once", b.Once("/webhooks/new?kind=sepay"), "secret", "the-key-of-the-shop")...)
	made.WantStatus(t, http.StatusOK)
	made.Hides(t, "/env")
	if list := webhooksOf(w); len(list) != 1 || list[0].Kind != delivery.WebhookSepay || list[0].Auth != delivery.SepayHMAC {
		t.Errorf("%+v", list)
	}
	b.Get("/webhooks/1").Shows(t, "X-SePay-Signature", "/help/sepay-shop")
	b.Get("/webhooks/1").Hides(t, "the-key-of-the-shop", "Google Sheets")
}

// The calls of a webhook for SePay have no signature of baoco's that could be checked: where
// they are refused, the key is meant.
func TestSepayShopRefuses(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.User(1, "minh", access.RoleOwner)
	hook, _, err := w.Services.Deliveries.CreateWebhook(t.Context(), 1, delivery.WebhookCreate{Name: "woo", Kind: delivery.WebhookSepay,
		Auth: delivery.SepayAPIKey, URL: newMoody(t, 401, "wrong key").url, Type: delivery.WebhookIn}, time.Now())
	apptest.Must(t, err)
	w.Pay(1, "1", "DH1")
	w.Attempts(1, 1)
	exhaust(w, hook.ID, delivery.Result{StatusCode: 401, Error: delivery.ErrorHTTPStatus})
	b := w.Browser().SignIn("minh")
	for _, path := range []string{"/webhooks/1", "/deliveries/1"} {
		b.Get(path).Shows(t, "Your shop refused the key", "/help/sepay-shop")
		b.Get(path).Hides(t, "/tools/signature", "/help/receiver-401")
	}
	b.Post("/webhooks/1/test")
	b.Get("/webhooks/1").Hides(t, "/tools/signature", "/help/receiver-401")
}

func TestWebhookForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", "1234567")
	b := w.Browser().SignIn("lan")
	b.Get("/webhooks").Shows(t, "Create your first webhook", "HTTPS is recommended", `name="once"`, "1234567")
	again := webtest.FormKey()
	for _, c := range []struct {
		form []string
		says []string
	}{
		{[]string{}, []string{`id="name-problem"`, `id="webhook_url-problem"`, `id="type-problem"`, `aria-invalid="true"`}},
		{[]string{"name", "cửa hàng", "webhook_url", "ftp://shop.vn", "type", "IN"},
			[]string{`value="cửa hàng"`, `value="ftp://shop.vn"`, `id="webhook_url-problem"`}},
		{[]string{"name", "shop", "webhook_url", "http://10.0.0.1/", "type", "IN"}, []string{`id="webhook_url-problem"`}},
		{[]string{"name", "a\u202egnp.exe", "webhook_url", "https://shop.vn/", "type", "IN"}, []string{`id="name-problem"`}},
		{[]string{"name", "\u200b", "webhook_url", "https://shop.vn/", "type", "ALL"}, []string{`id="name-problem"`, `value="ALL" selected`}},
		{[]string{"name", "shop", "webhook_url", "https://shop.vn/", "type", "IN", "bank_account_id", "99"},
			[]string{`id="bank_account_id-problem"`}},
		{[]string{"name", "shop", "webhook_url", "https://shop.vn/", "type", "IN", "bank_account_id", "x"},
			[]string{`id="bank_account_id-problem"`}},
		{[]string{"name", "shop", "webhook_url", "https://shop.vn/", "type", "SIDEWAYS"}, []string{`id="type-problem"`}},
	} {
		a := b.Post("/webhooks", append(c.form, "once", again)...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, append(c.says, `name="once"`)...)
	}
	if list := webhooksOf(w); len(list) != 0 {
		t.Fatalf("made of nothing: %+v", list)
	}
	// What was refused didn't use the form up.
	a := b.Post("/webhooks", "once", again, "name", " shop ", "webhook_url", "http://shop.vn/baoco", "type", "OUT", "bank_account_id",
		fmt.Sprint(bank.ID))
	secretOf(t, a)
	a.Shows(t, "HTTPS is recommended")
	list := webhooksOf(w)
	if len(list) != 1 || list[0].Name != "shop" || list[0].URL != "http://shop.vn/baoco" || list[0].Type != delivery.WebhookOut ||
		!slices.Equal(list[0].BankAccountIDs, []int64{bank.ID}) || !list[0].IsActive {
		t.Errorf("%+v", list)
	}
	for _, c := range [][]string{{"name", "", "webhook_url", "x", "type", "y"}, {"name", "shop"}} {
		a := b.Post("/webhooks/1/edit", c...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, `id="webhook_url-problem"`)
	}
	b.Post("/webhooks/1/edit", "name", "kho", "webhook_url", "https://shop.vn/new", "type", "ALL", "bank_account_id", fmt.Sprint(bank.ID),
		"headers", "X-Firewall: open sesame").Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Shows(t, "Saved.", "https://shop.vn/new", "kho", "Money in and out", "1234567")
	b.Get("/webhooks/1/edit").Hides(t, "open sesame")
	b.Get("/webhooks/1").Shows(t, "<code>X-Firewall</code>")
	b.Post("/webhooks/1/edit", "name", "kho", "webhook_url", "https://shop.vn/new", "type", "ALL", "bank_account_id", fmt.Sprint(bank.ID),
		"no_headers", "1").Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Hides(t, "X-Firewall")
	b.Get("/webhooks/01").WantStatus(t, http.StatusNotFound)
	b.Get("/webhooks/1/edit").Shows(t, `value="kho"`)
	b.Get("/webhooks").Shows(t, "shop.vn", "kho", "No transaction sent")
}

// The secret is on one page only, and what makes it counts once.
func TestWebhookSecretIsShownOnce(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	form := []string{"name", "shop", "webhook_url", "https://shop.vn/baoco", "type", "IN", "once", b.Get("/webhooks/new").Once(t)}
	a := b.Post("/webhooks", form...)
	first := secretOf(t, a)
	a.Shows(t, "BAOCO_SECRET="+first+" PORT=9000 python3 receiver.py")
	if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Location") != "" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("headers of the secret: %v", a.Header)
	}
	rotation := []string{"overlap_hours", "24", "once", b.Get("/webhooks/1/rotate").Once(t)}
	a = b.Post("/webhooks/1/rotate", rotation...)
	second := secretOf(t, a)
	a.Shows(t, "the old secret keeps signing")
	if first == second {
		t.Error("the secret was not rotated")
	}
	b.Get("/webhooks").Shows(t, "Rotating secret")
	overlap := webhooksOf(w)[0].OverlapTo

	silent := func(what string, a webtest.Answer) {
		t.Helper()
		if secretPattern.MatchString(html.UnescapeString(a.Body)) {
			t.Errorf("%s shows a secret", what)
		}
	}
	// The browser's reload.
	for _, again := range []struct {
		path string
		form []string
	}{{"/webhooks", form}, {"/webhooks/1/rotate", rotation}} {
		a := b.Post(again.path, again.form...)
		silent("the same form again", a)
		a.WantStatus(t, http.StatusOK)
		a.Shows(t, "already shown")
	}
	if list := webhooksOf(w); len(list) != 1 || !list[0].OverlapTo.Equal(overlap) {
		t.Errorf("a form counted twice: %+v", list)
	}
	for _, path := range []string{"/", "/webhooks", "/webhooks/new", "/webhooks/1", "/webhooks/1/edit", "/webhooks/1/rotate",
		"/webhooks/1/replay", "/webhooks/1/delete"} {
		a := b.Get(path)
		a.WantStatus(t, http.StatusOK)
		silent(path, a)
	}
	// Nor is it in the file, or what belongs to it.
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(w.Path + suffix)
		apptest.Must(t, err)
		if strings.Contains(string(data), first) || strings.Contains(string(data), second) {
			t.Errorf("%s holds a secret in clear", w.Path+suffix)
		}
	}

	a = b.Post("/webhooks/1/env", "secret", second)
	if a.Status != http.StatusOK || !strings.HasSuffix(a.Body, "\nBAOCO_SECRET="+second+"\n") ||
		!strings.Contains(a.Header.Get("Content-Disposition"), `attachment; filename="baoco-webhook-1.env"`) ||
		a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %v\n%s", a.Status, a.Header, a.Body)
	}
	for _, secret := range []string{"", "whsec_", "whsec_AAAA", strings.TrimPrefix(second, "whsec_"), second + "\nPATH=/tmp", "<script>"} {
		b.Post("/webhooks/1/env", "secret", secret).WantStatus(t, http.StatusUnprocessableEntity)
	}

	for _, hours := range []string{"", "-1", "169", "x", "1.5", "99999999999999999999"} {
		a := b.Submit("/webhooks/1/rotate", "overlap_hours", hours)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		silent("a refused rotation", a)
	}
	b.Get("/webhooks/1").Shows(t, "Activate new secret now")
	b.Post("/webhooks/1/activate").Goes(t, "/webhooks/1")
	b.Post("/webhooks/1/activate").WantStatus(t, http.StatusConflict)
	b.Get("/webhooks/1").Shows(t, "Kept by you")
	secretOf(t, b.Submit("/webhooks/1/rotate", "overlap_hours", "0"))
	if webhooksOf(w)[0].Rotating(time.Now()) {
		t.Error("without an overlap two secrets count")
	}
}

func TestWebhookTestSend(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	status := http.StatusOK
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(status)
		fmt.Fprint(rw, `<script>alert("answer")</script>`)
	}))
	defer shop.Close()
	hook, _ := w.Webhook(shop.URL+"/hook", delivery.WebhookAll)
	other, _ := w.Webhook(shop.URL, delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	b.Post("/webhooks/1/test").Goes(t, "/webhooks/1?tested=1")
	a := b.Get("/webhooks/1?tested=1")
	a.Shows(t, "Test succeeded", "200 ·", `<script>alert("answer")</script>`)
	if strings.Contains(a.Body, "<script>alert") {
		t.Error("an answer's body is a script")
	}
	status = http.StatusInternalServerError
	b.Post("/webhooks/1/test").Goes(t, "/webhooks/1?tested=2")
	b.Get("/webhooks/1?tested=2").Shows(t, "Test failed", "500 ·",
		delivery.Result{StatusCode: 500, Error: delivery.ErrorHTTPStatus}.Explanation().EN)
	b.Get("/webhooks").Shows(t, "No transaction sent", "no attempts") // tests aren't counted
	// An outcome is shown where it belongs only.
	for _, path := range []string{"/webhooks/1?tested=99", "/webhooks/1?tested=x", fmt.Sprintf("/webhooks/%d?tested=1", other.ID)} {
		if a := b.Get(path); a.Status != http.StatusOK || strings.Contains(a.Body, `id="outcome"`) {
			t.Errorf("%s: %d shows an outcome", path, a.Status)
		}
	}
	for range 2 {
		b.Post("/webhooks/1/test")
	}
	b.Get("/").Hides(t, "is not reaching your shop") // whoever sends a test sees its result
	b.Get("/webhooks/1").Shows(t, "Not reaching your shop", "3.")
	_, err := w.Services.Deliveries.ToggleWebhook(t.Context(), 1, other.ID, time.Now())
	apptest.Must(t, err)
	w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "DH1")
	awaitFailed(w, hook.ID, 1)
	b.Get("/").Shows(t, "Webhook “\u2068shop\u2069”: 1 transaction could not be delivered yet, next attempt at ", `href="/webhooks/1"`,
		`class="bad" href="/deliveries?status=0"`)
	w.Pay(1, "2", "DH2")
	w.Pay(1, "3", "DH3")
	awaitFailed(w, hook.ID, 3)
	b.Get("/").Shows(t, "is not reaching your shop: the last 6 attempts failed")
	_, err = w.Services.Deliveries.ToggleWebhook(t.Context(), 1, hook.ID, time.Now())
	apptest.Must(t, err)
	if a := b.Get("/"); strings.Contains(a.Body, "is not reaching") {
		t.Error("one that is switched off needs attention")
	}
}

func TestWebhookSwitchReplayDelete(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "1234567")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	w.Webhook(closed.URL, delivery.WebhookAll)
	for i := range 3 {
		_, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{
			Incoming: inbound.Incoming{EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: "1234567", Type: app.In, Amount: 1000},
		}, time.Now())
		apptest.Must(t, err)
	}
	awaitFailed(w, 1, 3)
	b := w.Browser().SignIn("lan")
	b.Post("/webhooks/1/toggle", "active", "0").Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Shows(t, "Webhook turned off", "Turn on")
	b.Post("/webhooks/1/toggle", "active", "0").Goes(t, "/webhooks/1") // twice is the same as once
	if webhooksOf(w)[0].IsActive {
		t.Error("switched off twice is on")
	}
	// As if all six attempts of two of them had failed.
	w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6 WHERE id < 3`)
	b.Get("/webhooks/1/replay").Shows(t, "2 to resend", "Turn it on first")
	b.Submit("/webhooks/1/replay").WantStatus(t, http.StatusConflict)
	b.Get("/webhooks/1/delete").Shows(t, "Waiting deliveries: 1. They will be cancelled")
	b.Post("/webhooks/1/toggle", "active", "1").Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Shows(t, "Waiting deliveries are sent as scheduled.")
	b.Get("/webhooks/1/replay?from=2026-01-01&to=2026-01-02").Shows(t, "0 to resend", "No failed deliveries")
	b.Get("/webhooks/1/replay?from=yesterday").WantStatus(t, http.StatusUnprocessableEntity)
	b.Submit("/webhooks/1/replay", "to", "soon").WantStatus(t, http.StatusUnprocessableEntity)
	b.Submit("/webhooks/1/replay", "from", "", "to", "").Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Shows(t, "being resent: 2.")
	b.Get("/webhooks/1/replay").Shows(t, "0 to resend")

	for _, name := range []string{"", "sho", "other"} {
		a := b.Post("/webhooks/1/delete", "word", name)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, "Nothing was changed")
	}
	if len(webhooksOf(w)) != 1 {
		t.Fatal("deleted under another name")
	}
	b.Post("/webhooks/1/delete", "word", " SHOP ").Goes(t, "/webhooks")
	b.Get("/webhooks").Shows(t, "Its history is kept", "Create your first webhook")
	b.Get("/webhooks/1").WantStatus(t, http.StatusNotFound)
}

// A webhook with deliveries that are not tried any more needs attention, until
// they are sent again.
func TestFailedDeliveriesNeedAttention(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "cashier", access.RoleCashier)
	w.Link("ACB", "1234567")
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(http.StatusBadGateway) }))
	defer shop.Close()
	hook, _ := w.Webhook(shop.URL, delivery.WebhookAll)
	_, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{
		Incoming: inbound.Incoming{EventID: "1", Gateway: "ACB", AccountNumber: "1234567", Type: app.In, Amount: 1000},
	}, time.Now())
	apptest.Must(t, err)
	awaitFailed(w, hook.ID, 1)
	b := w.Browser().SignIn("lan")
	const entry = "1 delivery failed in the last 24 hours"
	if a := b.Get("/"); strings.Contains(a.Body, entry) {
		t.Error("what is still tried needs attention")
	}
	w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL`)
	b.Get("/").Shows(t, entry, `href="/deliveries?status=0&from=`)
	if a := w.Browser().SignIn("cashier").Get("/"); strings.Contains(a.Body, "/webhooks") {
		t.Error("the cashier sees webhooks")
	}
	b.Submit("/webhooks/1/replay").Goes(t, "/webhooks/1")
	if a := b.Get("/"); strings.Contains(a.Body, entry) {
		t.Error("what is sent again needs attention")
	}
}

// Two tabs edit one webhook: the one that is saved later hears of the other, keeps
// what was typed, and may still be saved.
func TestTwoTabsEditOneWebhook(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	hook, _ := w.Webhook("https://shop.vn/", delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	version := func(a webtest.Answer, form string) string {
		t.Helper()
		m := regexp.MustCompile(`action="` + form +
			`"[^>]*>\s*<input type="hidden" name="version" value="([0-9a-f]{16})"`).FindStringSubmatch(a.Body)
		if m == nil {
			t.Fatalf("%d: the form has no version", a.Status)
		}
		return m[1]
	}
	const path = "/webhooks/1/edit"
	save := func(version string, pairs ...string) webtest.Answer {
		return b.Post(path, append([]string{"version", version, "webhook_url", "https://shop.vn/"}, pairs...)...)
	}
	first, second := version(b.Get(path), path), version(b.Get(path), path)
	save(first, "name", "Website A", "type", "ALL").Goes(t, "/webhooks/1")
	a := save(second, "name", hook.Name, "type", "IN")
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "changed elsewhere", "“\u2068Website A\u2069”", `<option value="IN" selected>`)
	if now := webhooksOf(w)[0]; now.Name != "Website A" || now.Type != delivery.WebhookAll {
		t.Errorf("%+v", now)
	}
	// A fault in between doesn't end it.
	again := save(version(a, path), "name", "", "type", "IN")
	again.WantStatus(t, http.StatusUnprocessableEntity)
	save(version(again, path), "name", "B", "type", "IN").Goes(t, "/webhooks/1")
	if now := webhooksOf(w)[0]; now.Name != "B" || now.Type != delivery.WebhookIn {
		t.Errorf("%+v", now)
	}

	w.Link("ACB", apptest.SomeAccount)
	shown := version(b.Get("/banks/1"), "/banks/1/look")
	b.Post("/banks/1/look", "version", shown, "nickname", "Quầy 1", "colour", "teal").Goes(t, "/banks/1")
	a = b.Post("/banks/1/look", "version", shown, "nickname", "Quầy 2", "colour", "")
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "“\u2068Quầy 1\u2069”, “\u2068teal\u2069”", `value="Quầy 2"`)
	b.Post("/banks/1/look", "version", version(a, "/banks/1/look"), "nickname", "Quầy 2", "colour", "").Goes(t, "/banks/1")

	w.User(1, "hoa", access.RoleCashier)
	shown = version(b.Get("/settings/users/2"), "/settings/users/2/role")
	b.Post("/settings/users/2/role", "version", shown, "role", "accountant").Goes(t, "/settings/users/2")
	b.Post("/settings/users/2/role", "version", shown, "role", "developer").Shows(t, "changed elsewhere", "“\u2068Accountant\u2069”")
}

// What a webhook is limited to stays when its form is saved, also where the number and the
// patterns that it names are gone.
func TestWebhookLimitsStay(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("BIDV", "1234567890")
	b := w.Browser().SignIn("lan")
	b.Post("/banks/1/receiving", "receiving_numbers", "96247CISI1 = Quầy 1").Goes(t, "/banks/1")
	fields := []string{"name", "till", "webhook_url", "https://shop.vn/till", "type", "IN", "receiving_number", "96247CISI1", "code_only", "1"}
	b.Submit("/webhooks", fields...).WantStatus(t, http.StatusOK)
	const path = "/webhooks/1/edit"
	b.Get(path).Shows(t, `<option value="96247CISI1" selected>96247CISI1 = Quầy 1</option>`, `name="code_only" value="1" checked`)
	w.Change(`UPDATE bank_accounts SET receiving_numbers = ''`)
	b.Get(path).Shows(t, `<option value="96247CISI1" selected>96247CISI1</option>`)
	version := regexp.MustCompile(`name="version" value="([0-9a-f]{16})"`).FindStringSubmatch(b.Get(path).Body)[1]
	b.Post(path, append([]string{"version", version}, fields...)...).Goes(t, "/webhooks/1")
	if hook := webhooksOf(w)[0]; hook.ReceivingNumber != "96247CISI1" || !hook.CodeOnly {
		t.Errorf("%+v", hook)
	}
	b.Post(path, "version", version, "name", "till", "webhook_url", "https://shop.vn/till", "type", "IN").Goes(t, "/webhooks/1")
	a := b.Post(path, append([]string{"version", version}, fields...)...)
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "changed elsewhere")
	if hook := webhooksOf(w)[0]; hook.ReceivingNumber != "" || hook.CodeOnly {
		t.Errorf("%+v", hook)
	}
}

var webhookActions = []action{
	{"GET", "/webhooks/%d"}, {"GET", "/webhooks/%d/edit"}, {"POST", "/webhooks/%d/edit"}, {"POST", "/webhooks/%d/toggle"},
	{"POST", "/webhooks/%d/test"},
	{"GET", "/webhooks/%d/rotate"}, {"POST", "/webhooks/%d/rotate"}, {"POST", "/webhooks/%d/activate"}, {"POST", "/webhooks/%d/env"},
	{"GET", "/webhooks/%d/replay"}, {"POST", "/webhooks/%d/replay"}, {"GET", "/webhooks/%d/delete"}, {"POST", "/webhooks/%d/delete"},
}

// Nobody but an owner of the account reaches a webhook, and nothing changes.
func TestWebhookTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "cashier", access.RoleCashier)
	second, err := w.Services.Ledger.CreateAccount(t.Context(), "second", time.Now())
	apptest.Must(t, err)
	w.User(second.ID, "stranger", access.RoleOwner)
	hook, secret := w.Webhook("https://shop.vn/secret-path", delivery.WebhookAll)
	form := []string{"name", "test", "webhook_url", "https://evil.example/", "type", "IN", "active", "0", "overlap_hours",
		"0", "secret", secret}
	before := webhooksOf(w)
	cashier, stranger, nobody := w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger"), w.Browser()
	ask := func(b *webtest.Browser, method, path string) webtest.Answer {
		if method == "GET" {
			return b.Get(path)
		}
		return b.Submit(path, form...)
	}
	paths := append(webhookActions, []action{{"GET", "/webhooks"}, {"POST", "/webhooks"}, {"GET", "/webhooks/new"}}...)
	for _, action := range paths {
		path := action.Path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, hook.ID)
			a := ask(stranger, action.Method, path)
			a.WantStatus(t, http.StatusNotFound)
			for _, id := range []string{"0", "x", "99", "-1"} {
				ask(stranger, action.Method, strings.Replace(action.Path, "%d", id, 1)).WantStatus(t, http.StatusNotFound)
			}
		}
		ask(cashier, action.Method, path).WantStatus(t, http.StatusForbidden)
		if a := ask(nobody, action.Method, path); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
			t.Errorf("%s %s: %d for nobody", action.Method, path, a.Status)
		}
	}
	if a := stranger.Get("/webhooks"); strings.Contains(a.Body, "secret-path") || strings.Contains(a.Body, "shop.vn/secret") {
		t.Error("another account's webhook is listed")
	}
	if after := webhooksOf(w); len(after) != 1 || !reflect.DeepEqual(after[0], before[0]) {
		t.Errorf("changed: %+v", after)
	}
	lan := w.Browser().SignIn("lan")
	lan.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	for _, action := range paths {
		if action.Method == "POST" {
			lan.Post(strings.Replace(action.Path, "%d", "1", 1), form...).WantStatus(t, http.StatusForbidden)
		}
	}
	if after := webhooksOf(w); len(after) != 1 || !reflect.DeepEqual(after[0], before[0]) {
		t.Errorf("changed by another site: %+v", after)
	}
}

func TestHostileWebhooksAreInert(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for i, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "שלום\u200dx",
		strings.Repeat("w", 100), `{{.Data}}`} {
		raw := `https://shop.vn/a'"><script>alert(2)</script>?>&x=` + "`${process.exit()}`"
		a := b.Submit("/webhooks", "name", name, "webhook_url",
			strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E", "`", "%60").Replace(raw), "type", "IN")
		secretOf(t, a)
		pages := []webtest.Answer{a, b.Get("/webhooks")}
		for _, action := range webhookActions {
			if action.Method == "GET" {
				pages = append(pages, b.Get(fmt.Sprintf(action.Path, i+1)))
			}
		}
		for _, a := range pages {
			a.WantStatus(t, http.StatusOK)
			for _, bad := range []string{"<script>alert", "<img src=x", "ZgotmplZ"} {
				if strings.Contains(a.Body, bad) {
					t.Errorf("%q: a page holds %s", name, bad)
				}
			}
		}
		b.Post(fmt.Sprintf("/webhooks/%d/delete", i+1), "word", strings.ReplaceAll(name, "\u200d", "")).Goes(t, "/webhooks")
	}
}

// awaitFailed waits until that many attempts of a webhook have failed.
func awaitFailed(w *webtest.World, webhookID, n int64) {
	w.T.Helper()
	w.Until(fmt.Sprintf("webhook %d fails %d times", webhookID, n), func() bool {
		h, err := w.Services.Deliveries.WebhookHealth(context.Background(), 1, webhookID, time.Now())
		apptest.Must(w.T, err)
		return h.Sum().Failed == n
	})
}

// A webhook of a Google Sheet: the script is shown before there is a webhook, its
// token is that of the webhook which is then made, and a form that is refused keeps
// it.
func TestSheetForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/webhooks").Shows(t, `href="/webhooks/new?kind=sheet"`)
	page := b.Get("/webhooks/new?kind=sheet")
	secret := regexp.MustCompile(`name="secret" value="(whsec_[^"]+)"`).FindStringSubmatch(page.Body)
	if secret == nil {
		t.Fatal(page.Body)
	}
	clear := strings.ReplaceAll(secret[1], "&#43;", "+")
	token := appsscript.Token(clear)
	page.Shows(t, token, "appendRow")
	form := []string{"once", webtest.FormKey(), "kind", "sheet", "secret", clear, "name", "Sổ", "type", "IN", "webhook_url"}
	for _, bad := range []string{"https://shop.vn/x", "https://script.google.com/macros/s/AKfycbx0123456789abcdefghij/dev",
		"http://script.google.com/macros/s/AKfycbx0123456789abcdefghij/exec",
		"https://script.google.com/macros/s/AKfycbx0123456789abcdefghij/exec?x"} {
		a := b.Post("/webhooks", append(form, bad)...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, token, "must be the web app URL that Google shows")
	}
	const url = "https://script.google.com/macros/s/AKfycbx0123456789abcdefghij/exec"
	b.Post("/webhooks", "once", webtest.FormKey(), "kind", "sheet", "secret", "whsec_x", "name", "Sổ", "type", "IN", "webhook_url",
		url).WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/webhooks", append(form, url)...).Shows(t, token)
	hook, err := w.Services.Deliveries.Webhook(t.Context(), 1, 1)
	apptest.Must(t, err)
	secrets, err := w.Store.WebhookSecrets(t.Context(), 1)
	apptest.Must(t, err)
	if hook.Kind != delivery.WebhookSheet || secrets[1].Current != clear {
		t.Errorf("%+v", hook)
	}
	page = b.Get("/webhooks/1")
	page.Shows(t, "rotate the secret to see it again")
	hides(t, page, token)
	b.Post("/webhooks/1/edit", "name", "Sổ", "type", "IN", "webhook_url", "https://shop.vn/x").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/webhooks/1/rotate", "once", webtest.FormKey(), "overlap_hours", "24").Shows(t, "New version", "const TOKEN")
}
