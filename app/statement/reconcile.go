package statement

import (
	"errors"
	"strconv"

	"baoco/app"
)

// What a file says about its own rows: running balances, opening and closing
// balances, totals. Where they don't agree with the rows the file isn't
// understood, and it is refused.

// reconcile compares a transaction with what the file says about it: how its
// amounts are written, and the balance after it, which it gives the row.
func (r *Reader) reconcile(l line, row *Row) error {
	r.rows++
	if r.doubt != nil {
		return r.doubt
	}
	for _, m := range l.amounts() {
		if err := r.format.add(l.line, m); err != nil {
			return err
		}
	}
	if l.amount.value != 0 && l.amount.err == nil {
		if r.sawSign = r.sawSign || l.amount.signed; r.unsigned == 0 && !l.amount.signed {
			r.unsigned = l.line
		}
	}
	if err := errors.Join(r.other.compare(l, r.account), r.companyLedger(l)); err != nil {
		return err
	}
	balance, err := r.balance(l)
	if err != nil {
		return err
	}
	if balance != nil {
		row.Balance = *balance
	}
	charge := r.charge(l)
	if charge != 0 {
		r.skip(l.line, skipCharge)
	}
	own := r.present
	if r.header.columns.has(fieldAccount) {
		if own = r.byColumn[row.AccountNumber]; own == nil {
			own = &reconciliation{}
			r.byColumn[row.AccountNumber] = own
		}
	}
	if !row.moneyKnown() {
		own.unknown()
		if own != r.present {
			r.present.unknown()
		}
		return nil
	}
	moved := row.Amount
	if row.Type == app.Out {
		moved = -moved
	}
	r.file.add(moved)
	if own != r.present {
		if err := r.present.add(l.line, moved, charge, nil); err != nil {
			return err
		}
	}
	return own.add(l.line, moved, charge, balance)
}

// moneyKnown tells whether amount and direction could be read.
func (row Row) moneyKnown() bool {
	return row.Amount > 0 && row.Type != "" && (row.Fault == nil || row.Fault.Field == "accountNumber" || row.Fault.Field == "currency")
}

// balance is the running balance of a line; nil where it has none.
func (r *Reader) balance(l line) (*int64, error) {
	c := l.cell(r.header.columns.of(fieldBalance))
	n, ok, err := parseBalance(c)
	if err != nil {
		return nil, refusedAt(l.line, "the balance “%s” can not be read", "không đọc được số dư “%s”", c.plain())
	}
	if !ok {
		return nil, nil
	}
	return &n, r.format.add(l.line, parseMoney(c))
}

// charge is the sum of the columns of fees, taxes and interest.
func (r *Reader) charge(l line) (sum int64) {
	for _, i := range r.header.charges {
		n, _ := readBalance(l.cell(i))
		sum += n
	}
	return sum
}

// endTable ends the rows below a header. A column of amounts none of which has
// a sign doesn't say which way money went.
func (r *Reader) endTable() error {
	unsigned := r.unsigned
	if c := r.header.columns; r.sawSign || c.has(fieldType) || c.has(fieldDebit) || c.has(fieldCredit) {
		unsigned = 0
	}
	r.unsigned, r.sawSign, r.debits = 0, false, 0
	if unsigned != 0 {
		return withFlag("--map credit=…, --map debit=… or --map type=…",
			refusedAt(unsigned,
				"nothing says whether the amounts of column %s came in or went out; choose it as money in or money out if all did, or choose "+
					"the column that says so",
				"không có gì cho biết số tiền ở cột %s là vào hay ra; hãy chọn cột đó là tiền vào hoặc tiền ra nếu tất cả cùng chiều, hoặc "+
					"chọn cột cho biết chiều", r.moneyColumns()))
	}
	return r.format.end(r.vnd)
}

// endAccount ends the tables of an account.
func (r *Reader) endAccount() error {
	var err error
	for _, own := range r.byColumn {
		err = errors.Join(err, own.end())
	}
	err = errors.Join(err, r.present.end())
	r.present = &reconciliation{}
	clear(r.byColumn)
	return err
}

