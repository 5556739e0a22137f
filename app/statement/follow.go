package statement

import (
	"errors"
	"slices"
	"strings"

	"baoco/app"
)

// follow has a transaction compared with what the file says of it: how its
// amounts are written, and the balance behind it.
func (r *Reader) follow(l line, row Row) error {
	r.rows++
	if r.doubt != nil {
		return r.doubt
	}
	for _, m := range []money{l.debit, l.credit, l.amount} {
		if err := r.format.add(l.line, m); err != nil {
			return err
		}
	}
	if l.amount.value != 0 && l.amount.err == nil {
		if r.sawSign = r.sawSign || l.amount.signed; r.unsigned == 0 && !l.amount.signed {
			r.unsigned = l.line
		}
	}
	if err := errors.Join(r.other.look(l, r.account), r.companyLedger(l)); err != nil {
		return err
	}
	balance, err := r.balance(l)
	if err != nil {
		return err
	}
	charge := r.charge(l)
	if charge != 0 {
		r.skip(l.line, skipCharge)
	}
	chain := r.book
	if r.header.columns.has(fieldAccount) {
		if r.byColumn == nil {
			r.byColumn = map[string]*ledger{}
		}
		if chain = r.byColumn[row.AccountNumber]; chain == nil {
			chain = &ledger{}
			r.byColumn[row.AccountNumber] = chain
		}
	}
	if !row.moneyKnown() {
		chain.unknown()
		if chain != r.book {
			r.book.unknown()
		}
		return nil
	}
	moved := row.Amount
	if row.Type == app.Out {
		moved = -moved
		r.file.out += row.Amount
	} else {
		r.file.in += row.Amount
	}
	if chain != r.book {
		if err := r.book.add(l.line, moved, charge, nil); err != nil {
			return err
		}
	}
	return chain.add(l.line, moved, charge, balance)
}

// companyLedger refuses a company's own ledger of its bank account, where debit is
// money in. The accounts beside its rows are those of a chart of accounts, such as
// 131 or 33311; no bank gives so short a number. Receipts and payments ("Thu",
// "Chi") are the same to both.
func (r *Reader) companyLedger(l line) error {
	text := r.text(l, fieldCounterpart)
	if len(text) < 3 || len(text) > 5 || strings.Trim(text, "0123456789") != "" || !r.hasSides() {
		return nil
	}
	return errLedger(l.line, text)
}

// ledgerTitle refuses a line above the table that names it a company's own ledger.
func (r *Reader) ledgerTitle(rec record) error {
	for _, text := range texts(rec) {
		if len(text) < 200 && hasAny(wordsOf(text), ledgerTitles) && r.hasSides() {
			return errLedger(rec.line, text)
		}
	}
	return nil
}

func errLedger(line int, named string) error {
	return refusedAt(line, "“%s” is of a company’s own ledger, where debit is money in; import the statement of the bank, or name the columns with --map",
		"“%s” là của sổ kế toán công ty, ở đó Nợ là tiền vào; hãy nhập sao kê của ngân hàng, hoặc chỉ định cột bằng --map", named)
}

// hasSides tells whether the columns of money are named by the sides of an
// account, and not by a person.
func (r *Reader) hasSides() bool {
	return !r.moneyMapped() && slices.ContainsFunc([]field{fieldDebit, fieldCredit}, func(f field) bool {
		i := r.header.columns.of(f)
		return i >= 0 && i < len(r.header.names) && hasAny(wordsOf(r.header.names[i]), ledgerWords)
	})
}

// ledgerWords name the sides of an account, ledgerTitles a company's ledger, folded.
var (
	ledgerWords  = []string{"no", "co", "debit", "credit"}
	ledgerTitles = []string{"so cai", "so chi tiet tai khoan", "so chi tiet cac tai khoan", "so chi tiet tk", "so ke toan", "nhat ky chung", "general ledger"}
)

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

// charge is what the columns of fees, taxes and interest hold.
func (r *Reader) charge(l line) (sum int64) {
	for _, i := range r.header.charges {
		if n, ok, err := parseBalance(l.cell(i)); ok && err == nil {
			sum += n
		}
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
		return refusedAt(unsigned, "nothing says whether the amounts of column %s came in or went out; on the command line --map credit= or --map debit= names it if all did, --map type= the column that says so",
			"không có gì cho biết số tiền ở cột %s là vào hay ra; trên dòng lệnh dùng --map credit= hoặc --map debit= nếu tất cả cùng chiều, --map type= để chỉ cột cho biết chiều", r.moneyColumns())
	}
	return r.format.end(r.vnd)
}

// endAccount ends the tables of an account.
func (r *Reader) endAccount() error {
	book := r.book
	r.book = &ledger{}
	for _, chain := range r.byColumn {
		if err := chain.end(); err != nil {
			return err
		}
	}
	r.byColumn = nil
	return book.end()
}

// numberFormat is what the amounts of a file show of how it writes numbers.
type numberFormat struct {
	marks
	whole bool // some number has both marks
	alone int  // the line of the first number with decimals and no group
}

// add takes a number's marks over. Two numbers that use one mark in two ways
// make all of them doubtful: 1.234 is a thousand in the one and one in the other.
func (f *numberFormat) add(line int, m money) error {
	if m.err != nil {
		return nil
	}
	group, decimal := m.marks.group, m.marks.decimal
	if group == ' ' {
		group = 0
	}
	if group != 0 && (group == f.decimal || f.group != 0 && group != f.group) || decimal != 0 && (decimal == f.group || f.decimal != 0 && decimal != f.decimal) {
		return refusedAt(line, "its numbers are not written as those above: the points and commas in them can be read in two ways",
			"cách viết số khác với các dòng trên: dấu chấm và dấu phẩy có thể hiểu theo hai cách")
	}
	if group != 0 {
		f.group = group
	}
	if decimal != 0 {
		f.decimal = decimal
		f.whole = f.whole || m.marks.group != 0
	}
	if decimal != 0 && m.marks.group == 0 && m.value != 0 && f.alone == 0 {
		f.alone = line
	}
	return nil
}

// end refuses numbers like 100.00 where nothing shows that these are VND with
// decimals that are 0: they may be of another currency.
func (f *numberFormat) end(vnd bool) error {
	if f.alone == 0 || f.whole || vnd {
		return nil
	}
	return refusedAt(f.alone, "an amount like 100.00 may be of another currency: nothing in the file says VND, and no number shows how thousands are written",
		"số tiền như 100.00 có thể là tiền tệ khác: tệp không ghi VND và không có số nào cho thấy cách viết hàng nghìn")
}
