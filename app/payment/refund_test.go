package payment_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
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

// Money in is no offer because a longer number begins as the one that is named, nor because nobody's name stands
// in its content. Refunds are listed before the end of a period, and to those who see both sides.
func TestRefundsAreNotGuessed(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	bank := d.Link("VCB", "2000")
	in := d.record(1, inbound.Incoming{AccountNumber: "1000", Amount: 70_000, Number: "FT100000015", Content: "ck", Time: d.now})
	d.now = d.now.Add(time.Hour)
	out := d.pay("2000", -70_000, "hoan FT10000001")
	if offers, err := d.Services.Payments.RefundOffers(t.Context(), out); err != nil || len(offers) > 0 {
		t.Errorf("it is offered: %+v, %v", offers, err)
	}
	whole := d.pay("2000", -70_000, "hoan ft100000015")
	if offers, err := d.Services.Payments.RefundOffers(t.Context(), whole); err != nil || len(offers) != 1 || offers[0].ID != in.ID {
		t.Errorf("it isn't offered: %+v, %v", offers, err)
	}
	apptest.Must(t, d.Store.LinkRefund(t.Context(), 1, out.ID, in.ID))
	refunds := func(ids []int64, f payment.RefundFilter) int {
		t.Helper()
		ctx := access.SeeingOnly(t.Context(), access.BankAccountLimit{On: ids != nil, IDs: ids})
		list, err := d.Services.Payments.Refunds(ctx, 1, f)
		apptest.Must(t, err)
		return len(list)
	}
	for _, c := range []struct {
		what  string
		ids   []int64 // bank accounts that are shown; nil: all
		f     payment.RefundFilter
		count int
	}{
		{"from then on", nil, payment.RefundFilter{From: out.Time}, 1},
		{"before then", nil, payment.RefundFilter{To: out.Time}, 0},
		{"the money out is shown", []int64{bank.ID}, payment.RefundFilter{OutID: out.ID}, 0},
		{"the money in is shown", []int64{1}, payment.RefundFilter{InID: in.ID}, 0},
		{"both are shown", []int64{1, bank.ID}, payment.RefundFilter{InID: in.ID}, 1},
	} {
		if n := refunds(c.ids, c.f); n != c.count {
			t.Errorf("%s: %d refunds", c.what, n)
		}
	}
}
