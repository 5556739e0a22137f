package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"testing"
	"time"
)

// The kept certificate is read as autocert writes it: key first, then the chain.
func TestCertificateEnd(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := Settings{DB: filepath.Join(t.TempDir(), "baoco.db"), Domain: "baoco.shop.vn"}
	if certificateEnd(Settings{}) != nil {
		t.Error("a certificate without a domain")
	}
	if end := certificateEnd(s)(t.Context()).End; !end.IsZero() {
		t.Errorf("before the first: %v", end)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	want := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	leaf, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: want},
		&x509.Certificate{SerialNumber: big.NewInt(2)}, &key.PublicKey, key)
	check(err)
	private, err := x509.MarshalECPrivateKey(key)
	check(err)
	kept := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf})...)
	check(s.certificates().Put(t.Context(), s.Domain, kept))
	if end := certificateEnd(s)(t.Context()).End; !end.Equal(want) {
		t.Errorf("%v, want %v", end, want)
	}
	for _, broken := range [][]byte{nil, kept[:200], []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")} {
		check(s.certificates().Put(t.Context(), s.Domain, broken))
		if end := certificateEnd(s)(t.Context()).End; !end.IsZero() {
			t.Errorf("%q ends at %v", broken, end)
		}
	}
}
