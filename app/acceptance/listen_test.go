package acceptance_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
)

// writePair writes a certificate with a serial number and its key.
func writePair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(90 * 24 * time.Hour), DNSNames: []string{"baoco.shop.vn"}}
	made, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	must(t, err)
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
}

// A server with a certificate of the operator's answers HTTPS and HTTP/2, takes a
// renewed pair without a start, and keeps the old one where the new is broken.
func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1)
	p := startIn(t, dir, anyPort, "--cert-file", cert, "--key-file", key)
	if !p.waitForURL() {
		t.Fatalf("it did not come up:\n%s", p.stderr)
	}
	serial := func() int64 { // of the certificate that a new connection gets
		client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
			Timeout: 30 * time.Second}
		defer client.CloseIdleConnections()
		answer, err := client.Get("https://" + p.address() + "/healthz")
		must(t, err)
		answer.Body.Close()
		if answer.Proto != "HTTP/2.0" || answer.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s, HSTS %q", answer.Proto, answer.Header.Get("Strict-Transport-Security"))
		}
		return answer.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("it has certificate %d", got)
	}
	doIn(t, dir, "ready", "--listen", p.address(), "--cert-file", cert)
	must(t, os.WriteFile(cert, []byte("broken"), 0o600))
	eventually(t, "the broken one is logged", func() bool {
		if got := serial(); got != 1 {
			t.Fatalf("after a broken one it has certificate %d", got)
		}
		return strings.Contains(p.stderr.String(), "the new certificate is not used")
	})
	writePair(t, cert, key, 2)
	eventually(t, "the renewed one is used", func() bool { return serial() == 2 })
	if n := strings.Count(p.stderr.String(), "the new certificate is not used"); n > 2 { // a pair is written in two steps
		t.Errorf("it is logged %d times", n)
	}
	p.end(t)

	for _, args := range [][]string{{"--cert-file", cert}, {"--cert-file", cert, "--key-file", key, "--domain", "baoco.shop.vn"},
		{"--cert-file", key, "--key-file", cert}} {
		if code, _, stderr := baoco("", append([]string{"serve", "--listen", anyPort, "--db", filepath.Join(dir, "baoco.db")},
			args...)...); code == 0 || !strings.Contains(stderr, "cert-file") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// A server at a Unix socket: for its group, in the place of what a killed one left,
// never in that of another. Its proxy is trusted where 127.0.0.1 is.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	dir := apptest.SocketDir(t)
	socket := filepath.Join(dir, "baoco.sock")
	start := func(args ...string) *process {
		t.Helper()
		p := startIn(t, dir, "unix:"+socket, append([]string{"--base-url", "https://baoco.shop.vn"}, args...)...)
		if !p.waitForURL() {
			t.Fatalf("it did not come up:\n%s", p.stderr)
		}
		return p
	}
	client := &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
	refused := func(from string) {
		t.Helper()
		request, err := http.NewRequest("POST", "http://baoco/api/webhooks/provider/nowhere", strings.NewReader("{}"))
		must(t, err)
		request.Header.Set("X-Forwarded-For", "198.51.100.7")
		answer, err := client.Do(request)
		must(t, err)
		answer.Body.Close()
		eventually(t, "the refused call is noted", func() bool {
			return strings.Contains(do(t, dir, "source", "log", "--refused"), from)
		})
	}
	first := start()
	if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o660 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	refused("127.0.0.1")
	other := startIn(t, t.TempDir(), "unix:"+socket, "--base-url", "https://baoco.shop.vn")
	if code := other.exitWithin(t, time.Minute); code == 0 || !strings.Contains(other.stderr.String(), "another program listens") {
		t.Errorf("beside another: exit %d\n%s", code, other.stderr)
	}
	must(t, first.Process.Kill())
	_ = first.Wait()

	second := start("--trusted-proxies", "127.0.0.1")
	refused("198.51.100.7")
	second.end(t)
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("after its end: %v", err)
	}
	must(t, os.WriteFile(socket, []byte("precious"), 0o600))
	for _, args := range [][]string{{"--listen", "unix:" + socket, "--base-url", "https://a.vn"}, {"--listen", "unix:" + socket},
		{"--listen", "unix:baoco.sock", "--base-url", "https://a.vn"}, {"--listen", "unix:", "--base-url", "https://a.vn"}} {
		if code, _, stderr := baoco("", append([]string{"serve", "--db", filepath.Join(dir, "baoco.db")}, args...)...); code == 0 {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	if text, err := os.ReadFile(socket); err != nil || string(text) != "precious" {
		t.Errorf("a file with the name of the socket: %q, %v", text, err)
	}
}
