package nats_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"

	"baoco/app/apptest"
	"baoco/app/stream"
	"baoco/scheduler/broker/brokertest"
	"baoco/scheduler/broker/nats"

	"github.com/nats-io/nats.go/jetstream"
)

func open(t testing.TB, b stream.Broker) stream.Publisher {
	p := nats.Open(b, (&net.Dialer{}).DialContext, &tls.Config{})
	t.Cleanup(p.Close)
	return p
}

func TestNATSPublish(t *testing.T) {
	for _, batches := range []bool{false, true} {
		t.Run(fmt.Sprint("batches=", batches), func(t *testing.T) {
			server := brokertest.StartNATS(t, "")
			kept := server.Stream(t, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}, AllowAtomicPublish: batches})
			p := open(t, stream.Broker{Kind: stream.NATS, Hosts: []string{server.Address}, Topic: "shop.payments"})
			sent := brokertest.Messages(1, 500, 7)
			for range 2 { // the second time they are repeats
				kept, err := p.Publish(t.Context(), sent)
				if kept != 500 || err != nil {
					t.Fatalf("kept %d, %v", kept, err)
				}
			}
			info, err := kept.Info(t.Context())
			apptest.Must(t, err)
			if info.State.Msgs != 500 {
				t.Errorf("the stream has %d messages", info.State.Msgs)
			}
			last := map[int]int{}
			for seq := range uint64(500) {
				m, err := kept.GetMsg(t.Context(), seq+1)
				apptest.Must(t, err)
				var number int
				fmt.Sscanf(string(m.Data), `{"number":%d`, &number)
				if number <= last[number%7] || m.Header.Get("Nats-Msg-Id") != fmt.Sprint("mark_", number) ||
					m.Header.Get("Webhook-Id") != fmt.Sprint("mark_", number) {
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
				server := brokertest.StartNATS(b, "")
				server.Stream(b, jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}, AllowAtomicPublish: batches})
				p := open(b, stream.Broker{Kind: stream.NATS, Hosts: []string{server.Address}, Topic: "shop.payments"})
				count := 0
				for b.Loop() {
					kept, err := p.Publish(context.Background(), brokertest.Messages(count, stream.MaxBatch, accounts))
					apptest.Must(b, err)
					count += kept
				}
				b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}
