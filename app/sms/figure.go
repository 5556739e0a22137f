package sms

import (
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/pattern"
)

// grouped is a whole number, in one piece or in groups of three that one mark separates.
// fraction is one in groups with two zeros behind it.
var (
	grouped  = pattern.Lazy(`^(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:\.[0-9]{3})+)$`)
	fraction = pattern.Lazy(`^(?:[0-9]{1,3}(?:,[0-9]{3})+\.00|[0-9]{1,3}(?:\.[0-9]{3})+,00)$`)
	ungroup  = strings.NewReplacer(",", "", ".", "")
)

// digits gives the digits of a whole number of VND; "" where it is none. A fraction of two
// zeros is none of another currency only where VND stands beside it.
func digits(s string, vnd bool) string {
	switch {
	case grouped().MatchString(s):
		return ungroup.Replace(s)
	case vnd && fraction().MatchString(s):
		return ungroup.Replace(s[:len(s)-3])
	}
	return ""
}

// balance is what digits stand for; 0 where they can't be read.
func balance(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// hidden are the characters that stand for digits which a text doesn't show.
var hidden = strings.NewReplacer("*", "x", ".", "x", "•", "x", "…", "xxx")

// accountNumber makes every hidden character an x. An account of which fewer
// than three digits can be seen could be anybody's.
func accountNumber(s string) (string, *app.FieldError) {
	account := hidden.Replace(s)
	if len(account)-strings.Count(account, "x") < 3 {
		return "", &app.FieldError{Field: "account_number", Text: app.Text{
			EN: "must show at least three digits",
			VI: "phải hiện ít nhất ba chữ số",
		}}
	}
	return account, nil
}

var (
	amountFault = &app.FieldError{Field: "amount", Text: app.Text{
		EN: "must be a whole number of VND from 1 to 9999999999999, written like 1500000, 1,500,000 or 1.500.000",
		VI: "phải là số nguyên VND từ 1 đến 9999999999999, viết như 1500000, 1,500,000 hoặc 1.500.000",
	}}
	notKnown = &app.FieldError{Field: "text", Text: app.Text{
		EN: "looks like a movement of money, but not every part of it is known, or it reports more than one",
		VI: "giống tin biến động số dư nhưng có phần chưa đọc được, hoặc nói tới nhiều hơn một giao dịch",
	}}
)
