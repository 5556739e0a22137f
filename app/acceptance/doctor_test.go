package acceptance_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"baoco/app/command/terminal"
	"baoco/app/upkeep"
)

// Doctor works beside a server under load, and keeps its hands off: what would
// change the file refuses. After a kill it leaves the log where it is.
func TestDoctorBesideServer(t *testing.T) {
	t.Parallel()
	receiver := openShop(t)
	in := install(t, receiver)
	p := serveIn(t, in.dir, anyPort, "--allow-target", receiver.target())
	stop := in.provider(p.url).underLoad(4)
	for range rounds(2, 5) {
		for _, args := range [][]string{nil, {"--full"}} {
			if code, checks := examined(t, in.db, args...); code != 0 || !strings.Contains(checks["server"].Message, "A server runs") {
				t.Errorf("%v: exit %d, %+v", args, code, checks)
			}
		}
	}
	for _, flag := range []string{"--new-key", "--repair-totals"} {
		if code, _, stderr := baoco("", "doctor", flag, "--db", in.db); code != terminal.ExitDatabase ||
			!strings.Contains(stderr, "another baoco serve") {
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

// examined is what baoco doctor says of a database: result and message by
// check.
func examined(t *testing.T, db string, args ...string) (code int, checks map[string]checked) {
	t.Helper()
	code, stdout, stderr := baoco("", append([]string{"doctor", "-o", "json", "--db", db}, args...)...)
	var list []checked
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	checks = map[string]checked{}
	for _, c := range list {
		checks[c.Check] = c
	}
	return code, checks
}

type checked struct {
	Check, Message string
	Result         upkeep.CheckResult
}
