package acceptance_test

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// refuse runs a serve that must end by itself with exit code 4 and a message,
// and leave the files as they are.
func refuse(t *testing.T, db, says string) {
	t.Helper()
	before := apptest.Digests(db)
	output := &apptest.Output{}
	cmd := program(t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--db", db)
	cmd.Stderr = output
	must(t, cmd.Start())
	late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !late.Stop() {
		t.Errorf("serve did not refuse %s\n%s", db, output)
		return
	}
	if code := cmd.ProcessState.ExitCode(); code != terminal.ExitDatabase || !strings.Contains(output.String(), says) ||
		strings.Count(output.String(), "\n") != 1 {
		t.Errorf("exit %d, stderr %q; want exit 4 and one line with %q", code, output, says)
	}
	if after := apptest.Digests(db); after != before {
		t.Errorf("the files were changed: %s, before %s", after, before)
	}
}

// Serve refuses a file that isn't a whole database of its own, says what is
// wrong with it, and leaves it as it is.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	write := func(content []byte) string {
		db := filepath.Join(t.TempDir(), "baoco.db")
		must(t, os.WriteFile(db, content, 0o600))
		return db
	}
	good := database(t)
	whole, err := os.ReadFile(good)
	must(t, err)
	withKey := func(content []byte) string {
		db, key := write(content), readImage(t, filepath.Dir(good))["baoco.db.key"]
		must(t, os.WriteFile(db+".key", key, 0o600))
		return db
	}
	for _, c := range []struct {
		name, says string
		db         func() string
	}{
		{"garbage", "not a baoco database", func() string { return write(apptest.Garbage(64 << 10)) }},
		{"text", "not a baoco database", func() string { return write(bytes.Repeat([]byte("a note. "), 1000)) }},
		{"empty", "is empty", func() string { return write(nil) }},
		{"zeros", "not a baoco database", func() string { return write(make([]byte, 64<<10)) }},
		{"directory", "is a directory", t.TempDir},
		{"half", "damaged", func() string { return withKey(whole[:len(whole)/2/4096*4096]) }},
		{"damaged page", "restore a backup", func() string {
			db := database(t)
			apptest.Overwrite(t, db, 20*4096, apptest.Garbage(4096))
			return db
		}},
		{"another program's", "of another program", func() string {
			db := write(nil)
			apptest.Exec(t, db, `CREATE TABLE t (a)`)
			return db
		}},
		{"another program's, by its mark", "of another program", func() string { return database(t, `PRAGMA application_id = 7`) }},
		{"newer", "newer baoco", func() string { return database(t, `PRAGMA user_version = 99`) }},
		{"another schema", "another schema", func() string { return database(t, `DROP INDEX attempts_delivery`) }},
		{"no key file", "is missing", func() string { return write(whole) }},
		{"key of another", "does not fit", func() string {
			db := database(t)
			must(t, os.WriteFile(db+".key", []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"), 0o600))
			return db
		}},
		{"key that is none", "is not a key file", func() string {
			db := database(t)
			must(t, os.WriteFile(db+".key", []byte("secret"), 0o600))
			return db
		}},
		{"no such directory", "no such file", func() string { return filepath.Join(t.TempDir(), "none", "baoco.db") }},
	} {
		t.Run(c.name, func(t *testing.T) { refuse(t, c.db(), c.says) })
	}
}

// Every page of a database in turn is damaged: serve refuses or works, and
// never panics. Damage within the free room of a page is of no consequence.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	good := readImage(t, filepath.Dir(database(t)))
	pages := len(good["baoco.db"]) / 4096
	refused := 0
	checked := sample(rounds(3, 20), pages)
	for _, page := range checked {
		dir := save(t, good)
		db := filepath.Join(dir, "baoco.db")
		apptest.Overwrite(t, db, int64(page)*4096, apptest.Garbage(4096))
		code, _, stderr := baoco("", "serve", "--db", db, "--listen", "192.0.2.1:1")
		switch {
		case code != terminal.ExitDatabase:
			t.Errorf("page %d: exit %d, %s", page, code, stderr)
		case strings.Contains(stderr, "listen"):
			t.Logf("page %d is not missed", page)
		case page > 0 && !strings.Contains(stderr, "restore a backup"):
			t.Errorf("page %d: no advice: %s", page, stderr)
		default:
			refused++
		}
	}
	if t.Logf("%d of %d damaged files refused", refused, len(checked)); refused < len(checked)*9/10 {
		t.Error("too few")
	}
}

