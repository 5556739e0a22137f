package dashboard_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"

	"github.com/pquerna/otp/totp"
)

var secretField = regexp.MustCompile(`name="secret" value="([A-Z2-7]{32})"`)

func codeOf(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now())
	apptest.Must(t, err)
	return code
}

// withCode posts a code of now. One that was refused after more than the 30 seconds for
// which every code counts is posted anew.
func withCode(t *testing.T, secret string, post func(code string) webtest.Answer) (a webtest.Answer, code string) {
	t.Helper()
	for {
		at := time.Now()
		code = codeOf(t, secret)
		if a = post(code); a.Status != http.StatusUnprocessableEntity || time.Since(at) < 30*time.Second {
			return a, code
		}
	}
}

// enrol sets up a second factor as a person does, and gives its secret and the
// recovery codes.
func enrol(t *testing.T, b *webtest.Browser) (secret string, codes []string) {
	t.Helper()
	page := b.Get("/settings/sign-in")
	found := secretField.FindStringSubmatch(page.Body)
	if found == nil {
		t.Fatalf("no secret is shown: %d %s", page.Status, page.Body)
	}
	form := []string{"once", page.Once(t), "secret", found[1], "present_password", apptest.SomePassword}
	done, code := withCode(t, found[1], func(code string) webtest.Answer {
		return b.Post("/settings/sign-in/app", append(form, "code", code)...)
	})
	codes = strings.Split(secretShown(t, done), "\n")
	if len(codes) != 10 {
		t.Fatalf("recovery codes %q", codes)
	}
	b.Post("/settings/sign-in/app", append(form, "code", code)...).Hides(t, codes[0]) // sent again it shows nothing
	return found[1], codes
}

// password enters the password alone.
func password(t *testing.T, b *webtest.Browser) *webtest.Browser {
	t.Helper()
	b.Post("/login", "name", "lan", "password", apptest.SomePassword, "back", "/webhooks").Goes(t, "/login/code")
	return b
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	elsewhere, b := w.Browser().SignIn("lan"), w.Browser().SignIn("lan")
	secret := secretField.FindStringSubmatch(b.Get("/settings/sign-in").Body)[1]
	for name, form := range map[string][]string{
		"a wrong code":     {"secret", secret, "code", "000000x", "present_password", apptest.SomePassword},
		"a wrong password": {"secret", secret, "code", codeOf(t, secret), "present_password", "wrong password"},
		"a weak secret":    {"secret", "AAAA", "code", codeOf(t, secret), "present_password", apptest.SomePassword},
	} {
		if a := b.Submit("/settings/sign-in/app", form...); a.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
	if n := w.Rows("users WHERE totp IS NOT NULL"); n != 0 {
		t.Fatal("a refused form has set it up")
	}
	secret, codes := enrol(t, b)
	b.Get("/webhooks").WantStatus(t, http.StatusOK)
	elsewhere.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	for _, kept := range append([]string{secret}, codes...) {
		if n := w.Rows("users WHERE instr(totp, '" + kept + "') > 0"); n != 0 {
			t.Error("the secret stands in the file")
		}
		if n := w.Rows("recovery_codes WHERE instr(hash, '" + kept + "') > 0"); n != 0 {
			t.Error("a recovery code stands in the file")
		}
	}

	// The password alone opens nothing.
	halfway := password(t, w.Browser())
	halfway.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	halfway.Get("/live").WantStatus(t, http.StatusUnauthorized)
	halfway.Get("/login/code").Shows(t, "recovery code")
	w.Browser().Get("/login/code").Goes(t, "/login")
	w.Browser().Post("/login/code", "code", codes[0]).Goes(t, "/login")
	b.Get("/settings/sign-in").Shows(t, "code not entered yet")

	if n := w.Rows("users WHERE totp_step > 0"); n != 1 {
		t.Error("the code with which it was set up counts once more")
	}
	// A code counts once, and none of a step before one that was used.
	w.Change("UPDATE users SET totp_step = totp_step + 1000")
	halfway.Post("/login/code", "code", codeOf(t, secret)).WantStatus(t, http.StatusUnprocessableEntity)
	w.Change("UPDATE users SET totp_step = 0")
	in, code := withCode(t, secret, func(code string) webtest.Answer { return halfway.Post("/login/code", "code", code) })
	in.Goes(t, "/webhooks")
	if n := w.Rows("users WHERE totp_step > 0"); n != 1 {
		t.Error("the step isn't noted")
	}
	halfway.Get("/webhooks").WantStatus(t, http.StatusOK)
	password(t, w.Browser()).Post("/login/code", "code", code).WantStatus(t, http.StatusUnprocessableEntity)

	// A recovery code counts once, until new ones are made.
	password(t, w.Browser()).Post("/login/code", "code", strings.ToUpper(codes[0])).Goes(t, "/webhooks")
	password(t, w.Browser()).Post("/login/code", "code", codes[0]).WantStatus(t, http.StatusUnprocessableEntity)
	b.Get("/settings/sign-in").Shows(t, "Recovery codes left: 9")
	b.Submit("/settings/sign-in/codes", "present_password", "wrong password").WantStatus(t, http.StatusUnprocessableEntity)
	secretShown(t, b.Submit("/settings/sign-in/codes", "present_password", apptest.SomePassword))
	b.Get("/settings/sign-in").Shows(t, "Recovery codes left: 10")
	password(t, w.Browser()).Post("/login/code", "code", codes[1]).WantStatus(t, http.StatusUnprocessableEntity)

	b.Post("/settings/sign-in/off", "present_password", "wrong password").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/settings/sign-in/off", "present_password", apptest.SomePassword).Goes(t, "/settings/sign-in")
	w.Browser().SignIn("lan")
	if n := w.Rows("recovery_codes"); n != 0 {
		t.Errorf("%d recovery codes are left", n)
	}
}

// Of those who send the same code at the same time, one is signed in.
func TestCodeAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	secret, _ := enrol(t, w.Browser().SignIn("lan"))
	w.Change("UPDATE users SET totp_step = 0")
	var browsers [4]*webtest.Browser
	for i := range browsers {
		browsers[i] = password(t, w.Browser())
	}
	var in atomic.Int64
	withCode(t, secret, func(code string) (a webtest.Answer) {
		var all sync.WaitGroup
		for _, b := range browsers {
			all.Go(func() {
				if a := b.Post("/login/code", "code", code); a.Status == http.StatusSeeOther {
					in.Add(1)
				}
			})
		}
		all.Wait()
		if in.Load() == 0 {
			a.Status = http.StatusUnprocessableEntity
		}
		return a
	})
	if in.Load() != 1 {
		t.Errorf("%d are signed in by one code", in.Load())
	}
}

