package statement

import (
	"errors"

	"baoco/app"
)

// money reads how much went which way.
func (r *Reader) money(l line, e *app.Incoming) *app.FieldError {
	for _, m := range []money{l.debit, l.credit, l.amount} {
		if m.err != nil {
			return amountFault(m.err)
		}
	}
	debit, credit := l.debit.value, l.credit.value
	told := parseDirection(l.cell(r.header.columns.of(fieldType)))
	switch {
	case debit != 0 && told == app.In, credit != 0 && told == app.Out:
		return typeFault("contradicts the column of the amount", "mâu thuẫn với cột có số tiền")
	case l.amount.value != 0 && debit+credit != 0 && magnitude(l.amount.value) != magnitude(debit+credit):
		return typeFault("has another amount than debit or credit", "có số tiền khác với cột nợ hoặc cột có")
	case debit != 0 && credit != 0:
		return typeFault("debit and credit are both filled in", "cột nợ và cột có đều có số tiền")
	case debit != 0:
		return r.debit(l, e)
	case credit < 0:
		return typeFault("the credit is negative; it may be a correction", "cột có là số âm; có thể là giao dịch điều chỉnh")
	case credit > 0:
		e.Type, e.Amount = app.In, credit
	default:
		return r.signed(l, e)
	}
	return nil
}

// debit reads money out of a column of its own. Some banks write it with a
// minus: the first amount of the column tells. One with a minus below others may
// be a correction, which would be money in. One without below others with it
// means that the first may have been the correction.
func (r *Reader) debit(l line, e *app.Incoming) *app.FieldError {
	n, sign := l.debit.value, 1
	if n < 0 {
		sign, n = -1, -n
	}
	if r.debits == 0 {
		r.debits = sign
	}
	if sign != r.debits && r.debits < 0 {
		r.doubt = errDebitSigns(l.line)
	}
	if sign != r.debits {
		return typeFault("the sign of the debit is not that of the debits above; it may be a correction", "dấu của cột nợ khác với các dòng trên; có thể là giao dịch điều chỉnh")
	}
	e.Type, e.Amount = app.Out, n
	return nil
}

// signed reads an amount whose direction its sign tells, or a column beside
// it.
func (r *Reader) signed(l line, e *app.Incoming) *app.FieldError {
	n := l.amount.value
	if n == 0 {
		return amountFault(app.ErrAmountRange)
	}
	e.Type, e.Amount = app.In, n
	if n < 0 {
		e.Type, e.Amount = app.Out, -n
	}
	if !r.header.columns.has(fieldType) {
		return nil
	}
	switch told := parseDirection(l.cell(r.header.columns.of(fieldType))); {
	case told == "" && !l.amount.signed:
		e.Type = ""
		return typeFault("does not say whether money came in or went out", "không cho biết tiền vào hay tiền ra")
	case told != "" && l.amount.signed && told != e.Type:
		e.Type = ""
		return typeFault("contradicts the sign of the amount", "mâu thuẫn với dấu của số tiền")
	case told != "":
		e.Type = told
	}
	return nil
}

func errDebitSigns(line int) error {
	return refusedAt(line, "the debit has no minus, but those above have one: they, or this one, may be corrections",
		"cột nợ không có dấu trừ nhưng các dòng trên có; các dòng đó hoặc dòng này có thể là điều chỉnh")
}

func amountFault(err error) *app.FieldError {
	text := app.Text{EN: "could not be read", VI: "không đọc được"}
	switch {
	case errors.Is(err, app.ErrAmountFraction):
		text = app.Text{EN: "must be a whole number of VND", VI: "phải là số nguyên VND"}
	case errors.Is(err, app.ErrAmountRange):
		text = app.AmountRule
	case errors.Is(err, errAmountGroups):
		text = app.Text{EN: "can be read in more than one way: digits must be grouped in threes, decimals must be 0", VI: "có thể hiểu theo nhiều cách: chữ số phải nhóm ba, phần thập phân phải bằng 0"}
	case errors.Is(err, errAmountCut):
		text = app.Text{EN: "has lost digits in scientific notation; save the file again with whole numbers", VI: "đã mất chữ số do ký hiệu khoa học; hãy lưu lại tệp với số nguyên"}
	}
	return &app.FieldError{Field: "transferAmount", Text: text}
}

func typeFault(en, vi string) *app.FieldError {
	return &app.FieldError{Field: "transferType", Text: app.Text{EN: en, VI: vi}}
}

func lineFault(en, vi string) *app.FieldError {
	return &app.FieldError{Field: "line", Text: app.Text{EN: en, VI: vi}}
}
