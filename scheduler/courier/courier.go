// Package courier makes the attempts of due deliveries. The way of a delivery: it was just
// recorded (Wake in courier.go), or sweep.go finds it due in the file → slots.go says whether
// its webhook gets a slot → attempt.go begins, sends by sender.go and settles: app/delivery
// decides what follows, in one commit → the slot is released.
//
// sender.go makes one signed POST. exchange.go writes it to a connection that kept.go has for
// this webhook alone, or that network.go opens to an allowed address; phases.go measures it,
// and classify.go says why no answer came.
package courier

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"baoco/app/delivery"
	"baoco/app/services"
)

// Courier makes the attempts of due deliveries. One goroutine sweeps: it looks
// for due deliveries and gives them slots. Each attempt has a goroutine of its
// own, which also settles it. The first attempt of a new delivery begins at
// once, without a sweep, if its webhook has no other delivery waiting.
//
// The file doesn't say what is in flight: a delivery stays pending and due
// there until it is settled, and only the courier knows which are in flight.
// After a crash such a delivery is due again.
type Courier struct {
	service *services.All
	send    func(ctx context.Context, o delivery.Outgoing) delivery.Result
	log     *slog.Logger

	sweepBegan time.Time // when the last sweep began; only sweeps use it

	wake    chan struct{}
	running sync.WaitGroup

	ctx context.Context // of the attempts, which may continue after the last sweep

	mu         sync.Mutex
	full       bool                          // the next sweep looks at every webhook
	hot        map[int64]bool                // webhooks that the next sweep looks at; true: also at their retries
	webhooks   map[int64]*webhookState       // by webhook
	taken      int                           // slots
	unsettled  int                           // results that wait for the storage
	begun      int64                         // the greatest id of a delivery that was attempted
	stopped    bool                          // no attempt begins any more
	sweepEnded time.Time                     // when the last sweep ended
	nextDue    time.Time                     // the earliest due time that the last look at every webhook found
	refillAt   time.Time                     // when a webhook's due deliveries may be read again; zero: no webhook waits for that
	hosts      map[string]int                // slots by host
	waiting    map[string]map[int64]struct{} // webhooks that wait for a slot of a host; under anyHost, of any host
}

// New makes a courier whose attempts end with ctx; send makes one. It begins with Run.
func New(ctx context.Context, service *services.All, send func(context.Context, delivery.Outgoing) delivery.Result,
	log *slog.Logger) *Courier {
	return &Courier{
		ctx: ctx, service: service, send: send, log: log,
		wake: make(chan struct{}, 1), hot: map[int64]bool{}, webhooks: map[int64]*webhookState{}, full: true,
		hosts: map[string]int{}, waiting: map[string]map[int64]struct{}{}, sweepEnded: time.Now(),
	}
}

// Wait waits until all attempts have been settled.
func (c *Courier) Wait() { c.running.Wait() }

// Wake is called for deliveries that were just queued. It begins an attempt at once
// where that is possible; otherwise the next sweep looks at the webhook.
func (c *Courier) Wake(webhookIDs []int64, ready []delivery.Outgoing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range webhookIDs {
		if i < len(ready) && c.beginReady(ready[i]) {
			continue
		}
		if !c.hot[id] {
			c.hot[id] = false
		}
		c.signal()
	}
}

// beginReady begins an attempt without a look at the file. Ids are in the order of
// commits: once an attempt of this delivery or of a later one has begun, a sweep may have
// found this delivery already, so beginReady leaves it to the sweep.
func (c *Courier) beginReady(o delivery.Outgoing) bool {
	if o.ID <= c.begun || c.stopped || c.unsettled > 0 {
		return false
	}
	w := c.state(o.WebhookID)
	if time.Now().Before(w.notBefore) {
		return false
	}
	if _, waiting := c.hot[o.WebhookID]; waiting || w.moreFirst || c.free(w, false) == 0 || c.hosts[hostOf(o.URL)] >= slotsPerHost {
		return false
	}
	c.begin(w, o)
	return true
}

// betweenAttempts is how long after an attempt the next one to the webhook may take
// to begin, while it waits for a commit, a sweep and a slot.
const betweenAttempts = 10 * time.Second

// InFlight lists the deliveries that are being attempted, by webhook. The list of a
// webhook is empty between two attempts.
func (c *Courier) InFlight() map[int64][]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := map[int64][]int64{}
	for webhook, w := range c.webhooks {
		if time.Since(w.ended) < betweenAttempts {
			list[webhook] = nil
		}
		for id := range w.inFlight {
			if !slices.Contains(w.settled, id) {
				list[webhook] = append(list[webhook], id)
			}
		}
	}
	return list
}

func (c *Courier) noteSweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweepEnded = time.Now()
}

func (c *Courier) LastSweep() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sweepEnded
}

// ShortageOf says what this machine was short of for a webhook's last attempt; empty:
// nothing.
func (c *Courier) ShortageOf(webhookID int64) delivery.Cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.webhooks[webhookID]; w != nil {
		return w.shortage
	}
	return ""
}

// LookEverywhere has the next sweep look at every webhook. It finds deliveries that
// somebody sends now, that another process queued, and that earlier sweeps missed.
func (c *Courier) LookEverywhere() {
	c.mu.Lock()
	c.full = true
	c.mu.Unlock()
	c.signal()
}

func (c *Courier) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
