package stream

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

// A stream sends transactions to a broker, for shops with several programs that read
// them. app/doc.go has the walk. The position is in the file: a broker that was
// unreachable gets everything later, in the order of the ids.

// Stream is a topic of a broker that gets a message for each transaction, also for
// those of bank accounts that are switched off and of imported files.
type Stream struct {
	ID            int64
	AccountID     int64
	Name          string
	URL           string // of the brokers, see [ParseBroker]
	Topic         string // a subject of NATS or a topic of Kafka
	Username      string // empty: none
	BankAccountID int64  // 0: all bank accounts
	Type          delivery.WebhookType
	CodePrefix    string // as of a webhook
	IsActive      bool
	CreatedAt     time.Time
	SecretLost    bool // as of a webhook; the password is lost with it

	Position     int64     // transactions up to this id are sent, or don't belong to the stream
	Sent         int64     // messages that the broker has kept, repeats included
	SentAt       time.Time // of the last of them; zero: none
	FailingSince time.Time // zero: the last attempt succeeded, or there was none
	Problem      app.Text  // of the last attempt; zero: none
}

const (
	// MaxStreams is how many streams an account may have.
	MaxStreams = 20
	// MaxBrokers is how many brokers the URL of a stream names at most.
	MaxBrokers = 10
	// MaxBatch is how many messages are published at a time.
	MaxBatch = 500
	// Timeout is how long a broker may take to keep them. A page waits for it
	// after a test, within the time of a request.
	Timeout = 8 * time.Second

	maxBrokerUsername = 200
	maxBrokerPassword = 8 << 10 // a credentials file of NATS is one, too
)

// streamWaits are the waits after the first, second … failure in a row. The last
// one repeats.
var streamWaits = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}

// Wait is the wait after so many failures in a row.
func Wait(failures int) time.Duration {
	return streamWaits[min(failures, len(streamWaits))-1]
}

// BrokerKind is a kind of broker.
type BrokerKind string

// The kinds of brokers.
const (
	NATS  BrokerKind = "nats" // JetStream
	Kafka BrokerKind = "kafka"
)

// Name names the kind.
func (k BrokerKind) Name() string {
	if k == NATS {
		return "NATS JetStream"
	}
	return "Kafka"
}

// Broker is the address of a broker, with the topic and the credentials.
type Broker struct {
	Kind     BrokerKind
	TLS      bool
	Hosts    []string // host:port
	Topic    string
	Username string
	Password string // of NATS without a username: a token, or the text of a credentials file
}

// Publisher is a connection to a broker.
type Publisher interface {
	// Publish sends messages in their order, and returns how many of them, from the
	// first on, the broker has kept. With an error it may have kept some of the rest
	// too. The error is a [*BrokerError] if somebody can do something about it.
	Publish(ctx context.Context, messages []Message) (kept int, err error)
	Close()
}

// BrokerError says why a broker didn't take a message, for people.
type BrokerError struct{ Text app.Text }

func (e *BrokerError) Error() string { return e.Text.EN }

// Message is one transaction on its way to a broker.
type Message struct {
	ID          string // the same each time; consumers skip repeats by it
	BankAccount string // messages of one bank account stay in order
	Headers     []delivery.Header
	Body        []byte
}

// BrokerCredentials are stored encrypted.
type BrokerCredentials struct{ Username, Password string }

// Create is a request to create a stream.
type Create struct {
	Name, URL, Topic string
	Credentials      BrokerCredentials
	Type             delivery.WebhookType // empty: WebhookAll
	BankAccountID    int64                // 0: all
	CodePrefix       string               // empty: all
	SinceID          *int64               // the transactions after this id; nil: those that are recorded from now on
	Key              app.IdempotencyKey
}

// Update changes the fields that aren't nil.
type Update struct {
	Name, URL, Topic *string
	Credentials      *BrokerCredentials
	Type             *delivery.WebhookType
	IsActive         *bool
	SinceID          *int64 // sends the transactions after this id, again where they were sent
}

// brokerSchemes are the beginnings of a broker's URL.
var brokerSchemes = map[string]Broker{
	"nats": {Kind: NATS}, "nats+tls": {Kind: NATS, TLS: true}, "kafka": {Kind: Kafka}, "kafka+tls": {Kind: Kafka, TLS: true},
}

var brokerPorts = map[BrokerKind]string{NATS: "4222", Kafka: "9092"}

