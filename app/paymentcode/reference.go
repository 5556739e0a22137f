package paymentcode

import (
	"slices"
	"strings"
)

// A shop's own reference, such as HD-2025/113, has no pattern: it is looked for by
// what it is. Its normal form is that of a code: upper case, without accents and
// separators. It begins with two letters, which aren't a word of banks.

// Bounds of a reference that is looked for in a content. A shorter one, and one of
// letters or of digits only, is there by chance too often.
const (
	minReference      = 4
	maxReferenceWords = 4
	maxReferences     = 64 // in a content
	maxNumber         = 8  // digits of a word of digits in a reference: longer ones are of phones, accounts and banks
	maxFirstWord      = 6  // letters of each of the words before the digits
	minApart          = 4  // digits that stand apart from their letters
)

// Reference is the normal form of a reference; empty where it can't be looked for in
// a content.
func Reference(s string) string {
	c := readContent(s, nil, nil)
	if len(c.words) == 0 || len(c.words) > maxReferenceWords {
		return ""
	}
	return c.reference(0, len(c.words)-1)
}

// Named are what may be references in a content, in their normal form. A doubtful one
// may be a part of a longer one, one of several, or another thing.
type Named struct {
	Certain, Doubtful []string
}

// References reads what may be a reference: one or two short words, perhaps, and then
// words with digits. Of a content with more than 64 of them none is certain.
func References(text string) (named Named) {
	var plain [256]byte
	var words [64]span
	c := readContent(text, plain[:0], words[:0])
	list := c.candidates()
	for _, r := range list {
		isOther := func(other candidate) bool {
			return other.text != r.text && other.letters() == r.letters() && (other.first > r.last || other.last < r.first)
		}
		if r.doubtful || len(list) == maxReferences || slices.ContainsFunc(list, isOther) {
			named.Doubtful = append(named.Doubtful, r.text)
		} else {
			named.Certain = append(named.Certain, r.text)
		}
	}
	return named
}

// candidate is what may be a reference, and its words.
type candidate struct {
	text        string
	first, last int
	doubtful    bool
}

func (r candidate) letters() string { return r.text[:strings.IndexAny(r.text, "0123456789")] }

// candidates lists what may be a reference in c, at most maxReferences.
func (c *content) candidates() (list []candidate) {
	for i := range c.words {
		if i > 0 && c.tight(i-1) {
			continue
		}
		letters := 0
		for last := i; last < len(c.words) && last < i+maxReferenceWords && !c.isReference(last); last++ {
			word := c.word(last)
			if n := digitsOf(word); n == len(word) && n > maxNumber {
				break
			} else if !hasDigit(word) {
				if letters++; letters > 2 || letters <= last-i || len(word) > maxFirstWord {
					break
				}
			} else if letters > 0 && isBankWord(c.word(i+letters-1)) {
				break // toi 19354957
			} else if text := c.reference(i, last); text != "" {
				list = append(list, candidate{text, i, last, c.isApart(i, letters, last) || c.referenceGoesOn(i, last) || c.hasOther(i, last)})
			}
			if len(list) == maxReferences {
				return list
			}
			if !c.near(last) {
				break
			}
		}
	}
	return list
}

// Words lists the words of a content in upper case without accents, at most 64 of them.
func Words(text string) (list []string) {
	c := readContent(text, nil, nil)
	for i := range min(len(c.words), maxReferences) {
		list = append(list, c.word(i))
	}
	return list
}

// reference joins words from first to last; empty where they can't be a reference.
func (c *content) reference(first, last int) string {
	var joined strings.Builder
	for i := first; i <= last; i++ {
		joined.WriteString(c.word(i))
	}
	s := joined.String()
	letters := strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
	if len(s) < minReference || len(s) > MaxCode || !hasDigit(s) || strings.Contains(s, "*") || letters < MinPrefix ||
		isBankWord(s[:letters]) {
		return ""
	}
	return s
}

// isBankWord reports whether banks write a word, or people do, before another number
// than that of an order.
func isBankWord(word string) bool {
	return slices.Contains(wordsBefore, word) || slices.Contains(tails, word) || slices.Contains(units, word) ||
		slices.Contains(joiners, word) || beginsWithAny(word, references)
}

// tight reports whether the words i and i+1 are parts of one: HD-113.
func (c *content) tight(i int) bool {
	return i < len(c.words)-1 && len(c.gap(i)) == 1 && strings.Contains("-_/", c.gap(i))
}

// isApart reports whether a number that follows letters after a space may be another
// thing than the number of the order: HD 150000.
func (c *content) isApart(first, letters, last int) bool {
	if letters == 0 || !strings.Contains(c.gap(first+letters-1), " ") {
		return false
	}
	var digits strings.Builder
	for i := first + letters; i <= last; i++ {
		digits.WriteString(c.word(i))
	}
	number := digits.String()
	isUnit := last < len(c.words)-1 && slices.Contains(units, c.word(last+1))
	return len(number) < minApart || isCount(number) && len(number) > digitsOf(number) || digitsOf(number) == len(number) &&
		looksOtherwise(number) || isUnit
}

// referenceGoesOn reports whether a reference that ends with word last may be the
// beginning of a longer one: a bank may have cut it, or made "2025/113" to "2025 113".
func (c *content) referenceGoesOn(first, last int) bool {
	gap := c.gap(last)
	if c.mayBeCut(first, last) || c.tight(last) {
		return true
	}
	if last == len(c.words)-1 {
		return gap != "" && strings.Contains("-_/", gap[:1])
	}
	next := c.word(last + 1)
	return (c.near(last) || strings.TrimSpace(gap) == "") && isDigit(next[0]) && !isPhone(next)
}

// hasOther reports whether the number of another order may stand in the content without
// the letters of the reference from first to last: HD1234 va don 1235.
func (c *content) hasOther(first, last int) bool {
	n := len(c.word(last)) - strings.LastIndexFunc(c.word(last), func(r rune) bool { return r < '0' || r > '9' }) - 1
	for i := range c.words {
		word := c.word(i)
		if i >= first && i <= last || digitsOf(word) != len(word) || i > 0 && c.isReference(i-1) || c.isTime(i) {
			continue
		}
		if len(word) == n && word != c.word(last) {
			return true
		}
	}
	return c.isJoined(last, "", maxNumber)
}

// isPhone reports whether a word is a mobile phone's number.
func isPhone(word string) bool {
	return digitsOf(word) == len(word) && (len(word) == 10 && word[0] == '0' || len(word) == 11 && strings.HasPrefix(word, "84"))
}
