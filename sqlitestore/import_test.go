package sqlitestore_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/stream"
)

// rows are those of a statement file: from first on, money in and out by turns,
// over some days.
func (h *history) rows(first, n int) (list []inbound.Incoming) {
	for i := first; i < first+n; i++ {
		e := inbound.Incoming{AccountNumber: h.banks[0].AccountNumber, Gateway: "ACB", Type: app.In, Amount: int64(1000 + i),
			Content: fmt.Sprint("CHUYEN TIEN DH", i),
			Number:  fmt.Sprint("FT", i), Time: h.now.Add(-time.Duration(i%5) * 24 * time.Hour)}
		if i%3 == 0 {
			e.Type = app.Out
		}
		list = append(list, e)
	}
	return list
}

// imports adds a file in batches and gives its id.
func (h *history) imports(file string, notify bool, rows []inbound.Incoming) (id int64, recorded int) {
	h.t.Helper()
	in, err := h.service.Inbound.NewImport(context.Background(),
		inbound.ImportOptions{AccountID: h.banks[0].AccountID, File: file, Notify: notify})
	must(h.t, err)
	for len(rows) > 0 {
		n := min(len(rows), 500)
		r, err := in.Add(context.Background(), rows[:n:n], h.now)
		must(h.t, err)
		recorded += r.Recorded
		rows = rows[n:]
	}
	return in.ID(), recorded
}

const whatStands = `SELECT (SELECT count(*) FROM transactions), (SELECT count(*) FROM event_ids), (SELECT count(*)
	FROM transactions_unsent),
	(SELECT group_concat(in_count || ' ' || in_amount || ' ' || out_count || ' ' || out_amount)
	FROM account_totals), (SELECT group_concat(bank_account_id || ' ' || count || ' ' || amount) FROM bank_account_totals),
	(SELECT group_concat(day || type || count || ' ' || amount) FROM account_days)`

// An import is taken back with all that is kept beside its transactions, and
// can be imported again; what is there besides stays.
func TestUndoImport(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 7)
	defer func() { h.store.Close() }()
	ctx := t.Context()
	for range 20 {
		h.step()
	}
	index := func() {
		for left := int64(1); left > 0; {
			var err error
			left, err = h.store.IndexSearch(ctx)
			must(t, err)
		}
	}
	index()
	before := fmt.Sprint(peek(t, path, whatStands))
	id, recorded := h.imports("a.csv", false, h.rows(0, 700))
	if recorded != 700 {
		t.Fatal(recorded)
	}
	_, err := h.store.IndexSearch(ctx) // of a part of them
	must(t, err)
	u, err := h.service.Inbound.Undoable(ctx, 1, id, h.now)
	must(t, err)
	if u.In.Count+u.Out.Count != 700 || u.Out.Count != 234 || u.NotifiedCount+u.NamedCount != 0 || u.File.In != u.In || u.File.Out != u.Out ||
		!u.First.Equal(h.now.Add(-96*time.Hour).Truncate(time.Second)) || !u.Last.Equal(h.now.Truncate(time.Second)) {
		t.Errorf("%+v", u)
	}
	// It is interrupted after a step, and goes on.
	last, err := h.store.UndoImport(ctx, 1, inbound.UndoStep{ImportID: id}, h.service.Ledger.Zone(), h.now)
	must(t, err)
	if u, err = h.service.Inbound.Undoable(ctx, 1, id, h.now); err != nil || u.In.Count+u.Out.Count != 600 || last == 0 ||
		!u.File.UndoneAt.IsZero() {
		t.Errorf("after a step: %+v, %v", u, err)
	}
	whole(t, path, h.now)
	must(t, h.service.Inbound.UndoImport(ctx, 1, id, h.now))
	whole(t, path, h.now)
	if after := fmt.Sprint(peek(t, path, whatStands)); after != before {
		t.Errorf("before the import\n%s\nafter its undoing\n%s", before, after)
	}
	if page, err := h.service.Ledger.Transactions(ctx, 1,
		app.TransactionFilter{Query: "DH555", Page: app.Page{Number: 1, Size: 20}}); err != nil || page.Total != 0 {
		t.Errorf("found what was removed: %+v, %v", page, err)
	}
	if u, err = h.service.Inbound.Undoable(ctx, 1, id, h.now); err != nil || u.In.Count+u.Out.Count != 0 || u.File.UndoneAt.IsZero() {
		t.Errorf("undone: %+v, %v", u, err)
	}
	must(t, h.service.Inbound.UndoImport(ctx, 1, id, h.now.Add(time.Hour)))
	again, recorded := h.imports("a.csv", false, h.rows(0, 700))
	if recorded != 700 || again == id {
		t.Errorf("imported again: %d as %d", recorded, again)
	}
	index()
	whole(t, path, h.now)
	files, err := h.service.Inbound.Imports(ctx, 1, app.Page{Number: 1, Size: 20})
	if err != nil || len(files) != 2 || files[0].ID != again || !files[1].UndoneAt.Equal(u.File.UndoneAt) || files[0].File != "a.csv" ||
		files[0].Kept+files[1].Kept != 0 {
		t.Errorf("%+v, %v", files, err)
	}
	// Another account has no such import.
	if files, err := h.service.Inbound.Imports(ctx, 2, app.Page{Number: 1, Size: 20}); err != nil || len(files) != 0 {
		t.Errorf("of another account: %+v, %v", files, err)
	}
	if _, err := h.service.Inbound.Undoable(ctx, 2, again, h.now); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("of another account: %v", err)
	}
	must(t, h.service.Inbound.UndoImport(ctx, 2, again, h.now))
	if u, err = h.service.Inbound.Undoable(ctx, 1, again, h.now); err != nil || u.In.Count+u.Out.Count != 700 || !u.File.UndoneAt.IsZero() {
		t.Errorf("undone by another account: %+v, %v", u, err)
	}
	whole(t, path, h.now)
}

