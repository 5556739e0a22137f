package sqlitestore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/upkeep"
	"baoco/sqlitestore"
)

// Before 3.51.3 SQLite may skip a committed transaction, where another
// connection resets the log during a checkpoint.
func TestSQLiteVersion(t *testing.T) {
	t.Parallel()
	got := peek(t, create(t), `SELECT sqlite_version()`)[0][0].(string)
	var v [3]int
	if _, err := fmt.Sscanf(got, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil || v[0]*1_000_000+v[1]*1000+v[2] < 3_051_003 {
		t.Errorf("the driver holds SQLite %s, which must be 3.51.3 or later: %v", got, err)
	}
}

// A file is opened by what it is: one whose schema isn't that of its version is
// refused by every way in, and stays as it is.
func TestAnotherSchema(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"a column less": `ALTER TABLE attempts DROP COLUMN dns_ms`,
		"a column more": `ALTER TABLE users ADD COLUMN made_up TEXT`,
		"a table more":  `CREATE TABLE made_up (a)`,
		"a table less":  `DROP TABLE refused_calls`,
		"an index less": `DROP INDEX attempts_delivery`,
		"an index more": `CREATE INDEX made_up ON users (name)`,
		"a trigger there": `CREATE TABLE _litestream_seq (id); CREATE TRIGGER _litestream_lock AFTER INSERT ON _litestream_seq BEGIN DELETE
			FROM sessions; END`,
		"a trigger": `CREATE TRIGGER made_up AFTER INSERT ON users BEGIN DELETE FROM sessions; END`,
		"another rule": `PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'WHERE state = 0', 'WHERE state = 1')
			WHERE name = 'deliveries_due'`,
		"ids given twice": `PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, ' AUTOINCREMENT', '')
			WHERE name = 'users'`,
		"no search index":      `DROP TABLE transactions_search`,
		"version 0":            `PRAGMA user_version = 0`,
		"a version before all": `PRAGMA user_version = -1`,
	} {
		t.Run(name, func(t *testing.T) {
			db, backup := backedUp(t)
			alter(t, backup, change)
			content, err := os.ReadFile(backup)
			must(t, err)
			for what, open := range map[string]func() error{
				"a server": func() error {
					_, err := sqlitestore.Open(t.Context(), backup, sqlitestore.Options{Serve: true})
					return err
				},
				"a command": func() error { _, err := sqlitestore.Open(t.Context(), backup, sqlitestore.Options{}); return err },
				"a new key": func() error { _, err := sqlitestore.ReplaceKey(acting(t.Context()), backup, time.Now()); return err },
				"a restore": func() error {
					_, err := sqlitestore.Restore(acting(t.Context()), db, sqlitestore.RestoreSource{File: backup}, time.Now())
					return err
				},
			} {
				if err := open(); !errors.Is(err, sqlitestore.ErrSchema) || !strings.Contains(err.Error(), filepath.Base(backup)) {
					t.Errorf("%s: %v", what, err)
				}
			}
			checks, err := sqlitestore.Examine(t.Context(), backup, sqlitestore.Examination{Now: time.Now()})
			must(t, err)
			if last := checks[len(checks)-1]; last.Name != "schema" || last.Result != upkeep.CheckFailed {
				t.Errorf("doctor: %+v", last)
			}
			if after, err := os.ReadFile(backup); err != nil || string(after) != string(content) {
				t.Errorf("the file was changed: %v", err)
			}
			if baseURL(t, db) != "https://now.vn" {
				t.Error("it was restored")
			}
		})
	}
	// What SQLite and Litestream keep for themselves doesn't count.
	path := create(t)
	alter(t, path, `ANALYZE; CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER)`)
	must(t, open(t, path, true).Close())
}
