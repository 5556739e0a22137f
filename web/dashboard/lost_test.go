package dashboard_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
	"baoco/web/webtest"
)

// A webhook whose secret is lost says so wherever it is seen, with the way out;
// no signature is shown or sent until then.
func TestWebhookWithoutSecret(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 200, "")
	w.Webhook(receiver.url, delivery.WebhookAll)
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	w.Pay(1, "1", "before")
	w.Attempts(1, 1)
	b := w.Browser().SignIn("lan")
	const lost, rotate = "Secret lost", `href="/webhooks/1/rotate"`
	b.Get("/webhooks").Hides(t, lost)
	b.Get("/webhooks/1").Hides(t, "The secret is lost")
	b.Get("/").Hides(t, "has lost its secret")
	if a := w.Do("GET", "/api/v1/webhooks", "", key...); strings.Contains(a.Body, "secret_lost") {
		t.Error(a.Body)
	}
	loseKey(w)

	b = w.Browser().SignIn("lan")
	w.Pay(1, "2", "after")
	b.Get("/").Shows(t, "has lost its secret, so nothing is sent to your shop.", rotate)
	b.Get("/webhooks").Shows(t, lost)
	page := b.Get("/webhooks/1")
	page.Shows(t, "The secret is lost", rotate, "Waiting deliveries: 1.")
	page.Hides(t, "/webhooks/1/test", "Kept by you")
	b.Get("/deliveries?status=waiting").Shows(t, "once the secret is rotated", `href="/webhooks/1"`)
	for _, path := range []string{"/deliveries/1", "/deliveries/2"} {
		page := b.Get(path)
		page.Shows(t, "secret is lost, so no signature can be computed", rotate)
		page.Hides(t, "X-Webhook-Signature", "Webhook-Signature:", `id="curl"`, "#curl", "checksum")
	}
	b.Get("/deliveries/1").Shows(t, "200")
	b.Get("/deliveries/2").Shows(t, "On hold until the webhook’s secret is rotated.")

	// Nothing is sent, and a test says why.
	refused := b.Post("/webhooks/1/test")
	refused.WantStatus(t, http.StatusConflict)
	refused.Shows(t, "The secret of this webhook is lost, so nothing can be signed.")
	a := w.Do("POST", "/api/v1/webhooks/1/test", "", key...)
	a.WantStatus(t, http.StatusConflict)
	if code := a.JSON(t)["code"]; code != "secret_lost" {
		t.Errorf("code %v", code)
	}
	var list struct{ Webhooks []map[string]any }
	apptest.Must(t, json.Unmarshal([]byte(w.Do("GET", "/api/v1/webhooks", "", key...).Body), &list))
	if len(list.Webhooks) != 1 || list.Webhooks[0]["secret_lost"] != true {
		t.Errorf("%v", list)
	}
	// One that is off is told nothing anyway.
	b.Post("/webhooks/1/toggle", "active", "0").Goes(t, "/webhooks/1")
	b.Get("/").Hides(t, "has lost its secret")
	b.Get("/webhooks/1").Shows(t, "Even when the webhook is on, nothing is sent")
	b.Post("/webhooks/1/toggle", "active", "1").Goes(t, "/webhooks/1")
	b.Get("/webhooks/1").Shows(t, "Webhook turned on. Nothing is sent until you rotate its secret.")
	if n := len(receiver.calls()); n != 1 {
		t.Errorf("%d calls", n)
	}

	form := b.Get("/webhooks/1/rotate")
	form.Shows(t, "The old secret is lost", `type="hidden" name="overlap_hours" value="0"`)
	secret := secretOf(t, b.Post("/webhooks/1/rotate", "overlap_hours", "0", "once", form.Once(t)))
	w.Attempts(1, 2)
	call := receiver.calls()[1]
	if got := call.header.Get("X-Webhook-Signature"); got != delivery.Signature(secret, []byte(call.body)) {
		t.Errorf("what waited carries %q", got)
	}
	b.Get("/deliveries/2").Shows(t, "X-Webhook-Signature: "+delivery.Signature(secret, []byte(call.body)), `id="curl"`)
	b.Get("/webhooks").Hides(t, lost)
	b.Get("/webhooks/1").Hides(t, "The secret is lost")
	b.Get("/").Hides(t, "has lost its secret")
}

