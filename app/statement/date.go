package statement

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"baoco/app/sheet"
)

// date is the content of a cell of a date column.
type date struct {
	at    time.Time
	clock bool   // the time of day is known
	rest  string // the text behind the date
}

// The forms of a date and of a time of day at the beginning of a text.
var (
	dayForm   = regexp.MustCompile(`^(\d+)([/.-])(\d+)([/.-])(\d+)`)
	clockForm = regexp.MustCompile(`^(\d+):(\d+)(?::(\d+))?(?:\.\d*)?(?: *([AaPp])[Mm])?`)
)

// parseDate reads the date at the beginning of a cell, in zone: dd/mm/yyyy
// (never mm/dd) or yyyy-mm-dd, with "/", "-" or "." between; a year of two digits
// is of this century. A number of a spreadsheet is a number of days. A time of day
// may follow, and a text after it; but a delimiter shows that several columns were
// read as one.
func parseDate(c cell, zone *time.Location, date1904 bool) (date, bool) {
	text := c.Plain()
	if text == "" || !isDigit(text[0]) {
		return date{}, false
	}
	if c.Number {
		return serialDate(text, zone, date1904)
	}
	if len(text) > 10 && text[10] == 'T' {
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.Year() >= 1970 {
			return date{at: at, clock: true}, true
		}
	}
	part := dayForm.FindStringSubmatch(text)
	if part == nil || part[2] != part[4] {
		return date{}, false
	}
	day, month, year := part[1], part[3], part[5]
	if len(day) == 4 {
		day, year = year, day
	} else if len(year) == 2 {
		year = "20" + year
	}
	at, err := time.ParseInLocation("2/1/2006", day+"/"+month+"/"+year, zone)
	if err != nil || at.Year() < 1970 {
		return date{}, false
	}
	seconds, rest, timed := cutClock(text[len(part[0]):])
	if timed {
		at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, seconds, 0, zone)
	}
	rest = strings.TrimFunc(rest, func(r rune) bool { return sheet.IsSpace(r) || r == '_' })
	if rest != "" && strings.IndexByte(sheet.Delimiters, rest[0]) >= 0 {
		return date{}, false
	}
	return date{at, timed, rest}, true
}

// cutClock removes a time of day, hh:mm or hh:mm:ss, from the beginning of s and
// returns it in seconds.
func cutClock(s string) (seconds int, rest string, ok bool) {
	text := strings.TrimLeftFunc(s, func(r rune) bool { return sheet.IsSpace(r) || r == 'T' || r == ',' || r == '-' })
	part := clockForm.FindStringSubmatch(text)
	if part == nil || strings.HasPrefix(text[len(part[0]):], ":") {
		return 0, s, false
	}
	clock := part[1] + ":" + part[2] + ":" + cmp.Or(part[3], "0")
	at, err := time.Parse("3:4:5PM", clock+strings.ToUpper(part[4])+"M")
	if err != nil { // no AM or PM, or 13:05 PM
		at, err = time.Parse("15:4:5", clock)
	}
	if err != nil {
		return 0, s, false
	}
	return at.Hour()*3600 + at.Minute()*60 + at.Second(), text[len(part[0]):], true
}

// serialDate reads a date as a spreadsheet counts: as days since 30 December 1899
// (of the dates since 1970 this is right, although Excel counts a 29 February
// 1900), or since 1 January 1904.
func serialDate(text string, zone *time.Location, date1904 bool) (date, bool) {
	days, err := strconv.ParseFloat(text, 64)
	if err != nil || days < 61 || days >= 2958466 { // 10000-01-01
		return date{}, false
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	whole := math.Floor(days)
	seconds := int(math.Round((days - whole) * 86400))
	day := first.AddDate(0, 0, int(whole))
	if day.Year() < 1970 {
		return date{}, false
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, seconds, 0, zone)
	return date{at: at, clock: seconds > 0}, true
}

// parseClock reads a cell that holds only a time of day, in seconds.
func parseClock(c cell) (int, bool) {
	text := c.Plain()
	if c.Number {
		part, err := strconv.ParseFloat(text, 64)
		if err != nil || part < 0 || part >= 1 {
			return 0, false
		}
		return int(math.Round(part * 86400)), true
	}
	seconds, rest, ok := cutClock(text)
	return seconds, ok && strings.TrimFunc(rest, sheet.IsSpace) == ""
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
