package statement

import (
	"cmp"
	"slices"
	"strings"

	"baoco/app"
)

// accountLabels are the labels of an account number, folded.
var accountLabels = []string{
	"so tai khoan", "tai khoan so", "so tk", "tk so", "stk", "so hieu tai khoan", "ma tai khoan", "tai khoan",
	"account no", "account number", "account id", "acct no", "acc no", "a c no", "a c number", "a c", "acct", "account",
}

// namedAccount reads the account number that a line outside a table names:
// "ACCOUNT NO: 0123456789", or the number in the next cell. labelled tells whether
// the line is about an account number at all. The label may stand behind other
// words, "Sao kê tài khoản 0123456789": inTitle tells whether the text before the
// number is such a title.
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

// accountText returns the account number in a cell. If it isn't understood, this is
// the whole text, so that no linked account has the rows.
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
// above the table. The column holds the accounts that money came from or went to,
// or else the account of the file in every row.
type otherAccounts struct {
	column     int // from 1; 0: there is none
	own, other int // the first lines with the account of the file, and with another
}

// leaveAccounts gives a column of account numbers to otherAccounts if the file
// names its account.
func (r *Reader) leaveAccounts(h *header) {
	if _, given := r.options.Map[string(fieldAccount)]; given {
		return
	}
	switch {
	case r.account != "":
		r.other.column = h.columns.of(fieldAccount) + 1
		delete(h.columns, fieldAccount)
	case h.ofCounterpart(h.columns.of(fieldAccount)):
		r.unclearAccount = true
		delete(h.columns, fieldAccount)
	}
}

// ofCounterpart tells whether a column of account numbers may be about the other side: it
// stands between columns about it, none of which has its account number.
func (h *header) ofCounterpart(column int) bool {
	if column < 1 || column+1 >= len(h.names) || fieldOf(h.names[column-1]) != fieldCounterpart {
		return false
	}
	return !slices.ContainsFunc(h.names, func(name string) bool {
		words := wordsOf(name)
		return fieldOf(name) == fieldCounterpart && hasAny(words, []string{"tk", "tai khoan", "account", "so"})
	})
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
	return refusedAt(max(o.own, o.other),
		"column %s names the account of the file, %s, in some rows and others in others; which rows are of which account is not understood",
		"cột %s có dòng ghi tài khoản của tệp, %s, có dòng ghi tài khoản khác; không rõ dòng nào thuộc tài khoản nào",
		columnName(o.column-1), account)
}

// cutLabel splits a text before its first digit.
func cutLabel(text string) (label, value string) {
	if at := strings.IndexAny(text, "0123456789"); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}

// labels tells whether text is about the number of an account, and of no other
// account than that of the file: one of accountLabels stands in its words where at
// says.
func labels(text string, at func(words, label string) bool) bool {
	words := wordsOf(text)
	return len(words) < 80 && !hasAny(words, otherAccountWords) &&
		slices.ContainsFunc(accountLabels, func(l string) bool { return at(words, " "+l+" ") })
}

// isAccountLabel tells whether a text begins with the label of an account number.
func isAccountLabel(text string) bool { return labels(text, strings.HasPrefix) }

// namesAccount tells whether a text above a table speaks of the account of the
// table.
func namesAccount(text string) bool { return labels(text, strings.Contains) }

// endsWithAccount tells whether a text between tables is the title of an account
// up to its number. The label stands right before the number: a footer may speak
// of accounts and have the number of a help line.
func endsWithAccount(text string) bool {
	return labels(text, func(words, label string) bool {
		return strings.HasSuffix(words, label) || strings.HasSuffix(words, " tk ")
	})
}

// otherAccountWords are in the labels of somebody else's account, or of something
// else than its number, folded.
var otherAccountWords = []string{"doi ung", "thu huong", "huong", "beneficiary", "name", "ten", "type", "loai", "chu"}

// accountDigits returns the account number at the beginning of a text: its digits,
// between which single spaces, dots or dashes may stand. Fewer than 6 digits are no
// account number.
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
