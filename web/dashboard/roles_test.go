package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/web/dashboard"
	"baoco/web/webtest"
)

// whoMay names, for every line of the table in routes.go, who may: o is the owner,
// a the accountant, d the developer, c the cashier; open is everybody. It is
// written by hand a second time, so that nobody gets a page by mistake.
const whoMay = `
open     GET  /login
open     POST /login
open     GET  /login/code
open     POST /login/code
open     GET  /login/passkey/options
open     POST /login/passkey
open     POST /logout
open     GET  /setup/{token}
open     POST /setup/{token}
open     POST /look
o a d c  GET  /{$}
o a d c  GET  /transactions
o a - -  GET  /transactions/export
o - - -  GET  /transactions/import
o - - -  POST /transactions/import
o - - -  GET  /transactions/import/{id}/undo
o - - -  POST /transactions/import/{id}/undo
o a d c  GET  /transactions/{id}
o a - -  POST /transactions/{id}/note
o a - -  POST /transactions/{id}/revenue
o - - -  POST /transactions/{id}/part
o a - -  GET  /transactions/chosen
o a - -  POST /transactions/chosen
o a - -  POST /transactions/{id}/refund
o a - -  GET  /payer
o a - -  GET  /payments
o - - -  POST /payments
o - - -  GET  /payments/new
o a - -  GET  /payments/unmatched
o a - -  GET  /payments/{id}
o - - -  GET  /payments/{id}/cancel
o - - -  POST /payments/{id}/cancel
o a - -  POST /payments/{id}/match
o a - -  POST /payments/{id}/unmatch
o a - -  GET  /day
o a - -  GET  /report
o a - -  GET  /report/file
o a - -  GET  /book
o a - -  GET  /book/sheet
o a - -  GET  /book/file
o - - -  GET  /book/close
o - - -  POST /book/close
o - - -  GET  /book/open
o - - -  POST /book/open
o - - -  POST /book/heading
o a - -  POST /book/cash
o - - -  POST /book/opening
o a - -  GET  /book/revenue
o - - -  POST /book/revenue/rules
o - - -  POST /book/revenue/rules/{id}/remove
o - d -  GET  /webhooks
o - d -  POST /webhooks
o - d -  GET  /webhooks/new
o - d -  GET  /webhooks/{id}
o - d -  GET  /webhooks/{id}/edit
o - d -  POST /webhooks/{id}/edit
o - d -  POST /webhooks/{id}/toggle
o - d -  POST /webhooks/{id}/test
o - d -  GET  /webhooks/{id}/rotate
o - d -  POST /webhooks/{id}/rotate
o - d -  POST /webhooks/{id}/activate
o - d -  POST /webhooks/{id}/env
o - d -  GET  /webhooks/{id}/replay
o - d -  POST /webhooks/{id}/replay
o - d -  POST /webhooks/{id}/send-now
o - d -  GET  /webhooks/{id}/delete
o - d -  POST /webhooks/{id}/delete
o - d -  GET  /streams
o - d -  POST /streams
o - d -  GET  /streams/new
o - d -  GET  /streams/{id}
o - d -  GET  /streams/{id}/edit
o - d -  POST /streams/{id}/edit
o - d -  POST /streams/{id}/toggle
o - d -  POST /streams/{id}/test
o - d -  GET  /streams/{id}/rotate
o - d -  POST /streams/{id}/rotate
o - d -  POST /streams/{id}/env
o - d -  GET  /streams/{id}/delete
o - d -  POST /streams/{id}/delete
o - d -  GET  /tools/signature
o - d -  POST /tools/signature
o a - -  GET  /banks
o - - -  POST /banks
o - - -  GET  /banks/new
o a - -  GET  /banks/{id}
o a - -  GET  /banks/{id}/qr.png
o - - -  POST /banks/{id}/receiving
o - - -  POST /banks/{id}/holder
o - - -  POST /banks/{id}/look
o - - -  POST /banks/{id}/toggle
o - - -  GET  /banks/{id}/unlink
o - - -  POST /banks/{id}/unlink
o - d -  GET  /inbound
o - d -  POST /inbound/sources
o - d -  GET  /inbound/sources/new
o - d -  GET  /inbound/sources/{id}
o - d -  GET  /inbound/sources/{id}/rotate
o - d -  POST /inbound/sources/{id}/rotate
o - d -  POST /inbound/sources/{id}/senders
o - d -  POST /inbound/sources/{id}/key
o - d -  POST /inbound/sources/{id}/catch-up
o - d -  GET  /inbound/sources/{id}/remove
o - d -  POST /inbound/sources/{id}/remove
o - d -  GET  /inbound/events
o - d -  GET  /inbound/events/{id}
o - - -  POST /inbound/events/{id}/link
o - d -  POST /inbound/events/{id}/retry
o - - -  POST /inbound/events/{id}/settle
o - - -  POST /inbound/events/{id}/discard
o - d -  GET  /inbound/refused
o a d c  GET  /live
o - d -  GET  /deliveries
o - d -  GET  /deliveries/resend
o - d -  POST /deliveries/resend
o - d -  GET  /deliveries/{id}
o - d -  POST /deliveries/{id}/resend
o - d -  POST /deliveries/{id}/send-now
o - d -  GET  /keys
o - d -  POST /keys
o - d -  GET  /keys/{id}/revoke
o - d -  POST /keys/{id}/revoke
o a d c  GET  /settings
o a d c  POST /settings/password
o a d c  GET  /settings/sign-out
o a d c  POST /settings/sign-out
o - - -  POST /settings/name
o a d c  GET  /settings/sign-in
o a d c  POST /settings/sign-in/app
o a d c  POST /settings/sign-in/codes
o a d c  POST /settings/sign-in/off
o a d c  GET  /settings/sign-in/passkeys/options
o a d c  POST /settings/sign-in/passkeys
o a d c  GET  /settings/sign-in/passkeys/{id}
o a d c  POST /settings/sign-in/passkeys/{id}
o a d c  POST /settings/sign-in/passkeys/{id}/remove
o - - -  POST /settings/sign-in/demand
o a d c  GET  /settings/sign-in/others
o a d c  POST /settings/sign-in/others
o a d c  POST /settings/sign-in/sessions/{id}/end
o - - -  POST /settings/users/{id}/limit
o - - -  POST /settings/users/{id}/sessions/{session}/end
o - - -  POST /settings/users
o - - -  GET  /settings/users/{id}
o - - -  POST /settings/users/{id}/password
o - - -  POST /settings/users/{id}/role
o - - -  GET  /settings/users/{id}/remove
o - - -  POST /settings/users/{id}/remove
o - - -  POST /settings/counters
o - - -  GET  /settings/counters/{id}/revoke
o - - -  POST /settings/counters/{id}/revoke
o - - -  GET  /guide
o - - -  POST /guide
o - - -  POST /guide/test
o - - -  POST /settings/payments
o - - -  GET  /settings/codes
o - - -  POST /settings/codes
o - - -  GET  /settings/codes/{id}/delete
o - - -  POST /settings/codes/{id}/delete
o - - -  GET  /settings/alerts
o - - -  POST /settings/alerts
o - - -  POST /settings/alerts/report
o - - -  POST /settings/alerts/telegram
o - - -  POST /settings/alerts/telegram/chats
o - - -  POST /settings/alerts/email
o - - -  POST /settings/alerts/{medium}/chat
o - - -  POST /settings/alerts/{medium}/payments
o - - -  POST /settings/alerts/{medium}/test
o - - -  GET  /settings/alerts/{medium}/remove
o - - -  POST /settings/alerts/{medium}/remove
o a - c  GET  /settings/phones
o a - c  POST /settings/phones
o a - c  POST /settings/phones/{id}
o a - c  POST /settings/phones/{id}/test
o a - c  POST /settings/phones/{id}/remove
open     GET  /sw.js
o - - -  GET  /settings/audit
o - - -  GET  /settings/audit/export
o - - -  GET  /system
o - - -  POST /system/backup
o a d c  GET  /manifest.webmanifest
o a d c  GET  /help
o a d c  GET  /manifest.webmanifest
o a d c  GET  /help/{page}
o - - c  GET  /till
o - - c  POST /till
o - - c  GET  /till/manifest.webmanifest
o - - c  GET  /till/display
o - - c  GET  /till/{id}
o - - c  POST /till/{id}/cancel
o - - c  POST /till/{id}/take
o - - c  POST /till/{id}/ask
o - - c  GET  /till/{id}/receipt
o - - c  POST /till/{id}/receipt
o a - c  GET  /shifts
o a - c  GET  /shifts/{id}
o a - c  POST /shifts/{id}/close
o - - c  GET  /live/till
o - - c  GET  /live/till/display
o a - c  GET  /counter
open     GET  /counter/{token}
o a - c  GET  /counter/manifest.webmanifest
open     GET  /counter/{token}/manifest.webmanifest
open     GET  /counter/backlog
o a - c  GET  /live/counter
open     GET  /live/counter/{token}
`

