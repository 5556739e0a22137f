package sqlitestore

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/access"
)

// Transactions finds the ids of the page first, then their rows.
func (s *Store) Transactions(ctx context.Context, accountID int64, f app.TransactionFilter) (p app.TransactionPage, err error) {
	if err := s.ownBankAccount(ctx, accountID, f.BankAccountID); err != nil {
		return p, err
	}
	f = limited(ctx, f)
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
		if p.SearchedBack, err = s.searchedBack(ctx, accountID, p.SearchedTo); err != nil {
			return p, err
		}
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
	if p.Rows, err = collect(rows, err, scanTransaction); err != nil {
		return p, err
	}
	p.Rows, err = s.withinLimit(ctx, p.Rows)
	return p, err
}

// limited is a filter within what ctx shows. No bank account has the id 0 or a
// negative one: where ctx shows none, the filter finds none.
func limited(ctx context.Context, f app.TransactionFilter) app.TransactionFilter {
	limit := access.LimitOf(ctx)
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

// searchedBack is when the first transaction from id on was recorded that a listing
// of all transactions shows; zero where there is none.
func (s *Store) searchedBack(ctx context.Context, accountID, id int64) (at time.Time, err error) {
	since := id - 1
	first, err := s.planByBlocks(ctx, transactionTable, blocksOf(accountID, limited(ctx, app.TransactionFilter{SinceID: &since, Sort: app.SortID})), false, 1)
	if err != nil {
		return at, err
	}
	ids, err := first.page(ctx, s, app.Page{Number: 1, Size: 1})
	if err != nil || len(ids) == 0 {
		return at, err
	}
	err = s.queryRow(ctx, `SELECT created_at FROM transactions WHERE id = ?`, ids[0]).Scan(secondsInto(&at))
	return at, storageError(err)
}

// listing is a page of ids, and the plan that leads to the other pages.
type listing struct {
	ids        []int64
	all        []int64 // the ids of all pages, where they were read; else nil
	total      int64
	searchedTo int64 // as in [app.TransactionPage]
	plan       *pagePlan
}

// listCounted lists by a filter that blocks and days are counted by.
func (s *Store) listCounted(ctx context.Context, accountID int64, f app.TransactionFilter) (found listing, err error) {
	counted := !f.From.IsZero() || !f.To.IsZero() || f.SinceID != nil // else the total is kept
	if f.Sort == app.SortDate || f.Sort == app.SortDateDesc {
		zone, err := s.Zone(ctx)
		if err != nil {
			return found, err
		}
		found.plan, err = s.planByDays(ctx, accountID, f, zone)
		if err != nil {
			return found, err
		}
	} else {
		if found.plan, err = s.planByBlocks(ctx, transactionTable, blocksOf(accountID, f), counted, f.Page.Offset()+int64(f.Page.Size)); err != nil {
			return found, err
		}
	}
	if counted {
		found.ids, found.total, err = found.plan.list(ctx, s, f.Page)
		return found, err
	}
	if found.total, err = s.keptTransactions(ctx, accountID, f); err != nil {
		return found, err
	}
	if f.UntilID != 0 {
		newer := f
		newer.UntilID, newer.SinceID = 0, &f.UntilID
		after, err := s.planByBlocks(ctx, transactionTable, blocksOf(accountID, newer), true, 0)
		if err != nil {
			return found, err
		}
		n, err := after.total(ctx, s)
		if err != nil {
			return found, err
		}
		found.total -= n
	}
	found.ids, err = found.plan.page(ctx, s, f.Page)
	return found, err
}

// blocksOf returns the part of a filter that blocks are counted by.
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

// kindsOf returns the conditions on the columns that blocks are counted by.
func kindsOf(f app.TransactionFilter) *conditions {
	var c conditions
	if f.BankAccountID != 0 {
		c.add("t.bank_account_id = ?", f.BankAccountID)
	}
	if f.Among != nil {
		c.add("t.bank_account_id IN (SELECT value FROM json_each(?))", joinIDs(f.Among))
	}
	if f.Type != "" {
		c.add("t.type = ?", string(f.Type))
	}
	if f.Query == "" && len(f.Or.BankAccounts) > 0 { // see meanings
		marks, ids := "", []any{}
		for _, b := range f.Or.BankAccounts {
			marks, ids = marks+", ?", append(ids, b.ID)
		}
		c.add("t.bank_account_id IN ("+marks[2:]+")", ids...)
	}
	return &c
}

// keptTransactions reads the kept number of transactions of an account, or of some
// of its bank accounts, in one direction or both.
func (s *Store) keptTransactions(ctx context.Context, accountID int64, f app.TransactionFilter) (n int64, err error) {
	if table, days := daysOf(accountID, f); table == "bank_account_days" {
		return readOne[int64](ctx, s, `SELECT coalesce(sum(count), 0) FROM bank_account_days WHERE `+days.where.String(), days.args...)
	}
	return readOne[int64](ctx, s, `SELECT iif(?2 = 'OUT', 0, in_count) + iif(?2 = 'IN', 0, out_count) FROM account_totals WHERE account_id = ?1`, accountID, string(f.Type))
}

// listScanned lists by a filter for which single rows must be looked at.
func (s *Store) listScanned(ctx context.Context, accountID int64, f app.TransactionFilter) (found listing, err error) {
	byDate := f.Sort == app.SortDate || f.Sort == app.SortDateDesc
	if byDate || f.Sort == app.SortID {
		f.Page.CountTo = 0
	}
	if f.Page.CountTo != 0 {
		return s.listNewest(ctx, accountID, f)
	}
	l, err := s.planScanned(ctx, accountID, f)
	if err != nil {
		return found, err
	}
	found.plan = l
	if found.total, err = s.totalScanned(ctx, accountID, f, l); err != nil {
		return found, err
	}
	if byDate {
		found.ids, err = s.pageByDate(ctx, accountID, f, found)
	} else {
		found.ids, err = l.page(ctx, s, f.Page)
	}
	return found, err
}

// listNewest looks at a limited number of transactions, newest first. Each meaning
// of a search text is looked up in its own index. What one of them has not looked
// at, the listing has not.
func (s *Store) listNewest(ctx context.Context, accountID int64, f app.TransactionFilter) (found listing, err error) {
	found.all = []int64{} // not nil: of no transactions there are sums too
	if f.UntilID == 0 {   // so that the work of looking at ids is known
		if f.UntilID, err = s.newestTransaction(ctx); err != nil || f.UntilID == 0 {
			return found, err
		}
	}
	work := f.Page.CountTo * workPerRow
	if access.LimitOf(ctx).On {
		if found.searchedTo, err = s.limitedTo(ctx, accountID, f); err != nil {
			return found, err
		}
		since := max(found.searchedTo-1, 0)
		f.SinceID, work = &since, math.MaxInt64
	}
	for _, meaning := range meanings(f) {
		l, err := s.planScanned(ctx, accountID, meaning)
		if err != nil {
			return found, err
		}
		ids, searchedTo, err := l.readTo(ctx, s, f.Page.CountTo, work)
		if err != nil {
			return found, err
		}
		found.searchedTo = max(found.searchedTo, searchedTo)
		found.all = append(found.all, ids...)
	}
	found.all = slices.DeleteFunc(found.all, func(id int64) bool { return id < found.searchedTo })
	slices.SortFunc(found.all, func(a, b int64) int { return cmp.Compare(b, a) })
	found.all = slices.Compact(found.all)
	found.total = int64(len(found.all))
	shown := found.all
	if found.total > f.Page.CountTo {
		shown, found.total, found.searchedTo = shown[:f.Page.CountTo], app.Uncounted, 0
	}
	from := min(int64(len(shown)), f.Page.Offset())
	found.ids = shown[from:min(int64(len(shown)), from+int64(f.Page.Size))]
	return found, nil
}

// limitedBlocks is how many blocks a listing looks at where the context has a limit.
const limitedBlocks = 32

// limitedTo is the first id that a listing looks at where the context has a limit; 0:
// it looks at all. Other listings stop after some work, but how much work there is also
// follows from transactions that the limit doesn't show: from where a search stops
// somebody could tell whether these have its text. So it is a number of blocks that have
// something to show.
func (s *Store) limitedTo(ctx context.Context, accountID int64, f app.TransactionFilter) (int64, error) {
	where := blocksOf(accountID, f).where()
	blocks, err := readAll(ctx, s, scanOne[int64], `SELECT DISTINCT block FROM transaction_blocks t WHERE `+where.where.String()+` ORDER BY block DESC LIMIT 2 OFFSET ?`,
		append(where.args, limitedBlocks-1)...)
	if err != nil || len(blocks) < 2 {
		return 0, err
	}
	return firstID(blocks[0]), nil
}

// totalScanned counts all transactions of a filter. Most transactions are
// delivered: their number is the kept total less the numbers in the other states.
// If states change meanwhile it may be a little wrong.
func (s *Store) totalScanned(ctx context.Context, accountID int64, f app.TransactionFilter, l *pagePlan) (int64, error) {
	all := f
	all.DeliveryState, all.Page = "", app.Page{Number: 1}
	if f.DeliveryState != app.DeliveryDelivered || scanned(all) {
		return l.total(ctx, s)
	}
	every, err := s.listCounted(ctx, accountID, all)
	for _, state := range app.TransactionStates {
		if err != nil || state == app.DeliveryDelivered {
			continue
		}
		all.DeliveryState = state
		var other *pagePlan
		if other, err = s.planScanned(ctx, accountID, all); err == nil {
			var n int64
			n, err = other.total(ctx, s)
			every.total -= n
		}
	}
	return max(every.total, 0), err
}

// sortIDs is the largest number of transactions whose ids are read and sorted by
// date. Of more than that, reading by the index of dates soon fills a page.
const sortIDs = 4000

func (s *Store) pageByDate(ctx context.Context, accountID int64, f app.TransactionFilter, found listing) ([]int64, error) {
	order := ` ORDER BY t.occurred_at, t.id`
	if f.Sort == app.SortDateDesc {
		order = ` ORDER BY t.occurred_at DESC, t.id DESC`
	}
	if found.total <= sortIDs {
		all, err := found.plan.page(ctx, s, app.Page{Number: 1, Size: int(found.total)})
		if err != nil {
			return nil, err
		}
		return s.scanIDs(ctx, `SELECT t.id FROM json_each(?) k CROSS JOIN transactions t ON t.id = k.value`+order, []any{joinIDs(all)}, f.Page)
	}
	c := rowConditions(accountID, f)
	if f.SinceID != nil {
		c.add("t.id > ?", *f.SinceID)
	}
	if f.UntilID != 0 {
		c.add("t.id <= ?", f.UntilID)
	}
	return s.scanIDs(ctx, `SELECT t.id FROM transactions t INDEXED BY transactions_time WHERE `+c.where.String()+order, c.args, f.Page)
}

// sumRows is the largest number of transactions that are added up one by one,
// sumNewer the largest number of ids after a filter's UntilID whose transactions
// are subtracted from the kept sums.
const (
	sumRows  = 2000
	sumNewer = 20_000
)

// sums returns the sums of all pages of a listing, or nil where they would cost too
// much.
func (s *Store) sums(ctx context.Context, accountID int64, f app.TransactionFilter, found listing) (*app.TransactionSums, error) {
	if sums, err := s.sumDays(ctx, accountID, f); sums != nil || err != nil {
		return sums, err
	}
	if found.total > sumRows || found.searchedTo != 0 {
		return nil, nil
	}
	ids, plan := found.all, found.plan
	if ids == nil {
		var err error
		if plan.partial {
			if plan, err = s.planByBlocks(ctx, transactionTable, blocksOf(accountID, f), true, 0); err != nil {
				return nil, err
			}
		}
		if ids, err = plan.page(ctx, s, app.Page{Number: 1, Size: int(found.total)}); err != nil {
			return nil, err
		}
	}
	return s.sum(ctx, `SELECT t.type, count(*), coalesce(sum(t.amount), 0) FROM json_each(?) k CROSS JOIN transactions t ON t.id = k.value GROUP BY 1`, joinIDs(ids))
}

// sumDays adds up the kept totals of whole days and subtracts the transactions after
// UntilID. It returns nil for a filter that whole days don't answer.
func (s *Store) sumDays(ctx context.Context, accountID int64, f app.TransactionFilter) (*app.TransactionSums, error) {
	if scanned(f) || f.SinceID != nil {
		return nil, nil
	}
	zone, err := s.Zone(ctx)
	if err != nil {
		return nil, err
	}
	table, days := daysOf(accountID, f)
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
		newest, err := s.NewestIDs(ctx)
		if err != nil || newest.TransactionID-f.UntilID > sumNewer {
			return nil, err
		}
		newer := rowConditions(accountID, f)
		newer.add("t.id > ?", f.UntilID)
		kept += ` UNION ALL SELECT t.type, -1, -t.amount FROM transactions t NOT INDEXED WHERE ` + newer.where.String()
		days.args = append(days.args, newer.args...)
	}
	return s.sum(ctx, `SELECT type, sum(count), sum(amount) FROM (`+kept+`) GROUP BY 1`, days.args...)
}

// sum runs a query that gives a direction, a count and a sum of amounts a row.
func (s *Store) sum(ctx context.Context, query string, args ...any) (*app.TransactionSums, error) {
	sums := &app.TransactionSums{}
	rows, err := s.query(ctx, query, args...)
	err = each(rows, err, func(row scanner) (bool, error) {
		var direction app.Direction
		var sum app.Amounts
		err := row.Scan(&direction, &sum.Count, &sum.Total)
		if direction == app.In {
			sums.In = sum
		} else {
			sums.Out = sum
		}
		return false, err
	})
	return sums, err
}
