package app

import "baoco/app/passkey"

// AccessService is the use cases of users, sign-in and API keys. It is safe for concurrent
// use.
type AccessService struct {
	AccessRecords
	store      AccessStore
	ledger     *Service
	challenges passkey.Challenges
}

// NewAccessService makes the use cases over a store.
func NewAccessService(store AccessStore, ledger *Service) *AccessService {
	return &AccessService{AccessRecords: store, store: store, ledger: ledger}
}
