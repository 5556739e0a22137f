package dashboard

import (
	"net"
	"net/netip"
	"strings"

	"baoco/app/inbound"
	"baoco/app/target"
	"baoco/web/wire"
)

// address returns the address at which others reach a path: below the base URL if serve has
// one, else at the host of the request if a trusted proxy named it or if it is an IP address
// or localhost. Somebody else may have pointed any other name here: then only path is returned.
func (s *Server) address(v *visit, path string) string {
	if s.Installation.BaseURL != "" {
		return s.Installation.BaseURL + path
	}
	host := v.Request.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && host != "localhost" && !wire.Named(v.Request) {
		return path
	}
	return wire.Origin(v.Request) + path
}

// givenAddress is an address that is entered elsewhere or opened on another device.
type givenAddress struct {
	URL   string
	Reach target.Reach
	Needs target.Reach // the least reach that its callers need
}

func (s *Server) givenAddress(v *visit, path string, needs target.Reach) givenAddress {
	url := s.address(v, path)
	return givenAddress{url, target.ReachOf(url), needs}
}

// sourceAddress is the address that a source calls. A phone may call from the same
// network, an own program from the same machine.
func (s *Server) sourceAddress(v *visit, src inbound.Source) givenAddress {
	kind, _ := s.Services.Inbound.ProviderKind(src.Provider)
	needs := map[inbound.ProviderGroup]target.Reach{inbound.Gateways: target.ReachInternet, inbound.PhoneApps: target.ReachNetwork,
		inbound.OwnPrograms: target.ReachMachine}
	return s.givenAddress(v, src.URLPath(), needs[kind.Group])
}

// Blocked reports whether the address can't be called from where it must be.
func (a givenAddress) Blocked() bool { return a.Reach < a.Needs }

// ReachText says from where an address can be called; empty: from everywhere, over HTTPS.
func (w words) ReachText(r target.Reach) string {
	switch r {
	case target.ReachUnknown:
		return w.T("baoco doesn’t know at which address others reach it.", "baoco chưa biết địa chỉ mà bên ngoài dùng để gọi vào máy chủ này.")
	case target.ReachMachine:
		return w.T("This address works on the server itself only.", "Địa chỉ này chỉ mở được trên chính máy chủ.")
	case target.ReachNetwork:
		return w.T("This address works in the same network (Wi-Fi) only.", "Địa chỉ này chỉ mở được trong cùng mạng (Wi-Fi) với máy chủ.")
	case target.ReachPlain:
		return w.T("This address is http: others on the way can read what is sent.",
			"Địa chỉ này là http: người khác trên đường truyền đọc được những gì gửi qua.")
	}
	return ""
}