// Every page of the table asks who is there before it does anything, and refuses
// all roles but those of whoMay.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	who := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(whoMay)) {
		who[strings.TrimSpace(line[9:])] = strings.TrimSpace(line[:9])
	}
	browsers := map[string]*webtest.Browser{}
	for _, role := range access.Roles {
		w.User(1, string(role), role)
		browsers[string(role[:1])] = w.Browser().SignIn(string(role))
	}
	nobody := w.Browser()
	for _, p := range dashboard.Pages {
		line := fmt.Sprintf("%-4s %s", p.Method, p.Path)
		may, found := who[line]
		delete(who, line)
		if !found {
			t.Errorf("whoMay doesn't name %s", line)
		}
		if may == "open" {
			continue
		}
		path := strings.NewReplacer("{$}", "", "{id}", "1", "{session}", "1", "{medium}", "telegram", "{page}", "first-hour").Replace(p.Path)
		to := "/login"
		if p.Method == "GET" && path != "/" {
			to += "?back=" + url.QueryEscape(path)
		}
		a := nobody.Send(p.Method, path, url.Values{})
		switch {
		case strings.HasPrefix(path, "/live"):
			a.WantStatus(t, http.StatusUnauthorized) // a stream can't show another page
		case p.Method == "POST":
			if to := a.Header.Get("Location"); a.Status != http.StatusSeeOther || !strings.HasPrefix(to, "/login?back=%2F") ||
				!strings.HasSuffix(to, "&unsaved=1") {
				t.Errorf("%s leads nobody to %q", line, to)
			} else if form := nobody.Get(to).Body; !strings.Contains(form, "nothing was saved") {
				t.Errorf("%s", form)
			}
		default:
			a.Goes(t, to)
		}
		for letter, b := range browsers {
			status := 0
			if strings.HasPrefix(path, "/live") {
				l := b.Listen(path + "?since=0")
				status = l.Status
				l.Stop()
			} else {
				status = b.Send(p.Method, path, url.Values{}).Status
			}
			if (status == http.StatusForbidden) == strings.Contains(may, letter) || status == http.StatusUnauthorized || status >= 500 {
				t.Errorf("%s as %s: %d, want it for %q", line, letter, status, may)
			}
			if p.Method == http.MethodPost && path == "/settings/sign-out" {
				browsers[letter] = w.Browser().SignIn(map[string]string{"o": "owner", "a": "accountant", "d": "developer", "c": "cashier"}[letter])
			}
		}
	}
	for line := range who {
		t.Errorf("whoMay names %q, which is no page", line)
	}
}

