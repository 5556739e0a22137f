package dashboard_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/upkeep"
	"baoco/web"
	"baoco/web/webtest"
)

// wrong is a password that can't be one, so that no time goes into its hash.
var wrong = strings.Repeat("x", 201)

// guesser signs in within a bubble, in which no time passes unless it sleeps.
type guesser struct {
	t *testing.T
	h http.Handler
}

// guess is an attempt to sign in from an address, with the cookie of a device or
// none.
func (g guesser) guess(peer, name, password, device string) webtest.Answer {
	g.t.Helper()
	form := url.Values{"name": {name}, "password": {password}}
	return webtest.From(g.h, peer+":4711")("POST", "/login", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded", "Cookie", device)
}

// limited is how many of n wrong guesses are refused for their number.
func (g guesser) limited(n int, guess func(i int) webtest.Answer) (limited int) {
	g.t.Helper()
	for i := range n {
		switch a := guess(i); a.Status {
		case http.StatusTooManyRequests:
			limited++
		case http.StatusUnauthorized:
		default:
			g.t.Fatalf("guess %d: %d %s", i, a.Status, a.Body)
		}
	}
	return limited
}

// device signs in and gives the cookie of the device that the browser is now.
func (g guesser) device(peer, name, device string) string {
	g.t.Helper()
	a := g.guess(peer, name, apptest.SomePassword, device)
	a.Goes(g.t, "/")
	cookie, _, _ := strings.Cut(a.Cookie("baoco-device"), ";")
	return cookie
}

func inGuessing(t *testing.T, test func(t *testing.T, w *webtest.World, g guesser)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := webtest.NewStillWorld(t)
		w.User(1, "lan", access.RoleOwner)
		test(t, w, guesser{t, web.New(web.Config{Services: w.Services})})
	})
}

// TestSignInThrottle: 10 guesses from one address and 5 more a minute, 60 under
// one name and 20 more a minute.
func TestSignInThrottle(t *testing.T) {
	inGuessing(t, func(t *testing.T, w *webtest.World, g guesser) {
		one := func(int) webtest.Answer { return g.guess("198.51.100.9", "lan", wrong, "") }
		if n := g.limited(14, one); n != 4 {
			t.Errorf("%d of 14 guesses from one address are refused, want 4", n)
		}
		time.Sleep(time.Minute)
		if n := g.limited(14, one); n != 9 {
			t.Errorf("%d of 14 guesses a minute later are refused, want 9", n)
		}
		// An hour of one address as fast as it may, and the owner comes in.
		for range 300 {
			time.Sleep(12 * time.Second)
			g.limited(1, one)
		}
		if n := g.limited(100, one); n != 100 {
			t.Errorf("the address may still guess: %d of 100 are refused", n)
		}
		g.device("203.0.113.1", "lan", "")

		time.Sleep(time.Hour)
		from := func(i int) webtest.Answer { return g.guess(webtest.Peer(i), "lan", wrong, "") }
		if n := g.limited(70, from); n != 10 {
			t.Errorf("%d of 70 guesses under one name are refused, want 10", n)
		}
		time.Sleep(time.Minute)
		if n := g.limited(70, func(i int) webtest.Answer { return from(100 + i) }); n != 50 {
			t.Errorf("%d of 70 guesses a minute later are refused, want 50", n)
		}
	})
}

