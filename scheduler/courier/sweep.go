// Package courier makes the attempts of due deliveries. The way of a delivery: a wake
// signal, the timer of the next due time or the regular sweep → sweep.go finds what is
// due and asks slots.go for a slot → attempt.go begins, sends by sender.go (one signed
// POST, over a connection that network.go opens to an allowed address) and settles: app/delivery
// decides what follows, in one commit → the slot is released.
package courier

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/upkeep"
)

// refillPause is how long a webhook that has at least half of its slots waits before
// its due deliveries are read again: to fill many slots at once costs little more
// than to fill one.
const refillPause = 4 * time.Millisecond

// maxTimer bounds the sleep until the next due time, so that a delivery is at
// most this late after the clock was set.
const maxTimer = 5 * time.Second

// smallStep is how far the clock may be set without a change of due times.
const smallStep = time.Second

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
// commits: where an attempt of this delivery or of a later one has begun, a sweep may
// have found this delivery already, so nothing is done.
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

// Run sweeps until quit is closed. Attempts may continue after it returns.
func (c *Courier) Run(quit <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-quit:
			c.mu.Lock()
			c.stopped = true
			c.mu.Unlock()
			return
		case <-c.wake:
		case <-timer.C:
			c.mu.Lock()
			c.full = c.full || !c.nextDue.IsZero() && !time.Now().Before(c.nextDue)
			c.mu.Unlock()
		}
		if err := app.Protected(func() error { return c.sweep(c.ctx) }); err != nil {
			c.log.Error("look for due deliveries", "err", err)
			c.setNextDue(time.Time{}) // the regular sweep tries again
		}
		c.noteSweep()
		timer.Reset(c.untilNextDue())
	}
}

func (c *Courier) untilNextDue() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := maxTimer
	if c.unsettled > 0 {
		return wait // the regular sweep and the storage's recovery wake it
	}
	for _, at := range []time.Time{c.nextDue, c.refillAt} {
		if !at.IsZero() {
			wait = min(wait, max(time.Until(at), 0))
		}
	}
	return wait
}

// sweep gives slots to due deliveries: to all first attempts before any retry, and to
// webhooks that answer before those that don't.
func (c *Courier) sweep(ctx context.Context) error {
	now := time.Now()
	if err := c.followClock(ctx, now); err != nil {
		return err
	}
	hot, full := c.takeHot()
	if full {
		if err := c.addBacklogs(ctx, hot, now); err != nil {
			return err
		}
	}
	order := c.answeringFirst(hot)
	for _, id := range order {
		c.fill(ctx, id, now, false)
	}
	for _, id := range order {
		if hot[id] {
			c.fill(ctx, id, now, true)
		}
	}
	return nil
}

// followClock moves the due times of retries if the clock was set forward since the
// last sweep: otherwise every retry would be due at once. addBacklogs corrects the due
// times after a clock was set back.
func (c *Courier) followClock(ctx context.Context, now time.Time) error {
	before := c.sweepBegan
	c.sweepBegan = now
	if before.IsZero() {
		return nil
	}
	step := now.Round(0).Sub(before.Round(0)) - now.Sub(before)
	if step > smallStep {
		if _, err := c.service.Deliveries.MoveRetries(ctx, before, before.Add(step)); err != nil {
			c.sweepBegan = before
			return err
		}
	}
	c.NoteStep(upkeep.ClockStep{By: step, At: now})
	return nil
}

// NoteStep records and logs a step of the clock that is large enough.
func (c *Courier) NoteStep(step upkeep.ClockStep) {
	if c.service.Upkeep.NoteClockStep(step) {
		c.log.Warn(step.Text().EN)
	}
}

// takeHot returns the webhooks that the sweep looks at: none while results wait for
// the storage to recover, since new attempts would only add to them.
func (c *Courier) takeHot() (hot map[int64]bool, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsettled > 0 {
		return nil, false
	}
	hot, full = c.hot, c.full
	c.hot, c.full, c.refillAt = map[int64]bool{}, false, time.Time{}
	for id, w := range c.webhooks {
		w.forgetSettled()
		if len(w.inFlight) == 0 && w.unanswered == 0 && !w.answered && w.shortage == "" {
			delete(c.webhooks, id)
		}
	}
	return hot, full
}

