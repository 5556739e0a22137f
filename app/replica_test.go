package app_test

import (
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// How far behind a copy is, and when that is a problem.
func TestCheckCopy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	file := app.CopyFacts{Beat: app.Beat{Sequence: 9, At: now.Add(-30 * time.Second)}, NewestID: 7, Transactions: 7, In: 700}
	beat := func(sequence int64, at time.Time) app.CopyFacts {
		f := file
		f.Beat = app.Beat{Sequence: sequence, At: at}
		return f
	}
	for name, c := range map[string]struct {
		held    app.CopyFacts
		missing time.Time
		behind  time.Duration
		says    string
	}{
		"all of it":                    {file, time.Time{}, 0, ""},
		"newer than the first look":    {beat(10, now), time.Time{}, 0, ""},
		"a transaction of a second":    {file, now.Add(-1400 * time.Millisecond), 1400 * time.Millisecond, ""},
		"the last beat":                {beat(8, now.Add(-90*time.Second)), time.Time{}, 30 * time.Second, ""},
		"two beats":                    {beat(7, now.Add(-150*time.Second)), time.Time{}, 90 * time.Second, ""},
		"a beat and an older payment":  {beat(8, now.Add(-90*time.Second)), now.Add(-40 * time.Second), 40 * time.Second, ""},
		"a payment of three minutes":   {file, now.Add(-3 * time.Minute), 3 * time.Minute, "3 minutes behind"},
		"beats of an hour":             {beat(1, now.Add(-61*time.Minute)), time.Time{}, time.Hour, "60 minutes behind"},
		"a clock that was set back":    {beat(8, now.Add(time.Hour)), time.Time{}, 30 * time.Second, ""},
		"a clock that was set forward": {beat(8, now.Add(-time.Hour)), time.Time{}, 30 * time.Second, ""},
		"a payment of an hour to come": {file, now.Add(time.Hour), 0, ""},
	} {
		got := app.CheckCopy(file, file, c.held, c.missing, now)
		if got.Behind != c.behind || got.Differs || c.says == "" && got.Problem != (app.Text{}) || !strings.Contains(got.Problem.EN, c.says) {
			t.Errorf("without %s: %+v", name, got)
		}
	}
	for name, other := range map[string]app.CopyFacts{
		"a transaction less": {NewestID: 7, Transactions: 6, In: 700},
		"another amount":     {NewestID: 7, Transactions: 7, In: 701},
		"another direction":  {NewestID: 7, Transactions: 7, Out: 700},
		"another end":        {NewestID: 8, Transactions: 7, In: 700},
	} {
		other.Beat = file.Beat
		if got := app.CheckCopy(file, file, other, time.Time{}, now); !got.Differs || got.Problem == (app.Text{}) {
			t.Errorf("with %s: %+v", name, got)
		}
	}
}
