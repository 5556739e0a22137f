package broker_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"baoco/app"
	"baoco/scheduler/broker"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// scripted is a connection to a broker that says what it says whatever it hears. In
// what a server of NATS says, @ stands for the inbox of its client.
type scripted struct {
	says  []byte
	heard strings.Builder
}

var inbox = regexp.MustCompile(`SUB (_INBOX\.\w+\.)\* 1`)

func (s *scripted) Read(b []byte) (int, error) {
	if len(s.says) == 0 {
		return 0, io.EOF
	}
	// Line by line: what follows may depend on what it will hear.
	line := len(s.says)
	if end := bytes.IndexByte(s.says, '\n'); end >= 0 {
		line = end + 1
	}
	n := copy(b, s.says[:line])
	s.says = s.says[n:]
	return n, nil
}

func (s *scripted) Write(b []byte) (int, error) {
	if found := inbox.FindSubmatch(b); found != nil {
		s.says = bytes.ReplaceAll(s.says, []byte("@"), found[1])
	}
	return s.heard.Write(b)
}

func (s *scripted) Close() error                     { return nil }
func (s *scripted) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// dials gives s for every address.
func (s *scripted) dial(context.Context, string, string) (net.Conn, error) { return s, nil }

const natsHello = `INFO {"headers":true,"max_payload":1048576}` + "\r\nPONG\r\n"

