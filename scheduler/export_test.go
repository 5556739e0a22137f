package scheduler

import (
	"crypto/x509"
	"net"

	"baoco/app/target"
	"baoco/scheduler/courier"
)

// NewAlerterOn is NewAlerter with the names of a test's resolver and the
// certificates that a test trusts, over the real network.
func NewAlerterOn(policy *target.Policy, resolver *net.Resolver, roots *x509.CertPool) *Alerter {
	return newAlerter(courier.NewNetwork(policy, roots, resolver.Dial), courier.NewNetwork(new(target.Policy), roots, resolver.Dial),
		"test", nil)
}
