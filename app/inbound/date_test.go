package inbound_test

import (
	"fmt"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
)

// A server that starts with a clock far behind what was recorded last believes the dates of
// calls, and not its clock. By a clock that is right a date in the future is a flaw.
func TestDatesBesideAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), services.Config{})
	t.Cleanup(w.Close)
	w.Link("ACB", "1000")
	n := 0
	record := func(now, own time.Time) app.Transaction {
		n++
		r, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint(n), Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 1000, Content: "x", Time: own,
		}}, now)
		apptest.Must(t, err)
		return r
	}
	before := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	record(before, before)
	right := before.AddDate(0, 0, 3)
	booted := time.Date(1970, 1, 1, 0, 5, 0, 0, time.UTC)
	step, err := w.Services.ClockAtStart(t.Context(), booted)
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
		{before.Add(-time.Hour), before.Add(25 * time.Hour), app.DateAhead}, // it was only set back a little
	} {
		want := c.own
		if c.flaw != "" {
			want = c.clock
		}
		if got := record(c.clock, c.own); got.DateFlaw != c.flaw || !got.Time.Equal(want) {
			t.Errorf("at %v a transaction of %v is dated %v, %q", c.clock, c.own, got.Time, got.DateFlaw)
		}
	}
}
