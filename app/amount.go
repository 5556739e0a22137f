package app

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"baoco/app/fold"
)

// MaxAmount is the largest amount of one transaction in VND: 13 digits, the
// most that a NAPAS transfer can carry. A million of them still sum without
// overflow.
const MaxAmount = 9_999_999_999_999

// Why an amount is refused. An amount is never rounded and never 0 by
// accident.
var (
	ErrAmountSyntax   = errors.New("not a number")
	ErrAmountFraction = errors.New("not a whole number of VND")
	ErrAmountRange    = errors.New("not from 1 to 9999999999999")
	// ErrAmountAmbiguous is a program's text with a mark before three digits: in
	// Vietnam 200.000 is two hundred thousand, in JSON it is two hundred.
	ErrAmountAmbiguous = errors.New("ambiguous")
)

// AmountRule says what an amount may be.
var AmountRule = Text{
	"must be a whole number of VND from 1 to 9999999999999",
	"phải là số nguyên VND từ 1 đến 9999999999999",
}

// TypedAmountRule says how a person writes an amount.
var TypedAmountRule = typedAmountRule(1)

func typedAmountRule(least int) Text {
	return Textf("must be a whole number of VND from %d to 9999999999999, such as 200000 or 200.000",
		"phải là số nguyên VND từ %d đến 9999999999999, ví dụ 200000 hoặc 200.000", least)
}

func shortAmountRule(least int) Text {
	return Textf("must be a whole number of VND from %d to 9,999,999,999,999, such as 200000, 200.000 or 200k",
		"phải là số nguyên VND từ %d đến 9.999.999.999.999, ví dụ 200000, 200.000 hoặc 200k", least)
}

// AmountFault is the text for the error with which ParseAmountText refuses an
// amount.
func AmountFault(err error) Text {
	if errors.Is(err, ErrAmountAmbiguous) {
		return Text{
			"is ambiguous: a mark before exactly three digits can group them or begin decimals; send a JSON number or digits alone",
			"không rõ ràng: dấu trước đúng ba chữ số có thể là phân nhóm hoặc phần lẻ; hãy gửi số JSON hoặc chỉ gửi chữ số",
		}
	}
	return AmountRule
}

// ParseAmount reads a number literal of JSON exactly: 150000, 150000.0 and
// 1.5e5 are all 150000. The result is from -MaxAmount to MaxAmount and not 0.
// The caller decides what a minus sign means.
func ParseAmount(literal string) (int64, error) {
	digits, exponent, negative, err := splitNumber(literal)
	if err != nil {
		return 0, err
	}
	digits = strings.TrimLeft(digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return 0, ErrAmountRange
	}
	if exponent < 0 {
		return 0, ErrAmountFraction
	}
	if len(trimmed)+exponent > 13 {
		return 0, ErrAmountRange
	}
	var n int64
	for _, c := range trimmed {
		n = n*10 + int64(c-'0')
	}
	for range exponent {
		n *= 10
	}
	if negative {
		n = -n
	}
	return n, nil
}

// typedAmount is an amount as a person writes it: digits in one piece, or in
// threes that one kind of mark separates, perhaps with the currency behind them.
var typedAmount = regexp.MustCompile(`^([1-9]\d*|[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+|(?: \d{3})+)) ?(?i:đ|₫|vnđ|vnd)?$`)

// The marks that group digits, and the spaces that people copy.
var (
	ungroupAmount = strings.NewReplacer(".", "", ",", "", " ", "")
	plainSpaces   = strings.NewReplacer("\u00a0", " ", "\u202f", " ")
)

// ReadAmount reads an amount that a person typed: 200000, 200.000, 1,549,000, 1
// 549 000 or 200.000đ. Every other form is refused, never guessed. The
// result is from 1 to MaxAmount.
func ReadAmount(text string) (int64, error) {
	parts := typedAmount.FindStringSubmatch(strings.TrimSpace(plainSpaces.Replace(text)))
	if parts == nil {
		return 0, ErrAmountSyntax
	}
	return ParseAmount(ungroupAmount.Replace(parts[1]))
}

// shortAmount is an amount as people say it, folded: a number of thousands,
// millions or billions, and what is left over, as in 1tr5 and 1tr500k.
var shortAmount = regexp.MustCompile(`^(0|[1-9]\d{0,12})(?:[.,](\d{1,2}))? ?(k|nghin|ngan|tr|trieu|m|ty|ti|b)(?: ?(\d{1,3}) ?(k|nghin` +
	`|ngan|tr|trieu|m)?)?(?: ?(?:d|vnd|₫))?$`)

// amountUnits are the units of shortAmount.
var amountUnits = map[string]int64{
	"k": 1e3, "nghin": 1e3, "ngan": 1e3, "tr": 1e6, "trieu": 1e6, "m": 1e6, "ty": 1e9, "ti": 1e9, "b": 1e9,
}

