package apptest

import (
	"bytes"
	"regexp"
	"sync"
	"time"
)

// Output collects what a process or a logger writes, while a test reads it.
type Output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // closed by the next Write; nil where nobody waits
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.written != nil {
		close(o.written)
		o.written = nil
	}
	return o.text.Write(p)
}

// String is all that was written so far.
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
		o.mu.Lock()
		found := pattern.FindStringSubmatch(o.text.String())
		if o.written == nil {
			o.written = make(chan struct{})
		}
		written := o.written
		o.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-written:
		case <-late:
			return nil
		}
	}
}
