package statement

import (
	"strconv"
)

// What a file says about its own rows: running balances, opening and closing
// balances, totals. Where they don't agree with the rows the file isn't
// understood, and it is refused.

// sums are money in and money out of some rows.
type sums struct{ in, out int64 }

func (s sums) net() int64 { return s.in - s.out }

// claim is what a line of the file says.
type claim struct {
	line  int
	value int64
}

// ledger follows the rows of one account from where its first table begins. It
// doesn't know whether the newest or the oldest row comes first, and follows
// both.
type ledger struct {
	rows            int
	all             sums
	page            sums    // since the last line of totals
	unsure          bool    // the amount of some row can't be read
	debits, credits []claim // totals that are named above the rows

	balanced    bool  // before is known
	before      claim // the balance of the last row that has one
	own         int64 // what that row moved
	ownCharge   int64
	since       int64 // what the rows after it moved
	sinceCharge int64
	first       claim // the first balance, and what was moved up to its row
	firstMoved  int64
	firstAbove  int64 // without its own row
	firstCharge int64
	oldestFirst broken
	newestFirst broken
	opening     []claim
	closing     []claim
	interrupted bool // some row's amount or balance isn't known
}

// broken is the first row whose balance doesn't follow, in one of the orders.
type broken struct {
	line     int // 0: none
	expected int64
	balance  int64
}

// add follows a row. moved is its amount with a sign, charge what columns of
// fees and taxes hold.
func (g *ledger) add(line int, moved, charge int64, balance *int64) error {
	g.rows++
	if moved > 0 {
		g.all.in += moved
		g.page.in += moved
	} else {
		g.all.out -= moved
		g.page.out -= moved
	}
	if balance == nil {
		g.since += moved
		g.sinceCharge += charge
		return nil
	}
	if g.balanced {
		g.oldestFirst.look(line, *balance, g.before.value, g.since+moved, g.sinceCharge+charge)
		g.newestFirst.look(line, *balance, g.before.value, -(g.own + g.since), -(g.ownCharge + g.sinceCharge))
	} else if g.first.line == 0 && !g.interrupted {
		g.first, g.firstMoved, g.firstAbove, g.firstCharge = claim{line, *balance}, g.since+moved, g.since, g.sinceCharge+charge
	}
	g.balanced, g.before = true, claim{line, *balance}
	g.own, g.ownCharge, g.since, g.sinceCharge = moved, charge, 0, 0
	if g.oldestFirst.line == 0 || g.newestFirst.line == 0 {
		return nil
	}
	return errBalance(g.held())
}

// look compares a balance with the one before. Some banks count what stands in
// columns of fees and taxes, others have it in the amount.
func (b *broken) look(line int, balance, before, moved, charge int64) {
	if b.line == 0 && !reaches(balance, before, moved, charge) {
		*b = broken{line, before + moved, balance}
	}
}

func reaches(balance, before, moved, charge int64) bool {
	moved = balance - before - moved
	return moved == 0 || moved == charge || moved == -charge
}

// held is where the order broke that went further.
func (g *ledger) held() broken {
	if g.oldestFirst.line >= g.newestFirst.line {
		return g.oldestFirst
	}
	return g.newestFirst
}

// unknown follows a row whose amount, or balance, can't be read.
func (g *ledger) unknown() {
	g.rows++
	g.unsure, g.interrupted, g.balanced = true, true, false
	g.since, g.sinceCharge = 0, 0
}

// total compares a line of totals with the rows above it: since the last such
// line, of the account, or of the whole file, whose sums are file. debit and
// credit are nil where it names none. Above the rows it is kept for the end.
func (g *ledger) total(line int, debit, credit *int64, file sums) error {
	if g.rows == 0 {
		if debit != nil {
			g.debits = append(g.debits, claim{line, magnitude(*debit)})
		}
		if credit != nil {
			g.credits = append(g.credits, claim{line, magnitude(*credit)})
		}
		return nil
	}
	page := g.page
	g.page = sums{}
	if g.unsure {
		return nil
	}
	for _, s := range []sums{g.all, page, file} {
		if (debit == nil || magnitude(*debit) == s.out) && (credit == nil || magnitude(*credit) == s.in) {
			return nil
		}
	}
	return refusedAt(line, "the totals are debit %s and credit %s, but the rows above make %s and %s",
		"tổng ghi nợ là %s và tổng ghi có là %s, nhưng các dòng ở trên cộng lại là %s và %s", optional(debit), optional(credit), dong(g.all.out), dong(g.all.in))
}

