package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"baoco/app"
	"baoco/web"
)

// Every page that an action answers with leads back to a page when its
// language is changed, also where the action's own address is none.
func TestLookAfterAnAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 200, "")
	w.webhook(receiver.url, app.WebhookAll)
	w.apiKey(app.ScopeRead)
	w.counterLink(1, app.CounterLinkCreate{Name: "counter"})
	w.source("native", app.AuthBearer, "")
	w.pay(1, "1", "a")
	w.attempts(1, 1)
	b := w.browser().signIn("lan")
	file := statementHeader + "01/11/2026,FT9,a row,,5000\n"
	b.upload("/transactions/import", "a.csv", file, "sum", b.upload("/transactions/import", "a.csv", file).sum(t)).wantStatus(t, http.StatusOK)
	back := regexp.MustCompile(`<input type="hidden" name="back" value="([^"]*)">`)
	pages, posts := map[string]bool{}, 0
	for _, p := range web.DashboardPages() {
		pages[p.Path] = pages[p.Path] || p.Method == "GET"
	}
	for _, p := range web.DashboardPages() {
		if p.Method != "POST" || p.Path == "/logout" || p.Path == "/look" || p.Path == "/settings/sign-out" {
			continue // they never show a page of their own
		}
		posts++
		for _, id := range []string{"1", "99", "x"} {
			path := strings.NewReplacer("{id}", id, "{token}", "x", "{medium}", "email").Replace(p.Path)
			a := b.send("POST", path, url.Values{})
			found := back.FindStringSubmatch(a.body)
			if a.status == http.StatusSeeOther || found == nil && strings.HasSuffix(path, "/env") {
				continue
			}
			if found == nil {
				t.Errorf("POST %s: %d without a switch", path, a.status)
				continue
			}
			to := html.UnescapeString(found[1])
			a = b.post("/look", "lang", "vi", "back", to)
			if a.goes(t, to); pages[p.Path] && to != path {
				t.Errorf("POST %s leads back to %s", path, to)
			}
			if a := b.get(to); a.status == http.StatusMethodNotAllowed || id == "1" && !strings.Contains(p.Path, "{medium}") && a.status >= 400 && a.status != http.StatusForbidden && to != "/deliveries/resend" {
				t.Errorf("POST %s leads back to %s: %d", path, to, a.status)
			}
		}
	}
	if posts < 30 {
		t.Errorf("only %d actions", posts)
	}
}
