package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// cashDesk is a shop that asks for payments, at a time that its test says.
type cashDesk struct {
	*apptest.World
	now      time.Time
	payments int
}

func newCashDesk(t *testing.T) *cashDesk {
	t.Helper()
	d := &cashDesk{World: apptest.Open(t, apptest.NewFile(t), app.Config{}), now: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)}
	t.Cleanup(d.Close)
	d.Link("ACB", "1000")
	d.CodePattern("DH")
	return d
}

// ask creates a payment request.
func (d *cashDesk) ask(in app.PaymentRequestCreate) app.PaymentRequest {
	d.T.Helper()
	r, err := d.Service.CreatePaymentRequest(context.Background(), 1, in, app.IdempotencyKey{}, d.now)
	apptest.Must(d.T, err)
	return r
}

// pay records money in on a bank account, or money out of it where amount is negative.
func (d *cashDesk) pay(number string, amount int64, content string) app.Transaction {
	d.T.Helper()
	return d.payAt(d.now, number, amount, content)
}

// payAt is pay for a transfer that was made at another time than it is recorded.
func (d *cashDesk) payAt(at time.Time, number string, amount int64, content string) app.Transaction {
	d.T.Helper()
	d.payments++
	e := app.Incoming{EventID: fmt.Sprint("pay", d.payments), Gateway: "ACB", AccountNumber: number, Type: app.In, Amount: amount, Content: content, Time: at}
	if number == "2000" {
		e.Gateway = "VCB"
	}
	if amount < 0 {
		e.Type, e.Amount = app.Out, -amount
	}
	t, _, err := d.Service.RecordByHand(context.Background(), 1, e, nil, app.IdempotencyKey{}, d.now)
	apptest.Must(d.T, err)
	return t
}

// is checks what has become of a request: its status, what came and how much is due.
func (d *cashDesk) is(r app.PaymentRequest, status app.PaymentStatus, received, rest int64) {
	d.T.Helper()
	now, err := d.Service.PaymentRequest(context.Background(), 1, r.ID)
	apptest.Must(d.T, err)
	if now.Status(d.now) != status || now.Received != received || now.Rest() != rest {
		d.T.Errorf("it is %s, received %d, rest %d; want %s, %d, %d", now.Status(d.now), now.Received, now.Rest(), status, received, rest)
	}
	page, err := d.Service.PaymentRequests(context.Background(), 1, app.PaymentFilter{Status: status, Code: r.Code, Page: app.Page{Number: 1, Size: 100}}, d.now)
	apptest.Must(d.T, err)
	if !slices.ContainsFunc(page.Rows, func(other app.PaymentRequest) bool { return other.ID == r.ID }) {
		d.T.Errorf("it isn't in the list of those that are %s", status)
	}
}

// sent is what the deliveries of a transaction say of its request.
func sent(t app.Transaction) string {
	p := t.Payload().PaymentRequest
	if p.ID == 0 {
		return "none"
	}
	return fmt.Sprintf("%d %s %s %d/%d", p.ID, p.Reference, p.Status, p.Received, p.Due)
}

func (d *cashDesk) says(t app.Transaction, want string) {
	d.T.Helper()
	if got := sent(t); got != want {
		d.T.Errorf("its deliveries say %q, want %q", got, want)
	}
}

func TestPaymentStatus(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r := d.ask(app.PaymentRequestCreate{Amount: 200_000, Reference: "HD-1", ExpiresIn: 30 * time.Minute})
	d.is(r, app.PaymentOpen, 0, 200_000)
	d.says(d.pay("1000", 200, "CK"+r.Code), "1 HD-1 underpaid 200/200000")
	d.is(r, app.PaymentUnderpaid, 200, 199_800)
	d.says(d.pay("1000", 199_799, r.Code+" cam on"), "1 HD-1 underpaid 199999/200000")
	d.says(d.pay("1000", 1, r.Code), "1 HD-1 paid 200000/200000")
	d.is(r, app.PaymentPaid, 200_000, 0)
	d.says(d.pay("1000", 1, r.Code), "1 HD-1 overpaid 200001/200000")
	d.is(r, app.PaymentOverpaid, 200_001, 0)
	d.says(d.pay("1000", -200_000, r.Code), "none") // money out
	d.says(d.pay("1000", 5, "DH00000000"), "none")
	d.is(r, app.PaymentOverpaid, 200_001, 0)
	if _, err := d.Service.CancelPaymentRequest(t.Context(), 1, r.ID, d.now); err != app.ErrPaymentIsPaid {
		t.Errorf("a paid request was cancelled: %v", err)
	}
}

