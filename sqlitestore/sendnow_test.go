package sqlitestore_test

import (
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// What was attempted since a webhook's deliveries were to be sent now, and waits
// again, isn't sent once more; nor does the same form send twice.
func TestSendWaitingOnce(t *testing.T) {
	t.Parallel()
	path := create(t)
	h := newHistory(t, path, 5)
	defer h.store.Close()
	h.record(h.elements(2, "1000"))
	ctx, now := t.Context(), h.now.Add(time.Second)
	due, err := h.store.Due(ctx, delivery.DueFilter{WebhookID: 1, Limit: 2}, now)
	must(t, err)
	for i, o := range due {
		_, err := h.service.Deliveries.Settle(ctx, o,
			delivery.Result{StartedAt: now.Add(time.Duration(i) * time.Second), StatusCode: 500, Error: delivery.ErrorHTTPStatus})
		must(t, err)
	}
	asked := now.Add(500 * time.Millisecond) // between the two attempts
	key := app.IdempotencyKey{Key: "a form"}
	for range 2 {
		n, err := h.service.Deliveries.SendWaiting(ctx, 1, 1, key, asked)
		if n != 1 || err != nil {
			t.Errorf("%d sent, %v; want 1, the other was attempted since", n, err)
		}
	}
	if _, err := h.service.Deliveries.SendWaiting(ctx, 1, 99, app.IdempotencyKey{}, asked); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("an unknown webhook: %v", err)
	}
	if err := h.service.Deliveries.SendNow(ctx, 2, due[0].ID, app.IdempotencyKey{}, asked); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("another account's delivery: %v", err)
	}
	// However many wait, each is made due once; those that are due already are none of
	// them.
	h.record(h.elements(900, "1000"))
	wait := func(due time.Time, of string) {
		must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error {
			return exec(`UPDATE deliveries SET due_ms = ? WHERE state = 0 AND webhook_id = 1 AND `+of, due.UnixMilli())
		}))
	}
	later := now.Add(time.Hour)
	wait(later.Add(time.Hour), "true")
	wait(later, "id % 100 = 0")
	waiting := peek(t, path, `SELECT count(*) FROM deliveries WHERE state = 0 AND webhook_id = 1 AND id % 100 <> 0`)[0][0].(int64)
	if n, err := h.service.Deliveries.SendWaiting(ctx, 1, 1, app.IdempotencyKey{}, later); int64(n) != waiting || n < 800 || err != nil {
		t.Errorf("%d sent of %d, %v", n, waiting, err)
	}
	must(t, h.store.Write(ctx, func(exec func(string, ...any) error) error { return exec(`UPDATE webhooks SET secret = x''`) }))
	if _, err := h.service.Deliveries.SendWaiting(ctx, 1, 1, app.IdempotencyKey{}, asked); app.CodeOf(err) != app.CodeSecretLost {
		t.Errorf("without a secret: %v", err)
	}
	if err := h.service.Deliveries.SendNow(ctx, 1, due[0].ID, app.IdempotencyKey{}, asked); app.CodeOf(err) != app.CodeSecretLost {
		t.Errorf("without a secret: %v", err)
	}
}
