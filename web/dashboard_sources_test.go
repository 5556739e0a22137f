package web_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
)

var (
	shownSecret = regexp.MustCompile(`id="secret">([^<]+)<`)
	shownURL    = regexp.MustCompile(`id="url">([^<]+)<`)
)

// shown is what a page of a new secret shows: the path and the secret.
func (a answer) shown(t *testing.T, base string) (path, secret string) {
	t.Helper()
	u, s := shownURL.FindStringSubmatch(a.body), shownSecret.FindStringSubmatch(a.body)
	if a.status != http.StatusOK || u == nil || s == nil {
		t.Fatalf("%d, no secret on the page\n%s", a.status, a.body)
	}
	return strings.TrimPrefix(html.UnescapeString(u[1]), base), html.UnescapeString(s[1])
}

func (w *world) sources() []app.Source {
	w.t.Helper()
	list, err := w.service.Sources(context.Background(), 1)
	must(w.t, err)
	return list
}

// A source from its addition to its end: what the page shows works, and is
// shown once.
func TestSourcePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	b := w.browser().signIn("lan")
	b.get("/inbound").shows(t, "Add your first source")
	once := b.get("/inbound/sources/new?provider=native").once(t)
	form := []string{"provider", "native", "name", "till", "auth", "bearer", "once", once}
	path, secret := b.post("/inbound/sources", form...).shown(t, w.url)
	body := batch(transfer{}.native())
	w.do("POST", path, body, "Authorization", "Bearer "+secret, "Content-Type", "application/json").wantStatus(t, http.StatusOK)
	w.wantTransactions(1)

	// The same form again makes no other source and shows no secret.
	again := b.post("/inbound/sources", form...)
	again.shows(t, "Secret already shown")
	if len(w.sources()) != 1 || strings.Contains(again.body, secret) {
		t.Errorf("%d sources; or the secret twice", len(w.sources()))
	}
	for _, page := range []string{"/inbound", "/inbound/sources/1", "/inbound/sources/1/rotate", "/inbound/sources/1/remove", "/inbound/events", "/inbound/events/1", "/inbound/refused"} {
		a := b.get(page)
		a.wantStatus(t, http.StatusOK)
		if strings.Contains(a.body, secret) {
			t.Errorf("%s shows the secret", page)
		}
	}
	b.get("/inbound").shows(t, "till", w.url+path, "Active")

	// A rotation counts at once, and once.
	form = []string{"once", b.get("/inbound/sources/1/rotate").once(t)}
	_, second := b.post("/inbound/sources/1/rotate", form...).shown(t, w.url)
	b.post("/inbound/sources/1/rotate", form...).shows(t, "Secret already shown")
	w.do("POST", path, body, "Authorization", "Bearer "+secret).wantStatus(t, http.StatusUnauthorized)
	w.do("POST", path, body, "Authorization", "Bearer "+second, "Content-Type", "application/json").wantStatus(t, http.StatusOK)
	if a := b.post("/inbound/sources/1/rotate", "secret", " a secret with spaces "); a.status != http.StatusUnprocessableEntity || strings.Contains(a.body, "a secret with spaces") {
		t.Errorf("%d, or a secret that was typed is shown again", a.status)
	}
	b.get("/inbound/refused").shows(t, "wrong_key", "till")
	b.get("/inbound/refused?source_id=1").shows(t, "wrong_key")
	b.get("/inbound/refused?source_id=x").wantStatus(t, http.StatusUnprocessableEntity)

	b.post("/inbound/sources/1/remove", "name", "other").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/inbound/sources/1/remove", "name", "till").goes(t, "/inbound")
	w.do("POST", path, body, "Authorization", "Bearer "+second).wantStatus(t, http.StatusUnauthorized)
	b.get("/inbound/sources/1").wantStatus(t, http.StatusNotFound)
}

