package dashboard_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/passkey"
	"baoco/web"
	"baoco/web/webtest"
)

// atHome is a browser at a name, where there are passkeys.
func atHome(w *webtest.World) *webtest.Browser {
	b := w.Browser()
	b.Base = strings.Replace(b.Base, "127.0.0.1", "localhost", 1)
	return b
}

func deviceAt(t *testing.T, b *webtest.Browser) *apptest.Authenticator {
	t.Helper()
	place, ok := passkey.PlaceOf(b.Base)
	if !ok {
		t.Fatalf("no passkeys at %s", b.Base)
	}
	return apptest.NewAuthenticator(t, place.Origin, place.Host)
}

// passkeyAsked is what a browser is asked to sign.
type passkeyAsked struct {
	Challenge, RPID                      string
	User                                 struct{ ID, Name string }
	AllowCredentials, ExcludeCredentials []struct {
		ID         string
		Transports []string
	}
}

func asked(t *testing.T, b *webtest.Browser, path string) (o passkeyAsked) {
	t.Helper()
	a := b.Get(path)
	a.WantStatus(t, http.StatusOK)
	apptest.Must(t, json.Unmarshal([]byte(a.Body), &o))
	return o
}

const newPasskey = "/settings/sign-in/passkeys/options"

// created is the form of a passkey that the device makes.
func created(t *testing.T, b *webtest.Browser, device *apptest.Authenticator, name string) []string {
	t.Helper()
	o := asked(t, b, newPasskey)
	handle, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	apptest.Must(t, err)
	device.Handle = handle
	return []string{"name", name, "answer", device.Create(o.Challenge), "present_password", apptest.SomePassword}
}

func addPasskey(t *testing.T, b *webtest.Browser) *apptest.Authenticator {
	t.Helper()
	device := deviceAt(t, b)
	if a := b.Submit("/settings/sign-in/passkeys", created(t, b, device, "phone")...); a.Status != http.StatusOK &&
		a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return device
}

// use signs in with a passkey.
func use(t *testing.T, b *webtest.Browser, device *apptest.Authenticator) webtest.Answer {
	t.Helper()
	return b.Post("/login/passkey", "back", "/webhooks", "answer", device.Sign(asked(t, b, "/login/passkey/options").Challenge))
}

