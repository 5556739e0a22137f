package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/upkeep"
	"baoco/web/webtest"
)

const otherPassword = "một mật khẩu khác hẳn"

func TestChangeOwnPassword(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thungan", access.RoleCashier)
	for _, name := range []string{"lan", "thungan"} {
		here, elsewhere := w.Browser().SignIn(name), w.Browser().SignIn(name)
		for _, c := range []struct{ present, first, second, says string }{
			{"wrong password", otherPassword, otherPassword, "Current password is incorrect"},
			{apptest.SomePassword, otherPassword, "something else", "do not match"},
			{apptest.SomePassword, "short", "short", "must be 10 to 200 characters"},
		} {
			a := here.Post("/settings/password", "present_password", c.present, "password", c.first, "password_again", c.second)
			if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, c.says) || strings.Contains(a.Body, otherPassword) {
				t.Errorf("%+v: %d %s", c, a.Status, a.Body)
			}
		}
		elsewhere.Get("/").WantStatus(t, http.StatusOK)
		here.Post("/settings/password", "present_password", apptest.SomePassword, "password", otherPassword, "password_again",
			otherPassword).Goes(t, "/settings")
		here.Get("/settings").WantStatus(t, http.StatusOK)
		elsewhere.Get("/").Goes(t, "/login")
		signInWith(w.Browser(), name, apptest.SomePassword).WantStatus(t, http.StatusUnauthorized)
		signInWith(w.Browser(), name, otherPassword).Goes(t, "/")
	}
}

