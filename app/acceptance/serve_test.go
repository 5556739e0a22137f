package acceptance_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command/terminal"
)

// The set-up link leads to the running server: to its base URL, else to the port at which it
// listens. A log has the command that makes the link, as long as there is no user, and no link.
func TestSetUpLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ listen, flag, base string }{
		{anyPort, "--log-format=text", "http://127.0.0.1:PORT"},
		{"0.0.0.0:0", "--log-format=json", "http://127.0.0.1:PORT"},
		{anyPort, "--base-url=https://baoco.shop.vn", "https://baoco.shop.vn"},
	} {
		p := serveIn(t, dir, c.listen, c.flag)
		base := strings.Replace(c.base, "PORT", p.url[strings.LastIndex(p.url, ":")+1:], 1)
		if link := do(t, dir, "user", "set-up"); !strings.HasPrefix(link, base+"/setup/") {
			t.Errorf("serve %s at %s: the link is %s", c.flag, p.url, link)
		}
		p.end(t)
		if log := p.stderr.String(); strings.Count(log, " user set-up") != 1 || strings.Contains(log, "/setup/") {
			t.Errorf("serve %s without users says:\n%s", c.flag, log)
		}
	}
	createOwner(t, dir)
	p := serveIn(t, dir, anyPort)
	p.end(t)
	if strings.Contains(p.stderr.String(), "set-up") {
		t.Errorf("serve with a user says:\n%s", p.stderr)
	}
}

// From nothing to the first delivered webhook in the commands that the README
// shows: serve, bank link, webhook create, (the shop's own receiver,) and
// transaction add.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	dir, receiver := t.TempDir(), openShop(t)
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target())
	eventually(t, "the first run says what to do next", func() bool {
		return strings.Contains(p.stderr.String(), "1. "+p.Args[0]+" bank link --bank ACB") // as it was called
	})
	for _, name := range []string{"baoco.db", "baoco.db.key", "baoco.db-wal", "baoco.db-shm", "baoco.db.lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "NGUYEN VAN A")
	receiver.createWebhookFor(t, dir, "/hook", "IN")
	queued := time.Now()
	do(t, dir, "transaction", "add", "--amount", "200000", "--content", "first one", "--transaction-number", "FT1")
	eventually(t, "the shop is told", func() bool { return receiver.calls.Load() == 1 })
	t.Logf("the shop was told after %v", time.Since(queued))
	eventually(t, "the attempt is in the history", func() bool { return strings.Contains(do(t, dir, "delivery", "list"), "HTTP 200") })
	t.Logf("first answer after %v, idle memory %d MB", p.ready, residentMB(t, p.Process.Pid))

	// A second server on the same file, by whatever name, is refused.
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(filepath.Join(dir, "baoco.db"), link))
	for _, name := range []string{link, "baoco.db", "../" + filepath.Base(dir) + "/baoco.db", filepath.Join(dir, "baoco.db")} {
		second := program(dir, "serve", "--listen", "127.0.0.1:0", "--db", name)
		out, err := second.CombinedOutput()
		if second.ProcessState.ExitCode() != terminal.ExitDatabase || !strings.Contains(string(out), "another baoco serve") {
			t.Errorf("a second server on %s: %v, exit %d\n%s", name, err, second.ProcessState.ExitCode(), out)
		}
	}
	do(t, dir, "transaction", "add", "--amount", "1000")
	eventually(t, "the first server goes on", func() bool { return receiver.calls.Load() == 2 })
	must(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.stderr)
	}
	for _, name := range []string{"baoco.db-wal", "baoco.db-shm"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("a clean stop left %s", name)
		}
	}
}

// A variable that looks like a setting and is none is in the log once, and its value
// isn't.
func TestUnknownVariable(t *testing.T) {
	t.Parallel()
	p := &process{stderr: &apptest.Output{}}
	p.Cmd = program(t.TempDir(), "serve", "--listen", anyPort)
	p.Env = append(p.Env, "BAOCO_HEARTBEAT_UR=https://hc.example.vn/a-secret", "BAOCO_LOG_FORMAT=json")
	p.Stderr = p.stderr
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	if !p.waitForURL() {
		t.Fatalf("serve did not come up:\n%s", p.stderr)
	}
	if log := p.stderr.String(); strings.Count(log,
		`"level":"WARN","msg":"there is no setting BAOCO_HEARTBEAT_UR, so it counts for nothing. Did you mean BAOCO_HEARTBEAT_URL?"`) != 1 ||
		strings.Contains(log, "a-secret") {
		t.Errorf("the log:\n%s", log)
	}
}

