package dashboard_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// A bank account from its link to its end, and what had been waiting for it.
func TestBankPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	b.Get("/banks").Shows(t, "Link your first bank account", "Vietcombank")
	w.Names(webtest.Counts{Unassigned: 1}, w.Native(), apptest.Transfer{})
	for _, c := range [][]string{{"bank", "", "account_number", "", "account_name", ""},
		{"bank", "NOPE", "account_number", "19-35?", "account_name", "A"}} {
		a := b.Post("/banks", c...)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, "Bank is not a known bank code", `id="account_number-problem"`, `aria-describedby="bank-problem"`)
	}
	b.Post("/banks", "bank", "ACB", "account_number", "19354957", "account_name", "A", "notify", "nobody").Shows(t,
		"Notification choice must be recent, all or none.")
	b.Post("/banks", "bank", "ACB", "account_number", "1935 4957", "account_name", "NGUYEN VAN A").Goes(t, "/banks/1")
	b.Get("/banks/1").Shows(t, "recorded: 1", "19354957", "NGUYEN VAN A", "1 transaction", "200,000\u00a0₫", "VietQR")
	b.Post("/banks", "bank", "ACB", "account_number", "19354957", "account_name", "B").Shows(t, "is linked already", `value="19354957"`)
	b.Get("/banks").Shows(t, "ACB", "19354957", "+200,000\u00a0₫")

	// The form says what it wants: sent twice it doesn't switch back.
	for range 2 {
		b.Post("/banks/1/toggle", "active", "0").Goes(t, "/banks/1")
		if got := bankAccountsOf(w)[0].Status; got != app.BankAccountInactive {
			t.Errorf("switched off: %s", got)
		}
	}
	b.Get("/banks").Shows(t, "Off: transactions are recorded")
	b.Post("/banks/1/toggle", "active", "1").Goes(t, "/banks/1")
	b.Post("/banks/1/unlink", "word", "1").WantStatus(t, http.StatusUnprocessableEntity)
	if len(bankAccountsOf(w)) != 1 {
		t.Fatal("unlinked by a wrong number")
	}
	b.Get("/banks/1/unlink").Shows(t, "Type the account number")
	b.Post("/banks/1/unlink", "word", "1935 4957").Goes(t, "/banks")
	b.Get("/banks/1").WantStatus(t, http.StatusNotFound)
	w.WantTransactions(1)

	// A bank with two codes is one bank.
	b.Post("/banks", "bank", "LIENVIETPOST_BANK", "account_number", "0700", "account_name", "A").Goes(t, "/banks/2")
	twice := b.Post("/banks", "bank", "LPB", "account_number", "0700", "account_name", "A")
	twice.WantStatus(t, http.StatusConflict)
	twice.Shows(t, "LIENVIETPOST_BANK 0700 is linked already")
}

func TestBankPlanLimit(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	one := 1
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{MaxBankAccounts: &one})
	apptest.Must(t, err)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	b.Get("/banks").Shows(t, "1/1", "the limit is reached")
	b.Get("/banks").Hides(t, `href="/banks/new"`)
	a := b.Post("/banks", "bank", "VCB", "account_number", "123", "account_name", "A")
	a.Shows(t, app.ErrPlanLimit(1).(*app.Error).Text.EN, `value="123"`)
	if len(bankAccountsOf(w)) != 1 {
		t.Error("beyond the plan")
	}
}

func TestBankQR(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("VCB", "0011001932418")
	b := w.Browser().SignIn("lan")
	for _, c := range []struct {
		query  string
		status int
	}{
		{"", 200}, {"amount=1.549.000&content=" + "%C4%90H10293", 200}, {"amount=1549000%C4%91", 200}, {"amount=1.5", 422},
		{"amount=1.549.00", 422}, {"amount=0", 422}, {"amount=x", 422}, {"amount=-1", 422}, {"amount=99999999999999", 422},
		{"content=" + strings.Repeat("a", 96), 422}, {"content=%00", 422}, {"content=%22%3E%3Cscript%3Ealert(1)", 200},
	} {
		page, picture := openPage(b, "/banks/1?"+c.query), b.Get("/banks/1/qr.png?"+c.query)
		page.WantStatus(t, c.status)
		picture.WantStatus(t, c.status)
		if strings.Contains(page.Body, "<script>alert") {
			t.Errorf("%s: a script", c.query)
		}
		if strings.Contains(page.Body, "/banks/1/qr.png") != (c.status == 200) {
			t.Errorf("%s: a code on the page or none", c.query)
		}
		if c.status == 200 {
			if _, err := png.Decode(bytes.NewReader([]byte(picture.Body))); err != nil || picture.Header.Get("Content-Type") != "image/png" {
				t.Errorf("%s: %v", c.query, err)
			}
		}
	}
	b.Get("/banks/1?content="+strings.Repeat("a", 26)).Shows(t, "cut off content")
}

