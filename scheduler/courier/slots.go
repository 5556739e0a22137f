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

// shortagePause is how long a webhook waits after this machine lacked something
// (files, memory, ports) for one of its attempts.
const shortagePause = time.Second

// lane is one webhook's share of the courier.
type lane struct {
	inFlight   map[int64]struct{} // ids of deliveries; removed at the sweep after they are settled
	settled    []int64            // ids in inFlight whose result is recorded
	taken      int                // slots
	sheet      bool               // the webhook is one of delivery.WebhookSheet
	host       string             // the host of the last attempt
	unanswered int                // attempts without an answer in a row
	answered   bool               // the webhook has answered since the lane was made
	moreFirst  bool               // more first attempts may be due than there were slots
	moreRetry  bool               // more retries may be due than there were slots
	ended      time.Time          // when the last attempt was settled
	filled     [2]time.Time       // when fill last looked for first attempts, and for retries

	shortage  delivery.Cause // what this machine lacked for the last attempt; empty: nothing
	notBefore time.Time      // no attempt begins earlier, because of the shortage
}

// answers tells whether the webhook's receiver is known to answer.
func (l *lane) answers() bool { return l.answered && l.unanswered < silentAfter }

// free counts the slots that a lane may take now. A lane never gets more than
// a quarter of the slots that are left, so that some are left for the next.
func (c *Courier) free(l *lane, retries bool) int {
	left := slots - c.taken
	if retries || l.taken >= slotsSilent {
		left = slots - slotsReserved - c.taken
	}
	most := slotsPerWebhook
	if !l.answers() {
		unanswered := 0
		for _, other := range c.lanes {
			if !other.answers() {
				unanswered += other.taken
			}
		}
		left = min(left, slotsUnanswered-unanswered)
		if most = slotsSilent; unanswered > slotsUnanswered*2/3 {
			most = 1 // many webhooks are silent: each gets one slot, so that the next finds one
		}
	}
	if l.sheet {
		most = min(most, slotsPerSheet)
	}
	if left <= 0 {
		return 0
	}
	return max(0, min(most-l.taken, max(1, left/4)))
}

// freeOrWait is free. A lane that gets no slot and has none is woken when one is released;
// one that has some is woken when its own are.
func (c *Courier) freeOrWait(l *lane, webhookID int64, retries bool) int {
	free := c.free(l, retries)
	if free == 0 && l.taken == 0 {
		c.waitFor(anyHost, webhookID)
	}
	return free
}

func (c *Courier) lane(webhookID int64) *lane {
	l := c.lanes[webhookID]
	if l == nil {
		l = &lane{inFlight: map[int64]struct{}{}}
		c.lanes[webhookID] = l
	}
	return l
}

// forgetSettled removes the settled deliveries from inFlight. The sweep calls it
// before it reads the file, so the file already says that they aren't due.
func (l *lane) forgetSettled() {
	for _, id := range l.settled {
		delete(l.inFlight, id)
	}
	l.settled = l.settled[:0]
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

// hostOf gives the name and port of a URL. The URL was checked when it was stored.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest)
}
