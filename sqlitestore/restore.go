package sqlitestore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"baoco/app/upkeep"
)

// A restore replaces several files: the database, its log and its key. No file
// system does that in one step. So the backup is first copied beside the database
// F, synced and checked. Then its key and the copy itself get the names
// F.to-restore-<time>.key and F.to-restore-<time>. The last of these renames is the
// commit: from then on every process that opens the database finishes the restore
// first, also after a kill or a power cut. Nothing is deleted: the old database, its
// log and its key become F.before-restore-<time>, a complete database.

// Names beside a database, during a restore and after it.
const (
	draftSuffix = ".restoring-"
	nextSuffix  = ".to-restore-"
	asideSuffix = ".before-restore-"
)

// ErrHeld says that another program, such as Litestream, has the database open.
var ErrHeld = errors.New("another program has the database open")

// ErrMount says that a file which is to be replaced is a mount of its own.
var ErrMount = errors.New("a file that is mounted by itself can't be replaced; mount its folder instead")

// checkReplaceable returns ErrMount if one of the files is a mount of its own.
func checkReplaceable(paths ...string) error {
	for _, path := range paths {
		if isMount(path) {
			return fmt.Errorf("%w: %s", ErrMount, path)
		}
	}
	return nil
}

// filesOf are the names of a database, of its key, and of the files that belong to it
// and must not lie beside another database: its logs, a new key that it was about to
// get, and Litestream's state.
func filesOf(path string) []string {
	state := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-litestream")
	return []string{path, path + ".key", path + "-wal", path + "-shm", path + "-journal", path + nextKey, state}
}

// RestoreSource says what is restored.
type RestoreSource struct {
	File   string
	Key    string // empty: the key beside File, or else the key of the database
	DryRun bool   // change nothing
	Origin string // the name of the backup in the audit log; empty: File
	// Servers is how many servers may have given ids after the copy, each on its own; 0: one.
	Servers int64
	Draft   bool // File is a draft on the disk of the database: it is moved, not copied
	// Decide is called after all checks, with the database locked. Its error ends the
	// restore, which has changed nothing until then. It may be nil.
	Decide func() error
}

// Restored says what a restore did, or would do.
type Restored struct {
	Path     string   // of the database
	From     string   // the backup
	Key      string   // that opens it
	SetAside []string // the files that were in its place: their new names, or their present ones in a dry run
	Served   bool     // a server or another program has the database open; in a dry run only
	Finished string   // the database that an interrupted restore had set aside, if one was finished first; else empty
	upkeep.Contents
}

// draftRoom is how many bytes a draft that lies beside the database needs: for its key, and
// for the journal while leaveGap changes its ids.
const draftRoom = 1 << 20

// Restore puts a backup in the place of the database at path, which need not exist.
// The backup is checked before anything is changed. After an error everything is as
// before; if that fails too, the next Restore, Open or FinishRestore finishes the restore.
func Restore(ctx context.Context, path string, from RestoreSource, now time.Time) (r Restored, err error) {
	if r.Path, err = restorePlace(path); err != nil {
		return r, err
	}
	if r.From, err = filepath.Abs(from.File); err != nil {
		return r, err
	}
	if from.DryRun {
		if r.Served, err = isLocked(r.Path + ".lock"); err != nil {
			return r, err
		}
		r.Served = r.Served || isHeld(r.Path)
		_, err := r.check(ctx, from)
		return r, err
	}
	lock, err := lockDatabase(r.Path)
	if err != nil {
		return r, err
	}
	defer lock.Close()
	if r.Finished, err = applyRestore(r.Path); err != nil {
		return r, err
	}
	if err := removeDrafts(r.Path + draftSuffix); err != nil {
		return r, err
	}
	if isHeld(r.Path) {
		return r, fmt.Errorf("%w: %s; end it first, Litestream by systemctl stop baoco-litestream", ErrHeld, r.Path)
	}
	key, err := r.check(ctx, from)
	if err != nil {
		return r, err
	}
	if from.Decide != nil {
		if err := from.Decide(); err != nil {
			return r, err
		}
	}
	if err = r.commit(ctx, key, from, now); err == nil {
		_, err = applyRestore(r.Path)
	}
	if err != nil {
		return r, errors.Join(err, takeBack(r.Path))
	}
	return r, r.closeRescue()
}

