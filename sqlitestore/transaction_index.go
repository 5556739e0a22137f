package sqlitestore

import (
	"context"
	"math"

	"baoco/app"
	"baoco/app/fold"
)

// Conditions that neither blocks nor days are counted by need a look at single
// transactions. One of them is looked up in its index, in the order of ids; the
// transactions that it gives are then checked against the others. Where no
// condition has an index, or too many transactions meet it, the rows themselves
// are read block by block.

// index is a query of the transactions that meet one condition.
type index struct {
	from, id string     // id: the expression of a transaction's id
	where    conditions // on the index
	rest     conditions // the other conditions, on what the index gives
	twice    bool       // it gives some ids more than once in a row
	byBlock  bool       // the first argument of where is the block
	looksUp  bool       // rest needs rows elsewhere in the file
	lags     bool       // it holds only ids up to to
	to       int64
}

// query is the query of the ids in order, for a segment.
func (x *index) query(ascending bool) *rowQuery {
	order := ` ORDER BY ` + x.id + ` DESC`
	if ascending {
		order = ` ORDER BY ` + x.id
	}
	distinct := ``
	if x.twice {
		distinct = `DISTINCT `
	}
	from := ` FROM ` + x.from + ` WHERE ` + x.id + ` BETWEEN ? AND ? AND ` + x.where.where.String()
	q := &rowQuery{sql: `SELECT ` + distinct + x.id + from, order: order, args: x.where.args, byBlock: x.byBlock}
	if rest := x.rest.where.String(); rest != "" {
		q.each = &candidate{`SELECT ` + x.id + `, ` + rest + from + order, x.rest.args, entryCost}
		if x.looksUp {
			q.each.cost = lookUpCost
		}
		q.sql += ` AND ` + rest
		q.args = append(x.where.args[:len(x.where.args):len(x.where.args)], x.rest.args...)
	}
	return q
}

// looksAt adds conditions on columns of transactions t that the index doesn't hold.
func (x *index) looksAt(c *conditions) {
	if c.where.Len() > 0 {
		x.from += ` CROSS JOIN transactions t ON t.id = ` + x.id
		x.rest.join(c)
		x.looksUp = true
	}
}

// scanned reports whether a filter has conditions that neither blocks nor days are
// counted by.
func scanned(f app.TransactionFilter) bool {
	return f.Code != "" || f.Query != "" || f.MinAmount != 0 || f.MaxAmount != 0 || f.DeliveryState != ""
}

// rowConditions returns all conditions of a filter on a row t of transactions,
// those on ids left out.
func rowConditions(accountID int64, f app.TransactionFilter) *conditions {
	var c conditions
	c.add("t.account_id = ?", accountID)
	c.join(kindsOf(f))
	if b := blocksOf(accountID, f); b.from != openFrom || b.to != openTo {
		c.add("t.occurred_at >= ? AND t.occurred_at < ?", b.from, b.to)
	}
	c.join(scannedConditions(f))
	return &c
}

// scannedConditions returns the ones that neither blocks nor days are counted by.
func scannedConditions(f app.TransactionFilter) *conditions {
	var c conditions
	if f.Code != "" {
		c.add("t.code = ?", f.Code)
	}
	if f.MinAmount != 0 {
		c.add("t.amount >= ?", f.MinAmount)
	}
	if f.MaxAmount != 0 {
		c.add("t.amount <= ?", f.MaxAmount)
	}
	if f.Query != "" {
		meant, args := "instr(t.search, ?) > 0", []any{fold.String(f.Query)}
		if f.Or.Amount != 0 {
			meant, args = meant+" OR t.amount = ?", append(args, f.Or.Amount)
		}
		if f.Or.Code != "" {
			meant, args = meant+" OR t.code = ?", append(args, f.Or.Code)
		}
		for _, b := range f.Or.BankAccounts {
			meant, args = meant+" OR t.bank_account_id = ?", append(args, b.ID)
		}
		c.add("("+meant+")", args...)
	}
	if f.DeliveryState != "" {
		c.add(inState(f.DeliveryState, "t.id"))
	}
	return &c
}