// A write-ahead log that is garbage, or another database's, never ends in a
// panic nor in a server on a damaged file.
func TestForeignLog(t *testing.T) {
	t.Parallel()
	log := func(db string) []byte { // as a kill leaves it
		conn, err := sql.Open("sqlite", "file:"+db)
		must(t, err)
		defer conn.Close()
		_, err = conn.Exec(`INSERT INTO settings (name, value) VALUES ('x', hex(randomblob(25000)))`)
		must(t, err)
		content, err := os.ReadFile(db + "-wal")
		must(t, err)
		return content
	}
	inWAL := func() string { return database(t, `PRAGMA journal_mode = WAL`) }
	for name, content := range map[string][]byte{
		"garbage": apptest.Garbage(100_000), "empty": nil, "of another": log(inWAL()),
		"torn": log(inWAL())[:30_000],
	} {
		t.Run(name, func(t *testing.T) {
			dir := save(t, readImage(t, filepath.Dir(inWAL())))
			db := filepath.Join(dir, "baoco.db")
			must(t, os.WriteFile(db+"-wal", content, 0o600))
			code, _, stderr := baoco("", "serve", "--db", db, "--listen", "192.0.2.1:1")
			if code != terminal.ExitDatabase {
				t.Errorf("exit %d, %s", code, stderr)
			}
			t.Log(stderr)
		})
	}
}

// A file or directory that must not be written is a clear error at the start.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("has other permissions")
	}
	start := func(db string) *exec.Cmd { return program(t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--db", db) }
	if os.Geteuid() == 0 {
		tool, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("needs setpriv, as root may write everything")
		}
		plain := start
		start = func(db string) *exec.Cmd {
			cmd := plain(db)
			cmd.Args = append([]string{tool, "--bounding-set=-dac_override,-dac_read_search", cmd.Path}, cmd.Args[1:]...)
			cmd.Path = tool
			return cmd
		}
	}
	for name, lock := range map[string]func(db string) error{
		"file":      func(db string) error { return os.Chmod(db, 0o400) },
		"directory": func(db string) error { return os.Chmod(filepath.Dir(db), 0o500) },
		"key":       func(db string) error { return os.Chmod(db+".key", 0) },
		"unwritable directory without a database": func(db string) error {
			for _, path := range []string{db, db + ".key"} {
				must(t, os.Remove(path))
			}
			return os.Chmod(filepath.Dir(db), 0o500)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			must(t, lock(db))
			t.Cleanup(func() { must(t, os.Chmod(filepath.Dir(db), 0o700)) })
			cmd, output := start(db), &apptest.Output{}
			cmd.Stderr = output
			must(t, cmd.Start())
			late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			if !late.Stop() || cmd.ProcessState.ExitCode() != terminal.ExitDatabase || strings.Count(output.String(), "\n") != 1 {
				t.Errorf("exit %d, stderr %q; want exit 4 and one line", cmd.ProcessState.ExitCode(), output)
			}
			t.Log(output)
		})
	}
}

// Serve opens exactly the file that it is told, however its name reads.
func TestServeOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "a#b.db", "a?mode=memory.db", "a%41.db", "dữ liệu.db", "../up/a.db", "link.db"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			dir, up := filepath.Join(home, "here"), filepath.Join(home, "up")
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.Mkdir(up, 0o700))
			want := filepath.Join(dir, name)
			if name == "link.db" {
				want = filepath.Join(up, "real.db")
				apptest.NewFileAt(t, want)
				must(t, os.Symlink(want, filepath.Join(dir, name)))
			}
			p := serveIn(t, dir, anyPort, "--db", name)
			doIn(t, dir, "account", "create", "second", "--db", name)
			p.end(t)
			for _, at := range []string{dir, up} {
				entries, err := os.ReadDir(at)
				must(t, err)
				for _, e := range entries {
					if path := filepath.Join(at, e.Name()); e.Name() != "link.db" && !strings.HasPrefix(path, filepath.Clean(want)) {
						t.Errorf("a stray file %s", path)
					}
				}
			}
			if out := doIn(t, dir, "account", "set", "--plan", "shop", "--account", "2", "--db", want); strings.Contains(out, "not found") {
				t.Errorf("%s holds something else: %s", want, out)
			}
		})
	}
}

// openBeside opens one connection to a database as another program would.
func openBeside(t *testing.T, db string) *sql.DB {
	t.Helper()
	conn, err := sql.Open("sqlite", "file:"+db+"?_busy_timeout=5000")
	must(t, err)
	conn.SetMaxOpenConns(1)
	return conn
}

// database makes a database in a directory of its own, changed by SQL as
// another program would.
func database(t *testing.T, statements ...string) string {
	t.Helper()
	db := apptest.NewFile(t)
	apptest.Exec(t, db, statements...)
	return db
}
