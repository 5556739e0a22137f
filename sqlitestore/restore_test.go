package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/sqlitestore"
)

// baseURL is what tells databases of these tests apart.
func baseURL(t testing.TB, db string) string {
	t.Helper()
	s := open(t, db, true)
	defer s.Close()
	base, err := s.BaseURL(context.Background())
	must(t, err)
	return base
}

func setBaseURL(t testing.TB, db, base string) {
	t.Helper()
	s := open(t, db, false)
	must(t, errors.Join(s.SetBaseURL(context.Background(), base), s.Close()))
}

// backedUp makes a database and a backup of it, and changes the database
// afterwards.
func backedUp(t testing.TB) (db, backup string) {
	t.Helper()
	db, backup = create(t), filepath.Join(t.TempDir(), "backup.db")
	setBaseURL(t, db, "https://then.vn")
	s := open(t, db, false)
	defer s.Close()
	makeBackup(t, s, sqlitestore.BackupTarget{File: backup})
	must(t, s.SetBaseURL(context.Background(), "https://now.vn"))
	return db, backup
}

func copyTo(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, content, 0o600))
}

func TestRestore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, backup := backedUp(t)
	try, err := sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: backup, DryRun: true}, backupTime)
	must(t, err)
	if baseURL(t, db) != "https://now.vn" || len(try.SetAside) != 2 || try.Served || strings.Contains(names(t, filepath.Dir(db)), "restor") {
		t.Errorf("a try: %+v, in the directory: %s", try, names(t, filepath.Dir(db)))
	}
	r, err := sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: backup}, backupTime)
	must(t, err)
	if r.Contents != try.Contents || r.Schema != sqlitestore.SchemaVersion() || r.Accounts != 1 || r.Zone != app.DefaultZone {
		t.Errorf("%+v, the try said %+v", r.Contents, try.Contents)
	}
	aside := db + ".before-restore-20261122T013000Z"
	if len(r.SetAside) != 2 || r.SetAside[0] != aside || r.SetAside[1] != aside+".key" {
		t.Errorf("set aside: %v", r.SetAside)
	}
	if then, now := baseURL(t, db), baseURL(t, aside); then != "https://then.vn" || now != "https://now.vn" {
		t.Errorf("restored: %s, set aside: %s", then, now)
	}
	// And back again; within the same second too.
	r, err = sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: aside}, backupTime)
	must(t, err)
	if now, then := baseURL(t, db), baseURL(t, r.SetAside[0]); now != "https://now.vn" || then != "https://then.vn" {
		t.Errorf("restored: %s, set aside: %s", now, then)
	}
	if got := names(t, filepath.Dir(db)); strings.Contains(got, ".to-restore") || strings.Contains(got, ".restoring") {
		t.Errorf("in the directory: %s", got)
	}
	if baseURL(t, backup) != "https://then.vn" {
		t.Error("the backup was changed")
	}
}

// The audit log names the whole path of what was restored, also where the command didn't.
func TestRestoreByRelativePath(t *testing.T) {
	db, backup := backedUp(t)
	t.Chdir(filepath.Dir(backup))
	_, err := sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: filepath.Base(backup)}, backupTime)
	must(t, err)
	whole, err := filepath.Abs(filepath.Base(backup))
	must(t, err)
	if said := fmt.Sprint(peek(t, db, `SELECT * FROM audit ORDER BY id DESC LIMIT 1`)); !strings.Contains(said, whole) {
		t.Errorf("the audit log says %s, and not %s", said, whole)
	}
}

// A new machine has nothing but the backup and its key.
func TestRestoreInNewPlace(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t)
	db := filepath.Join(t.TempDir(), "new.db")
	r, err := sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, backupTime)
	must(t, err)
	if len(r.SetAside) != 0 || baseURL(t, db) != "https://then.vn" {
		t.Errorf("%+v", r)
	}
}