// What an ended plan refuses is said on the page where somebody tried it.
func TestRefusedTurningOn(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", apptest.SomeAccount)
	hook, _ := w.Webhook("https://shop.example.vn/baoco", delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	paths := []string{fmt.Sprintf("/banks/%d", bank.ID), fmt.Sprintf("/webhooks/%d", hook.ID)}
	for _, path := range paths {
		b.Submit(path+"/toggle", "active", "0").Goes(t, path)
	}
	ended := time.Now().AddDate(0, 0, -1)
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{ExpiresAt: &ended})
	apptest.Must(t, err)
	for i, path := range paths {
		a := b.Submit(path+"/toggle", "active", "1")
		a.WantStatus(t, http.StatusForbidden)
		a.Shows(t, "The plan of this account has expired", path+"/toggle", []string{apptest.SomeAccount, "https://shop.example.vn/baoco"}[i])
	}
}

var bankActions = []action{
	{"GET", "/banks"}, {"POST", "/banks"}, {"GET", "/banks/new"}, {"GET", "/banks/%d"}, {"GET", "/banks/%d/qr.png"},
	{"POST", "/banks/%d/toggle"},
	{"GET", "/banks/%d/unlink"}, {"POST", "/banks/%d/unlink"},
}

func TestBankTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Link("ACB", apptest.SomeAccount)
	actions(bankActions).wantOwnersOnly(w, b.ID, apptest.SomeAccount, func() string { return fmt.Sprint(bankAccountsOf(w)) },
		"bank", "VCB", "account_number", apptest.SomeAccount, "account_name", "EVE", "active", "0")
}

// A balance is shown as the provider told it with the newest transaction that it
// told one with, and says so where there is a newer one.
func TestBalance(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	source := w.Sepay()
	b := w.Browser().SignIn("lan")
	now := time.Now()
	record := func(elements ...inbound.Incoming) {
		t.Helper()
		for i := range elements {
			e := &elements[i]
			e.Gateway, e.AccountNumber, e.Type, e.Amount = "ACB", "19354957", app.In, 200_000
		}
		_, err := w.Services.Inbound.RecordTransactions(t.Context(),
			inbound.Call{AccountID: 1, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: now, Elements: elements})
		apptest.Must(t, err)
	}
	tell := func(id string, ago time.Duration, balance int64) {
		t.Helper()
		record(inbound.Incoming{EventID: id, Time: now.Add(-ago), Balance: balance})
	}
	tell("1", time.Hour, 0)
	b.Get("/banks").Hides(t, "Balance")
	tell("2", 10*time.Minute, 12_345_000)
	tell("3", 30*time.Minute, 999) // it is older
	for _, page := range []string{"/banks", "/banks/1"} {
		b.Get(page).Shows(t, "12,345,000\u00a0₫", "according to SePay", ", 10 minutes ago")
	}
	tell("4", 5*time.Minute, 0)
	b.Get("/banks").Shows(t, "12,345,000\u00a0₫", "before newer transactions")
	tell("5", 2*time.Minute, -70_000)
	b.Get("/banks").Shows(t, "−70,000\u00a0₫", ", 2 minutes ago")
	tell("5", 2*time.Minute, 1) // it is a duplicate
	b.Get("/banks").Shows(t, "−70,000\u00a0₫")
	// Of several in one second the last one counts, in one call as in two.
	at := now.Add(-time.Minute)
	record(inbound.Incoming{EventID: "6", Time: at, Balance: 111_000}, inbound.Incoming{EventID: "7", Time: at, Balance: 222_000})
	b.Get("/banks").Shows(t, "222,000\u00a0₫")
	tell("8", time.Minute, 333_000)
	record(inbound.Incoming{EventID: "9", DateFlaw: app.DateImpossible, Balance: 999}) // of no known time
	b.Get("/banks").Shows(t, "333,000\u00a0₫", "before newer transactions")
}

