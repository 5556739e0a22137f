package scheduler

import (
	"crypto/x509"
	"net"

	"baoco/app"
)

// NewSenderOn is NewSender with the names of a test's resolver and the
// certificates that a test trusts, over the real network.
func NewSenderOn(policy *app.TargetPolicy, resolver *net.Resolver, roots *x509.CertPool) *Sender {
	return NewSender(policy, "test", roundTrips{newNetwork(policy, roots, resolver.Dial)})
}

// NewAlerterOn is NewAlerter in the same way.
func NewAlerterOn(policy *app.TargetPolicy, resolver *net.Resolver, roots *x509.CertPool) *Alerter {
	return newAlerter(newNetwork(policy, roots, resolver.Dial), "test", nil)
}
