package statement

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"baoco/app"
)

// This file compares the rows with what their file states: running balances, opening and
// closing balances, totals and counts. A person sees each difference and decides, since real
// files call a count a total, or have fees that their totals leave out.

// Difference is a line at which a file doesn't agree with its rows, or hides a part of them.
type Difference struct {
	Line int
	Text app.Text
}

// maxDifferences is how many differences, and totals above the rows, are kept.
const maxDifferences = 20

func (r *Reader) differ(line int, en, vi string, args ...any) {
	if len(r.differences) < maxDifferences {
		r.differences = append(r.differences, Difference{line, app.Textf(en, vi, args...)})
	}
}

// addSides notes that only "debit" and "credit" tell money in from money out. For a bank
// money in is credit, and in a company's own ledger it is debit.
func (r *Reader) addSides() {
	out, in := r.header.name(fieldDebit), r.header.name(fieldCredit)
	words := headerKey(out) + headerKey(in)
	if r.sides.Line > 0 || r.options.mapsMoney() || out == "" || in == "" || !ledgerWords.in(words) || movingWords.in(words) {
		return
	}
	r.sides = Difference{r.header.line, app.Textf(
		"“%s” is read as money out, “%s” as money in, as banks mean it; a company’s own ledger means the opposite: check one line with your bank",
		"“%s” được đọc là tiền ra, “%s” là tiền vào theo cách ghi của ngân hàng; sổ kế toán công ty thì ngược lại: hãy đối chiếu một dòng "+
			"với ngân hàng", app.CleanText(out, 40), app.CleanText(in, 40))}
}

// addUnseen counts a row if a column that is read holds something that the sheet hides, or
// if the column's name is hidden; also if any filled column shows another name than the one
// read. In a line that names the account, every column is read.
func (r *Reader) addUnseen(rec record, dated, namesAccount bool) {
	for i, c := range rec.Cells {
		other, unnamed := r.header.unseen[i]
		unseen := (c.Unseen || unnamed) && (namesAccount || r.header.reads(i, dated))
		if (unseen || other) && c.Plain() != "" {
			if r.unseen++; r.unseen == 1 {
				r.firstUnseen = rec.Line
			}
			return
		}
	}
}

// endQuestions puts two questions before the other differences: are the hidden parts right,
// and, if no balance confirms it, are debit and credit read rightly?
func (r *Reader) endQuestions() {
	if r.sides.Line > 0 && !r.confirmed {
		r.differences = slices.Insert(r.differences, 0, r.sides)
	}
	if r.unseen > 0 {
		r.differences = slices.Insert(r.differences, 0, Difference{r.firstUnseen, app.Textf(
			"the sheet hides something that is read, or shows it otherwise; number of such rows: %d. Look at hidden rows and columns, "+
				"beneath merged cells and at cell formats, and compare them with your bank",
			"trang tính đang ẩn hoặc hiển thị khác đi một phần dữ liệu được đọc; số dòng như vậy: %d. Hãy xem các dòng và cột bị ẩn, "+
				"ô gộp, định dạng ô rồi đối chiếu với ngân hàng", r.unseen)})
	}
}

// sums are the sums of some rows, in VND.
type sums struct {
	in, out   int64 // amounts
	ins, outs int64 // how many rows
	fees      int64 // the part of out from rows whose only amount is a fee
	beside    int64 // fees in rows that have another amount too
	unsure    bool  // the amount of some row isn't known
}

func (s *sums) add(other sums) {
	s.in, s.out, s.ins, s.outs = s.in+other.in, s.out+other.out, s.ins+other.ins, s.outs+other.outs
	s.fees, s.beside, s.unsure = s.fees+other.fees, s.beside+other.beside, s.unsure || other.unsure
}

// moved is the change of the balance by the rows.
func (s sums) moved() int64 { return s.in - s.out - s.beside }

// total is a total that a line states. An empty side: a total of money in and out.
type total struct {
	line  int
	side  app.Direction
	value int64
}

// fits tells whether a total can be the sum of the rows, or their number.
func (t total) fits(s sums) bool {
	n := magnitude(t.value)
	switch {
	case s.unsure:
		return true
	case t.side == app.In:
		return n == s.in || n == s.ins
	case t.side == app.Out:
		return n == s.out || n == s.outs || n == s.out-s.fees || n == s.out+s.beside
	}
	return n == magnitude(s.in-s.out) || n == s.in+s.out || n == s.ins+s.outs
}

