package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/inbound"
	"baoco/app/services"
	"baoco/web/webtest"

	"github.com/google/go-cmp/cmp"
)

// TestInboundElements: what became of each element is found again, whatever it
// was.
func TestInboundElements(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	till, sepay := w.Native(), w.Sepay()
	bad := func(id string) string {
		return strings.ReplaceAll(apptest.Transfer{ID: id}.Native(), "200000", `"much"`)
	}
	w.Wants(webtest.Counts{Recorded: 2, Duplicates: 1, Unassigned: 1, Conflicts: 1, Rejected: 1}, till, apptest.Batch(
		apptest.Transfer{ID: "1", Number: "FT1", Content: "DH1"}.Native(),
		apptest.Transfer{ID: "2", Number: "FT2", Direction: "OUT", Amount: 5}.Native(),
		// 1
		apptest.Transfer{ID: "1", Number: "FT1"}.Native(), apptest.Transfer{ID: "3", Account: "999"}.Native(),
		apptest.Transfer{ID: "1", Amount: 7}.Native(), bad("4")))
	wantSaid(w, 1,
		apptest.Said{State: inbound.OutcomeRecorded, Amount: 200000, Content: "DH1", Transaction: 1},
		apptest.Said{State: inbound.OutcomeRecorded, Amount: 5, Content: "NAPTIEN MOMO", Transaction: 2},
		apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 1},
		apptest.Said{State: inbound.OutcomeUnassigned, Amount: 200000, Content: "NAPTIEN MOMO", Open: true},
		apptest.Said{State: inbound.OutcomeConflict, Amount: 7, Content: "NAPTIEN MOMO", Transaction: 1, Open: true},
		apptest.Said{State: inbound.OutcomeRejected, Content: "NAPTIEN MOMO", Open: true})

	// What is repeated: as another source names it, again, and in conflict again.
	// 2
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "77", Number: "FT1", Content: "other words"})
	// 3
	w.Names(webtest.Duplicate, sepay, apptest.Transfer{ID: "77", Number: "FT1"})
	// 4
	w.Wants(webtest.Counts{Duplicates: 2}, till,
		apptest.Batch(apptest.Transfer{ID: "1"}.Native(), apptest.Transfer{ID: "3", Account: "999"}.Native()))
	w.Names(webtest.Conflict, till, apptest.Transfer{ID: "1", Amount: 7})      // 5
	w.Names(webtest.Conflict, till, apptest.Transfer{ID: "3", Account: "888"}) // 6
	wantSaid(w, 2, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "other words", Transaction: 1})
	wantSaid(w, 3, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 1})
	wantSaid(w, 4, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 1},
		apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "NAPTIEN MOMO", WaitsIn: 1})
	wantSaid(w, 5, apptest.Said{State: inbound.OutcomeConflict, Amount: 7, Content: "NAPTIEN MOMO", Transaction: 1})
	wantSaid(w, 6, apptest.Said{State: inbound.OutcomeConflict, Amount: 200000, Content: "NAPTIEN MOMO", WaitsIn: 1, Open: true})
	w.Tallies()
	w.Names(webtest.Conflict, till, apptest.Transfer{ID: "3", Account: "888"}) // 7, which is kept once
	wantSaid(w, 7, apptest.Said{State: inbound.OutcomeConflict, Amount: 200000, Content: "NAPTIEN MOMO", WaitsIn: 1})

	// What somebody decides shows, in the event and in what repeats it.
	l := linksEvent(w, 1, `{"bank":"ACB","account_name":"A"}`)
	if l.Recorded != 1 {
		t.Fatalf("%+v", l)
	}
	if list, e := w.Reads(1); list[3].State != inbound.OutcomeRecorded || list[3].Transaction != 3 || list[3].Open ||
		e.Elements[3].Item == nil || e.Elements[3].Fault != nil {
		t.Errorf("linked: %+v", list[3])
	}
	if list, _ := w.Reads(4); list[1].State != inbound.OutcomeDuplicate || list[1].Transaction != 3 || list[1].WaitsIn != 0 {
		t.Errorf("repeated: %+v", list[1])
	}
	w.Tallies()
	_, err := w.Services.Inbound.DiscardInbound(context.Background(), 1, 1)
	apptest.Must(t, err)
	if list, _ := w.Reads(1); list[4].State != inbound.OutcomeDiscarded || list[5].State != inbound.OutcomeDiscarded || list[5].Open {
		t.Errorf("discarded: %+v", list)
	}

	// What can't be read is that, though its event id is a transaction's.
	w.Sends(till, apptest.Batch(bad("1"))).WantStatus(t, http.StatusUnprocessableEntity) // 8
	wantSaid(w, 8, apptest.Said{State: inbound.OutcomeRejected, Content: "NAPTIEN MOMO", Transaction: 1, Open: true})
	_, err = w.Services.Inbound.DiscardInbound(context.Background(), 1, 8)
	apptest.Must(t, err)
	wantSaid(w, 8, apptest.Said{State: inbound.OutcomeDiscarded, Content: "NAPTIEN MOMO", Transaction: 1})

	// A transaction that is pruned from the log stays what it was.
	w.Change(`DELETE FROM inbound_items WHERE inbound_event_id = 1; DELETE FROM inbound_events WHERE id = 1`)
	wantSaid(w, 2, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "other words", Transaction: 1})
	wantSaid(w, 6, apptest.Said{State: inbound.OutcomeConflict, Amount: 200000, Content: "NAPTIEN MOMO", Transaction: 3, Open: true})
}

