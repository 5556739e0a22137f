package sqlitestore

import (
	"context"
	"math"
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/fold"
)

// Transactions finds the ids of the page first, then their rows.
func (s *Store) Transactions(ctx context.Context, accountID int64, f app.TransactionFilter) (p app.TransactionPage, err error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return p, err
	}
	f = limited(ctx, f)
	l, err := s.transactionListing(ctx, accountID, f)
	if err != nil {
		return p, err
	}
	sums, err := s.sums(ctx, accountID, f, l)
	if err != nil {
		return p, err
	}
	if p.Total = sums.In.Count + sums.Out.Count; f.Sums {
		p.Sums = &sums
	}
	most := f.Page.CountTo
	if most == 0 || !needsRows(f) || p.Total <= most {
		most = p.Total
	} else {
		p.Total, p.Sums = app.Uncounted, nil
	}
	ids, err := s.page(ctx, l, p.Total, f.Page)
	ids = ids[:max(0, min(int64(len(ids)), most-f.Page.Offset()))]
	if err != nil || len(ids) == 0 {
		return p, err
	}
	p.Rows, err = s.readTransactions(ctx, `SELECT `+transactionColumns+` FROM json_each(?) page
		CROSS JOIN transactions t ON t.id = page.value JOIN bank_accounts b ON b.id = t.bank_account_id ORDER BY page.key`, jsonArray(ids))
	return p, err
}

// idsOf returns the first and the last id of a filter. It leaves out the conditions for which rows must be
// read, so the range may be too wide.
func (s *Store) idsOf(ctx context.Context, accountID int64, f app.TransactionFilter) (ids [2]int64, err error) {
	f.Code, f.Query, f.DeliveryState = "", "", ""
	c := rowConditions(accountID, f)
	err = s.queryRow(ctx, `SELECT coalesce(min(t.id), 0), coalesce(max(t.id), -1) FROM transactions t INDEXED BY transactions_time WHERE `+
		c.where.String(), c.args...).Scan(&ids[0], &ids[1])
	return ids, storageError(err)
}

// limited returns the filter within the limit of ctx. If ctx shows no bank account, the
// filter gets an id that none has.
func limited(ctx context.Context, f app.TransactionFilter) app.TransactionFilter {
	limit := access.LimitOf(ctx)
	f.ReceivingNumber = limit.ReceivingNumber
	switch {
	case !limit.On:
	case f.BankAccountID != 0 && slices.Contains(limit.IDs, f.BankAccountID):
	case f.BankAccountID == 0 && len(limit.IDs) == 1:
		f.BankAccountID = limit.IDs[0]
	case f.BankAccountID == 0 && len(limit.IDs) > 1:
		f.Among = limit.IDs
	default:
		f.BankAccountID = -1
	}
	return f
}

// transactionListing decides how a list is read: from the transactions that an index finds
// for one of its conditions, if these are few, or else from all in their order.
func (s *Store) transactionListing(ctx context.Context, accountID int64, f app.TransactionFilter) (l listing, err error) {
	l.id, l.order, l.opposite = "t.id", ` ORDER BY t.id DESC`, ` ORDER BY t.id`
	byDate := f.Sort == app.SortDate || f.Sort == app.SortDateDesc
	if byDate {
		l.order, l.opposite = ` ORDER BY t.occurred_at DESC, t.id DESC`, ` ORDER BY t.occurred_at, t.id`
	}
	if f.Sort == app.SortDate || f.Sort == app.SortID {
		l.order, l.opposite = l.opposite, l.order
	}
	for _, find := range finds(accountID, f) {
		ids, few, err := s.few(ctx, find)
		if err != nil {
			return l, err
		}
		if few {
			c, err := s.allConditions(ctx, accountID, find.rest)
			if err != nil {
				return l, err
			}
			return s.fewTransactions(ctx, ids, c, l.order, columnsOf(f).rows)
		}
	}
	c, err := s.allConditions(ctx, accountID, f)
	if err != nil {
		return l, err
	}
	from := `INDEXED BY transactions_list`
	switch {
	case byDate:
		from = `INDEXED BY transactions_time`
	case f.Query != "":
		from = `NOT INDEXED`
	}
	if !byDate && (!f.From.IsZero() || !f.To.IsZero()) { // rows of one period have ids near each other
		ids, err := s.idsOf(ctx, accountID, f)
		if err != nil {
			return l, err
		}
		c.add("t.id BETWEEN ? AND ?", ids[0], ids[1])
	}
	l.from, l.args = ` FROM transactions t `+from+` WHERE `+c.where.String(), c.args
	return l, nil
}