// reconciliation collects the sums and balances of the rows below a line that names an
// account, up to the line that names another.
type reconciliation struct {
	all, page        sums                // of all rows, and of those since the last line of totals
	above            []total             // totals stated above the rows
	opening, closing total               // line 0: not stated
	balances         map[string]*running // by the account of the rows; an empty key: no account is named
}

// maxAccounts is the number of accounts in one table whose balances are compared.
const maxAccounts = 1000

// running collects the balances of the rows of one account.
type running struct {
	gap  bool // the balance of some row isn't known
	line int  // the line of the last row
	rows int
	joins
	chain
}

// joins counts the known balances that follow from the known one before: straight with the
// directions as read, turned with the opposite ones. Rows without a balance may lie between.
type joins struct {
	straight, turned int
	broken           int   // the line of the first balance that doesn't follow
	known            bool  // a row above has a balance
	balance          int64 // the last known balance
	from, since      int64 // moved by the row of balance and those after it; moved by those after it alone
}

func (j *joins) add(line int, s sums, balance int64, known bool) {
	moved := s.moved()
	j.since += moved
	if j.known && known && !s.unsure {
		follows := func(since, from int64) bool { return balance == j.balance+since || j.balance == balance+from }
		straight, turned := follows(j.since, j.from), follows(-j.since, -j.from)
		switch {
		case straight && !turned:
			j.straight++
		case turned && !straight:
			j.turned++
		}
		if !straight {
			j.broken = cmp.Or(j.broken, line)
		}
	}
	if known || s.unsure { // after an unknown amount, no balance can be compared with those before
		j.known, j.balance, j.from, j.since = known && !s.unsure, balance, 0, 0
	}
	j.from += moved
}

// add adds a row of an account.
func (g *reconciliation) add(account string, line int, s sums, balance int64, known bool) {
	g.all.add(s)
	g.page.add(s)
	if g.balances == nil {
		g.balances = map[string]*running{}
	}
	if len(g.balances) > maxAccounts {
		account = "" // the balances of all further accounts together don't fit, which a person is shown
	}
	b := g.balances[account]
	if b == nil {
		b = &running{}
		g.balances[account] = b
	}
	b.joins.add(line, s, balance, known)
	b.line = line
	b.rows++
	if b.gap = b.gap || !known || s.unsure; !b.gap {
		b.chain.add(balance, s.moved())
	}
}

// chain compares running balances in any order of the rows, since rows of one second may
// not be in the order of booking: the balance before a row is the one after another row.
// It counts for each balance the rows before which it was, less the rows after which it was.
type chain map[int64]int

// maxChain is how many balances without a counterpart a chain holds.
const maxChain = 4096

func (c *chain) add(balance, moved int64) {
	if *c == nil {
		*c = chain{}
	}
	for i, value := range []int64{balance - moved, balance} {
		if n := (*c)[value] + 1 - 2*i; n == 0 {
			delete(*c, value)
		} else if len(*c) < maxChain {
			(*c)[value] = n
		}
	}
}

// ends returns the balances before and after all rows, both 0 if they are equal. whole is
// false if the rows don't make one chain.
func (c chain) ends() (opening, closing int64, whole bool) {
	for value, n := range c {
		if n > 0 {
			opening = value
		} else {
			closing = value
		}
	}
	return opening, closing, len(c) == 0 || len(c) == 2 && c[opening] == 1 && c[closing] == -1
}

// compare compares a transaction with the balance in its row, and sets Row.Balance. An error
// means that its direction or its amount isn't certain.
func (r *Reader) compare(l line, row *Row) error {
	r.rows++
	c := l.Cell(r.header.columns.of(fieldBalance))
	balance := parseMoney(c)
	if balance.err != nil {
		r.differ(l.Line, "the balance “%s” can not be read", "không đọc được số dư “%s”", app.CleanText(c.Plain(), 40))
	}
	row.Balance = balance.value
	s := sums{in: row.Amount, ins: 1}
	if row.Type == app.Out {
		s = sums{out: row.Amount, outs: 1}
	}
	if row.Amount == 0 || row.Type == "" || row.Fault != nil && row.Fault.Field != "accountNumber" && row.Fault.Field != "currency" {
		s = sums{unsure: true}
	}
	if !l.holdsAmount() {
		s.fees = s.out
	} else if l.charge.digits {
		s.beside = magnitude(l.charge.value)
		r.skip(l.Line, skipCharge)
	}
	if row.Amount != 0 {
		r.addSides()
	}
	r.all.add(s)
	r.present.add(app.NormalizeAccountNumber(row.AccountNumber), l.Line, s, balance.value, balance.known())
	return r.certain(l, row)
}

