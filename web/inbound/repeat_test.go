package inbound_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/webtest"
)

// A shop with two reporters gets one transfer twice: it pays its order once.
func TestHalfOfTheMoneyPaysNoOrder(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "IN")
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	sepay, phone, copied := w.Sepay(), w.Source("capcom6", "", ""), w.Source("sms-to-url", "", "")
	order := w.PaymentRequest(payment.RequestCreate{Amount: 8_200_000})
	now := time.Now().In(w.Services.Ledger.Zone())
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "1", Number: "FT26331000001", Content: "LE VAN C " + order.Code, Amount: 4_100_000,
		Date: now.Format(app.TimeLayout)})
	text := func(balance string, at time.Time) apptest.PhoneText {
		return apptest.PhoneText{
			Text: fmt.Sprintf("ACB: TK %s(VND) + 4,100,000 luc %s. So du %s. GD: %s LE VAN C-271126", apptest.SomeAccount,
				at.Format("15:04 02/01/2006"), balance, order.Code), Received: time.Now(), ID: balance + at.String(),
		}
	}
	sms := text("9,100,000", now)
	w.Texts(webtest.Duplicate, phone, sms)
	again := sms
	again.Received, again.ID = sms.Received.Add(3*time.Second), "another"
	w.Texts(webtest.Duplicate, phone, again)  // two rules of the app match
	w.Texts(webtest.Duplicate, copied, again) // and another app on the phone
	w.Sends(sepay, apptest.Transfer{ID: "1", Number: "FT26331000001", Content: "LE VAN C " + order.Code, Amount: 4_100_000,
		Date: now.Format(app.TimeLayout)}.Sepay())
	got, err := w.Services.Payments.PaymentRequest(t.Context(), 1, order.ID)
	apptest.Must(t, err)
	if got.Received != 4_100_000 || !got.PaidAt.IsZero() {
		t.Errorf("the order is %+v", got)
	}
	// The second half comes, first on the phone.
	w.Texts(webtest.Recorded, phone, text("13,200,000", now.Add(time.Minute)))
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "2", Number: "FT26331000002", Content: "LE VAN C " + order.Code, Amount: 4_100_000,
		Date: now.Add(time.Minute).Format(app.TimeLayout)})
	if got, err = w.Services.Payments.PaymentRequest(t.Context(), 1, order.ID); err != nil || got.Received != 8_200_000 ||
		got.PaidAt.IsZero() {
		t.Errorf("the order is %+v, %v", got, err)
	}
	w.WantTransactions(2)
	shop.Waits(w, "/a 1", "/a 2")
}

// What may be a repeat is neither recorded nor told until somebody says what it is.
func TestMayBeRepeat(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	sepay, native := w.Sepay(), w.Native()
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "1", Content: "ANH BA TRA TIEN BAN"})
	held := func(id, content string) (event int64) {
		w.Names(webtest.Counts{MayRepeat: 1}, native, apptest.Transfer{ID: id, Content: content})
		w.Names(webtest.Duplicate, native, apptest.Transfer{ID: id, Content: content}) // the provider tries again
		list, _, err := w.Services.Inbound.InboundEvents(t.Context(), 1,
			inbound.Filter{State: inbound.OutcomeMayBeRepeat, Page: app.Page{Number: 1, Size: 10}})
		apptest.Must(t, err)
		if len(list) != 1 || list[0].OpenBy.MayBeRepeats != 1 || len(list[0].Items) != 1 || list[0].Items[0].TransactionID != 1 {
			t.Fatalf("%s is kept as %+v", id, list)
		}
		return list[0].ID
	}
	settle := func(event int64, repeat bool, status int, state inbound.Outcome, transaction string) {
		t.Helper()
		var got struct {
			State         inbound.Outcome
			TransactionID string `json:"transaction_id"`
		}
		w.API("POST", fmt.Sprintf("/api/v1/inbound/%d/settle", event), fmt.Sprintf(`{"repeat":%t}`, repeat), status, &got)
		if got.State != state || got.TransactionID != transaction {
			t.Errorf("settled as %+v, want %s %s", got, state, transaction)
		}
	}
	another := held("2", "ck")
	if open, err := w.Services.Inbound.OpenInbound(t.Context(), 1, 10); err != nil || open.MayBeRepeats != 1 {
		t.Errorf("open: %+v, %v", open, err)
	}
	settle(another, false, http.StatusOK, inbound.OutcomeRecorded, "2")
	settle(another, false, http.StatusConflict, "", "")
	repeat := held("3", "ban ghe")
	settle(repeat, true, http.StatusOK, inbound.OutcomeDuplicate, "1")
	settle(repeat+1000, true, http.StatusNotFound, "", "")
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "4", Content: "ban ghe"}) // its channel has named both
	if e := w.Event(another); e.Recorded != 1 || e.Open != 0 {
		t.Errorf("%+v", e)
	}
	if e := w.Event(repeat); e.Duplicates != 1 || e.Open != 0 {
		t.Errorf("%+v", e)
	}
	w.WantTransactions(3)
	shop.Waits(w, "/a 1", "/a 2", "/a 3")

	// By hand it is refused, unless its person knows.
	body := fmt.Sprintf(`{"id":"h","gateway":"ACB","accountNumber":"%s","transferType":"IN","transferAmount":200000,"transactionDate":"%s"`,
		apptest.SomeAccount, apptest.SomeDate)
	var refused struct{ Code app.Code }
	w.API("POST", "/api/v1/transactions", body+`}`, http.StatusConflict, &refused)
	if refused.Code != app.CodeMayBeRepeat {
		t.Errorf("%+v", refused)
	}
	w.API("POST", "/api/v1/transactions", body+`,"not_a_repeat":true}`, http.StatusCreated, nil)
	w.WantTransactions(4)
}

// What waits for a person is decided by a later report that says more, within a call and
// in another one.
func TestLaterReportDecides(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	shop := webtest.NewShop(t)
	w.Webhook(shop.URL+"/a", "ALL")
	w.Link("ACB", apptest.SomeAccount)
	sepay, native := w.Sepay(), w.Native()
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "1", Content: "HOC PHI"})
	w.Names(webtest.Counts{MayRepeat: 1}, native, apptest.Transfer{ID: "a", Content: "BANH MI"})
	event := w.NewestEvent().ID
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "2", Content: "BANH MI"}) // it is this one
	if e := w.Event(event); e.Duplicates != 1 || e.Open != 0 {
		t.Errorf("%+v", e)
	}
	w.Names(webtest.Recorded, sepay, apptest.Transfer{ID: "3", Content: "NUOC MIA", Amount: 15_000})
	w.Wants(webtest.Counts{Recorded: 1, Duplicates: 1}, native, apptest.Batch(
		apptest.Transfer{ID: "b", Content: "TRA DA", Amount: 15_000}.Native(),   // may be NUOC MIA
		apptest.Transfer{ID: "c", Content: "NUOC MIA", Amount: 15_000}.Native(), // which it is not, then
	))
	w.WantTransactions(4)
	w.Tallies()
	shop.Waits(w, "/a 1", "/a 2", "/a 3", "/a 4")
}
