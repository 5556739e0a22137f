package scheduler_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"
)

// FuzzAnswer: whatever bytes a receiver answers with, the attempt ends at once
// in a result that fits: a success is a 200 and nothing else is one.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 200 OK\r\n\r\nx", "HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 301 Moved\r\nLocation: http://\x00/?a\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 0200 OK\r\n\r\n",
		"HTTP/1.1 999 \xff\r\n\r\n",
		"", "\x15\x03\x01\x00\x02\x02\x46", "PRI * HTTP/2.0\r\n\r\n", "HTTP/1.1 200 OK\n\nok",
		"HTTP/1.1 302 Found\r\nLocation: //x\r\nLocation: y\r\n\r\n", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\n x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	var answer atomic.Pointer[[]byte]
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4<<10))
			_, _ = c.Write(*answer.Load())
			_ = c.Close()
		}
	}()
	targets := apptest.Targets(f, "127.0.0.1/32")
	sender := courier.NewSender(targets, "test", nil)
	known := map[delivery.ErrorClass]bool{delivery.ErrorNone: true, delivery.ErrorReset: true, delivery.ErrorRedirect: true,
		delivery.ErrorHTTPStatus: true, delivery.ErrorProtocol: true}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer.Store(&data)
		r := sender.Send(t.Context(), outgoing("http://"+l.Addr().String()+"/"))
		if !known[r.Error] || r.OK() != (r.Error == delivery.ErrorNone) || r.OK() && r.StatusCode != 200 ||
			(r.Error == delivery.ErrorRedirect) != (r.StatusCode >= 300 && r.StatusCode < 400) {
			t.Errorf("%q: status %d, %q (%s)", data, r.StatusCode, r.Error, r.Detail)
		}
		if len(r.Body) > 4<<10 || len(r.Detail.String()) > 1500 || r.Duration > 5*time.Second {
			t.Errorf("%q: %d bytes, detail %q, after %v", data, len(r.Body), r.Detail, r.Duration)
		}
	})
}
