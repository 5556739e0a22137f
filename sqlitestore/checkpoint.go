package sqlitestore

import (
	"errors"
	"time"

	"modernc.org/sqlite"
)

// checkpointPages is how many pages of 4 KiB the write-ahead log holds before
// they are copied into the database file.
const checkpointPages = 4000

// Where a disk has less than tightRoom left, in bytes, the log is copied at tightPages,
// and cut, so that it isn't the log that fills the disk.
const (
	tightRoom  = 64 << 20
	tightPages = checkpointPages / 8
)

// The writer makes the checkpoints itself, after it has replied. SQLite's own
// would come inside a COMMIT, and no caller would see when one fails: neither
// that the log grows without end, nor that a sync of the database file failed,
// after which Linux forgets what it should have written, the next sync succeeds
// and the log is overwritten. After such an error nothing of the log may be
// given up: the process ends without closing the file, which would be one more
// checkpoint, and the next start copies the whole log again.

// checkpointIfLarge copies the log into the file if the log is large, if the disk is full,
// or if the last checkpoint failed and Probe asks whether it succeeds now. full says that
// there was no room for a commit.
func (w *writer) checkpointIfLarge(full bool) {
	if pages, _, err := w.tx.conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true); err == nil {
		w.logged += pages
	}
	tight := full || w.logged >= tightPages && w.isTight()
	if w.broken.Load() || w.logged < checkpointPages && !w.retryCheckpoint.Load() && !tight {
		return
	}
	var busy, pages, copied int
	err := w.tx.queryRow(`PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &pages, &copied)
	w.logged = 0
	if copied < pages { // somebody still reads an older state: again soon
		w.logged = checkpointPages * 7 / 8
	}
	if copied < pages && pages >= 2*checkpointPages {
		w.giveWay()
	}
	if err == nil && copied == pages && pages > 0 { // -1: another process makes a checkpoint
		err = w.emptyLog(tight || w.isTight())
	}
	w.retryCheckpoint.Store(false)
	w.checkpointErr.Store(&err)
	if isFatal(err) {
		w.fail(err)
	}
}

// isTight reports whether the disk has little room left.
func (w *writer) isTight() bool {
	free := freeSpace(w.dir)
	return free >= 0 && free < tightRoom
}

// emptyLog cuts a log that was copied whole where the disk is tight, and in a file that
// Litestream replicates. Else in such a file the next commits overwrite its beginning, and
// a Litestream that is started again takes the rest for the end of what it has read: it
// leaves out what came between, and its copy is damaged without a word (0.5.18). A running
// Litestream keeps the log from being copied whole, so this is done only where it is away.
// Readers are waited for briefly.
func (w *writer) emptyLog(tight bool) error {
	replicated, err := scanOne[bool](w.tx.queryRow(`SELECT count(*) FROM sqlite_schema WHERE name = '_litestream_seq'`))
	if err != nil || !replicated && !tight {
		return err
	}
	if err := w.tx.control(`PRAGMA busy_timeout = 100`); err != nil {
		return err
	}
	var busy, pages, copied int
	err = w.tx.queryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &copied)
	if busy != 0 {
		w.logged = checkpointPages * 7 / 8
	}
	return errors.Join(err, w.tx.control(`PRAGMA busy_timeout = 5000`))
}

// giveWayTime is a little longer than SQLite waits between two tries to get a lock.
const giveWayTime = 110 * time.Millisecond

// giveWay lets another process write, at most once a second. Litestream, which copies the
// log, makes all checkpoints itself, and needs the write lock for them. A busy server would
// never leave it the lock, and the log would grow.
func (w *writer) giveWay() {
	if time.Since(w.gaveWay) >= time.Second {
		time.Sleep(giveWayTime)
		w.gaveWay = time.Now()
	}
}

func (w *writer) checkpointed() error {
	if err := w.checkpointErr.Load(); err != nil {
		return *err
	}
	return nil
}
