package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"baoco/app"
)

// Counted writes a number with its noun, in the singular or plural.
func Counted(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return VND(n) + " " + many
}

// Grouped writes a count with its thousands grouped as in English.
func Grouped(n int64) string { return strings.ReplaceAll(VND(n), ".", ",") }

// Decimals writes a measured number with about three digits.
func Decimals(ms float64) string {
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f", ms)
	case ms >= 1:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.2f", ms)
}

// OneLine makes any text safe for a terminal and for a line of a table: line
// breaks become spaces, and other control characters the replacement character.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0x2028, r == 0x2029:
			return '\uFFFD'
		}
		return r
	}, s)
}

// Clip cuts a text to at most most characters.
func Clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// VND writes an amount with its thousands grouped.
func VND(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "." + s[i:]
	}
	return s
}

// Signed is VND with the sign of a direction.
func Signed(d app.Direction, n int64) string {
	if d == app.Out {
		return "-" + VND(n)
	}
	return "+" + VND(n)
}

// YesNo writes a bool for a person.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Visible makes a text of several lines safe for a terminal: control characters
// become their pictures, and bytes that are not UTF-8 their numbers.
func Visible(s string) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteByte('\n')
		case r < ' ':
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0x2028, r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// VisibleJSON makes JSON safe for a terminal: it replaces control characters and marks of
// direction, which occur only in strings, by their escapes. Programs read the same values.
func VisibleJSON(data []byte) []byte {
	var b []byte
	for _, r := range string(data) {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			b = fmt.Appendf(b, `\u%04x`, r)
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}
