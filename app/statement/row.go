package statement

import (
	"maps"
	"slices"
	"strings"
	"time"

	"baoco/app"
)

// This file decides which lines are transactions. The lines below a header are judged in
// this order:
//
//  1. A line without a date that begins with the words for "account number" names
//     the account of the lines below it.
//  2. A line without money is no transaction, unless it has a date and another cell: then
//     it is a transaction that can't be read. If the table has only one column of amounts,
//     the file is refused, since other columns may hold amounts.
//  3. A line with money and a date is a transaction, unless its whole text names
//     a balance ("Số dư đầu kỳ") and it has no number of the bank.
//  4. A line with money and without a date is a sum ("Tổng cộng") if it has no
//     number of the bank, and either one of its cells begins with a word for a sum,
//     or it holds nothing but numbers, or a word without digits stands in the place
//     of the date and the line has no content.
//  5. Any other line with money is a transaction. If it has no date, but the other cells of
//     a row, it has the day of the row above; else its time is unknown. Money is never
//     lost because a date is missing: the import reports the row.
//
// A line has money if a column of amounts or of fees holds a digit other than 0.

// line is one line below the header, with its cells read.
type line struct {
	record
	debit, credit, amount money
	charge                money // the sum of the columns of fees and taxes
	date                  date
	dated                 bool
}

func (l line) amounts() []money { return []money{l.debit, l.credit, l.amount} }

func (l line) holdsMoney() bool { return l.holdsAmount() || l.charge.digits }

func (l line) holdsAmount() bool { return l.debit.digits || l.credit.digits || l.amount.digits }

func (r *Reader) parse(rec record) line {
	c := r.header.columns
	l := line{
		record: rec,
		debit:  parseMoney(rec.Cell(c.of(fieldDebit))),
		credit: parseMoney(rec.Cell(c.of(fieldCredit))),
		amount: parseMoney(rec.Cell(c.of(fieldAmount))),
		charge: r.parseCharges(rec),
	}
	posting := rec.Cell(c.of(fieldPosting))
	day := rec.Cell(c.of(fieldDate))
	if day.Plain() == "" { // an impossible date isn't replaced by another one
		day = posting
	}
	l.date, l.dated = parseDate(day, r.options.Zone, r.file.Date1904)
	if !l.dated || l.date.clock {
		return l
	}
	y, m, d := l.date.at.Date()
	if seconds, ok := parseClock(rec.Cell(c.of(fieldClock))); ok {
		l.date.at, l.date.clock = time.Date(y, m, d, 0, 0, seconds, 0, r.options.Zone), true
	} else if other, ok := parseDate(posting, r.options.Zone, r.file.Date1904); ok && other.clock {
		if oy, om, od := other.at.In(r.options.Zone).Date(); oy == y && om == m && od == d {
			l.date.at, l.date.clock = other.at, true
		}
	}
	return l
}

// read returns the transaction of a line; nil: the line is no transaction. An error means
// that the file isn't understood.
func (r *Reader) read(rec record) (*Row, error) {
	wasOpen := r.open
	r.open = false
	if rec.Filled() == 0 {
		return nil, nil
	}
	r.lines++
	l := r.parse(rec)
	namesAccount := !l.dated && r.isAccountLine(rec)
	r.addUnseen(rec, l.dated, namesAccount)
	if !l.dated {
		if ok, err := r.readHeader(rec); ok {
			return nil, err
		}
	}
	var fault *app.FieldError
	switch {
	case !l.dated && r.isNumbering(l):
		r.skip(l.Line, skipHeader)
		return nil, nil
	case namesAccount:
		r.skip(l.Line, skipAccount)
		return nil, r.changeAccount(rec)
	case !l.holdsMoney() && !l.dated && wasOpen && r.continues(l):
		r.open = true
		return nil, nil
	case !l.holdsMoney() && !l.dated:
		return nil, r.readText(rec)
	case !l.holdsMoney():
		var err error
		if fault, err = r.withoutMoney(l); fault == nil {
			return nil, err
		}
	case l.dated && r.isBalance(l):
		r.skip(l.Line, skipSum)
		r.note(rec)
		return nil, nil
	case !l.dated && r.isSum(l):
		r.skip(l.Line, skipSum)
		if !r.note(rec) {
			r.sumLine(rec)
		}
		return nil, nil
	}
	row := r.row(l, fault)
	return &row, r.compare(l, &row)
}

