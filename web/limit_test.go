package web_test

import (
	"encoding/json"
	"hash/crc32"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// exhaust calls an endpoint until it is limited and gives that answer. Tokens
// come back while it runs, so there are as many calls more as had time to.
func exhaust(t *testing.T, limit int, call func() answer) answer {
	t.Helper()
	began := time.Now()
	for n := 0; ; n++ {
		a := call()
		if a.status == 429 {
			most := limit + int(time.Since(began).Seconds()*float64(limit)/60) + 1
			if n < limit || n > most {
				t.Errorf("limited at call %d, want %d to %d", n+1, limit+1, most+1)
			}
			return a
		}
		if got, want := a.header.Get("X-Ratelimit-Remaining"), strconv.Itoa(limit-1-n); time.Since(began) < time.Second*60/time.Duration(limit) && got != want {
			t.Errorf("call %d: X-RateLimit-Remaining %q, want %q", n+1, got, want)
		}
		if n > 2*limit {
			t.Fatalf("%d calls are not limited", n)
		}
	}
}

// checkLimited holds a 429 against the interface.
func checkLimited(t *testing.T, a answer, limit int, messages string) {
	t.Helper()
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60 {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	if got := a.header.Get("X-Ratelimit-Limit"); got != strconv.Itoa(limit) {
		t.Errorf("X-RateLimit-Limit %q, want %d", got, limit)
	}
	if got := a.header.Get("X-Ratelimit-Remaining"); got != "0" {
		t.Errorf("X-RateLimit-Remaining %q", got)
	}
	body := a.json(t)
	text := strings.ReplaceAll(messages, "$wait", strconv.Itoa(wait))
	want := map[string]any{
		"status": false, "messages": text, "message": text, "code": "rate_limited",
		"retry_after": json.Number(strconv.Itoa(wait)), "request_id": a.header.Get("X-Request-Id"),
	}
	if shown(body) != shown(want) {
		t.Errorf("body %s, want %s", shown(body), shown(want))
	}
}

func TestRateLimit(t *testing.T) {
	w := newWorld(t)
	h := web.New(web.Config{Service: w.service})
	for _, e := range endpoints {
		if e.limit != 60 {
			continue
		}
		key, other := w.apiKey(app.ScopeRead), w.apiKey(app.ScopeRead)
		call := func(method, key string, header ...string) answer {
			return from(h, "192.0.2.1:1", method, e.path, "", append(header, "Authorization", "Bearer "+key)...)
		}
		checkLimited(t, exhaust(t, 60, func() answer { return call("GET", key) }), 60, "Too many requests; try again in $wait s.")
		checkLimited(t, call("GET", key, "Accept-Language", "vi"), 60, "Quá nhiều yêu cầu, vui lòng thử lại sau $wait giây.")
		if a := call("HEAD", key); a.status != 429 {
			t.Errorf("HEAD %s has a limit of its own: %d", e.path, a.status)
		}
		if a := call("GET", other); a.status != 200 || a.header.Get("X-Ratelimit-Remaining") != "59" {
			t.Errorf("another key at %s: %d, %s left", e.path, a.status, a.header.Get("X-Ratelimit-Remaining"))
		}
		if a := from(h, "192.0.2.1:1", "GET", "/api/v1/analytics/status", "", "Authorization", "Bearer "+key); a.status != 200 {
			t.Errorf("another endpoint after %s: %d", e.path, a.status)
		}
		// A fault of the request doesn't hide the limit.
		if a := from(h, "192.0.2.1:1", "GET", e.path+"?per_page=abc", "", "Authorization", "Bearer "+key); a.status != 429 {
			t.Errorf("%s with a bad parameter: %d", e.path, a.status)
		}
	}
	// The limit comes before the scope.
	read := w.apiKey(app.ScopeRead)
	a := exhaust(t, 300, func() answer {
		a := from(h, "192.0.2.1:1", "POST", "/api/v1/webhooks", "", "Authorization", "Bearer "+read)
		if a.status != 403 && a.status != 429 {
			t.Fatalf("a read key that creates: %d", a.status)
		}
		return a
	})
	checkLimited(t, a, 300, "Too many requests; try again in $wait s.")
}

func TestRateLimitRefills(t *testing.T) {
	w := newWorld(t)
	h := web.New(web.Config{Service: w.service, Limit: 1200}) // one in 50 ms
	key := w.apiKey(app.ScopeRead)
	call := func() answer {
		return from(h, "192.0.2.1:1", "GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key)
	}
	exhaust(t, 1200, call)
	for deadline := time.Now().Add(30 * time.Second); call().status == 429; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still limited")
		}
	}
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// bogusKey has the form and the check digits of a key, but nobody made it.
func bogusKey(r *rand.Rand) string {
	b := []byte("baoco_")
	for range 37 {
		b = append(b, base62[r.IntN(62)])
	}
	sum := crc32.ChecksumIEEE(b)
	check := make([]byte, 6)
	for i := 5; i >= 0; i-- {
		check[i] = base62[sum%62]
		sum /= 62
	}
	return string(b) + string(check)
}

// TestManyBogusKeys has bogus keys from as many addresses as from one, and
// looks that they cost no memory and nobody's way in.
func TestManyBogusKeys(t *testing.T) {
	w := newWorld(t)
	h := web.New(web.Config{Service: w.service})
	key := w.apiKey(app.ScopeRead)
	r := rand.New(rand.NewPCG(1, 2))
	if from(h, "192.0.2.1:1", "GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key).status != 200 {
		t.Fatal("the key is not valid")
	}
	refused := map[int]int{}
	try := func(n int, remote func() string) {
		for range n {
			a := from(h, remote(), "GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+bogusKey(r), "X-Forwarded-For", randomIPv4(r))
			refused[a.status]++
		}
	}
	one := func() string { return "192.0.2.1:1" }
	began := time.Now()
	try(100, one)
	most := 30 + int(time.Since(began).Seconds()/2) + 1
	if refused[401] < 30 || refused[401] > most || refused[401]+refused[429] != 100 {
		t.Errorf("100 failures of one address: %v, want 30 to %d of 401, then 429", refused, most)
	}
	a := from(h, "192.0.2.1:1", "GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+bogusKey(r))
	checkLimited(t, a, 30, "Too many requests; try again in $wait s.")
	if a := from(h, "192.0.2.1:1", "GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key); a.status != 200 {
		t.Errorf("a valid key from an address that failed too often: %d", a.status)
	}
	if a := from(h, "192.0.2.1:1", "POST", "/api/webhooks/provider", "{}", "Authorization", "Bearer nothing"); a.status != 429 {
		t.Errorf("failures on the provider path are counted apart: %d", a.status)
	}
	if a := from(h, "192.0.2.2:1", "GET", "/api/v1/webhooks", ""); a.status != 401 {
		t.Errorf("another address: %d", a.status)
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
	before := heap()
	try(18000, elsewhere)
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("18000 bogus keys cost %d KiB", grown>>10)
	}
	if refused[401] != 20000 {
		t.Errorf("20000 addresses: %v", refused)
	}
	filled := heap()
	try(10000, elsewhere)
	if grown := heap() - filled; grown > 2<<20 {
		t.Errorf("10000 more cost %d KiB more", grown>>10)
	}
	if a := from(h, "192.0.2.1:1", "GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key); a.status != 200 {
		t.Errorf("a valid key after all that: %d", a.status)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
