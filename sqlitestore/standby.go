package sqlitestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/upkeep"

	"modernc.org/sqlite"
)

// Standby is a store over a copy to which another program, Litestream, goes on applying
// what the server writes. It lies beside the place of the database, which needn't be
// there. Nothing is written: write refuses. What may be used once to sign in is kept in
// memory, so it can be used once more at the server. Two things are different from a
// file that SQLite writes:
//
//   - Litestream locks the file as SQLite does while it applies an object of the
//     replica. But few objects have the first page, by whose change a connection learns
//     that the pages in its cache are old. So each query has a connection of its own,
//     which locks the file before it reads.
//   - Where Litestream can't apply an object whole, because the disk is full or the
//     place breaks off, a part of it stays in the file, without a lock, until it succeeds
//     later. After each success it replaces its mark, a file beside the copy. So a copy
//     that was written later than its mark may be torn, and isn't read.
type Standby struct {
	*Store
	dir    string // of the copies
	remove func() error
	shown  atomic.Pointer[followed] // nil: there is no copy yet

	mu     sync.Mutex
	steps  map[int64]int64   // the last of which a user entered a code
	codes  map[[32]byte]bool // for recovery
	counts map[int64]uint32  // of passkeys
}

// followed is a copy, and the mark of the program that writes it.
type followed struct{ path, mark string }

// tornTime is how long a query waits while the copy may be torn. Litestream tries again
// every second.
const tornTime = 4 * time.Second

var (
	errNoCopy = app.Refused(app.CodeUnavailable, app.Text{EN: "There is no copy to show yet. Try again in a moment.", VI: "Chưa có bản sao để xem, vui lòng thử lại sau."})
	errTorn   = app.Refused(app.CodeUnavailable, app.Text{EN: "The copy is just being written. Try again in a moment.", VI: "Bản sao đang được ghi, vui lòng thử lại sau."})
)

// OpenStandby makes the store of the one standby beside the place of a database. It has
// no copy yet. keyFile is the key of the database, or isn't there.
func OpenStandby(path, keyFile string, log *slog.Logger) (*Standby, error) {
	path, err := restorePlace(path)
	if err != nil {
		return nil, err
	}
	background, stop := context.WithCancel(context.Background())
	s := &Standby{
		Store: &Store{path: path, schema: released(), log: log, fatal: make(chan error, 1), stop: stop},
		steps: map[int64]int64{}, codes: map[[32]byte]bool{}, counts: map[int64]uint32{},
	}
	s.credentials.Store(&credentials{})
	s.reads = sql.OpenDB(followedConnector{s})
	s.reads.SetMaxOpenConns(4)
	if s.sealer, err = readKey(keyFile); errors.Is(err, ErrKey) {
		s.sealer, err = &sealer{}, nil
	}
	var others bool
	if err == nil {
		s.sealer.standby = true
		s.dir, others, s.remove, err = RestoreDir(path, ".standby-")
	}
	if others {
		err = errors.Join(err, fmt.Errorf("another baoco standby runs at %s: %w", path, ErrInUse))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.regularly(background, watchInterval, "read the credentials again", func(ctx context.Context) error {
		if s.shown.Load() == nil {
			return nil
		}
		return s.RefreshCredentials(ctx)
	})
	return s, nil
}

// Close removes the copies: the next standby restores a new one.
func (s *Standby) Close() error {
	var err error
	if s.remove != nil {
		err = s.remove()
	}
	return errors.Join(err, s.Store.Close())
}

// NewCopy is the path of a copy that is to be restored, with room for it. Copies that
// aren't shown are removed.
func (s *Standby) NewCopy() (string, error) {
	size := int64(reserve)
	if f := s.shown.Load(); f != nil {
		info, err := os.Stat(f.path)
		if err != nil {
			return "", err
		}
		size += info.Size()
	}
	if err := s.RemoveOthers(); err != nil {
		return "", err
	}
	return filepath.Join(s.dir, rand.Text()[:8]+".db"), checkRoom(s.dir, size)
}

// RemoveOthers removes the copies that aren't shown, and what stands beside them.
func (s *Standby) RemoveOthers() error {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if f := s.shown.Load(); f == nil || !strings.HasPrefix(e.Name(), filepath.Base(f.path)) {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, e.Name())))
		}
	}
	return err
}

// Admit checks a copy that no program has open, as a restore would, and makes it one
// that can be followed. keyFits reports whether the key here opens its secrets.
func (s *Standby) Admit(ctx context.Context, path, mark string) (_ upkeep.CopyFacts, keyFits bool, err error) {
	held, facts, err := checkedCopy(ctx, path)
	if err == nil && held.Schema != s.schema.version() {
		err = fmt.Errorf("%w: its schema is %d, and this baoco has %d", ErrOlder, held.Schema, s.schema.version())
	}
	if err == nil && !(&followed{path, mark}).whole() {
		err = fmt.Errorf("%w: it was written after %s", ErrDamaged, mark)
	}
	if err != nil {
		return facts, false, err
	}
	return facts, s.sealer.fits(held.keyCheck), prepareFollowed(path, mark)
}

// prepareFollowed has the header of a copy say that it has no write-ahead log, as
// Litestream does whenever it applies a first page.
func prepareFollowed(path, mark string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{1, 1}, 18) // read and write version: sqlite.org/fileformat.html, 1.3
	now := time.Now()
	return errors.Join(err, f.Sync(), f.Close(), os.Chtimes(mark, now, now))
}

