package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

func (w *world) banks() []app.BankAccount {
	w.t.Helper()
	list, err := w.service.BankAccounts(context.Background(), 1)
	must(w.t, err)
	return list
}

// A bank account from its link to its end, and what had been waiting for it.
func TestBankPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	b.get("/banks").shows(t, "Link your first bank account", "0/", "Vietcombank")
	w.names(counts{Unassigned: 1}, w.native(), transfer{})
	for _, c := range [][]string{{"bank", "", "account_number", "", "account_name", ""}, {"bank", "NOPE", "account_number", "19-35?", "account_name", "A"}} {
		a := b.post("/banks", c...)
		a.wantStatus(t, http.StatusUnprocessableEntity)
		a.shows(t, "Bank is not a known bank code", `id="account_number-problem"`, `aria-describedby="bank-problem"`)
	}
	b.post("/banks", "bank", "ACB", "account_number", "1935 4957", "account_name", "NGUYEN VAN A").goes(t, "/banks/1")
	b.get("/banks/1").shows(t, "recorded: 1", "19354957", "NGUYEN VAN A", "1 transaction", "200,000\u00a0₫", "VietQR")
	b.post("/banks", "bank", "ACB", "account_number", "19354957", "account_name", "B").shows(t, "is linked already", `value="19354957"`)
	b.get("/banks").shows(t, "ACB", "19354957", "+200,000\u00a0₫", "1/")

	// The form says what it wants: sent twice it doesn't switch back.
	for range 2 {
		b.post("/banks/1/toggle", "active", "0").goes(t, "/banks/1")
		if got := w.banks()[0].Status; got != app.BankAccountInactive {
			t.Errorf("switched off: %s", got)
		}
	}
	b.get("/banks").shows(t, "Off: transactions are recorded")
	b.post("/banks/1/toggle", "active", "1").goes(t, "/banks/1")
	b.post("/banks/1/unlink", "account_number", "1").wantStatus(t, http.StatusUnprocessableEntity)
	if len(w.banks()) != 1 {
		t.Fatal("unlinked by a wrong number")
	}
	b.get("/banks/1/unlink").shows(t, "Type the account number")
	b.post("/banks/1/unlink", "account_number", "1935 4957").goes(t, "/banks")
	b.get("/banks/1").wantStatus(t, http.StatusNotFound)
	w.wantTransactions(1)

	// A bank with two codes is one bank.
	b.post("/banks", "bank", "LIENVIETPOST_BANK", "account_number", "0700", "account_name", "A").goes(t, "/banks/2")
	twice := b.post("/banks", "bank", "LPB", "account_number", "0700", "account_name", "A")
	twice.wantStatus(t, http.StatusConflict)
	twice.shows(t, "LIENVIETPOST_BANK 0700 is linked already")
}

func TestBankPlanLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	one := 1
	_, err := w.service.UpdateAccount(t.Context(), 1, app.AccountUpdate{MaxBankAccounts: &one})
	must(t, err)
	w.link("ACB", someAccount)
	b := w.browser().signIn("lan")
	b.get("/banks").shows(t, "1/1", "the limit is reached")
	a := b.post("/banks", "bank", "VCB", "account_number", "123", "account_name", "A")
	a.shows(t, app.ErrPlanLimit(1).(*app.Error).Text.EN, `value="123"`)
	if len(w.banks()) != 1 {
		t.Error("beyond the plan")
	}
}

func TestBankQR(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("VCB", "0011001932418")
	b := w.browser().signIn("lan")
	for _, c := range []struct {
		query  string
		status int
	}{
		{"", 200}, {"amount=1.549.000&content=" + "%C4%90H10293", 200}, {"amount=1549000%C4%91", 200}, {"amount=1.5", 422}, {"amount=1.549.00", 422}, {"amount=0", 422}, {"amount=x", 422}, {"amount=-1", 422}, {"amount=99999999999999", 422},
		{"content=" + strings.Repeat("a", 96), 422}, {"content=%00", 422}, {"content=%22%3E%3Cscript%3Ealert(1)", 200},
	} {
		page, picture := b.get("/banks/1?"+c.query), b.get("/banks/1/qr.png?"+c.query)
		page.wantStatus(t, c.status)
		picture.wantStatus(t, c.status)
		if strings.Contains(page.body, "<script>alert") {
			t.Errorf("%s: a script", c.query)
		}
		if strings.Contains(page.body, "/banks/1/qr.png") != (c.status == 200) {
			t.Errorf("%s: a code on the page or none", c.query)
		}
		if c.status == 200 {
			if _, err := png.Decode(bytes.NewReader([]byte(picture.body))); err != nil || picture.header.Get("Content-Type") != "image/png" {
				t.Errorf("%s: %v", c.query, err)
			}
		}
	}
	b.get("/banks/1?content="+strings.Repeat("a", 26)).shows(t, "cut off content")
}

var bankActions = []struct{ method, path string }{
	{"GET", "/banks"}, {"POST", "/banks"}, {"GET", "/banks/new"}, {"GET", "/banks/%d"}, {"GET", "/banks/%d/qr.png"}, {"POST", "/banks/%d/toggle"},
	{"GET", "/banks/%d/unlink"}, {"POST", "/banks/%d/unlink"},
}

// Nobody but an owner of the account reaches a page of this table, and nothing
// changes. The form is what an owner would send.
func (w *world) wantOwnersOnly(t *testing.T, actions []struct{ method, path string }, id int64, secret string, unchanged func() string, form ...string) {
	t.Helper()
	w.user(1, "cashier", app.RoleViewer)
	second, err := w.service.CreateAccount(t.Context(), "second", time.Now())
	must(t, err)
	w.user(second.ID, "stranger", app.RoleOwner)
	before := unchanged()
	cashier, stranger, nobody, forged := w.browser().signIn("cashier"), w.browser().signIn("stranger"), w.browser(), w.browser().signIn("lan")
	forged.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	ask := func(b *browser, method, path string) answer {
		if method == "GET" {
			return b.get(path)
		}
		return b.post(path, form...)
	}
	for _, action := range actions {
		path := action.path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, id)
			ask(stranger, action.method, path).wantStatus(t, http.StatusNotFound)
			for _, other := range []string{"0", "x", "99", "-1"} {
				ask(stranger, action.method, strings.Replace(action.path, "%d", other, 1)).wantStatus(t, http.StatusNotFound)
			}
		} else if action.method == "GET" {
			if a := stranger.get(path); strings.Contains(a.body, secret) {
				t.Errorf("%s shows what is another account's", path)
			}
		}
		ask(cashier, action.method, path).wantStatus(t, http.StatusForbidden)
		if a := ask(nobody, action.method, path); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/login") {
			t.Errorf("%s %s: %d for nobody", action.method, path, a.status)
		}
		if action.method == "POST" {
			forged.post(path, form...).wantStatus(t, http.StatusForbidden)
		}
	}
	if after := unchanged(); after != before {
		t.Errorf("changed\n%s\nto\n%s", before, after)
	}
}

func TestBankTenancyAndRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.link("ACB", someAccount)
	w.wantOwnersOnly(t, bankActions, b.ID, someAccount, func() string { return fmt.Sprint(w.banks()) },
		"bank", "VCB", "account_number", someAccount, "account_name", "EVE", "active", "0")
}
