package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"

	"github.com/google/go-cmp/cmp"
)

// said is what an element of an event is read as, and what became of it.
type said struct {
	State       app.Outcome
	Amount      int64
	Content     string
	Transaction int64
	WaitsIn     int64
	Open        bool // it has an item that needs attention
}

// reads is what an event said, and its event.
func (w *world) reads(event int64) ([]said, app.InboundEvent) {
	w.t.Helper()
	e, err := w.service.ReadInboundEvent(context.Background(), 1, event)
	must(w.t, err)
	var list []said
	for _, i := range e.Elements {
		list = append(list, said{i.State, i.Amount, i.Content, i.TransactionID, i.WaitsIn, i.Item != nil && i.Item.State.Open()})
	}
	return list, e
}

func (w *world) wantSaid(event int64, want ...said) {
	w.t.Helper()
	got, e := w.reads(event)
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("event %d (-want +got):\n%s", event, diff)
	}
	if e.Named != len(want) {
		w.t.Errorf("event %d names %d, want %d", event, e.Named, len(want))
	}
}

// tallies checks that what every event said adds up to what was counted when
// it was recorded.
func (w *world) tallies() {
	w.t.Helper()
	for _, e := range w.events() {
		list, _ := w.reads(e.ID)
		var r app.Recording
		for _, s := range list {
			r.Count(s.State, 0)
		}
		got, want := counts{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected}, counts{e.Recorded, e.Duplicates, e.Unassigned, e.Conflicts, e.Rejected}
		if got != want {
			w.t.Errorf("event %d is read as %+v and was counted as %+v", e.ID, got, want)
		}
	}
}

// TestInboundElements: what became of each element is found again, whatever it
// was.
func TestInboundElements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	till, sepay := w.native(), w.sepay()
	bad := func(id string) string { return strings.ReplaceAll(transfer{id: id}.native(), "200000", `"much"`) }
	w.wants(counts{Recorded: 2, Duplicates: 1, Unassigned: 1, Conflicts: 1, Rejected: 1}, till, batch(
		transfer{id: "1", number: "FT1", content: "DH1"}.native(), transfer{id: "2", number: "FT2", direction: "OUT", amount: 5}.native(),
		transfer{id: "1", number: "FT1"}.native(), transfer{id: "3", account: "999"}.native(), transfer{id: "1", amount: 7}.native(), bad("4"))) // 1
	w.wantSaid(1,
		said{State: app.OutcomeRecorded, Amount: 200000, Content: "DH1", Transaction: 1}, said{State: app.OutcomeRecorded, Amount: 5, Content: "NAPTIEN MOMO", Transaction: 2},
		said{State: app.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 1}, said{State: app.OutcomeUnassigned, Amount: 200000, Content: "NAPTIEN MOMO", Open: true},
		said{State: app.OutcomeConflict, Amount: 7, Content: "NAPTIEN MOMO", Transaction: 1, Open: true}, said{State: app.OutcomeRejected, Content: "NAPTIEN MOMO", Open: true})

	// What is repeated: as another source names it, again, and in conflict again.
	w.names(duplicate, sepay, transfer{id: "77", number: "FT1", content: "other words"})                                // 2
	w.names(duplicate, sepay, transfer{id: "77", number: "FT1"})                                                        // 3
	w.wants(counts{Duplicates: 2}, till, batch(transfer{id: "1"}.native(), transfer{id: "3", account: "999"}.native())) // 4
	w.names(conflict, till, transfer{id: "1", amount: 7})                                                               // 5
	w.names(conflict, till, transfer{id: "3", account: "888"})                                                          // 6
	w.wantSaid(2, said{State: app.OutcomeDuplicate, Amount: 200000, Content: "other words", Transaction: 1})
	w.wantSaid(3, said{State: app.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 1})
	w.wantSaid(4, said{State: app.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 1},
		said{State: app.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", WaitsIn: 1})
	w.wantSaid(5, said{State: app.OutcomeConflict, Amount: 7, Content: "NAPTIEN MOMO", Transaction: 1})
	w.wantSaid(6, said{State: app.OutcomeConflict, Amount: 200000, Content: "NAPTIEN MOMO", WaitsIn: 1, Open: true})
	w.tallies()

	// What somebody decides shows, in the event and in what repeats it.
	l := w.linksEvent(w.apiKey(app.ScopeFull), 1, `{"bank":"ACB","account_name":"A"}`)
	if l.Recorded != 1 {
		t.Fatalf("%+v", l)
	}
	if list, _ := w.reads(1); list[3].State != app.OutcomeRecorded || list[3].Transaction != 3 || list[3].Open {
		t.Errorf("linked: %+v", list[3])
	}
	if list, _ := w.reads(4); list[1].State != app.OutcomeDuplicate || list[1].Transaction != 3 || list[1].WaitsIn != 0 {
		t.Errorf("repeated: %+v", list[1])
	}
	w.tallies()
	_, err := w.service.DiscardInbound(context.Background(), 1, 1)
	must(t, err)
	if list, _ := w.reads(1); list[4].State != app.OutcomeDiscarded || list[5].State != app.OutcomeDiscarded || list[5].Open {
		t.Errorf("discarded: %+v", list)
	}

	// What can't be read is that, though its event id is a transaction's.
	w.sends(till, batch(bad("1"))).wantStatus(t, http.StatusUnprocessableEntity) // 7
	w.wantSaid(7, said{State: app.OutcomeRejected, Content: "NAPTIEN MOMO", Transaction: 1, Open: true})
	_, err = w.service.DiscardInbound(context.Background(), 1, 7)
	must(t, err)
	w.wantSaid(7, said{State: app.OutcomeDiscarded, Content: "NAPTIEN MOMO", Transaction: 1})

	// A transaction that is pruned from the log stays what it was.
	w.file(func(db *sql.DB) error {
		_, err := db.Exec(`DELETE FROM inbound_items WHERE inbound_event_id = 1; DELETE FROM inbound_events WHERE id = 1`)
		return err
	})
	w.wantSaid(2, said{State: app.OutcomeDuplicate, Amount: 200000, Content: "other words", Transaction: 1})
	w.wantSaid(6, said{State: app.OutcomeConflict, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 3, Open: true})
}

// TestInboundElementsRetried: a retry may record what was rejected or
// discarded, and reject it anew.
func TestInboundElementsRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.link("ACB", someAccount)
	phone := w.source("capcom6", "", "")
	read := func() []said {
		t.Helper()
		list, _ := w.reads(1)
		if len(list) != 1 || list[0].Amount != 200000 {
			t.Fatalf("%+v", list)
		}
		return list
	}
	w.texts(rejected, phone, phoneText{sender: "+84900000001"})
	if list := read(); list[0].State != app.OutcomeRejected || !list[0].Open {
		t.Fatalf("%+v", list)
	}
	_, err := w.service.DiscardInbound(ctx, 1, 1)
	must(t, err)
	if list := read(); list[0].State != app.OutcomeDiscarded || list[0].Open {
		t.Errorf("discarded: %+v", list)
	}
	_, err = w.service.RetryInbound(ctx, 1, 1, time.Now())
	must(t, err)
	if list := read(); list[0].State != app.OutcomeRejected || !list[0].Open {
		t.Errorf("tried again in vain: %+v", list)
	}
	_, err = w.service.DiscardInbound(ctx, 1, 1)
	must(t, err)
	_, err = w.service.AllowSenders(ctx, 1, phone.ID, []string{"+84900000001"})
	must(t, err)
	if list := read(); list[0].State != app.OutcomeDiscarded {
		t.Errorf("allowed, but not tried again: %+v", list)
	}
	r, err := w.service.RetryInbound(ctx, 1, 1, time.Now())
	must(t, err)
	if list := read(); r.Recorded != 1 || list[0].State != app.OutcomeRecorded || list[0].Transaction != 1 {
		t.Errorf("recorded after all: %+v", list)
	}
}

