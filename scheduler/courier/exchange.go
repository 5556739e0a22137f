package courier

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

const (
	maxHeaders = 64 << 10               // bytes of an answer that are read before its body
	closeTime  = 500 * time.Millisecond // for sending the close_notify of TLS
)

var errLongHeaders = errors.New("the headers of the answer are longer than 64 KiB")

// connection speaks HTTP/1.1 with one receiver, in the goroutine of its caller.
// http.Transport reads idle connections in another goroutine, and now and then takes
// unexpected bytes for the answer to the next request. A connection knows no proxy, so no
// environment variable redirects it, and decompresses nothing.
type connection struct {
	net.Conn
	in   *bufio.Reader // reads by Read
	left int64         // bytes that may still be read
	read int64         // bytes of the present answer
	stop func() bool   // separates the connection from the context; false: the context has ended
	err  error         // of reading; nil: none, or io.EOF
	idle *time.Timer   // closes a kept connection that isn't used
}

// RoundTrip implements http.RoundTripper. It makes a request over a new connection, or
// over one that was kept for the webhook of the context. Where a kept connection ends
// before an answer begins, the request is made again over a new one.
func (n *Network) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	to := receiverOf(request)
	if c := n.kept.take(to); c != nil {
		response, err := c.exchange(request, n.keeping(to))
		if err == nil || c.read > 0 || ctx.Err() != nil {
			return response, err
		}
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GetConn != nil {
		trace.GetConn(request.URL.Host)
	}
	c, err := n.connect(request)
	if err != nil {
		if shortageOf(err) != "" {
			n.kept.closeAll()
		}
		return nil, err
	}
	return c.exchange(request, n.keeping(to))
}

func (n *Network) connect(request *http.Request) (c *connection, err error) {
	c = &connection{}
	switch to := request.URL; to.Scheme {
	case "https":
		c.Conn, err = n.dialTLS(request.Context(), "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), "443")))
	case "http":
		c.Conn, err = n.Dial(request.Context(), "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), "80")))
	default:
		err = errors.New("the URL is neither http nor https")
	}
	c.in = bufio.NewReader(c)
	return c, err
}

// exchange makes a request and reads the headers of its answer. The connection is closed
// with the answer's body, or given to keep.
func (c *connection) exchange(request *http.Request, keep func(*connection, time.Duration)) (response *http.Response, err error) {
	c.left, c.read, c.err = maxHeaders, 0, nil
	c.stop = context.AfterFunc(request.Context(), func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if response == nil { // also after a panic
			_ = c.Close()
		}
	}()
	if trace := httptrace.ContextClientTrace(request.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn})
	}
	if err := c.write(request, keep == nil); err != nil {
		return nil, err
	}
	if response, err = c.answer(request); err != nil {
		return nil, err
	}
	body := &answerBody{body: response.Body, connection: c}
	if d := idleTime(response); d > 0 {
		body.keep, body.idle = keep, d
	}
	response.Body = body
	return response, nil
}

// write sends headers and body at once.
func (c *connection) write(request *http.Request, last bool) error {
	var b bytes.Buffer
	copied := *request
	copied.Close = last
	if request.GetBody != nil { // it may be written for the second time
		body, err := request.GetBody()
		if err != nil {
			return err
		}
		copied.Body = body
	}
	if err := copied.Write(&b); err != nil {
		return err
	}
	_, err := c.Conn.Write(b.Bytes())
	return err
}

// answer reads an answer's status and headers. Informational answers (1xx) before it
// count as its headers.
func (c *connection) answer(request *http.Request) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.in, request)
		switch {
		case err != nil && c.left <= 0:
			return nil, errLongHeaders
		case err != nil && c.err != nil: // http.ReadResponse takes half a line for a whole one
			return nil, c.err
		case err != nil:
			return nil, err
		case response.StatusCode < 100 || response.StatusCode > 199 || response.StatusCode == http.StatusSwitchingProtocols:
			c.left = math.MaxInt64
			return response, nil
		}
	}
}

// Read reads from the connection, at most the bytes that are left.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongHeaders
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left, c.read = c.left-int64(n), c.read+int64(n)
	if err != io.EOF {
		c.err = err
	}
	return n, err
}

// Close closes the connection. TLS sends a close_notify first, unless the context has
// ended. That takes at most closeTime, also where the receiver reads nothing.
func (c *connection) Close() error {
	alive := c.stop()
	secure, ok := c.Conn.(*tls.Conn)
	if !ok {
		return c.Conn.Close()
	}
	if !alive {
		return secure.NetConn().Close()
	}
	defer time.AfterFunc(closeTime, func() { _ = secure.NetConn().Close() }).Stop()
	return secure.Close()
}

// answerBody is the body of an answer. Close keeps its connection or closes it. The body of
// net/http isn't closed: that would read the rest of it.
type answerBody struct {
	body       io.Reader
	connection *connection
	ended      bool
	keep       func(*connection, time.Duration) // nil: the connection is closed
	idle       time.Duration
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

func (b *answerBody) Close() error {
	if c := b.connection; b.keep != nil && b.ended && c.in.Buffered() == 0 && c.stop() {
		b.keep(c, b.idle)
		return nil
	}
	return b.connection.Close()
}