// What a shop was told of, or may be, stays, and so does what a call named too:
// its sender was told that it is recorded.
func TestUndoLeavesWhatIsKnown(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 8)
	defer func() { h.store.Close() }()
	ctx := t.Context()
	id, _ := h.imports("told.csv", true, h.rows(0, 10))
	silent, _ := h.imports("silent.csv", false, h.rows(10, 10))
	stays := func(file int64, goes, told, named int64) {
		t.Helper()
		u, err := h.service.Inbound.Undoable(ctx, 1, file, h.now)
		if err != nil || u.In.Count+u.Out.Count != goes || u.NotifiedCount != told || u.NamedCount != named || int64(len(u.Notified)) != told ||
			int64(len(u.Named)) != named {
			t.Errorf("%+v, %v; want %d to go, %d told, %d named", u, err, goes, told, named)
		}
	}
	// The second webhook takes money in alone.
	stays(id, 0, 10, 0)
	for range 2 { // the provider may call again
		r, err := h.service.Inbound.RecordTransactions(ctx,
			inbound.Call{AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
				Elements: []inbound.Incoming{{EventID: "e", Gateway: "ACB", AccountNumber: h.banks[0].AccountNumber, Type: app.In, Amount: 1010,
					Number: "FT10", Time: h.now}}})
		if err != nil || r.Duplicates != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	stays(silent, 9, 0, 1)
	must(t, h.service.Inbound.UndoImport(ctx, 1, id, h.now))
	must(t, h.service.Inbound.UndoImport(ctx, 1, silent, h.now))
	if n := peek(t, path, `SELECT count(*) FROM transactions`)[0][0]; n != int64(11) {
		t.Errorf("%d transactions, want the ten that are told and the one that is named", n)
	}
	whole(t, path, h.now)
	// One is attempted and one in flight when the webhooks are deleted; a minute
	// later all attempts have ended.
	due, err := h.store.Due(ctx, delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: 100}, h.now)
	must(t, err)
	if len(due) != 10 {
		t.Fatalf("%d due", len(due))
	}
	_, err = h.service.Deliveries.Settle(ctx, due[0], delivery.Result{StartedAt: h.now, StatusCode: 500})
	must(t, err)
	for _, hook := range h.hooks[:2] {
		must(t, h.service.Deliveries.DeleteWebhook(ctx, 1, hook.ID, h.now))
	}
	stays(id, 0, 10, 0)
	_, err = h.service.Deliveries.Settle(ctx, due[1], delivery.Result{StartedAt: h.now, StatusCode: 200})
	must(t, err)
	h.now = h.now.Add(time.Minute)
	stays(id, 0, 10, 0)
	h.now = h.now.Add(time.Second)
	stays(id, 8, 2, 0)
	must(t, h.service.Inbound.UndoImport(ctx, 1, id, h.now))
	stays(id, 0, 2, 0)
	if files, err := h.service.Inbound.Imports(ctx, 1, app.Page{Number: 1, Size: 20}); err != nil || files[0].Kept != 1 || files[1].Kept != 2 {
		t.Errorf("%+v, %v; want 1 and 2 that stay", files, err)
	}
	if n := peek(t, path, `SELECT count(*) FROM transactions`)[0][0]; n != int64(3) {
		t.Errorf("%d transactions, want 3", n)
	}
	if n := peek(t, path, `SELECT count(*) FROM deliveries WHERE transaction_id NOT IN (SELECT id FROM transactions)`)[0][0]; n != int64(0) {
		t.Errorf("%d deliveries of nothing", n)
	}
	whole(t, path, h.now)
}

