// Package nats publishes the messages of streams to NATS JetStream.
package nats

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/stream"
	"baoco/scheduler/broker"
)

// Open returns a publisher for b. Every connection goes through dial; secure is what TLS
// begins with.
func Open(b stream.Broker, dial broker.Dialer, secure *tls.Config) stream.Publisher {
	return broker.NewPublisher(&client{Way: broker.Way{Broker: b, Dial: dial, Secure: secure}})
}

// client publishes to JetStream: a message with a reply subject, to which the server
// that leads the JetStream stream sends an acknowledgement when it has kept it.
//
// Order. Servers take what a connection sends in order, but where the leadership
// moves, some messages of a few in flight may be lost and later ones kept. So there
// are two ways. Where the JetStream stream allows atomic batches (allow_atomic, since
// 2.12), messages are published as one, of which the server keeps all or none.
// Otherwise, or where it refuses the batch, only one message of each bank account is
// in flight.
//
// The headers that expect a last message don't help. With Nats-Expected-Last-Sequence
// the message of another publisher can take the place of one that was lost, so that
// the next one is kept. Nats-Expected-Last-Msg-Id is compared by every replica with
// what it remembers itself, and a replica that has caught up from another doesn't
// remember (2.15.2): it drops a message which the others keep and acknowledge.
//
// A message whose acknowledgement was lost is published again. Inside the duplicate
// window of the stream the server drops it by its Nats-Msg-Id, and says so. A batch
// with one of those is refused as a whole, and its messages are published singly.
type client struct {
	broker.Way
	conn *connection // nil: none
}

func (n *client) Connected() bool { return n.conn != nil }

func (n *client) Close() {
	if n.conn != nil {
		_ = n.conn.Close()
		n.conn = nil
	}
}

func (n *client) Publish(ctx context.Context, messages []stream.Message, kept []bool) error {
	if n.conn == nil {
		if err := n.Reach(ctx, n.connect); err != nil {
			return err
		}
	}
	var tooLarge error
	for i, m := range messages {
		if size, limit := len(head(m))+len(m.Body)+extraSize, n.conn.maxPayload; limit > 0 && size > limit {
			tooLarge = broker.TooLarge(fmt.Sprintf("%d > %d (max_payload)", size, limit))
			messages, kept = messages[:i], kept[:i]
			break
		}
	}
	if len(messages) > 1 && !n.conn.noBatches && !slices.Contains(kept, true) {
		if err := n.publishBatch(ctx, messages, kept); err != nil {
			return err
		}
	}
	for {
		turn := nextOfEach(messages, kept)
		if len(turn) == 0 {
			return tooLarge
		}
		var asked []stream.Message
		for _, i := range turn {
			asked = append(asked, messages[i])
		}
		answers, err := n.ask(ctx, asked, len(asked))
		for i, a := range answers {
			if a == nil {
				continue // err says why
			}
			refused := n.refusal(a)
			kept[turn[i]] = refused == nil
			err = cmp.Or(err, refused)
		}
		if err != nil {
			return err
		}
	}
}

// nextOfEach returns the indices of the first message of each bank account that isn't
// kept yet.
func nextOfEach(messages []stream.Message, kept []bool) (turn []int) {
	taken := map[string]bool{}
	for i, m := range messages {
		if !kept[i] && !taken[m.BankAccount] {
			taken[m.BankAccount] = true
			turn = append(turn, i)
		}
	}
	return turn
}

// publishBatch publishes messages as one batch, and notes that all are kept, or none. None
// is kept where the JetStream stream takes no batches or refuses this one; the reason is
// seen when its messages are published singly.
func (n *client) publishBatch(ctx context.Context, messages []stream.Message, kept []bool) error {
	id := rand.Text()
	batch := slices.Clone(messages)
	for i := range batch {
		m := &batch[i]
		m.Headers = append(slices.Clone(m.Headers),
			delivery.Header{Name: "Nats-Batch-Id", Value: id}, delivery.Header{Name: "Nats-Batch-Sequence", Value: strconv.Itoa(i + 1)})
	}
	last := &batch[len(batch)-1]
	last.Headers = append(last.Headers, delivery.Header{Name: "Nats-Batch-Commit", Value: "1"})

	answers, err := n.ask(ctx, batch[:1], 1)
	if err != nil {
		return err
	}
	if begun := answers[0]; !begun.empty { // an older server keeps the message as any other, and answers so
		n.conn.noBatches = begun.Seq > 0 || begun.Error != nil && begun.Error.ErrCode == batchesDisabled
		return nil
	}
	if answers, err = n.ask(ctx, batch[1:], 1); err != nil {
		return err
	}
	if done := answers[0]; n.refusal(done) == nil && done.Batch == id && done.Count == len(messages) {
		for i := range kept {
			kept[i] = true
		}
	}
	return nil
}

