package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/appsscript"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web"
	"baoco/web/webtest"
)

func TestEveryEndpointRefusesBadCredentials(t *testing.T) {
	w := webtest.NewWorld(t)
	ctx, now := context.Background(), time.Now()
	full, read := w.APIKey(access.ScopeFull), w.APIKey(access.ScopeRead)
	_, expired, err := w.Services.Access.CreateAPIKey(ctx, 1, access.APIKeyCreate{
		Name: "expired", Scope: access.ScopeFull, ExpiresAt: now.Add(-2 * time.Second),
	}, now)
	apptest.Must(t, err)
	k, revoked, err := w.Services.Access.CreateAPIKey(ctx, 1, access.APIKeyCreate{Name: "revoked", Scope: access.ScopeFull}, now)
	apptest.Must(t, err)
	apptest.Must(t, w.Services.Access.RevokeAPIKey(ctx, 1, k.ID, now))
	source := w.Source("native", inbound.AuthBearer, "source-secret-0123456789")
	h := web.New(web.Config{Services: w.Services})

	credentials := []struct {
		name   string
		query  string
		header []string
	}{
		{"none", "", nil},
		{"empty", "", []string{"Authorization", ""}},
		{"another scheme", "", []string{"Authorization", "Basic " + full}},
		{"no scheme", "", []string{"Authorization", full}},
		{"no token", "", []string{"Authorization", "Bearer "}},
		{"text after it", "", []string{"Authorization", "Bearer " + full + " x"}},
		{"cut short", "", []string{"Authorization", "Bearer " + full[:len(full)-1]}},
		{"unknown", "", []string{"Authorization", "Bearer " + webtest.BogusKey(rand.New(rand.NewPCG(1, 1)))}},
		{"expired", "", []string{"Authorization", "Bearer " + expired}},
		{"revoked", "", []string{"Authorization", "Bearer " + revoked}},
		{"of a source", "", []string{"Authorization", "Bearer " + source.Secret}},
		{"token of a source", "", []string{"Authorization", "Bearer " + source.Token}},
		{"two headers", "", []string{"Authorization", "Bearer " + full, "Authorization", "Bearer " + full}},
		{"in the query", "?api_key=" + full + "&access_token=" + full, nil},
		{"in a cookie", "", []string{"Cookie", "Authorization=Bearer " + full + "; api_key=" + full}},
		{"in another header", "", []string{"X-Api-Key", full}},
	}
	for i, e := range endpoints {
		remote := fmt.Sprintf("192.0.2.%d:1", i+1) // so that none fails too often
		var first string
		for _, c := range credentials {
			a := webtest.From(h, remote)(e.Method, e.at("1")+c.query, "not json", c.header...)
			what := fmt.Sprintf("%s %s, credential %s", e.Method, e.Path, c.name)
			for _, f := range checkAnswer(e.Method, e.Path, a) {
				t.Errorf("%s: %s", what, f)
			}
			if a.Status != 401 || a.Header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%s: status %d, WWW-Authenticate %q", what, a.Status, a.Header.Get("Www-Authenticate"))
			}
			body := a.JSON(t)
			delete(body, "request_id")
			if shape := webtest.Shown(body); first == "" {
				first = shape
			} else if shape != first {
				t.Errorf("%s: %s, but none at all: %s", what, shape, first)
			}
		}
		a := webtest.From(h, remote)(e.Method, e.at("1"), "not json", "Authorization", "Bearer "+read)
		if (a.Status == 403) != e.Writes || a.Status == 401 {
			t.Errorf("%s %s with a read key: %d", e.Method, e.Path, a.Status)
		}
		if e.Writes {
			if code := a.JSON(t)["code"]; code != "forbidden" {
				t.Errorf("%s %s with a read key: code %v", e.Method, e.Path, code)
			}
		}
		a = webtest.From(h, remote)(e.Method, e.at("1"), "not json", "Authorization", "Bearer "+full)
		if a.Status == 401 || a.Status == 403 {
			t.Errorf("%s %s with a full key: %d", e.Method, e.Path, a.Status)
		}
		if got := a.Header.Get("X-Ratelimit-Limit"); got != strconv.Itoa(e.Limit) {
			t.Errorf("%s %s: X-RateLimit-Limit %q, want %d", e.Method, e.Path, got, e.Limit)
		}
	}
}

