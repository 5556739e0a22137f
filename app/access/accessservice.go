package access

import (
	"baoco/app/passkey"

	"baoco/app"
)

// AccessService is the use cases of users, sign-in and API keys. It is safe for concurrent
// use.
type AccessService struct {
	AccessRecords
	store      AccessStore
	ledger     *app.Service
	challenges passkey.Challenges
}

// NewAccessService makes the use cases over a store.
func NewAccessService(store AccessStore, ledger *app.Service) *AccessService {
	return &AccessService{AccessRecords: store, store: store, ledger: ledger}
}
