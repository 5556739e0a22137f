package sqlitestore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// opensWhole checks that a database is whole, with its key: a source that was
// added to it still has its secret. It gives what tells it from others.
func opensWhole(t *testing.T, db string) string {
	t.Helper()
	s := open(t, db, true)
	defer s.Close()
	sources, err := s.Sources(context.Background(), 1)
	must(t, err)
	if len(sources) != 1 || sources[0].Secret == "" || sources[0].SecretLost {
		t.Fatalf("%s has the sources %+v", db, sources)
	}
	base, err := s.BaseURL(context.Background())
	must(t, err)
	return base
}

// sealed makes a database with a secret.
func sealed(t *testing.T, base string) string {
	t.Helper()
	w := apptest.Open(t, create(t), services.Config{})
	defer w.Close()
	w.Source("native", "", "")
	must(t, w.Store.SetBaseURL(context.Background(), base))
	return w.Path
}

// copyFiles copies all files of a directory into another one.
func copyFiles(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(from)
	must(t, err)
	for _, e := range entries {
		copyTo(t, filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
	}
	return to
}

// entries are the ways to come to a database, and whether each may refuse.
var entries = map[string]func(db, backup string) error{
	"serve": func(db, _ string) error {
		s, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{Serve: true})
		if err == nil {
			err = s.Close()
		}
		return err
	},
	"command": func(db, _ string) error {
		s, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
		if err == nil {
			err = s.Close()
		}
		return err
	},
	"create": func(db, _ string) error {
		err := sqlitestore.Create(context.Background(), db, app.DefaultZone, time.Now())
		if err == nil {
			return errors.New("an empty database was made")
		}
		return nil
	},
	"doctor": func(db, _ string) error { return examine(db) },
	"new key": func(db, _ string) error {
		r, err := sqlitestore.ReplaceKey(acting(context.Background()), db, time.Now())
		if err == nil && len(r.Lost) > 0 {
			err = fmt.Errorf("secrets were dropped: %+v", r.Lost)
		}
		return err
	},
	"prune": func(db, _ string) error {
		s, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
		if err != nil {
			return err
		}
		_, err = s.Prune(context.Background(), upkeep.PruneLimits{Inbound: time.Hour}, time.Now())
		return errors.Join(err, s.Close())
	},
	"backup": func(db, _ string) error {
		s, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{})
		if err != nil {
			return err
		}
		_, err = s.Backup(acting(context.Background()), sqlitestore.BackupTarget{File: db + "-copy"}, time.Now())
		return errors.Join(err, s.Close())
	},
	"restore again": func(db, backup string) error {
		_, err := sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, time.Now().Add(time.Minute))
		return err
	},
}

// examine refuses advice to make a new key where no key is lost.
func examine(db string) error {
	checks, err := sqlitestore.Examine(context.Background(), db, sqlitestore.Examination{Now: time.Now()})
	for _, c := range checks {
		if strings.Contains(c.Cure.EN, "If it is lost") || strings.Contains(c.Cure.EN, "drop") ||
			strings.Contains(c.Cure.EN, "restore a backup") {
			err = errors.Join(err, fmt.Errorf("doctor advises: %s", c.Cure.EN))
		}
	}
	return err
}

// A restore that is killed after any of its renames is finished or respected by
// whoever comes next: there is the old database or the new one, whole and with
// its key, and doctor advises nothing that destroys.
func TestInterruptedRestore(t *testing.T) {
	ctx := context.Background()
	db, other := sealed(t, "https://old.vn"), sealed(t, "https://new.vn")
	s := open(t, other, false)
	backup := filepath.Join(t.TempDir(), "backup.db")
	makeBackup(t, s, sqlitestore.BackupTarget{File: backup})
	must(t, s.Close())
	must(t, os.WriteFile(db+".key.next", []byte("x"), 0o600)) // of a change of key that a kill ended
	steps := 0
	for ; ; steps++ {
		dir := copyFiles(t, filepath.Dir(db))
		killed, err := sqlitestore.KillAfterRenames(steps, func() error {
			_, err := sqlitestore.Restore(acting(ctx), filepath.Join(dir, "baoco.db"), sqlitestore.RestoreSource{File: backup}, time.Now())
			return err
		})
		must(t, err)
		if !killed {
			break
		}
		must(t, examineOnly(filepath.Join(dir, "baoco.db")))
		for i, name := range slices.Sorted(maps.Keys(entries)) {
			if !apptest.Full() && i%2 != steps%2 {
				continue
			}
			db := filepath.Join(copyFiles(t, dir), "baoco.db")
			if err := entries[name](db, backup); err != nil {
				t.Errorf("a kill after %d renames, then %s: %v", steps, name, err)
				continue
			}
			base := opensWhole(t, db)
			if want := steps >= 2 || name == "restore again"; base != "https://old.vn" && base != "https://new.vn" ||
				want != (base == "https://new.vn") {
				t.Errorf("a kill after %d renames, then %s: %s", steps, name, base)
			}
			if left, err := filepath.Glob(db + ".to-restore-*"); err != nil || name == "restore again" && len(left) > 0 {
				t.Errorf("a kill after %d renames, then %s: leaves %v, %v", steps, name, left, err)
			}
			if base == "https://new.vn" && name == "serve" {
				must(t, examine(db))
				aside, err := filepath.Glob(db + ".before-restore-*Z")
				must(t, err)
				if len(aside) == 0 || opensWhole(t, aside[0]) != "https://old.vn" {
					t.Errorf("a kill after %d renames, then %s: what was is %v", steps, name, aside)
				}
			}
		}
	}
	if steps != 7 {
		t.Errorf("a restore takes %d renames", steps)
	}
}

