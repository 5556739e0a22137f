package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/inbound"
	"baoco/app/payment"
)

// credentials are the API keys, counter links and sources in memory, because
// every request needs one. Each change of one of them, by any process, adds 1 to
// the setting "directory" in the same commit. A look-up that finds nothing reads
// that version before it returns, so that a new credential works at once. A
// server reads it every watchInterval, so that a revoked credential stops working.
type credentials struct {
	version  string
	keys     map[[32]byte]access.APIKey
	counters map[[32]byte]payment.CounterLink

	// The sources in use by id, and by each value by which a call may name its source.
	sources   map[int64]inbound.Source
	tokens    map[string]inbound.Source
	bearers   map[[32]byte]inbound.Source
	usernames map[string]inbound.Source
}

const watchInterval = 400 * time.Millisecond

// changingCredentials runs fn, which changes a credential, and adds 1 to the
// version in the same commit.
func changingCredentials[T any](ctx context.Context, s *Store, fn func(tx *tx) (T, error)) (T, error) {
	result, err := writing(ctx, s, func(tx *tx) (T, error) {
		result, err := fn(tx)
		if err != nil {
			return result, err
		}
		return result, tx.exec(`UPDATE settings SET value = CAST(value AS INTEGER) + 1 WHERE name = 'directory'`)
	})
	if err == nil {
		err = s.RefreshCredentials(ctx)
	}
	return result, err
}

// revocable is a table of credentials.
type revocable struct {
	table string
	none  error // for an unknown id
	deed  app.Deed
}

// revoke sets the time at which a credential of an account ended, unless it ended before.
func (s *Store) revoke(ctx context.Context, c revocable, accountID, id int64, now time.Time) error {
	_, err := changingCredentials(ctx, s, func(tx *tx) (_ struct{}, err error) {
		var name string
		var ended bool
		err = tx.queryRow(`SELECT name, revoked_at IS NOT NULL FROM `+c.table+` WHERE account_id = ? AND id = ?`, accountID, id).
			Scan(&name, &ended)
		if err != nil || ended {
			return struct{}{}, noRowsAs(err, c.none)
		}
		tx.exec(`UPDATE `+c.table+` SET revoked_at = ? WHERE id = ?`, now.Unix(), id)
		return struct{}{}, tx.audit(ctx, accountID, c.deed, id, app.AuditNamed(name))
	})
	return err
}

func (s *Store) loadCredentials(ctx context.Context) error {
	s.credentialsLoad.Lock()
	defer s.credentialsLoad.Unlock()
	version, err := s.setting(ctx, "directory")
	if err != nil {
		return err
	}
	if d := s.credentials.Load(); d != nil && d.version == version {
		return nil
	}
	d := &credentials{version: version, sources: map[int64]inbound.Source{}, tokens: map[string]inbound.Source{},
		usernames: map[string]inbound.Source{}}
	var sources []inbound.Source
	_, d.keys, err = readByHash(ctx, s, scanAPIKey, `SELECT hash, `+apiKeyColumns+` FROM api_keys WHERE revoked_at IS NULL`)
	if err == nil {
		_, d.counters, err = readByHash(ctx, s, scanCounterLink,
			`SELECT hash, `+counterLinkColumns+` FROM counter_links WHERE revoked_at IS NULL`)
	}
	if err == nil {
		sources, d.bearers, err = readByHash(ctx, s, s.scanSource, `SELECT bearer_hash, `+sourceColumns+` FROM sources WHERE removed_at IS NULL`)
	}
	if err != nil {
		return err
	}
	for _, src := range sources {
		d.sources[src.ID], d.tokens[src.Token] = src, src
		if src.Options.Username != "" {
			d.usernames[src.Options.Username] = src
		}
	}
	s.credentials.Store(d)
	return nil
}

// readByHash reads rows whose first column is a SHA-256 hash, or NULL for none.
func readByHash[V any](ctx context.Context, s *Store, scan func(row scanner, before ...any) (V, error),
	query string) (all []V, byHash map[[32]byte]V, err error) {
	byHash = map[[32]byte]V{}
	all, err = readAll(ctx, s, func(row scanner) (V, error) {
		var hash []byte
		v, err := scan(row, &hash)
		if err == nil && len(hash) == 32 {
			byHash[[32]byte(hash)] = v
		}
		return v, err
	}, query)
	return all, byHash, err
}

// RefreshCredentials compares the version of the file with that in memory.
func (s *Store) RefreshCredentials(ctx context.Context) error {
	version, err := s.setting(ctx, "directory")
	if err != nil || version == s.credentials.Load().version {
		return err
	}
	return s.loadCredentials(ctx)
}

// lookUp finds a credential. If it isn't in memory, they are refreshed once.
func lookUp[K comparable, V any](ctx context.Context, s *Store, entries func(*credentials) map[K]V, key K) (V, bool, error) {
	if v, ok := entries(s.credentials.Load())[key]; ok {
		return v, true, nil
	}
	if err := s.RefreshCredentials(ctx); err != nil {
		var none V
		return none, false, err
	}
	// Another call may have refreshed them a moment ago.
	v, ok := entries(s.credentials.Load())[key]
	return v, ok, nil
}

const apiKeyColumns = `id, account_id, name, scope, hint, expires_at, revoked_at, created_at, last_used_at`

func scanAPIKey(row scanner, before ...any) (k access.APIKey, err error) {
	return k, row.Scan(append(before, &k.ID, &k.AccountID, &k.Name, &k.Scope, &k.Hint, secondsInto(&k.ExpiresAt), secondsInto(&k.RevokedAt),
		secondsInto(&k.CreatedAt), secondsInto(&k.LastUsedAt))...)
}

