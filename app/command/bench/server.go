package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"baoco/app/command/serve"

	"github.com/urfave/cli/v2"
)

// server is a baoco serve in a process of its own, so that its memory and CPU
// time can be told from those of the callers and shops.
type server struct {
	cmd    *exec.Cmd
	url    string
	lines  []string      // the last ones of its log, to be read once output is closed
	output chan struct{} // closed when it writes no more
	ended  bool
}

// startServer serves db at a free port, with nothing limited and nothing
// pruned. The process ends with ctx.
func startServer(ctx context.Context, db string) (*server, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{output: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, executable, "serve", "--db", db, "--listen", "127.0.0.1:0", "--log-format", "json", "--allow-target", "127.0.0.0/8",
		"--rate-limit", "1000000", "--listing-rate-limit", "1000000", "--keep-inbound", "0", "--keep-history", "0")
	s.cmd.WaitDelay = time.Second
	s.cmd.Env = withoutServeSettings(os.Environ())
	output, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go s.follow(output, address)
	select {
	case at := <-address:
		s.url = "http://" + at
		return s, nil
	case <-s.output:
		s.kill()
		return nil, fmt.Errorf("serve did not come up: %s", strings.Join(s.lines, " | "))
	}
}

// withoutServeSettings drops the environment variables that would configure
// the server under measurement.
func withoutServeSettings(environment []string) []string {
	var settings []string
	for _, f := range serve.Flags() {
		if documented, ok := f.(cli.DocGenerationFlag); ok {
			settings = append(settings, documented.GetEnvVars()...)
		}
	}
	return slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(settings, name)
	})
}

// follow reads what the server logs, and sends the address it serves at.
func (s *server) follow(output io.Reader, address chan<- string) {
	defer close(s.output)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "serving" {
			address <- entry.Address
		}
		s.lines = append(s.lines, lines.Text())
		s.lines = s.lines[max(0, len(s.lines)-10):]
	}
}

// figures is what the server has used so far.
func (s *server) figures() processFigures { return processFiguresOf(s.cmd.Process.Pid) }

// stop ends the server cleanly, and gives the CPU time of its whole life.
func (s *server) stop() (time.Duration, error) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.kill() // this system has no such signal
		return s.life(), nil
	}
	<-s.output
	err := s.cmd.Wait()
	s.ended = true
	if err != nil {
		return 0, fmt.Errorf("serve did not end cleanly: %w (%s)", err, strings.Join(s.lines, " | "))
	}
	return s.life(), nil
}

func (s *server) life() time.Duration {
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}

// kill ends the server at once, unless it has ended.
func (s *server) kill() {
	if s.ended {
		return
	}
	s.ended = true
	_ = s.cmd.Process.Kill()
	<-s.output
	_ = s.cmd.Wait()
}
