package scheduler_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"
)

// keeper is a receiver that keeps connections. answer says what it writes to the request
// with a number, counted from 1 on each connection; after an answer of "" it closes the
// connection without one.
type keeper struct {
	url      string // by name, without a path
	address  string
	answer   func(request int, r *http.Request) string
	accepted atomic.Int64
	ended    atomic.Int64
	requests atomic.Int64
	after    func(net.Conn) // an answer; may be nil
	paths    chan string    // of requests on a connection that served another path before
}

// startKeeper starts one over http or https, and gives a sender that reaches it.
func startKeeper(t *testing.T, scheme string, answer func(request int, r *http.Request) string) (*keeper, *courier.Sender) {
	t.Helper()
	w := newHostileWorld(t, delivery.AttemptTimeout)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	address := l.Addr().String()
	k := &keeper{url: scheme + "://" + strings.Replace(address, "127.0.0.1", shopName, 1), address: address, answer: answer,
		paths: make(chan string, 1)}
	if scheme == "https" {
		config := certified(w.root.server(t, shopName, time.Now()))
		config.DynamicRecordSizingDisabled = true // all that is written at once comes at once
		l = tls.NewListener(l, config)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			k.accepted.Add(1)
			go k.serve(conn)
		}
	}()
	return k, w.sender
}

func (k *keeper) serve(conn net.Conn) {
	defer k.ended.Add(1)
	defer conn.Close()
	in, path := bufio.NewReader(conn), ""
	for n := 1; ; n++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		k.requests.Add(1)
		if path != "" && path != r.URL.Path {
			select {
			case k.paths <- path + " and " + r.URL.Path:
			default:
			}
		}
		path = r.URL.Path
		said := k.answer(n, r)
		if said == "" {
			return
		}
		if _, err := io.WriteString(conn, said); err != nil || !strings.Contains(said, "\r\n\r\n") {
			return
		}
		if k.after != nil {
			k.after(conn)
		}
	}
}

var schemes = []string{"http", "https"}

func bothSchemes(t *testing.T, test func(t *testing.T, scheme string)) {
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) { t.Parallel(); test(t, scheme) })
	}
}

// A webhook's deliveries go over one connection as long as all goes well, and none of
// another webhook, URL or secret goes over it.
func TestKeptConnection(t *testing.T) {
	t.Parallel()
	bothSchemes(t, func(t *testing.T, scheme string) {
		k, sender := startKeeper(t, scheme, func(int, *http.Request) string { return okAnswer })
		deliver := func(change func(o *delivery.Outgoing)) {
			t.Helper()
			o := outgoing(k.url + "/a")
			change(&o)
			if r := sender.Send(t.Context(), o); !r.OK() || string(r.Body) != "ok" {
				t.Fatalf("%+v", r)
			}
		}
		for range 1000 {
			deliver(func(*delivery.Outgoing) {})
		}
		if n := k.accepted.Load(); n != 1 {
			t.Errorf("1,000 deliveries took %d connections", n)
		}
		for i, change := range []func(o *delivery.Outgoing){
			func(o *delivery.Outgoing) { o.WebhookID, o.AccountID = 2, 2 },
			func(o *delivery.Outgoing) { o.URL = k.url + "/b" },
			func(o *delivery.Outgoing) { o.Secrets.Current = "whsec_YW5vdGhlcg" },
			func(o *delivery.Outgoing) { o.Secrets.Next = "whsec_YW5vdGhlcg" },
		} {
			deliver(change)
			deliver(change)
			if n := k.accepted.Load(); n != int64(i)+2 {
				t.Errorf("change %d: %d connections, want %d", i, n, i+2)
			}
		}
		select {
		case both := <-k.paths:
			t.Errorf("one connection served %s", both)
		default:
		}
	})
}

// What ends a connection: anything but an answer that was read to its end, with nothing
// behind it, and with which the delivery was delivered.
func TestConnectionsThatAreNotKept(t *testing.T) {
	t.Parallel()
	bothSchemes(t, func(t *testing.T, scheme string) {
		for name, answer := range map[string]string{
			"refused":                          "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno",
			"refused without text":             "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
			"another success":                  "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
			"a redirect":                       "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
			"the last one":                     "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
			"HTTP/1.0":                         "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
			"one byte behind it":               okAnswer + "H",
			"another answer":                   okAnswer + okAnswer,
			"more chunks":                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n0\r\n\r\n",
			"all that is read of a longer one": "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 65536),
			"longer than what is read":         "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100000),
			"a time of less than nothing":      "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-9300000000\r\nContent-Length: 2\r\n\r\nok",
			"no time":                          "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok",
		} {
			k, sender := startKeeper(t, scheme, func(int, *http.Request) string { return answer })
			for range 3 {
				sender.Send(t.Context(), outgoing(k.url))
			}
			if n := k.accepted.Load(); n != 3 {
				t.Errorf("after %s: 3 attempts took %d connections", name, n)
			}
			eventually(t, "the connections end after "+name, func() bool { return k.ended.Load() == 3 })
		}
	})
}