// TestInboundNothing: a call without elements says in words what it was, and a
// one-time code leaves nothing to say.
func TestInboundNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	b := w.browser().signIn("lan")
	w.wants(counts{}, w.native(), batch())
	e, err := w.service.ReadInboundEvent(context.Background(), 1, 1)
	must(t, err)
	if e.Nothing.VI == "" || len(e.Elements) != 0 {
		t.Errorf("%+v", e)
	}
	b.get("/inbound/events").shows(t, e.Nothing.EN)
	b.get("/inbound/events/1").shows(t, e.Nothing.EN)
	var shown struct {
		Event struct {
			Nothing  string
			Elements []any
		}
	}
	w.api(w.apiKey(app.ScopeRead), "GET", "/api/v1/inbound/1", "", http.StatusOK, &shown)
	if shown.Event.Nothing != e.Nothing.EN || shown.Event.Elements == nil || len(shown.Event.Elements) != 0 {
		t.Errorf("%+v", shown)
	}
}

// TestInboundByHand: what somebody recorded is read as it was recorded.
func TestInboundByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	w.api(w.apiKey(app.ScopeFull), "POST", "/api/v1/transactions", transfer{content: "by hand"}.native(), http.StatusCreated, nil)
	w.wantSaid(1, said{State: app.OutcomeRecorded, Amount: 200000, Content: "by hand", Transaction: 1})
	w.tallies()
}

