package statement

import (
	"cmp"
	"slices"
	"strings"

	"baoco/app"
)

// accountLabels begin a cell that names the account of the table below,
// folded.
var accountLabels = []string{
	"so tai khoan", "tai khoan so", "so tk", "tk so", "stk", "so hieu tai khoan", "ma tai khoan", "tai khoan",
	"account no", "account number", "account id", "acct no", "acc no", "a c no", "a c number", "a c", "acct", "account",
}

// namedAccount reads the account number that a line outside a table gives:
// "ACCOUNT NO: 0123456789", or the number in the cell beside. labelled tells
// whether the line is about an account number at all. The label may stand behind
// other words, "Sao kê tài khoản 0123456789": inTitle tells of what stands before
// the number whether it is such a title.
func namedAccount(r record, inTitle func(label string) bool) (number string, labelled bool) {
	for i, c := range r.cells {
		text := c.plain()
		if text == "" {
			continue
		}
		if labelled {
			return accountText(c), true
		}
		if c.number || len(text) > 300 {
			continue
		}
		label, value := cutLabel(text)
		if colon := strings.IndexByte(text, ':'); colon >= 0 && isAccountLabel(text[:colon]) {
			label, value = text[:colon], text[colon+1:]
		}
		if !isAccountLabel(label) && inTitle(label) && accountDigits(cell{text: value}) != "" {
			return accountDigits(cell{text: value}), true
		}
		if !isAccountLabel(label) {
			continue
		}
		labelled = true
		if strings.TrimFunc(value, isSpace) != "" || i == len(r.cells)-1 {
			return accountText(cell{text: value}), true
		}
	}
	return "", labelled
}

// accountText is the account number that a cell gives; where that isn't
// understood, all that stands in it, so that the rows are nobody's.
func accountText(c cell) string {
	if number := accountDigits(c); number != "" {
		return number
	}
	text := strings.TrimFunc(strings.TrimLeft(c.plain(), ":# "), isSpace)
	if !strings.ContainsAny(text, "0123456789") {
		return "" // a name, or a kind of account
	}
	return text
}

// otherAccounts is a column of account numbers in a file that names its account
// above the table. It is of those that money came from or went to, or else it
// names the file's own account in every row.
type otherAccounts struct {
	column     int // from 1; 0: there is none
	own, other int // the first lines with the file's account, and with another
}

// leaveAccounts leaves a column of account numbers to otherAccounts where the
// file names its account.
func (r *Reader) leaveAccounts(h *header) {
	if _, given := r.options.Map[string(fieldAccount)]; r.account != "" && !given {
		r.other.column = h.columns.of(fieldAccount) + 1
		delete(h.columns, fieldAccount)
	}
}

// compare refuses a file with rows of its own account and rows of others.
func (o *otherAccounts) compare(l line, account string) error {
	text := l.cell(o.column - 1).plain()
	if o.column == 0 || text == "" {
		return nil
	}
	if app.NormalizeAccountNumber(text) == account {
		o.own = cmp.Or(o.own, l.line)
	} else {
		o.other = cmp.Or(o.other, l.line)
	}
	if o.own == 0 || o.other == 0 {
		return nil
	}
	return refusedAt(max(o.own, o.other), "column %s names the account of the file, %s, in some rows and others in others; which rows are of which account is not understood",
		"cột %s có dòng ghi tài khoản của tệp, %s, có dòng ghi tài khoản khác; không rõ dòng nào thuộc tài khoản nào", columnName(o.column-1), account)
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
	return !otherAccount(words) && len(words) < 80 && slices.ContainsFunc(accountLabels, func(l string) bool { return strings.HasPrefix(words, " "+l+" ") })
}

// namesAccount tells whether a text above a table speaks of the account of it.
func namesAccount(label string) bool {
	words := wordsOf(label)
	return !otherAccount(words) && len(words) < 80 && slices.ContainsFunc(accountLabels, func(l string) bool { return hasWord(words, l) })
}

// endsWithAccount tells whether a text between tables is the title of an account
// up to its number. The label stands right before it: a footer may speak of
// accounts and give the number of a help line.
func endsWithAccount(label string) bool {
	words := wordsOf(label)
	return !otherAccount(words) && len(words) < 80 &&
		(strings.HasSuffix(words, " tk ") || slices.ContainsFunc(accountLabels, func(l string) bool { return strings.HasSuffix(words, " "+l+" ") }))
}

// otherAccount tells whether words are of somebody else's account, or of another
// thing than its number.
func otherAccount(words string) bool {
	for _, not := range []string{" doi ung ", " thu huong ", " huong ", " beneficiary ", " name ", " ten ", " type ", " loai ", " chu "} {
		if strings.Contains(words, not) {
			return true
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
