package payment_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/app/payment"
)

// Unmatched money is listed with the requests that it is most likely for, and nothing is
// named that little speaks for.
func TestUnmatchedTransactions(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	list := func(page app.Page) ([]payment.UnmatchedTransaction, int64) {
		t.Helper()
		rows, total, err := d.Services.Payments.UnmatchedTransactions(t.Context(), 1, payment.UnmatchedFilter{Page: page}, d.now)
		apptest.Must(t, err)
		return rows, total
	}
	all := app.Page{Number: 1, Size: 100}
	d.pay("1000", 5, "before there was a request")
	if rows, total := list(all); len(rows) != 0 || total != 0 {
		t.Errorf("%d of %d are listed before there is a request", len(rows), total)
	}
	d.now = d.now.Add(time.Hour)
	order := d.ask(payment.RequestCreate{Amount: 200_000, Code: "DH11112222", Reference: "HD-2026/7"})
	same := d.ask(payment.RequestCreate{Amount: 200_000, Code: "DH33334444"})
	part := d.ask(payment.RequestCreate{Amount: 500_000, Code: "DH55556666"})
	paid := d.ask(payment.RequestCreate{Amount: 70_000, Code: "DH77778888"})
	cancelled := d.ask(payment.RequestCreate{Amount: 200_000, Code: "DH99990000"})
	d.cancel(cancelled)
	d.pay("1000", 70_000, paid.Code)
	d.pay("1000", 290_000, "TRAN THI BICH chuyen tien "+part.Code)
	d.pay("1000", -200_000, "money out")
	if rows, total := list(all); len(rows) != 0 || total != 0 {
		t.Errorf("%d of %d are listed where all money in has its request", len(rows), total)
	}
	likely := func(amount int64, content string, want ...payment.Request) {
		t.Helper()
		made := d.pay("1000", amount, content)
		d.says(made, "none")
		rows, _ := list(all)
		i := slices.IndexFunc(rows, func(u payment.UnmatchedTransaction) bool { return u.ID == made.ID })
		if i < 0 {
			t.Fatalf("%q isn't listed", content)
		}
		one, err := d.Services.Payments.LikelyPayments(t.Context(), made)
		apptest.Must(t, err)
		var ids, named, alone []int64
		for _, r := range want {
			ids = append(ids, r.ID)
		}
		for _, r := range rows[i].Likely {
			named = append(named, r.ID)
		}
		for _, r := range one {
			alone = append(alone, r.ID)
		}
		if !slices.Equal(named, ids) || !slices.Equal(alone, ids) {
			t.Errorf("%d %q may be for %v and %v, want %v", amount, content, named, alone, ids)
		}
	}
	d.now = d.now.Add(time.Minute)
	likely(200_000, "chuyen tien", same, order)   // the amount that is asked for
	likely(200_000, "DH1111222 tra", order, same) // and all but one character of the code
	likely(200_000, "DH11112223", order, same)    // one changed
	likely(3_000, "DH11112223", order)            // a part
	likely(200_000, "HD2026 8", order, same)      // one changed in its reference
	likely(200_000, "HD 2026 7X", order, same)    // nearly its reference
	likely(200_000, "DH11112222 DH33334444", same, order)
	likely(100_000, "tran thi bich tra not", part)
	likely(210_000, "tran thi bich tra not", part) // the rest, by the one who paid a part
	likely(12_345, "mua hang")
	likely(70_000, "chuyen tien")
	d.now = d.now.AddDate(0, 0, 2)
	likely(200_000, "chuyen tien") // two days later the amount alone says little
	likely(200_000, "DH11112223", order)
	rows, total := list(app.Page{Number: 1, Size: 2})
	next, _ := list(app.Page{Number: 2, Size: 2})
	if total != 13 || len(rows) != 2 || len(next) != 2 || rows[1].ID <= next[0].ID {
		t.Errorf("%d in all, %d and %d a page", total, len(rows), len(next))
	}
	_, err := d.Services.Payments.MatchTransaction(t.Context(), 1, order.ID, rows[0].ID, d.now)
	apptest.Must(t, err)
	if _, total := list(all); total != 12 {
		t.Errorf("%d after one was matched", total)
	}
	d.pay("1000", -5, "money out")
	d.now = d.now.AddDate(0, 0, 31)
	if _, total := list(all); total != 0 {
		t.Errorf("%d a month later", total)
	}
	second := d.SecondAccount()
	rows, total, err = d.Services.Payments.UnmatchedTransactions(t.Context(), second, payment.UnmatchedFilter{Page: all}, d.now)
	if err != nil || total != 0 || len(rows) != 0 {
		t.Errorf("%d of another account, %v", total, err)
	}
}

