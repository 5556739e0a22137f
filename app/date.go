package app

import (
	"cmp"
	"regexp"
	"strconv"
	"time"
)

// DateFlaw is why a transaction has the time of its receipt and not the date of
// its provider; empty: it has the provider's date.
type DateFlaw string

// The flaws of a date.
const (
	DateMissing    DateFlaw = "missing"
	DateImpossible DateFlaw = "impossible" // no such date, or in no form that is read
	DateAhead      DateFlaw = "ahead"      // more than a day after its receipt
)

// Text is a clause with the date as its subject.
func (f DateFlaw) Text() Text {
	fault := f.Fault()
	if fault == (Text{}) {
		return Text{}
	}
	return Text{"the date " + fault.EN, "ngày giờ " + fault.VI}
}

// Fault is what is wrong with a date that was named before.
func (f DateFlaw) Fault() Text {
	switch f {
	case DateMissing:
		return Text{"is missing", "bị thiếu"}
	case DateImpossible:
		return Text{"does not exist or is in an unknown format", "không có thật hoặc sai định dạng"}
	case DateAhead:
		return Text{"is more than a day in the future", "muộn hơn hiện tại quá một ngày"}
	}
	return Text{}
}

// Notice says how and why a transaction is dated; empty where it has its own
// date.
func (f DateFlaw) Notice() Text {
	if f == "" {
		return Text{}
	}
	return Text{"It is dated by the time of receipt: " + f.Text().EN + ".", "Ghi theo thời điểm nhận: " + f.Text().VI + "."}
}

// dateForm has the parts of a date as programs and people write it: Y-m-d or
// d/m/Y, perhaps a time of day behind a space or a T, with or without seconds
// and their fraction, and perhaps a zone behind that.
var dateForm = regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d)|(\d\d?/\d\d?/\d{4}))(?:[ Tt](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:([Zz])` +
	`|([+-]\d\d):?(\d\d))?)?$`)

// longestDate is the length in bytes that no date exceeds.
const longestDate = 64

// ReadDate reads a date in a form of dateForm, or as seconds (10 digits) or
// milliseconds (13 digits) since 1970. zone is used where the text names none.
// dateOnly says that there is no time of day: then t is the first moment of the
// day. ok is false for another form and for a date that doesn't exist.
func ReadDate(text string, zone *time.Location) (t time.Time, dateOnly, ok bool) {
	if len(text) > longestDate {
		return t, false, false
	}
	if AllDigits(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil || text[0] == '0':
		case len(text) == 10:
			return time.Unix(n, 0), false, true
		case len(text) == 13:
			return time.UnixMilli(n), false, true
		}
		return t, false, false
	}
	part := dateForm.FindStringSubmatch(text)
	if part == nil {
		return t, false, false
	}
	date := part[1]
	if date == "" {
		day, err := time.Parse("2/1/2006", part[2])
		if err != nil {
			return t, false, false
		}
		date = day.Format(DateLayout)
	}
	clock, seconds, fraction, utc, hours, minutes := part[3], part[4], part[5], part[6], part[7], part[8]
	if clock == "" {
		day, err := ParseDay(date)
		if err != nil {
			return t, false, false
		}
		return day.Start(zone), true, true
	}
	var err error
	switch local := date + " " + clock + cmp.Or(seconds, ":00"); {
	case utc != "":
		t, err = ParseTime(local, time.UTC)
	case hours != "":
		t, err = time.Parse(TimeLayout+"-07:00", local+hours+":"+minutes)
	default:
		t, err = ParseTime(local, zone)
	}
	if err != nil {
		return time.Time{}, false, false
	}
	parts, err := time.ParseDuration("0." + fraction + "s")
	return t.Add(parts), false, err == nil
}

// MostAhead is how far a date may be in the future.
const MostAhead = 24 * time.Hour

// FormatDate writes t as Y-m-d H:i:s in zone, and as Y-m-d where only its day
// is known.
func FormatDate(t time.Time, dateOnly bool, zone *time.Location) string {
	if dateOnly {
		return t.In(zone).Format(DateLayout)
	}
	return FormatTime(t, zone)
}