// TestSignInOfADevice: where the user has signed in before they come in while
// others have used up the name and the address.
func TestSignInOfADevice(t *testing.T) {
	inGuessing(t, func(t *testing.T, w *webtest.World, g guesser) {
		lan := g.device("203.0.113.1", "lan", "")
		attack := func() {
			g.limited(200, func(i int) webtest.Answer { return g.guess(webtest.Peer(i), "lan", wrong, "") })
			g.limited(20, func(int) webtest.Answer { return g.guess("203.0.113.1", "lan", wrong, "") })
		}
		attack()
		if a := g.guess("203.0.113.1", "lan", apptest.SomePassword, ""); a.Status != http.StatusTooManyRequests {
			t.Errorf("a stranger with the right password: %d", a.Status)
		}
		if again := g.device("203.0.113.1", "lan", lan); again != lan {
			t.Errorf("the device is another: %q, %q", again, lan)
		}
		if n := g.limited(14, func(int) webtest.Answer { return g.guess("203.0.113.1", "lan", wrong, lan) }); n != 5 {
			t.Errorf("%d of 14 guesses on a device are refused, want 5", n)
		}

		// It is a device of that user alone, and nobody can make one up.
		w.User(1, "mai", access.RoleOwner)
		g.limited(200, func(i int) webtest.Answer { return g.guess(webtest.Peer(i), "mai", wrong, "") })
		g.limited(200, func(i int) webtest.Answer { return g.guess(webtest.Peer(i), "nobody", wrong, "") })
		value := strings.TrimPrefix(lan, "baoco-device=")
		mac := hmac.New(sha256.New, nil) // what nobody's token would be signed with
		fmt.Fprintf(mac, "baoco device v1\n0\n0\n%s", value[:26])
		ofNobody := "baoco-device=" + value[:26] + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
		for _, name := range []string{"mai", "nobody"} {
			for _, cookie := range []string{lan, ofNobody, "baoco-device=" + value[:30], "baoco-device=x", "baoco-device=....",
				"baoco-device=" + strings.Repeat("a", 69), "baoco=" + value, ""} {
				if a := g.guess("203.0.113.2", name, wrong, cookie); a.Status != http.StatusTooManyRequests {
					t.Errorf("%s with %.40s: %d", name, cookie, a.Status)
				}
			}
			time.Sleep(time.Second)
		}

		// One browser of several people.
		time.Sleep(time.Hour)
		both := g.device("203.0.113.1", "mai", lan)
		attack()
		if again := g.device("203.0.113.1", "lan", both); !strings.HasPrefix(again, lan) ||
			!strings.Contains(again, strings.TrimPrefix(both, "baoco-device=")[:26]) {
			t.Errorf("of two people's browser remains %q, after %q", again, both)
		}
	})
}

