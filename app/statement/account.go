package statement

import "strings"

// accountLabels begin a cell that names the account of the table below,
// folded.
var accountLabels = []string{
	"so tai khoan", "tai khoan so", "so tk", "tai khoan", "account no", "account number", "a c no", "account",
}

// namedAccount reads the account number that a line outside a table gives:
// "ACCOUNT NO: 0123456789", or the number in the cell beside. labelled tells
// whether the line is about an account number at all.
func namedAccount(r record) (number string, labelled bool) {
	for i, c := range r.cells {
		text := c.plain()
		if text == "" {
			continue
		}
		if labelled {
			return accountDigits(c), true
		}
		if c.number || len(text) > 300 {
			continue
		}
		label, value := cutLabel(text)
		if !isAccountLabel(label) {
			continue
		}
		labelled = true
		if number = accountDigits(cell{text: value}); number != "" || i == len(r.cells)-1 {
			return number, true
		}
	}
	return "", labelled
}

// cutLabel cuts a text before its first digit.
func cutLabel(text string) (label, value string) {
	if at := strings.IndexAny(text, "0123456789"); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}

func isAccountLabel(label string) bool {
	words := wordsOf(label)
	for _, not := range []string{" doi ung ", " thu huong ", " huong ", " beneficiary ", " name ", " ten ", " type ", " loai ", " chu "} {
		if strings.Contains(words, not) {
			return false
		}
	}
	for _, l := range accountLabels {
		if strings.HasPrefix(words, " "+l+" ") {
			return len(words) < 80
		}
	}
	return false
}

// accountDigits gives the account number at the beginning of a text: its
// digits, which single spaces, dots or dashes may part. Fewer than 6 are none.
func accountDigits(c cell) string {
	if c.number {
		digits, _ := wholeDigits(c.plain())
		if len(digits) < 6 {
			return ""
		}
		return digits
	}
	text := strings.TrimFunc(strings.TrimLeft(c.plain(), ":#"), isSpace)
	var digits []byte
	for i := range len(text) {
		b := text[i]
		if isDigit(b) {
			digits = append(digits, b)
			continue
		}
		if b == '/' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' {
			return "" // a date, or not the number of an account alone
		}
		if i == 0 || i+1 == len(text) || !isDigit(text[i-1]) || !isDigit(text[i+1]) || strings.IndexByte(" .-", b) < 0 {
			break
		}
	}
	if len(digits) < 6 || len(digits) > 25 {
		return ""
	}
	return string(digits)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