// The owner says to which numbers customers pay; codes, requests, webhooks and exports have them.
func TestReceivingForm(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("BIDV", "1234567890")
	w.CodePattern("DH")
	b := w.Browser().SignIn("lan")
	header := func() string {
		t.Helper()
		return strings.SplitN(b.Get("/transactions/export?format=csv").Body, "\r\n", 2)[0]
	}
	plain := header()
	if page := b.Get("/webhooks/new").Body + b.Get("/payments/new").Body; strings.Contains(page, "receiving_number") {
		t.Error("a number can be chosen although there is none")
	}
	b.Post("/banks/1/receiving", "receiving_numbers", "!= Quầy 1", "content_prefix", "SE-VQR").Shows(t, "!= Quầy 1",
		"Receiving numbers must be at most 100 numbers", "Contents begin with must be at most 12 letters A–Z and digits")
	b.Post("/banks/1/receiving", "receiving_numbers", "1234567890").Shows(t,
		"The bank account BIDV 1234567890 is linked already.")
	b.Post("/banks/1/receiving", "receiving_numbers", " 96247 CISI1=Quầy 1\r\n\r\n96247CISI2", "content_prefix", "sevqr").Goes(t, "/banks/1")
	b.Get("/banks/1").Shows(t, "96247CISI1 = Quầy 1\n96247CISI2</textarea>", `value="SEVQR"`,
		`<option value="96247CISI2">96247CISI2</option>`)
	b.Get("/banks/1?receiving_number=96247CISI2").Shows(t, `<option value="96247CISI2" selected>`,
		"/banks/1/qr.png?receiving_number=96247CISI2")
	b.Get("/banks/1?receiving_number=5").Shows(t, "Receiving number names nothing in this account")
	for _, page := range []string{"/webhooks/new", "/payments/new"} {
		b.Get(page).Shows(t, `<option value="96247CISI1">96247CISI1 = Quầy 1</option>`)
	}
	b.Submit("/payments", "amount", "200000", "bank_account_id", "1", "expires_in", "0", "receiving_number", "96247CISI2")
	b.Submit("/webhooks", "name", "till", "webhook_url", "https://shop.vn/till", "type", "IN", "receiving_number", "96247CISI1")
	r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	if hook := webhooksOf(w)[0]; r.AccountNumber() != "96247CISI2" || hook.ReceivingNumber != "96247CISI1" {
		t.Errorf("the request is paid to %s, the webhook hears of %s", r.AccountNumber(), hook.ReceivingNumber)
	}
	b.Get("/webhooks/1").Shows(t, "receiving number 96247CISI1")
	w.Browser().Get(r.URLPath()).Shows(t, "96247CISI2", "SEVQR "+r.Code)
	b.Get("/payments/1").Shows(t, "<code>96247CISI2</code>")
	if got := header(); got != plain+",Receiving number" {
		t.Errorf("the columns are %s, and were %s", got, plain)
	}
	w.Sends(w.Sepay(), `{"id":1,"gateway":"BIDV","transactionDate":"2026-11-20 10:00:00","accountNumber":"1234567890",`+
		`"subAccount":"96247CISI1","content":"x","transferType":"in","transferAmount":1000,"referenceCode":"FT1"}`)
	b.Get("/transactions/1").Shows(t, "Receiving number", "<code>96247CISI1</code>")
	if file := b.Get("/transactions/export?format=csv").Body; !strings.Contains(file, ",96247CISI1\r\n") {
		t.Errorf("the file has %s", file)
	}
	b.Get("/transactions/export?format=xlsx").WantStatus(t, http.StatusOK)

	// What is limited to a number keeps it from being removed, and says so where it is gone with
	// its bank account.
	thu := w.User(1, "thu", access.RoleCashier)
	user := "/settings/users/" + itoa(thu.ID)
	b.Get(user).Shows(t, `<option value="96247CISI1">96247CISI1 = Quầy 1</option>`)
	b.Post(user+"/limit", "limit", "some", "bank_account_id", "1", "receiving_number", "5").Shows(t,
		"Receiving number names nothing in this account", `value="some" checked`)
	b.Post(user+"/limit", "limit", "some", "bank_account_id", "1", "receiving_number", "96247CISI2").Goes(t, user)
	b.Get(user).Shows(t, "sees only these bank accounts now: BIDV 1234567890; receiving number 96247CISI2.",
		`<option value="96247CISI2" selected>`)
	b.Submit("/settings/counters", "name", "Quầy 1", "receiving_number", "5").Shows(t, "Receiving number names nothing in this account")
	b.Submit("/settings/counters", "name", "Quầy 1", "receiving_number", "96247CISI1")
	b.Get("/settings").Shows(t, "BIDV 1234567890; receiving number 96247CISI1", "Only BIDV 1234567890; receiving number 96247CISI2")
	b.Post("/banks/1/receiving", "receiving_numbers", "96247CISI3").Shows(t,
		"(96247CISI1, 96247CISI2) is still used: webhooks 1, counter screens 1 and users 1 are limited to it.", "96247CISI3</textarea>")
	const nothing = "This webhook gets nothing"
	b.Get("/webhooks/1").Hides(t, nothing, "no longer entered")
	b.Get("/").Hides(t, "gets nothing")
	w.Unlinks(1)
	b.Get("/webhooks/1").Shows(t, nothing, "receiving number 96247CISI1 (no longer entered)")
	b.Get("/").Shows(t, "gets nothing: what it is limited to")
	b.Get("/settings").Shows(t, "receiving number 96247CISI1 (no longer entered)")
	w.Link("BIDV", "1234567890") // without its numbers
	b.Get("/webhooks/1").Shows(t, nothing)
	b.Post("/banks/1/receiving", "receiving_numbers", "96247CISI1 = Quầy 1").Goes(t, "/banks/1")
	b.Get("/webhooks/1").Hides(t, nothing)
}

