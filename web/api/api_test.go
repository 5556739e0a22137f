package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/web"
	"baoco/web/webtest"
)

// TestKeyOfAnotherProcess makes and revokes a key as the command line does.
func TestKeyOfAnotherProcess(t *testing.T) {
	w := webtest.NewWorld(t)
	ctx := context.Background()
	other := w.Admin()
	k, key, err := other.Access.CreateAPIKey(ctx, 1, access.APIKeyCreate{Name: "theirs", Scope: access.ScopeRead}, time.Now())
	apptest.Must(t, err)
	get := func() int { return w.Do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key).Status }
	if status := get(); status != 200 {
		t.Fatalf("the first request with the key: %d", status)
	}
	apptest.Must(t, other.Access.RevokeAPIKey(ctx, 1, k.ID, time.Now()))
	apptest.Eventually(t, "the revoked key opens nothing", func() bool { return get() == 401 })
}

// TestUnavailable has the storage give up on every request: 503, try again,
// and nothing of why or of who asked in the answer or the log.
func TestUnavailable(t *testing.T) {
	w := webtest.NewWorld(t)
	w.Link("ACB", "0123456789")
	w.Webhook("https://shop.example.com/", delivery.WebhookAll)
	key := w.APIKey(access.ScopeFull)
	var log bytes.Buffer
	h := web.New(web.Config{Services: w.Services, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	gone, end := context.WithCancelCause(context.Background())
	end(context.DeadlineExceeded)
	call := func(method, path, body string) {
		request := httptest.NewRequestWithContext(gone, method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+key)
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		a := webtest.Answer{Status: recorder.Code, Header: recorder.Header(), Body: recorder.Body.String()}
		want := map[string]any{
			"status": false, "messages": "The service cannot store data right now; please try again.",
			"code": "unavailable", "request_id": a.Header.Get("X-Request-Id"),
		}
		if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 503 || err != nil || wait < 1 ||
			webtest.Shown(a.JSON(t)) != webtest.Shown(want) {
			t.Errorf("%s %s: %d %v %s", method, path, a.Status, a.Header, a.Body)
		}
	}
	bodies := map[string]string{
		"PUT /api/v1/transactions/*":               `{"revenue":false}`,
		"PUT /api/v1/bank-accounts/*":              `{"content_prefix":"SEVQR"}`,
		"PUT /api/v1/payment-requests/unmatched/*": `{"put_aside":true}`,
		"POST /api/v1/transactions": `{"id":"A1","gateway":"ACB","accountNumber":"0123456789","transferType":"IN"` +
			`,"transferAmount":1}`,
		"POST /api/v1/webhooks":                   `{"name":"A","webhook_url":"https://shop.example.com/","type":"ALL"}`,
		"PUT /api/v1/webhooks/*":                  `{"name":"B"}`,
		"POST /api/v1/bank-accounts":              `{"bank":"VCB","account_number":"2","account_name":"A"}`,
		"POST /api/v1/sources":                    `{"provider":"native","name":"till"}`,
		"POST /api/v1/code-patterns":              `{"prefix":"DH","min_length":6,"max_length":6,"alphabet":"digits"}`,
		"POST /api/v1/payment-requests":           `{"amount":1}`,
		"POST /api/v1/payment-requests/*/match":   `{"transaction_id":"1"}`,
		"POST /api/v1/payment-requests/*/unmatch": `{"transaction_id":"1"}`,
		"POST /api/v1/inbound/*/settle":           `{"repeat":true}`,
		"POST /api/v1/streams":                    `{"name":"A","url":"nats://nats.example.com","topic":"a"}`,
		"PUT /api/v1/streams/*":                   `{"name":"B"}`,
	}
	for _, e := range endpoints {
		call(e.Method, e.at("1"), bodies[e.Method+" "+e.Path])
	}
	if n := strings.Count(log.String(), "\n"); n != len(endpoints) {
		t.Errorf("%d lines in the log, want one for each of %d requests", n, len(endpoints))
	}
	if strings.Contains(log.String(), key) || strings.Contains(log.String(), "0123456789") {
		t.Errorf("who asked for what is in the log: %s", log.String())
	}
}

func TestConcurrentToggles(t *testing.T) {
	w := webtest.NewWorld(t)
	key := w.APIKey(access.ScopeFull)
	bank := w.Link("ACB", "0123456789")
	hook, _ := w.Webhook("https://shop.example.com/", delivery.WebhookAll)
	for _, c := range []struct {
		path, member string
		on, off      any
		value        func(map[string]any) any
	}{
		{fmt.Sprintf("/api/v1/webhooks/%d/toggle", hook.ID), "webhook", true, false, func(m map[string]any) any { return m["is_active"] }},
		{fmt.Sprintf("/api/v1/bank-accounts/%d/toggle", bank.ID), "bank_account", "active", "inactive",
			func(m map[string]any) any { return m["status"] }},
	} {
		toggle := func(n int) (on, off int32) {
			var wg sync.WaitGroup
			var ons, offs atomic.Int32
			for range n {
				wg.Go(func() {
					a, err := w.Send("PATCH", c.path, "", "Authorization", "Bearer "+key)
					if err != nil || a.Status != 200 {
						t.Errorf("%s: %v %d %s", c.path, err, a.Status, a.Body)
						return
					}
					v, err := decode(a.Body)
					if err != nil {
						t.Error(err)
						return
					}
					switch c.value(v.(map[string]any)[c.member].(map[string]any)) {
					case c.on:
						ons.Add(1)
					case c.off:
						offs.Add(1)
					}
				})
			}
			wg.Wait()
			return ons.Load(), offs.Load()
		}
		if on, off := toggle(100); on != 50 || off != 50 {
			t.Errorf("%s: 100 toggles answered %d times on, %d times off", c.path, on, off)
		}
		// Back where it was: the next one switches off.
		if on, off := toggle(1); on != 0 || off != 1 {
			t.Errorf("%s: after 100 toggles it was not on", c.path)
		}
		if on, off := toggle(99); on != 50 || off != 49 {
			t.Errorf("%s: 99 toggles answered %d times on, %d times off", c.path, on, off)
		}
	}
	body := w.Do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+key).Body
	if !strings.Contains(body, `"is_active":true`) {
		t.Errorf("after 200 toggles: %s", body)
	}
}

// TestConcurrentIdempotency sends one request many times at once.
func TestConcurrentIdempotency(t *testing.T) {
	w := webtest.NewWorld(t)
	key := w.APIKey(access.ScopeFull)
	w.Link("ACB", "0123456789")
	// Without the key all but the first would be duplicates, which are 200.
	body := `{"id":"H1","gateway":"ACB","accountNumber":"0123456789","transferType":"IN","transferAmount":1000}`
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range 20 {
		wg.Go(func() {
			a, err := w.Send("POST", "/api/v1/transactions", body, "Authorization", "Bearer "+key, "Idempotency-Key", "once")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[fmt.Sprint(a.Status, a.Body)]++
		})
	}
	wg.Wait()
	if len(answers) != 1 || !strings.HasPrefix(anyKey(answers), "201") {
		t.Errorf("20 times the same request: %v", answers)
	}
}

func anyKey(m map[string]int) string {
	for k := range m {
		return k
	}
	return ""
}

// TestSecretsAreNotShown looks for every secret and key in every answer but the
// ones that hand them out.
func TestSecretsAreNotShown(t *testing.T) {
	w := webtest.NewWorld(t)
	key, read := w.APIKey(access.ScopeFull), w.APIKey(access.ScopeRead)
	w.Link("ACB", "0123456789")
	w.Link("VCB", "0123456789")
	source := w.Source("native", inbound.AuthBearer, "")
	receiver := newReceiver(t, 200)
	secrets := map[string]string{"the key": key, "the read key": read, "the source's secret": source.Secret,
		"the source's token": source.Token}
	as := key
	call := func(method, path, body string, status int) webtest.Answer {
		t.Helper()
		a := w.Do(method, path, body, "Authorization", "Bearer "+as)
		if a.Status != status {
			t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
		}
		return a
	}
	var given []string
	create := func(name string) string {
		a := call("POST", "/api/v1/webhooks", `{"name":"`+name+`","webhook_url":"`+receiver+`","type":"ALL"}`, 201)
		body := a.JSON(t)
		secret := body["secret"].(string)
		given = append(given, secret)
		secrets["the secret of "+name] = secret
		return body["webhook"].(map[string]any)["id"].(json.Number).String()
	}
	one, two := create("one"), create("two")
	rotated := call("POST", "/api/v1/webhooks/"+two+"/rotate-secret", "", 200).JSON(t)["secret"].(string)
	const password = "the password of the broker"
	streamed := call("POST", "/api/v1/streams",
		`{"name":"s","url":"nats://nats.example.com","topic":"a","username":"u","password":"`+password+`"}`, 201).JSON(t)["secret"].(string)
	call("POST", "/api/v1/streams", `{"name":"t","url":"nats://nats.example.com","topic":"b"}`, 201)
	again := call("POST", "/api/v1/streams/1/rotate-secret", "", 200).JSON(t)["secret"].(string)
	given = append(given, rotated, streamed, again)
	added := call("POST", "/api/v1/sources", `{"provider":"native","name":"till"}`, 201).JSON(t)["source"].(map[string]any)
	turned := call("POST", "/api/v1/sources/"+added["id"].(json.Number).String()+"/rotate-secret", "", 200).JSON(t)["source"].(map[string]any)
	secrets["the secret of a new source"], secrets["its rotated secret as well"],
		secrets["the token of a new source"] = added["secret"].(string), turned["secret"].(string), added["url_path"].(string)
	const theirs, theirKey = "the secret that the provider gave", "the key of the provider's list"
	call("POST", "/api/v1/sources", `{"provider":"sepay","auth":"hmac","name":"SePay","secret":"`+theirs+`","api_key":"`+theirKey+`"}`, 201)
	secrets["the secret of the provider"], secrets["the key of its list"] = theirs, theirKey
	secrets["the rotated secret"], secrets["the stream's secret"], secrets["its rotated secret"], secrets["its password"] = rotated,
		streamed, again, password
	for i, s := range given {
		if !wildcards["<secret>"].MatchString(s) || slices.Index(given, s) != i {
			t.Errorf("the secret %q is not of the form, or not new", s)
		}
	}
	var seen strings.Builder
	look := func(method, path, body string, status int) {
		t.Helper()
		a := call(method, path, body, status)
		fmt.Fprintf(&seen, "%s %s\n%v\n%s\n", method, path, a.Header, a.Body)
	}
	call("POST", "/api/v1/code-patterns", `{"prefix":"HD","min_length":6,"max_length":6,"alphabet":"digits"}`, 201)
	call("POST", "/api/v1/code-patterns", `{"prefix":"DH","min_length":6,"max_length":6,"alphabet":"digits"}`, 201)
	for range 2 {
		call("POST", "/api/v1/payment-requests", `{"amount":2000,"bank_account_id":1}`, 201)
	}
	hand := `{"id":"H1","gateway":"ACB","accountNumber":"0123456789","transferType":"IN","transferAmount":1000,"content":"DH 1"}`
	look("POST", "/api/v1/transactions", hand, 201)
	apptest.Must(t, w.WaitHistory(2))
	look("POST", "/api/v1/webhooks/"+one+"/test", "", 200)
	look("POST", "/api/v1/webhooks/1/resend", "", 202)
	apptest.Must(t, w.WaitHistory(4))
	w.Names(webtest.Unassigned, source, apptest.Transfer{Account: "777"})
	for range 2 {
		w.Do("POST", source.URLPath(), "{}", "Authorization", `Bearer "`+source.Secret+`"`)
	}
	w.Until("the refused calls are noted", func() bool { return w.Rows("refused_calls") == 2 })
	look("POST", "/api/v1/transactions", strings.Replace(hand, "H1", "H2", 1), 201)
	as = read // which isn't told where a source is called
	for _, e := range endpoints {
		if e.Method == "GET" {
			look("GET", e.at("1"), "", 200)
			if e.takesID() {
				look("GET", e.at("2"), "", 200)
			}
		}
	}
	as = key
	if a := call("GET", "/api/v1/sources", "", 200); !strings.Contains(a.Body, source.URLPath()) || strings.Contains(a.Body, source.Secret) {
		t.Errorf("the sources for a key that may write: %s", a.Body)
	}
	look("PUT", "/api/v1/webhooks/"+one, `{"name":"ONE"}`, 200)
	look("PUT", "/api/v1/webhooks/"+two, `{"secret":"`+rotated[:4]+`"}`, 422)
	look("PATCH", "/api/v1/webhooks/"+one+"/toggle", "", 200)
	look("PATCH", "/api/v1/bank-accounts/1/toggle", "", 200)
	look("PUT", "/api/v1/streams/1", `{"username":"v","password":"`+password+`"}`, 200)
	look("PUT", "/api/v1/streams/1", `{"username":"v","password":1,"`+password[:9]+`":"`+password+`"}`, 422)
	look("PATCH", "/api/v1/streams/1/toggle", "", 200)
	look("POST", "/api/v1/streams/1/test", "", 200)
	look("DELETE", "/api/v1/streams/1", "", 200)
	look("POST", "/api/v1/webhooks/"+two+"/activate-secret", "", 200)
	look("POST", "/api/v1/webhooks/"+two+"/replay", "", 202)
	look("DELETE", "/api/v1/webhooks/"+two, "", 200)
	look("GET", "/api/v1/webhooks/history?per_page=100", "", 200)
	look("POST", "/api/v1/webhooks/"+two+"/test", "", 404)
	for name, secret := range secrets {
		core := strings.TrimPrefix(strings.TrimPrefix(secret, "whsec_"), "baoco_")
		if strings.Contains(seen.String(), core) {
			t.Errorf("%s is in an answer", name)
		}
	}
	if strings.Contains(seen.String(), "whsec_") {
		t.Error("an answer has a secret")
	}
	// In the file they are sealed or hashed.
	for _, suffix := range []string{"", "-wal"} {
		file, err := os.ReadFile(w.Path + suffix)
		apptest.Must(t, err)
		for name, secret := range secrets {
			if name != "the source's token" && bytes.Contains(file, []byte(secret)) {
				t.Errorf("%s is readable in the file%s", name, suffix)
			}
		}
	}
}

// TestReadiness: readiness is what the last probe saw, and fails when no probe
// comes back; liveness never asks.
func TestReadiness(t *testing.T) {
	w := webtest.NewWorld(t)
	service := services.New(services.Config{Store: w.Store, Zone: time.UTC}) // nobody else probes it
	h := web.New(web.Config{Services: service})
	check := func(when string, want int) {
		t.Helper()
		if a := webtest.From(h, "127.0.0.1:1")("GET", "/readyz", ""); a.Status != want {
			t.Errorf("%s: readyz %d, want %d: %s", when, a.Status, want, a.Body)
		}
		if a := webtest.From(h, "127.0.0.1:1")("GET", "/healthz", ""); a.Status != 200 {
			t.Errorf("%s: healthz %d", when, a.Status)
		}
	}
	check("before the first probe", 200)
	service.Upkeep.Probe(context.Background(), time.Now())
	check("after a probe", 200)
	service.Upkeep.Probe(context.Background(), time.Now().Add(-time.Minute))
	check("when probes hang", 503)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	service.Upkeep.Probe(gone, time.Now())
	check("when a probe failed", 503)
}
