package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"baoco/app/inbound"
)

// Write runs fn in the next commit, with what runs a statement in it.
func (s *Store) Write(ctx context.Context, fn func(exec func(query string, args ...any) error) error) error {
	return s.write(ctx, func(tx *tx) error { return fn(tx.exec) })
}

// Watch has fn told how many rows each work of the writer changed from now on,
// on the writer's own goroutine.
func (s *Store) Watch(ctx context.Context, fn func(changes int64)) error {
	return s.write(ctx, func(tx *tx) error {
		tx.stepped = fn
		return nil
	})
}

// LockDir is the lock of a backup that is being made.
var LockDir = lockDir

// SchemaVersion is the version of this baoco's schema.
func SchemaVersion() int { return released().version() }

// Later makes the baoco of o one that knows more migrations than this one.
func (o Options) Later(scripts ...string) Options {
	o.schema = later(scripts)
	return o
}

func (x Examination) Later(scripts ...string) Examination {
	x.schema = later(scripts)
	return x
}

// LargeFrom makes of every file with so many rows a large one.
func (x Examination) LargeFrom(rows int64) Examination {
	x.largeFrom = rows
	return x
}

// laters are the schemas that later made, by their texts: to make one takes 0.2 s.
var laters sync.Map

func later(texts []string) *schema {
	key := strings.Join(texts, "\n")
	if made, ok := laters.Load(key); ok {
		return made.(*schema)
	}
	scripts := append([]script{}, released().scripts...)
	for i, text := range texts {
		scripts = append(scripts, script{fmt.Sprint("made up ", i+1), text})
	}
	digests, err := makeDigests(scripts)
	if err != nil {
		panic(err)
	}
	made, _ := laters.LoadOrStore(key, &schema{scripts, digests})
	return made.(*schema)
}

// MakeDigests makes what migration/digests has to hold, and has this process use that.
func MakeDigests() (lines string, err error) {
	released().digests, err = makeDigests(released().scripts)
	return strings.Join(released().digests, "\n") + "\n", err
}

// makeDigests makes every version in memory.
func makeDigests(scripts []script) ([]string, error) {
	ctx := context.Background()
	db := sql.OpenDB(connector("file::memory:"))
	db.SetMaxOpenConns(1)
	defer db.Close()
	empty, err := digest(ctx, db)
	digests := []string{empty}
	for _, s := range scripts {
		if err != nil {
			break
		}
		if _, err = db.ExecContext(ctx, s.text); err != nil {
			err = fmt.Errorf("migration %s: %w", s.name, err)
			break
		}
		var d string
		d, err = digest(ctx, db)
		digests = append(digests, d)
	}
	return digests, err
}

// KillAfterRenames runs fn, and ends it at the rename after the first n, as a kill
// would. It says whether fn came to that.
func KillAfterRenames(n int, fn func() error) (killed bool, err error) {
	defer func() {
		rename = os.Rename
		if at := recover(); at != nil {
			killed = true
		}
	}()
	rename = func(from, to string) error {
		if n--; n < 0 {
			panic("killed")
		}
		return os.Rename(from, to)
	}
	return false, fn()
}

// FailRename has one rename fail, after the first n, as a disk would. undo ends it.
func FailRename(n int) (undo func()) {
	rename = func(from, to string) error {
		if n--; n == -1 {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EBUSY}
		}
		return os.Rename(from, to)
	}
	return func() { rename = os.Rename }
}

// RefuseLinks makes of every file system one without hard links.
func RefuseLinks() (undo func()) {
	link = func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM} }
	return func() { link = os.Link }
}

// SameNumber finds the same movement by its number.
const SameNumber = sameNumber

// KeptTables are the tables that hold what is kept beside the rows of others.
func KeptTables() (tables []string) {
	for _, k := range derivedTables {
		tables = append(tables, k.table, k.name)
	}
	return tables
}

// FewIDs sets how many transactions that an index finds are looked at one by one.
func (s *Store) FewIDs(n int) { s.fewIDs = n }

// ReadStatements is how many read statements are kept prepared, and how many
// are meant to be at most.
func (s *Store) ReadStatements() (n, most int) {
	s.statements.mu.Lock()
	defer s.statements.mu.Unlock()
	return s.statements.order.Len(), keptReads
}

// ReadQueries are the read statements that are kept prepared, the one used last
// first.
func (s *Store) ReadQueries() (queries []string) {
	s.statements.mu.Lock()
	defer s.statements.mu.Unlock()
	for at := s.statements.order.Front(); at != nil; at = at.Next() {
		queries = append(queries, at.Value.(*readStatement).query)
	}
	return queries
}

// Fail runs a statement, records a call and then fails with why, in one work.
func (s *Store) Fail(ctx context.Context, query string, call inbound.Call, why error) error {
	return s.write(ctx, func(tx *tx) error {
		tx.exec(query)
		recordInbound(tx, call, time.UTC, inbound.Recording{})
		return why
	})
}

// Queued is how many works wait for the writer.
func (s *Store) Queued() int { return len(s.writer.work) }