// The last second of a request counts; what the bank dates later is late, whenever it is
// recorded.
func TestPaymentAtTheEnd(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	in := app.PaymentRequestCreate{Amount: 1000, ExpiresIn: time.Minute}
	early, late, both, none := d.ask(in), d.ask(in), d.ask(in), d.ask(in)
	end := d.now.Add(time.Minute)
	d.pay("1000", 400, both.Code)
	d.now = end
	d.is(none, app.PaymentOpen, 0, 1000)
	d.now = end.Add(time.Second)
	d.is(none, app.PaymentExpired, 0, 1000)
	d.is(both, app.PaymentUnderpaid, 400, 600)
	d.payAt(end, "1000", 1000, early.Code) // the provider was slow
	d.payAt(end.Add(time.Second), "1000", 1000, late.Code)
	d.payAt(end.Add(time.Second), "1000", 600, both.Code)
	d.is(early, app.PaymentPaid, 1000, 0)
	d.is(late, app.PaymentPaidLate, 1000, 0)
	d.is(both, app.PaymentPaidLate, 1000, 0)
	d.payAt(end.Add(time.Hour), "1000", 1, early.Code)
	d.is(early, app.PaymentOverpaid, 1001, 0)
}

// Money for a cancelled request is counted in it, and nothing says that it is simply
// paid.
func TestPaymentAfterCancelling(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r := d.ask(app.PaymentRequestCreate{Amount: 1000})
	for range 2 { // the second time changes nothing
		_, err := d.Service.CancelPaymentRequest(t.Context(), 1, r.ID, d.now)
		apptest.Must(t, err)
	}
	d.says(d.pay("1000", 999, r.Code), "1  cancelled 999/1000")
	d.is(r, app.PaymentCancelled, 999, 1)
	d.says(d.payAt(d.now.Add(-25*time.Hour), "1000", 1, r.Code), "none")                  // of before the request: another order's code
	d.says(d.payAt(d.now.Add(-7*time.Hour), "1000", 1, r.Code), "1  paid_late 1000/1000") // a clock of another zone
	d.is(r, app.PaymentPaidLate, 1000, 0)
}

func TestPaymentTolerance(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	before := d.ask(app.PaymentRequestCreate{Amount: 100_000})
	tolerance := int64(5000)
	_, err := d.Service.UpdateAccount(t.Context(), 1, app.AccountUpdate{PaymentTolerance: &tolerance})
	apptest.Must(t, err)
	r, small := d.ask(app.PaymentRequestCreate{Amount: 100_000}), d.ask(app.PaymentRequestCreate{Amount: 1000})
	d.pay("1000", 94_999, before.Code)
	d.pay("1000", 94_999, r.Code)
	d.is(before, app.PaymentUnderpaid, 94_999, 5001)
	d.is(r, app.PaymentUnderpaid, 94_999, 5001)
	d.pay("1000", 1, r.Code)
	d.is(r, app.PaymentPaid, 95_000, 0)
	d.pay("1000", 5000, r.Code)
	d.is(r, app.PaymentPaid, 100_000, 0)
	d.pay("1000", 1, r.Code)
	d.is(r, app.PaymentOverpaid, 100_001, 0)
	d.pay("1000", 899, small.Code) // a tenth at most
	d.is(small, app.PaymentUnderpaid, 899, 101)
	d.pay("1000", 1, small.Code)
	d.is(small, app.PaymentPaid, 900, 0)
	for _, wrong := range []int64{-1, app.MaxTolerance + 1} {
		if _, err := d.Service.UpdateAccount(t.Context(), 1, app.AccountUpdate{PaymentTolerance: &wrong}); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("a tolerance of %d: %v", wrong, err)
		}
	}
}

