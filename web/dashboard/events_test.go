package dashboard_test

import (
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
	"baoco/app/inbound"
	"baoco/web/webtest"
)

func TestEventLog(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	src, other := w.Native(), w.Sepay()
	b := w.Browser().SignIn("lan")
	b.Get("/inbound/events").Shows(t, "No calls yet.")
	// 1
	w.Names(webtest.Recorded, src, apptest.Transfer{})
	// 2
	w.Names(webtest.Counts{Conflicts: 1}, src, apptest.Transfer{Amount: 5})
	// 3
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{ID: "u", Account: "999"})
	// 4
	w.Names(webtest.Counts{Unassigned: 1}, other, apptest.Transfer{ID: "7", Account: "888"})
	// 5
	w.Wants(webtest.Counts{Rejected: 1, Recorded: 1}, src,
		apptest.Batch(strings.ReplaceAll(apptest.Transfer{ID: "r"}.Native(), "200000", `"much"`),
			apptest.Transfer{ID: "s", Number: "FT9"}.Native()))
	for query, want := range map[string][]string{
		"": {"5", "4", "3", "2", "1"}, "state=open": {"5", "4", "3", "2"}, "state=unassigned": {"4", "3"}, "state=conflict": {"2"},
		"state=rejected": {"5"},
		"source_id=2":    {"4"}, "source_id=1&state=unassigned": {"3"}, "before=3": {"2", "1"},
		"before=x": {"5", "4", "3", "2", "1"}, "before=1": nil,
	} {
		if got := eventsListed(t, openPage(b, "/inbound/events?"+query)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{"state=x", "source_id=9", "source_id=x"} {
		b.Get("/inbound/events?"+query).WantStatus(t, http.StatusUnprocessableEntity)
	}
	b.Get("/inbound/events?state=x").Shows(t, "Status must be one of the values in the list")
	b.Get("/").Shows(t, "2 transactions are waiting", "1 received item could not be read", "1 received item conflicts")
	for i := range 40 {
		w.Names(webtest.Recorded, src, apptest.Transfer{ID: strconv.Itoa(100 + i), Number: "N" + strconv.Itoa(i)})
	}
	var all []string
	next := "/inbound/events"
	for next != "" {
		a := b.Get(next)
		all = append(all, eventsListed(t, a)...)
		m := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(a.Body)
		if next = ""; m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(all) != 45 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 45 {
		t.Errorf("the pages together: %v", all)
	}
}

func TestEventActions(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	src := w.Native()
	b := w.Browser().SignIn("lan")
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{})
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{ID: "2", Number: "FT2"})
	w.Names(webtest.Counts{Unassigned: 1}, src, apptest.Transfer{ID: "3", Number: "FT3", Account: "777"})
	w.Sends(src, apptest.Batch(strings.ReplaceAll(apptest.Transfer{ID: "4"}.Native(), "200000", `"a"`),
		strings.ReplaceAll(apptest.Transfer{ID: "5"}.Native(), "200000", `"b"`)))

	page := b.Get("/inbound/events/1")
	page.Shows(t, `<option value="ACB" selected`, `value="`+apptest.SomeAccount+`"`, "+200,000\u00a0₫",
		"is not a linked bank account", `name="item_id"`)
	b.Post("/inbound/events/1/link", "bank", "ACB", "account_number", apptest.SomeAccount).Shows(t, "Account holder is required",
		`value="`+apptest.SomeAccount+`"`)
	b.Post("/inbound/events/1/link", "bank", "VCB", "account_number", apptest.SomeAccount, "account_name", "A").WantStatus(t,
		http.StatusUnprocessableEntity)
	b.Post("/inbound/events/1/link", "bank", "ACB", "account_number", apptest.SomeAccount, "account_name", "A", "notify", "x").WantStatus(t,
		http.StatusUnprocessableEntity)
	b.Post("/banks", "bank", "ACB", "account_number", apptest.SomeAccount, "account_name", "A", "notify", "x").WantStatus(t,
		http.StatusUnprocessableEntity)
	if len(bankAccountsOf(w)) != 0 {
		t.Fatal("linked by a form with a fault")
	}
	b.Post("/inbound/events/1/link", "bank", "ACB", "account_number", apptest.SomeAccount, "account_name", "NGUYEN VAN A", "notify",
		"nobody").Shows(t, "Notification choice must be recent, all or none.")
	b.Post("/inbound/events/1/link", "bank", "ACB", "account_number", apptest.SomeAccount, "account_name", "NGUYEN VAN A", "notify",
		"none").Goes(t, "/inbound/events/1")
	a := b.Get("/inbound/events/1")
	a.Shows(t, "Recorded: 1", "from other waiting calls: 1", "Settled")
	w.WantTransactions(2)
	b.Post("/inbound/events/1/link", "bank", "ACB", "account_number", apptest.SomeAccount).Shows(t, "Nothing of this event is unassigned.")

	b.Post("/inbound/events/4/retry").Goes(t, "/inbound/events/4")
	b.Get("/inbound/events/4").Shows(t, "unreadable: 2")
	b.Post("/inbound/events/4/discard", "item_id", "99").WantStatus(t, http.StatusUnprocessableEntity)
	b.Post("/inbound/events/4/discard", "item_id", "x").Shows(t, "This item ")
	item := regexp.MustCompile(`name="item_id" value="(\d+)"`).FindStringSubmatch(b.Get("/inbound/events/4").Body)
	b.Post("/inbound/events/4/discard", "item_id", item[1]).Goes(t, "/inbound/events/4")
	b.Post("/inbound/events/4/discard").Shows(t, "Nothing was discarded")
	b.Post("/inbound/events/4/discard", "sure", "1").Goes(t, "/inbound/events/4")
	b.Get("/inbound/events/4").Shows(t, "Items discarded: 1", "Settled")
	w.WantTransactions(2)
}

