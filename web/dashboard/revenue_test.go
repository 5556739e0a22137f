package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"baoco/app/apptest"
)

// One tap says that money in is no revenue, another takes it back. The page of the day, lists and
// files say so once anything is marked.
func TestRevenuePages(t *testing.T) {
	t.Parallel()
	w, lan := dayWorld(t)
	const day, list = "/day?date=2025-10-14", "/book/revenue?period=2025-10"
	lan.Get(day).Hides(t, "of which revenue")
	lan.Get("/transactions/export?format=csv").Hides(t, "Is revenue")
	lan.Get(list).Shows(t, "Revenue 1,907,000\u00a0₫ (6)", "Not revenue 0\u00a0₫ (0)", "Month 10 of 2025")
	lan.Post("/transactions/3/revenue", "kind", "other", "back", list).Goes(t, list)
	lan.Post("/transactions/4/revenue", "kind", "loan", "revenue_note", "Chị <b>Hai").Goes(t, "/transactions/4")
	lan.Get("/transactions/4").Shows(t, "Not revenue:", "Loan", "Chị <b>Hai", "Count as revenue")
	lan.Get(day).Shows(t, "+507,000\u00a0₫", "of which revenue", "7,000\u00a0₫")
	lan.Get(day+"&paper=58").Shows(t, "of which revenue")
	lan.Get(list).Shows(t, "Revenue 1,407,000\u00a0₫ (4)", "Not revenue 500,000\u00a0₫ (2)")
	not := lan.Get(list + "&show=not")
	not.Shows(t, "Loan", "Other", "Chị <b>Hai", "2025-10-14 08:15:00")
	not.Hides(t, "400,000")
	lan.Get("/transactions?revenue=false&from=2025-10-01").Shows(t, "2 transactions", "not revenue: Loan")
	lan.Get("/transactions/export?format=csv&revenue=false").Shows(t, "Is revenue", "no,Loan: Chị <b>Hai")
	lan.Post("/transactions/4/revenue", "kind", "revenue", "back", list).Goes(t, list)
	lan.Get(day).Shows(t, "307,000\u00a0₫")
	refused := lan.Post("/transactions/5/revenue", "kind", "loan", "back", list) // money out
	refused.WantStatus(t, http.StatusConflict)
	refused.Shows(t, "Only money in can be revenue or not.")
	lan.Post("/transactions/4/revenue", "kind", "gift").WantStatus(t, http.StatusUnprocessableEntity)
	lan.Post("/transactions/4/revenue", "kind", "loan", "back", "//evil.vn").Goes(t, "/")
	for _, bad := range []string{"2025-13", "2999", "x"} {
		lan.Get("/book/revenue?period="+bad).WantStatus(t, http.StatusUnprocessableEntity)
	}
	if n := strings.Count(lan.Get(list).Body, "<li id=\"tx-"); n != 4 {
		t.Errorf("%d rows", n)
	}
	apptest.Must(t, w.Services.Ledger.UnlinkBankAccount(t.Context(), 1, 2, w.Transactions()[0].CreatedAt))
	lan.Get(list).Shows(t, "Revenue") // what came to an account that isn't linked any more
}

func TestRevenueRules(t *testing.T) {
	t.Parallel()
	w, lan := dayWorld(t)
	lan.Post("/book/revenue/rules", "bank_account_id", "2", "kind", "own_money", "text", "").Goes(t, "/book/revenue")
	lan.Post("/book/revenue/rules", "bank_account_id", "", "kind", "loan", "text", "dh 2025-10-13").Goes(t, "/book/revenue")
	page := lan.Get("/book/revenue?period=2025-10")
	page.Shows(t, "All that comes to", "Vietcombank", "Own money", "Contents with", "dh 2025-10-13", "Revenue 1,800,000\u00a0₫ (4)")
	wrong := lan.Post("/book/revenue/rules", "kind", "loan", "text", "dh")
	wrong.WantStatus(t, http.StatusUnprocessableEntity)
	wrong.Shows(t, "must be 3 to 100 characters of a content", `value="dh"`)
	lan.Post("/book/revenue/rules", "bank_account_id", "9", "kind", "loan").WantStatus(t, http.StatusUnprocessableEntity)
	lan.Post("/book/revenue/rules", "bank_account_id", "x", "kind", "loan").WantStatus(t, http.StatusUnprocessableEntity)
	lan.Post("/book/revenue/rules/2/remove").Goes(t, "/book/revenue")
	lan.Post("/book/revenue/rules/2/remove").WantStatus(t, http.StatusNotFound)
	lan.Get("/book/revenue?period=2025-10").Shows(t, "Revenue 1,900,000\u00a0₫ (5)")
	if n := w.Rows("book_rules WHERE until IS NULL"); n != 1 {
		t.Errorf("%d rules", n)
	}
}