// A restore or a change of the key of which a step fails leaves the database that
// was there, whole and with its key, and nothing beside it.
func TestFailedStepLeavesTheOldState(t *testing.T) {
	db, other := sealed(t, "https://old.vn"), sealed(t, "https://new.vn")
	s := open(t, other, false)
	backup := filepath.Join(t.TempDir(), "backup.db")
	makeBackup(t, s, sqlitestore.BackupTarget{File: backup})
	must(t, s.Close())
	must(t, os.WriteFile(db+"-wal", nil, 0o600))
	for what, step := range map[string]struct {
		run   func(db string) error
		steps int
	}{
		"restore": {func(db string) error {
			_, err := sqlitestore.Restore(acting(t.Context()), db, sqlitestore.RestoreSource{File: backup}, time.Now())
			return err
		}, 7},
		"doctor --new-key": {func(db string) error {
			_, err := sqlitestore.ReplaceKey(acting(t.Context()), db, time.Now())
			return err
		}, 1},
	} {
		for n := range step.steps {
			db := filepath.Join(copyFiles(t, filepath.Dir(db)), "baoco.db")
			undo := sqlitestore.FailRename(n)
			err := step.run(db)
			undo()
			if !errors.Is(err, syscall.EBUSY) {
				t.Errorf("%s, rename %d fails: %v", what, n, err)
			}
			if got := opensWhole(t, db); got != "https://old.vn" {
				t.Errorf("%s, rename %d fails: the database is %s", what, n, got)
			}
			if got := names(t, filepath.Dir(db)); strings.Contains(got, "restor") || strings.Contains(got, "key.") {
				t.Errorf("%s, rename %d fails: leaves %s", what, n, got)
			}
		}
	}
}

// examineOnly checks that doctor changes nothing.
func examineOnly(db string) error {
	before, err := os.ReadDir(filepath.Dir(db))
	if err != nil {
		return err
	}
	if err := examine(db); err != nil {
		return err
	}
	after, err := os.ReadDir(filepath.Dir(db))
	if fmt.Sprint(before) != fmt.Sprint(after) {
		err = errors.Join(err, fmt.Errorf("doctor leaves %v of %v", after, before))
	}
	return err
}

// The same of the change of a key.
func TestInterruptedNewKey(t *testing.T) {
	db := sealed(t, "https://old.vn")
	backup := filepath.Join(t.TempDir(), "backup.db")
	s := open(t, db, false)
	makeBackup(t, s, sqlitestore.BackupTarget{File: backup})
	must(t, s.Close())
	dir := copyFiles(t, filepath.Dir(db))
	killed, err := sqlitestore.KillAfterRenames(1, func() error { // the first is that of the trial
		_, err := sqlitestore.ReplaceKey(acting(context.Background()), filepath.Join(dir, "baoco.db"), time.Now())
		return err
	})
	if !killed {
		t.Fatalf("it wasn't interrupted: %v", err)
	}
	for name, entry := range entries {
		db := filepath.Join(copyFiles(t, dir), "baoco.db")
		must(t, examineOnly(db))
		err := entry(db, backup)
		if err != nil && !strings.Contains(err.Error(), "baoco doctor --new-key was interrupted; run it again") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "restore again" {
			_, err := sqlitestore.ReplaceKey(acting(context.Background()), db, time.Now())
			must(t, err)
		}
		if got := opensWhole(t, db); got != "https://old.vn" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Doctor --new-key names the key that is only in another place, and where it is
// really lost keeps a copy of what it drops.
func TestNewKeyDestroysNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := sealed(t, "https://old.vn")
	secret := bearerOf(t, db)
	moved := db + ".key.old-20260101T000000Z"
	must(t, os.Rename(db+".key", moved))
	checks, err := sqlitestore.Examine(ctx, db, sqlitestore.Examination{Now: time.Now()})
	must(t, err)
	named := false
	for _, c := range checks {
		named = named || c.Name == "key" && strings.Contains(c.Cure.EN, moved)
	}
	if !named {
		t.Errorf("doctor doesn't name the key: %+v", checks)
	}
	if _, err := sqlitestore.ReplaceKey(acting(ctx), db, time.Now()); !errors.Is(err, sqlitestore.ErrKey) ||
		!strings.Contains(err.Error(), moved) {
		t.Errorf("a new key beside the old one: %v", err)
	}
	found := filepath.Join(t.TempDir(), "key")
	must(t, os.Rename(moved, found))
	r, err := sqlitestore.ReplaceKey(acting(ctx), db, time.Now())
	must(t, err)
	if len(r.Lost) != 1 {
		t.Errorf("%+v", r)
	}
	s := open(t, db, true)
	if src, named, err := s.SourceByBearer(ctx, sha256.Sum256([]byte(secret))); err != nil || named {
		t.Errorf("the secret that was dropped names %+v, %v", src, err)
	}
	must(t, s.Close())
	kept, err := filepath.Glob(db + ".before-new-key-*Z")
	must(t, err)
	if len(kept) != 1 || r.Copy != kept[0] {
		t.Fatalf("kept: %v", kept)
	}
	copyTo(t, found, kept[0]+".key")
	if got := opensWhole(t, kept[0]); got != "https://old.vn" {
		t.Errorf("the copy holds %s", got)
	}
}

// bearerOf is the Bearer secret of the one source, by which its calls name it.
func bearerOf(t *testing.T, db string) string {
	t.Helper()
	s := open(t, db, true)
	defer s.Close()
	sources, err := s.Sources(t.Context(), 1)
	must(t, err)
	if _, named, err := s.SourceByBearer(t.Context(), sha256.Sum256([]byte(sources[0].Secret))); err != nil || !named {
		t.Fatalf("its secret names no source: %v", err)
	}
	return sources[0].Secret
}

// A new key that an earlier run left, and that opens nothing here, is in nobody's
// way and is not lost: it may be that of another state of the database.
func TestNewKeyOfAnotherState(t *testing.T) {
	t.Parallel()
	db, other := sealed(t, "https://old.vn"), sealed(t, "https://new.vn")
	left, err := os.ReadFile(other + ".key")
	must(t, err)
	must(t, os.WriteFile(db+".key.next", left, 0o600))
	_, err = sqlitestore.ReplaceKey(acting(t.Context()), db, time.Now())
	must(t, err)
	if got := opensWhole(t, db); got != "https://old.vn" {
		t.Errorf("holds %s", got)
	}
	aside, err := filepath.Glob(db + ".key.old-*")
	must(t, err)
	if !slices.ContainsFunc(aside, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && string(text) == string(left)
	}) {
		t.Errorf("the key that was left is in none of %v", aside)
	}
}

