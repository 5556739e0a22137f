package app

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
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
	fault := f.fault()
	if fault == (Text{}) {
		return Text{}
	}
	return Text{"the date " + fault.EN, "ngày giờ " + fault.VI}
}

// fault is what is wrong with a date that was named before.
func (f DateFlaw) fault() Text {
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
var dateForm = regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d)|(\d\d?/\d\d?/\d{4}))(?:[ Tt](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([+-]\d\d):?(\d\d))?)?$`)

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
	if allDigits(text) {
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

// SetDate reads the provider's date into e; an empty text is DateMissing.
func (e *Incoming) SetDate(text string, zone *time.Location) {
	var ok bool
	if text = strings.TrimSpace(text); text == "" {
		e.DateFlaw = DateMissing
	} else if e.Time, e.DateOnly, ok = ReadDate(text, zone); !ok {
		e.DateFlaw = DateImpossible
	}
}

// dateFlaw is why the date of e can't be used, where it is now at least that.
func (e *Incoming) dateFlaw(now time.Time) DateFlaw {
	switch {
	case e.DateFlaw != "":
		return e.DateFlaw
	case e.Time.IsZero():
		return DateMissing
	case e.Time.Unix() < 0:
		return DateImpossible
	case e.Time.After(now.Add(mostAhead)):
		return DateAhead
	}
	return ""
}

// mostAhead is how far a date may be in the future.
const mostAhead = 24 * time.Hour

// settleDate dates e by its receipt where its own date can't be used.
func (e *Incoming) settleDate(receivedAt, now time.Time) {
	if e.DateFlaw = e.dateFlaw(now); e.DateFlaw != "" {
		e.Time, e.DateOnly = receivedAt, false
	}
	e.Time = e.Time.Truncate(time.Second)
}

// dateNotice says how many transactions of a call are dated by its receipt, and
// why; empty: none.
func dateNotice(elements []Incoming, outcomes []Outcome) Text {
	count := map[DateFlaw]int{}
	for i, o := range outcomes {
		if o == OutcomeRecorded || o == OutcomeUnassigned {
			count[elements[i].DateFlaw]++
		}
	}
	var en, vi []string
	for _, f := range []DateFlaw{DateMissing, DateImpossible, DateAhead} {
		if n := count[f]; n > 0 {
			en, vi = append(en, fmt.Sprintf("%d (%s)", n, f.Text().EN)), append(vi, fmt.Sprintf("%d (%s)", n, f.Text().VI))
		}
	}
	if len(en) == 0 {
		return Text{}
	}
	return Text{"Dated by the time of receipt: " + strings.Join(en, ", ") + ".", "Ghi theo thời điểm nhận: " + strings.Join(vi, ", ") + "."}
}

// FormatDate writes t as Y-m-d H:i:s in zone, and as Y-m-d where only its day
// is known.
func FormatDate(t time.Time, dateOnly bool, zone *time.Location) string {
	if dateOnly {
		return t.In(zone).Format(DateLayout)
	}
	return FormatTime(t, zone)
}

// StartedAfter says when the newest of what was recorded before this process started was.
func (s *InboundService) StartedAfter(newest time.Time) { s.newestAtStart.Store(&newest) }

// longestOff is how long after what was recorded last a server may start again.
const longestOff = 366 * 24 * time.Hour

// likelyNow is the clock, by which dates of transactions are judged. A clock that was
// behind what was recorded before the server started, as in 1970 after a loss of power, is
// wrong: beside it every right date would seem to be in the future, and the transaction would be
// dated by that clock. So until it is right the own date counts, unless it is very late.
func (s *InboundService) likelyNow(clock time.Time) time.Time {
	if newest := s.newestAtStart.Load(); newest != nil && newest.After(clock.Add(mostAhead)) {
		return newest.Add(longestOff)
	}
	return clock
}

