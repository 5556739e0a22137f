// Package kafka publishes the messages of streams to Kafka.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	"baoco/app"
	"baoco/app/stream"
	"baoco/scheduler/broker"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Open gives a publisher for b. Every connection goes through dial; secure is what TLS
// begins with.
func Open(b stream.Broker, dial broker.Dialer, secure *tls.Config) stream.Publisher {
	return broker.NewPublisher(&client{Way: broker.Way{Broker: b, Dial: dial, Secure: secure}, conns: map[string]*connection{}, maxBatch: largestBatch})
}

// client publishes to Kafka, or to what speaks its protocol, such as Redpanda: a batch
// for each partition, to the broker that leads the partition, which answers when all
// replicas in sync have the batch (acks=all).
//
// Order. A partition is a queue, and the bank account chooses the partition, in the way
// in which Kafka's own producers choose it by a key. A batch is kept as a whole or not
// at all, and the next one of a partition is sent when it is. The key of a record is
// the id of the message: consumers skip repeats by it, and a topic that compacts keeps
// one of them.
//
// Versions of the requests: the highest of Kafka 2.2. They need no question first which
// ones the broker has: Kafka 4 answers them as Kafka 2.2 does, it took away older ones
// only; Redpanda, too.
type client struct {
	broker.Way
	conns    map[string]*connection // by host:port
	leaders  []string               // of the partitions, host:port; nil: not asked yet; "": none now
	maxBatch int                    // in bytes
	signedBy int                    // the mechanism that the broker took, of mechanisms
}

const (
	produceVersion       = 7
	metadataVersion      = 7
	saslHandshakeVersion = 1
	saslVersion          = 1

	// largestBatch is well below what brokers take by default (message.max.bytes, 1 MB).
	largestBatch = 512 << 10
	// acknowledgeIn is how long a broker waits for the replicas: it answers before the
	// silence is too long.
	acknowledgeIn = broker.MaxSilence * 4 / 5
	// maxConnections is how many brokers may lead the partitions of one topic.
	maxConnections = 100
)

func (k *client) Connected() bool { return k.leaders != nil }

func (k *client) Close() {
	for _, c := range k.conns {
		_ = c.Close()
	}
	k.conns, k.leaders = map[string]*connection{}, nil
}

func (k *client) Publish(ctx context.Context, messages []stream.Message, kept []bool) error {
	if k.leaders == nil {
		if err := k.Reach(ctx, k.learn); err != nil {
			return err
		}
	}
	for {
		batches := k.batches(messages, kept)
		if len(batches) == 0 {
			return nil
		}
		if err := k.produce(ctx, messages, kept, batches); err != nil {
			return err
		}
	}
}

