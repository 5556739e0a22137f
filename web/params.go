package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// params reads query parameters and notes what is wrong with them. An empty
// value is the same as none; unknown parameters are ignored.
type params struct {
	values url.Values
	zone   *time.Location
	bad    app.Invalid
}

// paramsOf reads those of a request. Dates without a zone are of zone.
func paramsOf(r *http.Request, zone *time.Location) *params {
	p := &params{zone: zone}
	var err error
	if p.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		// A filter that was lost would list more than was asked for.
		p.bad.Add("query", "is not a well-formed query string", "không phải chuỗi truy vấn hợp lệ")
	}
	return p
}

func (p *params) page() app.Page {
	return app.Page{
		Number: p.number("page", 1, 1, 1<<40, "must be a whole number from 1", "phải là số nguyên từ 1"),
		Size: int(p.number("per_page", app.DefaultPageSize, 1, app.MaxPageSize,
			"must be a whole number from 1 to 100", "phải là số nguyên từ 1 đến 100")),
	}
}

func (p *params) number(name string, otherwise, least, most int64, en, vi string) int64 {
	text := p.values.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || strings.HasPrefix(text, "+") {
		p.bad.Add(name, en, vi)
		return otherwise
	}
	return n
}

// id is a reference to something of the account's; 0 where none is given.
func (p *params) id(name string) int64 {
	text := p.values.Get(name)
	if text == "" {
		return 0
	}
	id, ok := parseID(text)
	if !ok {
		p.bad.Add(name, app.UnknownReference.EN, app.UnknownReference.VI)
	}
	return id
}

func (p *params) direction() app.Direction {
	switch d := app.Direction(p.values.Get("type")); d {
	case "", app.In, app.Out:
		return d
	}
	p.bad.Add("type", "must be IN or OUT", "phải là IN hoặc OUT")
	return ""
}

func (p *params) bound(name string, upper bool) time.Time {
	text := p.values.Get(name)
	if text == "" {
		return time.Time{}
	}
	t, err := app.ParseBound(text, upper, p.zone)
	if err != nil {
		p.bad.Add(name, "must be a date as Y-m-d or Y-m-d H:i:s", "phải là ngày dạng Y-m-d hoặc Y-m-d H:i:s")
	}
	return t
}

func (p *params) amount(name string) int64 {
	return app.ReadAmountBound(name, p.values.Get(name), name == "min_amount", &p.bad)
}

// query is what is searched for.
func (p *params) query() string { return app.ReadQuery(p.values.Get("q"), &p.bad) }

// historyFilter reads a filter of the history, but for its page.
func (p *params) historyFilter() app.HistoryFilter {
	f := app.HistoryFilter{
		WebhookID: p.id("webhook_id"), DeliveryID: p.id("delivery_id"), TransactionID: p.id("transaction_id"),
		Type: p.direction(), From: p.bound("from", false), To: p.bound("to", true), Query: p.query(),
	}
	switch p.values.Get("status") {
	case "":
	case "0", "1":
		success := p.values.Get("status") == "1"
		f.OK = &success
	default:
		p.bad.Add("status", "must be 1 (success) or 0 (error)", "phải là 1 (thành công) hoặc 0 (lỗi)")
	}
	return f
}

// readDeliveryState reads what a listing of transactions can be narrowed by.
func readDeliveryState(text string, bad *app.Invalid) app.DeliveryState {
	state := app.DeliveryState(text)
	if state == "" || slices.Contains(app.TransactionStates, state) {
		return state
	}
	bad.Add("delivery_state", "must be failed, pending, delivered or unsent", "phải là failed, pending, delivered hoặc unsent")
	return ""
}