func TestPasskey(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b, elsewhere := atHome(w).SignIn("lan"), atHome(w).SignIn("lan")
	b.Get("/settings/sign-in").Shows(t, "It will work at this address only:", "<code>localhost</code>", "Passkeys need JavaScript")

	device := deviceAt(t, b)
	form := created(t, b, device, "")
	b.Submit("/settings/sign-in/passkeys", append([]string{"present_password", "wrong password"}, form[:4]...)...).WantStatus(t,
		http.StatusUnprocessableEntity)
	if n := w.Rows("passkeys"); n != 0 {
		t.Fatalf("%d passkeys are added without the password", n)
	}
	b.Header.Set("User-Agent", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36")
	page := b.Get("/settings/sign-in")
	once := []string{"once", page.Once(t)}
	codes := strings.Split(secretShown(t, b.Post("/settings/sign-in/passkeys", append(once, form...)...)), "\n")
	if len(codes) != 10 {
		t.Fatalf("recovery codes %q", codes)
	}
	b.Post("/settings/sign-in/passkeys", append(once, form...)...).Hides(t, codes[0]) // sent again it shows nothing
	elsewhere.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	b.Get("/settings/sign-in").Shows(t, "Chrome, Windows", "Recovery codes left: 10", "On: after your password")
	if n := w.Rows("passkeys WHERE user_id = 1 AND host = 'localhost' AND transports = 'internal,hybrid' AND backup_eligible = 0 " +
		"AND last_used_at IS NULL"); n != 1 {
		t.Errorf("%d passkeys as they should be", n)
	}

	// After the password: the passkey, or a recovery code.
	halfway := password(t, atHome(w))
	halfway.Get("/login/code").Shows(t, "Sign in with a passkey")
	o := asked(t, halfway, "/login/passkey/options")
	if o.RPID != "localhost" || len(o.AllowCredentials) != 1 || o.AllowCredentials[0].ID != base64.RawURLEncoding.EncodeToString(device.ID) ||
		len(o.AllowCredentials[0].Transports) != 2 {
		t.Errorf("asked %+v", o)
	}
	halfway.Post("/login/passkey", "answer", device.Sign(o.Challenge)).Goes(t, "/webhooks") // where the password was to lead
	halfway.Get("/webhooks").WantStatus(t, http.StatusOK)
	password(t, atHome(w)).Post("/login/code", "code", codes[0]).Goes(t, "/webhooks")
	if n := w.Rows("passkeys WHERE last_used_at IS NOT NULL"); n != 1 {
		t.Error("the use of a passkey isn't noted")
	}

	// Alone, and nobody is told whose passkeys there are.
	alone := atHome(w)
	alone.Get("/login").Shows(t, "Sign in with a passkey")
	if o := asked(t, alone, "/login/passkey/options"); len(o.AllowCredentials) != 0 {
		t.Errorf("asked %+v", o)
	}
	use(t, alone, device).Goes(t, "/webhooks")
	alone.Get("/webhooks").WantStatus(t, http.StatusOK)
	alone.Post("/logout")
	alone.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	use(t, alone, device).Goes(t, "/webhooks") // again, with a challenge of its own

	// A second one leaves the codes as they are. A device makes no two.
	o = asked(t, b, newPasskey)
	if len(o.ExcludeCredentials) != 1 || o.User.Name != "lan" {
		t.Errorf("asked %+v", o)
	}
	second := deviceAt(t, b)
	b.Submit("/settings/sign-in/passkeys", created(t, b, second, "key <1>")...).Goes(t, "/settings/sign-in")
	b.Submit("/settings/sign-in/passkeys", created(t, b, second, "again")...).WantStatus(t, http.StatusConflict)
	b.Get("/settings/sign-in").Shows(t, "Recovery codes left: 9", "key <1>")
	// a new password doesn't end them
	b.Get("/settings/users/1").Shows(t, "key <1>", "The passkeys above go on signing in", "baoco user second-factor-off lan")
	use(t, atHome(w), second).Goes(t, "/webhooks")

	b.Get("/settings/sign-in/passkeys/2").Shows(t, "key <1>", "on one device")
	b.Post("/settings/sign-in/passkeys/2", "name", " ").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/settings/sign-in/passkeys/2", "name", " key ").Goes(t, "/settings/sign-in/passkeys/2")
	if n := w.Rows("passkeys WHERE name = 'key'"); n != 1 {
		t.Error("the name isn't kept")
	}
	b.Post("/settings/sign-in/passkeys/2/remove", "present_password", "wrong password").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/settings/sign-in/passkeys/2/remove", "present_password", apptest.SomePassword).Goes(t, "/settings/sign-in")
	alone.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	use(t, alone, second).WantStatus(t, http.StatusUnauthorized)
	b.Get("/settings/sign-in").Shows(t, "Recovery codes left: 9")
	b.Post("/settings/sign-in/passkeys/1/remove", "present_password", apptest.SomePassword).Goes(t, "/settings/sign-in")
	b.Get("/settings/sign-in/passkeys/1").WantStatus(t, http.StatusNotFound)
	if n := w.Rows("recovery_codes"); n != 0 {
		t.Errorf("%d recovery codes are left of nothing", n)
	}
	w.Browser().SignIn("lan") // the password is enough again

	for deed, n := range map[string]int{"user.passkey_add": 2, "user.passkey_rename": 1, "user.passkey_remove": 2} {
		if got := w.Rows("audit WHERE way = 'dashboard' AND actor = 'lan' AND noun_id = 1 AND deed = '" + deed + "'"); got != n {
			t.Errorf("%d lines of %s, want %d", got, deed, n)
		}
	}
}

// Passkeys are a user's own.
func TestPasskeyOfAnother(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	lan, hoa := atHome(w).SignIn("lan"), atHome(w).SignIn("hoa")
	ofLan, ofHoa := addPasskey(t, lan), addPasskey(t, hoa)

	for _, path := range []string{"/settings/sign-in/passkeys/1", "/settings/sign-in/passkeys/x", "/settings/sign-in/passkeys/99"} {
		hoa.Get(path).WantStatus(t, http.StatusNotFound)
		hoa.Post(path, "name", "mine").WantStatus(t, http.StatusNotFound)
		hoa.Post(path+"/remove", "present_password", apptest.SomePassword).WantStatus(t, http.StatusNotFound)
	}
	if n := w.Rows("passkeys WHERE name = 'phone'"); n != 2 {
		t.Errorf("%d passkeys are as they were", n)
	}
	// The password of one and the passkey of another sign nobody in.
	halfway := password(t, atHome(w))
	use(t, halfway, ofHoa).WantStatus(t, http.StatusUnauthorized)
	halfway.Get("/webhooks").Goes(t, "/login?back=%2Fwebhooks")
	use(t, halfway, ofLan).Goes(t, "/webhooks")
	// A challenge for one isn't one for another, nor for a new passkey.
	o := asked(t, password(t, atHome(w)), "/login/passkey/options")
	atHome(w).Post("/login/passkey", "answer", ofLan.Sign(o.Challenge)).WantStatus(t, http.StatusUnauthorized)
	form := created(t, lan, deviceAt(t, lan), "theirs")
	hoa.Submit("/settings/sign-in/passkeys", form...).WantStatus(t, http.StatusUnauthorized)
	o = asked(t, lan, "/login/passkey/options")
	lan.Submit("/settings/sign-in/passkeys", "answer", deviceAt(t, lan).Create(o.Challenge), "name", "x", "present_password",
		apptest.SomePassword).WantStatus(t, http.StatusUnauthorized)
	// Whose a passkey is, the device says too.
	ofLan.Handle = ofHoa.Handle
	use(t, atHome(w), ofLan).WantStatus(t, http.StatusUnauthorized)
	w.Until("there is a line of a refused passkey", func() bool {
		return w.Rows("audit WHERE deed = 'user.sign_in_refused' AND noun_id = 1") > 0
	})
}

// What a browser and a device say wrong signs nobody in, and adds nothing.
func TestPasskeyRefused(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	lan := atHome(w).SignIn("lan")
	device := addPasskey(t, lan)
	b := atHome(w)
	for name, c := range map[string]struct {
		set  func(a *apptest.Authenticator)
		says string
	}{
		"not verified":                {func(a *apptest.Authenticator) { a.Flags = 1 }, "did not ask for a fingerprint"},
		"another origin":              {func(a *apptest.Authenticator) { a.Origin = "https://evil.vn" }, "at another address"},
		"another host":                {func(a *apptest.Authenticator) { a.Host = "evil.vn" }, "at another address"},
		"another kind of device":      {func(a *apptest.Authenticator) { a.Flags |= 8 }, "moved to a device or program of another kind"},
		"backed up, but not eligible": {func(a *apptest.Authenticator) { a.Flags |= 16 }, "was not accepted"},
		"an unknown passkey":          {func(a *apptest.Authenticator) { a.ID = []byte("unknown") }, "belong to a user here"},
		"another key":                 {func(a *apptest.Authenticator) { a.Key = deviceAt(t, lan).Key }, "was not accepted"},
	} {
		wrong := *device
		c.set(&wrong)
		if a := use(t, b, &wrong); a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, c.says) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	for _, answer := range []string{"", "{}", "[]", `{"rawId":"AAAA","response":{"clientDataJSON":"e30"}}`, strings.Repeat("a", 5000)} {
		b.Post("/login/passkey", "answer", answer).WantStatus(t, http.StatusUnauthorized)
	}
	b.Post("/login/passkey", "answer", strings.Repeat("a", 9000)).WantStatus(t, http.StatusRequestEntityTooLarge)

	// Sent again, or with a challenge of somebody else.
	answer := device.Sign(asked(t, b, "/login/passkey/options").Challenge)
	b.Post("/login/passkey", "answer", answer, "back", "//evil.vn").Goes(t, "/")
	atHome(w).Post("/login/passkey", "answer", answer).WantStatus(t, http.StatusUnauthorized)
	atHome(w).Post("/login/passkey", "answer", device.Sign("AAAA")).WantStatus(t, http.StatusUnauthorized)

	wrong := deviceAt(t, lan)
	wrong.Flags = 1
	lan.Submit("/settings/sign-in/passkeys", created(t, lan, wrong, "x")...).WantStatus(t, http.StatusUnauthorized)
	wrong = deviceAt(t, lan)
	wrong.Origin = "https://evil.vn"
	lan.Submit("/settings/sign-in/passkeys", created(t, lan, wrong, "x")...).WantStatus(t, http.StatusUnauthorized)
	lan.Submit("/settings/sign-in/passkeys", "name", "x", "answer", "{}", "present_password", apptest.SomePassword).WantStatus(t,
		http.StatusUnauthorized)
	if n := w.Rows("passkeys"); n != 1 {
		t.Errorf("%d passkeys", n)
	}
	lan.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	lan.Submit("/settings/sign-in/passkeys", "name", "x").WantStatus(t, http.StatusForbidden)
	lan.Post("/login/passkey", "answer", "x").WantStatus(t, http.StatusForbidden)
}

// A count that goes back says that there are two of a passkey. Both are refused until
// one has counted on, and people are told.
func TestPasskeyCount(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := atHome(w).SignIn("lan")
	device := deviceAt(t, b)
	device.Count = 5
	secretShown(t, b.Submit("/settings/sign-in/passkeys", created(t, b, device, "key")...))
	use(t, atHome(w), device).Goes(t, "/webhooks")
	elsewhere := *device
	use(t, atHome(w), device).Goes(t, "/webhooks")
	for name, count := range map[string]uint32{"the same": elsewhere.Count, "an earlier": 1, "none": 0} {
		elsewhere.Count = count
		a := use(t, atHome(w), &elsewhere)
		a.WantStatus(t, http.StatusUnauthorized)
		if !strings.Contains(a.Body, "there may be a copy of it") {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	if n := w.Rows("passkeys WHERE sign_count = 7"); n != 1 {
		t.Error("a refused count is kept")
	}
	device.Count = 1<<32 - 1
	use(t, atHome(w), device).Goes(t, "/webhooks")
}

// Of two that send the same answer at the same time, one is signed in.
func TestPasskeyAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	device := addPasskey(t, atHome(w).SignIn("lan"))
	b := atHome(w)
	answer := device.Sign(asked(t, b, "/login/passkey/options").Challenge)
	var in, out atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch atHome(w).Post("/login/passkey", "answer", answer).Status {
			case http.StatusSeeOther:
				in.Add(1)
			case http.StatusUnauthorized:
				out.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 || out.Load() != 7 {
		t.Errorf("%d are signed in, %d refused", in.Load(), out.Load())
	}
}

// Time is an argument of what decides.
func TestPasskeyTakesTooLong(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	lan := w.User(1, "lan", access.RoleOwner)
	place := passkey.Place{Origin: "https://shop.vn", Host: "shop.vn"}
	device := apptest.NewAuthenticator(t, place.Origin, place.Host)
	now := time.Now()
	asked := func(options any, err error) (o passkeyAsked) {
		t.Helper()
		apptest.Must(t, err)
		text, err := json.Marshal(options)
		apptest.Must(t, err)
		apptest.Must(t, json.Unmarshal(text, &o))
		return o
	}
	add := func(after time.Duration) error {
		answer := device.Create(asked(w.Services.Access.NewPasskeyOptions(t.Context(), lan, place, now)).Challenge)
		changed, _, err := w.Services.Access.AddPasskey(t.Context(), lan,
			access.PasskeyCreate{Name: "x", Place: place, Answer: answer, Present: apptest.SomePassword}, now.Add(after))
		if err == nil {
			lan = changed
		}
		return err
	}
	signIn := func(place passkey.Place, after time.Duration) error {
		answer := device.Sign(asked(w.Services.Access.PasskeyOptions(t.Context(), access.User{}, place, now)).Challenge)
		_, err := w.Services.Access.SignInPasskey(t.Context(), access.User{}, place, answer, now.Add(after))
		return err
	}
	if err := add(5 * time.Minute); err == nil {
		t.Error("a passkey is added after five minutes")
	}
	apptest.Must(t, add(4*time.Minute))
	if err := signIn(place, 5*time.Minute); err == nil {
		t.Error("a passkey signs in after five minutes")
	}
	apptest.Must(t, signIn(place, 4*time.Minute))
	// A copy of the file at another address takes no passkeys of this one.
	if err := signIn(passkey.Place{Origin: "https://copy.vn", Host: "copy.vn"}, 0); err == nil {
		t.Error("a passkey signs in at another host")
	}
	o := asked(w.Services.Access.PasskeyOptions(t.Context(), lan, passkey.Place{Origin: "https://copy.vn", Host: "copy.vn"}, now))
	if len(o.AllowCredentials) != 0 {
		t.Errorf("asked %+v", o)
	}
}

// Where browsers have no passkeys, the pages say why, and of a passkey from elsewhere
// where it works.
func TestPasskeyPlaces(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	home := atHome(w).SignIn("lan")
	addPasskey(t, home)
	away := password(t, w.Browser()) // at 127.0.0.1
	away.Get("/login/code").Shows(t, "Passkeys need https")
	w.Browser().Get("/login").Hides(t, "passkey")
	away.Get("/login/passkey/options").WantStatus(t, http.StatusConflict)
	away.Post("/login/passkey", "answer", "{}").WantStatus(t, http.StatusConflict)

	w.Change("UPDATE passkeys SET host = 'shop.vn'")
	home.Get("/settings/sign-in").Shows(t, "shop.vn", "not at this address")
	home.Get("/settings/sign-in/passkeys/1").Shows(t, "shop.vn", "only, not at this address")
	password(t, atHome(w)).Get("/login/code").Shows(t, "A passkey works only at the address that it was made for", "shop.vn")
	if o := asked(t, home, newPasskey); len(o.ExcludeCredentials) != 0 {
		t.Errorf("asked %+v", o)
	}
	// As a trusted proxy names the place.
	proxied := w.Browser()
	proxied.Header = http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"shop.vn"}}
	proxied.Get("/login/passkey/options").WantStatus(t, http.StatusConflict) // a stranger is no proxy
	proxied.Base = w.Serve(web.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}).Base
	if o := asked(t, proxied, "/login/passkey/options"); o.RPID != "shop.vn" {
		t.Errorf("asked %+v", o)
	}
	proxied.Header.Set("X-Forwarded-Host", "192.0.2.1")
	a := proxied.Get("/login/passkey/options")
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "Passkeys need a name")
}

