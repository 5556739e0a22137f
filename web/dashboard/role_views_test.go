package dashboard_test

import (
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
)

// roleWorld has money of today and of yesterday, in and out, told to a webhook
// that fails. No sum is an amount.
func roleWorld(w *webtest.World, today app.Day) {
	w.T.Helper()
	_, _ = w.Webhook("https://hook.example.vn/secret-path", delivery.WebhookAll)
	native := w.Native()
	for _, x := range []apptest.Transfer{
		{ID: "secret-id-1", Content: "CAME YESTERDAY", Date: (today - 1).String() + " 05:00:00", Amount: 300_003},
		{ID: "secret-id-2", Content: "CAME TODAY", Date: today.String() + " 06:00:00", Amount: 100_001},
		{ID: "secret-id-3", Content: "WENT TODAY", Date: today.String() + " 06:10:00", Amount: 200_002, Direction: "OUT"},
		{ID: "secret-id-4", Content: "CAME TODAY TOO", Date: today.String() + " 06:20:00", Amount: 23_456},
	} {
		ago := time.Duration(0)
		if x.Amount == 300_003 {
			ago = 26 * time.Hour // it isn't on the counter any more
		}
		w.Came(ago, native, x)
	}
	first, err := w.Services.Deliveries.Due(w.T.Context(), delivery.DueFilter{WebhookID: 1, Limit: 100}, time.Now())
	apptest.Must(w.T, err)
	for _, o := range first {
		r := serverError
		r.StartedAt = time.Now()
		_, err := w.Services.Deliveries.Settle(w.T.Context(), o, r)
		apptest.Must(w.T, err)
	}
	exhaust(w, 1, serverError)
	w.Came(0, native, apptest.Transfer{ID: "waits", Account: "777777", Content: "WAITS FOR AN ACCOUNT", Amount: 4_444})
}

// What the pages of a role say, and what none of them may say.
const (
	sumOfToday, sumOfAll = "123,457", "423,460"
	webhookURL           = "hook.example.vn"
)

var roleViews = map[access.Role]struct{ shows, hides []string }{
	access.RoleOwner: {[]string{sumOfToday, sumOfAll, "WENT TODAY", "CAME YESTERDAY", webhookURL, "500", "Installation"}, nil},
	access.RoleAccountant: {[]string{sumOfToday, sumOfAll, "WENT TODAY", "CAME YESTERDAY", "Money in and out by day"},
		[]string{webhookURL, "500 ·", "Raw data received", "WAITS FOR", `"id": "1"`, "Unlink", "Import statement", "Plan usage"}},
	access.RoleDeveloper: {[]string{"Needs attention", "WENT TODAY", "CAME YESTERDAY", webhookURL, "500", "Raw data received", "WAITS FOR"},
		[]string{sumOfToday, sumOfAll, "Money in and out by day", "This month</h2>", "This month</th>", "Import statement", "Discard",
			"Record to a bank account"}},
	access.RoleCashier: {[]string{sumOfToday, "CAME TODAY", "CAME TODAY TOO"}, []string{
		sumOfAll, "300,003", "200,002", "WENT TODAY", "CAME YESTERDAY", webhookURL, "500 ·", "secret-id-2", "Raw data received", `"id": "2"`,
		"WAITS FOR", "Needs attention", "This week", "This month</h2>", "This month</th>", "on yesterday", "Money in and out by day",
		"attempt", "Webhook", "/webhooks", "/banks", "/deliveries", "/inbound", "/keys", "/system",
	}},
}

// Every link and form of a role's pages leads to what the role may open, and what
// isn't for a role stands on none of its pages.
func TestRoleViews(t *testing.T) {
	t.Parallel()
	webtest.InBubble(t, func(t *testing.T, w webtest.Bubble) {
		roleWorld(w.World, app.DayOf(time.Now(), w.Services.Ledger.Zone()))
		for _, role := range slices.Backward(access.Roles) { // forms of those who may more change things
			w.User(1, string(role), role)
			cookies := signInTo(w, string(role))
			var all strings.Builder
			for path, page := range crawl(t, w, cookies) {
				all.WriteString(page)
				for _, hidden := range roleViews[role].hides {
					if strings.Contains(page, hidden) && !strings.HasPrefix(path, "/help") {
						t.Errorf("%s sees %q on %s", role, hidden, path)
					}
				}
			}
			for _, shown := range roleViews[role].shows {
				if !strings.Contains(all.String(), shown) {
					t.Errorf("%s doesn't see %q", role, shown)
				}
			}
		}
	})
}

var (
	linkPattern = regexp.MustCompile(`(?:href|action)="(/[^"#]*)`)
	postPattern = regexp.MustCompile(`(?:method="post" |form)action="([^"]*)"`)
)

