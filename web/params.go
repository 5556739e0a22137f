package web

import (
	"net/url"
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

func (s *Server) params(q *query) *params {
	p := &params{zone: s.service.Zone()}
	var err error
	if p.values, err = url.ParseQuery(q.URL.RawQuery); err != nil {
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

// fields reads the members of a request body and notes what is wrong with
// them: unknown ones, ones that come twice, and those of the wrong type.
type fields struct {
	body jsonValue
	bad  app.Invalid
}

func (q *query) fields(known ...string) (*fields, error) {
	f := &fields{body: q.body}
	if len(q.raw) > 0 && q.body.kind != jsonObject {
		return nil, app.InvalidField("body", "must be a JSON object", "phải là một đối tượng JSON")
	}
	seen := map[string]bool{}
	for _, m := range q.body.members {
		switch {
		case !contains(known, m.key):
			f.bad.Add(app.CleanText(m.key, 100), "is not a known field", "không phải trường hợp lệ")
		case seen[m.key]:
			f.bad.Add(m.key, "is given twice", "bị lặp lại")
		}
		seen[m.key] = true
	}
	return f, nil
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// optional is a string where one is given.
func (f *fields) optional(name string) *string {
	v, found := f.body.lookup(name)
	if !found {
		return nil
	}
	if v.kind != jsonString {
		f.bad.Add(name, "must be a string", "phải là chuỗi ký tự")
		return nil
	}
	return &v.text
}

func (f *fields) required(name string) string {
	if _, found := f.body.lookup(name); !found {
		f.bad.Add(name, "is required", "là bắt buộc")
		return ""
	}
	if s := f.optional(name); s != nil {
		return *s
	}
	return ""
}

// reference is an id; 0 for none or null.
func (f *fields) reference(name string) int64 {
	v := f.body.get(name)
	if v.kind == jsonNull {
		return 0
	}
	id, ok := parseID(v.text)
	if v.kind != jsonNumber || !ok {
		f.bad.Add(name, "must be the integer id of something in this account, or null", "phải là id (số nguyên) có trong tài khoản này, hoặc null")
	}
	return id
}

// whole is a whole number within bounds.
func (f *fields) whole(name string, otherwise, least, most int, en, vi string) int {
	v := f.body.get(name)
	if v.kind == jsonNull {
		return otherwise
	}
	n, err := strconv.Atoi(v.text)
	if v.kind != jsonNumber || err != nil || n < least || n > most {
		f.bad.Add(name, en, vi)
		return otherwise
	}
	return n
}
