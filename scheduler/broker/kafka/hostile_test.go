package kafka_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"

	"baoco/app/stream"
	"baoco/app/target"
	"baoco/scheduler/broker/brokertest"
	"baoco/scheduler/broker/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// answers are what a Kafka broker answers to a client's requests, in their order. They
// are numbered from 1; nil leaves a number out.
func answers(list ...kmsg.Response) (raw []byte) {
	for i, a := range list {
		if a == nil {
			continue
		}
		body := a.AppendTo(nil)
		raw = binary.BigEndian.AppendUint32(raw, uint32(len(body)+4))
		raw = binary.BigEndian.AppendUint32(raw, uint32(i+1))
		raw = append(raw, body...)
	}
	return raw
}

// topicOf is the answer which brokers lead the partitions of the topic.
func topicOf(host string, port int32, partitions ...int32) kmsg.Response {
	topic := "payments"
	metadata := &kmsg.MetadataResponse{Version: 7, Brokers: []kmsg.MetadataResponseBroker{{NodeID: 5, Host: host, Port: port}}, Topics: []kmsg.MetadataResponseTopic{{Topic: &topic}}}
	for _, p := range partitions {
		metadata.Topics[0].Partitions = append(metadata.Topics[0].Partitions, kmsg.MetadataResponseTopicPartition{Partition: p, Leader: 5})
	}
	return metadata
}

func produced(topic string, code int16, partitions ...int32) kmsg.Response {
	answer := kmsg.ProduceResponseTopic{Topic: topic}
	for _, p := range partitions {
		answer.Partitions = append(answer.Partitions, kmsg.ProduceResponseTopicPartition{Partition: p, ErrorCode: code})
	}
	return &kmsg.ProduceResponse{Version: 7, Topics: []kmsg.ProduceResponseTopic{answer}}
}

// Only what is certainly the acknowledgement of a batch counts as one.
func TestKafkaAnswers(t *testing.T) {
	const host = "k.shop.vn"
	for _, c := range []struct {
		name string
		says []byte
		kept int
	}{
		{"kept", answers(topicOf(host, 9092, 0), produced("payments", 0, 0)), 3},
		{"refused", answers(topicOf(host, 9092, 0), produced("payments", 19, 0)), 0},
		{"refused without a reason", answers(topicOf(host, 9092, 0), produced("payments", -1, 0)), 0},
		{"another topic", answers(topicOf(host, 9092, 0), produced("other", 0, 0)), 0},
		{"another partition", answers(topicOf(host, 9092, 0), produced("payments", 0, 1)), 0},
		{"no partition", answers(topicOf(host, 9092, 0), produced("payments", 0), produced("payments", 0, 0)), 0},
		{"another request", answers(topicOf(host, 9092, 0), nil, produced("payments", 0, 0)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &brokertest.Scripted{Says: c.says}
			kept, err := kafka.Open(stream.Broker{Kind: stream.Kafka, Hosts: []string{host + ":9092"}, Topic: "payments"}, s.Dial, &tls.Config{}).Publish(t.Context(), brokertest.Messages(1, 3, 1))
			if kept != c.kept || (kept == 3) != (err == nil) {
				t.Errorf("kept %d, %v", kept, err)
			}
		})
	}
}

// A broker that wants the password to be hashed a million times would keep the processor
// busy for a second in each attempt.
func TestKafkaHashesWithinReason(t *testing.T) {
	s := &brokertest.Scripted{Says: answers(&kmsg.SASLHandshakeResponse{Version: 1}, &kmsg.SASLAuthenticateResponse{Version: 1, SASLAuthBytes: []byte("r=x,s=eA==,i=1000000")})}
	b := stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments", Username: "shop", Password: "s3cret"}
	kept, err := kafka.Open(b, s.Dial, &tls.Config{}).Publish(t.Context(), brokertest.Messages(1, 3, 1))
	brokertest.RefusedAs(t, b, kept, err, "hashed 1000000 times")
	if !s.Closed {
		t.Error("the connection is still open")
	}
}

// An answer that is larger than any that is needed isn't read.
func TestKafkaLargeAnswer(t *testing.T) {
	s := &brokertest.Scripted{Says: append([]byte{0, 9, 0, 4, 0, 0, 0, 1}, make([]byte, 9<<16)...)}
	b := stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}
	kept, err := kafka.Open(b, s.Dial, &tls.Config{}).Publish(t.Context(), brokertest.Messages(1, 3, 1))
	brokertest.RefusedAs(t, b, kept, err, "doesn’t answer as Kafka does")
}