// endAccount compares the rows of an account with the stated balances and totals, and begins
// the next account. An error means that by the running balances money went the other way.
func (r *Reader) endAccount() error {
	g := r.present
	r.present = reconciliation{}
	if len(g.balances) > 1 { // the stated balances may be those of one account
		g.opening, g.closing = total{}, total{}
	}
	accounts := slices.Sorted(maps.Keys(g.balances))
	alone, rows := 0, 0
	for _, b := range g.balances {
		if rows += b.rows; b.rows == 1 && b.known {
			alone++
		}
	}
	if len(accounts) > 1 && 2*alone > rows {
		r.differ(r.header.line, "most rows are alone in their account, so no balance can be compared: is the column of accounts right?",
			"đa số dòng là dòng duy nhất của tài khoản nên không so được số dư: cột tài khoản có đúng không?")
	}
	for _, account := range accounts {
		if err := r.endSide(&g, g.balances[account]); err != nil {
			return err
		}
	}
	if g.all.unsure || g.all == (sums{}) {
		return nil
	}
	for _, t := range g.above {
		r.compareTotal(t, g.all, r.all)
	}
	for _, account := range accounts {
		r.compareEnds(&g, g.balances[account])
	}
	return nil
}

// endSide refuses rows if by their balances money went the other way.
func (r *Reader) endSide(g *reconciliation, b *running) error {
	opening, closing, whole := b.ends()
	// Equal amounts, or a single one, fit in both directions: then the opening balance decides.
	opened := !b.gap && whole && g.opening.line != 0 && g.opening.value == closing+b.from && g.opening.value != opening
	if b.turned > b.straight || b.straight == 0 && opened {
		return refusedAt(cmp.Or(b.broken, b.line), "by the running balances, what is read as money out came in, and the other way round",
			"theo số dư từng dòng, tiền đọc là ra lại là vào và ngược lại")
	}
	if b.straight > b.turned || !b.gap && whole && g.opening.line != 0 && g.opening.value == opening && opening != closing+b.from {
		r.confirmed = true
	}
	return nil
}

// compareEnds compares the balances of an account with its rows and with the stated balances.
func (r *Reader) compareEnds(g *reconciliation, b *running) {
	opening, closing, whole := b.ends()
	known := !b.gap && whole && len(b.chain) > 0
	if g.opening.line != 0 && g.closing.line != 0 {
		opening, closing, known = g.opening.value, g.opening.value+g.all.moved(), true
		r.confirmed = r.confirmed || closing == g.closing.value && closing != opening
	} else if !b.gap && !whole || b.gap && b.broken > 0 {
		r.differ(cmp.Or(b.broken, b.line), "the balance doesn’t follow from the amounts: some row is missing or is not read rightly",
			"số dư không khớp với các số tiền: có dòng bị thiếu hoặc bị đọc sai")
	}
	if known && g.opening.line != 0 && g.opening.value != opening {
		r.differ(g.opening.line, "the opening balance is %s, but the rows begin with %s", "số dư đầu kỳ là %s, nhưng các dòng bắt đầu từ %s",
			dong(g.opening.value), dong(opening))
	}
	if known && g.closing.line != 0 && g.closing.value != closing {
		r.differ(g.closing.line, "the closing balance is %s, but the rows make %s", "số dư cuối kỳ là %s, nhưng theo các dòng thì là %s",
			dong(g.closing.value), dong(closing))
	}
}

// total compares totals of one line with the rows above them: all rows of the account,
// those since the last line of totals, or all rows of the file. Totals above all rows are
// kept for the end.
func (r *Reader) total(totals ...total) {
	g := &r.present
	if g.all == (sums{}) {
		g.above = append(g.above, totals...)[:min(len(g.above)+len(totals), maxDifferences)]
		return
	}
	for _, t := range totals {
		r.compareTotal(t, g.all, g.page, r.all)
	}
	g.page = sums{}
}

