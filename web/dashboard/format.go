package dashboard

import (
	"errors"
	"html/template"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// This file is how the dashboard writes things, in the language of the visit.

// T picks the language of a text that stands in a template.
func (v view) T(en, vi string) string { return app.Text{EN: en, VI: vi}.In(v.Lang) }

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// Number groups the digits of n as the language does.
func (v view) Number(n int64) string { return groupDigits(n, v.Lang) }

func groupDigits(n int64, lang app.Lang) string {
	mark := byte(',')
	if lang == app.Vietnamese {
		mark = '.'
	}
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(mark)
		}
		b.WriteByte(digits[i])
	}
	return sign + b.String()
}

// Count writes how many there are of something; English tells one from many.
func (v view) Count(n int64, one, many, vi string) string {
	if n == 1 {
		many = one
	}
	return v.Number(n) + " " + v.T(many, vi)
}

// Money writes an amount of VND, such as 1.234.567 ₫.
func (v view) Money(n int64) string { return groupDigits(n, v.Lang) + nbsp + "₫" }

// Signed writes a transaction's amount: with the sign that its direction has.
func (v view) Signed(t app.Transaction) string {
	if t.Type == app.Out {
		return "−" + v.Money(t.Amount)
	}
	return "+" + v.Money(t.Amount)
}

// SignedIn writes a sum of money in; without a sign where there is none.
func (v view) SignedIn(n int64) string { return v.signed("+", n) }

// SignedOut writes a sum of money out.
func (v view) SignedOut(n int64) string { return v.signed("−", n) }

func (v view) signed(sign string, n int64) string {
	if n == 0 {
		sign = ""
	}
	return sign + v.Money(n)
}

// Long tells whether a sum needs smaller digits where there is little room.
func (v view) Long(n int64) bool { return n >= 1_000_000_000 }

// Short abbreviates an amount for the axis of a chart.
func (v view) Short(n int64) string {
	for _, unit := range []struct {
		size   int64
		en, vi string
	}{{1e12, "T", " nghìn tỷ"}, {1e9, "B", " tỷ"}, {1e6, "M", " tr"}, {1e3, "K", " k"}} {
		if n >= unit.size {
			whole, tenth := n/unit.size, n%unit.size*10/unit.size
			text := strconv.FormatInt(whole, 10)
			if tenth > 0 && whole < 100 {
				text += v.T(".", ",") + strconv.FormatInt(tenth, 10)
			}
			return text + strings.ReplaceAll(v.T(unit.en, unit.vi), " ", nbsp)
		}
	}
	return strconv.FormatInt(n, 10)
}

// When writes an instant with its day, the time first: what people look for.
func (v view) When(t time.Time) string {
	if t.IsZero() {
		return v.T("Never", "Chưa có")
	}
	return app.WriteTime(t, v.zone).In(v.Lang)
}

// Clock writes the time of an instant alone if it is today, else its day too.
func (v view) Clock(t time.Time) string {
	if app.DayOf(t, v.zone) == app.DayOf(v.now, v.zone) {
		return t.In(v.zone).Format("15:04:05")
	}
	return t.In(v.zone).Format(v.T("02 Jan 15:04", "02/01 15:04"))
}

// Stamp writes an instant for machines: the datetime of a time element.
func (v view) Stamp(t time.Time) string { return t.In(v.zone).Format(time.RFC3339) }

// WhenOf, ClockOf and StampOf write the time of a transaction as When, Clock and
// Stamp do, and its day alone where no more is known.

func (v view) WhenOf(t time.Time, dateOnly bool) string {
	if dateOnly {
		return v.Date(app.DayOf(t, v.zone))
	}
	return v.When(t)
}

func (v view) ClockOf(t time.Time, dateOnly bool) string {
	switch {
	case !dateOnly:
		return v.Clock(t)
	case app.DayOf(t, v.zone) == app.DayOf(v.now, v.zone):
		return v.T("Today", "Hôm nay")
	}
	return t.In(v.zone).Format(v.T("02 Jan", "02/01"))
}

func (v view) StampOf(t time.Time, dateOnly bool) string {
	if dateOnly {
		return app.DayOf(t, v.zone).String()
	}
	return v.Stamp(t)
}

// Date writes a day.
func (v view) Date(d app.Day) string {
	return d.Start(v.zone).In(v.zone).Format(v.T("02 Jan 2006", "02/01/2006"))
}

// Direction names a direction.
func (v view) Direction(d app.Direction) string {
	if d == app.Out {
		return v.T("Money out", "Tiền ra")
	}
	return v.T("Money in", "Tiền vào")
}

// BankName is the short name of a bank.
func (v view) BankName(code string) string { return app.BankShortName(code) }

// Tail is the end of an account number, enough for its owner to know it.
func (v view) Tail(number string) string { return app.Tail(number) }

// Took writes how long something took.
func (v view) Took(d time.Duration) string {
	ms := d.Milliseconds()
	switch {
	case ms == 0:
		return "<1" + nbsp + "ms"
	case ms < 1000:
		return v.Number(ms) + nbsp + "ms"
	case ms < 10_000:
		return v.Number(ms/1000) + v.T(".", ",") + strconv.FormatInt(ms%1000/100, 10) + nbsp + v.T("s", "giây")
	}
	return v.Number(ms/1000) + nbsp + v.T("s", "giây")
}

// Pill says in a few words how far a delivery has come.
func (v view) Pill(p app.LatestDelivery) string {
	what := v.T("Waiting", "Đang chờ")
	if p.HistoryID != 0 {
		if what = strconv.Itoa(p.StatusCode); p.StatusCode == 0 {
			what = v.ErrorWord(p.Error)
		}
	}
	switch p.State {
	case app.DeliveryDelivered:
		return what + " · " + v.Took(p.Duration)
	case app.DeliveryFailed:
		return what + " · " + v.T("failed", "thất bại")
	case app.DeliveryCancelled:
		return v.T("Cancelled", "Đã huỷ")
	}
	if p.HistoryID == 0 {
		return what
	}
	return what + " · " + v.T("retry", "thử lại") + nbsp + strconv.Itoa(p.Attempts+1) + "/" + strconv.Itoa(len(app.RetrySchedule))
}

// ErrorWord is a class of errors in a word or two.
func (v view) ErrorWord(class app.ErrorClass) string {
	switch class {
	case app.ErrorTimeout:
		return v.T("Timeout", "Hết thời gian")
	case app.ErrorDNS:
		return v.T("DNS error", "Lỗi tên miền")
	case app.ErrorRefused:
		return v.T("Connection refused", "Từ chối kết nối")
	case app.ErrorReset, app.ErrorConnection:
		return v.T("Connection lost", "Mất kết nối")
	case app.ErrorTLS:
		return v.T("TLS error", "Lỗi TLS")
	case app.ErrorBlocked:
		return v.T("Blocked address", "Địa chỉ bị chặn")
	}
	return v.T("Error", "Lỗi")
}

// Icon is an icon of the sprite; it is decoration, the words stand beside it.
func (v view) Icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + template.HTMLEscapeString(staticURL("icons.svg")) + `#` + template.HTMLEscapeString(name) + `"/></svg>`)
}

// fieldProblems are the fields that err is about, in words; empty for any
// other error.
func fieldProblems(err error, lang app.Lang) string {
	var e *app.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return ""
	}
	var parts []string
	for _, f := range e.Fields {
		parts = append(parts, app.FieldName(f.Field).In(lang)+" "+f.Text.In(lang)+".")
	}
	return strings.Join(parts, " ")
}