// sums are the money in and the money out of some rows.
type sums struct{ in, out int64 }

func (s *sums) add(moved int64) {
	if moved > 0 {
		s.in += moved
	} else {
		s.out -= moved
	}
}

func (s sums) net() int64 { return s.in - s.out }

// stated is a balance or a total that a line of the file states.
type stated struct {
	line  int
	value int64
}

// reconciliation follows the rows of one account from the beginning of its first
// table. Whether the newest or the oldest row comes first isn't known, so it
// follows both orders.
type reconciliation struct {
	rows            int
	all             sums
	page            sums     // of the rows since the last line of totals
	unsure          bool     // the amount of some row can't be read
	debits, credits []stated // totals that are stated above the rows

	balanced    bool   // before is known
	before      stated // the balance of the last row that has one
	own         int64  // what that row moved
	ownCharge   int64
	since       int64 // what the rows after it moved
	sinceCharge int64
	first       stated // the first balance
	firstMoved  int64  // what the rows up to it moved
	firstAbove  int64  // the same without its own row
	firstCharge int64
	oldestFirst mismatch
	newestFirst mismatch
	opening     []stated
	closing     []stated
	interrupted bool // the amount or the balance of some row isn't known
}

// mismatch is the first row whose balance doesn't follow, in one of the orders.
type mismatch struct {
	line     int // 0: there is none
	expected int64
	balance  int64
}

// add follows a row. moved is its amount with a sign, charge the sum of its
// columns of fees and taxes, balance the running balance if there is one.
func (g *reconciliation) add(line int, moved, charge int64, balance *int64) error {
	g.rows++
	g.all.add(moved)
	g.page.add(moved)
	if balance == nil {
		g.since += moved
		g.sinceCharge += charge
		return nil
	}
	if g.balanced {
		g.oldestFirst.compare(line, *balance, g.before.value, g.since+moved, g.sinceCharge+charge)
		g.newestFirst.compare(line, *balance, g.before.value, -(g.own + g.since), -(g.ownCharge + g.sinceCharge))
	} else if g.first.line == 0 && !g.interrupted {
		g.first, g.firstMoved, g.firstAbove, g.firstCharge = stated{line, *balance}, g.since+moved, g.since, g.sinceCharge+charge
	}
	g.balanced, g.before = true, stated{line, *balance}
	g.own, g.ownCharge, g.since, g.sinceCharge = moved, charge, 0, 0
	if g.oldestFirst.line == 0 || g.newestFirst.line == 0 {
		return nil
	}
	wrong := g.oldestFirst // in the order that went further
	if g.newestFirst.line > wrong.line {
		wrong = g.newestFirst
	}
	return refusedAt(wrong.line,
		"the balance is %s, but the balance before and the amounts make %s: some row is missing or is not read rightly",
		"số dư là %s, nhưng số dư trước đó cộng số tiền là %s: có dòng bị thiếu hoặc bị đọc sai", dong(wrong.balance), dong(wrong.expected))
}

// compare compares a balance with the one before.
func (m *mismatch) compare(line int, balance, before, moved, charge int64) {
	if m.line == 0 && !follows(balance, before, moved, charge) {
		*m = mismatch{line, before + moved, balance}
	}
}

// follows tells whether a balance follows from the one before. Some banks subtract
// what stands in the columns of fees and taxes, others include it in the amount.
func follows(balance, before, moved, charge int64) bool {
	rest := balance - before - moved
	return rest == 0 || rest == charge || rest == -charge
}

// unknown follows a row whose amount, or balance, can't be read.
func (g *reconciliation) unknown() {
	g.rows++
	g.unsure, g.interrupted, g.balanced = true, true, false
	g.since, g.sinceCharge = 0, 0
}

// fits tells whether a total fits the rows above it: all rows of the account, the
// rows since the last line of totals, or all rows of the file. Where the amount of
// a row can't be read, any total fits.
func (g *reconciliation) fits(file sums, total func(sums) bool) bool {
	page := g.page
	g.page = sums{}
	return g.unsure || total(g.all) || total(page) || total(file)
}