// Show has queries read another copy from now on.
func (s *Standby) Show(path, mark string) {
	s.shown.Store(&followed{path, mark})
	s.credentials.Store(&credentials{}) // those of another epoch may have the same version
}

// Check returns ErrDamaged where the shown copy has damaged pages. Where it can't be
// read now there is no error.
func (s *Standby) Check(ctx context.Context) error {
	err := quickCheck(ctx, s.reads)
	if err == nil || app.CodeOf(storageError(err)) == app.CodeUnavailable {
		return nil
	}
	return fmt.Errorf("%w: %v", ErrDamaged, err)
}

// whole reports whether the copy was last written before its mark.
func (f *followed) whole() bool {
	file, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	mark, err := os.Stat(f.mark)
	return err == nil && !file.ModTime().After(mark.ModTime())
}

// followedConnector opens the connections of a standby, each for one query. It isn't the
// standby itself, which sql.DB would close.
type followedConnector struct{ s *Standby }

func (c followedConnector) Driver() driver.Driver { return &sqlite.Driver{} }

// Connect opens a connection that has begun to read, which keeps Litestream waiting, and
// finds the copy whole.
func (c followedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	s := c.s
	for end := time.Now().Add(tornTime); ; {
		f := s.shown.Load()
		if f == nil {
			return nil, errNoCopy
		}
		conn, err := s.begin(ctx, f.path)
		switch {
		case err == nil && f.whole():
			return followedConn{conn, conn.(driver.QueryerContext)}, nil
		case err == nil:
			err = errors.Join(errTorn, conn.Close())
		}
		if s.shown.Load() == f && (!errors.Is(err, errTorn) || !time.Now().Before(end)) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// begin opens a connection and begins to read: the file is locked until it is closed.
// No pragma before that reads the schema, as that of cache_size would.
func (s *Standby) begin(ctx context.Context, path string) (driver.Conn, error) {
	enableOFD()
	connect, err := sqlite.NewConnector(dsn(path, url.Values{
		"mode": {"ro"}, "_busy_timeout": {"5000"}, "_query_only": {"1"}, "_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {"trusted_schema(0)"},
	}))
	if err != nil {
		return nil, err
	}
	conn, err := connect.Connect(ctx)
	if err != nil {
		return nil, err
	}
	version, err := beginRead(ctx, conn)
	if err == nil && version != s.schema.version() {
		err = app.Refused(app.CodeUnavailable, app.Text{EN: "The server has another version of baoco than this machine.", VI: "Máy chủ chạy phiên bản baoco khác với máy này."})
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// beginRead begins a transaction, and gives the version of the schema.
func beginRead(ctx context.Context, conn driver.Conn) (version int, err error) {
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, `BEGIN`, nil); err != nil {
		return 0, err
	}
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, `PRAGMA user_version`, nil)
	if err != nil {
		return 0, err
	}
	value := make([]driver.Value, 1)
	if err := errors.Join(rows.Next(value), rows.Close()); err != nil {
		return 0, err
	}
	n, _ := value[0].(int64)
	return int(n), nil
}

// followedConn is closed after its query.
type followedConn struct {
	driver.Conn
	driver.QueryerContext
}

// IsValid implements driver.Validator.
func (followedConn) IsValid() bool { return false }

// StorageStatus looks at the copy. There needn't be a key.
func (s *Standby) StorageStatus(time.Time) (upkeep.StorageStatus, error) {
	status := upkeep.StorageStatus{Path: s.path, Schema: s.schema.version(), Free: freeSpace(s.dir)}
	f := s.shown.Load()
	if f == nil {
		return status, errNoCopy
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return status, app.Unavailable(err)
	}
	status.Size, status.FileMode = info.Size(), info.Mode()
	return status, nil
}

func (s *Standby) UseTOTPStep(_ context.Context, userID, step int64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step <= s.steps[userID] {
		return false, nil
	}
	s.steps[userID] = step
	return true, nil
}

func (s *Standby) UseRecoveryCode(ctx context.Context, u access.User, hash [32]byte) (bool, error) {
	there, err := readOne[bool](ctx, s.Store, `SELECT EXISTS (SELECT 1 FROM recovery_codes WHERE user_id = ? AND hash = ?)`, u.ID, hash[:])
	if err != nil || !there {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.codes[hash]
	s.codes[hash] = true
	return !used, nil
}

func (s *Standby) UsePasskey(ctx context.Context, id int64, count uint32, _ time.Time) error {
	before, err := readOne[uint32](ctx, s.Store, `SELECT sign_count FROM passkeys WHERE id = ?`, id)
	if err != nil {
		return noRowsAs(err, access.ErrNoPasskey)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if copiedPasskey(max(before, s.counts[id]), count) {
		return access.ErrPasskeyCopied
	}
	s.counts[id] = count
	return nil
}

// NoteSignIn logs it: the audit log is the server's.
func (s *Standby) NoteSignIn(ctx context.Context, u access.User, _ time.Time) error {
	by, _ := app.ActorOf(ctx)
	s.log.Info("somebody signed in at the standby", "user", u.Name, "address", by.Address)
	return nil
}
