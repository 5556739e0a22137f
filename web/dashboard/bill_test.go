package dashboard_test

import (
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
	"baoco/web/webtest"
)

// The till, the customer's screen and the payer's page change with every part of a bill
// that comes, and hear nothing where nothing has changed. A paid bill is shown to the
// customer for a minute; one that has ended isn't shown any more.
func TestBillIsShown(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		w.CodePattern("DH")
		shop := "Quán Lan"
		_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{Name: &shop})
		apptest.Must(t, err)
		thu := w.User(1, "thu", access.RoleCashier)
		cookies := signInTo(w, "thu")
		const expiry = 5 * time.Minute // a bill of the till has longer
		bill := func() payment.Request {
			t.Helper()
			return w.PaymentRequest(payment.RequestCreate{Amount: 200_000, ExpiresIn: expiry, CashierID: thu.ID})
		}
		first := bill()
		var streams []*webtest.PipeConn
		for _, path := range []string{"/live/till?since=0&bill=1", "/live/till/display", first.URLPath() + "/live"} {
			c, hangUp := w.Open(cookies, path, false)
			defer func() { hangUp(); <-c.Ended }()
			streams = append(streams, c)
		}
		heard := func(what string, after time.Duration, want ...int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			for i, event := range []string{"event: bill\n", "event: display\n", "event: state\n"} {
				if got := strings.Count(streams[i].Text(), event); got != want[i] {
					t.Errorf("%s: %d times %q, want %d", what, got, event, want[i])
				}
			}
		}
		customerSees := func(what string, shown, hidden string) {
			t.Helper()
			text := streams[1].Text()
			text = text[strings.LastIndex(text, "event: display\n"):]
			page := sendTo(w, cookies, "GET", "/till/display", nil).Body.String()
			for _, text := range []string{text, page} {
				if !strings.Contains(text, shown) || strings.Contains(text, hidden) {
					t.Errorf("%s: the customer doesn't see %q, or %q: %s", what, shown, hidden, text)
				}
			}
		}
		heard("at first", time.Second, 1, 1, 1)
		for i, asked := range []string{"199,800", "199,600"} {
			paid(w.World.World, fmt.Sprint("part", i), 200, first.Code)
			heard("a part of 200", time.Second, 2+i, 2+i, 2+i)
			customerSees("a part of 200", asked, "Quán Lan")
		}
		paid(w.World.World, "other", 5000, "an trua")
		heard("nothing of the bill", time.Minute, 3, 3, 3)
		paid(w.World.World, "rest", 199_600, first.Code)
		heard("the rest", time.Second, 4, 4, 4)
		heard("the minute after it", 57*time.Second, 4, 4, 4)
		customerSees("paid", "200,000", "<svg")
		heard("a minute later", 8*time.Second, 4, 5, 4)
		customerSees("a minute later", "Quán Lan", "200,000")
		paid(w.World.World, "more", 1, first.Code)
		heard("more than was due", time.Second, 5, 5, 5)

		bill()
		heard("the next bill", 5*time.Second, 5, 6, 5)
		customerSees("the next bill", "200,000", "Quán Lan")
		heard("its end", expiry+time.Second, 5, 7, 5)
		customerSees("its end", "Quán Lan", "<svg")
		cancelled := bill()
		heard("one more bill", 5*time.Second, 5, 8, 5)
		_, err = w.Services.Payments.CancelPaymentRequest(t.Context(), 1, cancelled.ID, time.Now())
		apptest.Must(t, err)
		heard("it was cancelled", 5*time.Second, 5, 9, 5)
		customerSees("it was cancelled", "Quán Lan", "<svg")
		paid(w.World.World, "late", 200_005, cancelled.Code)
		for path, tooMuch := range map[string]string{"/till/3": "too much: 5\u00a0₫", "/till/3/receipt": "<dt>Too much</dt><dd>5\u00a0₫"} {
			if text := sendTo(w, cookies, "GET", path, nil).Body.String(); !strings.Contains(text, "Paid too late") ||
				!strings.Contains(text, tooMuch) {
				t.Errorf("late and too much: %s shows %s", path, text)
			}
		}
	})
}

