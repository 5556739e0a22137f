package sqlitestore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"

	"github.com/google/go-cmp/cmp"
)

// recorded is a work that records one transaction of a source.
func (h *history) recorded(source inbound.Source, id, number string, amount int64, outcome *inbound.Outcome) func() error {
	return func() error {
		r, err := h.service.Inbound.RecordTransactions(context.Background(), inbound.Call{
			AccountID: 1, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []inbound.Incoming{{EventID: id, Gateway: "ACB", AccountNumber: "1000", Number: number, Type: app.In,
				Amount: amount, Time: h.now}},
		})
		if err == nil {
			*outcome = r.Outcomes[0]
		}
		return err
	}
}

// What is recorded in one commit is judged as if each call had its own.
func TestDuplicatesOfOneCommit(t *testing.T) {
	t.Parallel()
	type call struct {
		source     int
		id, number string
		amount     int64
		want       inbound.Outcome
	}
	const rec, dup, conflict = inbound.OutcomeRecorded, inbound.OutcomeDuplicate, inbound.OutcomeConflict
	for _, c := range []struct {
		name  string
		calls []call
	}{
		{"one event id", []call{{0, "a", "N1", 5, rec}, {0, "a", "N1", 5, dup}, {0, "a", "", 5, dup}}},
		{"one event id, without a number", []call{{0, "a", "", 5, rec}, {0, "a", "", 5, dup}, {0, "b", "", 5, rec}}},
		{"one event id, another amount", []call{{0, "a", "N1", 5, rec}, {0, "a", "N1", 6, conflict}, {0, "a", "N1", 5, dup}}},
		{"one event id of two sources", []call{{0, "a", "", 5, rec}, {1, "a", "", 6, rec}}},
		{"one movement of two sources, perhaps", []call{{0, "a", "", 5, rec}, {1, "a", "", 5, inbound.OutcomeMayBeRepeat}}},
		{"one transfer of two sources", []call{{0, "a", "N1", 5, rec}, {1, "b", "N1", 5, dup}, {1, "b", "N1", 5, dup}}},
		{"two transfers of one number",
			[]call{{0, "a", "N", 5, rec}, {1, "b", "N", 5, dup}, {1, "c", "N", 5, rec}, {0, "d", "N", 5, dup}, {0, "e", "N", 5, rec}}},
		{"one number, another amount", []call{{0, "a", "N1", 5, rec}, {1, "b", "N1", 6, rec}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHistory(t, create(t), 1)
			defer h.store.Close()
			got, want := make([]inbound.Outcome, len(c.calls)), make([]inbound.Outcome, len(c.calls))
			var works []func() error
			var first inbound.Outcome
			for _, source := range h.sources[:2] { // the first of a source and a bank account has more to write
				must(t, h.recorded(source, "first", fmt.Sprint("first of ", source.ID), 100*source.ID, &first)())
			}
			recorded := int64(2)
			for i, one := range c.calls {
				works = append(works, h.recorded(h.sources[one.source], one.id, one.number, one.amount, &got[i]))
				if want[i] = one.want; want[i] == rec {
					recorded++
				}
			}
			for _, err := range h.together(works) {
				must(t, err)
			}
			if !slices.Equal(got, want) || h.count(`transactions`) != recorded || h.count(`deliveries`) != 2*recorded {
				t.Errorf("%v, want %v; %d transactions with %d deliveries", got, want, h.count(`transactions`), h.count(`deliveries`))
			}
			whole(t, h.store.Path(), h.now)
		})
	}
}

// changes is a work that runs a statement.
func (h *history) changes(statement string, arg any) func() error {
	return func() error {
		return h.store.Write(context.Background(), func(exec func(string, ...any) error) error { return exec(statement, arg) })
	}
}

