package dashboard_test

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
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/inbound"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// Whatever arrives while somebody turns the pages, each transaction is seen
// once; the first page has what is new.
func TestPagesDoNotShift(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	today := time.Now().In(w.Services.Ledger.Zone()).AddDate(0, 0, -1).Format(app.DateLayout)
	paid := 0
	pay := func(n int) {
		for range n {
			paid++
			w.Pay(1, fmt.Sprint(paid), "cà phê sữa đá")
		}
	}
	pay(45)
	for _, filter := range []string{"", "q=ca+phe", "q=ca", "type=IN", "min=1", "from=" + today, "bank_account_id=1"} {
		before := paid
		page := openPage(b, "/transactions?"+filter)
		seen := transactionsListed(t, page)
		for page.Header != nil {
			pay(3)
			if !strings.Contains(page.Body, `rel="next"`) {
				break
			}
			page = b.Get(linkOf(t, page, "next"))
			seen = append(seen, transactionsListed(t, page)...)
		}
		var want []string
		for id := before; id > 0; id-- {
			want = append(want, fmt.Sprint(id))
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%q: %s", filter, diff)
		}
		if !strings.Contains(page.Body, fmt.Sprintf(">%d transactions<", before)) {
			t.Errorf("%q: the last page doesn't count the %d there were", filter, before)
		}
		for range 20 { // back to the first page
			if !strings.Contains(page.Body, `rel="prev"`) {
				break
			}
			page = b.Get(linkOf(t, page, "prev"))
		}
		if first := transactionsListed(t, page)[0]; first != fmt.Sprint(paid) {
			t.Errorf("%q: the first page begins with %s, want %d", filter, first, paid)
		}
	}
}

