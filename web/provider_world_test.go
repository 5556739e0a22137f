package web_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/provider"
	"baoco/web"

	"github.com/google/go-cmp/cmp"
)

// This file has what all tests of the providers' way in share. provider_test.go
// tests who may come in, provider_body_test.go and provider_limits_test.go what
// is read of a body, provider_duplicates_test.go what is recorded once,
// provider_vector_test.go and provider_mutation_test.go the providers' own
// calls, provider_signed_test.go, provider_form_test.go and
// provider_kinds_test.go what differs between them, provider_link_test.go what
// waits for somebody, provider_faults_test.go and provider_process_test.go
// hostile clients, crowds and other processes.

const inboundPath = "/api/webhooks/provider"

// transfer is a transaction that a provider names. Zero fields are filled
// with those of one and the same transfer.
type transfer struct {
	id, number, account, gateway, direction, date, content string
	amount                                                 int64
}

const (
	someAccount = "19354957"
	someDate    = "2025-10-14 10:59:30"
)

func (x transfer) filled() transfer {
	for _, f := range []struct {
		field *string
		value string
	}{{&x.id, "3521"}, {&x.account, someAccount}, {&x.gateway, "ACB"}, {&x.direction, "IN"}, {&x.date, someDate}, {&x.content, "NAPTIEN MOMO"}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
	if x.amount == 0 {
		x.amount = 200000
	}
	return x
}

func (x transfer) native() string {
	x = x.filled()
	return quoted(map[string]any{
		"id": x.id, "gateway": x.gateway, "transactionDate": x.date, "transactionNumber": x.number, "accountNumber": x.account,
		"content": x.content, "transferType": x.direction, "transferAmount": x.amount,
	})
}

func (x transfer) sepay() string {
	x = x.filled()
	return quoted(map[string]any{
		"id": x.id, "gateway": x.gateway, "transactionDate": x.date, "referenceCode": x.number, "accountNumber": x.account,
		"content": x.content, "transferType": strings.ToLower(x.direction), "transferAmount": x.amount, "code": nil,
	})
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// batch is a native body of raw elements.
func batch(elements ...string) string {
	return `{"transactions":[` + strings.Join(elements, ",") + `]}`
}

func hexHMAC(secret string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// credentials are the headers with which a source's call authenticates.
func credentials(s app.Source, body string, now time.Time) []string {
	switch {
	case s.Auth == app.AuthBearer:
		return []string{"Authorization", "Bearer " + s.Secret}
	case s.Auth == app.AuthAPIKey:
		return []string{"Authorization", "Apikey " + s.Secret}
	case s.Auth == app.AuthBasic:
		return []string{"Authorization", "Bearer " + signedToken(s, s.ID, now.Add(time.Minute))}
	case s.Provider == "casso":
		return []string{"Secure-Token", s.Secret}
	case s.Auth == app.AuthToken:
		return []string{s.Options.Header, s.Secret}
	case s.Provider == "capcom6":
		stamp := strconv.FormatInt(now.Unix(), 10)
		return []string{"X-Timestamp", stamp, "X-Signature", hexHMAC(s.Secret, body, stamp)}
	case s.Provider == "sepay":
		stamp := strconv.FormatInt(now.Unix(), 10)
		return []string{"X-SePay-Timestamp", stamp, "X-SePay-Signature", "sha256=" + hexHMAC(s.Secret, stamp, ".", body)}
	}
	return []string{"X-Webhook-Signature", hexHMAC(s.Secret, body)}
}

// sends makes a call of a source as its provider does.
func (w *world) sends(s app.Source, body string) answer {
	w.t.Helper()
	return w.do("POST", s.URLPath(), body, credentials(s, body, time.Now())...)
}

// counts is what an accepted call is answered.
type counts struct{ Recorded, Duplicates, Unassigned, Conflicts, Rejected int }

var (
	recorded   = counts{Recorded: 1}
	duplicate  = counts{Duplicates: 1}
	unassigned = counts{Unassigned: 1}
	conflict   = counts{Conflicts: 1}
	rejected   = counts{Rejected: 1}
)

func (a answer) counts(t *testing.T) counts {
	t.Helper()
	var got struct {
		Success, Status *bool
		Messages        string
		counts
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusOK || got.Success == nil || !*got.Success ||
		got.Status == nil || !*got.Status || got.Messages == "" {
		t.Fatalf("not an accepted call: %d %s", a.status, a.body)
	}
	return got.counts
}

// wants makes a call and checks what became of it.
func (w *world) wants(want counts, s app.Source, body string) {
	w.t.Helper()
	if got := w.sends(s, body).counts(w.t); got != want {
		w.t.Errorf("got %+v, want %+v, for %.300s", got, want, body)
	}
}

// names sends one transfer in the source's format.
func (w *world) names(want counts, s app.Source, x transfer) {
	w.t.Helper()
	body := batch(x.native())
	if s.Provider == "sepay" {
		body = x.sepay()
	}
	w.wants(want, s, body)
}

func (w *world) native() app.Source { return w.source("native", app.AuthBearer, "") }
func (w *world) sepay() app.Source  { return w.source("sepay", app.AuthAPIKey, "") }

// transactions lists those of account 1, oldest first, at most 100.
func (w *world) transactions() []app.Transaction {
	w.t.Helper()
	page, err := w.service.Transactions(context.Background(), 1, app.TransactionFilter{Sort: app.SortID, Page: app.Page{Number: 1, Size: 100}})
	must(w.t, err)
	return page.Rows
}

func (w *world) wantTransactions(n int) []app.Transaction {
	w.t.Helper()
	list := w.transactions()
	if len(list) != n {
		w.t.Fatalf("%d transactions, want %d: %+v", len(list), n, list)
	}
	return list
}

// events is the inbound log of account 1, newest first.
func (w *world) events() []app.InboundEvent {
	w.t.Helper()
	list, _, err := w.service.InboundEvents(context.Background(), 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 1000}})
	must(w.t, err)
	for i := range list {
		if list[i], err = w.service.InboundEvent(context.Background(), 1, list[i].ID); err != nil {
			w.t.Fatal(err)
		}
	}
	return list
}

func (w *world) items(event int64) []app.InboundItem {
	w.t.Helper()
	e, err := w.service.InboundEvent(context.Background(), 1, event)
	must(w.t, err)
	return e.Items
}

// file runs fn on the file as another program would.
func (w *world) file(fn func(db *sql.DB) error) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(5000)")
	must(w.t, err)
	defer db.Close()
	must(w.t, fn(db))
}

func (w *world) rows(table string) (n int) {
	w.t.Helper()
	w.file(func(db *sql.DB) error { return db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n) })
	return n
}

