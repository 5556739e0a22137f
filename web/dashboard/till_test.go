package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/upkeep"
	"baoco/web/webtest"
)

// paid records money in at a shop.
func paid(w *apptest.World, id string, amount int64, content string) {
	w.T.Helper()
	_, _, err := w.Services.Inbound.RecordByHand(context.Background(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Number: "FT" + id,
		Type: app.In, Amount: amount, Content: content, Time: time.Now(),
	}}, time.Now())
	apptest.Must(w.T, err)
}

// A form that was sent before with another amount, as after the Back of a browser, doesn't
// show the bill of before as if it were the new one.
func TestBillOfAFormThatWasSent(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	lan, key := w.Browser().SignIn("lan"), webtest.FormKey()
	for range 2 {
		lan.Post("/till", "once", key, "amount", "50.000", "bank_account_id", "1").Goes(t, "/till/1")
	}
	other := lan.Post("/till", "once", key, "amount", "60.000", "bank_account_id", "1")
	other.WantStatus(t, http.StatusConflict)
	other.Shows(t, "This form was sent before with something else", `value="60.000"`)
	other.Hides(t, key)
	if n := w.Rows("payment_requests"); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A cashier types a bill, shows its code, hears and sees what came for it, prints the
// receipt and closes the shift. Another cashier's till tells nothing of it.
func TestTill(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	w.User(1, "minh", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	thu, minh, lan := w.Browser().SignIn("thu"), w.Browser().SignIn("minh"), w.Browser().SignIn("lan")
	thu.Get("/till").Shows(t, "A bill needs a payment code.")
	thu.Post("/till", "once", webtest.FormKey(), "amount", "5.000").WantStatus(t, http.StatusConflict)
	w.CodePattern("DH")
	thu.Get("/till").Shows(t, "Amount of the bill", `data-key="000"`, "This shift: +0\u00a0₫ · 0 bills")
	for _, amount := range []string{"", "0", "abc", "5.00", "99999999999999"} {
		a := thu.Post("/till", "once", webtest.FormKey(), "amount", amount, "bank_account_id", "1")
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, "Amount must be a whole number of VND", `data-keypad`)
	}
	thu.Submit("/till", "amount", "200.000", "bank_account_id", "1").Goes(t, "/till/1")
	minh.Submit("/till", "amount", "200000", "bank_account_id", "1").Goes(t, "/till/2")
	bill, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	thu.Get("/till/1").Shows(t, "200,000\u00a0₫", "Waiting for payment", "<svg", bill.Code, "Bills of this shift",
		"This shift: +0\u00a0₫ · 1 bill")
	for _, path := range []string{"/till/1", "/till/1/receipt", "/till/99", "/shifts/1"} {
		minh.Get(path).WantStatus(t, http.StatusNotFound)
	}
	minh.Post("/till/1/cancel").WantStatus(t, http.StatusNotFound)
	display := thu.Listen("/live/till/display")
	if got := display.Next("display").Data; !strings.Contains(got, "200,000") || !strings.Contains(got, "<svg") {
		t.Errorf("the customer sees %s", got)
	}
	own, other := thu.Listen("/live/till?since=0&bill=1"), minh.Listen("/live/till?since=0&bill=2")
	own.Next("bill")
	other.Next("bill")

	paid(w.World, "1", 200, "CK "+bill.Code)
	both := own.All("money", "bill")
	card, shown := both[0], both[1]
	for _, want := range []string{`data-verdict="short"`, "Not enough: received only 200\u00a0₫, still due 199,800\u00a0₫",
		`data-say="Not enough: received only two hundred dong, one hundred ninety-nine thousand eight hundred dong still due"`} {
		if !strings.Contains(strings.ReplaceAll(card.Data, "&#43;", "+"), want) {
			t.Errorf("the card doesn't say %s: %s", want, card.Data)
		}
	}
	if got := shown.Data; !strings.Contains(got, "Not enough: received only 200\u00a0₫, still due 199,800\u00a0₫") {
		t.Errorf("the bill: %s", got)
	}
	if got := display.Next("display").Data; !strings.Contains(got, "199,800") || !strings.Contains(got, "Please transfer the rest.") {
		t.Errorf("the customer sees %s", got)
	}
	paid(w.World, "2", 199_800, bill.Code)
	both = own.All("money", "bill")
	card, shown = both[0], both[1]
	if got := card.Data; !strings.Contains(got, `data-verdict="full"`) || !strings.Contains(got, "Paid in full, two hundred thousand dong") {
		t.Errorf("the card: %s", got)
	}
	if got := shown.Data; !strings.Contains(got, "✓ Paid in full") || strings.Contains(got, "qr-large") {
		t.Errorf("the bill: %s", got)
	}
	if got := display.Next("display").Data; !strings.Contains(got, "Thank you!") {
		t.Errorf("the customer sees %s", got)
	}
	paid(w.World, "3", 999, "an trua")
	for _, l := range []*webtest.Listener{own, other} { // what has no bill is told at every till
		if got := l.Next("money").Data; !strings.Contains(got, `data-verdict="small"`) ||
			!strings.Contains(got, "Careful: received only nine hundred ninety-nine dong") {
			t.Errorf("the card: %s", got)
		}
	}
	thu.Get("/till/1/receipt").Shows(t, "Receipt", bill.Code, "Cashier: ", "thu", "+200\u00a0₫", "+199,800\u00a0₫",
		"200,000\u00a0₫", "slip.css", "Paid")
	lan.Get("/till/1").Shows(t, "✓ Paid in full") // who sees money sees the bills of all

	// Two devices close one shift.
	thu.Get("/shifts").Hides(t, "minh")
	lan.Get("/shifts").Shows(t, "minh", "thu", "200,000\u00a0₫")
	thu.Get("/shifts/1").Shows(t, "<dt>Received so far</dt><dd>200,000\u00a0₫", "<dt>Bills</dt><dd>1<", "<dt>Paid in full</dt><dd>1<")
	thu.Post("/shifts/1/close").Goes(t, "/shifts/1")
	again := thu.Post("/shifts/1/close")
	again.WantStatus(t, http.StatusConflict)
	again.Shows(t, "This shift is closed already, perhaps on another device. Nothing was changed.")
	paid(w.World, "4", 1000, bill.Code) // after closing time
	lan.Get("/shifts").Shows(t, "201,000\u00a0₫", "when closed: 200,000\u00a0₫")
	thu.Submit("/till", "amount", "5000", "bank_account_id", "1").Goes(t, "/till/3")
	thu.Get("/till").Shows(t, "This shift: +0\u00a0₫ · 1 bill")
	thu.Post("/till/3/cancel").Goes(t, "/till")
	lan.Post("/shifts/2/close").Goes(t, "/shifts/2") // an owner closes whose cashier went home
}

// TestOldVerdictSaysWhen: whoever holds out an old bill, its receipt or its page as a new one
// is found out by the day that stands there.
func TestOldVerdictSaysWhen(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	thu := w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	at := time.Now().AddDate(0, 0, -2)
	ctx := context.Background()
	for i, received := range []int64{5000, 5001} {
		r, err := w.Services.Payments.CreatePaymentRequest(ctx, 1,
			payment.RequestCreate{Amount: 5000, CashierID: thu.ID, ExpiresIn: payment.BillExpiry}, app.IdempotencyKey{}, at)
		apptest.Must(t, err)
		in := inbound.Incoming{EventID: itoa(r.ID), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.In, Amount: received,
			Content: r.Code, Time: at}
		_, _, err = w.Services.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{Incoming: in}, at)
		apptest.Must(t, err)
		b := w.Browser().SignIn("thu")
		day, path := at.In(w.Services.Ledger.Zone()).Format("02 Jan"), "/till/"+itoa(r.ID)
		verdict := b.Get(path).Body
		if _, verdict, _ = strings.Cut(verdict, `class="verdict`); i == 0 && !strings.Contains(verdict, "Paid in full") ||
			!strings.Contains(verdict[:strings.Index(verdict, "</p>")], day) {
			t.Errorf("the verdict doesn't say %s: %.300s", day, verdict)
		}
		receipt := b.Get(path + "/receipt").Body
		if _, end, _ := strings.Cut(receipt, `class="end"`); !strings.Contains(end, day) || !strings.Contains(end, "Printed ") {
			t.Errorf("the receipt doesn't end with %s: %s", day, end)
		}
		b.Get(r.URLPath()).Shows(t, "<dt>Received</dt><dd>", day)
	}
}

