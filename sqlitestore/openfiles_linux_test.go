package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/sqlitestore"
)

// When a file of a served database is removed or replaced nothing more is
// acknowledged, the server ends, and what was acknowledged before can be had.
func TestFilesTakenAway(t *testing.T) {
	remove := func(suffix string) func(t *testing.T, db string) {
		return func(t *testing.T, db string) { must(t, os.Remove(db+suffix)) }
	}
	replace := func(suffix string) func(t *testing.T, db string) {
		return func(t *testing.T, db string) {
			other := apptest.NewFileOfOwnKey(t)
			s := open(t, other, true)
			defer s.Close()
			must(t, s.SetBaseURL(context.Background(), "https://other.vn"))
			copyTo(t, other+suffix, db+".new")
			must(t, os.Rename(db+".new", db+suffix))
		}
	}
	for name, c := range map[string]struct {
		take func(t *testing.T, db string)
		lost string // what a restart needs: "database", "key" or nothing
	}{
		"log":               {remove("-wal"), ""},
		"replaced log":      {replace("-wal"), ""},
		"shared memory":     {remove("-shm"), ""},
		"lock":              {remove(".lock"), ""},
		"key":               {remove(".key"), "key"},
		"replaced key":      {replace(".key"), "key"},
		"database":          {remove(""), "database"},
		"replaced database": {replace(""), "database"},
		"moved database":    {func(t *testing.T, db string) { must(t, os.Rename(db, db+".moved")) }, "database"},
		"database and log": {func(t *testing.T, db string) {
			remove("")(t, db)
			remove("-wal")(t, db)
			remove("-shm")(t, db)
		}, "database"},
		"all": {func(t *testing.T, db string) {
			for _, suffix := range []string{"", "-wal", "-shm", ".lock", ".key"} {
				remove(suffix)(t, db)
			}
		}, "database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			db := create(t)
			s := open(t, db, true)
			must(t, s.SetBaseURL(ctx, "https://acknowledged.vn"))
			c.take(t, db)
			// What the next commit would be lost with is seen at once, the rest
			// within a second.
			inCommit := strings.Contains(name, "log") || c.lost == "database"
			if err := s.SetAllowTargets(ctx, nil); inCommit && app.CodeOf(err) != app.CodeUnavailable {
				t.Fatalf("a write after it: %v", err)
			}
			var fault error
			select {
			case fault = <-s.Fatal():
			case <-time.After(30 * time.Second):
				t.Fatal("the server goes on")
			}
			if err := s.SetAllowTargets(ctx, nil); app.CodeOf(err) != app.CodeUnavailable {
				t.Errorf("one more write: %v", err)
			}
			if err := s.Probe(ctx); err == nil {
				t.Error("it is still ready")
			}
			must(t, s.Close())
			if !errors.Is(fault, sqlitestore.ErrTaken) || strings.Contains(fault.Error(), "could not") {
				t.Errorf("it ends with: %v", fault)
			}
			// A log never meets a database that isn't its own.
			if _, err := os.Stat(db + "-wal"); err == nil && inCommit {
				t.Error("a log is left beside it")
			}
			switch rescue := rescued(t, db); c.lost {
			case "database":
				if _, err := sqlitestore.Open(ctx, db, sqlitestore.Options{Serve: true}); err == nil {
					t.Error("a server starts without what was saved")
				}
				if err := sqlitestore.Create(ctx, db, app.DefaultZone, time.Now()); err == nil {
					t.Error("an empty database is made")
				}
				if !strings.Contains(fault.Error(), "baoco restore "+app.ShellWord(rescue)) {
					t.Errorf("it says: %v", fault)
				}
				_, err := sqlitestore.Restore(acting(ctx), db, sqlitestore.RestoreSource{File: rescue}, time.Now())
				must(t, err)
			case "key":
				if _, err := sqlitestore.Open(ctx, db, sqlitestore.Options{Serve: true}); !errors.Is(err, sqlitestore.ErrKey) {
					t.Errorf("without its key it opens: %v", err)
				}
				must(t, os.Rename(rescue, db+".key"))
			default:
				if rescue != "" && !strings.HasSuffix(rescue, ".log") {
					t.Errorf("saved: %s", rescue)
				}
				// What the server had open is let go of when its process ends.
				elsewhere := filepath.Join(t.TempDir(), "baoco.db")
				copyTo(t, db, elsewhere)
				copyTo(t, db+".key", elsewhere+".key")
				db = elsewhere
			}
			if got := baseURL(t, db); got != "https://acknowledged.vn" {
				t.Errorf("it holds %s", got)
			}
			healthyNow(t, db, time.Now())
		})
	}
}