// A source whose secret is lost says so likewise, and refuses every call with
// that reason.
func TestSourceWithoutSecret(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	// The text is one that somebody may choose.
	chosen := w.Source("sepay", inbound.AuthAPIKey, "lost and found again")
	key := []string{"Authorization", "Bearer " + w.APIKey(access.ScopeFull)}
	b := w.Browser().SignIn("lan")
	b.Get("/inbound").Hides(t, "Secret lost")
	b.Get("/").Hides(t, "has lost its secret")
	loseKey(w)

	b = w.Browser().SignIn("lan")
	const rotate = `href="/inbound/sources/1/rotate"`
	b.Get("/").Shows(t, "has lost its secret, so its calls are refused", rotate)
	b.Get("/inbound").Shows(t, "Secret lost")
	page := b.Get("/inbound/sources/1")
	page.Shows(t, "The secret is lost", "Secret lost", rotate, "API key is lost as well")
	w.Sends(chosen, apptest.Transfer{ID: "1", Number: "D1"}.Sepay()).WantStatus(t, http.StatusUnauthorized)
	w.Until("the refused call", func() bool {
		return strings.Contains(b.Get("/inbound/sources/1").Body, "so no call can be verified")
	})
	var list struct{ Sources []map[string]any }
	apptest.Must(t, json.Unmarshal([]byte(w.Do("GET", "/api/v1/sources", "", key...).Body), &list))
	if len(list.Sources) != 1 || list.Sources[0]["secret_lost"] != true {
		t.Errorf("%v", list)
	}
	// Who still knows the secret enters it again.
	form := b.Get("/inbound/sources/1/rotate")
	form.Shows(t, "The old secret is lost.")
	b.Post("/inbound/sources/1/rotate", "secret", "lost and found again", "once", form.Once(t)).WantStatus(t, http.StatusOK)
	w.Names(webtest.Recorded, chosen, apptest.Transfer{ID: "1", Number: "D1"})
	for _, path := range []string{"/", "/inbound", "/inbound/sources/1"} {
		b.Get(path).Hides(t, "has lost its secret", "Secret lost", "The secret is lost")
	}
}

// An alert channel keeps its settings under a new key; with the old key lost it
// says that it must be set up again.
func TestAlertChannelWithoutSettings(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	_, err := w.Services.Alerts.SetAlertChannel(t.Context(),
		alert.Channel{AccountID: 1, Medium: alert.Telegram, Telegram: alert.TelegramSettings{Token: botToken, Chat: "5"}}, time.Now())
	apptest.Must(t, err)
	// With the old key at hand nothing is lost.
	w.Stop()
	replaced, err := sqlitestore.ReplaceKey(apptest.Acting(t.Context()), w.Path, time.Now())
	apptest.Must(t, err)
	w.Start()
	if c, err := w.Services.Alerts.AlertChannel(t.Context(), 1, alert.Telegram); err != nil || c.SettingsLost ||
		c.Telegram.Token != botToken || len(replaced.Lost) != 0 {
		t.Errorf("%+v, %v; lost %v", c.Destination(), err, replaced.Lost)
	}
	loseKey(w)
	b := w.Browser().SignIn("lan")
	b.Get("/").Shows(t, "Alerts by Telegram are not being delivered. Its settings are lost", `href="/settings/alerts"`)
	page := b.Get("/settings/alerts")
	page.Shows(t, "Failing", "Set it up again.")
	page.Hides(t, "Saved. Enter a new one")
	b.Post("/settings/alerts/telegram/test").Shows(t, "Its settings are lost")
	if told, err := w.Services.Alerts.Alert(t.Context(), upkeep.Installation{}, time.Now()); err != nil || len(told) != 0 {
		t.Errorf("told %v, %v", told, err)
	}
	b.Post("/settings/alerts/telegram", "token", botToken, "chat", "5").Goes(t, "/settings/alerts")
	b.Get("/").Hides(t, "are not being delivered")
	w.File(func(db *sql.DB) error {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM alert_channels WHERE length(settings) > 0`).Scan(&n)
		if n != 1 {
			t.Errorf("%d channels with settings", n)
		}
		return err
	})
}

// loseKey loses the key file, makes a new one, and starts everything again.
func loseKey(w *webtest.World) {
	w.T.Helper()
	w.Stop()
	apptest.Must(w.T, os.Remove(w.Path+".key"))
	_, err := sqlitestore.ReplaceKey(apptest.Acting(context.Background()), w.Path, time.Now())
	apptest.Must(w.T, err)
	w.Start()
}
