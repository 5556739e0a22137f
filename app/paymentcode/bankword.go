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

// references are what banks begin their own references with.
var references = []string{"FT", "TRACE", "MOMO", "OQCH", "SEPAY", "MBVCB", "IBVCB", "VCB", "ACSP", "BFTV", "IBT", "REF", "CASHIN", "ZALOPAY"}

// tails are what banks write after the content of the payer.
var tails = []string{"CT", "GD", "MA", "NG", "TU", "TOI", "DEN", "TAI", "TK", "TRACE", "CHUYEN"}

func isTail(word string) bool { return slices.Contains(tails, word) }

// beginsWithAny reports whether s begins with one of words.
func beginsWithAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(s, word) })
}

// isReference reports whether word i is of a bank's making.
func (c *content) isReference(i int) bool {
	if i == 0 {
		return false
	}
	before, gap, word := c.word(i-1), c.gap(i-1), c.word(i)
	if gap[0] == '/' && len(before) > 0 && strings.HasSuffix("ACSP", before) {
		return true
	}
	return strings.HasPrefix(gap, "  ") && slices.ContainsFunc(references, func(reference string) bool {
		rest, broken := strings.CutPrefix(reference, before)
		return broken && rest != "" && strings.HasPrefix(word, rest)
	})
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

// containsAny reports whether one of words is in s.
func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}