// Each thing that speaks for a request counts up to its bound, and not beyond.
func TestLikelyPayments(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	began := d.now
	distinct := d.ask(payment.RequestCreate{Amount: 30_000, Code: "DH11112222", DistinctAmount: true, ExpiresIn: 60 * time.Minute})
	part := d.ask(payment.RequestCreate{Amount: 500_000, Code: "DH55556666"})
	d.pay("1000", 290_000, "TRAN THI BICH P301 T5 chuyen tien mua hang "+part.Code)
	likely := func(after time.Duration, amount int64, content string, want ...payment.Request) {
		t.Helper()
		d.now = began.Add(after)
		made := d.pay("1000", amount, content)
		if delivery.PayloadOf(made).PaymentRequest.ID != 0 {
			t.Fatalf("%d %q is matched", amount, content)
		}
		list, err := d.Services.Payments.LikelyPayments(t.Context(), made)
		apptest.Must(t, err)
		var ids, named []int64
		for _, r := range want {
			ids = append(ids, r.ID)
		}
		for _, r := range list {
			named = append(named, r.ID)
		}
		if !slices.Equal(named, ids) {
			t.Errorf("%v later %d %q may be for %v, want %v", after, amount, content, named, ids)
		}
	}
	const hour, day = time.Hour, 24 * time.Hour
	likely(2*hour, 30_000, "chuyen tien", distinct) // what is due
	likely(2*hour, distinct.TransferAmount, "chuyen tien", distinct)
	likely(2*hour, 29_999, "chuyen tien")
	likely(2*hour, distinct.TransferAmount+1, "chuyen tien")
	likely(2*hour, 210_000, "chuyen tien", part) // the rest, which is asked for
	likely(2*hour, 500_000, "chuyen tien")       // no longer
	likely(day, 30_000, "chuyen tien", distinct)
	likely(day+time.Second, 30_000, "chuyen tien")
	likely(hour, 600_000, "DH1111222", distinct) // a code with a mistake
	likely(hour+time.Second, 600_000, "DH1111222")
	likely(2*day, 30_000, "DH111122", distinct) // with two of them
	likely(2*day, 30_000, "DH11112")
	likely(2*day, 600_000, "DH1111 2222", distinct)     // one that isn't read is there in whole
	likely(2*day, 210_000, "tran thi thu tra", part)    // two words of the payer
	likely(2*day, 210_000, "tran van an tra")           // one
	likely(2*day, 210_000, "tran p301 t5 tra no")       // and such that have digits
	likely(2*day, 210_000, "tran chuyen tien mua hang") // and such that everybody writes
	var same []payment.Request
	for range 4 {
		same = append(same, d.ask(payment.RequestCreate{Amount: 70_000}))
	}
	likely(2*day, 70_000, "chuyen tien", same[3], same[2], same[1]) // three at most, the newest
	early, tooEarly := d.payAt(d.now.Add(-10*time.Minute), "1000", 70_000, "chuyen tien"),
		d.payAt(d.now.Add(-10*time.Minute-time.Second), "1000", 70_000, "chuyen tien")
	matched, out := d.pay("1000", 70_000, same[0].Code), d.pay("1000", -70_000, "tra lai")
	byHand := d.pay("1000", 70_000, "chuyen tien")
	_, err := d.Services.Payments.MatchTransaction(t.Context(), 1, same[1].ID, byHand.ID, d.now)
	apptest.Must(t, err)
	for name, c := range map[string]struct {
		app.Transaction
		want int
	}{"ten minutes before": {early, 2}, "a second more": {tooEarly, 0}, "matched": {matched, 0}, "money out": {out, 0},
		"matched by hand": {byHand, 0}} {
		now, err := d.Services.Ledger.Transaction(t.Context(), 1, c.ID)
		apptest.Must(t, err)
		if list, err := d.Services.Payments.LikelyPayments(t.Context(), now); err != nil || len(list) != c.want {
			t.Errorf("%s: %d requests, %v, want %d", name, len(list), err, c.want)
		}
	}
	last := d.pay("1000", 1, "chuyen tien")
	for after, want := range map[time.Duration]bool{30 * day: true, 30*day + time.Second: false} {
		rows, total, err := d.Services.Payments.UnmatchedTransactions(t.Context(), 1,
			payment.UnmatchedFilter{Page: app.Page{Number: 1, Size: 100}}, d.now.Add(after))
		apptest.Must(t, err)
		if listed := slices.ContainsFunc(rows, func(u payment.UnmatchedTransaction) bool { return u.ID == last.ID }); listed != want ||
			listed != (total > 0) {
			t.Errorf("%v later it is listed: %v, of %d", after, listed, total)
		}
	}
}

