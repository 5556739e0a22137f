package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/delivery"
	"baoco/app/target"
	"baoco/sqlitestore"
)

// TestNoForbiddenConnect watches the system calls of a whole server whose file
// holds webhooks to forbidden addresses, as if the rule of their creation had
// failed: none of them is ever connected to, by no delivery and by no test.
func TestNoForbiddenConnect(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: the system calls were not watched")
	}
	dir := t.TempDir()
	trap, err := net.Listen("tcp", ":0") // at every address of this machine
	must(t, err)
	defer trap.Close()
	_, port, err := net.SplitHostPort(trap.Addr().String())
	must(t, err)
	allowed := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer allowed.Close()
	targets := forbiddenTargets(t, port)
	storeWebhooks(t, filepath.Join(dir, "baoco.db"), append(targets, allowed.URL))

	log := filepath.Join(dir, "connects")
	p := &process{stderr: &apptest.Output{}}
	p.Cmd = program(dir, "serve", "--listen", anyPort, "--allow-target", "127.0.0.1/32@"+allowed.URL[strings.LastIndex(allowed.URL, ":")+1:])
	// With -D the server is this process's child, and strace ends after it.
	p.Args = append([]string{strace, "-D", "-f", "-qq", "-e", "trace=connect", "-o", log, p.Path}, p.Args[1:]...)
	p.Path, p.Stderr = strace, p.stderr
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	if !p.waitForURL() {
		t.Skipf("serve does not run under strace here: %s", p.stderr)
	}
	do(t, dir, "transaction", "add", "--amount", "200000", "--content", "DH1")
	tryOverAPI(t, p.url, strings.TrimSpace(do(t, dir, "apikey", "create", "k")), targets)

	var history []struct {
		Endpoint    string
		Error       *string
		Explanation *string `json:"error_explanation"`
	}
	eventually(t, "every target was attempted by delivery and by test", func() bool {
		list := []string{}
		history = nil
		for page := 1; page == 1 || strings.TrimSpace(list[len(list)-1]) != "[]"; page++ {
			list = append(list, do(t, dir, "delivery", "list", "-o", "json", "--limit", "100", "--page", fmt.Sprint(page)))
			part := history[len(history):]
			must(t, json.Unmarshal([]byte(list[len(list)-1]), &part))
			history = append(history, part...)
		}
		return len(history) >= 2*len(targets)+1
	})
	must(t, p.Process.Signal(os.Interrupt))
	must(t, p.Wait())
	for _, h := range history {
		want := delivery.ErrorBlocked
		switch {
		case h.Endpoint == allowed.URL:
			want = delivery.ErrorNone
		case strings.Contains(h.Endpoint, "①"): // no name, and nothing reads it as digits
			want = delivery.ErrorDNS
		}
		got := ""
		if h.Error != nil {
			got = *h.Error
		}
		if got != string(want) {
			t.Errorf("%s: %q, want %q", h.Endpoint, got, want)
		}
	}
	checkConnects(t, log, allowed.Listener.Addr().String())
}

// forbiddenTargets are URLs of the denied addresses of testdata, at a port
// where somebody listens.
func forbiddenTargets(t *testing.T, port string) []string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/ssrf_vectors.tsv")
	must(t, err)
	targets := []string{"http://localhost:" + port + "/", "http://①②⑦.⓪.⓪.①:" + port + "/", "https://127.0.0.1:" + port + "/",
		"http://[::ffff:127.0.0.1]:" + port + "/"}
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(row) < 5 || row[3] != "" || row[4] != "deny" {
			continue
		}
		hosts := strings.Split(row[2], ",")
		if u, err := url.Parse(row[1]); err == nil {
			hosts = append(hosts, u.Hostname())
		}
		for _, host := range hosts {
			if addr, err := netip.ParseAddr(host); err == nil {
				targets = append(targets, "http://"+net.JoinHostPort(addr.String(), port)+"/hook")
			}
		}
	}
	return targets
}

// storeWebhooks writes webhooks into a new file without asking any rule.
func storeWebhooks(t *testing.T, db string, targets []string) {
	t.Helper()
	now := time.Now()
	ctx := app.ActingAs(context.Background(), app.Actor{Way: app.WayCommand, At: now})
	apptest.NewFileAt(t, db)
	store, err := sqlitestore.Open(ctx, db, sqlitestore.Options{})
	must(t, err)
	defer store.Close()
	for _, target := range targets {
		_, _, err := store.CreateWebhook(ctx, delivery.Webhook{AccountID: 1, Name: "w", URL: target, Type: delivery.WebhookAll, IsActive: true,
			CreatedAt: now}, delivery.Sealed{Secret: "whsec_c2VjcmV0"}, app.IdempotencyKey{}, now)
		must(t, err)
	}
	if code, _, stderr := baoco("", "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A", "--db", db); code != 0 {
		t.Fatal(stderr)
	}
}

// tryOverAPI asks for a webhook to every target, which is refused, and for a
// test of those that are there.
func tryOverAPI(t *testing.T, base, key string, targets []string) {
	t.Helper()
	post := func(path string, body any) int {
		data, err := json.Marshal(body)
		must(t, err)
		request, err := http.NewRequest(http.MethodPost, base+path, bytes.NewReader(data))
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		response.Body.Close()
		return response.StatusCode
	}
	for i, target := range targets {
		if got := post("/api/v1/webhooks",
			map[string]string{"name": "x", "webhook_url": target, "type": "ALL"}); got != http.StatusUnprocessableEntity {
			t.Errorf("a webhook to %s: %d", target, got)
		}
		if got := post(fmt.Sprintf("/api/v1/webhooks/%d/test", i+1), nil); got != http.StatusOK {
			t.Errorf("a test of %s: %d", target, got)
		}
	}
}

var connectCall = regexp.MustCompile(`connect\(.*htons\((\d+)\).*(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"`)

// checkConnects reads what strace saw. Ports 53 and 9 are Go's look-up of a
// name: it asks name servers, and to sort addresses it "connects" UDP sockets,
// over which it sends nothing.
func checkConnects(t *testing.T, log, allowed string) {
	t.Helper()
	data, err := os.ReadFile(log)
	must(t, err)
	policy, err := target.ParsePolicy(nil)
	must(t, err)
	seen := false
	for line := range strings.Lines(string(data)) {
		m := connectCall.FindStringSubmatch(line)
		if m == nil || m[1] == "53" || m[1] == "9" {
			continue
		}
		to, err := netip.ParseAddrPort(net.JoinHostPort(m[2], m[1]))
		must(t, err)
		if to.String() == allowed {
			seen = true
		} else if err := policy.CheckAddr(to); err != nil {
			t.Errorf("connected although %v: %s", err, line)
		}
	}
	if !seen {
		t.Errorf("strace did not even see the connection that is allowed:\n%s", data)
	}
}
