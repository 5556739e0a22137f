package replica_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/replica"
)

// What Litestream writes looks right; what it never does is odd.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	objects := openDir(t, dir)
	file := func(level, first, last int) string {
		return fmt.Sprintf("epoch-000001/ltx/%d/%016x-%016x.ltx", level, first, last)
	}
	put := func(name, text string) { apptest.Must(t, objects.Put(t.Context(), name, []byte(text))) }
	remove := func(name string) { apptest.Must(t, os.Remove(filepath.Join(dir, name))) }
	look := func() replica.Look {
		l, err := replica.LookAt(t.Context(), objects, 1)
		apptest.Must(t, err)
		return l
	}
	odd := func(what string, before replica.Look, says string) {
		t.Helper()
		err := look().Odd(before)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", what, err, says)
		}
	}
	odd("nothing", replica.Look{}, "no copy")
	put(file(9, 1, 4), "snapshot")
	put(file(0, 2, 2), "2") // Litestream keeps those for a while
	put(file(0, 4, 4), "4")
	put(file(0, 5, 5), "5")
	put(file(0, 6, 6), "6")
	put("epoch-000001/ltx/0/half.tmp", "x")
	odd("a snapshot and what follows", replica.Look{}, "")
	before := look()
	put(file(1, 5, 6), "56")
	remove(file(0, 2, 2))
	remove(file(0, 4, 4))
	remove(file(0, 5, 5))
	remove(file(0, 6, 6))
	put(file(0, 7, 7), "7")
	odd("compacted", before, "")
	put(file(0, 9, 9), "9")
	odd("one deleted", before, "8 to 8 of the file are missing")
	remove(file(0, 9, 9))
	remove(file(1, 5, 6))
	odd("a compaction deleted", before, "5 to 6")
	put(file(1, 5, 6), "56")
	remove(file(9, 1, 4))
	odd("the snapshot deleted", before, "1 to 4")
	put(file(9, 1, 4), "snapshot")
	touch := func(level int, at time.Time) {
		apptest.Must(t, os.Chtimes(filepath.Join(dir, "epoch-000001/ltx", fmt.Sprint(level)), at, at))
	}
	touch(0, noon)
	touch(1, noon.Add(-2*time.Hour))
	touch(9, noon.Add(-time.Hour))
	if got := look().Newest; !got.Equal(noon) {
		t.Errorf("last written to at %v, want %v", got, noon)
	}
	if touch(9, noon.Add(time.Hour)); !look().Newest.Equal(noon.Add(time.Hour)) {
		t.Errorf("last written to at %v, an hour before a snapshot", look().Newest)
	}
	before = look()
	odd("nothing new", before, "")
	if look().News(before) || !before.News(replica.Look{}) {
		t.Error("something new is seen where nothing was written, or nothing where something was")
	}
	put(file(0, 7, 7), "8")
	apptest.Must(t, os.Chtimes(filepath.Join(dir, file(0, 7, 7)), time.Now(), time.Now().Add(time.Second)))
	odd("one changed", before, "was changed")
}