// A connection that the receiver closes while it waits, or exactly when it is used, costs
// nothing: the same attempt is made over a new one, and once.
func TestConnectionsThatEndWhileTheyWait(t *testing.T) {
	t.Parallel()
	rounds := apptest.Rounds(200, 10_000)
	bothSchemes(t, func(t *testing.T, scheme string) {
		k, sender := startKeeper(t, scheme, func(request int, _ *http.Request) string {
			if request == 2 { // which has come, but isn't answered
				return ""
			}
			return okAnswer
		})
		for range rounds {
			if r := sender.Send(t.Context(), outgoing(k.url)); !r.OK() {
				t.Fatalf("%+v", r)
			}
		}
		if got, want := k.requests.Load(), int64(2*rounds-1); got != want {
			t.Errorf("%d requests for %d deliveries, want %d", got, rounds, want)
		}
		// The end comes before the next request, with it or behind it.
		for _, end := range []func(net.Conn){func(conn net.Conn) { conn.Close() }, reset} {
			k, sender = startKeeper(t, scheme, func(int, *http.Request) string { return okAnswer })
			k.after = end
			for range rounds {
				if r := sender.Send(t.Context(), outgoing(k.url)); !r.OK() {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}

// A connection on which nothing was used again, and that ends before its answer begins, is
// a failure; so is one that ends within its answer, kept or not.
func TestFailuresOverConnections(t *testing.T) {
	t.Parallel()
	bothSchemes(t, func(t *testing.T, scheme string) {
		never, sender := startKeeper(t, scheme, func(int, *http.Request) string { return "" })
		if r := sender.Send(t.Context(), outgoing(never.url)); r.Error != delivery.ErrorReset || never.requests.Load() != 1 {
			t.Errorf("%+v after %d requests", r, never.requests.Load())
		}
		half, sender := startKeeper(t, scheme, func(request int, _ *http.Request) string {
			if request == 1 {
				return okAnswer
			}
			return "HTTP/1.1 200 O" // and closes the connection
		})
		for i, want := range []delivery.ErrorClass{delivery.ErrorNone, delivery.ErrorReset} {
			if r := sender.Send(t.Context(), outgoing(half.url)); r.Error != want || half.requests.Load() != int64(i)+1 {
				t.Errorf("%+v after %d requests", r, half.requests.Load())
			}
		}
	})
}

// What comes while a connection waits is the answer to nothing: the connection isn't used
// again.
func TestAnswersWhileAConnectionWaits(t *testing.T) {
	t.Parallel()
	bothSchemes(t, func(t *testing.T, scheme string) {
		for _, comes := range []string{okAnswer, okAnswer[:14], "\r\n", "HTTP/1.1 100 Continue\r\n\r\n"} {
			waits, written := make(chan struct{}), make(chan struct{})
			k, sender := startKeeper(t, scheme, nil)
			k.answer = func(int, *http.Request) string {
				if k.requests.Load() > 1 {
					return noAnswer
				}
				return okAnswer
			}
			k.after = func(conn net.Conn) {
				if k.requests.Load() == 1 {
					<-waits
					_, _ = io.WriteString(conn, comes)
					close(written)
				}
			}
			if r := sender.Send(t.Context(), outgoing(k.url)); !r.OK() {
				t.Fatalf("%+v", r)
			}
			close(waits)
			<-written
			if r := sender.Send(t.Context(), outgoing(k.url)); r.StatusCode != 500 || k.accepted.Load() != 2 {
				t.Errorf("after %q: %+v over connection %d", comes, r, k.accepted.Load())
			}
		}
	})
}

// A certificate counts for the connection on which it was shown.
func TestCertificateChanges(t *testing.T) {
	t.Parallel()
	w := newHostileWorld(t, delivery.AttemptTimeout)
	good, self := certified(w.root.server(t, shopName, time.Now())), certified(issuer{}.server(t, shopName, time.Now()))
	self.SetSessionTicketKeys([][32]byte{{1}}) // another server at the address, which can't resume a session of TLS
	var connections atomic.Int64
	url := w.https(t, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if connections.Add(1) > 1 {
			return self, nil
		}
		return good, nil
	}})
	for i, want := range []delivery.ErrorClass{"", "", delivery.ErrorTLS, ""} {
		o := outgoing(url)
		if want != "" {
			o.WebhookID = 2 // which has no connection yet
		}
		if r := w.sender.Send(t.Context(), o); r.Error != want {
			t.Errorf("attempt %d: %+v, want %q", i, r, want)
		}
	}
}

// A connection waits for as long as the receiver says, less a second.
func TestIdleConnectionEnds(t *testing.T) {
	t.Parallel()
	k, sender := startKeeper(t, "https", func(int, *http.Request) string {
		return "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=2, max=100\r\nContent-Length: 2\r\n\r\nok"
	})
	for range 2 {
		if r := sender.Send(t.Context(), outgoing(k.url)); !r.OK() {
			t.Fatalf("%+v", r)
		}
	}
	if n := k.accepted.Load(); n != 1 {
		t.Errorf("two deliveries at once after one another took %d connections", n)
	}
	eventually(t, "the idle connection ends", func() bool { return k.ended.Load() == 1 })
}

// Of all webhooks together no more than 512 connections are kept.
func TestKeptConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	k, sender := startKeeper(t, "http", func(int, *http.Request) string { return okAnswer })
	const webhooks, most = 520, 512
	for i := range int64(webhooks) {
		o := outgoing(k.url)
		o.WebhookID = i + 1
		if r := sender.Send(t.Context(), o); !r.OK() {
			t.Fatalf("%+v", r)
		}
	}
	eventually(t, "the connections beyond the bound end", func() bool { return k.ended.Load() == webhooks-most })
	o := outgoing(k.url)
	if r := sender.Send(t.Context(), o); !r.OK() || k.accepted.Load() != webhooks {
		t.Errorf("%+v: %d connections for a webhook whose own is kept", r, k.accepted.Load()-webhooks)
	}
}

// Where this machine is short of files, no connection waits.
func TestKeptConnectionsGiveFilesBack(t *testing.T) {
	t.Parallel()
	k, _ := startKeeper(t, "http", func(int, *http.Request) string { return okAnswer })
	names := startNameServer(t)
	names.set(shopName, "127.0.0.1")
	var short atomic.Bool
	network := courier.NewNetwork(apptest.Targets(t, "127.0.0.1/32"), nil,
		func(ctx context.Context, network, address string) (net.Conn, error) {
			if short.Load() {
				return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			return names.resolver().Dial(ctx, network, address)
		})
	sender := courier.NewSender(nil, "test", network)
	if r := sender.Send(t.Context(), outgoing(k.url)); !r.OK() {
		t.Fatalf("%+v", r)
	}
	short.Store(true)
	another := outgoing(k.url)
	another.WebhookID = 2
	if r := sender.Send(t.Context(), another); r.Error != delivery.ErrorShortage {
		t.Errorf("%+v", r)
	}
	short.Store(false)
	if r := sender.Send(t.Context(), outgoing(k.url)); !r.OK() || k.accepted.Load() != 2 {
		t.Errorf("%+v over %d connections, want another than before", r, k.accepted.Load())
	}
}

// A handshake costs more than a delivery: a burst takes one for each slot of the webhook at
// most, and deliveries that come now and then hardly any.
func TestHandshakesAreFew(t *testing.T) {
	t.Parallel()
	k, sender := startKeeper(t, "https", func(_ int, r *http.Request) string {
		if r.URL.Path == "/burst" { // on a busy machine it takes longer than 5 s, and some connections lie idle meanwhile
			return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
		}
		return "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok"
	})
	s := open(t, newFile(t), nil)
	s.sender = sender
	s.webhook(t, k.url+"/burst")
	s.start(t)
	const burst = 1000
	for i := range burst {
		s.Record(fmt.Sprint("FT", i))
	}
	s.Until("the burst is delivered", func() bool { return k.requests.Load() == burst })
	s.close(t)
	if n := k.accepted.Swap(0); n > 64 {
		t.Errorf("%d deliveries in a row took %d handshakes", burst, n)
	}
	seconds := apptest.Rounds(4, 100)
	for range seconds {
		if r := sender.Send(t.Context(), outgoing(k.url+"/now-and-then")); !r.OK() {
			t.Fatalf("%+v", r)
		}
		time.Sleep(time.Second)
	}
	if n := k.accepted.Load(); n > 3 {
		t.Errorf("%d deliveries at one a second took %d handshakes", seconds, n)
	}
}
