// Package target decides which addresses may be called.
package target

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
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

// localSuffixes are the names that are never public (RFC 6761, RFC 6762, RFC
// 8375, RFC 9476 and common habits).
var localSuffixes = []string{
	"localhost", "local", "localdomain", "internal", "intranet", "lan", "corp",
	"home", "home.arpa", "test", "invalid", "onion",
}

// Reach is from where an address can be called; the narrowest is the lowest.
type Reach int

// The reaches.
const (
	ReachUnknown  Reach = iota // no host is named
	ReachMachine               // from the server itself
	ReachNetwork               // from its own network
	ReachPlain                 // from the internet, but over http, which others on the way can read
	ReachInternet              // from the internet, over https
)

// ReachOf judges the address of an installation by its text.
func ReachOf(address string) Reach {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ReachUnknown
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	literal := err == nil
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost"),
		literal && (addr.Unmap().IsLoopback() || addr.IsUnspecified()):
		return ReachMachine
	case literal && new(Policy).CheckAddr(netip.AddrPortFrom(addr, 0)) != nil,
		!literal && (!strings.Contains(host, ".") || hasLocalSuffix(host)):
		return ReachNetwork
	case u.Scheme != "https":
		return ReachPlain
	}
	return ReachInternet
}

// CheckURL judges a webhook's URL by its text alone and returns the fault; nil:
// none.
func (p *Policy) CheckURL(raw string) *app.Text {
	scheme, host, port, bad := splitTarget(raw)
	if bad != nil {
		return bad
	}
	if u, err := url.Parse(raw); err != nil || !strings.EqualFold(u.Scheme, scheme) || u.Host == "" || u.Opaque != "" || u.User != nil {
		return &app.Text{EN: "is not a valid URL", VI: "không phải là URL hợp lệ"}
	}
	if strings.HasPrefix(host, "[") {
		addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || addr.Zone() != "" || addr.Is4() {
			return &app.Text{EN: "has a host that is not an IPv6 address", VI: "có máy chủ không phải địa chỉ IPv6"}
		}
		return p.checkLiteral(addr, port)
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is4() {
		return p.checkLiteral(addr, port)
	}
	return p.checkHostName(hostName(host), port)
}

// CheckAPIURL judges the base URL of an API, to which paths and queries are
// added. The faults are those of field api_url.
func (p *Policy) CheckAPIURL(raw string) error {
	var v app.Invalid
	if bad := p.CheckURL(raw); bad != nil {
		v.Add("api_url", bad.EN, bad.VI)
	} else if strings.Contains(raw, "?") {
		v.Add("api_url", "must be an address such as https://api.example.vn", "phải là một địa chỉ, ví dụ https://api.example.vn")
	}
	return v.Err()
}

func (p *Policy) checkLiteral(addr netip.Addr, port uint16) *app.Text {
	var blocked *BlockedAddressError
	if err := p.CheckAddr(netip.AddrPortFrom(addr, port)); !errors.As(err, &blocked) {
		return nil
	}
	if blocked.Metadata {
		return new(app.Textf("has the cloud metadata address %s, which is never allowed",
			"dùng địa chỉ metadata %s của máy chủ đám mây, không bao giờ được phép", blocked.Addr))
	}
	return &app.Text{
		EN: fmt.Sprintf("must be reachable from the internet, but %s is not public (%s); to send there, start serve with --allow-target %s",
			blocked.Addr, blocked.Rule.EN, blocked.setting()),
		VI: fmt.Sprintf("phải truy cập được từ internet, nhưng %s không phải địa chỉ công khai (%s); "+
			"để gửi đến đó, hãy chạy serve với --allow-target %s", blocked.Addr, blocked.Rule.VI, blocked.setting()),
	}
}

func (p *Policy) checkHostName(host string, port uint16) *app.Text {
	switch {
	case p.allowsHost(host, port):
		return nil
	case !ValidHostName(host):
		return &app.Text{EN: "has a host that is not a valid name; write an internationalised name as punycode",
			VI: "có tên máy chủ không hợp lệ; tên miền có dấu phải viết dạng punycode"}
	case endsInNumber(host):
		return &app.Text{EN: "has a host that ends in a number but is not an IPv4 address in dotted form",
			VI: "có tên máy chủ kết thúc bằng số nhưng không phải địa chỉ IPv4 dạng chuẩn"}
	}
	if !strings.Contains(host, ".") || hasLocalSuffix(host) {
		return new(app.Textf("must be reachable from the internet, but %[1]s is a local name; "+
			"to send there, start serve with --allow-target %[1]s@%[2]d",
			"phải truy cập được từ internet, nhưng %[1]s là tên nội bộ; để gửi đến đó, hãy chạy serve với --allow-target %[1]s@%[2]d",
			host, port))
	}
	return nil
}

func hasLocalSuffix(host string) bool {
	for _, suffix := range localSuffixes {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return true
		}
	}
	return false
}

