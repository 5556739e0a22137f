package dashboard_test

import (
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
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/web/webtest"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestHistoryFilters(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	good, bad := newMoody(t, 200, ""), newMoody(t, 503, "")
	w.Webhook(good.url, delivery.WebhookAll)
	b := w.Browser().SignIn("lan")
	if a := b.Get("/deliveries"); len(listed(t, a)) != 0 || !strings.Contains(a.Body, "Nothing sent yet.") {
		t.Error("an empty history")
	}
	w.Pay(1, "1", "cà phê sữa đá")
	w.Attempts(1, 1)
	w.Webhook(bad.url, delivery.WebhookAll)
	second := w.Pay(1, "2", "bún chả")
	w.Attempts(1, 3)
	today := time.Now().In(w.Services.Ledger.Zone()).Format(app.DateLayout)
	yesterday := time.Now().In(w.Services.Ledger.Zone()).AddDate(0, 0, -1).Format(app.DateLayout)
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
		got := listed(t, openPage(b, "/deliveries?"+c.query))
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.query, got, c.want)
		}
	}
	for _, query := range []string{"status=2", "type=UP", "from=x", "to=2026-02-30", "webhook_id=9", "webhook_id=x", "transaction_id=99"} {
		if a := b.Get("/deliveries?" + query); a.Status != http.StatusUnprocessableEntity ||
			!strings.Contains(a.Body, `class="problem" role="alert"`) {
			t.Errorf("%s: %d", query, a.Status)
		}
	}
	// What was typed stands in the form again, as text.
	if a := b.Get(`/deliveries?q=%22%3E%3Cscript%3E&status=0`); !strings.Contains(a.Body, `value="&#34;&gt;&lt;script&gt;"`) ||
		!strings.Contains(a.Body, `<option value="0" selected>`) {
		t.Error("the form forgets")
	}
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 200, "")
	w.Webhook(receiver.url, delivery.WebhookAll)
	for i := range 45 {
		w.Pay(1, strconv.Itoa(i), "a")
	}
	w.Attempts(1, 45)
	b := w.Browser().SignIn("lan")
	// What is attempted while somebody turns the pages doesn't shift them: all
	// the links stay with what the first page began with, and later pages say
	// that there are new ones.
	var all []string
	path := "/deliveries?type=IN"
	for page := 1; page <= 3; page++ {
		a := b.Get(path)
		all = append(all, listed(t, a)...)
		next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(a.Body)
		if (next != nil) != (page < 3) {
			t.Fatalf("page %d: the link to the next", page)
		}
		if news := strings.Contains(a.Body,
			`<a class="pill pending" href="/deliveries?type=IN">There are new attempts: show</a>`); news != (page > 1) {
			t.Errorf("page %d says that there are new ones: %t", page, news)
		}
		if page == 3 {
			break
		}
		path = html.UnescapeString(next[1])
		w.Pay(1, "late "+strconv.Itoa(page), "a")
		w.Attempts(1, 45+page)
	}
	slices.Sort(all)
	if len(all) != 45 || len(slices.Compact(all)) != 45 {
		t.Errorf("the pages together: %v", all)
	}
	if a := b.Get(path); !strings.Contains(a.Body, `rel="prev" href="/deliveries?page=2&amp;type=IN&amp;until=45"`) {
		t.Error("the way back from page 3")
	}
	if a := b.Get("/deliveries?type=IN&page=2&until=45"); !strings.Contains(a.Body, `rel="prev" href="/deliveries?page=1&amp;type=IN"`) {
		t.Error("the first page isn't the newest")
	}
}

