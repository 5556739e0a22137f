package sqlitestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/upkeep"

	sqlite3 "modernc.org/sqlite/lib"
)

// Suffixes of the files beside a database while its key is replaced, and afterwards.
const (
	nextKey  = ".key.next" // the new key, until it is renamed to .key
	asideKey = ".key.old-" // the old key, with the time in UTC

	beforeNewKey = ".before-new-key-" // a copy with the secrets that were dropped
)

// lostMark begins the secret of a source whose own secret was dropped. Random text follows,
// so every call is refused until a user rotates the secret. Nobody can enter a secret that
// begins with it, see [inbound.Service.RotateSource].
const lostMark = "\x00lost "

func isLost(sourceSecret string) bool { return strings.HasPrefix(sourceSecret, lostMark) }

// ReplaceKey seals all secrets of a file under a new key, and drops those that the
// key file doesn't open; the key file may belong to another database, or be missing.
// It returns ErrServed if another process has the file open: a command could seal
// something under the old key. It returns ErrKey, and drops nothing, if another file
// beside F is the key of F.
//
// The steps, each on disk before the next begins:
//
//  1. F.key.next holds the new key;
//  2. if secrets will be dropped, F.before-new-key-<time> is a copy that has them;
//  3. one commit seals every secret under the new key, and key_check with them;
//  4. F.key.old-<time> is a copy of the old key file;
//  5. F.key.next becomes F.key.
//
// Before step 1 it tries whether F.key can be replaced. A kill before the commit leaves
// the file under its old key, and the next run starts again with another new key. A kill
// after the commit leaves a file that only F.key.next fits. To open it fails with a message
// to run this again, and the next run does steps 4 and 5. F.key is never missing in
// between. The file marks which secrets were dropped, so that run lists them as well.
func ReplaceKey(ctx context.Context, path string, now time.Time) (r upkeep.ReplacedKey, err error) {
	if err := FinishRestore(path); err != nil {
		return r, err
	}
	resolved, err := checkFile(path)
	if err != nil {
		return r, err
	}
	if err := checkOneName(resolved); err != nil {
		return r, err
	}
	lock, err := lockDatabase(resolved)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := applyRestore(resolved); err != nil { // a restore that was decided meanwhile
		return r, err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return r, err
	}
	if err := tryReplace(resolved + ".key"); err != nil {
		return r, err
	}
	db := openOne(resolved, url.Values{
		"mode": {"rw"}, "_txlock": {"exclusive"}, "_busy_timeout": {"5000"}, "_synchronous": {"FULL"}, "_foreign_keys": {"1"},
		"_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {"locking_mode(exclusive)", "trusted_schema(0)"},
	})
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkSchema(ctx, db, resolved); err != nil {
		return r, err
	}
	sealer, kept, err := sealUnderNewKey(ctx, db, resolved, info, now)
	if err != nil {
		return r, err
	}
	r.Copy = kept
	if r.Lost, err = lostSecrets(ctx, db, sealer); err != nil {
		return r, err
	}
	r.Aside, err = nameNewKey(resolved, now)
	return r, err
}

// tryReplace replaces a key file, if it exists, by a copy of itself. If it can't be
// replaced, this must fail before the secrets are sealed under the new key: later nothing
// would open the database.
func tryReplace(path string) error {
	owner, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = checkReplaceable(path)
	}
	if err != nil {
		return err
	}
	draft := newDraft(path)
	defer os.Remove(draft)
	if err := errors.Join(copyFile(path, draft), ownAs(draft, owner)); err != nil {
		return err
	}
	return publish(draft, path, true)
}

// checkSchema returns ErrOlder or another error if the file hasn't the present schema.
func checkSchema(ctx context.Context, db *sql.DB, path string) error {
	version, err := released().versionOf(ctx, db, path)
	switch {
	case primaryCode(err) == sqlite3.SQLITE_BUSY:
		return exclusiveError(err)
	case err == nil && version < released().version():
		return fmt.Errorf("%w: %s has schema %d: start the server with this baoco first", ErrOlder, path, version)
	}
	return err
}

func exclusiveError(err error) error {
	return fmt.Errorf("%w: another command or program has the database open; end it first: %w", ErrServed, err)
}

