package statement

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"baoco/app"
)

// This file finds the unit of the amounts. Only whole VND are recorded: a file in another
// currency, or in thousands of VND, is refused.

var (
	foreignWords = listOf("usd|eur|gbp|jpy|aud|cad|chf|sgd|hkd|cny|rmb|cnh|krw|thb|twd|myr|idr|php|nzd|sek|nok|dkk|inr|rub|lak|khr|" +
		"ngoai te|nguyen te|dollar|dollars|do la|euro")
	vndWords      = listOf("vnd|dong|d|viet|vietnam|vietnamese|vn|704")
	multipleWords = listOf("nghin|ngan|trieu|ty|thousand|thousands|million|millions|billion|000|1000|1000000|1k|k|tr d|tr dong|tr vnd")
	unitWords     = slices.Concat(vndWords, multipleWords, foreignWords, listOf("1|nam|x"))

	// unitLabels stand before the name of a unit, companyLabels before the name of a unit or a
	// company, unitSentences before a unit in a sentence.
	unitLabels = regexp.MustCompile(`^(?: (?:loai tien te|loai tien|don vi tien te|don vi tien|don vi tinh|dvt|tien te|currency code|` +
		`currency unit|account currency|currency|ccy|don vi|unit))+ `)
	companyLabels = regexp.MustCompile(`^(?: (?:don vi|unit))+ `)
	unitSentences = listOf("tinh bang|tinh theo|amounts in|amount in|figures in|expressed in")
	companyWords  = listOf("cong ty|cty|tnhh")
)

// readUnit refuses a line outside the table that names another unit than VND.
func (r *Reader) readUnit(line record) error {
	value, vnd := statedUnit(line)
	if r.vnd = r.vnd || vnd; value == "" || vnd {
		return nil
	}
	return refusedAt(line.Line, "it says “%s”, but only amounts in VND are recorded, not in another currency nor in thousands",
		"dòng này ghi “%s” nhưng chỉ ghi nhận số tiền bằng đồng (VND), không nhận ngoại tệ hay đơn vị nghìn, triệu", app.CleanText(value, 60))
}

// statedUnit finds the unit of amounts that a line names: behind a label, or another
// currency at the end of a text about an account or a balance, or at the beginning of one
// after it ("Số tài khoản: 0123456789 (USD) - NGUYEN VAN A"). A currency in the name of a
// company, or in a sentence of a footer, doesn't count. value is the text that names the
// unit; empty: the line names none. vnd tells whether the unit is VND, not a multiple.
func statedUnit(r record) (value string, vnd bool) {
	about, pending, pendingCompany := false, false, false
	for _, c := range r.Cells {
		text := c.Words()
		if unit := shownCurrency(c); unit != "" && about {
			return unit, false
		}
		if len(text) > 500 {
			continue
		}
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|(\n", r) }) {
			words := wordsOf(part)
			if words == "" {
				continue
			}
			unit, company, ok := cutUnitLabel(words)
			if pending {
				unit, company, ok = words, pendingCompany, true
			}
			pending, pendingCompany = ok && unit == "", company
			named := namesAccount(part) || beginsSum(part)
			switch {
			case ok && unit != "" && (!company || onlyUnits(unit)):
				return strings.TrimSpace(part), isVND(unit)
			case named && foreignWords.ends(words) && !companyWords.in(words),
				about && foreignWords.begins(" "+strings.TrimLeft(words, "0123456789 ")):
				return text, false
			}
			about = about || named
		}
	}
	return "", false
}

// cutUnitLabel removes the labels at the beginning of words, "Loại tiền/Currency", or the
// words before a unit in a sentence, "tính bằng nghìn đồng"; a multiple needs no label.
// company tells whether a company's name can follow the labels too.
func cutUnitLabel(words string) (unit string, company, ok bool) {
	if labels := unitLabels.FindString(words); labels != "" {
		return words[len(labels):], labels == companyLabels.FindString(words), true
	}
	for _, label := range unitSentences {
		if _, rest, found := strings.Cut(words, label); found && len(rest) > 0 && onlyUnits(strings.Fields(rest)[0]) {
			return rest, false, true
		}
	}
	first := strings.Fields(words)
	multiple := len(first) > 1 && (slices.Contains(multipleWords, " "+first[0]+" ") || first[0] == "vnd" && multipleWords.in(words))
	return words, false, multiple && onlyUnits(words) && first[0][0] > '9'
}

// shownCurrency returns the text that a spreadsheet shows around a number if it names
// another currency than VND, else an empty text.
func shownCurrency(c cell) string {
	if !c.Number || c.Shown == c.Text {
		return ""
	}
	unit := strings.Trim(strings.ReplaceAll(c.Shown, strings.TrimLeft(c.Plain(), "-"), " "), " +-()")
	sign := strings.IndexFunc(unit, func(r rune) bool { return unicode.Is(unicode.Sc, r) && r != '₫' })
	if sign >= 0 || foreignWords.in(wordsOf(unit)) {
		return unit
	}
	return ""
}

// isVND tells whether words begin with a name of VND that no multiple follows.
func isVND(words string) bool {
	all := strings.Fields(words)
	return len(all) > 0 && slices.Contains(vndWords, " "+all[0]+" ") && !multipleWords.in(" "+strings.Join(all[1:min(len(all), 4)], " ")+" ")
}

// onlyUnits tells whether all words belong to the name of a unit. Other words are the name
// of a company.
func onlyUnits(words string) bool {
	return !slices.ContainsFunc(strings.Fields(words), func(w string) bool { return !slices.Contains(unitWords, " "+w+" ") })
}
