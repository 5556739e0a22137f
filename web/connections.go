package web

import (
	"container/list"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"baoco/web/wire"
)

// Connections bounds how many connections are open, in all and for each client, so that files
// are left for the database and for deliveries. If a bound is reached, a connection on which
// no request waits for its answer is closed: it is idle, still sends its request, or holds
// the event stream of a page that anybody may open. Of these, the one that has waited longest
// is closed, of the client itself, or of the client with most connections.
type Connections struct {
	most, mostOfOne int
	trusted         []netip.Prefix
	log             *slog.Logger

	mu      sync.Mutex
	warned  time.Time // when it was last logged that a bound is reached
	open    int
	clients map[netip.Prefix]*connectionsOfOne
}

// connectionsOfOne are the connections of one client.
type connectionsOfOne struct {
	open    int
	streams int       // requests of HTTP/2 that wait for their answer
	exempt  bool      // without the bound of one client: a program of this machine or a trusted proxy
	cut     list.List // of *boundConn that may be closed, the least recently used first
}

// NewConnections bounds connections to most in all, and to a quarter of that for each client,
// except programs of this machine and trusted proxies.
func NewConnections(most int, trusted []netip.Prefix, log *slog.Logger) *Connections {
	return &Connections{
		most: most, mostOfOne: max(1, most/4), trusted: trusted, log: log,
		clients: map[netip.Prefix]*connectionsOfOne{},
	}
}

