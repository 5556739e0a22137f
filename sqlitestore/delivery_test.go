package sqlitestore_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/delivery"

	"github.com/google/go-cmp/cmp"
)

// anyArgument is a parameter of a statement.
var anyArgument = regexp.MustCompile(`\?\d*`)

// TestDueCostsNothingForWhatWaits: looking for what is due visits only what is due,
// however many deliveries wait for a later time or are finished: every search is
// in the index of the queue, bounded by webhook and time.
func TestDueCostsNothingForWhatWaits(t *testing.T) {
	t.Parallel()
	h := newHistory(t, create(t), 5)
	defer h.store.Close()
	for range 20 {
		_, err := h.service.Inbound.RecordTransactions(t.Context(), h.call())
		must(t, err)
	}
	now := h.now.Add(time.Minute)
	pass := func() (due int) { // of the sweep over every webhook
		backlogs, err := h.store.Backlogs(t.Context(), now)
		must(t, err)
		for _, b := range backlogs {
			for _, retries := range []bool{false, true} {
				list, err := h.store.Due(t.Context(), delivery.DueFilter{WebhookID: b.WebhookID, Retries: retries, Limit: 64}, now)
				must(t, err)
				due += len(list)
			}
		}
		return due
	}
	due := pass()
	if due < 20 {
		t.Fatalf("only %d deliveries are due", due)
	}
	const copies = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO deliveries (account_id, webhook_id, transaction_id, state, attempts, retry, due_ms, created_ms, single)
		SELECT d.account_id, d.webhook_id, d.transaction_id, `
	must(t, h.store.Write(t.Context(), func(exec func(string, ...any) error) error {
		const from = ` FROM n, (SELECT * FROM deliveries ORDER BY id LIMIT 1) d`
		for range 2 {
			if err := exec(copies+`0, 1, 1, ? + i, d.created_ms, 0`+from, now.Add(time.Hour).UnixMilli()); err != nil {
				return err
			}
		}
		return exec(copies + `1, 1, 1, NULL, d.created_ms, 0` + from)
	}))
	if again := pass(); again != due {
		t.Errorf("%d deliveries are due, and %d among many that wait", due, again)
	}
	steps := map[string]bool{}
	for _, query := range h.store.ReadQueries() {
		if !strings.Contains(query, " deliveries ") {
			continue
		}
		for _, row := range peek(t, h.store.Path(), `EXPLAIN QUERY PLAN `+anyArgument.ReplaceAllString(query, "0")) {
			if step := row[3].(string); strings.Contains(step, "deliveries") || strings.Contains(step, " d ") || strings.Contains(step, "B-TREE") {
				steps[step] = true
			}
		}
	}
	want := []string{
		"SEARCH d USING INTEGER PRIMARY KEY (rowid=?)",
		"SEARCH deliveries USING COVERING INDEX deliveries_due", // the smallest webhook_id alone
		"SEARCH deliveries USING COVERING INDEX deliveries_due (webhook_id=? AND retry=? AND due_ms<?)",
		"SEARCH deliveries USING COVERING INDEX deliveries_due (webhook_id=? AND retry=? AND due_ms>?)",
		"SEARCH deliveries USING COVERING INDEX deliveries_due (webhook_id=? AND retry=?)", // one first attempt, and the last due time alone
		"SEARCH deliveries USING COVERING INDEX deliveries_due (webhook_id>?)",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(steps))); diff != "" {
		t.Errorf("how deliveries are searched (-want +got):\n%s", diff)
	}
}
