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
	"strconv"
	"strings"
	"time"

	"baoco/app/inbound"
)

// server is a baoco serve in a process of its own, so that its memory can be told
// from that of the callers and shops.
type server struct {
	cmd    *exec.Cmd
	url    string // of its source
	secret string
}

// startServer serves db at a free port. The process ends with ctx.
func startServer(ctx context.Context, db string, source inbound.Source) (*server, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, executable,
		"serve", "--db", db, "--listen", "127.0.0.1:0", "--log-format", "json", "--allow-target", "127.0.0.0/8")
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "BAOCO_") })
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var log strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "serving" {
			go io.Copy(io.Discard, output)
			return &server{cmd, "http://" + entry.Address + source.URLPath(), source.Secret}, nil
		}
		log.WriteString(" | " + lines.Text())
	}
	_ = cmd.Wait()
	return nil, fmt.Errorf("serve did not come up%s", &log)
}

// memory reads a value of the process, in MB; nil where the system doesn't tell it,
// as only Linux does.
func (s *server) memory(name string) *float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	_, value, _ := strings.Cut(string(status), name+":")
	value, _, _ = strings.Cut(value, "kB")
	kb, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return nil
	}
	mb := kb / 1024
	return &mb
}

// kill ends the server at once: requests that hang would hold a clean stop.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}