// fewTransactions returns the listing of the transactions among ids that meet conditions.
func (s *Store) fewTransactions(ctx context.Context, ids string, c *conditions, order, columns string) (l listing, err error) {
	var sums app.Flow
	err = s.queryRow(ctx, `SELECT `+columns+`, json_group_array(t.id) FROM (SELECT t.id, t.type, t.amount
		FROM json_each(?) k CROSS JOIN transactions t INDEXED BY transactions_list ON t.id = k.value WHERE `+c.where.String()+order+`) t`,
		append([]any{ids}, c.args...)...).Scan(&sums.In.Count, &sums.In.Total, &sums.Out.Count, &sums.Out.Total, &ids)
	return listing{id: "t.value", from: ` FROM json_each(?) t`, args: []any{ids}, order: ` ORDER BY t.key`, opposite: ` ORDER BY t.key DESC`,
		sums: &sums}, err
}

// needsRows reports whether a filter has conditions that the kept totals of days don't know.
func needsRows(f app.TransactionFilter) bool {
	return f.Code != "" || f.Query != "" || f.MinAmount != 0 || f.MaxAmount != 0 || f.DeliveryState != "" || f.Revenue != nil
}

// allConditions returns the conditions of a filter on a row t of transactions.
func (s *Store) allConditions(ctx context.Context, accountID int64, f app.TransactionFilter) (*conditions, error) {
	c := rowConditions(accountID, f)
	if f.Revenue == nil {
		return c, nil
	}
	condition, args, err := s.isRevenue(ctx, accountID, *f.Revenue)
	c.add(condition, args...)
	return c, err
}

// rowConditions returns the conditions of a filter on a transaction t, without that on revenue.
func rowConditions(accountID int64, f app.TransactionFilter) *conditions {
	var c conditions
	c.add("t.account_id = ?", accountID)
	if f.SinceID != nil {
		c.add("t.id > ?", *f.SinceID)
	}
	c.addIf(f.UntilID != 0, "t.id <= ?", f.UntilID)
	c.between("t.occurred_at", unixOrNull(f.From), unixOrNull(f.To))
	c.addIf(f.BankAccountID != 0, "t.bank_account_id = ?", f.BankAccountID)
	c.addIf(f.Among != nil, "t.bank_account_id IN (SELECT value FROM json_each(?))", jsonArray(f.Among))
	c.addIf(f.ReceivingNumber != "", "t.receiving_number = ? AND t.receiving_number <> ''", f.ReceivingNumber)
	c.addIf(f.Type != "", "t.type = ?", string(f.Type))
	c.addIf(f.MinAmount != 0, "t.amount >= ?", f.MinAmount)
	c.addIf(f.MaxAmount != 0, "t.amount <= ?", f.MaxAmount)
	c.addIf(f.Code != "", "t.code = ?", f.Code)
	if f.Query != "" {
		c.join(matchesText(f))
	}
	c.addIf(f.DeliveryState != "", inState(f.DeliveryState, "t.id"))
	return &c
}

// matchesText returns the condition that a transaction t matches the search text of a filter.
func matchesText(f app.TransactionFilter) *conditions {
	meant, args := "instr(t.search, ?) > 0", []any{fold.String(f.Query)}
	if f.Or.Amount != 0 {
		meant, args = meant+" OR t.amount = ?", append(args, f.Or.Amount)
	}
	if f.Or.Code != "" {
		meant, args = meant+" OR t.code = ?", append(args, f.Or.Code)
	}
	if len(f.Or.BankAccounts) > 0 {
		meant, args = meant+" OR t.bank_account_id IN (SELECT value FROM json_each(?))", append(args, bankAccountIDs(f.Or.BankAccounts))
	}
	var c conditions
	c.add("("+meant+")", args...)
	return &c
}

