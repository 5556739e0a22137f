package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

const somePassword = "mật khẩu rất dài"

// browser is a visitor of the dashboard, with cookies and without scripts.
type browser struct {
	t      *testing.T
	base   string
	client *http.Client
	header http.Header // sent with every request
}

func (w *world) browser() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	must(w.t, err)
	return &browser{w.t, w.url, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, http.Header{}}
}

func (b *browser) send(method, path string, form url.Values) answer {
	b.t.Helper()
	request, err := http.NewRequest(method, b.base+path, strings.NewReader(form.Encode()))
	must(b.t, err)
	for name, values := range b.header {
		request.Header[name] = values
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.client.Do(request)
	must(b.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(b.t, err)
	return answer{response.StatusCode, response.Header, string(body)}
}

func (b *browser) get(path string) answer { b.t.Helper(); return b.send("GET", path, nil) }

func (b *browser) post(path string, pairs ...string) answer {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return b.send("POST", path, form)
}

// goes checks that an answer sends the browser on.
func (a answer) goes(t *testing.T, to string) {
	t.Helper()
	if a.status != http.StatusSeeOther || a.header.Get("Location") != to {
		t.Errorf("%d to %q, want 303 to %q\n%s", a.status, a.header.Get("Location"), to, a.body)
	}
}

func (w *world) user(accountID int64, name string, role app.Role) app.User {
	w.t.Helper()
	u, err := w.service.CreateUser(context.Background(), accountID, app.UserCreate{Name: name, Password: somePassword, Role: role}, time.Now())
	must(w.t, err)
	return u
}

func (b *browser) signIn(name string) *browser {
	b.t.Helper()
	b.post("/login", "name", name, "password", somePassword).goes(b.t, "/")
	return b
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	first, err := w.service.OpenSetUp(ctx, time.Now())
	must(t, err)
	token, err := w.service.OpenSetUp(ctx, time.Now())
	must(t, err)
	form := []string{"name", "lan", "password", somePassword, "password_again", somePassword}
	for _, path := range []string{"/setup/" + first, "/setup/wrong"} {
		if a := w.browser().get(path); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, a.status)
		}
		if a := w.browser().post(path, form...); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	b := w.browser()
	if a := b.get("/setup/" + token); a.status != http.StatusOK || !strings.Contains(a.body, "password_again") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, c := range [][]string{
		{"name", "lan", "password", somePassword, "password_again", "another one"},
		{"name", "lan", "password", "short", "password_again", "short"},
		{"name", "Lân", "password", somePassword, "password_again", somePassword},
	} {
		if a := b.post("/setup/"+token, c...); a.status != http.StatusUnprocessableEntity || strings.Contains(a.body, somePassword) {
			t.Errorf("%q: %d %s", c, a.status, a.body)
		}
	}
	b.post("/setup/"+token, form...).goes(t, "/")
	if a := b.get("/"); a.status != http.StatusOK || !strings.Contains(a.body, ">lan<") {
		t.Errorf("%d %s", a.status, a.body)
	}
	// It counts once, and no new one is made once there is a user.
	if a := w.browser().post("/setup/"+token, "name", "eve", "password", somePassword, "password_again", somePassword); a.status != http.StatusForbidden {
		t.Errorf("a second time: %d", a.status)
	}
	if again, err := w.service.OpenSetUp(ctx, time.Now()); err != nil || again != "" {
		t.Errorf("another link: %q, %v", again, err)
	}
	users, err := w.service.Users(ctx, 1)
	must(t, err)
	if len(users) != 1 || users[0].Role != app.RoleOwner || users[0].AccountID != 1 {
		t.Errorf("users %+v", users)
	}
}

func TestSetUpEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, err := w.service.OpenSetUp(context.Background(), time.Now().Add(-app.SetUpTime))
	must(t, err)
	if a := w.browser().get("/setup/" + token); a.status != http.StatusForbidden {
		t.Errorf("after half an hour: %d", a.status)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser()
	b.get("/").goes(t, "/login")
	b.get("/transactions?q=a&type=IN").goes(t, "/login?back="+url.QueryEscape("/transactions?q=a&type=IN"))
	b.post("/transactions").wantStatus(t, http.StatusMethodNotAllowed)
	for _, c := range []struct{ name, password string }{{"lan", "wrong"}, {"nobody", somePassword}, {"", ""}, {"lan", strings.Repeat("a", 5000)}} {
		a := b.post("/login", "name", c.name, "password", c.password)
		if a.status != http.StatusUnauthorized || !strings.Contains(a.body, "The username or password is incorrect.") {
			t.Errorf("%+v: %d %s", c, a.status, a.body)
		}
	}
	a := b.post("/login", "name", " LAN ", "password", somePassword, "back", "/transactions?q=a")
	a.goes(t, "/transactions?q=a")
	cookie := a.cookie("baoco")
	for _, part := range []string{"baoco=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("cookie %q has no %s", cookie, part)
		}
	}
	token := strings.TrimPrefix(strings.Split(cookie, ";")[0], "baoco=")
	var data []byte
	var kept string
	w.file(func(db *sql.DB) error { return db.QueryRow(`SELECT token, data FROM sessions`).Scan(&kept, &data) })
	if kept == token || strings.Contains(string(data), token) {
		t.Error("the session's token stands in the file")
	}
	b.get("/login").goes(t, "/")
	b.post("/logout").goes(t, "/login")
	b.get("/").goes(t, "/login")
}

