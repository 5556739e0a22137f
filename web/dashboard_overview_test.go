package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// The chart is of all bank accounts or of one, never of another account's.
func TestChartOfABankAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	w.link("ACB", someAccount)
	w.pay(1, "1", "a")
	if a := b.get("/"); strings.Contains(a.body, `name="bank_account_id"`) {
		t.Error("a choice of one")
	}
	w.link("ACB", "888")
	other, err := w.service.CreateAccount(ctx, "other", time.Now())
	must(t, err)
	_, err = w.service.LinkBankAccount(ctx, other.ID, app.BankAccountLink{Bank: "ACB", AccountNumber: someAccount, AccountName: "A"}, time.Now())
	must(t, err)
	w.pay(other.ID, "1", "b")

	const bar = `<rect class="in"`
	for query, drawn := range map[string]bool{"": true, "&bank_account_id=1": true, "&bank_account_id=2": false, "&bank_account_id=3": false, "&bank_account_id=x": true} {
		a := b.get("/?days=7" + query)
		a.shows(t, `name="bank_account_id"`, "+1,549,000\u00a0₫")
		if got := strings.Contains(a.body, bar); got != drawn {
			t.Errorf("%q: bars are drawn: %t", query, got)
		}
	}
	b.get("/?bank_account_id=2").shows(t, `<option value="2" selected>`, `/?days=90&bank_account_id=2`)
}

// Who watches the overview sees its sums grow with the rows; other streams
// aren't told of them.
func TestLiveSums(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	b := w.browser().signIn("lan")
	overview, rows := b.listen("/live/transactions?since=0-0&sums=1"), b.listen("/live/transactions?since=0-0")
	news := func(l *listener) string {
		for {
			if e := l.next(""); e.data != "" { // else the stream says that it is there
				return e.data
			}
		}
	}
	for _, sum := range []string{"+1,549,000\u00a0₫", "+3,098,000\u00a0₫"} {
		w.pay(1, sum, "a")
		if got := news(overview); !strings.Contains(got, `hx-target="#sums"`) || !strings.Contains(got, sum) {
			t.Errorf("no %s in %s", sum, got)
		}
		if got := news(rows); strings.Contains(got, "#sums") {
			t.Errorf("sums where only rows are: %s", got)
		}
	}
}

// The plan stands in a line of its own: with its end where it has one, and a
// way to the bank accounts for who may go there.
func TestOverviewPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "hoa", app.RoleViewer)
	w.link("ACB", someAccount)
	owner, cashier := w.browser().signIn("lan"), w.browser().signIn("hoa")
	const linked = `<a href="/banks">1/100 bank accounts</a>`
	set := func(end time.Time, trial bool) {
		t.Helper()
		_, err := w.service.UpdateAccount(t.Context(), 1, app.AccountUpdate{ExpiresAt: &end, IsTrial: &trial})
		must(t, err)
	}
	a := owner.get("/")
	a.shows(t, "Plan self-hosted · "+linked)
	if strings.Contains(a.body, "expire") {
		t.Error("an end of what is for ever")
	}
	a = cashier.get("/")
	a.shows(t, "Plan self-hosted · 1/100 bank accounts")
	if strings.Contains(a.body, linked) {
		t.Error("a cashier is sent to a page of owners")
	}
	set(time.Now().AddDate(1, 0, 0), true)
	owner.get("/").shows(t, "Plan self-hosted (trial) · expires ", linked)
	set(time.Now().AddDate(0, 0, -1), false)
	owner.get("/").shows(t, `<span class="out">expired `, linked)
}
