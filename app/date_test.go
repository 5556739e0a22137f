package app_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// A fraction of a second is kept: it tells two texts of one phone apart.
func TestReadDate(t *testing.T) {
	z := zone(t, app.DefaultZone)
	for text, want := range map[string]string{
		"2025-10-14T03:59:30.123Z":                       "2025-10-14T03:59:30.123Z",
		"2025-10-14T10:59:30,5+07:00":                    "2025-10-14T03:59:30.5Z",
		"2025-10-14 10:59:30 +0700":                      "2025-10-14T03:59:30Z",
		"2025-10-14 10:59Z":                              "2025-10-14T10:59:00Z",
		"1760414370123":                                  "2025-10-14T03:59:30.123Z",
		"14/10/2025T10:59:30." + strings.Repeat("0", 40): "2025-10-14T03:59:30Z",
	} {
		got, dateOnly, ok := app.ReadDate(text, z)
		if !ok || dateOnly || !got.Equal(instant(t, want)) {
			t.Errorf("ReadDate(%q) = %s, %v, %v; want %s", text, got, dateOnly, ok, want)
		}
	}
	for _, text := range []string{
		"", " ", "2025-10-14 ", " 2025-10-14", "2025-10-14Z", "2025-10-14T", "2025-10-14 10", "2025-10-14 1:00", "2025-10-14 10:59:",
		"2025-10-14 10:59:30.", "2025-10-14 10:59.5", "2025-10-14  10:59", "2025-10-14T10:59:30+7",
		"2025-10-14T10:59:30Z+07:00", "2025-10-14T10:59:30+25:00", "2025-1-2", "25-10-14", "14-10-2025", "14.10.2025", "14/10/25", "0/1/2025",
		"32/1/2025", "2025/10/14", "0176041437", "176041437", "17604143701", "17604143701234",
		"２０２５-10-14", "2025-10-14\n", "14/10/2025 10:59:30." + strings.Repeat("0", 1_000_000), strings.Repeat("1", 1_000_000),
	} {
		if got, _, ok := app.ReadDate(text, z); ok || !got.IsZero() {
			t.Errorf("ReadDate(%s) = %s", short(text), got)
		}
	}
}

// Where the clocks leap over midnight, a date alone is the first moment of its
// day, and a range of days holds that day and no other.
func TestDatesWhereMidnightIsMissing(t *testing.T) {
	for _, c := range []struct{ zone, day, first, next string }{
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"Africa/Cairo", "2024-04-26", "2024-04-25T22:00:00Z", "2024-04-26T21:00:00Z"},
		{"America/Havana", "2024-03-10", "2024-03-10T05:00:00Z", "2024-03-11T04:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"}, // a day that never was
	} {
		z, first, next := zone(t, c.zone), instant(t, c.first), instant(t, c.next)
		at, dateOnly, ok := app.ReadDate(c.day, z)
		if !ok || !dateOnly || !at.Equal(first) {
			t.Errorf("%s in %s is read as %s", c.day, c.zone, at)
		}
		for _, bound := range []struct {
			text  string
			upper bool
			want  time.Time
		}{
			{c.day, false, first}, {c.day, true, next},
			{c.day + " 00:00:00", false, first}, {c.day + " 00:30:00", false, first}, {c.day + " 00:30:00", true, first},
		} {
			got, err := app.ParseBound(bound.text, bound.upper, z)
			if err != nil || !got.Equal(bound.want) {
				t.Errorf("ParseBound(%s, %v) in %s = %s, %v; want %s", bound.text, bound.upper, c.zone, got.UTC(), err, bound.want)
			}
		}
		if got, _, ok := app.ReadDate(c.day+"T00:15:00", z); !ok || !got.Equal(first) {
			t.Errorf("a time that the clocks leapt over on %s in %s is read as %s", c.day, c.zone, got)
		}
	}
}

// FuzzReadDate: what is read is within the years that are written with four
// digits, a date alone is the first moment of its day, and what is written of
// it reads as the same again.
func FuzzReadDate(f *testing.F) {
	for _, seed := range []string{
		"2025-10-14 10:59:30", "2025-10-14T10:59:30.123Z", "2025-10-14t10:59:30+0700", "14/10/2025", "4/9/2025 10:59", "1760414370",
		"1760414370123", "2018-11-04", "2018-11-04 00:30:00", "9999-12-31 23:59:59-23:59", "0000-01-01",
	} {
		f.Add(seed)
	}
	z := zone(f, "America/Sao_Paulo")
	f.Fuzz(func(t *testing.T, text string) {
		at, dateOnly, ok := app.ReadDate(text, z)
		switch {
		case !ok && (dateOnly || !at.IsZero()):
			t.Errorf("%q is refused, and read as %s", text, at)
		case !ok:
			return
		case at.UTC().Year() < -1 || at.UTC().Year() > 10000:
			t.Errorf("%q is read as %s", text, at)
		case dateOnly && !at.Equal(app.DayOf(at, z).Start(z)):
			t.Errorf("%q is read as %s, which is not the first moment of a day", text, at)
		}
		at = at.Truncate(time.Second)
		written := app.FormatDate(at, dateOnly, z)
		again, dateAgain, ok := app.ReadDate(written, z)
		if at.In(z).Year() < 0 || at.In(z).Year() > 9999 {
			return // not Y-m-d
		}
		// Where the clocks go back, a time of day comes twice.
		if !ok || dateAgain != dateOnly || app.FormatDate(again, dateOnly, z) != written {
			t.Errorf("%q is %s, which reads as %s", text, written, again)
		}
	})
}
