package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/webtest"
)

func paidOut(w *apptest.World, id string, amount int64, content string) int64 {
	w.T.Helper()
	t, _, err := w.Services.Inbound.RecordByHand(context.Background(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
		EventID: id, Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: app.Out, Amount: amount, Content: content, Time: time.Now(),
	}}, time.Now())
	apptest.Must(w.T, err)
	return t.ID
}

// Money out is offered as the refund of what it names by code, by number, or by amount and payer; nothing else is.
// One yes links them, and both, the payment request and the day say so; another takes it back.
func TestRefund(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000})
	paid(w.World, "10000001", 200_000, r.Code)             // 1
	paid(w.World, "2", 70_000, "NGUYEN VAN A chuyen tien") // 2
	paid(w.World, "3", 70_000, "TRAN THI B chuyen tien")   // 3
	lan := w.Browser().SignIn("lan")
	page := func(id int64) webtest.Answer { return lan.Get(fmt.Sprint("/transactions/", id)) }
	for content, of := range map[string]int64{
		"hoan tien " + r.Code: 1, "hoan FT10000001 cho khach": 1, "tra lai nguyen van a": 2, "tra lai": 0,
	} {
		amount := int64(70_000)
		out := paidOut(w.World, content, amount, content)
		for id := int64(1); id <= 3; id++ {
			offer := fmt.Sprintf(`name="of" value="%d"`, id)
			if a := page(out); id == of {
				a.Shows(t, offer)
			} else {
				a.Hides(t, offer)
			}
		}
		post := func(of string) webtest.Answer {
			return lan.Post(fmt.Sprint("/transactions/", out, "/refund"), "of", of)
		}
		if of != 1 {
			continue
		}
		const net = "after refunds <strong>270,000\u00a0₫" // of 340,000
		lan.Get("/day").Hides(t, "after refunds")
		post("1").Goes(t, fmt.Sprint("/transactions/", out))
		post("2").WantStatus(t, http.StatusConflict) // it gives back one thing
		page(out).Shows(t, "Refund of", `<a href="/transactions/1">#1</a>`, "Undo link")
		page(1).Shows(t, "Refunded", "<strong>70,000\u00a0₫</strong>", fmt.Sprintf("#%d", out))
		lan.Get("/payments/1").Shows(t, "refunded 70,000\u00a0₫")
		lan.Get("/day").Shows(t, net)
		post("").Goes(t, fmt.Sprint("/transactions/", out))
		page(1).Hides(t, "Refunded")
		lan.Get("/payments/1").Hides(t, "refunded")
	}
	for _, c := range []struct {
		amount int64
		of     string
	}{{70_001, "2"}, {5, "99"}, {5, "x"}, {5, "4"}} { // more than came, nothing, nothing, money out
		out := paidOut(w.World, fmt.Sprint(c), c.amount, "x")
		if a := lan.Post(fmt.Sprint("/transactions/", out, "/refund"), "of", c.of); a.Status < 400 || a.Status >= 500 {
			t.Errorf("%+v: %d", c, a.Status)
		}
	}
	out := paidOut(w.World, "whole", 70_000, "x")
	lan.Post(fmt.Sprint("/transactions/", out, "/refund"), "of", "3").Goes(t, fmt.Sprint("/transactions/", out))
	again := paidOut(w.World, "again", 5, "x")
	lan.Post(fmt.Sprint("/transactions/", again, "/refund"), "of", "3").WantStatus(t, http.StatusConflict)
	w.Change(`UPDATE transactions SET occurred_at = occurred_at - 91 * 86400 WHERE id = 2`)
	late := paidOut(w.World, "late", 70_000, "tra lai nguyen van a")
	page(late).Hides(t, `name="of"`)
	lan.Post(fmt.Sprint("/transactions/", late, "/refund"), "of", "2").WantStatus(t, http.StatusConflict)
}
