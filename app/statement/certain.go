package statement

import (
	"errors"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"baoco/app"
)

// The rules of this file refuse a file whose amounts could be read with the wrong direction
// or size: one row alone doesn't show this.

// certainty collects what the rows of a file show about the reading of its amounts.
type certainty struct {
	debits   int                    // the sign of the first amount in the column of money out
	doubt    error                  // why the direction of the rows above isn't certain
	unsigned int                    // the line of the first amount without a sign in a column of both directions
	signed   bool                   // some amount of that column has a sign
	readable map[app.Direction]bool // the directions of the amounts that could be read
	unread   map[field][]int        // the lines of amounts that could not be read, and of unknown types

	marks      // the marks of all numbers
	whole bool // some number has both marks
	alone int  // the line of the first number with decimals and no group
	vnd   bool // the file says that it is in VND
}

// certain returns an error if the amounts of a row can be read in several ways.
func (r *Reader) certain(l line, row *Row) error {
	if m := l.amount; m.value != 0 && m.err == nil {
		if r.signed = r.signed || m.signed; r.unsigned == 0 && !m.signed {
			r.unsigned = l.Line
		}
	}
	if row.Amount != 0 && row.Type != "" {
		r.readable[row.Type] = true
	}
	for f, unread := range map[field]bool{fieldDebit: l.debit.err != nil, fieldCredit: l.credit.err != nil, fieldAmount: l.amount.err != nil,
		fieldType: row.Amount != 0 && row.Type == ""} {
		if unread && len(r.unread[f]) < 2 {
			r.unread[f] = append(r.unread[f], l.Line)
		}
	}
	for _, i := range r.header.amounts() {
		if c := l.Cell(i); errors.Is(parseMoney(c).err, errAmountShown) {
			return refusedAt(l.Line, "column %s shows “%s” where the cell holds %s; choose a plain number format for it, and look at the amounts",
				"cột %s hiển thị “%s” trong khi ô chứa số %s; hãy chọn định dạng số thường cho cột rồi xem lại số tiền",
				columnName(i), app.CleanText(c.Shown, 40), c.Plain())
		}
	}
	err := r.doubt
	if account := r.text(l, fieldCounterpart); err == nil && len(account) >= 3 && len(account) <= 5 && app.AllDigits(account) {
		err = r.ledger(l.Line, account)
	}
	for _, m := range append(l.amounts(), parseMoney(l.Cell(r.header.columns.of(fieldBalance)))) {
		if err == nil {
			err = r.addMarks(l.Line, m)
		}
	}
	return err
}

// endTable ends the rows below a header. If no amount of a column of both directions has a
// sign, nothing says which way money went, and the file is refused.
func (r *Reader) endTable() error {
	unsigned := r.unsigned
	if c := r.header.columns; r.signed || c.has(fieldType) || c.has(fieldDebit) || c.has(fieldCredit) {
		unsigned = 0
	}
	r.unsigned, r.signed, r.debits = 0, false, 0
	if unsigned == 0 {
		return nil
	}
	return withFlag("--map credit=…, --map debit=… or --map type=…",
		refusedAt(unsigned,
			"nothing says whether the amounts of column %s came in or went out; choose it as money in or money out if all did, or choose "+
				"the column that says so",
			"không có gì cho biết số tiền ở cột %s là vào hay ra; hãy chọn cột đó là tiền vào hoặc tiền ra nếu tất cả cùng chiều, hoặc "+
				"chọn cột cho biết chiều", r.moneyColumns()))
}

// endFile refuses a file of which only one direction could be read, and numbers like
// 100.00 if nothing in the file says VND or shows a mark of thousands: they may be in
// another currency.
func (r *Reader) endFile() error {
	for f, lines := range r.unread {
		in, out := r.readable[app.In], r.readable[app.Out]
		if in != out && (f == fieldDebit && in || f == fieldCredit && out || (f == fieldAmount || f == fieldType) && len(lines) > 1) {
			return refusedAt(lines[0], "column %s “%s” can not be read here, so only one direction of the money would be imported",
				"không đọc được cột %s “%s” ở đây, nên chỉ nhập được một chiều tiền", columnName(r.header.columns.of(f)), r.header.name(f))
		}
	}
	if r.alone == 0 || r.whole || r.vnd {
		return nil
	}
	return refusedAt(r.alone,
		"an amount like 100.00 may be of another currency: nothing in the file says VND, and no number shows how thousands are written",
		"số tiền như 100.00 có thể là tiền tệ khác: tệp không ghi VND và không có số nào cho thấy cách viết hàng nghìn")
}

