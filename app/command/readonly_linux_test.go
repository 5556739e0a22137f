package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"
)

// A database on a disk that can only be read is a failure of the database,
// whatever the command wants of it.
func TestReadOnlyDisk(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	apptest.NewFileAt(t, filepath.Join(dir, "baoco.db"))
	served, err := sqlitestore.Open(context.Background(), filepath.Join(dir, "baoco.db"), sqlitestore.Options{Serve: true})
	must(t, err)
	must(t, served.Close())
	if err := syscall.Mount(dir, disk, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("needs root, to mount a directory: %v", err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	must(t, syscall.Mount("", disk, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	t.Setenv("BAOCO_DB", filepath.Join(disk, "baoco.db"))
	for _, command := range []string{
		"bank list", "apikey create x", "backup DIR/copy.db", "restore DIR/baoco.db", "serve --listen 127.0.0.1:0",
		"doctor --new-key", "doctor --repair-totals", "transaction export", "prune --dry-run",
	} {
		code, stdout, stderr := baoco("", words(command, "DIR", dir)...)
		if code != terminal.ExitDatabase || stdout != "" || stderr == "" {
			t.Errorf("$ %s: exit %d\n%s%s", command, code, stdout, stderr)
		}
	}
	t.Setenv("INVOCATION_ID", "0123456789abcdef0123456789abcdef") // as systemd does
	for _, command := range []string{"serve --listen 127.0.0.1:0", "backup --dir DISK --db DIR/baoco.db"} {
		code, _, stderr := baoco("", words(command, "DIR", dir, "DISK", disk)...)
		if code != terminal.ExitDatabase || !strings.Contains(stderr, "ReadWritePaths="+disk) {
			t.Errorf("$ %s in a unit: exit %d\n%s", command, code, stderr)
		}
	}
	// Nobody is told to restore a backup in place of a whole database.
	if code, stdout, _ := baoco("", "doctor"); code != terminal.ExitCheck ||
		!strings.Contains(stdout, "must be able to write into the directory") || strings.Contains(stdout, "restore a backup") {
		t.Errorf("doctor: exit %d\n%s", code, stdout)
	}
	if _, err := os.Stat(filepath.Join(dir, "copy.db")); err == nil {
		t.Error("a backup was made")
	}
}
