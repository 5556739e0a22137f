package dashboard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/payment"
	"baoco/web/webtest"
)

var guideStep = regexp.MustCompile(`<li class="card (\w+)" id="step-(\w+)">`)

// guideStates are the steps on the guide, those that are done left out.
func guideStates(t *testing.T, b *webtest.Browser) string {
	t.Helper()
	var list []string
	steps := guideStep.FindAllStringSubmatch(b.Get("/guide").Body, -1)
	if len(steps) == 0 {
		t.Fatal("there are no steps")
	}
	for _, step := range steps {
		if step[1] != "done" {
			list = append(list, step[2]+":"+step[1])
		}
	}
	return strings.Join(list, " ")
}

// An owner goes from the first visit to the first payment on the guide's own
// forms. Each leads back to it, and a step is done by one success.
func TestGuide(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			rw.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer shop.Close()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	check := func(want string) {
		t.Helper()
		if got := guideStates(t, b); got != want {
			t.Errorf("steps left: %s; want %s", got, want)
		}
	}
	check("bank:open source:later codes:later webhook:later alerts:later backup:later counter:later")

	b.Get("/guide").Hides(t, `name="pending"`, `name="notify"`)
	b.Get("/banks/new").Shows(t, `name="pending"`, `name="notify"`)
	refused := b.Post("/banks", "guide", "1", "bank", "ACB", "account_number", "1?", "account_name", "NGUYEN VAN A")
	refused.WantStatus(t, http.StatusUnprocessableEntity)
	refused.Shows(t, `id="step-bank"`, `id="account_number-problem"`, `value="NGUYEN VAN A"`)
	b.Post("/banks", "guide", "1", "bank", "ACB", "account_number", "19354957", "account_name", "NGUYEN VAN A").Goes(t, "/guide")
	check("source:open codes:later webhook:later alerts:later backup:later counter:later")

	b.Get("/guide").Shows(t, `provider=native#step-source"`)
	b.Get("/guide?step=source&provider=native").Shows(t, `action="/inbound/sources"`, `name="guide" value="1"`)
	b.Submit("/inbound/sources", "guide", "1", "provider", "sepay", "name", "SePay").Shows(t, `id="step-source"`, `id="auth-problem"`)
	added := b.Submit("/inbound/sources", "guide", "1", "provider", "native", "name", "till")
	_, secret := urlAndSecret(t, added, w.URL)
	added.Shows(t, `action="/guide"`)
	waiting := b.Get("/guide")
	waiting.Shows(t, "Waiting for the first call", sourcesOf(w)[0].URLPath(), "Send each call with the header Authorization: Bearer")
	waiting.Hides(t, secret, "X-Webhook-Signature")
	check("source:waiting codes:open webhook:later alerts:later backup:later counter:later")
	b.Get("/guide").Shows(t, `action="/settings/codes"`, "Use DH + 6 digits")
	b.Post("/settings/codes", usualCodes("/guide")...).Goes(t, "/guide")
	check("source:waiting webhook:open alerts:later backup:later counter:later")
	w.Change(`UPDATE sources SET polled_at = 1`) // a list that was read is a call
	check("webhook:open alerts:later backup:later counter:later")
	w.Change(`UPDATE sources SET polled_at = NULL`)

	b.Submit("/webhooks", "guide", "1", "name", "shop", "webhook_url", "ftp://x", "type", "IN").Shows(t, `id="step-webhook"`,
		`id="webhook_url-problem"`)
	made := b.Submit("/webhooks", "guide", "1", "name", "shop", "webhook_url", shop.URL, "type", "ALL")
	made.Shows(t, `action="/webhooks/1/test"`, `name="guide" value="1"`, secretShown(t, made))
	b.Post("/webhooks/1/test", "guide", "1").Goes(t, "/guide?step=webhook#step-webhook")
	b.Get("/guide").Shows(t, "500", "Send a test")
	check("source:waiting webhook:open alerts:later backup:later counter:later") // an attempt isn't a success
	broken.Store(false)
	b.Post("/webhooks/1/test", "guide", "1").Goes(t, "/guide?step=webhook#step-webhook")
	check("source:waiting alerts:open backup:later counter:later")
	w.Record("by hand")
	b.Get("/guide").Shows(t, "Waiting for the first payment") // what a source brings

	w.Came(0, sourcesOf(w)[0], apptest.Transfer{ID: "1", Number: "1", Account: "19354957", Amount: 150_000})
	check("alerts:open backup:later counter:later")
	b.Get("/guide").Shows(t, "150,000", `href="/transactions/2"`)
	w.Change(`UPDATE sources SET last_transaction_at = NULL`) // as of what waited for its bank account
	b.Get("/guide").Hides(t, "Waiting for the first payment")
	w.Change(`UPDATE sources SET last_transaction_at = 1`)
	w.Record("by hand, later")
	b.Get("/guide").Hides(t, "Waiting for the first payment")

	link := b.Submit("/settings/counters", "guide", "1", "name", "Counter 1")
	link.Shows(t, `href="/guide"`, "/counter/")
	check("alerts:open backup:later")
	b.Post("/settings/alerts/telegram", "guide", "1", "token", "x", "chat", "a").Shows(t, `id="step-alerts"`, `id="chat-problem"`)
	_, err := w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: botToken, Chat: "5"}}, time.Now())
	apptest.Must(t, err)
	w.Change(`UPDATE alert_channels SET sent_ms = 1, failures = 1, retry_ms = 4102444800000`) // it got through once, and fails now
	check("alerts:open backup:later")
	w.Change(`UPDATE alert_channels SET failures = 0`)
	w.Change(`UPDATE counter_links SET revoked_at = 1`)
	check("backup:open counter:later")
	b.Get("/guide?step=backup").Shows(t, "Back up every day")

	// A form that lay open for too long leads back too.
	b.Post("/webhooks", "guide", "1", "once", "1-x", "name", "late").Goes(t, "/guide")
}