// TestEventLogSays: a row of the log says the first that was recorded, and how
// many others there are; of a body that is too long it says so.
func TestEventLogSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	till := w.native()
	b := w.browser().signIn("lan")
	w.names(recorded, till, transfer{id: "1", content: "first"})
	b.get("/inbound/events").shows(t, "first", "+200,000\u00a0₫", `href="/transactions/1"`)
	b.get("/inbound/events/1").shows(t, "first", "+200,000\u00a0₫", "transaction 1", `href="/transactions/1"`)
	w.wants(counts{Recorded: 1, Duplicates: 2}, till, batch(transfer{id: "1", content: "first"}.native(),
		transfer{id: "2", number: "FT2", content: "second", direction: "OUT", amount: 1549000}.native(), transfer{id: "1", content: "first"}.native()))
	b.get("/inbound/events?before=3").shows(t, "second", "−1,549,000\u00a0₫", "+2 more", `href="/transactions/2"`)

	// A provider's list has the new ones at one end.
	var list []string
	for range 20 {
		list = append(list, transfer{id: "1", content: "first"}.native())
	}
	w.wants(counts{Recorded: 1, Duplicates: 20}, till, batch(append(list, transfer{id: "4", number: "FT4", content: "newest"}.native())...))
	b.get("/inbound/events?before=4").shows(t, "newest", "+20 more", `href="/transactions/3"`)
	events, _, err := w.service.InboundEventsBefore(context.Background(), 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 1}})
	must(t, err)
	if e := events[0]; len(e.Elements) != 1 || e.Elements[0].Position != 20 || e.Named != 21 {
		t.Errorf("%+v", e)
	}

	long := transfer{id: "3", number: "FT3", content: "third"}.native()
	w.wants(recorded, till, batch(long)[:len(batch(long))-1]+strings.Repeat(" ", app.ListedBody)+"}")
	b.get("/inbound/events").shows(t, "Too long for this list")
	b.get("/inbound/events/4").shows(t, "third")
	b.get("/transactions/4").shows(t, `href="/inbound/events/4"`)
}

// TestInboundManyElements: of a call with more elements than are shown those
// that need attention are among the shown.
func TestInboundManyElements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	var elements []string
	for i := range app.ShownItems + 50 {
		elements = append(elements, transfer{id: fmt.Sprint("e", i), number: fmt.Sprint("N", i)}.native())
	}
	elements[len(elements)-1] = transfer{id: "waits", account: "999", content: "at the very end"}.native()
	w.wants(counts{Recorded: len(elements) - 1, Unassigned: 1}, w.native(), batch(elements...))
	list, e := w.reads(1)
	last := list[len(list)-1]
	if len(list) != app.ShownItems || e.Named != len(elements) || !last.Open || last.Content != "at the very end" || e.Elements[len(list)-1].Position != len(elements)-1 {
		t.Errorf("%d of %d, the last %+v", len(list), e.Named, last)
	}
	w.browser().signIn("lan").get("/inbound/events/1").shows(t, "at the very end", "Not shown: 50 more.")
}

// TestInboundElementsOddIDs: an event id may hold anything that a text can, and
// what a page shows of it does nothing.
func TestInboundElementsOddIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(1, "lan", app.RoleOwner)
	w.link("ACB", someAccount)
	till, b := w.native(), w.browser().signIn("lan")
	for n, id := range []string{`"],["`, `'); DROP TABLE event_ids; --`, "\x00a\\", "<script>alert(1)</script>", "\u2028&é", "\u200b\u202e", strings.Repeat("ữ", 500), "7", "007"} {
		w.names(recorded, till, transfer{id: id, number: fmt.Sprint("N", n), content: "<img src=x onerror=alert(1)>" + strings.Repeat("x", 2500)})
		if list, _ := w.reads(int64(n + 1)); len(list) != 1 || list[0].State != app.OutcomeRecorded || list[0].Transaction != int64(n+1) {
			t.Errorf("%q: %+v", id, list)
		}
		for _, path := range []string{"/inbound/events", fmt.Sprint("/inbound/events/", n+1)} {
			if a := b.get(path); a.status != http.StatusOK || strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "<img src=x") {
				t.Errorf("%s of %q: %d, or not inert", path, id, a.status)
			}
		}
	}
	w.tallies()
}

// TestInboundElementsOfOthers: another account sees nothing of a call, and none
// of its transactions.
func TestInboundElementsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("ACB", someAccount)
	w.names(recorded, w.native(), transfer{})
	other, err := w.service.CreateAccount(context.Background(), "other", time.Now())
	must(t, err)
	if _, err := w.service.ReadInboundEvent(context.Background(), other.ID, 1); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("%v", err)
	}
	bodies, err := w.store.InboundBodies(context.Background(), other.ID, []int64{1}, app.ListedBody)
	must(t, err)
	known, err := w.store.KnownEvents(context.Background(), other.ID, []app.EventRef{{SourceID: 1, Channel: app.ChannelCall, EventID: "3521"}})
	must(t, err)
	sources, err := w.store.InboundSources(context.Background(), other.ID, []int64{1})
	must(t, err)
	if len(bodies) != 0 || len(sources) != 0 || !slices.Equal(known, []*app.KnownEvent{nil}) {
		t.Errorf("%v %v %v", bodies, sources, known)
	}
}
