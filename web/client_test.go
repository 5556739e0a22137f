package web_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/web"
	"baoco/web/webtest"
)

// TestTrustedProxies: whom a call comes from stands in the log of refused
// calls, and only trusted proxies can say it.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t)
	h := web.New(web.Config{Services: w.Services, TrustedProxies: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48"),
	}})
	for i, c := range []struct {
		peer, want string
		forwarded  []string
	}{
		{"192.0.2.1:1", "192.0.2.1", nil},
		{"[2001:db8::1]:1", "2001:db8::1", nil},
		{"[::ffff:192.0.2.1]:1", "192.0.2.1", nil},
		// Nobody but a trusted proxy.
		{"192.0.2.1:1", "192.0.2.1", []string{"198.51.100.7"}},
		{"[2001:db8:2::1]:1", "2001:db8:2::1", []string{"198.51.100.7"}},
		{"10.0.0.1:1", "198.51.100.7", []string{"198.51.100.7"}},
		{"[::ffff:10.0.0.1]:1", "198.51.100.7", []string{"198.51.100.7"}},
		{"[2001:db8:1::5%eth0]:1", "198.51.100.7", []string{"198.51.100.7"}},
		// The last that isn't trusted; what stands before it is the client's word.
		{"10.0.0.1:1", "198.51.100.7", []string{"203.0.113.9, 198.51.100.7"}},
		{"10.0.0.1:1", "198.51.100.7", []string{"203.0.113.9", "198.51.100.7,10.1.1.1", "10.2.2.2"}},
		{"10.0.0.1:1", "198.51.100.7", []string{"10.3.3.3, 198.51.100.7, ::ffff:10.1.1.1"}},
		{"10.0.0.1:1", "198.51.100.7", []string{"garbage, 198.51.100.7"}},
		{"10.0.0.1:1", "10.9.9.9", []string{"10.9.9.9, 10.1.1.1"}},
		// Ports and brackets.
		{"10.0.0.1:1", "198.51.100.7", []string{"198.51.100.7:4711"}},
		{"10.0.0.1:1", "2001:db8::7", []string{"[2001:db8::7]:4711"}},
		{"10.0.0.1:1", "2001:db8::7", []string{"[2001:db8::7]"}},
		{"10.0.0.1:1", "2001:db8::7", []string{"\t2001:db8::7 "}},
		// What is no address: the proxy that said it.
		{"10.0.0.1:1", "10.0.0.1", nil},
		{"10.0.0.1:1", "10.0.0.1", []string{""}},
		{"10.0.0.1:1", "10.0.0.1", []string{"198.51.100.7,"}},
		{"10.0.0.1:1", "10.0.0.1", []string{"198.51.100.7, unknown"}},
		{"10.0.0.1:1", "10.0.0.1", []string{"[198.51.100.7"}},
		{"10.0.0.1:1", "10.0.0.1", []string{"198.51.100.7:x"}},
		{"10.0.0.1:1", "10.1.1.1", []string{"198.51.100.7, <script>, 10.1.1.1"}},
	} {
		var header []string
		for _, value := range c.forwarded {
			header = append(header, "X-Forwarded-For", value)
		}
		if a := webtest.From(h, c.peer)("POST", "/api/webhooks/provider/nowhere", "{}", header...); a.Status != 401 {
			t.Fatalf("%s %q: %d", c.peer, c.forwarded, a.Status)
		}
		if got := lastRefused(w, i+1); got != c.want {
			t.Errorf("%s with %q is %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

// TestFailuresBehindProxy: behind a trusted proxy everybody has a limit of
// their own, and elsewhere the header gives nobody another one.
func TestFailuresBehindProxy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := webtest.NewStillWorld(t)
		h := web.New(web.Config{Services: w.Services, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		r := rand.New(rand.NewPCG(1, 2))
		fail := func(peer string, forwarded func() string) (limited int) {
			for range 100 {
				if webtest.From(h, peer)("GET", "/api/v1/webhooks", "", "X-Forwarded-For", forwarded()).Status == 429 {
					limited++
				}
			}
			return limited
		}
		if n := fail("10.0.0.1:1", func() string { return randomIPv4(r) }); n != 0 {
			t.Errorf("%d of 100 clients behind a proxy are limited for one another", n)
		}
		if n := fail("10.0.0.1:1", func() string { return randomIPv4(r) + ", 203.0.113.9" }); n != 70 {
			t.Errorf("of one client behind a proxy, who wrote the header too, %d of 100 calls are limited, want 70", n)
		}
		if n := fail("203.0.113.10:1", func() string { return randomIPv4(r) }); n != 70 {
			t.Errorf("of one client that is no proxy %d of 100 calls are limited, want 70", n)
		}
	})
}

// TestFullLimiter: more clients than a limiter has room for lock nobody new
// out, and make it forget nobody who has failed too often.
func TestFullLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := webtest.NewStillWorld(t)
		h := web.New(web.Config{Services: w.Services})
		fail := func(peer string) int {
			return webtest.From(h, peer)("GET", "/api/v1/webhooks", "", "Authorization", "Bearer wrong").Status
		}
		for range 30 {
			fail("192.0.2.1:1")
		}
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 25_000 {
			if got := fail("[" + randomIPv6(r) + "]:1"); got != 401 {
				t.Fatalf("client %d: %d", i, got)
			}
		}
		if got := fail("192.0.2.1:1"); got != 429 {
			t.Errorf("25000 clients later one that failed too often is answered %d", got)
		}
		key := w.APIKey(access.ScopeRead)
		if got := webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key).Status; got != 200 {
			t.Errorf("its valid key: %d", got)
		}
		time.Sleep(time.Minute)
		if got := fail("192.0.2.1:1"); got != 401 {
			t.Errorf("a minute later: %d", got)
		}
	})
}