// sealUnderNewKey does steps 1 to 3, unless an earlier run has done them. It returns the new key,
// and the path of the copy that it made.
func sealUnderNewKey(ctx context.Context, db *sql.DB, path string, owner os.FileInfo, now time.Time) (key *sealer, kept string, err error) {
	next := path + nextKey
	check, err := scanOne[string](db.QueryRowContext(ctx, keyCheck))
	if err != nil && !noRows(err) {
		return nil, "", storageError(err)
	}
	if sealer, err := readKey(next); err == nil && sealer.fits(check) {
		return sealer, "", nil
	}
	old, err := readKey(path + ".key")
	if err != nil && !errors.Is(err, ErrKey) {
		return nil, "", err
	}
	if fitting := fittingKey(path, check); (old == nil || !old.fits(check)) && fitting != "" {
		return nil, "", fmt.Errorf("%w: %s.key; but %s does: copy it there, and nothing is lost", ErrKey, path, fitting)
	}
	if err := keepUnused(next, path, now); err != nil {
		return nil, "", err
	}
	if err := errors.Join(writeKey(next), ownAs(next, owner), syncDir(filepath.Dir(path))); err != nil {
		return nil, "", err
	}
	sealer, err := readKey(next)
	if err != nil {
		return nil, "", err
	}
	lost, err := lostSecrets(ctx, db, old)
	if err == nil && slices.ContainsFunc(lost, func(l upkeep.LostSecret) bool { return !l.Dropped }) {
		kept, err = keepSecrets(ctx, db, path, owner, now)
	}
	if err != nil {
		return nil, "", err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, "", exclusiveError(err)
	}
	err = sealAll(ctx, tx, old, sealer)
	if err == nil {
		var row []any
		if row, err = auditRow(ctx, app.DefaultAccountID, app.DeedDatabaseNewKey, 0, app.AuditDetail{}); err == nil {
			_, err = tx.ExecContext(ctx, insertAudit, row...)
		}
	}
	if err != nil {
		return nil, "", errors.Join(storageError(err), tx.Rollback())
	}
	return sealer, kept, storageError(tx.Commit())
}

// keepUnused renames a new key of an earlier run that this database doesn't need: another
// state of the database may need it.
func keepUnused(next, path string, now time.Time) error {
	dated, err := freeStamp(path+asideKey, now)
	if err != nil {
		return err
	}
	return moveAside(next, path+asideKey+dated)
}

// keepSecrets copies the database before the secrets that its key doesn't open are
// dropped: the right key may be found later.
func keepSecrets(ctx context.Context, db *sql.DB, path string, owner os.FileInfo, now time.Time) (kept string, err error) {
	dated, err := freeStamp(path+beforeNewKey, now)
	if err != nil {
		return "", err
	}
	if err := checkRoom(filepath.Dir(path), owner.Size()+reserve); err != nil {
		return "", err
	}
	kept = path + beforeNewKey + dated
	return kept, saveAs(execOf(ctx, db), path, kept, owner)
}

// fittingKey returns the path of a file beside a database that is its key under another
// name; empty: none.
func fittingKey(path, keyCheck string) string {
	names, _ := namesWith(path + ".")
	for _, name := range names {
		if name == path+".key" || name == path+nextKey || !strings.Contains(name, ".key") {
			continue
		}
		if key, err := readKey(name); err == nil && key.fits(keyCheck) {
			return name
		}
	}
	return ""
}

type sealedTable struct {
	name    string
	about   string // SQL: name, provider and medium of a row, and whether lost secrets of it are listed
	rows    string // the condition on the rows that have secrets
	columns []sealedColumn
	also    string                  // SQL: what changes with the columns ?1, ?2, …; the next parameter is 0 if the secrets are dropped
	dropped func(key *sealer) []any // the columns of a row whose secrets are dropped
}

type sealedColumn struct{ name, purpose string }

var sealedTables = []sealedTable{
	{name: "webhooks", about: `name, '', '', 1`, rows: `deleted_at IS NULL`,
		columns: []sealedColumn{{"secret", sealWebhook}, {"next_secret", sealWebhook}, {"headers", sealHeaders}},
		also:    `overlap_to_ms = iif(?2 IS NULL, NULL, overlap_to_ms), header_names = iif(?3 IS NULL, '', header_names)`,
		dropped: func(*sealer) []any { return []any{[]byte{}, nil, nil} }},
	{name: "sources", about: `name, provider, '', removed_at IS NULL`, rows: `true`,
		columns: []sealedColumn{{"secret", sealSource}, {"options", sealOptions}, {"api_key", sealAPIKey}},
		also:    `bearer_hash = iif(?4, bearer_hash, NULL)`,
		dropped: func(key *sealer) []any {
			return []any{key.seal(sealSource, lostMark+rand.Text()), key.seal(sealOptions, "{}"), nil}
		}},
	{name: "streams", about: `name, '', '', 1`, rows: `deleted_at IS NULL`,
		columns: []sealedColumn{{"secret", sealStream}, {"password", sealStreamPassword}},
		dropped: func(*sealer) []any { return []any{[]byte{}, []byte{}} }},
	// A lost one isn't listed: the user signs in with a recovery code, or a command removes it.
	{name: "users", about: `name, '', '', 0`, rows: `totp IS NOT NULL`,
		columns: []sealedColumn{{"totp", sealTOTP}},
		dropped: func(*sealer) []any { return []any{[]byte{}} }},
	{name: "alert_channels", about: `medium, '', medium, 1`, rows: `true`,
		columns: []sealedColumn{{"settings", sealAlert}},
		dropped: func(*sealer) []any { return []any{[]byte{}} }},
	// Lost ones aren't listed: the owner of the phone turns notifications on again.
	{name: "push_keys", about: `'', '', '', 0`, rows: `true`,
		columns: []sealedColumn{{"key", sealPushKey}},
		dropped: func(*sealer) []any { return []any{[]byte{}} }},
	{name: "phones", about: `name, '', '', 0`, rows: `true`,
		columns: []sealedColumn{{"address", sealPhone}},
		dropped: func(*sealer) []any { return []any{[]byte{}} }},
}