// SIGTERM with attempts in flight waits for them, answers calls meanwhile, and loses
// none.
func TestStopWithHangingReceivers(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	arrived := atomic.Int64{}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived.Add(1)
		<-release
	}))
	defer receiver.Close()
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	for range 5 {
		do(t, dir, "webhook", "create", "--name", "w", "--url", receiver.URL, "--type", "IN")
	}
	do(t, dir, "transaction", "add", "--amount", "1000")
	eventually(t, "five attempts hang", func() bool { return arrived.Load() == 5 })
	must(t, p.Process.Signal(syscall.SIGTERM))
	eventually(t, "it is stopping", func() bool { return strings.Contains(p.stderr.String(), "msg=stopping") })
	if got := p.readiness(); got != http.StatusOK {
		t.Errorf("while it waits for shops it answers %d", got)
	}
	close(release)
	if err := p.Wait(); err != nil {
		t.Errorf("stopped with %v\n%s", err, p.stderr)
	}
	if got := strings.Count(do(t, dir, "delivery", "list"), "HTTP 200"); got != 5 {
		t.Errorf("%d of 5 attempts were recorded", got)
	}
}

// A second SIGTERM ends the process at once; the attempt it cut off is due
// again at the next start.
func TestStopTwice(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	arrived := atomic.Int64{}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if arrived.Add(1) == 1 {
			<-release
		}
	}))
	defer receiver.Close()
	defer close(release)
	dir := t.TempDir()
	p := serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	do(t, dir, "webhook", "create", "--name", "w", "--url", receiver.URL, "--type", "IN")
	do(t, dir, "transaction", "add", "--amount", "1000")
	eventually(t, "the attempt hangs", func() bool { return arrived.Load() == 1 })
	must(t, p.Process.Signal(syscall.SIGTERM))
	eventually(t, "it is stopping", func() bool { return strings.Contains(p.stderr.String(), "msg=stopping") })
	must(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err == nil { // a stop that waits for the attempt is no failure
		t.Error("a second SIGTERM does not end it at once")
	}
	serveIn(t, dir, anyPort, "--allow-target", "127.0.0.1/32")
	eventually(t, "the attempt is made again", func() bool { return strings.Contains(do(t, dir, "delivery", "list"), "1/6") })
}

// No secret reaches a log or a listing.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	dir, receiver := t.TempDir(), openShop(t)
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target(), "--log-format", "json")
	var made struct{ Secret string }
	must(t, json.Unmarshal([]byte(do(t, dir, "webhook", "create", "--name", "w", "--url", receiver.URL+"/x", "--type", "ALL", "-o", "json")),
		&made))
	receiver.sign("/x", made.Secret)
	source := addNative(t, dir)
	key := strings.TrimSpace(do(t, dir, "apikey", "create", "k"))
	calls := &caller{url: p.url + source.URLPath, secret: "wrong", acked: map[string]bool{}}
	calls.call("FT1")
	calls.secret = source.Secret
	calls.call("FT2")
	shown := do(t, dir, "webhook", "list", "-o", "json") + do(t, dir, "source", "list", "-o", "json") + do(t, dir, "source",
		"log", "-o", "json") +
		do(t, dir, "apikey", "list", "-o", "json") + do(t, dir, "delivery", "list", "-o", "json")
	eventually(t, "the refused call is noted", func() bool {
		return strings.Contains(do(t, dir, "source", "log", "--refused"), "is not this source’s secret")
	})
	shown += do(t, dir, "source", "log", "--refused", "-o", "json") + systemPage(t, dir, p)
	doIn(t, dir, "backup", "backup.db", "--no-key")
	must(t, p.Process.Signal(syscall.SIGTERM))
	must(t, p.Wait())
	for _, name := range []string{"baoco.db", "baoco.db-wal", "backup.db"} {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		shown += string(data)
	}
	shown += p.stderr.String()
	for what, secret := range map[string]string{"webhook secret": made.Secret, "source secret": source.Secret, "API key": key} {
		if secret == "" || strings.Contains(shown, secret) {
			t.Errorf("the %s shows", what)
		}
	}
}

// systemPage is what the operator sees, the log included.
func systemPage(t testing.TB, dir string, p *process) string {
	t.Helper()
	createOwner(t, dir)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: time.Minute}
	for _, request := range []func() (*http.Response, error){
		func() (*http.Response, error) {
			return client.PostForm(p.url+"/login", url.Values{"name": {"lan"}, "password": {browserPassword}})
		},
		func() (*http.Response, error) { return client.Get(p.url + "/system") },
	} {
		response, err := request()
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), `id="log"`) && strings.Contains(string(page), "serving") {
			return string(page)
		}
	}
	t.Fatal("the system page shows no log")
	return ""
}

// A closed terminal stops serve in order, unless it was started to outlive it.
func TestHangup(t *testing.T) {
	t.Parallel()
	// Tests that nohup started ignore SIGHUP, and so would their child. A signal that is
	// caught here has its default action there.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	p := serveIn(t, t.TempDir(), anyPort)
	must(t, p.Process.Signal(syscall.SIGHUP))
	if code := p.exitWithin(t, time.Minute); code != 0 || !strings.Contains(p.stderr.String(), "msg=stopping") {
		t.Errorf("exit %d\n%s", code, p.stderr)
	}
}