// A passkey is all the second factor that an owner may demand. The command line takes
// everything away.
func TestPasskeyOnDemand(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	owner, cashier := atHome(w).SignIn("lan"), atHome(w).SignIn("hoa")
	addPasskey(t, owner)
	owner.Post("/settings/sign-in/demand", "demand", "1").Goes(t, "/settings/sign-in")
	cashier.Get("/counter").Goes(t, "/settings/sign-in")
	device := addPasskey(t, cashier)
	cashier.Get("/counter").WantStatus(t, http.StatusOK)
	a := cashier.Post("/settings/sign-in/passkeys/2/remove", "present_password", apptest.SomePassword)
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "this passkey is all that you have")
	cashier.Post("/settings/sign-in/off", "present_password", apptest.SomePassword).WantStatus(t, http.StatusConflict)
	use(t, atHome(w), device).Goes(t, "/webhooks")
	if n := w.Rows("recovery_codes WHERE user_id = 2"); n != 10 {
		t.Errorf("%d recovery codes", n)
	}
	_, err := w.Services.Access.RemoveSecondFactor(t.Context(), 1, 2)
	apptest.Must(t, err)
	use(t, atHome(w), device).WantStatus(t, http.StatusUnauthorized)
	if n := w.Rows("passkeys WHERE user_id = 2"); n != 0 {
		t.Errorf("%d passkeys are left", n)
	}
	b := atHome(w)
	b.Post("/login", "name", "hoa", "password", apptest.SomePassword).Goes(t, "/")
	b.Get("/counter").Goes(t, "/settings/sign-in")
}