// Until there is money, the overview shows the steps in place of empty figures, to
// owners, until they are hidden.
func TestGuideOnOverview(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thungan", access.RoleCashier)
	b, viewer := w.Browser().SignIn("lan"), w.Browser().SignIn("thungan")
	steps, figures := `<ol class="steps">`, `id="today"`
	first := b.Get("/")
	first.Shows(t, steps)
	first.Hides(t, figures)
	viewer.Get("/").Hides(t, steps, "/guide")
	viewer.Get("/guide").WantStatus(t, http.StatusForbidden)
	viewer.Post("/guide", "skip", "overview").WantStatus(t, http.StatusForbidden)
	w.User(1, "minh", access.RoleDeveloper) // no form leads others to the guide
	w.Browser().SignIn("minh").Submit("/webhooks", "guide", "1", "name", "", "webhook_url", "x", "type", "IN").Hides(t, "step-webhook")

	b.Post("/guide", "skip", "overview").Goes(t, "/")
	hidden := w.Browser().SignIn("lan").Get("/") // in another browser too
	hidden.Hides(t, steps)
	hidden.Shows(t, figures)
	b.Get("/settings").Shows(t, `href="/guide"`)
	b.Get("/guide").Shows(t, `id="step-bank"`, `name="undo" value="overview"`)
	b.Post("/guide", "undo", "overview").Goes(t, "/")
	b.Get("/").Shows(t, steps)

	w.Link("ACB", "19354957")
	source := w.Native()
	w.Came(0, source, apptest.Transfer{ID: "1", Number: "1", Account: "19354957", Amount: 1000})
	both := b.Get("/") // with money, the figures come back
	both.Shows(t, steps, figures)
	other := w.SecondAccount()
	w.User(other, "mai", access.RoleOwner)
	w.Browser().SignIn("mai").Post("/guide", "skip", "overview").Goes(t, "/")
	b.Get("/").Shows(t, steps) // that was another account
}

// Every step but those without which no money is received can be skipped, in every
// browser of the owners, and taken up again. Then everything is set up.
func TestGuideSkipped(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	w.Came(0, w.Native(), apptest.Transfer{ID: "1", Number: "1", Account: "19354957", Amount: 1000})
	b := w.Browser().SignIn("lan")
	const allDone = "Everything is set up."
	for _, step := range []string{"codes", "webhook", "alerts", "backup", "counter"} {
		page := b.Get("/guide")
		page.Shows(t, `id="step-`+step+`"`, `name="skip" value="`+step+`"`)
		page.Hides(t, allDone)
		b.Post("/guide", "skip", step).Goes(t, "/guide")
	}
	b.Get("/guide").Shows(t, allDone)
	b.Get("/").Hides(t, `<ol class="steps">`)
	b.Get("/settings/audit").Shows(t, "skipped steps of the set-up", "code patterns, webhook, alert channels, backup, counter screen")

	again := w.Browser().SignIn("lan") // in another browser too
	again.Post("/guide", "undo", "webhook").Goes(t, "/guide?step=webhook#step-webhook")
	if got := guideStates(t, again); got != "codes:skipped webhook:open alerts:skipped backup:skipped counter:skipped" {
		t.Errorf("steps left: %s", got)
	}
	again.Get("/").Shows(t, `<ol class="steps">`)
	w.CodePattern("DH")
	again.Get("/guide").Hides(t, `value="codes"`) // it is done now
	for _, step := range []string{"bank", "source", "user", "x"} {
		b.Post("/guide", "skip", step).WantStatus(t, http.StatusNotFound)
	}
}

