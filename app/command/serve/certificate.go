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
	"sync"
	"time"

	"baoco/app"
	"baoco/app/upkeep"
	"baoco/web"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// listenSecurely serves HTTPS for the domain on port 443. Port 80 answers the
// certificate authority and redirects browsers to HTTPS.
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
	r.serve(challenge, connections.Listener(plain))
	// Get the certificate now, not at the first visit.
	go func() {
		err := app.Protected(func() error { _, err := config.GetCertificate(modernHello(s.Domain)); return err })
		if _, found := errors.AsType[*app.PanicError](err); found { // reporting has logged any other error
			log.Error("get the certificate", "err", err)
		}
	}()
	return nil
}

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// reporting logs why there is no certificate for the domain, at most once a
// minute. Visitors only see that the handshake failed.
func reporting(domain string, get getCertificate, log *slog.Logger) getCertificate {
	var mu sync.Mutex
	var logged time.Time
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		certificate, err := get(hello)
		if err != nil && hello.ServerName == domain {
			mu.Lock()
			defer mu.Unlock()
			if now := time.Now(); now.Sub(logged) >= time.Minute {
				logged = now
				log.Error("no certificate: the domain must lead to this server, and its ports 80 and 443 must be open to all",
					"domain", domain, "err", err)
			}
		}
		return certificate, err
	}
}

// modernHello is the hello of a client that takes ECDSA, as every browser does.
// autocert keeps another certificate for clients that don't.
func modernHello(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// certificateEnd gives a function that reads when the saved certificate of the
// domain ends. Its status is zero if there is no certificate yet or it can't be read.
// Without a domain certificateEnd returns nil.
func certificateEnd(s Settings) func(ctx context.Context) upkeep.CertificateStatus {
	if s.Domain == "" {
		return nil
	}
	return func(ctx context.Context) upkeep.CertificateStatus {
		kept, err := s.certificates().Get(ctx, s.Domain)
		if err != nil {
			return upkeep.CertificateStatus{}
		}
		return upkeep.CertificateStatus{End: leafEnd(kept)}
	}
}

// leafEnd is the end of the first certificate of a PEM file, which may begin with
// a key. It is the zero time if there is none.
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
