package web_test

import (
	"context"
	"encoding/json"
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

// What a transaction is told of, as the page and the API narrow by it, follows
// from its last delivery to each webhook: each is in one of the states.
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
	check("no webhook", "unsent", "1")
	hook, _ := w.webhook(receiver.url, app.WebhookAll)
	second, _ := w.webhook(receiver.url, app.WebhookAll)
	w.pay(1, "2", "bún chả")
	w.pay(1, "3", "phở")
	w.attempts(1, 4)
	check("failed once", "pending", "3", "2")
	check("failed once", "failed")
	check("failed once", "unsent", "1")
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
			check("one of two told since", "delivered")
		}
	}
	check("told since", "failed")
	check("told since", "delivered", "3", "2")
	// Of a webhook that was deleted before it was told nobody is told any more.
	receiver.answers(503, "")
	w.pay(1, "4", "bún bò")
	check("not yet told", "pending", "4")
	must(t, w.service.DeleteWebhook(context.Background(), 1, hook.ID, time.Now()))
	check("one webhook is deleted", "pending", "4")
	must(t, w.service.DeleteWebhook(context.Background(), 1, second.ID, time.Now()))
	check("both are deleted", "pending")
	check("both are deleted", "unsent", "4", "1")
	check("both are deleted", "delivered", "3", "2")
	a := w.do("GET", "/api/v1/transactions?delivery_state=cancelled", "", "Authorization", "Bearer "+key)
	if a.status < 400 || a.status > 422 || !strings.Contains(a.body, "delivery_state") {
		t.Errorf("an unknown state: %d %s", a.status, a.body)
	}
	b.get("/transactions?delivery_state=cancelled").wantStatus(t, http.StatusUnprocessableEntity)
}

// What a filter comes to stands above its rows, whatever page it is; what
// arrives meanwhile counts on the first page alone.
func TestSumsOfAFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	bank := w.link("ACB", someAccount)
	record := func(id int, direction app.Direction, amount int64, content string) {
		_, _, err := w.service.RecordByHand(context.Background(), 1, app.Incoming{
			EventID: fmt.Sprint(id), Gateway: "ACB", AccountNumber: someAccount, Type: direction, Amount: amount, Content: content, Time: time.Now(),
		}, nil, app.IdempotencyKey{}, time.Now())
		must(t, err)
	}
	for id := range 25 {
		record(id, app.In, 100_001, "cà phê")
	}
	record(100, app.Out, 70_000, "trả tiền cà phê")
	b := w.browser().signIn("lan")
	sums := func(a answer) (list []string) {
		a.wantStatus(t, http.StatusOK)
		for _, m := range regexp.MustCompile(`<span class="(?:in|out)">([^<]*\(\d+\))</span>`).FindAllStringSubmatch(a.body, -1) {
			list = append(list, strings.ReplaceAll(html.UnescapeString(m[1]), "\u00a0", " "))
		}
		return list
	}
	in, out := "+2,500,025 ₫ money in (25)", "−70,000 ₫ money out (1)"
	today := time.Now().In(w.service.Zone()).Format(app.DateLayout)
	for query, want := range map[string][]string{
		"":                                    nil,
		"q=ca+phe":                            {in, out},
		"q=tra":                               {"0 ₫ money in (0)", out},
		"bank_account_id=" + itoa(bank.ID):    {in, out},
		"type=IN":                             {in},
		"type=OUT":                            {out},
		"min=70001":                           {in, "0 ₫ money out (0)"},
		"min=70.001&max=":                     {in, "0 ₫ money out (0)"},
		"min=0&max=70%20000":                  {"0 ₫ money in (0)", out},
		"to=2020-01-01":                       {"0 ₫ money in (0)", "0 ₫ money out (0)"},
		"delivery_state=unsent&from=" + today: {in, out},
	} {
		if diff := cmp.Diff(want, sums(b.get("/transactions?"+query))); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	for _, query := range []string{"q=ca+phe", "bank_account_id=" + itoa(bank.ID)} {
		first := b.get("/transactions?" + query)
		record(1000+len(query), app.In, 5, "cà phê")
		if got := sums(b.get(first.linkOf(t, "next"))); !slices.Equal(got, sums(first)) {
			t.Errorf("%q: %q on the second page, want %q", query, got, sums(first))
		}
		if got := sums(b.get("/transactions?" + query)); slices.Equal(got, sums(first)) {
			t.Errorf("%q: the first page misses what arrived: %q", query, got)
		}
	}
	b.header.Set("Accept-Language", "vi")
	if got := sums(b.get("/transactions?type=OUT")); !slices.Equal(got, []string{"−70.000 ₫ tiền ra (1)"}) {
		t.Errorf("%q", got)
	}
}

