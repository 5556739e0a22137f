package courier

import (
	"context"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/delivery"
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
				c.log.Warn("the clock was ahead and was set back: pending retries start their wait again", "retries", n)
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