// ParseBroker reads a broker's URL, such as nats://nats.shop.vn or
// kafka+tls://k1.shop.vn:9093,k2.shop.vn:9093, and returns the fault; nil: none.
func ParseBroker(raw string) (Broker, *app.Text) {
	scheme, rest, found := strings.Cut(raw, "://")
	b, known := brokerSchemes[scheme]
	if !found || !known {
		return Broker{}, &app.Text{EN: "must begin with nats://, nats+tls://, kafka:// or kafka+tls://",
			VI: "phải bắt đầu bằng nats://, nats+tls://, kafka:// hoặc kafka+tls://"}
	}
	b.Hosts = strings.Split(rest, ",")
	if len(b.Hosts) > MaxBrokers || len(raw) > 2048 || strings.ContainsAny(rest, "/?") {
		t := app.Textf("must be 1 to %d hosts with their ports, separated by commas, and nothing behind them",
			"phải gồm 1 đến %d máy chủ kèm cổng, cách nhau bằng dấu phẩy và không có gì phía sau", MaxBrokers)
		return Broker{}, &t
	}
	for i, host := range b.Hosts {
		if _, _, hasPort := target.CutPort(host); !hasPort {
			b.Hosts[i] = host + ":" + brokerPorts[b.Kind]
		}
	}
	return b, nil
}

// PlainWarning recommends TLS, after a space, where a password travels unencrypted to the
// brokers of a stream; otherwise it is empty. password says that a password was just entered:
// a token has no user name.
func (s Stream) PlainWarning(password bool) app.Text {
	if b, bad := ParseBroker(s.URL); bad != nil || b.TLS || !password && s.Username == "" {
		return app.Text{}
	}
	return app.Text{
		EN: " TLS is recommended: without it (nats+tls://, kafka+tls://) anybody on the way can read the password and the transactions.",
		VI: " Nên dùng TLS (nats+tls://, kafka+tls://): nếu không, người khác trên đường truyền có thể đọc được mật khẩu và giao dịch.",
	}
}

// CheckBroker is ParseBroker with the rules for the hosts of webhooks.
func CheckBroker(p *target.Policy, raw string) (Broker, *app.Text) {
	b, bad := ParseBroker(raw)
	for _, host := range b.Hosts {
		if bad := p.CheckURL("https://" + host); bad != nil {
			return b, bad
		}
	}
	return b, bad
}

