package scheduler_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"baoco/app"
	"baoco/scheduler"
)

// outgoing is one delivery to url, under a fixed secret.
func outgoing(url string) app.Outgoing {
	return app.Outgoing{
		Delivery: app.Delivery{ID: 7, WebhookID: 1, CreatedAt: time.Unix(1760000000, 0)},
		URL:      url, Secrets: app.Secrets{Current: "whsec_c2VjcmV0"},
		Payload: app.Payload{ID: "1", Gateway: "ACB", TransactionDate: "2026-11-21 10:59:30", AccountNumber: "1", TransferType: app.In, TransferAmount: 1},
	}
}

// send makes one attempt over the real network, to loopback only.
func send(t *testing.T, url string) app.Result {
	t.Helper()
	targets, err := app.ParseTargetPolicy([]string{"127.0.0.1/32"})
	must(t, err)
	return scheduler.NewSender(targets, "test", nil).Send(context.Background(), outgoing(url))
}

// raw answers every connection with bytes, then calls after, then closes.
func raw(t *testing.T, answer string, after func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 64<<10))
				_, _ = io.WriteString(c, answer)
				if after != nil {
					after(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/hook"
}

// Only 200 is a success; nothing else the receiver says changes the schedule,
// and a redirect isn't followed.
func TestStatusCodes(t *testing.T) {
	var followed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			followed.Add(1)
			return
		}
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(status)
	}))
	defer server.Close()
	for status, class := range map[int]app.ErrorClass{
		200: "", 201: app.ErrorHTTPStatus, 202: app.ErrorHTTPStatus, 204: app.ErrorHTTPStatus, 301: app.ErrorRedirect, 302: app.ErrorRedirect,
		303: app.ErrorRedirect, 304: app.ErrorRedirect, 307: app.ErrorRedirect, 308: app.ErrorRedirect, 400: app.ErrorHTTPStatus, 401: app.ErrorHTTPStatus,
		404: app.ErrorHTTPStatus, 410: app.ErrorHTTPStatus, 429: app.ErrorHTTPStatus, 500: app.ErrorHTTPStatus, 503: app.ErrorHTTPStatus,
	} {
		r := send(t, fmt.Sprintf("%s/%d", server.URL, status))
		if r.StatusCode != status || r.Error != class || r.OK() != (status == 200) {
			t.Errorf("%d: status %d, error %q, ok %v", status, r.StatusCode, r.Error, r.OK())
		}
	}
	if followed.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// Every way a receiver can misbehave ends in a result, within bounds of time
// and memory.
func TestHostileReceivers(t *testing.T) {
	untrusted := quietTLS(t, nil)
	old := quietTLS(t, &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	closed.Close()
	ok := "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, url string
		status    int
		class     app.ErrorClass
		within    time.Duration
	}{
		{"refused", "http://" + closed.Addr().String() + "/", 0, app.ErrorRefused, time.Second},
		{"no such name", "http://no-such-name.invalid/", 0, app.ErrorDNS, 11 * time.Second},
		{"untrusted certificate", untrusted.URL, 0, app.ErrorTLS, 2 * time.Second},
		{"TLS 1.0", old.URL, 0, app.ErrorTLS, 2 * time.Second},
		{"TLS to a plain port", strings.Replace(raw(t, "HTTP/1.0 400 Bad Request\r\n\r\n", nil), "http:", "https:", 1), 0, app.ErrorTLS, 2 * time.Second},
		{"closed without an answer", raw(t, "", nil), 0, app.ErrorReset, time.Second},
		{"reset", raw(t, "", func(c net.Conn) { must(t, c.(*net.TCPConn).SetLinger(0)) }), 0, app.ErrorReset, time.Second},
		{"not HTTP", raw(t, "hello\r\n\r\n", nil), 0, app.ErrorProtocol, time.Second},
		{"a status that isn't a number", raw(t, "HTTP/1.1 OK 200\r\n\r\n", nil), 0, app.ErrorProtocol, time.Second},
		{"10 MB of headers", raw(t, ok+"X: "+strings.Repeat("x", 10<<20)+"\r\n\r\n", nil), 0, app.ErrorProtocol, 3 * time.Second},
		{"a flood of 1xx", raw(t, strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 100_000), nil), 0, app.ErrorProtocol, 3 * time.Second},
		{"a body that never ends", raw(t, ok+"\r\n", endless), 200, "", 3 * time.Second},
		{"a body that stalls", raw(t, ok+"Content-Length: 10\r\n\r\nabc", func(net.Conn) { time.Sleep(3 * time.Second) }), 200, "", 2 * time.Second},
		{"a body cut off", raw(t, ok+"Content-Length: 10\r\n\r\nabc", nil), 200, "", time.Second},
		{"a bad chunk", raw(t, ok+"Transfer-Encoding: chunked\r\n\r\nzz\r\n", nil), 200, "", time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			started := time.Now()
			r := send(t, c.url)
			took := time.Since(started)
			if r.StatusCode != c.status || r.Error != c.class || took > c.within {
				t.Errorf("status %d, error %q (%s) after %v; want %d, %q within %v", r.StatusCode, r.Error, r.Detail, took, c.status, c.class, c.within)
			}
			if len(r.Body) > 4<<10 || strings.Contains(r.Detail, "http") && strings.Contains(r.Detail, "/hook") {
				t.Errorf("kept %d bytes, detail %q", len(r.Body), r.Detail)
			}
		})
	}
}

