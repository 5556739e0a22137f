package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// TestSearch: the search box finds a payment by its amount however it is written, by
// the end of its bank account, its content and its number, and says what it looked
// for. The sums and the export are those of the rows.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", "19354957")
	second := w.Link("MB", "0071006789")
	native := w.Native()
	for _, x := range []apptest.Transfer{
		{ID: "1", Amount: 200_000, Content: "NGUYEN VAN A chuyen tien"},
		{ID: "2", Amount: 1_500_000, Content: "Nguyễn Thị Bình DH10293"},
		{ID: "3", Amount: 1_549_000, Content: "ck don hang 200k"},
		{ID: "4", Amount: 6789, Content: "tra lai", Direction: "OUT"},
		{ID: "5", Amount: 35_000, Content: "ca phe", Gateway: "MB", Account: "0071006789", Number: "FT26326"},
		{ID: "6", Amount: 200_000, Content: "hoan tien 200000", Direction: "OUT", Gateway: "MB", Account: "0071006789"},
	} {
		w.Names(webtest.Recorded, native, x)
	}
	b := w.Browser().SignIn("lan")
	rowIDs := regexp.MustCompile(`(?m)^(\d+),`)
	for query, want := range map[string]string{
		"200000": "6 1", "200.000": "6 1", "200k": "6 3 1", "200 nghìn": "6 1", "+200.000 ₫": "6 1", "1tr5": "2", "1,5 triệu": "2",
		"1.549.000 đ": "3", "1tr549": "3",
		"6789": "6 5 4", "··6789": "6 5", "4957": "4 3 2 1", "7777": "", "··7777": "", "777k": "",
		"nguyen": "2 1", "dh10293": "2", "ft263": "5", "DH99": "",
	} {
		link := "?q=" + url.QueryEscape(query)
		page := b.Get("/transactions" + link)
		rows := transactionsListed(t, page)
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
		var sums int
		for _, m := range regexp.MustCompile(`money (?:in|out)\x{a0}\((\d+)\)`).FindAllStringSubmatch(html.UnescapeString(page.Body), -1) {
			var n int
			fmt.Sscan(m[1], &n)
			sums += n
		}
		if sums != len(rows) || !strings.Contains(page.Body, fmt.Sprintf(">%d transaction", len(rows))) {
			t.Errorf("%q: the sums are of %d, the rows are %d", query, sums, len(rows))
		}
		exported := rowIDs.FindAllStringSubmatch(b.Get(exportPath+link+"&format=csv").Body, -1)
		slices.Reverse(exported)
		var ids []string
		for _, m := range exported {
			ids = append(ids, m[1])
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q exports %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"200k&type=OUT": "6", "200k&bank_account_id=1": "3 1", "200k&max=300k": "6 1", "200k&max=199k": "",
		"6789&bank_account_id=" + itoa(second.ID): "6 5", "6789&min=7k": "6 5", "ca+phe&min=35k&max=35k": "5", "200k&min=1tr": "3",
	} {
		if got := strings.Join(transactionsListed(t, b.Get("/transactions?q="+query)), " "); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	b.Get("/transactions?q=6789").Shows(t, "the amount 6,789\u00a0₫",
		`<a href="/transactions?bank_account_id=`+itoa(second.ID)+`">bank account <bdi>MBBank 0071006789</bdi></a>`, "“<bdi>6789</bdi>”")
	b.Get("/transactions?q=nguyen").Hides(t, "Looking for")
	zone, err := time.LoadLocation(app.DefaultZone)
	apptest.Must(t, err)
	today := time.Now().In(zone)
	tomorrow := today.AddDate(0, 0, 1)
	if tomorrow.YearDay() == 60 { // no year before has a 29 February
		tomorrow = tomorrow.AddDate(0, 0, 1)
	}
	week := "from=" + today.AddDate(0, 0, -6).Format("2006-01-02") + "&to=" + today.Format("2006-01-02")
	for query, want := range map[string]string{
		"7 ngay&type=IN": week + "&type=IN", "7 days": week, "3/2/2024": "from=2024-02-03&to=2024-02-03",
		today.AddDate(0, 0, -1).Format("2/1"): "from=" + today.AddDate(0, 0, -1).Format("2006-01-02"),
		tomorrow.Format("02/1"):               "from=" + tomorrow.AddDate(-1, 0, 0).Format("2006-01-02"),
	} {
		b.Get("/transactions?q="+strings.ReplaceAll(query, " ", "+")).Shows(t, `<p><a href="/transactions?`+want)
	}
	for _, query := range []string{"31/2", "2/13", tomorrow.Format("2/1/2006"), "25", "ngay"} {
		b.Get("/transactions?q="+query).Hides(t, "All transactions of")
	}
	b.Header.Set("Accept-Language", "vi")
	b.Get("/transactions?q=200k").Shows(t, "số tiền 200.000\u00a0₫", "“<bdi>200k</bdi>” trong nội dung, mã giao dịch")
	// Another account's bank accounts mean nothing.
	other, err := w.Services.Ledger.CreateAccount(t.Context(), "other", time.Now())
	apptest.Must(t, err)
	w.User(other.ID, "stranger", access.RoleOwner)
	for _, query := range []string{"6789", "200k"} {
		if got := transactionsListed(t, w.Browser().SignIn("stranger").Get("/transactions?q="+query)); len(got) != 0 {
			t.Errorf("a stranger finds %q", got)
		}
	}
}

// TestChips: a filter in force is a chip, whose link leads to the list without it;
// periods are one tap away and keep the rest.
func TestChips(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", "19354957")
	w.Webhook("http://127.0.0.1:9/a", delivery.WebhookAll)
	source := w.Native()
	b := w.Browser().SignIn("lan")
	today := app.DayOf(time.Now(), w.Services.Ledger.Zone())
	chip := regexp.MustCompile(`<li><a class="pill" href="([^"]*)"><bdi>([^<]*)</bdi>`)
	for path, want := range map[string][]string{
		"/transactions": nil,
		"/transactions?q=200k&type=IN&min=200k&max=1tr5&delivery_state=unsent&bank_account_id=" + itoa(bank.ID): {"“200k”", "Money in",
			"≥ 200,000 ₫", "≤ 1,500,000 ₫", "ACB 19354957", "Nobody to notify"},
		"/transactions?from=" + today.String() + "&to=" + today.String(): {"Today"},
		"/transactions?from=2026-01-02&to=2026-01-03":                    {"02 Jan 2026 – 03 Jan 2026"},
		"/transactions?from=2026-01-02&to=2026-01-02":                    {"02 Jan 2026"},
		"/transactions?from=2026-01-02&q=x":                              {"“x”", "from 02 Jan 2026"},
		"/transactions?to=2026-01-02":                                    {"until 02 Jan 2026"},
		"/deliveries?q=x&webhook_id=1&status=0&type=OUT&from=2026-01-02": {"“x”", "Webhook", "Failed", "Money out", "from 02 Jan 2026"},
		"/deliveries?status=waiting&q=x":                                 {"“x”", "Waiting"},
		"/inbound/events?source_id=" + itoa(source.ID) + "&state=open":   {source.Name, "Needs attention"},
		"/inbound/events?state=conflict":                                 {"Conflict"},
		"/inbound/refused?source_id=" + itoa(source.ID):                  {source.Name},
	} {
		page := b.Get(path)
		page.WantStatus(t, http.StatusOK)
		var texts []string
		list, _, _ := strings.Cut(path, "?")
		for _, m := range chip.FindAllStringSubmatch(page.Body, -1) {
			texts = append(texts, strings.ReplaceAll(html.UnescapeString(m[2]), "\u00a0", " "))
			without := html.UnescapeString(m[1])
			left := len(chip.FindAllString(b.Get(without).Body, -1))
			if left != len(want)-1 || !strings.HasPrefix(without, list) {
				t.Errorf("%s: %s leads to %s, with %d chips", path, m[2], without, left)
			}
		}
		if path == "/deliveries?q=x&webhook_id=1&status=0&type=OUT&from=2026-01-02" && len(texts) > 1 {
			texts[1] = "Webhook"
		}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		if clear := strings.Contains(page.Body, `<a href="`+list+`">Clear filters</a>`); clear != (len(want) > 1) {
			t.Errorf("%s: a link to clear the filters: %v", path, clear)
		}
	}
	for _, list := range []string{"/transactions", "/deliveries"} {
		page := b.Get(list + "?type=OUT&from=2020-01-01")
		for name, days := range map[string][2]app.Day{"Today": {today, today}, "Yesterday": {today - 1, today - 1}, "7 days": {today - 6, today},
			"This month": {today.MonthStart(), today}, "Last month": {(today.MonthStart() - 1).MonthStart(), today.MonthStart() - 1}} {
			to := fmt.Sprintf("%s?from=%s&to=%s&type=OUT", list, days[0], days[1])
			page.Shows(t, `<a href="`+to+`">`+name+`</a>`)
			b.Get(to).Shows(t, `<a href="`+to+`" aria-current="true">`+name+`</a>`)
		}
	}
	b.Get("/inbound/events").Hides(t, ">Yesterday<")
}

// TestCleanAddresses: what is empty in an address is left out of it.
func TestCleanAddresses(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Webhook("http://127.0.0.1:9/a", delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	for path, want := range map[string]string{
		"/transactions?q=&type=&bank_account_id=&delivery_state=&from=&to=&min=&max=": "/transactions",
		"/transactions?q=a%26b&type=&min=+":                                           "/transactions?q=a%26b",
		"/transactions?":                                                              "/transactions",
		"/deliveries?q=&status=0&page=2":                                              "/deliveries?page=2&status=0",
		"/inbound/events?source_id=&state=":                                           "/inbound/events",
		"/?days=7&bank_account_id=":                                                   "/?days=7", "/webhooks/1?": "/webhooks/1",
		"/transactions?q=a": "", "/transactions": "", "/webhooks/1/replay?from=&to=": "",
	} {
		a := b.Get(path)
		if want == "" {
			a.WantStatus(t, http.StatusOK)
		} else if got := a.Header.Get("Location"); a.Status != http.StatusSeeOther || got != want {
			t.Errorf("%s leads to %d %q, want %q", path, a.Status, got, want)
		}
	}
}

// TestFilterWithNothingBetween: a period that ends before it begins, or a greatest
// amount below the least, is said, not answered with no rows.
func TestFilterWithNothingBetween(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	for path, want := range map[string]string{
		"/transactions?from=2026-01-03&to=2026-01-02":                 "To must not be before “From”.",
		"/deliveries?from=2026-01-03&to=2026-01-02":                   "To must not be before “From”.",
		"/deliveries?status=waiting&from=2026-01-03&to=2026-01-02":    "To must not be before “From”.",
		"/transactions?min=201k&max=200.000":                          "Maximum amount must not be below the minimum amount.",
		"/transactions?min=1.500k":                                    "9,999,999,999,999, such as 200000, 200.000 or 200k",
		"/deliveries/resend?failed=all&from=2026-01-03&to=2026-01-02": "To must not be before “From”.",
	} {
		a := b.Get(path)
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, want)
		a.Hides(t, "0 transactions", "0 attempts", "0 deliveries are waiting")
	}
	b.Get("/transactions?from=2026-01-03&to=2026-01-03&min=200k&max=200k").WantStatus(t, http.StatusOK)
}
