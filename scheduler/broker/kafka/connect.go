package kafka

import (
	"context"
	"errors"
	"strings"

	"baoco/app"
	"baoco/app/stream"
	"baoco/scheduler/broker"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// mechanisms are the ways to sign in, the strongest first. A broker may offer one
// for which it doesn't know the user, so each is tried.
var mechanisms = []string{"SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"}

// mechanism is the one that is tried now.
func (k *client) mechanism() sasl.Mechanism {
	auth := scram.Auth{User: k.Username, Pass: k.Password}
	switch mechanisms[k.signedBy] {
	case "PLAIN":
		return plain.Auth{User: k.Username, Pass: k.Password}.AsMechanism()
	case "SCRAM-SHA-256":
		return proof{Mechanism: auth.AsSha256Mechanism(), way: &k.Way}
	}
	return proof{Mechanism: auth.AsSha512Mechanism(), way: &k.Way}
}

func (k *client) connect(ctx context.Context, host string) error {
	var refusals []string
	for ; k.signedBy < len(mechanisms); k.signedBy++ {
		if mechanisms[k.signedBy] == "PLAIN" && !k.TLS {
			break // PLAIN sends the password unencrypted
		}
		err := k.open(ctx, host)
		var refused *kerr.Error
		if !errors.As(err, &refused) {
			return err
		}
		refusals = append(refusals, mechanisms[k.signedBy]+": "+err.Error())
	}
	k.signedBy = 0
	return k.RefusedSignIn(strings.Join(refusals, "; "))
}

// open tries one way to sign in. It returns a [*kerr.Error] where the broker refuses.
func (k *client) open(ctx context.Context, host string) error {
	k.dials.Store(0)
	k.unreached.Store(nil)
	kafka, err := kgo.NewClient(k.options(host)...)
	if err != nil {
		return err
	}
	err = kafka.Ping(ctx)
	if err == nil {
		k.kafka, k.atOnce = kafka, 1
		return nil
	}
	kafka.Close()
	var refused *kerr.Error
	var problem *stream.BrokerError
	unreached := k.unreached.Load()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case unreached != nil:
		return *unreached
	case k.Username != "" && errors.As(err, &refused):
		return err
	case errors.As(err, &problem):
		return problem
	}
	return &stream.BrokerError{Text: app.Textf(
		"%[1]s doesn’t answer as Kafka does. It may want TLS (kafka+tls://), or a user name and password, or its version is older than 2.2.",
		"%[1]s không trả lời như Kafka. Có thể máy chủ yêu cầu TLS (kafka+tls://), hoặc tên đăng nhập và mật khẩu, "+
			"hoặc phiên bản cũ hơn 2.2.", host)}
}

// proof is a way to sign in by which the broker proves that it knows the password too.
type proof struct {
	sasl.Mechanism
	sasl.Session
	way *broker.Way
}

func (p proof) Authenticate(ctx context.Context, host string) (_ sasl.Session, first []byte, err error) {
	p.Session, first, err = p.Mechanism.Authenticate(ctx, host)
	return p, first, err
}

func (p proof) Challenge(heard []byte) (done bool, said []byte, err error) {
	if done, said, err = p.Session.Challenge(heard); err != nil {
		err = &stream.BrokerError{Text: app.Textf(
			"Kafka doesn’t prove that it knows the password: %[1]s",
			"Kafka không chứng minh được là biết mật khẩu: %[1]s", p.way.Quote(err.Error()))}
	}
	return done, said, err
}
