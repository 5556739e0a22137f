package kafka_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"baoco/app/stream"
	"baoco/app/target"
	"baoco/scheduler/broker/brokertest"
	"baoco/scheduler/broker/kafka"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// answering lets change what a cluster of one partition answers to requests of a key. It
// speaks as Kafka 2.2 does, which names topics.
func answering(t *testing.T, key kmsg.Key, answer func(kmsg.Request) kmsg.Response) *kfake.Cluster {
	cluster := startKafka(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "one"), kfake.MaxVersions(kversion.V2_2_0()))
	cluster.ControlKey(int16(key), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		a := answer(r)
		return a, nil, a != nil
	})
	return cluster
}

// Only what is certainly the acknowledgement of a batch counts as one.
func TestKafkaAnswers(t *testing.T) {
	for _, c := range []struct {
		name       string
		topic      string
		code       int16
		partitions []int32
		kept       int
	}{
		{"kept", "one", 0, []int32{0}, 3},
		{"refused", "one", kerr.NotEnoughReplicas.Code, []int32{0}, 0},
		{"refused without a reason", "one", -1, []int32{0}, 0},
		{"another topic", "other", 0, []int32{0}, 0},
		{"another partition", "one", 0, []int32{1}, 0},
		{"no partition", "one", 0, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := kafkaBroker(answering(t, kmsg.Produce, func(r kmsg.Request) kmsg.Response {
				return produced(r, c.topic, c.code, c.partitions...)
			}))
			b.Topic = "one"
			kept, err := open(t, b).Publish(t.Context(), brokertest.Messages(1, 3, 1))
			if kept != c.kept || (kept == 3) != (err == nil) {
				t.Errorf("kept %d, %v", kept, err)
			}
		})
	}
}

func produced(r kmsg.Request, name string, code int16, partitions ...int32) kmsg.Response {
	answer, topic := r.ResponseKind().(*kmsg.ProduceResponse), kmsg.NewProduceResponseTopic()
	topic.Topic = name
	for _, p := range partitions {
		partition := kmsg.NewProduceResponseTopicPartition()
		partition.Partition, partition.ErrorCode = p, code
		topic.Partitions = append(topic.Partitions, partition)
	}
	answer.Topics = append(answer.Topics, topic)
	return answer
}

// An answer that is larger than any that is needed isn't read.
func TestKafkaLargeAnswer(t *testing.T) {
	s := &brokertest.Scripted{Says: append([]byte{0, 9, 0, 4, 0, 0, 0, 1}, make([]byte, 9<<16)...)}
	b := stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}
	kept, err := kafka.Open(b, s.Dial, &tls.Config{}).Publish(t.Context(), brokertest.Messages(1, 3, 1))
	brokertest.RefusedAs(t, b, kept, err, "doesn’t answer as Kafka does")
	if len(s.Says) < 8<<16 {
		t.Errorf("%d bytes are left", len(s.Says))
	}
}

// metadata names brokers from port first on, of which each leads a partition of the topic.
func metadata(r kmsg.Request, host string, first, count int32) kmsg.Response {
	answer := r.ResponseKind().(*kmsg.MetadataResponse)
	for _, asked := range r.(*kmsg.MetadataRequest).Topics {
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic = asked.Topic
		for n := range count {
			partition := kmsg.NewMetadataResponseTopicPartition()
			partition.Partition, partition.Leader = n, n
			topic.Partitions = append(topic.Partitions, partition)
		}
		answer.Topics = append(answer.Topics, topic)
	}
	for n := range count {
		named := kmsg.NewMetadataResponseBroker()
		named.NodeID, named.Host, named.Port = n, host, first+n
		answer.Brokers = append(answer.Brokers, named)
	}
	return answer
}

// Brokers that a broker names are connected to by the same way, which refuses what the
// rules for addresses forbid.
func TestKafkaBrokersThatABrokerNames(t *testing.T) {
	b := kafkaBroker(answering(t, kmsg.Metadata, func(r kmsg.Request) kmsg.Response { return metadata(r, "169.254.169.254", 80, 1) }))
	b.Topic = "one"
	var refused atomic.Int64
	p := kafka.Open(b, func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == b.Hosts[0] {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		if address != "169.254.169.254:80" {
			t.Errorf("dialed %s", address)
		}
		refused.Add(1)
		return nil, &target.BlockedAddressError{Metadata: true}
	}, &tls.Config{})
	defer p.Close()
	kept, err := p.Publish(t.Context(), brokertest.Messages(1, 1, 1))
	var blocked *target.BlockedAddressError
	if kept != 0 || !errors.As(err, &blocked) || refused.Load() == 0 {
		t.Errorf("kept %d, %v", kept, err)
	}
}

// However many brokers one names, a hundred are connected to.
func TestKafkaNamesManyBrokers(t *testing.T) {
	cluster := answering(t, kmsg.Metadata, func(r kmsg.Request) kmsg.Response { return metadata(r, "b.shop.vn", 1, 1000) })
	var answered, dialed atomic.Int64
	cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		answered.Add(1)
		asked := r.(*kmsg.ProduceRequest).Topics[0]
		return produced(r, "one", 0, asked.Partitions[0].Partition), nil, true
	})
	b := kafkaBroker(cluster)
	b.Topic = "one"
	p := kafka.Open(b, func(ctx context.Context, network, _ string) (net.Conn, error) {
		dialed.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, b.Hosts[0])
	}, &tls.Config{})
	defer p.Close()
	kept, err := p.Publish(t.Context(), brokertest.Messages(1, 500, 500))
	if int64(kept) > answered.Load() || err == nil || !strings.Contains(err.Error(), "more than 100 connections") || dialed.Load() != 100 {
		t.Errorf("kept %d of %d, %v, after %d connections", kept, answered.Load(), err, dialed.Load())
	}
}

// A caller that goes while a broker is being reached is the reason, not the connection that
// its going ends. Which of the two ends first is chance, so there are many rounds.
func TestKafkaCallerGoesDuringADial(t *testing.T) {
	b := kafkaBroker(startKafka(t))
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		var dialed atomic.Int64
		p := kafka.Open(b, func(dial context.Context, network, address string) (net.Conn, error) {
			if dialed.Add(1) > 1 {
				cancel()
				<-dial.Done()
			}
			return (&net.Dialer{}).DialContext(dial, network, address)
		}, &tls.Config{})
		if kept, err := p.Publish(ctx, brokertest.Messages(1, 3, 1)); kept != 0 || fmt.Sprint(err) != "publish to Kafka: context canceled" {
			t.Errorf("kept %d, %v", kept, err)
		}
		p.Close()
	}
}
