package app

import (
	"strings"
	"time"
)

// Layouts of the interface: a timestamp and a date, both in the zone of the
// installation.
const (
	TimeLayout = "2006-01-02 15:04:05"
	DateLayout = "2006-01-02"
)

// DefaultZone is the zone of an installation that names none.
const DefaultZone = "Asia/Ho_Chi_Minh"

// Day is a calendar day in the zone of the installation, counted from
// 1970-01-01, which is 0. Days compare and subtract as the integers they are.
type Day int

// DayOf is the day of the instant t in zone.
func DayOf(t time.Time, zone *time.Location) Day {
	y, m, d := t.In(zone).Date()
	seconds := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
	if seconds < 0 && seconds%86400 != 0 {
		return Day(seconds/86400 - 1)
	}
	return Day(seconds / 86400)
}

// Start is the first instant of the day in zone.
func (d Day) Start(zone *time.Location) time.Time {
	const step = 15 * time.Minute // every zone's offset is a multiple of it
	y, m, day := d.Date().Date()
	t := time.Date(y, m, day, 0, 0, 0, 0, zone)
	// Where the clocks change at midnight, it comes twice or not at all.
	for DayOf(t, zone) < d {
		t = t.Add(step)
	}
	for DayOf(t.Add(-step), zone) == d {
		t = t.Add(-step)
	}
	return t
}

// WeekStart is the Monday of the day's week.
func (d Day) WeekStart() Day {
	sinceMonday := (int(d.Date().Weekday()) + 6) % 7
	return d - Day(sinceMonday)
}

// MonthStart is the first day of the day's month.
func (d Day) MonthStart() Day {
	return d - Day(d.Date().Day()-1)
}

// String is the day as Y-m-d.
func (d Day) String() string { return d.Date().Format(DateLayout) }

// Date is the beginning of the day in UTC.
func (d Day) Date() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// FormatTime writes t as Y-m-d H:i:s in zone.
func FormatTime(t time.Time, zone *time.Location) string {
	return t.In(zone).Format(TimeLayout)
}

// ParseTime reads exactly Y-m-d H:i:s in zone. A time that does not exist (30
// February, hour 24) is an error. A time that the clocks skipped is the moment
// at which they were set forward.
func ParseTime(s string, zone *time.Location) (time.Time, error) {
	t, err := time.ParseInLocation(TimeLayout, s, zone)
	if err != nil || len(s) != len(TimeLayout) || s[10] != ' ' || s[11] == ' ' || s[13] != ':' {
		return time.Time{}, &time.ParseError{Layout: TimeLayout, Value: s, Message: ": not Y-m-d H:i:s"}
	}
	shown := FormatTime(t, zone)
	before, after := t.ZoneBounds()
	switch {
	case shown < s: // t is before the change that skipped s
		return after, nil
	case shown > s: // t is after it
		return before, nil
	}
	return t, nil
}

// ParseDay reads exactly Y-m-d.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(DateLayout, s)
	return DayOf(t, time.UTC), err
}

// ParseBound reads one end of an inclusive range, Y-m-d or Y-m-d H:i:s. A lower
// bound gives the first instant of the range, an upper bound the first instant
// after it.
func ParseBound(s string, upper bool, zone *time.Location) (time.Time, error) {
	if strings.ContainsRune(s, ' ') {
		t, err := ParseTime(s, zone)
		if err == nil && upper && FormatTime(t, zone) == s {
			t = t.Add(time.Second)
		}
		return t, err
	}
	day, err := ParseDay(s)
	if err != nil {
		return time.Time{}, err
	}
	if upper {
		day++
	}
	return day.Start(zone), nil
}

// ParseExpiry reads the end of a plan's or a key's validity: Y-m-d is valid
// through 23:59:59 of that day, Y-m-d H:i:s through that second.
func ParseExpiry(s string, zone *time.Location) (time.Time, error) {
	end, err := ParseBound(s, true, zone)
	if err != nil {
		return time.Time{}, err
	}
	return end.Add(-time.Second), nil
}