func TestPaymentByReference(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	first := d.ask(app.PaymentRequestCreate{Amount: 1000, Reference: "HD-2026/7"})
	second := d.ask(app.PaymentRequestCreate{Amount: 500, Reference: "HD-2026/7"})
	other := d.ask(app.PaymentRequestCreate{Amount: 500, Reference: "HD-2026/77"})
	for _, content := range []string{"hd2026", "HD 2026", "don 2026/7", "HD-2026/7 va HD-2026/77", "HD-2026/7-1", "XHD2026/7"} {
		d.says(d.pay("1000", 1000, content), "none")
	}
	d.says(d.pay("1000", 1000, "thanh toan hđ 2026/7 nguyen van a"), "1 HD-2026/7 paid 1000/1000")
	d.says(d.pay("1000", 500, "HD20267"), "2 HD-2026/7 paid 500/500")
	d.says(d.pay("1000", 5, "HD20267"), "2 HD-2026/7 overpaid 505/500")
	d.is(first, app.PaymentPaid, 1000, 0)
	d.is(second, app.PaymentOverpaid, 505, 0)
	d.is(other, app.PaymentOpen, 0, 500)
	d.says(d.pay("1000", 500, "HD20267 "+other.Code), "none") // two orders
	d.says(d.pay("1000", 500, "HD202677 "+other.Code), "3 HD-2026/77 paid 500/500")
	d.says(d.pay("1000", 500, "HD202677 DH00000000"), "none") // an order that isn't known
	page, err := d.Service.PaymentRequests(t.Context(), 1, app.PaymentFilter{Reference: "HD-2026/7", Page: app.Page{Number: 1, Size: 1}}, d.now)
	apptest.Must(t, err)
	if page.Total != 2 || page.Due != 1500 || page.Received != 1505 || len(page.Rows) != 1 || page.Rows[0].ID != second.ID {
		t.Errorf("the requests of a reference add up to %+v", page)
	}
	// An order of this year isn't paid by the transfer of an earlier one with its number.
	d.says(d.payAt(d.now.Add(-time.Hour), "1000", 500, "HD20267"), "none")
}

// The last request of a reference takes what comes too much, one that was cancelled only
// where there is no other.
func TestPaymentByReferenceOfEnded(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	cancelled := d.ask(app.PaymentRequestCreate{Amount: 1000, Reference: "HD9"})
	_, err := d.Service.CancelPaymentRequest(t.Context(), 1, cancelled.ID, d.now)
	apptest.Must(t, err)
	cancelled = d.ask(app.PaymentRequestCreate{Amount: 1000, Reference: "HD-9A"})
	_, err = d.Service.CancelPaymentRequest(t.Context(), 1, cancelled.ID, d.now)
	apptest.Must(t, err)
	d.says(d.pay("1000", 1000, "HD9A"), "2 HD-9A paid_late 1000/1000")
	d.says(d.pay("1000", 1000, "HD 9"), "none") // too short
	paid := d.ask(app.PaymentRequestCreate{Amount: 1000, Reference: "HD-9A"})
	d.says(d.pay("1000", 1000, "HD9A"), "3 HD-9A paid 1000/1000")
	d.says(d.pay("1000", 1000, "HD9A"), "3 HD-9A overpaid 2000/1000")
	d.is(paid, app.PaymentOverpaid, 2000, 0)
}