// ReadShortAmount reads an amount that a person types into a page: as [ReadAmount],
// or shortened: 200k, 1tr5, 1,5 triệu. The page shows how it was read. What is recorded is
// never read so. The result is from 1 to MaxAmount.
func ReadShortAmount(text string) (int64, error) {
	if n, err := ReadAmount(text); err == nil {
		return n, nil
	}
	parts := shortAmount.FindStringSubmatch(strings.TrimSpace(fold.String(text)))
	if parts == nil {
		return 0, ErrAmountSyntax
	}
	decimals, rest, unit, restUnit := parts[2], parts[4], amountUnits[parts[3]], amountUnits[parts[5]]
	switch {
	case rest == "":
	case decimals != "" || restUnit >= unit: // 1,5tr5; 1k5tr
		return 0, ErrAmountSyntax
	case restUnit == 0: // the 5 of 1tr5 are tenths
		decimals, rest = rest, ""
	}
	whole, _ := strconv.ParseInt(parts[1], 10, 64)
	if whole > MaxAmount/unit { // what is added below is less than a unit
		return 0, ErrAmountRange
	}
	n := whole * unit
	for _, digit := range decimals {
		unit /= 10
		n += int64(digit-'0') * unit
	}
	if rest != "" {
		left, _ := strconv.ParseInt(rest, 10, 64) // 3 digits
		n += left * restUnit
	}
	if n < 1 {
		return 0, ErrAmountRange
	}
	return n, nil
}

// ReadAmountBound reads the least or the greatest amount of a filter, as typed,
// and notes under field what is wrong with it. 0 is no bound: an empty text,
// and a least of 0. No amount is 0, so a greatest of 0 is a mistake.
func ReadAmountBound(field, text string, least bool, bad *Invalid) int64 {
	return amountText{ReadAmount, typedAmountRule}.bound(field, text, least, bad)
}

// ReadShortAmountBound is ReadAmountBound where the amount may be shortened.
func ReadShortAmountBound(field, text string, least bool, bad *Invalid) int64 {
	return amountText{ReadShortAmount, shortAmountRule}.bound(field, text, least, bad)
}

// amountText is a way to write an amount, and its rule.
type amountText struct {
	read func(string) (int64, error)
	rule func(least int) Text
}

func (a amountText) bound(field, text string, least bool, bad *Invalid) int64 {
	if text == "" || text == "0" && least {
		return 0
	}
	n, err := a.read(text)
	if err != nil {
		rule := a.rule(1)
		if least {
			rule = a.rule(0)
		}
		bad.Add(field, rule.EN, rule.VI)
	}
	return n
}

// ParseAmountText reads an amount that a program wrote as a text: digits,
// perhaps with a fraction of zeros. Exactly three digits after a mark are
// refused as ambiguous. The result is as that of ParseAmount.
func ParseAmountText(text string) (int64, error) {
	if at := strings.LastIndexAny(text, "., "); at >= 0 && len(text)-at == len(".000") && AllDigits(text[at+1:]) {
		return 0, ErrAmountAmbiguous
	}
	if strings.ContainsAny(text, "eE") {
		return 0, ErrAmountSyntax
	}
	return ParseAmount(text)
}

// splitNumber gives the value of literal as digits × 10^exponent.
func splitNumber(literal string) (digits string, exponent int, negative bool, err error) {
	rest, negative := strings.CutPrefix(literal, "-")
	mantissa, exp, hasExp := strings.Cut(strings.ReplaceAll(rest, "E", "e"), "e")
	whole, fraction, hasFraction := strings.Cut(mantissa, ".")
	if !AllDigits(whole) || (hasFraction && !AllDigits(fraction)) || (len(whole) > 1 && whole[0] == '0') {
		return "", 0, false, ErrAmountSyntax
	}
	if hasExp {
		if exponent, err = parseExponent(exp); err != nil {
			return "", 0, false, err
		}
	}
	return whole + fraction, exponent - len(fraction), negative, nil
}

// parseExponent reads an exponent and cuts it at a bound. The bound is above
// the length of the longest body, so that no mantissa can make up for the cut.
func parseExponent(s string) (int, error) {
	const bound = 1 << 22
	s, negative := strings.CutPrefix(s, "-")
	if !negative {
		s = strings.TrimPrefix(s, "+")
	}
	if !AllDigits(s) {
		return 0, ErrAmountSyntax
	}
	n := 0
	for _, c := range s {
		if n = n*10 + int(c-'0'); n > bound {
			n = bound
		}
	}
	if negative {
		n = -n
	}
	return n, nil
}

// AllDigits reports whether a text is of digits alone; an empty one is not.
func AllDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