// However many rows a commit writes, each is what was said of it.
func TestRowsOfOneCommit(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	total := int64(0)
	for n := 1; n <= 40; n++ {
		h.record(h.elements(n, "1000"))
		total += int64(n)
	}
	for query, want := range map[string]int64{
		`transactions WHERE number = 'N' || (amount - 1000)`:                                                                 total,
		`event_ids k JOIN transactions t ON t.id = k.transaction_id WHERE t.number = 'N' || k.event_id`:                      total,
		`deliveries d JOIN transactions t ON t.id = d.transaction_id JOIN webhooks w ON w.id = d.webhook_id`:                 2 * total,
		`transactions t JOIN inbound_events e ON e.id = t.inbound_event_id WHERE e.recorded BETWEEN 1 AND 40`:                total,
		`(SELECT max(id) AS last FROM transactions) WHERE last = (SELECT count(*) FROM transactions)`:                        1,
		`(SELECT seq FROM sqlite_sequence WHERE name = 'deliveries') WHERE seq = (SELECT count(*) FROM deliveries)`:          1,
		`(SELECT count(DISTINCT webhook_id || ' ' || transaction_id) AS n FROM deliveries) WHERE n = ` + fmt.Sprint(2*total): 1,
	} {
		if got := h.count(query); got != want {
			t.Errorf("%d of %s, want %d", got, query, want)
		}
	}
	whole(t, h.store.Path(), h.now)
}

// A work whose rows can't be written fails alone, and takes no ids from the others.
func TestRowsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	if errs := h.together([]func() error{h.unknown}); errs[0] == nil {
		t.Fatal("an event of an unknown source was recorded")
	}
	if _, err := h.service.Inbound.RecordTransactions(t.Context(),
		inbound.Call{AccountID: 1, Source: inbound.Source{ID: 9999, AccountID: 1}, Channel: app.ChannelCall, Body: []byte("{}"),
			ReceivedAt: h.now, DryRun: true}); err == nil {
		t.Error("a dry run says that it would be")
	}
	outcomes := make([]inbound.Outcome, 4)
	works := []func() error{h.unknown}
	for i := range outcomes {
		works = append(works, h.recorded(h.sources[0], fmt.Sprint(i), fmt.Sprint("N", i), 5, &outcomes[i]))
		if i%2 == 1 {
			works = append(works, h.unknown)
		}
	}
	for i, err := range h.together(works) {
		if failed := i == 0 || i == 3 || i == 6; failed != (err != nil) {
			t.Errorf("work %d: %v", i, err)
		}
	}
	last := h.together([]func() error{h.recorded(h.sources[0], "5", "N5", 5, &outcomes[0]), h.unknown})
	if last[0] != nil || last[1] == nil {
		t.Errorf("where the last work fails: %v", last)
	}
	h.seq = 1000
	dry := h.together([]func() error{h.recorded(h.sources[0], "6", "N6", 5, &outcomes[1]), func() error {
		call := h.normal(h.elements(20, "1000"))
		call.DryRun = true
		_, err := h.service.Inbound.RecordTransactions(context.Background(), call)
		return err
	}})
	if dry[0] != nil || dry[1] != nil {
		t.Errorf("beside a dry run: %v", dry)
	}
	for _, o := range outcomes {
		if o != inbound.OutcomeRecorded {
			t.Errorf("%v", outcomes)
		}
	}
	if ids := peek(t, h.store.Path(),
		`SELECT group_concat(id), (SELECT group_concat(id) FROM inbound_events) FROM transactions`); ids[0][0] != "1,2,3,4,5,6" ||
		ids[0][1] != "1,2,3,4,5,6" {
		t.Errorf("the ids are %v", ids)
	}
	whole(t, h.store.Path(), h.now)
}

// unknown is a work whose row can't be written: an event of a source that isn't there.
func (h *history) unknown() error {
	_, err := h.service.Inbound.RecordTransactions(context.Background(),
		inbound.Call{AccountID: 1, Source: inbound.Source{ID: 9999, AccountID: 1}, Channel: app.ChannelCall,
			Body: []byte("{}"), ReceivedAt: h.now})
	return err
}

