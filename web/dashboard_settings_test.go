package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// secondAccount makes another customer.
func (w *world) secondAccount() int64 {
	w.t.Helper()
	a, err := w.service.CreateAccount(context.Background(), "second", time.Now())
	must(w.t, err)
	return a.ID
}

const otherPassword = "một mật khẩu khác hẳn"

func (b *browser) signInWith(name, password string) answer {
	return b.post("/login", "name", name, "password", password)
}

func TestChangeOwnPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "thungan", app.RoleViewer)
	for _, name := range []string{"lan", "thungan"} {
		here, elsewhere := w.browser().signIn(name), w.browser().signIn(name)
		for _, c := range []struct{ present, first, second, says string }{
			{"wrong password", otherPassword, otherPassword, "Current password is incorrect"},
			{somePassword, otherPassword, "something else", "do not match"},
			{somePassword, "short", "short", "must be 10 to 200 characters"},
		} {
			a := here.post("/settings/password", "present_password", c.present, "password", c.first, "password_again", c.second)
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, c.says) || strings.Contains(a.body, otherPassword) {
				t.Errorf("%+v: %d %s", c, a.status, a.body)
			}
		}
		elsewhere.get("/").wantStatus(t, http.StatusOK)
		here.post("/settings/password", "present_password", somePassword, "password", otherPassword, "password_again", otherPassword).goes(t, "/settings")
		here.get("/settings").wantStatus(t, http.StatusOK)
		elsewhere.get("/").goes(t, "/login")
		w.browser().signInWith(name, somePassword).wantStatus(t, http.StatusUnauthorized)
		w.browser().signInWith(name, otherPassword).goes(t, "/")
	}
}

// Whoever finds an open browser can't try passwords in it.
func TestPresentPasswordIsNotGuessed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	refused := 0
	for range 14 {
		if b.post("/settings/password", "present_password", "guess", "password", otherPassword, "password_again", otherPassword).status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 4 {
		t.Errorf("%d of 14 guesses were refused", refused)
	}
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "hoa", app.RoleViewer)
	here, elsewhere, hoa := w.browser().signIn("lan"), w.browser().signIn("lan"), w.browser().signIn("hoa")
	here.post("/settings/sign-out").goes(t, "/login")
	here.get("/").goes(t, "/login")
	elsewhere.get("/").goes(t, "/login")
	hoa.get("/").wantStatus(t, http.StatusOK)
}

var secretText = regexp.MustCompile(`<pre id="secret"[^>]*>([^<]+)</pre>`)

// secret is what a page shows once.
func (a answer) secret(t *testing.T) string {
	t.Helper()
	found := secretText.FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("%d: nothing is shown once\n%s", a.status, a.body)
	}
	return found[1]
}

func TestUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	lan := w.browser().signIn("lan")

	// Without a password one is made, and shown once.
	form := []string{"once", lan.once("/settings"), "name", " ThuNgan ", "role", "viewer", "password", ""}
	password := lan.post("/settings/users", form...).secret(t)
	lan.post("/settings/users", form...).goes(t, "/settings")
	if page := lan.get("/settings").body; strings.Contains(page, password) || !strings.Contains(page, "thungan") {
		t.Error("the settings after creating a user")
	}
	cashier := w.browser()
	cashier.signInWith("thungan", password).goes(t, "/")

	// One that was typed isn't shown at all.
	lan.post("/settings/users", "once", lan.once("/settings"), "name", "hoa", "role", "owner", "password", otherPassword).goes(t, "/settings")
	w.browser().signInWith("hoa", otherPassword).goes(t, "/")

	for _, c := range []struct {
		name, role, password, says string
	}{
		{"hoa", "viewer", otherPassword, "There is a user named hoa already"},
		{"Lân", "viewer", otherPassword, "Name must be"},
		{"minh", "admin", otherPassword, "Role must be"},
		{"minh", "viewer", "short", "Password must be"},
	} {
		a := lan.post("/settings/users", "once", lan.once("/settings"), "name", c.name, "role", c.role, "password", c.password)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, c.says) || strings.Contains(a.body, otherPassword) {
			t.Errorf("%+v: %d %s", c, a.status, a.body)
		}
	}

	// A new password ends the sessions; a made one is shown once.
	form = []string{"once", lan.once("/settings/users/2"), "password", ""}
	second := lan.post("/settings/users/2/password", form...).secret(t)
	cashier.get("/").goes(t, "/login")
	lan.post("/settings/users/2/password", form...).goes(t, "/settings/users/2")
	cashier.signInWith("thungan", second).goes(t, "/")
	lan.post("/settings/users/2/password", "once", lan.once("/settings/users/2"), "password", "short").wantStatus(t, http.StatusUnprocessableEntity)
	lan.post("/settings/users/1/password", "once", lan.once("/settings/users/1"), "password", otherPassword).goes(t, "/settings/users/1")
	lan.get("/settings/users/1").wantStatus(t, http.StatusOK) // their own: this session goes on

	// Another role ends the sessions, and counts from the next one on.
	cashier.get("/keys").wantStatus(t, http.StatusForbidden)
	lan.post("/settings/users/2/role", "role", "owner").goes(t, "/settings/users/2")
	cashier.get("/keys").goes(t, "/login?back=%2Fkeys")
	cashier.signInWith("thungan", second).goes(t, "/")
	cashier.get("/keys").wantStatus(t, http.StatusOK)
	lan.post("/settings/users/2/role", "role", "king").wantStatus(t, http.StatusUnprocessableEntity)
	cashier.get("/keys").wantStatus(t, http.StatusOK)
	lan.post("/settings/users/2/role", "role", "viewer").goes(t, "/settings/users/2")
	cashier.signInWith("thungan", second).goes(t, "/")
	lan.post("/settings/users/3/role", "role", "viewer").goes(t, "/settings/users/3")
	lan.post("/settings/users/1/role", "role", "viewer").wantStatus(t, http.StatusUnprocessableEntity)
	lan.post("/settings/users/1/remove").wantStatus(t, http.StatusConflict)

	if a := lan.get("/settings/users/2/remove"); a.status != http.StatusOK || !strings.Contains(a.body, "signed out of all devices immediately") {
		t.Errorf("the question: %d %s", a.status, a.body)
	}
	cashier.get("/").wantStatus(t, http.StatusOK)
	lan.post("/settings/users/2/remove").goes(t, "/settings")
	cashier.get("/").goes(t, "/login")
	lan.get("/settings/users/2").wantStatus(t, http.StatusNotFound)
}

