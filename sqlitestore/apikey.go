package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

func (s *Store) CreateAPIKey(ctx context.Context, k app.APIKey, hash [32]byte) (app.APIKey, error) {
	return writingDirectory(ctx, s, func(tx *tx) (_ app.APIKey, err error) {
		if _, err = txAccount(tx, k.AccountID); err != nil {
			return k, err
		}
		k.ID, err = tx.insert(`INSERT INTO api_keys (account_id, name, scope, hint, hash, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			k.AccountID, k.Name, string(k.Scope), k.Hint, hash[:], seconds(k.ExpiresAt), seconds(k.CreatedAt))
		return k, err
	})
}

func (s *Store) APIKeyByHash(ctx context.Context, hash [32]byte) (app.APIKey, bool, error) {
	return lookUp(ctx, s, func(d *directory) map[[32]byte]app.APIKey { return d.keys }, hash)
}

func (s *Store) APIKeys(ctx context.Context, accountID int64) ([]app.APIKey, error) {
	rows, err := s.query(ctx, `SELECT `+apiKeyColumns+` FROM api_keys WHERE account_id = ? ORDER BY id`, accountID)
	return collect(rows, err, func(row scanner) (app.APIKey, error) { return scanAPIKey(row) })
}

func (s *Store) RevokeAPIKey(ctx context.Context, accountID, id int64, now time.Time) error {
	_, err := writingDirectory(ctx, s, func(tx *tx) (n int64, err error) {
		n, err = tx.change(`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE account_id = ? AND id = ?`, now.Unix(), accountID, id)
		if err == nil && n == 0 {
			err = app.NotFound("There is no API key with this id.", "Không có khoá API với id này.")
		}
		return n, err
	})
	return err
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