func TestIDsThatAreNone(t *testing.T) {
	w := webtest.NewWorld(t)
	w.Link("ACB", "0123456789")
	w.Webhook("https://shop.example.com/", delivery.WebhookAll)
	ids := []string{
		"0", "-1", "01", "+1", "1.0", "1e3", "1e0", "0x1", "9223372036854775807", "9223372036854775808", "18446744073709551617",
		"%00", "1%00", "%EF%BC%91", "%D9%A1", "abc", "null", "1;", "1,2", "%20", "1%20", "%31%2e", "..;", "{id}", "*", "'", "1%0a",
	}
	before := w.Do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+w.APIKey(access.ScopeRead)).Body
	for _, e := range endpoints {
		if !e.takesID() {
			continue
		}
		key := w.APIKey(access.ScopeFull)
		for _, id := range ids {
			a, err := w.Send(e.Method, e.at(id), "{}", "Authorization", "Bearer "+key, "Content-Type", "application/json")
			apptest.Must(t, err)
			if failures := checkAnswer(e.Method, e.Path, a); a.Status != 404 || len(failures) > 0 {
				t.Errorf("%s %s: %d %v %s", e.Method, e.at(id), a.Status, failures, a.Body)
			}
		}
	}
	if after := w.Do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+w.APIKey(access.ScopeRead)).Body; after != before {
		t.Errorf("a webhook changed: %s", after)
	}
}

