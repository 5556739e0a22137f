// Package broker is what clients of NATS JetStream (package nats) and of Kafka (package
// kafka) have in common: they publish the messages of streams.
//
// A stream needs one attempt that reports its result: connect, sign in, publish, wait for
// the acknowledgements. The client of franz-go does that for Kafka. The client of nats.go
// (1.55) allocates memory for an answer of whatever size a server announces, which may end
// the process. A filter in front of it must read lines and speak TLS, and is half a client
// itself, so package nats speaks the protocol of NATS.
//
// One Publish runs at a time. Every failure closes the connection; the next one is opened
// to the next host. Answers are bounded before anything is built from them.
//
// Messages of one bank account must be kept in their order, also where a node of the
// broker dies between them. Each package says how it does that.
package broker

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/stream"
)

const (
	// maxIdle is how long a connection may be unused. Routers and firewalls drop idle
	// connections silently, and NATS closes them.
	maxIdle = 30 * time.Second
	// MaxSilence is how long a broker may take to acknowledge what it got. It is less
	// than [stream.Timeout], so that another host is asked sooner.
	MaxSilence = stream.Timeout / 2
)

// Dialer opens connections. It holds the rules for addresses.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Client speaks the protocol of a kind of broker.
type Client interface {
	Connected() bool
	// Publish sends those of messages that aren't kept yet, and notes in kept which the
	// broker keeps. It connects first if there is no connection.
	Publish(ctx context.Context, messages []stream.Message, kept []bool) error
	Close()
	// Elsewhere makes another host the first that is tried next.
	Elsewhere()
}

// publisher is what the publishers of all kinds of broker have in common.
type publisher struct {
	client Client
	used   time.Time
	ahead  map[string]bool // ids of messages that are kept, though one before them isn't
}

// NewPublisher returns the publisher of a client.
func NewPublisher(c Client) stream.Publisher { return &publisher{client: c} }

// Close implements [stream.Publisher].
func (p *publisher) Close() { p.client.Close() }

// Publish implements [stream.Publisher]. An older connection may have been closed since, or
// another node may lead: after an error of such a connection it tries once more.
func (p *publisher) Publish(ctx context.Context, messages []stream.Message) (int, error) {
	if time.Since(p.used) > maxIdle {
		p.Close()
	}
	kept := make([]bool, len(messages))
	for i, m := range messages {
		kept[i] = p.ahead[m.ID]
	}
	var err error
	for old, again := p.client.Connected(), true; again; old = false {
		if err = p.client.Publish(ctx, messages, kept); err != nil {
			p.Close()
			p.client.Elsewhere()
		}
		again = err != nil && old && ctx.Err() == nil
	}
	p.used = time.Now()

	first := slices.Index(kept, false)
	if first < 0 {
		first = len(messages)
	}
	p.ahead = map[string]bool{}
	for i := first; i < len(messages); i++ {
		if kept[i] {
			p.ahead[messages[i].ID] = true
		}
	}
	return first, err
}

// Way is the way to the hosts of a broker.
type Way struct {
	stream.Broker
	Dial   Dialer
	Secure *tls.Config // what TLS begins with: the name of the server is added
	next   int         // the host that is tried first, modulo the number of hosts
}

// Elsewhere implements [Client].
func (w *Way) Elsewhere() { w.next++ }

// Reach calls open for one host after the other until it succeeds, and returns the
// error of the last otherwise. Each gets an equal share of the time that is left.
func (w *Way) Reach(ctx context.Context, open func(ctx context.Context, host string) error) (err error) {
	for left := len(w.Hosts); left > 0; left-- {
		err = w.within(ctx, left, open)
		if err == nil || ctx.Err() != nil {
			return err
		}
		w.Elsewhere()
	}
	return err
}

func (w *Way) within(ctx context.Context, left int, open func(ctx context.Context, host string) error) error {
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	return open(ctx, w.Hosts[w.next%len(w.Hosts)])
}

// Handshake puts TLS on a connection to a host.
func (w *Way) Handshake(ctx context.Context, conn net.Conn, host string) (net.Conn, error) {
	config := w.Secure.Clone()
	config.ServerName, _, _ = net.SplitHostPort(host)
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &stream.BrokerError{Text: app.Textf(
			"No TLS connection to %[1]s: %[2]v. Its certificate must be valid, for this name, and from an authority that is known here.",
			"Không tạo được kết nối TLS tới %[1]s: %[2]v. Chứng chỉ của máy chủ phải còn hạn, đúng tên này và do một tổ chức mà "+
				"máy này tin cậy cấp.", host, err)}
	}
	return secure, nil
}

// RefusedSignIn is the error for a broker that refuses the credentials.
func (w *Way) RefusedSignIn(said string) error {
	return &stream.BrokerError{Text: app.Textf(
		"%[1]s refuses the user name and password of this stream: %[2]s",
		"%[1]s từ chối tên đăng nhập và mật khẩu của luồng này: %[2]s", w.Kind.Name(), w.Quote(said))}
}

// Quote removes the password from a broker's text, which may repeat it.
func (w *Way) Quote(said string) string {
	if w.Password != "" {
		said = strings.ReplaceAll(said, w.Password, "…")
	}
	return said
}

// ErrSilent is the error of a broker that doesn't acknowledge.
var ErrSilent error = &stream.BrokerError{Text: app.Textf(
	"The broker got the messages, but did not confirm within %d seconds that it has kept them.",
	"Máy chủ nhận luồng đã nhận tin nhưng không xác nhận đã lưu trong %d giây.", int(MaxSilence/time.Second))}

// TooLarge is the error for a message that is larger than a broker allows.
func TooLarge(said string) error {
	return &stream.BrokerError{Text: app.Textf(
		"A message is too large for the broker: %[1]s. Raise its limit.",
		"Có tin quá lớn đối với máy chủ nhận luồng: %[1]s. Hãy nâng giới hạn của máy chủ.", said)}
}
