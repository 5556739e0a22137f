package scheduler

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

const (
	maxHeaders = 64 << 10 // bytes of an answer that are read before its body
	readBuffer = 1 << 10  // bytes: an answer is mostly shorter
)

var errLongHeaders = errors.New("the headers of the answer are longer than 64 KiB")

// exchange is a request and its answer over a connection of their own, by HTTP/1.1 and
// in the goroutine that asks. http.Transport takes two more goroutines for a connection,
// and for what the three tell one another as long as for the request.
type exchange struct {
	conn net.Conn
	in   *bufio.Reader
	left int64       // bytes that may still be read
	stop func() bool // the connection ends with the context no more
}

// roundTrips makes each request an exchange.
type roundTrips struct{ network *network }

// RoundTrip is in http.RoundTripper. The connection is closed with the answer's body.
func (t roundTrips) RoundTrip(request *http.Request) (_ *http.Response, err error) {
	ctx, open, port := request.Context(), t.network.dial, "80"
	if request.URL.Scheme == "https" {
		open, port = t.network.dialTLS, "443"
	}
	conn, err := open(ctx, "tcp", net.JoinHostPort(request.URL.Hostname(), cmp.Or(request.URL.Port(), port)))
	if err != nil {
		return nil, err
	}
	x := &exchange{conn: conn, left: maxHeaders, stop: context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })}
	defer func() {
		if err != nil {
			_ = x.Close()
		}
	}()
	if trace := httptrace.ContextClientTrace(ctx); trace != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	if err := x.write(request); err != nil {
		return nil, err
	}
	response, err := x.answer(request)
	if err != nil {
		return nil, err
	}
	response.Body = &answerBody{response.Body, x}
	return response, nil
}

// write sends headers and body at once.
func (x *exchange) write(request *http.Request) error {
	var b bytes.Buffer
	request.Close = true // says that there will be no other request
	if err := request.Write(&b); err != nil {
		return err
	}
	_, err := x.conn.Write(b.Bytes())
	return err
}

// answer reads an answer's status and headers. Whatever informational answers come
// before it count as its headers.
func (x *exchange) answer(request *http.Request) (*http.Response, error) {
	x.in = bufio.NewReaderSize(x, readBuffer)
	for {
		response, err := http.ReadResponse(x.in, request)
		if err != nil {
			return nil, err
		}
		if response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
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
	return n, err
}

// Close ends the connection.
func (x *exchange) Close() error {
	x.stop()
	return x.conn.Close()
}

// answerBody is the body of an answer, with which its connection ends. The body itself
// isn't closed: that would read what is left of it.
type answerBody struct {
	io.Reader
	io.Closer
}
