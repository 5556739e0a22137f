package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"baoco/app"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// storageError translates a failure of the driver, by code and never by text:
// what may pass becomes CodeUnavailable, damage becomes ErrDamaged, an
// [*app.Error] stays what it is.
func storageError(err error) error {
	var known *app.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errClosed), errors.Is(err, errBroken), errors.Is(err, ErrTaken):
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

// primaryCode is SQLite's result code without its extension, 0 where err is
// not SQLite's.
func primaryCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// isSearchDamage tells that the search index is damaged, the only virtual table:
// its statement failed and nothing else did.
func isSearchDamage(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CORRUPT_VTAB
}

// isRefusedWrite tells that the user may not write the file, or a log beside it,
// or that the disk takes no writes.
func isRefusedWrite(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return errors.Is(err, syscall.EROFS)
}

// isFatal tells an error after which the connection can't be trusted: the
// device failed or the file is damaged. A full disk passes.
func isFatal(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_IOERR:
		// Growing the shared memory file fails with an I/O error of its own on
		// a full disk.
		return e.Code() != sqlite3.SQLITE_IOERR_SHMSIZE
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return !isSearchDamage(err)
	}
	return false
}

// losesTransaction tells the errors after which SQLite may have rolled the
// whole transaction back by itself, so that nobody's work in it counts.
func losesTransaction(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return !isSearchDamage(err)
	}
	return false
}

func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
