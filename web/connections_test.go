package web_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"baoco/app/apptest"
	"baoco/web"
	"baoco/web/wire"
)

// boundServer serves /wait, and /page, which anybody may open: both are answered once
// something is sent to answer. Anything else is answered at once. It has at most 8
// connections and 2 of one client.
type boundServer struct {
	t       *testing.T
	address string
	answer  chan struct{}
	arrived chan struct{} // of requests that wait for answer
	gone    chan struct{} // of pages whose client went away
	secure  bool
}

// elsewhere is a connection that comes from another network: from 203.0.113.7
// where it comes from 127.0.0.7 in truth.
type elsewhere struct{ net.Conn }

func (c elsewhere) RemoteAddr() net.Addr {
	addr := *c.Conn.RemoteAddr().(*net.TCPAddr)
	if last := addr.IP.To4()[3]; last != 1 {
		addr.IP = net.IPv4(203, 0, 113, last)
	}
	return &addr
}

type fromElsewhere struct{ net.Listener }

func (l fromElsewhere) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return elsewhere{conn}, nil
}

const trustedProxy = 99

func startBound(t *testing.T, secure bool) *boundServer {
	t.Helper()
	s := &boundServer{t: t, answer: make(chan struct{}), arrived: make(chan struct{}, 100), gone: make(chan struct{}, 100), secure: secure}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	apptest.Must(t, err)
	s.address = l.Addr().String()
	connections := web.NewConnections(8, []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("203.0.113.%d/32", trustedProxy))},
		slog.New(slog.DiscardHandler))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path == "/wait" {
			s.arrived <- struct{}{}
			<-s.answer
		}
		if r.URL.Path == "/page" {
			defer wire.Dispensable(r.Context())()
			s.arrived <- struct{}{}
			select {
			case <-s.answer:
			case <-r.Context().Done():
				s.gone <- struct{}{}
				return
			}
		}
		_, _ = io.WriteString(w, "hello")
	})}
	connections.Bound(server)
	l = connections.Listener(fromElsewhere{l})
	if secure {
		certificate := httptest.NewUnstartedServer(nil)
		certificate.StartTLS()
		defer certificate.Close()
		l = tls.NewListener(l, certificate.TLS)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-done })
	return s
}

// from opens a connection from 127.0.0.last and sends the beginning of a
// request.
func (s *boundServer) from(last byte, text string) net.Conn {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}
	conn, err := d.DialContext(context.Background(), "tcp", s.address)
	if err != nil {
		s.t.Skipf("no other loopback address here: %v", err)
	}
	if s.secure {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	s.t.Cleanup(func() { conn.Close() })
	apptest.Must(s.t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(conn, text)
	apptest.Must(s.t, err)
	return conn
}

// answered reads one answer.
func answered(t *testing.T, conn net.Conn) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "hello" {
		t.Fatalf("answered %q, %v", body, err)
	}
}

// wantClosed waits until the server has closed a connection.
func wantClosed(t *testing.T, conn net.Conn, what string) {
	t.Helper()
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%s is not closed: %v", what, err)
	}
}

// openOf waits until the server has closed one of two connections, whichever
// it saw idle first, and gives the other.
func (s *boundServer) openOf(pair []net.Conn) net.Conn {
	s.t.Helper()
	ended := make(chan int, 2)
	for i, conn := range pair {
		go func() {
			_, _ = conn.Read(make([]byte, 1))
			ended <- i
		}()
	}
	closed := apptest.Receive(s.t, "one of the client with most is closed", ended)
	open := pair[1-closed]
	apptest.Must(s.t, open.SetReadDeadline(time.Now()))
	apptest.Receive(s.t, "the other is read no more", ended)
	apptest.Must(s.t, open.SetReadDeadline(time.Now().Add(30*time.Second)))
	wantClosed(s.t, pair[closed], "one of the client with most")
	return open
}

const (
	get      = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	waiting  = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"
	uploaded = "POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"
	page     = "GET /page HTTP/1.1\r\nHost: x\r\n\r\n"
	halfway  = "POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\no"
)

// One client's connections beyond its bound cut its own, the one first that was
// used longest ago: another client's and those on which an answer is awaited
// stay.
func TestConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := startBound(t, secure)
		provider := s.from(7, get)
		answered(t, provider)
		kept := s.from(9, waiting)
		apptest.Receive(t, "the request arrives", s.arrived)
		var idle []net.Conn
		for range 20 {
			conn := s.from(9, get)
			answered(t, conn)
			idle = append(idle, conn)
		}
		for i, conn := range idle[:len(idle)-1] {
			wantClosed(t, conn, fmt.Sprintf("connection %d", i))
		}
		for _, conn := range []net.Conn{provider, idle[len(idle)-1]} {
			_, err := io.WriteString(conn, get)
			apptest.Must(t, err)
			answered(t, conn)
		}
		s.answer <- struct{}{}
		answered(t, kept)
	}
}

