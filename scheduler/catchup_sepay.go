package scheduler

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// SePay's list, API v2 (developer.sepay.vn: /en/sepay-api/v2/giao-dich/danh-sach
// for the list, /en/sepay-api/v2/xac-thuc for the key, the errors and the
// limit, /en/sepay-webhooks/doi-soat-giao-dich for reading it regularly).
//
// since_id gives the transactions after one that is known. Whether "after" is
// in the order of their dates or in that in which SePay learned of them isn't
// said, and a bank may book late. So the list is read in two ways: by since_id
// in between, and once an hour by date, from three days before the last
// reading by date began. In both, page by page in the order of the dates,
// until has_more is false: what is new meanwhile moves others to later pages,
// never to earlier ones. The first reading is by date, from the day on which
// the source got its API key.
const (
	sepayBase = "https://userapi.sepay.vn"
	// sepayPace keeps to 3 requests a second for each address, with room for
	// what is late on the way.
	sepayPace = 350 * time.Millisecond

	sepayReread = time.Hour
	sepayLate   = app.SameTransferWindow
)

// sepayProgress is how far a list of SePay's is read.
type sepayProgress struct {
	Since string `json:"since,omitempty"` // the last transaction that was read
	Dated int64  `json:"dated,omitempty"` // when the last complete reading by date began; 0: there was none

	// The reading that goes on; Page 0: none does.
	Page  int   `json:"page,omitempty"`  // that is next
	From  int64 `json:"from,omitempty"`  // by date, from this second on; 0: by Since
	Began int64 `json:"began,omitempty"` // when the reading did
	// Last is the last transaction that it met.
	Last string `json:"last,omitempty"`
}

// begin begins a reading, unless one goes on.
func (s *sepayProgress) begin(source app.Source, now time.Time, zone *time.Location) {
	if s.Page > 0 {
		return
	}
	s.Page, s.Began, s.From, s.Last = 1, now.Unix(), 0, ""
	began := time.Unix(s.Dated, 0)
	if s.Since != "" && s.Dated != 0 && now.Before(began.Add(sepayReread)) && !now.Before(began) {
		return
	}
	from := app.DayOf(source.ListFrom, zone).Start(zone)
	if s.Dated != 0 && began.Add(-sepayLate).After(from) {
		from = began.Add(-sepayLate)
	}
	s.From = from.Unix()
}

func (s *sepayProgress) query(zone *time.Location) url.Values {
	q := url.Values{"per_page": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(s.Page)}, "transaction_date_sort": {"asc"}}
	if s.From != 0 {
		q.Set("transaction_date_from", app.FormatTime(time.Unix(s.From, 0), zone))
	} else {
		q.Set("since_id", s.Since)
	}
	return q
}

// read moves on behind a page.
func (s *sepayProgress) read(page sepayPage) {
	if page.last != "" {
		s.Last = page.last
	}
	if page.more {
		s.Page++
		return
	}
	if s.Last != "" {
		s.Since = s.Last
	}
	if s.From != 0 {
		s.Dated = s.Began
	}
	s.Page, s.From, s.Began, s.Last = 0, 0, 0, ""
}

func (s sepayProgress) String() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and integers
	}
	return string(text)
}

func (p *Poller) pollSePay(ctx context.Context, source app.Source, progress string, now time.Time) (app.PolledPage, error) {
	var at sepayProgress
	if json.Unmarshal([]byte(progress), &at) != nil {
		at = sepayProgress{} // the first time
	}
	at.begin(source, now, p.zone)
	base := source.APIURL
	if base == "" {
		base = sepayBase
	}
	body, err := p.get(ctx, &p.sepay, base, "Bearer "+source.APIKey, at.query(p.zone), now)
	if err != nil && at.From == 0 && refusesRequest(err) {
		// A transaction that SePay doesn't know any more: by date, then.
		return app.PolledPage{Progress: sepayProgress{Dated: at.Dated}.String(), More: true}, nil
	}
	if err != nil {
		return app.PolledPage{}, err
	}
	page, err := readSePayPage(body, p.zone)
	if err != nil {
		return app.PolledPage{}, err
	}
	at.read(page)
	return app.PolledPage{Body: body, Elements: page.elements, Progress: at.String(), More: page.more}, nil
}

// sepayPage is an answer of SePay's, read.
type sepayPage struct {
	elements []app.Incoming
	last     string // id of the last element
	more     bool
}

func readSePayPage(body []byte, zone *time.Location) (sepayPage, error) {
	answer, err := readRecord(body)
	if err != nil {
		return sepayPage{}, unreadable("the page: %w", err)
	}
	if status := answer.word("status"); status != "success" {
		return sepayPage{}, unreadable("the page has the status %.20q", status)
	}
	items, ok := answer.list("data")
	if !ok {
		return sepayPage{}, unreadable("the page has no data")
	}
	page := sepayPage{elements: readElements(items, func(r record) app.Incoming { return readSePayRecord(r, zone) })}
	for _, e := range page.elements {
		if !strings.HasPrefix(e.EventID, noID) {
			page.last = e.EventID
		}
	}
	var meta struct {
		Pagination struct {
			HasMore *bool `json:"has_more"`
		} `json:"pagination"`
	}
	if json.Unmarshal(answer.values["meta"], &meta) != nil || meta.Pagination.HasMore == nil {
		return page, unreadable("the page doesn't say whether more follow")
	}
	page.more = *meta.Pagination.HasMore && len(items) > 0
	return page, nil
}

// sepayMoney are the keys of a record that must be unmistakable.
var sepayMoney = []string{"id", "account_number", "transfer_type", "amount_in", "amount_out", "reference_number", "bank_brand_name"}

func readSePayRecord(r record, zone *time.Location) app.Incoming {
	e := app.Incoming{
		EventID: r.word("id"), Gateway: r.word("bank_brand_name"), AccountNumber: r.word("account_number"),
		Number: r.word("reference_number"), Content: r.word("transaction_content"),
	}
	e.SetDate(r.word("transaction_date"), zone)
	amount, other := "amount_in", "amount_out"
	switch strings.ToLower(r.word("transfer_type")) {
	case "in":
		e.Type = app.In
	case "out":
		e.Type, amount, other = app.Out, other, amount
	default:
		e.Fault = &app.FieldError{Field: "transfer_type", Text: app.Text{EN: "must be in or out", VI: "phải là in hoặc out"}}
	}
	n, err := r.amount(amount)
	if err == nil && n > 0 {
		e.Amount = n
	} else if e.Fault == nil {
		e.Fault = &app.FieldError{Field: amount, Text: app.AmountFault(err)}
	}
	if !r.zero(other) && e.Fault == nil {
		e.Fault = &app.FieldError{Field: other, Text: app.Text{EN: "must be 0 beside " + amount, VI: "phải bằng 0 khi có " + amount}}
	}
	if fault := r.repeated(sepayMoney); fault != nil {
		e.Fault = fault
	}
	return e
}