// crawl opens all pages that a signed-in browser finds, and returns them by their
// address.
func crawl(t *testing.T, w webtest.Bubble, cookies map[string]*http.Cookie) map[string]string {
	t.Helper()
	pages, queue := map[string]string{}, []string{"/", "/transactions?q=came", "/transactions?q=came+today"}
	for len(queue) > 0 && len(pages) < 400 {
		path := queue[0]
		queue = queue[1:]
		// other days, and what anybody may read
		if _, seen := pages[path]; seen || strings.HasPrefix(path, "/static/") || strings.Contains(path, "from=") ||
			strings.HasPrefix(path, "/day?") || strings.HasPrefix(path, "/docs") || path == "/openapi.json" {
			continue
		}
		method := "GET"
		if strings.HasPrefix(path, "/transactions/export") || strings.HasPrefix(path, "/book/file") || strings.HasPrefix(path, "/report/file") ||
			strings.HasPrefix(path, "/settings/audit/export") {
			method = "HEAD" // a bubble's answers have no deadlines
		}
		a := sendTo(w, cookies, method, path, nil)
		page := html.UnescapeString(a.Body.String())
		pages[path] = page
		if a.Code != http.StatusOK && path != "/deliveries/resend" && path != "/transactions/chosen" { // they need a choice
			t.Errorf("%s: %d", path, a.Code)
		}
		posts := []string{}
		for _, m := range postPattern.FindAllStringSubmatch(page, -1) {
			action, _, _ := strings.Cut(m[1], "#")
			posts = append(posts, action)
			// Who may not is refused with 403 before anything is read. A bubble has no
			// network for a test of a webhook.
			if action != "/logout" && action != "/settings/sign-out" && !strings.HasSuffix(action, "/test") {
				if answer := sendTo(w, cookies, "POST", action, url.Values{"once": {"expired"}}); answer.Code == http.StatusForbidden {
					t.Errorf("a form on %s may not be sent: %s", path, action)
				}
			}
		}
		for _, m := range linkPattern.FindAllStringSubmatch(page, -1) {
			if !slices.Contains(posts, m[1]) {
				queue = append(queue, m[1])
			}
		}
	}
	return pages
}

// TestCashierSeesOnlyToday: whatever the address asks, a cashier gets the money in
// of today, and after midnight that of the new day.
func TestCashierSeesOnlyToday(t *testing.T) {
	t.Parallel()
	const evening = 16*time.Hour + 50*time.Minute // 23:50
	webtest.InBubbleAfter(t, evening, func(t *testing.T, w webtest.Bubble) {
		zone := w.Services.Ledger.Zone()
		today := app.DayOf(time.Now(), zone)
		roleWorld(w.World, today)
		w.Came(0, sourcesOf(w.World)[0], apptest.Transfer{ID: "ahead", Content: "CLOCK AHEAD", Date: today.String() + " 23:59:59", Amount: 1_000})
		for id := range int64(3) {
			apptest.Must(t, w.Services.Ledger.SetNote(t.Context(), 1, id+1, "", app.Note{Text: "of the shop", ChangedAt: time.Now()}))
		}
		w.User(1, "thungan", access.RoleCashier)
		cookies := signInTo(w, "thungan")
		get := func(path string) (int, string) {
			t.Helper()
			a := sendTo(w, cookies, "GET", path, nil)
			return a.Code, strings.ReplaceAll(a.Body.String(), "<strong>the amount 300,003", "") // as it was asked for
		}
		yesterday := (today - 1).String()
		for _, query := range []string{
			"", "type=OUT", "type=x", "from=" + yesterday, "from=" + yesterday + "&to=" + yesterday, "to=" + yesterday, "from=x", "q=YESTERDAY",
			"q=WENT", "q=of+the+shop",
			"q=300003", "min=200000", "page=2", "page=2&until=1", "before=2", "before=4&q=came", "bank_account_id=1",
			"delivery_state=failed&type=OUT", "until=1",
		} {
			code, body := get(strings.TrimSuffix("/transactions?"+query, "?"))
			for _, hidden := range roleViews[access.RoleCashier].hides {
				if strings.Contains(body, hidden) && !strings.Contains(query, hidden) {
					t.Errorf("?%s shows %q", query, hidden)
				}
			}
			if code != http.StatusOK {
				t.Errorf("?%s: %d", query, code)
			}
		}
		wantPages := func(codes ...int) {
			t.Helper()
			for i, want := range codes {
				if code, _ := get("/transactions/" + string(rune('1'+i))); code != want {
					t.Errorf("transaction %d: %d, want %d", i+1, code, want)
				}
			}
		}
		wantPages(404, 200, 404, 200)
		for _, format := range []string{"csv", "xlsx"} {
			if code, _ := get("/transactions/export?format=" + format); code != http.StatusForbidden {
				t.Errorf("export: %d", code)
			}
		}
		if _, body := get("/?days=366&bank_account_id=1"); strings.Contains(body, "<svg class=\"plot\"") || strings.Contains(body, sumOfAll) {
			t.Error("a chart")
		}
		if _, body := get("/transactions"); !strings.Contains(body, "CLOCK AHEAD") {
			t.Error("money of today isn't seen, since the clock of its provider is ahead")
		}
		time.Sleep(time.Until((today + 1).Start(zone)))
		wantPages(404, 404, 404, 404)
		if _, body := get("/"); strings.Contains(body, "CAME TODAY") || strings.Contains(body, sumOfToday) {
			t.Error("yesterday's money on the first page")
		}
	})
}