// cookie is the Set-Cookie of a name; empty where there is none.
func (a answer) cookie(name string) string {
	for _, c := range a.header.Values("Set-Cookie") {
		if strings.HasPrefix(c, name+"=") {
			return c
		}
	}
	return ""
}

func (a answer) wantStatus(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%d, want %d\n%s", a.status, status, a.body)
	}
}

// Where a sign-in leads is always here.
func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	for _, back := range []string{"//evil.example/", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "evil.example", "/%0d%0aX: y", ""} {
		a := w.browser().post("/login", "name", "lan", "password", somePassword, "back", back)
		to, err := url.Parse(a.header.Get("Location"))
		if err != nil || to.Host != "" || to.Scheme != "" || !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(a.header.Get("Location"), "//") {
			t.Errorf("%q leads to %q", back, a.header.Get("Location"))
		}
		if a.status == http.StatusTooManyRequests {
			t.Fatal("limited")
		}
	}
}

// A token that somebody else put into the browser is worth nothing.
// A token that an attacker knows, since it is of a session of the attacker's
// own, is not that of whoever signs in with it.
func TestSessionFixation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "mallory", app.RoleViewer)
	here, err := url.Parse(w.url)
	must(t, err)
	attacker, victim := w.browser().signIn("mallory"), w.browser()
	planted := attacker.client.Jar.Cookies(here)
	victim.client.Jar.SetCookies(here, planted)
	if a := victim.get("/settings"); !strings.Contains(a.body, "mallory") {
		t.Fatalf("the plant is of no session: %d", a.status)
	}
	victim.signIn("lan")
	victim.get("/webhooks").wantStatus(t, http.StatusOK)
	again := w.browser()
	again.client.Jar.SetCookies(here, planted)
	for path, to := range map[string]string{"/webhooks": "/login?back=%2Fwebhooks", "/": "/login"} {
		again.get(path).goes(t, to)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.user(1, "boss", app.RoleOwner)
	u := w.user(1, "lan", app.RoleOwner)
	for _, end := range []func() error{
		func() error { _, err := w.service.EndSessions(ctx, 1, u.ID); return err },
		func() error { _, err := w.service.SetPassword(ctx, 1, u.ID, somePassword); return err },
		func() error { _, err := w.service.SetRole(ctx, 1, u.ID, app.RoleViewer); return err },
	} {
		one, two := w.browser().signIn("lan"), w.browser().signIn("lan")
		must(t, end())
		one.get("/").goes(t, "/login")
		two.get("/").goes(t, "/login")
	}
	b := w.browser().signIn("lan")
	must(t, w.service.RemoveUser(ctx, 1, u.ID))
	b.get("/").goes(t, "/login")
	if users, err := w.service.Users(ctx, 1); err != nil || len(users) != 1 {
		t.Errorf("%v, %v", users, err)
	}
	if err := w.service.RemoveUser(ctx, 1, 1); app.CodeOf(err) != app.CodeConflict {
		t.Errorf("the last owner: %v", err)
	}
}

