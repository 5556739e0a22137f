package statement

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// date is what a date cell holds.
type date struct {
	at    time.Time
	clock bool   // the time of day is known too
	rest  string // what stands behind it in the cell
}

// parseDate reads the date at the beginning of a cell, in zone: dd/mm/yyyy
// (never mm/dd), yyyy-mm-dd, with "/", "-" or "." between, a year of two
// digits being of this century; or the number of days by which a spreadsheet
// counts. A time of day may follow, and after that anything.
func parseDate(c cell, zone *time.Location, date1904 bool) (date, bool) {
	text := c.plain()
	if text == "" || text[0] < '0' || text[0] > '9' {
		return date{}, false
	}
	if c.number {
		return serialDate(text, zone, date1904)
	}
	if len(text) >= len("2006-01-02T15:04:05Z") && text[10] == 'T' {
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.Year() >= 1970 {
			return date{at: at, clock: true}, true
		}
	}
	var n [3]int
	var width [3]int
	rest, mark := text, byte(0)
	for i := range n {
		if i > 0 {
			if rest == "" || mark != 0 && rest[0] != mark || strings.IndexByte("/-.", rest[0]) < 0 {
				return date{}, false
			}
			mark, rest = rest[0], rest[1:]
		}
		n[i], width[i], rest = leadingDigits(rest)
	}
	year, month, day := n[2], n[1], n[0]
	switch {
	case width[0] == 4 && width[2] <= 2:
		year, day = n[0], n[2]
	case width[0] > 2 || width[1] > 2 || width[2] != 2 && width[2] != 4:
		return date{}, false
	case width[2] == 2:
		year += 2000
	}
	if width[0] == 0 || width[1] == 0 || width[2] == 0 || !possible(year, month, day) {
		return date{}, false
	}
	clock, rest, timed := cutClock(rest)
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, zone)
	if timed {
		at = time.Date(year, time.Month(month), day, 0, 0, clock, 0, zone)
	}
	return date{at, timed, strings.TrimFunc(rest, isSpace)}, true
}

func possible(year, month, day int) bool {
	return year >= 1970 && month >= 1 && month <= 12 && day >= 1 && time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() == day
}

// cutClock cuts a time of day, hh:mm or hh:mm:ss, from the beginning of s and
// gives it in seconds.
func cutClock(s string) (seconds int, rest string, ok bool) {
	begin := strings.TrimLeftFunc(s, func(r rune) bool { return isSpace(r) || r == 'T' || r == ',' || r == '-' })
	var n [3]int
	text := begin
	for i := range n {
		if i > 0 {
			if !strings.HasPrefix(text, ":") {
				if i == 1 {
					return 0, s, false
				}
				break
			}
			text = text[1:]
		}
		var width int
		if n[i], width, text = leadingDigits(text); width < 1 || width > 2 {
			return 0, s, false
		}
	}
	if strings.HasPrefix(text, ".") { // parts of a second
		_, _, text = leadingDigits(text[1:])
	}
	half := strings.ToUpper(strings.TrimLeft(text, " "))
	switch {
	case strings.HasPrefix(half, "PM") && n[0] >= 1 && n[0] <= 12:
		n[0] = n[0]%12 + 12
		text = half[2:]
	case strings.HasPrefix(half, "AM") && n[0] >= 1 && n[0] <= 12:
		n[0] %= 12
		text = half[2:]
	}
	if n[0] > 23 || n[1] > 59 || n[2] > 59 {
		return 0, s, false
	}
	return n[0]*3600 + n[1]*60 + n[2], text, true
}

// leadingDigits reads the digits at the beginning of s; a number of more than
// 9 is cut.
func leadingDigits(s string) (n, width int, rest string) {
	for width < len(s) && s[width] >= '0' && s[width] <= '9' {
		if width < 9 {
			n = n*10 + int(s[width]-'0')
		}
		width++
	}
	return n, width, s[width:]
}

// serialDate reads the days since 30 December 1899 (so that Excel's 29
// February 1900 doesn't matter for dates after it), or since 1 January 1904.
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

// parseClock reads a cell that holds nothing but a time of day, in seconds.
func parseClock(c cell) (int, bool) {
	text := c.plain()
	if c.number {
		part, err := strconv.ParseFloat(text, 64)
		if err != nil || part < 0 || part >= 1 {
			return 0, false
		}
		return int(math.Round(part * 86400)), true
	}
	seconds, rest, ok := cutClock(text)
	return seconds, ok && strings.TrimFunc(rest, isSpace) == ""
}
