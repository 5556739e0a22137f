// Package sqlitestore remembers: it is the only place with SQL. It keeps
// everything in one SQLite file, in WAL mode with synchronous=FULL, so that
// what was acknowledged survives a power cut.
//
// # Connections
//
// All writes pass through one goroutine that owns one connection, commits
// whatever waits together (writer.go) and makes the checkpoints
// (checkpoint.go). Reads go to a small pool of their own that cannot write. A
// process holds the file with OFD locks: with POSIX ones, any stray open and
// close of it in the process would drop SQLite's locks.
//
// # What is kept beside the rows
//
// Totals (total.go) and counts by blocks of ids (block.go) are written in the
// commit of the rows that they count, so that statistics and listings read no
// more rows than they show. The indexes of search texts, of amounts and of what
// no shop was told of (search.go) follow a little later.
//
// # Files
//
// Beside the database file F stand F-wal and F-shm, which are SQLite's; F.key,
// the key that secrets are sealed with; and F.lock, which the one serving
// process locks, or a restore. F.key.next and F.key.old-<time> are of a key
// that is or was replaced (newkey.go); F.to-restore-<time> is a backup on its
// way into F (restore.go), and F.before-restore-<time> what it took the place
// of. F.before-schema-<version> is F as it was before it got that schema
// (migrate.go). F.taken-<time> is what a server saved whose files were taken
// away (openfiles.go).
package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// Errors of Open, each with its own cure.
var (
	ErrNoFile      = errors.New("there is no such database file")
	ErrNotDatabase = errors.New("this is not a baoco database")
	ErrDamaged     = errors.New("the database file is damaged")
	ErrNewer       = errors.New("the database was written by a newer baoco")
	ErrOlder       = errors.New("the database was written by an older baoco")
	ErrSchema      = errors.New("the database has another schema than baoco gives it")
	ErrServed      = errors.New("another baoco serve is using this database")
	ErrKey         = errors.New("the key file does not fit this database")
)

// Options say how a file is opened.
type Options struct {
	// Serve takes the lock that one serving process holds, and checks the
	// file first.
	Serve bool
	// Logger gets what no caller can be told; nil discards it.
	Logger *slog.Logger
	// Migrating is told before an older file is brought up to date; may be nil.
	Migrating func(Migration)

	schema *schema // nil: that of this baoco
}

// Migration brings a file from one schema to another. Kept is a copy of it as
// it was before.
type Migration struct {
	From, To int
	Kept     string
}

// Store is an open file.
type Store struct {
	path       string
	schema     *schema
	reads      *sql.DB
	writer     *writer
	sealer     *sealer
	lock       *os.File
	log        *slog.Logger
	statements readStatements // on reads
	dir        atomic.Pointer[directory]
	dirLoad    sync.Mutex
	touched    sync.Map // API key id → time of the last noted use

	longWork chan struct{} // the turn of [inSteps]

	fatal   chan error
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// Open opens an existing file, never creating one, and brings its schema up to
// date.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := FinishRestore(path); err != nil {
		return nil, err
	}
	real, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.schema == nil {
		o.schema = released()
	}
	if err := checkOneName(real); err != nil {
		return nil, err
	}
	s := &Store{path: real, schema: o.schema, log: o.Logger, fatal: make(chan error, 1), longWork: make(chan struct{}, 1)}
	if err := s.open(ctx, o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) (err error) {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	if s.sealer, err = readKey(s.path + ".key"); err != nil {
		return err
	}
	if o.Serve {
		if s.lock, err = lockDatabase(s.path); err == nil {
			err = checkRescued(s.path)
		}
	} else {
		err = checkServedLog(s.path)
	}
	if err != nil {
		return err
	}
	before, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if err := s.upToDate(ctx, o.Migrating); err != nil {
		return err
	}
	s.reads = sql.OpenDB(connector(readDSN(s.path)))
	s.reads.SetMaxOpenConns(4)
	s.reads.SetMaxIdleConns(4)
	if err := s.checkKey(ctx); err != nil {
		return err
	}
	if o.Serve {
		if err := s.quickCheck(ctx, background); err != nil {
			return err
		}
	}
	turn, err := openTurn(s.path+".key", o.Serve)
	if err != nil {
		return err
	}
	if s.writer, err = openWriter(ctx, writeDSN(s.path), s.sealer, turn, s.noteFatal); err != nil {
		return errors.Join(err, turn.close())
	}
	if o.Serve {
		s.writer.files, err = s.noteOpenFiles(before)
	}
	go s.writer.run()
	if err != nil {
		return err
	}
	if err := s.loadDirectory(ctx); err != nil {
		return err
	}
	if o.Serve {
		s.stopped.Go(func() { s.watchDirectory(background) })
		s.stopped.Go(func() { s.watchFiles(background, s.writer.files) })
	}
	return nil
}

