package dashboard_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app/access"
	"baoco/app/stream"
	"baoco/web/dashboard"
	"baoco/web/webtest"
)

// onceForms are the actions that count once, with what their forms say and the
// page that whoever sends an old one comes to.
var onceForms = []struct {
	action, page string
	fields       []string
}{
	{"/payments", "/payments/new", []string{"amount", "5.000", "bank_account_id", "1", "expires_in", "15"}},
	{"/till", "/till", []string{"amount", "5.000", "bank_account_id", "1"}},
	{"/webhooks", "/webhooks/new", []string{"name", "kho", "webhook_url", "https://shop.vn/kho", "type", "ALL"}},
	{"/webhooks/1/rotate", "/webhooks/1/rotate", []string{"overlap_hours", "24"}},
	{"/webhooks/1/replay", "/webhooks/1/replay", nil},
	{"/streams", "/streams/new", []string{"name", "kho", "url", "kafka://kafka.shop.vn", "topic", "shop", "type", "ALL", "start", "now"}},
	{"/streams/1/rotate", "/streams/1/rotate", nil},
	{"/inbound/sources", "/inbound/sources/new", []string{"provider", "native", "name", "second till", "auth", "bearer"}},
	{"/inbound/sources/1/rotate", "/inbound/sources/1/rotate", nil},
	{"/deliveries/resend", "/deliveries", []string{"failed", "all"}},
	{"/deliveries/1/resend", "/deliveries/1", nil},
	{"/keys", "/keys", []string{"name", "till", "scope", "full"}},
	{"/settings/users", "/settings", []string{"name", "hoa", "role", "cashier"}},
	{"/settings/users/2/password", "/settings/users/2", nil},
	{"/settings/counters", "/settings", []string{"name", "Quầy 1"}},
}

// harmlessTwice are the other actions: sent again, they change nothing more, are
// refused, or send one more sample.
var harmlessTwice = []string{
	"/login", "/login/code", "/login/passkey", "/logout", "/setup/{token}", "/look", "/system/backup", "/guide", "/guide/test",
	"/tools/signature",
	"/transactions/import", "/transactions/import/{id}/undo", "/transactions/{id}/note", "/transactions/{id}/part",
	"/transactions/{id}/revenue", "/transactions/chosen", "/transactions/{id}/refund",
	"/book/close", "/book/open", "/book/heading", "/book/cash", "/book/opening",
	"/book/revenue/rules", "/book/revenue/rules/{id}/remove",
	"/webhooks/{id}/edit", "/webhooks/{id}/toggle", "/webhooks/{id}/test", "/webhooks/{id}/activate", "/webhooks/{id}/env",
	"/webhooks/{id}/delete",
	"/streams/{id}/edit", "/streams/{id}/toggle", "/streams/{id}/test", "/streams/{id}/env", "/streams/{id}/delete",
	"/till/{id}/cancel", "/till/{id}/ask",
	"/till/{id}/receipt", "/shifts/{id}/close", "/payments/{id}/cancel", "/payments/{id}/match", "/payments/{id}/unmatch",
	"/settings/payments", "/banks", "/banks/{id}/look", "/banks/{id}/holder", "/banks/{id}/receiving", "/banks/{id}/toggle",
	"/banks/{id}/unlink",
	"/inbound/sources/{id}/senders", "/inbound/sources/{id}/key", "/inbound/sources/{id}/catch-up", "/inbound/sources/{id}/remove",
	"/inbound/events/{id}/link", "/inbound/events/{id}/retry", "/inbound/events/{id}/settle", "/inbound/events/{id}/discard",
	"/keys/{id}/revoke", "/settings/password", "/settings/name", "/settings/sign-out", "/settings/users/{id}/role",
	"/settings/users/{id}/limit", "/settings/users/{id}/remove", "/settings/counters/{id}/revoke", "/settings/codes",
	"/settings/codes/{id}/delete",
	"/settings/sign-in/off", "/settings/sign-in/demand", "/settings/sign-in/passkeys/{id}", "/settings/sign-in/passkeys/{id}/remove",
	"/settings/sign-in/others", "/settings/sign-in/sessions/{id}/end", "/settings/users/{id}/sessions/{session}/end",
	"/settings/alerts", "/settings/alerts/report", "/settings/alerts/telegram", "/settings/alerts/telegram/chats",
	"/settings/alerts/email", "/settings/alerts/{medium}/chat",
	"/settings/alerts/{medium}/payments", "/settings/alerts/{medium}/test", "/settings/alerts/{medium}/remove",
	"/settings/phones", "/settings/phones/{id}", "/settings/phones/{id}/test", "/settings/phones/{id}/remove",
}

