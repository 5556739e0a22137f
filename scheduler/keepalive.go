package scheduler

import (
	"sync"
	"time"
)

// closers remembers the hosts that close connections without having said so.
// A request that was written to such a connection is lost, and repeating it
// could be a second one to the receiver: so the attempt fails, and the next
// ones to that host get a connection each.
type closers struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const (
	closersFor = time.Hour
	maxClosers = 1024
)

func (c *closers) add(host string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil || len(c.until) >= maxClosers {
		c.until = map[string]time.Time{}
	}
	c.until[host] = now.Add(closersFor)
}

func (c *closers) has(host string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, found := c.until[host]
	if found && now.After(until) {
		delete(c.until, host)
		return false
	}
	return found
}