// TestNewDeviceWithCode: a hundred addresses that try passwords under the owner's name don't
// keep the owner out who has the app at hand, also in a browser that is new.
func TestNewDeviceWithCode(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.User(1, "lan", access.RoleOwner)
	secret, codes := enrol(t, w.Browser().SignIn("lan"))
	stranger := w.Browser()
	for i := range 100 {
		stranger.Header = http.Header{"X-Test-Peer": {webtest.Peer(i)}}
		stranger.Post("/login", "name", "lan", "password", "wrong password", "code", "123456")
	}
	b := w.Browser()
	b.Header = http.Header{"X-Test-Peer": {"203.0.113.9"}}
	try := func(pairs ...string) webtest.Answer { return b.Post("/login", append(pairs, "name", "lan")...) }
	a := try("password", apptest.SomePassword)
	a.WantStatus(t, http.StatusTooManyRequests)
	a.Shows(t, `name="code"`)
	try("password", apptest.SomePassword, "code", "000000").WantStatus(t, http.StatusTooManyRequests)
	try("password", "wrong password", "code", codes[0]).WantStatus(t, http.StatusUnauthorized)
	try("password", apptest.SomePassword, "code", codes[0]).WantStatus(t, http.StatusTooManyRequests) // used up
	try("password", apptest.SomePassword, "code", codes[1]).Goes(t, "/")
	b.Get("/settings").WantStatus(t, http.StatusOK)

	b = w.Browser()
	b.Header = http.Header{"X-Test-Peer": {"203.0.113.10"}}
	next, err := totp.GenerateCode(secret, time.Now().Add(30*time.Second)) // that of enrol is used up
	apptest.Must(t, err)
	try("password", apptest.SomePassword, "code", next).Goes(t, "/")
}

// TestCodesBeforeThePassword: whoever knows the password and has many addresses can't try
// all codes of the app beside it. A recovery code, which nobody guesses, still counts.
func TestCodesBeforeThePassword(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t).Peers()
	w.User(1, "lan", access.RoleOwner)
	secret, codes := enrol(t, w.Browser().SignIn("lan"))
	w.Change("UPDATE users SET totp_step = 0")
	thief := w.Browser()
	from := func(i int, code string) webtest.Answer {
		thief.Header = http.Header{"X-Test-Peer": {webtest.Peer(i)}}
		secret := wrong
		if i >= 2000 {
			secret = apptest.SomePassword
		}
		return thief.Post("/login", "name", "lan", "password", secret, "code", code)
	}
	for i := range 1200 {
		from(i, "000000x")
	}
	from(2000, codeOf(t, secret)).WantStatus(t, http.StatusTooManyRequests)
	from(2001, codes[0]).Goes(t, "/")
}

// Wrong codes are limited. They use up nothing of a browser in which the user has
// signed in before.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	_, codes := enrol(t, b)
	thief := password(t, w.Browser())
	status := 0
	for i := 0; i < 20 && status != http.StatusTooManyRequests; i++ {
		status = thief.Post("/login/code", "code", "000000x").Status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the 20th wrong code: %d", status)
	}
	thief.Post("/login/code", "code", codes[0]).WantStatus(t, http.StatusTooManyRequests)
	b.Post("/logout")
	password(t, b).Post("/login/code", "code", codes[0]).Goes(t, "/webhooks")
}