// The number of unmatched transactions is that of those that are listed, whenever it is
// asked for and by whomever: it is made of the kept sums of days.
func TestUnmatchedNumber(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	const day = 24 * time.Hour
	began := d.now
	order := d.ask(payment.RequestCreate{Amount: 1_000_000, BankAccountID: 1})
	var last app.Transaction
	for i := range 40 {
		d.now = began.Add(time.Duration(i) * 17 * time.Hour)
		for number, amount := range map[string]int64{"1000": 1000, "2000": 2000} {
			d.pay(number, amount, "an trua")
			d.pay(number, -amount, "tien nha")
			d.payAt(d.now.Add(20*time.Hour), number, amount, "of tomorrow")
			d.payAt(d.now.Add(-9*day), number, amount, "late")
			d.pay("1000", 10, order.Code)
			last = d.pay(number, amount, "by hand")
			if i%3 == 0 {
				_, err := d.Services.Payments.MatchTransaction(t.Context(), 1, order.ID, last.ID, d.now)
				apptest.Must(t, err)
			}
		}
	}
	apptest.Must(t, d.Services.Ledger.UnlinkBankAccount(t.Context(), 1, second.ID, d.now))
	for _, limit := range []access.BankAccountLimit{{}, {On: true, IDs: []int64{1}}, {On: true}} {
		ctx := access.SeeingOnly(t.Context(), limit)
		for hours := range 40 {
			now := began.Add(time.Duration(hours) * 41 * time.Hour)
			listed := 0
			for number := int64(1); ; number++ {
				rows, total, err := d.Services.Payments.UnmatchedTransactions(ctx, 1,
					payment.UnmatchedFilter{Page: app.Page{Number: number, Size: 100}}, now)
				apptest.Must(t, err)
				if listed += len(rows); len(rows) < 100 {
					if int64(listed) != total {
						t.Fatalf("%+v at %v: %d are listed, %d counted", limit, now, listed, total)
					}
					break
				}
			}
			if !limit.On && hours == 0 && listed == 0 {
				t.Error("nothing is listed")
			}
		}
	}
}

