package sqlitestore

import (
	"context"
	"slices"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/fold"
)

// bookOf is the number of the closing whose book has a transaction t; NULL: no closed book
// has it.
const bookOf = `(SELECT min(c.number) FROM book_closings c WHERE c.account_id = t.account_id AND c.ends_at > t.occurred_at
	AND c.last_id >= t.id)`

// revenueOf is the book.Kind of a transaction t. It is empty for money out, and as long as
// the account has no mark and no rule.
var revenueOf = revenueBy(`(SELECT r.kind FROM book_rules r WHERE r.account_id = t.account_id
		AND (r.bank_account_id = t.bank_account_id OR r.search <> '' AND instr(t.search, r.search) > 0)
		AND ` + bookNumber + ` > r.since AND ` + bookNumber + ` <= coalesce(r.until, ` + maxID + `)
		ORDER BY r.id LIMIT 1)`)

// bookNumber is bookOf, and above the numbers of all closings if no closed book has t.
var bookNumber = `coalesce(` + bookOf + `, ` + maxID + `)`

// revenueBy is revenueOf with an expression for the kind of the first rule that holds for t; NULL: none holds.
func revenueBy(rules string) string {
	return `iif(t.type = 'IN' AND (SELECT marks_revenue FROM accounts WHERE id = t.account_id), coalesce(
	(SELECT kind FROM transaction_marks WHERE transaction_id = t.id), ` + rules + `, 'revenue'), '')`
}

// isRevenue is the condition that money in of an account is revenue, or that it isn't. It contains
// the rules themselves: revenueOf looks them up for each row, which takes several times as long.
func (s *Store) isRevenue(ctx context.Context, accountID int64, revenue bool) (condition string, args []any, err error) {
	rules := `NULL`
	rows, err := s.query(ctx, `SELECT coalesce(bank_account_id, 0), search, kind, since, coalesce(until, 0) FROM book_rules
		WHERE account_id = ? AND (until IS NULL OR until > since) ORDER BY id`, accountID)
	err = each(rows, err, func(row scanner) (bool, error) {
		var bank, since, until int64
		var search, kind string
		if err := row.Scan(&bank, &search, &kind, &since, &until); err != nil {
			return false, err
		}
		var c conditions
		c.addIf(bank != 0, "t.bank_account_id = ?", bank)
		c.addIf(bank == 0, "instr(t.search, ?) > 0", search)
		c.addIf(since > 0, bookNumber+" > ?", since)
		c.addIf(until > 0, bookNumber+" <= ?", until)
		if len(args) == 0 {
			rules = `CASE`
		}
		rules += ` WHEN ` + c.where.String() + ` THEN ?`
		args = append(append(args, c.args...), kind)
		return false, nil
	})
	if len(args) > 0 {
		rules += ` END`
	}
	if !revenue {
		return revenueBy(rules) + ` NOT IN ('', 'revenue')`, args, err
	}
	return `t.type = 'IN' AND ` + revenueBy(rules) + ` IN ('', 'revenue')`, args, err
}

func (s *Store) SetMark(ctx context.Context, accountID, transactionID int64, m book.Mark) error {
	return s.write(ctx, func(tx *tx) error {
		var direction app.Direction
		var closed bool
		var before book.Mark
		err := tx.queryRow(`SELECT t.type, `+bookOf+` IS NOT NULL, coalesce(m.kind, ''), coalesce(m.note, '') FROM transactions t
			LEFT JOIN transaction_marks m ON m.transaction_id = t.id WHERE t.id = ?1 AND t.account_id = ?2 AND `+
			isShown("t", "?3"), transactionID, accountID, limitOf(ctx)).Scan(&direction, &closed, &before.Kind, &before.Note)
		switch {
		case err != nil:
			return noRowsAs(err, app.ErrNoTransaction)
		case direction != app.In:
			return book.ErrNotMoneyIn
		case m == before:
			return nil
		case closed:
			return book.ErrClosed
		}
		if m == (book.Mark{}) {
			tx.exec(`DELETE FROM transaction_marks WHERE transaction_id = ?`, transactionID)
		} else {
			tx.exec(`UPDATE accounts SET marks_revenue = 1 WHERE id = ?`, accountID)
			tx.exec(`INSERT OR REPLACE INTO transaction_marks (transaction_id, account_id, kind, note) VALUES (?, ?, ?, ?)`,
				transactionID, accountID, string(m.Kind), m.Note)
		}
		return tx.audit(ctx, accountID, book.DeedMark, transactionID, app.AuditDetail{}.
			Changed("revenue_kind", before.Kind, m.Kind).Changed("revenue_note", before.Note, m.Note))
	})
}

const rulesInForce = `SELECT id, coalesce(bank_account_id, 0), text, kind FROM book_rules WHERE account_id = ? AND until IS NULL
	ORDER BY id`

