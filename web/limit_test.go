package web_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/access"
	"baoco/web"
	"baoco/web/webtest"
)

// exhaust calls an endpoint until it is limited and gives that answer. Tokens
// come back while it runs, so there are as many calls more as had time to.
func exhaust(t *testing.T, limit int, call func() webtest.Answer) webtest.Answer {
	t.Helper()
	began := time.Now()
	for n := 0; ; n++ {
		a := call()
		if a.Status == 429 {
			most := limit + int(time.Since(began).Seconds()*float64(limit)/60) + 1
			if n < limit || n > most {
				t.Errorf("limited at call %d, want %d to %d", n+1, limit+1, most+1)
			}
			return a
		}
		if got, want := a.Header.Get("X-Ratelimit-Remaining"),
			strconv.Itoa(limit-1-n); time.Since(began) < time.Second*60/time.Duration(limit) && got != want {
			t.Errorf("call %d: X-RateLimit-Remaining %q, want %q", n+1, got, want)
		}
		if n > 2*limit {
			t.Fatalf("%d calls are not limited", n)
		}
	}
}

// checkLimited holds a 429 against the interface.
func checkLimited(t *testing.T, a webtest.Answer, limit int, messages string) {
	t.Helper()
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60 {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	if got := a.Header.Get("X-Ratelimit-Limit"); got != strconv.Itoa(limit) {
		t.Errorf("X-RateLimit-Limit %q, want %d", got, limit)
	}
	if got := a.Header.Get("X-Ratelimit-Remaining"); got != "0" {
		t.Errorf("X-RateLimit-Remaining %q", got)
	}
	body := a.JSON(t)
	text := strings.ReplaceAll(messages, "$wait", strconv.Itoa(wait))
	want := map[string]any{
		"status": false, "messages": text, "message": text, "code": "rate_limited",
		"retry_after": json.Number(strconv.Itoa(wait)), "request_id": a.Header.Get("X-Request-Id"),
	}
	if webtest.Shown(body) != webtest.Shown(want) {
		t.Errorf("body %s, want %s", webtest.Shown(body), webtest.Shown(want))
	}
}

func TestRateLimit(t *testing.T) {
	w := webtest.NewWorld(t)
	h := web.New(web.Config{Services: w.Services})
	for _, path := range []string{"/api/v1/bank-accounts", "/api/v1/transactions"} {
		key, other := w.APIKey(access.ScopeRead), w.APIKey(access.ScopeRead)
		call := func(method, key string, header ...string) webtest.Answer {
			return webtest.From(h, "192.0.2.1:1")(method, path, "", append(header, "Authorization", "Bearer "+key)...)
		}
		checkLimited(t, exhaust(t, 60, func() webtest.Answer { return call("GET", key) }), 60, "Too many requests; try again in $wait s.")
		checkLimited(t, call("GET", key, "Accept-Language", "vi"), 60, "Quá nhiều yêu cầu, vui lòng thử lại sau $wait giây.")
		if a := call("HEAD", key); a.Status != 429 {
			t.Errorf("HEAD %s has a limit of its own: %d", path, a.Status)
		}
		if a := call("GET", other); a.Status != 200 || a.Header.Get("X-Ratelimit-Remaining") != "59" {
			t.Errorf("another key at %s: %d, %s left", path, a.Status, a.Header.Get("X-Ratelimit-Remaining"))
		}
		if a := webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/analytics/status", "", "Authorization", "Bearer "+key); a.Status != 200 {
			t.Errorf("another endpoint after %s: %d", path, a.Status)
		}
		// A fault of the request doesn't hide the limit.
		if a := webtest.From(h, "192.0.2.1:1")("GET", path+"?per_page=abc", "", "Authorization", "Bearer "+key); a.Status != 429 {
			t.Errorf("%s with a bad parameter: %d", path, a.Status)
		}
	}
	// The limit comes before the scope.
	read := w.APIKey(access.ScopeRead)
	a := exhaust(t, 300, func() webtest.Answer {
		a := webtest.From(h, "192.0.2.1:1")("POST", "/api/v1/webhooks", "", "Authorization", "Bearer "+read)
		if a.Status != 403 && a.Status != 429 {
			t.Fatalf("a read key that creates: %d", a.Status)
		}
		return a
	})
	checkLimited(t, a, 300, "Too many requests; try again in $wait s.")
}