// A report that comes later may name the request that the first one didn't: it is matched
// then. It isn't, where an earlier one named another thing or several, or a person parted the two.
func TestLaterReportNamesTheRequest(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second, third := d.Native(), d.Native()
	by := func(s inbound.Source, first app.Transaction, content string) {
		t.Helper()
		got, err := d.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: s, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: d.now, Elements: []inbound.Incoming{{
				EventID: first.Number, Number: first.Number, Gateway: "ACB", AccountNumber: "1000", Type: first.Type, Amount: first.Amount,
				Content: content, Time: d.now,
			}}})
		apptest.Must(t, err)
		if got.Outcomes[0] != inbound.OutcomeDuplicate {
			t.Fatalf("%q was %s", content, got.Outcomes[0])
		}
	}
	later := func(first app.Transaction, content string) { t.Helper(); by(second, first, content) }
	number := 0
	first := func(amount int64, content string) app.Transaction {
		number++
		return d.record(1,
			inbound.Incoming{AccountNumber: "1000", Amount: amount, Number: fmt.Sprint("FT", 100+number), Content: content, Time: d.now})
	}

	byCode, byReference := d.ask(payment.RequestCreate{Amount: 1000}), d.ask(payment.RequestCreate{Amount: 2000, Reference: "ORDER-77123"})
	later(first(1000, ""), "NGUYEN VAN A "+byCode.Code)
	d.is(byCode, app.PaymentPaid, 1000, 0)
	half := first(1000, "NGUYEN VAN B")
	later(half, "ND ORDER-77123")
	by(third, half, "GD ORDER-77123")
	d.is(byReference, app.PaymentUnderpaid, 1000, 1000)

	parted, own := d.ask(payment.RequestCreate{Amount: 3000}), first(3000, "")
	later(own, "CT DEN "+parted.Code)
	d.is(parted, app.PaymentPaid, 3000, 0)
	again := first(3000, parted.Code)
	_, err := d.Services.Payments.UnmatchTransaction(t.Context(), 1, parted.ID, again.ID)
	apptest.Must(t, err)
	later(again, "CT DEN "+parted.Code)
	d.is(parted, app.PaymentPaid, 3000, 0)

	_, err = d.Services.Payments.UnmatchTransaction(t.Context(), 1, parted.ID, own.ID)
	apptest.Must(t, err)
	by(third, own, "GD CT DEN "+parted.Code)
	d.is(parted, app.PaymentOpen, 0, 3000)

	exact := d.ask(payment.RequestCreate{Amount: 4000, Reference: "ORDER-99001"})
	inDoubt := first(4000, "nguyen van c chuyen tien ORDER-99001")
	d.is(exact, app.PaymentPaid, 4000, 0)
	_, err = d.Services.Payments.UnmatchTransaction(t.Context(), 1, exact.ID, inDoubt.ID)
	apptest.Must(t, err)
	later(inDoubt, "ORDER-99001 nguyen van c chuyen tien ORDER-99001 GD")
	d.is(exact, app.PaymentOpen, 0, 4000)

	one, another := d.ask(payment.RequestCreate{Amount: 6000, Reference: "ORDER-88001"}),
		d.ask(payment.RequestCreate{Amount: 6000, Reference: "ORDER-88002"})
	for _, both := range []string{one.Code + " " + another.Code, one.Code + "-" + another.Code[8:], "ORDER-88001 va ORDER-88002",
		one.Code + " ORDER-88002"} {
		for _, cut := range []string{one.Code, "CT DEN ORDER-88001"} {
			later(first(6000, both), cut)
			silent := first(6000, "")
			later(silent, both)
			by(third, silent, cut)
		}
	}
	d.is(one, app.PaymentOpen, 0, 6000)
	d.is(another, app.PaymentOpen, 0, 6000)
	later(first(6000, "NGUYEN VAN A "+one.Code[:6]+".."), "NGUYEN VAN A "+one.Code)
	d.is(one, app.PaymentPaid, 6000, 0)
	d.Pattern("AB", 6, 9)
	cut := d.ask(payment.RequestCreate{Amount: 7000, Code: "AB1234567"})
	end := first(7000, "NGUYEN VAN A AB1234567..") // or AB12345678
	d.says(end, "none")
	later(end, "NGUYEN VAN A AB1234567 CK")
	d.is(cut, app.PaymentPaid, 7000, 0)

	d.set(app.AccountUpdate{DistinctAmounts: new(true)})
	open := d.ask(payment.RequestCreate{Amount: 4000})
	later(first(4000, "DH99999999"), "CT DEN "+open.Code) // two codes
	later(first(-4000, ""), "CT DEN "+open.Code)
	d.is(open, app.PaymentOpen, 0, 4000)
	distinct := d.ask(payment.RequestCreate{Amount: 5000, DistinctAmount: true, ExpiresIn: time.Hour})
	unclear := first(distinct.TransferAmount, "DH12 34")
	later(unclear, "")
	d.is(distinct, app.PaymentOpen, 0, 5000)
}
