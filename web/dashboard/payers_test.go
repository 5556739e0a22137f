package dashboard_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// The page of a payer has what came from everybody of the name, or from one account; the search leads there. A user
// who is limited to some bank accounts sees what came to these.
func TestPayer(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	hoa := w.User(1, "hoa", access.RoleAccountant)
	w.User(1, "thu", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", "700700")
	_, err := w.Services.Access.LimitUser(t.Context(), 1, hoa.ID, access.BankAccountLimit{On: true, IDs: []int64{2}})
	apptest.Must(t, err)
	paid(w.World, "1", 10_000, "NGUYEN VAN A chuyen tien")
	paid(w.World, "2", 20_000, "MBVCB.1.x.CT tu 0881000000606 NGUYEN VAN A toi 0011001234567")
	paid(w.World, "3", 40_000, "cam on NGUYEN VAN A")
	paid(w.World, "4", 80_000, "TRAN THI B chuyen tien")
	const all, one = "/payer?name=NGUYEN+VAN+A", "/payer?account=0881000000606&name=NGUYEN+VAN+A"
	lan := w.Browser().SignIn("lan")
	lan.Get("/transactions/1").Shows(t, `href="`+all+`"`)
	lan.Get("/transactions/2").Shows(t, `href="`+one+`"`)
	lan.Get("/transactions").Shows(t, "<bdi>NGUYEN VAN A · MBVCB.1.x", "<bdi>NGUYEN VAN A chuyen", "<bdi>cam on")
	lan.Get("/transactions/3").Hides(t, "/payer?")
	lan.Get("/transactions?q=nguyen+van+a").Shows(t, `href="`+all+`"`)
	lan.Get("/transactions?q=nguyen").Hides(t, "/payer?")
	page := lan.Get(all)
	page.Shows(t, "30,000\u00a0₫", "2 transactions", `href="`+one+`"`, `href="/transactions/1"`, `href="/transactions/2"`)
	page.Hides(t, "cam on", "TRAN THI B")
	page = lan.Get("/payer?account=0881000000606&name=NGUYEN+VAN+A")
	page.Shows(t, "20,000\u00a0₫", "1 transaction")
	page.Hides(t, `href="/transactions/1"`)
	for _, query := range []string{"", "?name=", "?name=LE+VAN+C", "?name=NGUYEN"} {
		lan.Get("/payer"+query).WantStatus(t, http.StatusNotFound)
	}
	w.Browser().SignIn("hoa").Get(all).WantStatus(t, http.StatusNotFound)
	thu := w.Browser().SignIn("thu")
	thu.Get("/transactions/1").Hides(t, "/payer?")
	thu.Get("/transactions/1").Shows(t, "<bdi>NGUYEN VAN A</bdi>")
}

// A list of several pages is printed whole, with its sums.
func TestPrintedLists(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	for i := range 21 {
		paid(w.World, strconv.Itoa(i), 1000, "LE VAN C chuyen tien")
	}
	lan := w.Browser().SignIn("lan")
	for _, path := range []string{"/transactions?", "/transactions?q=chuyen&", "/payer?name=LE+VAN+C&"} {
		page := lan.Get(strings.TrimRight(path, "?&"))
		page.Shows(t, "Page 1 / 2", "Print all", `href="/transactions/21"`)
		page.Hides(t, `href="/transactions/1"`, "data-print-now")
		page = lan.Get(path + "print=1")
		page.Shows(t, "data-print-now", `href="/transactions/21"`, `href="/transactions/1"`, "+21,000\u00a0₫ money in\u00a0(21)")
		page.Hides(t, "Page 1", "Print all")
	}
}
