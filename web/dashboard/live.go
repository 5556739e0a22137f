package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"baoco/app/delivery"
)

// Live pages. A page that shows what changes by itself holds one stream of
// server-sent events open. The stream says only that something has changed; then
// the page asks for itself anew, and static/live.js puts what differs into it. So
// whatever stands on a page is live, and is rendered in one place.

// livePath is the address of the live pages' stream. That of the counter's is
// below it.
const livePath = "/live"

// liveHeader marks the request with which a live page asks for itself anew.
const liveHeader = "X-Live"

// position names the newest ids that a page or an event was made with. Those of a
// page were read before its rows, so that it shows all of them. Positions can only
// be compared: the ids count the rows of all accounts, so nobody may read them.
func (s *Server) position(n delivery.NewestIDs) string {
	mac := hmac.New(sha256.New, s.positionKey[:])
	fmt.Fprint(mac, n)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// livePage streams two events: changed, with the position, at first and whenever it
// is another, which pages compare with their own; and alive, at once and every
// liveBeat, by which pages notice a connection that died silently. A visitor who is
// limited to some bank accounts hears of what they show, and of nothing else.
func (s *Server) livePage(v *visit) error {
	stream, err := s.openEventStream(v, eventStreamHolder{account: v.account.ID, user: v.user.ID}, func() error { return s.stillAllowed(v) })
	if err != nil {
		return err
	}
	defer stream.close()
	if err := stream.alive(); err != nil {
		return nil
	}
	sent := ""
	for {
		newest, read, changed := s.changes.State()
		most := liveLook
		if read && v.user.Limit.On {
			if newest, err = s.Services.Deliveries.NewestIDs(v.Context()); err != nil {
				read, most = false, storageRetry
			}
		}
		if now := s.position(newest); read && now != sent {
			if err := stream.Event("changed", "", now); err != nil {
				return nil // the page connects anew
			}
			sent = now
		}
		if err := stream.wait(changed, most, stream.alive); err != nil {
			return nil
		}
	}
}

// liveInterval is how often the newest ids are read while a stream is open. Rows that
// another process records are seen the same way.
const liveInterval = 250 * time.Millisecond

// testCounts counts the test payments of each account since the program began.
type testCounts struct {
	mu        sync.Mutex
	byAccount map[int64]int
}

func (c *testCounts) of(account int64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byAccount[account]
}

func (c *testCounts) add(account int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAccount == nil {
		c.byAccount = map[int64]int{}
	}
	c.byAccount[account]++
}