// A till shows the bills of its cashier: nobody else's, and no payment request that is
// no bill. It proposes the bank account of the bill before.
func TestBillsOfOthers(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	w.User(1, "minh", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", "700700")
	w.CodePattern("DH")
	thu, minh, lan := w.Browser().SignIn("thu"), w.Browser().SignIn("minh"), w.Browser().SignIn("lan")
	thu.Submit("/till", "amount", "200000", "bank_account_id", "2").Goes(t, "/till/1")
	w.PaymentRequest(payment.RequestCreate{Amount: 5000, BankAccountID: 1}) // 2: no bill
	thu.Get("/till/1").Shows(t, `data-stream="/live/till?since=0&bill=1"`)
	thu.Get("/till").Shows(t, `data-stream="/live/till?since=0"`, `<option value="2" selected>`)
	minh.Get("/till").Hides(t, `value="2" selected`)

	bill, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	paid(w.World, "1", 200_000, "CK CUA THU "+bill.Code)
	thu.Get("/till").Shows(t, "CK CUA THU")
	minh.Get("/till").Hides(t, "CK CUA THU")
	for _, c := range []struct {
		b     *webtest.Browser
		paths []string
	}{
		{lan, []string{"/till/2", "/till/2/receipt", "/live/till?since=0&bill=2"}},
		{thu, []string{"/till/2", "/till/2/receipt", "/live/till?since=0&bill=2"}},
		{minh, []string{"/live/till?since=0&bill=1", "/live/till?since=0&bill=2", "/live/till?since=0&bill=99"}},
	} {
		for _, path := range c.paths {
			c.b.Get(path).WantStatus(t, http.StatusNotFound)
		}
		c.b.Post("/till/2/cancel").WantStatus(t, http.StatusNotFound)
	}
}

// Names that are HTML stay texts on the till and on the customer's screen.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	const name = "<img src=x onerror=1>"
	w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", "700700")
	w.CodePattern("DH")
	w.Change(`UPDATE bank_accounts SET account_name = ?`, name)
	w.Change(`UPDATE users SET name = name || ?`, name)
	apptest.Must(t, w.Services.Ledger.SetBankAccountLabel(t.Context(), 1, 1, app.BankAccountLabel{Nickname: name}))
	thu := w.Browser().SignIn("thu" + name)
	thu.Submit("/till", "amount", "200000", "bank_account_id", "1").Goes(t, "/till/1")
	bill, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	events := thu.Listen("/live/till?since=0&bill=1").Next("bill").Data + thu.Listen("/live/till/display").Next("display").Data
	paid(w.World, "1", 200, name+" "+bill.Code)
	for _, path := range []string{"/till", "/till/1", "/till/display", "/till/1/receipt", "/shifts", "/shifts/1", "/shifts/1?paper=58"} {
		a := thu.Get(path)
		a.WantStatus(t, http.StatusOK)
		a.Shows(t, name)
		events += a.Body
	}
	if strings.Contains(events, name) || strings.Count(events, "&lt;img src=x onerror=1&gt;") < 8 {
		t.Errorf("a name is HTML, or missing: %s", events)
	}
}

// A cashier who is limited to a bank account hears nothing of the bills of others, also
// where one is paid to the account that they see.
func TestLimitedTill(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	made := w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", "700700")
	w.CodePattern("DH")
	thu := w.Browser().SignIn("thu")
	thu.Submit("/till", "amount", "200000", "bank_account_id", "1").Goes(t, "/till/1")
	bill, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	_, err = w.Services.Access.LimitUser(t.Context(), 1, made.ID, access.BankAccountLimit{On: true, IDs: []int64{2}})
	apptest.Must(t, err)
	thu.Get("/till/1").WantStatus(t, http.StatusNotFound)
	l, native := thu.Listen("/live/till?since=0"), w.Native()
	w.Came(0, native, apptest.Transfer{ID: "a", Number: "a", Gateway: "VCB", Account: "700700", Content: "HIDDEN " + bill.Code,
		Amount: 200_000, Date: today(w)})
	w.Came(0, native, apptest.Transfer{ID: "b", Number: "b", Gateway: "VCB", Account: "700700", Content: "SEEN", Amount: 5000, Date: today(w)})
	if r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1); err != nil || r.Received != 200_000 {
		t.Fatalf("%+v, %v", r, err)
	}
	if card := l.Next("money").Data; !strings.Contains(card, "SEEN") {
		t.Errorf("the till tells of %s", card)
	}
	page := thu.Get("/till")
	page.Shows(t, "SEEN")
	page.Hides(t, "HIDDEN", bill.Code)
}

