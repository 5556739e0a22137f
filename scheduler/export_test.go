package scheduler

import (
	"crypto/x509"
	"net"

	"baoco/app"
)

// NewSenderOn is NewSender with the names of a test's resolver and the
// certificates that a test trusts, over the real network.
func NewSenderOn(policy *app.TargetPolicy, resolver *net.Resolver, roots *x509.CertPool) *Sender {
	n := network{policy: policy, resolver: resolver, roots: roots}
	s := NewSender(policy, "test", n.transport(true))
	s.single = n.transport(false)
	return s
}

// NewAlerterOn is NewAlerter in the same way.
func NewAlerterOn(policy *app.TargetPolicy, resolver *net.Resolver, roots *x509.CertPool) *Alerter {
	return newAlerter(network{policy: policy, resolver: resolver, roots: roots}, "test", nil)
}
