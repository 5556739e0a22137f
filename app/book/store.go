package book

import (
	"context"

	"baoco/app"
)

// Records are what everybody may ask and change: no rule decides about it.
type Records interface {
	// Rules lists the rules in force by id.
	Rules(ctx context.Context, accountID int64) ([]Rule, error)
	// RemoveRule ends a rule for the books that aren't closed.
	RemoveRule(ctx context.Context, accountID, id int64) error
}

// Store remembers for [Service]. What [app.Records] and [app.Store] say of all stores holds
// here too.
type Store interface {
	Records

	// SetMark writes the mark of money in, or removes it where m is zero. ErrNotMoneyIn;
	// ErrClosed where the transaction stands in a closed book.
	SetMark(ctx context.Context, accountID, transactionID int64, m Mark) error
	// AddRule inserts r, if check agrees with the rules in force. CodeValidation for an unknown
	// bank account.
	AddRule(ctx context.Context, accountID int64, r Rule, check func(present []Rule) error) error
	// PossibleTransfers finds money in that is revenue now and came when as much went out of
	// another linked bank account.
	PossibleTransfers(ctx context.Context, accountID int64, search TransferSearch) ([]PossibleTransfer, error)
}

// ErrNoRule says that an id names no rule.
var ErrNoRule error = app.NotFound("There is no rule with this id.", "Không có quy tắc với id này.")
