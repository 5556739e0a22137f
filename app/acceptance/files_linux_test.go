package acceptance_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/command/terminal"
	"baoco/sqlitestore"
)

// Under load the log, the lock or the database itself is taken away: the server
// ends with what to do, and nothing that it acknowledged is lost.
func TestFilesTakenAwayUnderLoad(t *testing.T) {
	t.Parallel()
	proof(t)
	receiver := openShop(t)
	for _, taken := range []string{"-wal", ".lock", ""} {
		in := install(t, receiver)
		p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
		calls := in.provider(p.url)
		stop := calls.underLoad(4)
		eventually(t, "calls are acknowledged", func() bool { return len(calls.acknowledged()) >= 50 })
		must(t, os.Remove(in.db+taken))
		code := p.exitWithin(t, 30*time.Second)
		stop()
		said := p.stderr.String()
		if code != terminal.ExitDatabase || !strings.Contains(said, "taken away") || strings.Contains(said, "could not be saved") {
			t.Errorf("without %q: exit %d\n%s", taken, code, said)
		}
		if calls.refusals[http.StatusServiceUnavailable].Load() == 0 && calls.refusals[http.StatusInternalServerError].Load() != 0 {
			t.Errorf("without %q calls were answered 500", taken)
		}
		if taken == "" {
			p := startIn(t, in.dir, anyPort)
			if code := p.exitWithin(t, 30*time.Second); code != terminal.ExitDatabase || !strings.Contains(p.stderr.String(), "baoco restore") {
				t.Errorf("the next serve: exit %d\n%s", code, p.stderr)
			}
			saved, err := filepath.Glob(in.db + ".taken-*Z")
			must(t, err)
			if len(saved) != 1 {
				t.Fatalf("saved: %v\n%s", saved, said)
			}
			do(t, in.dir, "restore", saved[0])
		}
		again := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
		store, err := sqlitestore.Open(t.Context(), in.db, sqlitestore.Options{})
		must(t, err)
		eventually(t, "every delivery is made", drained(t, store))
		must(t, store.Close())
		again.end(t)
		checkLedger(t, in.db, calls.acknowledged())
	}
}

// A second server isn't let in by a second name.
func TestServeSecondName(t *testing.T) {
	t.Parallel()
	in := install(t, openShop(t))
	p := serveIn(t, in.dir, anyPort)
	elsewhere := t.TempDir()
	must(t, os.Link(in.db, filepath.Join(elsewhere, "baoco.db")))
	must(t, os.Link(in.db+".key", filepath.Join(elsewhere, "baoco.db.key")))
	second := startIn(t, elsewhere, anyPort)
	if code := second.exitWithin(t, 30*time.Second); code != terminal.ExitDatabase || !strings.Contains(second.stderr.String(), "2 names") {
		t.Errorf("exit %d\n%s", code, second.stderr)
	}
	if code, _, stderr := baoco("", "bank", "list", "--db", filepath.Join(elsewhere, "baoco.db")); code != terminal.ExitDatabase ||
		!strings.Contains(stderr, "2 names") {
		t.Errorf("a command: exit %d\n%s", code, stderr)
	}
	if !in.provider(p.url).call("undisturbed") {
		t.Error("the first server is disturbed")
	}
	p.end(t)
}
