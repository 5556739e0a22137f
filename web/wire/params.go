package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// Params reads query parameters and notes errors in them. An empty value is the same
// as none; unknown parameters are ignored.
type Params struct {
	Values url.Values
	Zone   *time.Location
	Bad    app.Invalid
}

// ParamsOf reads the query of a request. Dates without a zone are in zone.
func ParamsOf(r *http.Request, zone *time.Location) *Params {
	p := &Params{Zone: zone}
	var err error
	if p.Values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		// Without a lost filter the answer would list more than the client asked for.
		p.Bad.Add("query", "is not a well-formed query string", "không phải chuỗi truy vấn hợp lệ")
	}
	return p
}

// Page reads page and per_page.
func (p *Params) Page() app.Page {
	return app.Page{Number: p.pageNumber(), Size: p.pageSize(app.MaxPageSize)}
}

// ListPage is Page with at most most items a page; the zero value if neither parameter is given.
func (p *Params) ListPage(most int) app.Page {
	if p.Values.Get("page") == "" && p.Values.Get("per_page") == "" {
		return app.Page{}
	}
	return app.Page{Number: p.pageNumber(), Size: p.pageSize(most)}
}

func (p *Params) pageNumber() int64 {
	return p.Number("page", 1, 1, 1<<40, app.Text{EN: "must be a whole number from 1", VI: "phải là số nguyên từ 1"})
}

func (p *Params) pageSize(most int) int {
	rule := app.Textf("must be a whole number from 1 to %d", "phải là số nguyên từ 1 đến %d", most)
	return int(p.Number("per_page", app.DefaultPageSize, 1, int64(most), rule))
}

// Number reads a whole number from least to most; otherwise is returned if it is missing.
func (p *Params) Number(name string, otherwise, least, most int64, rule app.Text) int64 {
	text := p.Values.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || strings.HasPrefix(text, "+") {
		p.Bad.Add(name, rule.EN, rule.VI)
		return otherwise
	}
	return n
}

// ID reads the id of a row of the account; 0 if it is missing.
func (p *Params) ID(name string) int64 {
	text := p.Values.Get(name)
	if text == "" {
		return 0
	}
	id, ok := ParseID(text)
	if !ok {
		p.Bad.Add(name, app.UnknownReference.EN, app.UnknownReference.VI)
	}
	return id
}

// delivery reads delivery_id, as a number or in the form of webhook-id; 0 if it is missing.
func (p *Params) delivery() int64 {
	text := p.Values.Get("delivery_id")
	id, ok := delivery.ParseID(text)
	if text != "" && !ok {
		p.Bad.Add("delivery_id", app.UnknownReference.EN, app.UnknownReference.VI)
	}
	return id
}

// Truth reads true or false; nil if it is missing.
func (p *Params) Truth(name string) *bool {
	switch text := p.Values.Get(name); text {
	case "":
	case "true", "false":
		return new(text == "true")
	default:
		p.Bad.Add(name, "must be true or false", "phải là true hoặc false")
	}
	return nil
}

// Direction reads type; empty if it is missing.
func (p *Params) Direction() app.Direction {
	switch d := app.Direction(p.Values.Get("type")); d {
	case "", app.In, app.Out:
		return d
	}
	p.Bad.Add("type", "must be IN or OUT", "phải là IN hoặc OUT")
	return ""
}

// Bound reads the lower or upper bound of a period; the zero time if it is missing.
func (p *Params) Bound(name string, upper bool) time.Time {
	text := p.Values.Get(name)
	if text == "" {
		return time.Time{}
	}
	t, err := app.ParseBound(text, upper, p.Zone)
	if err != nil {
		p.Bad.Add(name, "must be a date as Y-m-d or Y-m-d H:i:s", "phải là ngày dạng Y-m-d hoặc Y-m-d H:i:s")
	}
	return t
}

// Amount reads a bound of amounts.
func (p *Params) Amount(name string) int64 {
	return app.ReadAmountBound(name, p.Values.Get(name), name == "min_amount", &p.Bad)
}

// Search reads q, the text to search for.
func (p *Params) Search() string { return app.ReadQuery(p.Values.Get("q"), &p.Bad) }

// HistoryFilter reads a filter of the history, but for its page.
func (p *Params) HistoryFilter() delivery.HistoryFilter {
	f := delivery.HistoryFilter{
		WebhookID: p.ID("webhook_id"), DeliveryID: p.delivery(), TransactionID: p.ID("transaction_id"),
		Type: p.Direction(), From: p.Bound("from", false), To: p.Bound("to", true), Query: p.Search(),
	}
	switch p.Values.Get("status") {
	case "":
	case "0", "1":
		f.OK = new(p.Values.Get("status") == "1")
	default:
		p.Bad.Add("status", "must be 1 (success) or 0 (error)", "phải là 1 (thành công) hoặc 0 (lỗi)")
	}
	return f
}

// ReadDeliveryState reads the delivery state by which transactions are filtered.
func ReadDeliveryState(text string, bad *app.Invalid) app.DeliveryState {
	state := app.DeliveryState(text)
	if state == "" || slices.Contains(app.TransactionStates, state) {
		return state
	}
	bad.Add("delivery_state", "must be failed, pending, delivered or unsent", "phải là failed, pending, delivered hoặc unsent")
	return ""
}
