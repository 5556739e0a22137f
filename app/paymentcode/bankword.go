package paymentcode

import (
	"slices"
	"strings"
)

// wordsBefore are what banks and their apps glue before a content.
var wordsBefore = []string{"CK", "CT", "ND", "QR", "TT", "IBFT", "NOIDUNG", "CHUYENTIEN", "CHUYENKHOAN", "THANHTOAN"}

// prefixesOfBanks are what banks and their apps also write before numbers of their own.
var prefixesOfBanks = []string{"CKN", "MSE", "BNK", "TRF", "TFR", "REM", "CTR", "VPB", "TR", "SO"}

// wordsAfter are what stands glued after a code where spaces were lost. They
// are long, so that no code can have them at its end by chance.
var wordsAfter = []string{"CHUYENTIEN", "CHUYENKHOAN", "THANHTOAN"}

// references are what banks begin their own references with. What begins so is
// never a code.
var references = []string{"FT", "TRACE", "MOMO", "OQCH", "SEPAY", "MBVCB", "IBVCB", "VCB", "ACSP", "BFTV", "IBT", "REF",
	"CASHIN", "ZALOPAY"}

// tails are what banks write behind the content of the payer, also glued to it.
var tails = []string{"CT", "GD", "MA", "NG", "TU", "TOI", "DEN", "TAI", "TK", "TRACE", "CHUYEN"}

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
	near := strings.Trim(gap, " /-:\r\n\t") == ""
	if near && (before == "ACSP" || strings.Contains(gap, "/") && strings.HasSuffix("ACSP", before)) {
		return true // the word may be broken as well
	}
	return gap[0] == ' ' && slices.ContainsFunc(references, func(reference string) bool {
		rest, broken := strings.CutPrefix(reference, before)
		return broken && rest != "" && strings.HasPrefix(word, rest)
	})
}

// joiners stand between the orders of a list.
var joiners = []string{"VA", "VOI", "DEN", "CUNG", "AND"}

// isListed reports whether word i, which ends a code with n characters after its prefix,
// may be the first of a list whose others have no prefix, or one that can't be
// read: DH001234-35, DH001234 001235, DH001234 va don 1235.
func (c *content) isListed(i int, code string, n int) bool {
	if i == len(c.words)-1 {
		return false
	}
	next := c.word(i + 1)
	if slices.Contains(joiners, next) {
		return c.isJoined(i, code, n+MaxPrefix)
	}
	if c.isTime(i + 1) {
		return false
	}
	// A space alone stands also before short numbers of banks.
	return hasDigit(next) && (len(next) == n || len(next) < n && strings.ContainsAny(c.gap(i), ",+&-/;:|~._(>"))
}

// isJoined reports whether a joiner follows word i, and soon after it a word with digits,
// of most characters at most, which isn't code.
func (c *content) isJoined(i int, code string, most int) bool {
	if i == len(c.words)-1 || !slices.Contains(joiners, c.word(i+1)) {
		return false
	}
	for j := i + 2; j < len(c.words) && j <= i+8; j++ {
		if word := c.word(j); hasDigit(word) && word != code && len(word) <= most {
			return true
		}
	}
	return false
}

// isTime reports whether word i is the day of a time as ACB writes it: 061225-18:39:08.
func (c *content) isTime(i int) bool {
	return i+2 < len(c.words) && c.gap(i) == "-" && c.gap(i+1) == ":"
}

// units are what stands behind an amount.
var units = []string{"D", "DONG", "VND", "VN", "K", "NGAN", "NGHIN", "TR", "TRIEU"}

// looksOtherwise reports whether digits that stand apart from their prefix are
// rather an amount, a date, a phone number or the number of an account.
func looksOtherwise(digits string) bool {
	if strings.HasSuffix(digits, "00") {
		return true
	}
	switch year := func(s string) bool { return s == "19" || s == "20" }; len(digits) {
	case 4:
		return year(digits[:2])
	case 6: // a day with its year, or a month
		return isDay(digits[:4]) || isDay("01"+digits[:2]) && year(digits[2:4]) || year(digits[:2]) && isDay("01"+digits[4:])
	case 8:
		return isDay(digits[:4]) && year(digits[4:6]) || year(digits[:2]) && isDay(digits[6:]+digits[4:6])
	case 9:
		return strings.IndexByte("35789", digits[0]) >= 0
	case 10:
		return digits[0] == '0' || digits[:2] == "18" || digits[:2] == "19"
	case 11:
		return digits[0] == '0' || digits[:2] == "84"
	}
	return len(digits) >= 12
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
