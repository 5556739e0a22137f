package sqlitestore_test

import (
	"context"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/upkeep"
)

// What was discarded stays known after its item is pruned: the provider's
// repetition is a duplicate, whatever it says.
func TestPrunedItemStaysKnown(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHistory(t, create(t), 1)
	defer h.store.Close()
	call := func(amount int64) inbound.Recording {
		t.Helper()
		r, err := h.service.Inbound.RecordTransactions(ctx, inbound.Call{
			AccountID: 1, Source: h.sources[0], Channel: app.ChannelCall, Body: []byte("{}"), ReceivedAt: h.now,
			Elements: []inbound.Incoming{{EventID: "x", Gateway: "ACB", AccountNumber: "999", Type: app.In, Amount: amount, Time: h.now}},
		})
		must(t, err)
		return r
	}
	if r := call(5); r.Unassigned != 1 {
		t.Fatalf("%+v", r)
	}
	events, _, err := h.service.Inbound.InboundEvents(ctx, 1, inbound.Filter{Page: app.Page{Number: 1, Size: 1}})
	must(t, err)
	_, err = h.service.Inbound.DiscardInbound(ctx, 1, events[0].ID)
	must(t, err)
	h.now = h.now.Add(time.Hour)
	if p, err := h.service.Upkeep.Prune(ctx, upkeep.PruneLimits{Inbound: time.Minute}, h.now); err != nil || p.InboundEvents != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, amount := range []int64{5, 6} {
		if r := call(amount); r.Duplicates != 1 {
			t.Errorf("an amount of %d: %+v", amount, r)
		}
	}
}
