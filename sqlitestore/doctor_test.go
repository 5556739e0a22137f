package sqlitestore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

// After a random history, whatever it was, doctor finds nothing wrong; and
// totals that were spoilt are counted anew as they were.
func TestExamineHistory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := create(t)
	h := newHistory(t, path, 7)
	defer h.store.Close()
	for i := range 80 {
		h.step()
		if i%9 == 0 {
			_, err := h.store.IndexSearch(ctx)
			must(t, err)
		}
	}
	healthyNow(t, path, h.now)
	made := peek(t, path, `SELECT attempts_made, attempts_failed FROM account_totals`)
	must(t, h.store.Write(ctx, func(exec func(query string, args ...any) error) error {
		for _, query := range []string{
			`UPDATE account_totals SET in_count = 1, out_amount = 0, history_rows = 0`, `DELETE FROM bank_account_totals`,
			`UPDATE account_days SET amount = 1`,
			`DELETE FROM bank_account_days WHERE day % 2 = 0`, `UPDATE inbound_events SET open = 0`,
		} {
			if err := exec(query); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, h.store.Recount(ctx, h.now))
	checkTotals(t, path, 7*3600)
	healthyNow(t, path, h.now)
	if again := peek(t, path, `SELECT attempts_made, attempts_failed FROM account_totals`); len(again) != len(made) ||
		again[0][0] != made[0][0] || again[0][1] != made[0][1] {
		t.Errorf("attempts ever made: %v, before %v", again, made)
	}
}

// What follows from the rows is found where it is wrong, one way after the
// other, and is made anew as it was.
func TestExamineWhatFollows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := create(t)
	h := newHistory(t, path, 11)
	defer h.store.Close()
	for range 60 {
		h.step()
	}
	must(t, h.service.Deliveries.DeleteWebhook(ctx, h.hooks[3].AccountID, h.hooks[3].ID, h.now))
	must(t, h.service.Deliveries.DeleteWebhook(ctx, h.hooks[2].AccountID, h.hooks[2].ID, h.now))
	for range 3 {
		_, err := h.store.IndexSearch(ctx)
		must(t, err)
	}
	// Two days on, so that of what is shown by the hour nothing was pruned.
	h.now = h.now.Add(49 * time.Hour)
	for range 4 {
		h.deliver()
		h.now = h.now.Add(20 * time.Minute)
	}
	tables := []string{"transactions_unsent", "webhook_hours", "webhook_totals"}
	contents := func() (all [][][]any) {
		for _, table := range tables {
			rows := peek(t, path, `SELECT * FROM `+table+` ORDER BY 1, 2`)
			if len(rows) < 2 {
				t.Fatalf("%s has %d rows", table, len(rows))
			}
			all = append(all, rows)
		}
		return all
	}
	must(t, h.store.Recount(ctx, h.now)) // drops hours that nobody is shown any more
	whole := contents()
	for _, c := range []struct{ check, table, damage string }{
		{"search", "transactions_unsent",
			`DELETE FROM transactions_unsent WHERE transaction_id = (SELECT min(transaction_id) FROM transactions_unsent)`},
		{"search", "transactions_unsent", `UPDATE transactions_unsent SET account_id = 3 - account_id`},
		{"search", "transactions_unsent", `INSERT INTO transactions_unsent VALUES (1, 40000)`},
		{"history", "webhook_hours", `UPDATE webhook_hours SET failed = failed + 1 WHERE hour = (SELECT max(hour) FROM webhook_hours)`},
		{"history", "webhook_hours", `UPDATE webhook_hours SET succeeded = 0, failed = 0`},
		{"history", "webhook_hours", `DELETE FROM webhook_hours WHERE hour = (SELECT max(hour) FROM webhook_hours)`},
		{"history", "webhook_hours", fmt.Sprintf(`INSERT INTO webhook_hours VALUES (1, %d, 1, 0)`, h.now.Unix()/3600+5)},
		{"history", "webhook_totals", `UPDATE webhook_totals SET failed_in_row = failed_in_row + 1`},
		{"history", "webhook_totals", `UPDATE webhook_totals SET last_attempt_id = 1`},
		{"history", "webhook_totals", `DELETE FROM webhook_totals WHERE webhook_id = 1`},
	} {
		must(t, h.store.Write(ctx, func(exec func(query string, args ...any) error) error { return exec(c.damage) }))
		checks, err := sqlitestore.Examine(ctx, path, sqlitestore.Examination{Now: h.now})
		must(t, err)
		for _, check := range checks {
			if check.Name == c.check && (check.Result != upkeep.CheckFailed || !strings.HasSuffix(check.Text.EN, ": "+c.table) ||
				!strings.Contains(check.Cure.EN, "--repair-totals")) {
				t.Errorf("%s: %+v", c.damage, check)
			}
			if check.Name != c.check && check.Result == upkeep.CheckFailed {
				t.Errorf("%s: %s fails too: %s", c.damage, check.Name, check.Text.EN)
			}
		}
		must(t, h.store.Recount(ctx, h.now))
		if diff := cmp.Diff(whole, contents()); diff != "" {
			t.Errorf("%s: made anew otherwise\n%s", c.damage, diff)
		}
		healthyNow(t, path, h.now)
	}
	// An index that claims too much is begun anew.
	must(t, h.store.Write(ctx, func(exec func(query string, args ...any) error) error {
		return exec(`UPDATE settings SET value = '40000' WHERE name = 'searched_to'`)
	}))
	must(t, h.store.Recount(ctx, h.now))
	healthyNow(t, path, h.now)
	for left := int64(1); left != 0; {
		var err error
		left, err = h.store.IndexSearch(ctx)
		must(t, err)
	}
	healthyNow(t, path, h.now)
	found, err := h.service.Ledger.Transactions(ctx, 1, app.TransactionFilter{Query: "same", Page: app.Page{Number: 1, Size: 1}})
	must(t, err)
	if rows := peek(t, path,
		`SELECT count(*) FROM transactions WHERE account_id = 1 AND search LIKE '%same%'`); found.Total != rows[0][0].(int64) ||
		found.Total == 0 {
		t.Errorf("found %d of %v", found.Total, rows)
	}
}

// healthyNow checks that doctor finds nothing wrong.
func healthyNow(t *testing.T, path string, now time.Time) {
	t.Helper()
	for _, full := range []bool{false, true} {
		checks, err := sqlitestore.Examine(t.Context(), path, sqlitestore.Examination{Full: full, Now: now})
		must(t, err)
		if len(checks) < 15 {
			t.Errorf("only %d checks", len(checks))
		}
		for _, c := range checks {
			if c.Result == upkeep.CheckFailed {
				t.Errorf("%s: %s", c.Name, c.Text.EN)
			}
		}
	}
}

// In a large file the rows are counted only if asked, and doctor says so.
func TestExamineLargeFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := create(t)
	h := newHistory(t, path, 11)
	for range 20 {
		h.step()
	}
	must(t, h.store.Close())
	alter(t, path, `UPDATE bank_account_days SET day = day - 1`)
	alter(t, path, `UPDATE account_days SET day = day - 1`) // they agree with each other
	for _, full := range []bool{false, true} {
		checks, err := sqlitestore.Examine(ctx, path, sqlitestore.Examination{Full: full, Now: h.now}.LargeFrom(1))
		must(t, err)
		for _, c := range checks {
			if c.Name == "totals" &&
				(full != (c.Result == upkeep.CheckFailed) || full == strings.Contains(c.Text.EN, "only --full counts the rows")) {
				t.Errorf("full %v: %+v", full, c)
			}
		}
	}
}