// learn asks a broker which ones lead the partitions.
func (k *client) learn(ctx context.Context, host string) error {
	c, err := k.conn(ctx, host)
	if err != nil {
		return err
	}
	defer broker.Bound(ctx, c)()
	request := kmsg.NewPtrMetadataRequest()
	request.Version = metadataVersion
	request.Topics = []kmsg.MetadataRequestTopic{{Topic: &k.Topic}}
	answer, err := c.ask(request)
	if err != nil {
		return unlikeKafka(host, broker.Late(ctx, err, context.DeadlineExceeded))
	}
	metadata := answer.(*kmsg.MetadataResponse)
	if len(metadata.Topics) != 1 {
		return errors.New("the Kafka broker doesn't say what was asked: which brokers lead the topic")
	}
	topic := metadata.Topics[0]
	if err := k.refusal(topic.ErrorCode); err != nil {
		return err
	}
	brokers := map[int32]string{}
	for _, b := range metadata.Brokers {
		brokers[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	leaders := make([]string, len(topic.Partitions))
	for _, p := range topic.Partitions {
		if p.Partition < 0 || int(p.Partition) >= len(leaders) {
			return errors.New("the Kafka broker names partitions that a topic of so many doesn't have")
		}
		leaders[p.Partition] = brokers[p.Leader]
	}
	if len(leaders) == 0 {
		return errors.New("the Kafka broker names no partitions of the topic")
	}
	k.leaders = leaders
	return nil
}

// conn gives the connection to a broker.
func (k *client) conn(ctx context.Context, host string) (*connection, error) {
	if c := k.conns[host]; c != nil {
		return c, nil
	}
	if len(k.conns) == maxConnections {
		return nil, fmt.Errorf("more than %d Kafka brokers lead partitions of the topic", maxConnections)
	}
	c, err := k.connect(ctx, host)
	if err == nil {
		k.conns[host] = c
	}
	return c, err
}

// batches gives for each partition the messages that come next, by their indices.
func (k *client) batches(messages []stream.Message, kept []bool) map[int32][]int {
	batches, sizes := map[int32][]int{}, map[int32]int{}
	for i, m := range messages {
		if kept[i] {
			continue
		}
		p := partitionOf(m.BankAccount, len(k.leaders))
		// Once one doesn't fit, none that comes later does: it isn't overtaken.
		if sizes[p] += broker.Size(m); sizes[p] <= k.maxBatch || len(batches[p]) == 0 {
			batches[p] = append(batches[p], i)
		}
	}
	return batches
}

// produce sends the batches, each to the leader of its partition, and waits for all
// answers. Nothing is sent as long as one of the leaders can't be reached.
func (k *client) produce(ctx context.Context, messages []stream.Message, kept []bool, batches map[int32][]int) (err error) {
	patient, cancel := context.WithTimeout(ctx, broker.MaxSilence)
	defer cancel()
	requests := map[*connection]*kmsg.ProduceRequest{}
	for p, batch := range batches {
		if k.leaders[p] == "" {
			return k.refusal(kerr.LeaderNotAvailable.Code)
		}
		c, err := k.conn(patient, k.leaders[p])
		if err != nil {
			return fmt.Errorf("the broker that leads partition %d: %w", p, err)
		}
		if requests[c] == nil {
			requests[c] = &kmsg.ProduceRequest{
				Version: produceVersion, Acks: -1, TimeoutMillis: int32(acknowledgeIn.Milliseconds()),
				Topics: []kmsg.ProduceRequestTopic{{Topic: k.Topic}},
			}
		}
		topic := &requests[c].Topics[0]
		topic.Partitions = append(topic.Partitions, kmsg.ProduceRequestTopicPartition{Partition: p, Records: recordBatch(messages, batch, time.Now())})
	}
	for c, request := range requests {
		defer broker.Bound(patient, c)()
		err = errors.Join(err, c.write(request))
	}
	for c, request := range requests {
		err = errors.Join(err, k.produced(c, request, kept, batches))
	}
	return broker.Late(ctx, err, broker.ErrSilent)
}

// produced reads the answer to a request, and notes what was kept.
func (k *client) produced(c *connection, request *kmsg.ProduceRequest, kept []bool, batches map[int32][]int) error {
	answer, err := c.read(request)
	if err != nil {
		return err
	}
	open := map[int32]int{} // partitions without an answer yet, and the sizes of their batches
	for _, p := range request.Topics[0].Partitions {
		open[p.Partition] = len(p.Records)
	}
	for _, topic := range answer.(*kmsg.ProduceResponse).Topics {
		for _, p := range topic.Partitions {
			size, asked := open[p.Partition]
			if topic.Topic != k.Topic || !asked {
				return errors.New("the Kafka broker acknowledges what wasn't sent")
			}
			delete(open, p.Partition)
			batch := batches[p.Partition]
			switch {
			case p.ErrorCode == 0:
				for _, i := range batch {
					kept[i] = true
				}
			case p.ErrorCode == kerr.MessageTooLarge.Code && len(batch) > 1:
				k.maxBatch = min(k.maxBatch, size) / 2
			default:
				err = errors.Join(err, k.refusal(p.ErrorCode))
			}
		}
	}
	if len(open) > 0 {
		err = errors.Join(err, errors.New("the Kafka broker doesn't acknowledge all that was sent"))
	}
	return err
}

// refusal says for people what an error code means; nil: none.
func (k *client) refusal(code int16) error {
	problem := kerr.TypedErrorForCode(code)
	switch problem {
	case nil:
		return nil
	case kerr.UnknownTopicOrPartition:
		return &stream.BrokerError{Text: app.Textf(
			"Kafka has no topic %[1]s. Create it, and let the user of this stream write to it.",
			"Kafka không có topic %[1]s. Hãy tạo topic và cho tài khoản của luồng này quyền ghi.", k.Topic)}
	case kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed:
		return &stream.BrokerError{Text: app.Textf(
			"The Kafka user of this stream may not write to the topic %[1]s (%[2]s).",
			"Tài khoản Kafka của luồng này chưa được quyền ghi vào topic %[1]s (%[2]s).", k.Topic, problem.Message)}
	case kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return broker.TooLarge(problem.Message + ", max.message.bytes")
	}
	return &stream.BrokerError{Text: app.Textf(
		"Kafka doesn’t take the messages: %[1]s. %[2]s",
		"Kafka không nhận tin: %[1]s. %[2]s", problem.Message, problem.Description)}
}

// unlikeKafka says what it may mean that a host doesn't answer as Kafka does.
func unlikeKafka(host string, err error) error {
	if err == nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, errAnswerSize) {
		return err
	}
	return &stream.BrokerError{Text: app.Textf(
		"%[1]s doesn’t answer as Kafka does. It may want TLS (kafka+tls://), or a user name and password, or its version is older than 2.2.",
		"%[1]s không trả lời như Kafka. Có thể máy chủ yêu cầu TLS (kafka+tls://), hoặc tên đăng nhập và mật khẩu, hoặc phiên bản cũ hơn 2.2.", host)}
}