// Each step removes a bounded number, so that nobody waits long to write.
func TestUndoSteps(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 9)
	defer func() { h.store.Close() }()
	id, _ := h.imports("long.csv", false, h.rows(0, 1050))
	steps, longest := 0, time.Duration(0)
	for after, last := int64(0), int64(1); last != 0; after = last {
		began, before := time.Now(), peek(t, path, `SELECT count(*) FROM transactions`)[0][0].(int64)
		var err error
		last, err = h.store.UndoImport(t.Context(), 1, inbound.UndoStep{ImportID: id, After: after}, h.service.Ledger.Zone(), h.now)
		must(t, err)
		longest = max(longest, time.Since(began))
		if removed := before - peek(t, path, `SELECT count(*) FROM transactions`)[0][0].(int64); removed > 100 {
			t.Errorf("step %d removed %d", steps, removed)
		}
		steps++
	}
	if t.Logf("%d steps, the longest %v", steps, longest); steps != 12 {
		t.Errorf("%d steps, want 11 and one that finds nothing", steps)
	}
	if n := h.count(`audit WHERE deed = 'import.undo'`); n != 1 {
		t.Errorf("%d lines in the audit log, want 1", n)
	}
	// Nor does it look for long at what stays.
	id, _ = h.imports("told.csv", true, h.rows(2000, 150))
	first := peek(t, path, `SELECT min(id) FROM transactions WHERE import_id = ?`, id)[0][0].(int64)
	last, err := h.store.UndoImport(t.Context(), 1, inbound.UndoStep{ImportID: id}, h.service.Ledger.Zone(), h.now)
	if err != nil || last != first+99 {
		t.Errorf("the first step came to %d from %d on, %v", last, first, err)
	}
}

// What two files named stays until both are undone, in either order.
func TestUndoKeepsWhatAnotherFileNamed(t *testing.T) {
	t.Parallel()
	for _, firstFirst := range []bool{true, false} {
		path := create(t)
		h := newHistory(t, path, 7)
		ctx := t.Context()
		a, _ := h.imports("a.csv", false, h.rows(0, 10))
		b, recorded := h.imports("b.csv", false, h.rows(5, 10))
		c, _ := h.imports("a.csv", false, h.rows(0, 10)) // once more
		if a == b || b == c || recorded != 5 {
			t.Fatal(a, b, c, recorded)
		}
		files, err := h.service.Inbound.Imports(ctx, 1, app.Page{Number: 1, Size: 20})
		must(t, err)
		for i, want := range []int64{0, 5, 10} { // what each has brought
			if n := files[i].In.Count + files[i].Out.Count; n != want {
				t.Errorf("file %d has brought %d, want %d", files[i].ID, n, want)
			}
		}
		undo := func(id int64, want, removed int64) {
			t.Helper()
			u, err := h.service.Inbound.Undoable(ctx, 1, id, h.now)
			must(t, err)
			must(t, h.service.Inbound.UndoImport(ctx, 1, id, h.now))
			if n := h.count(`transactions`); n != want || u.In.Count+u.Out.Count != removed {
				t.Errorf("after the undoing of %d: %d transactions, %d said to go; want %d and %d", id, n, u.In.Count+u.Out.Count, want, removed)
			}
			whole(t, path, h.now)
		}
		undo(c, 15, 0)
		if firstFirst {
			undo(a, 10, 5) // the first five
			undo(b, 0, 10)
		} else {
			undo(b, 10, 5) // the last five
			undo(a, 0, 10)
		}
		if _, again := h.imports("b.csv", false, h.rows(5, 10)); again != 10 {
			t.Errorf("imported again: %d", again)
		}
		must(t, h.store.Close())
	}
}

