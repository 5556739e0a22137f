package web_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/sqlitestore"
)

// loseKey loses the key file, makes a new one, and starts everything again.
func (w *world) loseKey() {
	w.t.Helper()
	w.stop()
	must(w.t, os.Remove(w.path+".key"))
	_, err := sqlitestore.ReplaceKey(context.Background(), w.path, time.Now())
	must(w.t, err)
	w.start()
}

// hides checks that a page says none of texts.
func (a answer) hides(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("%d, the page says %q\n%s", a.status, text, a.body)
		}
	}
}

// A webhook whose secret is lost says so wherever it is seen, with the way out;
// no signature is shown or sent until then.
func TestWebhookWithoutSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 200, "")
	w.webhook(receiver.url, app.WebhookAll)
	key := []string{"Authorization", "Bearer " + w.apiKey(app.ScopeFull)}
	w.pay(1, "1", "before")
	w.attempts(1, 1)
	b := w.browser().signIn("lan")
	const lost, rotate = "Secret lost", `href="/webhooks/1/rotate"`
	b.get("/webhooks").hides(t, lost)
	b.get("/webhooks/1").hides(t, "The secret is lost")
	b.get("/").hides(t, "has lost its secret")
	if a := w.do("GET", "/api/v1/webhooks", "", key...); strings.Contains(a.body, "secret_lost") {
		t.Error(a.body)
	}
	w.loseKey()

	b = w.browser().signIn("lan")
	w.pay(1, "2", "after")
	b.get("/").shows(t, "has lost its secret, so nothing is sent to your shop.", rotate)
	b.get("/webhooks").shows(t, lost)
	page := b.get("/webhooks/1")
	page.shows(t, "The secret is lost", rotate, "Waiting deliveries: 1.")
	page.hides(t, "/webhooks/1/test", "Kept by you")
	b.get("/deliveries?status=waiting").shows(t, "once the secret is rotated", `href="/webhooks/1"`)
	for _, path := range []string{"/deliveries/1", "/deliveries/2"} {
		page := b.get(path)
		page.shows(t, "secret is lost, so no signature can be computed", rotate)
		page.hides(t, "X-Webhook-Signature", "Webhook-Signature:", `id="curl"`, "#curl", "checksum")
	}
	b.get("/deliveries/1").shows(t, "200")
	b.get("/deliveries/2").shows(t, "On hold until the webhook’s secret is rotated.")

	// Nothing is sent, and a test says why.
	refused := b.post("/webhooks/1/test")
	refused.wantStatus(t, http.StatusConflict)
	refused.shows(t, "The secret of this webhook is lost, so nothing can be signed.")
	a := w.do("POST", "/api/v1/webhooks/1/test", "", key...)
	a.wantStatus(t, http.StatusConflict)
	if code := a.json(t)["code"]; code != "secret_lost" {
		t.Errorf("code %v", code)
	}
	var list struct{ Webhooks []map[string]any }
	must(t, json.Unmarshal([]byte(w.do("GET", "/api/v1/webhooks", "", key...).body), &list))
	if len(list.Webhooks) != 1 || list.Webhooks[0]["secret_lost"] != true {
		t.Errorf("%v", list)
	}
	// One that is off is told nothing anyway.
	b.post("/webhooks/1/toggle", "active", "0").goes(t, "/webhooks/1")
	b.get("/").hides(t, "has lost its secret")
	b.post("/webhooks/1/toggle", "active", "1").goes(t, "/webhooks/1")
	if n := len(receiver.calls()); n != 1 {
		t.Errorf("%d calls", n)
	}

	form := b.get("/webhooks/1/rotate")
	form.shows(t, "The old secret is lost", `type="hidden" name="overlap_hours" value="0"`)
	secret := b.post("/webhooks/1/rotate", "overlap_hours", "0", "once", form.once(t)).secretOf(t)
	w.attempts(1, 2)
	call := receiver.calls()[1]
	if got := call.header.Get("X-Webhook-Signature"); got != app.Signature(secret, []byte(call.body)) {
		t.Errorf("what waited carries %q", got)
	}
	b.get("/deliveries/2").shows(t, "X-Webhook-Signature: "+app.Signature(secret, []byte(call.body)), `id="curl"`)
	b.get("/webhooks").hides(t, lost)
	b.get("/webhooks/1").hides(t, "The secret is lost")
	b.get("/").hides(t, "has lost its secret")
}

