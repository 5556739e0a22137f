package statement

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"baoco/app"
	"baoco/app/sheet"
)

// This file finds the bank and the account number of a statement in the lines around the
// table. A column of accounts may hold those of the other side, so it counts only if a
// person names it, or in a file that baoco exported.

// bankNames are the names by which titles call the banks, folded, with their codes; the
// longest come first, as "VPBank" also stands in "CAKE by VPBank".
var bankNames = sync.OnceValue(func() [][2]string {
	names := [][2]string{{" mb ", "MBB"}, {" mb bank ", "MBB"}, {" military commercial ", "MBB"}, {" asia commercial ", "ACB"}}
	for _, b := range app.Banks() {
		for _, name := range []string{b.Code, b.ShortName, b.Name, strings.Replace(b.Name, "Ngân hàng TMCP", "Ngân hàng", 1)} {
			if words := wordsOf(name); len(words) > 4 {
				names = append(names, [2]string{words, b.Code})
			}
		}
	}
	slices.SortStableFunc(names, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	return names
})

// findBank returns the code of the bank that the lines above a table name; empty: they name
// none, or several.
func findBank(titles []record) (code string) {
	above := " "
	for _, r := range titles {
		for _, c := range r.Cells {
			if text := c.Words(); len(text) < 500 {
				above += wordsOf(text)
			}
		}
	}
	for _, name := range bankNames() {
		if rest := strings.ReplaceAll(above, name[0], " | "); rest != above {
			if code != "" && code != name[1] {
				return ""
			}
			above, code = rest, name[1]
		}
	}
	return code
}

// accountLabels are the labels of an account number. otherAccountWords are in the labels
// of somebody else's account, or of something else than its number.
var (
	accountLabels = listOf("so tai khoan|tai khoan so|so tk|tk so|stk|so hieu tai khoan|ma tai khoan|tai khoan|account no|account number|" +
		"account id|acct no|acc no|a c no|a c number|a c|acct|account")
	otherAccountWords = slices.Concat(counterpartWords, listOf("huong|name|ten|type|loai|chu|lien ket|linked|chuyen|nhan"))
)

// namedAccount reads the account number that a line outside a table names:
// "ACCOUNT NO: 0123456789", or the number in the next cell. labelled tells whether
// the line is about an account number at all. The label may stand behind other
// words, "Sao kê tài khoản 0123456789": inTitle tells whether the text before the
// number is such a title.
func namedAccount(r record, inTitle func(label string) bool) (number string, labelled bool) {
	for i, c := range r.Cells {
		text := c.Plain()
		if labelled && text != "" {
			return accountText(c), true
		}
		if text == "" || c.Number || len(text) > 300 {
			continue
		}
		if counterpartWords.in(wordsOf(text)) {
			return "", false
		}
		label, value := cutLabel(text)
		if colon := strings.IndexByte(text, ':'); colon >= 0 && isAccountLabel(text[:colon]) {
			label, value = text[:colon], text[colon+1:]
		}
		if labelled = isAccountLabel(label); labelled && (strings.TrimFunc(value, sheet.IsSpace) != "" || i == len(r.Cells)-1) {
			return accountText(cell{Text: value}), true
		}
		if number = accountDigits(cell{Text: value}); !labelled && number != "" && inTitle(label) {
			return number, true
		}
	}
	return "", labelled
}

// accountText returns the account number in a cell. A number that isn't understood is
// returned as the whole text, which fits no linked account. A text without digits is a
// name, or a kind of account, and gives an empty number.
func accountText(c cell) string {
	if number := accountDigits(c); number != "" {
		return number
	}
	if _, digits := cutLabel(c.Plain()); digits == "" {
		return ""
	}
	return strings.TrimFunc(strings.TrimLeft(c.Plain(), ":# "), sheet.IsSpace)
}

// cutLabel splits a text before its first digit.
func cutLabel(text string) (label, value string) {
	if at := strings.IndexAny(text, "0123456789"); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}

// labelWords returns the words of a text that may be about the account of the file.
func labelWords(text string) string {
	words := wordsOf(text)
	if len(words) >= 80 || otherAccountWords.in(words) {
		return ""
	}
	return words
}

// isAccountLabel tells whether a text begins with the label of an account number.
func isAccountLabel(text string) bool { return accountLabels.begins(labelWords(text)) }

// namesAccount tells whether a text above a table speaks of the account of the table.
func namesAccount(text string) bool { return accountLabels.in(labelWords(text)) }

// endsWithAccount tells whether a text between tables is the title of an account
// up to its number. The label stands right before the number: a footer may speak
// of accounts and have the number of a help line.
func endsWithAccount(text string) bool {
	words := labelWords(text)
	return accountLabels.ends(words) || strings.HasSuffix(words, " tk ")
}

// accountForm is the beginning of a text with an account number, and a letter right behind it.
var accountForm = regexp.MustCompile(`^([0-9](?:[ .-]?[0-9])*)([/A-Za-z]?)`)

// accountDigits returns the account number at the beginning of a text: its digits,
// between which single spaces, dots or dashes may stand. Fewer than 6 digits are no
// account number.
func accountDigits(c cell) string {
	if c.Number {
		if digits, _ := exactText(c); len(digits) >= 6 {
			return digits
		}
		return ""
	}
	text := strings.TrimFunc(strings.TrimLeft(c.Plain(), ":#"), sheet.IsSpace)
	part := accountForm.FindStringSubmatch(text)
	if part == nil || part[2] != "" {
		return "" // no number, a date, or not the number of an account alone
	}
	digits := strings.NewReplacer(" ", "", ".", "", "-", "").Replace(part[1])
	if len(digits) < 6 || len(digits) > 25 {
		return ""
	}
	return digits
}
