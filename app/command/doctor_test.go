package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/app/command/upkeep"
	appupkeep "baoco/app/upkeep"
)

// examined is what baoco doctor says of a database: result and message by
// check.
func examined(t *testing.T, db string, args ...string) (code int, checks map[string]upkeep.CheckJSON) {
	t.Helper()
	code, stdout, stderr := baoco("", append([]string{"doctor", "-o", "json", "--db", db}, args...)...)
	var list []upkeep.CheckJSON
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	checks = map[string]upkeep.CheckJSON{}
	for _, c := range list {
		if c.Result != appupkeep.CheckOK && c.Result != appupkeep.CheckWarning && c.Result != appupkeep.CheckFailed {
			t.Errorf("%s is %q", c.Check, c.Result)
		}
		checks[c.Check] = c
	}
	return code, checks
}

// Whatever is wrong with a file, doctor says so, and leaves it as it is.
func TestDoctorFindsFaults(t *testing.T) {
	ledger := func(t *testing.T, statements ...string) string {
		db := apptest.NewFile(t)
		t.Setenv("BAOCO_DB", db)
		for _, args := range [][]string{
			{"bank", "link", "--bank", "ACB", "--number", "1", "--name", "A"},
			{"webhook", "create", "--name", "shop", "--url", "https://shop.vn/a", "--type", "ALL"},
			{"source", "add", "--provider", "native", "--name", "till"},
			{"transaction", "add", "--amount", "5"}, {"transaction", "add", "--amount", "6", "--type", "OUT"},
		} {
			if code, _, stderr := baoco("", args...); code != 0 {
				t.Fatalf("%v: exit %d, %s", args, code, stderr)
			}
		}
		apptest.Exec(t, db, statements...)
		return db
	}
	for _, c := range []struct {
		name, check string
		result      appupkeep.CheckResult
		says, cure  string
		db          func(t *testing.T) string
	}{
		{"missing", "file", appupkeep.CheckFailed, "there is no such database file", "baoco serve creates it",
			func(t *testing.T) string { return filepath.Join(t.TempDir(), "no.db") }},
		{"text", "file", appupkeep.CheckFailed, "not a baoco database", "--db", func(t *testing.T) string {
			db := filepath.Join(t.TempDir(), "a.db")
			must(t, os.WriteFile(db, bytes.Repeat([]byte("a note. "), 1000), 0o600))
			return db
		}},
		{"damaged page", "pages", appupkeep.CheckFailed, "damaged", "restore a backup", func(t *testing.T) string {
			db := ledger(t)
			apptest.Overwrite(t, db, 20*4096, apptest.Garbage(4096))
			return db
		}},
		{"newer", "schema", appupkeep.CheckFailed, "newer baoco", "newer version",
			func(t *testing.T) string { return ledger(t, `PRAGMA user_version = 99`) }},
		{"another schema", "schema", appupkeep.CheckFailed, "has another", "restore a backup",
			func(t *testing.T) string { return ledger(t, `ALTER TABLE attempts DROP COLUMN dns_ms`) }},
		{"key missing", "key", appupkeep.CheckFailed, "is missing", "doctor --new-key", func(t *testing.T) string {
			db := ledger(t)
			must(t, os.Remove(db+".key"))
			return db
		}},
		{"key of another", "key", appupkeep.CheckFailed, "does not fit", "doctor --new-key", func(t *testing.T) string {
			db := ledger(t)
			must(t, os.WriteFile(db+".key", []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"), 0o600))
			return db
		}},
		{"unreadable secret", "key", appupkeep.CheckFailed, "the secrets of webhook 1 (shop), source 1 (till)", "doctor --new-key",
			func(t *testing.T) string {
				return ledger(t, `UPDATE webhooks SET secret = x'0102030405060708090a0b0c0d0e0f'`, `UPDATE sources SET options = x'01'`)
			}},
		{"total of an account", "totals", appupkeep.CheckFailed, "account_totals", "--repair-totals",
			func(t *testing.T) string { return ledger(t, `UPDATE account_totals SET in_amount = 6`) }},
		{"total of a day", "totals", appupkeep.CheckFailed, "account_days", "--repair-totals", func(t *testing.T) string {
			return ledger(t, `UPDATE bank_account_days SET day = day - 1`, `UPDATE account_days SET day = day - 1`)
		}},
		{"history", "history", appupkeep.CheckFailed, "history_rows", "--repair-totals",
			func(t *testing.T) string { return ledger(t, `UPDATE account_totals SET history_rows = 4`) }},
		{"queue", "queue", appupkeep.CheckFailed, "1 deliveries can't be", "report",
			func(t *testing.T) string { return ledger(t, `UPDATE deliveries SET due_ms = NULL WHERE id = 1`) }},
		{"event ids", "event_ids", appupkeep.CheckFailed, "1 event ids of 2 transactions", "report",
			func(t *testing.T) string { return ledger(t, `DELETE FROM event_ids WHERE transaction_id = 1`) }},
		{"index", "search", appupkeep.CheckFailed, "transactions_search", "--repair-totals", func(t *testing.T) string {
			return ledger(t, `UPDATE transactions SET search = 'thanh toan'`, `UPDATE settings SET value = '2' WHERE name = 'searched_to'`)
		}},
		{"hours", "history", appupkeep.CheckFailed, "webhook_hours", "--repair-totals", func(t *testing.T) string {
			return ledger(t, fmt.Sprintf(`INSERT INTO webhook_hours VALUES (1, %d, 1, 0)`, time.Now().Unix()/3600))
		}},
		{"search", "search", appupkeep.CheckFailed, "searched_to", "--repair-totals", func(t *testing.T) string {
			return ledger(t, `UPDATE settings SET value = '9' WHERE name = 'searched_to'`)
		}},
		{"zone", "zone", appupkeep.CheckFailed, "unknown time zone", "", func(t *testing.T) string {
			return ledger(t, `UPDATE settings SET value = 'No/Where' WHERE name = 'timezone'`)
		}},
		{"clock", "clock", appupkeep.CheckWarning, "ahead of the clock", "timedatectl", func(t *testing.T) string {
			return ledger(t, fmt.Sprintf(`UPDATE transactions SET created_at = %d WHERE id = 2`, time.Now().Add(time.Hour).Unix()))
		}},
		{"modes", "installation", appupkeep.CheckWarning, "chmod 600", "", func(t *testing.T) string {
			db := ledger(t, `UPDATE settings SET value = 'https://x.vn' WHERE name = 'base_url'`)
			must(t, os.Chmod(db+".key", 0o644))
			return db
		}},
		{"directory", "permissions", appupkeep.CheckWarning, "Others may replace", "chmod go-w", func(t *testing.T) string {
			db := ledger(t)
			must(t, os.Chmod(filepath.Dir(db), 0o777))
			return db
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := c.db(t)
			before := apptest.Digests(db)
			code, checks := examined(t, db)
			got := checks[c.check]
			cure := ""
			if got.Cure != nil {
				cure = *got.Cure
			}
			if got.Result != c.result || !strings.Contains(got.Message, c.says) || !strings.Contains(cure, c.cure) {
				t.Errorf("%+v, cure %q", got, cure)
			}
			if want := map[appupkeep.CheckResult]int{appupkeep.CheckFailed: terminal.ExitCheck}[c.result]; code != want {
				t.Errorf("exit %d, want %d", code, want)
			}
			if after := apptest.Digests(db); after != before {
				t.Error("the files were changed")
			}
			if c.cure == "--repair-totals" {
				if code, checks = examined(t, db, "--repair-totals", "--full"); code != 0 {
					t.Errorf("after --repair-totals: exit %d, %+v", code, checks)
				}
			}
		})
	}
}
