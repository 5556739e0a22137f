package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"baoco/web"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/time/rate"
)

// listenSecurely answers HTTPS for the domain on port 443; port 80 answers the
// authority and leads browsers to HTTPS.
func (r *Server) listenSecurely(s Settings, connections *web.Connections, log *slog.Logger) error {
	certificates := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		HostPolicy: autocert.HostWhitelist(s.Domain),
		Cache:      s.certificates(),
		Client:     &acme.Client{DirectoryURL: cmp.Or(s.ACMEDirectory, autocert.DefaultACMEDirectory)},
	}
	challenge := httpServer(certificates.HTTPHandler(nil), connections, log)
	plain, err := net.Listen("tcp", ":80")
	if err != nil {
		return fmt.Errorf("--domain needs port 80: %w", err)
	}
	secure, err := net.Listen("tcp", ":443")
	if err != nil {
		return errors.Join(fmt.Errorf("--domain needs port 443: %w", err), plain.Close())
	}
	config := certificates.TLSConfig()
	config.GetCertificate = reporting(s.Domain, certificates.GetCertificate, log)
	r.servers[0].TLSConfig = config
	r.servers = append(r.servers, challenge)
	r.Listener = tls.NewListener(connections.Listener(secure), config)
	go func() { r.failed <- challenge.Serve(connections.Listener(plain)) }()
	// Nobody has to visit before there is a certificate.
	go func() { _, _ = config.GetCertificate(modernHello(s.Domain)) }()
	return nil
}

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// reporting logs why there is no certificate for the domain, once a minute at
// most: the visitor only sees that the handshake failed.
func reporting(domain string, get getCertificate, log *slog.Logger) getCertificate {
	sometimes := rate.Sometimes{Interval: time.Minute}
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		certificate, err := get(hello)
		if err != nil && hello.ServerName == domain {
			sometimes.Do(func() {
				log.Error("no certificate: the domain must lead to this server, and its ports 80 and 443 must be open to all", "domain", domain, "err", err)
			})
		}
		return certificate, err
	}
}

// modernHello is a client that takes ECDSA, as every browser does: autocert
// keeps a certificate for those that don't apart.
func modernHello(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// certificateEnd reads until when the kept certificate for --domain is valid;
// the zero time where there is none yet, or an unreadable one, which autocert
// takes for none. It is nil without a domain.
func certificateEnd(s Settings) func(ctx context.Context) time.Time {
	if s.Domain == "" {
		return nil
	}
	return func(ctx context.Context) time.Time {
		kept, err := s.certificates().Get(ctx, s.Domain)
		if err != nil {
			return time.Time{}
		}
		return leafEnd(kept)
	}
}

// leafEnd is the end of the first certificate of a PEM file, a key may stand
// before it; the zero time where there is none.
func leafEnd(kept []byte) time.Time {
	for {
		var block *pem.Block
		block, kept = pem.Decode(kept)
		if block == nil {
			return time.Time{}
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}
		}
		return leaf.NotAfter
	}
}
