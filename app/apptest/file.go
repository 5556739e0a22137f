package apptest

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
)

// asAnother runs fn on a database with a connection of its own, like another program.
func asAnother(t testing.TB, path string, fn func(db *sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	Must(t, err)
	defer db.Close()
	Must(t, fn(db))
}

// Exec changes a database by SQL, like another program.
func Exec(t testing.TB, path string, statements ...string) {
	t.Helper()
	asAnother(t, path, func(db *sql.DB) error {
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				return err
			}
		}
		return nil
	})
}

// SocketDir makes a directory for a Unix socket, whose path has at most 103 bytes: the path
// of t.TempDir may be longer.
func SocketDir(t testing.TB) string {
	t.Helper()
	parent := os.TempDir()
	if len(parent) > 70 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "baoco-")
	Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Garbage returns n random bytes.
func Garbage(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// Overwrite writes data into a file at an offset.
func Overwrite(t testing.TB, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	Must(t, err)
	_, err = f.WriteAt(data, at)
	Must(t, err)
	Must(t, f.Close())
}

// Digests returns the digests of a database and its key file.
func Digests(path string) string {
	var all []string
	for _, name := range []string{path, path + ".key"} {
		content, err := os.ReadFile(name)
		all = append(all, fmt.Sprintf("%x %v", sha256.Sum256(content), err))
	}
	return strings.Join(all, ", ")
}
