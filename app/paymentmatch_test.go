package app_test

import (
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// Unmatched money is listed with the requests that it is most likely for, and nothing is
// named that little speaks for.
func TestUnmatchedTransactions(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	list := func(page app.Page) ([]app.UnmatchedTransaction, int64) {
		t.Helper()
		rows, total, err := d.Service.UnmatchedTransactions(t.Context(), 1, page, d.now)
		apptest.Must(t, err)
		return rows, total
	}
	all := app.Page{Number: 1, Size: 100}
	d.pay("1000", 5, "before there was a request")
	if rows, total := list(all); len(rows) != 0 || total != 0 {
		t.Errorf("%d of %d are listed before there is a request", len(rows), total)
	}
	d.now = d.now.Add(time.Hour)
	order := d.ask(app.PaymentRequestCreate{Amount: 200_000, Code: "DH11112222", Reference: "HD-2026/7"})
	same := d.ask(app.PaymentRequestCreate{Amount: 200_000, Code: "DH33334444"})
	part := d.ask(app.PaymentRequestCreate{Amount: 500_000, Code: "DH55556666"})
	paid := d.ask(app.PaymentRequestCreate{Amount: 70_000, Code: "DH77778888"})
	cancelled := d.ask(app.PaymentRequestCreate{Amount: 200_000, Code: "DH99990000"})
	_, err := d.Service.CancelPaymentRequest(t.Context(), 1, cancelled.ID, d.now)
	apptest.Must(t, err)
	d.pay("1000", 70_000, paid.Code)
	d.pay("1000", 290_000, "TRAN THI BICH chuyen tien "+part.Code)
	likely := func(amount int64, content string, want ...app.PaymentRequest) {
		t.Helper()
		made := d.pay("1000", amount, content)
		d.says(made, "none")
		rows, _ := list(all)
		i := slices.IndexFunc(rows, func(u app.UnmatchedTransaction) bool { return u.ID == made.ID })
		if i < 0 {
			t.Fatalf("%q isn't listed", content)
		}
		one, err := d.Service.LikelyPayments(t.Context(), made)
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
	_, err = d.Service.MatchTransaction(t.Context(), 1, order.ID, rows[0].ID, d.now)
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
	if rows, total, err := d.Service.UnmatchedTransactions(t.Context(), second, all, d.now); err != nil || total != 0 || len(rows) != 0 {
		t.Errorf("%d of another account, %v", total, err)
	}
}
