package sqlitestore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"baoco/app"
)

// A backup is made beside a running server, by VACUUM INTO: one read
// transaction, so that the copy is the state of one moment. SQLite's online
// backup in steps would begin again with every commit.
//
// The copy is made under a name of its own in the directory where it is to
// stand, synced, checked as a restore would check it, and only then named; so
// what has the name is a whole backup. The key stands beside it before it does.

// Errors of Backup and Restore.
var (
	ErrBackupRuns = errors.New("another backup is being made of a database in this directory")
	ErrNoRoom     = errors.New("there is not enough room on the disk")
	ErrInUse      = errors.New("this file belongs to a database in use")
)

// BackupTarget says where a backup goes: to File, or to a dated name in Dir.
type BackupTarget struct {
	File    string
	Replace bool // an older backup of this name
	Dir     string
	Keep    int  // how many backups of this database stay in Dir; 0: all
	NoKey   bool // leave the key out
	// Progress, where it isn't nil, is called now and then with the bytes that
	// were written and about how many there will be.
	Progress func(done, of int64)
}

// BackupMade is a backup, with what it holds and what went for it.
type BackupMade struct {
	app.Backup
	app.Contents
	Removed []string // older ones, beyond BackupTarget.Keep
	Left    []string // that look like older ones and are not of this database
}

// Backup makes a copy of the database as it is at one moment, and notes that in
// the database. now dates it. After an error there is no copy to rely on, unless
// BackupMade.Path names it: then only what came after it failed.
func (s *Store) Backup(ctx context.Context, t BackupTarget, now time.Time) (made BackupMade, err error) {
	dir, path, err := s.backupPlace(t, now)
	if err != nil {
		return made, err
	}
	unlock, err := lockDir(filepath.Dir(s.path))
	if err != nil {
		return made, err
	}
	defer unlock()
	mark, err := s.installation(ctx)
	if err != nil {
		return made, err
	}
	drafts := filepath.Join(dir, ".baoco-backup-"+mark+"-")
	if err := removeDrafts(drafts); err != nil {
		return made, err
	}
	draft := drafts + rand.Text()[:8]
	defer os.Remove(draft)
	if made, err = s.checkedCopy(ctx, draft, t.Progress); err != nil {
		return BackupMade{}, err
	}
	if !t.NoKey {
		if err := copyKey(s.path+".key", path+".key", drafts+"key-"+rand.Text()[:8]); err != nil {
			return BackupMade{}, err
		}
	}
	if err := name(draft, path, t.Replace); err != nil {
		return BackupMade{}, err
	}
	made.Path, made.At, made.WithKey = path, now, !t.NoKey
	if err := s.noteBackup(context.WithoutCancel(ctx), made.Backup); err != nil {
		return made, fmt.Errorf("the backup is made, but could not be noted in the database: %w", err)
	}
	if t.Dir != "" && t.Keep > 0 {
		err = s.removeOld(ctx, t, mark, &made)
	}
	return made, err
}

// checkedCopy makes the copy, and checks it as a restore would.
func (s *Store) checkedCopy(ctx context.Context, draft string, progress func(done, of int64)) (made BackupMade, err error) {
	if err := s.copyTo(ctx, draft, progress); err != nil {
		return made, err
	}
	contents, err := inspect(ctx, draft)
	if err == nil {
		err = contents.fits(s.sealer)
	}
	if err != nil {
		return made, fmt.Errorf("the copy is not whole, so it is thrown away: %w", err)
	}
	info, err := os.Stat(draft)
	if err != nil {
		return made, err
	}
	made.Size, made.Contents = info.Size(), contents.Contents
	return made, nil
}

