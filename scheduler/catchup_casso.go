package scheduler

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// Casso's list, API v2 (developer.casso.vn/casso-api/api/lay-giao-dich; the key
// as in /casso-api/chung-thuc/tao-api-key-thu-cong). Its records have the ids
// of Casso's calls, so a transaction is known by its id whichever way it came.
//
// The list is narrowed by days alone. Every reading goes from the day before
// that on which the last complete one began, since a bank may book late, page
// by page in the order of the dates: what is new meanwhile moves others to
// later pages, never to earlier ones. The first goes from the day on which the
// source got its API key.
const (
	cassoBase = "https://oauth.casso.vn"
	// cassoPace is the same as for SePay: Casso states no limit.
	cassoPace = sepayPace
)

// cassoProgress is how far a list of Casso's is read. Days are Y-m-d.
type cassoProgress struct {
	Day string `json:"day,omitempty"` // on which the last complete reading began

	// The reading that goes on; Page 0: none does.
	Page  int    `json:"page,omitempty"` // that is next
	From  string `json:"from,omitempty"`
	Began string `json:"began,omitempty"`
}

// begin begins a reading, unless one goes on.
func (c *cassoProgress) begin(source app.Source, now time.Time, zone *time.Location) {
	if c.Page > 0 {
		return
	}
	from := app.DayOf(source.ListFrom, zone)
	if last, err := app.ParseDay(c.Day); err == nil {
		from = max(from, last-1)
	}
	c.Page, c.From, c.Began = 1, from.String(), app.DayOf(now, zone).String()
}

func (c *cassoProgress) query(now time.Time, zone *time.Location) url.Values {
	return url.Values{
		"fromDate": {c.From}, "toDate": {(app.DayOf(now, zone) + 1).String()}, // whether it counts itself isn't said
		"page": {strconv.Itoa(c.Page)}, "pageSize": {strconv.Itoa(pageSize)}, "sort": {"ASC"},
	}
}

// read moves on behind a page.
func (c *cassoProgress) read(page cassoPage) (more bool) {
	if c.Page < page.pages && len(page.elements) > 0 {
		c.Page++
		return true
	}
	*c = cassoProgress{Day: c.Began}
	return false
}

func (p *Poller) pollCasso(ctx context.Context, source app.Source, progress string, now time.Time) (app.PolledPage, error) {
	var at cassoProgress
	if json.Unmarshal([]byte(progress), &at) != nil {
		at = cassoProgress{} // the first time
	}
	at.begin(source, now, p.zone)
	base := source.APIURL
	if base == "" {
		base = cassoBase
	}
	body, err := p.get(ctx, &p.casso, base, "Apikey "+source.APIKey, at.query(now, p.zone), now)
	if err != nil {
		return app.PolledPage{}, err
	}
	page, err := readCassoPage(body, p.zone)
	if err != nil {
		return app.PolledPage{}, err
	}
	more := at.read(page)
	text, err := json.Marshal(at)
	return app.PolledPage{Body: body, Elements: page.elements, Progress: string(text), More: more}, err
}

// cassoPage is an answer of Casso's, read.
type cassoPage struct {
	elements []app.Incoming
	pages    int // there are
}

func readCassoPage(body []byte, zone *time.Location) (cassoPage, error) {
	answer, err := readRecord(body)
	if err != nil {
		return cassoPage{}, unreadable("the page: %w", err)
	}
	if fault := cassoError(answer); fault != nil {
		return cassoPage{}, fault
	}
	data, err := readRecord(answer.values["data"])
	if err != nil {
		return cassoPage{}, unreadable("the page's data: %w", err)
	}
	items, ok := data.list("records")
	if !ok {
		return cassoPage{}, unreadable("the page has no records")
	}
	page := cassoPage{elements: readElements(items, func(r record) app.Incoming { return readCassoRecord(r, zone) })}
	if page.pages, ok = data.number("totalPages"); !ok {
		return page, unreadable("the page doesn't say how many there are")
	}
	return page, nil
}

// cassoError is the fault that an answer of status 200 names: 0 is none, the
// others are numbered as the statuses of HTTP.
func cassoError(answer record) error {
	code, known := answer.number("error")
	switch {
	case known && code == 0:
		return nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return &app.PollError{Fault: app.PollKeyRefused, Err: statusError(code)}
	case code == http.StatusTooManyRequests:
		return &app.PollError{Fault: app.PollRateLimited, Err: statusError(code)}
	}
	return unreadable("the page has the error %d", code)
}

// cassoMoney are the keys of a record that must be unmistakable.
var cassoMoney = []string{"id", "tid", "amount", "bankSubAccId", "bank_sub_acc_id", "subAccId", "bankCodeName"}

func readCassoRecord(r record, zone *time.Location) app.Incoming {
	e := app.Incoming{
		EventID: r.word("id"), EventIDChannel: app.ChannelCall, Gateway: cassoBank(r.word("bankCodeName")), AccountNumber: r.word("bankSubAccId", "bank_sub_acc_id", "subAccId"),
		Number: r.word("tid"), Content: r.word("description"), Type: app.In,
	}
	e.SetDate(r.word("when"), zone)
	n, err := r.amount("amount")
	switch {
	case err != nil:
		e.Fault = &app.FieldError{Field: "amount", Text: app.AmountFault(err)}
	case n < 0:
		e.Type, e.Amount = app.Out, -n
	default:
		e.Amount = n
	}
	if fault := r.repeated(cassoMoney); fault != nil {
		e.Fault = fault
	}
	return e
}

// cassoBank is the bank that a name such as acb_digi begins with; empty where
// none is known, since the account number tells then.
func cassoBank(name string) string {
	first, _, _ := strings.Cut(name, "_")
	if bank, known := app.FindBank(first); known {
		return bank.Code
	}
	return ""
}
