package sqlitestore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/inbound"
)

// TestUnsentAfterIndexing cancels deliveries of transactions that are indexed
// as sent: whoever asks for those that no shop was told of finds them, but for
// one that was told in the last moment.
func TestUnsentAfterIndexing(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 1)
	defer h.store.Close()
	ctx := context.Background()
	for i := range 5 {
		_, _, err := h.service.Inbound.RecordByHand(ctx, 1, inbound.TransactionCreate{Incoming: inbound.Incoming{
			EventID: fmt.Sprint(i), Gateway: "ACB", AccountNumber: "1000", Type: app.In, Amount: 5, Time: h.now,
		}}, h.now)
		must(t, err)
	}
	left, err := h.store.IndexSearch(ctx)
	must(t, err)
	if left != 0 {
		t.Fatalf("%d transactions aren't indexed", left)
	}
	wantUnsent := func(when string, want ...int64) {
		t.Helper()
		for _, countTo := range []int64{0, 100} {
			page, err := h.service.Ledger.Transactions(ctx, 1,
				app.TransactionFilter{DeliveryState: app.DeliveryUnsent, Page: app.Page{Number: 1, Size: 10, CountTo: countTo}})
			must(t, err)
			if got := idsOf(page.Rows); !slices.Equal(got, want) || page.Total != int64(len(want)) {
				t.Errorf("%s: %v, total %d, want %v", when, got, page.Total, want)
			}
		}
	}
	wantUnsent("at first")
	first, second := h.hooks[0], h.hooks[1] // both are of account 1 and told of money in
	due, err := h.service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: second.ID, Limit: 1}, h.now)
	must(t, err)
	must(t, h.service.Deliveries.DeleteWebhook(ctx, 1, first.ID, h.now))
	wantUnsent("one webhook is deleted")
	must(t, h.service.Deliveries.DeleteWebhook(ctx, 1, second.ID, h.now))
	wantUnsent("both are deleted", 5, 4, 3, 2, 1)
	_, err = h.service.Deliveries.Settle(ctx, due[0], delivery.Result{StartedAt: h.now, StatusCode: 200})
	must(t, err)
	wantUnsent("one was told", slices.DeleteFunc([]int64{5, 4, 3, 2, 1}, func(id int64) bool { return id == due[0].TransactionID })...)
}