// TestInboundElementsPruned: what was discarded and pruned from the log stays a duplicate,
// whatever it says.
func TestInboundElementsPruned(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	till := w.Native()
	w.Names(webtest.Unassigned, till, apptest.Transfer{ID: "1"}) // 1
	_, err := w.Services.Inbound.DiscardInbound(t.Context(), 1, 1)
	apptest.Must(t, err)
	w.Change(`DELETE FROM inbound_items; DELETE FROM inbound_events`)
	w.Names(webtest.Duplicate, till, apptest.Transfer{ID: "1", Amount: 7}) // 2
	wantSaid(w, 2, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 7, Content: "NAPTIEN MOMO"})
}

// TestInboundElementsThatMayBeRepeats: what repeats one says where it waits, and what a
// person said counts.
func TestInboundElementsThatMayBeRepeats(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.Names(webtest.Recorded, w.Sepay(), apptest.Transfer{ID: "1", Content: "ANH BA TRA TIEN BAN"}) // 1
	till, x := w.Native(), apptest.Transfer{ID: "2", Content: "ck"}
	w.Names(webtest.Counts{MayRepeat: 1}, till, x) // 2
	w.Names(webtest.Duplicate, till, x)            // 3
	wantSaid(w, 2, apptest.Said{State: inbound.OutcomeMayBeRepeat, Amount: 200000, Content: "ck", Transaction: 1, Open: true})
	wantSaid(w, 3, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "ck", WaitsIn: 2})
	w.API("POST", "/api/v1/inbound/2/settle", `{"repeat":true}`, http.StatusOK, nil)
	wantSaid(w, 2, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "ck", Transaction: 1})
	wantSaid(w, 3, apptest.Said{State: inbound.OutcomeDuplicate, Amount: 200000, Content: "ck", Transaction: 1})
	if _, e := w.Reads(2); e.Elements[0].Item == nil || e.Elements[0].Fault != nil {
		t.Errorf("settled: %+v", e.Elements[0])
	}
}

// TestInboundElementsOfTwoItems: somebody decides about two faults of an element each for
// itself; one that was discarded is not shown beside an open one.
func TestInboundElementsOfTwoItems(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := t.Context()
	fault := "one"
	faulty := apptest.Over(t, w.Store, services.Config{
		Read: func(_ inbound.Source, _ app.Channel, body []byte, _ time.Time, _ *time.Location) (r inbound.Reading) {
			if fault != "" {
				r.Elements = apptest.ReadNative(body)
				r.Elements[0].Fault = &app.FieldError{Field: "content", Text: app.Text{EN: fault, VI: fault}}
			}
			return r
		},
	})
	want := func(want ...inbound.Outcome) {
		t.Helper()
		e, err := faulty.Inbound.ReadInboundEvent(ctx, 1, 1)
		apptest.Must(t, err)
		var got []inbound.Outcome
		for _, i := range e.Elements {
			got = append(got, i.State)
		}
		if !slices.Equal(got, want) || e.ElementCount != len(want) {
			t.Errorf("%v of %d, want %v", got, e.ElementCount, want)
		}
	}
	retry := func() {
		t.Helper()
		_, err := faulty.Inbound.RetryInbound(ctx, 1, 1, time.Now())
		apptest.Must(t, err)
	}
	w.Names(webtest.Unassigned, w.Native(), apptest.Transfer{})
	retry()
	want(inbound.OutcomeUnassigned, inbound.OutcomeRejected)
	_, err := faulty.Inbound.DiscardInbound(ctx, 1, 1)
	apptest.Must(t, err)
	want(inbound.OutcomeDiscarded)
	fault = "another"
	retry()
	want(inbound.OutcomeRejected)
	fault = "" // nothing of the body can be read any more
	want(inbound.OutcomeRejected)
}

