package web_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// at is the endpoint's path with an id.
func (e endpoint) at(id string) string { return strings.Replace(e.path, "*", id, 1) }

func (e endpoint) takesID() bool { return strings.Contains(e.path, "*") }

func TestEveryEndpointRefusesBadCredentials(t *testing.T) {
	w := newWorld(t)
	ctx, now := context.Background(), time.Now()
	full, read := w.apiKey(app.ScopeFull), w.apiKey(app.ScopeRead)
	_, expired, err := w.service.CreateAPIKey(ctx, 1, "expired", app.ScopeFull, now.Add(-2*time.Second), now)
	must(t, err)
	k, revoked, err := w.service.CreateAPIKey(ctx, 1, "revoked", app.ScopeFull, time.Time{}, now)
	must(t, err)
	must(t, w.service.RevokeAPIKey(ctx, 1, k.ID, now))
	source := w.source("native", app.AuthBearer, "source-secret-0123456789")
	h := web.New(web.Config{Service: w.service})

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
		{"unknown", "", []string{"Authorization", "Bearer " + bogusKey(rand.New(rand.NewPCG(1, 1)))}},
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
			a := from(h, remote, e.method, e.at("1")+c.query, "not json", c.header...)
			what := fmt.Sprintf("%s %s, credential %s", e.method, e.path, c.name)
			for _, f := range checkAnswer(e.method, e.path, a) {
				t.Errorf("%s: %s", what, f)
			}
			if a.status != 401 || a.header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%s: status %d, WWW-Authenticate %q", what, a.status, a.header.Get("Www-Authenticate"))
			}
			body := a.json(t)
			delete(body, "request_id")
			if shape := shown(body); first == "" {
				first = shape
			} else if shape != first {
				t.Errorf("%s: %s, but none at all: %s", what, shape, first)
			}
		}
		a := from(h, remote, e.method, e.at("1"), "not json", "Authorization", "Bearer "+read)
		if (a.status == 403) != e.writes || a.status == 401 {
			t.Errorf("%s %s with a read key: %d", e.method, e.path, a.status)
		}
		if e.writes {
			if code := a.json(t)["code"]; code != "forbidden" {
				t.Errorf("%s %s with a read key: code %v", e.method, e.path, code)
			}
		}
		a = from(h, remote, e.method, e.at("1"), "not json", "Authorization", "Bearer "+full)
		if a.status == 401 || a.status == 403 {
			t.Errorf("%s %s with a full key: %d", e.method, e.path, a.status)
		}
		if got := a.header.Get("X-Ratelimit-Limit"); got != strconv.Itoa(e.limit) {
			t.Errorf("%s %s: X-RateLimit-Limit %q, want %d", e.method, e.path, got, e.limit)
		}
	}
}

func TestIDsThatAreNone(t *testing.T) {
	w := newWorld(t)
	w.link("ACB", "0123456789")
	w.webhook("https://shop.example.com/", app.WebhookAll)
	ids := []string{
		"0", "-1", "01", "+1", "1.0", "1e3", "1e0", "0x1", "9223372036854775807", "9223372036854775808", "18446744073709551617",
		"%00", "1%00", "%EF%BC%91", "%D9%A1", "abc", "null", "1;", "1,2", "%20", "1%20", "%31%2e", "..;", "{id}", "*", "'", "1%0a",
	}
	before := w.do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+w.apiKey(app.ScopeRead)).body
	for _, e := range endpoints {
		if !e.takesID() {
			continue
		}
		key := w.apiKey(app.ScopeFull)
		for _, id := range ids {
			a, err := w.send(e.method, e.at(id), "{}", "Authorization", "Bearer "+key, "Content-Type", "application/json")
			must(t, err)
			if failures := checkAnswer(e.method, e.path, a); a.status != 404 || len(failures) > 0 {
				t.Errorf("%s %s: %d %v %s", e.method, e.at(id), a.status, failures, a.body)
			}
		}
	}
	if after := w.do("GET", "/api/v1/webhooks", "", "Authorization", "Bearer "+w.apiKey(app.ScopeRead)).body; after != before {
		t.Errorf("a webhook changed: %s", after)
	}
}
