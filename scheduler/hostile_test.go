package scheduler_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/scheduler/courier"

	"golang.org/x/net/dns/dnsmessage"
)

const shopName = "shop.example.vn"

// hostileWorld is a sender on a network that the test controls.
type hostileWorld struct {
	names  *nameServer
	root   issuer
	sender *courier.Sender
}

// newHostileWorld makes one whose attempts take no longer than limit.
func newHostileWorld(t *testing.T, limit time.Duration) *hostileWorld {
	t.Helper()
	w := &hostileWorld{names: startNameServer(t), root: issuer{}.authority(t, "Root")}
	w.names.set(shopName, "127.0.0.1")
	targets := apptest.Targets(t, "127.0.0.1/32", "::1/128")
	roots := x509.NewCertPool()
	roots.AddCert(w.root.certificate)
	w.sender = senderWithin(limit, targets, w.names.resolver(), roots)
	return w
}

// https is a server by name under a certificate.
func (w *hostileWorld) https(t *testing.T, config *tls.Config) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = config
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return byName(server.URL)
}

func certified(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }

// byName calls what listens on loopback by the name of the shop.
func byName(url string) string {
	return strings.Replace(url, "127.0.0.1", shopName, 1) + "/hook?token=tell-nobody"
}

func asHTTPS(url string) string { return strings.Replace(url, "http:", "https:", 1) }

// raw answers every connection with bytes, then calls after, then closes.
func raw(t *testing.T, answer string, after func(net.Conn)) string {
	return rawOver(t, nil, answer, after)
}

// raw is raw by the name of the shop, over http or https.
func (w *hostileWorld) raw(t *testing.T, scheme, answer string, after func(net.Conn)) string {
	if scheme == "http" {
		return byName(raw(t, answer, after))
	}
	return byName(asHTTPS(rawOver(t, certified(w.root.server(t, shopName, time.Now())), answer, after)))
}

// rawOver is raw, over TLS where it has a configuration.
func rawOver(t *testing.T, secure *tls.Config, answer string, after func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	url := "http://" + l.Addr().String()
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	data := []byte(answer) // one for all: the memory of attempts is measured
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 4<<10))
				_, _ = c.Write(data)
				if after != nil {
					after(c)
				}
			}()
		}
	}()
	return url
}

