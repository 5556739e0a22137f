package verify

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"baoco/app/delivery"
)

// Difference is the first place where two bodies differ, with what stands around it in each.
// Every character is visible.
type Difference struct {
	Byte   int    `json:"byte"`   // counted from 1
	Before string `json:"before"` // the end of what both have before it
	Sent   string `json:"sent"`   // the body that was sent, from there on; empty: it ended there
	Seen   string `json:"seen"`   // the body that was seen, from there on
}

// around is how much is shown before a difference, in bytes, and after it, in characters.
const around = 16

// firstDifference is nil where the bodies are the same, and where the one that was
// seen holds a secret, which isn't shown.
func firstDifference(sent, seen []byte) *Difference {
	if bytes.Equal(sent, seen) || bytes.Contains(seen, []byte(delivery.SecretPrefix)) {
		return nil
	}
	n := 0
	for n < min(len(sent), len(seen)) && sent[n] == seen[n] {
		n++
	}
	d := Difference{Byte: n + 1}
	for n > 0 && (n < len(sent) && !utf8.RuneStart(sent[n]) || n < len(seen) && !utf8.RuneStart(seen[n])) {
		n-- // to the beginning of the character
	}
	before := bytes.TrimLeftFunc(sent[max(0, n-around):n], func(r rune) bool { return r == utf8.RuneError })
	d.Before, d.Sent, d.Seen = visible(before), visible(sent[n:]), visible(seen[n:])
	return &d
}

// visible is the beginning of b with a name for every character that nobody sees,
// or that looks like another.
func visible(b []byte) string {
	var text strings.Builder
	for n := 0; len(b) > 0 && n < around; n++ {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&text, "‹%02X›", b[0])
		case r != ' ' && (!unicode.IsGraphic(r) || unicode.IsSpace(r)), unicode.Is(unicode.Mn, r):
			fmt.Fprintf(&text, "‹U+%04X›", r)
		default:
			text.WriteRune(r)
		}
		b = b[size:]
	}
	return text.String()
}
