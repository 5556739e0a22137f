package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/command"
	"baoco/app/command/serve"
)

var (
	must       = apptest.Must
	eventually = apptest.Eventually
)

// lasting are the commands that don't end by themselves, or when a test says so.
var lasting = []string{"serve", "demo", "bench", "tail", "listen"}

// litestreamEvery is how often Litestream copies, as replica setup configures it.
var litestreamEvery = time.Second

// hurry has fences look and Litestream copy ten times as often as in a shop, so that a test
// waits less for them. BAOCO_FULL=1 runs them as a shop does.
func hurry() {
	serve.FenceEvery, serve.FenceTime = 300*time.Millisecond, 3*time.Second
	litestreamEvery = 100 * time.Millisecond
	apptest.CheapSecrets()
}

// TestMain lets the test binary be the program, so that tests can start it as a process
// of its own. AS_BAOCO is how long a command may take that isn't a lasting one, and
// AS_IN_SHOP=1 says that it doesn't hurry.
func TestMain(m *testing.M) {
	if !apptest.Full() && os.Getenv("AS_IN_SHOP") == "" {
		hurry()
	}
	if within, err := time.ParseDuration(os.Getenv("AS_BAOCO")); err == nil {
		signal.Ignore(syscall.SIGPIPE) // as main does
		if !slices.ContainsFunc(os.Args, func(arg string) bool { return slices.Contains(lasting, arg) }) {
			time.AfterFunc(within, func() {
				debug.SetTraceback("all")
				panic(fmt.Sprintf("%q has not ended within %v", os.Args, within))
			})
		}
		os.Exit(command.Run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(apptest.RunTests(m, 6))
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

// addNative adds a source of the native format.
func addNative(t testing.TB, dir string) (source createdSource) {
	t.Helper()
	must(t, json.Unmarshal([]byte(do(t, dir, "source", "add", "--provider", "native", "--name", "till", "-o", "json")), &source))
	return source
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
	// The settings of whoever runs the tests, and what they tell the tests, aren't the program's.
	own := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "BAOCO_") })
	if apptest.Full() {
		own = append(own, "AS_IN_SHOP=1")
	}
	cmd.Env = append(own, "AS_BAOCO=2m", "GORACE=atexit_sleep_ms=0", "GOGC=200", "HTTP_PROXY=http://127.0.0.1:9", "TZ=America/Los_Angeles")
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
	return startAs(t, program(dir, append([]string{"serve", "--listen", address}, args...)...))
}

// startAs starts a command that is serve.
func startAs(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, stderr: &apptest.Output{}}
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

// do runs an admin command on the database of dir, in this process, and gives its stdout.
func do(t testing.TB, dir string, args ...string) string {
	t.Helper()
	code, stdout, stderr := baoco("", append(slices.Clone(args), "--db", filepath.Join(dir, "baoco.db"))...)
	if code != 0 {
		t.Fatalf("baoco %s: exit %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// doIn runs an admin command in dir, as a process, and gives its stdout.
func doIn(t testing.TB, dir string, args ...string) string {
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

// readiness is what /readyz answers, 0 where nobody does.
func (p *process) readiness() int {
	response, err := http.Get(p.url + "/readyz")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// Wait waits until the process ends, and kills it after a minute. Then the error says so.
func (p *process) Wait() error {
	late := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
	err := p.Cmd.Wait()
	if !late.Stop() {
		return fmt.Errorf("%q did not end within a minute: %w\n%s", p.Args, err, p.stderr)
	}
	return err
}

// exitWithin waits until a process ends by itself, and gives its exit code; -1
// is that of a signal.
func (p *process) exitWithin(t testing.TB, within time.Duration) int {
	t.Helper()
	late := time.AfterFunc(within, func() { _ = p.Process.Kill() })
	_ = p.Cmd.Wait()
	if !late.Stop() {
		t.Errorf("it did not end by itself within %v\n%s", within, p.stderr)
	}
	return p.ProcessState.ExitCode()
}

// end stops a server as a supervisor does.
func (p *process) end(t testing.TB) {
	t.Helper()
	// A connection that was opened and never used delays a server's stop by
	// five seconds.
	http.DefaultClient.CloseIdleConnections()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.stderr)
	}
}
