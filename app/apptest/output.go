package apptest

import (
	"bytes"
	"regexp"
	"sync"
	"time"
)

// Output collects the output of a process or a logger, while a test reads it.
type Output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written bell
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.written.ring()
	return o.text.Write(p)
}

// String returns all output so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Await waits until the text matches a pattern, and returns the match and its
// groups, as FindStringSubmatch does. After the given time it returns nil.
func (o *Output) Await(pattern *regexp.Regexp, within time.Duration) []string {
	late := time.After(within)
	for {
		written := o.written.next()
		if found := pattern.FindStringSubmatch(o.String()); found != nil {
			return found
		}
		select {
		case <-written:
		case <-late:
			return nil
		}
	}
}

// bell wakes all goroutines that wait for its next ring.
type bell struct {
	mu     sync.Mutex
	closed chan struct{} // closed by the next ring; nil: nobody waits
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		close(b.closed)
		b.closed = nil
	}
}

// next returns a channel that the next ring closes.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil {
		b.closed = make(chan struct{})
	}
	return b.closed
}