// A nickname and a colour stand wherever the bank account is named.
func TestNickname(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	w.Record("1")
	b := w.Browser().SignIn("lan")
	b.Post("/banks/1/look", "nickname", "  Quầy   chính ", "colour", "teal").Goes(t, "/banks/1")
	for _, page := range []string{"/", "/transactions", "/transactions/1", "/banks", "/banks/1", "/counter"} {
		b.Get(page).Shows(t, `class="chip teal"`, "<bdi>Quầy chính</bdi>")
	}
	b.Get("/webhooks/new").Shows(t, "Quầy chính")
	b.Post("/banks/1/look", "nickname", strings.Repeat("ầ", 31), "colour", "black").Shows(t,
		"Nickname must be at most 30 characters without control characters.", "Colour must be one of")
	b.Post("/banks/2/look", "nickname", "x").WantStatus(t, http.StatusNotFound)
	for _, control := range []string{"\x00", "\x07", "\u202e"} {
		b.Post("/banks/1/look", "nickname", "x"+control+"y", "colour", "").Shows(t, "without control characters")
	}
	for _, unseen := range []string{"", "\u200b", "\u3164"} {
		b.Post("/banks/1/look", "nickname", "Quầy chính", "colour", "").Goes(t, "/banks/1")
		b.Post("/banks/1/look", "nickname", unseen, "colour", "").Goes(t, "/banks/1")
		b.Get("/transactions").Hides(t, "Quầy chính", "<bdi>"+unseen+"</bdi>")
	}
}

// On an ended plan a bank account can't be turned on again: its page says so before
// it is turned off.
func TestBankOffOnEndedPlan(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Change(`UPDATE bank_accounts SET status = 'active'`)
	b := w.Browser().SignIn("lan")
	const warning = "Your plan has ended: once it is off"
	b.Get("/banks/1").Hides(t, warning)
	ended := time.Now().Add(-time.Hour)
	_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, app.AccountUpdate{ExpiresAt: &ended})
	apptest.Must(t, err)
	b.Get("/banks/1").Shows(t, warning)
}

// The holder's name can be corrected: codes and the payer's page have the new one. In every field an amount may be
// short, as in the search.
func TestHolderAndShortAmounts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	lan := w.Browser().SignIn("lan")
	lan.Post("/banks/1/holder", "account_name", "TRAN THI BICH").Goes(t, "/banks/1")
	lan.Get("/banks/1").Shows(t, "<bdi>TRAN THI BICH</bdi>")
	lan.Post("/banks/1/holder", "account_name", " ").WantStatus(t, http.StatusUnprocessableEntity)
	lan.Submit("/payments", "amount", "1tr5", "bank_account_id", "1", "expires_in", "15").Goes(t, "/payments/1")
	r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, 1)
	apptest.Must(t, err)
	if r.Amount != 1_500_000 || r.BankAccount.AccountName != "TRAN THI BICH" {
		t.Errorf("%+v", r)
	}
	lan.Get("/banks/1?amount=200k").Shows(t, "qr.png?amount=200k")
	lan.Post("/settings/payments", "payment_tolerance", "1k", "small_amount", "20k").Goes(t, "/settings/codes")
	a, err := w.Services.Ledger.Account(t.Context(), 1)
	if err != nil || a.PaymentTolerance != 1000 || a.SmallAmount != 20_000 {
		t.Errorf("%+v, %v", a, err)
	}
	lan.Submit("/till", "amount", "99k", "bank_account_id", "1").Goes(t, "/till/2")
	for _, amount := range []string{"", "0", "k", "99999999999999"} {
		lan.Submit("/payments", "amount", amount, "bank_account_id", "1", "expires_in", "15").WantStatus(t, http.StatusUnprocessableEntity)
	}
}
