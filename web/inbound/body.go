package inbound

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// This file reads the bodies of calls before they are verified: anybody can send them. A whole
// body is held until it is verified, since the signature is over the whole body.

// A body of up to smallBody bytes is always read. Providers send no larger calls, so large or
// slow bodies of others can't shut a provider out. The bytes beyond smallBody are bounded over
// all bodies that are held at the same time.
const (
	smallBody       = 64 << 10
	maxHeld         = 16 << 20 // bytes beyond smallBody, of all clients
	maxHeldOfClient = 4 << 20  // and of one client
)

// heldBodies counts the bytes beyond smallBody that are held.
type heldBodies struct {
	mu       sync.Mutex
	total    int64
	byClient map[netip.Prefix]int64
}

func (h *heldBodies) take(client netip.Prefix, n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.total+n > maxHeld || h.byClient[client]+n > maxHeldOfClient {
		return false
	}
	if h.byClient == nil {
		h.byClient = map[netip.Prefix]int64{}
	}
	h.total += n
	h.byClient[client] += n
	return true
}

func (h *heldBodies) release(client netip.Prefix, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total -= n
	if h.byClient[client] -= n; h.byClient[client] <= 0 {
		delete(h.byClient, client)
	}
}

// These bound the bodies that are arriving. Any number may arrive for a short time. If there
// are more than maxArriving, the oldest is cut off if it has been arriving for longer than
// slowArrival: a provider's call needs less.
const (
	maxArriving = 512
	slowArrival = 2 * time.Second
)

// arrivals are the bodies that are arriving, the oldest first.
type arrivals struct {
	mu   sync.Mutex
	list list.List // of arrival
}

type arrival struct {
	began time.Time
	cut   func()
}

// add adds a body that begins to arrive. The caller calls end when the body is read.
func (a *arrivals) add(now time.Time, cut func()) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.list.PushBack(arrival{now, cut})
	if oldest := a.list.Front(); a.list.Len() > maxArriving && now.Sub(oldest.Value.(arrival).began) > slowArrival {
		a.list.Remove(oldest).(arrival).cut()
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.list.Remove(at) // it isn't there if it was cut off
	}
}

// readUnverified reads a body of at most most bytes. The caller calls release
// when the call is verified or refused, whatever err is.
func (s *Server) readUnverified(w http.ResponseWriter, r *http.Request, most int64) (body []byte, release func(), err error) {
	var b bytes.Buffer
	var held int64
	client, limited := s.Client(r), http.MaxBytesReader(w, r.Body, most)
	defer s.arriving.add(time.Now(), func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })()
	release = func() {
		if held > 0 {
			s.held.release(client, held)
		}
	}
	for {
		_, err := io.CopyN(&b, limited, smallBody+1)
		switch {
		case errors.Is(err, io.EOF):
			return b.Bytes(), release, nil
		case err != nil:
			return nil, release, wire.BodyError(err)
		case !s.held.take(client, smallBody):
			return nil, release, app.Refused(app.CodeUnavailable, app.Text{
				EN: "Too many large calls are being received at this moment; please try again.",
				VI: "Đang nhận quá nhiều lần gọi lớn cùng lúc, vui lòng thử lại.",
			})
		}
		held += smallBody
	}
}
