package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"

	"github.com/google/go-cmp/cmp"
)

// transactionsListed are the transactions that a page lists, in its order.
func (a answer) transactionsListed(t *testing.T) (ids []string) {
	t.Helper()
	a.wantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<tr id="tx-(\d+)">`).FindAllStringSubmatch(a.body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// linkOf is the address of a page's link to the next or the one before.
func (a answer) linkOf(t *testing.T, rel string) string {
	t.Helper()
	m := regexp.MustCompile(`<a rel="` + rel + `" href="([^"]*)"`).FindStringSubmatch(a.body)
	if m == nil {
		t.Fatalf("no %s link on\n%s", rel, a.body)
	}
	return html.UnescapeString(m[1])
}

// Whatever arrives while somebody turns the pages, each transaction is seen
// once; the first page has what is new.
func TestPagesDoNotShift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	b := w.browser().signIn("lan")
	today := time.Now().In(w.service.Zone()).AddDate(0, 0, -1).Format(app.DateLayout)
	paid := 0
	pay := func(n int) {
		for range n {
			paid++
			w.pay(1, fmt.Sprint(paid), "cà phê sữa đá")
		}
	}
	pay(45)
	for _, filter := range []string{"", "q=ca+phe", "q=ca", "type=IN", "min=1", "from=" + today, "bank_account_id=1"} {
		before := paid
		page := b.get("/transactions?" + filter)
		seen := page.transactionsListed(t)
		for page.header != nil {
			pay(3)
			if !strings.Contains(page.body, `rel="next"`) {
				break
			}
			page = b.get(page.linkOf(t, "next"))
			seen = append(seen, page.transactionsListed(t)...)
		}
		var want []string
		for id := before; id > 0; id-- {
			want = append(want, fmt.Sprint(id))
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%q: %s", filter, diff)
		}
		if !strings.Contains(page.body, fmt.Sprintf(">%d transactions<", before)) {
			t.Errorf("%q: the last page doesn't count the %d there were", filter, before)
		}
		for range 20 { // back to the first page
			if !strings.Contains(page.body, `rel="prev"`) {
				break
			}
			page = b.get(page.linkOf(t, "prev"))
		}
		if first := page.transactionsListed(t)[0]; first != fmt.Sprint(paid) {
			t.Errorf("%q: the first page begins with %s, want %d", filter, first, paid)
		}
	}
}

// The state of a transaction's deliveries, as the page and the API narrow by
// it, is that of the last one to each webhook.
func TestDeliveryStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	other, err := w.service.CreateAccount(context.Background(), "other", time.Now())
	must(t, err)
	w.user(other.ID, "stranger", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 503, "")
	key := w.apiKey(app.ScopeFull)
	b, stranger := w.browser().signIn("lan"), w.browser().signIn("stranger")
	check := func(when, state string, want ...string) {
		t.Helper()
		if got := b.get("/transactions?delivery_state=" + state).transactionsListed(t); !slices.Equal(got, want) {
			t.Errorf("%s, %s: %q, want %q", when, state, got, want)
		}
		var list struct {
			Transactions []struct{ ID string }
			Pagination   struct{ Total int }
		}
		a := w.do("GET", "/api/v1/transactions?delivery_state="+state, "", "Authorization", "Bearer "+key)
		must(t, json.Unmarshal([]byte(a.body), &list))
		if list.Pagination.Total != len(want) || len(list.Transactions) != len(want) {
			t.Errorf("%s, %s: the API says %s, want %q", when, state, a.body, want)
		}
		if got := stranger.get("/transactions?delivery_state=" + state).transactionsListed(t); len(got) != 0 {
			t.Errorf("%s, %s: a stranger sees %q", when, state, got)
		}
	}
	w.pay(1, "1", "before any webhook")
	check("no webhook", "pending")
	hook, _ := w.webhook(receiver.url, app.WebhookAll)
	second, _ := w.webhook(receiver.url, app.WebhookAll)
	w.pay(1, "2", "bún chả")
	w.pay(1, "3", "phở")
	w.attempts(1, 4)
	check("failed once", "pending", "3", "2")
	check("failed once", "failed")
	w.exhaust(hook.ID, serverError)
	w.exhaust(second.ID, serverError)
	check("given up", "pending")
	check("given up", "failed", "3", "2")
	if got := b.get("/transactions?delivery_state=failed&q=pho").transactionsListed(t); !slices.Equal(got, []string{"3"}) {
		t.Errorf("with a search: %q", got)
	}
	if got := b.get("/transactions?delivery_state=failed&type=OUT").transactionsListed(t); len(got) != 0 {
		t.Errorf("with a direction: %q", got)
	}
	receiver.answers(200, "")
	for _, id := range []int64{hook.ID, second.ID} {
		_, err := w.service.Replay(context.Background(), 1, id, time.Time{}, time.Now().Add(time.Hour), app.IdempotencyKey{}, time.Now())
		must(t, err)
		eventually(t, "the replay", func() bool {
			n, err := w.service.PendingDeliveries(context.Background(), 1)
			must(t, err)
			return n == 0
		})
		if id == hook.ID {
			check("one of two told since", "failed", "3", "2")
		}
	}
	check("told since", "failed")
	a := w.do("GET", "/api/v1/transactions?delivery_state=delivered", "", "Authorization", "Bearer "+key)
	if a.status < 400 || a.status > 422 || !strings.Contains(a.body, "delivery_state") {
		t.Errorf("an unknown state: %d %s", a.status, a.body)
	}
	b.get("/transactions?delivery_state=delivered").wantStatus(t, http.StatusUnprocessableEntity)
}

// A transaction's page says where it comes from; what came in byte for byte is
// for owners, and inert.
func TestTransactionProvenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.user(1, "cashier", app.RoleViewer)
	w.link("ACB", someAccount)
	one, two := w.native(), w.native()
	const body = `{"transactions":[{"id":%q,"gateway":"ACB","transactionDate":"2026-11-20 10:00:00","transactionNumber":"FT1","accountNumber":%q,"content":"<script>alert(1)</script>\u202e","transferType":"IN","transferAmount":1549000}]}`
	for i, s := range []app.Source{one, two} {
		if a := w.sends(s, fmt.Sprintf(body, []string{"first-name", "<b>second</b>"}[i], someAccount)); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	b := w.browser().signIn("lan")
	page := b.get("/transactions/1")
	page.wantStatus(t, http.StatusOK)
	for _, want := range []string{"native", "provider call", "&lt;b&gt;second&lt;/b&gt;", "Raw data received", "first-name"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page has no %q\n%s", want, page.body)
		}
	}
	if strings.Contains(page.body, "<script>alert") || strings.Contains(page.body, "<b>second") {
		t.Error("what came in became elements")
	}
	var got struct {
		ID     string
		Amount int64
	}
	if err := json.Unmarshal([]byte(preText(t, page.body, "json")), &got); err != nil || got.ID != "1" || got.Amount != 1549000 {
		t.Errorf("JSON %+v, %v", got, err)
	}
	if a := w.browser().signIn("cashier").get("/transactions/1"); a.status != http.StatusOK || strings.Contains(a.body, "first-name") {
		t.Errorf("the cashier sees what came in: %d", a.status)
	}
}