// The key is the one beside the backup, else the database's, else the one that
// is named; one that doesn't fit is never put in place.
func TestRestoreKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		prepare func(db, backup, elsewhere string)
		named   bool
		from    string // of the key that is used; empty: the restore is refused
	}{
		"beside":                {func(_, _, _ string) {}, false, "backup"},
		"the database's":        {func(_, backup, _ string) { must(t, os.Remove(backup+".key")) }, false, "database"},
		"a wrong one beside":    {func(_, backup, _ string) { copyTo(t, apptest.NewFileOfOwnKey(t)+".key", backup+".key") }, false, "database"},
		"garbage beside":        {func(_, backup, _ string) { must(t, os.WriteFile(backup+".key", []byte("x"), 0o600)) }, false, "database"},
		"named":                 {func(db, backup, elsewhere string) { copyTo(t, db+".key", elsewhere) }, true, "elsewhere"},
		"a wrong one named":     {func(db, backup, elsewhere string) { copyTo(t, apptest.NewFileOfOwnKey(t)+".key", elsewhere) }, true, ""},
		"one named that is not": {func(_, _, _ string) {}, true, ""},
		"none": {func(db, backup, _ string) {
			must(t, os.Remove(backup+".key"))
			copyTo(t, apptest.NewFileOfOwnKey(t)+".key", db+".key")
		}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db, backup := backedUp(t)
			elsewhere := filepath.Join(t.TempDir(), "key")
			c.prepare(db, backup, elsewhere)
			before, err := os.ReadFile(db)
			must(t, err)
			source := sqlitestore.RestoreSource{File: backup}
			if c.named {
				source.Key = elsewhere
			}
			r, err := sqlitestore.Restore(acting(ctx), db, source, backupTime)
			if c.from == "" {
				after, _ := os.ReadFile(db)
				if !errors.Is(err, sqlitestore.ErrKey) || string(after) != string(before) || strings.Contains(names(t, filepath.Dir(db)), "restor") {
					t.Errorf("%v, in the directory: %s", err, names(t, filepath.Dir(db)))
				}
				return
			}
			must(t, err)
			if want := map[string]string{"backup": backup + ".key", "database": db + ".key", "elsewhere": elsewhere}[c.from]; r.Key != want {
				t.Errorf("key from %s, want %s", r.Key, want)
			}
			if baseURL(t, db) != "https://then.vn" {
				t.Error("not restored")
			}
		})
	}
}

// A restore that is refused changes nothing.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, db, backup string)
		want    error
	}{
		"no file": {func(t *testing.T, _, backup string) { must(t, os.Remove(backup)) }, sqlitestore.ErrNoFile},
		"garbage": {func(t *testing.T, _, backup string) { must(t, os.WriteFile(backup, make([]byte, 9000), 0o600)) },
			sqlitestore.ErrNotDatabase},
		"directory": {func(t *testing.T, _, backup string) { must(t, errors.Join(os.Remove(backup), os.Mkdir(backup, 0o700))) },
			sqlitestore.ErrNotDatabase},
		"half": {func(t *testing.T, _, backup string) {
			info, err := os.Stat(backup)
			must(t, errors.Join(err, os.Truncate(backup, info.Size()/2)))
		}, sqlitestore.ErrDamaged},
		"damaged": {func(t *testing.T, _, backup string) {
			f, err := os.OpenFile(backup, os.O_WRONLY, 0)
			must(t, err)
			for page := int64(1); page < 30; page++ {
				_, e := f.WriteAt([]byte(strings.Repeat("\xff", 100)), page*4096)
				must(t, e)
			}
			must(t, f.Close())
		}, sqlitestore.ErrDamaged},
		"newer":      {func(t *testing.T, _, backup string) { alter(t, backup, `PRAGMA user_version = 99`) }, sqlitestore.ErrNewer},
		"foreign":    {func(t *testing.T, _, backup string) { alter(t, backup, `PRAGMA application_id = 7`) }, sqlitestore.ErrNotDatabase},
		"with a log": {func(t *testing.T, _, backup string) { must(t, os.WriteFile(backup+"-wal", []byte("x"), 0o600)) }, sqlitestore.ErrInUse},
		"itself": {func(t *testing.T, db, backup string) { must(t, errors.Join(os.Remove(backup), os.Link(db, backup))) },
			sqlitestore.ErrInUse},
		"served": {func(t *testing.T, db, _ string) {
			s := open(t, db, true)
			t.Cleanup(func() { must(t, s.Close()) })
		}, sqlitestore.ErrServed},
	} {
		t.Run(name, func(t *testing.T) {
			db, backup := backedUp(t)
			c.prepare(t, db, backup)
			before, err := os.ReadFile(db)
			must(t, err)
			_, err = sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: backup}, backupTime)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if after, _ := os.ReadFile(db); string(after) != string(before) || strings.Contains(names(t, filepath.Dir(db)), "restor") {
				t.Errorf("something was changed; in the directory: %s", names(t, filepath.Dir(db)))
			}
			try, err := sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: backup, DryRun: true}, backupTime)
			if name == "served" && (err != nil || !try.Served) || name != "served" && !errors.Is(err, c.want) {
				t.Errorf("a try: %v", err)
			}
		})
	}
}

func alter(t *testing.T, db, statement string) {
	t.Helper()
	conn, err := sql.Open("sqlite", "file:"+db)
	must(t, err)
	_, err = conn.Exec(statement)
	must(t, errors.Join(err, conn.Close()))
}

// killed makes a database as a kill leaves it, what was written last only in
// its log.
func killed(t testing.TB) string {
	t.Helper()
	live := create(t)
	s := open(t, live, true)
	defer s.Close()
	must(t, s.SetBaseURL(context.Background(), "https://log.vn"))
	db := filepath.Join(t.TempDir(), "baoco.db")
	for _, suffix := range []string{"", "-wal", "-shm", ".key"} {
		copyTo(t, live+suffix, db+suffix)
	}
	return db
}

