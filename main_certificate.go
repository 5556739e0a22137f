package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/acme/autocert"
)

// certificates is where those of --domain are kept.
func (s settings) certificates() autocert.DirCache { return autocert.DirCache(s.db + ".acme") }

// certificateEnd reads until when the kept certificate for --domain is valid;
// the zero time where there is none yet. It is nil without a domain.
func certificateEnd(s settings) func(ctx context.Context) (time.Time, error) {
	if s.domain == "" {
		return nil
	}
	return func(ctx context.Context) (time.Time, error) {
		kept, err := s.certificates().Get(ctx, s.domain)
		if errors.Is(err, autocert.ErrCacheMiss) {
			return time.Time{}, nil
		}
		if err != nil {
			return time.Time{}, fmt.Errorf("read the certificate: %w", err)
		}
		return leafEnd(kept)
	}
}

// leafEnd is the end of the first certificate of a PEM file; a key may stand
// before it.
func leafEnd(kept []byte) (time.Time, error) {
	for {
		var block *pem.Block
		block, kept = pem.Decode(kept)
		if block == nil {
			return time.Time{}, errors.New("the kept certificate is unreadable")
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}, fmt.Errorf("the kept certificate is unreadable: %w", err)
		}
		return leaf.NotAfter, nil
	}
}