func (s *Store) CreateAPIKey(ctx context.Context, k access.APIKey, hash [32]byte, once app.IdempotencyKey) (access.APIKey, error) {
	return changingCredentials(ctx, s, func(tx *tx) (access.APIKey, error) {
		txAccount(tx, k.AccountID)
		useForm(tx, k.AccountID, once, k.CreatedAt)
		valid := findValue[int](tx, `SELECT count(*) FROM api_keys WHERE account_id = ? AND revoked_at IS NULL
			AND (expires_at IS NULL OR expires_at >= ?)`, k.AccountID, k.CreatedAt.Unix())
		tx.refuse(valid >= access.MaxAPIKeys, access.ErrTooManyAPIKeys)
		k.ID = tx.insert(insertInto("api_keys", "account_id, name, scope, hint, hash, expires_at, created_at"),
			k.AccountID, k.Name, string(k.Scope), k.Hint, hash[:], unixOrNull(k.ExpiresAt), unixOrNull(k.CreatedAt))
		return k, tx.audit(ctx, k.AccountID, app.DeedAPIKeyCreate, k.ID, app.AuditNamed(k.Name).Changed("scope", "", k.Scope))
	})
}

func (s *Store) APIKeyByHash(ctx context.Context, hash [32]byte) (access.APIKey, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[[32]byte]access.APIKey { return d.keys }, hash)
}

func (s *Store) APIKeys(ctx context.Context, accountID int64) ([]access.APIKey, error) {
	return readAll(ctx, s, columnsOnly(scanAPIKey), `SELECT `+apiKeyColumns+` FROM api_keys WHERE account_id = ? ORDER BY id`, accountID)
}

func (s *Store) RevokeAPIKey(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.revoke(ctx, revocable{"api_keys", access.ErrNoAPIKey, app.DeedAPIKeyRevoke}, accountID, id, now)
}

func (s *Store) TouchAPIKey(id int64, now time.Time) {
	if last, ok := s.touched.Load(id); ok && now.Sub(last.(time.Time)).Abs() < time.Minute {
		return
	}
	s.touched.Store(id, now)
	s.writer.offer(func(tx *tx) error {
		return tx.exec(`UPDATE api_keys SET last_used_at = ? WHERE id = ?`, now.Unix(), id)
	})
}

const counterLinkColumns = `id, account_id, name, coalesce(bank_account_id, 0), receiving_number, shows_total, created_at, revoked_at`

func scanCounterLink(row scanner, before ...any) (l payment.CounterLink, err error) {
	return l, row.Scan(append(before, &l.ID, &l.AccountID, &l.Name, &l.BankAccountID, &l.ReceivingNumber, &l.ShowsTotal,
		secondsInto(&l.CreatedAt), secondsInto(&l.RevokedAt))...)
}

func (s *Store) CreateCounterLink(ctx context.Context, l payment.CounterLink, hash [32]byte, newName bool,
	key app.IdempotencyKey) (payment.CounterLink, error) {
	return changingCredentials(ctx, s, func(tx *tx) (payment.CounterLink, error) {
		txAccount(tx, l.AccountID)
		useForm(tx, l.AccountID, key, l.CreatedAt)
		if l.BankAccountID != 0 {
			linkedBankAccount(tx, l.AccountID, l.BankAccountID)
		}
		if l.ReceivingNumber != "" {
			paid := paidTo(tx, l.AccountID, l.BankAccountID, l.ReceivingNumber)
			tx.refuse(len(paid) > 1, app.InvalidField("bank_account_id", "is required, since this number is of several banks",
				"là bắt buộc, vì số này có ở nhiều ngân hàng"))
			if len(paid) > 0 {
				l.BankAccountID = paid[0].ID
			}
		}
		if newName {
			nameFree(tx, `SELECT count(*) FROM counter_links WHERE account_id = ? AND name = ? AND revoked_at IS NULL`, l.AccountID, l.Name)
		}
		counting := findValue[int](tx, `SELECT count(*) FROM counter_links WHERE account_id = ? AND revoked_at IS NULL`, l.AccountID)
		tx.refuse(counting >= payment.MaxCounterLinks, app.Refused(app.CodeLimitReached, app.Textf(
			"An account has at most %d counter links: revoke one first.",
			"Mỗi tài khoản có tối đa %d đường dẫn màn hình quầy: hãy thu hồi bớt trước.", payment.MaxCounterLinks)))
		l.ID = tx.insert(insertInto("counter_links", "account_id, name, hash, bank_account_id, receiving_number, shows_total, created_at"),
			l.AccountID, l.Name, hash[:], nullIfZero(l.BankAccountID), l.ReceivingNumber, l.ShowsTotal, unixOrNull(l.CreatedAt))
		return l, tx.audit(ctx, l.AccountID, app.DeedCounterLinkCreate, l.ID, app.AuditNamed(l.Name))
	})
}

// nameFree refuses a name that the query counts.
func nameFree(tx *tx, query string, accountID int64, name string) {
	tx.refuse(findValue[int](tx, query, accountID, name) > 0, app.ErrSameName)
}

func (s *Store) CounterLinks(ctx context.Context, accountID int64) ([]payment.CounterLink, error) {
	return readAll(ctx, s, columnsOnly(scanCounterLink),
		`SELECT `+counterLinkColumns+` FROM counter_links WHERE account_id = ? ORDER BY id`, accountID)
}

func (s *Store) CounterLinkByHash(ctx context.Context, hash [32]byte) (payment.CounterLink, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[[32]byte]payment.CounterLink { return d.counters }, hash)
}

func (s *Store) RevokeCounterLink(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.revoke(ctx, revocable{"counter_links", payment.ErrNoCounterLink, app.DeedCounterLinkRevoke}, accountID, id, now)
}
