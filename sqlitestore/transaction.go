package sqlitestore

import (
	"context"
	"database/sql"
	"math"
	"strings"

	"baoco/app"
)

const transactionColumns = `t.id, t.account_id, t.bank_account_id, b.bank, b.account_number, t.number, t.type, t.amount, t.content,
	t.occurred_at, t.date_only, t.date_flaw, t.zone_offset, t.created_at`

func scanTransaction(row scanner) (app.Transaction, error) {
	var t app.Transaction
	var occurred, created sql.NullInt64
	err := row.Scan(&t.ID, &t.AccountID, &t.BankAccountID, &t.Bank, &t.AccountNumber, &t.Number, &t.Type, &t.Amount, &t.Content,
		&occurred, &t.DateOnly, &t.DateFlaw, &t.ZoneOffset, &created)
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
func (s *Store) Transactions(ctx context.Context, accountID int64, f app.TransactionFilter) (p app.TransactionPage, err error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return p, err
	}
	list := s.listCounted
	if scanned(f) {
		list = s.listScanned
	}
	found, err := list(ctx, accountID, f)
	if err != nil {
		return p, err
	}
	p.Total, p.SearchedTo = found.total, found.searchedTo
	if p.SearchedTo != 0 {
		var recorded sql.NullInt64
		err := s.queryRow(ctx, `SELECT created_at FROM transactions WHERE id >= ? ORDER BY id LIMIT 1`, p.SearchedTo).Scan(&recorded)
		if err != nil {
			return p, storageError(err)
		}
		p.SearchedBack = fromSeconds(recorded)
	}
	if f.Sums {
		if p.Sums, err = s.sums(ctx, accountID, f, found); err != nil {
			return p, err
		}
	}
	if len(found.ids) == 0 {
		return p, nil
	}
	rows, err := s.query(ctx, `SELECT `+transactionColumns+` FROM json_each(?) page CROSS JOIN transactions t ON t.id = page.value
			JOIN bank_accounts b ON b.id = t.bank_account_id ORDER BY page.key`, joinIDs(found.ids))
	p.Rows, err = collect(rows, err, scanTransaction)
	return p, err
}

// listing is a page of a listing as ids, and what leads to the others.
type listing struct {
	ids        []int64
	all        []int64 // of all pages, where they were read
	total      int64
	searchedTo int64 // as in [app.TransactionPage]
	leap       *leap
}

// listCounted serves the filters that blocks and days are counted by.
func (s *Store) listCounted(ctx context.Context, accountID int64, f app.TransactionFilter) (found listing, err error) {
	counted := !f.From.IsZero() || !f.To.IsZero() || f.SinceID != nil // else the total is kept
	if f.Sort == app.SortDate || f.Sort == app.SortDateDesc {
		zone, err := s.Zone(ctx)
		if err != nil {
			return found, err
		}
		found.leap, err = s.byDays(ctx, accountID, f, zone)
		if err != nil {
			return found, err
		}
	} else {
		if found.leap, err = s.byBlocks(ctx, transactionTable, blocksOf(accountID, f), counted, f.Page.Offset()+int64(f.Page.Size)); err != nil {
			return found, err
		}
	}
	if counted {
		found.ids, found.total, err = found.leap.list(ctx, s, f.Page)
		return found, err
	}
	if found.total, err = s.keptTransactions(ctx, accountID, f); err != nil {
		return found, err
	}
	if f.UntilID != 0 {
		newer := f
		newer.UntilID, newer.SinceID = 0, &f.UntilID
		after, err := s.byBlocks(ctx, transactionTable, blocksOf(accountID, newer), true, 0)
		if err != nil {
			return found, err
		}
		n, err := after.total(ctx, s)
		if err != nil {
			return found, err
		}
		found.total -= n
	}
	found.ids, err = found.leap.page(ctx, s, f.Page)
	return found, err
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
		b.since = min(*f.SinceID, math.MaxInt64-1) // there is an id after it
	}
	b.until = f.UntilID
	return b
}

// kindsOf gives the conditions on what blocks are counted by.
func kindsOf(f app.TransactionFilter) *conditions {
	var c conditions
	if f.BankAccountID != 0 {
		c.add("t.bank_account_id = ?", f.BankAccountID)
	}
	if f.Type != "" {
		c.add("t.type = ?", string(f.Type))
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
