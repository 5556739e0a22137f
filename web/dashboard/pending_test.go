package dashboard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web"
	"baoco/web/webtest"
)

// What is still to be attempted has a page of its own, in the order of the next
// attempts, with what a switched off webhook keeps back last.
func TestPendingDeliveries(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "cashier", access.RoleCashier)
	w.User(w.SecondAccount(), "minh", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	if a := b.Get("/deliveries?status=waiting"); len(listed(t, a)) != 0 || !strings.Contains(a.Body, "No deliveries are waiting.") {
		t.Error("an empty queue")
	}
	bad := newMoody(t, 503, "")
	paused, _ := w.Webhook(bad.url, delivery.WebhookAll)
	first := w.Pay(1, "1", "trà đá")
	w.Attempts(1, 1)
	_, err := w.Services.Deliveries.ToggleWebhook(ctx, 1, paused.ID, time.Now())
	apptest.Must(t, err)
	w.Webhook(bad.url, delivery.WebhookAll)
	second := w.Pay(1, "2", "bún chả")
	w.Attempts(1, 2)
	w.Pay(1, "3", "trà sữa")
	w.Attempts(1, 3)
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
		if got := listed(t, b.Get("/deliveries?status=waiting"+c.query)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.query, got, c.want)
		}
	}
	a := b.Get("/deliveries?status=waiting")
	for _, part := range []string{"3 deliveries are waiting", "503 · retry\u00a02/6", "1/6 attempts made", "once the webhook is on",
		"data-until=", `<option value="waiting" selected>`} {
		if !strings.Contains(a.Body, part) {
			t.Errorf("the page doesn't say %q", part)
		}
	}
	for _, query := range []string{"&webhook_id=9", "&transaction_id=99", "&type=UP", "&from=x"} {
		if a := b.Get("/deliveries?status=waiting" + query); a.Status != http.StatusUnprocessableEntity ||
			!strings.Contains(a.Body, `class="problem" role="alert"`) {
			t.Errorf("%s: %d", query, a.Status)
		}
	}
	// Wherever it says how many wait, it leads there.
	for path, link := range map[string]string{
		"/": `<a href="/deliveries?status=waiting">3 waiting</a>`, "/deliveries": `<a href="/deliveries?status=waiting">3 deliveries are waiting`,
		"/webhooks/2": `<a href="/deliveries?status=waiting&amp;webhook_id=2">2</a>`,
	} {
		if a := b.Get(path); !strings.Contains(a.Body, link) {
			t.Errorf("%s: no way to what waits", path)
		}
	}
	cashier, minh := w.Browser().SignIn("cashier"), w.Browser().SignIn("minh")
	cashier.Get("/deliveries?status=waiting").WantStatus(t, http.StatusForbidden)
	if a := cashier.Get("/"); strings.Contains(a.Body, "3 waiting") || strings.Contains(a.Body, "/deliveries") {
		t.Error("the cashier's overview")
	}
	if a := minh.Get("/deliveries?status=waiting"); len(listed(t, a)) != 0 {
		t.Error("another account's queue is shown")
	}
	minh.Get("/deliveries?status=waiting&webhook_id=1").WantStatus(t, http.StatusUnprocessableEntity)
	// What was received or given up waits no more, nor what a deleted webhook
	// was to be told.
	exhaust(w, 2, serverError)
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(ctx, 1, paused.ID, time.Now()))
	if a := b.Get("/deliveries?status=waiting"); len(listed(t, a)) != 0 {
		t.Errorf("after all: %v", listed(t, a))
	}
}

// The attempts of a delivery are drawn where there is something to tell.
func TestAttemptDots(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 503, "")
	hook, _ := w.Webhook(receiver.url, delivery.WebhookAll)
	w.Pay(1, "1", "a")
	w.Attempts(1, 1)
	due, err := w.Services.Deliveries.Due(t.Context(), delivery.DueFilter{
		WebhookID: hook.ID, Retries: true, Limit: 1,
	}, time.Now().Add(time.Hour))
	apptest.Must(t, err)
	_, err = w.Services.Deliveries.Settle(t.Context(), due[0], delivery.Result{StartedAt: time.Now(), StatusCode: 200})
	apptest.Must(t, err)
	receiver.answers(200, "")
	w.Pay(1, "2", "b")
	w.Attempts(1, 3)
	_, err = w.Services.Deliveries.TestWebhook(t.Context(), 1, hook.ID, time.Now())
	apptest.Must(t, err)
	b := w.Browser().SignIn("lan")
	for path, want := range map[string][]string{"/deliveries": {"", "", "fr"}, "/deliveries?status=0": {"fppppp"}} {
		a := b.Get(path)
		var drawn []string
		for _, row := range regexp.MustCompile(`(?s)<td class="state">(.*?)</td>`).FindAllStringSubmatch(a.Body, -1) {
			line := ""
			for _, dot := range regexp.MustCompile(`(?:path|circle) class="(\w)`).FindAllStringSubmatch(row[1], -1) {
				line += dot[1]
			}
			drawn = append(drawn, line)
		}
		if !slices.Equal(drawn, want) {
			t.Errorf("%s, newest first: %q, want %q", path, drawn, want)
		}
	}
}

// A delivery that waits for something of this machine says so, on its page and
// in the list, in the language of the reader.
func TestPendingForWantOfFiles(t *testing.T) {
	t.Parallel()
	w := webtest.NewStillWorld(t) // nobody attempts it
	server := httptest.NewServer(web.New(web.Config{Services: w.Services, Version: "test"}))
	t.Cleanup(server.Close)
	w.URL = server.URL
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Webhook("http://127.0.0.1:9/", delivery.WebhookAll)
	w.Pay(1, "1", "trà đá")
	b := w.Browser().SignIn("lan")
	const english, vietnamese = "no free file handles", "hết số tệp được mở"
	if a := b.Get("/deliveries?status=waiting"); strings.Contains(a.Body, english) || strings.Contains(a.Body, vietnamese) {
		t.Error("it waits for something before anything is wrong")
	}
	w.Services.SetCourier(delivery.Courier{Shortage: func(webhookID int64) delivery.Cause {
		if webhookID != 1 {
			t.Errorf("asked of webhook %d", webhookID)
		}
		return delivery.CauseFiles
	}})
	for _, page := range []string{"/deliveries?status=waiting", "/deliveries/1"} {
		b.Header.Set("Accept-Language", "en")
		b.Get(page).Shows(t, english)
		b.Header.Set("Accept-Language", "vi")
		b.Get(page).Shows(t, vietnamese)
	}
}
