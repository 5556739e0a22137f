package target_test

import (
	"net/netip"
	"strings"
	"testing"

	"baoco/app/target"
)

// FuzzTargetPolicy: whatever an operator allows, metadata addresses stay
// closed and public ones open, and an entry means what it says.
func FuzzTargetPolicy(f *testing.F) {
	for _, seed := range []string{
		"10.0.0.0/8", "127.0.0.1", "127.0.0.1/32@9000", "::1", "::ffff:10.0.0.0/104", "::/0", "0.0.0.0/0@80", "shop.local", "SHOP.local.",
		"10.0.0.0/33", "10.0.0.1@0", "10.0.0.1@+80",
		"10.0.0.1@", "fe80::1%eth0", "@80", "", "a..b", "-a.b", "1.2.3", "0x7f.1", "::ffff:0:0/90", "10.0.0.1@80@81", "64:ff9b::/96", "①.1.1.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		p, err := target.ParsePolicy([]string{entry})
		if err != nil {
			return
		}
		for _, addr := range []string{"169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "64:ff9b::a9fe:a9fe",
			"::ffff:169.254.169.254"} {
			if p.CheckAddr(netip.AddrPortFrom(netip.MustParseAddr(addr), 80)) == nil {
				t.Errorf("%q opens %s", entry, addr)
			}
		}
		if err := p.CheckAddr(netip.MustParseAddrPort("1.1.1.1:443")); err != nil {
			t.Errorf("%q closes a public address: %v", entry, err)
		}
		if !strings.ContainsAny(entry, "0123456789") && p.CheckAddr(netip.MustParseAddrPort("10.1.2.3:80")) == nil &&
			!strings.Contains(entry, ":") {
			t.Errorf("%q opens 10.1.2.3", entry)
		}
		_, port, hasPort := strings.Cut(strings.TrimSpace(entry), "@")
		if hasPort && port != "81" && strings.TrimLeft(port, "0") != "81" && p.CheckAddr(netip.MustParseAddrPort("10.1.2.3:81")) == nil {
			t.Errorf("%q opens another port", entry)
		}
	})
}
