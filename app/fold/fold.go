// Package fold makes Vietnamese text comparable without regard to case or
// accents, so that "thanh toan" finds "Thanh Toán".
package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// String gives s in lower case, its letters without their marks, đ as d.
func String(s string) string { return strings.ToLower(Letters(s)) }

// Letters gives s with its letters without their marks, đ as d and Đ as D.
func Letters(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'đ' || r == 'ð': // the second from old fonts, here and below
			b.WriteByte('d')
		case r == 'Đ' || r == 'Ð':
			b.WriteByte('D')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