// Whoever sends a request slowly is cut too; one that has arrived is answered,
// and where every connection of a client waits for an answer, no other is
// taken until there is room.
func TestSlowConnectionsAreCut(t *testing.T) {
	t.Parallel()
	s := startBound(t, false)
	for _, slow := range []string{"", "GET / HT", halfway} {
		conn := s.from(9, slow)
		for range 2 {
			answered(t, s.from(9, get))
		}
		wantClosed(t, conn, fmt.Sprintf("one that sent %q", slow))
	}
	var kept []net.Conn
	for _, whole := range []string{waiting, uploaded} {
		kept = append(kept, s.from(9, whole))
		apptest.Receive(t, "the request arrives", s.arrived)
	}
	wantClosed(t, s.from(9, ""), "a third")
	answered(t, s.from(7, get))
	for _, conn := range kept {
		s.answer <- struct{}{}
		answered(t, conn)
	}
	answered(t, s.from(9, get))
}

// Where all connections are taken, room is made at the client that has most,
// and at programs of this machine and trusted proxies, which have no bound of
// their own, last.
func TestAllConnections(t *testing.T) {
	t.Parallel()
	s := startBound(t, false)
	var own []net.Conn
	for i := range 5 {
		own = append(own, s.from([]byte{1, trustedProxy}[i%2], get))
		answered(t, own[i])
	}
	single := s.from(7, get)
	answered(t, single)
	pair := []net.Conn{s.from(9, get), s.from(9, get)}
	answered(t, pair[0])
	answered(t, pair[1])

	answered(t, s.from(11, get))
	for _, conn := range append(own, single, s.openOf(pair)) {
		_, err := io.WriteString(conn, get)
		apptest.Must(t, err)
		answered(t, conn)
	}
	for i := range 8 { // with only those of this machine left to cut, they are
		answered(t, s.from([]byte{1, trustedProxy}[i%2], get))
	}
	wantClosed(t, single, "a client's, with eight of this machine")
	wantClosed(t, own[0], "the oldest of this machine")
}

// Where all connections are taken, a page that anybody may open makes room, and an answer
// that somebody waits for doesn't.
func TestDispensableConnections(t *testing.T) {
	t.Parallel()
	s := startBound(t, false)
	var pages, kept []net.Conn
	for i := range 8 {
		if i%2 == 0 {
			pages = append(pages, s.from(byte(10+i), page))
		} else {
			kept = append(kept, s.from(byte(10+i), waiting))
		}
		apptest.Receive(t, "the request arrives", s.arrived)
	}
	for i := range pages {
		kept = append(kept, s.from(byte(30+i), waiting))
		apptest.Receive(t, "the request arrives", s.arrived)
	}
	for _, conn := range pages {
		wantClosed(t, conn, "a page")
		apptest.Receive(t, "its handler ends, and takes no answer", s.gone)
	}
	for range kept {
		s.answer <- struct{}{}
	}
	for _, conn := range kept {
		answered(t, conn)
	}
}

// Over HTTP/2 a client has as many requests at a time as it may have connections:
// the next is answered 503, those before it go on, and one that ends makes room.
func TestStreamsOfOneClient(t *testing.T) {
	t.Parallel()
	answer, arrived := make(chan struct{}), make(chan struct{}, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-answer
	}))
	server.EnableHTTP2 = true
	connections := web.NewConnections(8, nil, slog.New(slog.DiscardHandler))
	connections.Bound(server.Config)
	server.Listener = connections.Listener(fromElsewhere{server.Listener})
	server.StartTLS()
	t.Cleanup(server.Close)
	statuses := make(chan int, 10)
	client := server.Client()
	client.Timeout = time.Minute
	client.Transport.(*http.Transport).DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 7)}}).DialContext
	ask := func() {
		response, err := client.Get(server.URL)
		if err != nil {
			t.Error(err)
			statuses <- 0
			return
		}
		response.Body.Close()
		if response.ProtoMajor != 2 {
			t.Errorf("over %s", response.Proto)
		}
		statuses <- response.StatusCode
	}
	for range 2 {
		go ask()
		select {
		case <-arrived:
		case got := <-statuses:
			t.Fatalf("answered %d", got)
		}
	}
	go ask()
	if got := apptest.Receive(t, "a request is answered", statuses); got != http.StatusServiceUnavailable {
		t.Errorf("one more at a time is answered %d", got)
	}
	close(answer)
	for range 2 {
		if got := apptest.Receive(t, "a request is answered", statuses); got != http.StatusOK {
			t.Errorf("one of those before it is answered %d", got)
		}
	}
	go ask()
	if got := apptest.Receive(t, "a request is answered", statuses); got != http.StatusOK {
		t.Errorf("one after them is answered %d", got)
	}
}

// A client that waits to be asked for its body is refused at once.
func TestExpectedBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for head, want := range map[string]time.Duration{"Expect: 100-continue\r\n": 0, "": 2 * time.Second} {
			client, conn := net.Pipe()
			server := &http.Server{Handler: http.NotFoundHandler()}
			connections := web.NewConnections(8, nil, slog.New(slog.DiscardHandler))
			connections.Bound(server)
			accepted := make(chan net.Conn, 1)
			accepted <- conn
			go func() { _ = server.Serve(connections.Listener(pipes{accepted})) }()
			began := time.Now()
			_, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"+head+"\r\n")
			apptest.Must(t, err)
			response, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil || response.StatusCode != http.StatusNotFound || time.Since(began) != want {
				t.Errorf("%q: %+v, %v after %v, want %v", head, response, err, time.Since(began), want)
			}
			apptest.Must(t, errors.Join(client.Close(), server.Close()))
		}
	})
}

// pipes are a listener for connections without a network.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p.conns
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error {
	close(p.conns)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }
