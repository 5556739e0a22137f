package scheduler_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"
)

// issuer signs certificates. The zero value's are self-signed.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// authority is an issuer of issuers, signed by i.
func (i issuer) authority(t testing.TB, name string) issuer {
	return i.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	})
}

// server is a certificate for name, valid for an hour around validAt, with
// the chain that a server sends.
func (i issuer) server(t testing.TB, name string, validAt time.Time, chain ...issuer) tls.Certificate {
	leaf := i.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore:   validAt.Add(-30 * time.Minute), NotAfter: validAt.Add(30 * time.Minute),
	})
	c := tls.Certificate{Certificate: [][]byte{leaf.certificate.Raw}, PrivateKey: leaf.key}
	for _, link := range chain {
		c.Certificate = append(c.Certificate, link.certificate.Raw)
	}
	return c
}

func (i issuer) sign(t testing.TB, template *x509.Certificate) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	parent, signer := i.certificate, i.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return issuer{certificate, key}
}
