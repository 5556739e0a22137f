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
	"os"
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
// autocert keeps another certificate for clients that don't take it.
func modernHello(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// certificateEnd returns a function that reads when the saved certificate of the
// domain expires. Its status is zero if there is no certificate yet or it can't be
// read. Without a domain certificateEnd returns nil.
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

// leafEnd is when the first certificate of a PEM file expires; the file may begin with
// a key. Without a certificate it is the zero time.
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

// certificateFiles is the certificate of --cert-file and --key-file. The files are
// read again when they change. A new pair that can't be used is logged once, and the
// pair before it stays in use.
type certificateFiles struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	looked time.Time // when the files were last looked at
	state  string    // of the files that were last read
	pair   *tls.Certificate
	fault  error // why the files that were last read are not in use
}

const filesLook = time.Second

// openCertificate is nil without --cert-file.
func (s Settings) openCertificate(log *slog.Logger) (*certificateFiles, error) {
	if s.CertFile == "" {
		return nil, nil
	}
	f := &certificateFiles{cert: s.CertFile, key: s.KeyFile, log: log}
	f.read()
	if f.fault != nil {
		return nil, fmt.Errorf("--cert-file and --key-file: %w", f.fault)
	}
	return f, nil
}

// look reads the files again if they have changed, and returns the pair in use.
func (f *certificateFiles) look() (pair *tls.Certificate, fault error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.looked).Abs() >= filesLook {
		f.looked = now
		f.read()
	}
	return f.pair, f.fault
}

func (f *certificateFiles) read() {
	state := stateOf(f.cert) + stateOf(f.key)
	if state == f.state {
		return
	}
	f.state = state
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err == nil && time.Now().After(pair.Leaf.NotAfter) && f.pair != nil {
		err = errors.New("the new certificate has already expired")
	}
	if f.fault = err; err != nil {
		if f.pair != nil {
			f.log.Error("the new certificate is not used, the one before it stays", "cert_file", f.cert, "err", err)
		}
		return
	}
	if f.pair != nil {
		f.log.Info("new certificate", "cert_file", f.cert, "valid_until", pair.Leaf.NotAfter)
	}
	f.pair = &pair
}

// stateOf changes when a file is replaced or written.
func stateOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), ";")
}

func (f *certificateFiles) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { pair, _ := f.look(); return pair, nil },
	}
}

// status is for the system page and its alerts.
func (f *certificateFiles) status() upkeep.CertificateStatus {
	pair, fault := f.look()
	return upkeep.CertificateStatus{End: pair.Leaf.NotAfter, Unused: fault != nil}
}
