package stream

import (
	"context"
	"errors"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/app/target"
)

// Secrets are the secrets of a stream, which are stored encrypted.
type Secrets struct {
	Secret   string // signs messages
	Password string // of the broker
}

// Work is a stream with all that is needed to send.
type Work struct {
	Stream
	Secrets
	Mark  string // begins the ids of its messages; no stream of another installation has it
	Moves int64  // how often somebody has set its position
}

// Broker is where the stream goes.
func (w Work) Broker() Broker {
	b, _ := ParseBroker(w.URL) // it was checked when it was set
	b.Topic, b.Username, b.Password = w.Topic, w.Username, w.Password
	return b
}

// Message is the message of a transaction.
func (w Work) Message(t app.Transaction, userAgent string, now time.Time) Message {
	p := delivery.PayloadOf(t)
	return w.message(p.ID, p, userAgent, now)
}

func (w Work) message(name string, p delivery.Payload, userAgent string, now time.Time) Message {
	id, body := w.Mark+"_"+name, p.Body(w.Secret)
	return Message{
		ID: id, BankAccount: p.Gateway + ":" + p.AccountNumber, Body: body,
		Headers: delivery.SignedHeaders(userAgent, id, []string{w.Secret}, now, body),
	}
}

// TestStream publishes one signed test message, even where the stream isn't active,
// and returns why the broker refused it; zero: it has kept the message. The error is
// that of the storage.
func (s *Service) TestStream(ctx context.Context, accountID, id int64, userAgent string, now time.Time) (problem app.Text, _ error) {
	w, err := s.StreamWork(ctx, accountID, id)
	if err == nil && w.SecretLost {
		err = ErrSecretLost
	}
	if err == nil {
		err = s.ledger.Audit(ctx, accountID, app.DeedStreamTest, id, app.AuditNamed(w.Name))
	}
	if err != nil {
		return app.Text{}, err
	}
	code, err := s.ledger.SampleCode(ctx, accountID)
	if err != nil {
		return app.Text{}, err
	}
	p := delivery.SamplePayload(w.Type, code, now, s.zone)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	publisher := s.OpenBroker(w)
	defer publisher.Close()
	_, err = publisher.Publish(ctx, []Message{w.message(p.TransactionNumber, p, userAgent, now)})
	return Problem(err), nil
}

// OpenBroker returns the publisher of a stream.
func (s *Service) OpenBroker(w Work) Publisher { return s.config.OpenBroker(w.Broker()) }

// maxProblem is how many characters of a broker's error are kept.
const maxProblem = 300

// Problem explains to people why a broker didn't take messages; zero: it took them.
func Problem(err error) app.Text {
	var known *BrokerError
	var blocked *target.BlockedAddressError
	switch {
	case err == nil:
		return app.Text{}
	case errors.As(err, &known):
		return app.Text{EN: app.CleanText(known.Text.EN, maxProblem), VI: app.CleanText(known.Text.VI, maxProblem)}
	case errors.As(err, &blocked):
		return app.Text{EN: app.CleanText(blocked.Error(), maxProblem), VI: app.CleanText(blocked.Error(), maxProblem)}
	case errors.Is(err, context.DeadlineExceeded):
		return app.Textf("The broker did not answer within %d seconds.", "Máy chủ nhận luồng không trả lời trong %d giây.",
			int(Timeout/time.Second))
	}
	said := app.CleanText(err.Error(), maxProblem)
	return app.Text{EN: "The broker can’t be reached: " + said, VI: "Không kết nối được máy chủ nhận luồng: " + said}
}

// Progress is what a stream has sent since its position was last settled, and how
// the last attempt ended.
type Progress struct {
	StreamID     int64
	From, To     int64     // the position in the file, and the present one
	Moves        int64     // as in Work
	Tried        int64     // transactions up to this id may be in the broker; 0: nothing was tried
	Sent         int64     // messages that the broker has kept since then
	SentAt       time.Time // of the last of them; zero: none
	FailingSince time.Time // zero: the last attempt succeeded
	Problem      app.Text
}

// Kept notes that the broker has kept messages, up to a transaction.
func (p *Progress) Kept(messages int, last int64, now time.Time) {
	p.To, p.Sent, p.SentAt = last, p.Sent+int64(messages), now
	p.FailingSince = time.Time{}
}

// Attempted notes how an attempt to publish ended.
func (p *Progress) Attempted(err error, now time.Time) {
	p.Problem = Problem(err)
	switch {
	case err == nil:
		p.FailingSince = time.Time{}
	case p.FailingSince.IsZero():
		p.FailingSince = now
	}
}
