package sqlitestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"baoco/app"
)

//go:embed migration/*.sql
var migrationFS embed.FS

// applicationID marks a file as baoco's: "baoc".
const applicationID = 0x62616f63

func migrations() []string {
	names, err := fs.Glob(migrationFS, "migration/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return names
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
	// What the header says counts only where no write-ahead log is newer.
	if _, err := os.Stat(path + "-wal"); err == nil {
		return nil
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

// migrate brings the schema up to date: each step whole or not at all. An
// older file is backed up beside itself first.
func migrate(ctx context.Context, path string) error {
	db := sql.OpenDB(connector(dsn(path, url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_busy_timeout": {"5000"}})))
	defer db.Close()
	db.SetMaxOpenConns(1)
	var id, version int
	err := db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id)
	if err == nil {
		err = db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version)
	}
	steps := migrations()
	switch {
	case err != nil:
		if code := primaryCode(err); code == 26 || code == 11 { // SQLITE_NOTADB, SQLITE_CORRUPT
			return fmt.Errorf("%w: %s: %v; restore a backup", ErrDamaged, path, err)
		}
		return fmt.Errorf("open %s: %w", path, err)
	case id != applicationID:
		return fmt.Errorf("%w: %s is a database of another program", ErrNotDatabase, path)
	case version > len(steps):
		return fmt.Errorf("%w: %s has schema %d, this baoco knows %d", ErrNewer, path, version, len(steps))
	case version == len(steps):
		return nil
	}
	backup := path + ".before-schema-" + strconv.Itoa(len(steps))
	if _, err := os.Stat(backup); errors.Is(err, fs.ErrNotExist) {
		if err := backUpOnce(ctx, db, backup); err != nil {
			return fmt.Errorf("back up before migrating: %w", err)
		}
	}
	return applyMigrations(ctx, db, version)
}

// backUpOnce makes a copy that has its name once it is whole.
func backUpOnce(ctx context.Context, db *sql.DB, path string) error {
	if err := removeDrafts(path + ".new-"); err != nil {
		return err
	}
	draft := path + ".new-" + rand.Text()[:8]
	defer os.Remove(draft)
	if err := vacuumInto(ctx, db, draft); err != nil {
		return err
	}
	if err := name(draft, path, false); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another process was faster
}

func applyMigrations(ctx context.Context, db *sql.DB, version int) error {
	for i, name := range migrations() {
		if i < version {
			continue
		}
		script, err := migrationFS.ReadFile(name)
		if err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, string(script))
		if err == nil {
			_, err = tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, i+1))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("migration %s: %w", name, err), tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// Create makes a new file with account 1 and a new key file, readable by its
// owner only. The file appears under its name whole or not at all. An existing
// file is an error.
func Create(ctx context.Context, path, zone string, now time.Time) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already: %w", path, fs.ErrExist)
	}
	if err := makeKey(path + ".key"); err != nil {
		return err
	}
	draft := fmt.Sprintf("%s.new-%s", path, rand.Text()[:8])
	f, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := fill(ctx, draft, path+".key", zone, now); err != nil {
		return err
	}
	// A link fails where the name was taken meanwhile; a rename would not.
	if err := os.Link(draft, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func fill(ctx context.Context, draft, keyPath, zone string, now time.Time) error {
	db := sql.OpenDB(connector(dsn(draft, url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_auto_vacuum": {"INCREMENTAL"}, "_synchronous": {"FULL"}, "_foreign_keys": {"1"},
	})))
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return err
	}
	if err := applyMigrations(ctx, db, 0); err != nil {
		return err
	}
	sealer, err := readKey(keyPath)
	if err != nil {
		return err
	}
	account := app.NewAccount("default", now)
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO accounts (id, name, plan, is_trial, max_bank_accounts, created_at) VALUES (1, ?, ?, 0, ?, ?)`,
			[]any{account.Name, account.Plan, account.MaxBankAccounts, now.Unix()}},
		{`INSERT INTO account_totals (account_id) VALUES (1)`, nil},
		{`INSERT INTO settings (name, value) VALUES ('timezone', ?), ('allow_targets', ''), ('base_url', ''), ('directory', '1'), ('searched_to', '0'), ('set_up', ''), ('key_check', ?)`,
			[]any{zone, sealer.checkValue()}},
	} {
		if _, err := db.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
