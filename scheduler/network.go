package scheduler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"

	"baoco/app"
)

// network opens the connections of attempts. The zero values of resolver and
// roots are the machine's.
type network struct {
	policy   *app.TargetPolicy
	resolver *net.Resolver
	roots    *x509.CertPool
	// sessions are TLS sessions of hosts, with which a handshake costs both
	// sides less; nil: none are kept.
	sessions tls.ClientSessionCache
}

// transport is HTTP/1.1 over the network, within bounds, with a connection for
// each request.
func (n network) transport() *http.Transport {
	return &http.Transport{
		DisableKeepAlives:      true,
		Proxy:                  nil, // an environment variable must not redirect money notices
		DialContext:            guardedDialer(n.policy, n.resolver).DialContext,
		DialTLSContext:         n.dialTLS,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
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
	secure := tls.Client(conn, &tls.Config{ServerName: host, RootCAs: n.roots, MinVersion: tls.VersionTLS12, ClientSessionCache: n.sessions})
	err = secure.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(secure.ConnectionState(), err)
	}
	if err != nil {
		_ = conn.Close()
		return nil, &handshakeError{err}
	}
	return secure, nil
}

// handshakeError says that an error is one of the TLS handshake, which most of
// them don't say by themselves.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }
