// Package stream has streams of transactions to brokers.
package stream

import (
	"time"

	"baoco/app"
	"baoco/app/target"
)

// Config is what a Service works with.
type Config struct {
	Targets *target.Policy
	// OpenBroker returns a publisher, which connects when it publishes.
	OpenBroker func(b Broker) Publisher
}

// Service is the use cases of streams to brokers. It is safe for concurrent use.
type Service struct {
	Records
	store  Store
	zone   *time.Location
	config Config
	ledger *app.Service
}

// NewService makes the use cases over a store.
func NewService(store Store, c Config, ledger *app.Service) *Service {
	return &Service{Records: store, store: store, zone: ledger.Zone(), config: c, ledger: ledger}
}
