package kafka_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
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
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// mechanisms notes how a client wants to sign in, on each of its connections, and lets refuse answer for the cluster.
func mechanisms(cluster *kfake.Cluster, refuse func(mechanism string, request kmsg.Request) kmsg.Response) *[]string {
	var wanted []string
	cluster.Control(func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if hello, is := request.(*kmsg.SASLHandshakeRequest); is && (len(wanted) == 0 || wanted[len(wanted)-1] != hello.Mechanism) {
			wanted = append(wanted, hello.Mechanism)
		}
		if len(wanted) == 0 {
			return nil, nil, false
		}
		answer := refuse(wanted[len(wanted)-1], request)
		return answer, nil, answer != nil
	})
	return &wanted
}

func TestKafkaSignIn(t *testing.T) {
	own, trusting := brokertest.Certificate(t)
	nobody := func(string, kmsg.Request) kmsg.Response { return nil }
	lacking := func(lacks ...string) func(string, kmsg.Request) kmsg.Response { // as a broker that doesn't offer some
		return func(mechanism string, request kmsg.Request) kmsg.Response {
			if _, is := request.(*kmsg.SASLHandshakeRequest); is && strings.Contains(strings.Join(lacks, " "), mechanism) {
				answer := request.ResponseKind().(*kmsg.SASLHandshakeResponse)
				answer.ErrorCode, answer.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, []string{"GSSAPI"}
				return answer
			}
			return nil
		}
	}
	unknown := func(unknown ...string) func(string, kmsg.Request) kmsg.Response { // as a broker that doesn't know the user by some
		return func(mechanism string, request kmsg.Request) kmsg.Response {
			if _, is := request.(*kmsg.SASLAuthenticateRequest); is && strings.Contains(strings.Join(unknown, " "), mechanism) {
				said := "Authentication failed"
				answer := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
				answer.ErrorCode, answer.ErrorMessage = kerr.SaslAuthenticationFailed.Code, &said
				return answer
			}
			return nil
		}
	}
	for _, c := range []struct {
		name, mechanism string
		tls             bool
		refuse          func(string, kmsg.Request) kmsg.Response
		tried, want     string // want: the error; empty: none
	}{
		{"the strongest", "SCRAM-SHA-512", false, nobody, "SCRAM-SHA-512", ""},
		{"the strongest over TLS", "SCRAM-SHA-512", true, nobody, "SCRAM-SHA-512", ""},
		{"no 512", "SCRAM-SHA-256", false, lacking("SCRAM-SHA-512"), "SCRAM-SHA-512 SCRAM-SHA-256", ""},
		{"user not known by 512", "SCRAM-SHA-256", false, unknown("SCRAM-SHA-512"), "SCRAM-SHA-512 SCRAM-SHA-256", ""},
		{"plain over TLS", "PLAIN", true, lacking("SCRAM-SHA-512", "SCRAM-SHA-256"), "SCRAM-SHA-512 SCRAM-SHA-256 PLAIN", ""},
		{"plain without TLS", "PLAIN", false, lacking("SCRAM-SHA-512", "SCRAM-SHA-256"), "SCRAM-SHA-512 SCRAM-SHA-256",
			"refuses the user name and password"},
		{"wrong password", "SCRAM-SHA-512", false, unknown("SCRAM-SHA-512", "SCRAM-SHA-256"), "SCRAM-SHA-512 SCRAM-SHA-256",
			"Authentication failed"},
		{"a broker that repeats the password", "SCRAM-SHA-512", false, func(_ string, request kmsg.Request) kmsg.Response {
			if _, is := request.(*kmsg.SASLAuthenticateRequest); is {
				said := "no user has s3cret,s3cret="
				answer := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
				answer.ErrorCode, answer.ErrorMessage = kerr.IllegalSaslState.Code, &said
				return answer
			}
			return nil
		}, "SCRAM-SHA-512 SCRAM-SHA-256", "no user has …"},
		{"a broker that doesn't know the password", "SCRAM-SHA-512", false, func(_ string, request kmsg.Request) kmsg.Response {
			if said, is := request.(*kmsg.SASLAuthenticateRequest); is && bytes.HasPrefix(said.SASLAuthBytes, []byte("c=")) {
				answer := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
				answer.SASLAuthBytes = []byte("v=AAAA")
				return answer
			}
			return nil
		}, "SCRAM-SHA-512", "doesn’t prove that it knows the password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := []kfake.Opt{kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser(c.mechanism, "shop", "s3cret,s3cret=")}
			if c.tls {
				options = append(options, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own}}))
			}
			cluster := startKafka(t, options...)
			refuse := c.refuse
			wanted := mechanisms(cluster, func(mechanism string, request kmsg.Request) kmsg.Response { return refuse(mechanism, request) })
			b := kafkaBroker(cluster)
			b.TLS, b.Username, b.Password = c.tls, "shop", "s3cret,s3cret="
			p := kafka.Open(b, (&net.Dialer{}).DialContext, trusting)
			defer p.Close()
			kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1))
			if c.want != "" {
				brokertest.RefusedAs(t, b, kept, err, c.want)
			} else if kept != 3 || err != nil {
				t.Errorf("kept %d, %v", kept, err)
			}
			if tried := strings.Join(*wanted, " "); tried != c.tried {
				t.Errorf("tried %s", tried)
			}
			if p.Close(); c.want == "" { // what succeeded is tried first the next time
				*wanted = nil
				kept, err := p.Publish(t.Context(), brokertest.Messages(4, 3, 1))
				if kept != 3 || err != nil || strings.Join(*wanted, " ") != c.mechanism {
					t.Errorf("again: kept %d, %v, tried %s", kept, err, *wanted)
				}
				refuse = unknown("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
				for range 2 { // once it is refused, all are tried again
					p.Close()
					*wanted = nil
					kept, err := p.Publish(t.Context(), brokertest.Messages(7, 3, 1))
					brokertest.RefusedAs(t, b, kept, err, "Authentication failed")
				}
				if len(*wanted) == 0 || (*wanted)[0] != "SCRAM-SHA-512" {
					t.Errorf("after it was refused: tried %s", *wanted)
				}
			}
		})
	}
}