var (
	natsSubject = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	kafkaTopic  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

func checkTopic(kind BrokerKind, topic string) *app.Text {
	switch {
	case kind == NATS && (len(topic) > 200 || !natsSubject.MatchString(topic) || strings.HasPrefix(topic, "_INBOX")):
		return &app.Text{EN: "must be a subject of letters, digits, - and _ between dots, without wildcards, at most 200 characters",
			VI: "phải là subject gồm chữ cái, chữ số, - và _ giữa các dấu chấm, không có ký tự đại diện, tối đa 200 ký tự"}
	case kind == Kafka && (len(topic) > 249 || !kafkaTopic.MatchString(topic) || topic == "." || topic == ".."):
		return &app.Text{EN: "must be a topic of letters, digits, dots, - and _, at most 249 characters",
			VI: "phải là topic gồm chữ cái, chữ số, dấu chấm, - và _, tối đa 249 ký tự"}
	}
	return nil
}

// check refuses credentials that no broker of the kind takes.
func (c BrokerCredentials) check(v *app.Invalid, kind BrokerKind) {
	if len(c.Username) > maxBrokerUsername || strings.ContainsFunc(c.Username, app.IsControl) {
		v.Add("username", "must be at most 200 bytes without control characters", "phải có tối đa 200 byte, không chứa ký tự điều khiển")
	}
	switch {
	case len(c.Password) > maxBrokerPassword || strings.Contains(c.Password, "\x00"):
		v.Add("password", "must be at most 8 KiB", "phải có tối đa 8 KiB")
	case c.Username != "" && c.Password == "":
		v.Add("password", "is needed with a user name", "cần có khi có tên đăng nhập")
	case kind == Kafka && c.Username == "" && c.Password != "":
		v.Add("username", "is needed with a password", "cần có khi có mật khẩu")
	}
}

// CheckStream checks the fields of in, without looking at the storage.
func (s *Service) CheckStream(in Create) error {
	streamType := cmp.Or(in.Type, delivery.WebhookAll)
	var v app.Invalid
	v.Merge(s.CheckStreamUpdate(Stream{},
		Update{Name: &in.Name, URL: &in.URL, Topic: &in.Topic, Credentials: &in.Credentials, Type: &streamType, SinceID: in.SinceID}))
	if in.CodePrefix != "" {
		v.Merge(app.CheckCodePrefix("code_prefix", in.CodePrefix))
	}
	return v.Err()
}

// CheckStreamUpdate checks the fields of u, and those that depend on them in the
// stream before.
func (s *Service) CheckStreamUpdate(before Stream, u Update) error {
	var v app.Invalid
	if u.Name != nil {
		_, err := app.CleanName("name", *u.Name)
		v.Merge(err)
	}
	address, topic := before.URL, before.Topic
	if u.URL != nil {
		address = *u.URL
	}
	b, bad := CheckBroker(s.config.Targets, address)
	if bad != nil && u.URL != nil {
		v.Add("url", bad.EN, bad.VI)
	}
	if u.Topic != nil {
		topic = *u.Topic
	}
	if bad := checkTopic(b.Kind, topic); bad != nil {
		v.Add("topic", bad.EN, bad.VI)
	}
	if u.Credentials != nil {
		u.Credentials.check(&v, b.Kind)
	}
	if u.Type != nil && !slices.Contains(delivery.WebhookTypes, *u.Type) {
		v.Add("type", "must be IN, OUT or ALL", "phải là IN, OUT hoặc ALL")
	}
	if u.SinceID != nil && *u.SinceID < 0 {
		v.Add("since_id", "must be the id of a transaction, or 0", "phải là mã của một giao dịch, hoặc 0")
	}
	return v.Err()
}

// CreateStream makes an active stream and returns its secret, which nobody sees again.
// The secret is empty if in.Key was used before.
func (s *Service) CreateStream(ctx context.Context, accountID int64, in Create, now time.Time) (Stream, string, error) {
	if err := s.CheckStream(in); err != nil {
		return Stream{}, "", err
	}
	secret := delivery.NewSecret()
	st, made, err := s.store.CreateStream(ctx, Stream{
		AccountID: accountID, Name: strings.TrimSpace(in.Name), URL: in.URL, Topic: in.Topic, Username: in.Credentials.Username,
		BankAccountID: in.BankAccountID, Type: cmp.Or(in.Type, delivery.WebhookAll), CodePrefix: in.CodePrefix, IsActive: true, CreatedAt: now,
	}, Secrets{secret, in.Credentials.Password}, in.SinceID, in.Key)
	if !made {
		secret = ""
	}
	return st, secret, err
}

// UpdateStream changes some fields. A saved password isn't sent to another broker: with
// a new URL it is entered again.
func (s *Service) UpdateStream(ctx context.Context, accountID, id int64, u Update, now time.Time) (Stream, error) {
	before, err := s.StreamWork(ctx, accountID, id)
	if err == nil {
		err = s.CheckStreamUpdate(before.Stream, u)
	}
	if err == nil && u.URL != nil && *u.URL != before.URL && u.Credentials == nil && before.Password != "" {
		err = app.InvalidField("password", "is needed with a new URL, with username: the saved one is not sent to another broker",
			"cần nhập lại cùng username khi đổi URL: mật khẩu đã lưu không được gửi tới máy chủ khác")
	}
	if err != nil {
		return Stream{}, err
	}
	if u.Name != nil {
		u.Name = new(strings.TrimSpace(*u.Name))
	}
	return s.store.UpdateStream(ctx, accountID, id, u, now)
}

// SecretRotate is a new secret of a stream.
type SecretRotate struct {
	Secret string
	Key    app.IdempotencyKey
}

// RotateStreamSecret makes a new secret, which signs from now on, and returns it this
// once. If key was used before, nothing changes and the result is empty.
func (s *Service) RotateStreamSecret(ctx context.Context, accountID, id int64, key app.IdempotencyKey, now time.Time) (string, error) {
	secret := delivery.NewSecret()
	changed, err := s.store.RotateStreamSecret(ctx, accountID, id, SecretRotate{secret, key}, now)
	if !changed {
		secret = ""
	}
	return secret, err
}

// ErrNoStream says that an id names no stream.
var ErrNoStream error = app.NotFound("There is no stream with this id.", "Không có luồng với id này.")

// ErrSecretLost refuses to sign with a lost secret.
var ErrSecretLost error = app.Refused(app.CodeSecretLost, app.Text{
	EN: "The secret and the password of this stream are lost. Rotate the secret and set the password again.",
	VI: "Khoá bí mật và mật khẩu của luồng này đã mất. Hãy đổi khoá bí mật và nhập lại mật khẩu.",
})

// PasswordLost is said once a lost secret is rotated.
var PasswordLost = app.Text{
	EN: "The password of the broker is lost, too: set it again if there was one.",
	VI: "Mật khẩu của máy chủ nhận luồng cũng đã mất: hãy nhập lại nếu có.",
}

// ErrTooManyStreams refuses a stream beyond MaxStreams.
var ErrTooManyStreams error = app.Refused(app.CodeLimitReached, app.Textf(
	"An account may have at most %d streams.",
	"Mỗi tài khoản có tối đa %d luồng.", MaxStreams))
