package book

import (
	"context"

	"baoco/app"
)

// Records are the queries and changes about which no rule decides.
type Records interface {
	// Rules lists the rules in force by id.
	Rules(ctx context.Context, accountID int64) ([]Rule, error)
	// Closings lists the closings by their number.
	Closings(ctx context.Context, accountID int64) ([]Closing, error)
	// Heading returns the heading of the books that aren't closed.
	Heading(ctx context.Context, accountID int64) (Heading, error)
	// Cash lists the cash of the days from first to last, both included, by day.
	Cash(ctx context.Context, accountID int64, first, last app.Day) ([]Cash, error)
	// BookAccounts lists all bank accounts by id, also those that are unlinked.
	BookAccounts(ctx context.Context, accountID int64) ([]BankAccount, error)
	// OpenBooks takes back the last closing and returns it. ErrNoneClosed; ErrOtherClosing if
	// it isn't the closing through that day.
	OpenBooks(ctx context.Context, accountID int64, through app.Day) (Closing, error)
	// RemoveRule ends a rule for the books that aren't closed.
	RemoveRule(ctx context.Context, accountID, id int64) error
}

// Store is the memory of [Service]. The rules of [app.Records] and [app.Store] for all stores
// hold here too.
type Store interface {
	Records

	// SetMark writes the mark of money in, or removes it if m is zero. ErrNotMoneyIn;
	// ErrClosed if the transaction is in a closed book.
	SetMark(ctx context.Context, accountID, transactionID int64, m Mark) error
	// AddRule inserts r, if check agrees with the rules in force. CodeValidation for an unknown
	// bank account.
	AddRule(ctx context.Context, accountID int64, r Rule, check func(present []Rule) error) error
	// CloseBooks inserts c, if check agrees with the present closings, and returns it with its
	// number, the id of the newest transaction and the present heading.
	CloseBooks(ctx context.Context, accountID int64, c Closing, check func(present []Closing) error) (Closing, error)
	// SetHeading writes the heading of the books that aren't closed.
	SetHeading(ctx context.Context, accountID int64, h Heading) error
	// SetCash writes the cash of a day, or removes it if it is 0. ErrClosed.
	SetCash(ctx context.Context, accountID int64, c Cash) error
	// SetOpening writes an opening balance, or removes it. CodeValidation for an unknown bank
	// account; ErrClosed.
	SetOpening(ctx context.Context, accountID int64, b BankAccount) error
	// Entries lists the first entries of a query.
	Entries(ctx context.Context, accountID int64, q EntryQuery) ([]Entry, error)
	// EntrySums adds up all entries of a query.
	EntrySums(ctx context.Context, accountID int64, q EntryQuery) (app.Flow, error)
	// ReportParts adds up the transactions of a query, and passes the parts to take in the order of
	// prefixes. take must be quick, since the reading waits for it.
	ReportParts(ctx context.Context, accountID int64, q ReportQuery, take func(ReportPart)) error
	// PossibleTransfers finds money in that is revenue at present, and the same amount that went
	// out of another linked bank account at about the same time.
	PossibleTransfers(ctx context.Context, accountID int64, search TransferSearch) ([]PossibleTransfer, error)
}

// ErrNoRule says that an id names no rule.
var ErrNoRule error = app.NotFound("There is no rule with this id.", "Không có quy tắc với id này.")
