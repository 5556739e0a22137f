package dashboard_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/app/paymentcode"
	"baoco/web/webtest"
)

var matchForm = regexp.MustCompile(`action="(/payments/\d+/match)"><input type="hidden" name="transaction_id" value="(\d+)">`)

// An owner asks for money, sees what has come for it and what is still due, matches what
// came without its code and undoes it.
func TestPayments(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", "700700")
	off := w.Link("TCB", "880088")
	_, err := w.Services.Ledger.ToggleBankAccount(t.Context(), 1, off.ID, time.Now())
	apptest.Must(t, err)
	lan := w.Browser().SignIn("lan")
	lan.Get("/payments").Shows(t, "Know which order the money is for")
	w.CodePattern("DH")
	lan.Get("/payments").Shows(t, "No payment requests yet.")
	yes := true
	_, err = w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{DistinctAmounts: &yes})
	apptest.Must(t, err)
	form := lan.Get("/payments/new")
	form.Shows(t, apptest.SomeAccount, "700700", `name="distinct_amount"`)
	form.Hides(t, "880088")

	full := []string{"amount", "200.000", "reference", "HD-1042", "bank_account_id", "2", "expires_in", "60", "code", "dh-1234 5678",
		"return_url", "https://shop.vn/don/1042", "distinct_amount", "1"}
	lan.Submit("/payments", full...).Goes(t, "/payments/1")
	r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	if r.Amount != 200_000 || r.Reference != "HD-1042" || r.BankAccount.ID != 2 || r.ExpiresAt.Sub(r.CreatedAt) != time.Hour ||
		r.Code != "DH12345678" || r.ReturnURL != "https://shop.vn/don/1042" || r.TransferAmount <= 200_000 || r.ShiftID != 0 ||
		r.CreatedBy != "lan" {
		t.Errorf("the request is %+v", r)
	}
	distinct := app.GroupDigits(r.TransferAmount, app.English) + "\u00a0₫"
	lan.Get("/payments/1").Shows(t, "The payment request was created.", "200,000\u00a0₫ · <code>DH12345678</code>", distinct, "HD-1042",
		"700700", "lan", r.URLPath()+"/qr.png", "No money has come for it yet.")
	for _, c := range []struct {
		status     int
		name, text string
		shows      string
	}{
		{422, "amount", "2.00", `id="amount-problem"`},
		{422, "expires_in", "7", `id="expires_in-problem"`},
		{422, "bank_account_id", "", `id="bank_account_id-problem"`},
		{422, "return_url", "ftp://shop.vn", `id="return_url-problem"`},
		{422, "code", "XY12345678", `id="code-problem"`},
		{409, "code", "DH12345678", "Another payment request has this code, or had it in the last 30 days."},
		{409, "bank_account_id", "3", "This bank account is switched off"},
	} {
		values := append([]string{}, full...)
		for i := 0; i < len(values); i += 2 {
			switch values[i] {
			case c.name:
				values[i+1] = c.text
			case "code":
				values[i+1] = "DH87654321"
			}
		}
		a := lan.Submit("/payments", values...)
		a.WantStatus(t, c.status)
		a.Shows(t, c.shows, `value="HD-1042"`)
	}
	lan.Submit("/payments", "amount", "50000", "reference", "HD-1043", "bank_account_id", "1", "expires_in", "0").Goes(t, "/payments/2")
	lan.Submit("/payments", "amount", "70000", "reference", "HD-1044", "bank_account_id", "1", "expires_in", "15").Goes(t, "/payments/3")
	code := func(id int64) string {
		t.Helper()
		r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, id)
		apptest.Must(t, err)
		return r.Code
	}

	paid(w.World, "1", 20_000, code(2))
	list := lan.Get("/payments")
	list.Shows(t, "3 requests · asked for 320,000\u00a0₫ · received 20,000\u00a0₫ · still waiting 300,000\u00a0₫",
		`data-label="Amount">50,000`+"\u00a0₫"+`</td><td class="amount" data-label="Received so far">20,000`+"\u00a0₫")
	lan.Get("/payments/2").Shows(t, "<strong>20,000\u00a0₫</strong>", "still due: 30,000\u00a0₫", "+20,000\u00a0₫",
		"Payment code", "/qr.png?20000")
	for query, row := range map[string][2]string{
		"status=underpaid": {`href="/payments/2"`, `href="/payments/1"`}, "status=open": {`href="/payments/1"`, `href="/payments/2"`},
		"reference=HD-1042":       {`href="/payments/1"`, `href="/payments/2"`},
		"payment_code=dh12345678": {`href="/payments/1"`, `href="/payments/3"`},
		"status=paid":             {"No requests match these filters.", `class="row"`},
	} {
		a := lan.Get("/payments?" + query)
		a.Shows(t, row[0])
		a.Hides(t, row[1])
	}
	for _, query := range []string{"status=done", "payment_code=x"} {
		lan.Get("/payments?"+query).WantStatus(t, http.StatusUnprocessableEntity)
	}

	w.Change(`UPDATE payment_requests SET expires_at = expires_at - 3600 WHERE id = 3`)
	lan.Get("/payments/3").Hides(t, "/qr.png", "class=\"pill pending\"")
	paid(w.World, "2", 70_000, code(3))
	lan.Get("/payments/3").Shows(t, "<strong>70,000\u00a0₫</strong>", `<span class="pill pending">late</span>`)
	lan.Get("/payments?status=paid_late").Shows(t, `href="/payments/3"`)
	lan.Get("/payments/3").Hides(t, "too much")
	paid(w.World, "2b", 4_000, code(3))
	for _, path := range []string{"/payments/3", "/payments?status=paid_late", "/transactions/3"} {
		lan.Get(path).Shows(t, "Paid too late", "too much: 4,000\u00a0₫")
	}

	// The rest comes without a code.
	paid(w.World, "3", 30_000, "CHUYEN KHOAN")
	lan.Get("/payments").Shows(t, "Money without a request (1)")
	unmatched := lan.Get("/payments/unmatched")
	unmatched.Shows(t, "+30,000\u00a0₫", "CHUYEN KHOAN", "Match with "+code(2), "HD-1043", "30,000\u00a0₫")
	forms := matchForm.FindAllStringSubmatch(unmatched.Body, -1)
	if len(forms) != 1 || forms[0][1] != "/payments/2/match" {
		t.Fatalf("the forms are %v\n%s", forms, unmatched.Body)
	}
	transaction := forms[0][2]
	for _, id := range []string{"", "x", "4711"} {
		lan.Post("/payments/2/match", "transaction_id", id).WantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.Post("/payments/2/match", "transaction_id", transaction).Goes(t, "/payments/2")
	matched := lan.Get("/payments/2")
	matched.Shows(t, "Transaction matched.", "<strong>50,000\u00a0₫</strong>", "+30,000\u00a0₫", "By hand", "Paid in full at",
		`<span class="pill active">Paid in full</span>`)
	matched.Hides(t, "/qr.png", "still due", "/payments/2/cancel")
	lan.Post("/payments/1/match", "transaction_id", transaction).WantStatus(t, http.StatusConflict)
	lan.Get("/payments/unmatched").Shows(t, "There is none.")
	lan.Post("/payments/2/unmatch", "transaction_id", transaction).Goes(t, "/payments/2")
	lan.Get("/payments/2").Shows(t, "Match undone.", "still due: 30,000\u00a0₫", "/qr.png?20000")
	lan.Post("/payments/2/unmatch", "transaction_id", transaction).WantStatus(t, http.StatusConflict)

	const warning = "nobody can pay this request now"
	lan.Get("/payments/1").Hides(t, warning)
	_, err = w.Services.Ledger.ToggleBankAccount(t.Context(), 1, 2, time.Now())
	apptest.Must(t, err)
	suspended := lan.Get("/payments/1")
	suspended.Shows(t, warning)
	suspended.Hides(t, "/qr.png")
	lan.Get("/payments/1/cancel").Shows(t, "Cancel the payment request DH12345678?")
	lan.Post("/payments/1/cancel").Goes(t, "/payments/1")
	lan.Get("/payments/1").Hides(t, warning)
	lan.Get("/payments").Shows(t, "3 requests · asked for 120,000\u00a0₫ · received 94,000\u00a0₫ · still waiting 30,000\u00a0₫")
	w.Change(`UPDATE payment_requests SET expires_at = created_at - 1 WHERE id = 2`)
	lan.Get("/payments").Shows(t, "received 94,000\u00a0₫ · still waiting 0\u00a0₫")
}