// deaf takes no connection: its queue is full, so that the kernel drops what
// comes, as a firewall does.
func deaf(t *testing.T, host string, port int) string {
	t.Helper()
	family, address := syscall.AF_INET, syscall.Sockaddr(&syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if host == "::1" {
		family, address = syscall.AF_INET6, &syscall.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no socket for %s: %v", host, err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	must(t, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	if err := syscall.Bind(fd, address); err != nil {
		t.Skipf("cannot listen on %s: %v", host, err)
	}
	must(t, syscall.Listen(fd, 0))
	bound, err := syscall.Getsockname(fd)
	must(t, err)
	switch a := bound.(type) {
	case *syscall.SockaddrInet4:
		port = a.Port
	case *syscall.SockaddrInet6:
		port = a.Port
	}
	full := net.JoinHostPort(host, fmt.Sprint(port))
	for range 8 {
		c, err := net.DialTimeout("tcp", full, 100*time.Millisecond)
		if err != nil {
			return "http://" + full
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this system's kernel takes any number of connections")
	return ""
}

var manyBytes = bytes.Repeat([]byte("x"), 64<<10)

func endless(c net.Conn) {
	for {
		if _, err := c.Write(manyBytes); err != nil {
			return
		}
	}
}

// drip sends a byte, and another one every second, until the other side gives up.
func drip(c net.Conn) { dripEvery(time.Second, nil)(c) }

// dripEvery is drip at another pace. It calls sent, if there is one, with the number of
// bytes that were sent on the connection.
func dripEvery(pace time.Duration, sent func(n int)) func(net.Conn) {
	return func(c net.Conn) {
		for n := 1; ; n++ {
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			if sent != nil {
				sent(n)
			}
			time.Sleep(pace) // what makes this receiver slow
		}
	}
}

// untilClosed keeps a connection until the other side gives it up.
func untilClosed(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func reset(c net.Conn) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close() // without the alert with which TLS ends
}

// tlsAlert is a TLS alert in the clear.
func tlsAlert(number byte) string { return "\x15\x03\x03\x00\x02\x02" + string([]byte{number}) }

// serverHello10 is how a server that knows TLS 1.0 at most begins.
var serverHello10 = "\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01" + strings.Repeat("r", 32) + "\x00\xc0\x13\x00"

// hostileReceiver is a case of how a receiver, or what stands before it, can
// misbehave, and what the attempt comes to.
type hostileReceiver struct {
	name, url string
	status    int
	class     delivery.ErrorClass
	cause     delivery.Cause
	says      string // a part of the explanation
	phases    string // that took time
	within    time.Duration
}

// unreached are receivers to which no request gets.
func (w *hostileWorld) unreached(t *testing.T) []hostileReceiver {
	now := time.Now()
	// Nobody listens at the near end of a connection, and nobody else can take its port.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	held, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { held.Close() })
	good := w.root.server(t, shopName, now)
	middle := w.root.authority(t, "Intermediate")
	noSuch := "http://no-such-name.example.vn/hook"
	w.names.fail("broken.example.vn", dnsmessage.RCodeServerFailure)
	w.names.set("empty.example.vn")
	const secure, failedTLS, soon = "dns connect tls wait", "dns connect tls", 5 * time.Second
	return []hostileReceiver{
		{"HTTPS that is well", w.https(t, certified(good)), 200, "", "", "", secure, soon},
		{"HTTPS with the whole chain", w.https(t, certified(middle.server(t, shopName, now, middle))), 200, "", "", "", secure, soon},
		{"no such name", noSuch, 0, delivery.ErrorDNS, delivery.CauseNoSuchName, "Check the spelling", "dns", soon},
		{"a name without an address", "http://empty.example.vn/", 0, delivery.ErrorDNS, delivery.CauseNoSuchName, "has no address", "dns", soon},
		{"DNS that fails", "http://broken.example.vn/", 0, delivery.ErrorDNS, delivery.CauseLookupFailed, "domain’s name servers", "dns", soon},
		{"refused", byName("http://" + held.LocalAddr().String()), 0, delivery.ErrorRefused, "", "Start your web server", "dns connect", soon},
		{"an expired certificate", w.https(t, certified(w.root.server(t, shopName, now.Add(-24*time.Hour)))), 0, delivery.ErrorTLS,
			delivery.CauseExpired, "Renew it", failedTLS, soon},
		{"a certificate of tomorrow", w.https(t, certified(w.root.server(t, shopName, now.Add(24*time.Hour)))), 0, delivery.ErrorTLS,
			delivery.CauseNotYetValid, "Check the clock", failedTLS, soon},
		{"a certificate for another name", w.https(t, certified(w.root.server(t, "other.example.vn", now))), 0, delivery.ErrorTLS,
			delivery.CauseWrongName, "a different domain", failedTLS, soon},
		{"a self-signed certificate", w.https(t, certified(issuer{}.server(t, shopName, now))), 0, delivery.ErrorTLS, delivery.CauseSelfSigned,
			"self-signed", failedTLS, soon},
		{"an unknown authority", w.https(t, certified(issuer{}.authority(t, "X").server(t, shopName, now))), 0, delivery.ErrorTLS,
			delivery.CauseUnknownAuthority, "unknown authority", failedTLS, soon},
		{"no intermediate certificate", w.https(t, certified(middle.server(t, shopName, now))), 0, delivery.ErrorTLS,
			delivery.CauseUnknownAuthority, "fullchain.pem", failedTLS, soon},
		{"TLS 1.1 at most", w.https(t, &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10,
			MaxVersion: tls.VersionTLS11}), 0, delivery.ErrorTLS, delivery.CauseOldTLS, "TLS 1.2 or 1.3", failedTLS, soon},
		{"an old server's TLS 1.0", byName(asHTTPS(raw(t, serverHello10, nil))), 0, delivery.ErrorTLS, delivery.CauseHandshake,
			"TLS 1.2 or 1.3", failedTLS, soon},
		{"no common cipher", byName(asHTTPS(raw(t, tlsAlert(40), nil))), 0, delivery.ErrorTLS, delivery.CauseHandshake,
			"current ciphers", failedTLS, soon},
		{"a client certificate wanted", byName(asHTTPS(raw(t, tlsAlert(116), nil))), 0, delivery.ErrorTLS, delivery.CauseClientCertificate,
			"client certificate", failedTLS, soon},
		{"a name that HTTPS isn't set up for", byName(asHTTPS(raw(t, tlsAlert(112), nil))), 0, delivery.ErrorTLS, delivery.CauseWrongName,
			"a different domain", failedTLS, soon},
		{"TLS to a plain port", byName(asHTTPS(raw(t, "HTTP/1.0 400 Bad Request\r\n\r\n", nil))), 0, delivery.ErrorTLS, delivery.CauseNotTLS,
			"does not use HTTPS", failedTLS, soon},
		{"closed in the handshake", byName(asHTTPS(raw(t, "", nil))), 0, delivery.ErrorReset, delivery.CauseTLS,
			"during the TLS handshake", failedTLS, soon},
		{"plain to a TLS port", byName(raw(t, tlsAlert(10), nil)), 0, delivery.ErrorProtocol, "", "use https://", "dns connect wait", soon},
	}
}

// answeredPhases are the phases of an attempt that was answered, by scheme.
var answeredPhases = map[string]string{"http": "dns connect wait", "https": "dns connect tls wait"}

// answering are receivers that have the request, over http or https.
func (w *hostileWorld) answering(t *testing.T, scheme string) []hostileReceiver {
	const ok, soon = "HTTP/1.1 200 OK\r\n", 5 * time.Second
	phases := answeredPhases[scheme]
	raw := func(answer string, after func(net.Conn)) string { return w.raw(t, scheme, answer, after) }
	return []hostileReceiver{
		{"closed without an answer", raw("", nil), 0, delivery.ErrorReset, delivery.CauseResponse, "Check its error log", phases, soon},
		{"reset", raw("", reset), 0, delivery.ErrorReset, delivery.CauseResponse, "Check its error log", phases, soon},
		{"reset in the status line", raw("HTTP/1.1 20", reset), 0, delivery.ErrorReset, delivery.CauseResponse,
			"Check its error log", phases, soon},
		{"reset in the headers", raw(ok+"X: y\r\nContent-Ty", reset), 0, delivery.ErrorReset, delivery.CauseResponse,
			"Check its error log", phases, soon},
		{"closed in the headers", raw(ok+"X: y", nil), 0, delivery.ErrorReset, delivery.CauseResponse,
			"Check its error log", phases, soon},
		{"not HTTP", raw("hello\r\n\r\n", nil), 0, delivery.ErrorProtocol, "", "not HTTP/1.1", phases, soon},
		{"HTTP/0.9", raw("<html>hello</html>\n", nil), 0, delivery.ErrorProtocol, "", "not HTTP/1.1", phases, soon},
		{"a status that isn't a number", raw("HTTP/1.1 OK 200\r\n\r\n", nil), 0, delivery.ErrorProtocol, "",
			"not HTTP/1.1", phases, soon},
		{"10 MB of headers", raw(ok+"X: "+strings.Repeat("x", 10<<20)+"\r\n\r\n", nil), 0, delivery.ErrorProtocol, "",
			"beyond 64 KiB", phases, soon},
		{"a flood of 1xx", raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 100_000), nil), 0, delivery.ErrorProtocol,
			"", "not HTTP/1.1", phases, soon},
		{"a flood of 100", raw(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100_000), nil), 0, delivery.ErrorProtocol,
			"", "not HTTP/1.1", phases, soon},
		{"a length below zero", raw(ok+"Content-Length: -2\r\n\r\nok", nil), 0, delivery.ErrorProtocol, "", "not HTTP/1.1", phases, soon},
		{"two lengths", raw(ok+"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok", nil), 0, delivery.ErrorProtocol,
			"", "not HTTP/1.1", phases, soon},
		{"a body that never ends", raw(ok+"\r\n", endless), 200, "", "", "", phases, soon},
		{"a body that stalls", raw(ok+"Content-Length: 10\r\n\r\nabc", untilClosed), 200, "", "", "", phases, soon},
		{"a body cut off", raw(ok+"Content-Length: 10\r\n\r\nabc", nil), 200, "", "", "", phases, soon},
		{"a bad chunk", raw(ok+"Transfer-Encoding: chunked\r\n\r\nzz\r\n", nil), 200, "", "", "", phases, soon},
		{"a redirect", raw("HTTP/1.1 301 Moved\r\nLocation: /new?token=tell-nobody\r\nContent-Length: 0\r\n\r\n", nil), 301,
			delivery.ErrorRedirect, "", "/new, but redirects are not followed", phases, soon},
		{"a redirect to nowhere", raw("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", nil), 302, delivery.ErrorRedirect, "",
			"Enter the final URL", phases, soon},
		{"a status below 100, and an answer behind it",
			raw("HTTP/1.1 050 X\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", nil), 50, delivery.ErrorHTTPStatus, "",
			"returned 50", phases, soon},
		{"a status below 100, and an answer in its body",
			raw("HTTP/1.1 050 X\r\nContent-Length: 38\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", nil), 50,
			delivery.ErrorHTTPStatus, "", "returned 50", phases, soon},
		{"a status with a sign", raw("HTTP/1.1 +20 X\r\nContent-Length: 0\r\n\r\n", untilClosed), 20, delivery.ErrorHTTPStatus, "",
			"returned 20", phases, soon},
		{"another protocol", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", nil), 101,
			delivery.ErrorHTTPStatus, "", "returned 101", phases, soon},
		{"created", raw("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", nil), 201, delivery.ErrorHTTPStatus, "",
			"returned 201, but only 200 counts", phases, soon},
	}
}