// TestKeysOfADeveloper: a developer makes and revokes keys that read, and neither
// sees nor touches others.
func TestKeysOfADeveloper(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "minh", access.RoleDeveloper)
	full := w.APIKey(access.ScopeFull)
	b := w.Browser().SignIn("minh")
	for _, scope := range []string{"full", "", "x"} {
		b.Post("/keys", "once", webtest.FormKey(), "name", "mine", "scope", scope).WantStatus(t, http.StatusForbidden)
	}
	b.Post("/keys", "once", b.Once("/keys"), "name", "laptop", "scope", "listen").WantStatus(t, http.StatusOK)
	a := b.Post("/keys", "once", b.Once("/keys"), "name", "mine", "scope", "read")
	if k, err := w.Services.Access.Authenticate(t.Context(), secretShown(t, a), time.Now()); err != nil || k.Scope != access.ScopeRead {
		t.Errorf("%+v, %v", k, err)
	}
	page := b.Get("/keys")
	page.Shows(t, "mine")
	page.Hides(t, full[:12], "Read and write", "/keys/1/revoke")
	for _, method := range []string{"GET", "POST"} {
		b.Send(method, "/keys/1/revoke", nil).WantStatus(t, http.StatusNotFound)
	}
	b.Post("/keys/2/revoke").Goes(t, "/keys")
	keys, err := w.Services.Access.APIKeys(t.Context(), 1)
	apptest.Must(t, err)
	if !keys[0].RevokedAt.IsZero() || keys[1].RevokedAt.IsZero() {
		t.Errorf("%+v", keys)
	}
}

// TestNavigation: the places of each role in their groups, and those on the bar of
// a phone. The system is for owners of the first account.
func TestNavigation(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	for role, want := range map[access.Role]string{
		access.RoleOwner: "/ /transactions /till · / /transactions /till /payments /day /book /banks /counter | /inbound /webhooks /deliveries " +
			"/keys | /settings /system /help",
		access.RoleAccountant: "/ /transactions /day · / /transactions /payments /day /book /banks /counter | /settings /help",
		access.RoleDeveloper:  "/ /webhooks /deliveries · / /transactions | /inbound /webhooks /deliveries /keys | /settings /help",
		access.RoleCashier:    "/ /till /counter · / /transactions /till /counter | /settings /help",
	} {
		w.User(1, string(role), role)
		page := w.Browser().SignIn(string(role)).Get("/help").Body
		_, nav, _ := strings.Cut(page, `<nav aria-label="Main">`)
		nav, _, _ = strings.Cut(nav, `<div class="who">`)
		bar, groups, _ := strings.Cut(nav, "<details")
		links := func(html string) string {
			var list []string
			for _, m := range linkPattern.FindAllStringSubmatch(html, -1) {
				if !strings.HasPrefix(m[1], "/static/") {
					list = append(list, m[1])
				}
			}
			return strings.Join(list, " ")
		}
		got := []string{}
		for group := range strings.SplitSeq(groups, "</ul>") {
			if l := links(group); l != "" {
				got = append(got, l)
			}
		}
		if got := links(bar) + " · " + strings.Join(got, " | "); got != want {
			t.Errorf("%s: %s\nwant: %s", role, got, want)
		}
		if strings.Count(nav, `aria-current="page"`) != 1 {
			t.Errorf("%s: not one place is the present one", role)
		}
	}
}

// The filter names a bank account in full only to those who see the money.
func TestFilterNamesBankAccounts(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	for role, full := range map[access.Role]bool{access.RoleOwner: true, access.RoleAccountant: true, access.RoleDeveloper: false,
		access.RoleCashier: false} {
		w.User(1, string(role), role)
		a := w.Browser().SignIn(string(role)).Get("/transactions")
		a.Shows(t, app.Tail(apptest.SomeAccount)[len(app.Tail(apptest.SomeAccount))-4:]+"</option>")
		if strings.Contains(a.Body, apptest.SomeAccount+"</option>") != full {
			t.Errorf("%s: the whole number is shown: %t, want %t", role, !full, full)
		}
	}
}

// A cashier chooses and searches bank accounts by the end of their numbers.
func TestCashierSeesEndOfNumber(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", "190020003456")
	for role, shown := range map[access.Role]bool{access.RoleCashier: false, access.RoleDeveloper: false, access.RoleOwner: true} {
		w.User(1, string(role), role)
		b := w.Browser().SignIn(string(role))
		for _, path := range []string{"/transactions?bank_account_id=1", "/transactions?q=3456"} {
			a := b.Get(path)
			a.Shows(t, "3456")
			if strings.Contains(a.Body, "190020003456") != shown {
				t.Errorf("%s: %s", role, path)
			}
		}
	}
}

// Developers find their first steps where they begin.
func TestDeveloperFindsFirstSteps(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	for _, role := range access.Roles {
		w.User(1, string(role), role)
		a := w.Browser().SignIn(string(role)).Get("/")
		if strings.Contains(a.Body, `href="/help/developer"`) != (role == access.RoleDeveloper) {
			t.Errorf("%s: %s", role, a.Body)
		}
	}
}
