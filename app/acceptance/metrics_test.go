package acceptance_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// showingAt is what the log says about figures.
var showingAt = regexp.MustCompile(`msg="showing figures" address=(\S+)`)

// figuresOf reads the figures at an address, by their names with labels.
func figuresOf(t *testing.T, url, token string) (text string, figures map[string]float64) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the figures answer %d: %s", response.StatusCode, body)
	}
	figures = map[string]float64{}
	for line := range strings.Lines(string(body)) {
		if i := strings.LastIndexByte(strings.TrimSpace(line), ' '); i > 0 && line[0] != '#' {
			figures[line[:i]], err = strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
			must(t, err)
		}
	}
	return string(body), figures
}

// Each figure is what was done, and Prometheus finds nothing wrong with them.
func TestMetrics(t *testing.T) {
	t.Parallel()
	shop := openShop(t)
	in := install(t, shop)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(broken.Close)
	p := serveIn(t, in.dir, anyPort, "--allow-target", "127.0.0.1/32", "--metrics-listen", "0")
	at := p.stderr.Await(showingAt, time.Minute)
	url := "http://" + at[1] + "/metrics"
	calls := in.provider(p.url)
	for i := range 5 {
		calls.call(fmt.Sprint("FT", i))
	}
	calls.call("FT0") // again
	eventually(t, "everything is delivered", func() bool { return len(shop.received()) == 5 })
	do(t, in.dir, "webhook", "create", "--name", "broken", "--url", broken.URL, "--type", "ALL")
	calls.call("FT5")
	forger := &caller{url: calls.url, secret: "guessed", acked: map[string]bool{}}
	forger.call("FT6")
	forger.url = p.url + "/api/webhooks/provider/unknown"
	forger.call("FT6")
	status(t, p.url+"/api/v1/transactions", in.key)
	status(t, p.url+"/api/v1/transactions", "wrong")
	status(t, p.url+"/nowhere", "")
	status(t, p.url+"/readyz", "")
	status(t, p.url+"/login", "")
	do(t, in.dir, "backup", filepath.Join(t.TempDir(), "copy.db"))
	source := fmt.Sprintf(`provider="native",source="%d"`, in.source.ID)
	want := map[string]float64{
		`baoco_attempts_total{outcome="delivered"}`:                                6,
		`baoco_calls_total{outcome="accepted",` + source + `}`:                     7,
		`baoco_calls_total{outcome="refused",` + source + `}`:                      1,
		`baoco_calls_total{outcome="refused",provider="unknown",source="unknown"}`: 1,
		`baoco_transactions_total{outcome="recorded",` + source + `}`:              6,
		`baoco_transactions_total{outcome="duplicate",` + source + `}`:             1,
		`baoco_http_requests_total{code="2xx",handler="inbound"}`:                  7,
		`baoco_http_requests_total{code="4xx",handler="inbound"}`:                  2,
		`baoco_http_requests_total{code="2xx",handler="api"}`:                      1,
		`baoco_http_requests_total{code="4xx",handler="api"}`:                      1,
		`baoco_http_requests_total{code="4xx",handler="none"}`:                     1,
		`baoco_attempts_in_flight`:                                                 0,
		`baoco_due_lag_seconds`:                                                    0,
		`baoco_well`:                                                               1,
	}
	var text string
	var figures map[string]float64
	eventually(t, "the figures are what was done", func() bool {
		text, figures = figuresOf(t, url, "")
		for name, n := range want {
			if figures[name] != n {
				return false
			}
		}
		return figures[`baoco_attempts_total{outcome="http_status"}`] >= 1 // on a slow machine the retry was made too
	})
	info, err := os.Stat(in.db)
	must(t, err)
	if got := figures["baoco_database_size_bytes"]; got != float64(info.Size()) {
		t.Errorf("the database has %.0f bytes, and not %d", got, info.Size())
	}
	if age := float64(time.Now().Unix()) - figures["baoco_last_backup_timestamp_seconds"]; age < 0 || age > 300 {
		t.Errorf("the backup is %.0f s old", age)
	}
	names := []string{"baoco_wal_size_bytes", "baoco_disk_free_bytes", "go_goroutines", "go_gc_gomemlimit_bytes", "go_memstats_alloc_bytes",
		"process_start_time_seconds"}
	if runtime.GOOS == "linux" {
		names = append(names, "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds")
	}
	for _, name := range names {
		if figures[name] <= 0 {
			t.Errorf("%s is %v", name, figures[name])
		}
	}
	commits, callers := figures["baoco_commit_duration_seconds_count"], figures["baoco_commit_batch_size_sum"]
	if commits < 8 || callers < commits || figures["baoco_commit_duration_seconds_sum"] <= 0 ||
		figures["baoco_commit_batch_size_count"] != commits {
		t.Errorf("%v commits for %v callers", commits, callers)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	must(t, err)
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	if got := status(t, p.url+"/metrics", ""); got != http.StatusNotFound {
		t.Errorf("the server itself answers %d at /metrics", got)
	}
}

// On the server's own address the figures are for whoever has the token; to others
// there is nothing.
func TestMetricsToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte("a token of some length\n"), 0o600))
	if code, _, stderr := baoco("", "serve", "--db", filepath.Join(dir, "x.db"), "--metrics-token-file",
		filepath.Join(dir, "token")); code != 2 {
		t.Errorf("a token with spaces: exit %d, %s", code, stderr)
	}
	if code, _, stderr := baoco("", "serve", "--db", filepath.Join(dir, "x.db"), "--metrics-listen", ":9464"); code != 2 ||
		!strings.Contains(stderr, "--metrics-token-file") {
		t.Errorf("figures for everybody: exit %d, %s", code, stderr)
	}
	const token = "a-token-of-some-length"
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600))
	p := serveIn(t, dir, anyPort, "--metrics-token-file", filepath.Join(dir, "token"))
	for _, wrong := range []string{"", token + "x", token[1:]} {
		if got := status(t, p.url+"/metrics", wrong); got != http.StatusNotFound {
			t.Errorf("with the token %q: %d", wrong, got)
		}
	}
	if _, figures := figuresOf(t, p.url+"/metrics", token); figures["baoco_well"] != 1 {
		t.Errorf("it isn't well: %v", figures)
	}
	if strings.Contains(p.stderr.String(), token) {
		t.Error("the log has the token")
	}
}
