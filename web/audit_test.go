package web_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/book"
	"baoco/app/payment"
	"baoco/web"
	"baoco/web/webtest"
)

// Whatever a program does with an API key has one line: the key, from which address
// behind a trusted proxy, when, and to what.
func TestDeedsOfAPI(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter,
		r *http.Request) {
		rw.WriteHeader(http.StatusInternalServerError)
	}))
	defer shop.Close()
	w.Link("ACB", apptest.SomeAccount)
	key := w.APIKey(access.ScopeFull)
	src := w.Native()
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{Account: "777"})
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{ID: "2", Number: "FT2", Account: "888"})
	w.URL = w.Serve(web.Config{Version: "test", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).Base

	done := map[string]bool{}
	lines := func() []app.AuditLine {
		t.Helper()
		list, err := w.Services.Ledger.AuditLines(t.Context(), 1, app.AuditFilter{}, 1000)
		apptest.Must(t, err)
		return list
	}
	through := func(route string, id int64, body string, deed app.Deed, noun int64) {
		t.Helper()
		done[route] = true
		before, began := lines(), time.Now()
		method, path, _ := strings.Cut(strings.Replace(route, "{id}", fmt.Sprint(id), 1), " ")
		a := w.Do(method, path, body, "Authorization", "Bearer "+key, "X-Forwarded-For", "198.51.100.7")
		now := lines()
		added := now[:len(now)-len(before)]
		if len(added) != 1 {
			t.Errorf("%s: %d lines, %d %s", route, len(added), a.Status, a.Body)
			return
		}
		l := added[0]
		if want := (app.Actor{Way: app.WayAPI, ID: 1, Name: "test", Address: "198.51.100.7", At: l.Actor.At}); l.Actor != want ||
			l.Deed != deed || l.NounID != noun || l.Actor.At.Before(began.Add(-time.Millisecond)) || l.Actor.At.After(time.Now()) {
			t.Errorf("%s: %+v, want %s of %d by %+v", route, l, deed, noun, want)
		}
	}
	number := func(query string) (n int64) {
		w.File(func(db *sql.DB) error { return db.QueryRow(query).Scan(&n) })
		return n
	}
	attempts := func(n int64) {
		t.Helper()
		w.Until(fmt.Sprintf("%d attempts", n), func() bool {
			return number(`SELECT count(*) FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.transaction_id IS NOT NULL`) >= n
		})
	}

	through("PATCH /api/v1/bank-accounts/{id}/toggle", 1, "", app.DeedBankAccountChange, 1)
	through("PUT /api/v1/bank-accounts/{id}", 1, `{"content_prefix":"SEVQR"}`, app.DeedBankAccountChange, 1)
	_, err := w.Services.Ledger.ToggleBankAccount(t.Context(), 1, 1, time.Now())
	apptest.Must(t, err)
	through("POST /api/v1/bank-accounts", 0, `{"bank":"VCB","account_number":"4711","account_name":"A"}`, app.DeedBankAccountLink, 2)
	through("DELETE /api/v1/bank-accounts/{id}", 2, "", app.DeedBankAccountUnlink, 2)
	added := number(`SELECT max(id) + 1 FROM sources`)
	through("POST /api/v1/sources", 0, `{"provider":"native","name":"till"}`, app.DeedSourceCreate, added)
	through("POST /api/v1/sources/{id}/rotate-secret", added, "", app.DeedSourceRotate, added)
	through("DELETE /api/v1/sources/{id}", added, "", app.DeedSourceRemove, added)
	through("POST /api/v1/webhooks", 0, `{"name":"kho","webhook_url":"`+shop.URL+`","type":"ALL"}`, app.DeedWebhookCreate, 1)
	through("PUT /api/v1/webhooks/{id}", 1, `{"name":"kho 2"}`, app.DeedWebhookChange, 1)
	through("POST /api/v1/webhooks/{id}/test", 1, "", app.DeedWebhookTest, 1)
	through("POST /api/v1/webhooks/{id}/rotate-secret", 1, "", app.DeedWebhookRotate, 1)
	through("POST /api/v1/webhooks/{id}/activate-secret", 1, "", app.DeedWebhookActivate, 1)
	through("POST /api/v1/transactions", 0,
		`{"transferType":"IN","transferAmount":20000,"accountNumber":"`+apptest.SomeAccount+`","transactionNumber":"FT9"}`,
		app.DeedTransactionRecord, 0)
	recorded := number(`SELECT max(id) FROM transactions`)
	through("PUT /api/v1/transactions/{id}", recorded, `{"revenue":false}`, book.DeedMark, recorded)
	attempts(1)
	delivery := number(`SELECT max(id) FROM deliveries WHERE transaction_id IS NOT NULL`)
	through("POST /api/v1/deliveries/{id}/send-now", delivery, "", app.DeedDeliverySendNow, delivery)
	attempts(2)
	w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6 WHERE id = ?`, delivery)
	history := number(fmt.Sprintf(`SELECT max(id) FROM attempts WHERE delivery_id = %d`, delivery))
	through("POST /api/v1/webhooks/{id}/resend", history, "", app.DeedDeliveryResend, delivery+1)
	attempts(3)
	w.Change(`UPDATE deliveries SET state = 2, due_ms = NULL, attempts = 6`)
	through("POST /api/v1/webhooks/{id}/replay", 1, "", app.DeedWebhookReplay, 1)
	through("PATCH /api/v1/webhooks/{id}/toggle", 1, "", app.DeedWebhookChange, 1)
	through("DELETE /api/v1/webhooks/{id}", 1, "", app.DeedWebhookDelete, 1)
	through("POST /api/v1/code-patterns", 0, `{"prefix":"DH","min_length":6,"max_length":6,"alphabet":"digits"}`, app.DeedCodePatternCreate, 1)
	through("POST /api/v1/payment-requests", 0, `{"amount":20000}`, app.DeedPaymentCreate, 0)
	last := number(`SELECT max(id) FROM transactions`)
	w.Change(`UPDATE transactions SET unmatched = 1 WHERE id = ?`, last)
	through("PUT /api/v1/payment-requests/unmatched/{id}", last, `{"put_aside":true}`, payment.DeedPutAside, last)
	through("POST /api/v1/payment-requests/{id}/match", 1, `{"transaction_id":"`+fmt.Sprint(number(`SELECT max(id) FROM transactions`))+`"}`,
		app.DeedPaymentMatch, 1)
	through("POST /api/v1/payment-requests/{id}/unmatch", 1, `{"transaction_id":"`+fmt.Sprint(number(`SELECT max(id) FROM transactions`))+`"}`,
		app.DeedPaymentUnmatch, 1)
	through("POST /api/v1/payment-requests/{id}/cancel", 1, "", app.DeedPaymentCancel, 1)
	through("DELETE /api/v1/code-patterns/{id}", 1, "", app.DeedCodePatternDelete, 1)
	through("POST /api/v1/streams", 0, `{"name":"kho","url":"nats://nats.example.com","topic":"a"}`, app.DeedStreamCreate, 1)
	through("PUT /api/v1/streams/{id}", 1, `{"name":"kho 2"}`, app.DeedStreamChange, 1)
	through("POST /api/v1/streams/{id}/test", 1, "", app.DeedStreamTest, 1)
	through("POST /api/v1/streams/{id}/rotate-secret", 1, "", app.DeedStreamRotate, 1)
	through("PATCH /api/v1/streams/{id}/toggle", 1, "", app.DeedStreamChange, 1)
	through("DELETE /api/v1/streams/{id}", 1, "", app.DeedStreamDelete, 1)
	through("POST /api/v1/inbound/{id}/retry", 2, "", app.DeedInboundRetry, 2)
	phone, code := w.Native(),
		apptest.Transfer{ID: "p", Number: "FT9", Amount: 20_000, Date: app.FormatTime(time.Now(), w.Services.Ledger.Zone()), Content: "ck"}
	w.Sends(phone, apptest.Batch(strings.Replace(code.Native(), "FT9", "", 1)))
	held := number(`SELECT max(id) FROM inbound_events`)
	through("POST /api/v1/inbound/{id}/settle", held, `{"repeat":true}`, app.DeedInboundSettle, held)
	through("POST /api/v1/inbound/{id}/discard", 2, "", app.DeedInboundDiscard, 2)
	through("POST /api/v1/inbound/{id}/link", 1, `{"account_name":"A"}`, app.DeedInboundLink, 1)

	for _, route := range web.Routes(w.Services) {
		if method, path, _ := strings.Cut(route, " "); method != http.MethodGet && strings.HasPrefix(path, "/api/v1/") && !done[route] {
			t.Errorf("%s: which line has it in the audit log?", route)
		}
	}
}

// A key that may only read is refused wherever something is changed, and one that may only
// follow the transactions everywhere else.
func TestScopesOfKeys(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	read, listen := w.APIKey(access.ScopeRead), w.APIKey(access.ScopeListen)
	const follow = "/api/v1/transactions/stream"
	for _, route := range web.Routes(w.Services) {
		method, path, _ := strings.Cut(strings.ReplaceAll(route, "{id}", "4711"), " ")
		if !strings.HasPrefix(path, "/api/v1/") || path == follow {
			continue
		}
		if a := w.Do(method, path, "", "Authorization", "Bearer "+listen); a.Status != http.StatusForbidden {
			t.Errorf("%s with a key that may only follow: %d %s", route, a.Status, a.Body)
		}
		if method == http.MethodGet || method == http.MethodHead {
			continue
		}
		if a := w.Do(method, path, "", "Authorization", "Bearer "+read); a.Status != http.StatusForbidden {
			t.Errorf("%s with a key that may only read: %d %s", route, a.Status, a.Body)
		}
	}
	if a, err := w.Send("HEAD", follow, "", "Authorization", "Bearer "+listen); err != nil || a.Status != http.StatusOK {
		t.Errorf("following with a key for it: %d %v", a.Status, err)
	}
}
