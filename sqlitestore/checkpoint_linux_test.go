package sqlitestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/sqlitestore"
)

// The log of a database doesn't fill a small disk by itself, and where the disk is full
// for another reason, the room that the log holds is used.
func TestLogLeavesRoom(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "small")
	must(t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("needs root, to mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	db := filepath.Join(dir, "baoco.db")
	must(t, sqlitestore.Create(t.Context(), db, app.DefaultZone, time.Now()))
	s := open(t, db, true)
	defer s.Close()
	change := func() error { // some 70 KB of the log, and nothing of the database
		return s.Write(t.Context(), func(exec func(string, ...any) error) error {
			return exec(`INSERT OR REPLACE INTO settings (name, value) VALUES ('probe', ?)`, strings.Repeat(".", 64<<10))
		})
	}
	for i := range 500 {
		if err := change(); err != nil {
			t.Fatalf("change %d: %v; the log has %d bytes", i, err, size(t, db+"-wal"))
		}
	}
	for size(t, db+"-wal") < 1<<20 {
		must(t, change())
	}
	filler, err := os.Create(filepath.Join(dir, "filler"))
	must(t, err)
	defer filler.Close()
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	refused := 0
	for range 100 {
		if change() != nil {
			refused++
		}
	}
	if refused == 0 || refused > 20 {
		t.Errorf("%d of 100 changes are refused on a full disk", refused)
	}
}

// A server begins a new log also where another process had the file open when the last one
// ended. In a log whose sync failed it would acknowledge what isn't on the disk.
func TestNewLog(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "baoco.db")
	must(t, sqlitestore.Create(t.Context(), db, app.DefaultZone, time.Now()))
	s := open(t, db, true)
	other := openToRead(t, db)
	defer other.Close()
	ask(t, other, `SELECT count(*) FROM accounts`)
	must(t, s.Write(t.Context(), func(exec func(string, ...any) error) error {
		return exec(`INSERT INTO settings (name, value) VALUES ('probe', 'x')`)
	}))
	must(t, s.Close())
	if size(t, db+"-wal") == 0 {
		t.Fatal("the close of the first server emptied the log")
	}
	s = open(t, db, true)
	defer s.Close()
	if n := size(t, db+"-wal"); n != 0 {
		t.Errorf("the second server begins with %d bytes in the log", n)
	}
	if rows := ask(t, other, `SELECT value FROM settings WHERE name = 'probe'`); len(rows) != 1 {
		t.Error(rows)
	}
}

// So does a command where no other process has the file open.
func TestNewLogOfCommand(t *testing.T) {
	t.Parallel()
	db, killed := filepath.Join(t.TempDir(), "baoco.db"), filepath.Join(t.TempDir(), "baoco.db")
	must(t, sqlitestore.Create(t.Context(), db, app.DefaultZone, time.Now()))
	s := open(t, db, true)
	defer s.Close()
	must(t, s.Write(t.Context(), func(exec func(string, ...any) error) error {
		return exec(`INSERT INTO settings (name, value) VALUES ('probe', 'x')`)
	}))
	for _, suffix := range []string{"", "-wal", ".key"} {
		content, err := os.ReadFile(db + suffix)
		must(t, err)
		must(t, os.WriteFile(killed+suffix, content, 0o600))
	}
	if size(t, killed+"-wal") == 0 {
		t.Fatal("the server has no log")
	}
	command := open(t, killed, false)
	defer command.Close()
	if n := size(t, killed+"-wal"); n != 0 {
		t.Errorf("the command begins with %d bytes in the log", n)
	}
	read := openToRead(t, killed)
	defer read.Close()
	if rows := ask(t, read, `SELECT value FROM settings WHERE name = 'probe'`); len(rows) != 1 {
		t.Error(rows)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