func TestKafkaProblems(t *testing.T) {
	own, _ := brokertest.Certificate(t)
	overTLS := kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own}})
	reader := kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: "payments", Pattern: kmsg.ACLResourcePatternTypeLiteral,
		Operation: kmsg.ACLOperationDescribe, Allow: true}
	for _, c := range []struct {
		name    string
		options []kfake.Opt
		change  func(b *stream.Broker)
		want    string
	}{
		{"no topic", nil, func(b *stream.Broker) { b.Topic = "other" }, "Kafka has no topic other"},
		{"may not write", []kfake.Opt{kfake.EnableSASL(), kfake.EnableACLs(), kfake.User("SCRAM-SHA-512", "shop", "s3cret-s3cret", reader)},
			func(b *stream.Broker) { b.Username, b.Password = "shop", "s3cret-s3cret" }, "may not write to the topic payments"},
		{"wants a user", []kfake.Opt{kfake.EnableSASL()}, func(*stream.Broker) {}, "may want TLS (kafka+tls://), or a user name"},
		{"wants TLS", []kfake.Opt{overTLS}, func(*stream.Broker) {}, "may want TLS (kafka+tls://)"},
		{"wants TLS and a user", []kfake.Opt{overTLS, kfake.EnableSASL()},
			func(b *stream.Broker) { b.Username, b.Password = "shop", "s3cret-s3cret" }, "may want TLS (kafka+tls://)"},
		{"unknown authority", []kfake.Opt{overTLS}, func(b *stream.Broker) { b.TLS = true }, "certificate signed by unknown authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := kafkaBroker(startKafka(t, c.options...))
			c.change(&b)
			p := open(t, b)
			for range 2 {
				kept, err := p.Publish(t.Context(), brokertest.Messages(1, 3, 1))
				brokertest.RefusedAs(t, b, kept, err, c.want)
			}
		})
	}
}

