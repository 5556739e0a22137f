package paymentcode

import (
	"slices"
	"strings"
)

// wordsBefore are what banks and their apps glue before a content.
var wordsBefore = []string{"CK", "CT", "ND", "QR", "TT", "IBFT", "NOIDUNG", "CHUYENTIEN", "CHUYENKHOAN", "THANHTOAN"}

// wordsAfter are what stands glued after a code where spaces were lost. They
// are long, so that no code can have them at its end by chance.
var wordsAfter = []string{"CHUYENTIEN", "CHUYENKHOAN", "THANHTOAN"}

// references are what banks begin their own references with. What begins so is
// never a code.
var references = []string{"FT", "TRACE", "MOMO", "OQCH", "SEPAY", "MBVCB", "IBVCB", "VCB", "ACSP", "BFTV", "IBT", "REF", "CASHIN", "ZALOPAY"}

// tails are what banks write after the content of the payer.
var tails = []string{"CT", "GD", "MA", "NG", "TU", "TOI", "DEN", "TAI", "TK", "TRACE", "CHUYEN"}

func isTail(word string) bool { return slices.Contains(tails, word) }

// beginsWithAny reports whether s begins with one of words.
func beginsWithAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(s, word) })
}

// containsAny reports whether one of words is in s.
func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// isReference reports whether word i is of a bank's making.
func (c *content) isReference(i int) bool {
	word := c.word(i)
	if beginsWithAny(word, references) {
		return true
	}
	if i == 0 {
		return false
	}
	before, gap := c.word(i-1), c.gap(i-1)
	if gap[0] == '/' && strings.Trim(gap, "/ ") == "" && strings.HasSuffix("ACSP", before) {
		return true // the word may be broken as well
	}
	return gap[0] == ' ' && slices.ContainsFunc(references, func(reference string) bool {
		rest, broken := strings.CutPrefix(reference, before)
		return broken && rest != "" && strings.HasPrefix(word, rest)
	})
}

// isListed reports whether word i, a code with n characters after its prefix,
// is the first of a list whose others have no prefix: DH001234-35.
func (c *content) isListed(i, n int) bool {
	if !c.near(i) {
		return false
	}
	next, gap := c.word(i+1), c.gap(i)
	switch {
	case next == "VA" && c.near(i+1):
		next = c.word(i + 2)
	case strings.ContainsAny(gap, ",+&"):
	case gap == "-" || gap == "/":
		n--
	default:
		return false
	}
	return len(next) <= n && hasDigit(next)
}

// looksOtherwise reports whether digits that stand apart from their prefix are
// rather an amount, a year, a date or a phone number.
func looksOtherwise(digits string) bool {
	switch {
	case strings.HasSuffix(digits, "000"):
		return true
	case len(digits) == 4:
		return digits[:2] == "19" || digits[:2] == "20"
	case len(digits) == 6:
		return isDay(digits[:4]) && (digits[4] == '2' || digits[4] == '3')
	case len(digits) == 8:
		return isDay(digits[:4]) && digits[4:6] == "20" || digits[:2] == "20" && isDay(digits[6:]+digits[4:6])
	case len(digits) == 10:
		return digits[0] == '0' && strings.IndexByte("35789", digits[1]) >= 0
	case len(digits) == 11:
		return digits[:2] == "84"
	}
	return false
}

// isDay reports whether four digits are a day and a month.
func isDay(digits string) bool {
	day, month := digits[:2], digits[2:]
	return day >= "01" && day <= "31" && month >= "01" && month <= "12"
}

// isCount reports whether a word is a number with its unit: 150K, 10CAI.
func isCount(word string) bool {
	n := digitsOf(word)
	return n > 0 && !hasDigit(word[n:])
}
