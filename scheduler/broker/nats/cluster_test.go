package nats_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/stream"
	"baoco/scheduler/broker/brokertest"

	"github.com/nats-io/nats.go/jetstream"
)

// hosts are the addresses of nodes.
func hosts(nodes [3]*brokertest.NATSServer) (list []string) {
	for _, node := range nodes {
		list = append(list, node.Address)
	}
	return list
}

// natsKept reads what the JetStream stream has: the numbers of the messages of each bank
// account, in the order of the stream.
func natsKept(t testing.TB, kept jetstream.Stream, accounts int) map[int][]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var info *jetstream.StreamInfo
	var consumer jetstream.Consumer
	for err := errors.New("not asked yet"); err != nil; { // nobody answers while the servers have no leader
		apptest.Must(t, ctx.Err())
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		if info, err = kept.Info(short); err == nil {
			consumer, err = kept.OrderedConsumer(short, jetstream.OrderedConsumerConfig{})
		}
		cancel()
	}
	list, err := consumer.Messages()
	apptest.Must(t, err)
	defer list.Stop()
	found := map[int][]int{}
	for i := range info.State.Msgs {
		m, err := list.Next(jetstream.NextContext(ctx))
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", i, info.State.Msgs, err)
		}
		var number int
		fmt.Sscanf(string(m.Data()), `{"number":%d`, &number)
		if id := fmt.Sprint("mark_", number); m.Headers().Get("Nats-Msg-Id") != id || m.Headers().Get("Webhook-Id") != id {
			t.Fatalf("message %.30s %v", m.Data(), m.Headers())
		}
		found[number%accounts] = append(found[number%accounts], number)
	}
	return found
}

// Nodes are killed while they keep messages, and started again: none is lost, repeats
// have the same id, each bank account is in order.
func TestNATSNodesAreKilled(t *testing.T) {
	count, atLeast, every, away, pause := 6000, 2000, time.Duration(0), time.Second/2, time.Duration(0)
	if apptest.Full() {
		count, atLeast, every, away, pause = 100_000, 0, 10*time.Second, 2*time.Second, 200*time.Millisecond
	}
	cases := []struct {
		name     string
		batches  bool
		accounts int
		window   time.Duration // in which the servers drop repeats
	}{
		{"batches", true, 1, 2 * time.Minute},
		{"singly, repeats are kept", false, 20, 100 * time.Millisecond},
		{"batches, repeats are kept", true, 3, 100 * time.Millisecond},
		{"singly", false, 20, 2 * time.Minute},
	}
	if !apptest.Full() {
		cases = cases[:2]
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			nodes := brokertest.StartNATSCluster(t)
			kept := nodes[0].Stream(t, jetstream.StreamConfig{
				Name: "PAYMENTS", Subjects: []string{"shop.payments"}, Replicas: 3, AllowAtomicPublish: c.batches, Duplicates: c.window,
			})
			p := open(t, stream.Broker{Kind: stream.NATS, Hosts: hosts(nodes), Topic: "shop.payments"})
			kills, repaired, began := 0, sync.WaitGroup{}, time.Now()
			killed, keptThen := began, 0
			t.Cleanup(repaired.Wait)
			failed := brokertest.PublishAll(t, p, count, c.accounts, func(kept int) {
				time.Sleep(pause) // the pace of the messages
				if kept < keptThen+atLeast || time.Since(killed) < every {
					return
				}
				repaired.Wait()
				killed, keptThen = time.Now(), kept
				node := nodes[kills%3]
				kills++
				repaired.Go(func() {
					time.Sleep(rand.N(30 * time.Millisecond)) // somewhere among the messages
					node.Kill()
					time.Sleep(away) // the others go on without the node
					if err := node.Run(); err != nil {
						t.Error(err)
					}
				})
			})
			took := time.Since(began)
			repaired.Wait()
			repeats := brokertest.InOrder(t, natsKept(t, kept, c.accounts), c.accounts, count)
			t.Logf("%d messages in %v, %d kills, %d repeats, %d failed attempts", count, took.Round(time.Second/10), kills, repeats, len(failed))
		})
	}
}

func BenchmarkNATSCluster(b *testing.B) {
	for _, batches := range []bool{false, true} {
		for _, accounts := range []int{1, 20} {
			b.Run(fmt.Sprintf("batches=%v/accounts=%d", batches, accounts), func(b *testing.B) {
				nodes := brokertest.StartNATSCluster(b)
				nodes[0].Stream(b,
					jetstream.StreamConfig{Name: "PAYMENTS", Subjects: []string{"shop.payments"}, Replicas: 3, AllowAtomicPublish: batches})
				p := open(b, stream.Broker{Kind: stream.NATS, Hosts: hosts(nodes), Topic: "shop.payments"})
				count := 0
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					kept, err := p.Publish(ctx, brokertest.Messages(count, stream.MaxBatch, accounts))
					cancel()
					apptest.Must(b, err)
					count += kept
				}
				b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}
