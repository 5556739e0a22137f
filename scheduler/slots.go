package scheduler

import (
	"strings"
	"time"

	"baoco/app"
)

// The slots of the courier: how many attempts may be in flight. Webhooks that
// don't answer hold theirs for the whole of a timeout, so they get few, and
// together never all: one that answers always finds a slot.
const (
	slots           = 512
	slotsForMany    = slots - 64  // of retries, and of webhooks that have a few already: others find one
	slotsUnanswered = slots - 128 // of all webhooks that don't answer, or haven't yet
	slotsPerWebhook = 64
	slotsPerHost    = 64 // name and port
	slotsSilent     = 4  // of a webhook that doesn't answer, or hasn't yet
	silentAfter     = 3  // attempts without an answer
)

// shortagePause is how long a webhook's attempts wait where one could not be
// made for want of something on this machine.
const shortagePause = time.Second

// lane is one webhook's share of the courier.
type lane struct {
	inFlight  map[int64]struct{} // deliveries, until the sweep after they were settled
	settled   []int64            // of them
	taken     int                // slots
	host      string             // that the last attempts went to
	unheard   int                // attempts without an answer, in a row
	proven    bool               // it has answered
	moreFirst bool               // there may be more due than slots
	moreRetry bool
	filled    [2]time.Time // when it last looked for first attempts, and for retries

	shortage  app.Cause // what this machine lacked for the last attempt
	notBefore time.Time // the next is begun, for that
}

// answers tells whether the webhook's receiver is known to answer.
func (l *lane) answers() bool { return l.proven && l.unheard < silentAfter }

// free is how many slots a lane may take now. Nobody gets more than a quarter
// of what is left, so that something always is.
func (c *courier) free(l *lane, retries bool) int {
	left := slots - c.taken
	if retries || l.taken >= slotsSilent {
		left = slotsForMany - c.taken
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
			most = 1 // many are silent: one each, so that the next finds one
		}
	}
	if left <= 0 {
		return 0
	}
	return max(0, min(most-l.taken, max(1, left/4)))
}

func (c *courier) lane(webhookID int64) *lane {
	l := c.lanes[webhookID]
	if l == nil {
		l = &lane{inFlight: map[int64]struct{}{}}
		c.lanes[webhookID] = l
	}
	return l
}

// forgetSettled lets go of deliveries that were settled before this sweep
// reads the file: only now can it not find them due any more.
func (l *lane) forgetSettled() {
	for _, id := range l.settled {
		delete(l.inFlight, id)
	}
	l.settled = l.settled[:0]
}

// anyHost stands for a slot of whatever host.
const anyHost = ""

// waitFor has a webhook woken when a slot is released.
func (c *courier) waitFor(host string, webhookID int64) {
	if c.waiting[host] == nil {
		c.waiting[host] = map[int64]struct{}{}
	}
	c.waiting[host][webhookID] = struct{}{}
}

// hostOf is the name and port of a URL that was checked when it was stored.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest)
}
