package dashboard_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
	"baoco/web"
	"baoco/web/dashboard"
	"baoco/web/webtest"

	"github.com/pquerna/otp/hotp"
)

// standby is a standby that shows copies of a world.
type standby struct {
	*webtest.World
	store *sqlitestore.Standby
	state atomic.Pointer[upkeep.Standby]
}

// standBy makes one, with the key in a file.
func standBy(t *testing.T, of *webtest.World, key string) *standby {
	t.Helper()
	store, err := sqlitestore.OpenStandby(filepath.Join(t.TempDir(), "baoco.db"), key, slog.New(slog.DiscardHandler))
	apptest.Must(t, err)
	t.Cleanup(func() { apptest.Must(t, store.Close()) })
	s := &standby{World: &webtest.World{World: &apptest.World{T: t}}, store: store}
	s.state.Store(&upkeep.Standby{Copied: true, At: time.Now()})
	s.show(of)
	server := httptest.NewServer(web.New(web.Config{
		Services: apptest.Over(t, store.Store, services.Config{Store: store}), Version: "test", Standby: func() upkeep.Standby { return *s.state.Load() },
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// show shows what a world holds now.
func (s *standby) show(of *webtest.World) {
	s.T.Helper()
	of.Stop()
	data, err := os.ReadFile(of.Path)
	apptest.Must(s.T, err)
	of.Start()
	path, err := s.store.NewCopy()
	apptest.Must(s.T, err)
	apptest.Must(s.T, os.WriteFile(path, data, 0o600))
	apptest.Must(s.T, os.WriteFile(path+"-mark", nil, 0o600))
	_, _, err = s.store.Admit(s.T.Context(), path, path+"-mark")
	apptest.Must(s.T, err)
	s.store.Show(path, path+"-mark")
	apptest.Must(s.T, s.store.RemoveOthers())
}

// notOnStandby are the pages that a standby doesn't have.
var notOnStandby = []string{
	"/transactions/export", "/day/file", "/settings/audit/export", "/guide", "/system", "/setup/{token}", "/counter", "/counter/{token}", "/counter/manifest.webmanifest",
	"/counter/{token}/manifest.webmanifest", "/counter/backlog", "/live/counter", "/live/counter/{token}", "/settings/counters/{id}/revoke",
	"/till", "/till/manifest.webmanifest", "/till/display", "/till/{id}", "/till/{id}/receipt", "/live/till", "/live/till/display",
}

// Every page of a copy is shown to those who may see it at the server, with the banner,
// and every form but those of signing in is refused before anything is done.
func TestStandbyPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", "19354957")
	var calls atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer receiver.Close()
	hook, _ := w.Webhook(receiver.URL, delivery.WebhookOut)
	w.Native()
	w.Record("FT1")
	s := standBy(t, w, w.Path+".key")
	owner, cashier := s.Browser().SignIn("lan"), s.Browser().SignIn("thu")
	for _, p := range dashboard.Pages {
		if p.Path == "/logout" || p.Path == "/live" || strings.HasPrefix(p.Path, "/login") || p.Path == "/look" {
			continue
		}
		path := strings.NewReplacer("{$}", "", "{id}", "1", "{session}", "1", "{medium}", "telegram", "{token}", "x", "{page}", "receiver").Replace(p.Path)
		a := owner.Send(p.Method, path, nil)
		shown, refused := strings.Contains(a.Body, `class="standby"`), strings.Contains(a.Body, "This is a standby")
		switch {
		case p.Method == "POST" || slices.Contains(notOnStandby, p.Path):
			if a.Status != http.StatusConflict || !shown || !refused {
				t.Errorf("%s %s: %d\n%s", p.Method, p.Path, a.Status, a.Body)
			}
		case strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") && !shown, refused, a.Status >= 500:
			t.Errorf("%s %s: %d\n%s", p.Method, p.Path, a.Status, a.Body)
		}
	}
	if a := owner.Get("/transactions"); !strings.Contains(a.Body, "FT1") {
		t.Errorf("the transaction isn't shown:\n%s", a.Body)
	}
	if a := owner.Post("/webhooks/1/test"); a.Status != http.StatusConflict || calls.Load() > 0 {
		t.Errorf("a test of webhook %d was sent", hook.ID)
	}
	for path, status := range map[string]int{"/": 200, "/transactions": 200, "/settings": 200, "/banks": 403, "/webhooks": 403, "/counter": 409} {
		if a := cashier.Get(path); a.Status != status || !strings.Contains(a.Body, `class="standby"`) {
			t.Errorf("the cashier's %s: %d", path, a.Status)
		}
	}
	s.Browser().Get("/transactions").Goes(t, "/login?back=%2Ftransactions")
	owner.Post("/logout").Goes(t, "/login")
	owner.Get("/").Goes(t, "/login")

	// Who is signed out everywhere at the server is so here, as soon as the copy is.
	_, err := w.Services.Access.EndSessions(apptest.Acting(t.Context()), 1, 2)
	apptest.Must(t, err)
	s.show(w)
	cashier.Get("/").Goes(t, "/login")
	s.Browser().SignIn("thu")
}

// The banner says as of when the copy is, and what somebody must know; so does the
// readiness. Programs and providers are told to come back.
func TestStandbySaysHowItIs(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	source, key := w.Native(), w.APIKey(access.ScopeFull)
	s := standBy(t, w, w.Path+".key")
	owner := s.Browser().SignIn("lan")
	at := time.Now().Add(-200 * time.Second)
	for says, state := range map[string]upkeep.Standby{
		"just now":                      {Copied: true, At: time.Now()},
		"written nothing for 3 minutes": {Copied: true, At: at},
		"no copy to show yet":           {},
		"nobody knows how old":          {Copied: true},
		"the log says why":              {Copied: true, At: at, Problem: app.Text{EN: "the log says why"}},
		"a takeover would fail":         {Copied: true, At: time.Now(), Key: app.Text{EN: "a takeover would fail"}},
		"3 minutes ago</span>).":        {Copied: true, At: at},
	} {
		s.state.Store(&state)
		for _, path := range []string{"/", "/help", "/nowhere"} {
			owner.Header = http.Header{"Accept": {"text/html"}}
			if a := owner.Get(path); !strings.Contains(a.Body, says) {
				t.Errorf("%s doesn't say %q:\n%s", path, says, a.Body)
			}
		}
		for _, call := range [][2]string{{"GET", "/readyz"}, {"GET", "/api/v1/transactions"}, {"POST", "/api/v1/transactions"}, {"POST", source.URLPath()}} {
			a := s.Do(call[0], call[1], `{"transactions":[]}`, "Authorization", "Bearer "+key)
			if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || a.JSON(t)["code"] != "unavailable" || !strings.Contains(a.Body, "This is a standby") {
				t.Errorf("%s: %d %s", call, a.Status, a.Body)
			}
			if len(state.Problems(time.Now())) > 0 && !strings.Contains(a.Body, state.Problems(time.Now())[0].EN) {
				t.Errorf("%s doesn't say why: %s", call, a.Body)
			}
		}
	}
	if a := s.Do("GET", "/healthz", ""); a.Status != http.StatusOK {
		t.Errorf("healthz: %d", a.Status)
	}
}

// A passkey signs in where the standby is reached by its name, and one that counts back
// does not, whether it was used here or at the server.
func TestStandbyPasskey(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	device := addPasskey(t, atHome(w).SignIn("lan"))
	device.Count = 5
	use(t, atHome(w), device).Goes(t, "/webhooks")
	s := standBy(t, w, w.Path+".key")
	b := atHome(s.World)
	device.Origin = b.Base
	device.Count = 9
	use(t, b, device).Goes(t, "/webhooks")
	b.Get("/webhooks").WantStatus(t, http.StatusOK)
	for _, count := range []uint32{8, 5} {
		device.Count = count
		if a := use(t, atHome(s.World), device); a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, "went back") {
			t.Errorf("a copy of the passkey that counts %d: %d %s", count, a.Status, a.Body)
		}
	}
}

// A code signs in once, and without the key none does.
func TestStandbySecondFactor(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	secret, codes := enrol(t, w.Browser().SignIn("lan"))
	s, keyless := standBy(t, w, w.Path+".key"), standBy(t, w, w.Path+".nothing")
	enter := func(s *standby, code string) int {
		t.Helper()
		return password(t, s.Browser()).Post("/login/code", "code", code).Status
	}
	// The code with which the app was set up counts as used, so the next one is taken.
	next, err := hotp.GenerateCode(secret, uint64(time.Now().Unix()/30+1))
	apptest.Must(t, err)
	for _, c := range []struct {
		s    *standby
		code string
		want int
	}{
		{s, next, http.StatusSeeOther}, {s, next, http.StatusUnprocessableEntity},
		{s, codes[0], http.StatusSeeOther}, {s, codes[0], http.StatusUnprocessableEntity}, {s, "aaaa-aaaa-aaaa-aaaa", http.StatusUnprocessableEntity},
		{keyless, next, http.StatusUnprocessableEntity}, {keyless, codes[1], http.StatusSeeOther},
	} {
		if got := enter(c.s, c.code); got != c.want {
			t.Errorf("%s: %d, want %d", c.code, got, c.want)
		}
	}
	for step := range 3 { // a secret that can't be opened is no secret of zero bytes
		code, err := hotp.GenerateCode("", uint64(time.Now().Unix()/30+int64(step)-1))
		apptest.Must(t, err)
		if got := enter(keyless, code); got != http.StatusUnprocessableEntity {
			t.Errorf("without the key a code of nothing: %d", got)
		}
	}
}
