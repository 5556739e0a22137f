package dashboard

import (
	"cmp"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/sheet"
)

// words writes numbers, times and states for one visitor. A request makes it once; an event
// stream makes it for each event. Methods that belong to one subject are in the file of
// that subject.
type words struct {
	Lang app.Lang       // language of the visitor
	zone *time.Location // time zone of the shop
	now  time.Time      // when the request came, or when the event is made
}

// at returns the same words for another instant.
func (w words) at(now time.Time) words {
	w.now = now
	return w
}

// T picks the text in the visitor's language.
func (w words) T(en, vi string) string { return app.Text{EN: en, VI: vi}.In(w.Lang) }

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// Number writes n with its digits grouped as in the language.
func (w words) Number(n int64) string { return app.GroupDigits(n, w.Lang) }

// Count writes a number and its noun; English has one noun for 1 and another for many.
func (w words) Count(n int64, one, many, vi string) string {
	if n == 1 {
		many = one
	}
	return w.Number(n) + " " + w.T(many, vi)
}

// Money writes an amount of VND, such as 1.234.567 ₫.
func (w words) Money(n int64) string { return app.GroupDigits(n, w.Lang) + nbsp + "₫" }

// Signed writes a transaction's amount, with a sign for its direction.
func (w words) Signed(t app.Transaction) string {
	if t.Type == app.Out {
		return "−" + w.Money(t.Amount)
	}
	return "+" + w.Money(t.Amount)
}

// SignedIn writes a sum of money in; zero has no sign.
func (w words) SignedIn(n int64) string { return w.signed("+", n) }

// SignedOut writes a sum of money out.
func (w words) SignedOut(n int64) string { return w.signed("−", n) }

func (w words) signed(sign string, n int64) string {
	if n == 0 {
		sign = ""
	}
	return sign + w.Money(n)
}

// Short abbreviates an amount for the axis of a chart.
func (w words) Short(n int64) string {
	for _, unit := range []struct {
		size   int64
		en, vi string
	}{{1e12, "T", " nghìn tỷ"}, {1e9, "B", " tỷ"}, {1e6, "M", " tr"}, {1e3, "K", "k"}} {
		if n >= unit.size {
			whole, tenth := n/unit.size, n%unit.size*10/unit.size
			text := strconv.FormatInt(whole, 10)
			if tenth > 0 && whole < 100 {
				text += w.T(".", ",") + strconv.FormatInt(tenth, 10)
			}
			return text + strings.ReplaceAll(w.T(unit.en, unit.vi), " ", nbsp)
		}
	}
	return strconv.FormatInt(n, 10)
}

// When writes an instant with its day. The time comes first, since people look for it first.
func (w words) When(t time.Time) string {
	if t.IsZero() {
		return w.T("Never", "Chưa có")
	}
	return app.WriteTime(t, w.zone).In(w.Lang)
}

// Clock writes the time of an instant, and its day if that isn't today.
func (w words) Clock(t time.Time) string {
	if app.DayOf(t, w.zone) == app.DayOf(w.now, w.zone) {
		return t.In(w.zone).Format("15:04:05")
	}
	return t.In(w.zone).Format(w.T("02 Jan 15:04", "02/01 15:04"))
}

// Ago writes how long ago an instant was, in whole minutes or larger units: live pages update
// themselves once a minute.
func (w words) Ago(t time.Time) string {
	age := w.now.Sub(t)
	unit := func(n time.Duration, en, vi string) string {
		many := en + "s ago"
		if n == 1 {
			many = en + " ago"
		}
		return w.Number(int64(n)) + " " + w.T(many, vi+" trước")
	}
	switch {
	case age < time.Minute:
		return w.T("just now", "vừa xong")
	case age < time.Hour:
		return unit(age/time.Minute, "minute", "phút")
	case age < 24*time.Hour:
		return unit(age/time.Hour, "hour", "giờ")
	}
	return unit(age/(24*time.Hour), "day", "ngày")
}

// Stamp writes an instant for machines: the datetime of a time element.
func (w words) Stamp(t time.Time) string { return t.In(w.zone).Format(time.RFC3339) }

// WhenOf, ClockOf and StampOf write the time of a transaction as When, Clock and
// Stamp do, but only its day if only the day is known.
func (w words) WhenOf(t time.Time, dateOnly bool) string {
	if dateOnly {
		return w.Date(app.DayOf(t, w.zone))
	}
	return w.When(t)
}

func (w words) ClockOf(t time.Time, dateOnly bool) string {
	switch {
	case !dateOnly:
		return w.Clock(t)
	case app.DayOf(t, w.zone) == app.DayOf(w.now, w.zone):
		return w.T("Today", "Hôm nay")
	}
	return t.In(w.zone).Format(w.T("02 Jan", "02/01"))
}