func TestHalfwayEnds(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	lan := w.User(1, "lan", access.RoleOwner)
	_, codes := enrol(t, w.Browser().SignIn("lan"))
	b := password(t, w.Browser())
	if n := w.Rows("sessions WHERE halfway = 1 AND end_at - started_at BETWEEN 590 AND 610"); n != 1 {
		t.Errorf("%d halfway sessions of ten minutes", n)
	}
	w.Change("UPDATE sessions SET end_at = started_at WHERE halfway = 1")
	b.Post("/login/code", "code", codes[0]).Goes(t, "/login")
	password(t, b)
	_, err := w.Services.Access.EndSessions(t.Context(), 1, lan.ID)
	apptest.Must(t, err)
	b.Post("/login/code", "code", codes[0]).Goes(t, "/login")
}

// Whoever must have a second factor and has none may do nothing but set it up, and
// sign out.
func TestDemand(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	owner, cashier := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	owner.Post("/settings/sign-in/demand", "demand", "1").WantStatus(t, http.StatusConflict)
	enrol(t, owner)
	open := cashier.Listen("/live?since=0")
	owner.Post("/settings/sign-in/demand", "demand", "1").Goes(t, "/settings/sign-in")
	for range open.Events { // until it has ended
	}
	for _, path := range []string{"/", "/counter", "/settings", "/help"} {
		cashier.Get(path).Goes(t, "/settings/sign-in")
	}
	cashier.Post("/settings/password", "present_password", apptest.SomePassword).Goes(t, "/settings/sign-in")
	cashier.Get("/live").WantStatus(t, http.StatusUnauthorized)
	owner.Get("/").WantStatus(t, http.StatusOK)
	owner.Post("/settings/sign-in/off", "present_password", apptest.SomePassword).WantStatus(t, http.StatusConflict)
	enrol(t, cashier)
	cashier.Get("/counter").WantStatus(t, http.StatusOK)
	owner.Post("/settings/sign-in/demand", "demand", "0", "present_password", apptest.SomePassword).Goes(t, "/settings/sign-in")
	cashier.Post("/settings/sign-in/off", "present_password", apptest.SomePassword).Goes(t, "/settings/sign-in")
	cashier.Get("/counter").WantStatus(t, http.StatusOK)
}

var sessionForm = regexp.MustCompile(`action="([^"]+/sessions/[0-9]+/end)"`)

func TestSessionList(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	phone, desk, hoa := w.Browser(), w.Browser(), w.Browser()
	phone.Header.Set("User-Agent",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1")
	desk.Header.Set("User-Agent", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0")
	phone.SignIn("lan")
	desk.SignIn("lan")
	hoa.SignIn("hoa")
	list := desk.Get("/settings/sign-in")
	list.Shows(t, "Safari, iPhone", "Edge, Windows", "127.0.0.1", "this browser")
	ends := sessionForm.FindAllStringSubmatch(list.Body, -1)
	if len(ends) != 1 {
		t.Fatalf("sessions that can be ended: %q", ends)
	}
	hoa.Post(ends[0][1]).WantStatus(t, http.StatusNotFound)
	open := phone.Listen("/live?since=0")
	desk.Post(ends[0][1]).Goes(t, "/settings/sign-in")
	for range open.Events { // until it has ended
	}
	phone.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	desk.Get("/settings/sign-in").Hides(t, "Safari, iPhone")
	desk.Post(ends[0][1]).WantStatus(t, http.StatusNotFound)

	phone.SignIn("lan")
	desk.Post("/settings/sign-in/others").Goes(t, "/settings/sign-in")
	phone.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	desk.Get("/settings/sign-in").Hides(t, "Safari, iPhone")

	ofHoa := sessionForm.FindStringSubmatch(desk.Get("/settings/users/2").Body)
	if ofHoa == nil {
		t.Fatal("an owner doesn't see the sessions of others")
	}
	desk.Post(ofHoa[1]).Goes(t, "/settings/users/2")
	hoa.Get("/counter").Goes(t, "/login?back=%2Fcounter")
}

// A request that began before its session was ended doesn't bring it back.
func TestEndedSessionStaysEnded(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	u := w.User(1, "lan", access.RoleOwner)
	late := access.Session{UserID: u.ID, Generation: u.Generation, StartedAt: time.Now(), EndAt: time.Now().Add(time.Hour)}
	for name, end := range map[string]func(id int64) error{
		"ended":      func(id int64) error { return w.Services.Access.EndSession(t.Context(), 1, u.ID, id, time.Now()) },
		"signed out": func(int64) error { return w.Services.Access.RemoveSession(t.Context(), "token") },
	} {
		apptest.Must(t, w.Services.Access.SetSession(t.Context(), "token", late, []byte("data")))
		list, err := w.Services.Access.Sessions(t.Context(), 1, u.ID, "token", time.Now())
		apptest.Must(t, err)
		if len(list) != 1 || !list[0].This {
			t.Fatalf("%s: %+v", name, list)
		}
		apptest.Must(t, end(list[0].ID))
		apptest.Must(t, w.Services.Access.SetSession(t.Context(), "token", late, []byte("data")))
		if _, found, err := w.Services.Access.Session(t.Context(), "token", time.Now()); err != nil || found {
			t.Errorf("%s: the session goes on, %v", name, err)
		}
		w.Change("DELETE FROM sessions")
	}
}
