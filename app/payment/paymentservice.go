package payment

import (
	"time"

	"baoco/app"
)

// PaymentService is the use cases of payment requests, shifts and counter links. It is
// safe for concurrent use.
type PaymentService struct {
	PaymentRecords
	store  PaymentStore
	zone   *time.Location
	ledger *app.Service
}

// NewPaymentService makes the use cases over a store.
func NewPaymentService(store PaymentStore, ledger *app.Service) *PaymentService {
	return &PaymentService{PaymentRecords: store, store: store, zone: ledger.Zone(), ledger: ledger}
}
