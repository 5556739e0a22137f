package sms

import (
	"strconv"
	"time"

	"baoco/app/pattern"
)

var (
	datePattern  = pattern.Lazy(`(\d{1,4})[/-](\d{1,2})(?:[/-](\d{1,4}))?`)
	clockPattern = pattern.Lazy(`(\d{1,2})[:h](\d{1,2})(?::(\d{1,2}))?`)
)

// when reads a time as banks write it: 29/02/2020 09:33, 02:11 29-02-20,
// 11h28p 11/06. What is missing is that of receipt; a date without a year is
// the last one that isn't after it. The time is zero where a date or a clock
// shows what no calendar has. clocked tells whether there is a clock.
func when(s string, receivedAt time.Time, zone *time.Location) (t time.Time, clocked bool) {
	return readWhen(s, receivedAt, zone), clockPattern().MatchString(s)
}

func readWhen(s string, receivedAt time.Time, zone *time.Location) time.Time {
	receivedAt = receivedAt.In(zone).Truncate(time.Second)
	date, clock := datePattern().FindStringSubmatch(s), clockPattern().FindStringSubmatch(s)
	if date == nil && clock == nil {
		return receivedAt
	}
	hour, minute, second := receivedAt.Clock()
	if clock != nil {
		hour, minute, second = number(clock[1]), number(clock[2]), number(clock[3])
		if hour > 23 || minute > 59 || second > 59 {
			return time.Time{}
		}
	}
	at := func(year int, month time.Month, day int) time.Time {
		if t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); t.Month() != month || t.Day() != day {
			return time.Time{}
		}
		return time.Date(year, month, day, hour, minute, second, 0, zone)
	}
	if date == nil {
		return lastOf(receivedAt, at(receivedAt.Date()), at(receivedAt.AddDate(0, 0, -1).Date()))
	}
	day, month, year := number(date[1]), time.Month(number(date[2])), number(date[3])
	switch len(date[3]) {
	case 4:
		return at(year, month, day)
	case 2:
		return at(2000+year, month, day)
	case 0:
		return lastOf(receivedAt, at(receivedAt.Year()+1, month, day), at(receivedAt.Year(), month, day), at(receivedAt.Year()-1, month, day))
	}
	return time.Time{}
}

// clocksDiffer is how far the clock of a bank may be ahead of a phone's.
const clocksDiffer = time.Hour

// lastOf is the first of candidates, which go from late to early, that is real
// and isn't after receipt; zero if none is.
func lastOf(receivedAt time.Time, candidates ...time.Time) time.Time {
	for _, t := range candidates {
		if !t.IsZero() && !t.After(receivedAt.Add(clocksDiffer)) {
			return t
		}
	}
	return time.Time{}
}

// number is what at most four digits stand for; no digits are 0.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