// The number in the menu is the money that has a likely request. What belongs to no order is put aside with one
// tap, and taken back with another. What is like no request is folded, and waits for nobody.
func TestPutAside(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	lan := w.Browser().SignIn("lan")
	w.PaymentRequest(payment.RequestCreate{Amount: 30_000})
	paid(w.World, "1", 30_000, "like one")
	paid(w.World, "2", 30_000, "like one too")
	paid(w.World, "3", 7_000_000, "like none")
	const path = "/payments/unmatched"
	lan.Get("/payments").Shows(t, "Money without a request (2)")
	lan.Get(path).Shows(t, "Money without a request (2)", "May be for a request (2)", "Without a likely request (1)", "like none")
	lan.Get(path).Hides(t, "Put aside: belongs to no order")
	lan.Post("/transactions/chosen", "row", "1", "aside", "1", "back", path).Goes(t, path)
	lan.Get(path).Shows(t, "Money without a request (1)", "May be for a request (1)", "Put aside: belongs to no order (1)")
	lan.Post("/transactions/chosen", "row", "1", "aside", "0", "back", path).Goes(t, path)
	lan.Get(path).Shows(t, "May be for a request (2)")
	lan.Post("/transactions/chosen", "row", "1", "row", "2", "row", "3", "aside", "1", "back", path).Goes(t, path)
	lan.Get(path).Shows(t, "Put aside: 3.")
	none := lan.Get(path)
	none.Shows(t, "There is none.", "belongs to no order (3)")
	none.Hides(t, "Money without a request (", "Without a likely request")
	lan.Post("/payments/1/match", "transaction_id", "2").Goes(t, "/payments/1") // also what was put aside
	lan.Post("/transactions/chosen", "row", "2", "aside", "0", "back", path).Goes(t, path)
	lan.Get(path).Shows(t, "Taken back: 0.", "Not changed: 1. This transaction is not unmatched money", "belongs to no order (2)")
}

