package payment

import (
	"context"
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

// Unmatched money is money in that no payment request was found for: the payer changed the
// content, or a bank lost it. A person matches it; baoco only names the likeliest
// requests, and never chooses.

// UnmatchedKept is how far back unmatched money is listed.
const UnmatchedKept = 30 * 24 * time.Hour

// mostLikely is how many requests are named for a transaction.
const mostLikely = 3

// UnmatchedTransaction is a transaction without a payment request, and the requests that
// it may be for, the likeliest first.
type UnmatchedTransaction struct {
	app.Transaction
	Likely []Request
}

// MaxContents is of how many transfers of a request the contents are looked at.
const MaxContents = 10

// Candidate is a request that unmatched money may be for, with the contents of the
// last transfers that came for it.
type Candidate struct {
	Request
	Contents string
	words    []string // of Contents
}

// UnmatchedTransactions lists a page of the unmatched money of the last 30 days, newest
// first, and counts it. It is empty where the account never had a payment request.
func (s *Service) UnmatchedTransactions(ctx context.Context, accountID int64, page app.Page,
	now time.Time) ([]UnmatchedTransaction, int64, error) {
	rows, total, err := s.store.UnmatchedTransactions(ctx, accountID, now.Add(-UnmatchedKept), page)
	if err != nil || len(rows) == 0 {
		return nil, total, err
	}
	list := make([]UnmatchedTransaction, len(rows))
	candidates, err := s.paymentCandidates(ctx, accountID)
	for i, t := range rows {
		list[i] = UnmatchedTransaction{t, likeliest(t, candidates)}
	}
	return list, total, err
}

// LikelyPayments names the requests that a transaction may be for.
func (s *Service) LikelyPayments(ctx context.Context, t app.Transaction) ([]Request, error) {
	if t.Type != app.In || t.PaymentRequest.ID != 0 {
		return nil, nil
	}
	candidates, err := s.paymentCandidates(ctx, t.AccountID)
	return likeliest(t, candidates), err
}

func (s *Service) paymentCandidates(ctx context.Context, accountID int64) ([]Candidate, error) {
	list, err := s.store.PaymentCandidates(ctx, accountID, MaxCandidates)
	for i, c := range list {
		list[i].words = slices.DeleteFunc(paymentcode.Words(c.Contents), func(word string) bool {
			return len(word) < 2 || strings.ContainsAny(word, "0123456789") || slices.Contains(everydayWords, word)
		})
	}
	return list, err
}

// Points of what speaks for a request. One whose points are fewer than leastPoints isn't
// named.
const (
	pointsExact     = 4 // the amount that is asked for
	pointsPart      = 1 // less than it
	pointsCode      = 5 // the code or the reference is in the content
	pointsTypo      = 3 // but for one character
	pointsNearTypo  = 1 // but for two
	pointsSoon      = 2 // within soon of the request
	pointsSameDay   = 1
	pointsPayer     = 2 // words of the content stand in an earlier transfer for the request
	leastPoints     = 5
	soonAfter       = time.Hour
	leastPayerWords = 2
)

// likeliest are the requests that speak most for being paid by t.
func likeliest(t app.Transaction, candidates []Candidate) []Request {
	type scored struct {
		Request
		points int
	}
	var list []scored
	words := paymentcode.Words(t.Content)
	for _, c := range candidates {
		if madeBefore(t, c.Request, MatchedByHand) {
			continue
		}
		if points := pointsFor(t, c, words); points >= leastPoints {
			list = append(list, scored{c.Request, points})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return b.points - a.points })
	var likely []Request
	for _, one := range list[:min(len(list), mostLikely)] {
		likely = append(likely, one.Request)
	}
	return likely
}

func pointsFor(t app.Transaction, c Candidate, words []string) (points int) {
	switch {
	case t.Amount == c.Asked() || t.Amount == c.Rest():
		points = pointsExact
	case t.Amount < c.Rest():
		points = pointsPart
	}
	points += max(pointsForCode(c.Code, words), pointsForCode(c.ReferenceKey(), words))
	switch after := t.Time.Sub(c.CreatedAt); {
	case after <= soonAfter:
		points += pointsSoon
	case after <= 24*time.Hour:
		points += pointsSameDay
	}
	shared := 0
	for _, word := range c.words {
		if slices.Contains(words, word) {
			shared++
		}
	}
	if shared >= leastPayerWords {
		points += pointsPayer
	}
	return points
}

// everydayWords stand in contents of everybody.
var everydayWords = strings.Fields("CHUYEN TIEN KHOAN CK CT THANH TOAN TT TRA MUA HANG DON TU TOI DEN CHO NOI DUNG ND IBFT CAM ON")

// pointsForCode compares a code with words and with two words that stand together.
func pointsForCode(code string, words []string) int {
	if code == "" {
		return 0
	}
	nearest := len(code)
	for i, word := range words {
		nearest = min(nearest, distance(code, word))
		if i > 0 {
			nearest = min(nearest, distance(code, words[i-1]+word))
		}
	}
	switch nearest {
	case 0:
		return pointsCode
	case 1:
		return pointsTypo
	case 2:
		return pointsNearTypo
	}
	return 0
}

// distance is how many characters of a word were changed, left out or added to make b of
// a, up to 3; more count as 3.
func distance(a, b string) int {
	const most = 3
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(most, row[len(b)])
}
