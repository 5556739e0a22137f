package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

const counterLinkColumns = `id, account_id, name, coalesce(bank_account_id, 0), shows_total, created_at, revoked_at`

func scanCounterLink(row scanner, before ...any) (app.CounterLink, error) {
	var l app.CounterLink
	err := row.Scan(append(before, &l.ID, &l.AccountID, &l.Name, &l.BankAccountID, &l.ShowsTotal, secondsInto(&l.CreatedAt), secondsInto(&l.RevokedAt))...)
	return l, err
}

func (s *Store) CreateCounterLink(ctx context.Context, l app.CounterLink, hash [32]byte, newName bool, key app.IdempotencyKey) (app.CounterLink, error) {
	return changingCredentials(ctx, s, func(tx *tx) (_ app.CounterLink, err error) {
		if _, err = txAccount(tx, l.AccountID); err != nil {
			return l, err
		}
		if err := useForm(tx, l.AccountID, key, l.CreatedAt); err != nil {
			return l, err
		}
		if l.BankAccountID != 0 {
			if err := linkedBankAccount(tx, l.AccountID, l.BankAccountID); err != nil {
				return l, err
			}
		}
		if newName {
			if err := nameFree(tx, `SELECT count(*) FROM counter_links WHERE account_id = ? AND name = ? AND revoked_at IS NULL`, l.AccountID, l.Name); err != nil {
				return l, err
			}
		}
		counting, err := scanOne[int](tx.queryRow(`SELECT count(*) FROM counter_links WHERE account_id = ? AND revoked_at IS NULL`, l.AccountID))
		if err != nil {
			return l, err
		}
		if counting >= app.MaxCounterLinks {
			return l, app.Refused(app.CodeConflict, app.Textf(
				"An account has at most %d counter links: revoke one first.", "Mỗi tài khoản có tối đa %d liên kết màn hình quầy: hãy thu hồi bớt trước.", app.MaxCounterLinks))
		}
		l.ID, err = tx.insert(`INSERT INTO counter_links (account_id, name, hash, bank_account_id, shows_total, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
			l.AccountID, l.Name, hash[:], nullIfZero(l.BankAccountID), l.ShowsTotal, unixOrNull(l.CreatedAt))
		return l, err
	})
}

// nameFree refuses a name that the query counts.
func nameFree(tx *tx, query string, accountID int64, name string) error {
	n, err := scanOne[int](tx.queryRow(query, accountID, name))
	if err == nil && n > 0 {
		err = app.ErrSameName
	}
	return err
}

func (s *Store) CounterLinks(ctx context.Context, accountID int64) ([]app.CounterLink, error) {
	return readAll(ctx, s, alone(scanCounterLink), `SELECT `+counterLinkColumns+` FROM counter_links WHERE account_id = ? ORDER BY id`, accountID)
}

func (s *Store) CounterLinkByHash(ctx context.Context, hash [32]byte) (app.CounterLink, bool, error) {
	return lookUp(ctx, s, func(d *credentials) map[[32]byte]app.CounterLink { return d.counters }, hash)
}

func (s *Store) RevokeCounterLink(ctx context.Context, accountID, id int64, now time.Time) error {
	return s.changeCredential(ctx, app.ErrNoCounterLink, `UPDATE counter_links SET revoked_at = coalesce(revoked_at, ?) WHERE account_id = ? AND id = ?`, now.Unix(), accountID, id)
}
