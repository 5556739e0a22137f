package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// TestGeneratedRequests sends thousands of requests that nobody would think of
// and holds every answer against the documented ones.
func TestGeneratedRequests(t *testing.T) {
	w := webtest.NewWorld(t)
	w.Link("ACB", "0123456789")
	w.Link("VCB", "00123")
	till := w.Native()
	for n := range 8 {
		bad := strings.Replace(apptest.Transfer{ID: fmt.Sprint("bad", n)}.Native(), "200000", "0", 1)
		w.Wants(webtest.Counts{Unassigned: 1, Rejected: 1}, till,
			apptest.Batch(apptest.Transfer{ID: fmt.Sprint(n), Account: fmt.Sprint("77", n)}.Native(), bad))
	}
	receiver := newReceiver(t, 200)
	failing := newReceiver(t, 500)
	const workers = 8
	requests := apptest.Rounds(1000, 4000)
	statuses := make([]map[int]int, workers)
	var wg sync.WaitGroup
	for n := range workers {
		statuses[n] = map[int]int{}
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(n), 7)), urls: []string{receiver, failing, "http://127.0.0.1:1/"}}
		keys := []string{w.APIKey(access.ScopeFull), w.APIKey(access.ScopeFull)}
		wg.Go(func() {
			for i := range requests / workers {
				method, path, body, header := g.request(keys[i%2])
				a, err := w.Send(method, path, body, header...)
				what := fmt.Sprintf("%s %s %q %q", method, webtest.Short(path), header, webtest.Short(body))
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				statuses[n][a.Status]++
				if a.Status >= 500 || a.Status >= 300 && a.Status < 400 {
					t.Errorf("%s: %d %s", what, a.Status, a.Body)
				}
				for _, f := range checkAnswer(method, path, a) {
					t.Errorf("%s: %s", what, f)
				}
			}
		})
	}
	wg.Wait()
	sum := map[int]int{}
	for _, m := range statuses {
		for status, n := range m {
			sum[status] += n
		}
	}
	t.Log(sum)
	for _, status := range []int{200, 201, 400, 401, 404, 405, 413, 415, 422} {
		if sum[status] == 0 {
			t.Errorf("no request came to %d: the generator is too narrow", status)
		}
	}
}

// generator makes requests that are right in most and wrong in something.
type generator struct {
	*rand.Rand
	urls []string
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) odds(n int) bool { return g.IntN(n) == 0 }

