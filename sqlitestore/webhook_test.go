package sqlitestore_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/upkeep"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestWebhookHealth compares the kept health of webhooks with what the
// attempts say, which share commits and cross the hours. Tests are among them,
// which no hour counts.
func TestWebhookHealth(t *testing.T) {
	t.Parallel()
	ctx, random := context.Background(), rand.New(rand.NewPCG(5, 6))
	path := create(t)
	h := newHistory(t, path, 3)
	defer h.store.Close()
	begin := h.now
	made := map[int64][]delivery.Attempt{}
	var mu sync.Mutex
	check := func() {
		t.Helper()
		for _, account := range []int64{1, h.hooks[len(h.hooks)-1].AccountID} {
			got, err := h.store.WebhookHealth(ctx, account, 0, h.now)
			must(t, err)
			var want []delivery.WebhookHealth
			for _, hook := range h.hooks {
				if hook.AccountID == account {
					want = append(want, healthOf(hook.ID, made[hook.ID], h.now))
				}
			}
			var sum delivery.HourHealth
			for _, h := range want {
				sum.Succeeded += h.Sum().Succeeded
				sum.Failed += h.Sum().Failed
			}
			if all, err := h.service.Deliveries.DeliveryHealth(ctx, account, h.now); err != nil || all.Delivered != sum.Succeeded ||
				all.Failed != sum.Failed {
				t.Errorf("account %d together: %+v, %v; want %+v", account, all, err, sum)
			}
			if d := gocmp.Diff(want, got, cmpopts.EquateApproxTime(0)); d != "" {
				t.Errorf("account %d (-of the attempts +kept):\n%s", account, d)
			}
		}
	}
	for range 150 {
		h.now = h.now.Add(time.Duration(random.IntN(40)) * time.Minute)
		h.record(h.elements(3, "1000"))
		due := map[int64][]delivery.Outgoing{}
		for _, hook := range h.hooks {
			var err error
			due[hook.ID], err = h.service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: hook.ID, Limit: 6}, h.now)
			must(t, err)
		}
		var all sync.WaitGroup
		for range 1 + random.IntN(6) {
			hook := h.hooks[random.IntN(len(h.hooks)-1)] // the last is never attempted
			var next *delivery.Outgoing                  // nil: a test is made
			if list := due[hook.ID]; len(list) > 0 && random.IntN(3) > 0 {
				next, due[hook.ID] = &list[0], list[1:]
			}
			status, ago := 200, time.Duration(random.IntN(5000))*time.Millisecond
			if random.IntN(2) == 0 {
				status = 500
			}
			all.Go(func() {
				if next == nil {
					o, err := h.store.AddTest(ctx, hook.AccountID, hook.ID,
						func(delivery.Webhook) delivery.Payload { return delivery.Payload{TransferType: app.In} }, h.now)
					if err != nil {
						t.Error(err)
						return
					}
					next = &o
				}
				result := delivery.Result{StartedAt: h.now.Add(-ago), StatusCode: status, Duration: ago}
				if status != 200 {
					result.Error, result.Detail = delivery.ErrorHTTPStatus, delivery.Detail{Text: "said"}
				}
				a, err := h.service.Deliveries.Settle(ctx, *next, result)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				made[hook.ID] = append(made[hook.ID], a)
				mu.Unlock()
			})
		}
		all.Wait()
		check()
	}
	h.now = h.now.Add(20 * time.Hour)
	hours := func() int64 { return peek(t, path, `SELECT count(*) FROM webhook_hours`)[0][0].(int64) }
	before := hours()
	_, err := h.service.Upkeep.Prune(ctx, upkeep.PruneLimits{}, h.now)
	must(t, err)
	check()
	if after := hours(); after == 0 || after == before || h.now.Sub(begin) < 60*time.Hour {
		t.Errorf("of %d hours that were kept over %s, %d are left", before, h.now.Sub(begin), after)
	}
	one, err := h.service.Deliveries.WebhookHealth(ctx, 1, h.hooks[1].ID, h.now)
	must(t, err)
	if d := gocmp.Diff(healthOf(h.hooks[1].ID, made[h.hooks[1].ID], h.now), one, cmpopts.EquateApproxTime(0)); d != "" {
		t.Error(d)
	}
	if _, err := h.service.Deliveries.WebhookHealth(ctx, 1, h.hooks[3].ID, h.now); app.CodeOf(err) != app.CodeNotFound {
		t.Errorf("a webhook of another account: %v", err)
	}
}