// slow receivers take the whole time of an attempt, least.
func (w *hostileWorld) slow(t *testing.T, least time.Duration) []hostileReceiver {
	w.names.silence("silent.example.vn")
	list := []hostileReceiver{
		{"DNS that is silent", "http://silent.example.vn/", 0, delivery.ErrorTimeout, delivery.CauseDNS,
			"could not be resolved in time", "dns", least},
		{"SYNs are dropped", byName(deaf(t, "127.0.0.1", 0)), 0, delivery.ErrorTimeout, delivery.CauseConnect, "no firewall blocks",
			"dns connect", least},
		{"TLS that hangs", byName(asHTTPS(raw(t, "", untilClosed))), 0, delivery.ErrorTimeout, delivery.CauseTLS,
			"TLS handshake within 10 seconds", "dns connect tls", least},
	}
	for scheme, phases := range answeredPhases {
		for name, url := range map[string]string{
			"no answer":                 w.raw(t, scheme, "", untilClosed),
			"a byte of header a second": w.raw(t, scheme, "HTTP/1.1 200 OK\r\nX: ", drip),
			"one 1xx and no more":       w.raw(t, scheme, "HTTP/1.1 103 Early Hints\r\n\r\n", untilClosed),
		} {
			list = append(list, hostileReceiver{name, url, 0, delivery.ErrorTimeout, delivery.CauseResponse, "Return 200 before", phases, least})
		}
	}
	return list
}