// A day without a time is shown without one, and a date that was replaced with
// its reason: in the listing, on the pages, at the counter and in the inbound log.
func TestDaysAndReplacedDates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	native, zone := w.native(), w.service.Zone()
	today := app.DayOf(time.Now(), zone)
	w.names(recorded, native, transfer{id: "1", date: "14/10/2025"})
	w.names(recorded, native, transfer{id: "2", date: today.String(), content: "hom nay"})
	w.names(recorded, native, transfer{id: "3", date: "2026-02-30"})
	w.names(unassigned, native, transfer{id: "4", date: "2025-10-14", account: "404"})
	w.names(unassigned, native, transfer{id: "5", date: "2999-01-01", account: "404"})
	b := w.browser().signIn("lan")

	midnight := "00:00:00, 14 Oct"
	row := func(a answer, id string) string {
		t.Helper()
		_, rest, found := strings.Cut(a.body, `<tr id="tx-`+id+`">`)
		row, _, ended := strings.Cut(rest, "</tr>")
		if !found || !ended {
			t.Fatalf("no row %s", id)
		}
		return row
	}
	list := b.get("/transactions")
	for id, want := range map[string]string{
		"1": `<time datetime="2025-10-14" title="14 Oct 2025">14 Oct</time>`,
		"2": `<time datetime="` + today.String() + `"`,
		"3": `<span class="mute" title="It is dated by the time of receipt: the date does not exist or is in an unknown format.">(received)</span>`,
	} {
		if got := row(list, id); !strings.Contains(got, want) || strings.Contains(got, midnight) {
			t.Errorf("row %s: %s", id, got)
		}
	}
	if got := row(list, "2"); !strings.Contains(got, ">Today</time>") {
		t.Errorf("today: %s", got)
	}
	b.get("/transactions/1").shows(t, `<time datetime="2025-10-14">14 Oct 2025</time>`)
	b.get("/transactions/3").shows(t, "It is dated by the time of receipt: the date does not exist or is in an unknown format.", `"date_flagged": true`)
	b.get("/counter").shows(t, `<time datetime="`+today.String()+`">Today</time>`)
	if page := b.get("/inbound/events/4"); strings.Contains(page.body, midnight) || !strings.Contains(page.body, "14 Oct 2025") {
		t.Errorf("the inbound event of a day: %s", page.body)
	}
	b.get("/inbound/events/5").shows(t, "the date is more than a day in the future")
	b.header.Set("Accept-Language", "vi")
	b.get("/transactions/3").shows(t, "Ghi theo thời điểm nhận: ngày giờ không có thật hoặc sai định dạng.")
}