// What a transaction is told of, as the page and the API narrow by it, follows
// from its last delivery to each webhook: each is in one of the states.
func TestDeliveryStates(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	other, err := w.Services.Ledger.CreateAccount(context.Background(), "other", time.Now())
	apptest.Must(t, err)
	w.User(other.ID, "stranger", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	receiver := newMoody(t, 503, "")
	key := w.APIKey(access.ScopeFull)
	b, stranger := w.Browser().SignIn("lan"), w.Browser().SignIn("stranger")
	check := func(when, state string, want ...string) {
		t.Helper()
		if got := transactionsListed(t, b.Get("/transactions?delivery_state="+state)); !slices.Equal(got, want) {
			t.Errorf("%s, %s: %q, want %q", when, state, got, want)
		}
		var list struct {
			Transactions []struct{ ID string }
			Pagination   struct{ Total int }
		}
		a := w.Do("GET", "/api/v1/transactions?delivery_state="+state, "", "Authorization", "Bearer "+key)
		apptest.Must(t, json.Unmarshal([]byte(a.Body), &list))
		if list.Pagination.Total != len(want) || len(list.Transactions) != len(want) {
			t.Errorf("%s, %s: the API says %s, want %q", when, state, a.Body, want)
		}
		if got := transactionsListed(t, stranger.Get("/transactions?delivery_state="+state)); len(got) != 0 {
			t.Errorf("%s, %s: a stranger sees %q", when, state, got)
		}
	}
	w.Pay(1, "1", "before any webhook")
	check("no webhook", "pending")
	check("no webhook", "unsent", "1")
	hook, _ := w.Webhook(receiver.url, delivery.WebhookAll)
	second, _ := w.Webhook(receiver.url, delivery.WebhookAll)
	w.Pay(1, "2", "bún chả")
	w.Pay(1, "3", "phở")
	w.Attempts(1, 4)
	check("failed once", "pending", "3", "2")
	check("failed once", "failed")
	check("failed once", "unsent", "1")
	exhaust(w, hook.ID, serverError)
	exhaust(w, second.ID, serverError)
	check("given up", "pending")
	check("given up", "failed", "3", "2")
	if got := transactionsListed(t, b.Get("/transactions?delivery_state=failed&q=pho")); !slices.Equal(got, []string{"3"}) {
		t.Errorf("with a search: %q", got)
	}
	if got := transactionsListed(t, b.Get("/transactions?delivery_state=failed&type=OUT")); len(got) != 0 {
		t.Errorf("with a direction: %q", got)
	}
	receiver.answers(200, "")
	for _, id := range []int64{hook.ID, second.ID} {
		_, err := w.Services.Deliveries.Replay(context.Background(), 1, delivery.ReplayCreate{
			WebhookID: id, To: time.Now().Add(time.Hour),
		}, time.Now())
		apptest.Must(t, err)
		w.Until("the replay", func() bool {
			n, err := w.Services.Deliveries.PendingDeliveries(context.Background(), 1, 0)
			apptest.Must(t, err)
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
	w.Pay(1, "4", "bún bò")
	check("not yet told", "pending", "4")
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(context.Background(), 1, hook.ID, time.Now()))
	check("one webhook is deleted", "pending", "4")
	apptest.Must(t, w.Services.Deliveries.DeleteWebhook(context.Background(), 1, second.ID, time.Now()))
	check("both are deleted", "pending")
	check("both are deleted", "unsent", "4", "1")
	check("both are deleted", "delivered", "3", "2")
	a := w.Do("GET", "/api/v1/transactions?delivery_state=cancelled", "", "Authorization", "Bearer "+key)
	if a.Status < 400 || a.Status > 422 || !strings.Contains(a.Body, "delivery_state") {
		t.Errorf("an unknown state: %d %s", a.Status, a.Body)
	}
	b.Get("/transactions?delivery_state=cancelled").WantStatus(t, http.StatusUnprocessableEntity)
}

// What a filter comes to stands above its rows, whatever page it is; what
// arrives meanwhile counts on the first page alone.
func TestSumsOfAFilter(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	bank := w.Link("ACB", apptest.SomeAccount)
	record := func(id int, direction app.Direction, amount int64, content string) {
		_, _, err := w.Services.Inbound.RecordByHand(context.Background(), 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint(id), Gateway: "ACB", AccountNumber: apptest.SomeAccount, Type: direction, Amount: amount,
			Content: content, Time: time.Now(),
		}}, time.Now())
		apptest.Must(t, err)
	}
	for id := range 25 {
		record(id, app.In, 100_001, "cà phê")
	}
	record(100, app.Out, 70_000, "trả tiền cà phê")
	b := w.Browser().SignIn("lan")
	sums := func(a webtest.Answer) (list []string) {
		a.WantStatus(t, http.StatusOK)
		for _, m := range regexp.MustCompile(`<span(?: class="in")?>([^<]*\(\d+\))</span>`).FindAllStringSubmatch(a.Body, -1) {
			list = append(list, strings.ReplaceAll(html.UnescapeString(m[1]), "\u00a0", " "))
		}
		return list
	}
	in, out := "+2,500,025 ₫ money in (25)", "−70,000 ₫ money out (1)"
	today := time.Now().In(w.Services.Ledger.Zone()).Format(app.DateLayout)
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
		if diff := cmp.Diff(want, sums(openPage(b, "/transactions?"+query))); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	for _, query := range []string{"q=ca+phe", "bank_account_id=" + itoa(bank.ID)} {
		first := b.Get("/transactions?" + query)
		record(1000+len(query), app.In, 5, "cà phê")
		if got := sums(b.Get(linkOf(t, first, "next"))); !slices.Equal(got, sums(first)) {
			t.Errorf("%q: %q on the second page, want %q", query, got, sums(first))
		}
		if got := sums(b.Get("/transactions?" + query)); slices.Equal(got, sums(first)) {
			t.Errorf("%q: the first page misses what arrived: %q", query, got)
		}
	}
	b.Header.Set("Accept-Language", "vi")
	if got := sums(b.Get("/transactions?type=OUT")); !slices.Equal(got, []string{"−70.000 ₫ tiền ra (1)"}) {
		t.Errorf("%q", got)
	}
}

// A day without a time is shown without one, and a date that was replaced with
// its reason: in the listing, on the pages, at the counter and in the inbound log.
func TestDaysAndReplacedDates(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	native, zone := w.Native(), w.Services.Ledger.Zone()
	today := app.DayOf(time.Now(), zone)
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "1", Date: "14/10/2025"})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "2", Date: today.String(), Content: "hom nay"})
	w.Names(webtest.Recorded, native, apptest.Transfer{ID: "3", Date: "2026-02-30"})
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "4", Date: "2025-10-14", Account: "404"})
	w.Names(webtest.Unassigned, native, apptest.Transfer{ID: "5", Date: "2999-01-01", Account: "404"})
	b := w.Browser().SignIn("lan")

	midnight := "00:00:00, 14 Oct"
	row := func(a webtest.Answer, id string) string {
		t.Helper()
		_, rest, found := strings.Cut(a.Body, `<tr id="tx-`+id+`">`)
		row, _, ended := strings.Cut(rest, "</tr>")
		if !found || !ended {
			t.Fatalf("no row %s", id)
		}
		return row
	}
	list := b.Get("/transactions")
	for id, want := range map[string]string{
		"1": `<time datetime="2025-10-14" title="14 Oct 2025">no time</time>`,
		"2": `<time datetime="` + today.String() + `"`,
		"3": `<span class="mute" title="It is dated by the time of receipt: the date does not exist or is in an unknown format.">(received)` +
			`</span>`,
	} {
		if got := row(list, id); !strings.Contains(got, want) || strings.Contains(got, midnight) {
			t.Errorf("row %s: %s", id, got)
		}
	}
	if got := row(list, "2"); !strings.Contains(got, ">no time</time>") {
		t.Errorf("today: %s", got)
	}
	b.Get("/transactions/1").Shows(t, `<time datetime="2025-10-14">14 Oct 2025</time>`)
	b.Get("/transactions/3").Shows(t, "It is dated by the time of receipt: the date does not exist or is in an unknown format.",
		`"date_flagged": true`)
	b.Get("/counter").Shows(t, `<time datetime="`+today.String()+`">Today</time>`)
	if page := b.Get("/inbound/events/4"); strings.Contains(page.Body, midnight) || !strings.Contains(page.Body, "14 Oct 2025") {
		t.Errorf("the inbound event of a day: %s", page.Body)
	}
	b.Get("/inbound/events/5").Shows(t, "the date is more than a day in the future")
	b.Header.Set("Accept-Language", "vi")
	b.Get("/transactions/3").Shows(t, "Ghi theo thời điểm nhận: ngày giờ không có thật hoặc sai định dạng.")
}

