// Package broker publishes the messages of streams to NATS JetStream (nats.go) and
// Kafka (kafka.go).
//
// It speaks both protocols itself. Of either it needs a small part: connect, show who
// one is, publish, wait for the acknowledgements. The usual clients reconnect and
// repeat in the background, where a stream needs one attempt that says what became of
// it; that of NATS lets a server end the process by announcing a huge answer.
//
// One Publish runs at a time, and reads and writes in the caller's goroutine, so that a
// connection is one state and nothing else. Whatever fails ends the connection; the
// next one is opened at the next host.
// Answers are bounded before anything is built from them.
//
// Messages of one bank account must be kept in their order, also where a node of the
// broker dies among them. How that is held is said in either file.
package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"baoco/app"
)

const (
	// maxIdle is how long a connection lies unused at most. What lies between two
	// machines forgets idle connections without a word, and NATS ends them.
	maxIdle = 30 * time.Second
	// maxSilence is how long a broker may take to acknowledge what it got. It is less
	// than [app.StreamTimeout], so that another host is asked sooner.
	maxSilence = app.StreamTimeout / 2
)

// dialer opens connections. It holds the rules for addresses.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Open gives a publisher for b. Every connection goes through dial; secure is what TLS
// begins with: the name of the server is added.
func Open(b app.Broker, dial func(ctx context.Context, network, address string) (net.Conn, error), secure *tls.Config) app.Publisher {
	w := way{Broker: b, dial: dial, tls: secure}
	if b.Kind == app.Kafka {
		return &publisher{client: &kafka{way: w, conns: map[string]*kafkaConn{}, maxBatch: maxKafkaBatch}}
	}
	return &publisher{client: &nats{way: w}}
}

// client is what speaks the protocol of a kind of broker.
type client interface {
	connected() bool
	// publish sends those of messages that aren't kept yet, and notes which are. It
	// connects where there is no connection.
	publish(ctx context.Context, messages []app.StreamMessage, kept []bool) error
	Close()
	// elsewhere lets another host be the first that is tried next.
	elsewhere()
}

// publisher is what both kinds have in common.
type publisher struct {
	client
	used  time.Time
	ahead map[string]bool // ids of messages that are kept, though one before them isn't
}

// Publish implements [app.Publisher]. A connection that was there already may be gone
// since, or another node may lead: it is tried once more then.
func (p *publisher) Publish(ctx context.Context, messages []app.StreamMessage) (int, error) {
	if time.Since(p.used) > maxIdle {
		p.Close()
	}
	kept := make([]bool, len(messages))
	for i, m := range messages {
		kept[i] = p.ahead[m.ID]
	}
	var err error
	for old, again := p.connected(), true; again; old = false {
		if err = p.publish(ctx, messages, kept); err != nil {
			p.Close()
			p.elsewhere()
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

// way is the way to the hosts of a broker.
type way struct {
	app.Broker
	dial dialer
	tls  *tls.Config
	next int // the host that is tried first, counted on and on
}

func (w *way) elsewhere() { w.next++ }

// reach calls open for one host after the other until it succeeds, and returns the
// error of the last otherwise. Each gets an equal share of the time that is left.
func (w *way) reach(ctx context.Context, open func(ctx context.Context, host string) error) (err error) {
	for left := len(w.Hosts); left > 0; left-- {
		err = w.within(ctx, left, open)
		if err == nil || ctx.Err() != nil {
			return err
		}
		w.elsewhere()
	}
	return err
}

func (w *way) within(ctx context.Context, left int, open func(ctx context.Context, host string) error) error {
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	return open(ctx, w.Hosts[w.next%len(w.Hosts)])
}

// handshake puts TLS on a connection to a host.
func (w *way) handshake(ctx context.Context, conn net.Conn, host string) (net.Conn, error) {
	config := w.tls.Clone()
	config.ServerName, _, _ = net.SplitHostPort(host)
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &app.BrokerError{Text: app.Textf(
			"No TLS connection to %[1]s: %[2]v. Its certificate must be valid, for this name, and from an authority that is known here.",
			"Không tạo được kết nối TLS tới %[1]s: %[2]v. Chứng chỉ của máy chủ phải còn hạn, đúng tên này và do một tổ chức mà máy này tin cậy cấp.", host, err)}
	}
	return secure, nil
}

// refusedSignIn is what a broker says to wrong credentials.
func (w *way) refusedSignIn(said string) error {
	return &app.BrokerError{Text: app.Textf(
		"%[1]s refuses the user name and password of this stream: %[2]s",
		"%[1]s từ chối tên đăng nhập và mật khẩu của luồng này: %[2]s", w.Kind.Name(), w.quote(said))}
}

// quote is what a broker said, without the password, which one may repeat.
func (w *way) quote(said string) string {
	if w.Password != "" {
		said = strings.ReplaceAll(said, w.Password, "…")
	}
	return said
}

// bound ends what is read from and written to conn with ctx. The function that it
// returns ends the bound.
func bound(ctx context.Context, conn net.Conn) func() bool {
	end, _ := ctx.Deadline() // the zero time is none
	_ = conn.SetDeadline(end)
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

// late is instead where err says, in the words of a connection, that its time was up,
// and the error of ctx where that is done.
func late(ctx context.Context, err, instead error) error {
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return instead
}

var silent error = &app.BrokerError{Text: app.Textf(
	"The broker got the messages, but did not confirm within %d seconds that it has kept them.",
	"Máy chủ nhận luồng đã nhận tin nhưng không xác nhận đã lưu trong %d giây.", int(maxSilence/time.Second))}
