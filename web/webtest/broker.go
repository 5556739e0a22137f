package webtest

import (
	"context"
	"errors"
	"sync"

	"baoco/app/stream"
)

// Brokers plays the brokers of streams. A broker whose first host is away.example.com refuses
// the connection; all other brokers keep what they get.
type Brokers struct {
	mu     sync.Mutex
	kept   []stream.Message
	opened stream.Broker // the last one
	fault  error
}

// All returns the messages that the brokers have kept.
func (b *Brokers) All() []stream.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[:len(b.kept):len(b.kept)]
}

// Opened returns the broker that was opened last.
func (b *Brokers) Opened() stream.Broker {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened
}

// Refuse makes all brokers refuse messages; nil: they keep them again.
func (b *Brokers) Refuse(fault error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

func (b *Brokers) open(to stream.Broker) stream.Publisher {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = to
	return publisher{b, to}
}

type publisher struct {
	brokers *Brokers
	to      stream.Broker
}

func (p publisher) Publish(_ context.Context, messages []stream.Message) (int, error) {
	if p.to.Hosts[0] == "away.example.com:4222" {
		return 0, errors.New("connection refused")
	}
	p.brokers.mu.Lock()
	defer p.brokers.mu.Unlock()
	if p.brokers.fault != nil {
		return 0, p.brokers.fault
	}
	p.brokers.kept = append(p.brokers.kept, messages...)
	return len(messages), nil
}

func (publisher) Close() {}
