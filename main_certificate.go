package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	"golang.org/x/crypto/acme/autocert"
)

// certificates is where those of --domain are kept.
func (s settings) certificates() autocert.DirCache { return autocert.DirCache(s.db + ".acme") }

// certificateEnd reads until when the kept certificate for --domain is valid;
// the zero time where there is none yet, or an unreadable one, which autocert
// takes for none. It is nil without a domain.
func certificateEnd(s settings) func(ctx context.Context) time.Time {
	if s.domain == "" {
		return nil
	}
	return func(ctx context.Context) time.Time {
		kept, err := s.certificates().Get(ctx, s.domain)
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
