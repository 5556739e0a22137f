package dashboard_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// subscription is what a browser gives for an endpoint.
func subscription(t *testing.T, endpoint string) []string {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	apptest.Must(t, err)
	return []string{"endpoint", endpoint, "p256dh", base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()),
		"auth", strings.Repeat("A", 22)}
}

func phones(w *webtest.World) []alert.Phone {
	w.T.Helper()
	list, err := w.Services.Alerts.Phones(w.T.Context(), 0)
	apptest.Must(w.T, err)
	return list
}

func TestPhones(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	lan, hoa := w.User(1, "lan", access.RoleOwner), w.User(1, "hoa", access.RoleCashier)
	bank, hidden := w.Link("ACB", apptest.SomeAccount), w.Link("VCB", "99887766")
	_, err := w.Services.Access.LimitUser(t.Context(), 1, hoa.ID, access.BankAccountLimit{On: true, IDs: []int64{bank.ID}})
	apptest.Must(t, err)
	b := w.Browser().SignIn("hoa")
	b.Header = http.Header{"User-Agent": {"Mozilla/5.0 (Linux; Android 14) Chrome/130.0 Mobile"}, "Accept-Language": {"en"}}
	b.Get("/settings").Shows(t, `href="/settings/phones"`)
	page := b.Get("/settings/phones")
	page.Shows(t, `data-push="B`, "Add to Home Screen", "static/push.js")
	hides(t, page, "VCB")
	b.Get("/settings/phones").Shows(t, regexp.MustCompile(`data-push="[^"]*"`).FindString(page.Body)) // the same key

	b.Post("/settings/phones", subscription(t, "https://10.0.0.1/x")...).Shows(t, "gave no address of a push service on the internet")
	b.Post("/settings/phones", "endpoint", "https://push.example.vn/x").Shows(t, "The browser gave no address of")
	b.Post("/settings/phones", subscription(t, "https://push.example.vn/secret")...).Goes(t, "/settings/phones")
	page = b.Get("/settings/phones")
	page.Shows(t, "Chrome, Android", "This phone", `name="payments" value="1" checked`)
	for _, text := range []string{"secret", "Ring for what needs attention", "data-push"} {
		hides(t, page, text)
	}

	// What a cashier chooses stays within what they may see, and what they are.
	choose := func(pairs ...string) webtest.Answer { return b.Post("/settings/phones/1", pairs...) }
	choose("payments", "1", "bank_account_id", itoa(hidden.ID)).WantStatus(t, http.StatusUnprocessableEntity)
	a := choose("payments", "1", "min_amount", "x", "quiet_from", "22:00", "amounts", "1")
	a.Shows(t, `value="x"`, `id="min_amount-problem"`, `name="amounts" value="1" checked`, `value="22:00"`)
	choose("quiet_from", "22:00").Shows(t, `id="quiet_to-problem"`)
	choose("payments", "1", "attention", "1", "amounts", "1", "bank_account_id", itoa(bank.ID), "min_amount", "50k", "quiet_from", "22:00",
		"quiet_to", "06:30").Goes(t, "/settings/phones")
	p := phones(w)[0]
	if !p.Payments || p.Attention || !p.Amounts || p.BankAccountID != bank.ID || p.Least != 50_000 || p.QuietFrom != "22:00" ||
		p.QuietTo != "06:30" || p.UserID != hoa.ID || p.Origin != w.URL || p.Lang != app.English {
		t.Errorf("%+v", p)
	}
	b.Get("/settings/phones").Shows(t, `value="50,000"`, `value="06:30"`)
	b.Post("/settings/phones/1/test").Shows(t, "The push service push.example.vn answered 503.")

	// Another user has nothing to do with it.
	other := w.Browser().SignIn("lan")
	for _, path := range []string{"", "/test", "/remove"} {
		other.Post("/settings/phones/1"+path, "payments", "1").WantStatus(t, http.StatusNotFound)
	}
	other.Post("/settings/phones", subscription(t, "https://push.example.vn/lan")...).Goes(t, "/settings/phones")
	if p := phones(w)[1]; !p.Attention || p.UserID != lan.ID {
		t.Errorf("%+v", p)
	}

	// Whoever signs out there ends it; elsewhere not.
	w.Browser().SignIn("hoa").Post("/logout").Goes(t, "/login")
	if n := len(phones(w)); n != 2 {
		t.Errorf("%d phones", n)
	}
	b.Post("/logout").Goes(t, "/login")
	other.Post("/settings/phones/2/remove").Goes(t, "/settings/phones")
	if n := len(phones(w)); n != 0 {
		t.Errorf("%d phones", n)
	}
	other.Header = http.Header{"Accept-Language": {"en"}}
	other.Get("/settings/audit").Shows(t, "set up alerts by phone", "removed alerts by phone")
}

// The worker may be loaded by whoever isn't signed in, and is looked for anew each time.
func TestServiceWorker(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	a := w.Browser().Get("/sw.js")
	a.WantStatus(t, http.StatusOK)
	if h := a.Header; h.Get("Content-Type") != "text/javascript; charset=utf-8" || h.Get("Cache-Control") != "no-cache" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Error(h)
	}
	if strings.Contains(a.Body, "fetch") || strings.Contains(a.Body, "caches") {
		t.Error("the worker keeps pages")
	}
}

// Tests send to addresses that users name, so a user has few at a time.
func TestPhoneTestsAreFew(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Post("/settings/phones", subscription(t, "https://push.example.vn/x")...).Goes(t, "/settings/phones")
	began := time.Now()
	for range 12 {
		if b.Post("/settings/phones/1/test").Status == http.StatusTooManyRequests {
			return
		}
	}
	t.Errorf("12 tests in %v", time.Since(began))
}
