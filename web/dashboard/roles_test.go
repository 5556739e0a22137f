package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/dashboard"
	"baoco/web/webtest"
)

// Every page of the table asks for the role that stands there, before it does
// anything.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", app.RoleOwner)
	w.User(1, "thungan", app.RoleViewer)
	nobody, viewer := w.Browser(), w.Browser().SignIn("thungan")
	open := 0
	for _, p := range dashboard.Pages {
		path := strings.NewReplacer("{$}", "", "{id}", "1", "{token}", "x", "{medium}", "telegram", "{page}", "first-hour").Replace(p.Path)
		if p.Role == "" {
			open++
			continue
		}
		to := "/login"
		if p.Method == "GET" && path != "/" {
			to += "?back=" + url.QueryEscape(path)
		}
		if a := nobody.Send(p.Method, path, url.Values{}); strings.HasPrefix(path, "/live") {
			a.WantStatus(t, http.StatusUnauthorized) // a stream can't show another page
		} else {
			a.Goes(t, to)
		}
		if p.Role == app.RoleOwner {
			if a := viewer.Send(p.Method, path, url.Values{}); a.Status != http.StatusForbidden {
				t.Errorf("%s %s as a viewer: %d", p.Method, path, a.Status)
			}
		}
	}
	if open != 10 {
		t.Errorf("%d pages are open to everybody, want 10: is one of them by mistake?", open)
	}
}

// Nothing of another account is reachable by its id.
func TestDashboardTenancy(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	other := w.SecondAccount()
	w.User(1, "lan", app.RoleOwner)
	w.User(1, "hoa", app.RoleOwner)
	w.User(other, "minh", app.RoleOwner)
	w.APIKey(app.ScopeFull)
	w.CounterLink(1, app.CounterLinkCreate{Name: "Quầy bí mật"})
	minh := w.Browser().SignIn("minh")
	for _, c := range []webtest.Action{
		{"GET", "/keys/1/revoke"}, {"POST", "/keys/1/revoke"},
		{"GET", "/settings/users/1"}, {"POST", "/settings/users/1/password"}, {"POST", "/settings/users/1/role"},
		{"GET", "/settings/users/1/remove"}, {"POST", "/settings/users/1/remove"},
		{"GET", "/settings/counters/1/revoke"}, {"POST", "/settings/counters/1/revoke"},
		{"GET", "/system"},
	} {
		for _, id := range []string{"1", "99", "x", "-1"} {
			path := strings.ReplaceAll(c.Path, "/1", "/"+id)
			if a := minh.Send(c.Method, path, url.Values{"role": {"viewer"}, "password": {apptest.SomePassword}, "once": {webtest.FormKey()}}); a.Status != http.StatusNotFound {
				t.Errorf("%s %s: %d, want 404", c.Method, path, a.Status)
			}
		}
	}
	for _, path := range []string{"/", "/keys", "/settings"} {
		body := minh.Get(path).Body
		for _, secret := range []string{"hoa", "Quầy bí mật", "baoco_", "/system", "--listen"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s shows %q of another account", path, secret)
			}
		}
	}
	// All is as it was.
	w.Browser().SignIn("lan")
	if keys, err := w.Service.APIKeys(t.Context(), 1); err != nil || !keys[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", keys, err)
	}
	if links, err := w.Service.CounterLinks(t.Context(), 1); err != nil || !links[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", links, err)
	}
}
