package sqlitestore

import (
	"context"

	"baoco/app"
)

// Up to how many transactions are added up one by one; and how many newer than
// a filter's UntilID are taken off what is kept.
const (
	sumRows  = 2000
	sumNewer = 20_000
)

// sums gives the sums of a listing where they cost little; else nil.
func (s *Store) sums(ctx context.Context, accountID int64, f app.TransactionFilter, found listing) (*app.TransactionSums, error) {
	if sums, err := s.sumDays(ctx, accountID, f); sums != nil || err != nil {
		return sums, err
	}
	if found.total > sumRows || found.searchedTo != 0 {
		return nil, nil
	}
	ids := found.all
	if ids == nil {
		var err error
		if ids, err = found.leap.page(ctx, s, app.Page{Number: 1, Size: int(found.total)}); err != nil {
			return nil, err
		}
	}
	return s.sum(ctx, `SELECT t.type, count(*), coalesce(sum(t.amount), 0) FROM json_each(?) k CROSS JOIN transactions t ON t.id = k.value GROUP BY 1`, joinIDs(ids))
}

// sumDays adds up the kept totals of days where a filter is made of them, and
// takes off what is newer than it.
func (s *Store) sumDays(ctx context.Context, accountID int64, f app.TransactionFilter) (*app.TransactionSums, error) {
	if scanned(f) || f.SinceID != nil {
		return nil, nil
	}
	zone, err := s.Zone(ctx)
	if err != nil {
		return nil, err
	}
	var days conditions
	table := "account_days"
	if f.BankAccountID != 0 {
		table = "bank_account_days"
		days.add("bank_account_id = ?", f.BankAccountID)
	} else {
		days.add("account_id = ?", accountID)
	}
	if f.Type != "" {
		days.add("type = ?", string(f.Type))
	}
	if !f.From.IsZero() {
		from := app.DayOf(f.From, zone)
		if !from.Start(zone).Equal(f.From) {
			return nil, nil
		}
		days.add("day >= ?", int64(from))
	}
	if !f.To.IsZero() {
		to := app.DayOf(f.To, zone)
		if !to.Start(zone).Equal(f.To) {
			return nil, nil
		}
		days.add("day < ?", int64(to))
	}
	kept := `SELECT type, count, amount FROM ` + table + ` WHERE ` + days.where.String()
	if f.UntilID != 0 {
		var newest int64
		if err := s.queryRow(ctx, `SELECT coalesce(max(id), 0) FROM transactions`).Scan(&newest); err != nil {
			return nil, storageError(err)
		}
		if newest-f.UntilID > sumNewer {
			return nil, nil
		}
		newer := rowConditions(accountID, f)
		newer.add("t.id > ?", f.UntilID)
		kept += ` UNION ALL SELECT t.type, -1, -t.amount FROM transactions t NOT INDEXED WHERE ` + newer.where.String()
		days.args = append(days.args, newer.args...)
	}
	return s.sum(ctx, `SELECT type, sum(count), sum(amount) FROM (`+kept+`) GROUP BY 1`, days.args...)
}

// sum reads a count and a sum for each direction.
func (s *Store) sum(ctx context.Context, query string, args ...any) (*app.TransactionSums, error) {
	type row struct {
		direction app.Direction
		app.Amounts
	}
	rows, err := s.query(ctx, query, args...)
	list, err := collect(rows, err, func(r scanner) (v row, err error) { return v, r.Scan(&v.direction, &v.Count, &v.Total) })
	if err != nil {
		return nil, err
	}
	sums := &app.TransactionSums{}
	for _, r := range list {
		if r.direction == app.In {
			sums.In = r.Amounts
		} else {
			sums.Out = r.Amounts
		}
	}
	return sums, nil
}
