package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/provider"
	"baoco/web/webtest"
)

// A source from its addition to its end: what the page shows works, and is
// shown once.
func TestSourcePages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	b.Get("/inbound").Shows(t, "Add your first source")
	once := b.Get("/inbound/sources/new?provider=native").Once(t)
	form := []string{"provider", "native", "name", "till", "auth", "bearer", "once", once}
	path, secret := urlAndSecret(t, b.Post("/inbound/sources", form...), w.URL)
	body := apptest.Batch(apptest.Transfer{}.Native())
	w.Do("POST", path, body, "Authorization", "Bearer "+secret, "Content-Type", "application/json").WantStatus(t, http.StatusOK)
	w.WantTransactions(1)

	// The same form again makes no other source and shows no secret.
	again := b.Post("/inbound/sources", form...)
	again.Shows(t, "Secret already shown")
	if len(sourcesOf(w)) != 1 || strings.Contains(again.Body, secret) {
		t.Errorf("%d sources; or the secret twice", len(sourcesOf(w)))
	}
	for _, page := range []string{"/inbound", "/inbound/sources/1", "/inbound/sources/1/rotate", "/inbound/sources/1/remove",
		"/inbound/events", "/inbound/events/1", "/inbound/refused"} {
		a := b.Get(page)
		a.WantStatus(t, http.StatusOK)
		if strings.Contains(a.Body, secret) {
			t.Errorf("%s shows the secret", page)
		}
	}
	b.Get("/inbound").Shows(t, "till", w.URL+path, "Active")

	// A rotation counts at once, and once.
	form = []string{"once", b.Get("/inbound/sources/1/rotate").Once(t)}
	_, second := urlAndSecret(t, b.Post("/inbound/sources/1/rotate", form...), w.URL)
	b.Post("/inbound/sources/1/rotate", form...).Shows(t, "Secret already shown")
	w.Do("POST", path, body, "Authorization", "Bearer "+secret).WantStatus(t, http.StatusUnauthorized)
	w.Do("POST", path, body, "Authorization", "Bearer "+second, "Content-Type", "application/json").WantStatus(t, http.StatusOK)
	if a := b.Submit("/inbound/sources/1/rotate", "secret", " a secret with spaces "); a.Status != http.StatusUnprocessableEntity ||
		strings.Contains(a.Body, "a secret with spaces") {
		t.Errorf("%d, or a secret that was typed is shown again", a.Status)
	}
	b.Get("/inbound/refused").Shows(t, "wrong_key", "till")
	b.Get("/inbound/refused?source_id=1").Shows(t, "wrong_key")
	b.Get("/inbound/refused?source_id=x").WantStatus(t, http.StatusUnprocessableEntity)

	b.Post("/inbound/sources/1/remove", "word", "other").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/inbound/sources/1/remove", "word", "till").Goes(t, "/inbound")
	w.Do("POST", path, body, "Authorization", "Bearer "+second).WantStatus(t, http.StatusUnauthorized)
	b.Get("/inbound/sources/1").WantStatus(t, http.StatusNotFound)
}

