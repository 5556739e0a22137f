package payment_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/payment"
)

// Money is offered for a bill where it is just what the bill asks for, came to its bank account
// within its life, and names nothing. What names something is shown and not taken.
func TestOffers(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.Link("VCB", "2000")
	d.set(app.AccountUpdate{CashiersMatch: new(true)})
	offered := func(what string, r payment.Request, doubt bool, want ...app.Transaction) {
		t.Helper()
		r = d.read(r)
		offers, err := d.Services.Payments.Offers(t.Context(), 1, []payment.Request{r}, d.now)
		apptest.Must(t, err)
		got := offers[r.ID]
		if len(got) != len(want) {
			t.Fatalf("%s: %d offers, want %d", what, len(got), len(want))
		}
		for i, o := range got {
			if o.ID != want[i].ID || o.Doubt != doubt {
				t.Errorf("%s: %+v, want transaction %d, doubt %v", what, o, want[i].ID, doubt)
			}
		}
	}
	take := func(what string, r payment.Request, money app.Transaction, taken bool) {
		t.Helper()
		_, err := d.Services.Payments.TakeTransaction(t.Context(), 1, payment.Take{RequestID: r.ID, TransactionID: money.ID}, d.now)
		if (err == nil) != taken {
			t.Errorf("%s: %v, want taken %v", what, err, taken)
		}
	}
	bill := func(amount int64) payment.Request {
		return d.ask(payment.RequestCreate{Amount: amount, BankAccountID: 1, CashierID: 1, ExpiresIn: payment.BillExpiry})
	}
	d.ask(payment.RequestCreate{Amount: 999_000, BankAccountID: 1, Reference: "HD-2026/7"})
	first := d.pay("1000", 50_000, "LE VAN C chuyen tien")
	d.now = d.now.Add(2 * time.Minute)
	r := bill(50_000)
	offered("made before the bill", r, false)
	take("made before the bill", r, first, false)
	d.now = d.now.Add(15 * time.Minute)
	ahead := d.pay("1000", 50_000, "ck")
	d.now = d.now.Add(-15 * time.Minute)
	offered("dated in the future", r, false)
	take("dated in the future", r, ahead, false)
	for _, c := range []struct {
		what, number, content string
		amount                int64
	}{
		{"another amount", "1000", "ck", 49_999}, {"another bank account", "2000", "ck", 50_000}, {"money out", "1000", "ck", -50_000},
	} {
		made := d.pay(c.number, c.amount, c.content)
		offered(c.what, r, false)
		take(c.what, r, made, false)
	}
	for i, content := range []string{"DH1234567", "DH12345678", "HD 2026 7 va khac HD 2026 8"} { // a code in doubt, another's, an order's
		amount := 61_000 + int64(i)
		r := bill(amount)
		made := d.pay("1000", amount, content)
		offered(content, r, true, made)
		take(content, r, made, false)
		d.cancel(r)
	}
	plain := d.pay("1000", 50_000, "MBVCB.3278907687.LE VAN C chuyen tien.CT tu 0123456789 LE VAN C toi 19354957")
	offered("a bank's words", r, false, plain)
	d.now = d.now.Add(2 * time.Minute)
	other := bill(50_000)
	late := d.pay("1000", 50_000, "chuyen tien")
	offered("the newest first", r, false, late, plain)
	offered("another bill", other, false, late)
	offers, err := d.Services.Payments.Offers(t.Context(), 1, []payment.Request{r}, d.now)
	if err != nil || !offers[r.ID][0].Another || offers[r.ID][1].Another {
		t.Errorf("whether another bill asks for it: %+v, %v", offers, err)
	}
	take("in time", r, plain, true)
	take("the same tap again", r, plain, true)
	take("taken by another", other, plain, false)
	take("the bill is paid", r, late, false)
	d.set(app.AccountUpdate{CashiersMatch: new(false)})
	take("cashiers may not", other, late, false)
	d.set(app.AccountUpdate{CashiersMatch: new(true)})
	d.now = d.now.Add(2 * time.Minute)
	part := bill(80_000)
	d.pay("1000", 30_000, part.Code)
	rest := d.pay("1000", 50_000, "con lai")
	offered("the rest of a bill", part, false, rest)
	take("the rest of a bill", part, rest, true)
	ended := bill(77_000)
	d.now = d.now.Add(payment.BillExpiry + time.Second)
	made := d.pay("1000", 77_000, "ck")
	offered("after its end", ended, false)
	take("after its end", ended, made, false)
}

