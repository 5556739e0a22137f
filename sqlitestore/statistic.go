package sqlitestore

import (
	"context"

	"baoco/app"
)

func (s *Store) Overview(ctx context.Context, accountID int64) (app.Overview, error) {
	var o app.Overview
	err := s.queryRow(ctx, `SELECT in_count + out_count, in_amount, out_amount, attempts_made, attempts_failed,
			(SELECT count(*) FROM bank_accounts b WHERE b.account_id = a.account_id AND b.unlinked_at IS NULL)
		FROM account_totals a WHERE a.account_id = ?`, accountID).
		Scan(&o.Transactions, &o.TotalIn, &o.TotalOut, &o.WebhooksSent, &o.WebhooksErrors, &o.BankAccounts)
	return o, storageError(err)
}

func (s *Store) Days(ctx context.Context, accountID int64, first, last app.Day) ([]app.PeriodRow, error) {
	rows, err := s.query(ctx, `SELECT day, type, count, amount FROM account_days WHERE account_id = ? AND day BETWEEN ? AND ? ORDER BY day, type`,
		accountID, int64(first), int64(last))
	return collect(rows, err, scanPeriodRow)
}

func (s *Store) BankAccountDays(ctx context.Context, accountID, bankAccountID int64, first, last app.Day) ([]app.PeriodRow, error) {
	rows, err := s.query(ctx, `SELECT d.day, d.type, d.count, d.amount FROM bank_accounts b JOIN bank_account_days d ON d.bank_account_id = b.id
			WHERE b.id = ? AND b.account_id = ? AND d.day BETWEEN ? AND ? ORDER BY d.day, d.type`, bankAccountID, accountID, int64(first), int64(last))
	return collect(rows, err, scanPeriodRow)
}

func scanPeriodRow(row scanner) (p app.PeriodRow, err error) {
	return p, row.Scan(&p.Day, &p.Type, &p.Count, &p.Total)
}

func (s *Store) AccountStatus(ctx context.Context, accountID int64) (app.AccountStatus, error) {
	a, err := s.Account(ctx, accountID)
	status := app.AccountStatus{Account: a}
	if err == nil {
		err = s.queryRow(ctx, countedBankAccounts, accountID).Scan(&status.BankAccounts)
	}
	if err == nil {
		err = s.queryRow(ctx, `SELECT count(*) FROM webhooks WHERE account_id = ? AND deleted_at IS NULL AND is_active = 1`, accountID).Scan(&status.Webhooks)
	}
	return status, storageError(err)
}
