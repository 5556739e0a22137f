package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"
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
