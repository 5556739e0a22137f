package dashboard_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"
)

// TestRowsOfADay: rows of one day stand below its name and its sums. A day that
// comes again further down, as in a search, has none, and neither has a list by a
// filter.
func TestRowsOfADay(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	native := w.Native()
	today := app.DayOf(time.Now(), w.Services.Ledger.Zone())
	for _, x := range []apptest.Transfer{
		{ID: "1", Date: "2025-10-14 10:00:00", Amount: 100},
		{ID: "2", Date: today.String(), Amount: 20},
		{ID: "3", Date: today.String(), Amount: 3, Direction: "OUT"},
		{ID: "4", Date: "2025-10-14 11:00:00", Amount: 1000},
		{ID: "5", Date: today.String(), Amount: 5},
	} {
		w.Names(webtest.Recorded, native, x)
	}
	b := w.Browser().SignIn("lan")
	row := regexp.MustCompile(`(?s)<tr class="day" id="([^"]*)">(.*?)</tr>`)
	tag := regexp.MustCompile(`<[^>]*>`)
	headings := func(path string) string {
		var all []string
		ids := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(b.Get(path).Body, -1) {
			if ids[m[1]] {
				t.Errorf("%s: two rows %s", path, m[1])
			}
			ids[m[1]] = true
			all = append(all, strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(m[2], ""))), " "))
		}
		return strings.Join(all, " | ")
	}
	const old = "Tuesday, 14 Oct 2025"
	const now = "Today +25 ₫ · 2 −3 ₫ · 1"
	for path, want := range map[string]string{
		"/":                     now + " | " + old + " +1,100 ₫ · 2", // by their dates
		"/transactions":         now + " | " + old + " +1,100 ₫ · 2",
		"/transactions?type=IN": "Today | " + old,
		"/transactions?q=na":    "Today | " + old + " | Today | " + old,
	} {
		if got := headings(path); got != want {
			t.Errorf("%s: %s\nwant: %s", path, got, want)
		}
	}
}

// TestComparedWithYesterday: the first page says by how much today differs from
// yesterday by this time: in percent, from eleven times on in times, and nothing where
// yesterday had none or less than a hundredth.
func TestComparedWithYesterday(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		yesterday, today int64
		want             string
	}{{0, 100, ""}, {100, 112, "+12% on yesterday by this time"}, {100, 88, "−12% on yesterday by this time"},
		{1000, 1004, "about the same as yesterday by this time"}, {100, 0, "−100% on yesterday by this time"},
		{100, 1099, "+999% on yesterday by this time"}, {100, 1100, "11 times yesterday by this time"},
		{100, 9999, "99 times yesterday by this time"}, {100, 10_000, ""}} {
		w := webtest.NewWorld(t)
		w.User(1, "lan", access.RoleOwner)
		w.Link("ACB", apptest.SomeAccount)
		native := w.Native()
		today := app.DayOf(time.Now(), w.Services.Ledger.Zone())
		for day, amount := range map[app.Day]int64{today - 1: c.yesterday, today: c.today} {
			if amount > 0 {
				w.Names(webtest.Recorded, native, apptest.Transfer{ID: day.String(), Date: day.String(), Amount: amount})
			}
		}
		a := w.Browser().SignIn("lan").Get("/")
		if a.Shows(t, "Today", c.want); c.want == "" && strings.Contains(a.Body, "yesterday") {
			t.Error("a comparison with nothing")
		}
	}
}

// This week is compared with last week up to this time of this weekday, not with all of it.
func TestComparedWithLastWeek(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	native := w.Native()
	today := app.DayOf(time.Now(), w.Services.Ledger.Zone())
	paid := map[app.Day]int64{today - 7: 100, today: 150}
	if monday := today.WeekStart() - 7; monday != today-7 {
		paid[monday], paid[today] = 300, 600
	}
	for later := today - 6; later < today.WeekStart(); later++ {
		paid[later] = 10_000
	}
	for day, amount := range paid {
		w.Names(webtest.Recorded, native, apptest.Transfer{ID: day.String(), Date: day.String(), Amount: amount})
	}
	w.Browser().SignIn("lan").Get("/").Shows(t, "This week", "+50% on last week by this time")
}

// TestNoticeOfSeveralWebhooks: the worst state is named, with how many are in it.
func TestNoticeOfSeveralWebhooks(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	w.Pay(1, "1", "nobody is told")
	says := func(want string) {
		t.Helper()
		_, cell, _ := strings.Cut(b.Get("/transactions").Body, `-state">`)
		if cell, _, _ = strings.Cut(cell, "</td>"); !strings.Contains(cell, ">"+want+"<") {
			t.Errorf("%s, want %s", cell, want)
		}
	}
	says("Nobody to notify")
	w.Webhook("http://127.0.0.1:9/a", delivery.WebhookAll)
	w.Pay(1, "2", "one")
	w.Attempts(1, 1)
	says("Will notify again")
	for range 2 {
		w.Webhook("http://127.0.0.1:9/b", delivery.WebhookAll)
	}
	w.Pay(1, "3", "three")
	w.Attempts(1, 4)
	says("Will notify again\u00a03/3")
	for _, c := range []struct{ states, want string }{
		{"1 1 1", "Notified\u00a03/3"}, {"1 1 2", "Could not notify\u00a01/3"}, {"2 1 2", "Could not notify\u00a02/3"},
		{"1 0 1", "Will notify again\u00a01/3"}, {"0 2 1", "Could not notify\u00a01/3"}, {"2 0 1", "Could not notify\u00a01/3"},
		{"3 1 1", "Notified\u00a02/2"}, {"3 3 3", "Nobody to notify"},
	} {
		for i, state := range strings.Fields(c.states) {
			w.Change("UPDATE deliveries SET state = ? WHERE transaction_id = 3 AND webhook_id = ?", state, i+1)
		}
		says(c.want)
	}
}
