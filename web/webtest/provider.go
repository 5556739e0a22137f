package webtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/provider"
	"baoco/sqlitestore"
	"baoco/web"

	"github.com/google/go-cmp/cmp"
)

// Sends makes a call of a source as its provider does.
func (w *World) Sends(s app.Source, body string) Answer {
	w.T.Helper()
	return w.Do("POST", s.URLPath(), body, apptest.Credentials(s, body, time.Now())...)
}

// Counts is what an accepted call is answered.
type Counts struct{ Recorded, Duplicates, Unassigned, Conflicts, Rejected int }

var (
	Recorded   = Counts{Recorded: 1}
	Duplicate  = Counts{Duplicates: 1}
	Unassigned = Counts{Unassigned: 1}
	Conflict   = Counts{Conflicts: 1}
	Rejected   = Counts{Rejected: 1}
)

func (a Answer) Counts(t testing.TB) Counts {
	t.Helper()
	var got struct {
		Success, Status *bool
		Messages        string
		Counts
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusOK || got.Success == nil || !*got.Success ||
		got.Status == nil || !*got.Status || got.Messages == "" {
		t.Fatalf("not an accepted call: %d %s", a.Status, a.Body)
	}
	return got.Counts
}

// Wants makes a call and checks what became of it.
func (w *World) Wants(want Counts, s app.Source, body string) {
	w.T.Helper()
	if got := w.Sends(s, body).Counts(w.T); got != want {
		w.T.Errorf("got %+v, want %+v, for %.300s", got, want, body)
	}
}

// Names sends one transfer in the source's format.
func (w *World) Names(want Counts, s app.Source, x apptest.Transfer) {
	w.T.Helper()
	body := apptest.Batch(x.Native())
	if s.Provider == "sepay" {
		body = x.Sepay()
	}
	w.Wants(want, s, body)
}

func (w *World) Native() app.Source { return w.Source("native", app.AuthBearer, "") }

func (w *World) Sepay() app.Source { return w.Source("sepay", app.AuthAPIKey, "") }

// Transactions lists those of account 1, oldest first, at most 100.
func (w *World) Transactions() []app.Transaction {
	w.T.Helper()
	page, err := w.Service.Transactions(context.Background(), 1, app.TransactionFilter{Sort: app.SortID, Page: app.Page{Number: 1, Size: 100}})
	apptest.Must(w.T, err)
	return page.Rows
}

func (w *World) WantTransactions(n int) []app.Transaction {
	w.T.Helper()
	list := w.Transactions()
	if len(list) != n {
		w.T.Fatalf("%d transactions, want %d: %+v", len(list), n, list)
	}
	return list
}

// Events is the inbound log of account 1, newest first.
func (w *World) Events() []app.InboundEvent {
	w.T.Helper()
	list, _, err := w.Service.InboundEvents(context.Background(), 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 1000}})
	apptest.Must(w.T, err)
	for i := range list {
		if list[i], err = w.Service.InboundEvent(context.Background(), 1, list[i].ID); err != nil {
			w.T.Fatal(err)
		}
	}
	return list
}

func (w *World) Items(event int64) []app.InboundItem {
	w.T.Helper()
	e, err := w.Service.InboundEvent(context.Background(), 1, event)
	apptest.Must(w.T, err)
	return e.Items
}

// File runs fn on the file as another program would.
func (w *World) File(fn func(db *sql.DB) error) {
	w.T.Helper()
	db, err := sql.Open("sqlite", "file:"+w.Path+"?_pragma=busy_timeout(5000)")
	apptest.Must(w.T, err)
	defer db.Close()
	apptest.Must(w.T, fn(db))
}

func (w *World) Rows(table string) (n int) {
	w.T.Helper()
	w.File(func(db *sql.DB) error { return db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n) })
	return n
}

// NothingStored checks that no call left anything but a note of its refusal.
func (w *World) NothingStored() {
	w.T.Helper()
	for _, table := range []string{"transactions", "inbound_events", "inbound_items", "event_ids", "deliveries"} {
		if n := w.Rows(table); n != 0 {
			w.T.Errorf("%d rows in %s", n, table)
		}
	}
}

// Peers is the same installation behind a listener that believes what the
// header X-Test-Peer says of the client's address.
func (w *World) Peers() *World {
	handler := web.New(web.Config{Service: w.Service})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if peer := r.Header.Get("X-Test-Peer"); peer != "" {
			r.RemoteAddr = peer + ":4711"
		}
		handler.ServeHTTP(rw, r)
	}))
	w.T.Cleanup(server.Close)
	other := *w
	other.URL = server.URL
	return &other
}

// Peer is the n-th address of a client; at most 30 failing calls of one are
// answered 401.
func Peer(n int) string { return fmt.Sprintf("198.51.%d.%d", n/250, n%250+1) }