// TestSecondReceiptIsACopy: the first print of a receipt says nothing, every other one that
// it is a copy, by whatever user and on whatever device.
func TestSecondReceiptIsACopy(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	thu := w.User(1, "thu", access.RoleCashier)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	r := w.PaymentRequest(payment.RequestCreate{Amount: 5000, CashierID: thu.ID})
	paid(w.World, "1", 5000, r.Code)
	b := w.Browser().SignIn("thu")
	b.Get("/till/1/receipt").Shows(t, `class="copy on-paper"`, `action="/till/1/receipt"`) // what the page itself prints
	first := b.Post("/till/1/receipt")
	first.Shows(t, "data-print-now", "5,000")
	first.Hides(t, "Receipt copy")
	for _, other := range []*webtest.Browser{b, w.Browser().SignIn("lan")} {
		other.Post("/till/1/receipt").Shows(t, "data-print-now", `class="copy">Receipt copy`)
	}
}

// TestReceiptProves: a receipt says whose it is and for what, and leads to a page without
// sign-in that says the same and how it is now. It has no such address where customers can't
// reach it.
func TestReceiptProves(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	thu := w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	name := "Tạp hoá Lan"
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{Name: &name})
	apptest.Must(t, err)
	w.PaymentRequest(payment.RequestCreate{Amount: 1000})
	r := w.PaymentRequest(payment.RequestCreate{Amount: 100_000, CashierID: thu.ID, ExpiresIn: time.Hour})
	paid(w.World, "1", 50_000, "LE VAN C "+r.Code)
	b := serving(w, upkeep.Installation{BaseURL: "http://baoco.shop.vn"}).SignIn("thu")
	day, link := time.Now().In(w.Services.Ledger.Zone()).Format("02 Jan 2006"), `href="http://baoco.shop.vn`+r.URLPath()+`"`
	short := b.Get("/till/2/receipt")
	short.Shows(t, "<bdi>Tạp hoá Lan</bdi>", "<h1>Receipt 2</h1>", "Payment code: "+r.Code, "<bdi>NGUYEN VAN A</bdi>", link, "<svg",
		"<dt>Amount</dt><dd>100,000\u00a0₫", day+"</dt><dd>+50,000\u00a0₫", "<dt>Received so far</dt><dd>50,000\u00a0₫",
		"<dt>Still due</dt><dd>50,000\u00a0₫")
	short.Hides(t, "LE VAN C", "Not enough ·")
	check := w.Browser()
	check.Get(r.URLPath()).Shows(t, "<bdi>Tạp hoá Lan</bdi>", "Still due 50,000\u00a0₫", "50,000\u00a0₫ of 100,000\u00a0₫")
	paid(w.World, "2", 60_000, r.Code)
	b.Get("/till/2/receipt").Shows(t, "<dt>Too much</dt><dd>10,000\u00a0₫")
	now := check.Get(r.URLPath())
	now.Shows(t, "<bdi>Tạp hoá Lan</bdi>", "<dt>Receipt</dt><dd>2</dd>", "<dd>"+r.Code+"</dd>", "<bdi>NGUYEN VAN A</bdi>", day,
		"<dt>Amount</dt><dd>100,000\u00a0₫", "<dt>Received so far</dt><dd>110,000\u00a0₫", "<dt>Too much</dt><dd>10,000\u00a0₫")
	now.Hides(t, "LE VAN C")
	w.Change(`UPDATE payment_requests SET received = 50000, paid_at = NULL, expires_at = created_at - 60 WHERE id = 2`)
	check.Get(r.URLPath()).Shows(t, "has expired", "<dt>Receipt</dt><dd>2</dd>", "<dd>"+r.Code+"</dd>", "<bdi>NGUYEN VAN A</bdi>",
		"<dt>Received so far</dt><dd>50,000\u00a0₫", "<dt>Still due</dt><dd>50,000\u00a0₫")
	w.Browser().SignIn("thu").Get("/till/2/receipt").Hides(t, r.URLPath(), "<svg")
}

