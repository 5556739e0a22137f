package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"baoco/app/upkeep"
)

// checkFile checks a file before SQLite opens it, and returns its path with symbolic
// links resolved. It leaves the file untouched.
func checkFile(path string) (string, error) {
	resolved, err := filepath.Abs(path)
	if err == nil {
		resolved, err = filepath.EvalSymlinks(resolved)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s", ErrNoFile, path)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	switch {
	case info.IsDir():
		return "", fmt.Errorf("%w: %s is a directory", ErrNotDatabase, path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: %s is not a regular file", ErrNotDatabase, path)
	case info.Size() == 0:
		return "", fmt.Errorf("%w: %s is empty", ErrNotDatabase, path)
	}
	return resolved, checkHeader(resolved, info.Size())
}

// checkHeader reads the header of SQLite's file format
// (sqlite.org/fileformat.html, 1.3) before any connection is open, and leaves
// the file untouched.
func checkHeader(path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	header := make([]byte, 100)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:16]) != "SQLite format 3\x00" {
		return fmt.Errorf("%w: %s", ErrNotDatabase, path)
	}
	// The header is right only if no newer write-ahead log exists, and no journal of an
	// interrupted change, such as a migration of a backup that was killed.
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(path + suffix); err == nil {
			return nil
		}
	}
	if binary.BigEndian.Uint32(header[68:]) != applicationID {
		return fmt.Errorf("%w: %s is a database of another program", ErrNotDatabase, path)
	}
	pageSize := int64(binary.BigEndian.Uint16(header[16:]))
	if pageSize == 1 {
		pageSize = 65536
	}
	if pages := int64(binary.BigEndian.Uint32(header[28:])); pages*pageSize > size {
		return fmt.Errorf("%w: %s is shorter than it says; restore a backup", ErrDamaged, path)
	}
	return nil
}

// inspected is the contents of a database file, and the check value of its key.
type inspected struct {
	upkeep.Contents
	keyCheck string
}

// inspect checks a file that no process has open, and reads its contents. It leaves the
// file untouched and makes no file beside it.
func inspect(ctx context.Context, path string, known *schema) (c inspected, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return c, err
	}
	if err := checkHeader(path, info.Size()); err != nil {
		return c, err
	}
	db := openStill(path)
	defer db.Close()
	if c.Schema, err = known.versionOf(ctx, db, path); err != nil {
		return c, err
	}
	if err := quickCheck(ctx, db); err != nil {
		return c, fmt.Errorf("%w: %s: %v", ErrDamaged, path, err)
	}
	return c, storageError(c.read(ctx, db))
}

// keyCheckOf reads the check value of the key of a file that no process has open.
func keyCheckOf(ctx context.Context, path string) (string, error) {
	db := openStill(path)
	defer db.Close()
	return scanOne[string](db.QueryRowContext(ctx, keyCheck))
}

const keyCheck = `SELECT value FROM settings WHERE name = 'key_check'`

// read reads only tables and columns that every version of the schema has.
func (c *inspected) read(ctx context.Context, db *sql.DB) error {
	err := db.QueryRowContext(ctx,
		`SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM transactions), (SELECT coalesce(max(id), 0) FROM transactions),
			(SELECT created_at FROM transactions ORDER BY id DESC LIMIT 1),
			(SELECT count(*) FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id AND d.state = 0),
			(SELECT value FROM settings WHERE name = 'timezone'), (SELECT value FROM settings WHERE name = 'key_check')`).
		Scan(&c.Accounts, &c.Transactions, &c.NewestID, secondsInto(&c.NewestAt), &c.Pending, &c.Zone, &c.keyCheck)
	return err
}
