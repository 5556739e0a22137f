package kafka

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	"baoco/app"
	"baoco/app/stream"
	"baoco/scheduler/broker"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// maxAnswer is enough for the leaders of some thousand partitions.
const maxAnswer = 512 << 10

// connection is a connection to a broker of Kafka. One request at a time is answered.
type connection struct {
	net.Conn
	in    *bufio.Reader
	asked int32 // requests
}

var (
	requestFormat = kmsg.NewRequestFormatter(kmsg.FormatterClientID("baoco"))
	errAnswerSize = fmt.Errorf("the answer of the Kafka broker has an impossible size, or more than %d bytes", maxAnswer)
)

func (c *connection) write(request kmsg.Request) error {
	c.asked++
	_, err := c.Write(requestFormat.AppendRequest(nil, request, c.asked))
	return err
}

// read reads the answer to a request: its size, the number of the request, what it says.
func (c *connection) read(request kmsg.Request) (kmsg.Response, error) {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, fmt.Errorf("read from Kafka: %w", err)
	}
	size := int32(binary.BigEndian.Uint32(head[:4])) - 4
	if size < 0 || size > maxAnswer {
		return nil, errAnswerSize
	}
	if int32(binary.BigEndian.Uint32(head[4:])) != c.asked {
		return nil, errors.New("the Kafka broker answers another request than the last")
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, fmt.Errorf("read from Kafka: %w", err)
	}
	answer := request.ResponseKind()
	if err := answer.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("read the answer of the Kafka broker: %w", err)
	}
	return answer, nil
}

func (c *connection) ask(request kmsg.Request) (kmsg.Response, error) {
	if err := c.write(request); err != nil {
		return nil, err
	}
	return c.read(request)
}

// mechanisms are the ways to sign in, the strongest first. A broker may offer one
// for which it doesn't know the user, so each is tried.
var mechanisms = []string{"SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"}

// connect opens a connection and signs in.
func (k *client) connect(ctx context.Context, host string) (*connection, error) {
	var refusals []string
	for i := k.signedBy; i < len(mechanisms); i++ {
		if mechanisms[i] == "PLAIN" && !k.TLS {
			break // it would send the password as it is
		}
		c, err := k.dialBroker(ctx, host)
		if err != nil {
			return nil, err
		}
		said, err := k.signIn(ctx, c, mechanisms[i])
		if err == nil && said == "" {
			k.signedBy = i
			return c, nil
		}
		_ = c.Close()
		if err != nil {
			return nil, unlikeKafka(host, broker.Late(ctx, err, context.DeadlineExceeded))
		}
		refusals = append(refusals, mechanisms[i]+": "+said)
	}
	k.signedBy = 0
	return nil, k.RefusedSignIn(strings.Join(refusals, "; "))
}

func (k *client) dialBroker(ctx context.Context, host string) (*connection, error) {
	conn, err := k.Dial(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	if k.TLS {
		secure, err := k.Handshake(ctx, conn, host)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		conn = secure
	}
	return &connection{Conn: conn, in: bufio.NewReader(conn)}, nil
}

// signIn returns what the broker says where it refuses; empty: it doesn't.
func (k *client) signIn(ctx context.Context, c *connection, mechanism string) (refused string, _ error) {
	if k.Username == "" {
		return "", nil
	}
	defer broker.Bound(ctx, c)()
	handshake := &kmsg.SASLHandshakeRequest{Version: saslHandshakeVersion, Mechanism: mechanism}
	answer, err := c.ask(handshake)
	if err != nil {
		return "", err
	}
	offered := answer.(*kmsg.SASLHandshakeResponse)
	if err := kerr.ErrorForCode(offered.ErrorCode); err != nil {
		return fmt.Sprintf("%v %q", err, offered.SupportedMechanisms), nil
	}
	said, next, err := k.proof(ctx, mechanism)
	if err != nil {
		return "", err
	}
	for {
		answer, err := c.ask(&kmsg.SASLAuthenticateRequest{Version: saslVersion, SASLAuthBytes: said})
		if err != nil {
			return "", err
		}
		heard := answer.(*kmsg.SASLAuthenticateResponse)
		if err := kerr.ErrorForCode(heard.ErrorCode); err != nil {
			refused := err.Error()
			if heard.ErrorMessage != nil {
				refused += " " + *heard.ErrorMessage
			}
			return refused, nil
		}
		done, more, err := next(heard.SASLAuthBytes)
		if err != nil {
			return "", &stream.BrokerError{Text: app.Textf(
				"Kafka doesn’t prove that it knows the password: %[1]s",
				"Kafka không chứng minh được là biết mật khẩu: %[1]s", k.Quote(err.Error()))}
		}
		if done {
			return "", nil
		}
		said = more
	}
}

// iterations is how often a broker wants the password to be hashed: 16,384 times at most
// in Kafka. A million would take a second of the processor, in each attempt.
var iterations = regexp.MustCompile(`(?:^|,)i=0*([0-9]+)`)

const mostDigits = 5

// proof begins to prove who the user is: the first words, and what follows from each
// answer.
func (k *client) proof(ctx context.Context, mechanism string) (first []byte, next func([]byte) (done bool, said []byte, err error), _ error) {
	auth := scram.Auth{User: k.Username, Pass: k.Password}
	way := auth.AsSha512Mechanism()
	switch mechanism {
	case "PLAIN":
		return []byte("\x00" + k.Username + "\x00" + k.Password), func([]byte) (bool, []byte, error) { return true, nil, nil }, nil
	case "SCRAM-SHA-256":
		way = auth.AsSha256Mechanism()
	}
	session, first, err := way.Authenticate(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	return first, func(heard []byte) (bool, []byte, error) {
		if n := iterations.FindSubmatch(heard); n != nil && len(n[1]) > mostDigits {
			return false, nil, fmt.Errorf("it wants the password to be hashed %s times", n[1])
		}
		return session.Challenge(heard)
	}, nil
}
