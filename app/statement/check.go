package statement

import (
	"errors"

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
