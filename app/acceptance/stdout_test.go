package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// The process does as much: on a full disk, and where nobody reads, which only
// matters where something was made.
func TestLostOutputOfAProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	doIn(t, dir, "version")
	apptest.NewFileAt(t, filepath.Join(dir, "baoco.db"))
	exit := func(stdout *os.File, args ...string) (int, string) {
		t.Helper()
		var stderr strings.Builder
		cmd := program(dir, args...)
		cmd.Stdout, cmd.Stderr = stdout, &stderr
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode(), stderr.String()
	}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		defer full.Close()
		if code, stderr := exit(full, "apikey", "create", "shop"); code != terminal.ExitError ||
			!strings.Contains(stderr, "baoco apikey revoke 1") {
			t.Errorf("a key on a full disk: exit %d, %s", code, stderr)
		}
		if code, stderr := exit(full, "apikey", "list"); code != terminal.ExitError || !strings.Contains(stderr, "no space left") {
			t.Errorf("a listing on a full disk: exit %d, %s", code, stderr)
		}
	}
	reader, unread, err := os.Pipe()
	must(t, err)
	must(t, reader.Close())
	defer unread.Close()
	if code, stderr := exit(unread, "apikey", "list"); code != 0 || stderr != "" {
		t.Errorf("a listing that nobody reads: exit %d, %s", code, stderr)
	}
	if code, stderr := exit(unread, "apikey", "create", "shop"); code != terminal.ExitError ||
		!strings.Contains(stderr, "baoco apikey revoke ") {
		t.Errorf("a key that nobody reads: exit %d, %s", code, stderr)
	}
	if code, stderr := exit(unread, "transaction", "export"); code != terminal.ExitError || stderr != "" {
		t.Errorf("an export that nobody reads: exit %d, %s", code, stderr)
	}
}