func TestPaymentByAmount(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	distinct := app.PaymentRequestCreate{Amount: 200_000, BankAccountID: 1, ExpiresIn: 10 * time.Minute, DistinctAmount: true}
	if _, err := d.Service.CreatePaymentRequest(t.Context(), 1, distinct, app.IdempotencyKey{}, d.now); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("a distinct amount that isn't allowed: %v", err)
	}
	allowed := true
	_, err := d.Service.UpdateAccount(t.Context(), 1, app.AccountUpdate{DistinctAmounts: &allowed})
	apptest.Must(t, err)
	plain := d.ask(app.PaymentRequestCreate{Amount: 200_000, BankAccountID: 1})
	seen := map[int64]bool{}
	var list []app.PaymentRequest
	for range 99 {
		r := d.ask(distinct)
		if r.TransferAmount <= 200_000 || r.TransferAmount > 200_099 || seen[r.TransferAmount] {
			t.Fatalf("it asks for %d", r.TransferAmount)
		}
		seen[r.TransferAmount] = true
		list = append(list, r)
	}
	if _, err := d.Service.CreatePaymentRequest(t.Context(), 1, distinct, app.IdempotencyKey{}, d.now); err != app.ErrNoFreeAmount {
		t.Errorf("a hundredth distinct amount: %v", err)
	}
	elsewhere := distinct
	elsewhere.BankAccountID = second.ID
	d.ask(elsewhere) // another bank account has amounts of its own
	r := list[0]
	d.says(d.pay("1000", 200_000, "chuyen tien"), "none") // plain, by its amount alone
	d.is(plain, app.PaymentOpen, 0, 200_000)
	d.says(d.pay("2000", list[1].TransferAmount, "chuyen tien"), "none")
	d.says(d.pay("1000", r.TransferAmount, "DH00000000"), "none") // the content says another order
	d.says(d.pay("1000", r.TransferAmount, "nguyen van a chuyen tien"), fmt.Sprintf("%d  paid %d/200000", r.ID, r.TransferAmount))
	d.says(d.pay("1000", r.TransferAmount, "nguyen van a chuyen tien"), "none") // once
	d.is(r, app.PaymentPaid, r.TransferAmount, 0)
	d.pay("1000", 200_000, list[1].Code) // the amount without the đồng is enough
	d.is(list[1], app.PaymentPaid, 200_000, 0)
	// Two that ask for it: neither.
	twice := d.ask(app.PaymentRequestCreate{Amount: list[2].TransferAmount, BankAccountID: 1})
	d.says(d.pay("1000", list[2].TransferAmount, "chuyen tien"), "none")
	_, err = d.Service.CancelPaymentRequest(t.Context(), 1, twice.ID, d.now)
	apptest.Must(t, err)
	d.says(d.pay("1000", list[2].TransferAmount, "chuyen tien"), "none")                          // whoever saw the cancelled one may pay it
	d.says(d.payAt(d.now.Add(-time.Hour), "1000", list[3].TransferAmount, "chuyen tien"), "none") // before it was made
	d.now = d.now.Add(11 * time.Minute)
	d.says(d.pay("1000", list[3].TransferAmount, "chuyen tien"), "none") // it has ended
	d.says(d.payAt(d.now.Add(-2*time.Minute), "1000", list[3].TransferAmount, "chuyen tien"), fmt.Sprintf("%d  paid %d/200000", list[3].ID, list[3].TransferAmount))
}

func TestPaymentByHand(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	r, other := d.ask(app.PaymentRequestCreate{Amount: 1000, ExpiresIn: time.Hour}), d.ask(app.PaymentRequestCreate{Amount: 1000})
	lost, out, later := d.pay("1000", 1000, "chuyen tien"), d.pay("1000", -1000, "tra lai"), d.payAt(d.now.Add(2*time.Hour), "1000", 1000, "chuyen tien")
	match := func(r app.PaymentRequest, t app.Transaction) error {
		_, err := d.Service.MatchTransaction(context.Background(), 1, r.ID, t.ID, d.now)
		return err
	}
	unmatch := func(r app.PaymentRequest, t app.Transaction) error {
		_, err := d.Service.UnmatchTransaction(context.Background(), 1, r.ID, t.ID)
		return err
	}
	apptest.Must(t, match(r, lost))
	d.is(r, app.PaymentPaid, 1000, 0)
	d.says(lost, "none") // what was delivered stays
	if err := match(other, lost); app.CodeOf(err) != app.CodeConflict || !strings.Contains(err.Error(), "payment request 1 already") {
		t.Errorf("a transfer was matched twice: %v", err)
	}
	if err := match(other, out); err != app.ErrNotMoneyIn {
		t.Errorf("money out was matched: %v", err)
	}
	if err := unmatch(other, lost); err != app.ErrNotMatched {
		t.Errorf("a match of another request was undone: %v", err)
	}
	for _, id := range []int64{0, 99} {
		if _, err := d.Service.MatchTransaction(t.Context(), 1, r.ID, id, d.now); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("transaction %d: %v", id, err)
		}
		if _, err := d.Service.MatchTransaction(t.Context(), 1, id, lost.ID, d.now); err != app.ErrNoPaymentRequest {
			t.Errorf("request %d: %v", id, err)
		}
	}
	apptest.Must(t, unmatch(r, lost))
	d.is(r, app.PaymentOpen, 0, 1000)
	apptest.Must(t, match(r, later))
	d.is(r, app.PaymentPaidLate, 1000, 0)
	apptest.Must(t, match(r, lost))
	d.is(r, app.PaymentPaidLate, 2000, 0) // it became full late
	apptest.Must(t, unmatch(r, later))
	d.is(r, app.PaymentPaid, 1000, 0) // what is left came in time
	auto := d.pay("1000", 1, r.Code)
	apptest.Must(t, unmatch(r, auto)) // also what baoco matched
	d.is(r, app.PaymentPaid, 1000, 0)
	d.says(auto, "1  overpaid 1001/1000")
	kept, err := d.Service.Transaction(t.Context(), 1, auto.ID)
	apptest.Must(t, err)
	if d.says(kept, "1  overpaid 1001/1000"); kept.PaymentRequest.ID != 0 {
		t.Errorf("a listing says %+v", kept.PaymentRequest)
	}
	second := d.SecondAccount()
	if _, err := d.Service.MatchTransaction(t.Context(), second, r.ID, auto.ID, d.now); err != app.ErrNoPaymentRequest {
		t.Errorf("the request of another account: %v", err)
	}
}

