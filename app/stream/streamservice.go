package stream

import (
	"time"

	"baoco/app"
	"baoco/app/target"
)

// StreamConfig is what a StreamService works with.
type StreamConfig struct {
	Targets *target.TargetPolicy
	// OpenBroker gives a publisher, which connects when it publishes.
	OpenBroker func(b Broker) Publisher
}

// StreamService is the use cases of streams to brokers. It is safe for concurrent use.
type StreamService struct {
	StreamRecords
	store  StreamStore
	zone   *time.Location
	config StreamConfig
	ledger *app.Service
}

// NewStreamService makes the use cases over a store.
func NewStreamService(store StreamStore, c StreamConfig, ledger *app.Service) *StreamService {
	return &StreamService{StreamRecords: store, store: store, zone: ledger.Zone(), config: c, ledger: ledger}
}