// In a file whose sequence is behind its rows, ids go on after the rows.
func TestSequenceBehindItsRows(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	h.record(h.elements(3, "1000"))
	must(t, h.changes(`UPDATE sqlite_sequence SET seq = ? WHERE name = 'transactions'`, 1)())
	if r := h.record(h.elements(1, "1000")); r.TransactionIDs[0] != 4 {
		t.Errorf("the next id is %d", r.TransactionIDs[0])
	}
	whole(t, h.store.Path(), h.now)
}

// Works that share commits leave the same file as works that have one each: repeats,
// conflicts, unknown accounts, unreadable elements, results of attempts, dry runs and
// works that fail among them.
func TestTogetherAsOneByOne(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apptest.Rounds(3, 30)) {
		alone, shared := newHistory(t, create(t), seed), newHistory(t, create(t), seed)
		for group := range 12 {
			var said [2][]string
			for i, h := range []*history{alone, shared} {
				works, outcomes := h.works(t)
				if h == shared {
					h.together(works)
				} else {
					for _, work := range works {
						_ = work()
					}
				}
				said[i] = outcomes
			}
			if !slices.Equal(said[0], said[1]) {
				t.Fatalf("seed %d, group %d: one by one they give\n%q, together\n%q", seed, group, said[0], said[1])
			}
		}
		for _, table := range []string{"inbound_events", "inbound_items", "transactions", "event_ids", "deliveries",
			"attempts", "sqlite_sequence",
			"account_totals", "account_days", "bank_account_days", "webhook_hours", "webhook_totals"} {
			query := `SELECT * FROM ` + table + ` ORDER BY 1, 2`
			if d := cmp.Diff(peek(t, alone.store.Path(), query), peek(t, shared.store.Path(), query)); d != "" {
				t.Errorf("seed %d: %s differs (-one by one +together):\n%s", seed, table, d)
			}
		}
		whole(t, shared.store.Path(), shared.now)
		must(t, alone.store.Close())
		must(t, shared.store.Close())
	}
}

// works are some works of the writer, and what they say when they have run.
func (h *history) works(t *testing.T) (works []func() error, said []string) {
	t.Helper()
	h.now = h.now.Add(time.Duration(h.random.IntN(9)) * time.Minute)
	due, err := h.store.Due(t.Context(), delivery.DueFilter{WebhookID: h.hooks[0].ID, Limit: 4}, h.now)
	must(t, err)
	n, failing := 1+h.random.IntN(8), h.random.IntN(3) == 0
	said = make([]string, n)
	for i := range n {
		kind, call := h.random.IntN(8), h.call()
		if kind > 4 { // the same transfer, perhaps of another source
			call.Elements[0].Number, call.Elements[0].AccountNumber, call.Elements[0].Amount, call.Elements[0].Type = "one", "1000", 7, app.In
		}
		call.AccountID = call.Source.AccountID
		works = append(works, func() error {
			var err error
			switch {
			case kind < 2 && i < len(due):
				_, err = h.service.Deliveries.Settle(context.Background(), due[i], delivery.Result{StartedAt: h.now, StatusCode: 200})
				said[i] = fmt.Sprint("settled ", err)
				return err
			case kind == 2 && failing:
				call.DryRun = true
			case kind == 3 && failing: // fails after it has recorded the first element; with more of them a slow machine takes two commits
				call.Channel = app.ChannelHand
				call.Elements = append(call.Elements[:1],
					inbound.Incoming{EventID: "x", Gateway: "ACB", AccountNumber: "no such", Type: app.In, Amount: 1, Time: h.now})
			}
			r, err := h.service.Inbound.RecordTransactions(context.Background(), call)
			said[i] = fmt.Sprint(r.Outcomes, r.TransactionIDs, r.EventID, len(r.Ready), err)
			return err
		})
	}
	return works, said
}