// The code of a request is new, and one that every bank's way of writing it is read of.
func TestPaymentCodes(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	create := func(in app.PaymentRequestCreate) error {
		in.Amount = 1000
		_, err := d.Service.CreatePaymentRequest(context.Background(), 1, in, app.IdempotencyKey{}, d.now)
		return err
	}
	seen := map[string]bool{}
	for range 200 {
		r := d.ask(app.PaymentRequestCreate{Amount: 1000})
		if seen[r.Code] || len(r.Code) != 10 || !strings.HasPrefix(r.Code, "DH") || len(r.Token) != 22 || seen[r.Token] {
			t.Fatalf("code %q, token %q", r.Code, r.Token)
		}
		seen[r.Code], seen[r.Token] = true, true
		for _, content := range []string{strings.ToLower(r.Code), "CK" + r.Code, "DH " + r.Code[2:], "MBVCB.3278907687." + r.Code + ".CT tu 0071000888888"} {
			if got := sent(d.pay("1000", 1, content)); got == "none" {
				t.Errorf("%q isn't matched", content)
			}
		}
	}
	given := d.ask(app.PaymentRequestCreate{Amount: 1000, Code: "dh 1234-5678"})
	if given.Code != "DH12345678" {
		t.Errorf("it has the code %s", given.Code)
	}
	if err := create(app.PaymentRequestCreate{Code: "DH12345678"}); err != app.ErrPaymentCodeTaken {
		t.Errorf("a code twice: %v", err)
	}
	for _, code := range []string{"DH1234567", "XX12345678", "DH123456789", "*", strings.Repeat("A1", 5000)} {
		if err := create(app.PaymentRequestCreate{Code: code}); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("the code %.20q: %v", code, err)
		}
	}
	if err := create(app.PaymentRequestCreate{Prefix: "NO"}); app.CodeOf(err) != app.CodeValidation {
		t.Errorf("a prefix that no pattern has: %v", err)
	}
}

// A pattern of few codes says so once they are used up.
func TestPaymentCodesUsedUp(t *testing.T) {
	t.Parallel()
	w := apptest.Open(t, apptest.NewFile(t), app.Config{})
	defer w.Close()
	d := &cashDesk{World: w, now: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)}
	d.Link("ACB", "1000")
	if _, err := d.Service.CreatePaymentRequest(t.Context(), 1, app.PaymentRequestCreate{Amount: 1}, app.IdempotencyKey{}, d.now); err != app.ErrNoPatternForPayments {
		t.Errorf("without a pattern: %v", err)
	}
	d.Pattern("AB", 3, 3)
	made := 0
	for err := error(nil); err == nil; made++ {
		_, err = d.Service.CreatePaymentRequest(t.Context(), 1, app.PaymentRequestCreate{Amount: 1}, app.IdempotencyKey{}, d.now)
		if err != nil && err != app.ErrNoFreeCode {
			t.Fatal(err)
		}
	}
	if made < 900 || made > 1001 {
		t.Errorf("%d codes of a thousand were given", made)
	}
	d.Pattern("CD", 20, 23)
	if r := d.ask(app.PaymentRequestCreate{Amount: 1, Prefix: "cd"}); len(r.Code) != 22 {
		t.Errorf("it has the code %s", r.Code)
	}
}

