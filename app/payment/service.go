// Package payment has payment requests, the transfers that are matched with them, the verdicts
// that a till announces, refunds, shifts and counter links.
package payment

import (
	"time"

	"baoco/app"
)

// Service is the use cases of payment requests, shifts and counter links. It is
// safe for concurrent use.
type Service struct {
	Records
	store  Store
	zone   *time.Location
	ledger *app.Service
}

// NewService makes the use cases over a store.
func NewService(store Store, ledger *app.Service) *Service {
	return &Service{Records: store, store: store, zone: ledger.Zone(), ledger: ledger}
}