// closeRescue renames a restored copy that a server had saved (rescueSuffix): otherwise
// the next server would refuse to start.
func (r *Restored) closeRescue() error {
	stamp, rescue := strings.CutPrefix(r.From, r.Path+rescueSuffix)
	if !rescue {
		return nil
	}
	done := r.Path + ".restored-" + stamp
	return errors.Join(moveAside(r.From+".key", done+".key"), moveAside(r.From, done))
}

// restorePlace returns the absolute path of the database, whether it exists or not.
func restorePlace(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	} else if _, dangling := os.Lstat(path); dangling == nil || !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%w: %s is not a regular file", ErrNotDatabase, path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// ownerFor returns the file whose owner the files of a database get: the database,
// or its directory if there is no database yet.
func ownerFor(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Stat(filepath.Dir(path))
	}
	return info, err
}

// check checks the backup, finds its key and lists the files to set aside.
func (r *Restored) check(ctx context.Context, from RestoreSource) (key []byte, err error) {
	info, err := os.Stat(r.From)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoFile, r.From)
	}
	if err != nil {
		return nil, err
	}
	if present, err := os.Stat(r.Path); err == nil && os.SameFile(info, present) {
		return nil, fmt.Errorf("%w: %s is the database itself", ErrInUse, r.From)
	}
	if _, err := checkFile(r.From); err != nil {
		return nil, err
	}
	if err := checkNoLog(r.From); err != nil {
		return nil, err
	}
	contents, err := inspect(ctx, r.From, released())
	if err != nil {
		return nil, err
	}
	r.Contents = contents.Contents
	if r.Key, key, err = findKey(contents, from.Key, r.From+".key", r.Path+".key"); err != nil {
		return nil, err
	}
	for _, name := range filesOf(r.Path) {
		if _, err := os.Lstat(name); err == nil {
			r.SetAside = append(r.SetAside, name)
		}
	}
	if err := checkReplaceable(r.SetAside...); err != nil {
		return nil, err
	}
	needs := info.Size()
	if from.Draft {
		needs = draftRoom
	}
	return key, checkRoom(filepath.Dir(r.Path), needs)
}

// findKey returns the first key file that opens the backup's secrets. If a key file
// was named only that one is tried.
func findKey(contents inspected, named string, others ...string) (path string, key []byte, err error) {
	if named != "" {
		others = []string{named}
	}
	for _, path := range others {
		sealer, err := readKey(path)
		if err == nil && !sealer.fits(contents.keyCheck) {
			err = ErrKey
		}
		if errors.Is(err, ErrKey) && named == "" {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", path, err)
		}
		key, err := os.ReadFile(path)
		return path, key, err
	}
	return "", nil, fmt.Errorf("%w: neither %s opens its secrets; name the right one", ErrKey, strings.Join(others, " nor "))
}

// commit copies the backup, unless it is a draft, and its key beside the database,
// leaves a gap in its ids, and renames both. With these names the restore is decided.
func (r *Restored) commit(ctx context.Context, key []byte, from RestoreSource, now time.Time) (err error) {
	draft, keyDraft := r.From, newDraft(r.Path)
	defer os.Remove(keyDraft)
	if !from.Draft {
		if draft, err = r.copied(ctx); err != nil {
			return err
		}
		defer os.Remove(draft)
	}
	if err := writeSynced(keyDraft, key); err != nil {
		return err
	}
	from.Origin = cmp.Or(from.Origin, r.From)
	if err := leaveGap(ctx, draft, from, givenIDs(ctx, r.Path), now); err != nil {
		return err
	}
	owner, err := ownerFor(r.Path)
	if err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(draft, 0o600), ownAs(draft, owner), ownAs(keyDraft, owner)); err != nil {
		return err
	}
	dated, err := freeStamp(r.Path+asideSuffix, now)
	if err != nil {
		return err
	}
	aside := filesOf(r.Path + asideSuffix + dated)
	for i, present := range r.SetAside {
		r.SetAside[i] = aside[slices.Index(filesOf(r.Path), present)]
	}
	return nameNext(r.Path, draft, keyDraft, dated)
}

// copied copies the backup beside the database, and checks the copy.
func (r *Restored) copied(ctx context.Context) (draft string, err error) {
	draft = newDraft(r.Path)
	var held inspected
	if err = copyFile(r.From, draft); err == nil {
		held, err = inspect(ctx, draft, released())
	}
	if err == nil && held.Contents != r.Contents {
		err = fmt.Errorf("%w: the copy of %s holds something else", ErrDamaged, r.From)
	}
	if err != nil {
		_ = os.Remove(draft)
	}
	return draft, err
}

func newDraft(path string) string { return path + draftSuffix + rand.Text()[:8] }