// As long as a partition has no leader nothing is sent: not to the leaders of others
// either.
func TestKafkaWithoutALeader(t *testing.T) {
	topic := topicOf("k.shop.vn", 9092, 0, 1).(*kmsg.MetadataResponse)
	topic.Topics[0].Partitions[1].Leader = -1
	s := &brokertest.Scripted{Says: answers(topic, produced("payments", 0, 0))}
	b := stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}
	kept, err := kafka.Open(b, s.Dial, &tls.Config{}).Publish(t.Context(), brokertest.Messages(1, 20, 20))
	brokertest.RefusedAs(t, b, kept, err, "LEADER_NOT_AVAILABLE")
	if strings.Contains(s.Heard.String(), "mark_") {
		t.Error("messages were sent")
	}
}

// FuzzKafka publishes to a broker that answers anything.
func FuzzKafka(f *testing.F) {
	handshake, authenticate := &kmsg.SASLHandshakeResponse{Version: 1}, &kmsg.SASLAuthenticateResponse{Version: 1, SASLAuthBytes: []byte("r=x,s=eA==,i=4096")}
	ours := topicOf("k.shop.vn", 9092, 0)
	for _, seed := range [][]byte{
		answers(ours, produced("payments", 0, 0)), answers(ours, produced("payments", 6, 0)), answers(ours, produced("payments", 10, 0)),
		answers(ours, &kmsg.ProduceResponse{Version: 7}), answers(topicOf("", -1, 0)), answers(topicOf("k.shop.vn", 9092)), answers(topicOf("k.shop.vn", 9092, -1)), answers(topicOf("k.shop.vn", 9092, 0, 9)),
		answers(&kmsg.MetadataResponse{Version: 7}), []byte("\x7f\xff\xff\xff\x00\x00\x00\x01"), []byte("\xff\xff\xff\xff\x00\x00\x00\x01"), []byte("\x00\x00\x00\x04\x00\x00\x00\x09"), []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), nil,
	} {
		f.Add(seed, false)
	}
	f.Add(answers(handshake, authenticate), true)
	f.Add(answers(&kmsg.SASLHandshakeResponse{Version: 1, ErrorCode: 33, SupportedMechanisms: []string{"GSSAPI"}}), true)
	f.Fuzz(func(t *testing.T, says []byte, signIn bool) {
		s := &brokertest.Scripted{Says: says}
		b := stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}
		if signIn {
			b.Username, b.Password = "shop", "s3cret"
		}
		kept, err := kafka.Open(b, s.Dial, &tls.Config{}).Publish(t.Context(), brokertest.Messages(1, 3, 1))
		if kept != 0 && kept != 3 || (kept == 3) != (err == nil) || signIn && kept > 0 {
			t.Errorf("kept %d, %v", kept, err)
		}
	})
}

// Brokers that a broker names are connected to by the same way, which refuses what the
// rules for addresses forbid.
func TestKafkaBrokersThatABrokerNames(t *testing.T) {
	var dialed []string
	p := kafka.Open(stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}, func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		if address == "k.shop.vn:9092" {
			return &brokertest.Scripted{Says: answers(topicOf("169.254.169.254", 80, 0))}, nil
		}
		return nil, &target.BlockedAddressError{Metadata: true}
	}, &tls.Config{})
	kept, err := p.Publish(t.Context(), brokertest.Messages(1, 1, 1))
	var blocked *target.BlockedAddressError
	if kept != 0 || !errors.As(err, &blocked) {
		t.Errorf("kept %d, %v", kept, err)
	}
	if got := strings.Join(dialed, " "); got != "k.shop.vn:9092 169.254.169.254:80" {
		t.Errorf("dialed %s", got)
	}
}

// However many brokers one names, a hundred are connected to.
func TestKafkaNamesManyBrokers(t *testing.T) {
	many := topicOf("b.shop.vn", 1, 0).(*kmsg.MetadataResponse)
	many.Brokers, many.Topics[0].Partitions = nil, nil
	for n := range int32(1000) {
		many.Brokers = append(many.Brokers, kmsg.MetadataResponseBroker{NodeID: n, Host: "b.shop.vn", Port: n + 1})
		many.Topics[0].Partitions = append(many.Topics[0].Partitions, kmsg.MetadataResponseTopicPartition{Partition: n, Leader: n})
	}
	dialed := 0
	p := kafka.Open(stream.Broker{Kind: stream.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}, func(context.Context, string, string) (net.Conn, error) {
		dialed++
		return &brokertest.Scripted{Says: answers(many)}, nil
	}, &tls.Config{})
	kept, err := p.Publish(t.Context(), brokertest.Messages(1, 500, 500))
	if kept != 0 || err == nil || !strings.Contains(err.Error(), "more than 100 Kafka brokers") || dialed != 100 {
		t.Errorf("kept %d, %v, after %d connections", kept, err, dialed)
	}
}
