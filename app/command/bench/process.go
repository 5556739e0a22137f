package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"baoco/app/command/serve"

	"github.com/urfave/cli/v2"
)

// benchProcess is a command of this program as a process of its own, that
// ends with ctx.
func benchProcess(ctx context.Context, args ...string) (*exec.Cmd, *tail, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = withoutServeSettings(os.Environ())
	return cmd, &tail{}, nil
}

// withoutServeSettings drops the environment variables that would configure
// the server under measurement.
func withoutServeSettings(environment []string) []string {
	var ours []string
	for _, f := range serve.Command().Flags {
		if documented, ok := f.(cli.DocGenerationFlag); ok {
			ours = append(ours, documented.GetEnvVars()...)
		}
	}
	return slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(ours, name)
	})
}

// tail keeps the last lines that a process wrote, to be shown if it fails.
type tail struct {
	mu    sync.Mutex
	lines []string
}

const tailLines = 10

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines = append(t.lines, line); len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// Write takes whole lines at a time, as programs write them.
func (t *tail) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		t.add(strings.TrimSpace(line))
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, " | ")
}

// benchPart is a generator, a receiver or a relay: it answers JSON with JSON.
type benchPart struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	asks   *json.Encoder
	tells  *json.Decoder
	stderr *tail
}

func startPart(ctx context.Context, args ...string) (*benchPart, error) {
	cmd, stderr, err := benchProcess(ctx, append([]string{"bench"}, args...)...)
	if err != nil {
		return nil, err
	}
	p := &benchPart{cmd: cmd, stderr: stderr}
	cmd.Stderr = stderr
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.asks, p.tells = json.NewEncoder(p.in), json.NewDecoder(out)
	return p, cmd.Start()
}

// ask sends a question, unless it is nil, and reads the answer.
func (p *benchPart) ask(question, answer any) error {
	var err error
	if question != nil {
		err = p.asks.Encode(question)
	}
	if err == nil {
		err = p.tells.Decode(answer)
	}
	if err != nil {
		return fmt.Errorf("%s: %w (%s)", strings.Join(p.cmd.Args[1:], " "), err, p.stderr)
	}
	return nil
}

// close ends the process.
func (p *benchPart) close() {
	if p == nil || p.cmd.Process == nil {
		return
	}
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// benchServer is a baoco serve of its own.
type benchServer struct {
	cmd    *exec.Cmd
	url    string
	db     string
	ready  time.Duration // from its start to the first 200 of /healthz
	stderr *tail
	output chan struct{} // closed when it writes no more
	ended  bool
}

// startServer serves db at a free port, with nothing limited and nothing
// pruned.
func startServer(ctx context.Context, db string) (*benchServer, error) {
	cmd, stderr, err := benchProcess(ctx, "serve", "--db", db, "--listen", "127.0.0.1:0", "--log-format", "json", "--allow-target", "127.0.0.0/8",
		"--rate-limit", "1000000", "--listing-rate-limit", "1000000", "--keep-inbound", "0", "--keep-history", "0")
	if err != nil {
		return nil, err
	}
	s := &benchServer{cmd: cmd, db: db, stderr: stderr, output: make(chan struct{})}
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go s.follow(output, address)
	select {
	case at := <-address:
		s.url = "http://" + at
	case <-s.output:
		s.kill()
		return nil, fmt.Errorf("serve did not come up: %s", stderr)
	}
	if err := s.awaitHealth(ctx); err != nil {
		s.kill()
		return nil, err
	}
	s.ready = time.Since(started)
	return s, nil
}

// follow reads what the server logs, and tells the address it serves at.
func (s *benchServer) follow(output io.Reader, address chan<- string) {
	defer close(s.output)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "serving" {
			address <- entry.Address
		}
		s.stderr.add(lines.Text())
	}
}

func (s *benchServer) awaitHealth(ctx context.Context) error {
	client := &http.Client{Transport: benchTransport(1), Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	for begin := time.Now(); time.Since(begin) < 10*time.Second && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		if response, err := client.Get(s.url + "/healthz"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("serve is not healthy: %s", s.stderr)
}

// figures is what the server has used so far.
func (s *benchServer) figures() processFigures { return processFiguresOf(s.cmd.Process.Pid) }

// stop ends the server cleanly, and gives the CPU time of its whole life.
func (s *benchServer) stop() (time.Duration, error) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.kill() // there is no such signal here
		return s.life(), nil
	}
	<-s.output
	err := s.cmd.Wait()
	s.ended = true
	if err != nil {
		return 0, fmt.Errorf("serve did not end cleanly: %w (%s)", err, s.stderr)
	}
	return s.life(), nil
}

func (s *benchServer) life() time.Duration {
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}

// kill ends the server at once.
func (s *benchServer) kill() {
	if s == nil || s.ended {
		return
	}
	s.ended = true
	_ = s.cmd.Process.Kill()
	<-s.output
	_ = s.cmd.Wait()
}
