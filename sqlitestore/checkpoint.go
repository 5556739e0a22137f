package sqlitestore

import (
	"errors"

	"modernc.org/sqlite"
)

// checkpointPages is how many pages go into the write-ahead log, of 4 KiB
// each, before they are copied into the database file.
const checkpointPages = 4000

// The writer makes the checkpoints itself, after it has replied. SQLite's own
// would come inside a COMMIT, and nobody would be told when one fails: neither
// that the log grows without end, nor that a sync of the database file failed,
// after which Linux forgets what it should have written, the next sync succeeds
// and the log is overwritten. After such an error nothing of the log may be
// given up: the process ends without closing the file, which would be one more
// checkpoint, and the next start copies the whole log again.

// checkpointIfLarge copies the log into the file where it has grown, or where
// the last time failed and Probe wants to know.
func (w *writer) checkpointIfLarge() {
	if pages, _, err := w.tx.conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true); err == nil {
		w.logged += pages
	}
	if w.broken.Load() || w.logged < checkpointPages && !w.retryCheckpoint.Load() {
		return
	}
	var busy, pages, copied int
	err := w.tx.queryRow(`PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &pages, &copied)
	w.logged = 0
	if copied < pages { // somebody still reads an older state: again soon
		w.logged = checkpointPages * 7 / 8
	}
	w.retryCheckpoint.Store(false)
	w.checkpointErr.Store(&err)
	if isFatal(err) {
		w.fail(err)
	}
}

// checkpointed is how the last checkpoint ended.
func (w *writer) checkpointed() error {
	if err := w.checkpointErr.Load(); err != nil {
		return *err
	}
	return nil
}

// fail ends the trust in the file.
func (w *writer) fail(err error) {
	w.broken.Store(true)
	if e := storageError(err); errors.Is(e, ErrDamaged) {
		err = e
	}
	w.onFatal(err)
}
