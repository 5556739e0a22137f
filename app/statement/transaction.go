package statement

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/inbound"
)

// row makes a transaction of a line. fault is a fault that is known already, or nil.
func (r *Reader) row(l line, fault *app.FieldError) Row {
	row := Row{Line: l.Line, Cells: r.written(l)}
	e := &row.Incoming
	e.EventID = r.text(l, fieldID)
	e.Gateway = r.layout.Bank
	if r.header.columns.has(fieldGateway) {
		e.Gateway = r.text(l, fieldGateway)
	}
	e.Content = oneLine(r.text(l, fieldContent))
	e.Number = r.number(l)
	r.setTime(l, e)
	var accountFault *app.FieldError
	e.AccountNumber, accountFault = r.accountNumber(l)
	e.Fault = cmp.Or(r.widthFault(l), fault, r.readMoney(l, e), r.currencyFault(l), accountFault, r.statusFault(l))
	return row
}

// oneLine joins the lines of a cell.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\r' || r == '\n' }), " ")
}

// setTime sets the time of a transaction; zero: unknown. Banks that don't repeat a date
// leave it out of the rows below.
func (r *Reader) setTime(l line, e *inbound.Incoming) {
	c := r.header.columns
	switch written := r.text(l, fieldDate) + r.text(l, fieldPosting); {
	case l.dated:
		r.day = l.date
	case written != "":
		e.DateFlaw = app.DateImpossible
		return
	case slices.ContainsFunc(l.Cells, func(c cell) bool { return beginsSum(c.Plain()) }),
		slices.ContainsFunc([]field{fieldContent, fieldIndex, fieldNumber, fieldBalance},
			func(f field) bool { return c.has(f) && r.text(l, f) == "" }):
		return // the line is a sum, or lacks cells that a row has
	}
	e.Time, e.DateOnly = r.day.at, !r.day.at.IsZero() && !r.day.clock
}

// number returns the bank's number of a transaction. If no column holds such numbers, it is
// the text after the date in the cell of the date. A number whose last digits a spreadsheet
// has lost is left out, since two such numbers may look the same.
func (r *Reader) number(l line) string {
	if !r.header.columns.has(fieldNumber) {
		return l.date.rest
	}
	text, _ := exactText(l.Cell(r.header.columns.of(fieldNumber)))
	return text
}

// leaveCounter leaves out a column of numbers that counts the rows, 1, 2, 3: it is no
// number of the bank, and another file gives the same rows other numbers.
func (r *Reader) leaveCounter() {
	at, next := r.header.columns.of(fieldNumber), 1
	for _, l := range r.peek(headerLines) {
		if text := l.Cell(at).Plain(); text == strconv.Itoa(next) {
			next++
		} else if text != "" {
			return
		}
	}
	if next > 1 {
		delete(r.header.columns, fieldNumber)
		r.header.columns[fieldIndex] = at
	}
}

// accountNumber returns the account number in its column, or else the one that is named
// outside the table.
func (r *Reader) accountNumber(l line) (string, *app.FieldError) {
	c := l.Cell(r.header.columns.of(fieldAccount))
	text, ok := exactText(c)
	if !ok {
		return c.Plain(), fieldFault("accountNumber", "has lost digits in the spreadsheet; the column must be text",
			"đã mất chữ số trong bảng tính; cột này phải ở dạng văn bản")
	}
	return cmp.Or(text, r.account), nil
}

// currencyFault returns the fault of a row in another currency, or whose cell in the column
// of currencies is empty.
func (r *Reader) currencyFault(l line) *app.FieldError {
	text := shownCurrency(l.Cell(r.header.columns.of(fieldBalance)))
	for _, i := range r.header.amounts() {
		text = cmp.Or(shownCurrency(l.Cell(i)), text)
	}
	if text == "" && !r.header.columns.has(fieldCurrency) {
		return nil
	}
	text = cmp.Or(text, r.text(l, fieldCurrency))
	if words := wordsOf(text); isVND(words) && !foreignWords.in(words) {
		r.vnd = true
		return nil
	}
	return fieldFault("currency", "is “%s”; only VND is recorded", "là “%s”; chỉ ghi nhận VND", app.CleanText(text, 20))
}

// doneWords are the statuses of transactions that moved money.
var doneWords = listOf("=thanh cong|=da thanh cong|=giao dich thanh cong|=hoan thanh|=da hoan thanh|=hoan tat|=da hoan tat|=da hach toan|" +
	"=da ghi so|=success|=successful|=succeeded|=completed|=complete|=done|=posted|=booked|=settled|=ok")

// statusFault returns the fault of a row unless its status certainly means that money
// moved: a payment that failed, or is pending, is no transaction.
func (r *Reader) statusFault(l line) *app.FieldError {
	text := r.text(l, fieldStatus)
	if text == "" || doneWords.in(wordsOf(text)) {
		return nil
	}
	return fieldFault("status", "is “%s”, which may not be done", "là “%s”, có thể chưa hoàn thành", app.CleanText(text, 40))
}

