package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"baoco/app"
)

const accountColumns = `id, name, plan, expires_at, is_trial, max_bank_accounts, created_at`

func scanAccount(row scanner) (app.Account, error) {
	var a app.Account
	var expires, created sql.NullInt64
	err := row.Scan(&a.ID, &a.Name, &a.Plan, &expires, &a.IsTrial, &a.MaxBankAccounts, &created)
	a.ExpiresAt, a.CreatedAt = fromSeconds(expires), fromSeconds(created)
	if noRows(err) {
		err = app.NotFound("There is no account with this id.", "Không có tài khoản với id này.")
	}
	return a, err
}

func (s *Store) CreateAccount(ctx context.Context, a app.Account) (app.Account, error) {
	return writing(ctx, s, func(tx *tx) (_ app.Account, err error) {
		a.ID, err = tx.insert(`INSERT INTO accounts (name, plan, expires_at, is_trial, max_bank_accounts, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
			a.Name, a.Plan, seconds(a.ExpiresAt), a.IsTrial, a.MaxBankAccounts, seconds(a.CreatedAt))
		if err != nil {
			return a, err
		}
		return a, tx.exec(`INSERT INTO account_totals (account_id) VALUES (?)`, a.ID)
	})
}

func (s *Store) Account(ctx context.Context, id int64) (app.Account, error) {
	a, err := scanAccount(s.queryRow(ctx, `SELECT `+accountColumns+` FROM accounts WHERE id = ?`, id))
	return a, storageError(err)
}

func (s *Store) Accounts(ctx context.Context) ([]app.Account, error) {
	rows, err := s.query(ctx, `SELECT `+accountColumns+` FROM accounts ORDER BY id`)
	return collect(rows, err, scanAccount)
}

func (s *Store) UpdateAccount(ctx context.Context, id int64, u app.AccountUpdate) (app.Account, error) {
	return writing(ctx, s, func(tx *tx) (app.Account, error) {
		a, err := txAccount(tx, id)
		if err != nil {
			return a, err
		}
		if u.Plan != nil {
			a.Plan = *u.Plan
		}
		if u.ExpiresAt != nil {
			a.ExpiresAt = *u.ExpiresAt
		}
		if u.IsTrial != nil {
			a.IsTrial = *u.IsTrial
		}
		if u.MaxBankAccounts != nil {
			a.MaxBankAccounts = *u.MaxBankAccounts
		}
		return a, tx.exec(`UPDATE accounts SET plan = ?, expires_at = ?, is_trial = ?, max_bank_accounts = ? WHERE id = ?`,
			a.Plan, seconds(a.ExpiresAt), a.IsTrial, a.MaxBankAccounts, id)
	})
}

func txAccount(tx *tx, id int64) (app.Account, error) {
	return scanAccount(tx.queryRow(`SELECT `+accountColumns+` FROM accounts WHERE id = ?`, id))
}

// unexpired refuses what an expired plan doesn't allow.
func unexpired(tx *tx, accountID int64, now time.Time) (app.Account, error) {
	a, err := txAccount(tx, accountID)
	if err == nil && a.Expired(now) {
		err = app.ErrPlanExpired()
	}
	return a, err
}

// withinPlan refuses one more bank account that counts, where the plan has
// ended or is full.
func withinPlan(tx *tx, accountID int64, now time.Time) error {
	a, err := unexpired(tx, accountID, now)
	if err != nil {
		return err
	}
	var used int
	if err := tx.queryRow(countedBankAccounts, accountID).Scan(&used); err != nil {
		return err
	}
	if used >= a.MaxBankAccounts {
		return app.ErrPlanLimit(a.MaxBankAccounts)
	}
	return nil
}

const countedBankAccounts = `SELECT count(*) FROM bank_accounts WHERE account_id = ? AND unlinked_at IS NULL AND status <> 'inactive'`