// Whoever finds an open browser can't try passwords in it.
func TestPresentPasswordIsNotGuessed(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	refused := 0
	for range 14 {
		if b.Post("/settings/password", "present_password", "guess", "password", otherPassword, "password_again",
			otherPassword).Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 4 {
		t.Errorf("%d of 14 guesses were refused", refused)
	}
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	here, elsewhere, hoa := w.Browser().SignIn("lan"), w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	here.Post("/settings/sign-out").Goes(t, "/login")
	here.Get("/").Goes(t, "/login")
	elsewhere.Get("/").Goes(t, "/login")
	hoa.Get("/").WantStatus(t, http.StatusOK)
}

// TestBrowserLeftOpen: whoever sits down at an owner's open browser can't become an
// owner who stays, nor end what protects the owners, without the owner's password.
func TestBrowserLeftOpen(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	lan, _, _ := w.User(1, "lan", access.RoleOwner), w.User(1, "hoa", access.RoleOwner), w.User(1, "minh", access.RoleCashier)
	b := w.Browser().SignIn("lan")
	enrol(t, b)
	b.Post("/settings/sign-in/demand", "demand", "1").Goes(t, "/settings/sign-in")
	states := func() string {
		users, err := w.Services.Access.Users(context.Background(), 1)
		apptest.Must(t, err)
		account, err := w.Services.Ledger.Account(context.Background(), 1)
		apptest.Must(t, err)
		var list []string
		for _, u := range users {
			list = append(list, fmt.Sprint(u.Name, u.Role, u.Generation))
		}
		return fmt.Sprint(list, account.NeedsSecondFactor)
	}
	before := states()
	own := fmt.Sprintf("/settings/users/%d/password", lan.ID)
	for _, c := range []struct {
		path, page, to string
		form           []string
	}{
		{"/settings/users/2/password", "/settings/users/2", "/settings/users/2", []string{"password", otherPassword}},
		{"/settings/users/3/role", "", "/settings/users/3", []string{"role", "owner"}},
		{"/settings/users", "/settings", "/settings", []string{"name", "boss", "role", "owner", "password", otherPassword}},
		{"/settings/sign-in/demand", "", "/settings/sign-in", []string{"demand", "0"}},
	} {
		for _, present := range []string{"wrong password", apptest.SomePassword} { // ten turns in all
			form := append([]string{"present_password", present}, c.form...)
			if c.page != "" {
				form = append(form, "once", b.Once(c.page))
			}
			a := b.Post(c.path, form...)
			if present == apptest.SomePassword {
				a.Goes(t, c.to)
				before = states()
				continue
			}
			a.WantStatus(t, http.StatusUnprocessableEntity)
			a.Shows(t, "Current password is incorrect")
			if after := states(); after != before {
				t.Errorf("%s with %q: %s became %s", c.path, present, before, after)
			}
		}
	}
	// The own password has its own form only.
	b.Post(own, "once", webtest.FormKey(), "password", otherPassword, "present_password", apptest.SomePassword).WantStatus(t,
		http.StatusConflict)
	if after := states(); after != before {
		t.Errorf("the own password: %s became %s", before, after)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	lan := w.Browser().SignIn("lan")

	// Without a password one is made, and shown once.
	form := []string{"once", lan.Once("/settings"), "name", " ThuNgan ", "role", "cashier", "password", ""}
	password := secretShown(t, lan.Post("/settings/users", form...))
	lan.Post("/settings/users", form...).Goes(t, "/settings")
	if page := lan.Get("/settings").Body; strings.Contains(page, password) || !strings.Contains(page, "thungan") {
		t.Error("the settings after creating a user")
	}
	cashier := w.Browser()
	signInWith(cashier, "thungan", password).Goes(t, "/")

	// One that was typed isn't shown at all.
	lan.Post("/settings/users", "once", lan.Once("/settings"), "name", "hoa", "role", "owner", "password", otherPassword, "present_password",
		apptest.SomePassword).Goes(t, "/settings")
	signInWith(w.Browser(), "hoa", otherPassword).Goes(t, "/")

	w.User(w.SecondAccount(), "theirs", access.RoleOwner)
	for _, c := range []struct {
		name, role, password, says string
		status                     int
	}{
		{"hoa", "cashier", otherPassword, "The name hoa can’t be used. Choose another.", http.StatusConflict},
		{"theirs", "cashier", otherPassword, "The name theirs can’t be used. Choose another.", http.StatusConflict}, // nor whose it is
		{"漢字", "cashier", otherPassword, "Name must be", http.StatusUnprocessableEntity},
		{"minh", "admin", otherPassword, "Role must be", http.StatusUnprocessableEntity},
		{"minh", "cashier", "short", "Password must be", http.StatusUnprocessableEntity},
	} {
		a := lan.Post("/settings/users", "once", lan.Once("/settings"), "name", c.name, "role", c.role, "password", c.password)
		if a.Status != c.status || !strings.Contains(a.Body, c.says) || strings.Contains(a.Body, otherPassword) {
			t.Errorf("%+v: %d %s", c, a.Status, a.Body)
		}
	}

	// A new password ends the sessions; a made one is shown once.
	form = []string{"once", lan.Once("/settings/users/2"), "password", ""}
	second := secretShown(t, lan.Post("/settings/users/2/password", form...))
	cashier.Get("/").Goes(t, "/login")
	lan.Post("/settings/users/2/password", form...).Goes(t, "/settings/users/2")
	signInWith(cashier, "thungan", second).Goes(t, "/")
	lan.Post("/settings/users/2/password", "once", lan.Once("/settings/users/2"), "password", "short").WantStatus(t,
		http.StatusUnprocessableEntity)

	// Another role ends the sessions, and counts from the next one on.
	cashier.Get("/keys").WantStatus(t, http.StatusForbidden)
	lan.Post("/settings/users/2/role", "role", "owner", "present_password", apptest.SomePassword).Goes(t, "/settings/users/2")
	cashier.Get("/keys").Goes(t, "/login?back=%2Fkeys")
	signInWith(cashier, "thungan", second).Goes(t, "/")
	cashier.Get("/keys").WantStatus(t, http.StatusOK)
	lan.Post("/settings/users/2/role", "role", "king").WantStatus(t, http.StatusUnprocessableEntity)
	cashier.Get("/keys").WantStatus(t, http.StatusOK)
	lan.Post("/settings/users/2/role", "role", "cashier").Goes(t, "/settings/users/2")
	signInWith(cashier, "thungan", second).Goes(t, "/")
	lan.Post("/settings/users/3/role", "role", "cashier").Goes(t, "/settings/users/3")
	lan.Post("/settings/users/1/role", "role", "cashier").Shows(t, "Your role was not changed.")
	lan.Post("/settings/users/1/role", "role", "cashier", "sure", "1").Shows(t, "This is the last owner.")
	lan.Post("/settings/users/1/remove").WantStatus(t, http.StatusConflict)

	if a := lan.Get("/settings/users/2/remove"); a.Status != http.StatusOK ||
		!strings.Contains(a.Body, "signed out of all devices immediately") {
		t.Errorf("the question: %d %s", a.Status, a.Body)
	}
	cashier.Get("/").WantStatus(t, http.StatusOK)
	lan.Post("/settings/users/2/remove").Goes(t, "/settings")
	cashier.Get("/").Goes(t, "/login")
	lan.Get("/settings/users/2").WantStatus(t, http.StatusNotFound)
}

// The settings of who isn't an owner are their password, their language and their theme.
func TestSettingsOfACashier(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thungan", access.RoleCashier)
	page := w.Browser().SignIn("thungan").Get("/settings").Body
	for _, hidden := range []string{"lan<", "/settings/users", "/settings/counters", "self-hosted", "--listen", "/keys", "/system"} {
		if strings.Contains(page, hidden) {
			t.Errorf("a cashier sees %q", hidden)
		}
	}
	if !strings.Contains(page, "/settings/password") {
		t.Error("a cashier can't change the password")
	}
}

func TestInstallationIsShown(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := serving(w, upkeep.Installation{
		StartedAt: time.Now().Add(-50 * time.Hour), Listen: "0.0.0.0:8080", BaseURL: "https://baoco.shop.vn",
		AllowTargets: []string{"10.0.0.0/8@9000"},
		Keep:         upkeep.PruneLimits{Inbound: 30 * 24 * time.Hour},
	}).SignIn("lan")
	page := b.Get("/settings").Body
	for _, want := range []string{"Asia/Ho_Chi_Minh", "0.0.0.0:8080", "https://baoco.shop.vn", "10.0.0.0/8@9000", "30 days",
		"Forever", "--keep-history"} {
		if !strings.Contains(page, want) {
			t.Errorf("the settings don't show %q", want)
		}
	}
	if a := b.Post("/keys", "once", b.Once("/keys"), "name", "x", "scope", "full"); !strings.Contains(a.Body,
		"https://baoco.shop.vn/api/v1/transactions") {
		t.Error("the example doesn't call the address for others")
	}
	page = b.Get("/system").Body
	for _, want := range []string{w.Path, "1.2.3", "2 d 2 h", "Ready", "via a reverse proxy"} {
		if !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), want) {
			t.Errorf("the system page doesn't show %q", want)
		}
	}
	if strings.Contains(page, "unencrypted") {
		t.Error("warned of a server behind HTTPS")
	}
	if body := b.Get("/").Body; strings.Contains(body, "unencrypted") {
		t.Error("the overview warns of a server behind HTTPS")
	}
	open := serving(w, upkeep.Installation{Listen: "0.0.0.0:8080"}).SignIn("lan")
	for _, path := range []string{"/", "/system"} {
		if !strings.Contains(open.Get(path).Body, "unencrypted") {
			t.Errorf("%s doesn't warn of passwords that cross the network unencrypted", path)
		}
	}
	// What concerns the installation is the operator's: other accounts aren't told.
	w.User(w.SecondAccount(), "minh", access.RoleOwner)
	serving(w, upkeep.Installation{Listen: "0.0.0.0:8080"}).SignIn("minh").Get("/").Hides(t, "unencrypted", "Needs attention")
}

