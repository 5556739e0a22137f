package sqlitestore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// An index of search texts that lost rows, or has others, is found by doctor
// and made anew by --repair-totals, whatever the texts are.
func TestExamineSearchIndex(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := create(t)
	h := newHistory(t, path, 3)
	defer h.store.Close()
	for i, content := range []string{"Thanh toán đơn DH1", "ab", "", "two\nlines\x00and NUL", "💰💰💰 emoji", `quo"te' OR 1`, "same same same",
		"same same", "🇻🇳"} {
		_, _, err := h.service.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint("odd", i), Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5, Content: content,
			Number: fmt.Sprint("ODD", i), Time: h.now,
		}}, h.now)
		must(t, err)
	}
	for left := int64(1); left > 0; {
		var err error
		left, err = h.store.IndexSearch(ctx)
		must(t, err)
	}
	found := func() int64 {
		t.Helper()
		list, err := h.service.Ledger.Transactions(ctx, 1, app.TransactionFilter{Query: "odd0", Page: app.Page{Number: 1, Size: 1}})
		must(t, err)
		return list.Total
	}
	healthyNow(t, path, h.now)
	if n := found(); n != 1 {
		t.Fatalf("%d found", n)
	}
	for _, c := range []struct {
		damage string
		quick  bool // seen without --full
		stray  bool // made by another program
	}{
		{damage: `INSERT INTO transactions_search (transactions_search) VALUES ('delete-all')`, quick: true},
		{damage: `INSERT INTO transactions_search (transactions_search, rowid, search) SELECT 'delete', id, search FROM transactions
			WHERE id = 1`},
		{damage: `INSERT INTO transactions_search (rowid, search) VALUES (40000, 'more')`},
		{damage: `INSERT INTO transactions_search (rowid, search) VALUES (1, 'other words')`},
		{damage: `DELETE FROM transactions_search_data WHERE id > 10`, quick: true, stray: true},
		{damage: `DELETE FROM transactions_search_data`, quick: true, stray: true},
	} {
		if c.stray {
			alter(t, path, c.damage)
		} else {
			must(t, h.store.Write(ctx, func(exec func(query string, args ...any) error) error { return exec(c.damage) }))
		}
		for _, full := range []bool{false, true} {
			checks, err := sqlitestore.Examine(ctx, path, sqlitestore.Examination{Full: full, Now: h.now})
			must(t, err)
			for _, check := range checks {
				seen := check.Result == upkeep.CheckFailed
				if check.Name == "search" && (full || c.quick) != (seen && strings.HasSuffix(check.Text.EN, ": transactions_search") &&
					strings.Contains(check.Cure.EN, "--repair-totals")) {
					t.Errorf("%s, full %v: %+v", c.damage, full, check)
				}
				if check.Name != "search" && seen || strings.Contains(check.Cure.EN, "restore") {
					t.Errorf("%s, full %v: %+v", c.damage, full, check)
				}
			}
		}
		// Beside it money is recorded as ever.
		_, err := h.service.Inbound.RecordTransactions(ctx, inbound.Call{
			AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []inbound.Incoming{{EventID: c.damage, Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5,
				Content: "more", Time: h.now}},
		})
		must(t, err)
		_, _ = h.store.IndexSearch(ctx)
		select {
		case err := <-h.store.Fatal():
			t.Errorf("%s: the server ends: %v", c.damage, err)
		default:
		}
		must(t, h.store.Recount(ctx, h.now))
		healthyNow(t, path, h.now)
		if n := found(); n != 1 {
			t.Errorf("%s, repaired: %d found", c.damage, n)
		}
	}
}
