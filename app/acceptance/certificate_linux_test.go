package acceptance_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"baoco/app/apptest"
)

// authority is the test server of Let's Encrypt for RFC 8555: it looks the name
// up, and asks it on port 80 or 443, as the real one does.
const authority = "github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1"

const certificateName = "shop.baoco.example"

// A server with --domain gets its certificate by itself, answers HTTPS and
// HTTP/2 with it, leads http to it, and has it at once at the next start. One
// that gets none says why.
func TestCertificate(t *testing.T) {
	if dir := os.Getenv("BAOCO_TEST_NAMESPACE"); dir != "" {
		inNamespace(t, dir)
		return
	}
	t.Parallel()
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it builds an authority, whose source comes over the network")
	}
	missing := t.Skipf
	if os.Getenv("BAOCO_CI") != "" {
		missing = t.Fatalf
	}
	if os.Geteuid() != 0 {
		missing("skipped: only root makes a network of its own")
	}
	dir := t.TempDir()
	if out, err := download("", []string{"GOBIN=" + dir, "GOFLAGS=-trimpath", "CGO_ENABLED=0"}, "go", "install", authority); err != nil {
		missing("skipped: the authority can't be built: %v\n%s", err, out)
	}
	inOwnNetwork(t, "TestCertificate", dir, time.Minute)
}

// inOwnNetwork runs a test once more in a network with nothing but its loopback, and gives
// what it prints.
func inOwnNetwork(t *testing.T, name, dir string, within time.Duration) string {
	t.Helper()
	executable, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable, "-test.run", "^"+name+"$", "-test.v")
	cmd.Env = append(os.Environ(), "BAOCO_TEST_NAMESPACE="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// nameHere has certificateName lead to this network, for this process and those that
// it starts, by the file hosts in dir.
func nameHere(t *testing.T, dir string) {
	t.Helper()
	must(t, upLoopback())
	hosts := filepath.Join(dir, "hosts")
	must(t, os.WriteFile(hosts, []byte("127.0.0.1 localhost "+certificateName+"\n"), 0o644))
	must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	must(t, syscall.Mount(hosts, "/etc/hosts", "", syscall.MS_BIND, ""))
}

// inNamespace is the test in a network of its own.
func inNamespace(t *testing.T, dir string) {
	nameHere(t, dir)
	roots := startAuthority(t, dir)

	lost := startSecure(t, dir, "lost.db", roots, "https://localhost:14001/dir") // where nobody answers
	eventually(t, "it says why there is no certificate", func() bool {
		return strings.Contains(lost.log.String(), "no certificate: the domain must lead to this server") &&
			strings.Contains(lost.log.String(), "connection refused")
	})
	lost.end(t)

	first := startSecure(t, dir, "shop.db", roots, "https://localhost:14000/dir")
	serial := askSecurely(t)
	first.end(t)

	again := startSecure(t, dir, "shop.db", roots, "https://localhost:14001/dir")
	if got := askSecurely(t); got.Cmp(serial) != 0 {
		t.Error("it has another certificate after a start")
	}
	if strings.Contains(again.log.String(), "no certificate") {
		t.Errorf("it asked for another:\n%s", again.log.String())
	}
	again.end(t)
}

// askSecurely looks at the pages over HTTP/2, waiting for the certificate, and
// gives its number.
func askSecurely(t *testing.T) *big.Int {
	t.Helper()
	client := &http.Client{
		// its root is made anew each time
		Transport:     &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       5 * time.Second,
	}
	defer client.CloseIdleConnections()
	var secure *http.Response
	eventually(t, "it answers HTTPS", func() bool {
		var err error
		secure, err = client.Get("https://" + certificateName + "/readyz")
		return err == nil
	})
	secure.Body.Close()
	leaf := secure.TLS.PeerCertificates[0]
	if secure.StatusCode != http.StatusOK || secure.Proto != "HTTP/2.0" || leaf.VerifyHostname(certificateName) != nil {
		t.Errorf("https: %s %s, a certificate for %v", secure.Proto, secure.Status, leaf.DNSNames)
	}
	plain, err := client.Get("http://" + certificateName + "/login")
	must(t, err)
	plain.Body.Close()
	if to := plain.Header.Get("Location"); plain.StatusCode != http.StatusFound || to != "https://"+certificateName+"/login" {
		t.Errorf("http: %s, to %q", plain.Status, to)
	}
	if _, err := client.Get("https://localhost/readyz"); err == nil {
		t.Error("it has a certificate for another name")
	}
	return leaf.SerialNumber
}

// secured is a server with --domain.
type secured struct {
	*exec.Cmd
	log *apptest.Output
}

func startSecure(t *testing.T, dir, db, roots, directory string) secured {
	t.Helper()
	p := secured{program(dir, "serve", "--db", db, "--domain", certificateName, "--acme-directory", directory), &apptest.Output{}}
	p.Env = append(p.Env, "SSL_CERT_FILE="+roots)
	p.Stdout, p.Stderr = io.Discard, p.log
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

func (p secured) end(t *testing.T) {
	t.Helper()
	must(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.log.String())
	}
}

// startAuthority starts the authority, with a certificate of its own, and gives
// the file of the root that it is trusted by.
func startAuthority(t *testing.T, dir string) (roots string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	roots, keyFile, config := filepath.Join(dir, "root.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "authority.json")
	must(t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600))
	must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	text, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": "127.0.0.1:14000", "certificate": roots, "privateKey": keyFile, "httpPort": 80, "tlsPort": 443,
	}})
	must(t, err)
	must(t, os.WriteFile(config, text, 0o600))
	cmd := exec.Command(filepath.Join(dir, "pebble"), "-config", config)
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the authority listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:14000")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return roots
}

// upLoopback brings the loopback of a new network up (netdevice(7)).
func upLoopback() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
