package dashboard

import (
	"net/http"
	"strconv"
	"time"

	"baoco/app"
)

// The counter screen: money in as it comes, large, for the shop's tablet. A
// signed-in user opens it as it is; a link opens it without anybody signed in,
// and then only the link decides what it shows.

// counterData is what the counter screen shows.
type counterData struct {
	Name  string // of the counter; empty: a signed-in user's
	Live  string // address of the stream
	Cards []counterCard
	Total string // of today; empty: not shown
}

// counterCard is one transaction on the counter.
type counterCard struct {
	words
	app.Transaction
	Say string // the text to speak; empty: the money is too old
}

// Only new money is announced. Money that a screen missed while it was offline, or
// an old transfer that a statement or a provider's list brings only now, would be
// taken for the next customer's.
const (
	spokenFor    = 2 * time.Minute  // after it was recorded
	spokenWithin = 30 * time.Minute // after the transfer, if its time is known; providers may be late
)

// isNews tells whether money on a counter is announced at now.
func isNews(t app.Transaction, now time.Time) bool {
	return now.Sub(t.CreatedAt) < spokenFor && (t.DateOnly || now.Sub(t.Time) < spokenWithin)
}

func (s *Server) counterCards(v *visit, link app.CounterLink, sinceID *int64, now time.Time) ([]counterCard, error) {
	list, err := s.Service.CounterTransactions(v.Context(), link, sinceID, now)
	w := v.at(now)
	cards := make([]counterCard, len(list))
	for i, t := range list {
		cards[i] = counterCard{words: w, Transaction: t}
		if isNews(t, now) {
			cards[i].Say = app.Announcement(t.Amount).In(v.Lang)
		}
	}
	return cards, err
}

// counterTotal is the line about today; empty if the link shows none.
func (s *Server) counterTotal(v *visit, link app.CounterLink, now time.Time) (string, error) {
	if !link.ShowsTotal {
		return "", nil
	}
	sum, err := s.Service.CounterTotal(v.Context(), link, now)
	return v.T("Today: ", "Hôm nay: ") + "+" + v.Money(sum.Total) + " · " + v.Count(sum.Count, "payment", "payments", "giao dịch"), err
}

// ownCounter is the counter of a signed-in user, in the form of a link.
func ownCounter(v *visit) app.CounterLink { return app.CounterLink{AccountID: v.account.ID} }

func (s *Server) counterPage(v *visit) error {
	return s.showCounter(v, ownCounter(v), livePath+"/counter")
}

func (s *Server) counterLinkPage(v *visit) error {
	token := v.PathValue("token")
	link, err := s.Service.CounterLink(v.Context(), token)
	if err != nil {
		return err
	}
	return s.showCounter(v, link, livePath+"/counter/"+token)
}

func (s *Server) showCounter(v *visit, link app.CounterLink, live string) error {
	cards, err := s.counterCards(v, link, nil, v.now)
	if err != nil {
		return err
	}
	data := counterData{Name: link.Name, Cards: cards}
	if data.Total, err = s.counterTotal(v, link, v.now); err != nil {
		return err
	}
	// The stream begins after the newest card, or a day ago if there is no card.
	var newest int64
	if len(cards) > 0 {
		newest = cards[0].ID
	}
	data.Live = live + "?since=" + strconv.FormatInt(newest, 10)
	v.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	return s.write(v, http.StatusOK, "screen", s.view(v, "counter", app.Text{EN: "Counter screen", VI: "Màn hình quầy"}, data))
}
