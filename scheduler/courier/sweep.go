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

// refillPause is how long a lane that is at least half full waits before it
// reads due deliveries again: to fill many slots at once costs little more than
// to fill one.
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

	looked time.Time // when the last sweep began; only sweeps use it

	wake    chan struct{}
	running sync.WaitGroup

	ctx context.Context // of the attempts, which may go on after the last sweep

	mu        sync.Mutex
	full      bool                          // the next sweep looks at every webhook
	hot       map[int64]bool                // webhooks that the next sweep looks at; true: also at their retries
	lanes     map[int64]*lane               // by webhook
	taken     int                           // slots
	unsettled int                           // results that wait for the storage
	begun     int64                         // the greatest id of a delivery that was attempted
	stopped   bool                          // no attempt begins any more
	swept     time.Time                     // when the last sweep ended
	nextDue   time.Time                     // the earliest due time that the last look at every webhook found
	refillAt  time.Time                     // when a lane may read due deliveries again; zero: no lane waits
	hosts     map[string]int                // slots by host
	waiting   map[string]map[int64]struct{} // webhooks that wait for a slot of a host; under anyHost, of any host
}

// New makes a courier whose attempts end with ctx; send makes one. It begins with Run.
func New(ctx context.Context, service *services.All, send func(context.Context, delivery.Outgoing) delivery.Result,
	log *slog.Logger) *Courier {
	return &Courier{
		ctx: ctx, service: service, send: send, log: log,
		wake: make(chan struct{}, 1), hot: map[int64]bool{}, lanes: map[int64]*lane{}, full: true,
		hosts: map[string]int{}, waiting: map[string]map[int64]struct{}{}, swept: time.Now(),
	}
}

// Wait waits until all attempts have been settled.
func (c *Courier) Wait() { c.running.Wait() }

// Wake begins the attempts of deliveries that were just queued where that is
// possible, and has the sweep look at the webhooks of the others.
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

// beginReady begins an attempt without a look at the file. A sweep may have
// found the delivery since its commit, and be done with it: then an attempt of
// it, or of a later one, has begun. Ids are in the order of commits.
func (c *Courier) beginReady(o delivery.Outgoing) bool {
	if o.ID <= c.begun || c.stopped || c.unsettled > 0 {
		return false
	}
	l := c.lane(o.WebhookID)
	if time.Now().Before(l.notBefore) {
		return false
	}
	if _, waiting := c.hot[o.WebhookID]; waiting || l.moreFirst || c.free(l, false) == 0 || c.hosts[hostOf(o.URL)] >= slotsPerHost {
		return false
	}
	c.begin(l, o)
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
	for webhook, l := range c.lanes {
		if time.Since(l.ended) < betweenAttempts {
			list[webhook] = nil
		}
		for id := range l.inFlight {
			if !slices.Contains(l.settled, id) {
				list[webhook] = append(list[webhook], id)
			}
		}
	}
	return list
}

func (c *Courier) noteSweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.swept = time.Now()
}

func (c *Courier) LastSweep() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.swept
}

// ShortageOf says what this machine lacked for a webhook's last attempt; empty:
// nothing.
func (c *Courier) ShortageOf(webhookID int64) delivery.Cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lanes[webhookID]; l != nil {
		return l.shortage
	}
	return ""
}

// LookEverywhere has the courier look at every webhook, for deliveries that are to
// be sent now, that another process queued, and for any that it missed.
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

// Run sweeps until quit is closed. Attempts may go on after it returns.
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

// sweep gives slots to what is due: first attempts of every webhook before the
// retries of any, and those of webhooks that answer before the others.
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

// followClock moves what waits where the clock was set forward since the last sweep:
// else every retry would be due at once. Where it was set back, the due times are too
// far away, see addBacklogs.
func (c *Courier) followClock(ctx context.Context, now time.Time) error {
	before := c.looked
	c.looked = now
	if before.IsZero() {
		return nil
	}
	step := now.Round(0).Sub(before.Round(0)) - now.Sub(before)
	if step > smallStep {
		if _, err := c.service.Deliveries.MoveRetries(ctx, before, before.Add(step)); err != nil {
			c.looked = before
			return err
		}
	}
	c.NoteStep(upkeep.ClockStep{By: step, At: now})
	return nil
}

// NoteStep tells of a step of the clock that is large enough.
func (c *Courier) NoteStep(step upkeep.ClockStep) {
	if c.service.Upkeep.NoteClockStep(step) {
		c.log.Warn(step.Text().EN)
	}
}

// takeHot gives what the sweep looks at: nothing while results wait for the
// storage to come back, since new work would only add to them.
func (c *Courier) takeHot() (hot map[int64]bool, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsettled > 0 {
		return nil, false
	}
	hot, full = c.hot, c.full
	c.hot, c.full, c.refillAt = map[int64]bool{}, false, time.Time{}
	for id, l := range c.lanes {
		l.forgetSettled()
		if len(l.inFlight) == 0 && l.unanswered == 0 && !l.answered && l.shortage == "" {
			delete(c.lanes, id)
		}
	}
	return hot, full
}

// answeringFirst orders webhooks: those whose receivers answer, then the
// others. The order of a map is random, so no webhook is always first.
func (c *Courier) answeringFirst(hot map[int64]bool) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var answering, others []int64
	for id := range hot {
		if l := c.lanes[id]; l != nil && l.answers() {
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

// moreAndFilled are what fill knows of a lane's first attempts or of its retries.
func (l *lane) moreAndFilled(retries bool) (more *bool, filled *time.Time) {
	if retries {
		return &l.moreRetry, &l.filled[1]
	}
	return &l.moreFirst, &l.filled[0]
}

// mayBegin counts the attempts of a webhook that may begin now. skip lists the
// deliveries that are in flight.
func (c *Courier) mayBegin(webhookID int64, now time.Time, retries bool) (free int, skip []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lane(webhookID)
	if now.Before(l.notBefore) {
		return 0, nil // the regular sweep comes back
	}
	more, filled := l.moreAndFilled(retries)
	if l.taken >= slotsPerWebhook/2 && now.Sub(*filled) < refillPause {
		*more, c.hot[webhookID] = true, c.hot[webhookID] || retries
		if at := filled.Add(refillPause); c.refillAt.IsZero() || at.Before(c.refillAt) {
			c.refillAt = at
		}
		return 0, nil
	}
	if free = c.freeOrWait(l, webhookID, retries); c.hosts[l.host] >= slotsPerHost {
		free = 0
		c.waitFor(l.host, webhookID)
	}
	*more = *more || free == 0 // until the file is read, nothing begins before what waits there
	skip = make([]int64, 0, len(l.inFlight))
	for id := range l.inFlight {
		skip = append(skip, id)
	}
	return free, skip
}

// beginDue begins the attempts of due deliveries of a webhook. mayBeMore says that
// the file may have more of them.
func (c *Courier) beginDue(webhookID int64, due []delivery.Outgoing, mayBeMore bool, now time.Time, retries bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lane(webhookID)
	more, filled := l.moreAndFilled(retries)
	*more, *filled = mayBeMore, now
	for _, o := range due {
		if _, begun := l.inFlight[o.ID]; begun { // by Wake, since the file was read
			continue
		}
		if c.freeOrWait(l, webhookID, retries) == 0 { // taken by Wake meanwhile
			*more = true
			return
		}
		if host := hostOf(o.URL); c.hosts[host] >= slotsPerHost {
			*more = true
			c.waitFor(host, webhookID)
			return
		}
		c.begin(l, o)
	}
}