// backupPlace is where a backup is to stand, and refuses a place that isn't one.
func (s *Store) backupPlace(t BackupTarget, now time.Time) (dir, path string, err error) {
	path = t.File
	if t.Dir != "" {
		path = filepath.Join(t.Dir, s.backupPrefix()+stamp(now)+".db")
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	if dir, err = filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, filepath.Base(path))
	for _, own := range []string{"", "-wal", "-shm", "-journal", ".key", ".lock"} {
		if path == s.path+own || path+".key" == s.path+own {
			return "", "", fmt.Errorf("%w: %s", ErrInUse, path)
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, path, nil
	case err != nil:
		return "", "", err
	case !info.Mode().IsRegular():
		return "", "", fmt.Errorf("%s is not a regular file: %w", path, fs.ErrExist)
	case !t.Replace:
		return "", "", fmt.Errorf("%s: %w; --force replaces it", path, fs.ErrExist)
	}
	return dir, path, checkNoLog(path)
}

// checkNoLog refuses a file with a write-ahead log beside it: it is a database
// that somebody works with, and only both together are whole.
func checkNoLog(path string) error {
	switch _, err := os.Lstat(path + "-wal"); {
	case err == nil:
		return fmt.Errorf("%w: %[2]s-wal stands beside it; baoco backup --db %[2]s makes a copy of both", ErrInUse, path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// backupPrefix is what the names of dated backups begin with.
func (s *Store) backupPrefix() string {
	return strings.TrimSuffix(filepath.Base(s.path), ".db") + "-"
}

const stampLayout = "20060102T150405Z"

// stamp is an instant in a file name: such names sort as their times.
func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// reserve is what a copy leaves free on the disk that the server writes to.
const reserve = 64 << 20

// copyTo makes the copy, if there is room for it.
func (s *Store) copyTo(ctx context.Context, draft string, progress func(done, of int64)) error {
	db := sql.OpenDB(connector(dsn(s.path, url.Values{"mode": {"rw"}, "_busy_timeout": {"5000"}, "_pragma": {"cache_size(-8000)"}})))
	defer db.Close()
	db.SetMaxOpenConns(1)
	var size int64
	if err := db.QueryRowContext(ctx, `SELECT (c.page_count - f.freelist_count) * s.page_size
			FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s`).Scan(&size); err != nil {
		return storageError(err)
	}
	needs := size
	if sameDisk(filepath.Dir(s.path), filepath.Dir(draft)) {
		needs += reserve
	}
	if err := checkRoom(filepath.Dir(draft), needs); err != nil {
		return err
	}
	if progress != nil {
		defer regularly(200*time.Millisecond, func() {
			if info, err := os.Stat(draft); err == nil {
				progress(info.Size(), size)
			}
		})()
	}
	return vacuumInto(ctx, db, draft)
}

// checkRoom refuses before a disk is filled up in vain.
func checkRoom(dir string, needs int64) error {
	if free := freeSpace(dir); free >= 0 && free < needs {
		return fmt.Errorf("%w: %s has %d MB left, and %d MB are needed", ErrNoRoom, dir, free>>20, needs>>20+1)
	}
	return nil
}

// vacuumInto writes a copy of a database into a new file, synced, for its
// owner's eyes. Where it fails there is no file.
func vacuumInto(ctx context.Context, db *sql.DB, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	synced := syncing(f)
	// The name is bound and absolute, so nothing in it is read as a URI.
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, path)
	err = errors.Join(err, synced())
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path + "-journal") // SQLite's, where it failed
		_ = os.Remove(path)
		return fmt.Errorf("copy the database to %s: %w", filepath.Dir(path), err)
	}
	return nil
}

// syncEvery is how often a copy is synced while it grows.
const syncEvery = 50 * time.Millisecond

// syncing syncs a file regularly, and once more when it is told to stop. On a
// journaling file system a commit of the server waits for whatever was written
// before it, the copy too: it should never be much at a time. An error counts
// whenever it came: Linux tells of each only once.
func syncing(f *os.File) (stop func() error) {
	var failed error
	end := regularly(syncEvery, func() { failed = errors.Join(failed, f.Sync()) })
	return func() error {
		end()
		return errors.Join(failed, f.Sync())
	}
}

// regularly calls fn until it is told to stop, and no more after that.
func regularly(every time.Duration, fn func()) (stop func()) {
	quit, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				fn()
			}
		}
	}()
	return func() {
		close(quit)
		<-finished
	}
}

