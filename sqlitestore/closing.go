package sqlitestore

import (
	"context"
	"encoding/json"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/book"
)

const closingColumns = `number, through, zone, ends_at, last_id, heading, closed_at, closed_by FROM book_closings WHERE account_id = ?
	ORDER BY number`

func scanClosing(row scanner) (c book.Closing, err error) {
	var zone, heading string
	if err = row.Scan(&c.Number, &c.Through, &zone, secondsInto(&c.EndsAt), &c.LastID, &heading, secondsInto(&c.ClosedAt),
		&c.ClosedBy); err != nil {
		return c, err
	}
	if c.Heading, err = readHeading(heading); err == nil {
		c.Zone, err = time.LoadLocation(zone)
	}
	return c, err
}

func readHeading(text string) (h book.Heading, err error) {
	if text == "" {
		return h, nil
	}
	return h, json.Unmarshal([]byte(text), &h)
}

func (s *Store) Closings(ctx context.Context, accountID int64) ([]book.Closing, error) {
	return readAll(ctx, s, scanClosing, `SELECT `+closingColumns, accountID)
}

// txClosings returns the closings of an account, and the last of them; zero: none.
func txClosings(tx *tx, accountID int64) (list []book.Closing, last book.Closing) {
	if list = findAll(tx, scanClosing, `SELECT `+closingColumns, accountID); len(list) > 0 {
		last = list[len(list)-1]
	}
	return list, last
}

func (s *Store) CloseBooks(ctx context.Context, accountID int64, c book.Closing, check func([]book.Closing) error) (book.Closing, error) {
	return writing(ctx, s, func(tx *tx) (book.Closing, error) {
		present, last := txClosings(tx, accountID)
		tx.fail(check(present))
		heading := findValue[string](tx, oneHeading, accountID)
		var err error
		if c.Heading, err = readHeading(heading); err != nil {
			return c, err
		}
		c.LastID = findValue[int64](tx, newestTransaction)
		c.Number, c.ClosedAt = last.Number+1, time.Unix(c.ClosedAt.Unix(), 0)
		tx.exec(insertInto("book_closings", "account_id, number, through, zone, ends_at, last_id, heading, closed_at, closed_by"),
			accountID, c.Number, int64(c.Through), c.Zone.String(), c.EndsAt.Unix(), c.LastID, heading, c.ClosedAt.Unix(), c.ClosedBy)
		return c, tx.audit(ctx, accountID, book.DeedClose, c.Number, app.AuditNamed(c.Through.String()))
	})
}

// OpenBooks applies the present rules to the book again, as if it had never been closed.
func (s *Store) OpenBooks(ctx context.Context, accountID int64, through app.Day) (book.Closing, error) {
	return writing(ctx, s, func(tx *tx) (book.Closing, error) {
		_, last := txClosings(tx, accountID)
		tx.refuse(last.Number == 0, book.ErrNoneClosed)
		tx.refuse(last.Through != through, book.ErrOtherClosing)
		tx.exec(`DELETE FROM book_closings WHERE account_id = ? AND number = ?`, accountID, last.Number)
		tx.exec(`UPDATE book_rules SET since = min(since, ?2), until = min(until, ?2) WHERE account_id = ?1`, accountID, last.Number-1)
		return last, tx.audit(ctx, accountID, book.DeedOpen, last.Number, app.AuditNamed(last.Through.String()))
	})
}

const oneHeading = `SELECT book_heading FROM accounts WHERE id = ?`

func (s *Store) Heading(ctx context.Context, accountID int64) (book.Heading, error) {
	text, err := readOne[string](ctx, s, oneHeading, accountID)
	if err != nil {
		return book.Heading{}, err
	}
	return readHeading(text)
}

func (s *Store) SetHeading(ctx context.Context, accountID int64, h book.Heading) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *tx) error {
		before, err := readHeading(findValue[string](tx, oneHeading, accountID))
		if err != nil {
			return err
		}
		tx.exec(`UPDATE accounts SET book_heading = ? WHERE id = ?`, string(text), accountID)
		return tx.auditChange(ctx, accountID, book.DeedHeading, accountID, app.AuditDetail{}.Changed("name", before.Name, h.Name).
			Changed("address", before.Address, h.Address).Changed("place", before.Place, h.Place).
			Changed("tax_code", before.TaxCode, h.TaxCode))
	})
}

// Cash is of the whole shop: a user who is limited to bank accounts neither sees nor changes it.
func (s *Store) Cash(ctx context.Context, accountID int64, first, last app.Day) ([]book.Cash, error) {
	if access.LimitOf(ctx).On {
		return nil, nil
	}
	return readAll(ctx, s, scanCash,
		`SELECT day, amount, note FROM book_cash WHERE account_id = ? AND day BETWEEN ? AND ? ORDER BY day`, accountID, int64(first), int64(last))
}

func scanCash(row scanner) (c book.Cash, err error) { return c, row.Scan(&c.Day, &c.Amount, &c.Note) }

func refuseClosed(tx *tx, accountID int64, day app.Day) {
	_, last := txClosings(tx, accountID)
	tx.refuse(last.Number > 0 && day <= last.Through, book.ErrClosed)
}

