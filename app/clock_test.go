package app_test

import (
	"testing"
	"time"

	"baoco/app"
)

// A server that starts with a clock far behind what was recorded last believes the dates of
// calls, and not its clock. By a clock that is right a date in the future is a flaw.
func TestDatesBesideAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.pay("1000", 1000, "before the power went")
	right := d.now.AddDate(0, 0, 3)
	booted := time.Date(1970, 1, 1, 0, 5, 0, 0, time.UTC)
	step, err := d.Service.ClockAtStart(t.Context(), booted)
	if err != nil || step.By > -50*365*24*time.Hour {
		t.Fatalf("the clock is %v behind, %v", step.By, err)
	}
	for _, c := range []struct {
		clock, own time.Time
		flaw       app.DateFlaw
	}{
		{booted, right, ""},
		{booted, time.Time{}, app.DateMissing},
		{booted, right.AddDate(2, 0, 0), app.DateAhead},
		{right, right, ""},
		{right, right.Add(25 * time.Hour), app.DateAhead},
		{d.now.Add(-time.Hour), d.now.Add(25 * time.Hour), app.DateAhead}, // it was only set back a little
	} {
		d.now = c.clock
		want := c.own
		if c.flaw != "" {
			want = c.clock
		}
		if got := d.payAt(c.own, "1000", 1000, "x"); got.DateFlaw != c.flaw || !got.Time.Equal(want) {
			t.Errorf("at %v a transaction of %v is dated %v, %q", c.clock, c.own, got.Time, got.DateFlaw)
		}
	}
}