// maxExact is the largest number of which a spreadsheet keeps every digit: it keeps 15
// digits.
const maxExact = 999_999_999_999_999

// exactText returns the text of a cell, or the digits of a whole number of a spreadsheet,
// which may be written as 1.9033E+13. ok is false where some digits may be lost.
func exactText(c cell) (text string, ok bool) {
	text = c.Plain()
	f, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	switch {
	case c.Number && app.AllDigits(text) && len(text) <= 15:
		return text, true
	case c.Number && err == nil && f >= 0 && f <= maxExact && f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 0, 64), true
	case c.Number, err == nil && strings.Contains(text, "E+"):
		return "", false
	}
	return text, true
}

// widthFault returns the fault of a line of a text file with another number of cells than
// the header. With more cells, an amount or a content that isn't quoted was cut at a
// delimiter. With fewer cells of which the last is an amount, this amount may be cut.
func (r *Reader) widthFault(l line) *app.FieldError {
	last := len(l.Cells) - 1
	switch {
	case r.file.Sheets != nil:
	case last >= r.header.width && slices.ContainsFunc(l.Cells[r.header.width:], func(c cell) bool { return c.Plain() != "" }):
		return fieldFault("line", "has more cells than the header; an amount or a text with the delimiter in it must be quoted",
			"có nhiều ô hơn dòng tiêu đề; số tiền hoặc nội dung chứa dấu phân cách phải đặt trong ngoặc kép")
	case r.cutAtCommas(l):
		return fieldFault("line", "has an amount that is cut at its commas; amounts must be quoted",
			"có số tiền bị cắt ở dấu phẩy; số tiền phải đặt trong ngoặc kép")
	case last < r.header.width-1 && slices.Contains(r.header.amounts(), last) && l.Cells[last].Plain() != "":
		return fieldFault("line", "ends with its amount, which may be cut", "kết thúc ngay ở số tiền, có thể đã bị cắt")
	}
	return nil
}

// cutAtCommas tells whether an amount looks like the first group of a number
// that continues in the next cell: 1,500,000 between commas.
func (r *Reader) cutAtCommas(l line) bool {
	if !r.commas {
		return false
	}
	balance := r.header.columns.of(fieldBalance)
	for _, i := range r.header.amounts() {
		first, next := strings.TrimLeft(l.Cell(i).Plain(), "+-"), l.Cell(i+1).Plain()
		if len(first) >= 1 && len(first) <= 3 && first[0] != '0' && len(next) == 3 && (i+1 != balance || next[0] == '0') &&
			strings.Trim(first+next, "0123456789") == "" {
			return true
		}
	}
	return false
}

// written returns the texts of a line, with dates of a spreadsheet as yyyy-mm-dd.
func (r *Reader) written(l line) []string {
	cells := make([]string, len(l.Cells))
	for i, c := range l.Cells {
		cells[i] = c.Text
		if shownCurrency(c) != "" {
			cells[i] = c.Shown
		}
		if c.Number && (i == r.header.columns.of(fieldDate) || i == r.header.columns.of(fieldPosting)) {
			if d, ok := parseDate(c, r.options.Zone, r.file.Date1904); ok {
				cells[i] = app.FormatTime(d.at, r.options.Zone)
			}
		}
	}
	return cells
}

// readMoney finds the amount of a transaction and its direction.
func (r *Reader) readMoney(l line, e *inbound.Incoming) *app.FieldError {
	for _, m := range l.amounts() {
		if m.err != nil {
			return amountFault(m.err)
		}
	}
	if r.mergedAmounts(l) {
		return typeFault("is not said: the amount is merged over several columns of amounts",
			"không rõ: số tiền nằm trong ô gộp qua nhiều cột số tiền")
	}
	debit, credit := l.debit.value, l.credit.value
	named := parseDirection(l.Cell(r.header.columns.of(fieldType)))
	switch {
	case debit != 0 && named == app.In, credit != 0 && named == app.Out:
		return typeFault("contradicts the column of the amount", "mâu thuẫn với cột có số tiền")
	case l.amount.value != 0 && debit+credit != 0 && magnitude(l.amount.value) != magnitude(debit+credit):
		return typeFault("has another amount than debit or credit", "có số tiền khác với cột nợ hoặc cột có")
	case debit != 0 && credit != 0:
		return typeFault("debit and credit are both filled in", "cột nợ và cột có đều có số tiền")
	case debit != 0:
		return r.readDebit(l, e)
	case credit < 0:
		return typeFault("the credit is negative; it may be a correction", "cột có là số âm; có thể là giao dịch điều chỉnh")
	case credit > 0:
		e.Type, e.Amount = app.In, credit
	case !l.holdsAmount() && l.charge.digits:
		return r.readCharge(l, named, e)
	default:
		return r.readAmount(l, named, e)
	}
	return nil
}

// mergedAmounts tells whether a cell with an amount is merged over another column of amounts.
func (r *Reader) mergedAmounts(l line) bool {
	amounts := r.header.amounts()
	return slices.ContainsFunc(amounts, func(from int) bool {
		c := l.Cell(from)
		return parseMoney(c).digits && slices.ContainsFunc(amounts, func(i int) bool { return i > from && i < from+c.Span })
	})
}

