package acceptance_test

import (
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baoco/app/apptest"

	"github.com/google/go-cmp/cmp"
)

const releasedFiles = "../../testdata/schema/"

// releasedImages are a database of each release before this one, with its key, and the
// version of this one.
func releasedImages(t *testing.T) (images []map[string][]byte, present int) {
	t.Helper()
	for {
		name := fmt.Sprint(releasedFiles, present+1)
		packed, err := os.Open(name + ".gz")
		if os.IsNotExist(err) {
			return images[:present-1], present
		}
		must(t, err)
		defer packed.Close()
		unpacked, err := gzip.NewReader(packed)
		must(t, err)
		content, err := io.ReadAll(unpacked)
		must(t, err)
		key, err := os.ReadFile(name + ".key")
		must(t, err)
		images = append(images, map[string][]byte{"baoco.db": content, "baoco.db.key": key})
		present++
	}
}

// TestKillWhileMigrating: whichever change of its files a migration is killed at, or the
// power is cut, the file is the old one whole or the new one whole; the next command
// finishes, nothing is lost, and the copy of before is there. There are some hundred changes
// for each release and journal: -faults.rounds=1000 tries all.
func TestKillWhileMigrating(t *testing.T) {
	t.Parallel()
	proof(t)
	released, present := releasedImages(t)
	for i, old := range released {
		for _, journal := range []string{"wal", "delete"} { // as serve leaves it, and as a backup is
			t.Run(fmt.Sprint(i+1, journal), func(t *testing.T) {
				t.Parallel()
				killMigration(t, old, journal, present)
			})
		}
	}
}

func killMigration(t *testing.T, old map[string][]byte, journal string, present int) {
	dir := save(t, old)
	apptest.Exec(t, filepath.Join(dir, "baoco.db"), `PRAGMA journal_mode = `+journal)
	was := contentOf(t, filepath.Join(dir, "baoco.db"))
	all, of := cutsWhile(t, rounds(12, 60), readImage(t, dir), func(dir string) {
		doIn(t, t.TempDir(), "bank", "list", "--db", filepath.Join(dir, "baoco.db"))
	}, 1, 0, 0.5, 0.9)
	want := migrated(t, save(t, all[len(all)-1].image), was, present)
	states := map[int64]int{}
	for n, left := range all {
		dir := save(t, left.image)
		before := contentOf(t, filepath.Join(dir, "baoco.db")) // as another program recovers it
		if states[before.version]++; before.version == was.version {
			same(t, was, before)
		} else {
			same(t, want, before)
		}
		same(t, want, migrated(t, dir, was, present))
		if t.Failed() {
			t.Fatalf("before %+v, %d of %d", left.op, n, len(all))
		}
		must(t, os.RemoveAll(dir))
	}
	t.Logf("%d of %d states of the disk; schemas %v", len(all), of, states)
	if len(states) != 2 {
		t.Error("the states must be of both schemas")
	}
}

// content is what a database holds: the rows of each table, and its schema.
type content struct {
	version int64
	schema  []string
	rows    map[string][]string
}

func same(t *testing.T, want, got content) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(content{})); d != "" {
		t.Errorf("(-want +got):\n%.2000s", d)
	}
}

// migrated has a command open a database, and checks what is left.
func migrated(t *testing.T, dir string, was content, present int) content {
	t.Helper()
	db := filepath.Join(dir, "baoco.db")
	if code, _, stderr := baoco("", "bank", "list", "--db", db); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if code, checks := examined(t, db, "--full"); code != 0 {
		t.Fatalf("doctor: exit %d, %+v", code, checks)
	}
	now := contentOf(t, db)
	if now.version != int64(present) {
		t.Errorf("it has schema %d", now.version)
	}
	same(t, was, contentOf(t, fmt.Sprintf("%s.before-schema-%d", db, present)))
	for name := range readImage(t, dir) {
		if strings.Contains(name, ".new-") {
			t.Errorf("%s is left", name)
		}
	}
	return now
}

// contentOf reads a copy of a database, so that the database stays as it is.
func contentOf(t *testing.T, path string) (c content) {
	t.Helper()
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "copy"+suffix), data, 0o600))
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "copy"))
	must(t, err)
	defer db.Close()
	list := func(query string) (texts []string) {
		rows, err := db.Query(query)
		must(t, err)
		defer rows.Close()
		columns, err := rows.Columns()
		must(t, err)
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range dest {
			dest[i] = &values[i]
		}
		for rows.Next() {
			must(t, rows.Scan(dest...))
			texts = append(texts, fmt.Sprintf("%q", values))
		}
		must(t, rows.Err())
		slices.Sort(texts)
		return texts
	}
	must(t, db.QueryRow(`PRAGMA user_version`).Scan(&c.version))
	c.schema = list(`SELECT type, name, sql FROM sqlite_schema`)
	c.rows = map[string][]string{}
	tables, err := db.Query(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	must(t, err)
	for tables.Next() {
		var table string
		must(t, tables.Scan(&table))
		c.rows[table] = nil
	}
	must(t, tables.Err())
	for _, table := range slices.Collect(maps.Keys(c.rows)) {
		c.rows[table] = list(`SELECT * FROM ` + table)
	}
	return c
}
