package sqlitestore_test

import (
	"context"
	"testing"
	"time"

	"baoco/app"
	"baoco/sqlitestore"
)

// After a random history, whatever it was, doctor finds nothing wrong; and
// totals that were spoilt are counted anew as they were.
func TestExamineHistory(t *testing.T) {
	ctx := context.Background()
	path := create(t)
	h := newHistory(t, path, 7)
	defer h.store.Close()
	for range 80 {
		h.step()
	}
	healthy := func() {
		t.Helper()
		for _, full := range []bool{false, true} {
			checks, err := sqlitestore.Examine(ctx, path, sqlitestore.Examination{Full: full, Now: h.now})
			must(t, err)
			if len(checks) < 15 {
				t.Errorf("only %d checks", len(checks))
			}
			for _, c := range checks {
				if c.Result == app.CheckFailed {
					t.Errorf("%s: %s", c.Name, c.Text.EN)
				}
			}
		}
	}
	healthy()
	made := peek(t, path, `SELECT attempts_made, attempts_failed FROM account_totals`)
	must(t, h.store.Write(ctx, func(exec func(query string, args ...any) error) error {
		for _, query := range []string{
			`UPDATE account_totals SET in_count = 1, out_amount = 0, history_rows = 0`, `DELETE FROM bank_account_totals`, `UPDATE account_days SET amount = 1`,
			`DELETE FROM bank_account_days WHERE day % 2 = 0`, `DELETE FROM transaction_blocks`, `UPDATE attempt_blocks SET count = 1`, `UPDATE inbound_events SET open = 0`,
		} {
			if err := exec(query); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, h.store.Recount(ctx))
	checkTotals(t, path, 7*3600)
	healthy()
	if again := peek(t, path, `SELECT attempts_made, attempts_failed FROM account_totals`); len(again) != len(made) || again[0][0] != made[0][0] || again[0][1] != made[0][1] {
		t.Errorf("attempts ever made: %v, before %v", again, made)
	}
}

// In a large file some of the rows are counted, and doctor says so.
func TestExamineSample(t *testing.T) {
	ctx := context.Background()
	path := create(t)
	s := open(t, path, false)
	must(t, s.Write(ctx, func(exec func(query string, args ...any) error) error {
		for _, query := range []string{
			`INSERT INTO bank_accounts (id, account_id, bank, account_number, account_name, status, created_at) VALUES (1, 1, 'ACB', '1', 'A', 'active', 0)`,
			`INSERT INTO transactions (id, account_id, bank_account_id, source_id, channel, number, type, amount, content, search, occurred_at, zone_offset, date_flagged, created_at)
				SELECT value, 1, 1, 0, 'hand', '', 'IN', 5, '', '', 1000, 25200, 0, 1000 FROM json_each('[1, 200000, 999999, 1000000]')`,
		} {
			if err := exec(query); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, s.Recount(ctx))
	must(t, s.Close())
	checks, err := sqlitestore.Examine(ctx, path, sqlitestore.Examination{Now: time.Now()})
	must(t, err)
	for _, c := range checks {
		switch {
		case c.Result == app.CheckFailed:
			t.Errorf("%s: %s", c.Name, c.Text.EN)
		case c.Name == "totals" && c.Text.EN != "The totals agree with each other and with the rows in 24 of 245 blocks; --full counts all.":
			t.Errorf("%s", c.Text.EN)
		}
	}
}
