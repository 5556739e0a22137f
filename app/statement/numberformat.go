package statement

import (
	"errors"

	"baoco/app"
)

// numberFormat is how a file writes numbers, as far as its amounts show it.
type numberFormat struct {
	marks
	whole bool // some number has both marks
	alone int  // the line of the first number with decimals and no group
}

// add adds the marks of a number. Two numbers that use one mark in two ways make all
// numbers doubtful: 1.234 is more than a thousand in one way, and one in the other. So do
// numbers with decimals that aren't 0, though they are no amounts.
func (f *numberFormat) add(line int, m money) error {
	if m.err != nil && !errors.Is(m.err, app.ErrAmountFraction) {
		return nil
	}
	group, decimal := m.marks.group, m.marks.decimal
	if group == ' ' {
		group = 0
	}
	if group != 0 && (group == f.decimal || f.group != 0 && group != f.group) || decimal != 0 &&
		(decimal == f.group || f.decimal != 0 && decimal != f.decimal) {
		return refusedAt(line, "its numbers are not written as those above: the points and commas in them can be read in two ways",
			"cách viết số khác với các dòng trên: dấu chấm và dấu phẩy có thể hiểu theo hai cách")
	}
	if group != 0 {
		f.group = group
	}
	if decimal != 0 {
		f.decimal = decimal
		f.whole = f.whole || m.marks.group != 0 && m.err == nil
	}
	if decimal != 0 && m.marks.group == 0 && m.value != 0 && f.alone == 0 {
		f.alone = line
	}
	return nil
}

// end refuses numbers like 100.00 if nothing shows that they are VND with decimals
// that are 0: they may be of another currency.
func (f *numberFormat) end(vnd bool) error {
	if f.alone == 0 || f.whole || vnd {
		return nil
	}
	return refusedAt(f.alone,
		"an amount like 100.00 may be of another currency: nothing in the file says VND, and no number shows how thousands are written",
		"số tiền như 100.00 có thể là tiền tệ khác: tệp không ghi VND và không có số nào cho thấy cách viết hàng nghìn")
}
