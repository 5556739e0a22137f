package dashboard_test

import (
	"net/http"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
	"baoco/web/webtest"
)

// A shift adds up its bills. Its cashier and an owner close it; an accountant who sees
// all money sees all shifts, and whoever doesn't their own. None is another account's.
func TestShifts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "thu", access.RoleCashier)
	minhs := w.User(1, "minh", access.RoleCashier)
	w.User(1, "hoa", access.RoleAccountant)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	second := w.SecondAccount()
	strangers := w.User(second, "khach", access.RoleOwner)
	_, err := w.Services.Inbound.LinkBankAccount(t.Context(), second,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: "5005", AccountName: "X"}, time.Now())
	apptest.Must(t, err)
	_, err = w.Services.Ledger.CreateCodePattern(t.Context(), second,
		paymentcode.Pattern{Prefix: "DH", Least: 8, Most: 8, Alphabet: paymentcode.Digits}, time.Now())
	apptest.Must(t, err)
	lan, thu, minh, hoa, stranger := w.Browser().SignIn("lan"), w.Browser().SignIn("thu"), w.Browser().SignIn("minh"),
		w.Browser().SignIn("hoa"), w.Browser().SignIn("khach")
	pay := func(id string, bill, amount int64) {
		t.Helper()
		r, err := w.Services.Payments.PaymentRequest(t.Context(), 1, bill)
		apptest.Must(t, err)
		paid(w.World, id, amount, r.Code)
	}
	thu.Submit("/till", "amount", "200000", "bank_account_id", "1").Goes(t, "/till/1")
	pay("1", 1, 200_000)
	thu.Get("/till").Shows(t, "This shift: +200,000\u00a0₫ · 1 bill")
	thu.Submit("/till", "amount", "100000", "bank_account_id", "1").Goes(t, "/till/2")
	pay("2", 2, 40_000)
	thu.Submit("/till", "amount", "50000", "bank_account_id", "1").Goes(t, "/till/3") // nobody pays it
	minh.Submit("/till", "amount", "70000", "bank_account_id", "1").Goes(t, "/till/4")
	stranger.Submit("/till", "amount", "90000", "bank_account_id", "2").Goes(t, "/till/5")
	thu.Get("/till").Shows(t, "This shift: +240,000\u00a0₫ · 3 bills")

	row := `data-label="Bills">3</td><td class="amount" data-label="Paid in full">1</td><td class="amount" data-label="Received so far">240` +
		`,000` + "\u00a0₫"
	own := thu.Get("/shifts")
	own.Shows(t, row, `href="/shifts/1/close"`)
	own.Hides(t, "minh", "khach")
	all := lan.Get("/shifts")
	all.Shows(t, row, "thu", "minh", `href="/shifts/1/close"`, `href="/shifts/2/close"`)
	all.Hides(t, "khach", "/shifts/3/close")
	seen := hoa.Get("/shifts")
	seen.Shows(t, row, "thu", "minh")
	seen.Hides(t, "/close")
	hoa.Get("/till").WantStatus(t, http.StatusForbidden)
	theirs := stranger.Get("/shifts")
	theirs.Shows(t, "khach")
	theirs.Hides(t, "thu", "minh")
	for path, browsers := range map[string][]*webtest.Browser{"/shifts/1/close": {hoa, minh, stranger}, "/shifts/3/close": {lan, thu, hoa}} {
		for _, b := range browsers {
			b.Get(path).WantStatus(t, http.StatusNotFound)
			b.Post(path).WantStatus(t, http.StatusNotFound)
		}
	}
	for user, account := range map[int64]int64{minhs.ID: 1, strangers.ID: second} {
		if _, open, err := w.Services.Payments.OpenShift(t.Context(), account, user); err != nil || !open {
			t.Errorf("the shift of user %d is closed, %v", user, err)
		}
	}

	// An accountant who doesn't see all bank accounts lists their own shifts.
	w.Change(`UPDATE users SET role = 'accountant' WHERE name = 'minh'`)
	minh.Get("/shifts").Shows(t, "thu", `href="/shifts/2/close"`)
	_, err = w.Services.Access.LimitUser(t.Context(), 1, minhs.ID, access.BankAccountLimit{On: true, IDs: []int64{1}})
	apptest.Must(t, err)
	limited := minh.Get("/shifts")
	limited.Shows(t, `href="/shifts/2/close"`)
	limited.Hides(t, "thu")

	lan.Get("/shifts/1/close").Shows(t, "Bills: 3, paid in full: 1.", "Received: 240,000\u00a0₫.")
	lan.Post("/shifts/1/close").Goes(t, "/shifts")
	closed := lan.Get("/shifts")
	closed.Shows(t, row)
	closed.Hides(t, "/shifts/1/close", "when closed:")
	lines, err := w.Services.Ledger.AuditLines(t.Context(), 1, app.AuditFilter{Noun: "shift"}, 10)
	apptest.Must(t, err)
	if len(lines) != 1 || lines[0].Deed != app.DeedShiftClose || lines[0].NounID != 1 || lines[0].Name != "thu" ||
		lines[0].Actor.Name != "lan" {
		t.Errorf("the audit log: %+v", lines)
	}
	// Until the next bill there is no shift.
	empty := thu.Get("/till")
	empty.Shows(t, "This shift: +0\u00a0₫ · 0 bills")
	empty.Hides(t, "/till/1", "/till/3")
	thu.Get("/till/display").Hides(t, "50,000", "<svg")
	pay("3", 3, 50_000) // after closing time
	lan.Get("/shifts").Shows(t, `data-label="Paid in full">2</td>`, "290,000\u00a0₫", "when closed: 240,000\u00a0₫")
}