// What can't be read is no amount: the settings stay as they were.
func TestPaymentSettingsRefused(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.CodePattern("DH")
	lan := w.Browser().SignIn("lan")
	before, err := w.Services.Ledger.Account(t.Context(), 1)
	apptest.Must(t, err)
	for _, c := range [][2]string{{"0", "abc"}, {"0", ""}, {"0", "-1"}, {"abc", "0"}, {"", "0"}, {"100001", "0"}} {
		lan.Post("/settings/payments", "payment_tolerance", c[0], "small_amount", c[1]).WantStatus(t, http.StatusUnprocessableEntity)
	}
	if after, err := w.Services.Ledger.Account(t.Context(), 1); err != nil || after != before {
		t.Errorf("%+v, %v", after, err)
	}
}

// Nothing of another account's payment requests is listed, reached or changed.
func TestPaymentTenancy(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	second := w.SecondAccount()
	w.User(1, "lan", access.RoleOwner)
	theirs := w.User(second, "khach", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	_, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "X"}, time.Now())
	apptest.Must(t, err)
	_, err = w.Services.Ledger.CreateCodePattern(t.Context(), second,
		paymentcode.Pattern{Prefix: "DH", Least: 8, Most: 8, Alphabet: paymentcode.Digits}, time.Now())
	apptest.Must(t, err)
	for _, in := range []payment.RequestCreate{{Amount: 7_654_321, Reference: "ZULU"},
		{Amount: 6_100_001, Reference: "ZULU", CashierID: theirs.ID}} {
		_, err := w.Services.Payments.CreatePaymentRequest(t.Context(), second, in, app.IdempotencyKey{}, time.Now())
		apptest.Must(t, err)
	}
	w.Pay(second, "z", "ZULU money")
	mine := w.PaymentRequest(payment.RequestCreate{Amount: 5000, Reference: "ALPHA"})
	lan := w.Browser().SignIn("lan")
	lan.Get("/payments").Shows(t, "1 request · asked for 5,000\u00a0₫ · received 0\u00a0₫ · still waiting 5,000\u00a0₫", "ALPHA")
	for _, path := range []string{"/payments", "/payments?reference=ZULU", "/payments/unmatched", "/till", "/till/display", "/shifts"} {
		lan.Get(path).Hides(t, `href="/payments/1"`, "7,654,321", "6,100,001", "ZULU money", "khach")
	}
	for _, path := range []string{"/payments/1", "/payments/1/cancel", "/till/2", "/till/2/receipt", "/live/till?since=0&bill=2",
		"/shifts/1"} {
		lan.Get(path).WantStatus(t, http.StatusNotFound)
	}
	for _, path := range []string{"/payments/1/cancel", "/payments/1/match", "/payments/1/unmatch", "/till/2/cancel", "/shifts/1/close"} {
		lan.Post(path, "transaction_id", "1").WantStatus(t, http.StatusNotFound)
	}
	lan.Post("/payments/"+itoa(mine.ID)+"/match", "transaction_id", "1").WantStatus(t, http.StatusUnprocessableEntity)
	list, err := w.Services.Payments.PaymentRequests(t.Context(), second,
		payment.Filter{Status: app.PaymentOpen, Page: app.Page{Number: 1, Size: 10}}, time.Now())
	if err != nil || list.Total != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A user who is limited to some bank accounts sees of a request that they see only the
