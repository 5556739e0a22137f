package sqlitestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"baoco/app"
)

// upToDate migrates the file to the present schema, under the lock of the serving
// process: an older server must not find tables that it doesn't know. It returns
// ErrOlder if a server has the lock.
func (s *Store) upToDate(ctx context.Context, migrating func(Migration)) (err error) {
	m := Migration{To: s.schema.version(), Kept: beforeSchema(s.path, s.schema.version())}
	if m.From, err = s.schema.versionAtOnce(ctx, s.reads, s.path); err == nil {
		err = s.newLog(ctx)
	}
	if err != nil || m.From == m.To {
		return err
	}
	db := openOne(s.path, url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_busy_timeout": {"5000"}})
	defer db.Close()
	if s.lock == nil {
		lock, err := lockDatabase(s.path)
		if errors.Is(err, ErrServed) {
			return fmt.Errorf("%w: %s has schema %d, this baoco needs %d, and a server is using it: restart the server with this baoco first",
				ErrOlder, s.path, m.From, m.To)
		}
		if err != nil {
			return err
		}
		defer lock.Close()
		// The process that had the lock a moment ago may have migrated the file. A copy
		// made now would replace the copy from before that migration.
		if m.From, err = s.schema.versionOf(ctx, db, s.path); err != nil || m.From == m.To {
			return err
		}
	}
	if err := s.keepCopy(ctx, m.Kept); err != nil {
		return fmt.Errorf("back up before bringing %s up to schema %d: %w", s.path, m.To, err)
	}
	if migrating != nil {
		migrating(m)
	}
	return applyMigrations(ctx, db, s.schema, s.path)
}

// newLog copies the log that another process left into the file, so that a new log begins. A log
// whose sync failed may not be on the disk, and later commits in the same log would be lost with
// it in a power cut. On a full disk there may be no room to copy it; then the next checkpoint
// does. A command copies it only if no other process has the file open.
func (s *Store) newLog(ctx context.Context) error {
	if s.lock == nil {
		if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() > 0 {
			s.reads.SetMaxIdleConns(0) // the last connection that closes copies the log
			s.reads.SetMaxIdleConns(mostReads)
		}
		return nil
	}
	if _, err := s.reads.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); isFatal(err) {
		return storageError(err)
	}
	return nil
}

// versionAtOnce is versionOf in one transaction: another process may migrate the file
// between two statements.
func (k *schema) versionAtOnce(ctx context.Context, db *sql.DB, path string) (int, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, schemaError(path, err)
	}
	defer tx.Rollback()
	return k.versionOf(ctx, tx, path)
}

// keepCopy makes a checked copy of the file. It replaces an earlier copy.
func (s *Store) keepCopy(ctx context.Context, path string) error {
	if err := removeDrafts(path + ".new-"); err != nil {
		return err
	}
	draft := path + ".new-" + rand.Text()[:8]
	defer os.Remove(draft)
	if err := s.copyTo(ctx, draft, nil); err != nil {
		return err
	}
	if _, err := inspect(ctx, draft, s.schema); err != nil {
		return err
	}
	owner, err := ownerFor(s.path)
	if err == nil {
		err = ownAs(draft, owner)
	}
	if err != nil {
		return err
	}
	return publish(draft, path, true)
}

// applyMigrations runs the missing scripts in one transaction. It reads the version in
// the same transaction, since another process may have changed it.
func applyMigrations(ctx context.Context, db *sql.DB, to *schema, path string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return schemaError(path, err)
	}
	defer tx.Rollback()
	from, err := to.versionOf(ctx, tx, path)
	if err != nil {
		return err
	}
	for _, script := range to.scripts[from:] {
		if _, err := tx.ExecContext(ctx, script.text); err != nil {
			return fmt.Errorf("migration %s: %w", script.name, storageError(err))
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, to.version())); err != nil {
		return storageError(err)
	}
	if _, err := to.versionOf(ctx, tx, path); err != nil {
		return err
	}
	return storageError(tx.Commit())
}

// Create makes a new file with account 1, and a new key file, which only their owner
// may read. Like a restored database they get their names only when they are complete, and
// the next process that opens the file finishes an interrupted Create. If the file exists,
// the error is fs.ErrExist; if only the key or the log of a file is left, it is ErrTaken.
func Create(ctx context.Context, path, zone string, now time.Time) error {
	path, err := restorePlace(path)
	if err != nil {
		return err
	}
	lock, err := lockDatabase(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := applyRestore(path); err != nil {
		return err
	}
	if err := checkRescued(path); err != nil {
		return err
	}
	if err := checkNothingLeft(path); err != nil {
		return err
	}
	if err := removeDrafts(path + draftSuffix); err != nil {
		return err
	}
	draft, keyDraft := newDraft(path), newDraft(path)
	defer os.Remove(draft)
	defer os.Remove(keyDraft)
	if err := errors.Join(writeKey(keyDraft), writeSynced(draft, nil)); err != nil {
		return err
	}
	if err := fill(ctx, draft, keyDraft, zone, now); err != nil {
		return err
	}
	dated, err := freeStamp(path+asideSuffix, now)
	if err != nil {
		return err
	}
	if err := nameNext(path, draft, keyDraft, dated); err != nil {
		return err
	}
	_, err = applyRestore(path)
	return err
}

func fill(ctx context.Context, draft, keyPath, zone string, now time.Time) error {
	db := openOne(draft, url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_auto_vacuum": {"INCREMENTAL"}, "_synchronous": {"FULL"}, "_foreign_keys": {"1"},
	})
	defer db.Close()
	if _, err := db.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return err
	}
	if err := applyMigrations(ctx, db, released(), draft); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `PRAGMA incremental_vacuum`); err != nil { // the pages of tables that migrations removed
		return err
	}
	sealer, err := readKey(keyPath)
	if err != nil {
		return err
	}
	account := app.NewAccount(app.DefaultAccountName, now)
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO accounts (id, name, plan, is_trial, max_bank_accounts, created_at) VALUES (1, ?, ?, 0, ?, ?)`,
			[]any{account.Name, account.Plan, account.MaxBankAccounts, now.Unix()}},
		{`INSERT INTO account_totals (account_id) VALUES (1)`, nil},
		{`INSERT INTO settings (name, value) VALUES ('timezone', ?), ('allow_targets', ''), ('base_url', ''), ('directory', '1'),
			('searched_to', '0'), ('set_up', ''), ('key_check', ?)`, []any{zone, sealer.checkValue()}},
	} {
		if _, err := db.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}
