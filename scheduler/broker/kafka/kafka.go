// Package kafka publishes the messages of streams to Kafka, with the client of franz-go.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"baoco/app"
	"baoco/app/stream"
	"baoco/scheduler/broker"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Open returns a publisher for b. Every connection goes through dial; secure is what TLS
// begins with.
func Open(b stream.Broker, dial broker.Dialer, secure *tls.Config) stream.Publisher {
	return broker.NewPublisher(&client{Way: broker.Way{Broker: b, Dial: dial, Secure: secure}, most: stream.MaxBatch})
}

// client publishes to Kafka, or to what speaks its protocol, such as Redpanda. A message
// counts as kept when all replicas in sync have it (acks=all).
//
// Order. A partition is a queue, and the bank account chooses the partition, in the way
// in which Kafka's own producers choose it by a key. The client of franz-go sends the
// batches of a partition one after the other; where one fails, all that wait behind it
// fail. But it would send messages that it is given after that. So it reads no answer
// while it is given messages: see gate. The key of a record is the id of the message:
// consumers skip repeats by it, and a topic that compacts keeps one of them.
//
// Nothing is tried again here: every failure ends the client, and a stream waits before
// its next attempt.
type client struct {
	broker.Way
	kafka    *kgo.Client // nil: not connected
	signedBy int         // the index in mechanisms of the one that the broker took
	// atOnce is how many messages are sent before their answers: most, but one at first.
	// Before kafka knows the partitions, it keeps the messages that it is given, and sends
	// them later.
	atOnce int
	most   int // halved where a batch was too large

	gate      sync.RWMutex          // held while messages are given to kafka
	dials     atomic.Int64          // since the client began
	unreached atomic.Pointer[error] // of the last dial that failed
}

const (
	// maxAnswer is enough for the leaders of some thousand partitions.
	maxAnswer = 512 << 10
	// acknowledgeIn is how long a broker waits for its replicas. It is less than
	// MaxSilence, so that the broker still answers in time.
	acknowledgeIn = broker.MaxSilence * 4 / 5
	// maxDials is how many connections a client opens before it is replaced. It bounds the
	// connections to brokers that a broker names.
	maxDials = 100
)

var errManyBrokers = fmt.Errorf("more than %d connections to Kafka brokers", maxDials)

func (k *client) Connected() bool { return k.kafka != nil }

func (k *client) Close() {
	if k.kafka != nil {
		k.kafka.Close()
		k.kafka = nil
	}
}

func (k *client) Publish(ctx context.Context, messages []stream.Message, kept []bool) error {
	if k.kafka == nil {
		if err := k.Reach(ctx, k.connect); err != nil {
			return err
		}
	}
	for {
		sent, err := k.produce(ctx, messages, kept)
		switch {
		case errors.Is(err, kerr.MessageTooLarge) && sent > 1:
			k.most = sent / 2
			k.atOnce = k.most
		case err != nil:
			return k.problem(err)
		case sent == 0:
			return nil
		default:
			k.atOnce = k.most
		}
	}
}

// options are those of a client that begins at a host. It doesn't create topics.
func (k *client) options(host string) []kgo.Opt {
	list := []kgo.Opt{
		kgo.ClientID("baoco"), kgo.SeedBrokers(host), kgo.Dialer(k.dial), kgo.DisableClientMetrics(), kgo.MetadataMaxAge(time.Hour),
		kgo.BrokerMaxReadBytes(maxAnswer), kgo.FetchMaxBytes(maxAnswer),
		kgo.DefaultProduceTopic(k.Topic), kgo.RecordPartitioner(byBankAccount), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ManualFlushing(), kgo.AllowIdempotentProduceCancellation(), kgo.ProduceRequestTimeout(acknowledgeIn),
		kgo.RecordRetries(0), kgo.UnknownTopicRetries(0),
	}
	if k.Username != "" {
		list = append(list, kgo.SASL(k.mechanism()))
	}
	return list
}

// dial opens a connection to a broker, which another broker may have named.
func (k *client) dial(ctx context.Context, network, host string) (conn net.Conn, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil { // else the client was closed meanwhile
			k.unreached.Store(&err)
		}
		k.gate.RLock()
		defer k.gate.RUnlock()
	}()
	if k.dials.Add(1) > maxDials {
		return nil, errManyBrokers
	}
	patient, cancel := context.WithTimeout(ctx, broker.MaxSilence/2)
	defer cancel()
	if conn, err = k.Dial(patient, network, host); err != nil {
		return nil, err
	}
	if k.TLS {
		secure, err := k.Handshake(patient, conn, host)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		conn = secure
	}
	return gated{conn, &k.gate}, nil
}

// gated is a connection from which no read returns while the gate is held.
type gated struct {
	net.Conn
	gate *sync.RWMutex
}

func (g gated) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	g.gate.RLock()
	defer g.gate.RUnlock()
	return n, err
}

type bankAccount struct{}

// byBankAccount chooses a partition as Kafka's own producers do by a key, but by the bank
// account in the place of the record's key.
var byBankAccount = kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
	byKey := kgo.StickyKeyPartitioner(nil).ForTopic(topic)
	return func(r *kgo.Record, partitions int) int {
		account, _ := r.Context.Value(bankAccount{}).(string)
		return byKey.Partition(&kgo.Record{Key: []byte(account)}, partitions)
	}
})

// produce sends the next messages that aren't kept, and waits for all answers.
func (k *client) produce(ctx context.Context, messages []stream.Message, kept []bool) (sent int, err error) {
	patient, cancel := context.WithTimeout(ctx, broker.MaxSilence)
	defer cancel()
	defer context.AfterFunc(patient, k.kafka.Close)()
	k.unreached.Store(nil)
	var open sync.WaitGroup
	k.gate.Lock()
	for i, m := range messages {
		if kept[i] {
			continue
		}
		if sent == k.atOnce {
			break
		}
		sent++
		r := &kgo.Record{Context: context.WithValue(patient, bankAccount{}, m.BankAccount), Key: []byte(m.ID), Value: m.Body}
		for _, h := range m.Headers {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Name, Value: []byte(h.Value)})
		}
		open.Add(1)
		k.kafka.Produce(patient, r, func(_ *kgo.Record, failed error) { // one at a time
			if kept[i] = failed == nil; err == nil {
				err = failed
			}
			open.Done()
		})
	}
	k.gate.Unlock()
	_ = k.kafka.Flush(patient) // each record reports its own error
	open.Wait()
	switch {
	case err != nil && ctx.Err() != nil:
		return sent, ctx.Err()
	case err != nil && patient.Err() != nil && k.unreached.Load() == nil:
		return sent, broker.ErrSilent
	}
	return sent, err
}

func (k *client) problem(err error) error {
	var problem *kerr.Error
	if !errors.As(err, &problem) {
		if unreached := k.unreached.Load(); unreached != nil {
			return *unreached
		}
		if errors.Is(err, kgo.ErrRecordRetries) {
			return errors.New("the connection to Kafka ended, or another broker leads the topic now")
		}
		return fmt.Errorf("publish to Kafka: %w", err)
	}
	switch problem {
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