func (g *generator) request(key string) (method, path, body string, header []string) {
	e := pick(g, endpoints...)
	method, path = e.Method, e.at(g.id())
	if g.odds(15) {
		method = pick(g, "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "get")
	}
	if g.odds(25) {
		path = pick(g, path+"/", "/"+path, strings.Replace(path, "/v1/", "/v2/", 1), path+"/x", strings.ToUpper(path), path+"%2f", path+"/..",
			path+"/%2e", path+";a=1")
	}
	if method == "GET" || g.odds(5) {
		path += "?" + g.query()
	}
	switch {
	case !g.odds(60):
		header = append(header, "Authorization", "Bearer "+key)
	case g.odds(2):
		header = append(header, "Authorization", "Bearer "+webtest.BogusKey(g.Rand))
	}
	if method != "GET" && method != "HEAD" && method != "TRACE" {
		body = g.body(e)
	}
	if g.odds(2) {
		header = append(header, "Content-Type", pick(g, "application/json", "application/json", "application/json",
			"application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded", ";", "application/jsonp"))
	}
	if g.odds(20) {
		header = append(header, "Content-Encoding", pick(g, "gzip", "identity", "br"))
	}
	if g.odds(6) {
		header = append(header, "Idempotency-Key", pick(g, "a", "b", "c", strings.Repeat("k", 300), "kh\u00f3a"))
	}
	if g.odds(3) {
		header = append(header, "Accept-Language", pick(g, "vi", "en", "vi-VN,vi;q=0.9", "*", ",,;;q=,", "fr"))
	}
	return method, path, body, header
}

func (g *generator) id() string {
	if g.odds(3) {
		return pick(g, "0", "-1", "1e3", "9223372036854775807", "9223372036854775808", "%00", "%EF%BC%91", "%ff", "null", "history", "..;",
			"1%2F2", "%F0%9F%92%A9")
	}
	return strconv.Itoa(1 + g.IntN(12))
}

var queryNames = []string{
	"page", "per_page", "range", "bank_account_id", "type", "from", "to", "min_amount", "max_amount", "q", "since_id", "sort",
	"webhook_id", "status", "transaction_id", "delivery_id", "source_id", "state", "nothing",
}

func (g *generator) query() string {
	var parts []string
	for range g.IntN(4) {
		name := pick(g, queryNames...)
		value := g.value()
		switch {
		case g.odds(2):
			value = map[string]string{
				"page": "2", "per_page": "5", "range": "weekly", "bank_account_id": "1", "type": "IN", "from": "2024-01-01",
				"to":         "2030-01-01 00:00:00",
				"min_amount": "10", "max_amount": "1e6", "q": "dh", "since_id": "1", "sort": "-date", "webhook_id": "1", "status": "0",
				"transaction_id": "1", "delivery_id": "1",
				"source_id": "1", "state": "open",
			}[name]
		case g.odds(10):
			parts = append(parts, pick(g, "%zz", "a;b", "=", "&&", "%", "type=IN;x", name+"[]=1"))
			continue
		}
		parts = append(parts, name+"="+url.QueryEscape(value))
	}
	return strings.Join(parts, "&")
}

func (g *generator) value() string {
	return pick(g, "", "0", "-1", "1", "1.5", "1e309", "1e3", "-0", "9223372036854775807", "9223372036854775808", "99999999999999999999",
		"abc", "IN", "in", "ALL",
		"2024-02-30", "2024-01-01 24:00:00", "0000-01-01", "9999-12-31", "'; DROP TABLE webhooks;--", "%", "_", "\\", "\x00", "\xff\xfe",
		"đơn hàng", "e\u0301", "\u202e", "💩",
		strings.Repeat("x", 3000), "null", "true", "[]", "{}", " ", "\t1", "+1")
}

// json is any JSON at all.
func (g *generator) json(depth int) string {
	if depth > 0 && g.odds(4) {
		var parts []string
		isObject := g.odds(2)
		for range g.IntN(4) {
			part := g.json(depth - 1)
			if isObject {
				part = webtest.Shown(pick(g, "name", "type", "x", "")) + ":" + part
			}
			parts = append(parts, part)
		}
		if isObject {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return pick(g, "null", "true", "0", "-1", "1.5", "1e309", "1e99999", "-0.0", "12345678901234567890", `""`, `"\u0000"`, `"\ud800"`,
		webtest.Shown(g.value()), `"IN"`, `"1"`)
}

func (g *generator) body(e endpoint) string {
	switch {
	case g.odds(8):
		return pick(g, "", "{", "[]", "null", "nul", `{"a":1}{"b":2}`, `{"a":1} x`, "\xef\xbb\xbf{}", "\xff", strings.Repeat("[", 2000),
			strings.Repeat(`{"a":`, 100)+"1"+strings.Repeat("}", 100))
	case g.odds(60):
		return `{"name":"` + strings.Repeat("x", 70_000) + `"}`
	}
	members := map[string]string{}
	switch {
	case strings.HasSuffix(e.Path, "transactions"):
		members = map[string]string{
			"id": webtest.Shown(strconv.Itoa(g.IntN(1 << 30))), "gateway": `"ACB"`, "accountNumber": `"0123456789"`,
			"transferType":   pick(g, `"IN"`, `"OUT"`),
			"transferAmount": strconv.Itoa(1 + g.IntN(1_000_000)), "content": webtest.Shown(g.value()),
			"transactionDate": pick(g, `"2024-01-01 00:00:00"`, `"never"`), "transactionNumber": webtest.Shown(g.value()),
		}
	case strings.HasSuffix(e.Path, "webhooks"), strings.HasSuffix(e.Path, "webhooks/*"):
		members = map[string]string{"name": `"Shop"`, "webhook_url": webtest.Shown(pick(g, g.urls...)), "type": pick(g, `"IN"`, `"OUT"`, `"ALL"`)}
		if g.odds(3) {
			members["bank_account_id"] = pick(g, "1", "2", "3", "null", "0", `"1"`, "1.0")
		}
	case strings.HasSuffix(e.Path, "streams"), strings.HasSuffix(e.Path, "streams/*"):
		members = map[string]string{
			"name": `"Stream"`, "url": pick(g, `"nats://nats.example.com"`, `"kafka+tls://k1.example.com,k2.example.com:9093"`,
				`"nats://away.example.com"`), "topic": pick(g, `"a"`, `"a.b"`, `"*"`),
			"type": pick(g, `"IN"`, `"ALL"`), "since_id": pick(g, "0", `"1"`, "null", "9223372036854775807", "1.0", `"-1"`),
		}
		if g.odds(3) {
			members["username"], members["password"] = webtest.Shown(g.value()), webtest.Shown(g.value())
		}
	case strings.HasSuffix(e.Path, "rotate-secret"):
		members["overlap_hours"] = pick(g, "0", "24", "168", "169", "-1", "1.0", "null")
	case strings.HasSuffix(e.Path, "link"):
		members = map[string]string{"account_name": `"A"`, "notify": pick(g, `"recent"`, `"all"`, `"none"`, `"x"`)}
		if g.odds(3) {
			members["bank"], members["account_number"] = pick(g, `"ACB"`, `"VCB"`, `""`), pick(g, `"770"`, `"771"`, `""`)
		}
	case strings.HasSuffix(e.Path, "discard"):
		members["item_id"] = pick(g, "1", "2", "3", "null", "0")
	case strings.HasSuffix(e.Path, "replay"):
		members["from"] = webtest.Shown(pick(g, "2024-01-01", "x", ""))
	}
	if g.odds(2) {
		names := append([]string{"x", "secret", "is_active", "NAME"}, sortedKeys(members)...)
		name := pick(g, names...)
		if g.odds(3) {
			delete(members, name)
		} else {
			members[name] = g.json(3)
		}
	}
	var parts []string
	for _, name := range sortedKeys(members) {
		parts = append(parts, webtest.Shown(name)+":"+members[name])
		if g.odds(40) {
			parts = append(parts, webtest.Shown(name)+":"+members[name])
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
