package dashboard

import (
	"net/url"

	"baoco/app"
	"baoco/app/payment"
)

const unmatchedPath = "/payments/unmatched"

// unmatchedData is the page of money in without a payment request: the transactions that wait
// for a person, a page of the rest, and the transactions that were put aside last.
type unmatchedData struct {
	Unmatched int64 // how many transactions wait for a person
	Waiting   []payment.UnmatchedTransaction
	Older     bool // more wait than are shown
	Rest      unmatchedList
	Aside     unmatchedList
	Pages     pages // of Rest
}

type unmatchedList struct {
	Rows  []payment.UnmatchedTransaction
	Total int64
}

// maxWaiting is how many transactions that wait for a person are shown at once.
const maxWaiting = 50

func (s *Server) unmatchedPage(v *visit) error {
	waiting, err := s.Services.Payments.WaitingForPerson(v.Context(), v.account.ID, v.now)
	if err != nil {
		return err
	}
	rest := payment.UnmatchedFilter{Page: pageOf(v)}
	for _, t := range waiting {
		rest.Without = append(rest.Without, t.ID)
	}
	d := unmatchedData{Unmatched: int64(len(waiting)), Waiting: waiting[:min(len(waiting), maxWaiting)],
		Older: len(waiting) > maxWaiting}
	list := func(f payment.UnmatchedFilter) (l unmatchedList, err error) {
		l.Rows, l.Total, err = s.Services.Payments.UnmatchedTransactions(v.Context(), v.account.ID, f, v.now)
		return l, err
	}
	if d.Rest, err = list(rest); err != nil {
		return err
	}
	aside := payment.UnmatchedFilter{Aside: true, Page: app.Page{Number: 1, Size: rest.Page.Size}}
	if d.Aside, err = list(aside); err != nil {
		return err
	}
	d.Pages = pagesOf(rest.Page, d.Rest.Total, url.Values{}, unmatchedPath)
	return s.render(v, nil, pageHead{"unmatched", "payments", app.Text{EN: "Money without a request", VI: "Tiền chưa ghép"}}, d)
}
