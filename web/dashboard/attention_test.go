package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/alert"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/web/webtest"
)

// A kind that alerts can be about has a name in the settings, and a page of its own.
func TestAlertKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range alert.Kinds {
		if name := kind.AlertName(); name.EN == "" || name.VI == "" {
			t.Errorf("%s has no name in alertNames of app/alert/alert.go", kind)
		}
		if (alert.Attention{Kind: kind}).Path() == "/" {
			t.Errorf("%s has no page in Attention.Path", kind)
		}
	}
}

// Alerts in mailboxes link to these pages for years.
func TestAttentionPath(t *testing.T) {
	t.Parallel()
	day := app.DayOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), time.UTC)
	for want, a := range map[string]alert.Attention{
		"/settings":                            {Kind: alert.AttentionPlan},
		"/system":                              {Kind: alert.AttentionSystem, Warning: upkeep.WarningInsecure},
		"/system#program":                      {Kind: alert.AttentionServer, Warning: upkeep.WarningCertificate},
		"/system#backup":                       {Kind: alert.AttentionServer, Warning: upkeep.WarningBackup},
		"/webhooks/7":                          {Kind: alert.AttentionWebhook, ID: 7},
		"/webhooks/7/rotate":                   {Kind: alert.AttentionWebhook, ID: 7, SecretLost: true},
		"/streams/7":                           {Kind: alert.AttentionStream, ID: 7},
		"/streams/7/rotate":                    {Kind: alert.AttentionStream, ID: 7, SecretLost: true},
		"/deliveries?status=0&from=2026-03-01": {Kind: alert.AttentionFailed, Since: day},
		"/inbound/events?state=unassigned":     {Kind: alert.AttentionInbound, State: inbound.OutcomeUnassigned},
		"/banks/7":                             {Kind: alert.AttentionBank, ID: 7},
		"/inbound/sources/7":                   {Kind: alert.AttentionSource, ID: 7},
		"/inbound/refused":                     {Kind: alert.AttentionSource},
		"/inbound/sources/7/rotate":            {Kind: alert.AttentionSource, ID: 7, SecretLost: true},
		"/settings/codes":                      {Kind: alert.AttentionCodes},
		"/settings/alerts":                     {Kind: alert.AttentionAlert},
	} {
		if got := a.Path(); got != want {
			t.Errorf("%+v leads to %s, want %s", a, got, want)
		}
	}
}

// Sources whose calls are refused are one line, in the place of the first.
func TestRefusedSourcesAreOneLine(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for i := range 3 {
		src := w.AddSource(inbound.SourceAdd{Provider: "native", Auth: inbound.AuthBearer, Name: fmt.Sprint("till", i)})
		w.Do("POST", src.URLPath(), "{}", "Authorization", "Bearer x").WantStatus(t, http.StatusUnauthorized)
		w.Until("the refused call is in the log", func() bool { return strings.Contains(b.Get("/").Body, src.Name) })
		page := b.Get("/")
		if i == 0 {
			page.Shows(t, "Calls to source “\u2068till0\u2069” are refused", `href="/inbound/sources/1"`)
		} else {
			page.Shows(t, fmt.Sprintf("Calls to %d sources are refused", i+1), "“\u2068till0\u2069”, “\u2068till1\u2069”", `href="/inbound/refused"`)
			page.Hides(t, "Calls to source ")
		}
	}
}
