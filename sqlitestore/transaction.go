package sqlitestore

import (
	"context"
	"database/sql"
	"strings"

	"baoco/app"
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
		err = app.ErrNoTransaction()
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

func (c *conditions) join(other *conditions) {
	if other.where.Len() > 0 {
		c.add(other.where.String(), other.args...)
	}
}

// Transactions finds the ids of the page first, then their rows.
func (s *Store) Transactions(ctx context.Context, accountID int64, f app.TransactionFilter) ([]app.Transaction, int64, error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return nil, 0, err
	}
	var ids []int64
	var total int64
	var err error
	switch {
	case f.DeliveryState != "":
		ids, total, err = s.transactionsByDelivery(ctx, accountID, f)
	case f.Query != "" || f.MinAmount != 0 || f.MaxAmount != 0:
		ids, total, err = s.scanTransactions(ctx, accountID, f)
	default:
		ids, total, err = s.leapTransactions(ctx, accountID, f)
	}
	if err != nil || len(ids) == 0 {
		return nil, total, err
	}
	rows, err := s.query(ctx, `SELECT `+transactionColumns+` FROM json_each(?) page CROSS JOIN transactions t ON t.id = page.value
			JOIN bank_accounts b ON b.id = t.bank_account_id ORDER BY page.key`, joinIDs(ids))
	list, err := collect(rows, err, scanTransaction)
	return list, total, err
}

// leapTransactions serves the filters that blocks and days are counted by.
func (s *Store) leapTransactions(ctx context.Context, accountID int64, f app.TransactionFilter) (ids []int64, total int64, err error) {
	counted := !f.From.IsZero() || !f.To.IsZero() || f.SinceID != nil // else the total is kept
	var l *leap
	if f.Sort == app.SortDate || f.Sort == app.SortDateDesc {
		zone, err := s.Zone(ctx)
		if err != nil {
			return nil, 0, err
		}
		l, err = s.byDays(ctx, accountID, f, zone)
		if err != nil {
			return nil, 0, err
		}
	} else {
		if l, err = s.byBlocks(ctx, transactionTable, blocksOf(accountID, f), counted, f.Page.Offset()+int64(f.Page.Size)); err != nil {
			return nil, 0, err
		}
	}
	if counted {
		return l.list(ctx, s, f.Page)
	}
	if total, err = s.keptTransactions(ctx, accountID, f); err != nil {
		return nil, 0, err
	}
	if f.UntilID != 0 {
		newer := f
		newer.UntilID, newer.SinceID = 0, &f.UntilID
		after, err := s.byBlocks(ctx, transactionTable, blocksOf(accountID, newer), true, 0)
		if err != nil {
			return nil, 0, err
		}
		n, err := after.total(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		total -= n
	}
	ids, err = l.page(ctx, s, f.Page)
	return ids, total, err
}

// blocksOf is what of a filter blocks are counted by.
func blocksOf(accountID int64, f app.TransactionFilter) blockFilter {
	b := blockFilter{accountID: accountID, kinds: kindsOf(f), from: openFrom, to: openTo, ascending: f.Sort == app.SortID}
	if !f.From.IsZero() {
		b.from = f.From.Unix()
	}
	if !f.To.IsZero() {
		b.to = f.To.Unix()
	}
	if f.SinceID != nil {
		b.since = *f.SinceID
	}
	b.until = f.UntilID
	return b
}

// kindsOf gives the conditions on what blocks are counted by.
func kindsOf(f app.TransactionFilter) *conditions {
	var c conditions
	if f.BankAccountID != 0 {
		c.add("bank_account_id = ?", f.BankAccountID)
	}
	if f.Type != "" {
		c.add("type = ?", string(f.Type))
	}
	return &c
}

// keptTransactions is the kept total of an account, or of one of its bank
// accounts, in one direction or both.
func (s *Store) keptTransactions(ctx context.Context, accountID int64, f app.TransactionFilter) (n int64, err error) {
	switch {
	case f.BankAccountID != 0:
		err = s.queryRow(ctx, `SELECT coalesce(sum(count), 0) FROM bank_account_days WHERE bank_account_id = ?1 AND (?2 = '' OR type = ?2)`,
			f.BankAccountID, string(f.Type)).Scan(&n)
	default:
		err = s.queryRow(ctx, `SELECT iif(?2 = 'OUT', 0, in_count) + iif(?2 = 'IN', 0, out_count) FROM account_totals WHERE account_id = ?1`,
			accountID, string(f.Type)).Scan(&n)
	}
	return n, storageError(err)
}

// scanTransactions serves the filters that rows must be read for.
func (s *Store) scanTransactions(ctx context.Context, accountID int64, f app.TransactionFilter) (ids []int64, total int64, err error) {
	c := kindsAndAmounts(accountID, f)
	if !f.From.IsZero() || !f.To.IsZero() {
		b := blocksOf(accountID, f)
		first, last, err := s.blockRange(ctx, transactionTable, b)
		if err != nil {
			return nil, 0, err
		}
		c.add("t.id BETWEEN ? AND ? AND t.occurred_at >= ? AND t.occurred_at < ?", first, last, b.from, b.to)
	}
	if f.SinceID != nil {
		c.add("t.id > ?", *f.SinceID)
	}
	if f.Query != "" {
		q, err := s.searchTerm(ctx, f.Query)
		if err != nil {
			return nil, 0, err
		}
		if q.phrase != "" && (f.Sort == app.SortID || f.Sort == app.SortIDDesc) {
			l, err := s.bySearch(ctx, q, c, f)
			if err != nil {
				return nil, 0, err
			}
			return l.list(ctx, s, f.Page)
		}
		matching, args := q.matching()
		c.add("t.id IN ("+matching+")", args...)
	}
	if f.UntilID != 0 {
		c.add("t.id <= ?", f.UntilID)
	}
	from := ` FROM transactions t WHERE ` + c.where.String()
	if err := s.queryRow(ctx, `SELECT count(*)`+from, c.args...).Scan(&total); err != nil {
		return nil, 0, storageError(err)
	}
	ids, err = s.scanIDs(ctx, `SELECT t.id`+from+` ORDER BY `+transactionOrder(f.Sort), c.args, f.Page)
	return ids, total, err
}

// kindsAndAmounts are the conditions of a filter that a row meets or not
// whatever else there is, but for its time and its text.
func kindsAndAmounts(accountID int64, f app.TransactionFilter) *conditions {
	var c conditions
	c.add("t.account_id = ?", accountID)
	c.join(kindsOf(f))
	if f.MinAmount != 0 {
		c.add("t.amount >= ?", f.MinAmount)
	}
	if f.MaxAmount != 0 {
		c.add("t.amount <= ?", f.MaxAmount)
	}
	return &c
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

// ownBankAccount refuses a reference to a bank account of another account.
func (s *Store) ownBankAccount(ctx context.Context, accountID, id int64) error {
	if id == 0 {
		return nil
	}
	return s.exists(ctx, `SELECT 1 FROM bank_accounts WHERE id = ? AND account_id = ?`, id, accountID, app.ErrUnknownReference("bank_account_id"))
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
