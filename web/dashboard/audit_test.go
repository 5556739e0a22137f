package dashboard_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"

	"github.com/xuri/excelize/v2"
)

// What is done on a page has one line that says who did it, from where and what was
// before. It holds no secret, and what strangers send has none.
func TestAuditOfPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", app.RoleOwner)
	nobody := w.Browser()
	for _, name := range []string{"lan", "lan", "nobody-has-this-name"} {
		nobody.Post("/login", "name", name, "password", "a wrong password")
	}
	b := w.Browser().SignIn("lan")
	b.Post("/webhooks", "name", "shop", "webhook_url", "https://shop.vn/old?token=hidden-1", "type", "IN", "once", webtest.FormKey()).WantStatus(t, http.StatusOK)
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/new?token=hidden-2", "type", "IN").Goes(t, "/webhooks/1")
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/new?token=hidden-2", "type", "IN").Goes(t, "/webhooks/1") // nothing changes
	b.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "ftp://shop.vn", "type", "IN").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/webhooks/1/toggle").Goes(t, "/webhooks/1")

	lines, err := w.Service.AuditLines(t.Context(), 1, app.AuditFilter{Way: app.WayDashboard}, 100)
	apptest.Must(t, err)
	want := []app.AuditLine{ // newest first
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookChange, AuditDetail: app.AuditDetail{Name: "shop", Changes: []app.AuditChange{{Field: "is_active", From: "true", To: "false"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookChange, AuditDetail: app.AuditDetail{Name: "shop", Changes: []app.AuditChange{{Field: "url", From: "https://shop.vn/old?…", To: "https://shop.vn/new?…"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedWebhookCreate, AuditDetail: app.AuditDetail{Name: "shop", Changes: []app.AuditChange{{Field: "url", To: "https://shop.vn/old?…"}}}},
		{Actor: app.Actor{Name: "lan"}, Deed: app.DeedUserSignIn, AuditDetail: app.AuditDetail{Name: "lan"}},
		{Deed: app.DeedUserSignInRefused, AuditDetail: app.AuditDetail{Name: "lan", Count: 2}},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	for i, l := range lines {
		got, wanted := asJSON(t, l.AuditDetail), asJSON(t, want[i].AuditDetail)
		if l.Deed != want[i].Deed || l.Actor.Name != want[i].Actor.Name || got != wanted || l.NounID != 1 {
			t.Errorf("line %d: %s by %q of %d: %s, want %s by %q: %s", i, l.Deed, l.Actor.Name, l.NounID, got, want[i].Deed, want[i].Actor.Name, wanted)
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
	w.User(1, "lan", app.RoleOwner)
	w.User(1, "hoa", app.RoleDeveloper)
	lan, hoa := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	hook, _ := w.Webhook("https://shop.vn/a", app.WebhookIn)
	hoa.Post("/webhooks/1/edit", "name", "shop", "webhook_url", "https://shop.vn/b", "type", "IN").Goes(t, "/webhooks/1")
	lan.Post("/settings/name", "shop_name", "Hoa <b>Sen</b>", "version", "").WantStatus(t, http.StatusSeeOther)

	a := lan.Get("/settings/audit")
	a.Shows(t, "<h3>Today</h3>", `<a href="/webhooks/1"><bdi>`, "changed the address of webhook", "https://shop.vn/a", "https://shop.vn/b", "Hoa <b>Sen</b>", "127.0.0.1")
	a.Hides(t, "<b>Sen")
	if at := strings.Index(a.Body, "changed the address"); at < strings.Index(a.Body, "changed the name of account") || at > strings.Index(a.Body, "signed in") {
		t.Errorf("not newest first:\n%s", a.Body)
	}
	hoa.Get("/webhooks/1").Hides(t, "What was changed here")
	lan.Get("/webhooks/1").Shows(t, "/settings/audit?noun=webhook&id=1", "What was changed here")
	bank := w.Link("ACB", "19354957")
	transaction := w.Record("FT1")
	src, err := w.Service.AddSource(t.Context(), 1, app.SourceAdd{Provider: "native", Name: "q"}, time.Now())
	apptest.Must(t, err)
	w.APIKey(app.ScopeFull)
	w.CounterLink(1, app.CounterLinkCreate{})
	for path, about := range map[string]string{
		"/settings/users/2": "user&id=2", "/keys": "api_key&id=1", "/settings": "counter_link&id=1", fmt.Sprint("/banks/", bank.ID): fmt.Sprint("bank_account&id=", bank.ID),
		fmt.Sprint("/inbound/sources/", src.ID): fmt.Sprint("source&id=", src.ID), fmt.Sprint("/transactions/", transaction.ID): fmt.Sprint("transaction&id=", transaction.ID),
	} {
		lan.Get(path).Shows(t, `href="/settings/audit?noun=`+about+`"`)
	}
	lan.Get("/settings/audit?noun=webhook&id=1&who=&from=").Goes(t, "/settings/audit?id=1&noun=webhook")
	lan.Get("/settings/audit?id=1").Goes(t, "/settings/audit")
	a = lan.Get("/settings/audit?noun=webhook&id=1")
	a.Shows(t, "changed the address of webhook", "#1", `href="/settings/audit?id=1"`, "/settings/audit/export?format=xlsx&id=1&noun=webhook")
	a.Hides(t, "signed in</bdi>")
	lan.Get("/settings/audit?who=hoa").Hides(t, "changed the name of account")
	a = lan.Get("/settings/audit?deed=user.sign_in&way=dashboard")
	a.Shows(t, "signed in</bdi>")
	a.Hides(t, "shop.vn")
	lan.Get("/settings/audit?who=nobody").Shows(t, "No line here matches.")
	for _, wrong := range []string{"way=kite", "deed=kite", "noun=kite", "noun=webhook&id=x", "from=kite", "from=2026-02-02&to=2026-01-01"} {
		lan.Get("/settings/audit?"+wrong).WantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.Post("/look", "lang", "vi").WantStatus(t, http.StatusSeeOther)
	lan.Get("/settings/audit").Shows(t, "đã đổi địa chỉ của webhook", "Hôm nay", "Trang quản trị")
	apptest.Must(t, w.Service.DeleteWebhook(t.Context(), 1, hook.ID, time.Now()))
	a = lan.Get("/settings/audit")
	a.Shows(t, "đã đổi địa chỉ của webhook")
	a.Hides(t, `href="/webhooks/1"`)
}

// Pages follow each other without a gap, and the export has the lines of the filter in
// each format.
func TestAuditPagesAndExport(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", app.RoleOwner)
	b := w.Browser().SignIn("lan")
	say := app.ActingAs(t.Context(), app.Actor{Way: app.WayCommand, Name: "=root", At: time.Now()})
	for i := range 120 {
		apptest.Must(t, w.Service.Audit(say, 1, app.DeedWebhookTest, int64(1000+i), app.AuditNamed(fmt.Sprint("kho-", i, "."))))
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
		if !marked || len(rows) != 121 || rows[0][5] != "What was done" || rows[1][2] != "'=root" || rows[1][3] != "Command line" || rows[1][4] != "this server" || rows[1][5] != "'=root sent a test to webhook kho-119." || rows[120][5] != "'=root sent a test to webhook kho-0." {
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
