package payment_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/payment"
)

// Money out gives back no more than is left of the money in, and not before it nor 90 days after it. Where of one of
// them only the day is known, a day either way may be in between.
func TestMayRefund(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	came := time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what             string
		after            time.Duration
		amount, refunded int64
		outDay, inDay    bool // only the day is known
		may              bool
	}{
		{what: "all of it at once", amount: 100, may: true},
		{what: "more than it", amount: 101},
		{what: "the rest", amount: 40, refunded: 60, may: true},
		{what: "more than the rest", amount: 41, refunded: 60},
		{what: "before it", after: -time.Second, amount: 100},
		{what: "after 90 days", after: 90 * day, amount: 100, may: true},
		{what: "later", after: 90*day + time.Second, amount: 100},
		{what: "the day of the money out", after: -day, amount: 100, outDay: true, may: true},
		{what: "the day before that", after: -day - time.Second, amount: 100, outDay: true},
		{what: "the day of the money in", after: 91 * day, amount: 100, inDay: true, may: true},
		{what: "the day after that", after: 91*day + time.Second, amount: 100, inDay: true},
	} {
		in := app.Transaction{Type: app.In, Amount: 100, Time: came, DateOnly: c.inDay}
		out := app.Transaction{Type: app.Out, Amount: c.amount, Time: came.Add(c.after), DateOnly: c.outDay}
		if err := payment.MayRefund(out, in, c.refunded); (err == nil) != c.may {
			t.Errorf("%s: %v", c.what, err)
		}
		in.Type, out.Type = app.Out, app.Out
		if payment.MayRefund(out, in, c.refunded) == nil {
			t.Errorf("%s: money out gives back money out", c.what)
		}
		in.Type, out.Type = app.In, app.In
		if payment.MayRefund(out, in, c.refunded) == nil {
			t.Errorf("%s: money in gives back money in", c.what)
		}
	}
}