// Every kind can be added with what its own form offers, and no form offers
// what its kind doesn't take.
func TestSourceForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	b := w.browser().signIn("lan")
	kinds := b.get("/inbound/sources/new").body
	for _, kind := range provider.Facts() {
		if strings.Count(kinds, `provider=`+string(kind.Provider)+`"`) != 1 {
			t.Errorf("%s can't be chosen once", kind.Provider)
		}
		page := b.get("/inbound/sources/new?provider=" + string(kind.Provider))
		page.wantStatus(t, http.StatusOK)
		for _, option := range []app.SourceOption{app.OptionHeader, app.OptionMap, app.OptionSender, app.OptionAccessKey, app.OptionUsername} {
			if strings.Contains(page.body, `name="`+string(option)+`"`) != slices.Contains(kind.Options, option) {
				t.Errorf("%s: %s", kind.Provider, option)
			}
		}
		if strings.Contains(page.body, `name="api_key"`) != kind.CatchUp || strings.Contains(page.body, "api_url") {
			t.Errorf("%s: the API key", kind.Provider)
		}
		form := []string{"provider", string(kind.Provider), "name", string(kind.Provider), "api_url", "http://127.0.0.1:1/"}
		if kind.DefaultAuth == "" {
			form = append(form, "auth", string(kind.Auths[0]))
		}
		if kind.NamesNoAccount {
			form = append(form, "bank_account_id", "1")
		}
		if slices.Contains(kind.Options, app.OptionAccessKey) {
			form = append(form, "access_key", "an access key", "secret", "a secret key of pay2s")
		}
		if slices.Contains(kind.Options, app.OptionMap) {
			form = append(form, "map", "id=data.id\r\namount = data.sum\r\naccount=data.acc\r\ncontent=\r\n")
		}
		if slices.Contains(kind.Options, app.OptionSender) {
			form = append(form, "sender", "MYBANK\r\nOTHER\r\n")
		}
		a := b.post("/inbound/sources", form...)
		a.shown(t, w.url)
		if n := len(regexp.MustCompile(`<li>`).FindAllString(a.body[strings.Index(a.body, "Set up at the provider"):], -1)); n != 3 && kind.Provider != "native" {
			t.Errorf("%s: %d steps", kind.Provider, n)
		}
	}
	for _, src := range w.sources() {
		if src.APIURL != "" {
			t.Errorf("%s has the address of an API", src.Provider)
		}
	}
	n := len(w.sources())
	for _, c := range []struct{ form, says string }{
		{"provider=sepay&name=a", `id="auth-problem"`},
		{"provider=native&name=", `id="name-problem"`},
		{"provider=pay2s-ipn&name=a", `id="access_key-problem"`},
		{"provider=pay2s-ipn&name=a&access_key=k", `id="bank_account_id-problem"`},
		{"provider=native&name=a&bank_account_id=99", `id="bank_account_id-problem"`},
		{"provider=native&name=a&bank_account_id=x", `id="bank_account_id-problem"`},
		{"provider=generic&name=a&map=amount", `id="map-problem"`},
		{"provider=generic&name=a&map=nothing%3Da", `id="map-problem"`},
		{"provider=capcom6&name=a&sender=" + strings.Repeat("w", 51), `id="sender-problem"`},
		{"provider=vietqr&name=a&username=a+b", `id="username-problem"`},
		{"provider=generic&name=a&map=amount%3Da%0Aid%3Db%0Aaccount%3Dc&auth=token&header=Host", `id="header-problem"`},
	} {
		values, err := url.ParseQuery(c.form + "&secret=typed-secret-1234567&api_key=")
		must(t, err)
		a := b.send("POST", "/inbound/sources", values)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		if a.shows(t, c.says); strings.Contains(a.body, "typed-secret") {
			t.Errorf("%s: a secret that was typed is shown again", c.form)
		}
	}
	for _, provider := range []string{"", "nothing"} {
		b.post("/inbound/sources", "provider", provider).wantStatus(t, http.StatusNotFound)
	}
	b.get("/inbound/sources/new?provider=nothing").wantStatus(t, http.StatusNotFound)
	if len(w.sources()) != n {
		t.Error("something was added")
	}
}

func TestSourceSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	sms, err := w.service.AddSource(t.Context(), 1, app.SourceAdd{Provider: "capcom6", Name: "phone"}, time.Now())
	must(t, err)
	sepay := w.sepay()
	b := w.browser().signIn("lan")
	b.post("/inbound/sources/1/senders", "sender", " MYBANK ").goes(t, "/inbound/sources/1")
	b.get("/inbound/sources/1").shows(t, "MYBANK")
	b.post("/inbound/sources/1/senders", "sender", "").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/inbound/sources/2/senders", "sender", "X").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/inbound/sources/1/key", "api_key", "a key that is none").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/inbound/sources/2/catch-up").shows(t, "has no API key")
	b.post("/inbound/sources/2/key", "api_key", "the key of sepay").goes(t, "/inbound/sources/2")
	if a := b.get("/inbound/sources/2"); strings.Contains(a.body, "the key of sepay") || !strings.Contains(a.body, "/catch-up") {
		t.Error("the key is shown, or the list can't be read")
	}
	if list := w.sources(); list[0].ID != sms.ID || len(list[0].Options.Senders) != 1 || list[1].ID != sepay.ID || list[1].APIKey != "the key of sepay" {
		t.Errorf("%+v", list)
	}
}

var sourceActions = []struct{ method, path string }{
	{"GET", "/inbound"}, {"GET", "/inbound/sources/new"}, {"POST", "/inbound/sources"}, {"GET", "/inbound/sources/%d"}, {"GET", "/inbound/sources/%d/rotate"},
	{"POST", "/inbound/sources/%d/rotate"}, {"POST", "/inbound/sources/%d/senders"}, {"POST", "/inbound/sources/%d/key"}, {"POST", "/inbound/sources/%d/catch-up"},
	{"GET", "/inbound/sources/%d/remove"}, {"POST", "/inbound/sources/%d/remove"}, {"GET", "/inbound/events"}, {"GET", "/inbound/events/%d"},
	{"POST", "/inbound/events/%d/link"}, {"POST", "/inbound/events/%d/retry"}, {"POST", "/inbound/events/%d/discard"}, {"GET", "/inbound/refused"},
}

func TestSourceTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	src := w.native()
	w.names(counts{Unassigned: 1}, src, transfer{content: "of account one"})
	w.wantOwnersOnly(t, sourceActions, src.ID, src.Token, func() string {
		events, n, err := w.service.InboundEvents(context.Background(), 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 10}})
		must(t, err)
		return fmt.Sprintf("%+v %d %d %d", w.sources(), n, events[0].Open, len(w.banks()))
	}, "provider", "native", "name", "test", "secret", "a secret of the stranger", "sender", "X", "api_key", "k", "bank", "ACB", "account_number", someAccount, "account_name", "EVE", "sure", "1")
	stranger := w.browser().signIn("stranger")
	stranger.get("/inbound/events?source_id="+itoa(src.ID)).wantStatus(t, http.StatusUnprocessableEntity)
	stranger.get("/inbound/refused?source_id="+itoa(src.ID)).wantStatus(t, http.StatusUnprocessableEntity)
}

// Whoever names another host in a request gets no link that leads there.
func TestAddressesOfAnotherHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.source("sepay", app.AuthAPIKey, "")
	jar := w.browser().signIn("lan").client.Jar
	here, err := url.Parse(w.url)
	must(t, err)
	do := func(method, path string, form url.Values) answer {
		r, err := http.NewRequest(method, w.url+path, strings.NewReader(form.Encode()))
		must(t, err)
		r.Host = "evil.example"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range jar.Cookies(here) {
			r.AddCookie(c)
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must(t, err)
		return answer{response.StatusCode, response.Header, string(body)}
	}
	once := func(path string) string { return onceField.FindStringSubmatch(do("GET", path, nil).body)[1] }
	for name, a := range map[string]answer{
		"sources": do("GET", "/inbound", nil),
		"source":  do("GET", "/inbound/sources/1", nil),
		"added":   do("POST", "/inbound/sources", url.Values{"once": {once("/inbound/sources/new?provider=casso")}, "provider": {"casso"}, "name": {"casso"}}),
		"key":     do("POST", "/keys", url.Values{"once": {once("/keys")}, "name": {"shop"}, "scope": {"read"}}),
		"counter": do("POST", "/settings/counters", url.Values{"once": {once("/settings")}, "name": {"counter"}}),
	} {
		if a.status != http.StatusOK || strings.Contains(a.body, "evil.example") || !strings.Contains(a.body, "/api/") && !strings.Contains(a.body, "/counter/") {
			t.Errorf("%s: %d\n%s", name, a.status, a.body)
		}
	}
}