// amountTotal likewise, of a column that holds money in and out: with signs, or
// without.
func (g *ledger) amountTotal(line int, n int64, file sums) error {
	page := g.page
	g.page = sums{}
	if g.unsure || g.rows == 0 {
		return nil
	}
	for _, s := range []sums{g.all, page, file} {
		if n == s.net() || n == s.in+s.out {
			return nil
		}
	}
	return refusedAt(line, "the total is %s, but the rows above make %s", "tổng là %s, nhưng các dòng ở trên cộng lại là %s", dong(n), dong(g.all.net()))
}

// end compares what was named for the whole of the account.
func (g *ledger) end() error {
	if g.rows == 0 {
		return nil
	}
	for _, total := range []struct {
		claims []claim
		is     int64
	}{{g.debits, g.all.out}, {g.credits, g.all.in}} {
		for _, c := range total.claims {
			if c.value != total.is && !g.unsure {
				return refusedAt(c.line, "the total is %s, but the rows make %s", "tổng là %s, nhưng các dòng cộng lại là %s", dong(c.value), dong(total.is))
			}
		}
	}
	for _, list := range [][]claim{g.opening, g.closing} {
		for _, c := range list {
			if c.value != list[0].value {
				return refusedAt(c.line, "the balance %s is not that of line %d, %s", "số dư %s khác với dòng %d là %s", dong(c.value), list[0].line, dong(list[0].value))
			}
		}
	}
	return g.edges()
}

// edges compares the opening and the closing balance with the rows between
// them, and with the first and the last running balance.
func (g *ledger) edges() error {
	if len(g.opening) > 0 && len(g.closing) > 0 && !g.unsure && g.first.line == 0 {
		if opening, closing := g.opening[0].value, g.closing[0]; closing.value != opening+g.all.net() {
			return refusedAt(closing.line, "the closing balance is %s, but the opening balance and the rows make %s",
				"số dư cuối kỳ là %s, nhưng số dư đầu kỳ cộng các dòng là %s", dong(closing.value), dong(opening+g.all.net()))
		}
	}
	if g.first.line == 0 || g.interrupted {
		return nil
	}
	var wrong error
	if g.oldestFirst.line == 0 {
		wrong = g.agrees(g.first.value-g.firstMoved, g.firstCharge, g.before.value+g.since, g.sinceCharge)
	}
	if g.newestFirst.line == 0 && (wrong != nil || g.oldestFirst.line != 0) {
		wrong = g.agrees(g.before.value-g.own-g.since, g.ownCharge+g.sinceCharge, g.first.value+g.firstAbove, g.firstCharge)
	}
	return wrong
}

// agrees compares the opening and the closing balance that are named with those
// that follow from the running balances.
func (g *ledger) agrees(opening, openingCharge, closing, closingCharge int64) error {
	if len(g.opening) > 0 && !reaches(g.opening[0].value, opening, 0, openingCharge) {
		return refusedAt(g.opening[0].line, "the opening balance is %s, but by the running balances it was %s",
			"số dư đầu kỳ là %s, nhưng theo số dư từng dòng thì phải là %s", dong(g.opening[0].value), dong(opening))
	}
	if len(g.closing) > 0 && !reaches(g.closing[0].value, closing, 0, closingCharge) {
		return refusedAt(g.closing[0].line, "the closing balance is %s, but by the running balances it was %s",
			"số dư cuối kỳ là %s, nhưng theo số dư từng dòng thì phải là %s", dong(g.closing[0].value), dong(closing))
	}
	return nil
}

func errBalance(b broken) error {
	return refusedAt(b.line, "the balance is %s, but the balance before and the amounts make %s: some row is missing or is not read rightly",
		"số dư là %s, nhưng số dư trước đó cộng số tiền là %s: có dòng bị thiếu hoặc bị đọc sai", dong(b.balance), dong(b.expected))
}

func magnitude(n int64) int64 { return max(n, -n) }

// dong writes an amount of VND, for people.
func dong(n int64) string {
	digits := strconv.FormatInt(magnitude(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "." + digits[i:]
	}
	if n < 0 {
		return "-" + digits
	}
	return digits
}

func optional(n *int64) string {
	if n == nil {
		return "-"
	}
	return dong(magnitude(*n))
}
