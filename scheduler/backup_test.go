package scheduler_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// backups is a database whose server makes backups every day and keeps two.
type backups struct {
	*apptest.World
	t        *testing.T
	schedule upkeep.BackupSchedule
}

func newBackups(t *testing.T) backups { return backupsOf(t, newFile(t)) }

func backupsOf(t *testing.T, path string) backups {
	w := apptest.Open(t, path, services.Config{})
	t.Cleanup(func() { w.Close() })
	return backups{w, t, upkeep.BackupSchedule{Dir: t.TempDir(), Every: 24 * time.Hour, Keep: 2}}
}

// due makes a backup if one is due, and checks what is in the directory then but for
// keys: the times of scheduled backups, and other names.
func (b backups) due(now time.Time, want string) {
	b.t.Helper()
	if _, err := b.Services.Upkeep.BackUpIfDue(context.Background(), b.schedule, now); err != nil {
		b.t.Fatal(err)
	}
	entries, err := os.ReadDir(b.schedule.Dir)
	must(b.t, err)
	var names []string
	keys := 0
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimPrefix(e.Name(), "baoco-auto-"), "T013000Z.db")
		if strings.HasSuffix(name, ".key") {
			keys++
			continue
		}
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != want || keys != len(names) {
		b.t.Errorf("at %v: %q and %d keys, want %q", now, got, keys, want)
	}
}

// warned is the warning about backups of the dashboard and of alerts.
func (b backups) warned(now time.Time) string {
	b.t.Helper()
	list, err := b.Services.Alerts.Attention(context.Background(), app.DefaultAccountID, upkeep.Installation{BaseURL: "https://baoco.vn"}, now)
	must(b.t, err)
	i := slices.IndexFunc(list, func(a alert.Attention) bool {
		return a.Kind == alert.AttentionServer && a.Warning == upkeep.WarningBackup
	})
	if i < 0 {
		return ""
	}
	return list[i].Text.EN
}

func onDay(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 1, 30, 0, 0, time.UTC)
}

// The server keeps as many of its own backups as it should, and touches no others.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	b.due(onDay(11, 10), "20261110")
	b.due(onDay(11, 11).Add(-time.Second), "20261110")
	b.due(onDay(11, 11), "20261110 20261111")
	byHand := filepath.Join(b.schedule.Dir, "by-hand.db")
	_, err := b.Store.Backup(context.Background(), sqlitestore.BackupTarget{File: byHand}, onDay(11, 11))
	must(t, err)
	other := backupsOf(t, apptest.NewFileOfOwnKey(t))
	other.schedule.Dir = b.schedule.Dir
	other.due(onDay(11, 9), "20261109 20261110 20261111 by-hand.db")
	b.due(onDay(11, 12), "20261109 20261111 20261112 by-hand.db")

	// A clock that is wrong for a day: what it dated pushes out nothing real.
	b.due(onDay(12, 30), "20261109 20261112 20261230 by-hand.db")
	b.due(onDay(11, 13), "20261109 20261112 20261113 20261230 by-hand.db")
	b.due(onDay(11, 14), "20261109 20261113 20261114 20261230 by-hand.db")
	// It was slow: the first backup is real all the same.
	b.due(onDay(1, 1), "20260101 20261109 20261113 20261114 20261230 by-hand.db")

	// What the schedule made is a backup: with its key it restores.
	db := filepath.Join(t.TempDir(), "baoco.db")
	restored, err := sqlitestore.Restore(apptest.Acting(context.Background()), db,
		sqlitestore.RestoreSource{File: filepath.Join(b.schedule.Dir, "baoco-auto-20261114T013000Z.db")}, onDay(11, 15))
	if err != nil || restored.Accounts != 1 {
		t.Errorf("restored %+v, %v", restored, err)
	}
}

// Where serve has no directory for backups, the owner's choice counts: the first backup at
// once, then one after each time of the day in the zone of the installation, fourteen of them
// beside the database, and none once that is turned off.
func TestDailyBackup(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	must(t, b.Store.SetBackupEvery(context.Background(), 0))
	b.schedule = upkeep.BackupSchedule{}
	acting, dir := apptest.Acting(context.Background()), filepath.Join(filepath.Dir(b.Path), "backups")
	check := func(now time.Time, want int) {
		t.Helper()
		if _, err := b.Services.Upkeep.BackUpIfDue(context.Background(), b.schedule, now); err != nil {
			t.Fatal(err)
		}
		made, err := filepath.Glob(filepath.Join(dir, "baoco-auto-*.db"))
		must(t, err)
		if len(made) != want {
			t.Errorf("at %v: %d backups, want %d", now, len(made), want)
		}
	}
	now := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC) // 19:00 in the zone
	check(now, 0)
	for _, wrong := range []string{"25:00", "2:3", "02:30:00", "x"} {
		if err := b.Services.Upkeep.SetDailyBackup(acting, wrong); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	must(t, b.Services.Upkeep.SetDailyBackup(acting, "02:30"))
	check(now, 1)
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("others may read the backups: %v", info.Mode())
	}
	next := time.Date(2026, 11, 10, 19, 30, 0, 0, time.UTC) // 02:30 in the zone
	check(next.Add(-time.Second), 1)
	check(next, 2)
	check(next.Add(24*time.Hour-time.Second), 2)
	for day := 1; day <= 14; day++ {
		check(next.AddDate(0, 0, day), min(day+2, 14))
	}
	if got := b.warned(next.AddDate(0, 0, 17)); got != "The last scheduled backup is 72 hours old." {
		t.Errorf("three days late: %q", got)
	}
	must(t, b.Services.Upkeep.SetDailyBackup(acting, ""))
	check(next.AddDate(0, 0, 30), 14)
}

// A backup that fails leaves the older ones and nothing half made, is told of, and is
// tried again after a while. One that is late is told of too.
func TestScheduledBackupFails(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	must(t, b.Store.SetBackupEvery(context.Background(), b.schedule.Every))
	b.due(onDay(11, 10), "20261110")
	if got := b.warned(onDay(11, 12)); got != "" {
		t.Errorf("after two days: %q", got)
	}
	if got := b.warned(onDay(11, 12).Add(time.Second)); got != "The last scheduled backup is 48 hours old." {
		t.Errorf("after more than two days: %q", got)
	}
	away := b.schedule.Dir + "-away"
	must(t, os.Rename(b.schedule.Dir, away))
	now := onDay(11, 11)
	if _, err := b.Services.Upkeep.BackUpIfDue(context.Background(), b.schedule, now); err == nil {
		t.Error("made in no directory")
	}
	if got := b.warned(now); !strings.Contains(got, "backup failed") {
		t.Errorf("after a failure: %q", got)
	}
	must(t, os.Rename(away, b.schedule.Dir))
	b.due(now.Add(15*time.Minute-time.Second), "20261110")
	now = now.Add(15 * time.Minute)
	b.due(now, "20261110 20261111T014500Z.db")
	if got := b.warned(now); got != "" {
		t.Errorf("after one was made: %q", got)
	}
}
