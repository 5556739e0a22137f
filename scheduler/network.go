package scheduler

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"baoco/app/delivery"
	"baoco/app/target"
)

// network opens connections to the addresses of a policy.
type network struct {
	policy   *target.Policy
	resolver *net.Resolver
	roots    *x509.CertPool         // nil: those of the machine
	sessions tls.ClientSessionCache // of TLS, with which a handshake costs both sides less
	short    atomic.Pointer[shortLookUp]
	limit    time.Duration // of connecting: delivery.AttemptTimeout
}

// tlsSessions is how many hosts' sessions are kept.
const tlsSessions = 1024

// newNetwork looks names up with dial, nil being that of the machine.
func newNetwork(policy *target.Policy, roots *x509.CertPool, dial func(ctx context.Context, network, address string) (net.Conn, error)) *network {
	own := dial != nil
	if !own {
		dial = (&net.Dialer{}).DialContext
	}
	n := &network{policy: policy, roots: roots, sessions: tls.NewLRUClientSessionCache(tlsSessions), limit: delivery.AttemptTimeout}
	n.resolver = &net.Resolver{PreferGo: own, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if shortageOf(err) != "" {
			n.short.Store(&shortLookUp{time.Now(), err})
		}
		return conn, err
	}}
	return n
}

// shortLookUp is a question to a name server that could not be asked for want
// of something on this machine.
type shortLookUp struct {
	at  time.Time
	err error
}

// noRedirect is the CheckRedirect of clients that take a redirect as the answer.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// dial opens a connection. Where a look-up failed for want of something on this
// machine, the error is that: package net has it in words only. Look-ups of one
// name are shared, so that this one may have begun a moment earlier.
func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	began := time.Now().Add(-time.Second)
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := guardedDialer(n.policy, host, n.resolver, n.limit).DialContext(ctx, network, address)
	var dns *net.DNSError
	if short := n.short.Load(); short != nil && short.at.After(began) && errors.As(err, &dns) && !dns.IsNotFound {
		return nil, short.err
	}
	return conn, err
}

func (n *network) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := n.dial(ctx, network, address)
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