// answeringFirst orders webhooks: those that answer come first. The order of a map is
// random, so no webhook is always first.
func (c *Courier) answeringFirst(hot map[int64]bool) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var answering, others []int64
	for id := range hot {
		if w := c.webhooks[id]; w != nil && w.answers() {
			answering = append(answering, id)
		} else {
			others = append(others, id)
		}
	}
	return append(answering, others...)
}

// addBacklogs adds the webhooks with due deliveries to hot.
func (c *Courier) addBacklogs(ctx context.Context, hot map[int64]bool, now time.Time) error {
	backlogs, err := c.service.Deliveries.Backlogs(ctx, now)
	if err != nil {
		return err
	}
	var next time.Time
	for _, b := range backlogs {
		if b.LastDue.Sub(now) > c.service.Deliveries.LongestWait() {
			n, err := c.service.Deliveries.PullRetries(ctx, now)
			if err == nil {
				c.log.Warn("retries waited for a time that the clock had ahead; they wait anew", "retries", n)
			}
			return errors.Join(err, c.addBacklogs(ctx, hot, now))
		}
		if b.Due {
			hot[b.WebhookID] = true
		}
		if !b.NextDue.IsZero() && (next.IsZero() || b.NextDue.Before(next)) {
			next = b.NextDue
		}
	}
	c.setNextDue(next)
	return nil
}

func (c *Courier) setNextDue(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextDue = at
}

// fill starts as many due attempts of a webhook as it has slots for.
func (c *Courier) fill(ctx context.Context, webhookID int64, now time.Time, retries bool) {
	free, skip := c.mayBegin(webhookID, now, retries)
	if free == 0 {
		return
	}
	var due []delivery.Outgoing
	err := app.Protected(func() (err error) {
		due, err = c.service.Deliveries.Due(ctx, delivery.DueFilter{WebhookID: webhookID, Retries: retries, Skip: skip, Limit: free}, now)
		return err
	})
	if err != nil {
		c.log.Error("read due deliveries", "webhook", webhookID, "err", err)
		return
	}
	c.beginDue(webhookID, due, len(due) == free, now, retries)
}

// moreAndFilled returns the fields of a webhook's first attempts, or of its retries.
func (w *webhookState) moreAndFilled(retries bool) (more *bool, filled *time.Time) {
	if retries {
		return &w.moreRetry, &w.filled[1]
	}
	return &w.moreFirst, &w.filled[0]
}

// mayBegin counts the attempts of a webhook that may begin now. skip lists the
// deliveries that are in flight.
func (c *Courier) mayBegin(webhookID int64, now time.Time, retries bool) (free int, skip []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.state(webhookID)
	if now.Before(w.notBefore) {
		return 0, nil // the regular sweep comes back
	}
	more, filled := w.moreAndFilled(retries)
	if w.taken >= slotsPerWebhook/2 && now.Sub(*filled) < refillPause {
		*more, c.hot[webhookID] = true, c.hot[webhookID] || retries
		if at := filled.Add(refillPause); c.refillAt.IsZero() || at.Before(c.refillAt) {
			c.refillAt = at
		}
		return 0, nil
	}
	if free = c.freeOrWait(w, webhookID, retries); c.hosts[w.host] >= slotsPerHost {
		free = 0
		c.waitFor(w.host, webhookID)
	}
	*more = *more || free == 0 // until the file is read, no new delivery begins before those that wait there
	skip = make([]int64, 0, len(w.inFlight))
	for id := range w.inFlight {
		skip = append(skip, id)
	}
	return free, skip
}

// beginDue begins the attempts of due deliveries of a webhook. mayBeMore says that
// the file may have more of them.
func (c *Courier) beginDue(webhookID int64, due []delivery.Outgoing, mayBeMore bool, now time.Time, retries bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.state(webhookID)
	more, filled := w.moreAndFilled(retries)
	*more, *filled = mayBeMore, now
	for _, o := range due {
		if _, begun := w.inFlight[o.ID]; begun { // by Wake, since the file was read
			continue
		}
		if c.freeOrWait(w, webhookID, retries) == 0 { // taken by Wake meanwhile
			*more = true
			return
		}
		if host := hostOf(o.URL); c.hosts[host] >= slotsPerHost {
			*more = true
			c.waitFor(host, webhookID)
			return
		}
		c.begin(w, o)
	}
}