// What a file that is undone has brought belongs to the first other file that named it.
func TestUndoHandsOn(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 7)
	defer h.store.Close()
	ctx := t.Context()
	rows := func() []inbound.Incoming { // a file with ids of its own may name one twice
		e := h.rows(1, 1)[0]
		e.EventID = "own"
		return []inbound.Incoming{e, e}
	}
	a, recorded := h.imports("a.csv", false, rows())
	if n := h.count(`import_repeats`); recorded != 1 || n != 0 {
		t.Fatalf("%d are recorded, and %d named by another file", recorded, n)
	}
	b, _ := h.imports("b.csv", false, rows())
	c, _ := h.imports("c.csv", false, rows())
	for _, step := range []struct{ undone, owner int64 }{{a, b}, {b, c}, {c, 0}} {
		must(t, h.service.Inbound.UndoImport(ctx, 1, step.undone, h.now))
		if n := h.count(`transactions WHERE import_id = ` + fmt.Sprint(step.owner)); n != min(step.owner, 1) || h.count(`transactions`) != n {
			t.Errorf("after the undoing of %d: %v", step.undone, peek(t, h.store.Path(), `SELECT id, import_id FROM transactions`))
		}
	}
	whole(t, h.store.Path(), h.now)
}

// A file that is undone while it is being imported has brought what it records afterwards.
func TestUndoDuringImport(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 7)
	defer h.store.Close()
	ctx := t.Context()
	_, recorded := h.imports("before.csv", false, h.rows(10, 1))
	in, err := h.service.Inbound.NewImport(ctx, inbound.ImportOptions{AccountID: 1, File: "a.csv"})
	must(t, err)
	must(t, second(in.Add(ctx, h.rows(0, 5), h.now)))
	must(t, h.service.Inbound.UndoImport(ctx, 1, in.ID(), h.now))
	for _, c := range []struct {
		rows   []inbound.Incoming
		undone bool
	}{{h.rows(10, 1), true}, {h.rows(5, 5), false}} {
		must(t, second(in.Add(ctx, c.rows, h.now)))
		u, err := h.service.Inbound.Undoable(ctx, 1, in.ID(), h.now)
		must(t, err)
		if u.File.UndoneAt.IsZero() == c.undone || (u.In.Count+u.Out.Count == 0) != c.undone || recorded != 1 {
			t.Errorf("%+v, want it undone: %v", u, c.undone)
		}
	}
}

// Rows of a file that may be repeats go with its undoing, and what may have been a repeat
// of its rows is judged without them.
func TestUndoOfWhatMayBeRepeats(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 7)
	defer h.store.Close()
	ctx := t.Context()
	report := func(id, content string) inbound.Incoming {
		return inbound.Incoming{EventID: id, Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5000, Content: content, Time: h.now}
	}
	row := func(content string) inbound.Incoming { e := report("", content); return e }
	first, _ := h.imports("a.csv", false, []inbound.Incoming{row("BANH MI")})
	h.record([]inbound.Incoming{report("1", "TRA DA")}) // may be BANH MI
	second, recorded := h.imports("b.csv", false, []inbound.Incoming{row("BANH MI"), row("CA PHE")})
	if recorded != 1 || h.count(`inbound_items WHERE state = 'may_be_repeat'`) != 1 {
		t.Fatalf("%d recorded; %v", recorded, peek(t, path, `SELECT state, content FROM inbound_items`))
	}
	must(t, h.service.Inbound.UndoImport(ctx, 1, second, h.now))
	must(t, h.service.Inbound.UndoImport(ctx, 1, first, h.now))
	if n := h.count(`transactions WHERE content = 'TRA DA'`); n != 1 || h.count(`transactions`) != 1 {
		t.Errorf("%v", peek(t, path, `SELECT content FROM transactions`))
	}
	// Now the file's row may be a repeat.
	third, recorded := h.imports("c.csv", false, []inbound.Incoming{row("BANH MI")})
	if recorded != 0 || third == 0 || h.count(`inbound_items WHERE state = 'may_be_repeat'`) != 1 {
		t.Errorf("%d recorded by %d", recorded, third)
	}
	if again, recorded := h.imports("c.csv", false, []inbound.Incoming{row("BANH MI")}); recorded != 0 || again != 0 ||
		h.count(`inbound_items`) != 2 {
		t.Errorf("imported again: %d recorded by %d; %v", recorded, again, peek(t, path, `SELECT state, content FROM inbound_items`))
	}
	must(t, h.service.Inbound.UndoImport(ctx, 1, third, h.now))
	if n := h.count(`inbound_events WHERE open > 0`); n != 0 {
		t.Errorf("%d events are open", n)
	}
	fourth, _ := h.imports("c.csv", false, []inbound.Incoming{row("BANH MI")})
	item := peek(t, path, `SELECT id, inbound_event_id FROM inbound_items WHERE state = 'may_be_repeat'`)
	if len(item) != 1 {
		t.Fatalf("the file can't be imported again: %v", item)
	}
	// What a person has settled stays settled.
	s, err := h.service.Inbound.SettleRepeat(ctx, 1, inbound.RepeatSettle{
		EventID: item[0][1].(int64), ItemID: item[0][0].(int64), Repeat: true,
	}, h.now)
	if err != nil || s.Outcome != inbound.OutcomeDuplicate {
		t.Fatalf("%+v, %v", s, err)
	}
	must(t, h.service.Inbound.UndoImport(ctx, 1, fourth, h.now))
	h.imports("c.csv", false, []inbound.Incoming{row("BANH MI")})
	if n := h.count(`transactions`); n != 1 || h.count(`inbound_items WHERE state IN ('may_be_repeat', 'discarded')`) != 1 {
		t.Errorf("%d transactions; %v", n, peek(t, path, `SELECT state, content FROM inbound_items`))
	}
	whole(t, path, h.now)
}

