package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/web"
)

// What is still to be attempted has a page of its own, in the order of the next
// attempts, with what a switched off webhook keeps back last.
func TestPendingDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "cashier", app.RoleViewer)
	w.user(w.secondAccount(), "minh", app.RoleOwner)
	w.link("ACB", someAccount)
	b := w.browser().signIn("lan")
	if a := b.get("/deliveries?status=waiting"); len(a.listed(t)) != 0 || !strings.Contains(a.body, "No deliveries are waiting.") {
		t.Error("an empty queue")
	}
	bad := newMoody(t, 503, "")
	paused, _ := w.webhook(bad.url, app.WebhookAll)
	first := w.pay(1, "1", "trà đá")
	w.attempts(1, 1)
	_, err := w.service.ToggleWebhook(ctx, 1, paused.ID, time.Now())
	must(t, err)
	w.webhook(bad.url, app.WebhookAll)
	second := w.pay(1, "2", "bún chả")
	w.attempts(1, 2)
	w.pay(1, "3", "trà sữa")
	w.attempts(1, 3)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{"2", "3", "1"}},
		{"&webhook_id=1", []string{"1"}},
		{"&webhook_id=2", []string{"2", "3"}},
		{"&transaction_id=" + itoa(second), []string{"2"}},
		{"&transaction_id=" + itoa(first) + "&webhook_id=2", nil},
		{"&q=TRA", []string{"3", "1"}},
		{"&q=FT2", []string{"2"}},
		{"&type=IN", []string{"2", "3", "1"}},
		{"&type=OUT", nil},
		{"&to=2000-01-01", nil},
		{"&from=2000-01-01", []string{"2", "3", "1"}},
		{"&page=2", nil},
	} {
		if got := b.get("/deliveries?status=waiting" + c.query).listed(t); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.query, got, c.want)
		}
	}
	a := b.get("/deliveries?status=waiting")
	for _, part := range []string{"3 deliveries are waiting", "503 · retry\u00a02/6", "1/6 attempts made", "once the webhook is on", "data-until=", `<option value="waiting" selected>`} {
		if !strings.Contains(a.body, part) {
			t.Errorf("the page doesn't say %q", part)
		}
	}
	for _, query := range []string{"&webhook_id=9", "&transaction_id=99", "&type=UP", "&from=x"} {
		if a := b.get("/deliveries?status=waiting" + query); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `class="problem" role="alert"`) {
			t.Errorf("%s: %d", query, a.status)
		}
	}
	// Wherever it says how many wait, it leads there.
	for path, link := range map[string]string{
		"/": `<a href="/deliveries?status=waiting">3 waiting</a>`, "/deliveries": `<a href="/deliveries?status=waiting">3 deliveries are waiting`,
		"/webhooks/2": `<a href="/deliveries?status=waiting&amp;webhook_id=2">2</a>`,
	} {
		if a := b.get(path); !strings.Contains(a.body, link) {
			t.Errorf("%s: no way to what waits", path)
		}
	}
	cashier, minh := w.browser().signIn("cashier"), w.browser().signIn("minh")
	cashier.get("/deliveries?status=waiting").wantStatus(t, http.StatusForbidden)
	if a := cashier.get("/"); !strings.Contains(a.body, "3 waiting") || strings.Contains(a.body, "/deliveries") {
		t.Error("the cashier's overview")
	}
	if a := minh.get("/deliveries?status=waiting"); len(a.listed(t)) != 0 {
		t.Error("another account's queue is shown")
	}
	minh.get("/deliveries?status=waiting&webhook_id=1").wantStatus(t, http.StatusUnprocessableEntity)
	// What was received or given up waits no more, nor what a deleted webhook
	// was to be told.
	w.exhaust(2, serverError)
	must(t, w.service.DeleteWebhook(ctx, 1, paused.ID, time.Now()))
	if a := b.get("/deliveries?status=waiting"); len(a.listed(t)) != 0 {
		t.Errorf("after all: %v", a.listed(t))
	}
}

// The attempts of a delivery are drawn where there is something to tell.
func TestAttemptDots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 503, "")
	hook, _ := w.webhook(receiver.url, app.WebhookAll)
	w.pay(1, "1", "a")
	w.attempts(1, 1)
	due, err := w.service.Due(t.Context(), hook.ID, time.Now().Add(time.Hour), nil, 1, true)
	must(t, err)
	_, err = w.service.Settle(t.Context(), due[0], app.Result{StartedAt: time.Now(), StatusCode: 200})
	must(t, err)
	receiver.answers(200, "")
	w.pay(1, "2", "b")
	w.attempts(1, 3)
	_, err = w.service.TestWebhook(t.Context(), 1, hook.ID, time.Now())
	must(t, err)
	a := w.browser().signIn("lan").get("/deliveries")
	var drawn []string
	for _, row := range regexp.MustCompile(`(?s)<td class="state">(.*?)</td>`).FindAllStringSubmatch(a.body, -1) {
		line := ""
		for _, dot := range regexp.MustCompile(`(?:path|circle) class="(\w)`).FindAllStringSubmatch(row[1], -1) {
			line += dot[1]
		}
		drawn = append(drawn, line)
	}
	if want := []string{"", "", "fr", "fppppp"}; !slices.Equal(drawn, want) {
		t.Errorf("newest first: %q, want %q", drawn, want)
	}
}

// A delivery that waits for something of this machine says so, on its page and
// in the list, in the language of the reader.
func TestPendingForWantOfFiles(t *testing.T) {
	t.Parallel()
	w := newStillWorld(t) // nobody attempts it
	server := httptest.NewServer(web.New(web.Config{Service: w.service, Version: "test"}))
	t.Cleanup(server.Close)
	w.url = server.URL
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	w.webhook("http://127.0.0.1:9/", app.WebhookAll)
	w.pay(1, "1", "trà đá")
	b := w.browser().signIn("lan")
	const english, vietnamese = "no free file handles", "hết số tệp được mở"
	if a := b.get("/deliveries?status=waiting"); strings.Contains(a.body, english) || strings.Contains(a.body, vietnamese) {
		t.Error("it waits for something before anything is wrong")
	}
	w.service.TellShortages(func(webhookID int64) app.Cause {
		if webhookID != 1 {
			t.Errorf("asked of webhook %d", webhookID)
		}
		return app.CauseFiles
	})
	for _, page := range []string{"/deliveries?status=waiting", "/deliveries/1"} {
		b.header.Set("Accept-Language", "en")
		b.get(page).shows(t, english)
		b.header.Set("Accept-Language", "vi")
		b.get(page).shows(t, vietnamese)
	}
}