func TestPaymentRequestRefused(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	for name, in := range map[string]app.PaymentRequestCreate{
		"no amount": {BankAccountID: 1}, "a negative one": {Amount: -5, BankAccountID: 1}, "one beyond the limit": {Amount: app.MaxAmount + 1, BankAccountID: 1},
		"which bank account": {Amount: 5}, "an unknown one": {Amount: 5, BankAccountID: 99},
		"a long reference": {Amount: 5, BankAccountID: 1, Reference: strings.Repeat("a", 10_000)}, "a line in it": {Amount: 5, BankAccountID: 1, Reference: "a\nb"},
		"seconds": {Amount: 5, BankAccountID: 1, ExpiresIn: 90 * time.Second}, "more than a year": {Amount: 5, BankAccountID: 1, ExpiresIn: app.MaxExpiry + time.Minute}, "the past": {Amount: 5, BankAccountID: 1, ExpiresIn: -time.Minute},
		"a script": {Amount: 5, BankAccountID: 1, ReturnURL: "javascript:alert(1)"}, "a path": {Amount: 5, BankAccountID: 1, ReturnURL: "/orders"}, "a password": {Amount: 5, BankAccountID: 1, ReturnURL: "https://a:b@shop.vn/"},
		"a space": {Amount: 5, BankAccountID: 1, ReturnURL: "https://shop.vn/ a"}, "a long address": {Amount: 5, BankAccountID: 1, ReturnURL: "https://shop.vn/" + strings.Repeat("a", 2048)},
		"distinct without an end": {Amount: 5, BankAccountID: 1, DistinctAmount: true}, "distinct for long": {Amount: 5, BankAccountID: 1, DistinctAmount: true, ExpiresIn: 8 * 24 * time.Hour},
	} {
		if _, err := d.Service.CreatePaymentRequest(t.Context(), 1, in, app.IdempotencyKey{}, d.now); app.CodeOf(err) != app.CodeValidation {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := d.Service.ToggleBankAccount(t.Context(), 1, second.ID, d.now)
	apptest.Must(t, err)
	if _, err := d.Service.CreatePaymentRequest(t.Context(), 1, app.PaymentRequestCreate{Amount: 5, BankAccountID: second.ID}, app.IdempotencyKey{}, d.now); err != app.ErrPaymentToInactive {
		t.Errorf("to a bank account that is switched off: %v", err)
	}
	key := app.IdempotencyKey{Key: "order-1", Operation: "POST"}
	first, err := d.Service.CreatePaymentRequest(t.Context(), 1, app.PaymentRequestCreate{Amount: 5, BankAccountID: 1}, key, d.now)
	apptest.Must(t, err)
	again, err := d.Service.CreatePaymentRequest(t.Context(), 1, app.PaymentRequestCreate{Amount: 5, BankAccountID: 1}, key, d.now)
	apptest.Must(t, err)
	if again.ID != first.ID || again.Code != first.Code || again.Token != first.Token {
		t.Errorf("the same request again made %+v", again)
	}
}

// A transfer that comes by another bank account of the account, by one that is switched
// off, by a statement or only once its bank account is linked, is matched like any other.
func TestPaymentByEveryWay(t *testing.T) {
	t.Parallel()
	d := newCashDesk(t)
	second := d.Link("VCB", "2000")
	_, err := d.Service.ToggleBankAccount(t.Context(), 1, second.ID, d.now)
	apptest.Must(t, err)
	r := d.ask(app.PaymentRequestCreate{Amount: 1000, BankAccountID: 1})
	e := app.Incoming{EventID: "a", Gateway: "VCB", AccountNumber: "2000", Type: app.In, Amount: 100, Content: r.Code, Time: d.now}
	_, _, err = d.Service.RecordByHand(t.Context(), 1, e, nil, app.IdempotencyKey{}, d.now)
	apptest.Must(t, err)
	d.is(r, app.PaymentUnderpaid, 100, 900)
	native := d.Native()
	e.EventID, e.AccountNumber, e.Gateway = "b", "3000", "ACB"
	for range 2 { // what is repeated counts once
		_, err = d.Service.RecordTransactions(t.Context(), app.InboundCall{AccountID: 1, Source: native, Channel: app.ChannelCall, ReceivedAt: d.now, Body: []byte("{}"), Elements: []app.Incoming{e}})
		apptest.Must(t, err)
	}
	d.is(r, app.PaymentUnderpaid, 100, 900)
	d.Link("ACB", "3000")
	d.is(r, app.PaymentUnderpaid, 200, 800)
	e.EventID, e.AccountNumber = "c", "1000"
	for range 2 {
		_, err = d.Service.RecordTransactions(t.Context(), app.InboundCall{AccountID: 1, Source: native, Channel: app.ChannelCall, ReceivedAt: d.now, Body: []byte("{}"), Elements: []app.Incoming{e}})
		apptest.Must(t, err)
	}
	d.is(r, app.PaymentUnderpaid, 300, 700)
}
