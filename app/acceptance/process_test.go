package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/app/command"
	"baoco/app/command/demo"
	"baoco/app/command/terminal"
	"baoco/sqlitestore"
)

var (
	must       = apptest.Must
	eventually = apptest.Eventually
)

// TestMain lets the test binary be the program, so that tests can start it as
// a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("BAOCO_TEST_AS_PROGRAM") == "1" {
		signal.Ignore(syscall.SIGPIPE) // as main does
		os.Exit(command.Run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// oneCommand keeps two commands in this process from racing on the one help
// flag that the command line library has for all of them.
var oneCommand sync.Mutex

// baoco runs a command in this process, where it takes a tenth of the time that
// it takes as a process.
func baoco(stdin string, args ...string) (code int, stdout, stderr string) {
	oneCommand.Lock()
	defer oneCommand.Unlock()
	var out, errs bytes.Buffer
	code = command.Run(context.Background(), append([]string{"baoco"}, args...), strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

var spaces = regexp.MustCompile(`[ \t]+`)

// oneSpace is a text with one space for each run of them, as tables have.
func oneSpace(text string) string { return strings.TrimSpace(spaces.ReplaceAllString(text, " ")) }

// createdSource is what source add and source rotate print of a source.
type createdSource struct {
	URLPath string `json:"url_path"`
	Secret  string `json:"secret"`
}

// process is a baoco serve of its own.
type process struct {
	*exec.Cmd
	url    string
	stderr *apptest.Output
	ready  time.Duration // from its start to its first answer
}

// program is a command of the program as a process of its own.
func program(dir string, args ...string) *exec.Cmd {
	executable, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(executable, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BAOCO_TEST_AS_PROGRAM=1", "GORACE=atexit_sleep_ms=0", "HTTP_PROXY=http://127.0.0.1:9", "TZ=America/Los_Angeles")
	return cmd
}

// anyPort has a server choose a port itself: one that was free a moment ago may
// be taken by now.
const anyPort = "127.0.0.1:0"

// address is where the process listens, for another after it.
func (p *process) address() string { return strings.TrimPrefix(p.url, "http://") }

// startIn starts serve in dir.
func startIn(t testing.TB, dir, address string, args ...string) *process {
	t.Helper()
	p := &process{stderr: &apptest.Output{}}
	p.Cmd = program(dir, append([]string{"serve", "--listen", address}, args...)...)
	p.Stderr = p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

// serveIn starts serve in dir and waits until it answers.
func serveIn(t testing.TB, dir, address string, args ...string) *process {
	t.Helper()
	started := time.Now()
	p := startIn(t, dir, address, args...)
	if !p.waitForURL() {
		t.Fatalf("serve did not come up:\n%s", p.stderr)
	}
	response, err := http.Get(p.url + "/healthz")
	if err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	response.Body.Close()
	p.ready = time.Since(started)
	return p
}

// servingAt is what the log says in either format.
var servingAt = regexp.MustCompile(`(?:msg=serving address=|"msg":"serving","address":")([^\s"]+)`)

// waitForURL waits until the log says where the process listens.
func (p *process) waitForURL() bool {
	found := p.stderr.Await(servingAt, 30*time.Second)
	if found == nil {
		_ = p.Process.Kill()
		return false
	}
	p.url = "http://" + found[1]
	return true
}

// do runs an admin command in dir and gives its stdout.
func do(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := program(dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("baoco %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// shop is a receiver that notes what it got, by webhook path.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string][]string // path + transaction number → bodies
	signed map[string]string   // path → secret that its bodies must be signed with
	bad    int
	calls  atomic.Int64
}

func openShop(t testing.TB) *shop {
	s := &shop{bodies: map[string][]string{}, signed: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var delivery struct {
			Transactions []struct{ TransactionNumber string }
		}
		err := json.Unmarshal(body, &delivery)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil || len(delivery.Transactions) != 1 || demo.VerifyDelivery(s.signed[r.URL.Path], r.Header.Get("X-Webhook-Signature"), body) != nil {
			s.bad++
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		key := r.URL.Path + " " + delivery.Transactions[0].TransactionNumber
		s.bodies[key] = append(s.bodies[key], string(body))
		s.calls.Add(1)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) sign(path, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signed[path] = secret
}

// target opens the way to the shop.
func (s *shop) target() string {
	return "127.0.0.1/32@" + s.URL[strings.LastIndex(s.URL, ":")+1:]
}

// createWebhookFor makes a webhook to the shop by the command line.
func (s *shop) createWebhookFor(t testing.TB, dir, path, hookType string) {
	t.Helper()
	var created struct{ Secret string }
	out := do(t, dir, "webhook", "create", "--name", "shop", "--url", s.URL+path, "--type", hookType, "-o", "json")
	if err := json.Unmarshal([]byte(out), &created); err != nil {
		t.Fatal(err)
	}
	s.sign(path, created.Secret)
}

// From nothing to the first delivered webhook in the commands that the README
// shows: serve, bank link, webhook create, (the shop's own receiver,) and
// transaction add.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	dir, receiver := t.TempDir(), openShop(t)
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target())
	eventually(t, "the first run says what to do next", func() bool {
		return strings.Contains(p.stderr.String(), "1. baoco bank link --bank ACB")
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

func residentMB(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb / 1024
		}
	}
	return -1
}

// TestKill kills the server 50 times under load. Nothing acknowledged is lost,
// nothing is recorded twice, every delivery is made.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := rounds(8, 50)
	dir, receiver := t.TempDir(), openShop(t)
	must(t, sqlitestore.Create(context.Background(), filepath.Join(dir, "baoco.db"), app.DefaultZone, time.Now()))
	serveArgs := []string{"--allow-target", receiver.target()}
	p := serveIn(t, dir, anyPort, serveArgs...)
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	receiver.createWebhookFor(t, dir, "/a", "ALL")
	receiver.createWebhookFor(t, dir, "/b", "ALL")
	var source createdSource
	must(t, json.Unmarshal([]byte(do(t, dir, "source", "add", "--provider", "native", "--name", "till", "-o", "json")), &source))

	provider := &caller{url: p.url + source.URLPath, secret: source.Secret, acked: map[string]bool{}}
	load, stopLoad := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() { provider.run(load, client) })
	}
	for range rounds {
		time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond)
		must(t, p.Process.Kill())
		_ = p.Wait()
		p = serveIn(t, dir, p.address(), serveArgs...)
	}
	stopLoad()
	clients.Wait()
	acked := provider.acknowledged()
	eventually(t, "every acknowledged transaction reaches both webhooks", func() bool {
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		for _, number := range acked {
			if len(receiver.bodies["/a "+number]) == 0 || len(receiver.bodies["/b "+number]) == 0 {
				return false
			}
		}
		return true
	})
	must(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.stderr)
	}
	checkLedger(t, filepath.Join(dir, "baoco.db"), acked)
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	if receiver.bad > 0 {
		t.Errorf("%d deliveries with a wrong signature or checksum", receiver.bad)
	}
	repeats := 0
	for key, bodies := range receiver.bodies {
		repeats += len(bodies) - 1
		for _, body := range bodies {
			if body != bodies[0] {
				t.Errorf("%s came with different bodies", key)
			}
		}
	}
	t.Logf("%d kills, %d acknowledged, %d deliveries, %d of them repeated by a kill", rounds, len(acked), receiver.calls.Load(), repeats)
	if len(acked) < rounds*5 {
		t.Errorf("only %d calls were acknowledged: too thin a load to show anything", len(acked))
	}
}

// caller calls until it is told to stop, each transaction until it is
// acknowledged, as providers do.
type caller struct {
	url, secret string
	mu          sync.Mutex
	acked       map[string]bool
	refusals    [600]atomic.Int64 // by status code
}

func (p *caller) run(ctx context.Context, client int) {
	for i := 0; ctx.Err() == nil; i++ {
		number := fmt.Sprintf("FT%d-%d", client, i)
		for ctx.Err() == nil && !p.call(number) {
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (p *caller) call(number string) bool {
	body := fmt.Sprintf(`{"transactions":[{"id":%[1]q,"gateway":"ACB","transactionDate":"2026-11-21 10:59:30","transactionNumber":%[1]q,`+
		`"accountNumber":"19354957","content":"DH","transferType":"IN","transferAmount":200000}]}`, number)
	request, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+p.secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		p.refusals[response.StatusCode].Add(1)
		return false
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acked[number] = true
	return true
}

func (p *caller) acknowledged() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for number := range p.acked {
		list = append(list, number)
	}
	return list
}

// checkLedger compares what was acknowledged with what is recorded, and gives
// the latter.
func checkLedger(t *testing.T, db string, acked []string) map[string]int {
	t.Helper()
	store, err := sqlitestore.Open(context.Background(), db, sqlitestore.Options{Serve: true}) // checks the file too
	must(t, err)
	defer store.Close()
	recorded := readLedger(t, store)
	for _, number := range acked {
		if recorded[number] == 0 {
			t.Errorf("%s was acknowledged and is lost", number)
		}
	}
	for number, n := range recorded {
		if n > 1 {
			t.Errorf("%s is recorded %d times", number, n)
		}
	}
	backlogs, err := store.Backlogs(context.Background(), time.Now())
	must(t, err)
	if len(backlogs) > 0 {
		t.Errorf("deliveries are left: %+v", backlogs)
	}
	return recorded
}

// readLedger counts the transactions of account 1 by their numbers.
func readLedger(t *testing.T, store *sqlitestore.Store) map[string]int {
	t.Helper()
	recorded := map[string]int{}
	for page := int64(1); ; page++ {
		found, err := store.Transactions(context.Background(), 1, app.TransactionFilter{Sort: app.SortID, Page: app.Page{Number: page, Size: 1000}})
		must(t, err)
		for _, tr := range found.Rows {
			recorded[tr.Number]++
		}
		if len(found.Rows) == 0 {
			return recorded
		}
	}
}

// Admin commands beside a server under load: none fails, nothing is lost.
func TestCommandsBesideLoad(t *testing.T) {
	t.Parallel()
	dir, receiver := t.TempDir(), openShop(t)
	p := serveIn(t, dir, anyPort, "--allow-target", receiver.target())
	do(t, dir, "bank", "link", "--bank", "ACB", "--number", "19354957", "--name", "A")
	receiver.createWebhookFor(t, dir, "/a", "ALL")
	var source createdSource
	must(t, json.Unmarshal([]byte(do(t, dir, "source", "add", "--provider", "native", "--name", "till", "-o", "json")), &source))
	provider := &caller{url: p.url + source.URLPath, secret: source.Secret, acked: map[string]bool{}}
	load, stopLoad := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() { provider.run(load, client) })
	}
	var byHand []string
	for i := range min(rounds(2, 5), 90) { // there may be 100 webhooks
		number := strconv.Itoa(i)
		byHand = append(byHand, "hand-"+number)
		do(t, dir, "bank", "link", "--bank", "VCB", "--number", "100"+number, "--name", "B")
		do(t, dir, "webhook", "create", "--name", "w", "--url", "https://shop.vn/w", "--type", "OUT")
		do(t, dir, "transaction", "add", "--account-number", "19354957", "--amount", "1000", "--transaction-number", "hand-"+number)
		do(t, dir, "transaction", "list", "--q", "DH")
		do(t, dir, "delivery", "list")
		do(t, dir, "source", "log")
		key := strings.TrimSpace(do(t, dir, "apikey", "create", "k"+number))
		if got := status(t, p.url+"/api/v1/webhooks", key); got != http.StatusOK {
			t.Errorf("a key made a moment ago: %d", got)
		}
		do(t, dir, "apikey", "revoke", strconv.Itoa(i+1))
		eventually(t, "a revoked key is refused", func() bool {
			got := status(t, p.url+"/api/v1/webhooks", key)
			return got == http.StatusUnauthorized || got == http.StatusTooManyRequests // after 30 in a minute
		})
	}
	stopLoad()
	clients.Wait()
	acked := append(provider.acknowledged(), byHand...)
	eventually(t, "everything is delivered", func() bool {
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		for _, number := range acked {
			if len(receiver.bodies["/a "+number]) == 0 {
				return false
			}
		}
		return true
	})
	must(t, p.Process.Signal(syscall.SIGTERM))
	must(t, p.Wait())
	checkLedger(t, filepath.Join(dir, "baoco.db"), acked)
}

func status(t testing.TB, url, key string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// SIGTERM with attempts in flight waits for them, and loses none.
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
	must(t, json.Unmarshal([]byte(do(t, dir, "webhook", "create", "--name", "w", "--url", receiver.URL+"/x", "--type", "ALL", "-o", "json")), &made))
	var source createdSource
	must(t, json.Unmarshal([]byte(do(t, dir, "source", "add", "--provider", "native", "--name", "s", "-o", "json")), &source))
	key := strings.TrimSpace(do(t, dir, "apikey", "create", "k"))
	calls := &caller{url: p.url + source.URLPath, secret: "wrong", acked: map[string]bool{}}
	calls.call("FT1")
	calls.secret = source.Secret
	calls.call("FT2")
	receiver.sign("/x", made.Secret)
	shown := do(t, dir, "webhook", "list", "-o", "json") + do(t, dir, "source", "list", "-o", "json") + do(t, dir, "source", "log", "-o", "json") +
		do(t, dir, "apikey", "list", "-o", "json") + do(t, dir, "delivery", "list", "-o", "json")
	eventually(t, "the refused call is noted", func() bool {
		return strings.Contains(do(t, dir, "source", "log", "--rejected"), "is not this source’s secret")
	})
	shown += do(t, dir, "source", "log", "--rejected", "-o", "json") + systemPage(t, dir, p)
	do(t, dir, "backup", "backup.db", "--no-key")
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
	client := &http.Client{Jar: jar}
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