func TestRateLimitRefills(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := webtest.NewStillWorld(t)
		h := web.New(web.Config{Services: w.Services, Limit: 1200}) // one in 50 ms
		key := w.APIKey(access.ScopeRead)
		call := func() webtest.Answer {
			return webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key)
		}
		exhaust(t, 1200, call)
		time.Sleep(49 * time.Millisecond)
		if a := call(); a.Status != 429 {
			t.Errorf("49 ms later: %d", a.Status)
		}
		time.Sleep(time.Millisecond)
		if a := call(); a.Status != 200 {
			t.Errorf("50 ms later: %d", a.Status)
		}
		if a := call(); a.Status != 429 {
			t.Errorf("and once more: %d", a.Status)
		}
	})
}

// TestManyBogusKeys has bogus keys from as many addresses as from one, and
// looks that they cost no memory and nobody's way in.
func TestManyBogusKeys(t *testing.T) {
	w := webtest.NewWorld(t)
	h := web.New(web.Config{Services: w.Services})
	key := w.APIKey(access.ScopeRead)
	r := rand.New(rand.NewPCG(1, 2))
	if webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key).Status != 200 {
		t.Fatal("the key is not valid")
	}
	refused := map[int]int{}
	try := func(n int, remote func() string) {
		for range n {
			a := webtest.From(h, remote())("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+webtest.BogusKey(r),
				"X-Forwarded-For", randomIPv4(r))
			refused[a.Status]++
		}
	}
	one := func() string { return "192.0.2.1:1" }
	began := time.Now()
	try(100, one)
	most := 30 + int(time.Since(began).Seconds()/2) + 1
	if refused[401] < 30 || refused[401] > most || refused[401]+refused[429] != 100 {
		t.Errorf("100 failures of one address: %v, want 30 to %d of 401, then 429", refused, most)
	}
	a := webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+webtest.BogusKey(r))
	checkLimited(t, a, 30, "Too many requests; try again in $wait s.")
	if a := webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key); a.Status != 200 {
		t.Errorf("a valid key from an address that failed too often: %d", a.Status)
	}
	if a := webtest.From(h, "192.0.2.1:1")("POST", "/api/webhooks/provider", "{}", "Authorization", "Bearer nothing"); a.Status != 429 {
		t.Errorf("failures on the provider path are counted apart: %d", a.Status)
	}
	if a := webtest.From(h, "192.0.2.2:1")("GET", "/api/v1/webhooks", ""); a.Status != 401 {
		t.Errorf("another address: %d", a.Status)
	}

	// A neighbour within the same /64 is the same client.
	clear(refused)
	try(40, func() string { return "[2001:db8::" + strconv.FormatUint(r.Uint64N(1<<16), 16) + "]:1" })
	if refused[429] == 0 {
		t.Errorf("40 failures of one /64: %v", refused)
	}

	clear(refused)
	elsewhere := func() string { return "[" + randomIPv6(r) + "]:1" }
	try(2000, elsewhere)
	before := webtest.Heap()
	try(18000, elsewhere)
	if grown := webtest.Heap() - before; grown > 8<<20 {
		t.Errorf("18000 bogus keys cost %d KiB", grown>>10)
	}
	if refused[401] != 20000 {
		t.Errorf("20000 addresses: %v", refused)
	}
	filled := webtest.Heap()
	try(10000, elsewhere)
	if grown := webtest.Heap() - filled; grown > 2<<20 {
		t.Errorf("10000 more cost %d KiB more", grown>>10)
	}
	if a := webtest.From(h, "192.0.2.1:1")("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key); a.Status != 200 {
		t.Errorf("a valid key after all that: %d", a.Status)
	}
}

func randomIPv4(r *rand.Rand) string {
	return netip.AddrFrom4([4]byte{byte(1 + r.IntN(200)), byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256))}).String()
}

func randomIPv6(r *rand.Rand) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	b[0] = 0x20
	return netip.AddrFrom16(b).String()
}