// nameNext names a database and its key, both synced, so that applyRestore puts them
// in the place of the database at path.
func nameNext(path, draft, keyDraft, dated string) error {
	next := path + nextSuffix + dated
	if err := publish(keyDraft, next+".key", true); err != nil {
		return err
	}
	return publish(draft, next, true)
}

// freeStamp returns a time, as in file names, that no name with the prefix has yet.
func freeStamp(prefix string, now time.Time) (string, error) {
	for ; ; now = now.Add(time.Second) {
		if taken, err := namesWith(prefix + stamp(now)); err != nil || len(taken) == 0 {
			return stamp(now), err
		}
	}
}

// pendingRestore returns the name of the file that will replace a database; empty if no
// restore is under way. stale are the keys of restores that were killed before their
// database was renamed.
func pendingRestore(path string) (next string, stale []string, err error) {
	names, err := namesWith(path + nextSuffix)
	for _, name := range names {
		if !strings.HasSuffix(name, ".key") {
			next = name
		} else if name != next+".key" { // which sorts before its key
			stale = append(stale, name)
		}
	}
	return next, stale, err
}

// decidedRestore returns the name of the file that will replace a database; empty: none.
// It removes the keys of restores that were never decided.
func decidedRestore(path string) (next string, err error) {
	next, stale, err := pendingRestore(path)
	for _, key := range stale {
		err = errors.Join(err, os.Remove(key))
	}
	return next, err
}

// FinishRestore finishes a restore of the database at path that was interrupted after
// its commit, if there was one. It returns ErrServed if the restore is still running.
func FinishRestore(path string) error {
	path, err := restorePlace(path)
	if err != nil {
		return nil // no restore is possible here, and Open returns a better error
	}
	if next, _, err := pendingRestore(path); err != nil || next == "" {
		return nil
	}
	lock, err := lockDatabase(path)
	if errors.Is(err, ErrServed) {
		return fmt.Errorf("%s is just being restored: %w", path, err)
	}
	if err != nil {
		return err
	}
	_, err = applyRestore(path)
	return errors.Join(err, lock.Close())
}

// applyRestore sets the old files aside and moves the restored ones into their
// place, as far as that isn't done yet. It returns the name of the database that was
// set aside; empty: none. The caller holds the lock. The steps are
// renames, each of which is done once:
//
//  1. the logs of F, a key that it was about to get, and Litestream's state are set
//     aside;
//  2. F.key is set aside, as long as the new key still has its first name;
//  3. the new key becomes F.key;
//  4. F is set aside;
//  5. the new database becomes F.
//
// Until the last step the new database has its first name, which says that the restore
// isn't finished. In between F may be missing, or lie beside the key of another database.
func applyRestore(path string) (aside string, err error) {
	next, err := decidedRestore(path)
	if err != nil || next == "" {
		return "", err
	}
	if isHeld(path) {
		return "", fmt.Errorf("%w: a restore of %s waits until it ends; systemctl stop baoco-litestream", ErrHeld, path)
	}
	aside = path + asideSuffix + strings.TrimPrefix(next, path+nextSuffix)
	for i, name := range filesOf(path)[2:] {
		if err := moveAside(name, filesOf(aside)[2+i]); err != nil {
			return "", err
		}
	}
	if _, err := os.Lstat(next + ".key"); err == nil {
		if err := moveAside(path+".key", aside+".key"); err != nil {
			return "", err
		}
		if err := rename(next+".key", path+".key"); err != nil {
			return "", err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := moveAside(path, aside); err != nil {
		return "", err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	if err := publish(next, path, true); err != nil {
		return "", err
	}
	if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return aside, nil
}

// takeBack undoes a decided restore after a step that failed: the files that were set
// aside get their names again, the database before its key and its logs, and the restored
// files are removed.
func takeBack(path string) error {
	next, err := decidedRestore(path)
	if err != nil || next == "" {
		return err
	}
	if _, err := os.Lstat(next + ".key"); errors.Is(err, fs.ErrNotExist) {
		if err := rename(path+".key", next+".key"); err != nil {
			return err
		}
	}
	aside := filesOf(path + asideSuffix + strings.TrimPrefix(next, path+nextSuffix))
	for i, name := range filesOf(path) {
		if err := moveAside(aside[i], name); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(next), os.Remove(next+".key"), syncDir(filepath.Dir(path)))
}

// moveAside renames a file if it exists, and never onto another file.
func moveAside(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("move %s aside: %s: %w", from, to, fs.ErrExist)
	}
	return rename(from, to)
}
