package brokertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"baoco/app/apptest"
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
	s := &NATSServer{program: natsProgram(t), Address: apptest.FreeAddress(t)}
	dir := t.TempDir()
	s.config = filepath.Join(dir, "nats.conf")
	apptest.Must(t, os.WriteFile(s.config, fmt.Appendf(nil, "listen: %s\njetstream { store_dir: %q, sync_interval: always }\n%s\n",
		s.Address, dir, more), 0o600))
	s.Start(t)
	return s
}

// StartNATSCluster starts three servers that keep each message on all their disks.
func StartNATSCluster(t testing.TB) (nodes [3]*NATSServer) {
	t.Helper()
	dir := t.TempDir()
	var routes [3]string
	for i := range nodes {
		routes[i] = apptest.FreeAddress(t)
	}
	for i := range nodes {
		name := fmt.Sprint("node", i)
		nodes[i] = &NATSServer{program: natsProgram(t), Address: apptest.FreeAddress(t), config: filepath.Join(dir, name+".conf")}
		apptest.Must(t, os.WriteFile(nodes[i].config, fmt.Appendf(nil, `server_name: %s
listen: %s
jetstream { store_dir: %q, sync_interval: always }
cluster { name: shop, listen: %s, routes: ["nats://%s", "nats://%s", "nats://%s"] }
`, name, nodes[i].Address, filepath.Join(dir, name), routes[i], routes[0], routes[1], routes[2]), 0o600))
	}
	for _, node := range nodes {
		node.Start(t)
	}
	return nodes
}

func natsProgram(t testing.TB) string {
	return apptest.Program(t, "nats-server", "github.com/nats-io/nats-server/v2@v2.15.2")
}

// Start starts the process, and once more after Kill.
func (s *NATSServer) Start(t testing.TB) {
	t.Helper()
	t.Cleanup(s.Kill)
	apptest.Must(t, s.Run())
}

// Run starts the process, and waits until it listens.
func (s *NATSServer) Run() error {
	s.process = exec.Command(s.program, "-c", s.config)
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 3000 {
		if conn, err := net.Dial("tcp", s.Address); err == nil {
			return conn.Close()
		}
		time.Sleep(20 * time.Millisecond) // it is another process, which says nothing when it listens
	}
	return errors.New("the nats-server doesn't listen within a minute")
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
	apptest.Must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	apptest.Must(t, err)
	var stream jetstream.Stream
	defer func() {
		if t.Failed() {
			t.Log(err)
		}
	}()
	apptest.Eventually(t, "there is a JetStream stream", func() bool { // a server that has just begun has no leader yet
		stream, err = js.CreateStream(context.Background(), config)
		return err == nil
	})
	return stream
}
