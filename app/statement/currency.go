package statement

import (
	"slices"
	"strings"
)

// The unit of the amounts of a file. Only whole VND are recorded: a file in another
// currency, or in thousands of VND, is refused.

// foreignWords name other currencies, folded.
var foreignWords = []string{
	"usd", "eur", "gbp", "jpy", "aud", "cad", "chf", "sgd", "hkd", "cny", "rmb", "cnh", "krw", "thb", "twd", "myr", "idr", "php", "nzd", "sek",
	"nok", "dkk", "inr", "rub",
	"lak", "khr", "ngoai te", "nguyen te", "dollar", "dollars", "do la", "euro", "yen",
}

// vndWords name the currency that is recorded, multipleWords its multiples.
var (
	vndWords      = []string{"vnd", "dong", "d", "viet", "vietnam", "vietnamese", "vn", "704"}
	multipleWords = []string{"nghin", "ngan", "trieu", "ty", "thousand", "thousands", "million", "millions", "billion", "000", "1000",
		"1000000", "1k", "k"}
)

// unitLabels stand before the name of the currency or of the unit.
var unitLabels = []string{
	"loai tien te", "loai tien", "don vi tien te", "don vi tien", "don vi tinh", "dvt", "tien te", "currency code", "currency unit",
	"account currency", "currency", "ccy",
}

// companyLabels stand before the name of a unit, or of a company.
var companyLabels = []string{"don vi", "unit"}

// statedUnit finds the unit of amounts that a line outside the table names. value
// is the text that names it, empty where there is none. vnd tells whether the unit
// is VND and no multiple of it.
func statedUnit(r record) (value string, vnd bool) {
	if value := foreignBeside(r); value != "" {
		return value, false
	}
	for i, c := range r.cells {
		text := c.plain()
		if c.number || len(text) > 500 {
			continue
		}
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|(\n", r) }) {
			words, company, ok := cutUnitLabel(part)
			if !ok {
				words, ok = countedIn(wordsOf(part))
			}
			for next := i + 1; ok && words == "" && next < len(r.cells); next++ {
				part = r.cells[next].plain()
				words = wordsOf(part)
			}
			if ok && words != "" && (!company || onlyUnits(words)) {
				return strings.TrimSpace(part), isVND(words)
			}
		}
	}
	return "", false
}

// countedIn returns the unit in words that name it without a label: "tính bằng
// nghìn đồng", "amounts in thousand VND", or a multiple alone.
func countedIn(words string) (unit string, ok bool) {
	for _, label := range []string{" tinh bang ", " tinh theo ", " amounts in ", " amount in ", " figures in ", " expressed in "} {
		if _, rest, found := strings.Cut(words, label); found {
			if list := strings.Fields(rest); len(list) > 0 && onlyUnits(list[0]) {
				return " " + rest, true
			}
		}
	}
	list := strings.Fields(words)
	return words, len(list) > 1 && onlyUnits(words) && slices.Contains(multipleWords, list[0]) && list[0][0] > '9'
}

// foreignBeside returns the cell in which a line about an account or a balance
// names another currency. The name stands at the end of a cell, or in one that
// begins with the label of an account: "Số tài khoản: 0123456789 - USD". A currency
// in the name of a company, or in a sentence of a footer, doesn't count.
func foreignBeside(r record) string {
	about := false
	for _, c := range r.cells {
		text := c.plain()
		if c.number || text == "" || len(text) > 150 {
			continue
		}
		words := wordsOf(text)
		label, _ := cutLabel(text)
		last := slices.ContainsFunc(foreignWords, func(w string) bool { return strings.HasSuffix(words, " "+w+" ") })
		named := namesAccount(words) || beginsSum(text)
		if (named || about && onlyUnits(cutNumbers(words))) && (last || hasAny(words, foreignWords) && isAccountLabel(label)) &&
			!hasAny(words, []string{"cong ty", "cty", "tnhh"}) {
			return text
		}
		about = about || named
	}
	return ""
}

// cutNumbers removes the words that are numbers.
func cutNumbers(words string) string {
	list := slices.DeleteFunc(strings.Fields(words), func(w string) bool { return strings.Trim(w, "0123456789") == "" })
	return strings.Join(list, " ")
}

// cutUnitLabel removes the labels at the beginning of a text, "Loại tiền/Currency".
// company tells whether these can stand before the name of a company too.
func cutUnitLabel(text string) (words string, company, ok bool) {
	words = wordsOf(text)
	company = true
	for cut := true; cut; {
		cut = false
		for _, label := range slices.Concat(unitLabels, companyLabels) {
			if rest, found := strings.CutPrefix(words, " "+label+" "); found {
				company = company && slices.Contains(companyLabels, label)
				words, cut, ok = " "+rest, true, true
				break
			}
		}
	}
	if strings.TrimSpace(words) == "" {
		words = ""
	}
	return words, company, ok
}

// isVND tells whether words begin with the name of VND, and no multiple of it
// follows.
func isVND(words string) bool {
	list := strings.Fields(words)
	multiple := func(word string) bool { return slices.Contains(multipleWords, word) }
	return len(list) > 0 && slices.Contains(vndWords, list[0]) && !slices.ContainsFunc(list[1:min(len(list), 4)], multiple)
}

// onlyUnits tells whether nothing but the name of a unit stands in words: other
// words are the name of a company.
func onlyUnits(words string) bool {
	for _, word := range strings.Fields(words) {
		if !slices.Contains(vndWords, word) && !slices.Contains(multipleWords, word) && !slices.Contains(foreignWords, word) && word != "1" &&
			word != "nam" && word != "x" {
			return false
		}
	}
	return true
}
