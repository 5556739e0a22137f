package app_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"baoco/app"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestDayOf(t *testing.T) {
	const hcmc = "Asia/Ho_Chi_Minh"
	for _, test := range []struct {
		at, zone, day string
		number        app.Day
	}{
		{"1970-01-01T00:00:00Z", "UTC", "1970-01-01", 0},
		{"1970-01-01T23:59:59.999999999Z", "UTC", "1970-01-01", 0},
		{"1970-01-02T00:00:00Z", "UTC", "1970-01-02", 1},
		{"1969-12-31T23:59:59.999999999Z", "UTC", "1969-12-31", -1},
		{"1969-12-31T00:00:00Z", "UTC", "1969-12-31", -1},
		{"1969-12-30T23:59:59Z", "UTC", "1969-12-30", -2},
		{"1900-03-01T00:00:00Z", "UTC", "1900-03-01", -25508},
		{"0001-01-01T00:00:00Z", "UTC", "0001-01-01", -719162},
		{"9999-12-31T23:59:59Z", "UTC", "9999-12-31", 2932896},
		{"2024-02-29T12:00:00Z", "UTC", "2024-02-29", 19782},

		// Midnight in Ho Chi Minh City is 17:00 UTC.
		{"2025-10-14T16:59:59.999999999Z", hcmc, "2025-10-14", 20375},
		{"2025-10-14T17:00:00Z", hcmc, "2025-10-15", 20376},
		{"2025-12-31T17:00:00Z", hcmc, "2026-01-01", 20454},
		{"2025-10-15T00:00:00+07:00", hcmc, "2025-10-15", 20376},
		{"2025-10-14T23:59:59+07:00", hcmc, "2025-10-14", 20375},
		{"1969-12-31T15:59:59Z", hcmc, "1969-12-31", -1}, // UTC+8 then
		{"1969-12-31T16:00:00Z", hcmc, "1970-01-01", 0},

		{"2025-10-14T09:59:59Z", "Pacific/Kiritimati", "2025-10-14", 20375},
		{"2025-10-14T10:00:00Z", "Pacific/Kiritimati", "2025-10-15", 20376},
		{"2025-10-14T10:59:59Z", "Pacific/Pago_Pago", "2025-10-13", 20374},
		{"2025-10-14T18:14:59Z", "Asia/Kathmandu", "2025-10-14", 20375},
		{"2025-10-14T18:15:00Z", "Asia/Kathmandu", "2025-10-15", 20376},
		{"2025-03-09T04:59:59Z", "America/New_York", "2025-03-08", 20155},
		{"2025-03-10T03:59:59Z", "America/New_York", "2025-03-09", 20156},
	} {
		day := app.DayOf(instant(t, test.at), zone(t, test.zone))
		if day.String() != test.day || day != test.number {
			t.Errorf("DayOf(%s in %s) = %d, %s; want %d, %s", test.at, test.zone, day, day, test.number, test.day)
		}
	}
}

// Each day begins at its Start and ends where the next begins.
func TestDayStart(t *testing.T) {
	from, to := app.DayOf(instant(t, "1996-01-01T00:00:00Z"), time.UTC), app.DayOf(instant(t, "2037-01-01T00:00:00Z"), time.UTC)
	for _, name := range []string{"UTC", app.DefaultZone, "Asia/Bangkok", "Asia/Kathmandu", "America/New_York", "Europe/Paris",
		"Australia/Lord_Howe", "Pacific/Kiritimati", "Etc/GMT+12"} {
		z := zone(t, name)
		for day := from; day < to; day++ {
			if name != app.DefaultZone && day%11 != 0 && day.String()[5:7] != "03" && day.String()[5:7] != "10" {
				continue
			}
			checkDayStart(t, day, z)
		}
	}
}

// In these zones the clocks skipped midnight, or showed it twice.
func TestDayStartWhereMidnightIsNotOnce(t *testing.T) {
	for _, where := range [][2]string{
		{"America/Sao_Paulo", "2018-11-04"}, {"America/Havana", "2024-03-10"}, {"America/Asuncion", "2023-10-01"},
		{"America/Santiago", "2024-09-08"},
		{"Asia/Beirut", "2024-03-31"}, {"Africa/Cairo", "2024-04-26"}, {"Asia/Amman", "2021-03-26"},
		{"America/Havana", "2024-11-03"}, {"Atlantic/Azores", "2024-10-27"}, {app.DefaultZone, "1955-07-01"},
	} {
		z := zone(t, where[0])
		at, err := time.ParseInLocation("2006-01-02 15:04", where[1]+" 12:00", z)
		if err != nil {
			t.Fatal(err)
		}
		day := app.DayOf(at, z)
		for d := day - 1; d <= day+1; d++ {
			checkDayStart(t, d, z)
		}
	}
}

