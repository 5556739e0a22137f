package app_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/sqlitestore"
)

// TestInByNow: yesterday counts from its first second to the same second of
// the day, by the clock on the wall, money in only.
func TestInByNow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, now string
		want            app.Amounts
		paid            []string // 1, 2, 4, 8 … VND each
	}{
		{"none", app.DefaultZone, "2026-11-22 10:00:00", app.Amounts{}, nil},
		{"only today and the day before yesterday", app.DefaultZone, "2026-11-22 10:00:00", app.Amounts{},
			[]string{"2026-11-22 00:00:00", "2026-11-20 23:59:59"}},
		{"until this second", app.DefaultZone, "2026-11-22 10:00:00", app.Amounts{Count: 2, Total: 3},
			[]string{"2026-11-21 00:00:00", "2026-11-21 10:00:00", "2026-11-21 10:00:01"}},
		{"at midnight", app.DefaultZone, "2026-11-22 00:00:00", app.Amounts{Count: 1, Total: 1},
			[]string{"2026-11-21 00:00:00", "2026-11-21 00:00:01"}},
		{"before midnight", app.DefaultZone, "2026-11-22 23:59:59", app.Amounts{Count: 2, Total: 3},
			[]string{"2026-11-21 00:00:00", "2026-11-21 23:59:59", "2026-11-22 00:00:00"}},
		// In New York the clocks were set forward at 02:00 on 8 March, back on 1 November.
		{"yesterday had 23 hours", "America/New_York", "2026-03-09 10:00:00", app.Amounts{Count: 2, Total: 3},
			[]string{"2026-03-08 00:00:00", "2026-03-08 10:00:00", "2026-03-08 10:00:01"}},
		{"yesterday skipped this time", "America/New_York", "2026-03-09 02:30:00", app.Amounts{Count: 2, Total: 3},
			[]string{"2026-03-08 01:59:59", "2026-03-08 03:00:00", "2026-03-08 03:00:01"}},
		{"yesterday had 25 hours", "America/New_York", "2026-11-02 10:00:00", app.Amounts{Count: 2, Total: 3},
			[]string{"2026-11-01 00:00:00", "2026-11-01 10:00:00", "2026-11-01 10:00:01"}},
		{"today has 25 hours", "America/New_York", "2026-11-01 10:00:00", app.Amounts{Count: 1, Total: 1},
			[]string{"2026-10-31 10:00:00", "2026-10-31 10:00:01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "baoco.db")
			apptest.Must(t, sqlitestore.Create(t.Context(), path, c.zone, time.Now()))
			w := apptest.Open(t, path, services.Config{})
			defer w.Close()
			w.Link("ACB", apptest.SomeAccount)
			at := func(clock string) time.Time {
				instant, err := app.ParseTime(clock, w.Services.Ledger.Zone())
				apptest.Must(t, err)
				return instant
			}
			now := at(c.now)
			record := func(id string, direction app.Direction, amount int64, when time.Time) {
				_, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
					EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Number: id, Type: direction, Amount: amount, Time: when,
				}}, now.AddDate(0, 0, 1))
				apptest.Must(t, err)
			}
			for i, clock := range c.paid {
				record("in"+strconv.Itoa(i), app.In, 1<<i, at(clock))
				record("out"+strconv.Itoa(i), app.Out, 1000, at(clock))
			}
			got, err := w.Services.Ledger.InByNow(t.Context(), 1, app.DayOf(now, w.Services.Ledger.Zone())-1, now)
			apptest.Must(t, err)
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