// What was recorded before the bill, or made a minute before it by the bank's clock, is of an earlier customer; and
// a bill that nobody is asked to pay any more gets nothing, also of what was made in time.
func TestOffersAtTheEdgesOfABill(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	bank := d.Link("VCB", "2000")
	d.set(app.AccountUpdate{CashiersMatch: new(true)})
	check := func(what string, r payment.Request, money app.Transaction, want bool) {
		t.Helper()
		offers, err := d.Services.Payments.Offers(t.Context(), 1, []payment.Request{d.read(r)}, d.now)
		apptest.Must(t, err)
		if offered := len(offers[r.ID]) > 0; offered != want {
			t.Errorf("%s: offered %v", what, offered)
		}
		_, err = d.Services.Payments.TakeTransaction(t.Context(), 1, payment.Take{RequestID: r.ID, TransactionID: money.ID}, d.now)
		if taken := err == nil; taken != want || !want && app.CodeOf(err) != app.CodeConflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	bill := func(amount, bankAccount int64) payment.Request {
		return d.ask(payment.RequestCreate{Amount: amount, BankAccountID: bankAccount, CashierID: 1, ExpiresIn: payment.BillExpiry})
	}
	first := bill(50_000, 1)
	check("made in the minute of the first bill", first, d.payAt(d.now.Add(-time.Minute), "1000", 50_000, "ck"), true)
	d.now = d.now.Add(2 * time.Minute)
	early := d.pay("1000", 51_000, "ck")
	d.now = d.now.Add(time.Second)
	check("recorded a second before the bill", bill(51_000, 1), early, false)
	r := bill(52_000, 1)
	check("made 61 seconds before the bill", r, d.payAt(d.now.Add(-61*time.Second), "1000", 52_000, "ck"), false)
	r = bill(53_000, 1)
	check("made in the minute of the bill", r, d.payAt(d.now.Add(-time.Minute), "1000", 53_000, "ck"), true)
	r = bill(54_000, bank.ID)
	in := d.pay("2000", 54_000, "ck")
	toggle := func() {
		t.Helper()
		_, err := d.Services.Ledger.ToggleBankAccount(t.Context(), 1, bank.ID, d.now)
		apptest.Must(t, err)
	}
	toggle()
	check("the bank account is switched off", r, in, false)
	toggle()
	check("it is switched on again", r, in, true)
	r = bill(55_000, 1)
	in = d.pay("1000", 55_000, "ck")
	d.now = d.now.Add(payment.BillExpiry + time.Second)
	check("made in time for a bill that has ended", r, in, false)
}

// Money that came to a receiving number is offered only for bills that name that number, and money
// of which no number is known for all.
func TestOffersOfReceivingNumbers(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	d.set(app.AccountUpdate{CashiersMatch: new(true)})
	_, err := d.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 1, app.BankAccountReceiving{ReceivingNumbers: "96A = A\n96B = B"})
	apptest.Must(t, err)
	bills := map[string]payment.Request{}
	for _, number := range []string{"96A", "96B", "1000", ""} { // none is the first one
		bills[number] = d.ask(payment.RequestCreate{Amount: 50_000, BankAccountID: 1, ReceivingNumber: number, ExpiresIn: payment.BillExpiry})
	}
	money := map[string]app.Transaction{}
	for _, number := range []string{"96A", "96B", "1000"} {
		money[number] = d.pay(number, 50_000, "chuyen tien")
	}
	for number, others := range map[string][]string{"96A": {"96B"}, "96B": {"96A"}, "1000": {"96A", "96B"}, "": {"96B"}} {
		r := bills[number]
		offers, err := d.Services.Payments.Offers(t.Context(), 1, []payment.Request{r}, d.now)
		apptest.Must(t, err)
		if len(offers[r.ID]) != 3-len(others) {
			t.Errorf("for a bill of %q are %d offers", number, len(offers[r.ID]))
		}
		for _, other := range others {
			take := payment.Take{RequestID: r.ID, TransactionID: money[other].ID}
			if _, err := d.Services.Payments.TakeTransaction(t.Context(), 1, take, d.now); app.CodeOf(err) != app.CodeConflict {
				t.Errorf("a bill of %q takes money of %s: %v", number, other, err)
			}
			if err := d.Services.Payments.AskToMatch(t.Context(), 1, take, d.now); app.CodeOf(err) != app.CodeConflict {
				t.Errorf("it is asked for: %v", err)
			}
		}
	}
	take := payment.Take{RequestID: bills["96B"].ID, TransactionID: money["96B"].ID}
	_, err = d.Services.Payments.TakeTransaction(t.Context(), 1, take, d.now)
	apptest.Must(t, err)
}