// shop is a receiver that answers 200 and counts what it was told.
type shop struct {
	URL  string
	mu   sync.Mutex
	told []string // path and transaction id
}

func NewShop(t testing.TB) *shop {
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
	s.URL = server.URL
	return s
}

func (s *shop) Heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.told))
}

// Waits checks that exactly want is told, each once, and that nothing more is
// queued.
func (s *shop) Waits(w *World, want ...string) {
	w.T.Helper()
	if n := w.Rows("deliveries"); n != len(want) {
		w.T.Errorf("%d deliveries were queued, want %d", n, len(want))
	}
	apptest.Eventually(w.T, "deliveries", func() bool { return len(s.Heard()) >= len(want) })
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), s.Heard(), cmp.Transformer("", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
		w.T.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// KeptAsRejected checks that the newest event of the inbound log has body, and
// one rejected item of the field.
func (w *World) KeptAsRejected(body, field string) {
	w.T.Helper()
	e := w.Events()
	if len(e) == 0 || string(e[0].Body) != body || e[0].Rejected != 1 || e[0].Open != 1 {
		w.T.Errorf("inbound log after %.100q: %+v", body, e[:min(1, len(e))])
		return
	}
	items := w.Items(e[0].ID)
	if len(items) != 1 || items[0].State != app.OutcomeRejected || items[0].Fault == nil ||
		items[0].Fault.Field != field || items[0].Fault.Text.EN == "" || items[0].Fault.Text.VI == "" {
		w.T.Errorf("items after %.100q: %+v, want one of %s", body, items, field)
	}
}

// WantsRefusal makes a native call of which nothing can be read.
func (w *World) WantsRefusal(s app.Source, body string, status int, code app.Code, field string) {
	w.T.Helper()
	a := w.Sends(s, body)
	v := a.JSON(w.T)
	if a.Status != status || v["code"] != string(code) || v["status"] != false || v["messages"] == "" {
		w.T.Errorf("%.100q: %d %s, want %d %s", body, a.Status, a.Body, status, code)
	}
	errors, _ := v["errors"].(map[string]any)
	if message, _ := errors[field].(string); field != "" && message == "" {
		w.T.Errorf("%.100q: %s, want an error of %s", body, a.Body, field)
	}
}

// Raw sends bytes as they stand on a connection of their own.
func (w *World) Raw(request string) net.Conn {
	w.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	apptest.Must(w.T, err)
	apptest.Must(w.T, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(conn, request)
	apptest.Must(w.T, err)
	return conn
}

// Add adds a source of any kind; one that names no bank account is for the
// account linked here.
func (w *World) Add(p app.Provider, auth app.Auth, secret string) app.Source {
	w.T.Helper()
	in := app.SourceAdd{Provider: p, Auth: auth, Name: string(p), Secret: secret}
	if p == "pay2s-ipn" {
		in.Options.AccessKey = "AK1"
		in.BankAccountID = w.Link("MBB", fmt.Sprint(7000+w.Rows("bank_accounts"))).ID
	}
	s, err := w.Service.AddSource(context.Background(), 1, in, time.Now())
	apptest.Must(w.T, err)
	return s
}

// AtOnce makes n calls together, all of which must be accepted.
func (w *World) AtOnce(n int, call func(i int) Answer) (sum Counts) {
	w.T.Helper()
	answers := make([]Answer, n)
	var calls sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		calls.Go(func() {
			<-gate
			answers[i] = call(i)
		})
	}
	close(gate)
	calls.Wait()
	for _, a := range answers {
		if a.Status != http.StatusOK {
			w.T.Errorf("%d %s", a.Status, a.Body)
			continue
		}
		c := a.Counts(w.T)
		sum.Recorded, sum.Duplicates, sum.Unassigned = sum.Recorded+c.Recorded, sum.Duplicates+c.Duplicates, sum.Unassigned+c.Unassigned
		sum.Conflicts, sum.Rejected = sum.Conflicts+c.Conflicts, sum.Rejected+c.Rejected
	}
	return sum
}

// Admin is another process on the same file.
func (w *World) Admin() *app.Service {
	w.T.Helper()
	store, err := sqlitestore.Open(context.Background(), w.Path, sqlitestore.Options{})
	apptest.Must(w.T, err)
	w.T.Cleanup(func() { apptest.Must(w.T, store.Close()) })
	targets, err := app.ParseTargetPolicy(nil)
	apptest.Must(w.T, err)
	return app.NewService(app.Config{Store: store, Zone: w.Service.Zone(), Targets: targets, Providers: provider.Facts(), Read: provider.Read})
}

// RefusedSoon checks that a call is refused within a second.
func (w *World) RefusedSoon(what string, call func() Answer) {
	w.T.Helper()
	changed := time.Now()
	for call().Status != http.StatusUnauthorized {
		if time.Since(changed) > 30*time.Second {
			w.T.Errorf("%s is accepted after %s", what, time.Since(changed))
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
