package sqlitestore

import (
	"context"
	"math"
	"time"

	"baoco/app"
)

// blockShift makes the block of an id: 4,096 ids each.
const blockShift = 12

// blockTable is a table whose rows are counted by blocks of ids.
type blockTable struct{ name, blocks, at string }

var (
	transactionTable = blockTable{"transactions", "transaction_blocks", "occurred_at"}
	attemptTable     = blockTable{"attempts", "attempt_blocks", "started_ms"}
)

// blockFilter narrows a listing by what blocks are counted by.
type blockFilter struct {
	accountID int64
	kinds     *conditions // on columns that rows and blocks have in common
	rows      *conditions // on rows alone; nil: none
	rowCost   int64       // of looking at a row, where there are such conditions
	foundCost int64       // and more where it meets them
	blocks    *conditions // on blocks alone; nil: none
	from, to  int64       // of the table's time: from from on, before to
	since     int64       // ids above it
	until     int64       // ids up to it; 0: all
	ascending bool
}

// Bounds of a blockFilter that leave it open.
const (
	openFrom = math.MinInt64
	openTo   = math.MaxInt64
)

// where is the condition on blocks that may hold rows of the filter.
func (f blockFilter) where() *conditions {
	var c conditions
	c.add("account_id = ?", f.accountID)
	c.join(f.kinds)
	if f.from != openFrom {
		c.add("last_at >= ?", f.from)
	}
	if f.to != openTo {
		c.add("first_at < ?", f.to)
	}
	if f.since != 0 {
		c.add("block >= ?", f.since>>blockShift)
	}
	if f.until != 0 {
		c.add("block <= ?", f.until>>blockShift)
	}
	return &c
}

// blockRange gives the ids that the rows of a filter can have: those of its
// first block to those of its last.
func (s *Store) blockRange(ctx context.Context, t blockTable, f blockFilter) (first, last int64, err error) {
	where := f.where()
	err = s.queryRow(ctx, `SELECT coalesce(min(block), 0), coalesce(max(block), -1) FROM `+t.blocks+` t WHERE `+where.where.String(), where.args...).Scan(&first, &last)
	return first << blockShift, (last+1)<<blockShift - 1, storageError(err)
}

// byBlocks leaps over blocks. Unless all of them are needed it reads no more
// of them than hold enough rows.
func (s *Store) byBlocks(ctx context.Context, t blockTable, f blockFilter, all bool, enough int64) (*leap, error) {
	order := " DESC"
	if f.ascending {
		order = ""
	}
	where := f.where()
	var rowsOnly conditions
	rowsOnly.add("account_id = ?", f.accountID)
	rowsOnly.join(f.kinds)
	if f.from != openFrom {
		rowsOnly.add(t.at+" >= ?", f.from)
	}
	if f.to != openTo {
		rowsOnly.add(t.at+" < ?", f.to)
	}
	if f.since != 0 {
		rowsOnly.add("id > ?", f.since)
	}
	if f.until != 0 {
		rowsOnly.add("id <= ?", f.until)
	}
	read := &rowQuery{}
	if f.rows != nil {
		rowsOnly.join(f.rows)
		read.cost, read.found = f.rowCost, f.foundCost
	}
	read.args = rowsOnly.args
	read.sql = `SELECT id FROM ` + t.name + ` t NOT INDEXED WHERE id BETWEEN ? AND ? AND ` + rowsOnly.where.String()
	read.order = ` ORDER BY id` + order
	group := ` GROUP BY block`
	if f.blocks != nil {
		group += ` HAVING ` + f.blocks.where.String()
		where.args = append(where.args, f.blocks.args...)
	}
	rows, err := s.query(ctx, `SELECT block, sum(count), min(first_at), max(last_at) FROM `+t.blocks+
		` t WHERE `+where.where.String()+group+` ORDER BY block`+order, where.args...)
	if err != nil {
		return nil, storageError(err)
	}
	defer rows.Close()
	l := &leap{}
	var held int64
	for (all || held < enough) && rows.Next() {
		var block, count, first, last int64
		if err := rows.Scan(&block, &count, &first, &last); err != nil {
			return nil, storageError(err)
		}
		inside := first >= f.from && last < f.to && (f.since == 0 || block > f.since>>blockShift) && (f.until == 0 || block < f.until>>blockShift) && f.rows == nil
		if inside {
			held += count
		}
		g := segment{read, max(block<<blockShift, f.since+1), (block+1)<<blockShift - 1, count, inside}
		if f.until != 0 {
			g.last = min(g.last, f.until)
		}
		if g.first <= g.last {
			l.segments = append(l.segments, g)
		}
	}
	return l, storageError(rows.Err())
}