// A webhook of a sheet is created with its script, by its own form of URL, which it
// keeps; others have neither kind nor script in their answers.
func TestSheetWebhook(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	create := func(kind, url string) webtest.Answer {
		return w.Do("POST", "/api/v1/webhooks", fmt.Sprintf(`{"name":"s","type":"IN",%s"webhook_url":%q}`, kind, url), key...)
	}
	const script, sheet = "https://script.google.com/macros/s/AKfycbx0123456789abcdefghij/exec", `"kind":"sheet",`
	a := create(sheet, script)
	a.WantStatus(t, http.StatusCreated)
	var made struct {
		Webhook struct{ Kind string }
		Secret  string
		Script  string
	}
	apptest.Must(t, json.Unmarshal([]byte(a.Body), &made))
	if made.Webhook.Kind != "sheet" || !strings.Contains(made.Script, appsscript.Token(made.Secret)) ||
		strings.Contains(made.Script, made.Secret) {
		t.Errorf("%s", a.Body)
	}
	create(sheet, "https://shop.vn/x").WantStatus(t, http.StatusUnprocessableEntity)
	create(`"kind":"x",`, "https://shop.vn/x").WantStatus(t, http.StatusUnprocessableEntity)
	w.Do("PUT", "/api/v1/webhooks/1", `{"webhook_url":"https://shop.vn/x"}`, key...).WantStatus(t, http.StatusUnprocessableEntity)
	for _, kind := range []string{"", `"kind":"standard",`} {
		if a := create(kind, script); a.Status != http.StatusCreated || strings.Contains(a.Body, "kind") || strings.Contains(a.Body, "script\"") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}

// endpoint is one of the management API, as the interface lists them.
type endpoint struct {
	Method, Path string // * for an id
	Writes       bool
	Limit        int
}

var endpoints = []endpoint{
	{"GET", "/api/v1/analytics/overview", false, 300},
	{"GET", "/api/v1/analytics/period", false, 300},
	{"GET", "/api/v1/analytics/status", false, 300},
	{"GET", "/api/v1/reports/period", false, 300},
	{"GET", "/api/v1/bank-accounts", false, 60},
	{"GET", "/api/v1/bank-accounts/summary", false, 300},
	{"POST", "/api/v1/bank-accounts", true, 300},
	{"GET", "/api/v1/bank-accounts/*", false, 300},
	{"PUT", "/api/v1/bank-accounts/*", true, 300},
	{"DELETE", "/api/v1/bank-accounts/*", true, 300},
	{"GET", "/api/v1/bank-accounts/*/qr", false, 300},
	{"PATCH", "/api/v1/bank-accounts/*/toggle", true, 300},
	{"GET", "/api/v1/transactions", false, 60},
	{"POST", "/api/v1/transactions", true, 300},
	{"GET", "/api/v1/transactions/*", false, 300},
	{"PUT", "/api/v1/transactions/*", true, 300},
	{"GET", "/api/v1/transactions/stream", false, 300},
	{"GET", "/api/v1/webhooks", false, 300},
	{"POST", "/api/v1/webhooks", true, 300},
	{"GET", "/api/v1/webhooks/*", false, 300},
	{"PUT", "/api/v1/webhooks/*", true, 300},
	{"DELETE", "/api/v1/webhooks/*", true, 300},
	{"PATCH", "/api/v1/webhooks/*/toggle", true, 300},
	{"GET", "/api/v1/webhooks/history", false, 300},
	{"GET", "/api/v1/webhooks/history/*", false, 300},
	{"POST", "/api/v1/webhooks/*/resend", true, 300},
	{"POST", "/api/v1/webhooks/*/test", true, 300},
	{"POST", "/api/v1/webhooks/*/rotate-secret", true, 300},
	{"POST", "/api/v1/webhooks/*/activate-secret", true, 300},
	{"POST", "/api/v1/webhooks/*/replay", true, 300},
	{"POST", "/api/v1/deliveries/*/send-now", true, 300},
	{"GET", "/api/v1/code-patterns", false, 300},
	{"POST", "/api/v1/code-patterns", true, 300},
	{"GET", "/api/v1/code-patterns/*", false, 300},
	{"DELETE", "/api/v1/code-patterns/*", true, 300},
	{"GET", "/api/v1/payment-requests", false, 300},
	{"POST", "/api/v1/payment-requests", true, 300},
	{"GET", "/api/v1/payment-requests/unmatched", false, 300},
	{"PUT", "/api/v1/payment-requests/unmatched/*", true, 300},
	{"GET", "/api/v1/payment-requests/*", false, 300},
	{"GET", "/api/v1/payment-requests/*/qr", false, 300},
	{"POST", "/api/v1/payment-requests/*/cancel", true, 300},
	{"POST", "/api/v1/payment-requests/*/match", true, 300},
	{"POST", "/api/v1/payment-requests/*/unmatch", true, 300},
	{"GET", "/api/v1/streams", false, 300},
	{"POST", "/api/v1/streams", true, 300},
	{"GET", "/api/v1/streams/*", false, 300},
	{"PUT", "/api/v1/streams/*", true, 300},
	{"DELETE", "/api/v1/streams/*", true, 300},
	{"PATCH", "/api/v1/streams/*/toggle", true, 300},
	{"POST", "/api/v1/streams/*/test", true, 300},
	{"POST", "/api/v1/streams/*/rotate-secret", true, 300},
	{"GET", "/api/v1/sources", false, 300},
	{"POST", "/api/v1/sources", true, 300},
	{"GET", "/api/v1/sources/*", false, 300},
	{"DELETE", "/api/v1/sources/*", true, 300},
	{"POST", "/api/v1/sources/*/rotate-secret", true, 300},
	{"GET", "/api/v1/inbound", false, 300},
	{"GET", "/api/v1/inbound/refused", false, 300},
	{"GET", "/api/v1/inbound/refused/*", false, 300},
	{"GET", "/api/v1/inbound/*", false, 300},
	{"POST", "/api/v1/inbound/*/link", true, 300},
	{"POST", "/api/v1/inbound/*/retry", true, 300},
	{"POST", "/api/v1/inbound/*/settle", true, 300},
	{"POST", "/api/v1/inbound/*/discard", true, 300},
}

// at is the endpoint's path with an id.
func (e endpoint) at(id string) string { return strings.Replace(e.Path, "*", id, 1) }

func (e endpoint) takesID() bool { return strings.Contains(e.Path, "*") }