// TestDeviceEnds: with the password, with signing out everywhere, and with the
// user; never is it somebody else's.
func TestDeviceEnds(t *testing.T) {
	inGuessing(t, func(t *testing.T, w *webtest.World, g guesser) {
		w.User(1, "boss", access.RoleOwner)
		ctx := context.Background()
		for i, end := range []func(u access.User) error{
			func(u access.User) error {
				_, err := w.Services.Access.SetPassword(ctx, u, apptest.SomePassword, app.IdempotencyKey{}, time.Now())
				return err
			},
			func(u access.User) error { _, err := w.Services.Access.EndSessions(ctx, 1, u.ID); return err },
			func(u access.User) error {
				apptest.Must(t, w.Services.Access.RemoveUser(ctx, 1, u.ID))
				again := w.User(1, u.Name, access.RoleOwner)
				w.File(func(db *sql.DB) error { // as if ids were given again
					_, err := db.Exec(`UPDATE users SET id = ? WHERE id = ?`, u.ID, again.ID)
					return err
				})
				return nil
			},
		} {
			u := w.User(1, fmt.Sprint("user", i), access.RoleOwner)
			device := g.device("203.0.113.1", u.Name, "")
			apptest.Must(t, end(u))
			g.limited(200, func(i int) webtest.Answer { return g.guess(webtest.Peer(i), u.Name, wrong, "") })
			if a := g.guess("203.0.113.1", u.Name, apptest.SomePassword, device); a.Status != http.StatusTooManyRequests {
				t.Errorf("%d: the device is still one: %d", i, a.Status)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestDeviceCookie looks at the cookie itself.
func TestDeviceCookie(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t)
	u := w.User(1, "lan", access.RoleOwner)
	for _, c := range []struct {
		base string
		name string
	}{{"", "baoco-device"}, {"https://example.com", "__Host-baoco-device"}} {
		g := guesser{t, web.New(web.Config{Services: w.Services, Secure: c.base != "", Installation: upkeep.Installation{BaseURL: c.base}})}
		cookie := g.guess("203.0.113.1", "lan", apptest.SomePassword, "").Cookie(c.name)
		for _, part := range []string{"; HttpOnly", "; SameSite=Lax", "; Path=/;", "; Max-Age=34560000"} {
			if !strings.Contains(cookie, part) {
				t.Errorf("%q has no %s", cookie, part)
			}
		}
		if strings.Contains(cookie, "Secure") != (c.base != "") || strings.Contains(cookie, "Domain") ||
			strings.Contains(cookie, fmt.Sprint(u.Generation)) {
			t.Errorf("cookie %q", cookie)
		}
	}
}

// TestNoNameIsTooLong: a name that nobody can have is refused before anything
// is kept of it, as a wrong password is.
func TestNoNameIsTooLong(t *testing.T) {
	inGuessing(t, func(t *testing.T, w *webtest.World, g guesser) {
		if n := g.limited(100, func(i int) webtest.Answer {
			a := g.guess("203.0.113.2", strings.Repeat("a", 51+i), wrong, "")
			if !strings.Contains(a.Body, "The username or password is incorrect.") {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			return a
		}); n != 0 {
			t.Errorf("%d names that are too long took a turn", n)
		}
	})
}

// TestSignInsCostNoMemory: names of any length, in more forms than a limiter
// has room for.
func TestSignInsCostNoMemory(t *testing.T) {
	w := webtest.NewStillWorld(t)
	g := guesser{t, web.New(web.Config{Services: w.Services})}
	for i := range 10 { // of the address, so that no password is checked below
		g.guess("203.0.113.1", fmt.Sprint("user", i), wrong, "")
	}
	before := webtest.Heap()
	for i := range 200 {
		g.guess("203.0.113.1", fmt.Sprint(i, strings.Repeat("a", 60<<10)), wrong, "")
		g.guess("203.0.113.1", fmt.Sprint("user", i), wrong, "")
	}
	for range 20 {
		g.guess("203.0.113.1", strings.Repeat("a", 8<<20), wrong, "")
	}
	if grown := webtest.Heap() - before; grown > 2<<20 {
		t.Errorf("420 refused sign-ins cost %d KiB", grown>>10)
	}
}

// TestFloodOfSignIns has more strangers than may wait at once: some are sent
// away, and a device comes in meanwhile. It has the passwords of this process to
// itself, so that it isn't parallel to others.
func TestFloodOfSignIns(t *testing.T) {
	w := webtest.NewStillWorld(t)
	w.User(1, "lan", access.RoleOwner)
	g := guesser{t, web.New(web.Config{Services: w.Services})}
	lan := g.device("203.0.113.1", "lan", "")
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	sentAway := make(chan struct{}, 1)
	for i := range 100 {
		flood.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				form := url.Values{"name": {fmt.Sprint("user", i, n)}, "password": {"wrong password"}}
				request := httptest.NewRequestWithContext(ctx, "POST", "/login", strings.NewReader(form.Encode()))
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				request.RemoteAddr = fmt.Sprintf("198.51.%d.%d:4711", i, n%250)
				recorder := httptest.NewRecorder()
				g.h.ServeHTTP(recorder, request)
				if recorder.Code == http.StatusTooManyRequests && strings.Contains(recorder.Body.String(), "signing in at this moment") {
					select {
					case sentAway <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	select {
	case <-sentAway:
	case <-time.After(30 * time.Second):
		t.Error("a hundred strangers all wait")
	}
	g.device("203.0.113.1", "lan", lan)
	stop()
	flood.Wait()
}
