package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baoco/app"
)

// reserve is how many bytes a copy leaves free on the disk that the server writes
// to.
const reserve = 64 << 20

// copyTo copies the database into the new file draft. It returns ErrNoRoom if the
// disk has too little space.
func (s *Store) copyTo(ctx context.Context, draft string, progress func(done, of int64)) error {
	db := openOne(s.path, url.Values{"mode": {"rw"}, "_busy_timeout": {"5000"}, "_pragma": {"cache_size(-8000)"}})
	defer db.Close()
	size, err := scanOne[int64](db.QueryRowContext(ctx, `SELECT (c.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s`))
	if err != nil {
		return storageError(err)
	}
	needs := size
	if sameDisk(filepath.Dir(s.path), filepath.Dir(draft)) {
		needs += reserve
	}
	if err := checkRoom(filepath.Dir(draft), needs); err != nil {
		return err
	}
	stop := func() error { return nil }
	if progress != nil {
		stop = meanwhile(200*time.Millisecond, func() error {
			if info, err := os.Stat(draft); err == nil {
				progress(info.Size(), size)
			}
			return nil
		})
	}
	err = vacuumInto(execOf(ctx, db), draft)
	return errors.Join(err, stop())
}

// checkRoom returns ErrNoRoom if a directory has less free space than needs, in
// bytes.
func checkRoom(dir string, needs int64) error {
	if free := freeSpace(dir); free >= 0 && free < needs {
		return fmt.Errorf("%w: %s has %d MB left, and %d MB are needed", ErrNoRoom, dir, free>>20, needs>>20+1)
	}
	return nil
}

// vacuumInto copies a database into a new file that only its owner may read, and
// syncs it. After an error there is no file.
func vacuumInto(exec func(query string, args ...any) error, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	// On a journaling file system a commit of the server waits for all earlier writes,
	// also those of the copy, so few of these may be unsynced at any time.
	synced := meanwhile(syncEvery, f.Sync)
	// The name is bound and absolute, so nothing in it is read as a URI.
	err = exec(`VACUUM INTO ?`, path)
	if err = errors.Join(err, synced(), f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path + "-journal") // SQLite leaves it after an error
		_ = os.Remove(path)
		return fmt.Errorf("copy the database to %s: %w", filepath.Dir(path), err)
	}
	return nil
}

// saveAs copies the database at path to the path to. The copy belongs to the owner
// of the database, and gets its name when it is complete.
func saveAs(exec func(query string, args ...any) error, path, to string, owner os.FileInfo) error {
	draft := newDraft(path)
	defer os.Remove(draft)
	if err := vacuumInto(exec, draft); err != nil {
		return err
	}
	if err := ownAs(draft, owner); err != nil {
		return err
	}
	return publish(draft, to, false)
}

// execOf returns a function that runs statements on a database.
func execOf(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}) func(query string, args ...any) error {
	return func(query string, args ...any) error {
		_, err := db.ExecContext(ctx, query, args...)
		return err
	}
}

// syncEvery is how often a copy is synced while it grows.
const syncEvery = 50 * time.Millisecond

// meanwhile calls fn at an interval until stop is called. stop returns all errors of fn,
// because Linux reports an error of a sync only once. After stop fn isn't called.
func meanwhile(every time.Duration, fn func() error) (stop func() error) {
	quit, finished := make(chan struct{}), make(chan error)
	go func() {
		var failed error
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				finished <- failed
				return
			case <-tick.C:
				failed = errors.Join(failed, app.Protected(fn))
			}
		}
	}()
	return func() error {
		close(quit)
		return <-finished
	}
}

// copyKey copies the key file. A different key at the path to is an error and is never
// replaced, since secrets may be sealed with it.
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
	return publish(draft, to, false)
}

// writeSynced writes and syncs a new file that only its owner may read.
func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// Tests replace these two: a kill after some renames, a disk without links.
var rename, link = os.Rename, os.Link

// publish renames the finished file draft to path and syncs the directory. Without
// replace a path that exists is the error fs.ErrExist.
func publish(draft, path string, replace bool) error {
	if !replace {
		// A link fails where the name was taken meanwhile; a rename would not.
		switch err := link(draft, path); {
		case errors.Is(err, fs.ErrExist):
			return err
		case err == nil:
			return errors.Join(os.Remove(draft), syncDir(filepath.Dir(path)))
		}
		// Some disks have no links, such as USB sticks.
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, fmt.Errorf("%s: %w", path, fs.ErrExist))
		}
	}
	if err := rename(draft, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// removeDrafts removes the drafts of earlier runs that were killed, by the prefix of
// their names.
func removeDrafts(prefix string) error {
	names, err := namesWith(prefix)
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// namesWith lists the paths that begin with a prefix, in order.
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

// copyFile copies a file into a new one that only its owner may read, and syncs it.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
