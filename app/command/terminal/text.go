package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func Counted(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return VND(n) + " " + many
}

// Grouped writes a count with its thousands grouped as in English.
func Grouped(n int64) string { return strings.ReplaceAll(VND(n), ".", ",") }

// Decimals writes milliseconds with as many digits as mean something.
func Decimals(ms float64) string {
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f", ms)
	case ms >= 1:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.2f", ms)
}

// OneLine makes any text harmless to a terminal and to a listing: control
// characters, escape sequences among them, become visible.
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

// Clip shortens a cell.
func Clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// VND writes an amount with its thousands grouped.
func VND(n int64) string {
	digits := strconv.FormatInt(max(n, -n), 10)
	var groups []string
	for len(digits) > 3 {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	s := strings.Join(groups, ".")
	if n < 0 {
		s = "-" + s
	}
	return s
}

func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Visible is a text of several lines that does nothing to a terminal: control
// characters become their pictures, bytes that are no text their numbers.
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
