package sqlitestore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"baoco/app"
)

// recorded is a work that records one transaction of a source.
func (h *history) recorded(source app.Source, id, number string, amount int64, outcome *app.Outcome) func() error {
	return func() error {
		r, err := h.service.RecordTransactions(context.Background(), app.InboundCall{
			AccountID: 1, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []app.Incoming{{EventID: id, Gateway: "ACB", AccountNumber: "1000", Number: number, Type: app.In, Amount: amount, Time: h.now}},
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
		want       app.Outcome
	}
	const rec, dup, conflict = app.OutcomeRecorded, app.OutcomeDuplicate, app.OutcomeConflict
	for _, c := range []struct {
		name  string
		calls []call
	}{
		{"one event id", []call{{0, "a", "N1", 5, rec}, {0, "a", "N1", 5, dup}, {0, "a", "", 5, dup}}},
		{"one event id, without a number", []call{{0, "a", "", 5, rec}, {0, "a", "", 5, dup}, {0, "b", "", 5, rec}}},
		{"one event id, another amount", []call{{0, "a", "N1", 5, rec}, {0, "a", "N1", 6, conflict}, {0, "a", "N1", 5, dup}}},
		{"one event id of two sources", []call{{0, "a", "", 5, rec}, {1, "a", "", 5, rec}}},
		{"one transfer of two sources", []call{{0, "a", "N1", 5, rec}, {1, "b", "N1", 5, dup}, {1, "b", "N1", 5, dup}}},
		{"two transfers of one number", []call{{0, "a", "N", 5, rec}, {1, "b", "N", 5, dup}, {1, "c", "N", 5, rec}, {0, "d", "N", 5, dup}, {0, "e", "N", 5, rec}}},
		{"one number, another amount", []call{{0, "a", "N1", 5, rec}, {1, "b", "N1", 6, rec}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHistory(t, create(t), 1)
			defer h.store.Close()
			got, want := make([]app.Outcome, len(c.calls)), make([]app.Outcome, len(c.calls))
			var works []func() error
			recorded := int64(0)
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

// However many rows a commit writes at once, each is what was said of it.
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

// A statement sees what was added before it in its commit, and what is added after it
// gets later ids.
func TestRowsAreSeen(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	var outcome app.Outcome
	must(t, h.recorded(h.sources[0], "first", "N0", 5, &outcome)())
	looks := map[string]string{
		"a count":            `INSERT INTO settings (name, value) SELECT ?1, count(*) FROM %s`,
		"a look at an index": `INSERT INTO settings (name, value) SELECT ?1, coalesce(max(rowid), 0) FROM %s NOT INDEXED`,
		"an update":          `UPDATE %s SET account_id = account_id WHERE ?1 <> ''`,
	}
	tables := []string{"inbound_events", "transactions", "deliveries", "event_ids", "attempts"}
	for name, look := range looks {
		for i, table := range tables {
			if table == "event_ids" && name == "a look at an index" {
				continue // its rows have no numbers
			}
			due, err := h.store.Due(t.Context(), h.hooks[0].ID, h.now, nil, 1, false)
			must(t, err)
			before, id, seen := h.count(table), fmt.Sprint(name, i), name+" of "+table
			for _, err := range h.together([]func() error{
				h.recorded(h.sources[0], id, "N"+id, 5, &outcome),
				func() error {
					_, err := h.service.Settle(context.Background(), due[0], app.Result{StartedAt: h.now, StatusCode: 200})
					return err
				},
				func() error {
					return h.store.Write(context.Background(), func(exec func(string, ...any) error) error { return exec(fmt.Sprintf(look, table), seen) })
				},
				h.recorded(h.sources[0], id+" later", "N later"+id, 5, &outcome),
			}) {
				must(t, err)
			}
			added := map[string]int64{"deliveries": 2}[table]
			if added == 0 {
				added = 1
			}
			if name == "an update" {
				continue
			}
			if got := peek(t, h.store.Path(), `SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?`, seen); len(got) != 1 || got[0][0] != before+added {
				t.Errorf("%s: %v, want %d", seen, got, before+added)
			}
		}
	}
	whole(t, h.store.Path(), h.now)
}

// A work whose rows can't be written fails alone, and takes no ids from the others.
func TestRowsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	unknown := func() error { // an event of a source that isn't there
		_, err := h.service.RecordTransactions(context.Background(), app.InboundCall{AccountID: 1, Source: app.Source{ID: 9999, AccountID: 1}, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now})
		return err
	}
	if errs := h.together([]func() error{unknown}); errs[0] == nil {
		t.Fatal("an event of an unknown source was recorded")
	}
	outcomes := make([]app.Outcome, 4)
	works := []func() error{unknown}
	for i := range outcomes {
		works = append(works, h.recorded(h.sources[0], fmt.Sprint(i), fmt.Sprint("N", i), 5, &outcomes[i]))
		if i%2 == 1 {
			works = append(works, unknown)
		}
	}
	for i, err := range h.together(works) {
		if failed := i == 0 || i == 3 || i == 6; failed != (err != nil) {
			t.Errorf("work %d: %v", i, err)
		}
	}
	for _, o := range outcomes {
		if o != app.OutcomeRecorded {
			t.Errorf("%v", outcomes)
		}
	}
	if ids := peek(t, h.store.Path(), `SELECT group_concat(id), (SELECT group_concat(id) FROM inbound_events) FROM transactions`); ids[0][0] != "1,2,3,4" || ids[0][1] != "1,2,3,4" {
		t.Errorf("the ids are %v", ids)
	}
	whole(t, h.store.Path(), h.now)
}
