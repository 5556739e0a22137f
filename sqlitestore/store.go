// Package sqlitestore remembers: it is the only place with SQL. It keeps
// everything in one SQLite file, in WAL mode with synchronous=FULL, so that
// acknowledged transactions survive a power cut.
//
// # Shelves
//
// The files are on five shelves:
//   - engine, through which every statement passes: store, read, tx, writer, checkpoint,
//     errors, secret, schema, migrate, setting, idempotency, lock, disk, mounts,
//     openfiles, sequence;
//   - recording, the commit of what comes in: inbound, inboundlink and import begin it;
//     record, recorded, repeat and settle hold the recorder; recordcache has what it looks
//     up; totals and derived have what it counts;
//   - care of the file: backup, restore, copy, inspect, newkey, replica, prune,
//     doctor, system;
//   - lists: listing, days, transaction_list, transaction_state, history, search;
//   - nouns, a file each, with the statements of its room's Store.
//
// # Connections
//
// All writes pass through one goroutine that owns one connection, commits all
// waiting writes together and makes the checkpoints
// (writer.go). Reads go to a small pool of connections that cannot write. A
// process holds the file with OFD locks: with POSIX locks, any other open and
// close of the file in the process would drop SQLite's locks.
//
// # Derived tables
//
// Totals are written in the commit of the rows that they count (totals.go), so that
// statistics, and lists of whole days, count no rows. The indexes of search texts and
// of unsent transactions are written some time later (search.go). All of them are
// listed in derived.go.
//
// # Lists
//
// A list is read from the few transactions that an index finds for one of its
// conditions, or else row by row from an index in its order (transaction_list.go,
// history.go). Its total is exact, unless the caller only asks for some rows.
//
// # Files
//
// Beside the database file F lie F-wal and F-shm, which are SQLite's; F.key,
// the key that secrets are sealed with; and F.lock, which the one serving
// process locks, or a restore. F.key.next and F.key.old-<time> are a new and an
// old key during and after a change (newkey.go); F.to-restore-<time> is a backup that
// will replace F (restore.go), and F.before-restore-<time> the replaced database.
// F.before-schema-<version> is F as it was before it got that schema
// (migrate.go). F.taken-<time> is what a server saved whose files were removed
// or replaced (openfiles.go).
package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"

	"modernc.org/sqlite"
)

// Errors of Open. Each needs another remedy.
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
	// Logger gets the errors that are returned to no caller; nil discards them.
	Logger *slog.Logger
	// Committed is called after each commit that wrote, with its time and the
	// number of its callers, and returns at once; may be nil.
	Committed func(took time.Duration, callers int)
	// Migrating is called before an older file is migrated; may be nil.
	Migrating func(Migration)
	// Unnamed is the actor where a context has none. It is for tests of other rules
	// than those of the audit log; nil refuses a deed without an actor.
	Unnamed func() app.Actor

	schema *schema // nil: the schema of this baoco
}

// Migration is a change of a file from one schema to another. Kept is the path of a
// copy that was made before.
type Migration struct {
	From, To int
	Kept     string
}

// Store is an open file.
type Store struct {
	path            string
	schema          *schema
	reads           *sql.DB
	writer          *writer
	sealer          *sealer
	lock            *os.File
	log             *slog.Logger
	statements      readStatements // on reads
	credentials     atomic.Pointer[credentials]
	credentialsLoad sync.Mutex
	touched         sync.Map // API key id → time of the last noted use

	fewIDs   int           // 0: the constant
	longWork chan struct{} // holds a value while a caller of [inSteps] has a step in the queue

	fatal   chan error
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// Open opens an existing file and migrates it to the present schema. It never creates a
// file. The errors are those above, ErrTaken and ErrTwoNames.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := FinishRestore(path); err != nil {
		return nil, err
	}
	resolved, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.schema == nil {
		o.schema = released()
	}
	if err := checkOneName(resolved); err != nil {
		return nil, err
	}
	s := &Store{path: resolved, schema: o.schema, log: o.Logger, fatal: make(chan error, 1), longWork: make(chan struct{}, 1)}
	if err := s.open(ctx, o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// mostReads is how many connections read at once.
const mostReads = 4

func (s *Store) open(ctx context.Context, o Options) (err error) {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	if s.sealer, err = readKey(s.path + ".key"); err != nil {
		return err
	}
	if o.Serve {
		s.lock, err = lockDatabase(s.path)
	} else {
		err = checkServedLog(s.path)
	}
	if err == nil {
		err = checkRescued(s.path)
	}
	if err != nil {
		return err
	}
	before, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	s.reads = sql.OpenDB(connector(readDSN(s.path)))
	s.reads.SetMaxOpenConns(mostReads)
	s.reads.SetMaxIdleConns(mostReads)
	if err := s.upToDate(ctx, o.Migrating); err != nil {
		return err
	}
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
	if s.writer, err = openWriter(ctx, s.path, s.sealer, turn, s.noteFatal); err != nil {
		return errors.Join(err, turn.close())
	}
	s.writer.tx.unnamed = o.Unnamed
	s.writer.files, err = s.noteOpenFiles(before)
	s.writer.onCommit = o.Committed
	go s.writer.run()
	if err != nil {
		return err
	}
	if err := s.loadCredentials(ctx); err != nil {
		return err
	}
	if o.Serve {
		s.regularly(background, watchInterval, "read the credentials again", s.RefreshCredentials)
		s.regularly(background, time.Second, "look at the open files", s.checkOpenFiles)
	}
	return nil
}

// regularly calls fn at an interval until ctx ends, and logs its errors.
func (s *Store) regularly(ctx context.Context, every time.Duration, what string, fn func(ctx context.Context) error) {
	s.stopped.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := app.Protected(func() error { return fn(ctx) }); err != nil && ctx.Err() == nil {
					s.log.Warn(what, "err", err)
				}
			}
		}
	})
}