func bankAccountIDs(list []app.BankAccount) string {
	ids := make([]int64, len(list))
	for i, b := range list {
		ids[i] = b.ID
	}
	return jsonArray(ids)
}

const (
	byCode   = `SELECT id FROM transactions INDEXED BY transactions_code WHERE account_id = ? AND code = ? AND code <> ''`
	byAmount = `SELECT id FROM transactions INDEXED BY transactions_amount
		WHERE bank_account_id IN (SELECT id FROM bank_accounts WHERE account_id = ?) AND amount BETWEEN ? AND ?`
	byReceivingNumber = `SELECT id FROM transactions INDEXED BY transactions_receiving WHERE account_id = ? AND receiving_number = ?
		AND receiving_number <> ''`
	byBankAccounts = `SELECT id FROM transactions INDEXED BY transactions_amount WHERE bank_account_id IN (SELECT value FROM json_each(?))`
)

// finds returns a query for each condition of a filter that has an index of its own; the
// first is the one that usually finds the fewest.
func finds(accountID int64, f app.TransactionFilter) (list []found) {
	if f.Code != "" {
		rest := f
		rest.Code = ""
		list = append(list, found{byCode, []any{accountID, f.Code}, rest})
	}
	if text, ok := holding(f.Query); ok {
		if f.Or.Amount != 0 {
			text.or(byAmount, accountID, f.Or.Amount, f.Or.Amount)
		}
		if f.Or.Code != "" {
			text.or(byCode, accountID, f.Or.Code)
		}
		if len(f.Or.BankAccounts) > 0 {
			text.or(byBankAccounts, bankAccountIDs(f.Or.BankAccounts))
		}
		text.rest = f
		text.rest.Query = ""
		list = append(list, text)
	}
	if f.MinAmount != 0 || f.MaxAmount != 0 {
		most := f.MaxAmount
		if most == 0 {
			most = math.MaxInt64
		}
		rest := f
		rest.MinAmount, rest.MaxAmount = 0, 0
		list = append(list, found{byAmount, []any{accountID, f.MinAmount, most}, rest})
	}
	if f.ReceivingNumber != "" {
		rest := f
		rest.ReceivingNumber = ""
		list = append(list, found{byReceivingNumber, []any{accountID, f.ReceivingNumber}, rest})
	}
	if query := byState[f.DeliveryState]; query != "" {
		rest := f
		rest.DeliveryState = ""
		list = append(list, found{query, []any{accountID}, rest})
	}
	return list
}

// columns are SQL columns of the sums over rows t: the number and the amount of money in,
// then of money out. Without TransactionFilter.Sums the first is the number of all rows,
// which costs less. days is for daily totals, and less for rows to subtract.
type columns struct{ days, rows, less string }

func columnsOf(f app.TransactionFilter) columns {
	flows := func(count, amount string) string {
		sum := func(of, direction string) string {
			return `coalesce(sum(` + of + `) FILTER (WHERE t.type = '` + direction + `'), 0)`
		}
		return sum(count, "IN") + ` AS a, ` + sum(amount, "IN") + ` AS b, ` + sum(count, "OUT") + ` AS c, ` + sum(amount, "OUT") + ` AS d`
	}
	if f.Sums {
		return columns{flows("t.count", "t.amount"), flows("1", "t.amount"), flows("-1", "-t.amount")}
	}
	const others = ` AS a, 0 AS b, 0 AS c, 0 AS d`
	return columns{`coalesce(sum(t.count), 0)` + others, `count(*)` + others, `-count(*)` + others}
}