// A viewer's settings are their password, their language and their theme.
func TestSettingsOfAViewer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "thungan", app.RoleViewer)
	page := w.browser().signIn("thungan").get("/settings").body
	for _, hidden := range []string{"lan<", "/settings/users", "/settings/counters", "self-hosted", "--listen", "/keys", "/system"} {
		if strings.Contains(page, hidden) {
			t.Errorf("a viewer sees %q", hidden)
		}
	}
	if !strings.Contains(page, "/settings/password") {
		t.Error("a viewer can't change the password")
	}
}

// serving is a server as serve starts it.
func (w *world) serving(in app.Installation) *browser {
	w.t.Helper()
	server := httptest.NewServer(web.New(web.Config{Service: w.service, Version: "1.2.3", Installation: in}))
	w.t.Cleanup(server.Close)
	b := w.browser()
	b.base = server.URL
	return b
}

func TestInstallationIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.serving(app.Installation{
		StartedAt: time.Now().Add(-50 * time.Hour), Listen: "0.0.0.0:8080", BaseURL: "https://baoco.shop.vn", AllowTargets: []string{"10.0.0.0/8@9000"},
		Keep: app.PruneLimits{Inbound: 30 * 24 * time.Hour},
	}).signIn("lan")
	page := b.get("/settings").body
	for _, want := range []string{"Asia/Ho_Chi_Minh", "0.0.0.0:8080", "https://baoco.shop.vn", "10.0.0.0/8@9000", "30 days", "Forever", "--keep-history"} {
		if !strings.Contains(page, want) {
			t.Errorf("the settings don't show %q", want)
		}
	}
	if a := b.post("/keys", "once", b.once("/keys"), "name", "x", "scope", "full"); !strings.Contains(a.body, "https://baoco.shop.vn/api/v1/transactions") {
		t.Error("the example doesn't call the address for others")
	}
	page = b.get("/system").body
	for _, want := range []string{w.path, "1.2.3", "2 d 2 h", "Ready", "via a reverse proxy"} {
		if !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), want) {
			t.Errorf("the system page doesn't show %q", want)
		}
	}
	if strings.Contains(page, "unencrypted") {
		t.Error("warned of a server behind HTTPS")
	}
	if body := b.get("/").body; strings.Contains(body, "unencrypted") {
		t.Error("the overview warns of a server behind HTTPS")
	}
	open := w.serving(app.Installation{Listen: "0.0.0.0:8080"}).signIn("lan")
	for _, path := range []string{"/", "/system"} {
		if !strings.Contains(open.get(path).body, "unencrypted") {
			t.Errorf("%s doesn't warn of passwords that cross the network unencrypted", path)
		}
	}
}

// The overview leads from the first visit to the first webhook that arrived.
func TestSetUpSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "thungan", app.RoleViewer)
	b := w.browser().signIn("lan")
	left := func() string {
		_, page, _ := strings.Cut(b.get("/").body, `<ol class="steps">`)
		page, _, _ = strings.Cut(page, "</ol>")
		var steps []string
		for _, to := range []string{"/banks", "/inbound", "/webhooks/new", "/webhooks"} {
			if strings.Contains(page, `<li><a href="`+to+`">`) {
				steps = append(steps, to)
			}
		}
		return strings.Join(steps, " ")
	}
	check := func(want string) {
		t.Helper()
		if got := left(); got != want {
			t.Errorf("steps left: %q, want %q", got, want)
		}
	}
	check("/banks /inbound /webhooks/new /webhooks")
	w.link("ACB", "19354957")
	check("/inbound /webhooks/new /webhooks")
	source := w.native()
	check("/webhooks/new /webhooks")
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer shop.Close()
	w.webhook(shop.URL, app.WebhookAll)
	check("/webhooks")
	w.came(0, source, transfer{id: "1", number: "1", account: "19354957", amount: 1000})
	for deadline := time.Now().Add(30 * time.Second); left() != "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	check("")
	if body := w.browser().signIn("thungan").get("/").body; strings.Contains(body, "/banks") {
		t.Error("a viewer is led through the set-up")
	}
}