// addMarks adds the marks of a number. Two numbers that use one mark in two ways make all
// numbers doubtful: 1.234 is more than a thousand in one way, and about one in the other.
// The marks of numbers with decimals other than 0 count too, though these are no amounts.
func (r *Reader) addMarks(line int, m money) error {
	if m.err != nil && !errors.Is(m.err, app.ErrAmountFraction) {
		return nil
	}
	group, decimal := m.marks.group, m.marks.decimal
	if group == ' ' {
		group = 0
	}
	if group != 0 && (group == r.decimal || r.group != 0 && group != r.group) || decimal != 0 &&
		(decimal == r.group || r.decimal != 0 && decimal != r.decimal) {
		return refusedAt(line, "its numbers are not written as those above: the points and commas in them can be read in two ways",
			"cách viết số khác với các dòng trên: dấu chấm và dấu phẩy có thể hiểu theo hai cách")
	}
	if group != 0 {
		r.group = group
	}
	if decimal != 0 {
		r.decimal = decimal
		r.whole = r.whole || m.marks.group != 0 && m.err == nil
		if m.marks.group == 0 && m.value != 0 && r.alone == 0 {
			r.alone = line
		}
	}
	return nil
}

// ledgerWords name the sides of an account, movingWords money that comes or goes. ledgerTitles and
// ledgerBook name a company's own ledger of its bank account, where debit is money in; ledgerBook
// needs the Vietnamese marks, since "số tiền gửi" is an amount. ledgerCode is an account of the
// chart of accounts, or the form of a ledger. loanTitles name loans and credit cards.
var (
	ledgerWords  = listOf("no|co|debit|credit|dr|cr")
	movingWords  = listOf("rut|gui|chi|thu|ra|vao|giam|tang|tru|nhan|withdrawal|withdrawals|deposit|deposits|out|paid")
	ledgerTitles = listOf("so cai|so chi tiet tai khoan|so chi tiet cac tai khoan|so chi tiet tk|so ke toan|nhat ky chung|" +
		"doi chieu cong no|general ledger|account ledger|bank book|cash book")
	ledgerBook = regexp.MustCompile(`(?i)sổ (?:chi tiết|quỹ|tiền gửi|theo dõi|nhật ký)`)
	ledgerCode = regexp.MustCompile(` (?:tai khoan|tk|account) (?:so |no )?(?:11[12]|131|331)\d?[a-z]* (?:\D|$)| mau so s\d\d`)
	loanTitles = listOf("khoan vay|tien vay|hop dong tin dung|khe uoc|du no|lai phai tra|loan statement|loan account|loan no|loan number|" +
		"the tin dung|credit card")
)

// title refuses a line above the table that says that the file isn't the bank's statement
// of an account.
func (r *Reader) title(rec record) error {
	text := ""
	for _, c := range rec.Cells {
		if len(c.Text) < 200 {
			text += " " + c.Plain()
		}
	}
	text = norm.NFC.String(strings.TrimSpace(text))
	words, shown := wordsOf(text), app.CleanText(text, 60)
	switch {
	case loanTitles.in(words) && !r.options.mapsMoney():
		return withFlag("--map credit=…", refusedAt(rec.Line,
			"“%s” is of a loan or a credit card, whose money isn’t that of a bank account; import the statement of the account, or choose "+
				"the columns yourself",
			"“%s” là của khoản vay hoặc thẻ tín dụng, không phải tiền trong tài khoản; hãy nhập sao kê tài khoản, hoặc tự chọn cột", shown))
	case ledgerTitles.in(words), ledgerBook.MatchString(text), ledgerCode.MatchString(words):
		return r.ledger(rec.Line, shown)
	}
	return nil
}

// ledger refuses a company's own ledger, which is named by a line above the table, or by an
// account of the chart of accounts beside a row, such as 131 or 33311; no bank has such short
// numbers. Receipts and payments ("Thu", "Chi") mean the same to bank and company.
func (r *Reader) ledger(line int, named string) error {
	if r.options.mapsMoney() || !ledgerWords.in(wordsOf(r.header.name(fieldDebit)+" "+r.header.name(fieldCredit))) {
		return nil
	}
	return withFlag("--map credit=…", refusedAt(line,
		"“%s” is of a company’s own ledger, where debit is money in; import the statement of the bank, or choose the columns yourself",
		"“%s” là của sổ kế toán công ty, ở đó Nợ là tiền vào; hãy nhập sao kê của ngân hàng, hoặc tự chọn cột", named))
}
