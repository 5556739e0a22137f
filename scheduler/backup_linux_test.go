package scheduler_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/sqlitestore"
)

// A full disk leaves the older backups and nothing half made, whether it is full
// before or meanwhile. It is told of, and once there is room the next is made.
func TestScheduledBackupToFullDisk(t *testing.T) {
	t.Parallel()
	for what, fill := range map[string]func(t *testing.T, disk string){
		"no room": func(t *testing.T, disk string) {
			must(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=2m"))
			f, err := os.Create(filepath.Join(disk, "filler"))
			must(t, err)
			defer f.Close()
			for err == nil {
				_, err = f.Write(make([]byte, 1<<12))
			}
		},
		// There is room when it begins, but for one file only, and it needs two.
		"full meanwhile": func(t *testing.T, disk string) {
			var info syscall.Statfs_t
			must(t, syscall.Statfs(disk, &info))
			for n := info.Ffree; n > 1; n-- {
				must(t, os.WriteFile(filepath.Join(disk, "filler"+strings.Repeat("x", int(n))), nil, 0o600))
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBackups(t)
			if err := syscall.Mount("tmpfs", b.schedule.Dir, "tmpfs", 0, "size=64m,nr_inodes=40"); err != nil {
				t.Skipf("needs root, to mount a small disk: %v", err)
			}
			t.Cleanup(func() { must(t, syscall.Unmount(b.schedule.Dir, syscall.MNT_DETACH)) })
			must(t, b.Store.SetBackupEvery(context.Background(), b.schedule.Every))
			b.due(onDay(11, 10), "20261110")
			fill(t, b.schedule.Dir)
			now := onDay(11, 11)
			if made, err := b.Services.Upkeep.BackUpIfDue(context.Background(), b.schedule, now); err == nil || made.Path != "" {
				t.Errorf("made on a full disk: %+v, %v", made, err)
			}
			if got := b.warned(now); !strings.Contains(got, "backup failed") {
				t.Errorf("after a failure: %q", got)
			}
			fillers, err := filepath.Glob(filepath.Join(b.schedule.Dir, "filler*"))
			must(t, err)
			for _, name := range fillers {
				must(t, os.Remove(name))
			}
			must(t, syscall.Mount("tmpfs", b.schedule.Dir, "tmpfs", syscall.MS_REMOUNT, "size=64m,nr_inodes=40"))
			b.due(now.Add(time.Minute), "20261110") // nothing is left of it, and it is too early
			restored, err := sqlitestore.Restore(apptest.Acting(context.Background()), filepath.Join(t.TempDir(), "baoco.db"),
				sqlitestore.RestoreSource{File: filepath.Join(b.schedule.Dir, "baoco-auto-20261110T013000Z.db")}, now)
			if err != nil || restored.Accounts != 1 {
				t.Errorf("the older one holds %+v, %v", restored, err)
			}
			now = now.Add(15 * time.Minute)
			b.due(now, "20261110 20261111T014500Z.db")
			if got := b.warned(now); got != "" {
				t.Errorf("after one was made: %q", got)
			}
		})
	}
}
