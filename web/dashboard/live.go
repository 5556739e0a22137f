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

// A live page updates itself: it holds one stream of server-sent events open. The stream
// says only that something has changed; then the page requests itself again, and
// static/live.js replaces the parts that differ. So everything on the page is live, and is
// rendered in one place.

// livePath is the address of the live pages' event stream. The event streams of counters and
// tills are below it.
const livePath = "/live"

// liveHeader marks the request with which a live page updates itself.
const liveHeader = "X-Live"

// position is a code for the newest ids when a page or an event was made. A page reads the ids
// before its rows, so it shows all rows up to them. Positions can only be compared: the ids
// count the rows of all accounts, so nobody may read them.
func (s *Server) position(n delivery.NewestIDs) string {
	mac := hmac.New(sha256.New, s.positionKey[:])
	fmt.Fprint(mac, n)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// livePage streams two events: changed, with the position, at first and whenever the position
// changes; pages compare it with their own. And alive, at first and every liveBeat, by which
// pages notice a connection that died silently. A visitor with a limit gets positions of the
// limit's bank accounts only.
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
		most := liveWait
		if read && v.user.Limit.On {
			if newest, err = s.Services.Deliveries.NewestIDs(v.Context()); err != nil {
				read, most = false, storageRetry
			}
		}
		if now := s.position(newest); read && now != sent {
			if err := stream.Event("changed", "", now); err != nil {
				return nil // the page connects again
			}
			sent = now
		}
		if err := stream.wait(changed, most, stream.alive); err != nil {
			return nil
		}
	}
}

// liveInterval is how often the newest ids are read while an event stream is open. So it also
// shows rows that another process records.
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
