package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/payment"
	"baoco/web/webtest"
)

// Ticked transactions are shown with their sums, and one tap does a thing with each of them.
// What can't be changed is named, and the others are.
func TestChosen(t *testing.T) {
	t.Parallel()
	w, lan := dayWorld(t)
	lan.Get("/transactions").Shows(t, `name="row" value="3"`, `action="/transactions/chosen"`, `name="back" value="/transactions?page=1"`)
	lan.Get("/").Hides(t, `name="row" value="3"`)
	const path, back = "/transactions/chosen", "/transactions?page=1"
	page := lan.Get(path + "?row=3&row=5&row=4&row=3&back=%2Ftransactions%3Fpage%3D1")
	page.Shows(t, "3 transactions", "+500,000\u00a0₫", "−50,000\u00a0₫", `href="/transactions?page=1"`)
	page.Hides(t, "Belongs to no order", `name="row" value="2"`)

	change := func(fields ...string) {
		t.Helper()
		lan.Post(path, append([]string{"row", "3", "row", "4", "row", "5", "back", back}, fields...)...).Goes(t, back)
	}
	lan.Post("/transactions/4/note", "note", "older").Goes(t, "/transactions/4")
	change("note", "counted by Hoa")
	lan.Get(back).Shows(t, "Transactions changed: 2. Not changed: 1. A note that is there already stays.")
	for id, note := range map[int64]string{3: "counted by Hoa", 4: "older", 5: "counted by Hoa", 2: ""} {
		if n, err := w.Services.Ledger.Note(t.Context(), 1, id); err != nil || n.Text != note {
			t.Errorf("note of %d: %q, %v", id, n.Text, err)
		}
	}
	change("kind", "loan", "revenue_note", "Hai")
	lan.Get(back).Shows(t, "Transactions changed: 2. Not changed: 1. Only money in can be revenue or not.")
	lan.Get("/transactions/3").Shows(t, "Not revenue:", "Loan", "Hai")
	change("kind", "revenue")
	lan.Get("/transactions/3").Hides(t, "Not revenue:")

	for _, wrong := range [][]string{{"row", "3", "note", " "}, {"row", "3", "kind", "gift"}, {"note", "no row"}} {
		lan.Post(path, wrong...).WantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.Post(path, "row", "3", "row", "99", "kind", "loan").WantStatus(t, http.StatusNotFound)
	lan.Get("/transactions/3").Hides(t, "Not revenue:")
	lan.Get(path).Shows(t, "select rows in the list first")
	lan.Get(path+"?row=x").WantStatus(t, http.StatusNotFound)
	lan.Get(path+"?"+strings.Repeat("row=3&", app.MaxPageSize+1)).Shows(t, `id="found">1 transaction<`)
	lan.Post(path, "row", "3", "kind", "loan", "back", "//evil.vn").Goes(t, "/")

	// Where the shop asks for money, what belongs to no order is put aside.
	w.CodePattern("DH")
	w.PaymentRequest(payment.RequestCreate{Amount: 30_000, BankAccountID: 1})
	paid(w.World, "other", 30_000, "like one")
	const id = "9"
	lan.Get(path+"?row="+id).Shows(t, "Belongs to no order")
	lan.Get("/payments/unmatched").Shows(t, `name="row" value="`+id+`" form="ticked"`)
	lan.Post(path, "row", id, "aside", "1").Goes(t, "/")
	lan.Get(path+"?row="+id).Shows(t, "Take back")
}

// The file of ticked transactions has them alone, the oldest first.
func TestChosenExport(t *testing.T) {
	t.Parallel()
	w, lan := dayWorld(t)
	lan.Get("/transactions/chosen?row=5&row=3").Shows(t, `href="/transactions/export?format=xlsx&row=5&row=3"`)
	rows := strings.Split(strings.TrimSpace(lan.Get("/transactions/export?format=csv&row=5&row=3").Body), "\r\n")
	var found []string
	for _, row := range rows {
		for _, id := range []string{"3", "5"} {
			if strings.Contains(","+row+",", ","+id+",") {
				found = append(found, id)
			}
		}
	}
	if strings.Join(found, " ") != "3 5" {
		t.Errorf("rows %v", found)
	}
	native := w.Native() // of one second, the list has the newer one first
	for _, id := range []string{"a", "b"} {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: id, Date: "2025-10-16", Amount: 1000})
	}
	lan.Get("/transactions/chosen?row=9&row=10").Shows(t, `format=xlsx&row=10&row=9"`)
	lan.Get("/transactions/export?format=csv&row=99").WantStatus(t, http.StatusNotFound)
	w.User(1, "hoa", access.RoleCashier)
	w.Pay(1, "today", "a loan of today")
	lan.Post("/transactions/chosen", "row", "11", "kind", "loan").Goes(t, "/")
	lan.Get("/transactions").Shows(t, "not revenue: Loan")
	hoa := w.Browser().SignIn("hoa").Get("/transactions")
	hoa.Shows(t, "a loan of today")
	hoa.Hides(t, `name="row"`, "/transactions/chosen", "not revenue")
}