// splitTarget splits a URL by a grammar narrower than that of any parser behind
// it, so that no two parsers can disagree about the host.
func splitTarget(raw string) (scheme, host string, port uint16, bad *app.Text) {
	if raw == "" || len(raw) > 2048 {
		return "", "", 0, &app.Text{EN: "must be 1 to 2048 characters", VI: "phải có từ 1 đến 2048 ký tự"}
	}
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] > '~' {
			return "", "", 0, &app.Text{EN: "must be printable ASCII without spaces; write an internationalised name as punycode",
				VI: "chỉ được chứa ký tự ASCII, không có khoảng trắng; tên miền có dấu phải viết dạng punycode"}
		}
	}
	scheme, rest, found := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	if !found || (scheme != "http" && scheme != "https") {
		return "", "", 0, &app.Text{EN: "must begin with https:// or http://", VI: "phải bắt đầu bằng https:// hoặc http://"}
	}
	if strings.Contains(rest, "#") {
		return "", "", 0, &app.Text{EN: "must not have a fragment (#…), which is never sent",
			VI: "không được có phần #…, vì phần này không bao giờ được gửi đi"}
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	if strings.ContainsAny(authority, "@\\%") {
		return "", "", 0, &app.Text{EN: "must not have user info, a backslash or an escape in its host",
			VI: "không được có thông tin đăng nhập, dấu \\ hay ký tự mã hoá trong tên máy chủ"}
	}
	host, portText, hasPort := CutPort(authority)
	port = 443
	if scheme == "http" {
		port = 80
	}
	if hasPort {
		n, err := strconv.ParseUint(portText, 10, 16)
		if err != nil || n == 0 || portText[0] == '0' || portText[0] == '+' {
			return "", "", 0, &app.Text{EN: "must have a port from 1 to 65535 without leading zeros, or none",
				VI: "phải có cổng từ 1 đến 65535, không có số 0 ở đầu, hoặc không ghi cổng"}
		}
		port = uint16(n)
	}
	if host == "" {
		return "", "", 0, &app.Text{EN: "must name a host", VI: "phải có tên máy chủ"}
	}
	return scheme, host, port, nil
}

// CutPort takes the port off a host, whose IPv6 address stands in brackets.
func CutPort(authority string) (host, port string, found bool) {
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']') + 1
		if end < len(authority) && authority[end] == ':' {
			return authority[:end], authority[end+1:], true
		}
		return authority, "", false
	}
	return strings.Cut(authority, ":")
}

// ValidHostName checks a name by RFC 1123, and allows the underscore that many
// real hosts have.
func ValidHostName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// endsInNumber reports whether some parsers take the host for an IPv4 address
// and others for a name, as the WHATWG URL standard defines it.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if app.AllDigits(last) {
		return true
	}
	hex, isHex := strings.CutPrefix(strings.ToLower(last), "0x")
	return isHex && strings.Trim(hex, "0123456789abcdef") == ""
}