// rescued is the first file that a server saved.
func rescued(t *testing.T, db string) string {
	t.Helper()
	names, err := filepath.Glob(db + ".taken-*")
	must(t, err)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// A file that was emptied in place can't be saved, and nobody is told that it was.
// Who reads the credentials again, all the time, may meet the empty file first: then
// the server ends for the damage.
func TestFilesTakenAwayAndEmptied(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), create(t)
	s := open(t, db, true)
	for i := range 200 { // as much log as SQLite believes a database of this size to need
		must(t, s.SetBaseURL(ctx, fmt.Sprintf("https://acknowledged%d.vn", i)))
	}
	must(t, os.Truncate(db, 0))
	must(t, os.Remove(db+"-wal"))
	if err := s.SetAllowTargets(ctx, nil); app.CodeOf(err) != app.CodeUnavailable {
		t.Errorf("a write after it: %v", err)
	}
	fault := apptest.Receive(t, "the store can't go on", s.Fatal())
	taken := errors.Is(fault, sqlitestore.ErrTaken) && strings.Contains(fault.Error(), "could not be saved")
	if !taken && !errors.Is(fault, sqlitestore.ErrDamaged) || strings.Contains(fault.Error(), "all that was acknowledged") {
		t.Errorf("it ends with: %v", fault)
	}
	must(t, s.Close())
}

// Damage is called damage when a server ends for it.
func TestDamageEndsTheServer(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), create(t)
	s := open(t, db, true)
	must(t, os.WriteFile(db, make([]byte, 8<<10), 0o600))
	for range 100 { // until a page is needed that isn't in memory
		if err := s.SetBaseURL(ctx, "https://shop.vn"); err != nil {
			break
		}
	}
	select {
	case fault := <-s.Fatal():
		if !errors.Is(fault, sqlitestore.ErrDamaged) {
			t.Errorf("it ends with: %v", fault)
		}
	default:
		t.Error("the server goes on")
	}
	_ = s.Close()
}

// Damage that a page of the dashboard meets ends the server too.
func TestDamageThatIsReadEndsTheServer(t *testing.T) {
	t.Parallel()
	db := create(t)
	s := open(t, db, true)
	must(t, os.WriteFile(db, make([]byte, 64<<10), 0o600))
	_, err := s.APIKeys(t.Context(), 1)
	for i := int64(1); err == nil && i < 100; i++ {
		_, err = s.Transaction(t.Context(), 1, i)
		if _, known, _ := s.InboundEvents(t.Context(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 20}}); known > 0 {
			break
		}
	}
	select {
	case fault := <-s.Fatal():
		if !errors.Is(fault, sqlitestore.ErrDamaged) {
			t.Errorf("it ends with: %v", fault)
		}
	default:
		t.Errorf("the server goes on after %v", err)
	}
	_ = s.Close()
}

// Where nobody writes the loss is seen all the same.
func TestFilesTakenAwayFromIdle(t *testing.T) {
	t.Parallel()
	db := create(t)
	s := open(t, db, true)
	defer s.Close()
	must(t, s.SetBaseURL(context.Background(), "https://acknowledged.vn"))
	must(t, os.Remove(db+"-wal"))
	// A command would make another log, and neither would see the other's.
	if _, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{}); !errors.Is(err, sqlitestore.ErrServed) {
		t.Errorf("a command beside it: %v", err)
	}
	select {
	case err := <-s.Fatal():
		if !errors.Is(err, sqlitestore.ErrTaken) {
			t.Errorf("%v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the server goes on")
	}
}

// A database with a second name isn't opened by either: its log has one name.
func TestTwoNames(t *testing.T) {
	t.Parallel()
	db := create(t)
	must(t, os.Link(db, db+".link"))
	copyTo(t, db+".key", db+".link.key")
	for _, name := range []string{db, db + ".link"} {
		for _, serve := range []bool{false, true} {
			if _, err := sqlitestore.Open(context.Background(), name, sqlitestore.Options{Serve: serve}); err == nil ||
				!strings.Contains(err.Error(), "2 names") {
				t.Errorf("%s opens: %v", name, err)
			}
		}
	}
	must(t, os.Remove(db+".link"))
	must(t, open(t, db, true).Close())
}

// No empty database is made where another one was.
func TestCreateBesideRemains(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{".key", ".key.next", "-wal", "-journal"} {
		db := create(t)
		must(t, os.Rename(db, filepath.Join(t.TempDir(), "elsewhere")))
		if suffix != ".key" {
			must(t, os.Rename(db+".key", db+suffix))
		}
		err := sqlitestore.Create(context.Background(), db, app.DefaultZone, time.Now())
		if !errors.Is(err, sqlitestore.ErrTaken) || !strings.Contains(err.Error(), db+suffix) {
			t.Errorf("beside %s: %v", suffix, err)
		}
		if _, err := os.Stat(db); err == nil {
			t.Errorf("beside %s there is a database", suffix)
		}
	}
}
