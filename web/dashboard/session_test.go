package dashboard_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/payment"
	"baoco/app/upkeep"
	"baoco/web"
	"baoco/web/webtest"
)

func TestSetUp(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	first, err := w.Services.Access.OpenSetUp(ctx, time.Now())
	apptest.Must(t, err)
	token, err := w.Services.Access.OpenSetUp(ctx, time.Now())
	apptest.Must(t, err)
	form := []string{"name", "lan", "password", apptest.SomePassword, "password_again", apptest.SomePassword}
	for _, path := range []string{"/setup/" + first, "/setup/wrong"} {
		if a := w.Browser().Get(path); a.Status != http.StatusForbidden {
			t.Errorf("%s: %d", path, a.Status)
		}
		if a := w.Browser().Post(path, form...); a.Status != http.StatusForbidden {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	b := w.Browser()
	if a := b.Get("/setup/" + token); a.Status != http.StatusOK || !strings.Contains(a.Body, "password_again") {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, c := range [][]string{
		{"name", "lan", "password", apptest.SomePassword, "password_again", "another one"},
		{"name", "lan", "password", "short", "password_again", "short"},
		{"name", "漢字", "password", apptest.SomePassword, "password_again", apptest.SomePassword},
	} {
		if a := b.Post("/setup/"+token, c...); a.Status != http.StatusUnprocessableEntity || strings.Contains(a.Body, apptest.SomePassword) {
			t.Errorf("%q: %d %s", c, a.Status, a.Body)
		}
	}
	b.Post("/setup/"+token, form...).Goes(t, "/guide")
	if a := b.Get("/guide"); a.Status != http.StatusOK || !strings.Contains(a.Body, ">lan<") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// It counts once, and no new one is made once there is a user.
	if a := w.Browser().Post("/setup/"+token, "name", "eve", "password", apptest.SomePassword, "password_again",
		apptest.SomePassword); a.Status != http.StatusForbidden || !strings.Contains(a.Body, "If there is a user already, sign in") {
		t.Errorf("a second time: %d", a.Status)
	}
	if again, err := w.Services.Access.OpenSetUp(ctx, time.Now()); err != nil || again != "" {
		t.Errorf("another link: %q, %v", again, err)
	}
	users, err := w.Services.Access.Users(ctx, 1)
	apptest.Must(t, err)
	if len(users) != 1 || users[0].Role != access.RoleOwner || users[0].AccountID != 1 {
		t.Errorf("users %+v", users)
	}
}

func TestSetUpEnds(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	token, err := w.Services.Access.OpenSetUp(context.Background(), time.Now().Add(-access.SetUpTime))
	apptest.Must(t, err)
	if a := w.Browser().Get("/setup/" + token); a.Status != http.StatusForbidden {
		t.Errorf("after half an hour: %d", a.Status)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser()
	b.Get("/").Goes(t, "/login")
	b.Get("/transactions?q=a&type=IN").Goes(t, "/login?back="+url.QueryEscape("/transactions?q=a&type=IN"))
	b.Post("/transactions").WantStatus(t, http.StatusMethodNotAllowed)
	for _, c := range []struct{ name, password string }{{"lan", "wrong"}, {"nobody", apptest.SomePassword}, {"", ""},
		{"lan", strings.Repeat("a", 5000)}} {
		a := b.Post("/login", "name", c.name, "password", c.password)
		if a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, "The username or password is incorrect.") {
			t.Errorf("%+v: %d %s", c, a.Status, a.Body)
		}
	}
	a := b.Post("/login", "name", " LAN ", "password", apptest.SomePassword, "back", "/transactions?q=a")
	a.Goes(t, "/transactions?q=a")
	cookie := a.Cookie("baoco")
	for _, part := range []string{"baoco=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("cookie %q has no %s", cookie, part)
		}
	}
	token := strings.TrimPrefix(strings.Split(cookie, ";")[0], "baoco=")
	var data []byte
	var kept string
	w.File(func(db *sql.DB) error { return db.QueryRow(`SELECT token, data FROM sessions`).Scan(&kept, &data) })
	if kept == token || strings.Contains(string(data), token) {
		t.Error("the session's token stands in the file")
	}
	b.Get("/login").Goes(t, "/")
	b.Post("/logout").Goes(t, "/login")
	b.Get("/").Goes(t, "/login")
}

// A form that was sent after the session had ended changes nothing. Its sender
// hears it, signs in, and is at the page of the form.
func TestFormAfterSession(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	hook, _ := w.Webhook("https://shop.vn/", delivery.WebhookAll)
	for path, back := range map[string]string{
		"/webhooks": "/webhooks/new", "/banks": "/banks/new", "/inbound/sources": "/inbound/sources/new", "/webhooks/1/edit": "/webhooks/1/edit",
		"/webhooks/1/toggle": "/webhooks/1", "/banks/1/toggle": "/banks/1", "/settings/alerts/telegram": "/settings/alerts",
		"/settings/users": "/settings", "/deliveries/resend": "/deliveries", "/transactions/chosen": "/transactions",
		"/webhooks/1/delete": "/webhooks/1/delete",
	} {
		b := w.Browser()
		login := b.Post(path, "name", "typed", "active", "0").Header.Get("Location")
		if to, err := url.Parse(login); err != nil || to.Path != "/login" || to.Query().Get("back") != back || to.Query().Get("unsaved") != "1" {
			t.Errorf("%s leads to %s", path, login)
			continue
		}
		b.Get(login).Shows(t, "Your session has ended, and nothing was saved.", `name="unsaved" value="1"`, `name="back" value="`+back+`"`)
		if back != "/webhooks/1/edit" {
			continue // signing in is slow on purpose
		}
		wrong := b.Post("/login", "name", "nobody", "password", "wrong", "back", back, "unsaved", "1")
		wrong.Shows(t, "nothing was saved", `name="back" value="`+back+`"`)
		b.Post("/login", "name", "lan", "password", apptest.SomePassword, "back", back, "unsaved", "1").Goes(t, back)
		b.Get(back).Shows(t, "What you sent before was not saved")
		b.Get(back).Hides(t, "What you sent before was not saved")
		b.Post("/logout")
		b.Post("/login", "name", "lan", "password", apptest.SomePassword, "back", back).Goes(t, back)
		b.Get(back).Hides(t, "What you sent before was not saved")
	}
	if now := webhooksOf(w)[0]; !now.IsActive || now.Name != hook.Name {
		t.Errorf("%+v", now)
	}
	w.Browser().Get("/login").Hides(t, "nothing was saved")
	if n := w.Rows("sessions WHERE user_id IS NULL OR user_id = 0"); n != 0 {
		t.Errorf("strangers made %d sessions", n)
	}
}

// The page of an error says what it is, and leads where its reader can go.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "cashier", access.RoleCashier)
	owner, cashier, nobody := w.Browser().SignIn("lan"), w.Browser().SignIn("cashier"), w.Browser()
	const overview, signIn = `href="/">Back to overview`, `href="/login">Sign in`
	for _, c := range []struct {
		browser      *webtest.Browser
		path         string
		status       int
		shows, hides []string
	}{
		{owner, "/webhooks/99", http.StatusNotFound, []string{"<h1>This page was not found</h1>", overview}, []string{signIn, "data-live="}},
		{owner, "/nothing", http.StatusNotFound, []string{"<h1>This page was not found</h1>", overview}, []string{signIn}},
		{nobody, "/nothing", http.StatusNotFound, []string{"<h1>This page was not found</h1>", signIn}, []string{overview}},
		{cashier, "/webhooks", http.StatusForbidden,
			[]string{"<h1>You may not see this page</h1>", "Owners change roles", overview}, []string{signIn}},
		{nobody, "/counter/revoked", http.StatusNotFound, []string{"This link no longer works. Ask the shop owner for a new one."},
			[]string{overview, signIn}},
		{nobody, "/setup/used", http.StatusForbidden, []string{"<h1>This did not work</h1>", signIn}, []string{overview, "Owners change roles"}},
	} {
		c.browser.Header.Set("Accept", "text/html")
		a := c.browser.Get(c.path)
		a.WantStatus(t, c.status)
		a.Shows(t, c.shows...)
		a.Hides(t, c.hides...)
	}
}

// Where a sign-in leads is always here.
func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	for _, back := range []string{"//evil.example/", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
		"evil.example", "/%0d%0aX: y", ""} {
		a := w.Browser().Post("/login", "name", "lan", "password", apptest.SomePassword, "back", back)
		to, err := url.Parse(a.Header.Get("Location"))
		// Browsers take a backslash for a slash.
		if location := strings.ReplaceAll(a.Header.Get("Location"), `\`, "/"); err != nil || to.Host != "" || to.Scheme != "" ||
			!strings.HasPrefix(to.Path, "/") || strings.HasPrefix(location, "//") {
			t.Errorf("%q leads to %q", back, a.Header.Get("Location"))
		}
		if a.Status == http.StatusTooManyRequests {
			t.Fatal("limited")
		}
	}
}

// A token that somebody else put into the browser is worth nothing.
// A token that an attacker knows, since it is of a session of the attacker's
// own, is not that of whoever signs in with it.
func TestSessionFixation(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "mallory", access.RoleCashier)
	here, err := url.Parse(w.URL)
	apptest.Must(t, err)
	attacker, victim := w.Browser().SignIn("mallory"), w.Browser()
	planted := attacker.Client.Jar.Cookies(here)
	victim.Client.Jar.SetCookies(here, planted)
	if a := victim.Get("/settings"); !strings.Contains(a.Body, "mallory") {
		t.Fatalf("the plant is of no session: %d", a.Status)
	}
	victim.SignIn("lan")
	victim.Get("/webhooks").WantStatus(t, http.StatusOK)
	again := w.Browser()
	again.Client.Jar.SetCookies(here, planted)
	for path, to := range map[string]string{"/webhooks": "/login?back=%2Fwebhooks", "/": "/login"} {
		again.Get(path).Goes(t, to)
	}
}

// A form that was begun in a session counts for nothing once the session has ended,
// however slowly it arrives.
func TestFormOfEndedSession(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	lan := w.User(1, "lan", access.RoleOwner)
	for path, form := range map[string]string{
		"/settings/sign-in/others": "x=1", "/settings/sign-out": "x=1", "/settings/users/1/role": "role=owner",
		"/settings/users": "name=hoa&role=owner&once=" + webtest.FormKey(),
	} {
		b := w.Browser().SignIn("lan")
		body, rest := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		// the server knows whose form it is
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got100Continue: func() {
			_, err := w.Services.Access.EndSessions(t.Context(), 1, lan.ID)
			go func() { _, _ = io.WriteString(rest, form); rest.CloseWithError(err) }()
		}}), "POST", b.Base+path, body)
		apptest.Must(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Expect", "100-continue")
		a, err := b.Client.Do(request)
		apptest.Must(t, err)
		a.Body.Close()
		if to := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/login") {
			t.Errorf("%s: %d, to %s", path, a.StatusCode, to)
		}
		b.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	}
	if n := w.Rows("users"); n != 1 {
		t.Errorf("%d users", n)
	}

	// Nor where it is here already when the session ends.
	before := app.ActingAs(t.Context(), app.Actor{Way: app.WayDashboard, ID: lan.ID, Name: "lan", At: time.Now(), Generation: lan.Generation})
	now, _, err := w.Services.Access.User(t.Context(), lan.ID)
	apptest.Must(t, err)
	for name, act := range map[string]func() error{
		"end the sessions": func() error { _, err := w.Services.Access.EndSessions(before, 1, lan.ID); return err },
		"set the role":     func() error { _, err := w.Services.Access.SetRole(before, 1, lan.ID, access.RoleOwner); return err },
		"set the password": func() error {
			_, err := w.Services.Access.ChangePassword(before, lan, apptest.SomePassword, "another password", time.Now())
			return err
		},
	} {
		if err := act(); app.CodeOf(err) != app.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _, err := w.Services.Access.User(t.Context(), lan.ID); err != nil || after.Generation != now.Generation ||
		now.Generation == lan.Generation {
		t.Errorf("%v: %+v, %+v", err, now, after)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "boss", access.RoleOwner)
	u := w.User(1, "lan", access.RoleOwner)
	for _, end := range []func() error{
		func() error { _, err := w.Services.Access.EndSessions(ctx, 1, u.ID); return err },
		func() error {
			_, err := w.Services.Access.SetPassword(ctx, u, apptest.SomePassword, app.IdempotencyKey{}, time.Now())
			return err
		},
		func() error { _, err := w.Services.Access.SetRole(ctx, 1, u.ID, access.RoleCashier); return err },
	} {
		one, two := w.Browser().SignIn("lan"), w.Browser().SignIn("lan")
		apptest.Must(t, end())
		one.Get("/").Goes(t, "/login")
		two.Get("/").Goes(t, "/login")
	}
	b := w.Browser().SignIn("lan")
	apptest.Must(t, w.Services.Access.RemoveUser(ctx, 1, u.ID))
	b.Get("/").Goes(t, "/login")
	if users, err := w.Services.Access.Users(ctx, 1); err != nil || len(users) != 1 {
		t.Errorf("%v, %v", users, err)
	}
	if err := w.Services.Access.RemoveUser(ctx, 1, 1); app.CodeOf(err) != app.CodeConflict {
		t.Errorf("the last owner: %v", err)
	}
}

// A browser that was signed in as somebody who was removed is nobody, whoever
// is created next, in whatever account. Whoever changes their own role goes on.
func TestRemovedUsersBrowser(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	second, err := w.Services.Ledger.CreateAccount(t.Context(), "second", time.Now())
	apptest.Must(t, err)
	boss := w.User(1, "boss", access.RoleOwner)
	for i, next := range []int64{1, second.ID} {
		u := w.User(1, "lan", access.RoleOwner)
		b := w.Browser().SignIn("lan")
		b.Get("/").WantStatus(t, http.StatusOK)
		apptest.Must(t, w.Services.Access.RemoveUser(t.Context(), 1, u.ID))
		other := w.User(next, fmt.Sprint("other", i), access.RoleOwner)
		b.Get("/").Goes(t, "/login")
		if other.ID <= u.ID || other.Generation == u.Generation {
			t.Errorf("user %d of generation %d came after user %d of %d", other.ID, other.Generation, u.ID, u.Generation)
		}
	}
	b := w.Browser().SignIn("boss")
	b.Post(fmt.Sprint("/settings/users/", boss.ID, "/role"), "role", "cashier", "sure", "1").Goes(t, "/settings")
	b.Get("/").WantStatus(t, http.StatusOK)
}

func TestOtherSites(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}}, {"Origin": {"null"}},
	} {
		b.Header = header
		for _, path := range []string{"/logout", "/look", "/login"} {
			b.Post(path).WantStatus(t, http.StatusForbidden)
		}
	}
	b.Header = http.Header{}
	b.Get("/").WantStatus(t, http.StatusOK)
}

// TestPlainName: at a name of the shop's network browsers send no Sec-Fetch-Site, and
// of a page that asks for no referrer they would send "Origin: null" with a form.
func TestPlainName(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t)
	w.User(1, "lan", access.RoleOwner)
	h := web.New(web.Config{Services: w.Services})
	const at = "http://shop.lan:8080"
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept-Language", "vi"}
	send := func(origin string) webtest.Answer {
		return webtest.From(h, "192.0.2.1:1")("POST", at+"/login", "name=lan&password="+apptest.SomePassword, append(form, "Origin", origin)...)
	}
	if policy := webtest.From(h, "192.0.2.1:1")("GET", at+"/login", "").Header.Get("Referrer-Policy"); policy != "same-origin" {
		t.Fatalf("browsers don't name the origin of a form at %s: %q", at, policy)
	}
	send(at).Goes(t, "/")
	for _, other := range []string{"http://evil.example", "http://shop.lan", "null"} {
		a := send(other)
		a.WantStatus(t, http.StatusForbidden)
		a.Shows(t, "Biểu mẫu được gửi từ trang web khác")
	}
}

// TestBaseIsHTTPS: whoever comes by HTTP, where the base URL is one of HTTPS, is led
// there before they sign in, since they could not stay signed in. A proxy that isn't
// trusted, and who comes through it, is none of these.
func TestBaseIsHTTPS(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t)
	w.User(1, "lan", access.RoleOwner)
	link := "/counter/" + counterLink(w, 1, payment.CounterLinkCreate{Name: "quầy"})
	const base, plain = "https://baoco.shop.vn", "http://192.168.1.10:8080"
	h := web.New(web.Config{Services: w.Services, Secure: true, Installation: upkeep.Installation{BaseURL: base}})
	get := func(address string, header ...string) webtest.Answer {
		return webtest.From(h, "192.0.2.1:1")("GET", address, "", header...)
	}
	for _, path := range []string{"/", "/transactions?q=1", "/login?back=%2Fday", "/setup/abc"} {
		get(plain+path).Goes(t, base+path)
		get("http://baoco.shop.vn:8080"+path).Goes(t, base+path)
	}
	for _, passedOn := range [][]string{
		{"http://baoco.shop.vn/login"}, {plain + "/login", "Sec-Fetch-Site", "none"},
		{plain + "/login", "X-Forwarded-For", "203.0.113.1"}, {plain + link},
	} {
		get(passedOn[0], passedOn[1:]...).WantStatus(t, http.StatusOK)
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Origin", plain}
	a := webtest.From(h, "192.0.2.1:1")("POST", plain+"/login", "name=lan&password="+apptest.SomePassword, form...)
	a.Goes(t, "/")
	if cookies := strings.Join(a.Header.Values("Set-Cookie"), "\n"); strings.Contains(cookies, "Secure") || a.Cookie("baoco") == "" {
		t.Errorf("over HTTP: %s", cookies)
	}
}

func TestPageHeaders(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for _, path := range []string{"/", "/transactions", "/transactions/99"} {
		h := b.Get(path).Header
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s %q", path, name, h.Get(name))
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

// An address that leads nowhere is a page to a browser, JSON to a program.
func TestNothingHere(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for _, c := range []struct {
		path, accept string
		status       int
		page         bool
	}{
		{"/nothing", "text/html,*/*;q=0.8", http.StatusNotFound, true},
		{"/webhooks/1/test", "text/html", http.StatusMethodNotAllowed, true},
		{"/nothing", "application/json", http.StatusNotFound, false},
		{"/nothing", "", http.StatusNotFound, false},
		{"/api/v1/nothing", "text/html", http.StatusNotFound, false},
		{"/api/v1/webhooks/1/test", "text/html", http.StatusMethodNotAllowed, false},
	} {
		b.Header = http.Header{"Accept": {c.accept}}
		a := b.Get(c.path)
		a.WantStatus(t, c.status)
		if page := strings.Contains(a.Body, `href="/transactions"`); page != c.page {
			t.Errorf("%s for %q: a page with the menu: %t", c.path, c.accept, page)
		}
		if kind := a.Header.Get("Content-Type"); !c.page && kind != "application/json" && !strings.HasPrefix(kind, "application/json;") {
			t.Errorf("%s for %q: %s", c.path, c.accept, kind)
		}
	}
}

func TestLanguageSwitch(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Header.Set("Accept-Language", "vi-VN,vi;q=0.9,en;q=0.8")
	if a := b.Get("/"); !strings.Contains(a.Body, `<html lang="vi"`) || !strings.Contains(a.Body, "Tổng quan") {
		t.Error("not in the browser's language")
	}
	b.Post("/look", "lang", "en", "back", "/transactions").Goes(t, "/transactions")
	if a := b.Get("/"); !strings.Contains(a.Body, `<html lang="en"`) || strings.Contains(a.Body, "Tổng quan") {
		t.Error("not in the language that was chosen")
	}
	b.Post("/look", "theme", "dark", "back", "//evil.example").Goes(t, "/")
	if a := b.Get("/"); !strings.Contains(a.Body, `data-theme="dark"`) {
		t.Error("not in the theme that was chosen")
	}
	b.Post("/look", "theme", "neon", "lang", "de").Goes(t, "/")
}

// The language of the installation is for visitors whose browser names neither.
func TestLanguageOfTheInstallation(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	h := web.New(web.Config{Services: w.Services, Lang: app.Vietnamese})
	for accepted, want := range map[string]string{"": "vi", "fr": "vi", "fr, en;q=0.1": "en", "vi;q=0.1, en": "en"} {
		r := httptest.NewRequest("GET", "/login", nil)
		r.Header.Set("Accept-Language", accepted)
		a := httptest.NewRecorder()
		if h.ServeHTTP(a, r); !strings.Contains(a.Body.String(), `<html lang="`+want+`"`) {
			t.Errorf("%q: not %s\n%.200s", accepted, want, a.Body)
		}
	}
}

// What a user would have read on the next page isn't shown to whoever opens that
// page after them in the same browser, whether they signed in over the session or
// found it ended.
func TestFlashIsOfOneUser(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "boss", access.RoleOwner)
	lan := w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	const flash = `class="flash"`
	b := w.Browser().SignIn("lan")
	leave := func() {
		b.Post("/settings/alerts", "lang", "vi").Goes(t, "/settings/alerts")
	}
	leave()
	b.SignIn("hoa")
	if a := b.Get("/settings"); a.Status != http.StatusOK || strings.Contains(a.Body, flash) {
		t.Errorf("after a sign-in over the session: %d, flash %t", a.Status, strings.Contains(a.Body, flash))
	}
	b.SignIn("lan")
	leave()
	_, err := w.Services.Access.EndSessions(context.Background(), 1, lan.ID)
	apptest.Must(t, err)
	for _, path := range []string{"/login", "/help"} {
		if a := b.Get(path); strings.Contains(a.Body, flash) {
			t.Errorf("%s shows the flash of a session that has ended", path)
		}
	}
	b.SignIn("hoa")
	if a := b.Get("/settings"); strings.Contains(a.Body, flash) {
		t.Error("the next user reads the flash of an ended session")
	}
}
