package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzOneLine: whatever others sent, a line of a listing stays a line, and
// gives a terminal no orders.
func FuzzOneLine(f *testing.F) {
	for _, seed := range []string{
		"", "đơn hàng 1", "a\r\nlevel=ERROR", "\x1b[31mred\x1b[0m", "\u009b31m", "\u202eabc", "\u2028", "\xff\xfe", "\t", "a\x00b",
		"e\u0301", "\u2066x\u2069",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := OneLine(s)
		for _, r := range line {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 {
				t.Errorf("%q is shown as %q", s, line)
			}
		}
		if !utf8.ValidString(line) || utf8.RuneCountInString(line) != utf8.RuneCountInString(s) || OneLine(line) != line {
			t.Errorf("%q is shown as %q", s, line)
		}
		if cell := Clip(line, 10); utf8.RuneCountInString(cell) > 10 || !strings.HasPrefix(line, strings.TrimSuffix(cell, "…")) {
			t.Errorf("%q is cut to %q", line, cell)
		}
	})
}

// FuzzVisible: whatever others sent can be shown, line for line, and gives a
// terminal no orders.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{
		"", "{\"content\": \"đơn hàng 1\"}\n", "a\r\nb\tc", "\x1b[31mred\x1b[0m", "\u009b31m", "\u202eabc", "\u2028", "\xff\xfe",
		"a\x00b\x7f", "\ufffd",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := Visible(s)
		for _, r := range shown {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029) {
				t.Errorf("%q is shown as %q", s, shown)
			}
		}
		if !utf8.ValidString(shown) || strings.Count(shown, "\n") != strings.Count(s, "\n") || Visible(shown) != shown {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if OneLine(s) == s && shown != s {
			t.Errorf("%q is harmless, but shown as %q", s, shown)
		}
	})
}
