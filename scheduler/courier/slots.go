package courier

import (
	"strings"
	"time"

	"baoco/app/delivery"
)

// An attempt takes a slot while it is in flight. An attempt to a webhook that
// doesn't answer keeps its slot for the whole timeout. Such webhooks get few
// slots, and together never all of them, so that a webhook that answers always
// finds one.
const (
	slots           = 512
	slotsReserved   = 64          // for first attempts of webhooks with fewer than slotsSilent in flight
	slotsUnanswered = slots - 128 // for all webhooks together that don't answer or haven't answered yet
	slotsPerWebhook = 64
	slotsPerHost    = 64 // a host is a name and a port
	slotsPerSheet   = 4  // for a webhook of delivery.WebhookSheet: its calls wait for one another
	slotsSilent     = 4  // for a webhook that doesn't answer or hasn't answered yet
	silentAfter     = 3  // attempts without an answer in a row
)

// shortagePause is how long a webhook waits after this machine was short of files,
// memory or ports for one of its attempts.
const shortagePause = time.Second

// webhookState is the state of one webhook in the courier.
type webhookState struct {
	inFlight   map[int64]struct{} // ids of deliveries; removed at the sweep after they are settled
	settled    []int64            // ids in inFlight whose result is recorded
	taken      int                // slots
	sheet      bool               // the webhook is one of delivery.WebhookSheet
	host       string             // the host of the last attempt
	unanswered int                // attempts without an answer in a row
	answered   bool               // the webhook has answered since this state was made
	moreFirst  bool               // more first attempts may be due than there were slots
	moreRetry  bool               // more retries may be due than there were slots
	ended      time.Time          // when the last attempt was settled
	filled     [2]time.Time       // when fill last looked for first attempts, and for retries

	shortage  delivery.Cause // what this machine was short of for the last attempt; empty: nothing
	notBefore time.Time      // no attempt begins earlier, because of the shortage
}

// answers reports whether the webhook's receiver is known to answer.
func (w *webhookState) answers() bool { return w.answered && w.unanswered < silentAfter }

// free counts the slots that a webhook may take now. It never gets more than a quarter
// of the slots that are left, so that some are left for the next.
func (c *Courier) free(w *webhookState, retries bool) int {
	left := slots - c.taken
	if retries || w.taken >= slotsSilent {
		left = slots - slotsReserved - c.taken
	}
	most := slotsPerWebhook
	if !w.answers() {
		unanswered := 0
		for _, other := range c.webhooks {
			if !other.answers() {
				unanswered += other.taken
			}
		}
		left = min(left, slotsUnanswered-unanswered)
		if most = slotsSilent; unanswered > slotsUnanswered*2/3 {
			most = 1 // many webhooks are silent: each gets one slot, so that the next finds one
		}
	}
	if w.sheet {
		most = min(most, slotsPerSheet)
	}
	if left <= 0 {
		return 0
	}
	return max(0, min(most-w.taken, max(1, left/4)))
}

// freeOrWait returns what free does. A webhook that gets no slot and has none is woken
// when any slot is released; one that has slots is woken when one of these is released.
func (c *Courier) freeOrWait(w *webhookState, webhookID int64, retries bool) int {
	free := c.free(w, retries)
	if free == 0 && w.taken == 0 {
		c.waitFor(anyHost, webhookID)
	}
	return free
}

func (c *Courier) state(webhookID int64) *webhookState {
	w := c.webhooks[webhookID]
	if w == nil {
		w = &webhookState{inFlight: map[int64]struct{}{}}
		c.webhooks[webhookID] = w
	}
	return w
}

// forgetSettled removes the settled deliveries from inFlight. The sweep calls it
// before it reads the file, so the file already says that they aren't due.
func (w *webhookState) forgetSettled() {
	for _, id := range w.settled {
		delete(w.inFlight, id)
	}
	w.settled = w.settled[:0]
}

// anyHost is the key of the webhooks that wait for a slot of any host.
const anyHost = ""

// waitFor wakes a webhook when a slot of the host is released.
func (c *Courier) waitFor(host string, webhookID int64) {
	if c.waiting[host] == nil {
		c.waiting[host] = map[int64]struct{}{}
	}
	c.waiting[host][webhookID] = struct{}{}
}

// hostOf returns the name and port of a URL. The URL was checked when it was stored.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest)
}