// withoutMoney reads a line with a date and no amount: a balance, a day above
// its rows, or a transaction with the fault that is returned.
func (r *Reader) withoutMoney(l line) (*app.FieldError, error) {
	for _, m := range l.amounts() {
		if m.err != nil {
			return amountFault(m.err), nil
		}
	}
	c := r.header.columns
	if r.file.Sheets == nil && len(l.Cells) <= max(c.of(fieldDebit), c.of(fieldCredit), c.of(fieldAmount)) {
		return fieldFault("line", "ends before its amount; a quotation mark may be missing",
			"kết thúc trước cột số tiền; có thể thiếu dấu ngoặc kép"), nil
	}
	zeros := strings.TrimSpace(r.text(l, fieldDebit)+r.text(l, fieldCredit)+r.text(l, fieldAmount)) != ""
	switch {
	case r.isBalance(l) || r.text(l, fieldNumber) == "" && beginsSum(r.text(l, fieldContent)):
		r.skip(l.Line, skipSum)
		r.note(l.record)
		return nil, nil
	case l.Filled() == 1:
		r.day = l.date
		r.skip(l.Line, skipDay)
		return nil, nil
	case (!c.has(fieldDebit) || !c.has(fieldCredit)) && !(zeros && c.has(fieldType)):
		return nil, refusedAt(l.Line, "it has a date and no amount in %s; the amounts of some rows are in a column that is not understood",
			"dòng này có ngày nhưng không có số tiền ở %s; có thể số tiền của một số dòng nằm ở cột khác mà baoco không đọc được", r.moneyColumns())
	case zeros:
		r.skip(l.Line, skipZero)
		return nil, nil
	}
	return fieldFault("transferAmount", "is missing", "bị thiếu"), nil
}

// moneyColumns names the columns of amounts, for people.
func (r *Reader) moneyColumns() string {
	var list []string
	for _, f := range amountFields {
		if i := r.header.columns.of(f); i >= 0 {
			list = append(list, strings.TrimSuffix(columnName(i)+" “"+r.header.name(f)+"”", " “”"))
		}
	}
	return strings.Join(list, ", ")
}

// readText reads a line with neither date nor money.
func (r *Reader) readText(rec record) error {
	directions := 0
	for _, c := range rec.Cells {
		if directionOf(c.Words()) != "" {
			directions++
		}
	}
	switch {
	case r.note(rec):
		r.sums = rec.Line
		r.skip(rec.Line, skipSum)
	case directions >= 2:
		return refusedAt(rec.Line, "it looks like a header with debit and credit, but can not be read as one",
			"dòng này giống dòng tiêu đề có cột Nợ và Có nhưng không đọc được")
	default:
		r.skip(rec.Line, skipText)
	}
	return r.readUnit(rec)
}

// text is the text of a field in the line.
func (r *Reader) text(l line, f field) string { return l.Cell(r.header.columns.of(f)).Plain() }

// maxContinued is the length, in bytes, to which the lines below may extend a content. It
// is longer than the part of a content that is kept.
const maxContinued = 4 * app.MaxContent

// continues tells whether a line continues the content of the line above: only its content
// column is filled. It adds the line to that content.
func (r *Reader) continues(l line) bool {
	text := r.text(l, fieldContent)
	if r.held == nil || text == "" || l.Filled() != 1 || beginsSum(text) {
		return false
	}
	if len(r.held.Content)+len(text) < maxContinued {
		r.held.Content += " " + oneLine(text)
	}
	return true
}

// readHeader reads a further header, on the next page or above the table of the next
// account, and takes over its columns, which may be others. ok is false if the line is no
// header.
func (r *Reader) readHeader(rec record) (ok bool, err error) {
	if !titled(rec) {
		return false, nil
	}
	h, ok, err := headerAt(append([]record{rec}, r.peek(headerRows-1)...), r.options)
	if !ok || err != nil {
		return ok, err
	}
	r.skip(rec.Line, skipHeader)
	r.leaveAccounts(&h)
	r.ahead = r.ahead[h.next-1:]
	if !maps.Equal(h.columns, r.header.columns) {
		if err := r.endTable(); err != nil {
			return true, err
		}
	}
	r.header, r.lines = h, 0
	return true, nil
}

// leaveAccounts leaves out the columns of account numbers and banks, which may be about the
// other side, unless a person named them or baoco exported the file.
func (r *Reader) leaveAccounts(h *header) {
	if r.options.Map[string(fieldAccount)] != "" || h.columns.has(fieldOwn) {
		return
	}
	if h.columns.has(fieldAccount) {
		r.layout.UnclearAccount = r.account == ""
	}
	delete(h.columns, fieldAccount)
	if r.options.Map[string(fieldGateway)] == "" {
		delete(h.columns, fieldGateway)
	}
}

// isAccountLine tells whether a line between tables names an account.
func (r *Reader) isAccountLine(rec record) bool {
	for i, c := range rec.Cells {
		if c.Plain() == "" {
			continue
		}
		if c.Number || i == r.header.columns.of(fieldContent) && rec.Filled() > 1 {
			return false
		}
		label, number := cutLabel(c.Plain())
		return isAccountLabel(label) || endsWithAccount(label) && accountDigits(cell{Text: number}) != ""
	}
	return false
}