// A role that this version doesn't know may do nothing.
func TestUnknownRole(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	w.Change("UPDATE users SET role = 'viewer'")
	for _, path := range []string{"/", "/transactions", "/counter", "/settings", "/help"} {
		b.Get(path).WantStatus(t, http.StatusForbidden)
	}
}

// Nothing of another account is reachable by its id.
func TestDashboardTenancy(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	other := w.SecondAccount()
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleOwner)
	w.User(other, "minh", access.RoleOwner)
	w.APIKey(access.ScopeFull)
	counterLink(w, 1, payment.CounterLinkCreate{Name: "Quầy bí mật"})
	minh := w.Browser().SignIn("minh")
	for _, c := range []action{
		{"GET", "/keys/1/revoke"}, {"POST", "/keys/1/revoke"},
		{"GET", "/settings/users/1"}, {"POST", "/settings/users/1/password"}, {"POST", "/settings/users/1/role"},
		{"GET", "/settings/users/1/remove"}, {"POST", "/settings/users/1/remove"},
		{"GET", "/settings/counters/1/revoke"}, {"POST", "/settings/counters/1/revoke"},
		{"GET", "/system"},
	} {
		for _, id := range []string{"1", "99", "x", "-1"} {
			path := strings.ReplaceAll(c.Path, "/1", "/"+id)
			if a := minh.Send(c.Method, path, url.Values{"role": {"cashier"}, "password": {apptest.SomePassword},
				"once": {webtest.FormKey()}}); a.Status != http.StatusNotFound {
				t.Errorf("%s %s: %d, want 404", c.Method, path, a.Status)
			}
		}
	}
	for _, path := range []string{"/", "/keys", "/settings"} {
		body := minh.Get(path).Body
		for _, secret := range []string{"hoa", "Quầy bí mật", "baoco_", "/system", "--listen"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s shows %q of another account", path, secret)
			}
		}
	}
	// All is as it was.
	w.Browser().SignIn("lan")
	if keys, err := w.Services.Access.APIKeys(t.Context(), 1); err != nil || !keys[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", keys, err)
	}
	if links, err := w.Services.Payments.CounterLinks(t.Context(), 1); err != nil || !links[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", links, err)
	}
}

