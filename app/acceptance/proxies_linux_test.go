package acceptance_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
)

// The lines for nginx and Caddy that the manual gives, in the real programs: what
// clients say of themselves doesn't count, and events come at once.
func TestProxies(t *testing.T) {
	t.Parallel()
	if !apptest.Full() {
		t.Skip("needs BAOCO_FULL=1: it starts nginx and Caddy")
	}
	manual, err := os.ReadFile(filepath.Join("..", "..", "web", "dashboard", "help", "en", "install.md"))
	must(t, err)
	for _, proxy := range []struct {
		name   string
		scheme string
		config func(dir, listen, lines string) string
		args   func(dir string) []string
	}{
		{"nginx", "http", func(dir, listen, lines string) string {
			return "daemon off; master_process off; user root; pid " + dir + "/pid; error_log stderr; events {}\n" +
				"http { access_log off; client_body_temp_path " + dir + "/body; proxy_temp_path " + dir + "/proxy;\n" +
				"fastcgi_temp_path " + dir + "/f; uwsgi_temp_path " + dir + "/u; scgi_temp_path " + dir + "/s;\n" +
				"server { listen " + listen + ";\n" + lines + "} }\n"
		}, func(dir string) []string {
			return []string{"-p", dir, "-c", filepath.Join(dir, "config"), "-e", "stderr"}
		}},
		{"caddy", "https", func(dir, listen, lines string) string {
			return "{\n admin off\n skip_install_trust\n local_certs\n auto_https disable_redirects\n storage file_system " + dir + "/store\n}\n" +
				strings.Replace(lines, "baoco.shop.vn", "https://"+listen, 1)
		}, func(dir string) []string {
			return []string{"run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "config")}
		}},
	} {
		t.Run(proxy.name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(proxy.name)
			if err != nil && os.Getenv("BAOCO_CI") == "" {
				t.Skipf("skipped: there is no %s here (apt-get install %s)", proxy.name, proxy.name)
			}
			must(t, err)
			dir, at := t.TempDir(), t.TempDir()
			server := serveIn(t, dir, anyPort, "--trusted-proxies", "127.0.0.1/32")
			counter := strings.TrimSpace(do(t, dir, "counter", "create", "till"))
			do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")

			source := addNative(t, dir)

			listen := freeAddress(t)
			lines := strings.ReplaceAll(manualLines(t, string(manual), proxy.name), "127.0.0.1:8080", server.address())
			must(t, os.WriteFile(filepath.Join(at, "config"), []byte(proxy.config(at, listen, lines)), 0o600))
			log := &apptest.Output{}
			running := exec.Command(program, proxy.args(at)...)
			running.Stdout, running.Stderr = log, log
			running.Env = append(os.Environ(), "HOME="+at, "XDG_DATA_HOME="+at, "XDG_CONFIG_HOME="+at)
			must(t, running.Start())
			t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })

			// The client's own address is not the proxy's, so that they can be told apart.
			client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
				DialContext:     (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 7)}}).DialContext,
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its authority is made anew each time
			}}
			url := proxy.scheme + "://" + listen
			eventually(t, "the proxy answers", func() bool {
				response, err := client.Get(url + "/healthz")
				if err != nil {
					return false
				}
				response.Body.Close()
				return response.StatusCode == http.StatusOK
			})
			ask := func(method, path, body string, header ...string) (int, http.Header) {
				t.Helper()
				request, err := http.NewRequest(method, url+path, strings.NewReader(body))
				must(t, err)
				for i := 0; i < len(header); i += 2 {
					request.Header.Set(header[i], header[i+1])
				}
				response, err := client.Do(request)
				if err != nil {
					t.Fatalf("%v\n%s", err, log)
				}
				defer response.Body.Close()
				_, err = io.Copy(io.Discard, response.Body)
				must(t, err)
				return response.StatusCode, response.Header
			}

			// The scheme is the one that the client used, whatever it says.
			other := map[string]string{"http": "https", "https": "http"}[proxy.scheme]
			_, header := ask("GET", "/login", "", "X-Forwarded-Proto", other)
			if secure := header.Get("Strict-Transport-Security") != ""; secure != (proxy.scheme == "https") {
				t.Errorf("over %s, with a forged scheme, the server takes it for secure: %v", proxy.scheme, secure)
			}
			// So is the host, by which forms of other sites are refused.
			form := []string{"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-Host", "evil.example", "Origin"}
			if code, _ := ask("POST", "/login", "name=a&password=b", append(form, "https://evil.example")...); code != http.StatusForbidden {
				t.Errorf("a form of another site with a forged host: %d", code)
			}
			if code, _ := ask("POST", "/login", "name=a&password=b", append(form, url)...); code == http.StatusForbidden {
				t.Error("a form of the site itself is refused")
			}
			// And the address.
			if code, _ := ask("POST", "/api/webhooks/provider/nowhere", "{}", "X-Forwarded-For", "203.0.113.9"); code != http.StatusUnauthorized {
				t.Errorf("a call of nobody: %d", code)
			}
			eventually(t, "the refused call is noted with the client's address", func() bool {
				refused := do(t, dir, "source", "log", "--refused")
				return strings.Contains(refused, "127.0.0.7") && !strings.Contains(refused, "203.0.113.9")
			})

			// A large body is refused by baoco, and the proxy passes that on.
			for path, want := range map[string]int{"/nowhere": http.StatusNotFound, source.URLPath: http.StatusRequestEntityTooLarge} {
				if code, _ := ask("POST", path, strings.Repeat(" ", 12<<20), "Authorization", "Bearer "+source.Secret); code != want {
					t.Errorf("12 MB to %s: %d, want %d", path, code, want)
				}
			}

			// A payment comes through the stream at once: the stream goes on.
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, "GET", url+"/live"+counter+"?since=0", nil)
			must(t, err)
			request.Header.Set("Accept", "text/event-stream")
			response, err := client.Do(request)
			must(t, err)
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Fatalf("the counter's stream: %d", response.StatusCode)
			}
			do(t, dir, "transaction", "add", "--amount", "123456", "--content", "DH1")
			for events := bufio.NewScanner(response.Body); ; {
				if !events.Scan() {
					t.Fatalf("the stream ended before the payment: %v", events.Err())
				}
				if strings.Contains(events.Text(), "123.456") || strings.Contains(events.Text(), "123456") {
					break
				}
			}
		})
	}
}

// manualLines are the indented lines that the manual gives for a proxy.
func manualLines(t *testing.T, manual, proxy string) string {
	t.Helper()
	from := map[string]string{"nginx": "    client_max_body_size", "caddy": "    baoco.shop.vn {"}[proxy]
	_, rest, found := strings.Cut(manual, "\n"+from)
	if !found {
		t.Fatalf("the manual has no lines for %s", proxy)
	}
	lines, _, _ := strings.Cut(from+rest, "\n\n")
	return lines
}

// freeAddress is one where nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return strings.Replace(l.Addr().String(), "127.0.0.1", "localhost", 1)
}