func checkDayStart(t *testing.T, day app.Day, z *time.Location) {
	t.Helper()
	start := day.Start(z)
	if got := app.DayOf(start, z); got != day {
		t.Errorf("%s in %s starts at %s, which is on %s", day, z, start, got)
	}
	if got := app.DayOf(start.Add(-time.Nanosecond), z); got != day-1 {
		t.Errorf("%s in %s starts at %s, before which is %s", day, z, start, got)
	}
}

func TestWeekAndMonthStart(t *testing.T) {
	for _, test := range []struct{ day, week, month string }{
		{"2025-10-13", "2025-10-13", "2025-10-01"}, // a Monday
		{"2025-10-14", "2025-10-13", "2025-10-01"},
		{"2025-10-18", "2025-10-13", "2025-10-01"},
		{"2025-10-19", "2025-10-13", "2025-10-01"}, // a Sunday
		{"2025-10-20", "2025-10-20", "2025-10-01"},
		{"2025-10-31", "2025-10-27", "2025-10-01"},
		{"2025-11-01", "2025-10-27", "2025-11-01"},
		{"2026-01-01", "2025-12-29", "2026-01-01"},
		{"2025-12-31", "2025-12-29", "2025-12-01"},
		{"2024-02-29", "2024-02-26", "2024-02-01"},
		{"2024-03-01", "2024-02-26", "2024-03-01"},
		{"1970-01-01", "1969-12-29", "1970-01-01"},
		{"1969-12-31", "1969-12-29", "1969-12-01"},
		{"1969-12-28", "1969-12-22", "1969-12-01"},
		{"1900-01-01", "1900-01-01", "1900-01-01"},
	} {
		at, err := time.Parse(app.DateLayout, test.day)
		if err != nil {
			t.Fatal(err)
		}
		day := app.DayOf(at, time.UTC)
		if got := day.WeekStart().String(); got != test.week {
			t.Errorf("the week of %s starts on %s, want %s", test.day, got, test.week)
		}
		if got := day.MonthStart().String(); got != test.month {
			t.Errorf("the month of %s starts on %s, want %s", test.day, got, test.month)
		}
	}
	for day := app.Day(-40000); day < 40000; day++ {
		week, month := day.WeekStart(), day.MonthStart()
		if day-week < 0 || day-week > 6 || week.Start(time.UTC).Weekday() != time.Monday {
			t.Fatalf("the week of %s starts on %s", day, week)
		}
		if month > day || month.Start(time.UTC).Day() != 1 || month.String()[:7] != day.String()[:7] {
			t.Fatalf("the month of %s starts on %s", day, month)
		}
	}
}