// action is a method and a path of the dashboard; %d in it is an id.
type action = struct{ Method, Path string }

type actions []action

// wantOwnersOnly checks that nobody but an owner of the account reaches a page of a table, and
// that nothing changes. The form is what an owner would send.
func (list actions) wantOwnersOnly(w *webtest.World, id int64, secret string, unchanged func() string, form ...string) {
	t := w.T
	t.Helper()
	w.User(1, "cashier", access.RoleCashier)
	second, err := w.Services.Ledger.CreateAccount(t.Context(), "second", time.Now())
	apptest.Must(t, err)
	w.User(second.ID, "stranger", access.RoleOwner)
	before := unchanged()
	cashier, stranger, nobody, forged := w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger"), w.Browser(), w.Browser().SignIn("lan")
	forged.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	ask := func(b *webtest.Browser, method, path string) webtest.Answer {
		if method == "GET" {
			return b.Get(path)
		}
		return b.Submit(path, form...)
	}
	for _, action := range list {
		path := action.Path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, id)
			ask(stranger, action.Method, path).WantStatus(t, http.StatusNotFound)
			for _, other := range []string{"0", "x", "99", "-1"} {
				ask(stranger, action.Method, strings.Replace(action.Path, "%d", other, 1)).WantStatus(t, http.StatusNotFound)
			}
		} else if action.Method == "GET" {
			if a := stranger.Get(path); strings.Contains(a.Body, secret) {
				t.Errorf("%s shows what is another account's", path)
			}
		}
		ask(cashier, action.Method, path).WantStatus(t, http.StatusForbidden)
		if a := ask(nobody, action.Method, path); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
			t.Errorf("%s %s: %d for nobody", action.Method, path, a.Status)
		}
		if action.Method == "POST" {
			forged.Post(path, form...).WantStatus(t, http.StatusForbidden)
		}
	}
	if after := unchanged(); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}
