package dashboard_test

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/web"
	"baoco/web/dashboard"
	"baoco/web/webtest"

	"github.com/xuri/excelize/v2"
)

// What is done on a page has one line that says who did it, from where and what was
// before. It holds no secret, and what strangers send has none.
func TestAuditOfPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	nobody := w.Browser()
	for _, name := range []string{"lan", "lan", "nobody-has-this-name"} {
		nobody.Post("/login", "name", name, "password", "a wrong password")
	}
	b := w.Browser().SignIn("lan")
	b.Post("/webhooks", "name", "shop", "webhook_url", "https://shop.vn/old?token=hidden-1", "type", "IN", "once",
		webtest.FormKey()).WantStatus(t, http.StatusOK)
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/new?token=hidden-2", "type", "IN").Goes(t, "/webhooks/1")
	// nothing changes
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/new?token=hidden-2", "type", "IN").Goes(t, "/webhooks/1")
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "ftp://shop.vn", "type", "IN").WantStatus(t, http.StatusUnprocessableEntity)
	// only what isn't shown
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/new?token=hidden-3&to=elsewhere", "type",
		"IN").Goes(t, "/webhooks/1")
	b.Post("/webhooks/1/toggle").Goes(t, "/webhooks/1")

	lines, err := w.Services.Ledger.AuditLines(t.Context(), 1, app.AuditFilter{Way: app.WayDashboard}, 100)
	apptest.Must(t, err)
	want := []app.AuditLine{ // newest first
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookChange,
			AuditDetail: app.AuditDetail{Name: "shop", Changes: []app.AuditChange{{Field: "is_active", From: "true", To: "false"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookChange,
			AuditDetail: app.AuditDetail{Name: "shop",
				Changes: []app.AuditChange{{Field: "url", From: "https://shop.vn/new?…", To: "https://shop.vn/new?…"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookChange,
			AuditDetail: app.AuditDetail{Name: "shop",
				Changes: []app.AuditChange{{Field: "url", From: "https://shop.vn/old?…", To: "https://shop.vn/new?…"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookCreate,
			AuditDetail: app.AuditDetail{Name: "shop", Changes: []app.AuditChange{{Field: "url", To: "https://shop.vn/old?…"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedUserSignIn, AuditDetail: app.AuditDetail{Name: "lan"}},
		{Deed: app.DeedUserSignInRefused, AuditDetail: app.AuditDetail{Name: "lan", Count: 2}},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	for i, l := range lines {
		got, wanted := asJSON(t, l.AuditDetail), asJSON(t, want[i].AuditDetail)
		if l.Deed != want[i].Deed || l.Actor.Name != want[i].Actor.Name || got != wanted || l.NounID != 1 {
			t.Errorf("line %d: %s by %q of %d: %s, want %s by %q: %s", i, l.Deed, l.Actor.Name, l.NounID, got, want[i].Deed,
				want[i].Actor.Name, wanted)
		}
		if l.Actor.Address != "127.0.0.1" || l.Actor.At.IsZero() || (l.Actor.ID == 1) != (l.Actor.Name == "lan") {
			t.Errorf("line %d: %+v", i, l.Actor)
		}
	}
	for _, secret := range []string{"hidden-", "whsec_", "password\":"} {
		if text := asJSON(t, lines); strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	apptest.Must(t, err)
	return string(text)
}

// The page shows lines as sentences in both languages, newest first, by days, and
// leads to what they are about while it is there.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleDeveloper)
	lan, hoa := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	hook, _ := w.Webhook("https://shop.vn/a", delivery.WebhookIn)
	hoa.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/b", "type", "IN").Goes(t, "/webhooks/1")
	lan.Post("/settings/name", "shop_name", "Hoa <b>Sen</b>", "version", "").WantStatus(t, http.StatusSeeOther)

	a := lan.Get("/settings/audit")
	a.Shows(t, "<h3>Today</h3>", `<a href="/webhooks/1"><bdi>`, "changed the address of webhook", "https://shop.vn/a", "https://shop.vn/b",
		"Hoa <b>Sen</b>", "127.0.0.1")
	a.Hides(t, "<b>Sen")
	if at := strings.Index(a.Body, "changed the address"); at < strings.Index(a.Body, "changed the name of account") ||
		at > strings.Index(a.Body, "signed in") {
		t.Errorf("not newest first:\n%s", a.Body)
	}
	hoa.Get("/webhooks/1").Hides(t, "What was changed here")
	lan.Get("/webhooks/1").Shows(t, "/settings/audit?noun=webhook&id=1", "What was changed here")
	bank := w.Link("ACB", "19354957")
	transaction := w.Record("FT1")
	src, err := w.Services.Inbound.AddSource(t.Context(), 1, inbound.SourceAdd{Provider: "native", Name: "q"}, time.Now())
	apptest.Must(t, err)
	w.APIKey(access.ScopeFull)
	counterLink(w, 1, payment.CounterLinkCreate{})
	for path, about := range map[string]string{
		"/settings/users/2": "user&id=2", "/keys": "api_key&id=1", "/settings": "counter_link&id=1",
		fmt.Sprint("/banks/", bank.ID):               fmt.Sprint("bank_account&id=", bank.ID),
		fmt.Sprint("/inbound/sources/", src.ID):      fmt.Sprint("source&id=", src.ID),
		fmt.Sprint("/transactions/", transaction.ID): fmt.Sprint("transaction&id=", transaction.ID),
	} {
		lan.Get(path).Shows(t, `href="/settings/audit?noun=`+about+`"`)
	}
	lan.Get("/settings/audit?noun=webhook&id=1&who=&from=").Goes(t, "/settings/audit?id=1&noun=webhook")
	lan.Get("/settings/audit?id=1").Goes(t, "/settings/audit")
	a = lan.Get("/settings/audit?noun=webhook&id=1")
	a.Shows(t, "changed the address of webhook", "#1", `href="/settings/audit?noun=webhook"`,
		"/settings/audit/export?format=xlsx&id=1&noun=webhook")
	a.Hides(t, "signed in</bdi>", `href="/settings/audit?id=1"`)
	lan.Get("/settings/audit?who=hoa").Hides(t, "changed the name of account")
	a = lan.Get("/settings/audit?deed=user.sign_in&way=dashboard")
	a.Shows(t, "signed in</bdi>")
	a.Hides(t, "shop.vn")
	lan.Get("/settings/audit?who=nobody").Shows(t, "No line here matches.")
	for _, wrong := range []string{"way=kite", "deed=kite", "noun=kite", "noun=webhook&id=x", "from=kite", "from=2026-02-02&to=2026-01-01"} {
		lan.Get("/settings/audit?"+wrong).WantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.Post("/look", "lang", "vi").WantStatus(t, http.StatusSeeOther)
	lan.Get("/settings/audit").Shows(t, "đã đổi địa chỉ của webhook", "Hôm nay", "Trang quản lý")
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(t.Context(), 1, hook.ID, time.Now()))
	a = lan.Get("/settings/audit")
	a.Shows(t, "đã đổi địa chỉ của webhook")
	a.Hides(t, `href="/webhooks/1"`)
}

// A line leads to what it is about while that is there, and to the list of what has no
// page of its own.
func TestAuditLinks(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	lan := w.Browser().SignIn("lan")
	own := []string{
		"/settings/users/1", "/inbound/sources/1", "/banks/1", "/webhooks/1", "/streams/1", "/transactions/1", "/inbound/events/1",
		"/deliveries/1", "/payments/1", "/shifts/1",
	}
	lists := []string{
		"/transactions", "/deliveries", "/payments", "/transactions/import", "/settings/codes", "/keys",
		"/settings#counters", "/settings",
		"/settings/alerts", "/system",
	}
	w.Link("ACB", apptest.SomeAccount)
	w.Native()
	w.Webhook("https://shop.vn/a", delivery.WebhookIn)
	w.Stream(stream.Create{})
	w.CodePattern("DH")
	w.PaymentRequest(payment.RequestCreate{Amount: 5000, BankAccountID: 1, CashierID: 1})
	w.Came(0, sourcesOf(w)[0], apptest.Transfer{ID: "1", Number: "1", Account: apptest.SomeAccount, Amount: 1000})
	ctx := apptest.Acting(t.Context())
	note := func(deed app.Deed, id int64) {
		t.Helper()
		apptest.Must(t, w.Services.Ledger.Audit(ctx, 1, deed, id, app.AuditDetail{Count: 1}))
	}
	for _, deed := range []app.Deed{
		app.DeedUserRole, app.DeedSourceChange, app.DeedBankAccountChange, app.DeedWebhookChange, app.DeedStreamChange, app.DeedTransactionNote,
		app.DeedInboundRetry,
		app.DeedDeliverySendNow, app.DeedPaymentCancel, app.DeedImportUndo, app.DeedShiftClose, app.DeedCodePatternCreate, app.DeedAPIKeyCreate,
		app.DeedCounterLinkCreate, app.DeedAccountChange, app.DeedAlertSet,
	} {
		note(deed, 1)
	}
	for _, deed := range []app.Deed{app.DeedTransactionExport, app.DeedDeliveryResend, app.DeedPaymentCreate, app.DeedAlertsChange,
		app.DeedDatabaseBackup} {
		note(deed, 0)
	}
	log := lan.Get("/settings/audit")
	for _, page := range slices.Concat(own, lists) {
		log.Shows(t, `<a href="`+page+`"><bdi>`)
		lan.Get(strings.TrimSuffix(page, "#counters")).WantStatus(t, http.StatusOK)
	}

	for _, gone := range []string{
		`UPDATE sources SET removed_at = 1`, `UPDATE bank_accounts SET unlinked_at = 1`, `UPDATE webhooks SET deleted_at = 1`,
		`UPDATE streams SET deleted_at = 1`,
	} {
		w.Change(gone)
	}
	for _, deed := range []app.Deed{
		app.DeedUserRemove, app.DeedTransactionNote, app.DeedInboundRetry, app.DeedDeliverySendNow, app.DeedPaymentCancel,
	} {
		note(deed, 99)
	}
	log = lan.Get("/settings/audit")
	for _, page := range []string{"/inbound/sources/1", "/banks/1", "/webhooks/1", "/streams/1", "/settings/users/99", "/transactions/99",
		"/inbound/events/99", "/deliveries/99", "/payments/99"} {
		log.Hides(t, `href="`+page+`"`)
	}
	log.Shows(t, `href="/settings/users/1"`, `href="/payments/1"`)
}

// Pages follow each other without a gap, and the export has the lines of the filter in
// each format.
func TestAuditPagesAndExport(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	say := app.ActingAs(t.Context(), app.Actor{Way: app.WayCommand, Name: "=root", At: time.Now()})
	for i := range 120 {
		apptest.Must(t, w.Services.Ledger.Audit(say, 1, app.DeedWebhookTest, int64(1000+i), app.AuditNamed(fmt.Sprint("kho-", i, "."))))
	}
	line, path, seen := regexp.MustCompile(`kho-(\d+)\.`), "/settings/audit?way=command_line", 119
	older := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for pages := 1; ; pages++ {
		body := b.Get(path).Body
		for _, m := range line.FindAllStringSubmatch(body, -1) {
			if m[1] != fmt.Sprint(seen) {
				t.Fatalf("page %d: line %s, want %d", pages, m[1], seen)
			}
			seen--
		}
		next := older.FindStringSubmatch(body)
		if (next == nil) != (pages == 3) {
			t.Fatalf("page %d: %v", pages, next)
		}
		if next == nil {
			break
		}
		path = html.UnescapeString(next[1])
	}
	if seen != -1 {
		t.Errorf("%d lines are on no page", seen+1)
	}
	for format, comma := range map[string]rune{"csv": ',', "csv-semicolon": ';'} {
		a := b.Get("/settings/audit/export?way=command_line&format=" + format)
		file, marked := strings.CutPrefix(a.Body, "\uFEFF")
		r := csv.NewReader(strings.NewReader(file))
		r.Comma = comma
		rows, err := r.ReadAll()
		apptest.Must(t, err)
		if !marked || len(rows) != 121 || rows[0][5] != "What was done" || rows[1][2] != "'=root" || rows[1][3] != "Command line" ||
			rows[1][4] != "this server" || rows[1][5] != "'=root sent a test to webhook kho-119." ||
			rows[120][5] != "'=root sent a test to webhook kho-0." {
			t.Errorf("%v, %d rows: %q", marked, len(rows), rows[:min(len(rows), 2)])
		}
		if name := a.Header.Get("Content-Disposition"); !strings.Contains(name, `"baoco-audit-`) {
			t.Error(name)
		}
	}
	a := b.Get("/settings/audit/export?format=xlsx&noun=webhook&id=1001")
	f, err := excelize.OpenReader(strings.NewReader(a.Body))
	apptest.Must(t, err)
	rows, err := f.GetRows(f.GetSheetName(0))
	apptest.Must(t, err)
	if len(rows) != 2 || rows[1][5] != "=root sent a test to webhook kho-1." || rows[1][3] != "Command line" {
		t.Errorf("%q", rows)
	}
	b.Get("/settings/audit/export?format=kite").WantStatus(t, http.StatusUnprocessableEntity)
	b.Get("/settings/audit?deed=audit_log.export").Shows(t, "exported the audit log")
}

// notDeeds are the actions without a line of their own, and why.
var notDeeds = map[string]string{
	"POST /logout":                         "it ends the own session only",
	"POST /look":                           "a cookie of the browser",
	"POST /till":                           "it is counted in the line of POST /payments",
	"POST /till/{id}/ask":                  "what was asked says who asked",
	"POST /guide":                          "which page is shown first",
	"POST /tools/signature":                "it calculates",
	"POST /settings/alerts/telegram/chats": "it asks Telegram",
	"POST /settings/phones/{id}":           "when a phone of one's own rings",
	"POST /settings/phones/{id}/test":      "the phone of whoever asks rings",
	"POST /webhooks/{id}/env":              "it writes a file for the browser, of a secret that the browser has",
	"POST /streams/{id}/env":               "it writes a file for the browser, of a secret that the browser has",
	"POST /inbound/sources/{id}/catch-up":  "what the provider has is recorded as if it had called",
}

// doors does deeds, each through its own door, and looks at what the audit log has of
// them.
type doors struct {
	t     *testing.T
	w     *webtest.World
	done  map[string]bool // by route
	actor app.Actor
}

// lines are those of people: the server makes its backup when that is due.
func (d *doors) lines() []app.AuditLine {
	d.t.Helper()
	list, err := d.w.Services.Ledger.AuditLines(d.t.Context(), 1, app.AuditFilter{}, 1000)
	apptest.Must(d.t, err)
	return slices.DeleteFunc(list, func(l app.AuditLine) bool { return l.Actor.Way == app.WayServer })
}

// through does a deed and wants one line of it.
func (d *doors) through(route string, deed app.Deed, noun int64, do func() webtest.Answer) (a webtest.Answer) {
	d.t.Helper()
	d.done[route] = true
	before, began := d.lines(), time.Now()
	a = do()
	apptest.Must(d.t, d.w.Store.Probe(d.t.Context())) // what nobody waited for is written
	now := d.lines()
	added := now[:len(now)-len(before)]
	if len(added) != 1 {
		d.t.Errorf("%s: %d lines, %d %s: %+v\n%s", route, len(added), a.Status, a.Header.Get("Location"), added, a.Body)
		return a
	}
	l, want := added[0], d.actor
	want.At = l.Actor.At
	if at := l.Actor.At; l.Actor != want || at.Before(began.Add(-time.Millisecond)) || at.After(time.Now()) ||
		l.Deed != deed || l.NounID != noun {
		d.t.Errorf("%s: %+v, want %s of %d by %+v", route, l, deed, noun, want)
	}
	return a
}

// Whatever is done on a page has one line: who did it, by which way, from which
// address behind a trusted proxy, when, and to what.
func TestDeedsOfPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	d := &doors{t, w, map[string]bool{}, app.Actor{Way: app.WayDashboard, Address: "198.51.100.7"}}
	proxied := w.Serve(web.Config{Version: "test", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	browser := func() *webtest.Browser {
		b := w.Browser()
		b.Base = strings.Replace(proxied.Base, "127.0.0.1", "localhost", 1) // where there are passkeys
		b.Header.Set("X-Forwarded-For", "198.51.100.7")
		return b
	}
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter,
		r *http.Request) {
		rw.WriteHeader(http.StatusInternalServerError)
	}))
	defer shop.Close()
	ok, body := http.StatusOK, `{"ok":true}`
	api, _ := telegram(t, &ok, &body)
	const password = apptest.SomePassword
	post := func(b *webtest.Browser, path string, form ...string) func() webtest.Answer {
		return func() webtest.Answer { return b.Submit(path, form...) }
	}

	token, err := w.Services.Access.OpenSetUp(t.Context(), time.Now())
	apptest.Must(t, err)
	b := browser()
	d.actor.ID, d.actor.Name = 1, "lan"
	b.Submit("/setup/"+token, "name", "lan", "password", password, "password_again", password)
	d.done["POST /setup/{token}"] = true // which also signs in
	if list := d.lines(); len(list) != 2 || list[0].Deed != app.DeedUserSignIn || list[1].Deed != app.DeedUserCreate ||
		list[1].Actor != list[0].Actor || list[1].Actor.Address != "198.51.100.7" || list[1].Actor.Name != "lan" || list[1].NounID != 1 {
		t.Errorf("%+v", list)
	}
	b = browser()
	nobody := *d
	nobody.actor.ID, nobody.actor.Name = 0, ""
	nobody.through("POST /login", app.DeedUserSignInRefused, 1, post(b, "/login", "name", "lan", "password", "a wrong password"))
	d.through("POST /login", app.DeedUserSignIn, 1, post(b, "/login", "name", "lan", "password", password))

	// Money.
	d.through("POST /banks", app.DeedBankAccountLink, 1,
		post(b, "/banks", "bank", "ACB", "account_number", apptest.SomeAccount, "account_name", "A"))
	d.through("POST /banks/{id}/holder", app.DeedBankAccountChange, 1, post(b, "/banks/1/holder", "account_name", "TRAN THI B"))
	d.through("POST /banks/{id}/look", app.DeedBankAccountChange, 1, post(b, "/banks/1/look", "nickname", "quầy"))
	d.through("POST /banks/{id}/receiving", app.DeedBankAccountChange, 1, post(b, "/banks/1/receiving", "receiving_numbers", "7 = Quầy 7"))
	d.through("POST /banks/{id}/toggle", app.DeedBankAccountChange, 1, post(b, "/banks/1/toggle"))
	w.Services.Ledger.ToggleBankAccount(t.Context(), 1, 1, time.Now())
	file := statementHeader + "02/11/2026,77,A,,11.000\n"
	sum := sumOf(t, b.Upload("/transactions/import", "a.csv", file))
	d.through("POST /transactions/import", app.DeedImportRecord, 1,
		func() webtest.Answer { return b.Upload("/transactions/import", "a.csv", file, "sum", sum) })
	d.through("POST /transactions/{id}/note", app.DeedTransactionNote, 1, post(b, "/transactions/1/note", "seen", "", "note", "x"))
	d.through("POST /transactions/{id}/revenue", book.DeedMark, 1, post(b, "/transactions/1/revenue", "kind", "loan"))
	d.through("POST /book/revenue/rules", book.DeedRuleAdd, 1, post(b, "/book/revenue/rules", "kind", "loan", "text", "vay"))
	d.through("POST /book/revenue/rules/{id}/remove", book.DeedRuleRemove, 1, post(b, "/book/revenue/rules/1/remove"))
	d.through("POST /book/heading", book.DeedHeading, 1, post(b, "/book/heading", "name", "Hộ A"))
	d.through("POST /book/cash", book.DeedCash, 20_089, post(b, "/book/cash", "day", "2025-01-01", "amount", "5.000"))
	d.through("POST /book/opening", book.DeedOpening, 1,
		post(b, "/book/opening", "bank_account_id", "1", "day", "2025-01-01", "amount", "70.000"))
	d.through("GET /report/file", book.DeedExport, 0, func() webtest.Answer { return b.Get("/report/file?format=csv") })
	d.through("GET /book/file", book.DeedExport, 0, func() webtest.Answer { return b.Get("/book/file?format=csv&period=2025") })
	d.through("POST /book/close", book.DeedClose, 1, post(b, "/book/close?period=2025"))
	d.through("POST /book/open", book.DeedOpen, 1, post(b, "/book/open"))
	d.through("GET /transactions/export", app.DeedTransactionExport, 0,
		func() webtest.Answer { return b.Get("/transactions/export?format=csv") })
	d.through("GET /settings/audit/export", app.DeedAuditExport, 0,
		func() webtest.Answer { return b.Get("/settings/audit/export?format=csv") })
	d.through("POST /system/backup", app.DeedAccountChange, 1, post(b, "/system/backup", "daily_at", "02:30"))
	d.through("POST /transactions/import/{id}/undo", app.DeedImportUndo, 1, post(b, "/transactions/import/1/undo", "sure", "1"))

	// Webhooks and deliveries.
	d.through("POST /webhooks", app.DeedWebhookCreate, 1, post(b, "/webhooks", "name", "kho", "webhook_url", shop.URL, "type", "ALL"))
	d.through("POST /webhooks/{id}/edit", app.DeedWebhookChange, 1,
		post(b, "/webhooks/1/edit", "name", "kho 2", "webhook_url", shop.URL, "type", "ALL"))
	d.through("POST /webhooks/{id}/test", app.DeedWebhookTest, 1, post(b, "/webhooks/1/test"))
	d.through("POST /guide/test", app.DeedWebhookTest, 1, post(b, "/guide/test"))
	d.through("POST /webhooks/{id}/rotate", app.DeedWebhookRotate, 1, post(b, "/webhooks/1/rotate", "overlap_hours", "24"))
	d.through("POST /webhooks/{id}/activate", app.DeedWebhookActivate, 1, post(b, "/webhooks/1/activate"))
	first := w.Pay(1, "1", "x")
	delivery := func(transaction int64) (id int64) {
		w.File(func(db *sql.DB) error {
			return db.QueryRow(`SELECT max(id) FROM deliveries WHERE transaction_id = ?`, transaction).Scan(&id)
		})
		return id
	}
	w.Until("a first attempt", func() bool {
		return w.Rows("attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.transaction_id = "+fmt.Sprint(first)) == 1
	})
	d.through("POST /deliveries/{id}/send-now", app.DeedDeliverySendNow, delivery(first),
		post(b, fmt.Sprintf("/deliveries/%d/send-now", delivery(first))))
	w.Until("a second attempt", func() bool {
		return w.Rows("attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.transaction_id = "+fmt.Sprint(first)) == 2
	})
	d.through("POST /webhooks/{id}/send-now", app.DeedWebhookSendNow, 1, post(b, "/webhooks/1/send-now"))
	w.Until("a third attempt", func() bool {
		return w.Rows("attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.transaction_id = "+fmt.Sprint(first)) == 3
	})
	w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6 WHERE id = ?`, delivery(first))
	original := delivery(first)
	d.through("POST /deliveries/{id}/resend", app.DeedDeliveryResend, original+1, post(b, fmt.Sprintf("/deliveries/%d/resend", original)))
	var history int64
	w.File(func(db *sql.DB) error {
		return db.QueryRow(`SELECT max(id) FROM attempts WHERE delivery_id = ?`, original).Scan(&history)
	})
	d.through("POST /deliveries/resend", app.DeedDeliveryResend, original+2, post(b, "/deliveries/resend", "row", fmt.Sprint(history)))
	w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6`)
	d.through("POST /webhooks/{id}/replay", app.DeedWebhookReplay, 1, post(b, "/webhooks/1/replay"))
	d.through("POST /webhooks/{id}/toggle", app.DeedWebhookChange, 1, post(b, "/webhooks/1/toggle"))
	d.through("POST /webhooks/{id}/delete", app.DeedWebhookDelete, 1, post(b, "/webhooks/1/delete", "word", "kho 2"))

	// Streams.
	d.through("POST /settings/codes", app.DeedCodePatternCreate, 1,
		post(b, "/settings/codes", "prefix", "DH", "min_length", "6", "alphabet", "digits"))
	d.through("POST /settings/payments", app.DeedAccountChange, 1,
		post(b, "/settings/payments", "payment_tolerance", "500", "distinct_amounts", "1", "small_amount", "2000"))
	d.through("POST /payments", app.DeedPaymentCreate, 0,
		post(b, "/payments", "amount", "200.000", "bank_account_id", "1", "expires_in", "15"))
	d.through("POST /payments/{id}/match", app.DeedPaymentMatch, 1, post(b, "/payments/1/match", "transaction_id", fmt.Sprint(first)))
	d.through("POST /payments/{id}/unmatch", app.DeedPaymentUnmatch, 1, post(b, "/payments/1/unmatch", "transaction_id", fmt.Sprint(first)))
	d.through("POST /transactions/chosen", payment.DeedPutAside, first,
		post(b, "/transactions/chosen", "row", fmt.Sprint(first), "aside", "1"))
	out := paidOut(w.World, "refund", 1000, "hoan tien")
	d.through("POST /transactions/{id}/refund", payment.DeedRefund, out,
		post(b, "/transactions/"+fmt.Sprint(out)+"/refund", "of", fmt.Sprint(first)))
	d.through("POST /payments/{id}/cancel", app.DeedPaymentCancel, 1, post(b, "/payments/1/cancel", "sure", "1"))
	b.Submit("/till", "amount", "50.000", "bank_account_id", "1")
	d.through("POST /till/{id}/receipt", app.DeedReceiptPrint, 2, post(b, "/till/2/receipt"))
	d.through("POST /till/{id}/cancel", app.DeedPaymentCancel, 2, post(b, "/till/2/cancel"))
	b.Submit("/till", "amount", "1.549.000", "bank_account_id", "1")
	uncoded := w.Pay(1, "uncoded", "ck")
	d.through("POST /till/{id}/take", app.DeedPaymentTake, 3, post(b, "/till/3/take", "transaction_id", fmt.Sprint(uncoded),
		"once", webtest.FormKey()))
	d.through("POST /shifts/{id}/close", app.DeedShiftClose, 1, post(b, "/shifts/1/close", "sure", "1"))
	d.through("POST /settings/codes/{id}/delete", app.DeedCodePatternDelete, 1, post(b, "/settings/codes/1/delete"))
	d.through("POST /streams", app.DeedStreamCreate, 1,
		post(b, "/streams", "name", "ledger", "url", "nats://nats.shop.vn", "topic", "shop", "type", "ALL", "start", "now"))
	d.through("POST /streams/{id}/edit", app.DeedStreamChange, 1,
		post(b, "/streams/1/edit", "name", "ledger 2", "url", "nats://nats.shop.vn", "topic", "shop", "type", "ALL", "start", "now"))
	d.through("POST /streams/{id}/test", app.DeedStreamTest, 1, post(b, "/streams/1/test"))
	d.through("POST /streams/{id}/rotate", app.DeedStreamRotate, 1, post(b, "/streams/1/rotate"))
	d.through("POST /streams/{id}/toggle", app.DeedStreamChange, 1, post(b, "/streams/1/toggle"))
	d.through("POST /streams/{id}/delete", app.DeedStreamDelete, 1, post(b, "/streams/1/delete", "word", "ledger 2"))

	// Sources and what they sent.
	d.through("POST /inbound/sources", app.DeedSourceCreate, 1,
		post(b, "/inbound/sources", "provider", "native", "name", "till", "auth", "bearer"))
	d.through("POST /inbound/sources/{id}/rotate", app.DeedSourceRotate, 1, post(b, "/inbound/sources/1/rotate"))
	sms, err := w.Services.Inbound.AddSource(t.Context(), 1, inbound.SourceAdd{Provider: "capcom6", Name: "phone"}, time.Now())
	apptest.Must(t, err)
	d.through("POST /inbound/sources/{id}/senders", app.DeedSourceChange, sms.ID, post(b, "/inbound/sources/2/senders", "sender", "MYBANK"))
	sepay := w.Sepay()
	d.through("POST /inbound/sources/{id}/key", app.DeedSourceAPIKey, sepay.ID,
		post(b, fmt.Sprintf("/inbound/sources/%d/key", sepay.ID), "api_key", "the key of sepay"))
	d.through("POST /inbound/sources/{id}/remove", app.DeedSourceRemove, 1, post(b, "/inbound/sources/1/remove", "word", "till"))
	src := w.Native()
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{Account: "777"})
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{ID: "2", Number: "FT2", Account: "888"})
	event := w.NewestEvent().ID
	d.through("POST /inbound/events/{id}/retry", app.DeedInboundRetry, event, post(b, fmt.Sprintf("/inbound/events/%d/retry", event)))
	d.through("POST /inbound/events/{id}/discard", app.DeedInboundDiscard, event,
		post(b, fmt.Sprintf("/inbound/events/%d/discard", event), "sure", "1"))
	d.through("POST /inbound/events/{id}/link", app.DeedInboundLink, event-1,
		post(b, fmt.Sprintf("/inbound/events/%d/link", event-1), "bank", "ACB", "account_number", "777", "account_name", "A", "notify", "none"))
	w.Names(webtest.Recorded, src, apptest.Transfer{ID: "told", Amount: 77_000})
	w.Names(webtest.Counts{MayRepeat: 1}, sepay, apptest.Transfer{ID: "told again", Amount: 77_000, Content: "ck"})
	held := w.NewestEvent().ID
	d.through("POST /inbound/events/{id}/settle", app.DeedInboundSettle, held,
		post(b, fmt.Sprintf("/inbound/events/%d/settle", held), "item_id", fmt.Sprint(w.Items(held)[0].ID), "repeat", "0"))
	w.Names(webtest.Recorded, src, apptest.Transfer{ID: "one", Number: "FT1", Amount: 78_000})
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "one more", Number: "FT1", Amount: 78_000})
	list := w.Transactions()
	d.through("POST /transactions/{id}/part", app.DeedTransactionRecord, list[len(list)-1].ID+1,
		post(b, fmt.Sprintf("/transactions/%d/part", list[len(list)-1].ID), "source_id", fmt.Sprint(sepay.ID), "channel", "call",
			"event_id", "one more"))
	d.through("POST /banks/{id}/unlink", app.DeedBankAccountUnlink, 1, post(b, "/banks/1/unlink", "word", apptest.SomeAccount))

	// Keys, counters, alerts.
	d.through("POST /keys", app.DeedAPIKeyCreate, 1, post(b, "/keys", "name", "k", "scope", "read"))
	d.through("POST /keys/{id}/revoke", app.DeedAPIKeyRevoke, 1, post(b, "/keys/1/revoke"))
	d.through("POST /settings/counters", app.DeedCounterLinkCreate, 1, post(b, "/settings/counters", "name", "c"))
	d.through("POST /settings/counters/{id}/revoke", app.DeedCounterLinkRevoke, 1, post(b, "/settings/counters/1/revoke"))
	d.through("POST /settings/alerts/telegram", app.DeedAlertSet, 1,
		post(b, "/settings/alerts/telegram", "token", botToken, "chat", "-100200", "api_url", api))
	d.through("POST /settings/alerts/{medium}/test", app.DeedAlertTest, 1, post(b, "/settings/alerts/telegram/test"))
	d.through("POST /settings/alerts/{medium}/payments", app.DeedAlertChange, 1, post(b, "/settings/alerts/telegram/payments", "on", "1"))
	d.through("POST /settings/alerts/report", app.DeedAlertChange, 1,
		post(b, "/settings/alerts/report", "medium", "telegram", "report_time", "21:30"))
	d.through("POST /settings/alerts", app.DeedAlertsChange, 0, post(b, "/settings/alerts", "lang", "en", "kind", "webhook"))
	d.through("POST /settings/alerts/{medium}/remove", app.DeedAlertRemove, 1, post(b, "/settings/alerts/telegram/remove", "sure", "1"))
	d.through("POST /settings/alerts/{medium}/chat", app.DeedAlertSet, 2,
		post(b, "/settings/alerts/ntfy/chat", "channel_url", "https://ntfy.sh/secrettopic"))
	d.through("POST /settings/alerts/email", app.DeedAlertSet, 3,
		post(b, "/settings/alerts/email", "smtp_host", "mail.example.vn", "smtp_port", "587", "smtp_security", "starttls", "email_from",
			"a@shop.vn", "email_to", "b@shop.vn"))

	// Users.
	d.through("POST /settings/name", app.DeedAccountChange, 1, post(b, "/settings/name", "shop_name", "Hoa"))
	d.through("POST /settings/users", app.DeedUserCreate, 2,
		post(b, "/settings/users", "name", "hoa", "role", "cashier", "password", password))
	d.through("POST /settings/users/{id}/role", app.DeedUserRole, 2, post(b, "/settings/users/2/role", "role", "accountant"))
	d.through("POST /settings/users/{id}/limit", app.DeedUserLimit, 2,
		post(b, "/settings/users/2/limit", "limit", "some", "bank_account_id", "2"))
	w.Browser().SignIn("hoa")
	ofHoa := sessionForm.FindStringSubmatch(b.Get("/settings/users/2").Body)
	if ofHoa == nil {
		t.Fatal("hoa has no session")
	}
	d.through("POST /settings/users/{id}/sessions/{session}/end", app.DeedUserSessionEnd, 2, post(b, ofHoa[1]))
	d.through("POST /settings/users/{id}/password", app.DeedUserPassword, 2, post(b, "/settings/users/2/password"))
	d.through("POST /settings/users/{id}/remove", app.DeedUserRemove, 2, post(b, "/settings/users/2/remove", "sure", "1"))
	w.Browser().SignIn("lan")
	own := sessionForm.FindStringSubmatch(b.Get("/settings/sign-in").Body)
	if own == nil {
		t.Fatal("lan has no other session")
	}
	d.through("POST /settings/sign-in/sessions/{id}/end", app.DeedUserSessionEnd, 1, post(b, own[1]))
	d.through("POST /settings/sign-in/others", app.DeedUserSignOut, 1, post(b, "/settings/sign-in/others"))
	const other = "một mật khẩu khác"
	d.through("POST /settings/password", app.DeedUserPassword, 1,
		post(b, "/settings/password", "present_password", password, "password", other, "password_again", other))
	w.Services.Access.SetPassword(t.Context(), access.User{AccountID: 1, ID: 1}, password, app.IdempotencyKey{}, time.Now())

	// The second factor.
	b = browser().SignIn("lan")
	secret := secretField.FindStringSubmatch(b.Get("/settings/sign-in").Body)[1]
	d.through("POST /settings/sign-in/app", app.DeedUserSecondFactor, 1,
		post(b, "/settings/sign-in/app", "secret", secret, "code", codeOf(t, secret), "present_password", password))
	var codes []string
	a := d.through("POST /settings/sign-in/codes", app.DeedUserRecovery, 1, post(b, "/settings/sign-in/codes", "present_password", password))
	codes = strings.Split(secretShown(t, a), "\n")
	halfway := browser()
	halfway.Post("/login", "name", "lan", "password", password)
	w.Change(`UPDATE users SET totp_step = 0`) // the code was used
	d.through("POST /login/code", app.DeedUserSignIn, 1, post(halfway, "/login/code", "code", codeOf(t, secret)))
	halfway = browser()
	halfway.Post("/login", "name", "lan", "password", password)
	halfway.Submit("/login/code", "code", codes[0])
	if list := d.lines(); list[0].Deed != app.DeedUserSignIn || list[1].Deed != app.DeedUserRecoveryUsed || list[1].Actor != list[0].Actor ||
		list[1].NounID != 1 {
		t.Errorf("%+v", list[:2])
	}
	d.through("POST /settings/sign-in/demand", app.DeedAccountChange, 1, post(b, "/settings/sign-in/demand", "demand", "1"))
	b.Post("/settings/sign-in/demand", "present_password", apptest.SomePassword)
	device := deviceAt(t, b)
	form := created(t, b, device, "phone")
	d.through("POST /settings/sign-in/passkeys", app.DeedUserPasskeyAdd, 1, post(b, "/settings/sign-in/passkeys", form...))
	d.through("POST /settings/sign-in/passkeys/{id}", app.DeedUserPasskeyRename, 1, post(b, "/settings/sign-in/passkeys/1", "name", "tablet"))
	stranger := browser()
	d.through("POST /login/passkey", app.DeedUserSignIn, 1, func() webtest.Answer { return use(t, stranger, device) })
	d.through("POST /settings/sign-in/passkeys/{id}/remove", app.DeedUserPasskeyRemove, 1,
		post(b, "/settings/sign-in/passkeys/1/remove", "present_password", password))
	d.through("POST /settings/sign-in/off", app.DeedUserFactorOff, 1, post(b, "/settings/sign-in/off", "present_password", password))
	d.through("POST /settings/phones", app.DeedAlertSet, 1, post(b, "/settings/phones", subscription(t, "https://push.example.vn/lan")...))
	d.through("POST /settings/phones/{id}/remove", app.DeedAlertRemove, 1, post(b, "/settings/phones/1/remove"))
	d.through("POST /settings/sign-out", app.DeedUserSignOut, 1, post(b, "/settings/sign-out"))

	for _, p := range dashboard.Pages {
		route := p.Method + " " + p.Path
		if why, none := notDeeds[route]; p.Method == http.MethodPost && none == d.done[route] {
			t.Errorf("%s: has a deed of this test, or stands in notDeeds (%q)", route, why)
		}
	}
}