// lastRefused is the address of the n-th call that was refused.
func lastRefused(w *webtest.World, n int) string {
	w.T.Helper()
	var calls []inbound.RefusedCall
	w.Until("the refused call is noted", func() bool {
		var err error
		calls, err = w.Services.Inbound.RefusedCalls(context.Background(), 1, 0, n)
		apptest.Must(w.T, err)
		return len(calls) == n
	})
	return calls[0].Remote
}

// TestAsSent: behind a trusted proxy, addresses, cookies and HSTS follow how the
// client sent its request to the proxy. Of anybody else the headers count nothing.
func TestAsSent(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Native()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	h := web.New(web.Config{Services: w.Services, TrustedProxies: proxies})
	https := web.New(web.Config{Services: w.Services, TrustedProxies: proxies, Secure: true,
		Installation: upkeep.Installation{BaseURL: "https://example.com"}})
	itself := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // with a certificate
		r.TLS = &tls.ConnectionState{}
		h.ServeHTTP(w, r)
	})
	const proto, host = "X-Forwarded-Proto", "X-Forwarded-Host"
	for i, c := range []struct {
		h           http.Handler
		peer        string
		header      []string
		secure      bool
		url         string // what the URL of the source begins with
		otherOrigin bool   // a form of https://shop.vn is of another site
	}{
		{h, "192.0.2.1:1", nil, false, "", true},
		{https, "192.0.2.1:1", nil, true, "https://example.com", true},
		{itself, "192.0.2.1:1", nil, true, "", true},
		{itself, "192.0.2.1:1", []string{proto, "http"}, true, "", true},               // forged
		{h, "192.0.2.1:1", []string{proto, "https", host, "shop.vn"}, false, "", true}, // forged
		{https, "192.0.2.1:1", []string{proto, "http", host, "shop.vn"}, true, "https://example.com", true},
		{h, "10.0.0.1:1", []string{proto, "https", host, "shop.vn"}, true, "https://shop.vn", false},
		{h, "10.0.0.1:1", []string{proto, "HTTPS", host, "shop.vn:8443"}, true, "https://shop.vn:8443", true},
		{h, "10.0.0.1:1", []string{proto, "http", host, "shop.vn"}, false, "http://shop.vn", false},
		{https, "10.0.0.1:1", []string{proto, "http"}, false, "https://example.com", true}, // led nowhere: it would be a loop
		{https, "10.0.0.1:1", nil, true, "https://example.com", true},
		{h, "10.0.0.1:1", []string{host, "[2001:db8::1]:80"}, false, "http://[2001:db8::1]:80", true},
		// What the proxy added stands last; the rest is the client's word.
		{h, "10.0.0.1:1", []string{proto, "https, http", host, "evil.vn, shop.vn"}, false, "http://shop.vn", false},
		{h, "10.0.0.1:1", []string{proto, "https", proto, "http", host, "evil.vn", host, "shop.vn"}, false, "http://shop.vn", false},
		// What is no scheme or no host.
		{h, "10.0.0.1:1", []string{proto, "wss", host, ""}, false, "", true},
		{h, "10.0.0.1:1", []string{proto, "https,", host, "shop.vn,"}, false, "", true},
		{h, "10.0.0.1:1", []string{host, "shop.vn/evil"}, false, "", true},
		{h, "10.0.0.1:1", []string{host, "evil@shop.vn"}, false, "", true},
		{h, "10.0.0.1:1", []string{host, `shop.vn"><script>`}, false, "", true},
		{h, "10.0.0.1:1", []string{host, "shop.vn:99999999"}, false, "", true},
		{h, "10.0.0.1:1", []string{host, strings.Repeat("a", 300) + ".vn"}, false, "", true},
	} {
		c.peer = strings.Replace(c.peer, ".1:1", fmt.Sprintf(".%d:1", i+1), 1) // each has its own turns to sign in
		form := append([]string{"Content-Type", "application/x-www-form-urlencoded"}, c.header...)
		signedIn := webtest.From(c.h, c.peer)("POST", "/login", "name=lan&password="+apptest.SomePassword, form...)
		prefix := map[bool]string{true: "__Host-"}[c.secure]
		session, _, _ := strings.Cut(signedIn.Cookie(prefix+"baoco"), ";")
		if device := signedIn.Cookie(prefix + "baoco-device"); session == "" || strings.Contains(device, "Secure") != c.secure {
			t.Errorf("%d: secure should be %v, the cookies are %q", i, c.secure, signedIn.Header.Values("Set-Cookie"))
		}
		page := webtest.From(c.h, c.peer)("GET", "/inbound/sources/1", "", append(c.header, "Cookie", session)...)
		if !strings.Contains(page.Body, `id="url-1">`+c.url+"/api/webhooks/provider/") {
			t.Errorf("%d: the URL does not begin with %q\n%s", i, c.url, page.Body)
		}
		for _, a := range []webtest.Answer{page, webtest.From(c.h, c.peer)("GET", "/healthz", "", c.header...)} {
			if got := a.Header.Get("Strict-Transport-Security") != ""; got != c.secure {
				t.Errorf("%d: HSTS %v, want %v", i, got, c.secure)
			}
		}
		out := webtest.From(c.h, c.peer)("POST", "/look", "", append(form, "Cookie", session, "Origin", "https://shop.vn")...)
		if (out.Status == http.StatusForbidden) != c.otherOrigin {
			t.Errorf("%d: a form of https://shop.vn is answered %d", i, out.Status)
		}
	}
}
