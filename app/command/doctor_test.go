package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/command/terminal"
)

// examined is what baoco doctor says of a database: result and message by
// check.
func examined(t *testing.T, db string, args ...string) (code int, checks map[string]checkJSON) {
	t.Helper()
	code, stdout, stderr := baoco("", append([]string{"doctor", "-o", "json", "--db", db}, args...)...)
	var list []checkJSON
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	checks = map[string]checkJSON{}
	for _, c := range list {
		if c.Result != app.CheckOK && c.Result != app.CheckWarning && c.Result != app.CheckFailed {
			t.Errorf("%s is %q", c.Check, c.Result)
		}
		checks[c.Check] = c
	}
	return code, checks
}

// Whatever is wrong with a file, doctor says so, and leaves it as it is.
func TestDoctorFindsFaults(t *testing.T) {
	ledger := func(t *testing.T, statements ...string) string {
		db := database(t)
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
		change(t, db, statements...)
		return db
	}
	for _, c := range []struct {
		name, check string
		result      app.CheckResult
		says, cure  string
		db          func(t *testing.T) string
	}{
		{"missing", "file", app.CheckFailed, "there is no such database file", "baoco serve creates it", func(t *testing.T) string { return filepath.Join(t.TempDir(), "no.db") }},
		{"text", "file", app.CheckFailed, "not a baoco database", "--db", func(t *testing.T) string {
			db := filepath.Join(t.TempDir(), "a.db")
			must(t, os.WriteFile(db, bytes.Repeat([]byte("a note. "), 1000), 0o600))
			return db
		}},
		{"damaged page", "pages", app.CheckFailed, "damaged", "restore a backup", func(t *testing.T) string {
			db := ledger(t)
			overwrite(t, db, 20*4096, randomBytes(4096))
			return db
		}},
		{"newer", "schema", app.CheckFailed, "newer baoco", "newer version", func(t *testing.T) string { return ledger(t, `PRAGMA user_version = 99`) }},
		{"another schema", "schema", app.CheckFailed, "has another", "restore a backup", func(t *testing.T) string { return ledger(t, `ALTER TABLE attempts DROP COLUMN dns_ms`) }},
		{"key missing", "key", app.CheckFailed, "is missing", "doctor --new-key", func(t *testing.T) string {
			db := ledger(t)
			must(t, os.Remove(db+".key"))
			return db
		}},
		{"key of another", "key", app.CheckFailed, "does not fit", "doctor --new-key", func(t *testing.T) string {
			db := ledger(t)
			must(t, os.WriteFile(db+".key", []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"), 0o600))
			return db
		}},
		{"unreadable secret", "key", app.CheckFailed, "the secrets of webhook 1 (shop), source 1 (till)", "doctor --new-key", func(t *testing.T) string {
			return ledger(t, `UPDATE webhooks SET secret = x'0102030405060708090a0b0c0d0e0f'`, `UPDATE sources SET options = x'01'`)
		}},
		{"total of an account", "totals", app.CheckFailed, "account_totals", "--repair-totals", func(t *testing.T) string { return ledger(t, `UPDATE account_totals SET in_amount = 6`) }},
		{"total of a day", "totals", app.CheckFailed, "account_days", "--repair-totals", func(t *testing.T) string {
			return ledger(t, `UPDATE bank_account_days SET day = day - 1`, `UPDATE account_days SET day = day - 1`)
		}},
		{"block", "totals", app.CheckFailed, "transaction_blocks", "--repair-totals", func(t *testing.T) string { return ledger(t, `UPDATE transaction_blocks SET first_at = 0`) }},
		{"history", "history", app.CheckFailed, "history_rows", "--repair-totals", func(t *testing.T) string { return ledger(t, `UPDATE account_totals SET history_rows = 4`) }},
		{"queue", "queue", app.CheckFailed, "1 deliveries can't be", "report", func(t *testing.T) string { return ledger(t, `UPDATE deliveries SET due_ms = NULL WHERE id = 1`) }},
		{"event ids", "event_ids", app.CheckFailed, "1 event ids of 2 transactions", "report", func(t *testing.T) string { return ledger(t, `DELETE FROM event_ids WHERE transaction_id = 1`) }},
		{"index", "search", app.CheckFailed, "transaction_amounts", "--repair-totals", func(t *testing.T) string {
			return ledger(t, `UPDATE settings SET value = '2' WHERE name = 'searched_to'`)
		}},
		{"hours", "history", app.CheckFailed, "webhook_hours", "--repair-totals", func(t *testing.T) string {
			return ledger(t, fmt.Sprintf(`INSERT INTO webhook_hours VALUES (1, %d, 1, 0)`, time.Now().Unix()/3600))
		}},
		{"search", "search", app.CheckFailed, "the last is 2", "--repair-totals", func(t *testing.T) string {
			return ledger(t, `UPDATE settings SET value = '9' WHERE name = 'searched_to'`)
		}},
		{"zone", "zone", app.CheckFailed, "unknown time zone", "", func(t *testing.T) string {
			return ledger(t, `UPDATE settings SET value = 'No/Where' WHERE name = 'timezone'`)
		}},
		{"clock", "clock", app.CheckWarning, "ahead of the clock", "timedatectl", func(t *testing.T) string {
			return ledger(t, fmt.Sprintf(`UPDATE transactions SET created_at = %d WHERE id = 2`, time.Now().Add(time.Hour).Unix()))
		}},
		{"modes", "installation", app.CheckWarning, "chmod 600", "", func(t *testing.T) string {
			db := ledger(t, `UPDATE settings SET value = 'https://x.vn' WHERE name = 'base_url'`)
			must(t, os.Chmod(db+".key", 0o644))
			return db
		}},
		{"directory", "permissions", app.CheckWarning, "Others may replace", "chmod go-w", func(t *testing.T) string {
			db := ledger(t)
			must(t, os.Chmod(filepath.Dir(db), 0o777))
			return db
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := c.db(t)
			before := digests(db)
			code, checks := examined(t, db)
			got := checks[c.check]
			cure := ""
			if got.Cure != nil {
				cure = *got.Cure
			}
			if got.Result != c.result || !strings.Contains(got.Message, c.says) || !strings.Contains(cure, c.cure) {
				t.Errorf("%+v, cure %q", got, cure)
			}
			if want := map[app.CheckResult]int{app.CheckFailed: terminal.ExitCheck}[c.result]; code != want {
				t.Errorf("exit %d, want %d", code, want)
			}
			if after := digests(db); after != before {
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

// Doctor works beside a server under load, and keeps its hands off: what would
// change the file refuses. After a kill it leaves the log where it is.
func TestDoctorBesideServer(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	stop := in.provider(p.url).underLoad(4)
	for range 5 {
		for _, args := range [][]string{nil, {"--full"}} {
			if code, checks := examined(t, in.db, args...); code != 0 || !strings.Contains(checks["server"].Message, "A server runs") {
				t.Errorf("%v: exit %d, %+v", args, code, checks)
			}
		}
	}
	for _, flag := range []string{"--new-key", "--repair-totals"} {
		if code, _, stderr := baoco("", "doctor", flag, "--db", in.db); code != terminal.ExitDatabase || !strings.Contains(stderr, "another baoco serve") {
			t.Errorf("%s: exit %d, %s", flag, code, stderr)
		}
	}
	must(t, p.Process.Kill())
	_ = p.Wait()
	stop()
	before := readImage(t, in.dir)
	if code, checks := examined(t, in.db); code != 0 || !strings.Contains(checks["server"].Message, "No server") {
		t.Errorf("after a kill: exit %d, %+v", code, checks)
	}
	after := readImage(t, in.dir)
	for _, name := range []string{"baoco.db", "baoco.db-wal"} {
		if len(before[name]) == 0 || !bytes.Equal(before[name], after[name]) {
			t.Errorf("%s was changed", name)
		}
	}
	// Somebody else's open connection is in the way of a new key.
	list, lines, _ := startTail(t, in.dir, "--limit", "1")
	if !lines.Scan() {
		t.Fatalf("tail prints nothing\n%s", list.stderr)
	}
	code, _, stderr := baoco("", "doctor", "--new-key", "--db", in.db)
	must(t, list.Process.Signal(syscall.SIGINT))
	must(t, list.Wait())
	if code != terminal.ExitDatabase || !strings.Contains(stderr, "end it first") {
		t.Errorf("--new-key beside a command: exit %d, %s", code, stderr)
	}
	if code, _ := examined(t, in.db); code != 0 {
		t.Errorf("afterwards: exit %d", code)
	}
}

// With the key lost, a new one brings the service back: what came in is
// recorded and waits, nothing is signed with what nobody knows, and once the
// secrets are rotated all goes on.
func TestNewKeyAfterLoss(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	do(t, in.dir, "source", "add", "--provider", "generic", "--name", "erp", "--map", "id=id", "--map", "amount=a", "--bank-account-id", "1")
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("123456789:AAAAAAAAAAAAAAAAAAAAAAAAA\n"), 0o600))
	do(t, in.dir, "alert", "telegram", "--chat", "5", "--token-file", token)
	must(t, os.Remove(in.db+".key"))
	refuse(t, in.db, "is missing")

	var lost replacedKey
	must(t, json.Unmarshal([]byte(do(t, in.dir, "doctor", "--new-key", "-o", "json")), &lost))
	if len(lost.Webhooks) != 1 || len(lost.Sources) != 2 || lost.OldKey != nil || lost.Sources[0].Options || !lost.Sources[1].Options || lost.Sources[1].Name != "erp" ||
		len(lost.Alerts) != 1 || lost.Alerts[0].Medium != app.AlertTelegram {
		t.Errorf("%+v", lost)
	}
	if code, checks := examined(t, in.db); code != 0 || !strings.Contains(checks["key"].Message, "webhook 1 (shop), source 1 (till), source 2 (erp), alert channel 1 (telegram) were dropped") {
		t.Errorf("exit %d, %+v", code, checks["key"])
	}

	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	provider := in.provider(p.url)
	if provider.call("FT1") || provider.refusals[401].Load() != 1 {
		t.Error("a call under the lost secret was not refused")
	}
	do(t, in.dir, "transaction", "add", "--amount", "7", "--transaction-number", "FT2")
	for _, c := range []struct {
		exit   int
		says   string // on either output
		args   []string
		absent string
	}{
		{terminal.ExitConflict, "The secret of this webhook is lost, so nothing can be signed.", []string{"webhook", "test", "1"}, "whsec_"},
		{terminal.ExitOK, "baoco webhook rotate-secret 1\n", []string{"webhook", "list"}, "--account"},
		{terminal.ExitOK, `"secret_lost": true`, []string{"webhook", "list", "-o", "json"}, ""},
		{terminal.ExitOK, "Source 2 has lost its secret, so its calls are refused: baoco source rotate 2\n", []string{"source", "list"}, ""},
		{terminal.ExitOK, "Secret: lost, so calls are refused: baoco source rotate 1\n", []string{"source", "show", "1"}, ""},
		{terminal.ExitOK, "once the secret is rotated", []string{"delivery", "pending"}, ""},
		{terminal.ExitOK, "set it up again", []string{"alert", "list"}, ""},
	} {
		code, stdout, stderr := baoco("", append(c.args, "--db", in.db)...)
		if both := spaces.ReplaceAllString(stdout, " ") + stderr; code != c.exit || !strings.Contains(strings.ToLower(both), strings.ToLower(c.says)) || c.absent != "" && strings.Contains(both, c.absent) {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, stdout, stderr)
		}
	}

	var rotated struct{ Secret string }
	must(t, json.Unmarshal([]byte(do(t, in.dir, "webhook", "rotate-secret", "1", "-o", "json")), &rotated))
	receiver.sign("/a", rotated.Secret)
	eventually(t, "what waited goes out", func() bool { return receiver.received()["/a FT2"] })
	must(t, json.Unmarshal([]byte(do(t, in.dir, "source", "rotate", "1", "-o", "json")), &rotated))
	in.source.Secret = rotated.Secret
	if !in.provider(p.url).call("FT3") {
		t.Error("a call under the new secret was refused")
	}
	eventually(t, "what came in goes out", func() bool { return receiver.received()["/a FT3"] })
	if receiver.bad != 0 || receiver.calls.Load() != 2 {
		t.Errorf("%d calls with a wrong signature, %d with the right one", receiver.bad, receiver.calls.Load())
	}
	p.end(t)
	do(t, in.dir, "source", "remove", "2")
	do(t, in.dir, "alert", "telegram", "--chat", "5", "--token-file", token)
	if code, checks := examined(t, in.db); code != 0 || checks["key"].Result != app.CheckOK {
		t.Errorf("exit %d, %+v", code, checks["key"])
	}
}
