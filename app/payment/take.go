package payment

import (
	"context"
	"slices"
	"time"

	"baoco/app"
)

// This file handles money without its code at the till. The walk: Offers finds the money that a
// till shows below a bill → a person confirms that this customer paid it → TakeTransaction
// matches it, or AskToMatch asks the owner if cashiers may not match → the store asks Take again
// inside the transaction that writes: if two cashiers tap at once, one gets the money.

// Offer is unmatched money with exactly the amount that an open bill asks for. It came after the
// bill was made, to the number that the bill names, or without a known receiving number.
type Offer struct {
	app.Transaction
	Another bool // another open request asks for the same amount
	Doubt   bool // its content may name another order: nobody can take it at the till
	Asked   bool // an owner was asked to match it with the bill
}

const maxOffers = 3

// askedFor is how long owners are reminded of a match that a cashier asked for.
const askedFor = 24 * time.Hour

// Offers finds the offers of bills by their ids, the newest first.
func (s *Service) Offers(ctx context.Context, accountID int64, bills []Request, now time.Time) (map[int64][]Offer, error) {
	bills = slices.DeleteFunc(slices.Clone(bills), func(r Request) bool { return !r.Payable(now) })
	if len(bills) == 0 {
		return nil, nil
	}
	oldest := slices.MinFunc(bills, func(a, b Request) int { return a.CreatedAt.Compare(b.CreatedAt) }).CreatedAt
	since := oldest.Add(-24 * time.Hour) // of some transfers only the day is known
	list, _, err := s.store.UnmatchedTransactions(ctx, accountID,
		UnmatchedFilter{Since: since, Page: app.Page{Number: 1, Size: MaxCandidates}})
	if err != nil {
		return nil, err
	}
	patterns, err := s.ledger.CodePatterns(ctx, accountID)
	if err != nil {
		return nil, err
	}
	asked, err := s.AskedMatches(ctx, accountID, now)
	if err != nil {
		return nil, err
	}
	names := Names{app.NewCodeReader(patterns), func(references []string) (bool, error) {
		return s.store.AnyReference(ctx, accountID, references)
	}}
	offers := map[int64][]Offer{}
	for _, r := range bills {
		for _, t := range list {
			if len(offers[r.ID]) == maxOffers || !isOffered(t, r, now) {
				continue
			}
			o := Offer{Transaction: t, Asked: slices.ContainsFunc(asked, func(a AskedMatch) bool {
				return a.TransactionID == t.ID && a.RequestID == r.ID
			})}
			if o.Doubt, err = names.in(t, r); err != nil {
				return nil, err
			}
			same, err := s.store.RequestsAsking(ctx, accountID, r.BankAccount.ID, t.Amount)
			if err != nil {
				return nil, err
			}
			o.Another = slices.ContainsFunc(same, func(other Request) bool { return other.ID != r.ID && isOffered(t, other, now) })
			offers[r.ID] = append(offers[r.ID], o)
		}
	}
	return offers, nil
}

// bankMinute is how much too early the time of a transfer may be, since some banks give no seconds.
const bankMinute = time.Minute

// isOffered reports whether t has exactly the amount that r asks for, and came while r was open.
// Money without a known receiving number may have come to any number of its bank account.
func isOffered(t app.Transaction, r Request, now time.Time) bool {
	return t.Type == app.In && t.PaymentRequest.ID == 0 && t.BankAccountID == r.BankAccount.ID && t.Amount == r.Asked() &&
		(t.ReceivingNumber == "" || t.ReceivingNumber == r.AccountNumber()) &&
		r.Payable(now) && !t.CreatedAt.Before(r.CreatedAt) && !t.KnownAt().Add(bankMinute).Before(r.CreatedAt) &&
		!r.Ended(t.KnownAt()) && !t.KnownAt().After(now.Add(clockSlack))
}

// Names finds out whether a content names an order.
type Names struct {
	Codes        app.CodeReader
	AnyReference func(references []string) (bool, error) // tells whether a request has one of the references
}