func scanRule(row scanner) (r book.Rule, err error) {
	return r, row.Scan(&r.ID, &r.BankAccountID, &r.Text, &r.Kind)
}

func (s *Store) Rules(ctx context.Context, accountID int64) ([]book.Rule, error) {
	return readAll(ctx, s, scanRule, rulesInForce, accountID)
}

// closings counts the closings of an account.
const closings = `(SELECT count(*) FROM book_closings WHERE account_id = ?1)`

func (s *Store) AddRule(ctx context.Context, accountID int64, r book.Rule, check func([]book.Rule) error) error {
	return s.write(ctx, func(tx *tx) error {
		present := findAll(tx, scanRule, rulesInForce, accountID)
		search := fold.String(r.Text)
		if slices.ContainsFunc(present, func(p book.Rule) bool {
			return p.BankAccountID == r.BankAccountID && fold.String(p.Text) == search
		}) {
			return nil
		}
		tx.fail(check(present))
		name := ruleName(tx, accountID, r)
		id := findValue[int64](tx, `SELECT coalesce(max(id), 0) + 1 FROM book_rules WHERE account_id = ?`, accountID)
		tx.exec(`INSERT INTO book_rules (account_id, id, bank_account_id, text, search, kind, since)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, `+closings+`)`, accountID, id, nullIfZero(r.BankAccountID), r.Text, search, string(r.Kind))
		tx.exec(`UPDATE accounts SET marks_revenue = 1 WHERE id = ?`, accountID)
		return tx.audit(ctx, accountID, book.DeedRuleAdd, id, app.AuditNamed(name).Changed("revenue_kind", "", r.Kind))
	})
}

// ruleName is what a rule is about: its text, or the number of its bank account.
func ruleName(tx *tx, accountID int64, r book.Rule) string {
	if r.BankAccountID == 0 {
		return r.Text
	}
	return find(tx, app.ErrUnknownReference("bank_account_id"), scanOne[string],
		`SELECT account_number FROM bank_accounts WHERE id = ? AND account_id = ?`, r.BankAccountID, accountID)
}

func (s *Store) RemoveRule(ctx context.Context, accountID, id int64) error {
	return s.write(ctx, func(tx *tx) error {
		r := find(tx, book.ErrNoRule, scanRule, `SELECT id, coalesce(bank_account_id, 0), text, kind FROM book_rules
			WHERE id = ? AND account_id = ? AND until IS NULL`, id, accountID)
		name := ruleName(tx, accountID, r)
		tx.exec(`UPDATE book_rules SET until = `+closings+` WHERE account_id = ?1 AND id = ?2`, accountID, id)
		return tx.audit(ctx, accountID, book.DeedRuleRemove, id, app.AuditNamed(name))
	})
}

// PossibleTransfers begins with money out, since there are fewer such transactions.
func (s *Store) PossibleTransfers(ctx context.Context, accountID int64, search book.TransferSearch) ([]book.PossibleTransfer, error) {
	ids, err := readAll(ctx, s, func(row scanner) (pair [2]int64, err error) { return pair, row.Scan(&pair[0], &pair[1]) },
		`SELECT t.id, min(o.id) FROM transactions o INDEXED BY transactions_time
			CROSS JOIN bank_accounts a ON a.account_id = o.account_id AND a.unlinked_at IS NULL AND a.id <> o.bank_account_id
			CROSS JOIN transactions t INDEXED BY transactions_amount ON t.bank_account_id = a.id AND t.amount = o.amount
				AND t.type = 'IN' AND abs(t.occurred_at - o.occurred_at) <= ?4
		WHERE o.account_id = ?1 AND o.occurred_at >= ?2 AND o.occurred_at < ?3 AND o.type = 'OUT'
			AND o.bank_account_id IN (SELECT id FROM bank_accounts WHERE account_id = ?1 AND unlinked_at IS NULL)
			AND `+isShown("o", "?6")+` AND `+bankShown("a.id", "?6")+`
			AND NOT EXISTS (SELECT 1 FROM transaction_marks WHERE transaction_id = t.id) AND `+revenueOf+` IN ('', 'revenue')
			AND `+bookOf+` IS NULL
		GROUP BY t.id LIMIT ?5`, accountID, search.From.Unix(), search.To.Unix(), int64(search.Within.Seconds()), search.Limit, limitOf(ctx))
	list := make([]book.PossibleTransfer, len(ids))
	for i, pair := range ids {
		if err == nil {
			list[i].In, err = s.Transaction(ctx, accountID, pair[0])
		}
		if err == nil {
			list[i].Out, err = s.Transaction(ctx, accountID, pair[1])
		}
	}
	return list, err
}