// A cashier who sees one receiving number sees of a bill that another number paid too much for that it is
// paid, and no more; what is left of one that isn't paid yet stays what it is.
func TestBillThatHiddenNumbersPaid(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	_, err := w.Services.Ledger.SetBankAccountReceiving(t.Context(), 1, 1, app.BankAccountReceiving{ReceivingNumbers: "VA1\nVA2"})
	apptest.Must(t, err)
	_, err = w.Services.Access.LimitUser(t.Context(), 1, w.User(1, "thu", access.RoleCashier).ID,
		access.BankAccountLimit{On: true, IDs: []int64{1}, ReceivingNumber: "VA1"})
	apptest.Must(t, err)
	thu := w.Browser().SignIn("thu")
	came := func(id, content string, amount int64, number string, at time.Time) {
		t.Helper()
		_, _, err := w.Services.Inbound.RecordByHand(t.Context(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{EventID: id,
			Gateway: "ACB", AccountNumber: apptest.SomeAccount, SubAccount: number, Type: app.In, Amount: amount, Content: content,
			Time: time.Now(), NotRepeat: true}}, at)
		apptest.Must(t, err)
	}
	pay := func(id string, bill, amount int64, number string) {
		t.Helper()
		came(id, code(w, bill), amount, number, time.Now())
	}
	for _, bill := range []int64{1, 2} {
		thu.Submit("/till", "amount", "61000", "bank_account_id", "1").Goes(t, fmt.Sprint("/till/", bill))
		pay(fmt.Sprint("a", bill), bill, 20_000, "VA1")
	}
	live := thu.Listen("/live/till?since=0&bill=1")
	live.Next("bill")
	pay("b", 1, 10_000, "VA2")
	thu.Get("/till/1").Shows(t, "still due 31,000\u00a0₫")
	live.Next("bill")
	pay("c", 1, 71_000, "VA2")
	if got := live.Next("bill").Data; !strings.Contains(got, "✓ Paid in full") || strings.Contains(got, "101,000") {
		t.Errorf("the live bill: %s", got)
	}
	for path, want := range map[string]string{"/till/1": "✓ Paid in full", "/till": ">Paid in full</span>",
		"/till/1/receipt": "<dt>Received so far</dt><dd>61,000\u00a0₫"} {
		page := thu.Get(path)
		page.Shows(t, want)
		page.Hides(t, "101,000", "71,000", "40,000", "too much")
	}
	pay("d", 2, 51_000, "VA1")
	thu.Get("/till/2").Shows(t, "Too much: 10,000\u00a0₫")

	// So does the shift, also once it is closed by whom nothing is hidden from, who sees all of it.
	for id, number := range map[string]string{"SEEN": "VA1", "HIDDEN": "VA2", "HIDDEN DIRECT": ""} {
		came(id, id, 7000, number, time.Now())
	}
	limited := func() {
		t.Helper()
		for _, path := range []string{"/shifts/1", "/shifts/1?paper=58", "/shifts"} {
			page := thu.Get(path)
			page.Shows(t, "132,000\u00a0₫")
			page.Hides(t, "172,000", "101,000", "50,000", "HIDDEN", "21,000", "when closed", "After the shift")
			if path != "/shifts" {
				page.Shows(t, "SEEN", "Money without a bill (1)", "<dt>Too much</dt><dd>10,000\u00a0₫</dd>",
					"<dt>Paid in full</dt><dd>1</dd>")
			}
		}
	}
	limited()
	w.User(1, "lan", access.RoleOwner)
	lan := w.Browser().SignIn("lan")
	lan.Post("/shifts/1/close", "cash", "", "note", "").Goes(t, "/shifts/1")
	limited()
	lan.Get("/shifts/1").Shows(t, "172,000\u00a0₫", "101,000\u00a0₫", "HIDDEN DIRECT", "Money without a bill (3)",
		"<dt>Too much</dt><dd>50,000\u00a0₫</dd>")
	came("later", code(w, 2), 3000, "VA2", time.Now().Add(2*time.Second))
	limited()
	lan.Get("/shifts/1").Shows(t, "<dt>After the shift was closed</dt><dd>+3,000\u00a0₫</dd>")

	// What the limited cashier closes is kept whole too.
	thu.Submit("/till", "amount", "62000", "bank_account_id", "1").Goes(t, "/till/3")
	came("AT THE END", "AT THE END", 9000, "VA2", time.Now())
	thu.Post("/shifts/2/close", "cash", "", "note", "").Goes(t, "/shifts/2")
	thu.Get("/shifts/2").Hides(t, "AT THE END")
	lan.Get("/shifts/2").Shows(t, "AT THE END")
}