// What undoing has removed is remembered with what streams are narrowed by, and of an account
// not without end.
func TestRemovalsAreRemembered(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 7)
	defer func() { h.store.Close() }()
	removed := func(st stream.Stream, after int64) (ids []int64, first int64) {
		t.Helper()
		for st.AccountID = 1; ; {
			some, passed, err := h.service.Streams.RemovedTransactions(t.Context(), st, after, math.MaxInt64)
			must(t, err)
			if passed == after {
				return ids, first
			}
			if first == 0 {
				first = passed
			}
			ids, after = append(ids, some...), passed
		}
	}
	id, recorded := h.imports("a.csv", false, h.rows(0, 250))
	u, err := h.service.Inbound.Undoable(t.Context(), 1, id, h.now)
	must(t, err)
	must(t, h.service.Inbound.UndoImport(t.Context(), 1, id, h.now))
	all, _ := removed(stream.Stream{Type: delivery.WebhookAll}, 0)
	in, _ := removed(stream.Stream{Type: delivery.WebhookIn}, 0)
	some, _ := removed(stream.Stream{Type: delivery.WebhookAll}, 1)
	if len(all) != recorded || int64(len(in)) != u.In.Count || len(some) != recorded-100 || !slices.IsSorted(all) {
		t.Errorf("of %d transactions %d are remembered, %d of money in, %d after the first removal", recorded, len(all), len(in), len(some))
	}
	for _, st := range []stream.Stream{{Type: delivery.WebhookAll, BankAccountID: 99}, {Type: delivery.WebhookAll, CodePrefix: "XY"}} {
		if ids, _ := removed(st, 0); len(ids) > 0 {
			t.Errorf("%+v: %v", st, ids)
		}
	}
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec(`WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 9 + ?)
		INSERT INTO removed_transactions (account_id, number, transaction_id, bank_account_id, type, code) SELECT 1, i, i, 1, 'IN', '' FROM n`,
		inbound.MaxRemovals)
	must(t, err)
	id, _ = h.imports("b.csv", false, h.rows(0, 5))
	must(t, h.service.Inbound.UndoImport(t.Context(), 1, id, h.now))
	if kept := peek(t, path,
		`SELECT count(DISTINCT number), min(number), max(number) FROM removed_transactions
			WHERE account_id = 1`); fmt.Sprint(kept) != fmt.Sprint([][]any{{int64(inbound.MaxRemovals), int64(11),
		int64(10 + inbound.MaxRemovals)}}) {
		t.Errorf("kept are %v", kept)
	}
}

// The undoing of a file forgets its rows, and no event of a source that has the same id.
func TestUndoForgetsItsOwnIDs(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 7)
	defer h.store.Close()
	e := inbound.Incoming{EventID: "1", Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5000, Content: "TRA DA", Time: h.now}
	h.record([]inbound.Incoming{e})
	row := e
	row.Content = "BANH MI"
	file, _ := h.imports("a.csv", false, []inbound.Incoming{row})
	if file == 0 || h.count(`inbound_items WHERE state = 'may_be_repeat'`) != 1 {
		t.Fatal("the row can't be a repeat")
	}
	must(t, h.service.Inbound.UndoImport(t.Context(), 1, file, h.now))
	if r := h.record([]inbound.Incoming{e}); r.Duplicates != 1 {
		t.Errorf("the provider called again: %+v", r)
	}
}
