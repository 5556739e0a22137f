package courier

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"

	"baoco/app"
	"baoco/app/target"
)

// guardedDialer opens connections to allowed addresses only. The judgement
// falls here, on the address itself, after DNS and right before the connect:
// what a name resolved to a moment ago doesn't count. host is what the caller asks for: a
// name that the operator allows opens its addresses. A nil resolver is the machine's.
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