// TestInboundElementsRetried: a retry may record what was rejected or
// discarded, and reject it anew.
func TestInboundElementsRetried(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	ctx := context.Background()
	w.Link("ACB", apptest.SomeAccount)
	phone := w.Source("capcom6", "", "")
	read := func() []apptest.Said {
		t.Helper()
		list, _ := w.Reads(1)
		if len(list) != 1 || list[0].Amount != 200000 {
			t.Fatalf("%+v", list)
		}
		return list
	}
	w.Texts(webtest.Rejected, phone, apptest.PhoneText{Sender: "+84900000001"})
	if list := read(); list[0].State != inbound.OutcomeRejected || !list[0].Open {
		t.Fatalf("%+v", list)
	}
	if _, e := w.Reads(1); e.Elements[0].Sender != "+84900000001" { // whom somebody may allow
		t.Errorf("the sender is %q", e.Elements[0].Sender)
	}
	_, err := w.Services.Inbound.DiscardInbound(ctx, 1, 1)
	apptest.Must(t, err)
	if list := read(); list[0].State != inbound.OutcomeDiscarded || list[0].Open {
		t.Errorf("discarded: %+v", list)
	}
	_, err = w.Services.Inbound.RetryInbound(ctx, 1, 1, time.Now())
	apptest.Must(t, err)
	if list := read(); list[0].State != inbound.OutcomeDiscarded || list[0].Open {
		t.Errorf("tried again in vain, for the same reason: %+v", list)
	}
	_, err = w.Services.Inbound.AllowSenders(ctx, 1, phone.ID, []string{"+84900000001"})
	apptest.Must(t, err)
	if list := read(); list[0].State != inbound.OutcomeDiscarded {
		t.Errorf("allowed, but not tried again: %+v", list)
	}
	r, err := w.Services.Inbound.RetryInbound(ctx, 1, 1, time.Now())
	apptest.Must(t, err)
	if list := read(); r.Recorded != 1 || list[0].State != inbound.OutcomeRecorded || list[0].Transaction != 1 {
		t.Errorf("recorded after all: %+v", list)
	}
}

// TestInboundNothing: a call without elements says in words what it was, and a
// one-time code leaves nothing to say.
func TestInboundNothing(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	b := w.Browser().SignIn("lan")
	w.Wants(webtest.Counts{}, w.Native(), apptest.Batch())
	e, err := w.Services.Inbound.ReadInboundEvent(context.Background(), 1, 1)
	apptest.Must(t, err)
	if e.Explanation.VI == "" || len(e.Elements) != 0 {
		t.Errorf("%+v", e)
	}
	b.Get("/inbound/events").Shows(t, e.Explanation.EN)
	b.Get("/inbound/events/1").Shows(t, e.Explanation.EN)
	var shown struct {
		Event struct {
			Nothing  string
			Elements []any
		}
	}
	w.API("GET", "/api/v1/inbound/1", "", http.StatusOK, &shown)
	if shown.Event.Nothing != e.Explanation.EN || shown.Event.Elements == nil || len(shown.Event.Elements) != 0 {
		t.Errorf("%+v", shown)
	}
}

// TestInboundByHand: what somebody recorded is read as it was recorded.
func TestInboundByHand(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.API("POST", "/api/v1/transactions", apptest.Transfer{Content: "by hand"}.Native(), http.StatusCreated, nil)
	wantSaid(w, 1, apptest.Said{State: inbound.OutcomeRecorded, Amount: 200000, Content: "by hand", Transaction: 1})
	w.Tallies()
}

