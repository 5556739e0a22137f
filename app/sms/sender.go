package sms

import (
	"strings"

	"baoco/app"
)

// FromBank tells whether sender is a name under which the bank with this code
// sends. A telephone number or a short code never is: anybody can write a text
// that looks like a bank's. It is false for the code "".
func FromBank(sender, code string) bool {
	sender = strings.TrimSpace(sender)
	if !isBrandName(sender) {
		return false
	}
	bank, known := app.FindBank(sender)
	return known && bank.Is(code)
}

// isBrandName tells a name as networks carry it (3GPP TS 23.040, 9.1.2.5: an
// alphanumeric address in the GSM alphabet) from a number and from a name that
// only looks like a bank's, such as one with a Cyrillic letter.
func isBrandName(s string) bool {
	letters := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			letters = true
		case c >= '0' && c <= '9', c == ' ', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return letters
}
