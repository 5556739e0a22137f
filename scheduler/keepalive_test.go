package scheduler_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
)

// closingReceiver answers 200, promises to keep the connection, and closes it
// after pause. It counts the requests by webhook-id.
type closingReceiver struct {
	net.Listener
	pause time.Duration
	mu    sync.Mutex
	got   map[string]int
}

func startClosingReceiver(t *testing.T, pause time.Duration) *closingReceiver {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &closingReceiver{Listener: l, pause: pause, got: map[string]int{}}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *closingReceiver) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	request, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, request.Body)
	r.mu.Lock()
	r.got[request.Header.Get("Webhook-Id")]++
	r.mu.Unlock()
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	if r.pause > 0 {
		time.Sleep(r.pause)
	}
}

// A receiver that closes connections without having said so costs nobody an
// attempt of which no byte was written, and one at most of each that are made
// at once; no attempt reaches it twice.
func TestReceiverThatClosesConnections(t *testing.T) {
	const workers, attempts = 4, 1000
	for _, pause := range []time.Duration{0, time.Millisecond} {
		r := startClosingReceiver(t, pause)
		sender := senderAllowing(t, "127.0.0.1/32")
		var failed atomic.Int64
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				for i := range attempts {
					o := outgoing("http://" + r.Addr().String() + "/hook")
					o.ID = int64(1 + worker*attempts + i)
					result := sender.Send(t.Context(), o)
					if got := r.received(o); got > 1 || result.OK() != (got == 1) {
						t.Errorf("the receiver got %d; the attempt came to %q (%s)", got, result.Error, result.Detail)
					}
					if !result.OK() {
						failed.Add(1)
						if result.Error != app.ErrorReset || result.Detail != string(app.CauseResponse) {
							t.Errorf("the attempt came to %q (%s)", result.Error, result.Detail)
						}
					}
				}
			})
		}
		group.Wait()
		if failed.Load() > workers {
			t.Errorf("closing after %v: %d attempts of %d failed, want %d at most", pause, failed.Load(), workers*attempts, workers)
		}
	}
}

func (r *closingReceiver) received(o app.Outgoing) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[o.MessageID()]
}