// quietTLS is an HTTPS server that doesn't complain of failed handshakes.
func quietTLS(t *testing.T, config *tls.Config) *httptest.Server {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = config
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func endless(c net.Conn) {
	line := []byte(strings.Repeat("x", 64<<10))
	for {
		if _, err := c.Write(line); err != nil {
			return
		}
	}
}

// A compressed answer stays compressed: 4 KiB of it are kept as they came.
func TestGzipBomb(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(make([]byte, 64<<20))
	must(t, err)
	must(t, z.Close())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	defer server.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := send(t, server.URL)
	runtime.ReadMemStats(&after)
	if !r.OK() || len(r.Body) != 4<<10 || after.TotalAlloc-before.TotalAlloc > 4<<20 {
		t.Errorf("ok %v, kept %d bytes, allocated %d", r.OK(), len(r.Body), after.TotalAlloc-before.TotalAlloc)
	}
}

// What the receiver gets: one POST with its length, never chunked, and nothing
// that invites a transport to repeat it.
func TestRequest(t *testing.T) {
	got := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	defer server.Close()
	if r := send(t, server.URL+"/a/b?c=%20d"); !r.OK() {
		t.Fatalf("%+v", r)
	}
	r := <-got
	if r.Method != "POST" || r.RequestURI != "/a/b?c=%20d" || r.ContentLength <= 0 || len(r.TransferEncoding) > 0 {
		t.Errorf("%s %s, length %d, encoding %v", r.Method, r.RequestURI, r.ContentLength, r.TransferEncoding)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "baoco/test", "Idempotency-Key": "", "Accept-Encoding": "",
		"Webhook-Id": "dlv_7_mgj6k3cw",
	} {
		if r.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, r.Header.Get(name), want)
		}
	}
	if stamp := r.Header.Get("Webhook-Timestamp"); len(stamp) != 10 || !strings.HasPrefix(r.Header.Get("Webhook-Signature"), "v1,") {
		t.Errorf("webhook-timestamp %q, webhook-signature %q", stamp, r.Header.Get("Webhook-Signature"))
	}
}

// A connection that the receiver closed while it was idle is no failure of the
// next attempt.
func TestClosedKeepAlive(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.IdleTimeout = 20 * time.Millisecond
	server.Start()
	defer server.Close()
	targets, err := app.ParseTargetPolicy([]string{"127.0.0.1/32"})
	must(t, err)
	sender := scheduler.NewSender(targets, "test", nil)
	for i := range 10 {
		if r := sender.Send(context.Background(), outgoing(server.URL)); !r.OK() {
			t.Fatalf("attempt %d: %+v", i, r)
		}
		time.Sleep(100 * time.Millisecond) // five times the receiver's patience
	}
}
