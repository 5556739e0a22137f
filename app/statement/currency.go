package statement

import (
	"slices"
	"strings"
)

// In what a file counts. Only whole VND are recorded: a file of another
// currency, or of thousands of VND, is refused.

// foreignWords name other currencies, folded.
var foreignWords = []string{
	"usd", "eur", "gbp", "jpy", "aud", "cad", "chf", "sgd", "hkd", "cny", "rmb", "cnh", "krw", "thb", "twd", "myr", "idr", "php", "nzd", "sek", "nok", "dkk", "inr", "rub",
	"lak", "khr", "ngoai te", "nguyen te", "dollar", "dollars", "do la", "euro", "yen",
}

// vndWords name the currency that is recorded, multipleWords multiples of it.
var (
	vndWords      = []string{"vnd", "dong", "d", "viet", "vietnam", "vietnamese", "vn", "704"}
	multipleWords = []string{"nghin", "ngan", "trieu", "ty", "thousand", "thousands", "million", "millions", "billion", "000", "1000", "1000000", "1k", "k"}
)

// unitLabels stand before the name of the currency or of the unit.
var unitLabels = []string{
	"loai tien te", "loai tien", "don vi tien te", "don vi tien", "don vi tinh", "dvt", "tien te", "currency code", "currency unit", "account currency", "currency", "ccy",
}

// companyLabels stand before the name of a unit, or of a company.
var companyLabels = []string{"don vi", "unit"}

// statedUnit looks in a line outside the table for the unit that it counts in.
// value is the text that says it, empty where none does; vnd tells whether that
// is VND, and no multiple of it.
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

// countedIn gives the unit in words that say it without a label: "tính bằng nghìn
// đồng", "amounts in thousand VND", or a multiple alone.
func countedIn(words string) (unit string, ok bool) {
	for _, label := range []string{" tinh bang ", " tinh theo ", " amounts in ", " amount in ", " figures in ", " expressed in "} {
		if _, rest, found := strings.Cut(words, label); found {
			if list := strings.Fields(rest); len(list) > 0 && onlyUnits(list[0]) {
				return " " + rest, true
			}
		}
	}
	list := strings.Fields(words)
	return words, len(list) > 1 && onlyUnits(words) && isMultiple(list[0]) && list[0][0] > '9'
}

// foreignBeside is what a line that names an account or a balance says of another
// currency, at the end of a cell or in one that begins with the label of an
// account: "Số tài khoản: 0123456789 - USD". What names a holder or a company says
// nothing, nor does a sentence in a footer.
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
		if (named || about && onlyUnits(cutNumbers(words))) && (last || foreignUnit(words) && isAccountLabel(label)) && !hasAny(words, []string{"cong ty", "cty", "tnhh"}) {
			return text
		}
		about = about || named
	}
	return ""
}

// cutNumbers leaves out the words that are numbers.
func cutNumbers(words string) string {
	list := slices.DeleteFunc(strings.Fields(words), func(w string) bool { return strings.Trim(w, "0123456789") == "" })
	return strings.Join(list, " ")
}

// cutUnitLabel cuts the labels from the beginning of a text, "Loại tiền/Currency".
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
	return len(list) > 0 && slices.Contains(vndWords, list[0]) && !slices.ContainsFunc(list[1:min(len(list), 4)], isMultiple)
}

func isMultiple(word string) bool { return slices.Contains(multipleWords, word) }

// onlyUnits tells whether nothing but the name of a unit stands in words: other
// words are the name of a company.
func onlyUnits(words string) bool {
	for _, word := range strings.Fields(words) {
		if !slices.Contains(vndWords, word) && !isMultiple(word) && !slices.Contains(foreignWords, word) && word != "1" && word != "nam" && word != "x" {
			return false
		}
	}
	return true
}

// foreignUnit tells whether words, of a header or of a line that names an
// account, name another currency; headers name multiples too.
func foreignUnit(words string) bool {
	return slices.ContainsFunc(foreignWords, func(w string) bool { return hasWord(words, w) })
}

func multipleUnit(words string) bool {
	return slices.ContainsFunc(multipleWords, func(w string) bool { return hasWord(words, w) })
}
