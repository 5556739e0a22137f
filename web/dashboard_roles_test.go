package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"baoco/app"
	"baoco/web"
)

// Every page of the table asks for the role that stands there, before it does
// anything.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "thungan", app.RoleViewer)
	nobody, viewer := w.browser(), w.browser().signIn("thungan")
	open := 0
	for _, p := range web.DashboardPages() {
		path := strings.NewReplacer("{$}", "", "{id}", "1", "{token}", "x", "{medium}", "telegram").Replace(p.Path)
		if p.Role == "" {
			open++
			continue
		}
		to := "/login"
		if p.Method == "GET" && path != "/" {
			to += "?back=" + url.QueryEscape(path)
		}
		if a := nobody.send(p.Method, path, url.Values{}); strings.HasPrefix(path, "/live/") {
			a.wantStatus(t, http.StatusUnauthorized) // a stream can't show another page
		} else {
			a.goes(t, to)
		}
		if p.Role == app.RoleOwner {
			if a := viewer.send(p.Method, path, url.Values{}); a.status != http.StatusForbidden {
				t.Errorf("%s %s as a viewer: %d", p.Method, path, a.status)
			}
		}
	}
	if open != 8 {
		t.Errorf("%d pages are open to everybody, want 8: is one of them by mistake?", open)
	}
}

// Nothing of another account is reachable by its id.
func TestDashboardTenancy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.secondAccount()
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "hoa", app.RoleOwner)
	w.user(other, "minh", app.RoleOwner)
	w.apiKey(app.ScopeFull)
	w.counterLink(1, app.CounterLinkCreate{Name: "Quầy bí mật"})
	minh := w.browser().signIn("minh")
	for _, c := range []struct{ method, path string }{
		{"GET", "/keys/1/revoke"}, {"POST", "/keys/1/revoke"},
		{"GET", "/settings/users/1"}, {"POST", "/settings/users/1/password"}, {"POST", "/settings/users/1/role"},
		{"GET", "/settings/users/1/remove"}, {"POST", "/settings/users/1/remove"},
		{"GET", "/settings/counters/1/revoke"}, {"POST", "/settings/counters/1/revoke"},
		{"GET", "/system"},
	} {
		for _, id := range []string{"1", "99", "x", "-1"} {
			path := strings.ReplaceAll(c.path, "/1", "/"+id)
			if a := minh.send(c.method, path, url.Values{"role": {"viewer"}, "password": {somePassword}}); a.status != http.StatusNotFound {
				t.Errorf("%s %s: %d, want 404", c.method, path, a.status)
			}
		}
	}
	for _, path := range []string{"/", "/keys", "/settings"} {
		body := minh.get(path).body
		for _, secret := range []string{"hoa", "Quầy bí mật", "baoco_", "/system", "--listen"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s shows %q of another account", path, secret)
			}
		}
	}
	// All is as it was.
	w.browser().signIn("lan")
	if keys, err := w.service.APIKeys(t.Context(), 1); err != nil || !keys[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", keys, err)
	}
	if links, err := w.service.CounterLinks(t.Context(), 1); err != nil || !links[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", links, err)
	}
}
