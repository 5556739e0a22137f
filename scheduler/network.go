package scheduler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"baoco/app"
)

// network opens the connections of attempts. The zero values of resolver and
// roots are the machine's.
type network struct {
	policy   *app.TargetPolicy
	resolver *net.Resolver
	roots    *x509.CertPool
}

// transport is HTTP/1.1 over the network, within bounds. Without keepAlive
// every request has a connection of its own.
func (n network) transport(keepAlive bool) *http.Transport {
	return &http.Transport{
		DisableKeepAlives:      !keepAlive,
		Proxy:                  nil, // an environment variable must not redirect money notices
		DialContext:            n.dial,
		DialTLSContext:         n.dialTLS,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
		DisableCompression:     true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    slotsPerWebhook,
		IdleConnTimeout:        4 * time.Second, // common servers close idle connections after 5
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func (n network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := guardedDialer(n.policy, n.resolver).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn}, nil
}

func (n network) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	// The transport lets a dial go on when its attempt has ended.
	ctx, cancel := context.WithTimeout(ctx, app.AttemptTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := guardedDialer(n.policy, n.resolver).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	secure := tls.Client(conn, &tls.Config{ServerName: host, RootCAs: n.roots, MinVersion: tls.VersionTLS12})
	err = secure.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(secure.ConnectionState(), err)
	}
	if err != nil {
		_ = conn.Close()
		return nil, &handshakeError{err}
	}
	return &countedConn{Conn: secure}, nil
}

// handshakeError says that an error is one of the TLS handshake, which most of
// them don't say by themselves.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// countedConn counts what was written to it.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}