// Bound makes a server obey the bounds. Its connections must come from listeners of Listener.
func (c *Connections) Bound(s *http.Server) {
	next := s.Handler
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secure.NetConn()
		}
		return context.WithValue(ctx, wire.KeyConnection{}, conn)
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(wire.KeyConnection{}).(*boundConn); ok {
			if r.ProtoMajor == 2 {
				end := conn.beginStream()
				if end == nil {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				defer end()
			}
			if r.ContentLength == 0 {
				conn.Keep(+1)
				defer conn.Keep(-1)
			} else {
				body := &arrivingBody{ReadCloser: r.Body, conn: conn}
				r.Body = body
				defer body.answered()
				next.ServeHTTP(w, r)
				if r.ProtoMajor == 1 {
					body.linger(w, r)
				}
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Listener accepts the connections of l within the bounds.
func (c *Connections) Listener(l net.Listener) net.Listener { return &boundListener{l, c} }

type boundListener struct {
	net.Listener
	connections *Connections
}

func (l *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if bound := l.connections.admit(conn); bound != nil {
			return bound, nil
		}
		_ = conn.Close()
	}
}

// boundConn is a connection that is counted.
type boundConn struct {
	net.Conn
	connections *Connections
	client      netip.Prefix

	// connections.mu guards these.
	waiting int           // requests that wait for their answer
	place   *list.Element // in cut; nil: it must not be closed
	closed  bool
}

// admit counts a connection. It returns nil if a bound is reached and no connection may be
// closed instead.
func (c *Connections) admit(conn net.Conn) *boundConn {
	addr, _ := wire.ParseClient(conn.RemoteAddr().String())
	b := &boundConn{Conn: conn, connections: c, client: wire.ClientOf(addr)}
	c.mu.Lock()
	of := c.clients[b.client]
	if of == nil {
		of = &connectionsOfOne{exempt: addr.IsLoopback() || slices.ContainsFunc(c.trusted, func(p netip.Prefix) bool { return p.Contains(addr) })}
	}
	var cut *boundConn
	full := true
	switch {
	case !of.exempt && of.open >= c.mostOfOne:
		cut = of.oldest()
	case c.open >= c.most:
		cut = c.oldest()
	default:
		full = false
	}
	if cut != nil {
		c.forget(cut)
	}
	admitted := !full || cut != nil
	if admitted {
		c.open++
		of.open++
		c.clients[b.client] = of
		b.place = of.cut.PushBack(b)
	}
	now := time.Now()
	warn := full && now.Sub(c.warned) >= time.Minute
	if warn {
		c.warned = now
	}
	ofClient := of.open
	c.mu.Unlock()
	if warn {
		c.log.Warn("as many connections are open as may be: the ones unused for longest are closed", "client", b.client.String(),
			"of this client", ofClient, "most in all", c.most, "most of one client", c.mostOfOne)
	}
	if cut != nil {
		_ = cut.Conn.Close()
	}
	if !admitted {
		return nil
	}
	return b
}

// oldest is the connection of a client to close; nil: none may be closed.
func (of *connectionsOfOne) oldest() *boundConn {
	if first := of.cut.Front(); first != nil {
		return first.Value.(*boundConn)
	}
	return nil
}

// oldest is the connection of all clients to close: of the client with most connections. It is
// of a program of this machine or a trusted proxy only if no other client has one to close.
func (c *Connections) oldest() *boundConn {
	var most *connectionsOfOne
	for _, of := range c.clients {
		switch {
		case of.cut.Len() == 0:
		case most == nil, most.exempt && !of.exempt, most.exempt == of.exempt && of.open > most.open:
			most = of
		}
	}
	if most == nil {
		return nil
	}
	return most.oldest()
}

// forget stops counting a connection. The caller holds c.mu.
func (c *Connections) forget(b *boundConn) {
	if b.closed {
		return
	}
	b.closed = true
	of := c.clients[b.client]
	if b.place != nil {
		of.cut.Remove(b.place)
		b.place = nil
	}
	c.open--
	if of.open--; of.open == 0 {
		delete(c.clients, b.client)
	}
}

func (b *boundConn) Close() error {
	b.connections.mu.Lock()
	b.connections.forget(b)
	b.connections.mu.Unlock()
	return b.Conn.Close()
}

// beginStream counts a request of HTTP/2. With HTTP/1.1 each request would need a connection,
// so one client may have as many of these at a time as connections. The caller calls end after
// the answer. end is nil if there are too many.
func (b *boundConn) beginStream() (end func()) {
	c := b.connections
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.clients[b.client]
	if b.closed || !of.exempt && of.streams >= c.mostOfOne {
		return nil
	}
	of.streams++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		of.streams--
	}
}

// Keep adds to the count of requests that wait for their answer. The connection isn't closed
// while a request waits.
func (b *boundConn) Keep(requests int) {
	c := b.connections
	c.mu.Lock()
	defer c.mu.Unlock()
	b.waiting += requests
	if b.closed {
		return
	}
	cut := &c.clients[b.client].cut
	switch {
	case b.waiting > 0 && b.place != nil:
		cut.Remove(b.place)
		b.place = nil
	case b.waiting == 0 && b.place == nil:
		b.place = cut.PushBack(b)
	}
}

// arrivingBody is the body of a request. The request waits for its answer once the whole body
// has arrived.
type arrivingBody struct {
	io.ReadCloser
	conn *boundConn
	once sync.Once
	here bool
	read int64
	err  error // the error of the last Read
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read, b.err = b.read+int64(n), err
	if err == io.EOF {
		b.once.Do(func() { b.here = true; b.conn.Keep(+1) })
	}
	return n, err
}

func (b *arrivingBody) answered() {
	b.once.Do(func() {})
	if b.here {
		b.conn.Keep(-1)
	}
}

// These bound the reading of a body that was refused: as many bytes as the proxies of the
// manual let through, for a short time.
const (
	lingerBytes = 33 << 20
	lingerTime  = 2 * time.Second
)

// linger reads the rest of a body that was refused early, before the answer is sent.
// Otherwise a client that sends its whole request before it reads, as proxies do, would find
// the connection broken and never see the answer.
//
// A client that sent "Expect: 100-continue" and wasn't asked for its body sends none before
// the answer: for that, net/http needs its own body back.
func (b *arrivingBody) linger(w http.ResponseWriter, r *http.Request) {
	if b.read == 0 && r.Header.Get("Expect") != "" {
		r.Body = b.ReadCloser
		return
	}
	if b.err != nil || b.read == r.ContentLength {
		return
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime)); err == nil {
		_, _ = io.CopyN(io.Discard, b.ReadCloser, lingerBytes)
	}
}
