package sqlitestore_test

import (
	"testing"
	"time"

	"baoco/app/apptest"
)

// Looking for what is due costs the same however many deliveries wait for a
// later time or are finished.
func TestDueCostsNothingForWhatWaits(t *testing.T) {
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1, and the machine alone: it compares times")
	}
	path := create(t)
	h := newHistory(t, path, 5)
	defer h.store.Close()
	for range 20 {
		_, err := h.service.RecordTransactions(t.Context(), h.call())
		must(t, err)
	}
	now := h.now.Add(time.Minute)
	// A pass of the sweep over every webhook; the fastest of many, so that a
	// busy machine doesn't count.
	pass := func() (due int, took time.Duration) {
		took = time.Hour
		for range 50 {
			began := time.Now()
			backlogs, err := h.store.Backlogs(t.Context(), now)
			must(t, err)
			due = 0
			for _, b := range backlogs {
				for _, retries := range []bool{false, true} {
					list, err := h.store.Due(t.Context(), b.WebhookID, now, nil, 64, retries)
					must(t, err)
					due += len(list)
				}
			}
			took = min(took, time.Since(began))
		}
		return due, took
	}
	due, before := pass()
	if due < 20 {
		t.Fatalf("only %d deliveries are due", due)
	}
	const copies = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		INSERT INTO deliveries (account_id, webhook_id, transaction_id, state, attempts, retry, due_ms, created_ms, single)
		SELECT d.account_id, d.webhook_id, d.transaction_id, `
	must(t, h.store.Write(t.Context(), func(exec func(string, ...any) error) error {
		const from = ` FROM n, (SELECT * FROM deliveries ORDER BY id LIMIT 1) d`
		for range 2 {
			if err := exec(copies+`0, 1, i % 2, ? + i, d.created_ms, 0`+from, now.Add(time.Hour).UnixMilli()); err != nil {
				return err
			}
		}
		return exec(copies + `1, 1, 1, NULL, d.created_ms, 0` + from)
	}))
	again, after := pass()
	t.Logf("%d due: %v among them alone, %v with 200,000 waiting and 100,000 finished", due, before, after)
	if again != due || after > 3*before+time.Millisecond {
		t.Errorf("%d deliveries in %v became %d in %v", due, before, again, after)
	}
}
