package upkeep_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
)

// How far behind a copy is, and when that is a problem.
func TestCheckCopy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	file := upkeep.CopyFacts{Beat: upkeep.Beat{Sequence: 9, At: now.Add(-30 * time.Second)}, NewestID: 7, Transactions: 7, In: 700}
	beat := func(sequence int64, at time.Time) upkeep.CopyFacts {
		f := file
		f.Beat = upkeep.Beat{Sequence: sequence, At: at}
		return f
	}
	fewer := file
	fewer.NewestID, fewer.Transactions, fewer.In = 5, 5, 500
	for name, c := range map[string]struct {
		held    upkeep.CopyFacts
		missing time.Time
		behind  time.Duration
		says    string
	}{
		"all of it":                 {file, time.Time{}, 0, ""},
		"newer than the first look": {beat(10, now), time.Time{}, 0, ""},
		"a transaction of a second": {file, now.Add(-1400 * time.Millisecond), 1400 * time.Millisecond, ""},
		"a payment of ten seconds":  {file, now.Add(-10 * time.Second), 10 * time.Second, ""},
		"the last beat": {beat(8, now.Add(-90*time.Second)), time.Time{}, 30 * time.Second,
			"30 seconds behind and lacks 0 transactions"},
		"two beats":                    {beat(7, now.Add(-150*time.Second)), time.Time{}, 90 * time.Second, "90 seconds"},
		"a beat and an older payment":  {beat(8, now.Add(-90*time.Second)), now.Add(-40 * time.Second), 40 * time.Second, "40 seconds"},
		"two payments of a while":      {fewer, now.Add(-88 * time.Second), 88 * time.Second, "88 seconds behind and lacks 2 transactions"},
		"beats of an hour":             {beat(1, now.Add(-61*time.Minute)), time.Time{}, time.Hour, "3600 seconds"},
		"a clock that was set back":    {beat(8, now.Add(time.Hour)), time.Time{}, 30 * time.Second, "30 seconds"},
		"a clock that was set forward": {beat(8, now.Add(-time.Hour)), time.Time{}, 30 * time.Second, "30 seconds"},
		"a payment of an hour to come": {file, now.Add(time.Hour), 0, ""},
	} {
		same := file
		same.NewestID, same.Transactions, same.In = c.held.NewestID, c.held.Transactions, c.held.In
		got := upkeep.CheckCopy(file, same, c.held, c.missing, now)
		if got.Behind != c.behind || got.Differs || c.says == "" && got.Problem != (app.Text{}) || !strings.Contains(got.Problem.EN, c.says) {
			t.Errorf("without %s: %+v", name, got)
		}
	}
	for name, other := range map[string]upkeep.CopyFacts{
		"a transaction less": {NewestID: 7, Transactions: 6, In: 700},
		"another amount":     {NewestID: 7, Transactions: 7, In: 701},
		"another direction":  {NewestID: 7, Transactions: 7, Out: 700},
		"another end":        {NewestID: 8, Transactions: 7, In: 700},
	} {
		other.Beat = file.Beat
		if got := upkeep.CheckCopy(file, file, other, time.Time{}, now); !got.Differs || got.Problem == (app.Text{}) {
			t.Errorf("with %s: %+v", name, got)
		}
	}
}
