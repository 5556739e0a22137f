package scheduler_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/delivery"
)

// keptFor is how long the servers below keep an idle connection.
const keptFor = time.Second

// realServers are programs that answer 200 to any POST at ADDRESS, with what is in their
// file in DIR. PHP closes every connection; the others keep them.
var realServers = []struct {
	name, scheme, file, text string
	command                  []string
}{
	{"nginx", "http", "conf", nginxConf(""), nginxCommand},
	{"nginx with TLS", "https", "conf", nginxConf(" ssl; ssl_certificate DIR/certificate.pem; ssl_certificate_key DIR/certificate.pem"),
		nginxCommand},
	{"caddy", "http", "Caddyfile", "{\n admin off\n auto_https off\n servers {\n  timeouts {\n   idle 1s\n  }\n }\n}\n" +
		"http://ADDRESS {\n respond ok\n}\n", []string{"caddy", "run", "--config", "DIR/Caddyfile"}},
	{"node", "http", "server.mjs", `import http from "node:http"
const server = http.createServer((request, response) => request.resume().on("end", () => response.end("ok")))
server.keepAliveTimeout = 1000
server.listen(PORT, "127.0.0.1")`, []string{"node", "DIR/server.mjs"}},
	{"python", "http", "server.py", `import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 1
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()`, []string{"python3", "DIR/server.py"}},
	{"php", "http", "router.php", "ok", []string{"php", "-S", "ADDRESS", "DIR/router.php"}},
}

var nginxCommand = []string{"nginx", "-p", "DIR", "-c", "DIR/conf", "-e", "stderr"}

func nginxConf(secure string) string {
	return "daemon off; master_process off; user root; pid DIR/pid; events {}\n" +
		"http { access_log off; keepalive_timeout 1s; keepalive_requests 30;\n" +
		"server { listen ADDRESS" + secure + "; location / { return 200 ok; } } }\n"
}

// Whatever a real server does with its connections, no attempt fails while the server runs:
// deliveries in a row, pauses around the time after which it closes a connection, and restarts.
func TestRealServers(t *testing.T) {
	t.Parallel()
	for _, server := range realServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(server.command[0])
			if err != nil {
				t.Skipf("%s is not installed: nothing was delivered to it", server.command[0])
			}
			w, dir := newHostileWorld(t, delivery.AttemptTimeout), t.TempDir()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			address := l.Addr().String()
			must(t, l.Close())
			_, port, _ := net.SplitHostPort(address)
			fill := strings.NewReplacer("DIR", dir, "ADDRESS", address, "PORT", port).Replace
			must(t, os.WriteFile(filepath.Join(dir, server.file), []byte(fill(server.text)), 0o600))
			must(t, os.WriteFile(filepath.Join(dir, "certificate.pem"), pemOf(t, w.root.server(t, shopName, time.Now())), 0o600))
			log := &apptest.Output{}
			start := func() (stop func()) {
				command := exec.Command(program, strings.Split(fill(strings.Join(server.command[1:], "\n")), "\n")...)
				command.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
				command.Stdout, command.Stderr = log, log
				must(t, command.Start())
				eventually(t, server.name+" listens", func() bool {
					conn, err := net.Dial("tcp", address)
					if err == nil {
						_ = conn.Close()
					}
					return err == nil
				})
				return func() { _ = command.Process.Kill(); _ = command.Wait() }
			}
			stop := start()
			defer func() { stop() }()
			deliveries, pauses, restarts := apptest.Rounds(120, 1000), apptest.Rounds(3, 40), apptest.Rounds(2, 10)
			for i := range deliveries {
				if i%(deliveries/pauses) == 1 { // from 20 ms before to 20 ms after the server's limit
					time.Sleep(keptFor + time.Duration(i%41-20)*time.Millisecond)
				}
				if i%(deliveries/restarts) == 2 {
					stop()
					if r := w.sender.Send(t.Context(), outgoing(byName(server.scheme+"://"+address))); r.Error != delivery.ErrorRefused {
						t.Errorf("while it is down: %+v", r)
					}
					stop = start()
				}
				if r := w.sender.Send(t.Context(), outgoing(byName(server.scheme+"://"+address))); !r.OK() {
					t.Fatalf("delivery %d: %+v\n%s", i, r, log)
				}
			}
		})
	}
}

// pemOf is a certificate with its key, as servers read them.
func pemOf(t *testing.T, c tls.Certificate) []byte {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	must(t, err)
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
}