// ask publishes messages, and waits for the answers to the last count of them. With an
// error some of the answers may be missing.
func (n *client) ask(ctx context.Context, messages []stream.Message, count int) ([]*answer, error) {
	patient, cancel := context.WithTimeoutCause(ctx, broker.MaxSilence, broker.ErrSilent)
	defer cancel()
	c := n.conn
	defer bound(patient, c)()
	first := c.asked
	for i, m := range messages {
		reply := ""
		if i >= len(messages)-count {
			reply = c.inbox + strconv.FormatUint(c.asked, 10) + " "
			c.asked++
		}
		header := head(m)
		fmt.Fprintf(c.out, "HPUB %s %s%d %d\r\n%s%s\r\n", n.Topic, reply, len(header), len(header)+len(m.Body), header, m.Body)
	}
	answers := make([]*answer, count)
	err := c.out.Flush()
	for missing := count; missing > 0 && err == nil; {
		var number uint64
		var a *answer
		number, a, err = n.answer()
		if err == nil && number >= first && number < c.asked && answers[number-first] == nil {
			answers[number-first] = a
			missing--
		}
	}
	return answers, ended(patient, err)
}

// head is the header of a message.
func head(m stream.Message) string {
	var b strings.Builder
	b.WriteString("NATS/1.0\r\nNats-Msg-Id: " + m.ID + "\r\n")
	for _, h := range m.Headers {
		b.WriteString(h.Name + ": " + h.Value + "\r\n")
	}
	return b.String() + "\r\n"
}

// extraSize is at least the size of the headers that JetStream gets besides.
const extraSize = 150

// answer is what came to a reply subject: an acknowledgement of JetStream, or an
// error.
type answer struct {
	Stream string `json:"stream"`
	Seq    uint64 `json:"seq"`
	Batch  string `json:"batch"`
	Count  int    `json:"count"`
	Error  *struct {
		ErrCode     int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`

	empty    bool // the server got a part of a batch
	noStream bool // no JetStream stream takes the subject
}

// Error codes of JetStream.
const (
	accountFull     = 10002
	noResources     = 10023
	storageFull     = 10047
	messageTooLarge = 10054
	storeFailed     = 10077
	headersTooLarge = 10097
	batchesDisabled = 10174
)

// refusal says why a message wasn't kept; nil: it was.
func (n *client) refusal(a *answer) error {
	switch {
	case a.noStream:
		return &stream.BrokerError{Text: app.Textf(
			"No JetStream stream takes the subject %[1]s. Create one, for example: "+
				"nats stream add PAYMENTS --subjects %[1]s --storage file --allow-atomic. If there is one, its servers have no leader now.",
			"Không có stream JetStream nào nhận subject %[1]s. Hãy tạo một stream, ví dụ: "+
				"nats stream add PAYMENTS --subjects %[1]s --storage file --allow-atomic. Nếu đã có, hiện các máy chủ của stream chưa "+
				"bầu được máy dẫn đầu.", n.Topic)}
	case a.Error == nil && (a.Stream == "" || a.Seq == 0):
		return errors.New("the answer to a message is no acknowledgement of JetStream")
	case a.Error == nil:
		return nil
	}
	said := fmt.Sprintf("%s (%d)", n.Quote(a.Error.Description), a.Error.ErrCode)
	switch a.Error.ErrCode {
	case messageTooLarge, headersTooLarge:
		return broker.TooLarge(said)
	case accountFull, noResources, storageFull, storeFailed:
		return &stream.BrokerError{Text: app.Textf(
			"JetStream can’t keep more messages: %[1]s. Make room, or raise the limits of the JetStream stream, of the account or of the server.",
			"JetStream không lưu thêm được: %[1]s. Hãy giải phóng chỗ trống hoặc nâng giới hạn của stream, của tài khoản hay của máy chủ.", said)}
	}
	return &stream.BrokerError{Text: app.Textf("JetStream refuses the message: %[1]s", "JetStream từ chối tin: %[1]s", said)}
}

// understand explains an -ERR of a server to people.
func (n *client) understand(said string) error {
	switch lower := strings.ToLower(said); {
	case strings.HasPrefix(lower, "permissions violation for subscription"):
		return &stream.BrokerError{Text: app.Textf(
			"The NATS user may not subscribe to _INBOX.>, to which JetStream sends its acknowledgements: %[1]s",
			"Tài khoản NATS chưa được phép đăng ký _INBOX.>, nơi JetStream gửi xác nhận: %[1]s", said)}
	case strings.HasPrefix(lower, "permissions violation"):
		return &stream.BrokerError{Text: app.Textf(
			"The NATS user may not publish to the subject %[1]s: %[2]s",
			"Tài khoản NATS chưa được phép gửi tới subject %[1]s: %[2]s", n.Topic, said)}
	case strings.HasPrefix(lower, "authorization"), strings.Contains(lower, "authentication"):
		return n.RefusedSignIn(said)
	case strings.HasPrefix(lower, "maximum payload"):
		return broker.TooLarge(said)
	}
	return fmt.Errorf("the NATS server says: %s", said)
}