// A search that finds next to nothing stops, says how far it came, and goes on
// from there: nothing is left out, and nothing is shown twice.
func TestSearchFurtherBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	receiver := newMoody(t, 200, "")
	hook, _ := w.webhook(receiver.url, app.WebhookAll)
	told := func(id string) {
		w.pay(1, id, "bánh mì")
		eventually(t, "the delivery", func() bool {
			n, err := w.service.PendingDeliveries(context.Background(), 1)
			must(t, err)
			return n == 0
		})
	}
	told("first")
	told("second")
	must(t, w.service.DeleteWebhook(context.Background(), 1, hook.ID, time.Now()))
	source := w.native()
	for n := 0; n < 13_000; n += 500 {
		call := app.InboundCall{AccountID: 1, Source: source, Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: time.Now()}
		for i := range 500 {
			call.Elements = append(call.Elements, app.Incoming{
				EventID: fmt.Sprint(n + i), Gateway: "ACB", AccountNumber: someAccount, Type: app.In, Amount: 1, Time: time.Now(),
			})
		}
		_, err := w.service.RecordTransactions(context.Background(), call)
		must(t, err)
	}
	b := w.browser().signIn("lan")
	page := b.get("/transactions?delivery_state=delivered")
	if got := page.transactionsListed(t); len(got) != 0 || !strings.Contains(page.body, "Nothing found so far") || !strings.Contains(page.body, "Searched back to") {
		t.Fatalf("%q listed\n%s", got, page.body)
	}
	further := regexp.MustCompile(`href="(/transactions\?before=[^"]*)"`)
	var seen []string
	for steps := 0; ; steps++ {
		m := further.FindStringSubmatch(page.body)
		if m == nil {
			break
		}
		if steps == 10 {
			t.Fatal("the search never ends")
		}
		page = b.get(html.UnescapeString(m[1]))
		seen = append(seen, page.transactionsListed(t)...)
	}
	if !slices.Equal(seen, []string{"2", "1"}) || !strings.Contains(page.body, "2 older transactions") {
		t.Errorf("found %q\n%s", seen, page.body)
	}
	if a := b.get("/transactions?delivery_state=delivered&before=2"); !slices.Equal(a.transactionsListed(t), []string{"1"}) {
		t.Error("before an id comes something else")
	}
}

// A page that shows no live rows says that there are new ones, and leads to
// them.
func TestNewsOfTransactions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleViewer)
	other, err := w.service.CreateAccount(context.Background(), "other", time.Now())
	must(t, err)
	_, err = w.service.LinkBankAccount(context.Background(), other.ID, app.BankAccountLink{Bank: "ACB", AccountNumber: someAccount, AccountName: "B"}, time.Now())
	must(t, err)
	w.link("ACB", someAccount)
	for id := range 25 {
		w.pay(1, fmt.Sprint("old", id), "cà phê")
	}
	b := w.browser().signIn("lan")
	stream := func(path string) (address string) {
		m := regexp.MustCompile(`hx-sse:connect="(/live/transactions[^"]*)"`).FindStringSubmatch(b.get(path).body)
		if m == nil {
			t.Fatalf("%s has no stream", path)
		}
		return html.UnescapeString(m[1])
	}
	if to := stream("/transactions"); strings.Contains(to, "new") {
		t.Errorf("the first page has the stream %s", to)
	}
	const evil = `q="><script>`
	second, filtered := b.listen(stream("/transactions?page=2")), b.listen(stream("/transactions?type=IN&"+url.PathEscape(evil)))
	w.pay(other.ID, "theirs", "phở")
	w.pay(1, "a", "bún")
	news := func(l *listener) string {
		for {
			if e := l.next(""); e.data != "" { // else it is a sign of life
				return e.data
			}
		}
	}
	if got := news(second); got != `<a class="pill pending" href="/transactions?">1 new transaction: show</a>` {
		t.Errorf("after one: %q", got)
	}
	w.pay(1, "b", "bún")
	if got := news(second); !strings.Contains(got, ">2 new transactions: show<") {
		t.Errorf("after two: %q", got)
	}
	if got := news(filtered); got != `<a class="pill pending" href="/transactions?q=%22%3E%3Cscript%3E&amp;type=IN">There are new transactions: show</a>` {
		t.Errorf("with a filter: %q", got)
	}
	b.get("/live/transactions/new?since=x").wantStatus(t, http.StatusUnprocessableEntity)
}

// A transaction's page says where it comes from; what came in byte for byte is
// for owners, and inert.
func TestTransactionOrigin(t *testing.T) {
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