// readDebit reads an amount in the column of money out. Some banks write it with
// a minus: the first amount of the column shows whether this one does. An amount
// with a minus below others without it may be a correction, which would be money
// in. An amount without a minus below others with it means that the first one may
// have been the correction.
func (r *Reader) readDebit(l line, e *inbound.Incoming) *app.FieldError {
	sign := 1
	if l.debit.value < 0 {
		sign = -1
	}
	switch r.debits = cmp.Or(r.debits, sign); {
	case sign == r.debits:
		e.Type, e.Amount = app.Out, magnitude(l.debit.value)
		return nil
	case r.debits < 0:
		r.doubt = refusedAt(l.Line, "the debit has no minus, but those above have one: they, or this one, may be corrections",
			"cột nợ không có dấu trừ nhưng các dòng trên có; các dòng đó hoặc dòng này có thể là điều chỉnh")
	}
	return typeFault("the sign of the debit is not that of the debits above; it may be a correction",
		"dấu của cột nợ khác với các dòng trên; có thể là giao dịch điều chỉnh")
}

// interestWords are in the names of columns whose money may come in.
var interestWords = listOf("lai|interest")

// parseCharges adds up the columns of fees, taxes and interest. The sum has an error if one
// of them can't be read, or if their signs differ.
func (r *Reader) parseCharges(rec record) (sum money) {
	for _, i := range r.header.charges {
		m := parseMoney(rec.Cell(i))
		if m.err == nil && m.value != 0 && sum.value != 0 && (m.value < 0) != (sum.value < 0) {
			m.err = app.ErrAmountSyntax
		}
		sum.value += m.value
		sum.err = cmp.Or(sum.err, m.err)
		sum.digits = sum.digits || m.digits
	}
	return sum
}

// readCharge reads a row whose only amount is a fee, a tax or interest. An amount with a
// minus went out, and so did a fee or tax in a file whose debits have no minus. Interest
// without a minus may have come in.
func (r *Reader) readCharge(l line, named app.Direction, e *inbound.Incoming) *app.FieldError {
	out := l.charge.value < 0 || r.debits >= 0 && !slices.ContainsFunc(r.header.charges, func(i int) bool {
		return interestWords.in(headerKey(r.header.names[i])) && l.Cell(i).Plain() != ""
	})
	switch {
	case l.charge.err != nil:
		return amountFault(l.charge.err)
	case !out || named == app.In:
		return typeFault("does not say whether the fee, tax or interest came in or went out", "không cho biết phí, thuế hay lãi là vào hay ra")
	case magnitude(l.charge.value) > app.MaxAmount:
		return amountFault(app.ErrAmountRange)
	}
	e.Type, e.Amount = app.Out, magnitude(l.charge.value)
	return nil
}

// readAmount reads an amount in the column of money in and out. The direction is named,
// which the column of directions says, or else the sign of the amount.
func (r *Reader) readAmount(l line, named app.Direction, e *inbound.Incoming) *app.FieldError {
	if l.amount.value == 0 {
		return amountFault(app.ErrAmountRange)
	}
	e.Type, e.Amount = app.In, magnitude(l.amount.value)
	if l.amount.value < 0 {
		e.Type = app.Out
	}
	switch typed := r.header.columns.has(fieldType); {
	case typed && named == "" && !l.amount.signed:
		e.Type = ""
		return typeFault("does not say whether money came in or went out", "không cho biết tiền vào hay tiền ra")
	case typed && named != "" && l.amount.signed && named != e.Type:
		e.Type = ""
		return typeFault("contradicts the sign of the amount", "mâu thuẫn với dấu của số tiền")
	}
	e.Type = cmp.Or(named, e.Type)
	return nil
}

// amountFaults are the texts for the errors of amounts.
var amountFaults = map[error]app.Text{
	app.ErrAmountSyntax:   {EN: "could not be read", VI: "không đọc được"},
	app.ErrAmountFraction: {EN: "must be a whole number of VND", VI: "phải là số nguyên VND"},
	app.ErrAmountRange:    app.AmountRule,
	errAmountGroups: {EN: "can be read in more than one way: digits must be grouped in threes, decimals must be 0",
		VI: "có thể hiểu theo nhiều cách: chữ số phải nhóm ba, phần thập phân phải bằng 0"},
	errAmountCut: {EN: "has lost digits in scientific notation; save the file again with whole numbers",
		VI: "đã mất chữ số do ký hiệu khoa học; hãy lưu lại tệp với số nguyên"},
}

func amountFault(err error) *app.FieldError {
	return &app.FieldError{Field: "transferAmount", Text: amountFaults[err]}
}

func typeFault(en, vi string) *app.FieldError {
	return &app.FieldError{Field: "transferType", Text: app.Text{EN: en, VI: vi}}
}

func fieldFault(field, en, vi string, args ...any) *app.FieldError {
	return &app.FieldError{Field: field, Text: app.Textf(en, vi, args...)}
}
