package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"baoco/app/upkeep"
)

// certificateFiles is the certificate of --cert-file and --key-file. The files are
// read again when they change. A new pair that doesn't fit together is logged once,
// and the pair before it stays in use.
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

// look reads the files again if they have changed, and gives the pair in use.
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

// stateOf tells a file from the one that had its name before.
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