// compareTotal compares a total with each of the sums that it may be.
func (r *Reader) compareTotal(t total, all ...sums) {
	for _, s := range all {
		if t.fits(s) {
			return
		}
	}
	rows := map[app.Direction]int64{app.In: all[0].in, app.Out: all[0].out, "": all[0].in - all[0].out}
	r.differ(t.line, "the total is %s, but the rows make %s", "tổng là %s, nhưng các dòng cộng lại là %s", dong(t.value), dong(rows[t.side]))
}

// These words are in the lines that state balances and totals. partWords are in the names of
// balances and totals of a part of the table, otherSumWords in the names of totals of
// something else than amounts.
var (
	openingWords  = listOf("so du dau ky|so du dau|du dau ky|du dau|opening balance|beginning balance")
	closingWords  = listOf("so du cuoi ky|so du cuoi|du cuoi ky|du cuoi|closing balance|ending balance")
	partWords     = listOf("ngay|trang|thang|day|page|luy ke|mang sang|chuyen sang")
	wholeWords    = listOf("dau ky|cuoi ky")
	debitWords    = listOf("no|ghi no|debit|debits|chi|rut ra|withdrawals|tien ra")
	creditWords   = listOf("co|ghi co|credit|credits|thu|gui vao|deposits|tien vao")
	anyBalance    = listOf("so du|du|balance|du dau|du cuoi")
	otherSumWords = listOf("phi|thue|lai|fee|fees|tax|vat|interest|luy ke|mang sang|chuyen sang")
)

// note keeps the balances and totals that a line outside the rows states: after their
// names, or in the columns of the amounts. ok is false if the line names none.
func (r *Reader) note(rec record) (ok bool) {
	for i, c := range rec.Cells {
		text := c.Words()
		if len(text) > 200 || !beginsSum(text) {
			continue
		}
		ok = true
		label, _ := cutLabel(text)
		if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
			label = text[:colon]
		}
		words := wordsOf(label)
		value, stated := r.statedValue(rec, i)
		debit, credit := debitWords.in(words), creditWords.in(words)
		switch {
		case otherSumWords.in(words), partWords.in(words) && !wholeWords.in(words) && anyBalance.in(words):
		case stated && openingWords.in(words):
			r.present.opening = total{line: rec.Line, value: value}
		case stated && closingWords.in(words):
			r.present.closing = total{line: rec.Line, value: value}
		case anyBalance.in(words):
		case stated && debit && !credit:
			r.total(total{rec.Line, app.Out, value})
		case stated && credit && !debit:
			r.total(total{rec.Line, app.In, value})
		case r.lines > 0:
			r.sumLine(rec)
			return true
		}
	}
	return ok
}

// sumLine compares the totals in the columns of the amounts with the rows.
func (r *Reader) sumLine(rec record) {
	var totals []total
	for _, f := range amountFields {
		side := map[field]app.Direction{fieldDebit: app.Out, fieldCredit: app.In}[f]
		if m := parseMoney(rec.Cell(r.header.columns.of(f))); m.known() && (side != "" || totals == nil) {
			totals = append(totals, total{rec.Line, side, m.value})
		}
	}
	r.total(totals...)
}

// statedValue returns the value of the label in cell i: the number after the label in the
// same cell, or below a header in the column of balances, or in the next cell that isn't
// empty.
func (r *Reader) statedValue(rec record, i int) (int64, bool) {
	text := rec.Cells[i].Plain()
	_, value := cutLabel(text)
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
		value = text[colon+1:]
	}
	m := parseMoney(cell{Text: value})
	if !m.known() && r.lines > 0 {
		m = parseMoney(rec.Cell(r.header.columns.of(fieldBalance)))
	}
	for next := i + 1; !m.known() && m.err == nil && next < len(rec.Cells); next++ {
		m = parseMoney(rec.Cells[next])
	}
	return m.value, m.known()
}

func magnitude(n int64) int64 { return max(n, -n) }

// dong formats an amount of VND.
func dong(n int64) string { return app.GroupDigits(n, app.Vietnamese) }
