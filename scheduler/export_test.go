package scheduler

import (
	"crypto/x509"
	"net"
	"time"

	"baoco/app/target"
)

// NewSenderOn is NewSender with the names of a test's resolver and the
// certificates that a test trusts, over the real network.
func NewSenderOn(policy *target.Policy, resolver *net.Resolver, roots *x509.CertPool) *Sender {
	return NewSender(policy, "test", roundTrips{newNetwork(policy, roots, resolver.Dial)})
}

// NewSenderWithin is NewSenderOn with attempts that take no longer than limit, in place
// of ten seconds.
func NewSenderWithin(limit time.Duration, policy *target.Policy, resolver *net.Resolver, roots *x509.CertPool) *Sender {
	n := newNetwork(policy, roots, resolver.Dial)
	n.limit = limit
	s := NewSender(policy, "test", roundTrips{n})
	s.limit = limit
	return s
}

// NewAlerterOn is NewAlerter in the same way.
func NewAlerterOn(policy *target.Policy, resolver *net.Resolver, roots *x509.CertPool) *Alerter {
	return newAlerter(newNetwork(policy, roots, resolver.Dial), "test", nil)
}