// Nothing of the history is reached by the cashier, by another account or by
// nobody.
func TestHistoryIsTheOwners(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "cashier", access.RoleCashier)
	other, err := w.Services.Ledger.CreateAccount(ctx, "other", time.Now())
	apptest.Must(t, err)
	w.User(other.ID, "stranger", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 500, "no")
	hook, _ := w.Webhook(receiver.url, delivery.WebhookAll)
	transaction := w.Pay(1, "1", "secret content")
	w.Attempts(1, 1)
	exhaust(w, hook.ID, serverError)
	history := itoa(w.Attempts(1, 6)[0].ID)

	lan, cashier, stranger, nobody := w.Browser().SignIn("lan"), w.Browser().SignIn("cashier"), w.Browser().SignIn("stranger"), w.Browser()
	for _, path := range []string{"/deliveries", "/deliveries/1", "/deliveries/resend?row=" + history, "/deliveries/resend?failed=all"} {
		lan.Get(path).WantStatus(t, http.StatusOK)
		cashier.Get(path).WantStatus(t, http.StatusForbidden)
		if a := nobody.Get(path); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
			t.Errorf("nobody, %s: %d", path, a.Status)
		}
	}
	for _, b := range []*webtest.Browser{cashier, stranger, nobody} {
		for _, form := range [][]string{{"row", history}, {"failed", "all"}, {"failed", "all", "webhook_id", itoa(hook.ID)}} {
			b.Submit("/deliveries/resend", form...)
		}
		b.Submit("/deliveries/1/resend")
	}
	if n := w.Rows("deliveries"); n != 1 {
		t.Fatalf("%d deliveries: somebody else sent something again", n)
	}
	for path, status := range map[string]int{
		"/deliveries/1": http.StatusNotFound, "/deliveries/99": http.StatusNotFound, "/deliveries/01": http.StatusNotFound,
		"/deliveries/x":                     http.StatusNotFound,
		"/deliveries/resend?row=" + history: http.StatusNotFound, "/deliveries?webhook_id=" + itoa(hook.ID): http.StatusUnprocessableEntity,
		"/deliveries?transaction_id=" + itoa(transaction):                   http.StatusUnprocessableEntity,
		"/deliveries/resend?failed=all&webhook_id=" + itoa(hook.ID):         http.StatusUnprocessableEntity,
		"/deliveries/resend?failed=all&transaction_id=" + itoa(transaction): http.StatusUnprocessableEntity,
		"/deliveries": http.StatusOK, "/deliveries/resend?failed=all": http.StatusOK,
	} {
		a := stranger.Get(path)
		if a.WantStatus(t, status); strings.Contains(a.Body, "secret content") || strings.Contains(a.Body, receiver.url) {
			t.Errorf("%s shows a stranger what isn't theirs", path)
		}
	}
	if a := lan.Get("/"); !strings.Contains(a.Body, "1 delivery failed in the last 24 hours") {
		t.Error("the overview doesn't say what failed")
	}
	for name, b := range map[string]*webtest.Browser{"the cashier": cashier, "a stranger": stranger} {
		if a := b.Get("/"); strings.Contains(a.Body, "failed in the last 24 hours") {
			t.Errorf("%s is told what failed", name)
		}
	}
	stranger.Submit("/deliveries/1/resend").WantStatus(t, http.StatusNotFound)
	stranger.Submit("/deliveries/resend", "failed", "all", "webhook_id", itoa(hook.ID)).WantStatus(t, http.StatusNotFound)
	cashier.Submit("/deliveries/1/resend").WantStatus(t, http.StatusForbidden)
	if a := cashier.Get("/transactions/" + itoa(transaction)); strings.Contains(a.Body, "/deliveries") {
		t.Error("the cashier is shown links to the history")
	}
	if a := lan.Get("/transactions/" + itoa(transaction)); !strings.Contains(a.Body, `href="/deliveries/1"`) ||
		!strings.Contains(a.Body, `action="/deliveries/1/resend"`) {
		t.Error("the transaction doesn't lead to its delivery")
	}
}

// A delivery is one row, however often it was attempted, and says so only if it
// wasn't received at once. The page of the transaction has no codes.
func TestHistoryRowOfADelivery(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	bad := newMoody(t, 500, "no")
	hook, _ := w.Webhook(bad.url, delivery.WebhookAll)
	transaction := w.Pay(1, "1", "\a\u200bDH1\x1b")
	w.Attempts(1, 1)
	b := w.Browser().SignIn("lan")
	b.Get("/transactions/"+itoa(transaction)).Shows(t, `<span class="pill pending">Will notify again at `, "(2/6)</span>")
	exhaust(w, hook.ID, serverError)
	a := b.Get("/deliveries")
	if got := listed(t, a); !slices.Equal(got, []string{"1"}) {
		t.Errorf("six attempts of one delivery are the rows %v", got)
	}
	a.Shows(t, "attempt\u00a06/6", "<bdi>\u200bDH1</bdi>")
	bad.answers(200, "")
	w.Pay(1, "2", "\u200b \u2060")
	w.Attempts(1, 7)
	a = b.Get("/deliveries?status=1")
	a.Shows(t, "<bdi>(no content)</bdi>")
	if strings.Contains(a.Body, "attempt\u00a01/6</small>") {
		t.Error("an attempt that was received at once is numbered")
	}
	if a := b.Get("/transactions/" + itoa(transaction)); !strings.Contains(a.Body, `<span class="pill failed">Could not notify</span>`) ||
		strings.Contains(a.Body, "500 ·") {
		t.Error("the transaction's page isn't in words of the owner")
	}
}