// healthOf is the plain meaning of a webhook's health, of whose deliveries none was
// attempted twice.
func healthOf(id int64, made []delivery.Attempt, now time.Time) delivery.WebhookHealth {
	health := delivery.WebhookHealth{WebhookID: id}
	slices.SortFunc(made, func(a, b delivery.Attempt) int { return int(a.ID - b.ID) })
	for _, a := range made {
		health.HistoryID, health.Last = a.ID, a.Result
		if a.Result.OK() {
			health.FailedInRow = 0
		} else {
			health.FailedInRow++
		}
		if !a.NextAttemptAt.IsZero() {
			health.Retrying++
			if health.RetryAt.IsZero() || a.NextAttemptAt.Before(health.RetryAt) {
				health.RetryAt = a.NextAttemptAt
			}
		}
		if a.Delivery.TransactionID == 0 {
			continue
		}
		ago := int(now.Truncate(time.Hour).Sub(a.Result.StartedAt.Truncate(time.Hour)) / time.Hour)
		if ago >= delivery.HealthHours {
			continue
		}
		if hour := &health.Hours[delivery.HealthHours-1-ago]; a.Result.OK() {
			hour.Succeeded++
		} else {
			hour.Failed++
		}
	}
	return health
}

// Replayable counts what Replay makes.
func TestReplayableIsWhatReplayMakes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHistory(t, create(t), 11)
	defer h.store.Close()
	for range 40 {
		h.step()
	}
	for range 6 * len(delivery.RetrySchedule) {
		h.now = h.now.Add(11 * time.Minute) // retries come due
		for i, hook := range h.hooks {
			due, err := h.service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: hook.ID, Retries: true, Limit: 10 + 5*i}, h.now)
			must(t, err)
			first, err := h.service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: hook.ID, Limit: 10}, h.now)
			must(t, err)
			for _, o := range append(due, first...) {
				_, err := h.service.Deliveries.Settle(ctx, o, delivery.Result{StartedAt: h.now, Error: delivery.ErrorTimeout})
				must(t, err)
			}
		}
	}
	some := false
	for _, hook := range h.hooks {
		for _, from := range []time.Time{{}, h.now.Add(-20 * time.Hour)} {
			in := delivery.ReplayCreate{WebhookID: hook.ID, From: from}
			n, all, err := h.service.Deliveries.Replayable(ctx, hook.AccountID, in, 1_000_000, h.now)
			must(t, err)
			if few, rest, err := h.service.Deliveries.Replayable(ctx, hook.AccountID, in, 1, h.now); err != nil || few > 1 || n > 1 && rest {
				t.Errorf("of the last failed one: %d, %v, %v", few, rest, err)
			}
			if other, _, err := h.service.Deliveries.Replayable(ctx, 3-hook.AccountID, in, 100, h.now); err != nil || other != 0 {
				t.Errorf("asked by another account: %d, %v", other, err)
			}
			if from.IsZero() {
				continue
			}
			made, err := h.service.Deliveries.Replay(ctx, hook.AccountID, in, h.now)
			must(t, err)
			if int64(made) != n || !all {
				t.Errorf("webhook %d: %d of all (%v) can be replayed, %d were", hook.ID, n, all, made)
			}
			some = some || made > 0
		}
	}
	if !some {
		t.Error("nothing was replayed: the history shows nothing")
	}
}