// FuzzNATS publishes to a server that says anything.
func FuzzNATS(f *testing.F) {
	for _, seed := range []string{
		"", "PING\r\n", "INFO {}\r\nPONG\r\n", "INFO [\r\n", "-ERR 'no'\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
		natsHello + "MSG @0 1 25\r\n" + `{"stream":"S", "seq": 1 }` + "\r\nMSG @1 1 23\r\n" + `{"stream":"S", "seq":2}` + "\r\nMSG @2 1 23\r\n" + `{"stream":"S", "seq":3}` + "\r\n",
		natsHello + "MSG @0 1 0\r\n\r\nMSG @1 1 43\r\n" + `{"stream":"S","seq":2,"batch":"x","count":3}` + "\r\n",
		natsHello + "HMSG @0 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n",
		natsHello + "MSG @0 1 99999999999999999999\r\n", natsHello + "MSG @0 1 9223372036854775807\r\n", natsHello + "MSG @0 1 -1\r\n",
		natsHello + "HMSG @0 1 16 2\r\n", natsHello + "HMSG @0 1 -5 2\r\nab\r\n", natsHello + "HMSG @0 1 16 2\r\nab\r\n", natsHello + "MSG\r\n", natsHello + "HMSG a\r\n",
		natsHello + "MSG @0 1 2\r\nabcd\r\n", natsHello + "MSG @7 1 2\r\n{}\r\n", natsHello + "MSG @0 1 2\r\n{}\r\nMSG @1 1 4\r\nnull\r\n",
		natsHello + "MSG other 1 2\r\n{}\r\n", natsHello + "-ERR 'Authorization Violation'\r\n", natsHello + strings.Repeat("PING\r\n", 50) + strings.Repeat("x", 70_000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, says []byte) {
		s := &scripted{says: says}
		p := broker.Open(app.Broker{Kind: app.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"}, s.dial, &tls.Config{})
		kept, err := p.Publish(t.Context(), messages(1, 3, 1))
		if kept > bytes.Count(says, []byte("seq")) || (kept == 3) != (err == nil) {
			t.Errorf("kept %d, %v", kept, err)
		}
	})
}

// msg is what a server of NATS sends to a reply subject.
func msg(number int, body string) string {
	return fmt.Sprintf("MSG @%d 1 %d\r\n%s\r\n", number, len(body), body)
}

const (
	natsKeeps = `{"stream":"S","seq":7}`
	natsFull  = `{"stream":"S","error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}`
	noBatches = `{"stream":"S","error":{"code":400,"err_code":10174,"description":"atomic publish is disabled"}}`
)

// Only what is certainly an acknowledgement counts as one. Of one bank account only one
// message is on its way.
func TestNATSAnswers(t *testing.T) {
	for _, c := range []struct {
		name, says   string
		kept, asked  int
		count, banks int
	}{
		{"kept", msg(0, natsKeeps), 1, 1, 1, 1},
		{"no stream", msg(0, `{"seq":7}`), 0, 1, 1, 1},
		{"no number", msg(0, `{"stream":"S"}`), 0, 1, 1, 1},
		{"an older answer", msg(7, natsKeeps), 0, 1, 1, 1},
		{"another subject", strings.Replace(msg(0, natsKeeps), "@", "other.", 1), 0, 1, 1, 1},
		{"part of a batch where none was begun", msg(0, ""), 0, 1, 1, 1},
		{"batch without its id", msg(0, "") + msg(1, natsKeeps), 0, 4, 3, 1},
		{"batch with another id", msg(0, "") + msg(1, `{"stream":"S","seq":7,"batch":"x","count":3}`), 0, 4, 3, 1},
		{"no batches", msg(0, noBatches) + msg(1, natsKeeps) + msg(2, natsKeeps) + msg(3, natsKeeps), 3, 4, 3, 1},
		{"an answer twice", msg(0, noBatches) + msg(0, natsKeeps) + msg(1, natsKeeps) + msg(1, natsKeeps), 1, 3, 3, 1},
		{"the first is lost", msg(0, noBatches) + msg(2, natsKeeps), 0, 2, 3, 1},
		{"the second is refused", msg(0, noBatches) + msg(2, natsFull) + msg(1, natsKeeps), 1, 3, 6, 2},
		{"the first is refused", msg(0, noBatches) + msg(1, natsFull) + msg(2, natsKeeps), 0, 3, 6, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scripted{says: []byte(natsHello + c.says)}
			p := broker.Open(app.Broker{Kind: app.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments"}, s.dial, &tls.Config{})
			kept, err := p.Publish(t.Context(), messages(1, c.count, c.banks))
			if kept != c.kept || (kept == c.count) != (err == nil) {
				t.Errorf("kept %d, %v", kept, err)
			}
			if asked := strings.Count(s.heard.String(), "HPUB shop.payments "); asked != c.asked {
				t.Errorf("asked %d times: %.3000s", asked, s.heard.String())
			}
		})
	}
}

// A password of a broker with TLS is never sent without it.
func TestNATSPasswordNeedsTLS(t *testing.T) {
	for says, want := range map[string]string{
		natsHello: "has no TLS",
		`INFO {"headers":true,"tls_available":true}` + "\r\nPONG\r\n": "No TLS connection",
		`INFO {"headers":true,"tls_required":true}` + "\r\nPING\r\n":  "No TLS connection",
	} {
		s := &scripted{says: []byte(says)}
		p := broker.Open(app.Broker{Kind: app.NATS, TLS: true, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments", Username: "shop", Password: "s3cret"}, s.dial, &tls.Config{})
		kept, err := p.Publish(t.Context(), messages(1, 1, 1))
		refusedAs(t, app.Broker{Password: "s3cret"}, kept, err, want)
		if heard := s.heard.String(); strings.Contains(heard, "CONNECT") || strings.Contains(heard, "s3cret") {
			t.Errorf("%s: sent %q", says, heard)
		}
	}
}

// Servers that a server names are not connected to: the shop names those.
func TestNATSGoesWhereTheShopSays(t *testing.T) {
	var dialed []string
	p := broker.Open(app.Broker{Kind: app.NATS, Hosts: []string{"a.shop.vn:4222", "b.shop.vn:4222"}, Topic: "shop.payments"}, func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		return &scripted{says: []byte(`INFO {"headers":true,"connect_urls":["169.254.169.254:80"],"ldm":true}` + "\r\nPONG\r\n")}, nil
	}, &tls.Config{})
	for range 3 {
		if kept, err := p.Publish(t.Context(), messages(1, 1, 1)); kept != 0 || err == nil {
			t.Errorf("kept %d, %v", kept, err)
		}
	}
	if got := strings.Join(dialed, " "); got != "a.shop.vn:4222 b.shop.vn:4222 a.shop.vn:4222" {
		t.Errorf("dialed %s", got)
	}
}

// A server that repeats the password can't bring it into an error.
func TestPasswordsAreNotQuoted(t *testing.T) {
	s := &scripted{says: []byte(`INFO {"headers":true}` + "\r\n-ERR 's3cret-s3cret, says shop'\r\n")}
	p := broker.Open(app.Broker{Kind: app.NATS, Hosts: []string{"nats.shop.vn:4222"}, Topic: "shop.payments", Username: "shop", Password: "s3cret-s3cret"}, s.dial, &tls.Config{})
	_, err := p.Publish(t.Context(), messages(1, 1, 1))
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "says shop") {
		t.Errorf("%v", err)
	}
}

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
		{"another topic", answers(topicOf(host, 9092, 0), produced("other", 0, 0)), 0},
		{"another partition", answers(topicOf(host, 9092, 0), produced("payments", 0, 1)), 0},
		{"no partition", answers(topicOf(host, 9092, 0), produced("payments", 0), produced("payments", 0, 0)), 0},
		{"another request", answers(topicOf(host, 9092, 0), nil, produced("payments", 0, 0)), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scripted{says: c.says}
			kept, err := broker.Open(app.Broker{Kind: app.Kafka, Hosts: []string{host + ":9092"}, Topic: "payments"}, s.dial, &tls.Config{}).Publish(t.Context(), messages(1, 3, 1))
			if kept != c.kept || (kept == 3) != (err == nil) {
				t.Errorf("kept %d, %v", kept, err)
			}
		})
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
		s := &scripted{says: says}
		b := app.Broker{Kind: app.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}
		if signIn {
			b.Username, b.Password = "shop", "s3cret"
		}
		kept, err := broker.Open(b, s.dial, &tls.Config{}).Publish(t.Context(), messages(1, 3, 1))
		if kept != 0 && kept != 3 || (kept == 3) != (err == nil) || signIn && kept > 0 {
			t.Errorf("kept %d, %v", kept, err)
		}
	})
}

// Brokers that a broker names are connected to by the same way, which refuses what the
// rules for addresses forbid.
func TestKafkaBrokersThatABrokerNames(t *testing.T) {
	var dialed []string
	p := broker.Open(app.Broker{Kind: app.Kafka, Hosts: []string{"k.shop.vn:9092"}, Topic: "payments"}, func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		if address == "k.shop.vn:9092" {
			return &scripted{says: answers(topicOf("169.254.169.254", 80, 0))}, nil
		}
		return nil, &app.BlockedAddressError{Metadata: true}
	}, &tls.Config{})
	kept, err := p.Publish(t.Context(), messages(1, 1, 1))
	var blocked *app.BlockedAddressError
	if kept != 0 || !errors.As(err, &blocked) {
		t.Errorf("kept %d, %v", kept, err)
	}
	if got := strings.Join(dialed, " "); got != "k.shop.vn:9092 169.254.169.254:80" {
		t.Errorf("dialed %s", got)
	}
}