// Every way a receiver can misbehave ends in a result, within bounds of time,
// that says what it was and what to do.
func TestHostileReceivers(t *testing.T) {
	t.Parallel()
	w := newHostileWorld(t, delivery.AttemptTimeout)
	for group, receivers := range map[string][]hostileReceiver{
		"unreached": w.unreached(t), "http": w.answering(t, "http"), "https": w.answering(t, "https"),
	} {
		for _, c := range receivers {
			t.Run(group+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				r := w.attempt(t, c)
				if r.Duration > c.within {
					t.Errorf("took %v, want %v at most", r.Duration, c.within)
				}
			})
		}
	}
}

func TestSlowReceivers(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	w := newHostileWorld(t, limit)
	var group sync.WaitGroup
	defer group.Wait()
	for _, c := range w.slow(t, limit) {
		group.Go(func() {
			r := w.attempt(t, c)
			if r.Duration < c.within || r.Duration > c.within+time.Second {
				t.Errorf("%s: took %v, want %v", c.name, r.Duration, c.within)
			}
			if last := max(r.Phases.DNS, r.Phases.Connect, r.Phases.TLS, r.Phases.Wait); last < c.within-time.Second {
				t.Errorf("%s: the phases say %+v, want nearly all of it in the last", c.name, r.Phases)
			}
		})
	}
}

// A look-up gives up by itself after ten seconds, which is when the attempt does: what is
// told is the timeout, and not that the name can't be looked up.
func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	// Package net keeps a channel from its first look-up, which must not be in a bubble.
	_, _ = net.DefaultResolver.LookupHost(t.Context(), "localhost")
	synctest.Test(t, func(t *testing.T) {
		silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go untilClosed(far)
			return near, nil
		}}
		sender := senderOn(apptest.Targets(t), silent, nil)
		r := sender.Send(t.Context(), outgoing("http://silent.example.vn/"))
		timeout := r.Error == delivery.ErrorTimeout && r.Detail == delivery.Detail{Cause: delivery.CauseDNS}
		if !timeout || r.Duration != delivery.AttemptTimeout || r.Phases.DNS != r.Duration {
			t.Errorf("%q (%s) after %v, %+v", r.Error, r.Detail, r.Duration, r.Phases)
		}
	})
}

