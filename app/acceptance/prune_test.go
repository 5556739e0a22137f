package acceptance_test

import (
	"path/filepath"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// What prune isn't told it takes from the server, never from a default that
// the server wasn't started with.
func TestPruneKeepsAsServed(t *testing.T) {
	t.Parallel()
	db := apptest.NewFile(t)
	dir := filepath.Dir(db)
	code, _, stderr := baoco("", "prune", "--db", db, "--keep-inbound", "30d")
	if code != terminal.ExitUsage {
		t.Errorf("exit %d, %s", code, stderr)
	}
	p := serveIn(t, dir, anyPort, "--keep-inbound", "90d", "--keep-history", "0")
	for _, c := range []struct{ want, flag, value string }{
		{"inbound calls older than 90 days, 0; attempts (kept for ever), 0.", "--keep-inbound", "90d"},
		{"inbound calls older than 36h0m0s, 0; attempts (kept for ever), 0.", "--keep-inbound", "36h"},
		{"inbound calls older than 90 days, 0; attempts older than 1 days, 0.", "--keep-history", "24h"},
	} {
		code, stdout, stderr := baoco("", "prune", "--db", db, c.flag, c.value)
		if code != 0 || oneSpace(stdout) != "Removed: "+c.want {
			t.Errorf("%s %s: exit %d, %q, %s", c.flag, c.value, code, stdout, stderr)
		}
	}
	p.end(t)
}
