package sqlitestore_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// Every table gives each id once, but for those whose id is another's.
func TestTablesGiveIDsOnce(t *testing.T) {
	t.Parallel()
	n := 0
	for _, row := range peek(t, create(t),
		`SELECT m.name, m.sql, EXISTS (SELECT 1 FROM pragma_foreign_key_list(m.name) f WHERE f."from" = c.name)
			FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c ON c.pk = 1 AND c.type = 'INTEGER'
			WHERE m.type = 'table' AND m.name NOT LIKE 'transactions\_search\_%' ESCAPE '\'
				AND (SELECT wr FROM pragma_table_list(m.name)) = 0`) {
		n++
		if row[2] == int64(0) && !strings.Contains(row[1].(string), "INTEGER PRIMARY KEY AUTOINCREMENT") {
			t.Errorf("the table %s gives the ids of removed rows again", row[0])
		}
	}
	if n < 15 {
		t.Errorf("only %d tables have ids", n)
	}
}

// What is kept for a while only is followed by greater ids, though nothing of
// it is left: what referred to it refers to nothing, and never to a stranger's.
func TestPrunedIDsAreNotGivenAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := create(t)
	h := newHistory(t, path, 3)
	defer h.store.Close()
	once := func(source inbound.Source, id string) (event, attempt, transaction int64) {
		t.Helper()
		r, err := h.service.Inbound.RecordTransactions(ctx,
			inbound.Call{AccountID: source.AccountID, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
				Elements: []inbound.Incoming{{EventID: id, Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 1000, Time: h.now}}})
		must(t, err)
		for _, o := range r.Ready {
			a, err := h.service.Deliveries.Settle(ctx, o,
				delivery.Result{StartedAt: h.now, StatusCode: 500, Error: delivery.ErrorHTTPStatus, Detail: delivery.Detail{Text: "of " + id}})
			must(t, err)
			attempt = a.ID
		}
		return r.EventID, attempt, r.TransactionIDs[0]
	}
	mine, others := h.sources[0], h.sources[2]
	event, attempt, transaction := once(mine, "first")
	must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error {
		return exec(`UPDATE deliveries SET state = 2, due_ms = NULL`)
	}))
	resent, err := h.service.Deliveries.Resend(ctx, 1, attempt, app.IdempotencyKey{}, h.now)
	must(t, err)
	h.now = h.now.Add(48 * time.Hour)
	_, err = h.service.Upkeep.Prune(ctx, upkeep.PruneLimits{Inbound: time.Hour, History: time.Hour}, h.now)
	must(t, err)
	if left := fmt.Sprint(peek(t, path, `SELECT (SELECT count(*) FROM inbound_events), (SELECT count(*) FROM attempts)`)); left != "[[0 0]]" {
		t.Fatal("left after pruning: ", left)
	}
	nextEvent, nextAttempt, _ := once(others, "second")
	if nextEvent <= event || nextAttempt <= attempt {
		t.Errorf("after event %d and attempt %d were pruned came %d and %d", event, attempt, nextEvent, nextAttempt)
	}
	// The history id that a shop has kept.
	if _, err := h.service.Deliveries.Resend(ctx, 1, attempt, app.IdempotencyKey{}, h.now); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("resending a pruned attempt: %v", err)
	}
	// Where a transaction came from, and whether it is known.
	if p, err := h.service.Ledger.TransactionOrigin(ctx, 1, transaction); err != nil || p.InboundEventID != 0 {
		t.Errorf("it comes from the event %d, %v", p.InboundEventID, err)
	}
	known, err := h.store.KnownEvents(ctx, 1, []inbound.EventRef{{SourceID: mine.ID, Channel: app.ChannelCall, EventID: "first"}})
	if err != nil || known[0].TransactionID != transaction || known[0].TransactionEvent != 0 {
		t.Errorf("it is known as %+v, %v", known[0], err)
	}
	// What a delivery resends, and what a webhook's page shows last.
	if facts, err := h.store.DeliveryFacts(ctx, 1, resent.ID); err != nil || facts.ResentFrom != 0 {
		t.Errorf("it resends the delivery %d, %v", facts.ResentFrom, err)
	}
	for _, hook := range h.hooks[:2] {
		health, err := h.service.Deliveries.WebhookHealth(ctx, 1, hook.ID, h.now)
		if err != nil || health.HistoryID != 0 || health.Last.Detail != (delivery.Detail{}) {
			t.Errorf("the last attempt of webhook %d is %d, %q, %v", hook.ID, health.HistoryID, health.Last.Detail, err)
		}
	}
}

