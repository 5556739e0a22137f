package sqlitestore

import (
	"context"
	"math"
	"slices"

	"baoco/app"
	"baoco/app/book"
)

// ReportParts reads the transactions once, in the order of their time. A column by which the report
// isn't grouped has the same value in all rows.
func (s *Store) ReportParts(ctx context.Context, accountID int64, q book.ReportQuery, take func(book.ReportPart)) error {
	if err := s.ownBankAccount(ctx, accountID, q.BankAccountID); err != nil {
		return err
	}
	untimed, bank, prefix, revenue, step, groups := `0`, `0`, `''`, `0`, int64(math.MaxInt64), `t.type, 6`
	switch q.By {
	case book.ByDay, book.ByWeek, book.ByMonth:
		step, groups = 900, groups+`, 2`
	case book.ByHour:
		untimed, step, groups = `t.date_only`, 900, groups+`, 2, 3`
	case book.ByAccount:
		bank, groups = `t.bank_account_id`, groups+`, 4`
	case book.ByPrefix:
		groups += `, 1`
		prefix = `iif(t.code = '', '', coalesce((SELECT prefix FROM code_patterns p WHERE p.account_id = t.account_id
			AND substr(t.code, 1, length(p.prefix)) = p.prefix ORDER BY length(p.prefix) DESC LIMIT 1), ''))`
	}
	var rules []any
	if q.Revenue {
		condition, args, err := s.isRevenue(ctx, accountID, true)
		if err != nil {
			return err
		}
		revenue, rules = `(`+condition+`)`, args
	}
	c := rowConditions(accountID, limited(ctx, app.TransactionFilter{From: q.From, To: q.To, BankAccountID: q.BankAccountID}))
	rows, err := s.query(ctx, `SELECT `+prefix+`, (t.occurred_at - ?2) / ?3, `+untimed+`, `+bank+`, t.type,
		iif(t.type = 'IN', `+revenue+`, EXISTS (SELECT 1 FROM refunds f JOIN transactions i ON i.id = f.of_id
			WHERE f.transaction_id = t.id AND `+isShown("i", "?1")+`)),
		count(*), sum(t.amount)
		FROM transactions t INDEXED BY transactions_time WHERE `+c.where.String()+` GROUP BY `+groups+` ORDER BY 1`,
		slices.Concat([]any{limitOf(ctx), q.From.Unix(), step}, rules, c.args)...)
	return each(rows, err, func(row scanner) (bool, error) {
		var p book.ReportPart
		err := row.Scan(&p.Prefix, &p.Quarter, &p.Untimed, &p.BankAccountID, &p.Type, &p.Marked, &p.Count, &p.Total)
		if err == nil {
			take(p)
		}
		return false, err
	})
}
