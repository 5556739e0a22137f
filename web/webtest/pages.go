package webtest

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
)

// Action is a method and a path of the dashboard; %d in it is an id.
type Action = struct{ Method, Path string }

// Nobody but an owner of the account reaches a page of this table, and nothing
// changes. The form is what an owner would send.
func (w *World) WantOwnersOnly(actions []Action, id int64, secret string, unchanged func() string, form ...string) {
	t := w.T
	t.Helper()
	w.User(1, "cashier", access.RoleCashier)
	second, err := w.Services.Ledger.CreateAccount(t.Context(), "second", time.Now())
	apptest.Must(t, err)
	w.User(second.ID, "stranger", access.RoleOwner)
	before := unchanged()
	cashier, stranger, nobody, forged := w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger"), w.Browser(), w.Browser().SignIn("lan")
	forged.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	ask := func(b *Browser, method, path string) Answer {
		if method == "GET" {
			return b.Get(path)
		}
		return b.Submit(path, form...)
	}
	for _, action := range actions {
		path := action.Path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, id)
			ask(stranger, action.Method, path).WantStatus(t, http.StatusNotFound)
			for _, other := range []string{"0", "x", "99", "-1"} {
				ask(stranger, action.Method, strings.Replace(action.Path, "%d", other, 1)).WantStatus(t, http.StatusNotFound)
			}
		} else if action.Method == "GET" {
			if a := stranger.Get(path); strings.Contains(a.Body, secret) {
				t.Errorf("%s shows what is another account's", path)
			}
		}
		ask(cashier, action.Method, path).WantStatus(t, http.StatusForbidden)
		if a := ask(nobody, action.Method, path); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
			t.Errorf("%s %s: %d for nobody", action.Method, path, a.Status)
		}
		if action.Method == "POST" {
			forged.Post(path, form...).WantStatus(t, http.StatusForbidden)
		}
	}
	if after := unchanged(); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}

// Listed are the deliveries that a page of the history lists, in its order.
func (a Answer) Listed(t testing.TB) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<td class="content"><a class="row" href="/deliveries/(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// Events are the events that a page of the inbound log lists, in its order.
func (a Answer) Events(t testing.TB) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<a class="row" href="/inbound/events/(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// Contents are the contents of an exported CSV file, in its order.
func (a Answer) Contents(t testing.TB) (list []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.Body, "\uFEFF"))).ReadAll()
	apptest.Must(t, err)
	for _, row := range rows[1:] {
		list = append(list, row[6])
	}
	return list
}

// Hides checks that a page says none of texts.
func (a Answer) Hides(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			t.Errorf("%d, the page says %q\n%s", a.Status, text, a.Body)
		}
	}
}

// Code is the receiver's code that a page shows.
func (a Answer) Code(t testing.TB, id string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<code id="code-` + id + `">(.*?)</code>`).FindStringSubmatch(a.Body)
	if found == nil {
		t.Fatalf("%d, no code in %s\n%s", a.Status, id, a.Body)
	}
	code := html.UnescapeString(found[1])
	if strings.ContainsAny(code, "«»") || strings.Contains(code, "HOOK-PATH") {
		t.Errorf("a value is not filled in:\n%s", code)
	}
	return code
}

var shownURL = regexp.MustCompile(`id="url">([^<]+)<`)

// Shown is what a page of a new secret shows: the path and the secret.
func (a Answer) Shown(t testing.TB, base string) (path, secret string) {
	t.Helper()
	u := shownURL.FindStringSubmatch(a.Body)
	if a.Status != http.StatusOK || u == nil {
		t.Fatalf("%d, no URL on the page\n%s", a.Status, a.Body)
	}
	return strings.TrimPrefix(html.UnescapeString(u[1]), base), a.Secret(t)
}

// TransactionsListed are the transactions that a page lists, in its order.
func (a Answer) TransactionsListed(t testing.TB) (ids []string) {
	t.Helper()
	a.WantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<tr id="tx-(\d+)">`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// LinkOf is the address of a page's link to the next or the one before.
func (a Answer) LinkOf(t testing.TB, rel string) string {
	t.Helper()
	m := regexp.MustCompile(`<a rel="` + rel + `" href="([^"]*)"`).FindStringSubmatch(a.Body)
	if m == nil {
		t.Fatalf("no %s link on\n%s", rel, a.Body)
	}
	return html.UnescapeString(m[1])
}

var (
	SecretPattern = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)
)

// SecretOf is the secret that a page shows.
func (a Answer) SecretOf(t testing.TB) string {
	t.Helper()
	secret := SecretPattern.FindString(html.UnescapeString(a.Body))
	if a.Status != http.StatusOK || secret == "" {
		t.Fatalf("%d, no secret on the page\n%s", a.Status, a.Body)
	}
	return secret
}

// Shows checks that a page says all of texts.
func (a Answer) Shows(t testing.TB, texts ...string) {
	t.Helper()
	page := html.UnescapeString(a.Body)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%d, the page does not say %q\n%s", a.Status, text, a.Body)
		}
	}
}