// TestEventLogSays: a row of the log says the first that was recorded, and how
// many others there are; of a body that is too long it says so.
func TestEventLogSays(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	till := w.Native()
	b := w.Browser().SignIn("lan")
	w.Names(webtest.Recorded, till, apptest.Transfer{ID: "1", Content: "first"})
	b.Get("/inbound/events").Shows(t, "first", "+200,000\u00a0₫", `href="/transactions/1"`)
	b.Get("/inbound/events/1").Shows(t, "first", "+200,000\u00a0₫", "transaction 1", `href="/transactions/1"`)
	w.Wants(webtest.Counts{Recorded: 1, Duplicates: 2}, till, apptest.Batch(apptest.Transfer{ID: "1", Content: "first"}.Native(),
		apptest.Transfer{ID: "2", Number: "FT2", Content: "second", Direction: "OUT", Amount: 1549000}.Native(),
		apptest.Transfer{ID: "1", Content: "first"}.Native()))
	b.Get("/inbound/events?before=3").Shows(t, "second", "−1,549,000\u00a0₫", "+2 more", `href="/transactions/2"`)

	// A provider's list has the new ones at one end.
	var list []string
	for range 20 {
		list = append(list, apptest.Transfer{ID: "1", Content: "first"}.Native())
	}
	w.Wants(webtest.Counts{Recorded: 1, Duplicates: 20}, till,
		apptest.Batch(append(list, apptest.Transfer{ID: "4", Number: "FT4", Content: "newest"}.Native())...))
	b.Get("/inbound/events?before=4").Shows(t, "newest", "+20 more", `href="/transactions/3"`)
	listed := func(position, count int) {
		t.Helper()
		events, _, err := w.Services.Inbound.InboundEventsBefore(context.Background(), 1, inbound.Filter{Page: app.Page{Number: 1, Size: 1}})
		apptest.Must(t, err)
		if e := events[0]; len(e.Elements) != 1 || e.Elements[0].Position != position || e.ElementCount != count {
			t.Errorf("%+v", e)
		}
	}
	listed(20, 21)

	long := apptest.Transfer{ID: "3", Number: "FT3", Content: "third"}.Native()
	w.Wants(webtest.Recorded, till, apptest.Batch(long)[:len(apptest.Batch(long))-1]+strings.Repeat(" ", inbound.ListedBody)+"}")
	b.Get("/inbound/events").Shows(t, "Too long for this list")
	b.Get("/inbound/events/4").Shows(t, "third")
	b.Get("/transactions/4").Shows(t, `href="/inbound/events/4"`)

	// Three at each end are looked at, so that the log is quick.
	for i, c := range []struct{ at, listed int }{{3, 0}, {2, 2}, {18, 18}, {17, 0}} {
		one := apptest.Transfer{ID: fmt.Sprint("among", i), Number: fmt.Sprint("FTA", i)}.Native()
		w.Wants(webtest.Counts{Recorded: 1, Duplicates: 20}, till, apptest.Batch(slices.Insert(slices.Clone(list[:20]), c.at, one)...))
		listed(c.listed, 21)
	}
}

// TestEventLogIsShort: a page of the log reads a mebibyte of bodies again, where each
// element counts as 100 bytes more, and the one with which that is passed.
func TestEventLogIsShort(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	till := w.Native()
	unread := func(read, unread int) {
		t.Helper()
		events, _, err := w.Services.Inbound.InboundEventsBefore(context.Background(), 1,
			inbound.Filter{Page: app.Page{Number: 1, Size: read + unread}})
		apptest.Must(t, err)
		for i, e := range events {
			if e.Unread != (i >= read) || (len(e.Elements) == 0) != e.Unread {
				t.Errorf("event %d of %d is unread: %v", i, len(events), e.Unread)
			}
		}
	}
	many := apptest.Batch(slices.Repeat([]string{"0"}, inbound.MaxElements)...) // 204 kB
	for range 7 {
		w.WantsRefusal(till, many, http.StatusUnprocessableEntity, app.CodeValidation, "transactions[0]")
	}
	unread(6, 1)
	long := apptest.Batch(apptest.Transfer{ID: "1"}.Native())
	long += strings.Repeat(" ", 60<<10-len(long))
	for range 19 {
		w.Sends(till, long).WantStatus(t, http.StatusOK)
	}
	unread(18, 1)
}

