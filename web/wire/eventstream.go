package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// AccessInterval is the time between two checks whether the reader of a lasting answer
	// is still allowed.
	AccessInterval = 400 * time.Millisecond

	eventDeadline = 10 * time.Second // for one event to be sent
)

// ErrRevoked ends an answer that its reader may no longer see.
var ErrRevoked = errors.New("the reader may not see this any more")

// Bound is how many lasting answers one account, user or client may have at a time.
type Bound struct {
	Of   string // what is counted, such as "account"
	ID   any    // which one of them, a comparable value
	Most int
}

// Lasting counts the lasting answers: event streams and exports.
type Lasting struct {
	mu       sync.Mutex
	open     map[Bound]int
	loggedAt time.Time // when a refusal was last logged
}

// Take counts one more answer in all bounds. If a bound is reached, Take counts nothing
// and returns false; that is logged at most once a minute.
func (c *Lasting) Take(bounds []Bound, log *slog.Logger, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range bounds {
		if c.open[b] >= b.Most {
			if now.Sub(c.loggedAt) >= time.Minute {
				c.loggedAt = now
				log.Warn("too many streams are open", "of", b.Of, "id", b.ID, "most", b.Most)
			}
			return false
		}
	}
	if c.open == nil {
		c.open = map[Bound]int{}
	}
	for _, b := range bounds {
		c.open[b]++
	}
	return true
}

// Count is how many answers count in a bound.
func (c *Lasting) Count(b Bound) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[b]
}

// Give uncounts an answer that Take has counted.
func (c *Lasting) Give(bounds []Bound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range bounds {
		if c.open[b]--; c.open[b] == 0 {
			delete(c.open, b)
		}
	}
}

// EventStream is one connection for server-sent events.
type EventStream struct {
	Broken bool // an event could not be sent

	ctx     context.Context
	closing <-chan struct{}
	allowed func() error
	w       http.ResponseWriter
	control *http.ResponseController
	beat    *time.Ticker
}

// OpenEventStream begins a stream. It ends once closing is closed, and once allowed
// returns ErrRevoked. beat is the time between two calls of the beat of Wait.
func OpenEventStream(w http.ResponseWriter, r *http.Request, closing <-chan struct{}, allowed func() error,
	beat time.Duration) *EventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would buffer the events
	s := &EventStream{ctx: r.Context(), closing: closing, allowed: allowed, w: w, control: http.NewResponseController(w),
		beat: time.NewTicker(beat)}
	_ = s.control.SetReadDeadline(time.Time{}) // the request's deadline would end the stream
	w.WriteHeader(http.StatusOK)
	return s
}

// Close ends the stream.
func (s *EventStream) Close() {
	s.beat.Stop()
	_ = s.control.SetWriteDeadline(time.Now().Add(eventDeadline)) // for the end of the answer
}

// lineEnds makes one of the three ends of a line in an event stream. A carriage
// return in a payer's text would otherwise begin a line of the stream, which could
// be any event.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// AppendEvent writes an event. A reader whose connection broke sends the id of its
// last event when it connects again. An event with an empty id leaves that id as it was.
func AppendEvent(b []byte, name, id, data string) []byte {
	b = fmt.Appendf(b, "event: %s\n", name)
	if id != "" {
		b = fmt.Appendf(b, "id: %s\n", id)
	}
	for line := range strings.SplitSeq(lineEnds.Replace(data), "\n") {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	return append(b, '\n')
}

// Event sends an event.
func (s *EventStream) Event(name, id, data string) error {
	return s.Send(AppendEvent(nil, name, id, data))
}

// Send sends what AppendEvent has written.
func (s *EventStream) Send(events []byte) error {
	err := s.control.SetWriteDeadline(time.Now().Add(eventDeadline))
	defer s.watch()()
	if err == nil {
		_, err = s.w.Write(events)
	}
	if err == nil {
		err = s.control.Flush()
	}
	if err == nil { // over HTTP/2 the deadline would end the stream, even while nothing is being sent
		err = s.control.SetWriteDeadline(time.Time{})
	}
	s.Broken = s.Broken || err != nil
	return err
}

// watch interrupts what is being sent to a slow reader if the stream must end meanwhile.
// stop ends the watching.
func (s *EventStream) watch() (stop func()) {
	var mu sync.Mutex
	stopped := false
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(AccessInterval, func() {
		ended := s.ended()
		mu.Lock()
		defer mu.Unlock()
		switch {
		case stopped:
		case ended:
			_ = s.control.SetWriteDeadline(time.Now())
		default:
			timer.Reset(AccessInterval)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// ended reports whether the server stops or the reader is no longer allowed.
func (s *EventStream) ended() bool {
	select {
	case <-s.closing:
		return true
	default:
		return errors.Is(s.allowed(), ErrRevoked)
	}
}

// Wait returns nil once changed is closed, or most has passed, and the reader is still
// allowed. Until then it calls beat at the intervals of OpenEventStream. An error ends the stream. While
// the storage can't say whether the reader is allowed, Wait continues to wait.
func (s *EventStream) Wait(changed <-chan struct{}, most time.Duration, beat func() error) error {
	check := time.NewTicker(AccessInterval)
	defer check.Stop()
	enough := time.NewTimer(most)
	defer enough.Stop()
	due := false
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-s.closing:
			return context.Canceled
		case <-s.beat.C:
			if err := beat(); err != nil {
				return err
			}
			continue
		case <-changed:
			changed, due = nil, true
		case <-enough.C:
			due = true
		case <-check.C:
		}
		switch err := s.allowed(); {
		case errors.Is(err, ErrRevoked):
			return err
		case err == nil && due:
			return nil
		}
	}
}