// Close commits the jobs that wait and closes the file.
func (s *Store) Close() error {
	s.stop()
	s.stopped.Wait()
	errs := []error{s.statements.close()}
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	// The last connection to close copies the log into the file, so the writer's
	// is closed last.
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.lock != nil {
		errs = append(errs, unlockFile(s.lock))
	}
	return errors.Join(errs...)
}

// Fatal receives an error once the file can no longer be trusted. The process should
// then end with this error, and start again.
func (s *Store) Fatal() <-chan error { return s.fatal }

func (s *Store) noteFatal(err error) {
	select {
	case s.fatal <- err:
	default:
	}
}

// Path is the path of the file, with symbolic links resolved.
func (s *Store) Path() string { return s.path }

// lockDatabase takes the lock that a serving process holds. The lock file belongs to the
// owner of the database, also if root runs this.
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

var enableOFD = sync.OnceFunc(func() {
	// Without OFD locks in the kernel SQLite uses POSIX locks. They hold as long as nothing
	// but SQLite opens the files in this process.
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

// quickCheck returns ErrDamaged for a damaged file. A file over 256 MB is checked in
// the background, since the start would take too long.
func (s *Store) quickCheck(ctx, background context.Context) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if info.Size() > 256<<20 {
		s.stopped.Go(func() {
			if err := app.Protected(func() error { return s.runQuickCheck(background) }); err != nil && background.Err() == nil {
				s.noteFatal(err)
			}
		})
		return nil
	}
	return s.runQuickCheck(ctx)
}

// checkedTables is the query of the tables whose pages are checked.
const checkedTables = `SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table'
	AND sql NOT LIKE 'CREATE VIRTUAL %'`

func (s *Store) runQuickCheck(ctx context.Context) error {
	if err := quickCheck(ctx, s.reads); err != nil {
		return fmt.Errorf("%w: %s: %v; restore a backup", ErrDamaged, s.path, err)
	}
	return nil
}

// quickCheck checks the pages of each table. A check of the whole file would also
// read the search index twice, which takes three times as long as all the rest and
// finds no damaged page that the check of the index's own tables doesn't find.
func quickCheck(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, checkedTables)
	tables, err := collect(rows, err, scanOne[string])
	for _, table := range tables {
		if err != nil {
			break
		}
		var finding string
		if finding, err = scanOne[string](db.QueryRowContext(ctx, `PRAGMA quick_check(`+table+`)`)); err == nil && finding != "ok" {
			err = errors.New(finding)
		}
	}
	return err
}

// openOne opens a file with one connection.
func openOne(path string, query url.Values) *sql.DB {
	db := sql.OpenDB(connector(dsn(path, query)))
	db.SetMaxOpenConns(1)
	return db
}

// openStill opens a file that no other process has open. It takes no lock and reads no log.
func openStill(path string) *sql.DB {
	return openOne(path, url.Values{
		"mode": {"ro"}, "immutable": {"1"}, "_query_only": {"1"}, "_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {"trusted_schema(0)"},
	})
}

// openUntouched opens a file so that closing it changes nothing. The last connection to
// close copies the log into the file unless it is read-only, so it is read-only if there
// is a log. Without a log it may write: only such a connection removes the files that
// SQLite makes for it.
func openUntouched(path string) *sql.DB {
	mode := "rw"
	if _, err := os.Stat(path + "-wal"); err == nil {
		mode = "ro"
	}
	return openOne(path, url.Values{
		"mode": {mode}, "_busy_timeout": {"5000"}, "_query_only": {"1"}, "_dqs": {"0"}, "_defensive": {"1"},
		"_pragma": {"cache_size(-8000)", "trusted_schema(0)", "synchronous(FULL)"},
	})
}

// fileConnector opens connections, and switches OFD locks on before the first one. It
// refuses a connection that would not sync its commits.
type fileConnector struct{ dsn string }

func (c *fileConnector) Connect(ctx context.Context) (driver.Conn, error) {
	enableOFD()
	connect, err := sqlite.NewConnector(c.dsn)
	if err != nil {
		return nil, err
	}
	conn, err := connect.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkDurable(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkDurable checks that the connection syncs its commits.
func checkDurable(ctx context.Context, conn driver.Conn) error {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, `PRAGMA synchronous`, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	value := make([]driver.Value, 1)
	if err := rows.Next(value); err != nil {
		return err
	}
	if value[0] != int64(2) { // FULL
		return fmt.Errorf("the database connection is not durable: synchronous is %v", value[0])
	}
	return nil
}

func (c *fileConnector) Driver() driver.Driver { return &sqlite.Driver{} }
