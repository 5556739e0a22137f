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
	closeTime  = 500 * time.Millisecond // for telling TLS of the end
)

var errLongHeaders = errors.New("the headers of the answer are longer than 64 KiB")

// exchange is a request and its answer over a connection of their own, by HTTP/1.1 and
// in the goroutine that asks. http.Transport takes two more goroutines for a connection,
// and for what the three tell one another as long as for the request. No environment
// variable redirects it, since it knows no proxies, and nothing is decompressed.
type exchange struct {
	conn net.Conn
	left int64       // bytes that may still be read
	stop func() bool // the connection ends with the context no more
	err  error       // with which the connection ended; nil: it hasn't, or its end was told
}

// RoundTrip makes a request an exchange (it is in http.RoundTripper). The connection is closed with the answer's body.
func (n *Network) RoundTrip(request *http.Request) (response *http.Response, err error) {
	ctx, conn := request.Context(), net.Conn(nil)
	switch to := request.URL; to.Scheme {
	case "https":
		conn, err = n.dialTLS(ctx, "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), "443")))
	case "http":
		conn, err = n.Dial(ctx, "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), "80")))
	default:
		err = errors.New("the URL is neither http nor https")
	}
	if err != nil {
		return nil, err
	}
	x := &exchange{conn: conn, left: maxHeaders, stop: context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })}
	defer func() {
		if response == nil { // also where there is a panic
			_ = x.Close()
		}
	}()
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	if err := x.write(request); err != nil {
		return nil, err
	}
	if response, err = x.answer(request); err != nil {
		return nil, err
	}
	response.Body = &answerBody{response.Body, x}
	return response, nil
}

// write sends headers and body at once.
func (x *exchange) write(request *http.Request) error {
	var b bytes.Buffer
	last := *request // on this connection, which the receiver is told
	last.Close = true
	if err := last.Write(&b); err != nil {
		return err
	}
	_, err := x.conn.Write(b.Bytes())
	return err
}

// answer reads an answer's status and headers. Whatever informational answers come
// before it count as its headers.
func (x *exchange) answer(request *http.Request) (*http.Response, error) {
	in := bufio.NewReader(x)
	for {
		response, err := http.ReadResponse(in, request)
		switch {
		case err != nil && x.left <= 0:
			return nil, errLongHeaders
		case err != nil && x.err != nil: // http.ReadResponse takes half a line for a whole one
			return nil, x.err
		case err != nil:
			return nil, err
		case response.StatusCode < 100 || response.StatusCode > 199 || response.StatusCode == http.StatusSwitchingProtocols:
			x.left = math.MaxInt64
			return response, nil
		}
	}
}

// Read reads from the connection, within what may be read.
func (x *exchange) Read(p []byte) (int, error) {
	if x.left <= 0 {
		return 0, errLongHeaders
	}
	n, err := x.conn.Read(p[:min(int64(len(p)), x.left)])
	x.left -= int64(n)
	if err != io.EOF {
		x.err = err
	}
	return n, err
}

// Close ends the connection. TLS says so to the receiver first, which doesn't take longer
// than closeTime where the receiver reads nothing, and isn't done where the context has
// ended.
func (x *exchange) Close() error {
	goesOn := x.stop()
	secure, ok := x.conn.(*tls.Conn)
	if !ok {
		return x.conn.Close()
	}
	if !goesOn {
		return secure.NetConn().Close()
	}
	defer time.AfterFunc(closeTime, func() { _ = secure.NetConn().Close() }).Stop()
	return secure.Close()
}

// answerBody is the body of an answer, with which its connection ends. The body itself
// isn't closed: that would read what is left of it.
type answerBody struct {
	io.Reader
	io.Closer
}