// in reports whether the content of t has a code, a text that begins as a code, or the
// reference of any request.
func (n Names) in(t app.Transaction, r Request) (bool, error) {
	content := r.BankAccount.WithoutPrefix(t.Content)
	if t.Code.Text != "" || n.Codes.Begins(content) {
		return true, nil
	}
	references := Finder{Codes: n.Codes}.references(content).All()
	if len(references) == 0 {
		return false, nil
	}
	return n.AnyReference(references)
}

// Take is a transaction that a cashier matches with a bill.
type Take struct {
	RequestID, TransactionID int64
	ByOwner                  bool // an owner may always match
	Key                      app.IdempotencyKey
}

// ErrAside refuses to take money that was put aside.
var ErrAside error = app.Conflict("This money was put aside: it belongs to no order. Nothing was matched.",
	"Khoản này đã được để riêng vì không thuộc đơn nào. Chưa ghép gì.")

// Refusals of Take.
var (
	errNotOffered error = app.Conflict("This money is no longer for this bill: the bill has changed, or the money has. Nothing was matched.",
		"Khoản này không còn khớp với đơn: đơn hoặc khoản tiền đã thay đổi. Chưa ghép gì.")
	errTakenBefore error = app.Conflict("Somebody has just matched this money with another bill. Nothing was matched here.",
		"Khoản này vừa được ghép với đơn khác. Đơn này chưa được ghép gì.")
	errOwnerMatches error = app.Refused(app.CodeForbidden, app.Text{
		EN: "In this shop an owner matches money without a code. Ask the owner.",
		VI: "Ở cửa hàng này, tiền không có mã do chủ cửa hàng ghép. Hãy nhờ chủ cửa hàng.",
	})
)

func (k Take) may(a app.Account, r Request, t app.Transaction, n Names, now time.Time) error {
	if !a.CashiersMatch && !k.ByOwner {
		return errOwnerMatches
	}
	if err := k.mayAsk(r, t, now); err != nil {
		return err
	}
	doubt, err := n.in(t, r)
	if err == nil && doubt {
		err = errNotOffered
	}
	return err
}

func (k Take) mayAsk(r Request, t app.Transaction, now time.Time) error {
	switch {
	case t.PaymentRequest.ID != 0:
		return errTakenBefore
	case !isOffered(t, r, now):
		return errNotOffered
	}
	return nil
}

// TakeTransaction matches money without a code with a bill, if it is still offered. It does
// nothing if the money is matched with this bill already, or if the key was used: an owner may
// have undone the match since.
func (s *Service) TakeTransaction(ctx context.Context, accountID int64, k Take, now time.Time) (Request, error) {
	return s.store.TakeTransaction(ctx, accountID, k, now, func(a app.Account, r Request, t app.Transaction, n Names) error {
		return k.may(a, r, t, n, now)
	})
}

// AskToMatch asks the owners to match money with a bill. A repeated call does nothing.
func (s *Service) AskToMatch(ctx context.Context, accountID int64, k Take, now time.Time) error {
	return s.store.AskToMatch(ctx, accountID, k, now, func(r Request, t app.Transaction) error { return k.mayAsk(r, t, now) })
}

// MatchedBy names who matched a transaction by hand; empty: nobody.
func (s *Service) MatchedBy(ctx context.Context, t app.Transaction) (by string, err error) {
	if t.PaymentRequest.Status == "" {
		return "", nil
	}
	transfers, err := s.PaymentTransfers(ctx, t.AccountID, t.PaymentRequest.ID, app.MaxPageSize)
	for _, other := range transfers {
		if other.ID == t.ID {
			by = other.MatchedBy
		}
	}
	return by, err
}

// AskedMatch is money that a cashier asked an owner to match with a bill.
type AskedMatch struct {
	TransactionID, RequestID int64
	Amount                   int64 // VND
	Code                     string
	AskedBy                  string // name of the user
	AskedAt                  time.Time
}

// AskedMatches lists the matches that were asked for in the last day and are still possible:
// the money is unmatched, and the bill is not paid in full or cancelled.
func (s *Service) AskedMatches(ctx context.Context, accountID int64, now time.Time) ([]AskedMatch, error) {
	return s.store.AskedMatches(ctx, accountID, now.Add(-askedFor), MaxCandidates)
}
