package scheduler_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a DNS server on loopback whose answers a test sets, also
// between two attempts.
type nameServer struct {
	conn    net.PacketConn
	mu      sync.Mutex
	names   map[string][]netip.Addr
	failing map[string]dnsmessage.RCode
	silent  map[string]bool
}

func startNameServer(t testing.TB) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, names: map[string][]netip.Addr{}, failing: map[string]dnsmessage.RCode{}, silent: map[string]bool{}}
	t.Cleanup(func() { conn.Close() })
	go s.serve()
	return s
}

// resolver is Go's own, asking this server alone.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

// set makes name lead to addresses from now on.
func (s *nameServer) set(name string, addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = nil
	for _, a := range addrs {
		s.names[name] = append(s.names[name], netip.MustParseAddr(a))
	}
}

// silence keeps the server from answering for a name.
func (s *nameServer) silence(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent[name] = true
}

// fail makes the server refuse a name.
func (s *nameServer) fail(name string, code dnsmessage.RCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing[name] = code
}

func (s *nameServer) serve() {
	packet := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(packet)
		if err != nil {
			return
		}
		if answer := s.answer(packet[:n]); answer != nil {
			_, _ = s.conn.WriteTo(answer, from)
		}
	}
}

func (s *nameServer) answer(packet []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(packet) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent[name] {
		return nil
	}
	addrs, known := s.names[name]
	m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
	if m.RCode = s.failing[name]; !known && m.RCode == dnsmessage.RCodeSuccess {
		m.RCode = dnsmessage.RCodeNameError
	}
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	for _, a := range addrs {
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return nil
	}
	return packed
}
