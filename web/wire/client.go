package wire

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"baoco/app/pattern"
)

// ClientAddr is the address that a request comes from. It is the connection's
// address. If that is a trusted proxy's, it is the last address of
// X-Forwarded-For that isn't a trusted proxy's: addresses that a client wrote into the
// header itself come before those that the proxies add, so they are never used. If a
// proxy names no valid address, the proxy is the client. Without an address of the
// connection the result is the zero address.
func (s *Responder) ClientAddr(r *http.Request) netip.Addr {
	addr, _ := ParseClient(r.RemoteAddr)
	if !s.isProxy(addr) {
		return addr
	}
	named := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(named) {
		next, ok := ParseClient(strings.TrimSpace(text))
		if !ok {
			break
		}
		if addr = next; !s.isProxy(addr) {
			break
		}
	}
	return addr
}

func (s *Responder) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// lastHop is the last value of a header to which each proxy may add one: the value of
// the proxy that made the connection.
func lastHop(h http.Header, name string) string {
	values := h.Values(name)
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

// hostForm is the form of a host in a URL: a name or an address, and a port.
var hostForm = pattern.Lazy(`^([0-9A-Za-z._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// ParseClient reads an address with or without a port, as a connection and as
// proxies write it. An IPv6 address may stand in brackets.
func ParseClient(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil && strings.HasSuffix(text, "]") {
		text += ":0"
	}
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		addr = withPort.Addr()
	}
	return addr.Unmap().WithZone(""), err == nil
}

// Client is what every limit counts as one client: an IPv4 address, or the /64 of an
// IPv6 address, since a client with one address in a /64 has them all.
func (s *Responder) Client(r *http.Request) netip.Prefix { return ClientOf(s.ClientAddr(r)) }

// ClientOf is Client for an address.
func ClientOf(addr netip.Addr) netip.Prefix {
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.Prefix(bits) // the zero prefix for the zero address
	return prefix
}
