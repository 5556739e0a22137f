package courier

import (
	"context"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// begin takes a slot and starts the attempt in a goroutine of its own.
func (c *Courier) begin(w *webhookState, o delivery.Outgoing) {
	c.begun = max(c.begun, o.ID)
	w.host, w.sheet = hostOf(o.URL), o.Kind == delivery.WebhookSheet
	c.hosts[w.host]++
	w.inFlight[o.ID] = struct{}{}
	w.taken++
	c.taken++
	c.running.Go(func() {
		growStack(0)
		if err := app.Protected(func() error { c.attempt(c.ctx, w, o); return nil }); err != nil {
			c.log.Error("panic after an attempt", "delivery", o.ID, "err", err)
		}
	})
}

// growStack makes the stack of a new goroutine as large as an attempt needs, while
// little is on it. Otherwise it grows deep inside the dial, where all of it is copied:
// that took 3 % of the server's time.
//
//go:noinline
func growStack(i int) byte {
	var room [8 << 10]byte
	room[i] = 1
	return room[len(room)-1-i]
}

func (c *Courier) attempt(ctx context.Context, w *webhookState, o delivery.Outgoing) {
	result := c.protectedSend(ctx, o)
	if ctx.Err() != nil {
		return // the server stopped in the middle: nothing is recorded, and the delivery is due at the next start
	}
	if result.Error == delivery.ErrorShortage {
		c.postpone(w, o, result.Detail.Cause)
		return
	}
	ok := c.settle(ctx, o, result)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(w, o)
	w.shortage = ""
	if !ok {
		return // the server stopped: the delivery stays in flight
	}
	w.settled, w.ended = append(w.settled, o.ID), time.Now()
	if result.StatusCode == 0 {
		w.unanswered++
	} else {
		w.unanswered, w.answered = 0, true
	}
	if w.moreFirst || w.moreRetry {
		c.hot[o.WebhookID] = true
		if w.taken < slotsPerWebhook/2 || time.Since(w.filled[0]) >= refillPause {
			c.signal()
		}
	}
}

// protectedSend turns a panic in one attempt into that attempt's failure.
func (c *Courier) protectedSend(ctx context.Context, o delivery.Outgoing) (result delivery.Result) {
	started := time.Now()
	if err := app.Protected(func() error { result = c.send(ctx, o); return nil }); err != nil {
		c.log.Error("panic in an attempt", "delivery", o.ID, "err", err)
		return delivery.Result{StartedAt: started, Duration: time.Since(started), Error: delivery.ErrorInternal}
	}
	return result
}

// settle records a result. It tries again after every error, and the delivery isn't
// sent again meanwhile. No attempt begins while the storage is unavailable; any other
// error holds up this delivery only. settle returns false if the server stops first:
// the delivery is then due at the next start.
func (c *Courier) settle(ctx context.Context, o delivery.Outgoing, result delivery.Result) bool {
	record := func() error {
		_, err := c.service.Deliveries.Settle(ctx, o, result)
		return err
	}
	err := app.Protected(record)
	if err == nil {
		return true
	}
	c.log.Error("record an attempt", "delivery", o.ID, "err", err)
	counted := 0 // in unsettled
	defer func() { c.addUnsettled(-counted) }()
	for wait := 100 * time.Millisecond; err != nil; {
		now, longest := 0, time.Minute
		if app.CodeOf(err) == app.CodeUnavailable {
			now, longest = 1, 2*time.Second
		}
		c.addUnsettled(now - counted)
		counted = now
		wait = min(wait, longest)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		wait *= 2
		err = app.Protected(record)
	}
	c.log.Info("recorded an attempt at last", "delivery", o.ID)
	return true
}

func (c *Courier) addUnsettled(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsettled += n; n < 0 && c.unsettled == 0 {
		c.full = true
		c.signal()
	}
}

// postpone handles an attempt that could not be made because of a shortage on this
// machine. It isn't counted as an attempt: the delivery stays due.
func (c *Courier) postpone(w *webhookState, o delivery.Outgoing, shortage delivery.Cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.shortage == "" {
		c.log.Warn("no attempt could be made because this machine is short of something; it is made within seconds", "webhook", o.WebhookID,
			"shortage", string(shortage))
	}
	w.shortage, w.notBefore = shortage, time.Now().Add(shortagePause)
	delete(w.inFlight, o.ID)
	c.release(w, o)
}

// release frees a slot and wakes the webhooks that wait for one.
func (c *Courier) release(w *webhookState, o delivery.Outgoing) {
	w.taken--
	c.taken--
	host := hostOf(o.URL)
	if c.hosts[host]--; c.hosts[host] == 0 {
		delete(c.hosts, host)
	}
	for _, key := range []string{host, anyHost} {
		for webhook := range c.waiting[key] {
			c.hot[webhook] = true
			c.signal()
		}
		delete(c.waiting, key)
	}
}