// sums returns the sums of all pages. If it reads rows one after another, it stops at one
// more than Page.CountTo.
func (s *Store) sums(ctx context.Context, accountID int64, f app.TransactionFilter, l listing) (app.Flow, error) {
	of := columnsOf(f)
	switch {
	case !needsRows(f):
		return s.keptSums(ctx, accountID, f)
	case l.sums != nil:
		return *l.sums, nil
	case f.Page.CountTo > 0:
		return s.scanSums(ctx, `SELECT `+of.rows+` FROM (SELECT t.type, t.amount`+l.from+l.order+` LIMIT ?) t`,
			append(slices.Clone(l.args), f.Page.CountTo+1)...)
	case f.DeliveryState == app.DeliveryDelivered:
		return s.deliveredSums(ctx, accountID, f)
	case f.DeliveryState == "" && f.Revenue == nil && !f.Sums && !f.Or.Any():
		accounts, err := readOne[int](ctx, s, `SELECT count(*) FROM accounts`)
		if err != nil {
			return app.Flow{}, err
		}
		for _, find := range finds(accountID, f) {
			if accounts == 1 && len(rowConditions(accountID, find.rest).args) == 1 { // which all rows meet
				return s.scanSums(ctx, `SELECT `+of.rows+` FROM (`+find.query+`)`, find.args...)
			}
		}
	}
	return s.scanSums(ctx, `SELECT `+of.rows+l.from, l.args...)
}

// deliveredSums are all sums less those of the other states, which few transactions are in.
// If states change meanwhile it may be a little wrong.
func (s *Store) deliveredSums(ctx context.Context, accountID int64, f app.TransactionFilter) (sums app.Flow, err error) {
	for _, f.DeliveryState = range []app.DeliveryState{"", app.DeliveryFailed, app.DeliveryPending, app.DeliveryUnsent} {
		l, err := s.transactionListing(ctx, accountID, f)
		if err != nil {
			return sums, err
		}
		some, err := s.sums(ctx, accountID, f, l)
		if err != nil {
			return sums, err
		}
		if f.DeliveryState == "" {
			sums = some
			continue
		}
		sums.In.Count, sums.In.Total = sums.In.Count-some.In.Count, sums.In.Total-some.In.Total
		sums.Out.Count, sums.Out.Total = sums.Out.Count-some.Out.Count, sums.Out.Total-some.Out.Total
	}
	return sums, nil
}

func (s *Store) scanSums(ctx context.Context, query string, args ...any) (sums app.Flow, err error) {
	err = s.queryRow(ctx, query, args...).Scan(&sums.In.Count, &sums.In.Total, &sums.Out.Count, &sums.Out.Total)
	return sums, err
}

// keptSums adds the kept totals of whole days, and the rows of days that are partly in the
// filter. Rows outside the bounds of ids are subtracted; if most are outside, the rows inside
// are added instead.
func (s *Store) keptSums(ctx context.Context, accountID int64, f app.TransactionFilter) (sums app.Flow, err error) {
	newest, err := readOne[int64](ctx, s, newestTransaction)
	if err != nil {
		return sums, err
	}
	zone, err := s.Zone(ctx)
	if err != nil {
		return sums, err
	}
	of := columnsOf(f)
	var parts []string
	var args []any
	add := func(columns, from string, c *conditions) {
		parts = append(parts, `SELECT `+columns+` FROM `+from+` WHERE `+c.where.String())
		args = append(args, c.args...)
	}
	const byID, byTime = `transactions t INDEXED BY transactions_list`, `transactions t INDEXED BY transactions_time`
	if f.SinceID != nil && (*f.SinceID > newest/2 || f.UntilID != 0) {
		add(of.rows, byID, rowConditions(accountID, f))
	} else {
		some := f
		some.SinceID, some.UntilID = nil, 0
		whole, cut := wholeDays(f.From, f.To, zone)
		table, days := daysOf(accountID, f)
		days.add("day >= ? AND day < ?", int64(whole.first), int64(whole.end))
		add(of.days, table+` t`, days)
		for _, at := range cut {
			some.From, some.To = at.from, at.to
			add(of.rows, byTime, rowConditions(accountID, some))
		}
		some.From, some.To = f.From, f.To
		if f.UntilID != 0 && f.UntilID < newest {
			some.SinceID = &f.UntilID
			add(of.less, byID, rowConditions(accountID, some))
		}
		if f.SinceID != nil && *f.SinceID > 0 {
			some.UntilID = *f.SinceID
			add(of.less, byID, rowConditions(accountID, some))
		}
	}
	return s.scanSums(ctx, `SELECT sum(a), sum(b), sum(c), sum(d) FROM (`+strings.Join(parts, ` UNION ALL `)+`)`, args...)
}
