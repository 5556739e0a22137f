package sqlitestore_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// Migrations of a later baoco, made up.
const (
	addColumn = `ALTER TABLE accounts ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';
		CREATE TABLE colours (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL) STRICT;
		INSERT INTO colours (name) SELECT colour FROM accounts;`
	// failsLate fails where there is an account, so not in an empty file.
	failsLate = `CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT;
		INSERT INTO numbers VALUES (1); INSERT INTO numbers SELECT id FROM accounts;`
)

// The version of this baoco's schema, what versions returns of such a file, and of
// one that a baoco with addColumn has migrated.
var (
	present  = sqlitestore.SchemaVersion()
	asBefore = fmt.Sprintf("[[%d 0]]", present)
	migrated = fmt.Sprintf("[[%d 1]]", present+1)
)

// keptCopy is the path of the copy that is made before that migration.
func keptCopy(path string) string { return fmt.Sprintf("%s.before-schema-%d", path, present+1) }

// versions are the version that a file says it has, and whether it has what
// addColumn adds.
func versions(t *testing.T, path string) string {
	t.Helper()
	return fmt.Sprint(peek(t, path,
		`SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE name IN ('colours', 'numbers')) FROM pragma_user_version`))
}

func TestMigration(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := create(t)
	setBaseURL(t, path, "https://before.vn")
	kept := keptCopy(path)
	must(t, os.WriteFile(kept, []byte("of an earlier time"), 0o644))
	must(t, os.WriteFile(kept+".new-killed", nil, 0o600))
	for _, c := range []struct {
		serve bool
		told  int
	}{{false, 1}, {true, 0}} {
		told := 0
		s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Serve: c.serve, Migrating: func(m sqlitestore.Migration) {
			told++
			if m != (sqlitestore.Migration{From: present, To: present + 1, Kept: kept}) || versions(t, path) != asBefore ||
				versions(t, kept) != asBefore {
				t.Errorf("told of %+v; the file is %s, the copy %s", m, versions(t, path), versions(t, kept))
			}
			// Nobody serves the file meanwhile.
			if _, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Serve: true}); !errors.Is(err, sqlitestore.ErrServed) {
				t.Errorf("serving during a migration: %v", err)
			}
		}}.Later(addColumn))
		must(t, err)
		if base, err := s.BaseURL(ctx); err != nil || base != "https://before.vn" || versions(t, path) != migrated || told != c.told {
			t.Errorf("%s, %v, %s, told %d times", base, err, versions(t, path), told)
		}
		if !c.serve { // a command holds no lock once the file is up to date
			server, err := sqlitestore.Open(ctx, path, sqlitestore.Options{Serve: true}.Later(addColumn))
			must(t, err)
			must(t, server.Close())
		}
		must(t, s.Close())
	}
	if got := names(t, filepath.Dir(path)); strings.Contains(got, ".new-") {
		t.Errorf("in the directory: %s", got)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info.Mode(), err)
	}
	// An older baoco refuses the file, and says how to go back.
	_, err := sqlitestore.Open(ctx, path, sqlitestore.Options{})
	if !errors.Is(err, sqlitestore.ErrNewer) || !strings.Contains(err.Error(), "use the newer one") ||
		!strings.Contains(err.Error(), "baoco restore "+app.ShellWord(kept)) {
		t.Errorf("an older baoco: %v", err)
	}
	// After one more migration the copy before that is of no use to it: the advice is
	// the copy before the first.
	newest := fmt.Sprintf("%s.before-schema-%d", path, present+2)
	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{}.Later(addColumn, `CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;`))
	must(t, err)
	must(t, s.Close())
	if _, err := sqlitestore.Open(ctx, path, sqlitestore.Options{}); !errors.Is(err, sqlitestore.ErrNewer) ||
		!strings.HasSuffix(err.Error(), "baoco restore "+app.ShellWord(kept)) || versions(t, newest) != migrated {
		t.Errorf("a baoco older by two: %v; the last copy is %s", err, versions(t, newest))
	}
	_, err = sqlitestore.Restore(acting(ctx), path, sqlitestore.RestoreSource{File: kept}, time.Now())
	must(t, err)
	if base := baseURL(t, path); base != "https://before.vn" {
		t.Errorf("gone back to %s", base)
	}
}

