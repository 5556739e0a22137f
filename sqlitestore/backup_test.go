package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/upkeep"
	"baoco/sqlitestore"

	"github.com/google/go-cmp/cmp"
)

var backupTime = time.Date(2026, 11, 22, 1, 30, 0, 0, time.UTC)

// makeBackup makes one of an open store.
func makeBackup(t testing.TB, s *sqlitestore.Store, target sqlitestore.BackupTarget) sqlitestore.BackupMade {
	t.Helper()
	made, err := s.Backup(context.Background(), target, backupTime)
	must(t, err)
	return made
}

// names lists a directory.
func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// A backup beside a server that writes is the state of one moment, and the
// database remembers that it was made.
func TestBackupBesideWriting(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := create(t)
	s := open(t, db, true)
	defer s.Close()
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			// Both in one commit: a copy holds both or none.
			if err := s.Write(ctx, func(exec func(string, ...any) error) error {
				return errors.Join(exec(`INSERT OR REPLACE INTO settings VALUES ('a', ?)`, fmt.Sprint(i)),
					exec(`INSERT OR REPLACE INTO settings VALUES ('b', ?)`, fmt.Sprint(i)))
			}); err != nil {
				stopped <- err
				return
			}
		}
	}()
	dir := t.TempDir()
	beside := open(t, db, false) // as the command is
	for i := range 5 {
		made := makeBackup(t, beside, sqlitestore.BackupTarget{File: filepath.Join(dir, fmt.Sprint(i))})
		pair := peek(t, made.Path, `SELECT count(DISTINCT value) FROM settings WHERE name IN ('a', 'b')`)
		if pair[0][0].(int64) > 1 {
			t.Error("the copy holds half of a commit")
		}
		for _, name := range []string{made.Path, made.Path + ".key"} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
	close(stop)
	must(t, apptest.Receive(t, "the writing beside it ends", stopped))
	must(t, beside.Close())
	if got := names(t, dir); got != "0 0.key 1 1.key 2 2.key 3 3.key 4 4.key" {
		t.Errorf("in the directory: %s", got)
	}
	status, err := s.BackupStatus(ctx)
	must(t, err)
	info, err := os.Stat(filepath.Join(dir, "4"))
	must(t, err)
	want := upkeep.BackupStatus{Last: upkeep.Backup{Path: filepath.Join(dir, "4"), Size: info.Size(), At: backupTime.Local(), WithKey: true},
		DailyDir: filepath.Join(filepath.Dir(db), "backups")}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
}

func TestBackupStatusOfNone(t *testing.T) {
	t.Parallel()
	s := open(t, create(t), false)
	defer s.Close()
	if status, err := s.BackupStatus(context.Background()); err != nil || !status.Last.At.IsZero() || !status.FirstAt.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
}

// A backup never takes the place of anything that it wasn't told to, nor of
// what somebody works with.
func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := create(t)
	s := open(t, db, true)
	defer s.Close()
	dir := t.TempDir()
	taken := makeBackup(t, s, sqlitestore.BackupTarget{File: filepath.Join(dir, "taken")}).Path
	other := apptest.NewFileOfOwnKey(t)
	served := open(t, other, true)
	defer served.Close()
	foreign := filepath.Join(dir, "foreign")
	must(t, os.WriteFile(foreign+".key", []byte("another key\n"), 0o600))
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(taken, link))
	before := names(t, dir)
	for _, c := range []struct {
		name   string
		target sqlitestore.BackupTarget
		want   error
	}{
		{"existing", sqlitestore.BackupTarget{File: taken}, fs.ErrExist},
		{"itself", sqlitestore.BackupTarget{File: db, Replace: true}, sqlitestore.ErrInUse},
		{"its log", sqlitestore.BackupTarget{File: db + "-wal", Replace: true}, sqlitestore.ErrInUse},
		{"its key", sqlitestore.BackupTarget{File: db + ".key", Replace: true}, sqlitestore.ErrInUse},
		{"its lock", sqlitestore.BackupTarget{File: db + ".lock", Replace: true}, sqlitestore.ErrInUse},
		{"another that is served", sqlitestore.BackupTarget{File: other, Replace: true}, sqlitestore.ErrInUse},
		{"key of another", sqlitestore.BackupTarget{File: foreign, Replace: true}, fs.ErrExist},
		{"a link", sqlitestore.BackupTarget{File: link, Replace: true}, fs.ErrExist},
		{"a directory", sqlitestore.BackupTarget{File: dir, Replace: true}, fs.ErrExist},
		{"no directory", sqlitestore.BackupTarget{File: filepath.Join(dir, "none", "x")}, fs.ErrNotExist},
	} {
		if made, err := s.Backup(ctx, c.target, backupTime); !errors.Is(err, c.want) || made.Path != "" {
			t.Errorf("%s: %+v, %v; want %v", c.name, made, err, c.want)
		}
	}
	if after := names(t, dir); after != before {
		t.Errorf("in the directory: %s, before %s", after, before)
	}
	if key, _ := os.ReadFile(foreign + ".key"); string(key) != "another key\n" {
		t.Error("the key of another was replaced")
	}
	makeBackup(t, s, sqlitestore.BackupTarget{File: taken, Replace: true})
}

