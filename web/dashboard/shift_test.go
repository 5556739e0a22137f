package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/paymentcode"
	"baoco/web/webtest"
)

// code is the payment code of a bill.
func code(w *webtest.World, bill int64) string {
	w.T.Helper()
	r, err := w.Services.Payments.PaymentRequest(w.T.Context(), 1, bill)
	apptest.Must(w.T, err)
	return r.Code
}

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
	own.Shows(t, row, `href="/shifts/1"`)
	own.Hides(t, "minh", "khach")
	all := lan.Get("/shifts")
	all.Shows(t, row, "thu", "minh", `href="/shifts/1"`, `href="/shifts/2"`)
	all.Hides(t, "khach", "/shifts/3")
	seen := hoa.Get("/shifts")
	seen.Shows(t, row, "thu", "minh")
	hoa.Get("/shifts/1").Hides(t, "/close")
	hoa.Get("/till").WantStatus(t, http.StatusForbidden)
	theirs := stranger.Get("/shifts")
	theirs.Shows(t, "khach")
	theirs.Hides(t, "thu", "minh")
	for path, browsers := range map[string][]*webtest.Browser{"/shifts/1": {hoa, minh, stranger}, "/shifts/3": {lan, thu, hoa}} {
		for _, b := range browsers {
			if b != hoa || path != "/shifts/1" {
				b.Get(path).WantStatus(t, http.StatusNotFound)
			}
			b.Post(path+"/close").WantStatus(t, http.StatusNotFound)
		}
	}
	for user, account := range map[int64]int64{minhs.ID: 1, strangers.ID: second} {
		if _, open, err := w.Services.Payments.OpenShift(t.Context(), account, user); err != nil || !open {
			t.Errorf("the shift of user %d is closed, %v", user, err)
		}
	}

	// An accountant who doesn't see all bank accounts lists their own shifts.
	w.Change(`UPDATE users SET role = 'accountant' WHERE name = 'minh'`)
	minh.Get("/shifts").Shows(t, "thu", `href="/shifts/2"`)
	_, err = w.Services.Access.LimitUser(t.Context(), 1, minhs.ID, access.BankAccountLimit{On: true, IDs: []int64{1}})
	apptest.Must(t, err)
	limited := minh.Get("/shifts")
	limited.Shows(t, `href="/shifts/2"`)
	limited.Hides(t, "thu")

	// Open bills are named first; money of the shift's time without a bill is told, and what lacks.
	paid(w.World, "unbilled", 12_345, "tien an trua")
	paid(w.World, "over", 20_000, code(w, 1))
	asked := lan.Get("/shifts/1")
	asked.Shows(t, "Bills that still wait for money (2)", "50,000\u00a0₫ · <code>"+code(w, 3), "Close anyway", "tien an trua",
		"<dt>Too much</dt><dd>20,000\u00a0₫", "<dt>Not enough</dt><dd>60,000\u00a0₫", "Money without a bill (1)</dt><dd>12,345\u00a0₫",
		"<dt>Paid in full</dt><dd>0<")
	for _, form := range [][]string{{"cash", "1.5"}, {"cash", "-1"}, {"cash", "99999999999999"}, {"note", strings.Repeat("x", 501)}} {
		lan.Post("/shifts/1/close", form...).WantStatus(t, http.StatusUnprocessableEntity)
	}
	lan.Post("/shifts/1/close", "cash", "1.5").Shows(t, "Cash that was counted must be a whole number of VND from 0 to")
	lan.Post("/shifts/1/close", "cash", "1.234.000", "note", "đủ tờ 500").Goes(t, "/shifts/1")
	closed := lan.Get("/shifts")
	closed.Shows(t, "260,000\u00a0₫")
	closed.Hides(t, "/shifts/1/close", "when closed:")
	lines, err := w.Services.Ledger.AuditLines(t.Context(), 1, app.AuditFilter{Noun: "shift"}, 10)
	apptest.Must(t, err)
	if len(lines) != 1 || lines[0].Deed != app.DeedShiftClose || lines[0].NounID != 1 || lines[0].Name != "thu" ||
		lines[0].Actor.Name != "lan" {
		t.Errorf("the audit log: %+v", lines)
	}
	if said := fmt.Sprint(lines[0].Changes); !strings.Contains(said, "{cash  1234000} {note  đủ tờ 500}") ||
		!strings.Contains(said, "{received  260000} {over 0 20000} {under 0 60000} {unbilled 0 12345}") {
		t.Errorf("the audit log has %s", said)
	}
	// Until the next bill there is no shift.
	empty := thu.Get("/till")
	empty.Shows(t, "This shift: +0\u00a0₫ · 0 bills")
	empty.Hides(t, "/till/1", "/till/3")
	thu.Get("/till/display").Hides(t, "50,000", "<svg")
	pay("3", 3, 50_000) // after closing time
	lan.Get("/shifts").Shows(t, `data-label="Paid in full">1</td>`, "310,000\u00a0₫", "when closed: 260,000\u00a0₫")
	// What was counted stays; what came later is shown as later, also where money finds its bill.
	_, err = w.Services.Payments.MatchTransaction(t.Context(), 1, 2, 3, time.Now())
	apptest.Must(t, err)
	for _, path := range []string{"/shifts/1", "/shifts/1?paper=58"} {
		kept := thu.Get(path)
		kept.Shows(t, "<dt>Received so far</dt><dd>260,000\u00a0₫", "<dt>Not enough</dt><dd>60,000\u00a0₫", "Money without a bill (1)",
			"<dt>Cash that was counted</dt><dd>1,234,000\u00a0₫", "đủ tờ 500", "After the shift was closed</dt><dd>+62,345\u00a0₫")
		kept.Hides(t, "Close anyway")
	}
}
