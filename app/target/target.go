// Package target decides which addresses may be called.
package target

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"baoco/app"
)

// Policy decides where webhooks may go: to public addresses, and to the
// private ones that the operator allows. It judges a URL when a webhook is
// made, without network calls, and every address after DNS when a connection is
// opened. The second judgement is the one that protects.
type Policy struct {
	prefixes []allowedPrefix
	hosts    map[allowedHost]bool
}

type allowedHost struct {
	name string
	port uint16 // 0: any
}

type allowedPrefix struct {
	prefix netip.Prefix
	port   uint16 // 0: any
}

// ParsePolicy reads the operator's allow-list, whose entries are
// CIDR[@PORT], an address [@PORT], or an exact host name [@PORT].
func ParsePolicy(entries []string) (*Policy, error) {
	p := &Policy{hosts: map[allowedHost]bool{}}
	for _, entry := range entries {
		entry = strings.TrimSpace(entry)
		network, portText, hasPort := strings.Cut(entry, "@")
		port := uint64(0)
		if hasPort {
			var err error
			if port, err = strconv.ParseUint(portText, 10, 16); err != nil || port == 0 {
				return nil, fmt.Errorf("allowed target %q: the port must be from 1 to 65535", entry)
			}
		}
		if prefix, err := ParseNetwork(network); err == nil {
			p.prefixes = append(p.prefixes, allowedPrefix{prefix, uint16(port)})
			continue
		}
		host := hostName(network)
		if !ValidHostName(host) || endsInNumber(host) {
			return nil, fmt.Errorf("allowed target %q is not CIDR[@PORT] nor a host name", entry)
		}
		p.hosts[allowedHost{host, uint16(port)}] = true
	}
	return p, nil
}

// ParseNetwork reads a CIDR or a single address and normalises it: without a
// zone, IPv4 unmapped.
func ParseNetwork(s string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		addr, err := netip.ParseAddr(s)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, errors.New("not an address without a zone")
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	if addr := prefix.Addr(); addr.Is4In6() {
		if prefix.Bits() < 96 {
			return netip.Prefix{}, errors.New("not a range of IPv4")
		}
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked(), nil
}

// specialRanges are the ranges of the IANA special-purpose registries (RFC
// 6890 and its updates) and of multicast, with what they are.
var specialRanges = parseRanges(
	"0.0.0.0/8", "this network", "mạng hiện tại",
	"10.0.0.0/8", "a private network", "mạng nội bộ",
	"100.64.0.0/10", "shared by carriers", "mạng dùng chung của nhà mạng",
	"127.0.0.0/8", "loopback", "địa chỉ của chính máy này",
	"169.254.0.0/16", "link-local", "mạng liên kết cục bộ",
	"172.16.0.0/12", "a private network", "mạng nội bộ",
	"192.0.0.0/24", "reserved for protocols", "dành cho giao thức",
	"192.0.2.0/24", "for documentation", "dành cho tài liệu",
	"192.31.196.0/24", "reserved for AS112", "dành cho AS112",
	"192.52.193.0/24", "reserved for AMT", "dành cho AMT",
	"192.88.99.0/24", "reserved for 6to4 relays", "dành cho 6to4",
	"192.168.0.0/16", "a private network", "mạng nội bộ",
	"192.175.48.0/24", "reserved for AS112", "dành cho AS112",
	"198.18.0.0/15", "for benchmarks", "dành cho đo hiệu năng",
	"198.51.100.0/24", "for documentation", "dành cho tài liệu",
	"203.0.113.0/24", "for documentation", "dành cho tài liệu",
	"224.0.0.0/4", "multicast", "multicast",
	"240.0.0.0/4", "reserved", "dành riêng",
	"2001::/23", "reserved for protocols", "dành cho giao thức",
	"2001:db8::/32", "for documentation", "dành cho tài liệu",
	"2002::/16", "6to4", "6to4",
	"2620:4f:8000::/48", "reserved for AS112", "dành cho AS112",
	"3fff::/20", "for documentation", "dành cho tài liệu",
)

// metadata are the addresses at which clouds give credentials to every caller
// inside. No setting allows them, nor an IPv6 address that leads to one.
var metadata = parsePrefixes(
	"169.254.169.254/32", "169.254.169.253/32", "169.254.170.2/32", "169.254.170.23/32",
	"169.254.0.23/32", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
	"169.254.42.42/32", "fd00:ec2::254/128", "fd00:ec2::253/128", "fd00:ec2::23/128", "fd20:ce::254/128",
	"fd00:42::42/128", "fd00:a9fe:a9fe::1/128", "fe80::a9fe:a9fe/128", "fd00:c1::a9fe:a9fe/128", "fd00:100::100:200/128",
)

var (
	globalIPv6 = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")   // RFC 6052
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")      // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")      // RFC 4380
)

type addressRange struct {
	prefix netip.Prefix
	what   app.Text
}

