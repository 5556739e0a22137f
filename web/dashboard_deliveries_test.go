package web_test

import (
	"bufio"
	"context"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// listed are the deliveries that a page of the history lists, in its order.
func (a answer) listed(t *testing.T) (ids []string) {
	t.Helper()
	a.wantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<td class="content"><a href="/deliveries/(\d+)">`).FindAllStringSubmatch(a.body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func TestHistoryFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	good, bad := newMoody(t, 200, ""), newMoody(t, 503, "")
	w.webhook(good.url, app.WebhookAll)
	b := w.browser().signIn("lan")
	if a := b.get("/deliveries"); len(a.listed(t)) != 0 || !strings.Contains(a.body, "Nothing sent yet.") {
		t.Error("an empty history")
	}
	w.pay(1, "1", "cà phê sữa đá")
	w.attempts(1, 1)
	w.webhook(bad.url, app.WebhookAll)
	second := w.pay(1, "2", "bún chả")
	w.attempts(1, 3)
	today := time.Now().In(w.service.Zone()).Format(app.DateLayout)
	yesterday := time.Now().In(w.service.Zone()).AddDate(0, 0, -1).Format(app.DateLayout)
	for _, c := range []struct {
		query string
		want  []string // deliveries, in any order
	}{
		{"", []string{"1", "2", "3"}},
		{"webhook_id=1", []string{"1", "2"}},
		{"webhook_id=2", []string{"3"}},
		{"status=1", []string{"1", "2"}},
		{"status=0", []string{"3"}},
		{"type=IN", []string{"1", "2", "3"}},
		{"type=OUT", nil},
		{"from=" + today, []string{"1", "2", "3"}},
		{"to=" + today, []string{"1", "2", "3"}},
		{"to=" + yesterday, nil},
		{"q=CA+PHE", []string{"1"}},
		{"q=FT2", []string{"2", "3"}},
		{"transaction_id=" + itoa(second), []string{"2", "3"}},
		{"transaction_id=" + itoa(second) + "&status=0&webhook_id=2&q=bun", []string{"3"}},
		{"page=2", nil},
		{"unknown=1&status=", []string{"1", "2", "3"}},
	} {
		got := b.get("/deliveries?" + c.query).listed(t)
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.query, got, c.want)
		}
	}
	for _, query := range []string{"status=2", "type=UP", "from=x", "to=2026-02-30", "webhook_id=9", "webhook_id=x", "transaction_id=99"} {
		if a := b.get("/deliveries?" + query); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `class="problem" role="alert"`) {
			t.Errorf("%s: %d", query, a.status)
		}
	}
	// What was typed stands in the form again, as text.
	if a := b.get(`/deliveries?q=%22%3E%3Cscript%3E&status=0`); !strings.Contains(a.body, `value="&#34;&gt;&lt;script&gt;"`) || !strings.Contains(a.body, `<option value="0" selected>`) {
		t.Error("the form forgets")
	}
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 200, "")
	w.webhook(receiver.url, app.WebhookAll)
	for i := range 45 {
		w.pay(1, strconv.Itoa(i), "a")
	}
	w.attempts(1, 45)
	b := w.browser().signIn("lan")
	// What is attempted while somebody turns the pages doesn't shift them: all
	// the links stay with what the first page began with, and every page says
	// how many are new since then.
	var all []string
	path := "/deliveries?type=IN"
	for page := 1; page <= 3; page++ {
		a := b.get(path)
		all = append(all, a.listed(t)...)
		next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(a.body)
		if (next != nil) != (page < 3) {
			t.Fatalf("page %d: the link to the next", page)
		}
		if !strings.Contains(a.body, `hx-sse:connect="/live/deliveries?since=0-45&amp;type=IN"`) {
			t.Errorf("page %d doesn't say what is new", page)
		}
		if page == 3 {
			break
		}
		path = html.UnescapeString(next[1])
		w.pay(1, "late "+strconv.Itoa(page), "a")
		w.attempts(1, 45+page)
	}
	slices.Sort(all)
	if len(all) != 45 || len(slices.Compact(all)) != 45 {
		t.Errorf("the pages together: %v", all)
	}
	if a := b.get(path); !strings.Contains(a.body, `rel="prev" href="/deliveries?page=2&amp;type=IN&amp;until=45"`) {
		t.Error("the way back from page 3")
	}
	if a := b.get("/deliveries?type=IN&page=2&until=45"); !strings.Contains(a.body, `rel="prev" href="/deliveries?page=1&amp;type=IN"`) {
		t.Error("the first page isn't the newest")
	}
}

// Nothing of the history is reached by the cashier, by another account or by
// nobody.
func TestHistoryIsTheOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "cashier", app.RoleViewer)
	other, err := w.service.CreateAccount(ctx, "other", time.Now())
	must(t, err)
	w.user(other.ID, "stranger", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 500, "no")
	hook, _ := w.webhook(receiver.url, app.WebhookAll)
	transaction := w.pay(1, "1", "secret content")
	w.attempts(1, 1)
	w.exhaust(hook.ID, serverError)
	history := itoa(w.attempts(1, 6)[0].ID)

	lan, cashier, stranger, nobody := w.browser().signIn("lan"), w.browser().signIn("cashier"), w.browser().signIn("stranger"), w.browser()
	for _, path := range []string{"/deliveries", "/deliveries/1", "/deliveries/resend?id=" + history, "/deliveries/resend?failed=all", "/live/deliveries?since=0-0"} {
		if !strings.HasPrefix(path, "/live") {
			lan.get(path).wantStatus(t, http.StatusOK)
		}
		cashier.get(path).wantStatus(t, http.StatusForbidden)
		if a := nobody.get(path); strings.HasPrefix(path, "/live") {
			a.wantStatus(t, http.StatusUnauthorized)
		} else if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/login") {
			t.Errorf("nobody, %s: %d", path, a.status)
		}
	}
	for _, b := range []*browser{cashier, stranger, nobody} {
		for _, form := range [][]string{{"id", history}, {"failed", "all"}, {"failed", "all", "webhook_id", itoa(hook.ID)}} {
			b.post("/deliveries/resend", form...)
		}
		b.post("/deliveries/1/resend")
	}
	if n := w.rows("deliveries"); n != 1 {
		t.Fatalf("%d deliveries: somebody else sent something again", n)
	}
	for path, status := range map[string]int{
		"/deliveries/1": http.StatusNotFound, "/deliveries/99": http.StatusNotFound, "/deliveries/01": http.StatusNotFound, "/deliveries/x": http.StatusNotFound,
		"/deliveries/resend?id=" + history: http.StatusNotFound, "/deliveries?webhook_id=" + itoa(hook.ID): http.StatusUnprocessableEntity,
		"/deliveries?transaction_id=" + itoa(transaction):                   http.StatusUnprocessableEntity,
		"/deliveries/resend?failed=all&webhook_id=" + itoa(hook.ID):         http.StatusUnprocessableEntity,
		"/deliveries/resend?failed=all&transaction_id=" + itoa(transaction): http.StatusUnprocessableEntity,
		"/deliveries": http.StatusOK, "/deliveries/resend?failed=all": http.StatusOK,
	} {
		a := stranger.get(path)
		if a.wantStatus(t, status); strings.Contains(a.body, "secret content") || strings.Contains(a.body, receiver.url) {
			t.Errorf("%s shows a stranger what isn't theirs", path)
		}
	}
	if a := lan.get("/"); !strings.Contains(a.body, "1 delivery failed in the last 24 hours") {
		t.Error("the overview doesn't say what failed")
	}
	for name, b := range map[string]*browser{"the cashier": cashier, "a stranger": stranger} {
		if a := b.get("/"); strings.Contains(a.body, "failed in the last 24 hours") {
			t.Errorf("%s is told what failed", name)
		}
	}
	stranger.post("/deliveries/1/resend").wantStatus(t, http.StatusNotFound)
	stranger.post("/deliveries/resend", "failed", "all", "webhook_id", itoa(hook.ID)).wantStatus(t, http.StatusNotFound)
	cashier.post("/deliveries/1/resend").wantStatus(t, http.StatusForbidden)
	if a := cashier.get("/transactions/" + itoa(transaction)); strings.Contains(a.body, "/deliveries") {
		t.Error("the cashier is shown links to the history")
	}
	if a := lan.get("/transactions/" + itoa(transaction)); !strings.Contains(a.body, `href="/deliveries/1"`) || !strings.Contains(a.body, `action="/deliveries/1/resend"`) {
		t.Error("the transaction doesn't lead to its delivery")
	}
}

// A page says how many attempts came since it was made, and of which account.
func TestLiveHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.user(1, "lan", app.RoleOwner)
	other, err := w.service.CreateAccount(ctx, "other", time.Now())
	must(t, err)
	w.user(other.ID, "stranger", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 200, "")
	w.webhook(receiver.url, app.WebhookAll)
	follow := func(name, since string) *bufio.Scanner {
		b := w.browser().signIn(name)
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		request, err := http.NewRequestWithContext(ctx, "GET", w.url+"/live/deliveries?"+since, nil)
		must(t, err)
		response, err := b.client.Do(request)
		must(t, err)
		t.Cleanup(func() { response.Body.Close() })
		return bufio.NewScanner(response.Body)
	}
	next := func(s *bufio.Scanner) string {
		for s.Scan() {
			if strings.HasPrefix(s.Text(), "data: ") {
				return s.Text()
			}
		}
		return ""
	}
	stream, one := follow("lan", "since=0-0"), follow("lan", "since=0-0&delivery_id=2")
	w.pay(1, "1", "a")
	if line := next(stream); !strings.Contains(line, ">1 new") {
		t.Errorf("after one: %s", line)
	}
	w.pay(1, "2", "b")
	if line := next(stream); !strings.Contains(line, ">2 new") {
		t.Errorf("after two: %s", line)
	}
	if line := next(one); !strings.Contains(line, ">1 new") {
		t.Errorf("of the second delivery: %s", line)
	}
	// Of a filter, with the way to its first page.
	filtered := follow("lan", "since=0-0&page=3&q=B&status=1")
	if line := next(filtered); !strings.Contains(line, ">1 new") || !strings.Contains(line, `href="/deliveries?q=B&amp;status=1"`) {
		t.Errorf("of a filter: %s", line)
	}
	// What others were told doesn't count.
	strangers := follow("stranger", "since=0-0")
	_, err = w.service.LinkBankAccount(ctx, other.ID, app.BankAccountLink{Bank: "ACB", AccountNumber: someAccount, AccountName: "NGUYEN VAN A"}, time.Now())
	must(t, err)
	_, _, err = w.service.CreateWebhook(ctx, other.ID, app.WebhookCreate{Name: "theirs", URL: receiver.url, Type: app.WebhookAll}, time.Now())
	must(t, err)
	w.pay(other.ID, "3", "c")
	if line := next(strangers); !strings.Contains(line, ">1 new") {
		t.Errorf("a stranger is told %s", line)
	}
	for _, query := range []string{"since=x", "since=0-0&status=2", "since=0-0&webhook_id=x"} {
		w.browser().signIn("lan").get("/live/deliveries?"+query).wantStatus(t, http.StatusUnprocessableEntity)
	}
}
