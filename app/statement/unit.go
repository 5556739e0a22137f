package statement

import (
	"slices"
	"strings"
)

// In what a file counts. Only VND are recorded, one by one: a file of another
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
// value is what it says, empty where it says nothing; vnd tells whether that is
// VND, one by one.
func statedUnit(r record) (value string, vnd bool) {
	for i, c := range r.cells {
		text := c.plain()
		if c.number || len(text) > 500 {
			continue
		}
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|(\n", r) }) {
			words, company, ok := cutUnitLabel(part)
			for next := i + 1; ok && words == "" && next < len(r.cells); next++ {
				words = wordsOf(r.cells[next].plain())
			}
			if ok && words != "" && (!company || onlyUnits(words)) {
				return strings.TrimSpace(words), isVND(words)
			}
		}
	}
	return "", false
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