func parseRanges(triples ...string) []addressRange {
	var ranges []addressRange
	for i := 0; i < len(triples); i += 3 {
		ranges = append(ranges, addressRange{netip.MustParsePrefix(triples[i]), app.Text{EN: triples[i+1], VI: triples[i+2]}})
	}
	return ranges
}

func parsePrefixes(list ...string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, s := range list {
		prefixes = append(prefixes, netip.MustParsePrefix(s))
	}
	return prefixes
}

// BlockedAddressError names the rule that forbids an address.
type BlockedAddressError struct {
	Addr     netip.Addr
	Port     uint16
	Rule     app.Text // what the address is
	Metadata bool     // no setting allows it
}

func (e *BlockedAddressError) Error() string {
	if e.Metadata {
		return fmt.Sprintf("%s is a cloud metadata address, which is never allowed", e.Addr)
	}
	return fmt.Sprintf("%s is not a public address (%s); --allow-target %s on serve would allow it", e.Addr, e.Rule.EN, e.setting())
}

// setting is the narrowest one that allows the address.
func (e *BlockedAddressError) setting() string {
	return fmt.Sprintf("%s@%d", netip.PrefixFrom(e.Addr, e.Addr.BitLen()), e.Port)
}

// hostName is a name as it is compared.
func hostName(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// allowsHost reports whether the operator allows a name, by itself, at a port.
func (p *Policy) allowsHost(host string, port uint16) bool {
	host = hostName(host)
	return p.hosts[allowedHost{host, 0}] || p.hosts[allowedHost{host, port}]
}

// CheckConnection judges the address of a connection that is opened to a host, by its
// name or address; nil allows it. A name that is allowed opens whatever address it has at
// the moment, but for those of metadata.
func (p *Policy) CheckConnection(host string, ap netip.AddrPort) error {
	err := p.CheckAddr(ap)
	var blocked *BlockedAddressError
	if errors.As(err, &blocked) && !blocked.Metadata && blocked.Addr.IsValid() && p.allowsHost(host, ap.Port()) {
		return nil
	}
	return err
}

// CheckAddr judges the address of a connection; nil allows it.
func (p *Policy) CheckAddr(ap netip.AddrPort) error {
	addr := ap.Addr().WithZone("").Unmap()
	if !addr.IsValid() {
		return &BlockedAddressError{Addr: addr, Rule: app.Text{EN: "not an address", VI: "không phải địa chỉ"}}
	}
	if IsMetadata(addr) {
		return &BlockedAddressError{Addr: addr, Rule: app.Text{EN: "cloud metadata", VI: "metadata của máy chủ đám mây"}, Metadata: true}
	}
	judged := embedded(addr)
	for _, a := range p.prefixes {
		if (a.prefix.Contains(addr) || a.prefix.Contains(judged)) && (a.port == 0 || a.port == ap.Port()) {
			return nil
		}
	}
	for _, r := range specialRanges {
		if r.prefix.Contains(judged) {
			return &BlockedAddressError{Addr: addr, Port: ap.Port(),
				Rule: app.Textf("%[1]s, %[3]s", "%[2]s, %[3]s", r.what.EN, r.what.VI, r.prefix)}
		}
	}
	if judged.Is6() && !globalIPv6.Contains(judged) {
		return &BlockedAddressError{Addr: addr, Port: ap.Port(),
			Rule: app.Text{EN: "outside the public range 2000::/3", VI: "ngoài dải công khai 2000::/3"}}
	}
	return nil
}

// embedded is the IPv4 address that a NAT64 address leads to, else addr.
func embedded(addr netip.Addr) netip.Addr {
	if !nat64.Contains(addr) {
		return addr
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// IsMetadata reports whether a cloud gives its machines their credentials at an address.
func IsMetadata(addr netip.Addr) bool {
	for _, a := range append(carried(addr), addr) {
		for _, prefix := range metadata {
			if prefix.Contains(a) {
				return true
			}
		}
	}
	return false
}

// carried lists the IPv4 addresses that a translator or a tunnel may make of an
// IPv6 address. The last 32 bits are always one of them: so it is with every
// NAT64 prefix of 96 bits (RFC 6052), IPv4-compatible and IPv4-translated
// addresses (RFC 4291, RFC 2765) and ISATAP (RFC 5214), and a blocked address
// doesn't stand there by chance.
func carried(addr netip.Addr) (list []netip.Addr) {
	if !addr.Is6() {
		return nil
	}
	b := addr.As16()
	at := func(places ...int) {
		list = append(list, netip.AddrFrom4([4]byte{b[places[0]], b[places[1]], b[places[2]], b[places[3]]}))
	}
	at(12, 13, 14, 15)
	switch {
	case localNAT64.Contains(addr): // with prefixes of 48, 56 and 64 bits, around the bits 64 to 71
		at(6, 7, 9, 10)
		at(7, 9, 10, 11)
		at(9, 10, 11, 12)
	case sixToFour.Contains(addr):
		at(2, 3, 4, 5)
	case teredo.Contains(addr): // the server, and the client's address with every bit turned
		at(4, 5, 6, 7)
		list = append(list, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	return list
}