// meanings are the filters that together find what a filter finds: one for each
// meaning of its search text. That of bank accounts has them without a text.
func meanings(f app.TransactionFilter) []app.TransactionFilter {
	meant := f.Or
	f.Or = app.SearchMeaning{}
	all := []app.TransactionFilter{f}
	f.Query = ""
	if least, most := amountsOf(f); meant.Amount != 0 && least <= meant.Amount && meant.Amount <= most {
		one := f
		one.MinAmount, one.MaxAmount = meant.Amount, meant.Amount
		all = append(all, one)
	}
	if meant.Code != "" && (f.Code == "" || f.Code == meant.Code) {
		one := f
		one.Code = meant.Code
		all = append(all, one)
	}
	if len(meant.BankAccounts) > 0 {
		f.Or.BankAccounts = meant.BankAccounts
		all = append(all, f)
	}
	return all
}

// planScanned plans a listing with such conditions, in the order of ids.
func (s *Store) planScanned(ctx context.Context, accountID int64, f app.TransactionFilter) (*pagePlan, error) {
	b := blocksOf(accountID, f)
	b.rows, b.rowCost = scannedConditions(f), rowCost
	if f.DeliveryState != "" {
		b.rowCost, b.foundCost = stateCost, deliveryCost
	}
	x, err := s.chooseIndex(ctx, accountID, f)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return s.planByBlocks(ctx, transactionTable, b, true, 0)
	}
	if x.byBlock {
		return s.planByAmounts(ctx, accountID, f, b, x)
	}
	first, last, err := s.blockRange(ctx, transactionTable, b)
	if err != nil {
		return nil, err
	}
	l := &pagePlan{}
	held := segment{rows: x.query(b.ascending), first: max(first, b.since+1), last: last}
	if b.until != 0 {
		held.last = min(held.last, b.until)
	}
	if x.lags {
		held.last = min(held.last, x.to)
		b.since = max(b.since, x.to)
		if l, err = s.planByBlocks(ctx, transactionTable, b, true, 0); err != nil {
			return nil, err
		}
	}
	if b.ascending {
		l.segments = append([]segment{held}, l.segments...)
	} else {
		l.segments = append(l.segments, held)
	}
	return l, nil
}

// An index is used only below so many entries, where its order isn't that of the
// listing (fewPending) or where another index may give fewer (fewAmounts). They
// are literals of the SQL text, because SQLite prepares a statement anew for each
// value of a bound LIMIT.
const (
	fewPending = "5000"
	fewAmounts = "4000"
)

// chooseIndex returns the index that a listing uses, with the conditions that are
// checked for each transaction that it gives; nil: the rows are read instead.
func (s *Store) chooseIndex(ctx context.Context, accountID int64, f app.TransactionFilter) (x *index, err error) {
	if f.Query != "" && f.Or.Any() { // each meaning has its own; see meanings
		return nil, nil
	}
	if f.Code != "" {
		return codeIndex(accountID, f), nil
	}
	switch f.DeliveryState {
	case app.DeliveryPending:
		if f.Page.CountTo != 0 {
			few, err := readOne[bool](ctx, s, `SELECT count(*) < `+fewPending+` FROM (SELECT 1 FROM webhooks w CROSS JOIN deliveries k INDEXED BY deliveries_due
				ON k.webhook_id = w.id AND k.state = 0 WHERE w.account_id = ? LIMIT `+fewPending+`)`, accountID)
			if err != nil || !few {
				return nil, err
			}
		}
		x = stateIndex(accountID, f.DeliveryState)
	case app.DeliveryFailed:
		x = stateIndex(accountID, f.DeliveryState)
	case app.DeliveryUnsent:
		x = stateIndex(accountID, f.DeliveryState)
		x.lags = true
		if x.to, err = s.searchedTo(ctx); err != nil {
			return nil, err
		}
	}
	if x != nil {
		rest := f
		rest.DeliveryState = ""
		if c := rowConditions(accountID, rest); len(c.args) > 1 { // more than the account
			x.looksAt(c)
		}
		return x, nil
	}
	q, err := s.searchTerm(ctx, f.Query)
	if err != nil {
		return nil, err
	}
	if f.MinAmount != 0 || f.MaxAmount != 0 {
		few := true
		if q.phrase != "" {
			least, most := amountsOf(f)
			if few, err = readOne[bool](ctx, s, `SELECT count(*) < `+fewAmounts+` FROM (SELECT 1 FROM (SELECT DISTINCT block FROM transaction_blocks WHERE account_id = ?1) b
				CROSS JOIN transaction_amounts k ON k.account_id = ?1 AND k.block = b.block AND k.amount BETWEEN ?2 AND ?3 LIMIT `+fewAmounts+`)`,
				accountID, least, most); err != nil {
				return nil, err
			}
		}
		if few {
			x = amountIndex(accountID, f)
			x.to, err = s.searchedTo(ctx)
			return x, err
		}
	}
	if q.phrase == "" {
		return nil, nil
	}
	return s.searchIndex(ctx, accountID, f, q)
}

