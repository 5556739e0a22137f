package sqlitestore

import (
	"context"
	"database/sql"
	"strings"

	"baoco/app"
	"baoco/app/fold"
)

const transactionColumns = `t.id, t.account_id, t.bank_account_id, b.bank, b.account_number, t.number, t.type, t.amount, t.content,
	t.occurred_at, t.zone_offset, t.date_flagged, t.created_at`

func scanTransaction(row scanner) (app.Transaction, error) {
	var t app.Transaction
	var occurred, created sql.NullInt64
	err := row.Scan(&t.ID, &t.AccountID, &t.BankAccountID, &t.Bank, &t.AccountNumber, &t.Number, &t.Type, &t.Amount, &t.Content,
		&occurred, &t.ZoneOffset, &t.DateFlagged, &created)
	t.Time, t.CreatedAt = fromSeconds(occurred), fromSeconds(created)
	return t, err
}

func (s *Store) Transaction(ctx context.Context, accountID, id int64) (app.Transaction, error) {
	t, err := scanTransaction(s.queryRow(ctx, `SELECT `+transactionColumns+` FROM transactions t JOIN bank_accounts b ON b.id = t.bank_account_id
			WHERE t.id = ? AND t.account_id = ?`, id, accountID))
	if noRows(err) {
		err = app.NotFound("There is no transaction with this id.", "Không có giao dịch với id này.")
	}
	return t, storageError(err)
}

// conditions gathers the WHERE clause of a filtered listing.
type conditions struct {
	where strings.Builder
	args  []any
}

func (c *conditions) add(clause string, args ...any) {
	if c.where.Len() > 0 {
		c.where.WriteString(" AND ")
	}
	c.where.WriteString(clause)
	c.args = append(c.args, args...)
}

// Transactions finds the ids of the page by index first, then their rows.
func (s *Store) Transactions(ctx context.Context, accountID int64, f app.TransactionFilter) ([]app.Transaction, int64, error) {
	if f.BankAccountID != 0 {
		if err := s.exists(ctx, `SELECT 1 FROM bank_accounts WHERE id = ? AND account_id = ?`, f.BankAccountID, accountID, app.ErrUnknownReference("bank_account_id")); err != nil {
			return nil, 0, err
		}
	}
	var c conditions
	c.add("t.account_id = ?", accountID)
	unfiltered := len(c.args)
	if f.BankAccountID != 0 {
		c.add("t.bank_account_id = ?", f.BankAccountID)
	}
	if f.Type != "" {
		c.add("t.type = ?", string(f.Type))
	}
	if !f.From.IsZero() {
		c.add("t.occurred_at >= ?", f.From.Unix())
	}
	if !f.To.IsZero() {
		c.add("t.occurred_at < ?", f.To.Unix())
	}
	if f.MinAmount != 0 {
		c.add("t.amount >= ?", f.MinAmount)
	}
	if f.MaxAmount != 0 {
		c.add("t.amount <= ?", f.MaxAmount)
	}
	if f.SinceID != nil {
		c.add("t.id > ?", *f.SinceID)
	}
	if f.Query != "" {
		c.add("instr(t.search, ?) > 0", fold.String(f.Query))
	}
	total, err := s.transactionCount(ctx, accountID, &c, len(c.args) == unfiltered)
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.query(ctx, `SELECT `+transactionColumns+` FROM
			(SELECT t.id AS page_id FROM transactions t WHERE `+c.where.String()+` ORDER BY `+transactionOrder(f.Sort)+` LIMIT ? OFFSET ?)
			JOIN transactions t ON t.id = page_id JOIN bank_accounts b ON b.id = t.bank_account_id ORDER BY `+transactionOrder(f.Sort),
		append(c.args, f.Page.Size, f.Page.Offset())...)
	list, err := collect(rows, err, scanTransaction)
	return list, total, err
}

// transactionCount reads the kept total where no filter applies.
func (s *Store) transactionCount(ctx context.Context, accountID int64, c *conditions, kept bool) (n int64, err error) {
	if kept {
		err = s.queryRow(ctx, `SELECT in_count + out_count FROM account_totals WHERE account_id = ?`, accountID).Scan(&n)
	} else {
		err = s.queryRow(ctx, `SELECT count(*) FROM transactions t WHERE `+c.where.String(), c.args...).Scan(&n)
	}
	return n, storageError(err)
}

func transactionOrder(sort app.TransactionSort) string {
	switch sort {
	case app.SortID:
		return "t.id"
	case app.SortDate:
		return "t.occurred_at, t.id"
	case app.SortDateDesc:
		return "t.occurred_at DESC, t.id DESC"
	}
	return "t.id DESC"
}

// exists gives otherwise where query finds no row.
func (s *Store) exists(ctx context.Context, query string, id, accountID int64, otherwise error) error {
	var one int
	err := s.queryRow(ctx, query, id, accountID).Scan(&one)
	if noRows(err) {
		return otherwise
	}
	return storageError(err)
}