// Whoever adds an action says whether its form counts once.
func TestEveryActionIsSorted(t *testing.T) {
	forms := []string{"/deliveries/{id}/send-now", "/webhooks/{id}/send-now", // see TestSendNow
		"/till/{id}/take",                                                                // see TestMoneyWithoutCode
		"/settings/sign-in/app", "/settings/sign-in/codes", "/settings/sign-in/passkeys"} // see TestSecondFactor, TestPasskey
	for _, form := range onceForms {
		forms = append(forms, strings.NewReplacer("/1", "/{id}", "/2", "/{id}").Replace(form.action))
	}
	for _, p := range dashboard.Pages {
		if p.Method == http.MethodPost && slices.Contains(forms, p.Path) == slices.Contains(harmlessTwice, p.Path) {
			t.Errorf("%s: does its form count once?", p.Path)
		}
	}
}

// onceState is what the actions of onceForms would change.
func onceState(w *webtest.World) (text string) {
	w.File(func(db *sql.DB) error {
		return db.QueryRow(`SELECT concat_ws(' ', (SELECT count(*) FROM deliveries), (SELECT count(*) FROM api_keys), (SELECT count(*)
			FROM counter_links), (SELECT count(*) FROM payment_requests),
			(SELECT group_concat(password || generation) FROM users), (SELECT group_concat(hex(secret))
			FROM sources), (SELECT group_concat(hex(secret)) FROM streams),
			(SELECT group_concat(hex(secret) || coalesce(hex(next_secret), '')) FROM webhooks))`).Scan(&text)
	})
	return text
}

// A form whose action fails in the server isn't used up: sent again, it counts.
func TestFormThatFailedIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, form := range onceForms {
		t.Run(form.action, func(t *testing.T) {
			t.Parallel()
			w, _, b := failing(t)
			w.User(1, "mai", access.RoleCashier)
			w.Native()
			w.CodePattern("DH")
			w.Stream(stream.Create{})
			broken := []string{"INSERT ON deliveries", "INSERT ON api_keys", "INSERT ON counter_links", "INSERT ON payment_requests",
				"INSERT ON users", "INSERT ON webhooks", "INSERT ON sources", "INSERT ON streams",
				"UPDATE OF password ON users", "UPDATE OF secret, next_secret ON webhooks", "UPDATE OF secret ON sources",
				"UPDATE OF secret ON streams"}
			for i, what := range broken {
				w.Change(fmt.Sprintf(`CREATE TRIGGER broken%d BEFORE %s BEGIN SELECT RAISE(ABORT, 'broken'); END`, i, what))
			}
			before := onceState(w)
			fields := append([]string{"once", webtest.FormKey()}, form.fields...)
			if got := b.Post(form.action, fields...); got.Status < 500 || onceState(w) != before {
				t.Fatalf("%d: it didn't fail", got.Status)
			}
			for i := range broken {
				w.Change(fmt.Sprintf(`DROP TRIGGER broken%d`, i))
			}
			if got := b.Post(form.action, fields...); got.Status >= 400 || onceState(w) == before {
				t.Errorf("%d: sent again, it did nothing", got.Status)
			}
		})
	}
}

// A form that counts once does nothing without its key, or with an old one, and
// nothing more when it is sent again.
func TestFormsCountOnce(t *testing.T) {
	t.Parallel()
	for _, form := range onceForms {
		t.Run(form.action, func(t *testing.T) {
			t.Parallel()
			w, _, b := failing(t)
			w.User(1, "mai", access.RoleCashier)
			w.Native()
			w.CodePattern("DH")
			w.Stream(stream.Create{})
			state := func() string { return onceState(w) }
			before := state()
			old := strconv.FormatInt(time.Now().Add(-13*time.Hour).Unix(), 10) + "-AAAA"
			for _, once := range [][]string{nil, {"once", ""}, {"once", "AAAA"}, {"once", old}} {
				b.Post(form.action, append(once, form.fields...)...).Goes(t, form.page)
				b.Get("/keys").Shows(t, "This form has expired")
			}
			if state() != before {
				t.Fatal("a form without a key that counts did something")
			}
			fields := append([]string{"once", webtest.FormKey()}, form.fields...)
			first := b.Post(form.action, fields...)
			done := state()
			if first.Status >= 400 || done == before {
				t.Fatalf("%d: nothing was done\n%s", first.Status, first.Body)
			}
			// What was sent again fails again: there is something to send once more.
			w.Until("everything is attempted", func() (all bool) {
				w.File(func(db *sql.DB) error {
					return db.QueryRow(`SELECT count(*) = 0 FROM deliveries WHERE attempts = 0`).Scan(&all)
				})
				return all
			})
			w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6`)
			second := b.Post(form.action, fields...)
			if second.Status >= 400 || state() != done {
				t.Errorf("%d: it counted twice", second.Status)
			}
		})
	}
}