func TestParseBound(t *testing.T) {
	const hcmc = "Asia/Ho_Chi_Minh"
	for _, test := range []struct{ text, zone, lower, upper string }{
		{"2025-10-14", hcmc, "2025-10-13T17:00:00Z", "2025-10-14T17:00:00Z"},
		{"2025-10-14 00:00:00", hcmc, "2025-10-13T17:00:00Z", "2025-10-13T17:00:01Z"},
		{"2025-10-14 23:59:59", hcmc, "2025-10-14T16:59:59Z", "2025-10-14T17:00:00Z"},
		{"2024-02-29", hcmc, "2024-02-28T17:00:00Z", "2024-02-29T17:00:00Z"},
		{"2025-12-31", hcmc, "2025-12-30T17:00:00Z", "2025-12-31T17:00:00Z"},
		{"1970-01-01", hcmc, "1969-12-31T16:00:00Z", "1970-01-01T16:00:00Z"},
		{"1969-12-31", "UTC", "1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z"},
		{"9999-12-31", "UTC", "9999-12-31T00:00:00Z", ""},
		{"2025-03-09", "America/New_York", "2025-03-09T05:00:00Z", "2025-03-10T04:00:00Z"}, // 23 hours
		{"2025-11-02", "America/New_York", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z"}, // 25 hours
	} {
		z := zone(t, test.zone)
		lower, err := app.ParseBound(test.text, false, z)
		if err != nil || !lower.Equal(instant(t, test.lower)) {
			t.Errorf("the lower bound %s is %s, %v; want %s", test.text, lower.UTC(), err, test.lower)
		}
		upper, err := app.ParseBound(test.text, true, z)
		if err != nil || (test.upper != "" && !upper.Equal(instant(t, test.upper))) {
			t.Errorf("the upper bound %s is %s, %v; want %s", test.text, upper.UTC(), err, test.upper)
		}
	}
}

// What is no date or time is refused in every place that reads one.
func TestParseBoundRefuses(t *testing.T) {
	z := zone(t, app.DefaultZone)
	for _, text := range []string{
		"", " ", "today", "2025", "2025-10", "2025-1-1", "2025-10-1", "25-10-14", "14/10/2025", "2025/10/14", "20251014", "2025-13-01",
		"2025-00-10", "2025-10-00", "2025-10-32", "2025-02-29", "2025-02-30", "1900-02-29",
		" 2025-10-14", "2025-10-14 ", "2025-10-14T10:00:00", "2025-10-14T10:00:00Z", "2025-10-14T10:00:00+07:00", "2025-10-14 10",
		"2025-10-14 10:00", "2025-10-14 10:00:00Z", "2025-10-14 10:00:00 ", "2025-10-14 10:00:00.5", "2025-10-14 10:00:00,5",
		"2025-10-14 24:00:00", "2025-10-14 23:60:00", "2025-10-14 23:59:60", "2025-02-30 10:00:00", "2025-10-14 1:00:00", "2025-10-14 1:00:00.1",
		"2025-10-14 -1:00:00", "2025-10-14 10-00-00", "12025-10-14", "-2025-10-14", "+025-10-14", "２025-10-14", "2025-10-14\x00",
		"2025-10-14  1:00:00", // as long as it must be, but no H:i:s
	} {
		for _, upper := range []bool{false, true} {
			if at, err := app.ParseBound(text, upper, z); err == nil {
				t.Errorf("ParseBound(%q, %t) = %s; it is no Y-m-d nor Y-m-d H:i:s", text, upper, at)
			}
		}
		if at, err := app.ParseExpiry(text, z); err == nil {
			t.Errorf("ParseExpiry(%q) = %s", text, at)
		}
		if at, err := app.ParseTime(text, z); err == nil {
			t.Errorf("ParseTime(%q) = %s", text, at)
		}
	}
	if at, err := app.ParseTime("2025-10-14", z); err == nil {
		t.Errorf("ParseTime takes a date for a time: %s", at)
	}
}

func TestParseExpiry(t *testing.T) {
	z := zone(t, app.DefaultZone)
	for text, want := range map[string]string{
		"2025-10-14":          "2025-10-14 23:59:59",
		"2025-10-14 00:00:00": "2025-10-14 00:00:00",
		"2025-10-14 12:34:56": "2025-10-14 12:34:56",
		"2024-02-29":          "2024-02-29 23:59:59",
		"9999-12-31":          "9999-12-31 23:59:59",
		"9999-12-31 23:59:59": "9999-12-31 23:59:59",
		"1969-12-31":          "1969-12-31 23:59:59",
	} {
		at, err := app.ParseExpiry(text, z)
		if err != nil || app.FormatTime(at, z) != want {
			t.Errorf("ParseExpiry(%s) = %s, %v; want %s", text, app.FormatTime(at, z), err, want)
		}
	}
}

func TestFormatTime(t *testing.T) {
	z := zone(t, app.DefaultZone)
	for at, want := range map[string]string{
		"2025-10-14T16:59:59.999Z":  "2025-10-14 23:59:59",
		"2025-10-14T17:00:00Z":      "2025-10-15 00:00:00",
		"1969-12-31T15:59:59Z":      "1969-12-31 23:59:59",
		"2025-10-14T00:00:00-10:00": "2025-10-14 17:00:00",
	} {
		got := app.FormatTime(instant(t, at), z)
		if got != want {
			t.Errorf("FormatTime(%s) = %s, want %s", at, got, want)
		}
		back, err := app.ParseTime(got, z)
		if err != nil || !back.Equal(instant(t, at).Truncate(time.Second)) {
			t.Errorf("ParseTime(%s) = %s, %v; want %s", got, back, err, at)
		}
	}
}
