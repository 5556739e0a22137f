package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"syscall"

	"baoco/app"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// storageError translates an error of the driver, by its code and never by its text. A
// temporary failure becomes app.CodeUnavailable and damage becomes ErrDamaged. An error
// that is translated already stays as it is.
func storageError(err error) error {
	_, known := errors.AsType[*app.Error](err)
	switch {
	case err == nil, known, errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errClosed), errors.Is(err, errBroken),
		errors.Is(err, ErrTaken):
		return app.Unavailable(err)
	}
	if isSearchDamage(err) {
		return fmt.Errorf("%w: the search index: %w; stop the server, then: baoco doctor --repair-totals", ErrDamaged, err)
	}
	switch primaryCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT:
		return app.Unavailable(err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w; restore a backup", ErrDamaged, err)
	}
	return err
}

// resultCode is SQLite's result code; 0: err isn't an error of SQLite.
func resultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// primaryCode is the result code without its extension.
func primaryCode(err error) int { return resultCode(err) & 0xff }

// isSearchDamage reports that the search index is damaged, which is the only virtual
// table. Then only the statement that used it has failed.
func isSearchDamage(err error) bool { return resultCode(err) == sqlite3.SQLITE_CORRUPT_VTAB }

// isRefusedWrite reports that the user may not write the file or a log beside it, or
// that the disk is read-only.
func isRefusedWrite(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return errors.Is(err, syscall.EROFS)
}

// UnitAdvice adds advice to an error if systemd is the reason that a directory can't be
// written: under ProtectSystem=strict a service may write only into the directories of its
// unit.
func UnitAdvice(err error, dir string) error {
	if err == nil || os.Getenv("INVOCATION_ID") == "" || !isReadOnly(dir) {
		return err
	}
	return fmt.Errorf("%w; if systemd started this, allow it to write there by a line in the unit: ReadWritePaths=%s", err, dir)
}

// isFatal reports an error after which the connection can't be trusted: the device
// failed or the file is damaged. A full disk isn't fatal.
func isFatal(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_IOERR:
		// Growing the shared memory file fails with an I/O error of its own on
		// a full disk.
		return resultCode(err) != sqlite3.SQLITE_IOERR_SHMSIZE
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return !isSearchDamage(err)
	}
	return false
}

// losesTransaction reports an error after which SQLite may have rolled the whole
// transaction back by itself, with the work of all its jobs.
func losesTransaction(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return !isSearchDamage(err)
	}
	return false
}

func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