func (s *Store) SetCash(ctx context.Context, accountID int64, c book.Cash) error {
	if access.LimitOf(ctx).On {
		return book.ErrCashOfShop
	}
	return s.write(ctx, func(tx *tx) error {
		refuseClosed(tx, accountID, c.Day)
		before := find(tx, nil, scanCash, `SELECT day, amount, note FROM book_cash WHERE account_id = ? AND day = ?`, accountID, int64(c.Day))
		if c.Amount == 0 {
			tx.exec(`DELETE FROM book_cash WHERE account_id = ? AND day = ?`, accountID, int64(c.Day))
		} else {
			tx.exec(`INSERT OR REPLACE INTO book_cash (account_id, day, amount, note) VALUES (?, ?, ?, ?)`, accountID, int64(c.Day),
				c.Amount, c.Note)
		}
		return tx.audit(ctx, accountID, book.DeedCash, int64(c.Day), app.AuditNamed(c.Day.String()).
			Changed("amount", before.Amount, c.Amount).Changed("note", before.Note, c.Note))
	})
}

var bookAccounts = `SELECT ` + bankAccountColumns + `, o.day IS NOT NULL, coalesce(o.day, 0), coalesce(o.amount, 0) FROM bank_accounts b
	LEFT JOIN book_openings o ON o.bank_account_id = b.id WHERE b.account_id = ?1 AND ` + bankShown("b.id", "?2")

func scanBookAccount(row scanner) (b book.BankAccount, err error) {
	b.BankAccount, err = scanBankAccount(row, &b.HasOpening, &b.OpenedOn, &b.Opening)
	return b, err
}

// BookAccounts leaves out the opening balance if ctx is limited to a receiving number, since
// it is of the whole bank account.
func (s *Store) BookAccounts(ctx context.Context, accountID int64) ([]book.BankAccount, error) {
	list, err := readAll(ctx, s, scanBookAccount, bookAccounts+` ORDER BY b.id`, accountID, limitOf(ctx))
	for i := range list {
		leaveNumber(ctx, &list[i].BankAccount)
		if access.LimitOf(ctx).ReceivingNumber != "" {
			list[i].HasOpening, list[i].OpenedOn, list[i].Opening = false, 0, 0
		}
	}
	return list, err
}

func (s *Store) SetOpening(ctx context.Context, accountID int64, b book.BankAccount) error {
	return s.write(ctx, func(tx *tx) error {
		before := find(tx, app.ErrUnknownReference("bank_account_id"), scanBookAccount, bookAccounts+` AND b.id = ?3`, accountID,
			limitOf(ctx), b.ID)
		var days [2]string
		for i, one := range []book.BankAccount{before, b} {
			if one.HasOpening {
				refuseClosed(tx, accountID, one.OpenedOn)
				days[i] = one.OpenedOn.String()
			}
		}
		if b.HasOpening {
			tx.exec(`INSERT OR REPLACE INTO book_openings (bank_account_id, day, amount) VALUES (?, ?, ?)`, b.ID, int64(b.OpenedOn), b.Opening)
		} else {
			tx.exec(`DELETE FROM book_openings WHERE bank_account_id = ?`, b.ID)
		}
		return tx.audit(ctx, accountID, book.DeedOpening, b.ID, app.AuditNamed(before.Title()).Changed("day", days[0], days[1]).
			Changed("amount", before.Opening, b.Opening))
	})
}

// entriesOf returns the query of entries t, and the order of them: late ones by id, the rest
// by time. An index serves either order.
func (s *Store) entriesOf(
	ctx context.Context, columns string, accountID int64, q book.EntryQuery,
) (query string, args []any, order string, err error) {
	var c conditions
	c.add("t.account_id = ? AND t.id <= ? AND t.occurred_at >= ? AND t.occurred_at < ?", accountID, q.UntilID, q.From.Unix(), q.To.Unix())
	index := "transactions_list"
	if order = ` ORDER BY t.id`; q.Late {
		c.add("t.id > ?", q.AfterID)
	} else {
		index, order = "transactions_time", ` ORDER BY t.occurred_at, t.id`
		c.add("(t.occurred_at > ? OR t.id > ?)", q.From.Unix(), q.AfterID)
	}
	c.addIf(q.BankAccountID != 0, "t.bank_account_id = ?", q.BankAccountID)
	c.within(ctx, "t")
	if q.Revenue {
		condition, rules, err := s.isRevenue(ctx, accountID, true)
		if err != nil {
			return "", nil, "", err
		}
		c.add(condition, rules...)
	}
	return `SELECT ` + columns + ` FROM transactions t INDEXED BY ` + index + ` WHERE ` + c.where.String(), c.args, order, nil
}

func scanEntry(row scanner) (e book.Entry, err error) {
	return e, row.Scan(&e.ID, &e.BankAccountID, &e.Number, &e.Type, &e.Amount, &e.Content, secondsInto(&e.Time), &e.DateOnly, &e.Balance)
}

func (s *Store) Entries(ctx context.Context, accountID int64, q book.EntryQuery) ([]book.Entry, error) {
	query, args, order, err := s.entriesOf(ctx, `t.id, t.bank_account_id, t.number, t.type, t.amount, t.content, t.occurred_at, t.date_only,
		coalesce(t.balance, 0)`, accountID, q)
	if err != nil {
		return nil, err
	}
	list, err := readAll(ctx, s, scanEntry, query+order+` LIMIT ?`, append(args, q.Limit)...)
	if access.LimitOf(ctx).ReceivingNumber != "" { // a balance is of all money of the bank account
		for i := range list {
			list[i].Balance = 0
		}
	}
	return list, err
}

func (s *Store) EntrySums(ctx context.Context, accountID int64, q book.EntryQuery) (app.Flow, error) {
	query, args, _, err := s.entriesOf(ctx, columnsOf(app.TransactionFilter{Sums: true}).rows, accountID, q)
	if err != nil {
		return app.Flow{}, err
	}
	return s.scanSums(ctx, query, args...)
}
