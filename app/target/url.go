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
