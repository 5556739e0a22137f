package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/app/upkeep"
	"baoco/web/webtest"
)

// Money without a code is offered for the bills that ask for it, live. Where the shop allows it
// one cashier takes it with a tap, and every screen tells it as a verdict; else the owner is
// asked, once. The owner undoes it.
func TestMoneyWithoutCode(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	w.User(1, "minh", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	thu, minh, lan := w.Browser().SignIn("thu"), w.Browser().SignIn("minh"), w.Browser().SignIn("lan")
	thu.Submit("/till", "amount", "50000", "bank_account_id", "1").Goes(t, "/till/1")
	minh.Submit("/till", "amount", "50000", "bank_account_id", "1").Goes(t, "/till/2")
	own, other := thu.Listen("/live/till?since=0&bill=1"), minh.Listen("/live/till?since=0&bill=2")
	counter := lan.Listen("/live/counter?since=0")
	own.Next("bill")
	other.Next("bill")
	display := thu.Listen("/live/till/display")
	display.Next("display")

	paid(w.World, "1", 50_000, "LE VAN C chuyen tien")
	const said = "50,000\u00a0₫ came just now, without a code: \u2068LE VAN C chuyen tien\u2069. " +
		"This customer’s? Another bill asks for the same amount."
	for _, l := range []*webtest.Listener{own, other} {
		if got := l.Next("bills").Data; !strings.Contains(got, said) {
			t.Errorf("the list of bills: %s", got)
		}
		if got := l.Next("bill").Data; strings.Count(got, said) != 1 || !strings.Contains(got, "/ask") || strings.Contains(got, "/take") {
			t.Errorf("the bill: %s", got)
		}
	}
	if got := counter.Next("money").Data; !strings.Contains(got, `data-verdict=""`) {
		t.Errorf("the counter: %s", got)
	}
	form := []string{"transaction_id", "1"}
	take := func(b *webtest.Browser, bill, transaction string) webtest.Answer {
		return b.Post("/till/"+bill+"/take", "transaction_id", transaction, "once", webtest.FormKey())
	}
	take(thu, "1", "1").WantStatus(t, http.StatusForbidden)
	take(minh, "1", "1").WantStatus(t, http.StatusNotFound)
	take(thu, "1", "99").WantStatus(t, http.StatusUnprocessableEntity)

	// The owner is asked.
	for range 2 {
		thu.Post("/till/1/ask", form...).Goes(t, "/till/1")
	}
	thu.Get("/till/1").Shows(t, "The owner was asked to match it.", "No alert reaches the owner: call them.")
	attention, err := w.Services.Alerts.Attention(t.Context(), 1, upkeep.Installation{}, time.Now())
	apptest.Must(t, err)
	if attention[0].Path() != "/transactions/1" || !strings.Contains(attention[0].Text.EN, "\u2068thu\u2069") || len(attention) > 1 &&
		attention[1].Kind == attention[0].Kind {
		t.Errorf("the owner's attention: %+v", attention)
	}
	lan.Get("/").Shows(t, "asks you to match it with bill", `href="/transactions/1"`)

	// The owner allows cashiers to take it: one of two gets it.
	lan.Post("/settings/payments", "payment_tolerance", "0", "small_amount", "1000", "cashiers_match", "1").Goes(t, "/settings/codes")
	lan.Get("/settings/codes").Shows(t, `name="cashiers_match" value="1" checked`)
	tap := formFields(t, thu.Get("/till/1").Body, "/till/1/take")
	thu.Post("/till/1/take", form...).Goes(t, "/till/1") // without a key
	thu.Get("/till/1").Shows(t, "This form has expired", "Waiting for payment")
	thu.Post("/till/1/take", tap...).Goes(t, "/till/1")
	lost := take(minh, "2", "1")
	lost.WantStatus(t, http.StatusConflict)
	lost.Shows(t, "Somebody has just matched this money with another bill.")
	for _, l := range []*webtest.Listener{own, counter} {
		if got := l.Next("matched").Data; !strings.Contains(got, `data-verdict="full"`) ||
			!strings.Contains(got, `data-say="Paid in full, fifty`) {
			t.Errorf("the card: %s", got)
		}
	}
	if got := other.Next("removed").Data; got != "1" {
		t.Errorf("another till shows the money of thu: %s", got)
	}
	if got := display.Next("display").Data; !strings.Contains(got, "Thank you!") {
		t.Errorf("the customer sees %s", got)
	}
	bill := thu.Get("/till/1")
	bill.Shows(t, "✓ Paid in full", "matched by <bdi>thu</bdi>", `data-verdict="full"`)
	bill.Hides(t, "This customer’s?")
	lan.Get("/payments/1").Shows(t, "By hand", "<bdi>thu</bdi>")
	lan.Get("/transactions/1").Shows(t, "matched by <bdi>thu</bdi>")
	lan.Get("/").Hides(t, "asks you to match it")
	lines, err := w.Services.Ledger.AuditLines(t.Context(), 1, app.AuditFilter{Deed: app.DeedPaymentTake}, 10)
	apptest.Must(t, err)
	if len(lines) != 1 || lines[0].Actor.Name != "thu" || lines[0].NounID != 1 {
		t.Errorf("the audit log: %+v", lines)
	}

	// The owner undoes it, for good where the tap comes again.
	lan.Post("/payments/1/unmatch", form...).Goes(t, "/payments/1")
	if got := counter.Next("matched").Data; !strings.Contains(got, `data-verdict=""`) || !strings.Contains(got, `data-say=""`) {
		t.Errorf("the card after that: %s", got)
	}
	thu.Post("/till/1/take", tap...).Goes(t, "/till/1")
	thu.Get("/till/1").Shows(t, "This customer’s?", "Waiting for payment")
	r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	if r.Status(time.Now()) != app.PaymentOpen || r.Received != 0 {
		t.Errorf("%+v", r)
	}
	// What was put aside meanwhile isn't taken.
	lan.Post("/transactions/chosen", "row", "1", "aside", "1", "back", "/payments/unmatched").Goes(t, "/payments/unmatched")
	for _, tap := range []string{"take", "ask"} {
		refused := thu.Post("/till/1/"+tap, append(form, "once", webtest.FormKey())...)
		refused.WantStatus(t, http.StatusConflict)
		refused.Shows(t, "This money was put aside")
	}
	lan.Post("/transactions/chosen", "row", "1", "aside", "0", "back", "/payments/unmatched").Goes(t, "/payments/unmatched")
	// What names another order isn't taken.
	paid(w.World, "2", 50_000, "don D H 1 2 3")
	thu.Get("/till/1").Shows(t, "Its content may name another order.")
	take(thu, "1", "2").WantStatus(t, http.StatusConflict)
	_, err = w.Services.Payments.CancelPaymentRequest(t.Context(), 1, 1, time.Now())
	apptest.Must(t, err)
	take(thu, "1", "1").WantStatus(t, http.StatusConflict)
}

// Of cashiers who take the same money at once one gets it.
func TestOneTakesTheMoney(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	allowed := true
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{CashiersMatch: &allowed})
	apptest.Must(t, err)
	const cashiers = 8
	for i := range int64(cashiers) {
		w.PaymentRequest(payment.RequestCreate{Amount: 50_000, CashierID: i + 1, ExpiresIn: payment.BillExpiry})
	}
	paid(w.World, "1", 50_000, "ck")
	errs := make(chan error, cashiers)
	for i := range int64(cashiers) {
		go func() {
			_, err := w.Services.Payments.TakeTransaction(t.Context(), 1, payment.Take{RequestID: i + 1, TransactionID: 1}, time.Now())
			errs <- err
		}()
	}
	won := 0
	for range cashiers {
		if err := <-errs; err == nil {
			won++
		} else if app.CodeOf(err) != app.CodeConflict {
			t.Error(err)
		}
	}
	if won != 1 || w.Rows("payment_matches") != 1 {
		t.Errorf("%d cashiers got the money", won)
	}
}