// A later page keeps its rows while new ones come in, says that there are new ones
// of its filter, and leads to them.
func TestNewsOfTransactions(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	other, err := w.Services.Ledger.CreateAccount(context.Background(), "other", time.Now())
	apptest.Must(t, err)
	_, err = w.Services.Inbound.LinkBankAccount(context.Background(), other.ID,
		inbound.BankAccountLink{Bank: "ACB", AccountNumber: apptest.SomeAccount, AccountName: "B"}, time.Now())
	apptest.Must(t, err)
	w.Link("ACB", apptest.SomeAccount)
	for id := range 25 {
		w.Pay(1, fmt.Sprint("old", id), `"><script>`)
	}
	b := w.Browser().SignIn("lan")
	paths := map[string]string{
		"/transactions": `href="/transactions"`,
		"/transactions?type=IN&q=%22%3E%3Cscript%3E": `href="/transactions?q=%22%3E%3Cscript%3E&amp;type=IN"`,
	}
	second := map[string]string{}
	for path := range paths {
		next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(b.Get(path).Body)
		if next == nil {
			t.Fatalf("%s has no second page", path)
		}
		second[path] = html.UnescapeString(next[1])
	}
	news := func(path string) string {
		return regexp.MustCompile(`<a class="pill pending"[^>]*>There are new transactions: show</a>`).FindString(b.Get(path).Body)
	}
	w.Pay(other.ID, "theirs", `"><script>`)
	for path := range paths {
		if got := news(second[path]); got != "" {
			t.Errorf("%s: another account's is news: %s", path, got)
		}
	}
	w.Pay(1, "a", "bún")
	if got := news(second["/transactions"]); !strings.Contains(got, paths["/transactions"]) {
		t.Errorf("after one: %q", got)
	}
	if got := news(second["/transactions?type=IN&q=%22%3E%3Cscript%3E"]); got != "" {
		t.Errorf("what the filter leaves out is news: %s", got)
	}
	w.Pay(1, "b", `"><script>`)
	for path, want := range paths {
		if got := news(second[path]); !strings.Contains(got, want) {
			t.Errorf("%s: %q has no %s", path, got, want)
		}
		if got := news(path); got != "" {
			t.Errorf("%s shows the newest, and says %s", path, got)
		}
	}
}

