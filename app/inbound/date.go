package inbound

import (
	"fmt"
	"strings"
	"time"

	"baoco/app"
)

// SetDate reads the provider's date into e; an empty text is DateMissing.
func (e *Incoming) SetDate(text string, zone *time.Location) {
	var ok bool
	if text = strings.TrimSpace(text); text == "" {
		e.DateFlaw = app.DateMissing
	} else if e.Time, e.DateOnly, ok = app.ReadDate(text, zone); !ok {
		e.DateFlaw = app.DateImpossible
	}
}

// dateFlaw is why the date of e can't be used at now; empty: it can.
func (e *Incoming) dateFlaw(now time.Time) app.DateFlaw {
	switch {
	case e.DateFlaw != "":
		return e.DateFlaw
	case e.Time.IsZero():
		return app.DateMissing
	case e.Time.Unix() < 0:
		return app.DateImpossible
	case e.Time.After(now.Add(app.MostAhead)):
		return app.DateAhead
	}
	return ""
}

// settleDate dates e by its receipt if its own date can't be used.
func (e *Incoming) settleDate(receivedAt, now time.Time) {
	if e.DateFlaw = e.dateFlaw(now); e.DateFlaw != "" {
		e.Time, e.DateOnly = receivedAt, false
	}
	e.Time = e.Time.Truncate(time.Second)
}

// dateNotice says how many transactions of a call are dated by its receipt, and
// why; empty: none.
func dateNotice(elements []Incoming, outcomes []Outcome) app.Text {
	count := map[app.DateFlaw]int{}
	for i, o := range outcomes {
		if o == OutcomeRecorded || o == OutcomeUnassigned {
			count[elements[i].DateFlaw]++
		}
	}
	var en, vi []string
	for _, f := range []app.DateFlaw{app.DateMissing, app.DateImpossible, app.DateAhead} {
		if n := count[f]; n > 0 {
			en, vi = append(en, fmt.Sprintf("%d (%s)", n, f.Text().EN)), append(vi, fmt.Sprintf("%d (%s)", n, f.Text().VI))
		}
	}
	if len(en) == 0 {
		return app.Text{}
	}
	return app.Text{EN: "Dated by the time of receipt: " + strings.Join(en, ", ") + ".",
		VI: "Ghi theo thời điểm nhận: " + strings.Join(vi, ", ") + "."}
}

// StartedAfter sets the time of the newest row that was recorded before this process started.
func (s *Service) StartedAfter(newest time.Time) { s.newestAtStart.Store(&newest) }

// longestOff is how long a server may be off at most: how long after the newest row it starts again.
const longestOff = 366 * 24 * time.Hour

// likelyNow is the time by which dates of transactions are judged: the clock, unless that is
// behind the newest row from before the start, as in 1970 after a loss of power. By such a clock
// every right date would be in the future, and the transaction would be dated by the clock. Until
// the clock is right, a transaction keeps its own date, unless that is very late.
func (s *Service) likelyNow(clock time.Time) time.Time {
	if newest := s.newestAtStart.Load(); newest != nil && newest.After(clock.Add(app.MostAhead)) {
		return newest.Add(longestOff)
	}
	return clock
}