// searchIndex finds the transactions that contain a term; nil where so many do that
// reading the rows fills a page sooner.
func (s *Store) searchIndex(ctx context.Context, accountID int64, f app.TransactionFilter, q searchTerm) (*index, error) {
	if f.Page.CountTo != 0 {
		if frequent, err := s.frequentText(ctx, q.text, 1, f.UntilID); err != nil || frequent {
			return nil, err
		}
	}
	accounts, err := readOne[int](ctx, s, `SELECT count(*) FROM accounts`)
	if err != nil {
		return nil, err
	}
	x := &index{from: `transactions_search k`, id: "k.rowid", lags: true, to: q.to}
	x.where.add("k.transactions_search MATCH ?", q.phrase)
	if q.whole {
		f.Query = ""
	}
	if c := rowConditions(accountID, f); accounts > 1 || len(c.args) > 1 || f.DeliveryState != "" { // more than the account
		x.looksAt(c)
	}
	return x, nil
}

// codeIndex finds the transactions with a payment code, of which there are few.
func codeIndex(accountID int64, f app.TransactionFilter) *index {
	x := &index{from: "transactions t INDEXED BY transactions_code", id: "t.id", looksUp: true}
	x.where.add("t.account_id = ? AND t.code = ? AND t.code <> ''", accountID, f.Code)
	f.Code = ""
	x.rest.join(rowConditions(accountID, f))
	return x
}

func amountsOf(f app.TransactionFilter) (least, most int64) {
	if f.MaxAmount == 0 {
		return f.MinAmount, math.MaxInt64
	}
	return f.MinAmount, f.MaxAmount
}

// amountIndex finds the transactions of some amounts in a block. It holds every
// column that a filter needs but the text.
func amountIndex(accountID int64, f app.TransactionFilter) *index {
	x := &index{from: "transaction_amounts t", id: "t.id", byBlock: true}
	x.where.add("t.block = ?")
	text, state := f.Query, f.DeliveryState
	f.Query, f.DeliveryState = "", ""
	x.where.join(rowConditions(accountID, f))
	if text != "" {
		x.from += " CROSS JOIN transactions r ON r.id = t.id"
		x.rest.add("instr(r.search, ?) > 0", fold.String(text))
		x.looksUp = true
	}
	if state != "" {
		x.rest.add(inState(state, "t.id"))
		x.looksUp = true // the deliveries, as far apart as the rows
	}
	return x
}