// A transaction's page says where it comes from; what came in byte for byte is
// for who connects, and inert.
func TestTransactionOrigin(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "ketoan", access.RoleAccountant)
	w.Link("ACB", apptest.SomeAccount)
	one, two := w.Native(), w.Native()
	const body = `{"transactions":[{"id":%q,"gateway":"ACB","transactionDate":"2026-11-20 10:00:00","transactionNumber":"FT1"` +
		`,"accountNumber":%q,"content":"<script>alert(1)</script>\u202e","transferType":"IN","transferAmount":1549000}]}`
	for i, s := range []inbound.Source{one, two} {
		if a := w.Sends(s, fmt.Sprintf(body, []string{"first-name", "<b>second</b>"}[i], apptest.SomeAccount)); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	b := w.Browser().SignIn("lan")
	page := b.Get("/transactions/1")
	page.WantStatus(t, http.StatusOK)
	for _, want := range []string{"provider call", "&lt;b&gt;second&lt;/b&gt;", "Raw data received", "first-name"} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("the page has no %q\n%s", want, page.Body)
		}
	}
	if strings.Contains(page.Body, "<script>alert") || strings.Contains(page.Body, "<b>second") {
		t.Error("what came in became elements")
	}
	var got struct {
		ID     string
		Amount int64
	}
	if err := json.Unmarshal([]byte(preText(t, page.Body, "json")), &got); err != nil || got.ID != "1" || got.Amount != 1549000 {
		t.Errorf("JSON %+v, %v", got, err)
	}
	if a := w.Browser().SignIn("ketoan").Get("/transactions/1"); a.Status != http.StatusOK || strings.Contains(a.Body, "first-name") {
		t.Errorf("the accountant sees what came in: %d", a.Status)
	}
}

