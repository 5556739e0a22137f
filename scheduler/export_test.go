package scheduler

import (
	"crypto/tls"
	"crypto/x509"
	"net"

	"baoco/app"
)

// NewSenderOn is NewSender with the names of a test's resolver and the
// certificates that a test trusts, over the real network.
func NewSenderOn(policy *app.TargetPolicy, resolver *net.Resolver, roots *x509.CertPool) *Sender {
	return NewSender(policy, "test", network{policy: policy, resolver: resolver, roots: roots, sessions: tls.NewLRUClientSessionCache(tlsSessions)}.transport())
}

// NewAlerterOn is NewAlerter in the same way.
func NewAlerterOn(policy *app.TargetPolicy, resolver *net.Resolver, roots *x509.CertPool) *Alerter {
	return newAlerter(network{policy: policy, resolver: resolver, roots: roots}, "test", nil)
}
