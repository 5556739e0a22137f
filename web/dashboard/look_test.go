package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/stream"
	"baoco/web/dashboard"
	"baoco/web/webtest"
)

// Every page that an action answers with leads back to a page when its
// language is changed, also where the action's own address is none.
func TestLookAfterAnAction(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 200, "")
	w.Webhook(receiver.url, delivery.WebhookAll)
	w.Stream(stream.Create{})
	w.APIKey(access.ScopeRead)
	counterLink(w, 1, payment.CounterLinkCreate{Name: "counter"})
	w.Source("native", inbound.AuthBearer, "")
	w.Pay(1, "1", "a")
	w.Attempts(1, 1)
	b := w.Browser().SignIn("lan")
	b.Post("/settings/codes", "prefix", "DH", "min_length", "6", "alphabet", "digits").Goes(t, "/settings/codes")
	w.PaymentRequest(payment.RequestCreate{Amount: 5000, CashierID: 1})
	w.Change(`INSERT INTO passkeys (user_id, name, host, credential_id, public_key, transports, backup_eligible, sign_count, created_at)
		VALUES (1, 'phone', 'shop.vn', x'01', x'', '', 0, 0, 0)`)
	file := statementHeader + "01/11/2026,FT9,a row,,5000\n"
	sum := sumOf(t, b.Upload("/transactions/import", "a.csv", file))
	b.Upload("/transactions/import", "a.csv", file, "sum", sum).WantStatus(t, http.StatusOK)
	back := regexp.MustCompile(`<input type="hidden" name="back" value="([^"]*)">`)
	pages, posts := map[string]bool{}, 0
	for _, p := range dashboard.Pages {
		pages[p.Path] = pages[p.Path] || p.Method == "GET"
	}
	for _, p := range dashboard.Pages {
		if p.Method != "POST" || p.Path == "/logout" || p.Path == "/look" || p.Path == "/settings/sign-out" {
			continue // they never show a page of their own
		}
		posts++
		for _, id := range []string{"1", "99", "x"} {
			path := strings.NewReplacer("{id}", id, "{token}", "x", "{medium}", "email").Replace(p.Path)
			a := b.Send("POST", path, url.Values{})
			found := back.FindStringSubmatch(a.Body)
			// neither has a switch
			if a.Status == http.StatusSeeOther || found == nil && (strings.HasSuffix(path, "/env") || p.Path == "/till/{id}/receipt") {
				continue
			}
			if found == nil {
				t.Errorf("POST %s: %d without a switch", path, a.Status)
				continue
			}
			to := html.UnescapeString(found[1])
			a = b.Post("/look", "lang", "vi", "back", to)
			if a.Goes(t, to); pages[p.Path] && to != path {
				t.Errorf("POST %s leads back to %s", path, to)
			}
			if a := b.Get(to); a.Status == http.StatusMethodNotAllowed || id == "1" && !strings.Contains(p.Path, "{medium}") && a.Status >= 400 &&
				a.Status != http.StatusForbidden && to != "/deliveries/resend" && to != "/transactions/chosen" {
				t.Errorf("POST %s leads back to %s: %d", path, to, a.Status)
			}
		}
	}
	if posts < 30 {
		t.Errorf("only %d actions", posts)
	}
}
