package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"baoco/app"
)

// ErrTaken says that files of an open database were removed or replaced. SQLite still
// writes into the open files, which no longer have a name, and all of that is lost once
// they are closed.
var ErrTaken = errors.New("files of the database were taken away")

// ErrTwoNames says that the database file has a second hard link.
var ErrTwoNames = errors.New("the database has hard links, and its log only one name")

// rescueSuffix is in the name of each file that a server saves when its own files were
// removed or replaced.
const rescueSuffix = ".taken-"

// openFiles are the files of an open database as they were opened. They are only compared
// by name: to open and close one of them could drop SQLite's locks.
type openFiles struct {
	path    string
	served  bool
	files   []openFile  // the database and its log first
	suspect atomic.Bool // checkOpenFiles has seen that a file is gone
}

// lookedAtEach is how many of the files the writer looks at after each commit: the
// database and its log. That takes two microseconds.
const lookedAtEach = 2

type openFile struct {
	suffix string
	info   os.FileInfo
}

// noteOpenFiles remembers the files that s has open. before is the database file as
// it was before SQLite opened it.
func (s *Store) noteOpenFiles(before os.FileInfo) (*openFiles, error) {
	if _, err := scanOne[int](s.writer.tx.queryRow(`SELECT count(*) FROM sqlite_schema`)); err != nil { // which opens the log
		return nil, storageError(err)
	}
	o := &openFiles{path: s.path, served: s.lock != nil, files: []openFile{{"", before}}}
	for _, suffix := range []string{"-wal", "-shm", ".key"} {
		info, err := os.Stat(s.path + suffix)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTaken, err)
		}
		o.files = append(o.files, openFile{suffix, info})
	}
	if o.served {
		lock, err := s.lock.Stat()
		if err != nil {
			return nil, err
		}
		o.files = append(o.files, openFile{".lock", lock})
	}
	if gone := o.gone(len(o.files)); len(gone) > 0 {
		return nil, fmt.Errorf("%w at the start: %s", ErrTaken, strings.Join(gone, ", "))
	}
	return o, nil
}

// gone returns the paths of those of the first n files that were removed or replaced.
// A file that can't be looked at for another reason isn't gone.
func (o *openFiles) gone(n int) (paths []string) {
	for _, f := range o.files[:n] {
		info, err := os.Stat(o.path + f.suffix)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, f.info) {
			paths = append(paths, o.path+f.suffix)
		}
	}
	return paths
}

// goneAfterCommit returns the paths of all files that are gone, if the database or its
// log is among them, or if checkOpenFiles has found a file gone.
func (o *openFiles) goneAfterCommit() []string {
	if len(o.gone(lookedAtEach)) == 0 && !o.suspect.Load() {
		return nil
	}
	return o.gone(len(o.files))
}

// checkOpenFiles looks at all files. If one is gone, it has the writer save them.
func (s *Store) checkOpenFiles(ctx context.Context) error {
	o := s.writer.files
	if len(o.gone(len(o.files))) > 0 {
		o.suspect.Store(true)
		_ = s.write(ctx, func(*tx) error { return nil }) // which reports to Fatal
	}
	return nil
}

// saveOpenFiles saves the contents of open files that no longer have a name. SQLite can
// still read them: if the database file has its name, the log is copied into it;
// otherwise everything is copied into a backup beside it. The error that it returns says
// what happened and what to do.
func (w *writer) saveOpenFiles(gone []string) error {
	o, said := w.files, []string{}
	isGone := func(suffix string) bool { return slices.Contains(gone, o.path+suffix) }
	stamp, err := freeStamp(o.path+rescueSuffix, time.Now())
	rescue := o.path + rescueSuffix + stamp
	whole := false
	if err == nil && !isGone("") {
		var busy, pages, copied int
		whole = w.tx.queryRow(`PRAGMA wal_checkpoint(FULL)`).Scan(&busy, &pages, &copied) == nil && busy == 0 && copied == pages
	}
	if whole { // but the file may have been emptied or overwritten as well
		var finding string
		if err = w.tx.queryRow(`PRAGMA quick_check(1)`).Scan(&finding); err == nil && finding != "ok" {
			err = fmt.Errorf("%w: %s: %s; restore a backup", ErrDamaged, o.path, finding)
		}
	}
	switch {
	case err != nil:
	case whole:
		said = append(said, fmt.Sprintf("all that was acknowledged is in %s", o.path))
	default:
		if err = w.turn.copyKey(rescue + ".key"); err == nil {
			err = saveAs(w.tx.control, o.path, rescue, o.files[0].info)
		}
		said = append(said, fmt.Sprintf("all that was acknowledged is saved in %s; baoco restore %s puts it back", rescue, app.ShellWord(rescue)))
	}
	if err == nil && isGone(".key") && whole {
		err = w.turn.copyKey(rescue + ".key")
		said = append(said, fmt.Sprintf("the key is saved in %s.key; mv %s %s puts it back", rescue, app.ShellWord(rescue+".key"),
			app.ShellWord(o.path+".key")))
	}
	// A log must not lie beside another database than its own.
	if err == nil && (isGone("") || isGone("-wal")) {
		err = moveAside(o.path+"-wal", rescue+".log")
	}
	if err != nil {
		return fmt.Errorf("%w: %s; what came in last could not be saved: %w", ErrTaken, strings.Join(gone, ", "), err)
	}
	return fmt.Errorf("%w: %s; %s", ErrTaken, strings.Join(gone, ", "), strings.Join(said, "; "))
}

// checkRescued returns ErrTaken while a file that an earlier server saved is still
// there: somebody must look at it before a server starts.
func checkRescued(path string) error {
	names, err := namesWith(path + rescueSuffix)
	for _, name := range names {
		if !strings.HasSuffix(name, ".key") && !strings.HasSuffix(name, ".log") {
			return fmt.Errorf("%w: %s holds what a server had acknowledged when its files were taken away; baoco restore %s puts it back; "+
				"if nothing of it is wanted, move it to another directory",
				ErrTaken, name, app.ShellWord(name))
		}
	}
	return err
}

// checkOneName returns ErrTwoNames if the database file has a second hard link:
// SQLite finds the log by the name of the file, and so under the other name it would
// not see the log.
func checkOneName(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if n := linksOf(info); n > 1 {
		return fmt.Errorf("%w: %s has %d names; remove the others: baoco backup makes copies", ErrTwoNames, path, n)
	}
	return nil
}

// checkServedLog returns ErrServed if a server has the file open and its log is
// missing: SQLite would make a second log, and neither process would see what the
// other writes. It waits a second for the log of a server that is starting.
func checkServedLog(path string) error {
	for range 100 {
		if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if served, err := isLocked(path + ".lock"); err != nil || !served {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%w, and its log %s-wal is missing: a restore or doctor is at work, or the log was taken away; try again in a moment",
		ErrServed, path)
}

// checkNothingLeft returns an error if a database is at path, or if the key or the log
// of an earlier one is still there.
func checkNothingLeft(path string) error {
	for _, suffix := range []string{"", ".key", nextKey, "-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); err == nil && suffix == "" {
			return fmt.Errorf("%s exists already: %w", path, fs.ErrExist)
		} else if err == nil {
			return fmt.Errorf("%w: %s is missing, but %[2]s%[3]s is there: put the database back, or restore a backup with baoco restore; "+
				"to begin with an empty one, move %[2]s%[3]s to another directory first",
				ErrTaken, path, suffix)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