func (w words) StampOf(t time.Time, dateOnly bool) string {
	if dateOnly {
		return app.DayOf(t, w.zone).String()
	}
	return w.Stamp(t)
}

func (w words) Date(d app.Day) string {
	return d.Start(w.zone).In(w.zone).Format(w.T("02 Jan 2006", "02/01/2006"))
}

// DayName writes a day: today and yesterday as words, others with weekday and date.
func (w words) DayName(d app.Day) string {
	switch app.DayOf(w.now, w.zone) - d {
	case 0:
		return w.T("Today", "Hôm nay")
	case 1:
		return w.T("Yesterday", "Hôm qua")
	}
	start := d.Start(w.zone).In(w.zone)
	if w.Lang == app.Vietnamese {
		names := [...]string{"Chủ nhật", "Thứ hai", "Thứ ba", "Thứ tư", "Thứ năm", "Thứ sáu", "Thứ bảy"}
		return names[start.Weekday()] + ", " + w.Date(d)
	}
	return start.Format("Monday") + ", " + w.Date(d)
}

// TimeOf writes the time of a transaction in a list that is grouped by day.
func (w words) TimeOf(t time.Time, dateOnly bool) string {
	if dateOnly {
		return w.T("no time", "không rõ giờ")
	}
	return t.In(w.zone).Format(time.TimeOnly)
}

// Long reports whether an amount has too many digits for the largest type on a phone.
func (words) Long(n int64) bool { return n >= 1_000_000_000_000 }

func (w words) Direction(d app.Direction) string {
	if d == app.Out {
		return w.T("Money out", "Tiền ra")
	}
	return w.T("Money in", "Tiền vào")
}

// Tail is the end of an account number, by which its owner recognises it.
func (w words) Tail(number string) string { return app.Tail(number) }

// LatencyText writes how long an attempt or a part of it took.
func (w words) LatencyText(d time.Duration) string {
	ms := d.Milliseconds()
	switch {
	case ms == 0:
		return "<1" + nbsp + "ms"
	case ms < 1000:
		return w.Number(ms) + nbsp + "ms"
	case ms < 10_000:
		return w.Number(ms/1000) + w.T(".", ",") + strconv.FormatInt(ms%1000/100, 10) + nbsp + w.T("s", "giây")
	}
	return w.Number(ms/1000) + nbsp + w.T("s", "giây")
}

// ContentText writes what a payer wrote on one line, without the characters that no font
// shows, or says that there is nothing to see.
func (w words) ContentText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, sheet.OneLine(text))
	if strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' && r != '\u3164'
	}) {
		return text
	}
	return w.T("(no content)", "(không có nội dung)")
}

// Pill writes the state of a delivery in a few words.
func (w words) Pill(p delivery.Latest) string {
	what := w.T("Waiting", "Đang chờ")
	if p.HistoryID != 0 {
		if what = strconv.Itoa(p.StatusCode); p.StatusCode == 0 {
			what = w.ErrorWord(p.Error)
		}
	}
	switch p.State {
	case app.DeliveryDelivered:
		return what + " · " + w.LatencyText(p.Duration)
	case app.DeliveryFailed:
		return what + " · " + w.T("failed", "thất bại")
	case app.DeliveryCancelled:
		return w.T("Cancelled", "Đã huỷ")
	}
	if p.HistoryID == 0 {
		return what
	}
	return what + " · " + w.T("retry", "thử lại") + nbsp + strconv.Itoa(p.Attempts+1) + "/" + strconv.Itoa(len(delivery.RetrySchedule))
}

var errorWords = map[delivery.ErrorClass]app.Text{
	delivery.ErrorTimeout:    {EN: "Timeout", VI: "Hết thời gian"},
	delivery.ErrorDNS:        {EN: "DNS error", VI: "Lỗi tên miền"},
	delivery.ErrorRefused:    {EN: "Connection refused", VI: "Từ chối kết nối"},
	delivery.ErrorReset:      {EN: "Connection lost", VI: "Mất kết nối"},
	delivery.ErrorConnection: {EN: "Connection lost", VI: "Mất kết nối"},
	delivery.ErrorTLS:        {EN: "TLS error", VI: "Lỗi TLS"},
	delivery.ErrorBlocked:    {EN: "Blocked address", VI: "Địa chỉ bị chặn"},
}

// ErrorWord names a class of errors in a word or two.
func (w words) ErrorWord(class delivery.ErrorClass) string {
	return cmp.Or(errorWords[class], app.Text{EN: "Error", VI: "Lỗi"}).In(w.Lang)
}

// Icon is an icon of the sprite. It is decoration: there is always a text next to it.
func (w words) Icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + template.HTMLEscapeString(staticURL("icons.svg")) + `#` +
		template.HTMLEscapeString(name) + `"/></svg>`)
}
