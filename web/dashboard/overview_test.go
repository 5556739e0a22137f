package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/web/webtest"
)

// The chart is of all bank accounts or of one, never of another account's.
func TestChartOfABankAccount(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "a")
	if a := b.Get("/"); strings.Contains(a.Body, `name="bank_account_id"`) {
		t.Error("a choice of one")
	}
	w.Link("ACB", "888")
	other, err := w.Services.Ledger.CreateAccount(ctx, "other", time.Now())
	apptest.Must(t, err)
	_, err = w.Services.Inbound.LinkBankAccount(ctx, other.ID,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "A"}, time.Now())
	apptest.Must(t, err)
	w.Pay(other.ID, "1", "b")

	const bar = `<rect class="in"`
	for query, drawn := range map[string]bool{"": true, "&bank_account_id=1": true, "&bank_account_id=2": false, "&bank_account_id=3": false,
		"&bank_account_id=x": true} {
		a := b.Get("/?days=7" + query)
		a.Shows(t, `name="bank_account_id"`, "+1,549,000\u00a0₫")
		if got := strings.Contains(a.Body, bar); got != drawn {
			t.Errorf("%q: bars are drawn: %t", query, got)
		}
	}
	b.Get("/?bank_account_id=2").Shows(t, `<option value="2" selected>`, `/?days=90&bank_account_id=2`)
}

// The days before those of the chart are a line in it, and a sum in its legend; where
// nothing came in there is neither.
func TestChartOfTheDaysBefore(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	native, today := w.Native(), app.DayOf(time.Now(), w.Services.Ledger.Zone())
	for day, amount := range map[app.Day]int64{today: 1000, today - 6: 200, today - 7: 30_000, today - 13: 4000, today - 14: 5} {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: day.String(), Date: day.String(), Amount: amount})
	}
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "out", Date: (today - 8).String(), Amount: 9, Direction: "OUT"})
	b := w.Browser().SignIn("lan")
	line := regexp.MustCompile(`<svg class="before"[^>]*viewBox="0 0 (\d+) 192"[^>]*><path d="([^"]*)"/>`)
	for path, want := range map[string][]string{
		"/?days=7":  {"7", "M0.5 169L1.5 192L2.5 192L3.5 192L4.5 192L5.5 192L6.5 19.5", "7 days before 34,000\u00a0₫"},
		"/?days=1":  nil,
		"/?days=30": nil,
	} {
		a := b.Get(path)
		m := line.FindStringSubmatch(a.Body)
		if want == nil {
			if a.Hides(t, "days before"); m != nil {
				t.Errorf("%s: %q", path, m)
			}
			continue
		}
		if a.Shows(t, want[2]); m == nil || m[1] != want[0] || m[2] != want[1] {
			t.Errorf("%s: %q, want %q", path, m, want)
		}
	}
	b.Header = http.Header{"Accept-Language": {"vi"}}
	b.Get("/?days=7").Shows(t, ">8k</text>") // as shopkeepers write it
}

// The plan stands in a line of its own where it matters: a trial, one whose end
// is near, or nearly full. It is for owners, and leads to the bank accounts.
func TestOverviewPlan(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleCashier)
	w.Link("ACB", apptest.SomeAccount)
	owner, cashier := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	const linked = `<a href="/banks">1/100 bank accounts</a>`
	set := func(u app.AccountUpdate) {
		t.Helper()
		_, err := w.Services.Ledger.UpdateAccount(t.Context(), 1, u)
		apptest.Must(t, err)
	}
	var end time.Time
	says := func(want ...string) {
		t.Helper()
		a := owner.Get("/")
		a.Shows(t, want...)
		if len(want) == 0 && strings.Contains(a.Body, "Plan self-hosted") {
			t.Error("a plan of which there is nothing to say")
		}
		settled := len(want) == 0 && end.IsZero()
		for path, words := range map[string]string{"/banks": "Plan usage", "/settings": "Account and plan"} {
			if shown := strings.Contains(owner.Get(path).Body, words); shown == settled {
				t.Errorf("%s says %q: %t", path, words, shown)
			}
		}
	}
	says()
	trial, most := true, 2
	end = time.Now().AddDate(1, 0, 0)
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

// What happened last is first, although an older transfer was recorded later.
func TestNewestByTime(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	native := w.Native()
	for _, x := range []struct {
		id  string
		ago time.Duration
	}{{"NOW", time.Minute}, {"BEFORE", 40 * time.Minute}} {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: x.id, Number: x.id, Account: apptest.SomeAccount, Amount: 5000, Content: x.id,
			Date: app.FormatTime(time.Now().Add(-x.ago), w.Services.Ledger.Zone())})
	}
	body := w.Browser().SignIn("lan").Get("/").Body
	if now, before := strings.Index(body, ">NOW<"), strings.Index(body, ">BEFORE<"); now < 0 || before < now {
		t.Errorf("the payment of now stands at %d, that of before at %d", now, before)
	}
}

// A statement of the past doesn't push today's payment off the overview, although
// its rows were recorded later.
func TestNewestAfterAnImport(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.Pay(1, "1", "DH-TODAY")
	b := w.Browser().SignIn("lan")
	file := statementHeader
	for n := range 10 {
		file += fmt.Sprintf("%s,%d,OLD %d,,5.000\n", time.Now().In(w.Services.Ledger.Zone()).AddDate(0, 0, -1).Format("02/01/2006"), n, n)
	}
	sum := sumOf(t, b.Upload("/transactions/import", "a.csv", file))
	b.Upload("/transactions/import", "a.csv", file, "sum", sum).Shows(t, "File imported")
	b.Get("/").Shows(t, "DH-TODAY", "OLD 9")
}