// Beside a running server nothing is migrated, and the server goes on.
func TestMigrationBesideServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := create(t)
	server := open(t, path, true)
	defer server.Close()
	before := names(t, filepath.Dir(path))
	_, err := sqlitestore.Open(ctx, path, sqlitestore.Options{}.Later(addColumn))
	if !errors.Is(err, sqlitestore.ErrOlder) || !strings.Contains(err.Error(), "restart the server with this baoco first") {
		t.Errorf("a command of a newer baoco: %v", err)
	}
	if after := names(t, filepath.Dir(path)); after != before || versions(t, path) != asBefore {
		t.Errorf("%s, in the directory: %s, before: %s", versions(t, path), after, before)
	}
	must(t, server.SetBaseURL(ctx, "https://on.vn"))
	checks, err := sqlitestore.Examine(ctx, path, sqlitestore.Examination{Now: time.Now()}.Later(addColumn))
	must(t, err)
	if last := checks[len(checks)-1]; last.Name != "schema" || last.Result != upkeep.CheckWarning ||
		!strings.Contains(last.Cure.EN, "Restart the server") {
		t.Errorf("doctor of a newer baoco: %+v", last)
	}
}

// Of many commands at once one migrates; the others wait, or are told to come
// again. The copy is of the file before all of them.
func TestMigrationAtOnce(t *testing.T) {
	t.Parallel()
	path := create(t)
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{}.Later(addColumn))
			if err == nil {
				err = s.Close()
			}
			if err != nil && !errors.Is(err, sqlitestore.ErrOlder) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if kept := keptCopy(path); versions(t, path) != migrated || versions(t, kept) != asBefore {
		t.Errorf("the file is %s, the copy %s", versions(t, path), versions(t, kept))
	}
}

// A migration that fails leaves the file as it was, with every migration before
// it that belongs to the same step.
func TestMigrationFails(t *testing.T) {
	t.Parallel()
	path := create(t)
	setBaseURL(t, path, "https://before.vn")
	told := 0
	_, err := sqlitestore.Open(t.Context(), path,
		sqlitestore.Options{Serve: true, Migrating: func(sqlitestore.Migration) { told++ }}.Later(addColumn, failsLate))
	if err == nil || !strings.Contains(err.Error(), "made up 2") || told != 1 {
		t.Errorf("a migration that fails: %v, told %d times", err, told)
	}
	if base := baseURL(t, path); versions(t, path) != asBefore || base != "https://before.vn" {
		t.Errorf("%s, %s", versions(t, path), base)
	}
}

// Another process that knows of no lock may have migrated meanwhile.
func TestMigrationReadsTheVersionAgain(t *testing.T) {
	t.Parallel()
	path := create(t)
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Migrating: func(sqlitestore.Migration) {
		alter(t, path, fmt.Sprintf(`BEGIN IMMEDIATE; %s PRAGMA user_version = %d; COMMIT`, addColumn, present+1))
	}}.Later(addColumn))
	must(t, err)
	must(t, s.Close())
	if got := peek(t, path, `SELECT count(*) FROM colours`); versions(t, path) != migrated || fmt.Sprint(got) != "[[1]]" {
		t.Errorf("%s, colours: %v", versions(t, path), got)
	}
}

// slowly takes a while, and writes all the time.
const slowly = addColumn + `
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO colours (name) SELECT printf('%0200d', i)
	FROM n;`

// A kill in the middle of a migration leaves the file as it was or migrated,
// and the next start finishes it.
func TestMigrationKilled(t *testing.T) {
	const variable = "BAOCO_TEST_MIGRATE"
	if path := os.Getenv(variable); path != "" {
		s, err := sqlitestore.Open(context.Background(), path, sqlitestore.Options{Serve: true}.Later(slowly))
		must(t, err)
		must(t, s.Close())
		return
	}
	for _, grown := range []int64{0, 1 << 20, 4 << 20} {
		path := create(t)
		setBaseURL(t, path, "https://before.vn")
		cmd := exec.Command(os.Args[0], "-test.run", "^TestMigrationKilled$")
		cmd.Env = append(os.Environ(), variable+"="+path)
		must(t, cmd.Start())
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		// It is killed once it has kept a copy, and its log has grown.
		for waiting, deadline := true, time.Now().Add(30*time.Second); waiting; {
			_, err := os.Stat(keptCopy(path))
			log, _ := os.Stat(path + "-wal")
			select {
			case <-ended:
				waiting = false
			case <-time.After(time.Millisecond):
				waiting = (err != nil || grown > 0 && (log == nil || log.Size() < grown)) && time.Now().Before(deadline)
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		state := versions(t, path)
		t.Logf("killed after %d MB: %s", grown>>20, state)
		if state != asBefore && state != migrated {
			t.Errorf("killed after %d MB: %s", grown>>20, state)
		}
		s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Serve: true}.Later(slowly))
		must(t, err)
		base, err := s.BaseURL(t.Context())
		must(t, errors.Join(err, s.Close()))
		if got := fmt.Sprint(peek(t, path, `SELECT count(*) FROM colours`)); got != "[[60001]]" || base != "https://before.vn" {
			t.Errorf("killed after %d MB, then finished: %s colours, %s", grown>>20, got, base)
		}
	}
}

