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
	bank, known := app.FindBank(sender)
	return known && plainName(sender) && bank.Is(code)
}

// plainName tells whether a name has only characters that the names of banks
// are written with. app.FindBank passes over all others, so that a name which
// only looks like a bank's, with a Cyrillic letter more, would be the bank's.
func plainName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == ' ', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
