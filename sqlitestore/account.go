package sqlitestore

import (
	"context"
	"time"

	"baoco/app"
)

const accountColumns = `id, name, plan, expires_at, is_trial, max_bank_accounts, created_at, needs_second_factor, payment_tolerance,
	distinct_amounts, small_amount, cashiers_match, guide_skipped, marks_revenue`

func scanAccount(row scanner) (app.Account, error) {
	var a app.Account
	err := row.Scan(&a.ID, &a.Name, &a.Plan, secondsInto(&a.ExpiresAt), &a.IsTrial, &a.MaxBankAccounts, secondsInto(&a.CreatedAt),
		&a.NeedsSecondFactor, &a.PaymentTolerance, &a.DistinctAmounts, &a.SmallAmount, &a.CashiersMatch, &a.GuideSkipped, &a.MarksRevenue)
	return a, noRowsAs(err, app.NotFound("There is no account with this id.", "Không có tài khoản với id này."))
}

func (s *Store) CreateAccount(ctx context.Context, a app.Account) (app.Account, error) {
	return writing(ctx, s, func(tx *tx) (app.Account, error) {
		a.ID = tx.insert(`INSERT INTO accounts (name, plan, expires_at, is_trial, max_bank_accounts, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
			a.Name, a.Plan, unixOrNull(a.ExpiresAt), a.IsTrial, a.MaxBankAccounts, unixOrNull(a.CreatedAt))
		tx.exec(`INSERT INTO account_totals (account_id) VALUES (?)`, a.ID)
		return a, tx.audit(ctx, a.ID, app.DeedAccountCreate, a.ID, app.AuditNamed(a.Name))
	})
}

const oneAccount = `SELECT ` + accountColumns + ` FROM accounts WHERE id = ?`

func (s *Store) Account(ctx context.Context, id int64) (app.Account, error) {
	return scanAccount(s.queryRow(ctx, oneAccount, id))
}

func (s *Store) Accounts(ctx context.Context) ([]app.Account, error) {
	return readAll(ctx, s, scanAccount, `SELECT `+accountColumns+` FROM accounts ORDER BY id`)
}

func (s *Store) UpdateAccount(ctx context.Context, id int64, u app.AccountUpdate) (app.Account, error) {
	return writing(ctx, s, func(tx *tx) (app.Account, error) {
		a := txAccount(tx, id)
		before := a
		replace(&a.Name, u.Name)
		replace(&a.Plan, u.Plan)
		replace(&a.ExpiresAt, u.ExpiresAt)
		replace(&a.IsTrial, u.IsTrial)
		replace(&a.MaxBankAccounts, u.MaxBankAccounts)
		replace(&a.PaymentTolerance, u.PaymentTolerance)
		replace(&a.DistinctAmounts, u.DistinctAmounts)
		replace(&a.SmallAmount, u.SmallAmount)
		replace(&a.CashiersMatch, u.CashiersMatch)
		replace(&a.GuideSkipped, u.GuideSkipped)
		tx.exec(`UPDATE accounts SET name = ?, plan = ?, expires_at = ?, is_trial = ?, max_bank_accounts = ?, payment_tolerance = ?,
			distinct_amounts = ?, small_amount = ?, cashiers_match = ?, guide_skipped = ? WHERE id = ?`, a.Name, a.Plan, unixOrNull(a.ExpiresAt),
			a.IsTrial, a.MaxBankAccounts, a.PaymentTolerance, a.DistinctAmounts, a.SmallAmount, a.CashiersMatch, a.GuideSkipped, id)
		d := app.AuditNamed(a.Name).Changed("name", before.Name, a.Name).Changed("plan", before.Plan, a.Plan).
			Changed("expires_at", auditTime(before.ExpiresAt), auditTime(a.ExpiresAt)).
			Changed("is_trial", before.IsTrial, a.IsTrial).
			Changed("max_bank_accounts", before.MaxBankAccounts, a.MaxBankAccounts).
			Changed("payment_tolerance", before.PaymentTolerance, a.PaymentTolerance).
			Changed("distinct_amounts", before.DistinctAmounts, a.DistinctAmounts).
			Changed("small_amount", before.SmallAmount, a.SmallAmount).
			Changed("cashiers_match", before.CashiersMatch, a.CashiersMatch).
			Changed("guide_skipped", before.GuideSkipped, a.GuideSkipped)
		return a, tx.auditChange(ctx, id, app.DeedAccountChange, id, d)
	})
}

func txAccount(tx *tx, id int64) app.Account {
	return find(tx, nil, scanAccount, oneAccount, id)
}

// unexpired returns the account. It refuses one whose plan has ended.
func unexpired(tx *tx, accountID int64, now time.Time) app.Account {
	a := txAccount(tx, accountID)
	tx.refuse(a.Expired(now), app.ErrPlanExpired)
	return a
}

// withinPlan refuses a further active bank account where the plan has ended or is full.
func withinPlan(tx *tx, accountID int64, now time.Time) {
	most := unexpired(tx, accountID, now).MaxBankAccounts
	tx.refuse(findValue[int](tx, countedBankAccounts, accountID) >= most, app.ErrPlanLimit(most))
}

const countedBankAccounts = `SELECT count(*) FROM bank_accounts WHERE account_id = ? AND unlinked_at IS NULL AND status <> 'inactive'`

func (s *Store) Overview(ctx context.Context, accountID int64) (app.Overview, error) {
	var o app.Overview
	err := s.queryRow(ctx, `SELECT in_count + out_count, in_amount, out_amount, attempts_made, attempts_failed,
			(SELECT count(*) FROM bank_accounts b WHERE b.account_id = a.account_id AND b.unlinked_at IS NULL)
		FROM account_totals a WHERE a.account_id = ?`, accountID).
		Scan(&o.Transactions, &o.TotalIn, &o.TotalOut, &o.WebhooksSent, &o.WebhooksErrors, &o.BankAccounts)
	return o, err
}

func (s *Store) Days(ctx context.Context, accountID, bankAccountID int64, first, last app.Day) ([]app.PeriodRow, error) {
	f := limited(ctx, app.TransactionFilter{BankAccountID: bankAccountID})
	table, days := daysOf(accountID, f)
	if f.BankAccountID != 0 {
		days.add("EXISTS (SELECT 1 FROM bank_accounts WHERE id = ? AND account_id = ?)", f.BankAccountID, accountID)
	}
	days.add("day BETWEEN ? AND ?", int64(first), int64(last))
	return readAll(ctx, s, scanPeriodRow,
		`SELECT day, type, sum(count), sum(amount) FROM `+table+` WHERE `+days.where.String()+` GROUP BY day, type ORDER BY day, type`,
		days.args...)
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
		err = s.queryRow(ctx, `SELECT count(*) FROM webhooks WHERE account_id = ? AND deleted_at IS NULL AND is_active = 1`,
			accountID).Scan(&status.Webhooks)
	}
	return status, err
}
