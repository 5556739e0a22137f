package sqlitestore

import (
	"context"

	"baoco/app"
	"baoco/app/fold"
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
	c := kindsAndAmounts(accountID, f)
	if b := blocksOf(accountID, f); b.from != openFrom || b.to != openTo {
		c.add("t.occurred_at >= ? AND t.occurred_at < ?", b.from, b.to)
	}
	if f.Query != "" {
		c.add("instr(t.search, ?) > 0", fold.String(f.Query))
	}
	if f.DeliveryState != "" {
		told, args := inDeliveryState(accountID, f.DeliveryState)
		c.add("t.id IN ("+told+" AND d.transaction_id BETWEEN ? AND ?)", append(args, ids.First, ids.Last)...)
	}
	rows, err := s.query(ctx, `SELECT `+transactionColumns+` FROM transactions t NOT INDEXED JOIN bank_accounts b ON b.id = t.bank_account_id
		WHERE t.id BETWEEN ? AND ? AND `+c.where.String()+` ORDER BY t.id LIMIT ?`, append(append([]any{ids.First, ids.Last}, c.args...), limit)...)
	return collect(rows, err, scanTransaction)
}

// inDeliveryState is a query of the ids of transactions of which a delivery is
// in a state; one that a resend has taken the place of doesn't count. It costs
// as much as there are such deliveries and, of the failed ones, resent ones.
func inDeliveryState(accountID int64, state app.DeliveryState) (string, []any) {
	if state == app.DeliveryPending {
		return `SELECT d.transaction_id FROM webhooks w CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.webhook_id = w.id
			WHERE w.account_id = ? AND d.state = 0 AND d.transaction_id IS NOT NULL`, []any{accountID}
	}
	return `SELECT d.transaction_id FROM deliveries d INDEXED BY deliveries_failed_transactions
		WHERE d.account_id = ? AND d.state = 2 AND d.transaction_id IS NOT NULL AND d.id NOT IN
			(SELECT f.id FROM deliveries o INDEXED BY deliveries_resent CROSS JOIN deliveries f INDEXED BY deliveries_failed_transactions
				ON f.account_id = o.account_id AND f.transaction_id = o.transaction_id AND f.webhook_id = o.webhook_id AND f.state = 2 AND f.id < o.id
			WHERE o.account_id = ? AND o.resend_of IS NOT NULL)`, []any{accountID, accountID}
}

// transactionsByDelivery serves the filters by what became of the deliveries:
// alone from the indexes, with others from the rows of the few that are left.
func (s *Store) transactionsByDelivery(ctx context.Context, accountID int64, f app.TransactionFilter) (ids []int64, total int64, err error) {
	told, args := inDeliveryState(accountID, f.DeliveryState)
	if f.UntilID != 0 {
		told, args = told+" AND d.transaction_id <= ?", append(args, f.UntilID)
	}
	if f.SinceID != nil {
		told, args = told+" AND d.transaction_id > ?", append(args, *f.SinceID)
	}
	byID := f.Sort == app.SortID || f.Sort == app.SortIDDesc
	c := kindsAndAmounts(accountID, f)
	b := blocksOf(accountID, f)
	if b.from != openFrom || b.to != openTo {
		c.add("t.occurred_at >= ? AND t.occurred_at < ?", b.from, b.to)
	}
	if f.Query != "" {
		c.add("instr(t.search, ?) > 0", fold.String(f.Query))
	}
	from := `SELECT DISTINCT t.id FROM (SELECT transaction_id AS id FROM (` + told + `)) t`
	if len(c.args) > 1 || !byID { // more than the account
		from = `SELECT t.id FROM (SELECT DISTINCT transaction_id FROM (` + told + `)) k CROSS JOIN transactions t ON t.id = k.transaction_id WHERE ` + c.where.String()
		args = append(args, c.args...)
	}
	if err := s.queryRow(ctx, `SELECT count(*) FROM (`+from+`)`, args...).Scan(&total); err != nil {
		return nil, 0, storageError(err)
	}
	ids, err = s.scanIDs(ctx, from+` ORDER BY `+transactionOrder(f.Sort), args, f.Page)
	return ids, total, err
}