// Every kind can be added with what its own form offers, and no form offers
// what its kind doesn't take.
func TestSourceForms(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	kinds := b.Get("/inbound/sources/new").Body
	for _, kind := range provider.Facts() {
		if strings.Count(kinds, `provider=`+string(kind.Provider)+`"`) != 1 {
			t.Errorf("%s can't be chosen once", kind.Provider)
		}
		page := b.Get("/inbound/sources/new?provider=" + string(kind.Provider))
		page.WantStatus(t, http.StatusOK)
		for _, option := range []inbound.SourceOption{inbound.OptionHeader, inbound.OptionMap, inbound.OptionSender, inbound.OptionAccessKey,
			inbound.OptionUsername} {
			if strings.Contains(page.Body, `name="`+string(option)+`"`) != slices.Contains(kind.Options, option) {
				t.Errorf("%s: %s", kind.Provider, option)
			}
		}
		if strings.Contains(page.Body, `name="api_key"`) != kind.CatchUp || strings.Contains(page.Body, "api_url") {
			t.Errorf("%s: the API key", kind.Provider)
		}
		form := []string{"provider", string(kind.Provider), "name", string(kind.Provider), "api_url", "http://127.0.0.1:1/"}
		if kind.DefaultAuth == "" {
			form = append(form, "auth", string(kind.Auths[0]))
		}
		if kind.NamesNoAccount {
			form = append(form, "bank_account_id", "1")
		}
		if slices.Contains(kind.Options, inbound.OptionAccessKey) {
			form = append(form, "access_key", "an access key")
		}
		if kind.NeedsSecret(kind.DefaultAuth) {
			form = append(form, "secret", "a key of "+string(kind.Provider))
		}
		if needed := regexp.MustCompile(`name="secret"[^>]* required`).MatchString(page.Body); needed != kind.NeedsSecret(kind.DefaultAuth) {
			t.Errorf("%s: the form demands a secret: %v", kind.Provider, needed)
		}
		if slices.Contains(kind.Options, inbound.OptionMap) {
			form = append(form, "map", "id=data.id\r\namount = data.sum\r\naccount=data.acc\r\ncontent=\r\n")
		}
		if slices.Contains(kind.Options, inbound.OptionSender) {
			form = append(form, "sender", "MYBANK\r\nOTHER\r\n")
		}
		a := b.Submit("/inbound/sources", form...)
		urlAndSecret(t, a, w.URL)
		steps := strings.Count(a.Body[strings.Index(a.Body, "Set up at the provider"):], "<li>")
		if said := kind.Setup(inbound.Source{Auth: kind.Auths[0]}).EN; steps != len(regexp.MustCompile(`(?:^|\s)\d\. `).FindAllString(said, -1)) {
			t.Errorf("%s: %d steps of %q", kind.Provider, steps, said)
		}
	}
	for _, src := range sourcesOf(w) {
		if src.APIURL != "" {
			t.Errorf("%s has the address of an API", src.Provider)
		}
	}
	// payOS signs with a key of its own: a source with another refuses every call.
	b.Submit("/inbound/sources", "provider", "payos", "name", "a").Shows(t, `id="secret-problem"`, "Secret is required")
	payos := w.Source("payos", "", "a checksum key")
	rotate := "/inbound/sources/" + itoa(payos.ID) + "/rotate"
	b.Get(rotate).Shows(t, `name="secret" type="password" autocomplete="off" required`)
	b.Submit(rotate, "secret", "").Shows(t, `id="secret-problem"`, "Secret is required")
	b.Submit(rotate, "secret", "another checksum key").WantStatus(t, http.StatusOK)
	if list := sourcesOf(w); list[len(list)-1].Secret != "another checksum key" {
		t.Errorf("the secret is %q", list[len(list)-1].Secret)
	}
	n := len(sourcesOf(w))
	for _, c := range []struct{ form, says string }{
		{"provider=sepay&name=a", `id="auth-problem"`},
		{"provider=native&name=", `id="name-problem"`},
		{"provider=vietqr&name=a&auth=token", "</svg> Authentication method must be one of"}, // a field that the form doesn't show
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
		values, err := url.ParseQuery(c.form + "&secret=typed-secret-1234567&api_key=&once=" + webtest.FormKey())
		apptest.Must(t, err)
		a := b.Send("POST", "/inbound/sources", values)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		if a.Shows(t, c.says); strings.Contains(a.Body, "typed-secret") {
			t.Errorf("%s: a secret that was typed is shown again", c.form)
		}
	}
	for _, provider := range []string{"", "nothing"} {
		b.Submit("/inbound/sources", "provider", provider).WantStatus(t, http.StatusNotFound)
	}
	b.Get("/inbound/sources/new?provider=nothing").WantStatus(t, http.StatusNotFound)
	if len(sourcesOf(w)) != n {
		t.Error("something was added")
	}
}