// copyKey puts a copy of the key where there is none. Another key that stands
// there stays, whatever happens: secrets may be sealed with it.
func copyKey(from, to, draft string) error {
	key, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	switch present, err := os.ReadFile(to); {
	case err == nil && string(present) == string(key):
		return nil
	case err == nil:
		return fmt.Errorf("%s is another key: move it away, or choose another name: %w", to, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	defer os.Remove(draft)
	if err := writeSynced(draft, key); err != nil {
		return err
	}
	return name(draft, to, false)
}

// writeSynced writes a new file for its owner's eyes.
func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// name gives a whole file its name, for certain.
func name(draft, path string, replace bool) error {
	if !replace {
		// A link fails where the name was taken meanwhile; a rename would not.
		err := os.Link(draft, path)
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		if err == nil {
			return syncDir(filepath.Dir(path))
		}
		// There are disks without links, such as a USB stick's.
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// removeDrafts removes what runs that were killed left: their names begin so.
func removeDrafts(prefix string) error {
	names, err := namesWith(prefix)
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// namesWith lists the paths that begin so, in order.
func namesWith(prefix string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(prefix))
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(prefix)) {
			names = append(names, filepath.Join(filepath.Dir(prefix), e.Name()))
		}
	}
	return names, err
}

// installation tells this database and its copies from any other: it is made
// of what is sealed at its creation.
func (s *Store) installation(ctx context.Context) (string, error) {
	check, err := s.setting(ctx, "key_check")
	return installationOf(check), err
}

func installationOf(keyCheck string) string {
	sum := sha256.Sum256([]byte(keyCheck))
	return hex.EncodeToString(sum[:6])
}

var datedName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z\.db$`)

// removeOld removes the oldest dated backups of this database, by name, with
// their keys. What only looks like one stays, and isn't counted.
func (s *Store) removeOld(ctx context.Context, t BackupTarget, mark string, made *BackupMade) error {
	prefix := filepath.Join(filepath.Dir(made.Path), s.backupPrefix())
	names, err := namesWith(prefix)
	if err != nil {
		return err
	}
	var own []string // but for the one just made
	for _, name := range names {
		if name == made.Path || !datedName.MatchString(strings.TrimPrefix(name, prefix)) {
			continue
		}
		if check, err := keyCheckOf(ctx, name); err != nil || installationOf(check) != mark {
			made.Left = append(made.Left, name)
			continue
		}
		own = append(own, name)
	}
	for _, old := range own[:max(0, len(own)-t.Keep+1)] {
		if err := os.Remove(old); err != nil {
			return err
		}
		if err := os.Remove(old + ".key"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made.Removed = append(made.Removed, old)
	}
	return nil
}

// notedBackup is the setting last_backup.
type notedBackup struct {
	AtMS    int64  `json:"at_ms"`
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	WithKey bool   `json:"with_key"`
}

func (s *Store) noteBackup(ctx context.Context, b app.Backup) error {
	value, err := json.Marshal(notedBackup{b.At.UnixMilli(), b.Path, b.Size, b.WithKey})
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error {
		return tx.exec(`INSERT OR REPLACE INTO settings (name, value) VALUES ('last_backup', ?)`, string(value))
	})
}

func (s *Store) BackupStatus(ctx context.Context) (status app.BackupStatus, err error) {
	var first sql.NullInt64
	err = s.queryRow(ctx, `SELECT created_at FROM transactions ORDER BY id LIMIT 1`).Scan(&first)
	if err != nil && !noRows(err) {
		return status, storageError(err)
	}
	status.FirstAt = fromSeconds(first)
	var value string
	err = s.queryRow(ctx, `SELECT value FROM settings WHERE name = 'last_backup'`).Scan(&value)
	if noRows(err) { // there never was one
		return status, nil
	}
	if err != nil {
		return status, storageError(err)
	}
	var noted notedBackup
	if err := json.Unmarshal([]byte(value), &noted); err != nil {
		return status, fmt.Errorf("%w: setting last_backup: %v", ErrDamaged, err)
	}
	status.Last = app.Backup{Path: noted.Path, Size: noted.Size, At: time.UnixMilli(noted.AtMS), WithKey: noted.WithKey}
	return status, nil
}
