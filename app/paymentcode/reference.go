package paymentcode

import "strings"

// A shop's own reference, such as HD-2025/113, has no pattern: it is looked for by
// what it is. Its normal form is that of a code: upper case, without accents and
// separators.

// Bounds of a reference that is looked for in a content. A shorter one, and one of
// letters or of digits only, is there by chance too often.
const (
	minReference      = 4
	maxReferenceWords = 4
	maxReferences     = 64 // in a content
	maxNumber         = 8  // digits of a word of digits in a reference: longer ones are of phones, accounts and banks
	maxFirstWord      = 6  // letters of each of the words before the digits
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

// References lists what may be a reference in a content, in its normal form: one or two
// short words, perhaps, and then words with digits. A content with more than 64 of them
// has none.
func References(text string) (list []string) {
	var plain [256]byte
	var words [64]span
	c := readContent(text, plain[:0], words[:0])
	for i := range c.words {
		if i > 0 && c.tight(i-1) {
			continue
		}
		letters := 0
		for last := i; last < len(c.words) && last < i+maxReferenceWords && !c.isReference(last); last++ {
			switch word := c.word(last); {
			case !hasDigit(word):
				if letters++; letters > 2 || letters <= last-i || len(word) > maxFirstWord {
					last = len(c.words)
				}
			case digitsOf(word) == len(word) && len(word) > maxNumber:
				last = len(c.words)
			default:
				if reference := c.reference(i, last); reference != "" && !c.referenceGoesOn(i, last) {
					list = append(list, reference)
				}
			}
			if last >= len(c.words) || !c.near(last) {
				break
			}
		}
		if len(list) > maxReferences {
			return nil
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
	if len(s) < minReference || len(s) > MaxCode || !hasDigit(s) || digitsOf(s) == len(s) || strings.Contains(s, "*") {
		return ""
	}
	return s
}

// tight reports whether the words i and i+1 are parts of one: HD-113.
func (c *content) tight(i int) bool {
	return i < len(c.words)-1 && len(c.gap(i)) == 1 && strings.Contains("-_/", c.gap(i))
}

// referenceGoesOn reports whether a reference that ends with word last may be the
// beginning of a longer one: a bank may have cut it, or made "2025/113" to "2025 113".
func (c *content) referenceGoesOn(first, last int) bool {
	if last == len(c.words)-1 {
		return c.mayBeCut(first, last)
	}
	next := c.word(last + 1)
	return c.tight(last) || strings.HasPrefix(c.gap(last), "..") || c.near(last) && isDigit(next[0]) && len(next) <= 8
}
