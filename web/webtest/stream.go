package webtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/apptest"
	"baoco/web"
)

// Bubble is an installation in the virtual time of a test. Its requests go to the handler
// without a network.
type Bubble struct {
	*World
	Handler http.Handler
}

// InBubble runs a test of streams in virtual time, which begins at seven in the morning
// of the shop.
func InBubble(t *testing.T, test func(t *testing.T, w Bubble)) {
	t.Helper()
	InBubbleAfter(t, 0, test)
}

// InBubbleAfter is InBubble that begins later on that day. The time until then passes while
// the file isn't open, since an open store has work in every second.
func InBubbleAfter(t *testing.T, later time.Duration, test func(t *testing.T, w Bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := Bubble{World: newClosedWorld(t)}
		time.Sleep(later)
		w.World.open()
		t.Cleanup(func() { w.Close() })
		w.Handler = web.New(web.Config{Services: w.Services, Version: "test"})
		w.Link("ACB", apptest.SomeAccount)
		test(t, w)
	})
}

// PipeConn is a connection without a network. Its other end reads what is sent, or nothing
// while the connection is full.
type PipeConn struct {
	mu       sync.Mutex
	Headers  http.Header
	Status   int
	body     bytes.Buffer
	full     bool
	deadline time.Time
	moved    chan struct{} // closed when a new deadline is set
	Ended    chan struct{} // closed when the handler has returned
}

func (c *PipeConn) Header() http.Header { return c.Headers }

func (c *PipeConn) WriteHeader(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Status = status
}

func (c *PipeConn) Write(p []byte) (int, error) {
	for {
		c.mu.Lock()
		left, moved := time.Until(c.deadline), c.moved
		if !c.full {
			defer c.mu.Unlock()
			return c.body.Write(p)
		}
		c.mu.Unlock()
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		select {
		case <-moved:
		case <-time.After(left):
		}
	}
}

// Fill makes the connection full: it accepts no more data.
func (c *PipeConn) Fill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = true
}

func (c *PipeConn) Flush() {}

func (c *PipeConn) SetReadDeadline(time.Time) error { return nil }

func (c *PipeConn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

func (c *PipeConn) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body.String()
}

func (c *PipeConn) HasEnded() bool {
	select {
	case <-c.Ended:
		return true
	default:
		return false
	}
}

// Open begins a stream. hangUp ends it, like its reader.
func (w Bubble) Open(cookies map[string]*http.Cookie, path string, full bool) (c *PipeConn, hangUp context.CancelFunc) {
	r := httptest.NewRequest("GET", path, nil)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	return w.open(r, full)
}

// OpenAs is Open with an API key; header holds pairs of name and value.
func (w Bubble) OpenAs(key, path string, full bool, header ...string) (c *PipeConn, hangUp context.CancelFunc) {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", "Bearer "+key)
	maps.Copy(r.Header, apptest.Header(header))
	return w.open(r, full)
}

func (w Bubble) open(r *http.Request, full bool) (c *PipeConn, hangUp context.CancelFunc) {
	ctx, hangUp := context.WithCancel(context.Background())
	r = r.WithContext(ctx)
	c = &PipeConn{Headers: http.Header{}, Status: http.StatusOK, full: full, moved: make(chan struct{}), Ended: make(chan struct{})}
	go func() {
		defer close(c.Ended)
		defer func() {
			if value := recover(); value != nil && value != http.ErrAbortHandler {
				panic(value)
			}
		}()
		w.Handler.ServeHTTP(c, r)
	}()
	synctest.Wait()
	return c, hangUp
}

// Unpacked returns the body of an answer as a browser reads it.
func (a Answer) Unpacked(t testing.TB) string {
	t.Helper()
	if a.Header.Get("Content-Encoding") != "gzip" {
		return a.Body
	}
	r, err := gzip.NewReader(strings.NewReader(a.Body))
	apptest.Must(t, err)
	body, err := io.ReadAll(r)
	apptest.Must(t, err)
	return string(body)
}