// A browser that was signed in as somebody who was removed is nobody, whoever
// is created next, in whatever account. Whoever changes their own role goes on.
func TestRemovedUsersBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second, err := w.service.CreateAccount(t.Context(), "second", time.Now())
	must(t, err)
	boss := w.user(1, "boss", app.RoleOwner)
	for i, next := range []int64{1, second.ID} {
		u := w.user(1, "lan", app.RoleOwner)
		b := w.browser().signIn("lan")
		b.get("/").wantStatus(t, http.StatusOK)
		must(t, w.service.RemoveUser(t.Context(), 1, u.ID))
		other := w.user(next, fmt.Sprint("other", i), app.RoleOwner)
		b.get("/").goes(t, "/login")
		if other.ID <= u.ID || other.Generation == u.Generation {
			t.Errorf("user %d of generation %d came after user %d of %d", other.ID, other.Generation, u.ID, u.Generation)
		}
	}
	b := w.browser().signIn("boss")
	b.post(fmt.Sprint("/settings/users/", boss.ID, "/role"), "role", "viewer").goes(t, "/settings")
	b.get("/").wantStatus(t, http.StatusOK)
}

func TestOtherSites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}}, {"Origin": {"null"}},
	} {
		b.header = header
		for _, path := range []string{"/logout", "/look", "/login"} {
			b.post(path).wantStatus(t, http.StatusForbidden)
		}
	}
	b.header = http.Header{}
	b.get("/").wantStatus(t, http.StatusOK)
}

func TestPageHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	for _, path := range []string{"/", "/transactions", "/transactions/99"} {
		h := b.get(path).header
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Content-Type": "text/html; charset=utf-8",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s %q", path, name, h.Get(name))
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

// An address that leads nowhere is a page to a browser, JSON to a program.
func TestNothingHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
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
		b.header = http.Header{"Accept": {c.accept}}
		a := b.get(c.path)
		a.wantStatus(t, c.status)
		if page := strings.Contains(a.body, `href="/transactions"`); page != c.page {
			t.Errorf("%s for %q: a page with the menu: %t", c.path, c.accept, page)
		}
		if kind := a.header.Get("Content-Type"); !c.page && kind != "application/json" && !strings.HasPrefix(kind, "application/json;") {
			t.Errorf("%s for %q: %s", c.path, c.accept, kind)
		}
	}
}

func TestLanguageSwitch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	b.header.Set("Accept-Language", "vi-VN,vi;q=0.9,en;q=0.8")
	if a := b.get("/"); !strings.Contains(a.body, `<html lang="vi"`) || !strings.Contains(a.body, "Tổng quan") {
		t.Error("not in the browser's language")
	}
	b.post("/look", "lang", "en", "back", "/transactions").goes(t, "/transactions")
	if a := b.get("/"); !strings.Contains(a.body, `<html lang="en"`) || strings.Contains(a.body, "Tổng quan") {
		t.Error("not in the language that was chosen")
	}
	b.post("/look", "theme", "dark", "back", "//evil.example").goes(t, "/")
	if a := b.get("/"); !strings.Contains(a.body, `data-theme="dark"`) {
		t.Error("not in the theme that was chosen")
	}
	b.post("/look", "theme", "neon", "lang", "de").goes(t, "/")
}

// The language of the installation is for visitors whose browser names neither.
func TestLanguageOfTheInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := web.New(web.Config{Service: w.service, Lang: app.Vietnamese})
	for accepted, want := range map[string]string{"": "vi", "fr": "vi", "fr, en;q=0.1": "en", "vi;q=0.1, en": "en"} {
		r := httptest.NewRequest("GET", "/login", nil)
		r.Header.Set("Accept-Language", accepted)
		a := httptest.NewRecorder()
		if h.ServeHTTP(a, r); !strings.Contains(a.Body.String(), `<html lang="`+want+`"`) {
			t.Errorf("%q: not %s\n%.200s", accepted, want, a.Body)
		}
	}
}
