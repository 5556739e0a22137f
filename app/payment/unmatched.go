package payment

import (
	"context"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/paymentcode"
)

// Unmatched money is money in for which no payment request was found: the payer changed the
// content, or a bank lost it. A person matches it; baoco only names the likeliest requests, and
// never chooses. A person puts money aside that belongs to no order. In a shop that makes
// requests for some customers only, most unmatched money has no request: so only money with a
// likely request waits for a person.

// Deeds of the audit log.
const (
	DeedPutAside app.Deed = "transaction.put_aside"
	DeedTakeBack app.Deed = "transaction.take_back"
)

// UnmatchedKept is how far back unmatched money is listed.
const UnmatchedKept = 30 * 24 * time.Hour

const mostLikely = 3

// UnmatchedTransaction is a transaction without a payment request, and the requests that
// it may be for, the likeliest first.
type UnmatchedTransaction struct {
	app.Transaction
	Likely []Request
}

// MaxContents is how many transfers of a request have their contents compared.
const MaxContents = 10

// Candidate is a request that unmatched money may be for, with the contents of the
// last transfers that came for it.
type Candidate struct {
	Request
	Contents string
	words    []string // the words of Contents
}

// UnmatchedFilter narrows a listing of unmatched money.
type UnmatchedFilter struct {
	Since   time.Time
	Aside   bool    // true: only money that was put aside; false: only other money
	Without []int64 // transactions that are left out
	Page    app.Page
}

// UnmatchedTransactions lists a page of the unmatched money of the last 30 days, newest
// first, and counts it. The list is empty if the account never had a payment request.
func (s *Service) UnmatchedTransactions(ctx context.Context, accountID int64, f UnmatchedFilter,
	now time.Time) ([]UnmatchedTransaction, int64, error) {
	f.Since = now.Add(-UnmatchedKept)
	rows, total, err := s.store.UnmatchedTransactions(ctx, accountID, f)
	if err != nil || len(rows) == 0 {
		return nil, total, err
	}
	candidates, err := s.paymentCandidates(ctx, accountID)
	return withLikely(rows, candidates), total, err
}

func withLikely(rows []app.Transaction, candidates []Candidate) []UnmatchedTransaction {
	list := make([]UnmatchedTransaction, len(rows))
	for i, t := range rows {
		list[i] = UnmatchedTransaction{t, likeliest(t, candidates)}
	}
	return list
}

// maxLooked is how many unmatched transactions are searched for those with a likely request.
const maxLooked = 1000

// WaitingForPerson lists the unmatched money that has a likely request, newest first. It
// searches the newest maxLooked unmatched transactions.
func (s *Service) WaitingForPerson(ctx context.Context, accountID int64, now time.Time) ([]UnmatchedTransaction, error) {
	candidates, err := s.paymentCandidates(ctx, accountID)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	rows, _, err := s.store.UnmatchedTransactions(ctx, accountID,
		UnmatchedFilter{Since: now.Add(-UnmatchedKept), Page: app.Page{Number: 1, Size: maxLooked}})
	return slices.DeleteFunc(withLikely(rows, candidates), func(t UnmatchedTransaction) bool { return len(t.Likely) == 0 }), err
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

// These are the points for a request. A request with fewer than leastPoints isn't named.
const (
	pointsExact     = 4 // the amount that is asked for
	pointsPart      = 1 // less than the rest
	pointsCode      = 5 // the code or the reference is in the content
	pointsTypo      = 3 // the same with one wrong character
	pointsNearTypo  = 1 // the same with two wrong characters
	pointsSoon      = 2 // at most soonAfter after the request
	pointsSameDay   = 1 // at most 24 hours after the request
	pointsPayer     = 2 // at least leastPayerWords words are in an earlier transfer for the request
	leastPoints     = 5
	soonAfter       = time.Hour
	leastPayerWords = 2
)

// likeliest returns the requests that t most likely pays, at most mostLikely.
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

// everydayWords are words that many payers write into contents.
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

// distance returns how many characters must be changed, left out or added to make b from a;
// 3: three or more.
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
		if slices.Min(row) >= most {
			return most // it only grows
		}
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
