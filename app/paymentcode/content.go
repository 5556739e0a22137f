package paymentcode

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"baoco/app/fold"
)

// content is a content made plain, and where its words stand in it.
type content struct {
	text  string // ASCII; '*' for a letter or digit that no code can have
	words []span
}

type span struct{ from, to int }

func (c *content) word(i int) string { return c.text[c.words[i].from:c.words[i].to] }

// gap is what stands between word i and the next one, or the end.
func (c *content) gap(i int) string {
	if i == len(c.words)-1 {
		return c.text[c.words[i].to:]
	}
	return c.text[c.words[i].to:c.words[i+1].from]
}

// readContent makes s plain. The bytes and words are room for it.
func readContent(s string, plain []byte, words []span) content {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z':
			plain = append(plain, byte(r)+'A'-'a')
		case r == '*': // means another thing below
			plain = append(plain, ',')
		case r < utf8.RuneSelf:
			plain = append(plain, byte(r))
		case unicode.Is(unicode.Bidi_Control, r): // a screen may show another order of digits
			plain = append(plain, '*')
		case unicode.In(r, unicode.Mn, unicode.Cf):
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			plain = append(plain, plainLetter(r))
		case r == '…':
			plain = append(plain, ".."...)
		case unicode.IsSpace(r):
			plain = append(plain, ' ')
		case unicode.Is(unicode.Pd, r):
			plain = append(plain, '-')
		default:
			plain = append(plain, ',')
		}
	}
	from := -1
	for i, b := range plain {
		switch inWord := isLetter(b) || isDigit(b) || b == '*'; {
		case inWord && from < 0:
			from = i
		case !inWord && from >= 0:
			words, from = append(words, span{from, i}), -1
		}
	}
	if from >= 0 {
		words = append(words, span{from, len(plain)})
	}
	return content{string(plain), words}
}

// latin has the plain letters of the blocks that Vietnamese is written in.
var latin = sync.OnceValue(func() *[0x1f00]byte {
	var letters [0x1f00]byte
	for r := range letters {
		letters[r] = foldLetter(rune(r))
	}
	return &letters
})

// plainLetter is r in upper case without its marks, '*' where that is none of
// A–Z. A digit that isn't ASCII is none.
func plainLetter(r rune) byte {
	if letters := latin(); int(r) < len(letters) {
		return letters[r]
	}
	return foldLetter(r)
}

func foldLetter(r rune) byte {
	if letter := strings.ToUpper(fold.Letters(string(r))); len(letter) == 1 && isLetter(letter[0]) {
		return letter[0]
	}
	return '*'
}

// joins reports whether a prefix, word i, can belong to the word after it.
func (c *content) joins(i int) bool {
	if i == len(c.words)-1 {
		return false
	}
	gap := c.gap(i)
	return len(gap) <= 3 && strings.Trim(gap, " -_./:#") == "" && len(gap)-strings.Count(gap, " ") <= 1
}

// near reports whether word i+1 stands so near to word i that a bank may have
// separated them.
func (c *content) near(i int) bool { return i < len(c.words)-1 && len(c.gap(i)) <= 3 }

// hasCutMark reports whether what banks write where they cut a content follows word i:
// an ellipsis, the (...) of Agribank or the ~ of VietinBank.
func (c *content) hasCutMark(i int) bool {
	gap := strings.TrimPrefix(c.gap(i), "(")
	return strings.HasPrefix(gap, "..") || strings.HasPrefix(gap, "~")
}

// mayBeCut reports whether a bank may have cut the content after words from to
// last.
func (c *content) mayBeCut(from, last int) bool {
	if c.hasCutMark(last) {
		return true
	}
	// What banks write before the content, such as MBVCB.3278907687., isn't of the payer's.
	begin := 0
	if from > 1 && strings.HasSuffix(c.word(0), "BVCB") && c.gap(0) == c.gap(1) && c.gap(0) != " " && digitsOf(c.word(1)) == len(c.word(1)) {
		begin = c.words[1].to + 1
	}
	return c.words[last].to-begin >= MaxCode
}

// digitsOf counts the digits that s begins with.
func digitsOf(s string) int {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return i
		}
	}
	return len(s)
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
