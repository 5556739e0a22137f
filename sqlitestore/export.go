package sqlitestore

import (
	"context"

	"baoco/app"
)

// IDsOf ends with the newest transaction there is, and begins and ends with
// the blocks that can hold the times of the filter.
func (s *Store) IDsOf(ctx context.Context, accountID int64, f app.TransactionFilter) (app.IDRange, error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return app.IDRange{}, err
	}
	var newest int64
	if err := s.queryRow(ctx, `SELECT coalesce(max(id), 0) FROM transactions`).Scan(&newest); err != nil {
		return app.IDRange{}, storageError(err)
	}
	if f.UntilID != 0 {
		newest = min(newest, f.UntilID)
	}
	first, last, err := s.blockRange(ctx, transactionTable, blocksOf(accountID, f))
	if f.SinceID != nil {
		first = max(first, *f.SinceID+1)
	}
	return app.IDRange{First: first, Last: min(last, newest)}, err
}

// TransactionsIn reads the rows of the range one after another, whatever the
// filter is: an export reads most of them, and what it searches for is
// compared, not looked up.
func (s *Store) TransactionsIn(ctx context.Context, accountID int64, f app.TransactionFilter, ids app.IDRange, limit int) ([]app.Transaction, error) {
	c := rowConditions(accountID, f)
	rows, err := s.query(ctx, `SELECT `+transactionColumns+` FROM transactions t NOT INDEXED JOIN bank_accounts b ON b.id = t.bank_account_id
		WHERE t.id BETWEEN ? AND ? AND `+c.where.String()+` ORDER BY t.id LIMIT ?`, append(append([]any{ids.First, ids.Last}, c.args...), limit)...)
	return collect(rows, err, scanTransaction)
}
