package web_test

import (
	"database/sql"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
)

// events are the events that a page of the inbound log lists, in its order.
func (a answer) events(t *testing.T) (ids []string) {
	t.Helper()
	a.wantStatus(t, http.StatusOK)
	for _, m := range regexp.MustCompile(`<a href="/inbound/events/(\d+)">`).FindAllStringSubmatch(a.body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func TestEventLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	src, other := w.native(), w.sepay()
	b := w.browser().signIn("lan")
	b.get("/inbound/events").shows(t, "No calls yet.")
	w.names(recorded, src, transfer{})                                                                                                                                   // 1
	w.names(counts{Conflicts: 1}, src, transfer{amount: 5})                                                                                                              // 2
	w.names(counts{Unassigned: 1}, src, transfer{id: "u", account: "999"})                                                                                               // 3
	w.names(counts{Unassigned: 1}, other, transfer{id: "7", account: "888"})                                                                                             // 4
	w.wants(counts{Rejected: 1, Recorded: 1}, src, batch(strings.ReplaceAll(transfer{id: "r"}.native(), "200000", `"much"`), transfer{id: "s", number: "FT9"}.native())) // 5
	for query, want := range map[string][]string{
		"": {"5", "4", "3", "2", "1"}, "state=open": {"5", "4", "3", "2"}, "state=unassigned": {"4", "3"}, "state=conflict": {"2"}, "state=rejected": {"5"},
		"source_id=2": {"4"}, "source_id=1&state=unassigned": {"3"}, "before=3": {"2", "1"}, "before=x": {"5", "4", "3", "2", "1"}, "before=1": nil,
	} {
		if got := b.get("/inbound/events?" + query).events(t); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{"state=x", "source_id=9", "source_id=x"} {
		b.get("/inbound/events?"+query).wantStatus(t, http.StatusUnprocessableEntity)
	}
	b.get("/").shows(t, "2 transactions are waiting", "1 received item could not be read", "1 received item conflicts")
	for i := range 40 {
		w.names(recorded, src, transfer{id: strconv.Itoa(100 + i), number: "N" + strconv.Itoa(i)})
	}
	var all []string
	next := "/inbound/events"
	for next != "" {
		a := b.get(next)
		all = append(all, a.events(t)...)
		m := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(a.body)
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
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	src := w.native()
	b := w.browser().signIn("lan")
	w.names(counts{Unassigned: 1}, src, transfer{})
	w.names(counts{Unassigned: 1}, src, transfer{id: "2", number: "FT2"})
	w.names(counts{Unassigned: 1}, src, transfer{id: "3", number: "FT3", account: "777"})
	w.sends(src, batch(strings.ReplaceAll(transfer{id: "4"}.native(), "200000", `"a"`), strings.ReplaceAll(transfer{id: "5"}.native(), "200000", `"b"`)))

	page := b.get("/inbound/events/1")
	page.shows(t, `<option value="ACB" selected`, `value="`+someAccount+`"`, "+200,000\u00a0₫", "is not a linked bank account", `name="item_id"`)
	b.post("/inbound/events/1/link", "bank", "ACB", "account_number", someAccount).shows(t, "Account holder is required", `value="`+someAccount+`"`)
	b.post("/inbound/events/1/link", "bank", "VCB", "account_number", someAccount, "account_name", "A").wantStatus(t, http.StatusUnprocessableEntity)
	if len(w.banks()) != 0 {
		t.Fatal("linked by a form with a fault")
	}
	b.post("/inbound/events/1/link", "bank", "ACB", "account_number", someAccount, "account_name", "NGUYEN VAN A", "notify", "none").goes(t, "/inbound/events/1")
	a := b.get("/inbound/events/1")
	a.shows(t, "Recorded: 1", "from other waiting calls: 1", "Settled")
	w.wantTransactions(2)
	b.post("/inbound/events/1/link", "bank", "ACB", "account_number", someAccount).shows(t, "Nothing of this event is unassigned.")

	b.post("/inbound/events/4/retry").goes(t, "/inbound/events/4")
	b.get("/inbound/events/4").shows(t, "unreadable: 2")
	b.post("/inbound/events/4/discard", "item_id", "99").wantStatus(t, http.StatusUnprocessableEntity)
	b.post("/inbound/events/4/discard", "item_id", "x").wantStatus(t, http.StatusUnprocessableEntity)
	item := regexp.MustCompile(`name="item_id" value="(\d+)"`).FindStringSubmatch(b.get("/inbound/events/4").body)
	b.post("/inbound/events/4/discard", "item_id", item[1]).goes(t, "/inbound/events/4")
	b.post("/inbound/events/4/discard").shows(t, "Nothing was discarded")
	b.post("/inbound/events/4/discard", "sure", "1").goes(t, "/inbound/events/4")
	b.get("/inbound/events/4").shows(t, "Items discarded: 1", "Settled")
	w.wantTransactions(2)
}

// What others send is text, whatever it holds.
func TestHostileEventsAreInert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	src := w.native()
	script := `<script>alert(1)<\/script><img src=x onerror=alert(1)>{{.Data}}`
	w.wants(counts{Unassigned: 1}, src, batch(transfer{id: script, content: script, gateway: script, account: "1"}.native()))
	w.sends(src, "\xff\x00\u202e\u200b<script>alert(1)</script>")
	b := w.browser().signIn("lan")
	for _, path := range []string{"/", "/inbound", "/inbound/events", "/inbound/events/1", "/inbound/events/2"} {
		a := b.get(path)
		a.wantStatus(t, http.StatusOK)
		for _, bad := range []string{"<script>alert", "<img src=x", "ZgotmplZ", "\u202e", "\x00"} {
			if strings.Contains(a.body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
	}
	b.get("/inbound/events/2").shows(t, `\xff\u0000\u202e\u200b<script>alert(1)</script>`)
	name := `"><script>alert(1)</script>`
	b.post("/inbound/sources", "provider", "native", "name", name).shown(t, w.url)
	for _, path := range []string{"/inbound", "/inbound/sources/2", "/inbound/sources/2/remove", "/inbound/sources/2/rotate", "/inbound/events", "/inbound/refused"} {
		if a := b.get(path); a.status != http.StatusOK || strings.Contains(a.body, "<script>alert") {
			t.Errorf("%s: %d, or a script", path, a.status)
		}
	}
}

// What of the way in needs somebody stands on the overview, calmly.
func TestInboundAttention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	src := w.native()
	b := w.browser().signIn("lan")
	lastCall := func(ago time.Duration) {
		w.file(func(db *sql.DB) error {
			_, err := db.Exec(`UPDATE sources SET last_call_at = ?`, time.Now().Add(-ago).Unix())
			return err
		})
	}
	says := func(want bool, text string) {
		t.Helper()
		if got := strings.Contains(b.get("/").body, text); got != want {
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
		at := time.Now().In(w.service.Zone()).AddDate(0, 0, -day).Format(app.TimeLayout)
		w.names(recorded, src, transfer{id: strconv.Itoa(day), number: "D" + strconv.Itoa(day), date: at})
	}
	lastCall(25 * time.Hour)
	says(true, silent)
	w.sepay()
	says(false, silent)

	w.file(func(db *sql.DB) error {
		_, err := db.Exec(`UPDATE bank_accounts SET status = 'error'`)
		return err
	})
	says(true, "connection to the bank is broken")
	says(true, `href="/banks/1"`)
	b.get("/banks").shows(t, "connection to the bank is broken", "error")
	w.file(func(db *sql.DB) error {
		_, err := db.Exec(`UPDATE sources SET poll_error = 'key_refused' WHERE id = 2`)
		return err
	})
	says(true, "rejects the API key")
	b.get("/banks/1").shows(t, "rejects the API key")
	b.get("/inbound").shows(t, "API key rejected")

	says(false, `href="/inbound/events?state=unassigned"`)
	w.names(unassigned, src, transfer{id: "other", account: "99887766"})
	says(true, `href="/inbound/events?state=unassigned"`)
}
