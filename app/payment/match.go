package payment

import (
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/paymentcode"
)

// This file matches transfers with payment requests. A transfer is matched in the commit that
// records it, or stays unmatched until a person matches it.

// Finder gives the data of the store for matching a transfer: the code patterns of the
// account, and queries for the requests that the transfer may be for.
type Finder struct {
	Codes app.CodeReader
	// ByCode returns the request with a code, in any status. found is false if no request has
	// the code.
	ByCode func(code string) (r Request, found bool, err error)
	// ByReference returns requests with one of these references, in the normal form of
	// package paymentcode: at most MaxCandidates, by id.
	ByReference func(references []string) ([]Request, error)
	// HasLonger tells whether a request has a longer reference that begins with this one, in
	// the normal form of package paymentcode.
	HasLonger func(reference string) (bool, error)
	// ByAmount returns at most two requests whose present or first asked amount is this one, to
	// a bank account. It leaves out requests that ended before after.
	ByAmount func(bankAccountID, amount int64, after time.Time) ([]Request, error)
}

// MaxCandidates is how many requests are compared with a transfer.
const MaxCandidates = 100

// clockSlack is how much the clock of a bank may be slow.
const clockSlack = 10 * time.Minute

// MatchTransfer finds the request that money in is for: by its code, else by the shop's
// reference, else by an amount that only this request asks for. In a doubt it finds none, and
// by is empty. A request that was made after the transfer never matches.
func MatchTransfer(t app.Transaction, f Finder) (r Request, by Match, err error) {
	if t.Type != app.In {
		return r, "", nil
	}
	references := f.references(t.Content)
	named, doubt, err := namedBy(t, references, f)
	switch {
	case err != nil:
		return r, "", err
	case t.Code.Text != "":
		ofCode, found, err := f.ByCode(t.Code.Text)
		if err != nil || !found || madeBefore(t, ofCode, MatchedByCode) || named.ID != 0 && named.Reference != ofCode.Reference {
			return r, "", err // money for another order, or for two orders
		}
		return ofCode, MatchedByCode, nil
	case named.ID != 0 && !doubt:
		return named, MatchedByReference, nil
	case doubt || len(references.All()) > 0 || f.Codes.Begins(t.Content):
		return r, "", nil // the content may name an order, so the amount alone isn't enough
	}
	list, err := f.ByAmount(t.BankAccountID, t.Amount, t.Time.Add(-DistinctAmountKept))
	if err != nil || len(list) != 1 || !hasDistinctAmount(t, list[0]) {
		return r, "", err
	}
	return list[0], MatchedByAmount, nil
}

// SpeaksAgainst reports whether the content of an earlier report of a transfer forbids a match
// with the request that a later report names. It does if the earlier content names a code, or
// this request: the money is for another order, or a person has undone the match. It does too
// if it has the request's code or reference in doubt, unless the later content contains the
// whole earlier one, which was then only cut.
func SpeaksAgainst(r app.CodeReader, earlier string, later app.Transaction, named Request) bool {
	key, plain, references := named.ReferenceKey(), app.Squeeze(earlier), paymentcode.References(earlier)
	has := func(name string) bool { return name != "" && strings.Contains(plain, strings.ToLower(name)) }
	return r.Read(earlier).Text != "" || slices.Contains(references.Certain, key) ||
		slices.Contains(references.IfExact, key) && asksFor(named, later) ||
		(has(named.Code) || has(key)) && !strings.Contains(app.Squeeze(later.Content), plain)
}

// references returns the possible references in a content, without those that begin as codes of
// the account: a code that isn't read because of a doubt must not be read as a reference.
func (f Finder) references(content string) paymentcode.Named {
	named := paymentcode.References(content)
	isCode := func(reference string) bool { return f.Codes.Begins(reference) }
	for _, list := range []*[]string{&named.Certain, &named.IfExact, &named.Doubtful} {
		*list = slices.DeleteFunc(*list, isCode)
	}
	return named
}

// namedBy finds the request that a content names by its reference. doubt is true if the
// content may name several requests, or one that can't be read for certain. A reference that
// a bank may have cut or joined counts only if the request asks for just this amount and no
// other request has a longer reference with this beginning.
func namedBy(t app.Transaction, references paymentcode.Named, f Finder) (r Request, doubt bool, err error) {
	all := references.All()
	if len(all) == 0 {
		return r, false, nil
	}
	list, err := f.ByReference(all)
	if err != nil || len(list) == 0 {
		return r, false, err
	}
	if len(list) == MaxCandidates {
		return r, true, nil
	}
	for _, other := range list[1:] {
		if other.Reference != list[0].Reference {
			return r, true, nil
		}
	}
	r, found := ofReference(t, list)
	key := list[0].ReferenceKey()
	if !found || slices.Contains(references.Certain, key) {
		return r, !found, nil
	}
	if !slices.Contains(references.IfExact, key) || !isOpenFor(r, t) || !asksFor(r, t) {
		return Request{}, true, nil
	}
	longer, err := f.HasLonger(key)
	if err != nil || longer {
		return Request{}, true, err
	}
	return r, false, nil
}

func isOpenFor(r Request, t app.Transaction) bool { return r.PaidAt.IsZero() && !r.Ended(t.Time) }

func asksFor(r Request, t app.Transaction) bool { return r.Asked() == t.Amount || r.Rest() == t.Amount }

// ofReference chooses among the requests of one reference, which are in the order of their
// ids. It takes the first that is open for t and asks for its amount, else the first that is
// open, else the last that is neither full nor cancelled, else the last that isn't cancelled,
// else the last.
func ofReference(t app.Transaction, list []Request) (r Request, found bool) {
	list = slices.DeleteFunc(slices.Clone(list), func(r Request) bool { return madeBefore(t, r, MatchedByReference) })
	if len(list) == 0 {
		return r, false
	}
	rank := func(r Request) int {
		switch {
		case isOpenFor(r, t) && asksFor(r, t):
			return 0
		case isOpenFor(r, t):
			return 1
		case r.PaidAt.IsZero() && r.CancelledAt.IsZero():
			return 2
		case r.CancelledAt.IsZero():
			return 3
		}
		return 4
	}
	r = list[0]
	for _, other := range list[1:] {
		if was, is := rank(r), rank(other); is < was || is == was && is >= 2 {
			r = other
		}
	}
	return r, true
}

// hasDistinctAmount reports whether t, which nothing but its amount connects with r, can be for r.
func hasDistinctAmount(t app.Transaction, r Request) bool {
	return r.TransferAmount > r.Amount && r.Received == 0 && !r.Ended(t.Time) && !madeBefore(t, r, MatchedByAmount)
}

// madeBefore reports whether t was made before r. A code names r alone, so with it the bank's
// clock may be wrong by a time zone; long before r, the code may have meant another thing.
func madeBefore(t app.Transaction, r Request, by Match) bool {
	slack := clockSlack
	if t.DateOnly || by == MatchedByCode {
		slack = 24 * time.Hour
	}
	return t.Time.Add(slack).Before(r.CreatedAt)
}