// A log that a kill left is set aside with its database, and never meets the
// restored one.
func TestRestoreWithStaleLog(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t)
	db := killed(t)
	r, err := sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, backupTime)
	must(t, err)
	if _, err := os.Stat(db + "-wal"); err == nil {
		t.Error("the old log is still there")
	}
	if then, before := baseURL(t, db), baseURL(t, r.SetAside[0]); then != "https://then.vn" || before != "https://log.vn" {
		t.Errorf("restored: %s, set aside: %s", then, before)
	}
	// Nor does a key that the old one was about to get, or any other log.
	db = killed(t)
	for _, suffix := range []string{".key.next", "-journal"} {
		must(t, os.WriteFile(db+suffix, []byte(suffix), 0o600))
	}
	r, err = sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, backupTime)
	must(t, err)
	for _, suffix := range []string{".key.next", "-journal"} {
		_, err := os.Stat(db + suffix)
		if aside, _ := os.ReadFile(r.SetAside[0] + suffix); !os.IsNotExist(err) || string(aside) != suffix {
			t.Errorf("%s: %v; set aside: %q", suffix, err, aside)
		}
	}
	// Nor what Litestream knows of the old one.
	db = killed(t)
	dir, base := filepath.Split(db)
	must(t, os.MkdirAll(filepath.Join(dir, "."+base+"-litestream", "ltx"), 0o700))
	r, err = sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, backupTime)
	must(t, err)
	state := filepath.Join(dir, "."+filepath.Base(r.SetAside[0])+"-litestream")
	if _, err := os.Stat(filepath.Join(state, "ltx")); err != nil || !slices.Contains(r.SetAside, state) ||
		strings.Contains(names(t, dir), "."+base+"-litestream") {
		t.Errorf("Litestream's state: %v; set aside: %v", err, r.SetAside)
	}
	// A log without its database is no less dangerous.
	db = killed(t)
	must(t, os.Remove(db))
	_, err = sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, backupTime)
	must(t, err)
	if got := baseURL(t, db); got != "https://then.vn" {
		t.Errorf("restored: %s", got)
	}
}

// Whoever comes next finishes what was decided: another restore, a server or a
// command.
func TestFinishRestore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	_, backup := backedUp(t)
	decided := func(t *testing.T) string {
		db := killed(t)
		copyTo(t, backup, db+".to-restore-20261122T013000Z")
		copyTo(t, backup+".key", db+".to-restore-20261122T013000Z.key")
		return db
	}
	aside := ".before-restore-20261122T013000Z"
	for name, next := range map[string]func(t *testing.T, db string){
		"serve":   func(t *testing.T, db string) { must(t, open(t, db, true).Close()) },
		"command": func(t *testing.T, db string) { must(t, open(t, db, false).Close()) },
		"before creating": func(t *testing.T, db string) {
			must(t, os.Remove(db))
			must(t, sqlitestore.FinishRestore(db))
		},
		"restore": func(t *testing.T, db string) {
			r, err := sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: backup}, time.Now())
			must(t, err)
			if r.Finished != db+aside {
				t.Errorf("finished %q", r.Finished)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := decided(t)
			next(t, db)
			if got := baseURL(t, db); got != "https://then.vn" {
				t.Errorf("restored: %s", got)
			}
			if name != "before creating" {
				if got := baseURL(t, db+aside); got != "https://log.vn" {
					t.Errorf("set aside: %s", got)
				}
			}
			if got := names(t, filepath.Dir(db)); strings.Contains(got, ".to-restore") {
				t.Errorf("in the directory: %s", got)
			}
		})
	}
}

// While another program, such as Litestream, has the database open, nothing takes its
// place: neither a restore nor the end of one that was interrupted.
func TestRestoreBesideAnotherProgram(t *testing.T) {
	t.Parallel()
	db, backup := backedUp(t)
	other, err := sql.Open("sqlite", "file:"+db)
	must(t, err)
	defer other.Close()
	var rows int
	must(t, other.QueryRow(`SELECT count(*) FROM settings`).Scan(&rows))
	before := names(t, filepath.Dir(db))
	restore := func(dry bool) (sqlitestore.Restored, error) {
		return sqlitestore.Restore(acting(t.Context()), db, sqlitestore.RestoreSource{File: backup, DryRun: dry}, backupTime)
	}
	if try, err := restore(true); err != nil || !try.Served {
		t.Errorf("a dry run: %+v, %v", try, err)
	}
	next := db + ".to-restore-20261122T000000Z"
	for what, attempt := range map[string]func() error{
		"a restore":              func() error { _, err := restore(false); return err },
		"an interrupted restore": func() error { copyTo(t, backup, next); return sqlitestore.FinishRestore(db) },
	} {
		if err := attempt(); !errors.Is(err, sqlitestore.ErrHeld) {
			t.Errorf("%s: %v", what, err)
		}
		must(t, os.RemoveAll(next))
		if now := names(t, filepath.Dir(db)); now != before || baseURL(t, db) != "https://now.vn" {
			t.Errorf("%s changed the files: %s, before: %s", what, now, before)
		}
	}
	must(t, other.Close())
	_, err = restore(false)
	must(t, err)
	if got := baseURL(t, db); got != "https://then.vn" {
		t.Errorf("afterwards: %s", got)
	}
}
