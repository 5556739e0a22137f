package dashboard_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/web/webtest"
)

// The chart is of all bank accounts or of one, never of another account's.
func TestChartOfABankAccount(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", app.RoleOwner)
	b := w.Browser().SignIn("lan")
	w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "a")
	if a := b.Get("/"); strings.Contains(a.Body, `name="bank_account_id"`) {
		t.Error("a choice of one")
	}
	w.Link("ACB", "888")
	other, err := w.Service.CreateAccount(ctx, "other", time.Now())
	apptest.Must(t, err)
	_, err = w.Service.LinkBankAccount(ctx, other.ID, app.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "A"}, time.Now())
	apptest.Must(t, err)
	w.Pay(other.ID, "1", "b")

	const bar = `<rect class="in"`
	for query, drawn := range map[string]bool{"": true, "&bank_account_id=1": true, "&bank_account_id=2": false, "&bank_account_id=3": false, "&bank_account_id=x": true} {
		a := b.Get("/?days=7" + query)
		a.Shows(t, `name="bank_account_id"`, "+1,549,000\u00a0₫")
		if got := strings.Contains(a.Body, bar); got != drawn {
			t.Errorf("%q: bars are drawn: %t", query, got)
		}
	}
	b.Get("/?bank_account_id=2").Shows(t, `<option value="2" selected>`, `/?days=90&bank_account_id=2`)
}

// The plan stands in a line of its own where it matters: a trial, one whose end
// is near, or nearly full. It is for owners, and leads to the bank accounts.
func TestOverviewPlan(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", app.RoleOwner)
	w.User(1, "hoa", app.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	owner, cashier := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	const linked = `<a href="/banks">1/100 bank accounts</a>`
	set := func(u app.AccountUpdate) {
		t.Helper()
		_, err := w.Service.UpdateAccount(t.Context(), 1, u)
		apptest.Must(t, err)
	}
	says := func(want ...string) {
		t.Helper()
		a := owner.Get("/")
		a.Shows(t, want...)
		if len(want) == 0 && strings.Contains(a.Body, "Plan self-hosted") {
			t.Error("a plan of which there is nothing to say")
		}
	}
	says()
	trial, end, most := true, time.Now().AddDate(1, 0, 0), 2
	set(app.AccountUpdate{ExpiresAt: &end})
	says()
	set(app.AccountUpdate{IsTrial: &trial})
	says("Plan self-hosted (trial) · expires ", linked)
	cashier.Get("/").Hides(t, "Plan self-hosted", "1/100")
	trial, end = false, time.Now().AddDate(0, 0, 31)
	set(app.AccountUpdate{IsTrial: &trial, ExpiresAt: &end})
	says()
	end = time.Now().AddDate(0, 0, 29)
	set(app.AccountUpdate{ExpiresAt: &end})
	says("Plan self-hosted · expires ", linked)
	end = time.Now().AddDate(0, 0, -1)
	set(app.AccountUpdate{ExpiresAt: &end})
	says(`<span class="bad">expired `, linked)
	end = time.Now().AddDate(1, 0, 0)
	set(app.AccountUpdate{ExpiresAt: &end, MaxBankAccounts: &most})
	says()
	most = 1
	set(app.AccountUpdate{MaxBankAccounts: &most})
	says("1/1 bank accounts")
}

// A statement of the past doesn't push today's payment off the overview, although
// its rows were recorded later.
func TestNewestAfterAnImport(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", app.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "DH-TODAY")
	b := w.Browser().SignIn("lan")
	file := statementHeader
	for n := range 10 {
		file += fmt.Sprintf("02/11/2026,%d,OLD %d,,5.000\n", n, n)
	}
	sum := b.Upload("/transactions/import", "a.csv", file).Sum(t)
	b.Upload("/transactions/import", "a.csv", file, "sum", sum).Shows(t, "File imported")
	b.Get("/").Shows(t, "DH-TODAY", "OLD 9")
}
