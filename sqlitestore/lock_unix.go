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

// lockFile takes the lock of the one serving process on the file at path. It returns
// ErrServed if another process has the lock. The kernel drops the lock when the
// process ends.
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
	} else if !isNamed(f, path) { // the next process would lock another file
		err = fmt.Errorf("%w: %s", ErrTaken, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unlockFile ends a lock. To close the file isn't enough: a child process that is being
// started has the open file too, until it runs its own program.
func unlockFile(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// isNamed reports whether path is still the name of an open file.
func isNamed(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

// lockDir locks a directory, for a backup of a database in it. It returns ErrBackupRuns
// if another process has the lock. It makes no file.
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
	return func() { _ = unlockFile(d) }, nil
}

// isLocked reports whether a process holds the lock. If none does, this call holds it
// for a moment.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unlockFile(f)
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// The bytes of a database file that SQLite locks (os.h: SHARED_FIRST, SHARED_SIZE).
const sharedFirst, sharedSize = 0x40000002, 510

// isHeld reports whether another process has a database open: SQLite locks the file as
// long as it has the log open.
func isHeld(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // it drops no lock of this process, since SQLite uses OFD locks here
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	return syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock) == nil && lock.Type != syscall.F_UNLCK
}

// ownerOf returns the id of the user who owns a file, or exists = false.
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

func linksOf(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

// ownAs gives a file that root made to the owner of another file, so that the service,
// which runs as that user, can use it. Other users change nothing.
func ownAs(path string, other os.FileInfo) error {
	stat, ok := other.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(stat.Uid), int(stat.Gid))
}

// turn lets commands and a busy server write in turns. SQLite gives its own lock to
// the process that asks most often, which is always the server. So a command locks
// the key file while it writes, and the server waits before each commit until that
// lock is free. A command waits betweenTurns between two commits; otherwise a link of
// thousands of items would delay every provider's call. All waits are limited; after
// that SQLite decides.
type turn struct {
	file  *os.File
	serve bool
	ended time.Time // when the last turn of this command ended
}

// serverWaits is how long the server waits for a command, and commandWaits how long a
// command waits for another. Between two commits a command leaves the lock free for
// betweenTurns; the server tries every millisecond.
const (
	serverWaits  = 250 * time.Millisecond
	commandWaits = 5 * time.Second
	betweenTurns = 5 * time.Millisecond
)

func openTurn(keyPath string, serve bool) (*turn, error) {
	f, err := os.Open(keyPath)
	return &turn{file: f, serve: serve}, err
}

// begin waits for the turn and takes it; end gives it up. The server doesn't take it, but
// waits until no command has it.
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

// copyKey copies the open key file, which may no longer have a name.
func (t *turn) copyKey(to string) error {
	key, err := io.ReadAll(io.NewSectionReader(t.file, 0, 1<<10))
	if err != nil {
		return err
	}
	return writeSynced(to, key)
}

func (t *turn) close() error { return t.file.Close() }