func TestRemovedUsersSessions(t *testing.T) {
	t.Parallel()
	s := open(t, create(t), false)
	defer s.Close()
	now := time.Now()
	var users []access.User
	for _, name := range []string{"boss", "lan"} {
		u, err := s.CreateUser(t.Context(), access.User{AccountID: 1, Name: name, Role: access.RoleOwner, CreatedAt: now}, "hash",
			app.IdempotencyKey{})
		must(t, err)
		must(t, s.SetSession(t.Context(), "of "+name, access.Session{UserID: u.ID, Generation: u.Generation, StartedAt: now,
			EndAt: now.Add(time.Hour)}, []byte(name)))
		users = append(users, u)
	}
	must(t, s.RemoveUser(t.Context(), 1, users[1].ID))
	for name, want := range map[string]bool{"boss": true, "lan": false} {
		if _, found, err := s.Session(t.Context(), "of "+name, now); err != nil || found != want {
			t.Errorf("the session of %s: %v, %v", name, found, err)
		}
	}
}

// After a restore no id is given that was given before: who asks for what is
// new since an id misses nothing, and an id that somebody kept names nothing
// else. Going back to what was set aside keeps that too.
func TestRestoreLeavesAGap(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 4)
	backup := filepath.Join(t.TempDir(), "backup.db")
	steps := func(n int) {
		for range n {
			h.step()
		}
	}
	steps(5)
	makeBackup(t, h.store, sqlitestore.BackupTarget{File: backup})
	before := map[string]int64{}
	for range 3 {
		steps(10)
		for table, id := range lastIDs(t, path) {
			before[table] = max(before[table], id)
		}
		must(t, h.store.Close())
		r, err := sqlitestore.Restore(acting(t.Context()), path, sqlitestore.RestoreSource{File: backup}, h.now)
		must(t, err)
		backup = r.SetAside[0]
		after := lastIDs(t, path)
		for table, id := range before {
			if after[table] <= id {
				t.Errorf("%s: the ids go on from %d, and %d was given", table, after[table], id)
			}
		}
		for _, table := range []string{"api_keys", "users", "counter_links", "alert_channels"} {
			if after[table] == 0 {
				t.Errorf("%s: the ids begin anew", table)
			}
		}
		if first := fmt.Sprint(peek(t, path,
			`SELECT name FROM sqlite_sequence LIMIT 4`)); first != "[[deliveries] [attempts] [transactions] [inbound_events]]" {
			t.Errorf("the first tables looked through at every insert: %s", first)
		}
		h.reopen(path)
		since, at := before["transactions"], h.now.Add(time.Minute)
		tx, _, err := h.service.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint("after ", since), Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 1, Time: at,
		}}, at)
		must(t, err)
		page, err := h.service.Ledger.Transactions(t.Context(), 1, app.TransactionFilter{SinceID: &since, Page: app.Page{Number: 1, Size: 20}})
		must(t, err)
		if len(page.Rows) != 1 || page.Rows[0].ID != tx.ID {
			t.Errorf("a poller at %d finds %d transactions, want %d", since, len(page.Rows), tx.ID)
		}
	}
}

// A gap drops no refused call before its time.
func TestRefusedCallsOverAGap(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 2)
	defer h.store.Close()
	for i := range inbound.KeptRefusedCalls + 20 {
		if i == 150 {
			h.skipIDs()
		}
		h.store.NoteRefusedCall(inbound.RefusedCall{SourceID: h.sources[0].ID, ReceivedAt: h.now})
		must(t, h.store.Probe(t.Context())) // it is written: the queue is bounded
		calls, err := h.store.RefusedCalls(t.Context(), 1, 0, false, 1000)
		if want := min(i+1, inbound.KeptRefusedCalls); err != nil || len(calls) != want {
			t.Fatalf("%d refused calls are kept, want %d: %v", len(calls), want, err)
		}
	}
}