// sealedRow is a row of a sealedTable, with the secrets as they are in the file.
type sealedRow struct {
	upkeep.LostSecret
	missed  bool // lost secrets of this row are listed
	secrets [][]byte
}

func (t sealedTable) read(ctx context.Context, db querier) ([]sealedRow, error) {
	query := `SELECT id, account_id, ` + t.about
	for _, c := range t.columns {
		query += `, ` + c.name
	}
	rows, err := db.QueryContext(ctx, query+` FROM `+t.name+` WHERE `+t.rows+` ORDER BY id`)
	return collect(rows, err, func(row scanner) (r sealedRow, err error) {
		r.secrets = make([][]byte, len(t.columns))
		dest := []any{&r.ID, &r.AccountID, &r.Name, &r.Provider, &r.Medium, &r.missed}
		for i := range r.secrets {
			dest = append(dest, &r.secrets[i])
		}
		r.Stream = t.name == "streams"
		err = row.Scan(dest...)
		return r, err
	})
}

// open opens the secrets of a row. ok is false if one of them doesn't open, or if key is
// nil.
func (t sealedTable) open(r sealedRow, key *sealer) (texts []string, ok bool) {
	if key == nil || len(r.secrets[0]) == 0 { // the first is empty if the secrets were dropped
		return nil, false
	}
	texts = make([]string, len(t.columns))
	for i, c := range t.columns {
		if r.secrets[i] == nil {
			continue
		}
		var err error
		if texts[i], err = key.open(c.purpose, r.secrets[i]); err != nil {
			return nil, false
		}
	}
	return texts, true
}

// sealAll seals every secret that old opens under key, and drops the rest. old may be nil.
func sealAll(ctx context.Context, tx *sql.Tx, old, key *sealer) error {
	for _, t := range sealedTables {
		rows, err := t.read(ctx, tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := tx.ExecContext(ctx, t.update(), t.resealed(r, old, key)...); err != nil {
				return err
			}
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO settings (name, value) VALUES ('key_check', ?)`, key.checkValue())
	return err
}

// update is the statement that sets the columns ?1, ?2, … of a row. Two
// parameters follow: whether the secrets are kept, and the id.
func (t sealedTable) update() string {
	var set []string
	for i, c := range t.columns {
		set = append(set, fmt.Sprintf(`%s = ?%d`, c.name, i+1))
	}
	if t.also != "" {
		set = append(set, t.also)
	}
	return fmt.Sprintf(`UPDATE %s SET %s WHERE id = ?%d`, t.name, strings.Join(set, ", "), len(t.columns)+2)
}

func (t sealedTable) resealed(r sealedRow, old, key *sealer) []any {
	texts, ok := t.open(r, old)
	if !ok {
		return append(t.dropped(key), false, r.ID)
	}
	var args []any
	for i, c := range t.columns {
		if r.secrets[i] == nil {
			args = append(args, nil)
		} else {
			args = append(args, key.seal(c.purpose, texts[i]))
		}
	}
	return append(args, true, r.ID)
}

// lostSecrets lists the webhooks, sources, streams and alert channels in use whose secrets
// a key doesn't open, or whose secrets were dropped and not replaced since.
func lostSecrets(ctx context.Context, db querier, key *sealer) (lost []upkeep.LostSecret, err error) {
	for _, t := range sealedTables {
		rows, err := t.read(ctx, db)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			texts, ok := t.open(r, key)
			r.Dropped = len(r.secrets[0]) == 0 || ok && isLost(texts[0])
			if r.missed && (!ok || r.Dropped) {
				lost = append(lost, r.LostSecret)
			}
		}
	}
	return lost, nil
}

// nameNewKey does steps 4 and 5. It returns the new name of the old key file; empty if
// there was none.
func nameNewKey(path string, now time.Time) (aside string, err error) {
	dated, err := freeStamp(path+asideKey, now)
	if err != nil {
		return "", err
	}
	aside = path + asideKey + dated
	owner, err := os.Stat(path + ".key")
	if errors.Is(err, fs.ErrNotExist) {
		aside, err = "", nil
	} else if err == nil {
		err = errors.Join(copyFile(path+".key", aside), ownAs(aside, owner), syncDir(filepath.Dir(path)))
	}
	if err != nil {
		return "", err
	}
	return aside, publish(path+nextKey, path+".key", true)
}