func TestPasskeyLimits(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := atHome(w).SignIn("lan")
	addPasskey(t, b)
	w.Change(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8)
		INSERT INTO passkeys (user_id, name, host, credential_id, public_key, transports, backup_eligible, sign_count, created_at) SELECT 1,
		'x', 'localhost', CAST(i AS BLOB), x'', '', 0, 0, 0 FROM n`)
	b.Submit("/settings/sign-in/passkeys", created(t, b, deviceAt(t, b), "the tenth")...).Goes(t, "/settings/sign-in")
	a := b.Submit("/settings/sign-in/passkeys", created(t, b, deviceAt(t, b), "one more")...)
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "You have ten passkeys already", "one more")
}

// Strangers may cause so much work. It stands in nobody's way who enters a password or
// a code.
func TestPasskeyPace(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := atHome(w).SignIn("lan")
	device := deviceAt(t, b)
	codes := strings.Split(secretShown(t, b.Submit("/settings/sign-in/passkeys", created(t, b, device, "x")...)), "\n")
	stranger, refused := atHome(w), 0
	for range 100 {
		if stranger.Post("/login/passkey", "answer", "{}").Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 20 || refused > 40 {
		t.Errorf("%d of 100 are refused", refused)
	}
	stranger.Get("/login/passkey/options").WantStatus(t, http.StatusTooManyRequests)
	password(t, stranger).Post("/login/code", "code", codes[0]).Goes(t, "/webhooks")
}