// A broker that ends the connection in the middle, and one that never answers, are told
// from one that can't be reached. Nothing counts as kept, and nobody waits for them longer
// than the context says.
func TestKafkaWithoutAnswer(t *testing.T) {
	for _, c := range []struct {
		name, want string
		to         kmsg.Key
		answer     error
	}{
		{"ends", "the connection to Kafka ended", kmsg.Produce, errors.New("the connection ends")},
		{"is silent", "context deadline exceeded", kmsg.Produce, nil},
		{"names no leaders", "context deadline exceeded", kmsg.Metadata, nil},
		{"names no producer", "context deadline exceeded", kmsg.InitProducerID, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := startKafka(t)
			cluster.ControlKey(int16(c.to), func(r kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				metadata, is := r.(*kmsg.MetadataRequest)
				return nil, c.answer, !is || len(metadata.Topics) > 0
			})
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			kept, err := open(t, kafkaBroker(cluster)).Publish(ctx, brokertest.Messages(1, 3, 1))
			if kept != 0 || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("kept %d, %v", kept, err)
			}
		})
	}
}

// A batch that a topic finds too large is split; a message that is too large alone is
// refused, after those before it are kept.
func TestKafkaTooLarge(t *testing.T) {
	cluster := startKafka(t)
	apptest.Must(t, cluster.CreateTopic("small", 1, map[string]string{"max.message.bytes": "2000"}))
	b := kafkaBroker(cluster)
	b.Topic = "small"
	sent := brokertest.Messages(1, 50, 1)
	sent[40].Body = bytes.Repeat([]byte("x"), 3000)
	kept, err := open(t, b).Publish(t.Context(), sent)
	brokertest.RefusedAs(t, b, kept-40, err, "too large")
	if end := cluster.PartitionInfo("small", 0).HighWatermark; end != 40 {
		t.Errorf("%d messages are kept", end)
	}
}

// What is kept is not sent again because a message before it isn't.
func TestKafkaPartitionFails(t *testing.T) {
	cluster := startKafka(t)
	failing := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "payments", Partitions: []int32{2},
		Err: kerr.NotEnoughReplicas, Count: -1})
	p, sent := open(t, kafkaBroker(cluster)), brokertest.Messages(1, 500, 40)
	for range 5 {
		kept, err := p.Publish(t.Context(), sent)
		brokertest.RefusedAs(t, stream.Broker{}, 0, err, "NOT_ENOUGH_REPLICAS")
		sent = sent[kept:]
	}
	failing.Remove()
	if kept, err := p.Publish(t.Context(), sent); kept != len(sent) || err != nil {
		t.Errorf("kept %d of %d, %v", kept, len(sent), err)
	}
	if repeats := brokertest.InOrder(t, consumed(t, cluster, 40, 500), 40, 500); repeats > 0 {
		t.Errorf("%d repeats", repeats)
	}
}

// The records are what other clients read, over TLS too.
func TestKafkaOverTLS(t *testing.T) {
	own, trusting := brokertest.Certificate(t)
	cluster := startKafka(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own}}), kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-512", "shop", "s3cret"))
	b := kafkaBroker(cluster)
	b.TLS, b.Username, b.Password = true, "shop", "s3cret"
	p := kafka.Open(b, (&net.Dialer{}).DialContext, trusting)
	defer p.Close()
	brokertest.PublishAll(t, p, 2000, 5, func(int) {})
	auth := scram.Auth{User: "shop", Pass: "s3cret"}
	if repeats := brokertest.InOrder(t, consumed(t, cluster, 5, 2000, kgo.DialTLSConfig(trusting), kgo.SASL(auth.AsSha512Mechanism())), 5,
		2000); repeats > 0 {
		t.Errorf("%d repeats", repeats)
	}
}

// Hosts that are away are passed over, also where only one of them answers.
func TestHostsThatAreAway(t *testing.T) {
	cluster := startKafka(t)
	b := kafkaBroker(cluster)
	b.Hosts = append([]string{apptest.FreeAddress(t), apptest.FreeAddress(t)}, b.Hosts[2])
	if kept, err := open(t, b).Publish(t.Context(), brokertest.Messages(1, 100, 7)); kept != 100 || err != nil {
		t.Errorf("kept %d, %v", kept, err)
	}
	b.Hosts = b.Hosts[:2]
	if kept, err := open(t, b).Publish(t.Context(), brokertest.Messages(1, 100, 7)); kept != 0 ||
		!strings.Contains(fmt.Sprint(err), "refused") {
		t.Errorf("kept %d, %v", kept, err)
	}
}
