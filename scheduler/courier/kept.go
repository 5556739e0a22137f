package courier

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"baoco/app/delivery"
)

const (
	idleLimit = 30 * time.Second // for which a connection is kept at most
	keptLimit = slots            // connections that are kept at most
)

// receiver is the one that a connection serves: one webhook at one URL, under its present
// secrets. An answer of HTTP/1.1 doesn't name its request: over a connection of two
// receivers, one could answer in the place of the other.
type receiver struct {
	webhook       int64 // 0: a connection isn't kept
	url           string
	current, next string // secrets
}

type receiverKey struct{}

// withReceiver names in ctx the receiver for which the connection of an attempt is kept.
func withReceiver(ctx context.Context, o delivery.Outgoing) context.Context {
	return context.WithValue(ctx, receiverKey{}, receiver{o.WebhookID, o.URL, o.Secrets.Current, o.Secrets.Next})
}

func receiverOf(request *http.Request) receiver {
	to, _ := request.Context().Value(receiverKey{}).(receiver)
	return to
}

// kept are the connections that wait to be used again.
type kept struct {
	mu    sync.Mutex
	idle  map[receiver][]*connection
	count int
}

// keeping returns the function that keeps a connection of a receiver after a successful
// attempt; nil: it isn't kept.
func (n *Network) keeping(to receiver) func(*connection, time.Duration) {
	if to.webhook == 0 {
		return nil
	}
	return func(c *connection, idle time.Duration) { n.kept.put(to, c, idle) }
}

func (k *kept) put(to receiver, c *connection, idle time.Duration) {
	k.mu.Lock()
	full := k.count >= keptLimit
	if !full {
		if k.idle == nil {
			k.idle = map[receiver][]*connection{}
		}
		k.idle[to] = append(k.idle[to], c)
		k.count++
		c.idle = time.AfterFunc(idle, func() {
			if k.remove(to, c) {
				_ = c.Conn.Close()
			}
		})
	}
	k.mu.Unlock()
	if full {
		_ = c.Conn.Close()
	}
}

// take returns the usable connection that was used last, and closes the unusable ones
// that were used after it; nil: none is left.
func (k *kept) take(to receiver) *connection {
	for {
		k.mu.Lock()
		list := k.idle[to]
		if len(list) == 0 {
			k.mu.Unlock()
			return nil
		}
		c := list[len(list)-1]
		k.mu.Unlock()
		if !k.remove(to, c) {
			continue
		}
		c.idle.Stop()
		if c.silent() {
			return c
		}
		_ = c.Conn.Close()
	}
}

// remove takes a connection out; false: another goroutine has done so.
func (k *kept) remove(to receiver, c *connection) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.idle[to]
	i := slices.Index(list, c)
	if i < 0 {
		return false
	}
	k.count--
	if list = slices.Delete(list, i, i+1); len(list) > 0 {
		k.idle[to] = list
	} else {
		delete(k.idle, to)
	}
	return true
}

// closeAll closes all kept connections: this machine is short of files, memory or ports.
func (k *kept) closeAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, list := range k.idle {
		for _, c := range list {
			c.idle.Stop()
			_ = c.Conn.Close()
		}
	}
	clear(k.idle)
	k.count = 0
}

// silent reports whether the connection is open and no unexpected byte waits in it,
// neither in the system's buffer nor in that of TLS.
func (c *connection) silent() bool {
	secure, ok := c.Conn.(*tls.Conn)
	if !ok {
		return nothingToRead(c.Conn)
	}
	if !nothingToRead(secure.NetConn()) || secure.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	n, err := secure.Read(make([]byte, 1)) // from the buffer of TLS alone: the deadline of the network has passed
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && secure.SetReadDeadline(time.Time{}) == nil
}

// idleTime is how long a connection may be kept after an answer; 0: it is closed.
func idleTime(response *http.Response) time.Duration {
	if response.Close || response.StatusCode != http.StatusOK {
		return 0
	}
	for part := range strings.SplitSeq(response.Header.Get("Keep-Alive"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if seconds, err := strconv.Atoi(value); err == nil && strings.EqualFold(name, "timeout") && seconds <= int(idleLimit/time.Second) {
			return time.Duration(max(seconds, 1)-1) * time.Second // the receiver's clock began earlier
		}
	}
	return idleLimit
}