// transfers to these.
func TestLimitedTransfers(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	hoa := w.User(1, "hoa", access.RoleAccountant)
	w.Link("ACB", apptest.SomeAccount)
	w.Link("VCB", "700700")
	w.CodePattern("DH")
	_, err := w.Services.Access.LimitUser(t.Context(), 1, hoa.ID, access.BankAccountLimit{On: true, IDs: []int64{1}})
	apptest.Must(t, err)
	r := w.PaymentRequest(payment.RequestCreate{Amount: 200_000, BankAccountID: 1})
	native := w.Native()
	w.Came(0, native, apptest.Transfer{ID: "a", Number: "a", Content: "ALPHA " + r.Code, Amount: 30_003, Date: today(w)})
	w.Came(0, native, apptest.Transfer{ID: "z", Number: "z", Gateway: "VCB", Account: "700700", Content: "ZULU " + r.Code, Amount: 50_005,
		Date: today(w)})
	w.Browser().SignIn("lan").Get("/payments/1").Shows(t, "ALPHA", "ZULU", "+50,005")
	page := w.Browser().SignIn("hoa").Get("/payments/1")
	page.Shows(t, "ALPHA", "+30,003", "30,003\u00a0₫")
	page.Hides(t, "ZULU", "+50,005", "&#43;50,005", "80,008", "119,992")
	elsewhere := w.PaymentRequest(payment.RequestCreate{Amount: 70_007, BankAccountID: 2})
	w.Came(0, native, apptest.Transfer{ID: "b", Number: "b", Content: "BRAVO " + elsewhere.Code, Amount: 60_006, Date: today(w)})
	hoaIs := w.Browser().SignIn("hoa")
	for _, path := range []string{"/payments", "/payments?status=underpaid", "/transactions", "/transactions/1", "/transactions/3", "/counter",
		exportPath + "?format=csv", "/day"} {
		a := hoaIs.Get(path)
		a.WantStatus(t, http.StatusOK)
		a.Hides(t, "80,008", "80008", "119,992", "119992", "50,005", "50005", "70,007", "70007", "10,001", "10001")
	}
	hoaIs.Get("/payments").Shows(t, "received 30,003\u00a0₫")
	hoaIs.Get("/transactions/3").Shows(t, "BRAVO")

	// Of one that is paid by what they see they don't hear that more came elsewhere.
	full := w.PaymentRequest(payment.RequestCreate{Amount: 40_000, BankAccountID: 1})
	w.Came(0, native, apptest.Transfer{ID: "c", Number: "c", Content: "CHARLIE " + full.Code, Amount: 40_000, Date: today(w)})
	w.Came(0, native, apptest.Transfer{ID: "y", Number: "y", Gateway: "VCB", Account: "700700", Content: "YANKEE " + full.Code,
		Amount: 5_005, Date: today(w)})
	w.Browser().SignIn("lan").Get("/transactions/4").Shows(t, "Too much", "5,005\u00a0₫")
	for _, path := range []string{"/transactions/4", "/transactions", exportPath + "?format=csv"} {
		a := hoaIs.Get(path)
		a.Shows(t, "CHARLIE")
		a.Hides(t, "Too much", "45,005", "45005", "5,005")
	}
}
