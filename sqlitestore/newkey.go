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
)

// What stands beside the key file F.key while and after it is replaced.
const (
	nextKey  = ".key.next" // the new key, until it has its name
	asideKey = ".key.old-" // the old one, with the time in UTC

	beforeNewKey = ".before-new-key-" // a copy with the secrets that were dropped
)

// lostMark begins the secret of a source whose own can't be read any more: one
// that nobody knows, so that every call is refused until somebody rotates it.
// Nobody can enter a secret that begins so, see [app.Service.RotateSource].
const lostMark = "\x00lost "

func isLost(sourceSecret string) bool { return strings.HasPrefix(sourceSecret, lostMark) }

// ReplaceKey seals all secrets of a file anew, under a new key, and drops those
// that the key file doesn't open; the key file may be of another database, or
// missing. Nobody else may have the file open: no server, and no command, which
// could seal something under the old key.
//
// The steps, each on disk before the next begins:
//
//  1. F.key.next holds the new key;
//  2. where secrets would be dropped, F.before-new-key-<time> is a copy that has them;
//  3. one commit seals every secret under the new key, and key_check with them;
//  4. F.key.old-<time> is a copy of the old key file;
//  5. F.key.next becomes F.key.
//
// Where another file beside F is the key of F nothing is dropped: it is named.
// A kill before the commit leaves the file under its old key, and a new key that
// fits nothing: the next run begins anew. A kill after it leaves a file that
// only F.key.next fits: it doesn't open, its message says to run this again, and
// the next run does steps 4 and 5. F.key is never missing in between. What was
// dropped stands in the file, so that run names it as well.
func ReplaceKey(ctx context.Context, path string, now time.Time) (r app.ReplacedKey, err error) {
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
	if _, err := applyRestore(resolved); err != nil { // one that was decided meanwhile
		return r, err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return r, err
	}
	db := sql.OpenDB(connector(dsn(resolved, url.Values{
		"mode": {"rw"}, "_txlock": {"exclusive"}, "_busy_timeout": {"5000"}, "_synchronous": {"FULL"}, "_foreign_keys": {"1"},
		"_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {"locking_mode(exclusive)", "trusted_schema(0)"},
	})))
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := checkSchema(ctx, db, resolved); err != nil {
		return r, err
	}
	sealer, kept, err := sealAnew(ctx, db, resolved, info, now)
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

// checkSchema refuses a file that isn't of the present schema.
func checkSchema(ctx context.Context, db *sql.DB, path string) error {
	version, err := released().versionOf(ctx, db, path)
	switch {
	case primaryCode(err) == 5: // SQLITE_BUSY
		return exclusiveError(err)
	case err == nil && version < released().version():
		return fmt.Errorf("%w: %s has schema %d: start the server with this baoco first", ErrOlder, path, version)
	}
	return err
}

func exclusiveError(err error) error {
	return fmt.Errorf("%w: another command or program has the database open; end it first: %w", ErrServed, err)
}

// sealAnew is steps 1 to 3, unless a run before did them: it gives the new key,
// and the copy of the database that it made.
func sealAnew(ctx context.Context, db *sql.DB, path string, owner os.FileInfo, now time.Time) (key *sealer, kept string, err error) {
	next := path + nextKey
	var check string
	if err := db.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'key_check'`).Scan(&check); err != nil && !noRows(err) {
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
	if kept, err = keepSecrets(ctx, db, path, owner, old, now); err != nil {
		return nil, "", err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, "", exclusiveError(err)
	}
	if err := sealAll(ctx, tx, old, sealer); err != nil {
		return nil, "", errors.Join(storageError(err), tx.Rollback())
	}
	return sealer, kept, storageError(tx.Commit())
}

// keepUnused sets a new key of a run before aside that this database doesn't
// need: it may be that of another state of it.
func keepUnused(next, path string, now time.Time) error {
	dated, err := freeStamp(path+asideKey, now)
	if err != nil {
		return err
	}
	return moveAside(next, path+asideKey+dated)
}

// keepSecrets makes a copy of a database with secrets that its key doesn't open,
// before they are dropped: the key may be found again.
func keepSecrets(ctx context.Context, db *sql.DB, path string, owner os.FileInfo, key *sealer, now time.Time) (kept string, err error) {
	lost, err := lostSecrets(ctx, db, key)
	if err != nil || !slices.ContainsFunc(lost, func(l app.LostSecret) bool { return !l.Dropped }) {
		return "", err
	}
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

// fittingKey is a file beside a database that is its key, although it hasn't the
// name of one; empty: there is none.
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

// sealAll seals every secret that old opens under key, and drops the others.
// Old is nil where there is no old key.
func sealAll(ctx context.Context, tx *sql.Tx, old, key *sealer) error {
	webhooks, err := sealedWebhooks(ctx, tx)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		current, next := w.reseal(old, key)
		if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET secret = ?1, next_secret = ?2, overlap_to_ms = iif(?2 IS NULL, NULL, overlap_to_ms) WHERE id = ?3`, current, next, w.ID); err != nil {
			return err
		}
	}
	sources, err := sealedSources(ctx, tx)
	if err != nil {
		return err
	}
	for _, src := range sources {
		secret, options, apiKey, ok := src.reseal(old, key)
		if _, err := tx.ExecContext(ctx, `UPDATE sources SET secret = ?1, options = ?2, api_key = ?3, bearer_hash = iif(?4, bearer_hash, NULL) WHERE id = ?5`,
			secret, options, apiKey, ok, src.ID); err != nil {
			return err
		}
	}
	channels, err := sealedChannels(ctx, tx)
	if err != nil {
		return err
	}
	for _, c := range channels {
		settings := []byte{}
		if text, ok := c.open(old); ok {
			settings = key.seal(sealAlert, text)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE alert_channels SET settings = ? WHERE id = ?`, settings, c.ID); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO settings (name, value) VALUES ('key_check', ?)`, key.checkValue())
	return err
}

