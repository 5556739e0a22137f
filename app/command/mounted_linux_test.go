package command

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// A database or a key that is mounted by itself, without its folder, can't be renamed.
// A restore, a rehearsal of one and a new key say so, change nothing, and the database opens afterwards.
func TestMountedFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `my "shop"`)
	must(t, os.Mkdir(dir, 0o700))
	db := filepath.Join(dir, "baoco.db")
	t.Setenv("BAOCO_DB", db)
	apptest.NewFileAt(t, db)
	backup := filepath.Join(t.TempDir(), "copy.db")
	run := func(args ...string) {
		t.Helper()
		if code, stdout, stderr := baoco("", args...); code != terminal.ExitOK {
			t.Errorf("$ %s: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	run("backup", backup)
	for file, commands := range map[string][]string{
		"baoco.db":     {"restore --dry-run BACKUP", "restore BACKUP"},
		"baoco.db.key": {"restore --dry-run BACKUP", "restore BACKUP", "doctor --new-key"},
	} {
		file = filepath.Join(dir, file)
		if err := syscall.Mount(file, file, "", syscall.MS_BIND, ""); err != nil {
			t.Skipf("needs root, to mount a file: %v", err)
		}
		for _, command := range commands {
			code, stdout, stderr := baoco("", words(command, "BACKUP", backup)...)
			if code != terminal.ExitDatabase || stdout != "" || !strings.Contains(stderr, "mount its folder instead: "+file) {
				t.Errorf("$ %s with %s mounted: exit %d\n%s%s", command, file, code, stdout, stderr)
			}
			run("bank", "list")
		}
		must(t, syscall.Unmount(file, syscall.MNT_DETACH))
		if left, err := filepath.Glob(filepath.Join(dir, "*restor*")); err != nil || len(left) > 0 {
			t.Errorf("with %s mounted %v is left, %v", file, left, err)
		}
	}
}