// A note is written, found and exported. Who changes it without having seen another
// person's change is told so, and keeps their own text.
func TestNote(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.User(1, "hoa", access.RoleOwner)
	w.Link("ACB", "19354957")
	w.Record("1")
	lan, hoa := w.Browser().SignIn("lan"), w.Browser().SignIn("hoa")
	lan.Post("/transactions/1/note", "seen", "", "note", " Khách quen <b>\r\ntrả nợ ").Goes(t, "/transactions/1")
	hoa.Get("/transactions/1").Shows(t, "Khách quen <b>\ntrả nợ", "Last change:", "lan")
	hoa.Get("/transactions").Shows(t, "Khách quen <b>\ntrả nợ")
	hoa.Get("/transactions?q=khach+quen").Shows(t, "In notes", "Khách quen")
	hoa.Get("/transactions?q=nobody").Hides(t, "In notes")
	if got := hoa.Get("/transactions/export?format=csv").Body; !strings.Contains(got, "Khách quen <b>") {
		t.Errorf("exported %q", got)
	}

	// the same: nothing was changed
	hoa.Post("/transactions/1/note", "seen", "", "note", "Khách quen <b>\r\ntrả nợ").Goes(t, "/transactions/1")
	hoa.Get("/transactions/1").Shows(t, "<bdi>lan</bdi>")

	a := hoa.Post("/transactions/1/note", "seen", "", "note", "Của tôi")
	a.WantStatus(t, http.StatusConflict)
	a.Shows(t, "changed this note in the meantime", "lan", "Của tôi</textarea>", `name="seen" value="Khách quen <b>`)
	hoa.Post("/transactions/1/note", "seen", "Khách quen <b>\r\ntrả nợ", "note", "Của tôi").Goes(t, "/transactions/1")
	lan.Get("/transactions/1").Shows(t, "Của tôi", "hoa")
	lan.Get("/transactions?q=cua+toi").Shows(t, "In notes")
	lan.Get("/transactions?q=khach+quen").Hides(t, "In notes")
	second := w.SecondAccount()
	w.User(second, "stranger", access.RoleOwner)
	stranger := w.Browser().SignIn("stranger")
	stranger.Get("/transactions?q=cua+toi").Hides(t, "In notes")
	stranger.Post("/transactions/1/note", "seen", "Của tôi", "note", "Của kẻ lạ").WantStatus(t, http.StatusNotFound)
	if err := w.Services.Ledger.SetNote(t.Context(), second, 1, "Của tôi", app.Note{Text: "Của kẻ lạ"}); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("a stranger's note: %v", err)
	}

	a = lan.Post("/transactions/1/note", "seen", "Của tôi", "note", strings.Repeat("ầ", 501))
	a.WantStatus(t, http.StatusUnprocessableEntity)
	a.Shows(t, "Note must be at most 500 characters without control characters.", strings.Repeat("ầ", 501))
	for _, control := range []string{"\x00", "\x07", "\x1b", "\x7f", "\u202e", "\u2066"} {
		a = lan.Post("/transactions/1/note", "seen", "Của tôi", "note", "x"+control+"y")
		a.WantStatus(t, http.StatusUnprocessableEntity)
		a.Shows(t, "without control characters")
	}
	lan.Post("/transactions/1/note", "seen", "Của tôi", "note", strings.Repeat("ầ", 500)).Goes(t, "/transactions/1")
	lan.Post("/transactions/1/note", "seen", strings.Repeat("ầ", 500), "note", "  ").Goes(t, "/transactions/1")
	lan.Get("/transactions").Hides(t, "ầ")
	for _, unseen := range []string{"\u200b", "\ufeff", "\u3164", "\u2800 \u2800"} {
		lan.Post("/transactions/1/note", "seen", "", "note", unseen).Goes(t, "/transactions/1")
		lan.Get("/transactions/1").Hides(t, unseen)
	}
	lan.Post("/transactions/2/note", "note", "x").WantStatus(t, http.StatusNotFound)
}

// Line breaks and tabs in a content are one blank wherever it is shown, and stay in the content.
func TestContentOnOneLine(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	w.CodePattern("DH")
	const content = "dòng1 \r\n\ndòng2\tTab\u2028\x01hết"
	id := w.Pay(1, "1", content)
	b := w.Browser().SignIn("lan")
	for _, path := range []string{"/transactions", "/transactions/" + itoa(id), "/counter", "/till"} {
		b.Get(path).Shows(t, "dòng1 dòng2 Tab hết")
	}
	b.Get("/transactions/export?format=csv").Shows(t, "dòng1 dòng2 Tab \x01hết")
	kept, err := w.Services.Ledger.Transaction(t.Context(), 1, id)
	apptest.Must(t, err)
	if kept.Content != content {
		t.Errorf("the content is kept as %q", kept.Content)
	}
}