// nothingStored checks that no call left anything but a note of its refusal.
func (w *world) nothingStored() {
	w.t.Helper()
	for _, table := range []string{"transactions", "inbound_events", "inbound_items", "event_ids", "deliveries"} {
		if n := w.rows(table); n != 0 {
			w.t.Errorf("%d rows in %s", n, table)
		}
	}
}

// eventually polls until done, for at most 30 seconds.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// peers is the same installation behind a listener that believes what the
// header X-Test-Peer says of the client's address.
func (w *world) peers() *world {
	handler := web.New(web.Config{Service: w.service})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if peer := r.Header.Get("X-Test-Peer"); peer != "" {
			r.RemoteAddr = peer + ":4711"
		}
		handler.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(server.Close)
	other := *w
	other.url = server.URL
	return &other
}

// peer is the n-th address of a client; at most 30 failing calls of one are
// answered 401.
func peer(n int) string { return fmt.Sprintf("198.51.%d.%d", n/250, n%250+1) }

// shop is a receiver that answers 200 and counts what it was told.
type shop struct {
	url  string
	mu   sync.Mutex
	told []string // path and transaction id
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Transactions []struct{ ID string } }
		b, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(b, &body)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, x := range body.Transactions {
			s.told = append(s.told, r.URL.Path+" "+x.ID)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *shop) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.told))
}

// waits checks that exactly want is told, each once, and that nothing more is
// queued.
func (s *shop) waits(w *world, want ...string) {
	w.t.Helper()
	if n := w.rows("deliveries"); n != len(want) {
		w.t.Errorf("%d deliveries were queued, want %d", n, len(want))
	}
	eventually(w.t, "deliveries", func() bool { return len(s.heard()) >= len(want) })
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), s.heard(), cmp.Transformer("", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
		w.t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// readNative reads as a native source's call is read.
func readNative(body []byte) []app.Incoming {
	zone, err := time.LoadLocation(app.DefaultZone)
	if err != nil {
		panic(err)
	}
	return provider.Read(app.Source{Provider: "native"}, app.ChannelCall, body, time.Now(), zone).Elements
}