// planByAmounts leaves out the blocks that hold no such amounts.
func (s *Store) planByAmounts(ctx context.Context, accountID int64, f app.TransactionFilter, b blockFilter, x *index) (*pagePlan, error) {
	least, most := amountsOf(f)
	b.blocks = &conditions{}
	b.blocks.add(`(block >= ? OR EXISTS (SELECT 1 FROM transaction_amounts k WHERE k.account_id = ? AND k.block = t.block AND k.amount BETWEEN ? AND ?))`,
		blockOf(x.to), accountID, least, most)
	l, err := s.planByBlocks(ctx, transactionTable, b, true, 0)
	if err != nil {
		return nil, err
	}
	read := x.query(b.ascending)
	var segments []segment
	for _, g := range l.segments {
		held := segment{rows: read, first: g.first, last: min(g.last, x.to)}
		g.first = max(g.first, x.to+1)
		parts := []segment{g, held}
		if b.ascending {
			parts = []segment{held, g}
		}
		for _, part := range parts {
			if part.first <= part.last {
				segments = append(segments, part)
			}
		}
	}
	return &pagePlan{segments: segments}, nil
}

// SQL conditions for the state of a transaction, which follows from its deliveries
// (see [app.TransactionStates]). The argument id is the SQL expression of the
// transaction's id.

// lastFailed is true if the last delivery to some webhook failed.
func lastFailed(id string) string { return hasDelivery(id, "= 2 AND "+noneLater("d")) }

// noneLater is true if no delivery of the transaction to the same webhook came after
// delivery d, cancelled ones not counted.
func noneLater(d string) string {
	return `NOT EXISTS (SELECT 1 FROM deliveries o INDEXED BY deliveries_transaction WHERE o.transaction_id = ` + d + `.transaction_id AND o.webhook_id = ` + d +
		`.webhook_id AND o.id > ` + d + `.id AND o.state <> 3)`
}

// hasDelivery is true if the transaction has a delivery d whose state meets states.
func hasDelivery(id, states string) string {
	return `EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_transaction WHERE d.transaction_id = ` + id + ` AND d.state ` + states + `)`
}

// inState is true if the transaction is in a state. It costs at most three
// microseconds.
func inState(state app.DeliveryState, id string) string {
	switch state {
	case app.DeliveryFailed:
		return lastFailed(id)
	case app.DeliveryPending:
		return hasDelivery(id, "= 0") + ` AND NOT ` + lastFailed(id)
	case app.DeliveryDelivered:
		return hasDelivery(id, "= 1") + ` AND NOT ` + hasDelivery(id, "IN (0, 2) AND (d.state = 0 OR "+noneLater("d")+")")
	}
	return `NOT ` + hasDelivery(id, "<> 3")
}

// stateIndex finds the transactions in a state other than delivered, which most
// transactions are in. It reads all that are, or once were, in the state.
func stateIndex(accountID int64, state app.DeliveryState) *index {
	x := &index{id: "k.transaction_id", twice: true}
	switch state {
	case app.DeliveryFailed:
		x.from = `deliveries k INDEXED BY deliveries_failed_transactions`
		x.where.add("k.account_id = ? AND k.state = 2", accountID)
		x.rest.add(noneLater("k"))
	case app.DeliveryPending:
		x.from = `webhooks w CROSS JOIN deliveries k INDEXED BY deliveries_due ON k.webhook_id = w.id AND k.state = 0`
		x.where.add("w.account_id = ?", accountID)
		x.rest.add("NOT " + lastFailed("k.transaction_id"))
	case app.DeliveryUnsent:
		x.from = `transactions_unsent k`
		x.where.add("k.account_id = ?", accountID)
		x.rest.add(inState(state, "k.transaction_id"))
	}
	return x
}

// noteUnsent notes transactions that may be unsent once some deliveries are
// cancelled. which is the query of the ids of these deliveries.
func noteUnsent(tx *tx, which string, args ...any) error {
	return tx.exec(`INSERT INTO transactions_unsent (account_id, transaction_id) SELECT account_id, transaction_id FROM deliveries
		WHERE id IN (`+which+`) AND transaction_id IS NOT NULL ON CONFLICT DO NOTHING`, args...)
}