// TestTillPace: a cashier makes 30 bills a minute at most, and others make theirs.
func TestTillPace(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "thu", access.RoleCashier)
	w.User(1, "minh", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	thu, minh := w.Browser().SignIn("thu"), w.Browser().SignIn("minh")
	made := 0
	for range 60 {
		a := thu.Post("/till", "once", webtest.FormKey(), "amount", "5000", "bank_account_id", "1")
		if a.Status == http.StatusTooManyRequests {
			a.Shows(t, "You have made 30 within a minute.", "5000", "data-keypad")
			break
		}
		made++
	}
	if made < 30 || made == 60 {
		t.Errorf("%d bills were made at once", made)
	}
	minh.Post("/till", "once", webtest.FormKey(), "amount", "5000", "bank_account_id", "1").WantStatus(t, http.StatusSeeOther)
}

// Sixty pairs of amounts: what a counter says of a transfer for a bill, and of one
// without.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.CodePattern("DH")
		w.User(1, "thu", access.RoleCashier)
		cookies := signInTo(w, "thu")
		c, hangUp := w.Open(cookies, "/live/counter?since=0", false)
		defer func() { hangUp(); <-c.Ended }()
		n := 0
		last := func() string {
			time.Sleep(time.Second)
			synctest.Wait()
			text := c.Text()
			return text[strings.LastIndex(text, "event: money"):]
		}
		check := func(what, verdict, say string) {
			t.Helper()
			if got := last(); !strings.Contains(got, `data-verdict="`+verdict+`"`) || !strings.Contains(got, `data-say="`+say) {
				t.Errorf("%s: want %q and %q in\n%s", what, verdict, say, got)
			}
		}
		pay := func(amount int64, content string) {
			n++
			paid(w.World.World, fmt.Sprint("v", n), amount, content)
		}
		for i, amount := range []int64{1, 999, 1000, 1001, 20_000, 50_000, 99_000, 100_000, 200_000, 345_678, 1_000_000, 9_999_999} {
			if pay(amount, "khong ma"); amount < 1000 {
				check(fmt.Sprint(amount), "small", "Careful: received only ")
			} else {
				check(fmt.Sprint(amount), "", "Received ")
			}
			bill := w.PaymentRequest(payment.RequestCreate{Amount: 1000 * amount, ExpiresIn: time.Hour})
			twin := w.PaymentRequest(payment.RequestCreate{Amount: 1000 * amount, ExpiresIn: time.Hour})
			pay(amount, bill.Code) // 200 for 200.000
			check(fmt.Sprint(amount), "short", "Not enough: received only "+payment.AmountInWords(amount, app.English))
			pay(1000*amount, twin.Code) // another customer with the same amount
			check(fmt.Sprint(amount), "full", "Paid in full, "+payment.AmountInWords(1000*amount, app.English))
			pay(999*amount, bill.Code)
			check(fmt.Sprint(amount), "full", "Paid in full, ")
			pay(1, twin.Code)
			check(fmt.Sprint(amount), "over", "Too much: received ")
			late := w.PaymentRequest(payment.RequestCreate{Amount: amount, ExpiresIn: time.Minute})
			time.Sleep(2 * time.Minute)
			pay(amount, late.Code)
			check(fmt.Sprint(amount, i), "check", "Too late: received ")
			cancelled := w.PaymentRequest(payment.RequestCreate{Amount: 2 * amount})
			_, err := w.Services.Payments.CancelPaymentRequest(t.Context(), 1, cancelled.ID, time.Now())
			apptest.Must(t, err)
			pay(amount, cancelled.Code)
			check(fmt.Sprint(amount), "check", "The bill was cancelled, but ")
		}
	})
}

// A counter hears the server every four seconds at least, so that a screen that hears
// nothing for nine says so.
func TestCounterBeats(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.User(1, "thu", access.RoleCashier)
		cookies := signInTo(w, "thu")
		for _, path := range []string{"/live/counter?since=0", "/live/till?since=0", "/live/till/display"} {
			c, hangUp := w.Open(cookies, path, false)
			for range 5 {
				before := strings.Count(c.Text(), "event: alive")
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if strings.Count(c.Text(), "event: alive") == before {
					t.Errorf("%s: nothing is heard for five seconds", path)
				}
			}
			hangUp()
			<-c.Ended
		}
	})
}
