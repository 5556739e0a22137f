package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// Ready asks what serve answers, once or as long as it is told to.
func TestReady(t *testing.T) {
	var asked, readyAt atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); r.URL.Path != "/readyz" || n < readyAt.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	listen := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(listen, ":")
	for _, c := range []struct {
		readyAt int64
		args    []string
		code    int
		says    string
	}{
		{1, []string{"--listen", listen}, 0, ""},
		{1, []string{"--listen", ":" + port}, 0, ""},
		{2, []string{"--listen", listen}, terminal.ExitCheck, "the server is not ready: 503"},
		{3, []string{"--listen", listen, "--wait", "1m"}, 0, ""},
		{1, []string{"--listen", listen, "now"}, terminal.ExitUsage, "takes no argument"},
		{1, []string{"--listen", "nowhere"}, terminal.ExitUsage, "--listen must be"},
	} {
		asked.Store(0)
		readyAt.Store(c.readyAt)
		code, stdout, stderr := baoco("", append([]string{"ready"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit %d, %s%s", c.args, code, stdout, stderr)
		}
	}
	socket := filepath.Join(apptest.SocketDir(t), "socket")
	l, err := net.Listen("unix", socket)
	must(t, err)
	other := &http.Server{Handler: server.Config.Handler}
	go func() { _ = other.Serve(l) }()
	defer other.Close()
	if code, _, stderr := baoco("", "ready", "--listen", "unix:"+socket); code != 0 {
		t.Errorf("at a Unix socket: exit %d, %s", code, stderr)
	}
	server.Close()
	if code, _, stderr := baoco("", "ready", "--listen", listen); code != terminal.ExitCheck || !strings.Contains(stderr, "does not answer") {
		t.Errorf("without a server: exit %d, %s", code, stderr)
	}
}

// What ends the command also ends its wait.
func TestReadyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
	}))
	defer server.Close()
	var stderr bytes.Buffer
	args := []string{"baoco", "ready", "--listen", strings.TrimPrefix(server.URL, "http://"), "--wait", "24h"}
	if code := Run(ctx, args, strings.NewReader(""), io.Discard, &stderr); code == 0 {
		t.Errorf("exit 0, %s", &stderr)
	}
}

// With a domain it asks at port 443 of this machine, by the name that the server has
// its certificate for.
func TestReadyOfDomain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		t.Skipf("needs port 443: %v", err)
	}
	var asked atomic.Pointer[tls.ConnectionState]
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.TLS)
		if r.URL.Path != "/readyz" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	must(t, server.Listener.Close())
	server.Listener = l
	server.StartTLS()
	defer server.Close()
	if code, _, stderr := baoco("", "ready", "--domain", "baoco.shop.vn", "--wait", "30s"); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if name := asked.Load().ServerName; name != "baoco.shop.vn" {
		t.Errorf("it asks for %q", name)
	}
}
