package apptest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// NATSServer is a nats-server with JetStream, in a process of its own.
type NATSServer struct {
	Address         string
	program, config string
	process         *exec.Cmd
}

// StartNATS starts a server with more lines of configuration.
func StartNATS(t testing.TB, more string) *NATSServer {
	t.Helper()
	s := &NATSServer{program: Program(t, "nats-server", "github.com/nats-io/nats-server/v2@v2.15.2"), Address: FreeAddress(t)}
	dir := t.TempDir()
	s.config = filepath.Join(dir, "nats.conf")
	Must(t, os.WriteFile(s.config, fmt.Appendf(nil, "listen: %s\njetstream { store_dir: %q, sync_interval: always }\n%s\n", s.Address, dir, more), 0o600))
	s.Start(t)
	return s
}

// Start starts the process, and once more after Kill.
func (s *NATSServer) Start(t testing.TB) {
	t.Helper()
	s.process = exec.Command(s.program, "-c", s.config)
	Must(t, s.process.Start())
	t.Cleanup(s.Kill)
	Eventually(t, "the nats-server listens", func() bool {
		conn, err := net.Dial("tcp", s.Address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// Kill ends the process as a power cut does.
func (s *NATSServer) Kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Stream makes a JetStream stream.
func (s *NATSServer) Stream(t testing.TB, config jetstream.StreamConfig, options ...nats.Option) jetstream.Stream {
	t.Helper()
	conn, err := nats.Connect("nats://"+s.Address, append(options, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))...)
	Must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	Must(t, err)
	var stream jetstream.Stream
	Eventually(t, "there is a JetStream stream", func() bool { // a server that has just begun has no leader yet
		stream, err = js.CreateStream(context.Background(), config)
		return err == nil
	})
	return stream
}

// FreeAddress is an address of this machine where nothing listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	defer l.Close()
	return l.Addr().String()
}