// attempt makes one and looks at all that it came to.
func (w *hostileWorld) attempt(t *testing.T, c hostileReceiver) delivery.Result {
	t.Helper()
	started := time.Now()
	r := w.sender.Send(t.Context(), outgoing(c.url))
	took := time.Since(started)
	if r.StatusCode != c.status || r.Error != c.class {
		t.Errorf("%s: status %d, error %q (%s); want %d, %q", c.name, r.StatusCode, r.Error, r.Detail, c.status, c.class)
	}
	if c.cause != "" && r.Detail.Cause != c.cause {
		t.Errorf("%s: the detail is %q, want the cause %q", c.name, r.Detail, c.cause)
	}
	why := r.Explanation()
	if !strings.Contains(why.EN, c.says) || (why.EN == "") != (c.class == "") {
		t.Errorf("%s: the explanation is %q, want a part %q", c.name, why.EN, c.says)
	}
	if strings.Contains(why.EN+why.VI, "tell-nobody") || c.class != delivery.ErrorRedirect && strings.Contains(r.Detail.Text, "tell-nobody") ||
		len(r.Body) > 4<<10 {
		t.Errorf("%s: kept %d bytes, the detail is %q, the explanation %q", c.name, len(r.Body), r.Detail, why.EN)
	}
	var phases []string
	for _, p := range []struct {
		name string
		took time.Duration
	}{{"dns", r.Phases.DNS}, {"connect", r.Phases.Connect}, {"tls", r.Phases.TLS}, {"wait", r.Phases.Wait}} {
		if p.took > 0 {
			phases = append(phases, p.name)
		}
	}
	sum := r.Phases.DNS + r.Phases.Connect + r.Phases.TLS + r.Phases.Wait
	if got := strings.Join(phases, " "); got != c.phases || sum > r.Duration || r.Duration > took {
		t.Errorf("%s: time went to %q (%+v of %v), want %q", c.name, got, r.Phases, r.Duration, c.phases)
	}
	return r
}

// Whatever receivers send, 64 attempts at once take little memory.
func TestHostileReceiversAndMemory(t *testing.T) {
	ok := "HTTP/1.1 200 OK\r\n"
	header := ok + "X: " + strings.Repeat("x", 10<<20) + "\r\n\r\n"
	manyHeaders := ok + strings.Repeat("X: y\r\n", 1<<20) + "\r\n"
	flood := strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 100_000)
	bomb := zeroBomb(t)
	zipped := fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", ok, len(bomb), bomb)
	const attempts, bound = 64, 64 * 640 << 10
	var dripped atomic.Int64 // connections that sent 20 bytes
	drips := dripEvery(10*time.Millisecond, func(n int) {
		if n == 20 {
			dripped.Add(1)
		}
	})
	w := newHostileWorld(t, delivery.AttemptTimeout)
	for i, c := range []struct {
		name, answer string
		after        func(net.Conn)
	}{
		{"a body that never ends", ok + "\r\n", endless},
		{"chunks that never end", ok + "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", endless},
		{"a header of 10 MB", header, nil},
		{"a million headers", manyHeaders, nil},
		{"a status line that never ends", "HTTP/1.1 200 ", endless},
		{"a flood of 1xx", flood, nil},
		{"a gzip bomb", zipped, nil},
		{"a byte of header now and then", ok + "X: ", drips},
	} {
		for j, scheme := range schemes {
			if i%2 != j && !apptest.Full() {
				continue // each scheme has half of them
			}
			t.Run(c.name+" over "+scheme, func(t *testing.T) {
				url := w.raw(t, scheme, c.answer, c.after)
				dripped.Store(0)
				before := liveHeap()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var done atomic.Int64
				for range attempts {
					go func() { w.sender.Send(ctx, outgoing(url)); done.Add(1) }()
				}
				var most uint64
				for done.Load() < attempts && dripped.Load() < attempts { // an attempt ends a second after the headers
					most = max(most, liveHeap())
				}
				cancel()
				for done.Load() < attempts {
					runtime.Gosched()
				}
				if most > before+bound {
					t.Errorf("the heap grew from %d to %d KiB", before>>10, most>>10)
				}
				t.Logf("%d KiB for each attempt", max(0, int64(most)-int64(before))>>10/attempts)
			})
		}
	}
}

// liveHeap is how many bytes are in use. A collection counts what is allocated while
// it runs too, which on a busy machine may be much garbage: the less of two counts.
func liveHeap() uint64 {
	least := uint64(math.MaxUint64)
	for range 2 {
		runtime.GC()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		least = min(least, live[0].Value.Uint64())
	}
	return least
}

func zeroBomb(t *testing.T) []byte {
	t.Helper()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, err := z.Write(make([]byte, 1<<20))
		must(t, err)
	}
	must(t, z.Close())
	return bomb.Bytes()
}

// A compressed answer stays compressed: 4 KiB of it are kept as they came.
func TestGzipBomb(t *testing.T) {
	t.Parallel()
	bomb := zeroBomb(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	}))
	defer server.Close()
	if r := send(t, server.URL); !r.OK() || !bytes.Equal(r.Body, bomb[:4<<10]) {
		t.Errorf("ok %v, kept %d bytes", r.OK(), len(r.Body))
	}
}