// Close commits what waits and lets go of the file.
func (s *Store) Close() error {
	s.stop()
	s.stopped.Wait()
	errs := []error{s.statements.close()}
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	// The last connection to close empties the write-ahead log into the file,
	// which only the writer may.
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Fatal tells when the file can't be trusted any more: the process should end
// with a message, and start again.
func (s *Store) Fatal() <-chan error { return s.fatal }

func (s *Store) noteFatal(err error) {
	select {
	case s.fatal <- err:
	default:
	}
}

// Path is the file, symbolic links resolved.
func (s *Store) Path() string { return s.path }

// lockDatabase takes the lock that a serving process holds, in a file that
// belongs to the owner of the database, whoever runs this.
func lockDatabase(path string) (*os.File, error) {
	owner, err := ownerFor(path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	if err := ownAs(path+".lock", owner); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// checkFile looks at a file before SQLite does, and leaves it untouched.
func checkFile(path string) (string, error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s", ErrNoFile, path)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	switch {
	case info.IsDir():
		return "", fmt.Errorf("%w: %s is a directory", ErrNotDatabase, path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: %s is not a regular file", ErrNotDatabase, path)
	case info.Size() == 0:
		return "", fmt.Errorf("%w: %s is empty", ErrNotDatabase, path)
	}
	return real, checkHeader(real, info.Size())
}

var enableOFD = sync.OnceFunc(func() {
	// Where the kernel has no OFD locks the POSIX ones remain, with the rule
	// that nothing in this process opens the files beside SQLite.
	_, _ = sqlite.OFDLocking(true)
})

func connector(dsn string) *fileConnector { return &fileConnector{dsn: dsn} }

// dsn is built with url.URL, since a path may hold #, ? and %.
func dsn(path string, query url.Values) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return u.String()
}

func writeDSN(path string) string {
	return dsn(path, url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_busy_timeout": {"5000"}, "_journal_mode": {"WAL"},
		"_synchronous": {"FULL"}, "_foreign_keys": {"1"}, "_dqs": {"0"}, "_defensive": {"1"},
		"_pragma": {"cache_size(-8000)", "wal_autocheckpoint(0)", "journal_size_limit(67108864)", "trusted_schema(0)"},
	})
}

func readDSN(path string) string {
	return dsn(path, url.Values{
		"mode": {"rw"}, "_busy_timeout": {"5000"}, "_query_only": {"1"}, "_dqs": {"0"}, "_defensive": {"1"},
		"_pragma": {"cache_size(-2000)", "trusted_schema(0)", "synchronous(FULL)"},
	})
}

// quickCheck refuses to serve a damaged file. Beyond 256 MB the check would
// keep the shop waiting, so it runs in the background there, until a stop.
func (s *Store) quickCheck(ctx, background context.Context) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if info.Size() > 256<<20 {
		s.stopped.Go(func() {
			if err := s.runQuickCheck(background); err != nil && background.Err() == nil {
				s.noteFatal(err)
			}
		})
		return nil
	}
	return s.runQuickCheck(ctx)
}

// checkedTables are the tables whose pages are checked.
const checkedTables = `SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'`

func (s *Store) runQuickCheck(ctx context.Context) error {
	if err := quickCheck(ctx, s.reads); err != nil {
		return fmt.Errorf("%w: %s: %v; restore a backup", ErrDamaged, s.path, err)
	}
	return nil
}

// quickCheck checks table by table: a check of everything would also read the
// search index twice over, which takes three times as long as all the rest and
// finds no page that the check of the index's own tables doesn't.
func quickCheck(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, checkedTables)
	tables, err := collect(rows, err, func(row scanner) (name string, err error) { return name, row.Scan(&name) })
	for _, table := range tables {
		if err != nil {
			break
		}
		var finding string
		err = db.QueryRowContext(ctx, `PRAGMA quick_check(`+table+`)`).Scan(&finding)
		if err == nil && finding != "ok" {
			err = errors.New(finding)
		}
	}
	return err
}

// query runs a prepared read.
func (s *Store) query(ctx context.Context, query string, args ...any) (readRows, error) {
	one, err := s.statements.take(ctx, s.reads, query)
	if err != nil {
		return readRows{}, s.seen(err)
	}
	defer s.statements.giveBack(one)
	rows, err := one.stmt.QueryContext(ctx, args...)
	return readRows{rows, s}, s.seen(err)
}

// queryRow runs a prepared read of one row.
func (s *Store) queryRow(ctx context.Context, query string, args ...any) scanner {
	one, err := s.statements.take(ctx, s.reads, query)
	if err != nil {
		return failedRow{s.seen(err)}
	}
	defer s.statements.giveBack(one)
	return readRow{one.stmt.QueryRowContext(ctx, args...), s}
}

// seen ends the server where a read met damage: it would acknowledge what the
// file can't hold.
func (s *Store) seen(err error) error {
	if known := storageError(err); errors.Is(known, ErrDamaged) && !isSearchDamage(err) {
		s.noteFatal(known)
	}
	return err
}

// readRows and readRow are what a read gives.
type readRows struct {
	*sql.Rows
	s *Store
}

func (r readRows) Err() error { return r.s.seen(r.Rows.Err()) }

type readRow struct {
	*sql.Row
	s *Store
}

func (r readRow) Scan(dest ...any) error { return r.s.seen(r.Row.Scan(dest...)) }

// scanner is a row of either side.
type scanner interface{ Scan(dest ...any) error }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// rowSet are rows of either side.
type rowSet interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// collect reads all rows with scan.
func collect[T any](rows rowSet, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, storageError(err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, storageError(err)
		}
		all = append(all, one)
	}
	return all, storageError(rows.Err())
}

// Times in the file: seconds or milliseconds, NULL for the zero time.

func seconds(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromSeconds(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(n.Int64, 0)
}

func fromMillis(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMilli(n.Int64)
}

// id0 is an optional reference: NULL for 0.
func id0(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}
