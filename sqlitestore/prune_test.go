package sqlitestore_test

import (
	"context"
	"testing"
	"time"

	"baoco/app"
)

// What was discarded stays known after its item is pruned: the provider's
// repetition is a duplicate, whatever it says.
func TestPrunedItemStaysKnown(t *testing.T) {
	ctx := context.Background()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	call := func(amount int64) app.Recording {
		t.Helper()
		r, err := h.service.RecordTransactions(ctx, app.InboundCall{
			AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []app.Incoming{{EventID: "x", Gateway: "ACB", AccountNumber: "999", Type: app.In, Amount: amount, Time: h.now}},
		})
		must(t, err)
		return r
	}
	if r := call(5); r.Unassigned != 1 {
		t.Fatalf("%+v", r)
	}
	events, _, err := h.service.InboundEvents(ctx, 1, app.InboundFilter{Page: app.Page{Number: 1, Size: 1}})
	must(t, err)
	_, err = h.service.DiscardInbound(ctx, 1, events[0].ID)
	must(t, err)
	h.now = h.now.Add(time.Hour)
	if p, err := h.service.Prune(ctx, app.PruneLimits{Inbound: time.Minute}, h.now); err != nil || p.InboundEvents != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, amount := range []int64{5, 6} {
		if r := call(amount); r.Duplicates != 1 {
			t.Errorf("an amount of %d: %+v", amount, r)
		}
	}
}

// Once every inbound event is pruned, the next one has the id of the first: it
// isn't where an old transaction comes from.
func TestPrunedEventIsNobodyElse(t *testing.T) {
	ctx := context.Background()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	call := func(eventID string) {
		t.Helper()
		r, err := h.service.RecordTransactions(ctx, app.InboundCall{
			AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []app.Incoming{{EventID: eventID, Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5, Time: h.now}},
		})
		must(t, err)
		if r.Recorded != 1 {
			t.Fatalf("%+v", r)
		}
	}
	came := func(id, want int64) {
		t.Helper()
		p, err := h.service.Provenance(ctx, 1, id)
		must(t, err)
		if p.InboundEventID != want {
			t.Errorf("transaction %d comes from the event %d, want %d", id, p.InboundEventID, want)
		}
	}
	call("x")
	came(1, 1)
	h.now = h.now.Add(time.Hour)
	_, err := h.service.Prune(ctx, app.PruneLimits{Inbound: time.Minute}, h.now)
	must(t, err)
	call("y")
	came(1, 0)
	came(2, 1)
	source := h.sources[0].ID
	known, err := h.store.KnownEvents(ctx, 1, []app.EventRef{
		{SourceID: source, Channel: app.ChannelCall, EventID: "x"}, {SourceID: source, Channel: app.ChannelCall, EventID: "y"},
	})
	must(t, err)
	if known[0].TransactionEvent != 0 || known[1].TransactionEvent != 1 {
		t.Errorf("x was recorded by %d, y by %d", known[0].TransactionEvent, known[1].TransactionEvent)
	}
}