// Two at once would take each other's drafts for those of a run that was
// killed.
func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	db := create(t)
	s := open(t, db, false)
	defer s.Close()
	dir := t.TempDir()
	made := makeBackup(t, s, sqlitestore.BackupTarget{File: filepath.Join(dir, "a"), NoKey: true})
	unlock, err := sqlitestore.LockDir(filepath.Dir(s.Path()))
	must(t, err)
	_, second := s.Backup(context.Background(), sqlitestore.BackupTarget{File: filepath.Join(dir, "b")}, backupTime)
	unlock()
	if !errors.Is(second, sqlitestore.ErrBackupRuns) {
		t.Errorf("a second backup meanwhile: %v", second)
	}
	if got := names(t, dir); got != "a" || made.WithKey {
		t.Errorf("in the directory: %s; with a key: %v", got, made.WithKey)
	}
}

// Dated backups: the newest of this database stay, and whatever isn't one.
func TestKeepBackups(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, create(t), false)
	defer s.Close()
	dir := t.TempDir()
	at := func(day int) time.Time { return time.Date(2026, 11, day, 1, 30, 0, 0, time.UTC) }
	dated := func(day int) string { return fmt.Sprintf("baoco-202611%02dT013000Z.db", day) }
	for day := 10; day <= 14; day++ {
		_, err := s.Backup(ctx, sqlitestore.BackupTarget{Dir: dir}, at(day))
		must(t, err)
	}
	stranger := open(t, apptest.NewFileOfOwnKey(t), false) // that writes there too
	defer stranger.Close()
	for day := 1; day <= 3; day++ {
		_, err := stranger.Backup(ctx, sqlitestore.BackupTarget{Dir: dir, NoKey: true}, at(day))
		must(t, err)
	}
	for _, name := range []string{"baoco-20261109T013000Z.db", "baoco-old.db", "notes.txt"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("something"), 0o600))
	}
	made, err := s.Backup(ctx, sqlitestore.BackupTarget{Dir: dir, Keep: 3}, at(15))
	must(t, err)
	base := func(paths []string) string {
		var list []string
		for _, p := range paths {
			list = append(list, filepath.Base(p))
		}
		return strings.Join(list, " ")
	}
	if got, want := base(made.Removed), dated(10)+" "+dated(11)+" "+dated(12); got != want {
		t.Errorf("removed %s, want %s", got, want)
	}
	if got, want := base(made.Left), dated(1)+" "+dated(2)+" "+dated(3)+" "+dated(9); got != want {
		t.Errorf("left %s, want %s", got, want)
	}
	if got := names(t, dir); strings.Contains(got, dated(12)) ||
		!strings.Contains(got, dated(13)+" "+dated(13)+".key "+dated(14)+" "+dated(14)+".key "+dated(15)) {
		t.Errorf("in the directory: %s", got)
	}
	// Those that are dated later than the new one may be real: the clock was set back.
	made, err = s.Backup(ctx, sqlitestore.BackupTarget{Dir: dir, Keep: 1}, at(5))
	must(t, err)
	if _, err := os.Stat(made.Path); err != nil || len(made.Removed) != 0 {
		t.Errorf("%v; removed %s", err, base(made.Removed))
	}
}

// What a killed run left is removed by the next, and nothing else.
func TestBackupDrafts(t *testing.T) {
	t.Parallel()
	s := open(t, create(t), false)
	defer s.Close()
	dir := t.TempDir()
	var draft string
	seen := make(chan struct{})
	watch, stop := context.WithCancel(context.Background())
	go func() { // the name of a draft, as it is made
		defer close(seen)
		for watch.Err() == nil && draft == "" {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), ".baoco-backup-") {
					draft = e.Name()
				}
			}
		}
	}()
	for i := 0; i < 50; i++ {
		makeBackup(t, s, sqlitestore.BackupTarget{File: filepath.Join(dir, "a"), Replace: true})
		select {
		case <-seen:
			i = 50
		default:
		}
	}
	stop()
	<-seen
	if draft == "" {
		t.Fatal("no draft was seen")
	}
	stale, foreign := filepath.Join(dir, draft[:len(draft)-4]+"XXXX"), filepath.Join(dir, ".baoco-backup-000000000000-ABCDEFGH")
	for _, name := range []string{stale, foreign} {
		must(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	makeBackup(t, s, sqlitestore.BackupTarget{File: filepath.Join(dir, "a"), Replace: true})
	if got := names(t, dir); got != filepath.Base(foreign)+" a a.key" {
		t.Errorf("in the directory: %s", got)
	}
}

// A damaged database gives no backup.
func TestBackupOfDamage(t *testing.T) {
	t.Parallel()
	db := create(t)
	s := open(t, db, false)
	must(t, s.Write(context.Background(), func(exec func(string, ...any) error) error {
		return exec(`INSERT INTO settings WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
			WHERE i < 500) SELECT 'filler' || i, hex(randomblob(500)) FROM n`)
	}))
	must(t, s.Close())
	f, err := os.OpenFile(db, os.O_WRONLY, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	for at := info.Size() / 2; at < info.Size(); at += 4096 {
		_, err = f.WriteAt([]byte(strings.Repeat("damage", 100)), at)
		must(t, err)
	}
	must(t, f.Close())
	dir := t.TempDir()
	if s, err = sqlitestore.Open(context.Background(), db, sqlitestore.Options{}); err == nil {
		defer s.Close()
		_, err = s.Backup(context.Background(), sqlitestore.BackupTarget{File: filepath.Join(dir, "a")}, backupTime)
	}
	if got := names(t, dir); err == nil || got != "" {
		t.Errorf("%v; in the directory: %s", err, got)
	}
}
