package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"baoco/sqlitestore"
)

// Without room for the copy of before, nothing is migrated.
func TestMigrationWithoutRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("needs root, to mount a small disk: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	db, path := create(t), filepath.Join(dir, "baoco.db")
	copyTo(t, db, path)
	copyTo(t, db+".key", path+".key")
	must(t, open(t, path, true).Close())
	before := names(t, dir)
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Serve: true}.Later(addColumn))
	if !errors.Is(err, sqlitestore.ErrNoRoom) || !strings.Contains(err.Error(), "back up before") {
		t.Errorf("migrating on a small disk: %v", err)
	}
	if after := names(t, dir); after != before || versions(t, path) != asBefore {
		t.Errorf("%s, in the directory: %s, before: %s", versions(t, path), after, before)
	}
}
