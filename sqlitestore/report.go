package sqlitestore

import (
	"context"
	"math"

	"baoco/app"
	"baoco/app/book"
)

// ReportParts reads the transactions once, in the order of their time. What is grouped by is a column;
// what isn't, is the same in all rows.
func (s *Store) ReportParts(ctx context.Context, accountID int64, q book.ReportQuery, take func(book.ReportPart)) error {
	if err := s.ownBankAccount(ctx, accountID, q.BankAccountID); err != nil {
		return err
	}
	untimed, bank, prefix, revenue, step := `0`, `0`, `''`, `0`, int64(math.MaxInt64)
	switch q.By {
	case book.ByDay, book.ByWeek, book.ByMonth:
		step = 900
	case book.ByHour:
		untimed, step = `t.date_only`, 900
	case book.ByAccount:
		bank = `t.bank_account_id`
	case book.ByPrefix:
		prefix = `iif(t.code = '', '', coalesce((SELECT prefix FROM code_patterns p WHERE p.account_id = t.account_id
			AND substr(t.code, 1, length(p.prefix)) = p.prefix ORDER BY length(p.prefix) DESC LIMIT 1), ''))`
	}
	if q.Revenue {
		revenue = `(` + isRevenue(true) + `)`
	}
	c := rowConditions(accountID, limited(ctx, app.TransactionFilter{From: q.From, To: q.To, BankAccountID: q.BankAccountID}))
	rows, err := s.query(ctx, `SELECT `+prefix+`, (t.occurred_at - ?2) / ?3, `+untimed+`, `+bank+`, t.type,
		iif(t.type = 'IN', `+revenue+`, EXISTS (SELECT 1 FROM refunds f JOIN transactions i ON i.id = f.of_id
			WHERE f.transaction_id = t.id AND `+isShown("i", "?1")+`)),
		count(*), sum(t.amount)
		FROM transactions t INDEXED BY transactions_time WHERE `+c.where.String()+` GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1`,
		append([]any{limitOf(ctx), q.From.Unix(), step}, c.args...)...)
	return each(rows, err, func(row scanner) (bool, error) {
		var p book.ReportPart
		err := row.Scan(&p.Prefix, &p.Quarter, &p.Untimed, &p.BankAccountID, &p.Type, &p.Marked, &p.Count, &p.Total)
		if err == nil {
			take(p)
		}
		return false, err
	})
}