var manyRows = flag.Int64("migrate.rows", 0,
	"how many transactions TestMigrateManyRows has; 0: 10 thousand, or 100 thousand with BAOCO_FULL=1")

// A file of the first release with many transactions and what belongs to them is
// migrated, after a checked copy, within a minute for a million of them:
//
//	go test ./sqlitestore -run TestMigrateManyRows -v -migrate.rows 1000000
func TestMigrateManyRows(t *testing.T) {
	want := cmp.Or(*manyRows, int64(apptest.Rounds(10_000, 100_000)))
	path := unpackReleased(t, fmt.Sprintf(releasedFile, 1))
	multiply(t, path, want)
	counts := rowsOf(t, path)
	size, err := os.Stat(path)
	must(t, err)

	began := time.Now()
	var copied time.Duration
	s, err := sqlitestore.Open(t.Context(), path,
		sqlitestore.Options{Serve: true, Migrating: func(sqlitestore.Migration) { copied = time.Since(began) }})
	must(t, err)
	took := time.Since(began)
	must(t, s.Close())
	t.Logf("%d transactions, %d MB: %v in all, %v of it for the copy", counts["transactions"], size.Size()>>20, took.Round(time.Millisecond),
		copied.Round(time.Millisecond))
	if took > time.Minute {
		t.Error("that is more than a minute")
	}
	now, kept := rowsOf(t, path), rowsOf(t, fmt.Sprintf("%s.before-schema-%d", path, present))
	for table, n := range counts {
		if now[table] != n && !slices.Contains(droppedTables, table) && !slices.Contains(sqlitestore.KeptTables(), table) || kept[table] != n {
			t.Errorf("%s had %d rows, has %d; the copy has %d", table, n, now[table], kept[table])
		}
	}
	if counts["transactions"] < want || counts["attempts"] < want/2 {
		t.Errorf("too little to show anything: %v", counts)
	}
	if got := peek(t, path, `PRAGMA foreign_key_check`); len(got) != 0 {
		t.Errorf("%d rows refer to none", len(got))
	}
}

// multiply doubles the transactions of a file, with what belongs to them, until there
// are so many.
func multiply(t *testing.T, path string, want int64) {
	t.Helper()
	tables := []string{"inbound_events", "transactions", "event_ids", "deliveries", "attempts"}
	belongs := map[string]string{"deliveries": ` WHERE sample IS NULL`,
		"attempts": ` WHERE delivery_id IN (SELECT id FROM deliveries WHERE sample IS NULL)`}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=cache_size(-200000)")
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	rows := map[string][]any{}
	for _, table := range tables {
		for _, c := range peek(t, path, `SELECT name FROM pragma_table_info(?)`, table) {
			rows[table] = append(rows[table], c[0])
		}
	}
	shift := int64(10_000) // above all ids
	for n := int64(0); n < want; shift *= 2 {
		for i := len(tables) - 1; i >= 0; i-- { // attempts find their deliveries as they were
			var columns, values []string
			for _, c := range rows[tables[i]] {
				name := c.(string)
				columns = append(columns, name)
				switch name {
				case "id", "transaction_id", "inbound_event_id", "delivery_id":
					name += fmt.Sprint(" + ", shift)
				case "event_id":
					name += fmt.Sprintf(" || '-%d'", shift)
				case "item_id":
					name = "NULL"
				}
				values = append(values, name)
			}
			_, err := db.Exec(`INSERT INTO ` + tables[i] + ` (` + strings.Join(columns, ", ") + `) SELECT ` + strings.Join(values, ", ") + ` FROM ` +
				tables[i] + belongs[tables[i]])
			must(t, err)
		}
		must(t, db.QueryRow(`SELECT count(*) FROM transactions`).Scan(&n))
	}
}
