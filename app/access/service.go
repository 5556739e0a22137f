// Package access has who may do what: users, sign-in, sessions, second factors, API keys.
package access

import (
	"baoco/app"
	"baoco/app/passkey"
)

// Service is the use cases of users, sign-in and API keys. It is safe for concurrent
// use.
type Service struct {
	Records
	store      Store
	ledger     *app.Service
	challenges passkey.Challenges
}

// NewService makes the use cases over a store.
func NewService(store Store, ledger *app.Service) *Service {
	return &Service{Records: store, store: store, ledger: ledger}
}
