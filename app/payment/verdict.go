package payment

import (
	"fmt"
	"strconv"
	"strings"

	"baoco/app"
)

// Announcement is the sentence that a counter speaks when money comes in.
func Announcement(amount int64) app.Text {
	return app.Text{EN: "Received " + AmountInWords(amount, app.English),
		VI: "Đã nhận " + AmountInWords(amount, app.Vietnamese)}
}

// Verdict is what money in means for the person at the counter.
type Verdict string

// The verdicts.
const (
	VerdictNone  Verdict = ""      // no bill is known, and the amount isn't small
	VerdictFull  Verdict = "full"  // the bill is paid
	VerdictShort Verdict = "short" // the bill isn't paid yet
	VerdictOver  Verdict = "over"  // the bill is paid, and more came
	VerdictCheck Verdict = "check" // somebody must look: too late, after it was cancelled or paid
	VerdictSmall Verdict = "small" // no bill is known, and the amount is below the account's small one
	VerdictOther Verdict = "other" // no bill is known, though the counter has bills
)

// Announce returns the sentence that a counter speaks about money in, and its verdict. a is
// the account of t; bills is true if the counter has bills.
func Announce(t app.Transaction, a app.Account, bills bool) (app.Text, Verdict) {
	p := t.Payment()
	said := func(en, vi string, amounts ...int64) app.Text {
		var enWords, viWords []any
		for _, amount := range amounts {
			enWords, viWords = append(enWords, AmountInWords(amount, app.English)), append(viWords, AmountInWords(amount, app.Vietnamese))
		}
		return app.Text{EN: fmt.Sprintf(en, enWords...), VI: fmt.Sprintf(vi, viWords...)}
	}
	switch {
	case p.Status == "" && t.Amount < a.SmallAmount:
		return said("Careful: received only %s", "Chú ý: chỉ nhận %s", t.Amount), VerdictSmall
	case p.Status == "" && bills:
		return said("Received %s, of no known bill", "Đã nhận %s, chưa rõ của đơn nào", t.Amount), VerdictOther
	case p.Status == "":
		return Announcement(t.Amount), VerdictNone
	case p.Status == app.PaymentPaid && p.Received-t.Amount >= p.Due-tolerance(p.Due, a):
		return said("Received %s more, for a bill that was paid before", "Nhận thêm %s cho đơn đã đủ tiền từ trước", t.Amount), VerdictCheck
	case p.Status == app.PaymentPaid:
		return said("Paid in full, %s", "Đủ tiền, %s", p.Received), VerdictFull
	case p.Status == app.PaymentUnderpaid:
		return said("Not enough: received only %s, %s still due", "Thiếu: mới nhận %s, còn thiếu %s", p.Received, p.Due-p.Received), VerdictShort
	case p.Status == app.PaymentOverpaid:
		return said("Too much: received %s, %s more than due", "Thừa: đã nhận %s, thừa %s", p.Received, p.Received-p.Due), VerdictOver
	case p.Status == app.PaymentPaidLate && p.Overpaid > 0:
		return said("Too late and too much: received %s for a bill that was cancelled or had expired, %s more than due",
			"Tiền đến muộn và thừa: nhận %s cho đơn đã huỷ hoặc hết hạn, thừa %s", t.Amount, p.Overpaid), VerdictCheck
	case p.Status == app.PaymentPaidLate:
		return said("Too late: received %s for a bill that was cancelled or had expired",
			"Tiền đến muộn: nhận %s cho đơn đã huỷ hoặc hết hạn", t.Amount), VerdictCheck
	}
	return said("The bill was cancelled, but %s has come", "Đơn đã huỷ nhưng vẫn có %s", t.Amount), VerdictCheck
}

// AnnouncementOfMany is the one sentence for several payments that aren't announced yet, with
// their sum.
func AnnouncementOfMany(count, sum int64) app.Text {
	payments := " new payments, "
	if count == 1 {
		payments = " new payment, "
	}
	n := strconv.FormatInt(count, 10)
	return app.Text{EN: n + payments + AmountInWords(sum, app.English) + " in total",
		VI: "Có " + n + " khoản mới, tổng " + AmountInWords(sum, app.Vietnamese)}
}

// AmountInWords writes an amount of VND, 0 or more, as it is spoken.
// A browser's voice would read 1.549.000 as a decimal fraction, or digit by
// digit.
func AmountInWords(amount int64, lang app.Lang) string {
	if lang == app.Vietnamese {
		return strings.Join(vietnameseNumber(amount), " ") + " đồng"
	}
	return strings.Join(englishNumber(amount), " ") + " dong"
}

var vietnameseDigits = [...]string{"không", "một", "hai", "ba", "bốn", "năm", "sáu", "bảy", "tám", "chín"}

// vietnameseNumber writes n in groups of three digits. A group after the first
// is spoken with its hundreds even if they are zero: 1,005 is "một nghìn không
// trăm linh năm". Groups of zeros are left out. There is no word above the
// billions (tỷ): their number is written the same way.
func vietnameseNumber(n int64) (words []string) {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000, "tỷ"}, {1_000_000, "triệu"}, {1_000, "nghìn"}, {1, ""}} {
		group := n / unit.size
		n %= unit.size
		switch {
		case group == 0:
			continue
		case group >= 1_000:
			words = append(words, vietnameseNumber(group)...)
		default:
			words = append(words, vietnameseGroup(int(group), len(words) > 0)...)
		}
		if unit.name != "" {
			words = append(words, unit.name)
		}
	}
	if len(words) == 0 {
		return []string{vietnameseDigits[0]}
	}
	return words
}

// vietnameseGroup writes 1 to 999. After tens the last digit has another word:
// mười lăm, hai mươi mốt, hai mươi tư, hai mươi lăm.
func vietnameseGroup(n int, withHundreds bool) (words []string) {
	hundreds, tens, ones := n/100, n/10%10, n%10
	withHundreds = withHundreds || hundreds > 0
	if withHundreds {
		words = append(words, vietnameseDigits[hundreds], "trăm")
	}
	switch {
	case tens == 0 && ones > 0 && withHundreds:
		words = append(words, "linh")
	case tens == 1:
		words = append(words, "mười")
	case tens > 1:
		words = append(words, vietnameseDigits[tens], "mươi")
	}
	switch {
	case ones == 0:
	case ones == 1 && tens > 1:
		words = append(words, "mốt")
	case ones == 4 && tens > 1:
		words = append(words, "tư")
	case ones == 5 && tens > 0:
		words = append(words, "lăm")
	default:
		words = append(words, vietnameseDigits[ones])
	}
	return words
}

var (
	englishSmall = [...]string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
		"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	englishTens = [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
)

func englishNumber(n int64) (words []string) {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000_000, "trillion"}, {1_000_000_000, "billion"}, {1_000_000, "million"}, {1_000, "thousand"}} {
		if group := n / unit.size; group > 0 {
			words = append(append(words, englishNumber(group)...), unit.name)
		}
		n %= unit.size
	}
	if n > 0 || len(words) == 0 {
		words = append(words, englishGroup(int(n))...)
	}
	return words
}

// englishGroup writes 0 to 999.
func englishGroup(n int) (words []string) {
	if n >= 100 {
		words = append(words, englishSmall[n/100], "hundred")
		if n %= 100; n == 0 {
			return words
		}
	}
	if n < len(englishSmall) {
		return append(words, englishSmall[n])
	}
	word := englishTens[n/10]
	if n%10 > 0 {
		word += "-" + englishSmall[n%10]
	}
	return append(words, word)
}