func signInWith(b *webtest.Browser, name, password string) webtest.Answer {
	return b.Post("/login", "name", name, "password", password)
}

// Signing out everywhere is asked about first, also without scripts. Names are
// written in a tab without the characters that tabs show as boxes.
func TestSignOutEverywhereAsks(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	hook, _ := w.Webhook("https://shop.vn/", delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	b.Get("/settings").Shows(t, `href="/settings/sign-out" data-dialog="#ask-settings-sign-out"`)
	b.Get("/settings/sign-out").Shows(t, "Sign out of all devices?", `method="post" action="/settings/sign-out"`)
	b.Get("/settings").WantStatus(t, http.StatusOK)
	b.Get("/webhooks/"+itoa(hook.ID)).Shows(t, "<title>"+hook.Name+" · baoco</title>")
	b.Post("/settings/sign-out").Goes(t, "/login")
}

// The owner names the shop. Until then the product's name stands there.
func TestShopName(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/day").Shows(t, "· baoco</title>", `<bdi>Báo Có</bdi>`)
	b.Get("/settings").Shows(t, `name="shop_name" value=""`)
	for _, name := range []string{"", " \u200b ", strings.Repeat("x", 101), "a\nb"} {
		refused := b.Post("/settings/name", "shop_name", name)
		refused.WantStatus(t, http.StatusUnprocessableEntity)
		refused.Shows(t, `id="shop_name-problem"`)
	}
	b.Post("/settings/name", "shop_name", "Quán Lan <1>").Goes(t, "/settings#shop")
	b.Get("/day").Shows(t, "· Quán Lan <1></title>", `<bdi>Quán Lan <1></bdi>`)
	b.Get("/settings").Shows(t, `name="shop_name" value="Quán Lan <1>"`)
	b.Get("/day?paper=58").Shows(t, `<bdi>Quán Lan <1></bdi>`)
	b.Get("/manifest.webmanifest").Shows(t, `"short_name":"Quán Lan \u003c1\u003e"`, `"start_url":"/"`, `"scope":"/"`)
	w.Browser().Get("/login").Shows(t, `<p><bdi>Quán Lan <1></bdi></p>`)
	_, err := w.Services.Ledger.CreateAccount(t.Context(), "other", time.Now())
	apptest.Must(t, err)
	w.Browser().Get("/login").Hides(t, "Quán Lan")
}

// An address that only takes forms names the page above it.
func TestAddressOfForms(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Header.Set("Accept", "text/html")
	for path, above := range map[string]string{"/inbound/sources": "/inbound", "/webhooks/7/toggle": "/webhooks/7", "/logout": "/"} {
		a := b.Get(path)
		a.WantStatus(t, http.StatusMethodNotAllowed)
		a.Shows(t, "There is no page at this address", `class="button" href="`+above+`"`)
	}
}
