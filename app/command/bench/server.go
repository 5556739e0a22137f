package bench

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app/inbound"
)

// server is a baoco serve in a process of its own, so that its memory is measured without
// the memory of the callers and shops.
type server struct {
	cmd    *exec.Cmd
	url    string // of its source
	secret string

	idleMB, mostMB *float64      // memory before the loads, and the greatest
	cpu            time.Duration // of all cores, from its start to its end
}

// startServer starts a server on db at a free port, which trusts the certificate beside db.
// The process ends when ctx is done.
func startServer(ctx context.Context, db string, source inbound.Source) (*server, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, executable,
		"serve", "--db", db, "--listen", "127.0.0.1:0", "--log-format", "json", "--allow-target", "127.0.0.0/8")
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "BAOCO_") })
	cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+certificateIn(filepath.Dir(db)))
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var log strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "serving" {
			go io.Copy(io.Discard, output)
			return &server{cmd: cmd, url: "http://" + entry.Address + source.URLPath(), secret: source.Secret}, nil
		}
		log.WriteString(" | " + lines.Text())
	}
	_ = cmd.Wait()
	return nil, fmt.Errorf("serve did not come up%s", &log)
}

// certificateIn returns the path of the shops' certificate; with plain HTTP the file doesn't exist.
func certificateIn(dir string) string { return filepath.Join(dir, "shops.pem") }

// certify makes the certificate of the shops, and writes it to the file that servers trust.
func certify(dir string, now time.Time) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		os.WriteFile(certificateIn(dir), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// memory reads a value of the process's memory, in MB; nil: the system isn't Linux.
func (s *server) memory(name string) *float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	_, value, _ := strings.Cut(string(status), name+":")
	value, _, _ = strings.Cut(value, "kB")
	kb, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return nil
	}
	mb := kb / 1024
	return &mb
}

// kill ends the server at once: hanging requests would delay a clean stop.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cpu = s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}
