package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"baoco/app"
)

// Create makes a new file with account 1, and a new key file, which only their owner
// may read. They get their names as a restored database does: whole or not at all,
// and an interrupted Create is finished by whoever opens the file. If the file exists
// the error is fs.ErrExist; if the key or the log of one is left it is ErrTaken.
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
		{`INSERT INTO settings (name, value) VALUES ('timezone', ?), ('allow_targets', ''), ('base_url', ''), ('directory', '1'), ('searched_to', '0'), ('set_up', ''), ('key_check', ?)`,
			[]any{zone, sealer.checkValue()}},
	} {
		if _, err := db.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}
