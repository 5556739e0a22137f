package dashboard_test

import (
	"context"
	"database/sql"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

var keyText = regexp.MustCompile(`baoco_[0-9A-Za-z]{43}`)

func TestKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/keys").Shows(t, `<option value="read" selected>`, `href="/docs?lang=en"`, `href="/openapi.json"`) // unless its owner chooses more
	form := []string{"once", b.Once("/keys"), "name", "cửa hàng", "scope", "read", "expires", "2099-12-31"}
	a := b.Post("/keys", form...)
	key := keyText.FindString(a.Body)
	if a.Status != http.StatusOK || key == "" || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v\n%s", a.Status, a.Header, a.Body)
	}
	if !strings.Contains(a.Body, "curl -H &#39;Authorization: Bearer "+key+"&#39; "+w.URL+"/api/v1/transactions") {
		t.Error("there is no example to try")
	}
	if a := w.Do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key); a.Status != http.StatusOK {
		t.Errorf("the key: %d %s", a.Status, a.Body)
	}
	// A reload sends the form again.
	again := b.Post("/keys", form...)
	again.Goes(t, "/keys")
	page := b.Get("/keys")
	if strings.Contains(again.Body+page.Body, key) || !strings.Contains(page.Body, "already submitted") {
		t.Errorf("after a reload: %s", page.Body)
	}
	keys, err := w.Services.Access.APIKeys(context.Background(), 1)
	apptest.Must(t, err)
	if len(keys) != 1 || keys[0].Scope != access.ScopeRead ||
		app.FormatTime(keys[0].ExpiresAt, w.Services.Ledger.Zone()) != "2099-12-31 23:59:59" {
		t.Errorf("%+v", keys)
	}
	// Nor does it stand in the file.
	w.File(func(db *sql.DB) error {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM sessions WHERE instr(data, CAST(? AS BLOB))`, key).Scan(&n)
		if n != 0 {
			t.Error("the key stands in the session")
		}
		return err
	})
}

// What is to be tried is what the key may do.
func TestListenKeyShowsItsCommand(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	a := w.Browser().SignIn("lan").Submit("/keys", "name", "dev", "scope", "listen")
	a.Shows(t, "BAOCO_API_KEY=baoco_", "baoco listen --server http")
	a.Hides(t, "curl")
}

// Two clicks at the same moment make one key.
func TestKeyFormSentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	once := b.Once("/keys")
	answers := make(chan webtest.Answer)
	for range 8 {
		go func() { answers <- b.Post("/keys", "once", once, "name", "shop", "scope", "full") }()
	}
	shown := 0
	for range 8 {
		if keyText.MatchString(apptest.Receive(t, "the form is answered", answers).Body) {
			shown++
		}
	}
	if keys, err := w.Services.Access.APIKeys(context.Background(), 1); err != nil || len(keys) != 1 || shown != 1 {
		t.Errorf("%d keys, shown %d times, %v", len(keys), shown, err)
	}
}

func TestKeyForms(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for _, c := range []struct {
		fields []string
		says   string
	}{
		{[]string{"name", "", "scope", "full"}, "Name must be"},
		{[]string{"name", "shop", "scope", "write"}, "Permissions must be"},
		{[]string{"name", "shop", "scope", "full", "expires", "2027-02-30"}, "Expiry date must be a date"},
	} {
		a := b.Post("/keys", append(c.fields, "once", b.Once("/keys"))...)
		if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, c.says) {
			t.Errorf("%q: %d, want %q\n%s", c.fields, a.Status, c.says, a.Body)
		}
	}
	// A form that names no key, a made-up one, or one from long ago.
	for _, once := range []string{"", "x", "0-AAAA", "99999999999-AAAA", "1-" + strings.Repeat("A", 100)} {
		b.Post("/keys", "once", once, "name", "shop", "scope", "full").Goes(t, "/keys")
	}
	if keys, err := w.Services.Access.APIKeys(context.Background(), 1); err != nil || len(keys) != 0 {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestRevokeKey(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	key := w.APIKey(access.ScopeFull)
	w.Do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key)
	// Looking changes nothing.
	b.Get("/keys/01/revoke").WantStatus(t, http.StatusNotFound)
	page := b.Get("/keys/1/revoke")
	page.WantStatus(t, http.StatusOK)
	if !strings.Contains(page.Body, "is refused from now on") || !strings.Contains(page.Body, `method="post" action="/keys/1/revoke"`) {
		t.Errorf("the question: %s", page.Body)
	}
	if a := w.Do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key); a.Status != http.StatusOK {
		t.Errorf("before: %d", a.Status)
	}
	b.Post("/keys/1/revoke").Goes(t, "/keys")
	if a := w.Do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key); a.Status != http.StatusUnauthorized {
		t.Errorf("after: %d", a.Status)
	}
	b.Post("/keys/1/revoke").Goes(t, "/keys")
	if a := b.Get("/keys"); !strings.Contains(a.Body, "Revoked") || strings.Contains(a.Body, key) {
		t.Errorf("%s", a.Body)
	}
	_, _, err := w.Services.Access.CreateAPIKey(context.Background(), 1, access.APIKeyCreate{
		Name: "old", Scope: access.ScopeFull, ExpiresAt: time.Now().Add(-time.Hour),
	}, time.Now())
	apptest.Must(t, err)
	if a := b.Get("/keys"); !strings.Contains(a.Body, "Expired") {
		t.Error("an expired key isn't shown as one")
	}
}