// A decision that is sent twice is about the transaction that its page showed, not about
// the next one that the item may be.
func TestSettleIsAboutWhatWasShown(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	till, sepay := w.Native(), w.Sepay()
	w.Names(webtest.Recorded, till, apptest.Transfer{ID: "1", Number: "FT1"})
	w.Names(webtest.Recorded, till, apptest.Transfer{ID: "2", Number: "FT2"})
	w.Names(webtest.Counts{MayRepeat: 1}, sepay, apptest.Transfer{ID: "3", Content: "ck"})
	b := w.Browser().SignIn("lan")
	var form []string
	for _, field := range regexp.MustCompile(`name="((?:item|transaction)_id)" `+
		`value="(\d+)"`).FindAllStringSubmatch(b.Get("/inbound/events/3").Body, -1) {
		form = append(form, field[1], field[2])
	}
	form = append(form, "repeat", "0")
	b.Post("/inbound/events/3/settle", form...).Goes(t, "/inbound/events/3")
	b.Post("/inbound/events/3/settle", form...).Shows(t, "may be another transaction now")
	w.WantTransactions(2)
}

// What others send is text, whatever it holds.
func TestHostileEventsAreInert(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	src := w.Native()
	script := `<script>alert(1)<\/script><img src=x onerror=alert(1)>{{.Data}}`
	w.Wants(webtest.Counts{Unassigned: 1}, src,
		apptest.Batch(apptest.Transfer{ID: script, Content: script, Gateway: script, Account: "1"}.Native()))
	w.Sends(src, "\xff\x00\u202e\u200b<script>alert(1)</script>")
	b := w.Browser().SignIn("lan")
	for _, path := range []string{"/", "/inbound", "/inbound/events", "/inbound/events/1", "/inbound/events/2"} {
		a := b.Get(path)
		a.WantStatus(t, http.StatusOK)
		for _, bad := range []string{"<script>alert", "<img src=x", "ZgotmplZ", "\u202e", "\x00"} {
			if strings.Contains(a.Body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
	}
	b.Get("/inbound/events/2").Shows(t, "\ufffd‹U+0000›‹U+202E›‹U+200B›<script>alert(1)</script>")
	name := `"><script>alert(1)</script>`
	urlAndSecret(t, b.Submit("/inbound/sources", "provider", "native", "name", name), w.URL)
	for _, path := range []string{"/inbound", "/inbound/sources/2", "/inbound/sources/2/remove", "/inbound/sources/2/rotate",
		"/inbound/events", "/inbound/refused"} {
		if a := b.Get(path); a.Status != http.StatusOK || strings.Contains(a.Body, "<script>alert") {
			t.Errorf("%s: %d, or a script", path, a.Status)
		}
	}
}

// What of the way in needs somebody stands on the overview, calmly.
func TestInboundAttention(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	src := w.Native()
	b := w.Browser().SignIn("lan")
	lastCall := func(ago time.Duration) {
		w.Change(`UPDATE sources SET last_call_at = ?`, time.Now().Add(-ago).Unix())
	}
	says := func(want bool, text string) {
		t.Helper()
		if got := strings.Contains(b.Get("/").Body, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	const silent = "has sent nothing since"
	says(false, silent)
	for _, c := range []struct {
		ago  time.Duration
		want bool
	}{{time.Hour, false}, {25 * time.Hour, false}, {71 * time.Hour, false}, {73 * time.Hour, true}, {40 * 24 * time.Hour, false}} {
		lastCall(c.ago)
		says(c.want, silent)
	}
	// A shop with transactions every day hears of it after one day.
	for day := range 9 {
		at := time.Now().In(w.Services.Ledger.Zone()).AddDate(0, 0, -day).Format(app.TimeLayout)
		w.Names(webtest.Recorded, src, apptest.Transfer{ID: strconv.Itoa(day), Number: "D" + strconv.Itoa(day), Date: at})
	}
	lastCall(25 * time.Hour)
	says(true, silent)
	w.Sepay()
	says(false, silent)

	w.Change(`UPDATE bank_accounts SET status = 'error'`)
	says(true, "connection to the bank is broken")
	says(true, `href="/banks/1"`)
	b.Get("/banks").Shows(t, "connection to the bank is broken", "error")
	w.Change(`UPDATE sources SET poll_error = 'key_refused' WHERE id = 2`)
	says(true, "rejects the API key")
	b.Get("/banks/1").Shows(t, "rejects the API key")
	b.Get("/inbound").Shows(t, "API key rejected")

	says(false, `href="/inbound/events?state=unassigned"`)
	w.Names(webtest.Unassigned, src, apptest.Transfer{ID: "other", Account: "99887766"})
	says(true, `href="/inbound/events?state=unassigned"`)
}

// What somebody discarded stays discarded when the call is read again, whatever
// it was, and what is marked is what is still open.
func TestReprocessAfterDiscard(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	b := w.Browser().SignIn("lan")
	unreadable := strings.ReplaceAll(apptest.Transfer{ID: "2"}.Native(), "200000", `"a"`)
	w.Sends(w.Native(),
		apptest.Batch(apptest.Transfer{ID: "1"}.Native(), unreadable, apptest.Transfer{ID: "3", Number: "FT3", Account: "777"}.Native()))
	item := func(state inbound.Outcome) string {
		e, err := w.Services.Inbound.InboundEvent(t.Context(), 1, 1)
		apptest.Must(t, err)
		for _, i := range e.Items {
			if i.State == state {
				return itoa(i.ID)
			}
		}
		t.Fatalf("nothing is %s: %+v", state, e.Items)
		return ""
	}
	const waiting, settled = `<span class="pill pending">Unassigned: 1</span>`, `<span class="pill">Unassigned: 1</span>`
	const unread, dropped = `<span class="pill pending">Unreadable: 1</span>`, `<span class="pill">Unreadable: 1</span>`
	for _, page := range []string{"/inbound/events/1", "/inbound/events"} {
		b.Get(page).Shows(t, waiting, unread)
	}
	b.Post("/inbound/events/1/discard", "item_id", item(inbound.OutcomeRejected)).Goes(t, "/inbound/events/1")
	for _, page := range []string{"/inbound/events/1", "/inbound/events"} {
		b.Get(page).Shows(t, waiting, dropped)
	}
	b.Post("/inbound/events/1/retry").Goes(t, "/inbound/events/1")
	b.Get("/inbound/events/1").Shows(t, "unassigned: 1; in conflict: 0; unreadable: 1. Of these, still discarded: 1.", waiting, dropped)
	b.Post("/inbound/events/1/discard", "sure", "1").Goes(t, "/inbound/events/1")
	b.Post("/inbound/events/1/retry").Goes(t, "/inbound/events/1")
	b.Get("/inbound/events/1").Shows(t, "Of these, still discarded: 2.", settled, dropped, "Settled")
	if e, err := w.Services.Inbound.InboundEvent(t.Context(), 1, 1); err != nil || e.Open != 0 || len(e.Items) != 2 {
		t.Errorf("%d open of %+v, %v", e.Open, e.Items, err)
	}
	// A bank account that was linked since is why somebody reads a call again.
	w.Links("ACB", "777", inbound.NotifyAll, 0, 0)
	b.Post("/inbound/events/1/retry").Goes(t, "/inbound/events/1")
	b.Get("/inbound/events/1").Shows(t, "Recorded: 1; duplicates: 1;", "Of these, still discarded: 1.")
	w.WantTransactions(2)
}
