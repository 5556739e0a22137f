//go:build unix

package sqlitestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lockFile takes the lock that one serving process holds on a file. The
// kernel drops it with the process, so it can't be left behind.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	for tries := 1; errors.Is(err, syscall.EWOULDBLOCK) && tries < 5; tries++ {
		time.Sleep(5 * time.Millisecond) // isLocked may have it for a moment
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w (lock file %s)", ErrServed, path)
	} else if err != nil {
		err = fmt.Errorf("lock %s: %w", path, err)
	} else if !isNamed(f, path) { // whoever comes next would lock another file
		err = fmt.Errorf("%w: %s", ErrTaken, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// isNamed tells whether a file is still the one of its name.
func isNamed(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

// lockDir takes the lock that one backup at a time holds, of all databases in a
// directory. It leaves no file of whoever made the backup.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrBackupRuns, dir)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { d.Close() }, nil
}

// isLocked tells whether a process holds the lock. It has it for a moment
// itself where nobody does.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// ownerOf is the user who owns a file; exists is false where there is none.
func ownerOf(path string) (uid int, exists bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// linksOf is how many names a file has.
func linksOf(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

// ownAs gives a file that root made to the owner of another, so that the
// service, which is somebody else, can use it.
func ownAs(path string, other os.FileInfo) error {
	stat, ok := other.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(stat.Uid), int(stat.Gid))
}

// turn lets the commands beside a busy server have their turn: SQLite's own
// lock is won by whoever asks most often, which is always the server. A
// command holds an exclusive lock on the key file while it writes; the server
// waits for that lock to be free before each commit. A command with more than
// one commit leaves the server a turn between two of them, or a link of thousands
// of waiting transactions would hold every call up until it is done. It is
// advice only: who waits too long goes on, and SQLite decides.
type turn struct {
	file  *os.File
	serve bool
	ended time.Time // the last turn of a command
}

// How long the server waits for a command, a command for another, and a command
// for the server between two turns of its own: the server looks every
// millisecond.
const (
	serverWaits  = 250 * time.Millisecond
	commandWaits = 5 * time.Second
	betweenTurns = 5 * time.Millisecond
)

func openTurn(keyPath string, serve bool) (*turn, error) {
	f, err := os.Open(keyPath)
	return &turn{file: f, serve: serve}, err
}

// begin waits for the turn and end passes it on. The server only looks whether
// somebody has it.
func (t *turn) begin() {
	if !t.serve {
		time.Sleep(betweenTurns - time.Since(t.ended))
		t.acquire(syscall.LOCK_EX, commandWaits)
	} else if t.acquire(syscall.LOCK_SH, serverWaits) {
		t.release()
	}
}

func (t *turn) end() {
	if !t.serve {
		t.release()
		t.ended = time.Now()
	}
}

func (t *turn) acquire(how int, atMost time.Duration) bool {
	for waited := time.Duration(0); waited < atMost; waited += time.Millisecond {
		if syscall.Flock(int(t.file.Fd()), how|syscall.LOCK_NB) == nil {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

func (t *turn) release() { _ = syscall.Flock(int(t.file.Fd()), syscall.LOCK_UN) }

// copyKey copies the key file that is open, whatever its name is now.
func (t *turn) copyKey(to string) error {
	key, err := io.ReadAll(io.NewSectionReader(t.file, 0, 1<<10))
	if err != nil {
		return err
	}
	return writeSynced(to, key)
}

func (t *turn) close() error { return t.file.Close() }
