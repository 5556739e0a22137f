package payment

import (
	"context"
	"time"

	"baoco/app"
)

// Records are the queries and changes about which no rule decides.
type Records interface {
	// CounterLinks lists the links of an account by id, revoked ones included.
	CounterLinks(ctx context.Context, accountID int64) ([]CounterLink, error)
	// CodesTaken counts the codes of the list that no new payment request can have at now.
	CodesTaken(ctx context.Context, accountID int64, codes []string, now time.Time) (int64, error)
	// PaymentRequest finds a payment request.
	PaymentRequest(ctx context.Context, accountID, id int64) (Request, error)
	// PaymentRequestByToken finds the payment request, of any account, whose page the
	// token opens. CodeNotFound if no request has the token.
	PaymentRequestByToken(ctx context.Context, token string) (Request, error)
	// PaymentRequests lists a page of the payment requests of an account.
	PaymentRequests(ctx context.Context, accountID int64, f Filter, now time.Time) (Page, error)
	// PaymentTransfers lists the transfers of a payment request in the order in which
	// they were matched, at most limit.
	PaymentTransfers(ctx context.Context, accountID, requestID int64, limit int) ([]Transfer, error)
	// OpenShift finds the open shift of a user. ok is false if no shift is open.
	OpenShift(ctx context.Context, accountID, userID int64) (sh Shift, ok bool, err error)
	// Shift finds a shift.
	Shift(ctx context.Context, accountID, id int64) (Shift, error)
	// Shifts lists a page of the shifts of a user, or of the whole account if userID is 0,
	// newest first, and counts them.
	Shifts(ctx context.Context, accountID, userID int64, page app.Page) ([]Shift, int64, error)
	// RevokeCounterLink ends a link, and within a second the screens that are
	// open with it. It doesn't change an earlier revocation.
	RevokeCounterLink(ctx context.Context, accountID, id int64, now time.Time) error
	// CancelPaymentRequest ends a payment request that isn't full; money that still comes for
	// it is late. ErrIsPaid if the request is full.
	CancelPaymentRequest(ctx context.Context, accountID, id int64, now time.Time) (Request, error)
	// PrintReceipt notes that the receipt of a payment request is printed. again tells whether
	// it was printed before, within the time for which the audit log is kept.
	PrintReceipt(ctx context.Context, accountID, id int64) (again bool, err error)
	// MatchTransaction matches a transaction with a payment request by hand. ErrNotMoneyIn,
	// ErrMatchedAlready.
	MatchTransaction(ctx context.Context, accountID, requestID, transactionID int64, now time.Time) (Request, error)
	// UnmatchTransaction undoes a match of any kind. ErrNotMatched.
	UnmatchTransaction(ctx context.Context, accountID, requestID, transactionID int64) (Request, error)
	// PutAside notes that unmatched money belongs to no order, or undoes that. ErrNotUnmatched.
	PutAside(ctx context.Context, accountID, transactionID int64, aside bool) error
	// Refunds lists refunds by the money out, at most MaxRefunds.
	Refunds(ctx context.Context, accountID int64, f RefundFilter) ([]Refund, error)
	// LinkRefund notes that money out gives money in back, if MayRefund agrees. ErrNoRefund if
	// the money out is linked with other money in. A repeated call does nothing.
	LinkRefund(ctx context.Context, accountID, outID, inID int64) error
	// UnlinkRefund undoes LinkRefund. It does nothing if the money out is no refund.
	UnlinkRefund(ctx context.Context, accountID, outID int64) error
	// ShiftClosing returns the closing of a shift, or for an open shift its closing at now. It is
	// empty for a shift that was closed before closings were stored.
	ShiftClosing(ctx context.Context, accountID, id int64, now time.Time) (Closing, error)
}

// Store is the memory of [Service]. The rules of [app.Records] and [app.Store] for all stores
// hold here too.
type Store interface {
	Records

	// CreateCounterLink fails with CodeValidation for an unknown bank account
	// and CodeLimitReached beyond MaxCounterLinks. ErrFormUsed if key was used
	// before.
	CreateCounterLink(ctx context.Context, l CounterLink, hash [32]byte, newName bool, key app.IdempotencyKey) (CounterLink, error)
	// CounterLinkByHash finds a link of another process as soon as it is committed, and
	// respects a revocation within a second. ok is false if no link has the hash.
	CounterLinkByHash(ctx context.Context, hash [32]byte) (l CounterLink, ok bool, err error)
	// CreatePaymentRequest inserts the request that choose makes of r. If the key was used
	// before, it returns the request that was made then.
	CreatePaymentRequest(ctx context.Context, r Request, choose func(Choices) (Request, error), key app.IdempotencyKey) (Request, error)
	// UnmatchedTransactions lists a page of the money in that no payment request was found for,
	// newest first, and counts it. Money before the account's first payment request isn't listed.
	UnmatchedTransactions(ctx context.Context, accountID int64, f UnmatchedFilter) ([]app.Transaction, int64, error)
	// PaymentCandidates lists the last payment requests that aren't full or cancelled, at most
	// limit, newest first.
	PaymentCandidates(ctx context.Context, accountID int64, limit int) ([]Candidate, error)
	// CloseShift ends a shift and stores its closing. ErrShiftClosed if it is closed already.
	CloseShift(ctx context.Context, accountID, id int64, in ShiftCount, now time.Time) error
	// RequestsAsking lists the last payment requests that aren't full or cancelled and ask for
	// a transfer of this amount to a bank account, at most MaxCandidates.
	RequestsAsking(ctx context.Context, accountID, bankAccountID, amount int64) ([]Request, error)
	// AnyReference tells whether a request has one of these references, in the normal form.
	AnyReference(ctx context.Context, accountID int64, references []string) (bool, error)
	// TakeTransaction is MatchTransaction for a cashier: may decides by the data that the
	// writing transaction of the store reads. If the money is matched with the request already,
	// nothing changes.
	TakeTransaction(ctx context.Context, accountID int64, k Take, now time.Time,
		may func(app.Account, Request, app.Transaction, Names) error) (Request, error)
	// AskToMatch notes once that owners are asked for a match, if may agrees.
	AskToMatch(ctx context.Context, accountID int64, k Take, now time.Time, may func(Request, app.Transaction) error) error
	// AskedMatches lists the matches that were asked for since a time, newest first, at most
	// limit: the money is unmatched, and the request isn't full or cancelled.
	AskedMatches(ctx context.Context, accountID int64, since time.Time, limit int) ([]AskedMatch, error)
	// MatchedByHand lists the transfers to a bank account, 0 for any, that were matched by hand
	// since a time: the last CounterRows, in the order in which they were matched.
	MatchedByHand(ctx context.Context, accountID, bankAccountID int64, since time.Time) ([]Transfer, error)
}