// sealedWebhook is a webhook in use with its secrets as they stand in the file.
type sealedWebhook struct {
	app.LostSecret
	current, next []byte
}

// sealedSource is the same of a source, also of one that was removed.
type sealedSource struct {
	app.LostSecret
	secret, options, apiKey []byte
	removed                 bool
}

// sealedChannel is the same of an alert channel.
type sealedChannel struct {
	app.LostSecret
	settings []byte
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func sealedWebhooks(ctx context.Context, db queryer) ([]sealedWebhook, error) {
	rows, err := db.QueryContext(ctx, `SELECT id, account_id, name, secret, next_secret FROM webhooks WHERE deleted_at IS NULL ORDER BY id`)
	return collect(rows, err, func(row scanner) (w sealedWebhook, err error) {
		return w, row.Scan(&w.ID, &w.AccountID, &w.Name, &w.current, &w.next)
	})
}

func sealedSources(ctx context.Context, db queryer) ([]sealedSource, error) {
	rows, err := db.QueryContext(ctx, `SELECT id, account_id, name, provider, secret, options, api_key, removed_at IS NOT NULL FROM sources ORDER BY id`)
	return collect(rows, err, func(row scanner) (s sealedSource, err error) {
		return s, row.Scan(&s.ID, &s.AccountID, &s.Name, &s.Provider, &s.secret, &s.options, &s.apiKey, &s.removed)
	})
}

func sealedChannels(ctx context.Context, db queryer) ([]sealedChannel, error) {
	rows, err := db.QueryContext(ctx, `SELECT id, account_id, medium, settings FROM alert_channels ORDER BY id`)
	return collect(rows, err, func(row scanner) (c sealedChannel, err error) {
		err = row.Scan(&c.ID, &c.AccountID, &c.Medium, &c.settings)
		c.Name = string(c.Medium)
		return c, err
	})
}

// open opens the secrets; ok is false where one of them can't be, or is lost.
func (w sealedWebhook) open(key *sealer) (current, next string, ok bool) {
	if key == nil || len(w.current) == 0 {
		return "", "", false
	}
	current, err := key.open(sealWebhook, w.current)
	if err == nil && w.next != nil {
		next, err = key.open(sealWebhook, w.next)
	}
	return current, next, err == nil
}

func (w sealedWebhook) reseal(old, key *sealer) (sealed, sealedNext []byte) {
	current, next, ok := w.open(old)
	if !ok {
		return []byte{}, nil
	}
	if w.next != nil {
		sealedNext = key.seal(sealWebhook, next)
	}
	return key.seal(sealWebhook, current), sealedNext
}

func (s sealedSource) open(key *sealer) (secret, options, apiKey string, ok bool) {
	if key == nil {
		return "", "", "", false
	}
	secret, err := key.open(sealSource, s.secret)
	if err == nil {
		options, err = key.open(sealOptions, s.options)
	}
	if err == nil && s.apiKey != nil {
		apiKey, err = key.open(sealAPIKey, s.apiKey)
	}
	return secret, options, apiKey, err == nil
}

func (s sealedSource) reseal(old, key *sealer) (sealed, sealedOptions, sealedAPIKey []byte, ok bool) {
	secret, options, apiKey, ok := s.open(old)
	if !ok {
		return key.seal(sealSource, lostMark+rand.Text()), key.seal(sealOptions, "{}"), nil, false
	}
	if s.apiKey != nil {
		sealedAPIKey = key.seal(sealAPIKey, apiKey)
	}
	return key.seal(sealSource, secret), key.seal(sealOptions, options), sealedAPIKey, true
}

func (c sealedChannel) open(key *sealer) (settings string, ok bool) {
	if key == nil {
		return "", false
	}
	settings, err := key.open(sealAlert, c.settings)
	return settings, err == nil
}

// lostSecrets lists the webhooks, sources and alert channels in use whose
// secrets a key doesn't open, or were dropped for that and not made anew since.
func lostSecrets(ctx context.Context, db queryer, key *sealer) (lost []app.LostSecret, err error) {
	webhooks, err := sealedWebhooks(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, w := range webhooks {
		w.Dropped = len(w.current) == 0
		if _, _, ok := w.open(key); !ok {
			lost = append(lost, w.LostSecret)
		}
	}
	sources, err := sealedSources(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		secret, _, _, ok := s.open(key)
		s.Dropped = ok && isLost(secret)
		if !s.removed && (!ok || s.Dropped) {
			lost = append(lost, s.LostSecret)
		}
	}
	channels, err := sealedChannels(ctx, db)
	for _, c := range channels {
		c.Dropped = len(c.settings) == 0
		if _, ok := c.open(key); !ok {
			lost = append(lost, c.LostSecret)
		}
	}
	return lost, err
}

// nameNewKey is steps 4 and 5. It gives the new name of the old key file; empty
// where there was none.
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