func TestSourceSettings(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	sms, err := w.Services.Inbound.AddSource(t.Context(), 1, inbound.SourceAdd{Provider: "capcom6", Name: "phone"}, time.Now())
	apptest.Must(t, err)
	sepay := w.Sepay()
	b := w.Browser().SignIn("lan")
	b.Post("/inbound/sources/1/senders", "sender", " MYBANK ").Goes(t, "/inbound/sources/1")
	b.Get("/inbound/sources/1").Shows(t, "MYBANK")
	b.Post("/inbound/sources/1/senders", "sender", "").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/inbound/sources/2/senders", "sender", "X").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/inbound/sources/1/key", "api_key", "a key that is none").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/inbound/sources/2/catch-up").Shows(t, "has no API key")
	b.Post("/inbound/sources/2/key", "api_key", "the key of sepay").Goes(t, "/inbound/sources/2")
	if a := b.Get("/inbound/sources/2"); strings.Contains(a.Body, "the key of sepay") || !strings.Contains(a.Body, "/catch-up") {
		t.Error("the key is shown, or the list can't be read")
	}
	if list := sourcesOf(w); list[0].ID != sms.ID || len(list[0].Options.Senders) != 1 || list[1].ID != sepay.ID ||
		list[1].APIKey != "the key of sepay" {
		t.Errorf("%+v", list)
	}
}

// A text from a sender who isn't allowed yet is allowed and read again from the page
// of its call.
func TestAllowSenderFromCall(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	other := w.SecondAccount()
	w.User(1, "lan", access.RoleDeveloper)
	w.User(other, "minh", access.RoleDeveloper)
	w.Link("ACB", apptest.SomeAccount)
	s := w.Source("capcom6", "", "")
	w.Texts(webtest.Rejected, s, apptest.PhoneText{Sender: "8149"})
	path := fmt.Sprintf("/inbound/events/%d", w.NewestEvent().ID)
	b := w.Browser().SignIn("lan")
	a := b.Get(path)
	a.Shows(t, "which is not known as a sender name", "Allow sender <bdi>8149</bdi> and reprocess", `action="/inbound/sources/1/senders"`,
		`name="sender" value="8149"`)
	hides(t, a, "source allow")

	b.Post("/inbound/sources/1/senders", "sender", "8149", "event_id", "99").WantStatus(t, http.StatusNotFound)
	w.Browser().SignIn("minh").Post("/inbound/sources/1/senders", "sender", "8149", "event_id", "1").WantStatus(t, http.StatusNotFound)
	a = b.Post("/inbound/sources/1/senders", "sender", "", "event_id", "1")
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, "Inbound call 1")
	w.WantTransactions(0)
	if list := sourcesOf(w); len(list[0].Options.Senders) != 0 {
		t.Errorf("%+v", list[0].Options)
	}

	b.Post("/inbound/sources/1/senders", "sender", "8149", "event_id", "1").Goes(t, path)
	a = b.Get(path)
	a.Shows(t, "Sender allowed. Reprocessed. Recorded: 1;")
	hides(t, a, "and reprocess")
	w.WantTransactions(1)
}

var sourceActions = []action{
	{"GET", "/inbound"}, {"GET", "/inbound/sources/new"}, {"POST", "/inbound/sources"}, {"GET", "/inbound/sources/%d"},
	{"GET", "/inbound/sources/%d/rotate"},
	{"POST", "/inbound/sources/%d/rotate"}, {"POST", "/inbound/sources/%d/senders"}, {"POST", "/inbound/sources/%d/key"},
	{"POST", "/inbound/sources/%d/catch-up"},
	{"GET", "/inbound/sources/%d/remove"}, {"POST", "/inbound/sources/%d/remove"}, {"GET", "/inbound/events"}, {"GET", "/inbound/events/%d"},
	{"POST", "/inbound/events/%d/link"}, {"POST", "/inbound/events/%d/retry"}, {"POST", "/inbound/events/%d/discard"},
	{"GET", "/inbound/refused"},
}

func TestSourceTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	src := w.Native()
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{Content: "of account one"})
	actions(sourceActions).wantOwnersOnly(w, src.ID, src.Token, func() string {
		events, n, err := w.Services.Inbound.InboundEvents(context.Background(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 10}})
		apptest.Must(t, err)
		return fmt.Sprintf("%+v %d %d %d", sourcesOf(w), n, events[0].Open, len(bankAccountsOf(w)))
	}, "provider", "native", "name", "test", "secret", "a secret of the stranger", "sender", "X", "api_key", "k", "bank", "ACB",
		"account_number", apptest.SomeAccount, "account_name", "EVE", "sure", "1")
	stranger := w.Browser().SignIn("stranger")
	stranger.Get("/inbound/events?source_id="+itoa(src.ID)).WantStatus(t, http.StatusUnprocessableEntity)
	stranger.Get("/inbound/refused?source_id="+itoa(src.ID)).WantStatus(t, http.StatusUnprocessableEntity)
}

// Whoever names another host in a request gets no link that leads there.
func TestAddressesOfAnotherHost(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Source("sepay", inbound.AuthAPIKey, "")
	jar := w.Browser().SignIn("lan").Client.Jar
	here, err := url.Parse(w.URL)
	apptest.Must(t, err)
	do := func(method, path string, form url.Values) webtest.Answer {
		r, err := http.NewRequest(method, w.URL+path, strings.NewReader(form.Encode()))
		apptest.Must(t, err)
		r.Host = "evil.example"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range jar.Cookies(here) {
			r.AddCookie(c)
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		apptest.Must(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		apptest.Must(t, err)
		return webtest.Answer{Status: response.StatusCode, Header: response.Header, Body: string(body)}
	}
	once := func(path string) string { return do("GET", path, nil).Once(t) }
	for name, a := range map[string]webtest.Answer{
		"sources": do("GET", "/inbound", nil),
		"source":  do("GET", "/inbound/sources/1", nil),
		"added": do("POST", "/inbound/sources",
			url.Values{"once": {once("/inbound/sources/new?provider=casso")}, "provider": {"casso"}, "name": {"casso"}}),
		"key":     do("POST", "/keys", url.Values{"once": {once("/keys")}, "name": {"shop"}, "scope": {"read"}}),
		"counter": do("POST", "/settings/counters", url.Values{"once": {once("/settings")}, "name": {"counter"}}),
	} {
		if a.Status != http.StatusOK || strings.Contains(a.Body, "evil.example") || !strings.Contains(a.Body, "/api/") &&
			!strings.Contains(a.Body, "/counter/") {
			t.Errorf("%s: %d\n%s", name, a.Status, a.Body)
		}
	}
}

// A source or a counter link with the name of one that is in use is made only once the
// form is sent again; one that is no longer in use doesn't count.
func TestSameName(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	counters := func() (n int) {
		list, err := w.Services.Payments.CounterLinks(t.Context(), 1)
		apptest.Must(t, err)
		return len(list)
	}
	for _, c := range []struct {
		path, remove string
		form         []string
		made         func() int
	}{
		{"/inbound/sources", "/inbound/sources/%d/remove", []string{"provider", "native", "name", "Quầy “1”", "auth", "bearer"},
			func() int { return len(sourcesOf(w)) }},
		{"/settings/counters", "/settings/counters/%d/revoke", []string{"name", "Quầy “1”"}, counters},
	} {
		send := func(more ...string) webtest.Answer { return b.Submit(c.path, append(c.form, more...)...) }
		send().WantStatus(t, http.StatusOK)
		for _, refused := range []webtest.Answer{send(), send("same_name", "Quầy 2")} {
			refused.WantStatus(t, http.StatusUnprocessableEntity)
			refused.Shows(t, "Name is that of another one in use", `name="same_name" value="Quầy “1”"`)
		}
		if n := c.made(); n != 1 {
			t.Errorf("%s: %d", c.path, n)
		}
		send("same_name", "Quầy “1”").WantStatus(t, http.StatusOK)
		if n := c.made(); n != 2 {
			t.Errorf("%s: %d", c.path, n)
		}
		for id := range 2 {
			b.Post(fmt.Sprintf(c.remove, id+1), "word", "Quầy “1”").WantStatus(t, http.StatusSeeOther)
		}
		send().WantStatus(t, http.StatusOK)
	}
}