// byDays leaps over the local days of transactions.
func (s *Store) byDays(ctx context.Context, accountID int64, f app.TransactionFilter, zone *time.Location) (*leap, error) {
	var where, rowsOnly conditions
	days := "account_days"
	rowsOnly.add("account_id = ?", accountID)
	if f.BankAccountID != 0 {
		days = "bank_account_days"
		where.add("bank_account_id = ?", f.BankAccountID)
		rowsOnly.add("bank_account_id = ?", f.BankAccountID)
	} else {
		where.add("account_id = ?", accountID)
	}
	if f.Type != "" {
		where.add("type = ?", string(f.Type))
		rowsOnly.add("type = ?", string(f.Type))
	}
	if f.UntilID != 0 {
		rowsOnly.add("id <= ?", f.UntilID)
	}
	from, to := int64(openFrom), int64(openTo)
	if !f.From.IsZero() {
		from = f.From.Unix()
		where.add("day >= ?", int64(app.DayOf(f.From, zone)))
	}
	if !f.To.IsZero() {
		to = f.To.Unix()
		where.add("day <= ?", int64(app.DayOf(f.To, zone)))
	}
	order := " DESC"
	if f.Sort == app.SortDate {
		order = ""
	}
	read := &rowQuery{args: rowsOnly.args, order: ` ORDER BY occurred_at` + order + `, id` + order,
		sql: `SELECT id FROM transactions INDEXED BY transactions_time WHERE occurred_at BETWEEN ? AND ? AND ` + rowsOnly.where.String()}
	rows, err := s.query(ctx, `SELECT day, sum(count) FROM `+days+` WHERE `+where.where.String()+` GROUP BY day ORDER BY day`+order, where.args...)
	segments, err := collect(rows, err, func(row scanner) (g segment, err error) {
		var day app.Day
		err = row.Scan(&day, &g.count)
		begin, end := day.Start(zone).Unix(), (day + 1).Start(zone).Unix()
		g.known = from <= begin && end <= to && f.UntilID == 0
		g.first, g.last = max(begin, from), min(end, to)-1
		g.rows = read
		return g, err
	})
	return &leap{segments}, err
}

// blockKey names what a block counts. ofID is the bank account of
// transactions, the webhook of attempts.
type blockKey struct {
	accountID, block, ofID int64
	direction              app.Direction
	ok                     bool
}

type blockSum struct{ count, first, last int64 }

func (s blockSum) plus(at int64) blockSum {
	if s.count == 0 {
		return blockSum{1, at, at}
	}
	return blockSum{s.count + 1, min(s.first, at), max(s.last, at)}
}

// attemptSum is a blockSum of attempts, with the range of their transactions.
type attemptSum struct {
	blockSum
	firstTransaction, lastTransaction int64
}

func (s attemptSum) plus(d attemptDelta) attemptSum {
	if s.count == 0 {
		s.firstTransaction = math.MaxInt64
	}
	s.blockSum = s.blockSum.plus(d.startedAt.UnixMilli())
	if d.transactionID != 0 {
		s.firstTransaction, s.lastTransaction = min(s.firstTransaction, d.transactionID), max(s.lastTransaction, d.transactionID)
	}
	return s
}

func (t *totals) flushBlocks(tx *tx) error {
	transactions, attempts := map[blockKey]blockSum{}, map[blockKey]attemptSum{}
	removed := map[blockKey]bool{}
	for _, d := range t.transactions {
		key := blockKey{d.accountID, d.id >> blockShift, d.bankAccountID, d.direction, false}
		transactions[key] = transactions[key].plus(d.at.Unix())
		removed[key] = removed[key] || d.removed
	}
	for _, d := range t.attempts {
		key := blockKey{d.accountID, d.id >> blockShift, d.webhookID, d.direction, d.ok}
		attempts[key] = attempts[key].plus(d)
	}
	const merge = ` ON CONFLICT DO UPDATE SET count = count + excluded.count, first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`
	for k, sum := range transactions {
		if removed[k] {
			if err := recountBlock(tx, k); err != nil {
				return err
			}
			continue
		}
		if err := tx.exec(`INSERT INTO transaction_blocks (account_id, block, bank_account_id, type, count, first_at, last_at) VALUES (?, ?, ?, ?, ?, ?, ?)`+merge,
			k.accountID, k.block, k.ofID, string(k.direction), sum.count, sum.first, sum.last); err != nil {
			return err
		}
	}
	for k, sum := range attempts {
		if err := tx.exec(`INSERT INTO attempt_blocks (account_id, block, webhook_id, type, ok, count, first_at, last_at, first_transaction, last_transaction)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`+merge+`, first_transaction = min(first_transaction, excluded.first_transaction),
				last_transaction = max(last_transaction, excluded.last_transaction)`,
			k.accountID, k.block, k.ofID, string(k.direction), k.ok, sum.count, sum.first, sum.last, sum.firstTransaction, sum.lastTransaction); err != nil {
			return err
		}
	}
	return nil
}

// recountBlock counts a block of transactions anew, after rows of it were
// removed.
func recountBlock(tx *tx, k blockKey) error {
	err := tx.exec(`DELETE FROM transaction_blocks WHERE account_id = ? AND block = ? AND bank_account_id = ? AND type = ?`, k.accountID, k.block, k.ofID, string(k.direction))
	if err != nil {
		return err
	}
	return tx.exec(`INSERT INTO transaction_blocks (account_id, block, bank_account_id, type, count, first_at, last_at)
		SELECT account_id, id / 4096, bank_account_id, type, count(*), min(occurred_at), max(occurred_at) FROM transactions NOT INDEXED
		WHERE id BETWEEN ?2 * 4096 AND ?2 * 4096 + 4095 AND account_id = ?1 AND bank_account_id = ?3 AND type = ?4 GROUP BY 1, 2, 3, 4`,
		k.accountID, k.block, k.ofID, string(k.direction))
}
