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

// Named are what may be references in a content, in their normal form. One of IfExact may
// be a part of a longer one, which a bank has cut, or has joined to words of its own: only
// an amount that is asked for under it can say that it is whole. A doubtful one may be a
// part of a longer one, one of several, or another thing.
type Named struct {
	Certain, IfExact, Doubtful []string
}

// All are all that may be references.
func (n Named) All() []string { return slices.Concat(n.Certain, n.IfExact, n.Doubtful) }

// References reads what may be a reference: one or two short words, perhaps, and then
// words with digits. Of a content with more than 64 of them none is certain.
func References(text string) (named Named) {
	var plain [256]byte
	var words [64]span
	c := readContent(text, plain[:0], words[:0])
	list := c.candidates()
	for _, r := range list {
		isOther := func(other candidate) bool {
			return other.text != r.text && other.prefix() == r.prefix() && (other.first > r.last || other.last < r.first)
		}
		switch {
		case len(list) == maxReferences || c.isApart(r) || c.referenceGoesOn(r.last) || c.hasOther(r),
			slices.ContainsFunc(list, isOther):
			named.Doubtful = append(named.Doubtful, r.text)
		case c.isJoinedByBank(r) || c.mayBeCut(r.first, r.last):
			named.IfExact = append(named.IfExact, r.text)
		default:
			named.Certain = append(named.Certain, r.text)
		}
	}
	return named
}

// candidate is what may be a reference, and its words, of which the first ones are letters.
type candidate struct {
	text                 string
	first, letters, last int
}

func (r candidate) prefix() string { return r.text[:strings.IndexAny(r.text, "0123456789")] }

// candidates lists what may be a reference in c, at most maxReferences.
func (c *content) candidates() (list []candidate) {
	for i := range c.words {
		if i > 0 && c.tight(i-1) && !c.isBankBefore(i) {
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
				list = append(list, candidate{text, i, letters, last})
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

// isBankBefore reports whether a bank joined word i to what it wrote before:
// 103968000085-HD113.
func (c *content) isBankBefore(i int) bool {
	for ; i > 0 && c.tight(i-1); i-- {
		if word := c.word(i - 1); isLong(word) || word == "QR" || beginsWithAny(word, references) {
			return true
		}
	}
	return false
}

// isBankBehind reports whether a bank joined what it wrote itself to word i:
// HD113-CHUYEN TIEN-OQCH, HD113-100926-19:47:11.
func (c *content) isBankBehind(i int) bool {
	next := c.word(i + 1)
	return c.beginsTime(i+1) || isLong(next) || beginsWithAny(next, references) || beginsWithAny(next, wordsBehind)
}

// wordsBehind are what banks join to a content.
var wordsBehind = []string{"CHUYEN", "THANH", "CTLN"}

// beginsTime reports whether word i is the day of a bank's time: 100926-19:47:11, 07122025 16:01:47.
func (c *content) beginsTime(i int) bool {
	if i+2 >= len(c.words) || c.gap(i) != "-" && c.gap(i) != " " || c.gap(i+1) != ":" {
		return false
	}
	day := c.word(i)
	return (len(day) == 6 || len(day) == 8) && digitsOf(day) == len(day) && isDay(day[:4])
}

// isLong reports whether a word is a number that no reference has.
func isLong(word string) bool { return digitsOf(word) == len(word) && len(word) > maxNumber }

// isBanksNumber reports whether word i is a long number, and no phone's.
func (c *content) isBanksNumber(i int) bool {
	return i < len(c.words) && isLong(c.word(i)) && !isPhone(c.word(i))
}

// isJoinedByBank reports whether a bank joined words of its own to r.
func (c *content) isJoinedByBank(r candidate) bool {
	return r.first > 0 && c.tight(r.first-1) || c.tight(r.last) || c.beginsTime(r.last+1) || c.isBanksNumber(r.last+1)
}

// isApart reports whether a number that follows letters after a space may be another
// thing than the number of the order: HD 150000.
func (c *content) isApart(r candidate) bool {
	if r.letters == 0 || !strings.Contains(c.gap(r.first+r.letters-1), " ") {
		return false
	}
	var digits strings.Builder
	for i := r.first + r.letters; i <= r.last; i++ {
		digits.WriteString(c.word(i))
	}
	number := digits.String()
	isUnit := r.last < len(c.words)-1 && slices.Contains(units, c.word(r.last+1))
	return len(number) < minApart || isCount(number) && len(number) > digitsOf(number) || digitsOf(number) == len(number) &&
		looksOtherwise(number) || isUnit
}

// referenceGoesOn reports whether a reference that ends with word last may be the
// beginning of a longer one: a bank may have made "2025/113" to "2025 113".
func (c *content) referenceGoesOn(last int) bool {
	gap := c.gap(last)
	if c.hasCutMark(last) {
		return true
	}
	if last == len(c.words)-1 {
		return gap != "" && strings.Contains("-_/", gap[:1])
	}
	if c.tight(last) {
		return !c.isBankBehind(last)
	}
	next := c.word(last + 1)
	return (c.near(last) || strings.TrimSpace(gap) == "") && isDigit(next[0]) && !isLong(next) && !c.beginsTime(last+1)
}

// hasOther reports whether the number of another order may stand in the content without
// the letters of the reference r: HD1234 va don 1235.
func (c *content) hasOther(r candidate) bool {
	word := c.word(r.last)
	n := len(word) - strings.LastIndexFunc(word, func(r rune) bool { return r < '0' || r > '9' }) - 1
	ofBank := false
	for i := range c.words {
		other := c.word(i)
		if i > r.last && c.beginsTime(i) {
			break // what follows is the bank's
		}
		switch {
		case digitsOf(other) < len(other):
			ofBank = c.isReference(i) || other == "GD" || other == "CKN" || other == "L" && c.tight(i) // O@L_080005
		case i >= r.first && i <= r.last:
		case ofBank:
			ofBank = c.tight(i) || c.gap(i) == "."
		case len(other) == n && other != word:
			return true
		}
	}
	return c.isJoined(r.last, "", maxNumber)
}

// isPhone reports whether a word is a mobile phone's number.
func isPhone(word string) bool {
	return digitsOf(word) == len(word) && (len(word) == 10 && word[0] == '0' || len(word) == 11 && strings.HasPrefix(word, "84"))
}
