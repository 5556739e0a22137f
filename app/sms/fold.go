package sms

import (
	"unicode"
	"unicode/utf8"

	"baoco/app/fold"
)

// foldedText is a text made comparable, and the way back.
type foldedText struct {
	original string
	plain    string
	at       []int // the byte of original where each byte of plain comes from, and its end
}

// foldText makes a text comparable: in lower case, Vietnamese letters without
// their marks (composed or not), each run of white space one space, or one
// line feed if it held a line break, and without what can't be seen. All other
// characters stay what they are: a digit of another script is no digit.
func foldText(s string) foldedText {
	t := foldedText{original: s, at: make([]int, 0, len(s)+1)}
	plain := make([]byte, 0, len(s))
	add := func(at int, chars ...byte) {
		for _, c := range chars {
			plain, t.at = append(plain, c), append(t.at, at)
		}
	}
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			space := byte(' ')
			if r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' {
				space = '\n'
			}
			last := len(plain) - 1
			if last < 0 || plain[last] != ' ' && plain[last] != '\n' {
				add(i, space)
			} else if space == '\n' {
				plain[last] = space
			}
		case r >= 'A' && r <= 'Z':
			add(i, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			add(i, byte(r))
		case unicode.In(r, unicode.Mn, unicode.Cf):
		default:
			if letter := fold.String(string(r)); len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' {
				add(i, letter[0])
			} else {
				add(i, []byte(string(r))...)
			}
		}
	}
	t.at = append(t.at, len(s))
	t.plain = string(plain)
	return t
}

// source is the original of plain[from:to].
func (t foldedText) source(from, to int) string { return t.original[t.at[from]:t.at[to]] }