// usualCodes is the form of the one button that makes codes of DH and six digits, on a page.
func usualCodes(page string) []string {
	return []string{"back", page, "prefix", "DH", "min_length", "6", "alphabet", "digits"}
}

// Where there are no codes yet, what needs them offers an owner to make them, and says to
// a cashier who can.
func TestUsualCodes(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", "19354957")
	owner, cashier := w.Browser().SignIn("lan"), w.Browser().SignIn("thu")
	const button = "Use DH + 6 digits"
	asked := cashier.Get("/till")
	asked.Shows(t, "Ask the owner")
	asked.Hides(t, button)
	for _, page := range []string{"/till", "/payments/new"} {
		shown := owner.Get(page)
		shown.Shows(t, button, `name="back" value="`+page+`"`)
		shown.Hides(t, `name="amount"`)
	}
	cashier.Post("/settings/codes", usualCodes("/till")...).WantStatus(t, http.StatusForbidden)
	owner.Post("/settings/codes", usualCodes("//evil.vn")...).Goes(t, "/")
	patterns, err := w.Services.Ledger.CodePatterns(t.Context(), 1)
	apptest.Must(t, err)
	if len(patterns) != 1 || patterns[0].Prefix != "DH" || patterns[0].Least != 6 || patterns[0].Most != 6 {
		t.Errorf("codes %+v", patterns)
	}
	cashier.Get("/till").Shows(t, `name="amount"`)
	owner.Get("/payments/new").Shows(t, `name="amount"`)
}

// A test payment reaches the counter screens of its account and the active webhooks,
// and is no transaction.
func TestTestPayment(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 9)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	defer shop.Close()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	w.Webhook(shop.URL, delivery.WebhookIn)
	off, _ := w.Webhook(shop.URL, delivery.WebhookIn)
	if _, err := w.Services.Deliveries.ToggleWebhook(t.Context(), 1, off.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	_, token, err := w.Services.Payments.CreateCounterLink(t.Context(), 1, payment.CounterLinkCreate{Name: "Counter 1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	counter := w.Browser().Listen("/live/counter/" + token + "?since=0")
	counter.Next("alive")
	b := w.Browser().SignIn("lan")
	b.Post("/guide/test").Goes(t, "/guide#test")
	counter.Next("test")
	if body := apptest.Receive(t, "the shop gets the test", bodies); !strings.Contains(body, `"test":true`) ||
		!strings.Contains(body, `"transferAmount":0`) {
		t.Errorf("the shop got %s", body)
	}
	b.Get("/guide").Shows(t, "webhooks: 1")
	b.Post("/guide/test").Goes(t, "/guide#test") // at once: refused
	b.Get("/guide").Shows(t, "Wait a few seconds")
	w.WantTransactions(0)
	if len(bodies) != 0 {
		t.Error("the shop got another one")
	}
}

// A person's own name makes the name for signing in; a derived name that is taken gets a
// number, and a typed one is refused.
func TestUserNames(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for typed, name := range map[string]string{"Chị Hoa": "chihoa", "Đặng Ý": "dangy"} {
		b.Submit("/settings/users", "name", typed, "role", "cashier", "password", "mat khau rat dai").Goes(t, "/settings")
		b.Submit("/settings/users", "name", typed, "role", "cashier", "password", "mat khau rat dai").Goes(t, "/settings")
		b.Get("/settings").Shows(t, name+"<", name+"2<")
	}
	b.Submit("/settings/users", "name", " CHIHOA ", "role", "cashier").WantStatus(t, http.StatusConflict)
	b.Submit("/settings/users", "name", "漢字", "role", "cashier").WantStatus(t, http.StatusUnprocessableEntity)
	w.Browser().Get("/login").Shows(t, "Ask the owner of the shop")
}

// The banks that most people have come first, and a bank that changed its name is listed once.
func TestBankList(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	page := w.Browser().SignIn("lan").Get("/banks/new")
	page.Shows(t, `<optgroup label="Most used"><option value="VCB">`, "MBV (OceanBank)", "VikkiBank (DongABank)", "LPBank (LienVietPostBank)",
		"CBBank (VCBNeo)")
	page.Hides(t, `value="OCEANBANK"`, `value="DONGABANK"`, `value="LIENVIETPOST_BANK"`)
	for _, code := range []string{"VCB", "MBB", "VBA", "LPB"} {
		if n := strings.Count(page.Body, `<option value="`+code+`"`); n != 1 {
			t.Errorf("%s is listed %d times", code, n)
		}
	}
}