// Nothing is served beside what an earlier server saved when its files were
// taken away, although a database has its name again.
func TestNothingIsServedBesideWhatWasSaved(t *testing.T) {
	t.Parallel()
	db := sealed(t, "https://old.vn")
	copyTo(t, db, db+".taken-20260101T000000Z")
	s, err := sqlitestore.Open(t.Context(), db, sqlitestore.Options{Serve: true})
	if !errors.Is(err, sqlitestore.ErrTaken) || !strings.Contains(err.Error(), "baoco restore "+app.ShellWord(db+".taken-20260101T000000Z")) {
		t.Errorf("%v", err)
	}
	if s != nil {
		must(t, s.Close())
	}
}

// Nothing needs hard links, which some file systems don't have.
func TestWithoutLinks(t *testing.T) {
	defer sqlitestore.RefuseLinks()()
	db := sealed(t, "https://old.vn")
	s := open(t, db, false)
	backup := filepath.Join(t.TempDir(), "backup.db")
	makeBackup(t, s, sqlitestore.BackupTarget{File: backup})
	if _, err := s.Backup(context.Background(), sqlitestore.BackupTarget{File: backup}, time.Now()); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second backup of this name: %v", err)
	}
	must(t, s.Close())
	_, err := sqlitestore.ReplaceKey(acting(context.Background()), db, time.Now())
	must(t, err)
	_, err = sqlitestore.Restore(acting(context.Background()), db, sqlitestore.RestoreSource{File: backup}, time.Now())
	must(t, err)
	if got := opensWhole(t, db); got != "https://old.vn" {
		t.Errorf("restored: %s", got)
	}
}

// A command refuses a database that took the place of one whose server had to save what it
// had acknowledged, and one whose files were replaced while the command was at work.
func TestCommandOfAReplacedDatabase(t *testing.T) {
	t.Parallel()
	db := sealed(t, "https://old.vn")
	copyTo(t, db, db+".taken-20260101T000000Z")
	s, err := sqlitestore.Open(t.Context(), db, sqlitestore.Options{})
	if !errors.Is(err, sqlitestore.ErrTaken) {
		t.Errorf("beside what was saved: %v", err)
	}
	if s != nil {
		must(t, s.Close())
	}
	must(t, os.Remove(db+".taken-20260101T000000Z"))
	s, err = sqlitestore.Open(t.Context(), db, sqlitestore.Options{})
	must(t, err)
	defer s.Close()
	must(t, s.SetBaseURL(t.Context(), "https://new.vn"))
	copyTo(t, db, db+".new")
	must(t, os.Rename(db+".new", db))
	if err := s.SetBaseURL(t.Context(), "https://lost.vn"); !errors.Is(err, sqlitestore.ErrTaken) ||
		!strings.Contains(err.Error(), "look what the database has") {
		t.Errorf("a change after the file was replaced: %v", err)
	}
}
