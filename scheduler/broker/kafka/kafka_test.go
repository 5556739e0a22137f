package kafka_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"baoco/app/apptest"
	"baoco/app/stream"
	"baoco/scheduler/broker/brokertest"
	"baoco/scheduler/broker/kafka"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// startKafka starts a cluster of three brokers with a topic of six partitions.
func startKafka(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.SeedTopics(6, "payments")}, options...)...)
	apptest.Must(t, err)
	t.Cleanup(cluster.Close)
	return cluster
}

func kafkaBroker(cluster *kfake.Cluster) stream.Broker {
	return stream.Broker{Kind: stream.Kafka, Hosts: cluster.ListenAddrs(), Topic: "payments"}
}

// consumed reads what the topic has: the numbers of the messages of each bank account,
// in the order of its partition.
func consumed(t testing.TB, cluster *kfake.Cluster, accounts, atLeast int, options ...kgo.Opt) map[int][]int {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("payments"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, options...)...)
	apptest.Must(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	end := int64(0)
	for _, p := range cluster.PartitionInfos("payments") {
		end += p.HighWatermark
	}
	if end < int64(atLeast) {
		t.Fatalf("the topic has %d records, of %d messages", end, atLeast)
	}
	found := map[int][]int{}
	for seen := int64(0); seen < end; {
		fetches := client.PollFetches(ctx)
		apptest.Must(t, fetches.Err0())
		fetches.EachRecord(func(r *kgo.Record) {
			seen++
			var number int
			fmt.Sscanf(string(r.Value), `{"number":%d`, &number)
			id := fmt.Sprint("mark_", number)
			isID := func(h kgo.RecordHeader) bool { return h.Key == "Webhook-Id" && string(h.Value) == id }
			if string(r.Key) != id || !slices.ContainsFunc(r.Headers, isID) || r.Timestamp.Before(time.Now().Add(-time.Minute)) {
				t.Fatalf("record %s %v %v %.30s", r.Key, r.Headers, r.Timestamp, r.Value)
			}
			found[number%accounts] = append(found[number%accounts], number)
		})
	}
	return found
}

func open(t testing.TB, b stream.Broker) stream.Publisher {
	p := kafka.Open(b, (&net.Dialer{}).DialContext, &tls.Config{})
	t.Cleanup(p.Close)
	return p
}

// Leaders that have moved since the last Publish are no failure. All replicas in sync are
// asked to have what counts as kept.
func TestKafkaPublish(t *testing.T) {
	cluster := startKafka(t)
	cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if acks := r.(*kmsg.ProduceRequest).Acks; acks != -1 {
			t.Errorf("acknowledgements of %d are asked for", acks)
		}
		return nil, nil, false
	})
	p := open(t, kafkaBroker(cluster))
	if errors := brokertest.PublishAll(t, p, 1300, 7, func(int) { cluster.ShufflePartitionLeaders() }); errors != nil {
		t.Errorf("errors %v", errors)
	}
	if repeats := brokertest.InOrder(t, consumed(t, cluster, 7, 1300), 7, 1300); repeats > 0 {
		t.Errorf("%d repeats", repeats)
	}
}

// A message that doesn't fit into a batch isn't overtaken by a smaller one.
func TestKafkaLargeMessages(t *testing.T) {
	cluster := startKafka(t)
	sent := brokertest.Messages(1, 20, 1)
	for i := range sent {
		if i%3 < 2 {
			sent[i].Body = append(sent[i].Body, bytes.Repeat([]byte(" "), 300_000)...)
		}
	}
	if kept, err := open(t, kafkaBroker(cluster)).Publish(t.Context(), sent); kept != 20 || err != nil {
		t.Errorf("kept %d, %v", kept, err)
	}
	if repeats := brokertest.InOrder(t, consumed(t, cluster, 1, 20), 1, 20); repeats > 0 {
		t.Errorf("%d repeats", repeats)
	}
}

// The partition is the one that Kafka's own producers choose by the same key.
func TestKafkaPartition(t *testing.T) {
	cluster := startKafka(t)
	p := open(t, kafkaBroker(cluster))
	chosen := kgo.StickyKeyPartitioner(nil).ForTopic("payments")
	for i := range 50 {
		m := brokertest.Messages(1, 1, 1)[0]
		m.BankAccount = strings.Repeat("VCB:0123456789"[:i%14], 1+i/14) + fmt.Sprint(i)
		want := int32(chosen.Partition(&kgo.Record{Key: []byte(m.BankAccount)}, 6))
		before := cluster.PartitionInfo("payments", want).HighWatermark
		kept, err := p.Publish(t.Context(), []stream.Message{m})
		if kept != 1 || err != nil {
			t.Fatalf("kept %d, %v", kept, err)
		}
		if cluster.PartitionInfo("payments", want).HighWatermark != before+1 {
			t.Errorf("%s isn't in partition %d", m.BankAccount, want)
		}
	}
}

// Leaders move all the time, and a broker ends connections with a request in them,
// before it keeps the batch or after.
func TestKafkaLeadersMoveAndConnectionsEnd(t *testing.T) {
	cluster := startKafka(t)
	requests := 0
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		requests++
		switch requests % 7 {
		case 2:
			return nil, fmt.Errorf("the connection ends"), true
		case 5:
			cluster.ShufflePartitionLeaders()
		}
		return nil, nil, false
	})
	cluster.Fault(
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "payments", Partitions: []int32{2}, Err: kerr.RequestTimedOut, Count: 3},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "payments", Partitions: []int32{4}, Err: kerr.NotEnoughReplicas, Count: 3},
	)
	p := open(t, kafkaBroker(cluster))
	brokertest.PublishAll(t, p, 10_000, 11, func(int) {})
	repeats := brokertest.InOrder(t, consumed(t, cluster, 11, 10_000), 11, 10_000)
	t.Logf("%d repeats, %d requests", repeats, requests)
}

func BenchmarkKafka(b *testing.B) {
	for _, accounts := range []int{1, 20} {
		b.Run(fmt.Sprint("accounts=", accounts), func(b *testing.B) {
			p := open(b, kafkaBroker(startKafka(b)))
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
