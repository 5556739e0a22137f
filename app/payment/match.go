package payment

import (
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/paymentcode"
)

// A transfer is matched with a payment request in the commit that records it, or stays
// unmatched until a person matches it.

// Finder is what the storage asks to match a transfer: the requests that it may be
// for, and the code patterns of the account.
type Finder struct {
	Codes app.CodeReader
	// ByCode gives the request with a code, whatever its status. found is false where
	// there is none.
	ByCode func(code string) (r Request, found bool, err error)
	// ByReference gives requests with one of these references, in the normal form of
	// package paymentcode: at most MaxCandidates, by id.
	ByReference func(references []string) ([]Request, error)
	// GoesOn tells whether a request has a longer reference that begins with this one, in
	// the normal form.
	GoesOn func(reference string) (bool, error)
	// ByAmount gives requests that ask for a transfer of this amount to a bank account, or
	// asked for it at first, unless they had ended at a time: at most two.
	ByAmount func(bankAccountID, amount int64, after time.Time) ([]Request, error)
}

// MaxCandidates is how many requests are looked at for a transfer.
const MaxCandidates = 100

// clockSlack is how much the clock of a bank may be behind.
const clockSlack = 10 * time.Minute

// MatchTransfer finds the request that money in is for: by its code, else by the shop's
// reference, else by an amount that only this request asks for. It finds none where
// there is a doubt; then by is empty. A transfer that was made before a request is for
// none.
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
			return r, "", err // another order's, or of two orders
		}
		return ofCode, MatchedByCode, nil
	case named.ID != 0 && !doubt:
		return named, MatchedByReference, nil
	case doubt || len(references.All()) > 0 || f.Codes.Begins(t.Content):
		return r, "", nil // the content isn't lost: it says something that isn't understood
	}
	list, err := f.ByAmount(t.BankAccountID, t.Amount, t.Time.Add(-DistinctAmountKept))
	if err != nil || len(list) != 1 || !hasDistinctAmount(t, list[0]) {
		return r, "", err
	}
	return list[0], MatchedByAmount, nil
}

// SpeaksAgainst reports whether the content of an earlier report of a transfer speaks
// against the request that a later one names. A content that names a code, or this request,
// does: the money is for another order, or a person has parted it from this one. A content
// that has the code or the reference, but in doubt, does too, unless the later content has
// all of it: then the earlier one was only cut.
func SpeaksAgainst(r app.CodeReader, earlier string, later app.Transaction, named Request) bool {
	key, plain, references := named.ReferenceKey(), app.Squeeze(earlier), paymentcode.References(earlier)
	has := func(name string) bool { return name != "" && strings.Contains(plain, strings.ToLower(name)) }
	return r.Read(earlier).Text != "" || slices.Contains(references.Certain, key) ||
		slices.Contains(references.IfExact, key) && asksFor(named, later) ||
		(has(named.Code) || has(key)) && !strings.Contains(app.Squeeze(later.Content), plain)
}

// references are what may be references in a content, but for codes of the account: what
// isn't read as a code for a doubt must not be read as a reference.
func (f Finder) references(content string) paymentcode.Named {
	named := paymentcode.References(content)
	isCode := func(reference string) bool { return f.Codes.Begins(reference) }
	for _, list := range []*[]string{&named.Certain, &named.IfExact, &named.Doubtful} {
		*list = slices.DeleteFunc(*list, isCode)
	}
	return named
}

// namedBy finds the request that a content names by its reference. doubt is true where it
// may name several, or more of a reference than can be read. What only a bank may have cut
// or joined is whole where the request asks for just this amount, and no other one has a
// longer reference.
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
	longer, err := f.GoesOn(key)
	if err != nil || longer {
		return Request{}, true, err
	}
	return r, false, nil
}

func isOpenFor(r Request, t app.Transaction) bool { return r.PaidAt.IsZero() && !r.Ended(t.Time) }

func asksFor(r Request, t app.Transaction) bool { return r.Asked() == t.Amount || r.Rest() == t.Amount }

// ofReference chooses among the requests of one reference, which are in the order of their
// ids: one that can be paid when t is made, of these one that asks for its amount, else
// the first; else the last that isn't full, else the last that isn't cancelled, else the
// last.
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

// hasDistinctAmount reports whether t can be for r, of which only the amount is known.
func hasDistinctAmount(t app.Transaction, r Request) bool {
	return r.TransferAmount > r.Amount && r.Received == 0 && !r.Ended(t.Time) && !madeBefore(t, r, MatchedByAmount)
}

// before reports whether t was made before r. A code may have been used for another thing
// long ago; but it names r alone, so the clock of its bank may be wrong by a time zone.
func madeBefore(t app.Transaction, r Request, by Match) bool {
	slack := clockSlack
	if t.DateOnly || by == MatchedByCode {
		slack = 24 * time.Hour
	}
	return t.Time.Add(slack).Before(r.CreatedAt)
}
