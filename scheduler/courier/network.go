package courier

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

// Network opens connections to the addresses of a policy.
type Network struct {
	policy   *target.Policy
	resolver *net.Resolver
	roots    *x509.CertPool         // nil: those of the machine
	sessions tls.ClientSessionCache // of TLS, with which a handshake costs both sides less
	short    atomic.Pointer[shortLookUp]
	kept     kept
	Limit    time.Duration // of connecting: delivery.AttemptTimeout
}

const tlsSessions = 1024

// NewNetwork makes a network that asks name servers over dial; nil: as the machine does.
func NewNetwork(policy *target.Policy, roots *x509.CertPool,
	dial func(ctx context.Context, network, address string) (net.Conn, error)) *Network {
	own := dial != nil
	if !own {
		dial = (&net.Dialer{}).DialContext
	}
	n := &Network{policy: policy, roots: roots, sessions: tls.NewLRUClientSessionCache(tlsSessions), Limit: delivery.AttemptTimeout}
	n.resolver = &net.Resolver{PreferGo: own, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if shortageOf(err) != "" {
			n.short.Store(&shortLookUp{time.Now(), err})
		}
		return conn, err
	}}
	return n
}

// TLS is the configuration of TLS connections to a host; empty: the caller sets the name.
func (n *Network) TLS(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: n.roots, MinVersion: tls.VersionTLS12, ClientSessionCache: n.sessions}
}

// shortLookUp is a look-up that failed because of a shortage on this machine.
type shortLookUp struct {
	at  time.Time
	err error
}

// NoRedirect is the CheckRedirect of clients that take a redirect as the answer.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Dial opens a connection. Where a look-up failed because of a shortage on this
// machine, it returns the error of the shortage, of which package net keeps the text only.
// Look-ups of one name are shared, so this one may have begun up to a second earlier.
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	began := time.Now().Add(-time.Second)
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := guardedDialer(n.policy, host, n.resolver, n.Limit).DialContext(ctx, network, address)
	var dns *net.DNSError
	if short := n.short.Load(); short != nil && short.at.After(began) && errors.As(err, &dns) && !dns.IsNotFound {
		return nil, short.err
	}
	return conn, err
}

func (n *Network) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := n.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	secure := tls.Client(conn, n.TLS(host))
	err = secure.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(secure.ConnectionState(), err)
	}
	if err != nil {
		_ = conn.Close()
		return nil, &HandshakeError{err}
	}
	return secure, nil
}

// HandshakeError marks an error of the TLS handshake: most of these don't say where
// they come from.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return e.Err.Error() }
func (e *HandshakeError) Unwrap() error { return e.Err }

// guardedDialer opens connections to allowed addresses only. It checks the address
// itself, after DNS and right before the connect: what a name resolved to earlier doesn't
// count. host is the name that the caller asks for: if the operator allows the name, its
// addresses are allowed. A nil resolver is the machine's.
func guardedDialer(policy *target.Policy, host string, resolver *net.Resolver, limit time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout:   limit,
		KeepAlive: 15 * time.Second,
		Resolver:  resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return app.Protected(func() error { return policy.CheckConnection(host, to) }) // may be a goroutine of package net
		},
	}
}