// A source whose secret is lost says so likewise, and refuses every call with
// that reason.
func TestSourceWithoutSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	// The text is one that somebody may choose.
	chosen := w.source("sepay", app.AuthAPIKey, "lost and found again")
	key := []string{"Authorization", "Bearer " + w.apiKey(app.ScopeFull)}
	b := w.browser().signIn("lan")
	b.get("/inbound").hides(t, "Secret lost")
	b.get("/").hides(t, "has lost its secret")
	w.loseKey()

	b = w.browser().signIn("lan")
	const rotate = `href="/inbound/sources/1/rotate"`
	b.get("/").shows(t, "has lost its secret, so its calls are refused", rotate)
	b.get("/inbound").shows(t, "Secret lost")
	page := b.get("/inbound/sources/1")
	page.shows(t, "The secret is lost", "Secret lost", rotate, "API key is lost as well")
	w.sends(chosen, transfer{id: "1", number: "D1"}.sepay()).wantStatus(t, http.StatusUnauthorized)
	eventually(t, "the refused call", func() bool {
		return strings.Contains(b.get("/inbound/sources/1").body, "so no call can be verified")
	})
	var list struct{ Sources []map[string]any }
	must(t, json.Unmarshal([]byte(w.do("GET", "/api/v1/sources", "", key...).body), &list))
	if len(list.Sources) != 1 || list.Sources[0]["secret_lost"] != true {
		t.Errorf("%v", list)
	}
	// Who still knows the secret enters it again.
	form := b.get("/inbound/sources/1/rotate")
	form.shows(t, "The old secret is lost.")
	b.post("/inbound/sources/1/rotate", "secret", "lost and found again", "once", form.once(t)).wantStatus(t, http.StatusOK)
	w.names(recorded, chosen, transfer{id: "1", number: "D1"})
	for _, path := range []string{"/", "/inbound", "/inbound/sources/1"} {
		b.get(path).hides(t, "has lost its secret", "Secret lost", "The secret is lost")
	}
}

// An alert channel keeps its settings under a new key; with the old key lost it
// says that it must be set up again.
func TestAlertChannelWithoutSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	_, err := w.service.SetAlertChannel(t.Context(), app.AlertChannel{AccountID: 1, Medium: app.AlertTelegram, Telegram: app.TelegramSettings{Token: botToken, Chat: "5"}}, time.Now())
	must(t, err)
	// With the old key at hand nothing is lost.
	w.stop()
	replaced, err := sqlitestore.ReplaceKey(t.Context(), w.path, time.Now())
	must(t, err)
	w.start()
	if c, err := w.service.AlertChannel(t.Context(), 1, app.AlertTelegram); err != nil || c.SettingsLost || c.Telegram.Token != botToken || len(replaced.Lost) != 0 {
		t.Errorf("%+v, %v; lost %v", c.Destination(), err, replaced.Lost)
	}
	w.loseKey()
	b := w.browser().signIn("lan")
	b.get("/").shows(t, "Alerts by Telegram are not being delivered. Its settings are lost", `href="/settings/alerts"`)
	page := b.get("/settings/alerts")
	page.shows(t, "Failing", "Set it up again.")
	page.hides(t, "Saved. Enter a new one")
	b.post("/settings/alerts/telegram/test").shows(t, "Its settings are lost")
	if told, err := w.service.Alert(t.Context(), app.Installation{}, time.Now()); err != nil || len(told) != 0 {
		t.Errorf("told %v, %v", told, err)
	}
	b.post("/settings/alerts/telegram", "token", botToken, "chat", "5").goes(t, "/settings/alerts")
	b.get("/").hides(t, "are not being delivered")
	w.file(func(db *sql.DB) error {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM alert_channels WHERE length(settings) > 0`).Scan(&n)
		if n != 1 {
			t.Errorf("%d channels with settings", n)
		}
		return err
	})
}
