package wire_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baoco/web/wire"
)

// pipes is a listener whose connections go through no network, so that they can live
// in a bubble of synctest.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.dialled <- server
	return client, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// overBoth serves one event stream over HTTP/1.1 and over HTTP/2, in virtual time. test
// reads what the client gets.
func overBoth(t *testing.T, allowed func() error, serve func(s *wire.EventStream, gone <-chan struct{}),
	test func(t *testing.T, body io.Reader)) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})}
				server := &http.Server{Protocols: &http.Protocols{}, WriteTimeout: time.Minute,
					Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						s := wire.OpenEventStream(w, r, nil, allowed, 15*time.Second)
						defer s.Close()
						serve(s, r.Context().Done())
					})}
				transport := &http.Transport{DialContext: p.dial, Protocols: &http.Protocols{}}
				for _, set := range []*http.Protocols{server.Protocols, transport.Protocols} {
					set.SetHTTP1(protocol == "HTTP/1.1")
					set.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
				}
				go func() { _ = server.Serve(p) }()
				defer server.Close()
				request, err := http.NewRequestWithContext(t.Context(), "GET", "http://baoco.vn/", nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := transport.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if response.Proto != protocol {
					t.Fatalf("over %s", response.Proto)
				}
				test(t, response.Body)
			})
		})
	}
}

// No end of a line in a payer's text begins a line that is an event, or the id of one.
func TestAppendEvent(t *testing.T) {
	got := string(wire.AppendEvent(nil, "money", "7", "one\revent: money\r\nid: 8\n\rthree"))
	if want := "event: money\nid: 7\ndata: one\ndata: event: money\ndata: id: 8\ndata: \ndata: three\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A stream in which nothing happens for long stays open.
func TestQuietEventStream(t *testing.T) {
	t.Parallel()
	overBoth(t, func() error { return nil }, func(s *wire.EventStream, gone <-chan struct{}) {
		_ = s.Event("first", "", "")
		select {
		case <-gone:
		case <-time.After(time.Hour):
			_ = s.Event("second", "", "")
		}
	}, func(t *testing.T, body io.Reader) {
		if text, err := io.ReadAll(body); err != nil || !strings.Contains(string(text), "event: second") {
			t.Errorf("it ended with %v after %q", err, text)
		}
	})
}

// A reader who takes nothing holds a stream for ten seconds, and for less than one once
// they may not see it any more.
func TestEventStreamOfASlowReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what        string
		allowed     time.Duration
		least, most time.Duration
	}{
		{"allowed", time.Hour, 10 * time.Second, 10 * time.Second},
		{"revoked", 3 * time.Second, 3 * time.Second, 4 * time.Second},
	} {
		var begun time.Time
		var held atomic.Int64
		overBoth(t, func() error {
			if time.Since(begun) > c.allowed {
				return wire.ErrRevoked
			}
			return nil
		}, func(s *wire.EventStream, _ <-chan struct{}) {
			begun = time.Now()
			_ = s.Event("large", "", strings.Repeat("x", 8<<20))
			held.Store(int64(time.Since(begun)))
		}, func(t *testing.T, _ io.Reader) {
			time.Sleep(time.Minute)
			if took := time.Duration(held.Load()); took < c.least || took > c.most {
				t.Errorf("%s: the stream was held for %v", c.what, took)
			}
		})
	}
}
