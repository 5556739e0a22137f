package app

import (
	"errors"
	"strings"
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
)

// ParseAmount reads a number literal of JSON's grammar exactly: 150000,
// 150000.0 and 1.5e5 are all 150000. The result is from -MaxAmount to
// MaxAmount and not 0; what a minus sign means is the caller's to decide.
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

// splitNumber gives the value of literal as digits × 10^exponent.
func splitNumber(literal string) (digits string, exponent int, negative bool, err error) {
	rest, negative := strings.CutPrefix(literal, "-")
	mantissa, exp, hasExp := strings.Cut(strings.ReplaceAll(rest, "E", "e"), "e")
	whole, fraction, hasFraction := strings.Cut(mantissa, ".")
	if !allDigits(whole) || (hasFraction && !allDigits(fraction)) || (len(whole) > 1 && whole[0] == '0') {
		return "", 0, false, ErrAmountSyntax
	}
	if hasExp {
		if exponent, err = parseExponent(exp); err != nil {
			return "", 0, false, err
		}
	}
	return whole + fraction, exponent - len(fraction), negative, nil
}

// parseExponent reads an exponent. It is held within a bound that is above the
// length of the longest body, so that no mantissa can make up for the cut.
func parseExponent(s string) (int, error) {
	const bound = 1 << 22
	s, negative := strings.CutPrefix(s, "-")
	if !negative {
		s = strings.TrimPrefix(s, "+")
	}
	if !allDigits(s) {
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

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
