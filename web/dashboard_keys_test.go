package web_test

import (
	"context"
	"database/sql"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

var onceField = regexp.MustCompile(`name="once" value="([^"]+)"`)

// once is the key of the form on a page.
func (b *browser) once(path string) string {
	b.t.Helper()
	found := onceField.FindStringSubmatch(b.get(path).body)
	if found == nil {
		b.t.Fatalf("%s has no form that is sent once", path)
	}
	return found[1]
}

var keyText = regexp.MustCompile(`baoco_[0-9A-Za-z]{43}`)

func TestKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	form := []string{"once", b.once("/keys"), "name", "cửa hàng", "scope", "read", "expires", "2099-12-31"}
	a := b.post("/keys", form...)
	key := keyText.FindString(a.body)
	if a.status != http.StatusOK || key == "" || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v\n%s", a.status, a.header, a.body)
	}
	if !strings.Contains(a.body, "curl -H &#39;Authorization: Bearer "+key+"&#39; "+w.url+"/api/v1/transactions") {
		t.Error("there is no example to try")
	}
	if a := w.do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key); a.status != http.StatusOK {
		t.Errorf("the key: %d %s", a.status, a.body)
	}
	// A reload sends the form again.
	again := b.post("/keys", form...)
	again.goes(t, "/keys")
	page := b.get("/keys")
	if strings.Contains(again.body+page.body, key) || !strings.Contains(page.body, "already submitted") {
		t.Errorf("after a reload: %s", page.body)
	}
	keys, err := w.service.APIKeys(context.Background(), 1)
	must(t, err)
	if len(keys) != 1 || keys[0].Scope != app.ScopeRead || app.FormatTime(keys[0].ExpiresAt, w.service.Zone()) != "2099-12-31 23:59:59" {
		t.Errorf("%+v", keys)
	}
	// Nor does it stand in the file.
	w.file(func(db *sql.DB) error {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM sessions WHERE instr(data, CAST(? AS BLOB))`, key).Scan(&n)
		if n != 0 {
			t.Error("the key stands in the session")
		}
		return err
	})
}

// Two clicks at the same moment make one key.
func TestKeyFormSentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	once := b.once("/keys")
	answers := make(chan answer)
	for range 8 {
		go func() { answers <- b.post("/keys", "once", once, "name", "shop", "scope", "full") }()
	}
	shown := 0
	for range 8 {
		if keyText.MatchString((<-answers).body) {
			shown++
		}
	}
	if keys, err := w.service.APIKeys(context.Background(), 1); err != nil || len(keys) != 1 || shown != 1 {
		t.Errorf("%d keys, shown %d times, %v", len(keys), shown, err)
	}
}

func TestKeyForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	for _, c := range []struct {
		fields []string
		says   string
	}{
		{[]string{"name", "", "scope", "full"}, "Name must be"},
		{[]string{"name", "shop", "scope", "write"}, "Permissions must be"},
		{[]string{"name", "shop", "scope", "full", "expires", "2027-02-30"}, "Expiry date must be a date"},
	} {
		a := b.post("/keys", append(c.fields, "once", b.once("/keys"))...)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, c.says) {
			t.Errorf("%q: %d, want %q\n%s", c.fields, a.status, c.says, a.body)
		}
	}
	// A form that names no key, a made-up one, or one from long ago.
	for _, once := range []string{"", "x", "0-AAAA", "99999999999-AAAA", "1-" + strings.Repeat("A", 100)} {
		b.post("/keys", "once", once, "name", "shop", "scope", "full").goes(t, "/keys")
	}
	if keys, err := w.service.APIKeys(context.Background(), 1); err != nil || len(keys) != 0 {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestRevokeKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	key := w.apiKey(app.ScopeFull)
	w.do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key)
	// Looking changes nothing.
	page := b.get("/keys/1/revoke")
	page.wantStatus(t, http.StatusOK)
	if !strings.Contains(page.body, "is refused from now on") || !strings.Contains(page.body, `method="post" action="/keys/1/revoke"`) {
		t.Errorf("the question: %s", page.body)
	}
	if a := w.do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key); a.status != http.StatusOK {
		t.Errorf("before: %d", a.status)
	}
	b.post("/keys/1/revoke").goes(t, "/keys")
	if a := w.do("GET", "/api/v1/transactions", "", "Authorization", "Bearer "+key); a.status != http.StatusUnauthorized {
		t.Errorf("after: %d", a.status)
	}
	b.post("/keys/1/revoke").goes(t, "/keys")
	if a := b.get("/keys"); !strings.Contains(a.body, "Revoked") || strings.Contains(a.body, key) {
		t.Errorf("%s", a.body)
	}
	_, _, err := w.service.CreateAPIKey(context.Background(), 1, "old", app.ScopeFull, time.Now().Add(-time.Hour), time.Now())
	must(t, err)
	if a := b.get("/keys"); !strings.Contains(a.body, "Expired") {
		t.Error("an expired key isn't shown as one")
	}
}
