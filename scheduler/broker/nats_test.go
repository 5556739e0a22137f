package broker_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/apptest"
	"baoco/scheduler/broker"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsServer is a nats-server in a process of its own.
type natsServer struct {
	program, config, address string
	process                  *exec.Cmd
}

func natsProgram(t testing.TB) string {
	return apptest.Program(t, "nats-server", "github.com/nats-io/nats-server/v2@v2.15.2")
}

// startNATS starts a server with JetStream and more lines of configuration.
func startNATS(t testing.TB, more string) *natsServer {
	s := &natsServer{program: natsProgram(t), address: freeAddress(t)}
	dir := t.TempDir()
	s.config = filepath.Join(dir, "nats.conf")
	apptest.Must(t, os.WriteFile(s.config, fmt.Appendf(nil, "listen: %s\njetstream { store_dir: %q }\n%s\n", s.address, dir, more), 0o600))
	s.start(t)
	return s
}

func (s *natsServer) start(t testing.TB) {
	t.Helper()
	t.Cleanup(s.kill)
	apptest.Must(t, s.run())
}

// run starts the process, and waits until it listens.
func (s *natsServer) run() error {
	s.process = exec.Command(s.program, "-c", s.config)
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 500 {
		if conn, err := net.Dial("tcp", s.address); err == nil {
			return conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("the nats-server doesn't listen")
}

// kill ends the process as a power cut does.
func (s *natsServer) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	apptest.Must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func messages(first, count, accounts int) []app.StreamMessage {
	list := make([]app.StreamMessage, count)
	for i := range list {
		number := strconv.Itoa(first + i)
		list[i] = app.StreamMessage{
			ID: "mark_" + number, BankAccount: "ACB:" + strconv.Itoa((first+i)%accounts),
			Headers: []app.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Webhook-Id", Value: "mark_" + number}},
			Body:    []byte(`{"number":` + number + `,"padding":"` + strings.Repeat("x", 600) + `"}`),
		}
	}
	return list
}

func open(t testing.TB, b app.Broker) app.Publisher {
	p := broker.Open(b, (&net.Dialer{}).DialContext, &tls.Config{})
	t.Cleanup(p.Close)
	return p
}

func createStream(t testing.TB, address string, config jetstream.StreamConfig, options ...nats.Option) jetstream.Stream {
	t.Helper()
	conn, err := nats.Connect("nats://"+address, options...)
	apptest.Must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	apptest.Must(t, err)
	var stream jetstream.Stream
	for range 50 { // a server that has just begun has no leader yet
		if stream, err = js.CreateStream(t.Context(), config); err == nil {
			return stream
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(err)
	return nil
}

func TestNATSPublish(t *testing.T) {
	for _, batches := range []bool{false, true} {
		t.Run(fmt.Sprint("batches=", batches), func(t *testing.T) {
			server := startNATS(t, "")
			stream := createStream(t, server.address, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}, AllowAtomicPublish: batches})
			p := open(t, app.Broker{Kind: app.NATS, Hosts: []string{server.address}, Topic: "shop.payments"})
			sent := messages(1, 500, 7)
			for range 2 { // the second time they are repeats
				kept, err := p.Publish(t.Context(), sent)
				if kept != 500 || err != nil {
					t.Fatalf("kept %d, %v", kept, err)
				}
			}
			info, err := stream.Info(t.Context())
			apptest.Must(t, err)
			if info.State.Msgs != 500 {
				t.Errorf("the stream has %d messages", info.State.Msgs)
			}
			last := map[int]int{}
			for seq := range uint64(500) {
				m, err := stream.GetMsg(t.Context(), seq+1)
				apptest.Must(t, err)
				var number int
				fmt.Sscanf(string(m.Data), `{"number":%d`, &number)
				if number <= last[number%7] || m.Header.Get("Nats-Msg-Id") != fmt.Sprint("mark_", number) || m.Header.Get("Webhook-Id") != fmt.Sprint("mark_", number) {
					t.Errorf("message %d is %s %v, after %d", seq+1, m.Data, m.Header, last[number%7])
				}
				last[number%7] = number
			}
		})
	}
}

func BenchmarkNATS(b *testing.B) {
	for _, batches := range []bool{false, true} {
		for _, accounts := range []int{1, 20} {
			b.Run(fmt.Sprintf("batches=%v/accounts=%d", batches, accounts), func(b *testing.B) {
				server := startNATS(b, "")
				createStream(b, server.address, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}, AllowAtomicPublish: batches})
				p := open(b, app.Broker{Kind: app.NATS, Hosts: []string{server.address}, Topic: "shop.payments"})
				count := 0
				for b.Loop() {
					kept, err := p.Publish(context.Background(), messages(count, app.StreamRead, accounts))
					apptest.Must(b, err)
					count += kept
				}
				b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}
