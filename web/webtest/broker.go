package webtest

import (
	"context"
	"errors"
	"sync"

	"baoco/app"
)

// Brokers are the brokers that streams are sent to: those whose first host is away
// are not there, and the others keep what they get.
type Brokers struct {
	mu   sync.Mutex
	kept []app.StreamMessage
}

// All is what the brokers have kept.
func (b *Brokers) All() []app.StreamMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[:len(b.kept):len(b.kept)]
}

func (b *Brokers) open(to app.Broker) app.Publisher { return publisher{b, to} }

type publisher struct {
	brokers *Brokers
	to      app.Broker
}

func (p publisher) Publish(_ context.Context, messages []app.StreamMessage) (int, error) {
	if p.to.Hosts[0] == "away.example.com:4222" {
		return 0, errors.New("connection refused")
	}
	p.brokers.mu.Lock()
	defer p.brokers.mu.Unlock()
	p.brokers.kept = append(p.brokers.kept, messages...)
	return len(messages), nil
}

func (publisher) Close() {}