// total compares a line of totals with the rows above it. debit and credit are
// nil where the line states none. Totals above all rows are kept for the end.
func (g *reconciliation) total(line int, debit, credit *int64, file sums) error {
	if g.rows == 0 {
		if debit != nil {
			g.debits = append(g.debits, stated{line, magnitude(*debit)})
		}
		if credit != nil {
			g.credits = append(g.credits, stated{line, magnitude(*credit)})
		}
		return nil
	}
	if g.fits(file, func(s sums) bool {
		return (debit == nil || magnitude(*debit) == s.out) && (credit == nil || magnitude(*credit) == s.in)
	}) {
		return nil
	}
	return refusedAt(line, "the totals are debit %s and credit %s, but the rows above make %s and %s",
		"tổng ghi nợ là %s và tổng ghi có là %s, nhưng các dòng ở trên cộng lại là %s và %s", optional(debit), optional(credit),
		dong(g.all.out), dong(g.all.in))
}

// amountTotal compares a total of a column that holds money in and out, with or
// without signs.
func (g *reconciliation) amountTotal(line int, n int64, file sums) error {
	if g.rows == 0 || g.fits(file, func(s sums) bool { return n == s.net() || n == s.in+s.out }) {
		return nil
	}
	return refusedAt(line, "the total is %s, but the rows above make %s", "tổng là %s, nhưng các dòng ở trên cộng lại là %s",
		dong(n), dong(g.all.net()))
}

// end compares what is stated about the whole account.
func (g *reconciliation) end() error {
	if g.rows == 0 {
		return nil
	}
	for _, total := range []struct {
		stated []stated
		is     int64
	}{{g.debits, g.all.out}, {g.credits, g.all.in}} {
		for _, s := range total.stated {
			if s.value != total.is && !g.unsure {
				return refusedAt(s.line, "the total is %s, but the rows make %s", "tổng là %s, nhưng các dòng cộng lại là %s",
					dong(s.value), dong(total.is))
			}
		}
	}
	for _, list := range [][]stated{g.opening, g.closing} {
		for _, s := range list {
			if s.value != list[0].value {
				return refusedAt(s.line, "the balance %s is not that of line %d, %s", "số dư %s khác với dòng %d là %s", dong(s.value), list[0].line,
					dong(list[0].value))
			}
		}
	}
	return g.compareEnds()
}

// compareEnds compares the opening and the closing balance with the rows between them,
// and with the first and the last running balance.
func (g *reconciliation) compareEnds() error {
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
		wrong = g.compareEndsTo(g.first.value-g.firstMoved, g.firstCharge, g.before.value+g.since, g.sinceCharge)
	}
	if g.newestFirst.line == 0 && (wrong != nil || g.oldestFirst.line != 0) {
		wrong = g.compareEndsTo(g.before.value-g.own-g.since, g.ownCharge+g.sinceCharge, g.first.value+g.firstAbove, g.firstCharge)
	}
	return wrong
}

// compareEndsTo compares the opening and the closing balance that are stated with those
// that follow from the running balances.
func (g *reconciliation) compareEndsTo(opening, openingCharge, closing, closingCharge int64) error {
	if len(g.opening) > 0 && !follows(g.opening[0].value, opening, 0, openingCharge) {
		return refusedAt(g.opening[0].line, "the opening balance is %s, but by the running balances it was %s",
			"số dư đầu kỳ là %s, nhưng theo số dư từng dòng thì phải là %s", dong(g.opening[0].value), dong(opening))
	}
	if len(g.closing) > 0 && !follows(g.closing[0].value, closing, 0, closingCharge) {
		return refusedAt(g.closing[0].line, "the closing balance is %s, but by the running balances it was %s",
			"số dư cuối kỳ là %s, nhưng theo số dư từng dòng thì phải là %s", dong(g.closing[0].value), dong(closing))
	}
	return nil
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
