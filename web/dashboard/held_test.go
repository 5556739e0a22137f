package dashboard

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Held files have their time and their room, so that nobody fills the memory.
func TestHeldFilesAreBounded(t *testing.T) {
	t.Parallel()
	var h heldFiles
	now := time.Now()
	path := filepath.Join(t.TempDir(), "a.csv")
	hold := func(user int64, size int, now time.Time) bool {
		t.Helper()
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		return h.hold(user, upload{path: path, name: "a.csv", sum: "sum"}, now)
	}
	found := func(user int64, sum string, now time.Time) bool { return h.find(user, sum, now).data != nil }
	if !hold(1, maxHeldFile, now) || hold(2, maxHeldFile+1, now) {
		t.Error("the size of one file")
	}
	if !found(1, "sum", now) || found(1, "", now) || found(2, "sum", now) {
		t.Error("a file is found by its user and its digest")
	}
	for user := int64(2); user <= 6; user++ {
		if held := hold(user, maxHeldFile, now); held != (user <= maxHeldFiles/maxHeldFile) {
			t.Errorf("file %d is held: %v", user, held)
		}
	}
	if !hold(1, maxHeldFile, now.Add(time.Minute)) {
		t.Error("a user's next file takes the place of the last one")
	}
	if found(2, "sum", now.Add(heldFor)) || !found(1, "sum", now.Add(heldFor)) || found(1, "sum", now.Add(heldFor+time.Minute)) {
		t.Error("a file is held for its time")
	}
	if len(h.files) != 0 {
		t.Errorf("%d files stay in memory", len(h.files))
	}
}