// TestInboundManyElements: of a call with more elements than are shown those
// that need attention are among the shown.
func TestInboundManyElements(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	var elements []string
	for i := range inbound.ShownItems + 50 {
		elements = append(elements, apptest.Transfer{ID: fmt.Sprint("e", i), Number: fmt.Sprint("N", i)}.Native())
	}
	elements[len(elements)-1] = apptest.Transfer{ID: "waits", Account: "999", Content: "at the very end"}.Native()
	w.Wants(webtest.Counts{Recorded: len(elements) - 1, Unassigned: 1}, w.Native(), apptest.Batch(elements...))
	list, e := w.Reads(1)
	last := list[len(list)-1]
	if len(list) != inbound.ShownItems || e.ElementCount != len(elements) || !last.Open || last.Content != "at the very end" ||
		e.Elements[len(list)-1].Position != len(elements)-1 {
		t.Errorf("%d of %d, the last %+v", len(list), e.ElementCount, last)
	}
	w.Browser().SignIn("lan").Get("/inbound/events/1").Shows(t, "at the very end", "Not shown: 50 more.")
}

// TestInboundElementsOddIDs: an event id may hold anything that a text can, and
// what a page shows of it does nothing.
func TestInboundElementsOddIDs(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.User(1, "lan", access.RoleOwner)
	w.Link("ACB", apptest.SomeAccount)
	till, b := w.Native(), w.Browser().SignIn("lan")
	for n, id := range []string{`"],["`, `'); DROP TABLE event_ids; --`, "\x00a\\", "<script>alert(1)</script>", "\u2028&é", "\u200b\u202e",
		strings.Repeat("ữ", 500), "7", "007"} {
		w.Names(webtest.Recorded, till,
			apptest.Transfer{ID: id, Number: fmt.Sprint("N", n), Content: "<img src=x onerror=alert(1)>" + strings.Repeat("x", 2500)})
		if list, _ := w.Reads(int64(n + 1)); len(list) != 1 || list[0].State != inbound.OutcomeRecorded || list[0].Transaction != int64(n+1) {
			t.Errorf("%q: %+v", id, list)
		}
		for _, path := range []string{"/inbound/events", fmt.Sprint("/inbound/events/", n+1)} {
			if a := b.Get(path); a.Status != http.StatusOK || strings.Contains(a.Body, "<script>alert") || strings.Contains(a.Body, "<img src=x") {
				t.Errorf("%s of %q: %d, or not inert", path, id, a.Status)
			}
		}
	}
	w.Tallies()
}

// TestInboundElementsOfOthers: another account sees nothing of a call, and none
// of its transactions.
func TestInboundElementsOfOthers(t *testing.T) {
	t.Parallel()
	w := webtest.NewWorld(t)
	w.Link("ACB", apptest.SomeAccount)
	w.Names(webtest.Recorded, w.Native(), apptest.Transfer{})
	other, err := w.Services.Ledger.CreateAccount(context.Background(), "other", time.Now())
	apptest.Must(t, err)
	if _, err := w.Services.Inbound.ReadInboundEvent(context.Background(), other.ID, 1); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("%v", err)
	}
	bodies, err := w.Store.InboundBodies(context.Background(), other.ID, []int64{1}, inbound.ListedBody)
	apptest.Must(t, err)
	known, err := w.Store.KnownEvents(context.Background(), other.ID,
		[]inbound.EventRef{{SourceID: 1, Channel: app.ChannelCall, EventID: "3521"}})
	apptest.Must(t, err)
	sources, err := w.Store.InboundSources(context.Background(), other.ID, []int64{1})
	apptest.Must(t, err)
	if len(bodies) != 0 || len(sources) != 0 || !slices.Equal(known, []*inbound.KnownEvent{nil}) {
		t.Errorf("%v %v %v", bodies, sources, known)
	}
}

func wantSaid(w *webtest.World, event int64, want ...apptest.Said) {
	w.T.Helper()
	got, e := w.Reads(event)
	if diff := cmp.Diff(want, got); diff != "" {
		w.T.Errorf("event %d (-want +got):\n%s", event, diff)
	}
	if e.ElementCount != len(want) {
		w.T.Errorf("event %d names %d, want %d", event, e.ElementCount, len(want))
	}
}