// changeAccount reads the account that a line names for the lines below it.
func (r *Reader) changeAccount(rec record) error {
	if err := r.readUnit(rec); err != nil {
		return err
	}
	number, _ := namedAccount(rec, endsWithAccount)
	if number == r.account {
		return nil
	}
	if r.account == "" && r.rows > 0 {
		return refusedAt(rec.Line, "account %s is named only below rows that name none",
			"tài khoản %s chỉ được nêu bên dưới các dòng không nêu tài khoản", number)
	}
	r.account = number
	return r.endAccount()
}

var (
	sumWords = listOf("tong|total|totals|grand total|sub total|subtotal|cong|luy ke|so du|du dau|du cuoi|opening balance|closing balance|" +
		"beginning balance|ending balance|balance|mang sang|phat sinh trong ky|doanh so")
	balanceWords = listOf("=so du dau ky|=so du cuoi ky|=so du dau|=so du cuoi|=du dau ky|=du cuoi ky|=so du dau ngay|=so du cuoi ngay|" +
		"=opening balance|=closing balance|=beginning balance|=ending balance|=balance brought forward|=balance b f|" +
		"=balance carried forward|=so du dau ky opening balance|=so du cuoi ky closing balance")
	notSums = listOf("tong cong ty|tong cty|cong ty|tong ket")
)

// beginsSum tells whether text begins with the words of a sum or a balance. A
// company's name ("Tổng công ty") and interest ("Tổng kết lãi") do not.
func beginsSum(text string) bool {
	key := wordsOf(text[:min(len(text), 200)])
	return !notSums.begins(key) && sumWords.begins(key)
}

// isBalance tells whether a line with a date is a balance.
func (r *Reader) isBalance(l line) bool {
	content := r.text(l, fieldContent)
	return len(content) < 100 && r.text(l, fieldNumber) == "" && balanceWords.in(wordsOf(content))
}

// isSum tells whether a line without a date is a sum.
func (r *Reader) isSum(l line) bool {
	index, number := r.text(l, fieldIndex), r.text(l, fieldNumber)
	if number != "" && !beginsSum(number) || index != "" && app.AllDigits(index) {
		return false
	}
	onlyNumbers := true
	for _, c := range l.Cells {
		text := c.Plain()
		if beginsSum(text) {
			return true
		}
		onlyNumbers = onlyNumbers && (c.Number || strings.Trim(text, "0123456789.,-+() ") == "")
	}
	when := r.text(l, fieldDate) + r.text(l, fieldPosting)
	if strings.Trim(when, "-") == "" || r.sums == l.Line-1 {
		return onlyNumbers
	}
	return !strings.ContainsAny(when, "0123456789") && r.text(l, fieldContent) == ""
}

// isNumbering tells whether a line numbers the columns of the header above it: (1), (2),
// (3), or A, B, 1, 2 in the forms of accountants.
func (r *Reader) isNumbering(l line) bool {
	return r.header.line != 0 && r.lines <= 2 && l.Filled() >= 3 &&
		!slices.ContainsFunc(l.Cells, func(c cell) bool { return len(strings.Trim(c.Plain(), "()[]")) > 2 })
}

// Skip is a reason why lines are no transactions, with the number of such lines.
type Skip struct {
	Reason app.Text
	Lines  int64
	First  int // the number of the first such line
}

// These are the reasons why a line is no transaction.
var (
	skipAccount = app.Text{EN: "names the account", VI: "nêu tài khoản"}
	skipHeader  = app.Text{EN: "header again", VI: "lặp lại tiêu đề"}
	skipSum     = app.Text{EN: "total or balance", VI: "dòng tổng hoặc số dư"}
	skipZero    = app.Text{EN: "the amount is 0", VI: "số tiền bằng 0"}
	skipText    = app.Text{EN: "neither date nor amount", VI: "không có ngày và số tiền"}
	skipDay     = app.Text{EN: "nothing but a date", VI: "chỉ có ngày"}
	skipCharge  = app.Text{
		EN: "fee, tax or interest beside an amount: not recorded, only the amount of the row is",
		VI: "phí, thuế hoặc lãi bên cạnh số tiền: không ghi nhận, chỉ ghi số tiền của dòng",
	}
)

// skip counts a line that is no transaction.
func (r *Reader) skip(line int, reason app.Text) {
	for i := range r.skips {
		if r.skips[i].Reason == reason {
			r.skips[i].Lines++
			return
		}
	}
	r.skips = append(r.skips, Skip{reason, 1, line})
}
