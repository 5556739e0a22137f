package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/fold"
	"baoco/web/wire"
)

// These are the filters of the lists: the names of their parameters in the address, and of
// their inputs.
var (
	transactionFilters = []string{"q", "type", "from", "to", "min", "max", "bank_account_id", "delivery_state", "payment_code", "revenue"}
	cashierFilters     = []string{"q", "min", "max", "bank_account_id", "payment_code"} // for the money in of today
	paymentFilters     = []string{"status", "reference", "payment_code"}
	historyFilters     = []string{"q", "webhook_id", "status", "type", "from", "to", "transaction_id"}
	eventFilters       = []string{"source_id", "state"}
	auditFilters       = []string{"who", "way", "deed", "noun", "id", "from", "to"}
	refusedFilters     = []string{"source_id"}
)

// filterOf copies a filter out of an address or a form, without empty values.
func filterOf(values url.Values, names []string) url.Values {
	filter := url.Values{}
	for _, name := range names {
		if value := strings.TrimSpace(values.Get(name)); value != "" {
			filter.Set(name, value)
		}
	}
	return filter
}

// linkTo makes an address with parameters.
func linkTo(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// cleanAddress is an address without its empty parameters, which forms send for fields that
// nobody filled in. It returns "" if the address has no empty parameters.
func cleanAddress(u *url.URL) string {
	values, clean := u.Query(), !u.ForceQuery
	for name, list := range values {
		kept := slices.DeleteFunc(slices.Clone(list), func(value string) bool { return strings.TrimSpace(value) == "" })
		clean = clean && len(kept) == len(list)
		if values[name] = kept; len(kept) == 0 {
			delete(values, name)
		}
	}
	if clean {
		return ""
	}
	return linkTo(u.EscapedPath(), values)
}

// filters is the filter of a list, and periods that can be chosen with one tap.
type filters struct {
	Path    string
	Form    url.Values // as it was entered
	Chips   []chip
	Periods []chip // none in a list without dates
}

// chip is a link to the same list: without one part of the filter, which Text names, or with a
// period, which Text names.
type chip struct {
	Text, To string
	Here     bool
}

// filtersOf reads the filter in the address of a list. word writes a value of the filter for
// people; if it returns "", the value is shown as it was entered.
func (v *visit) filtersOf(path string, names []string, word func(name, value string) string) filters {
	f := filters{Path: path, Form: filterOf(v.URL.Query(), names)}
	from, to := f.Form.Get("from"), f.Form.Get("to")
	period := ""
	if slices.Contains(names, "from") {
		for _, p := range dayRanges(app.DayOf(v.now, v.zone)) {
			first, last := p.first.String(), p.last.String()
			values := maps.Clone(f.Form)
			values.Set("from", first)
			values.Set("to", last)
			c := chip{p.name.In(v.Lang), linkTo(path, values), from == first && to == last}
			f.Periods = append(f.Periods, c)
			if c.Here && period == "" {
				period = c.Text
			}
		}
	}
	for _, name := range names {
		value := f.Form.Get(name)
		if value == "" || name == "to" && from != "" {
			continue
		}
		rest := maps.Clone(f.Form)
		rest.Del(name)
		var text string
		switch name {
		case "from", "to":
			rest.Del("to")
			text = cmp.Or(period, v.periodText(from, to))
		case "q":
			text = "“" + value + "”"
		case "type":
			text = v.Direction(app.Direction(value))
		default:
			if name == "noun" {
				rest.Del("id") // an id alone names nothing
			}
			text = cmp.Or(word(name, value), value)
		}
		f.Chips = append(f.Chips, chip{Text: text, To: linkTo(path, rest)})
	}
	return f
}

// dayRange is a named period that can be chosen with one tap.
type dayRange struct {
	name        app.Text
	first, last app.Day
}

func dayRanges(today app.Day) []dayRange {
	return []dayRange{
		{app.Text{EN: "Today", VI: "Hôm nay"}, today, today},
		{app.Text{EN: "Yesterday", VI: "Hôm qua"}, today - 1, today - 1},
		{app.Text{EN: "7 days", VI: "7 ngày"}, today - 6, today},
		{app.Text{EN: "This month", VI: "Tháng này"}, today.MonthStart(), today},
		{app.Text{EN: "Last month", VI: "Tháng trước"}, (today.MonthStart() - 1).MonthStart(), today.MonthStart() - 1},
	}
}

// rangeMeant is the period that a search text names: “hôm qua”, or 25/11, which is the latest
// day with that date that has begun; false: the text names no period.
func rangeMeant(query string, today app.Day) (dayRange, bool) {
	query = strings.TrimSpace(query)
	for _, r := range dayRanges(today) {
		if q := fold.String(query); q == fold.String(r.name.EN) || q == fold.String(r.name.VI) {
			return r, true
		}
	}
	year := today.Date().Year()
	for _, text := range []string{query, fmt.Sprintf("%s/%d", query, year), fmt.Sprintf("%s/%d", query, year-1)} {
		at, err := time.Parse("2/1/2006", text)
		if day := app.DayOf(at, time.UTC); err == nil && day <= today {
			return dayRange{first: day, last: day}, true
		}
	}
	return dayRange{}, false
}

// periodText writes a period of a filter, either end of which may be empty.
func (w words) periodText(from, to string) string {
	write := func(text string) string {
		if d, err := app.ParseDay(text); err == nil {
			return w.Date(d)
		}
		return text
	}
	switch {
	case from == to:
		return write(from)
	case to == "":
		return w.T("from ", "từ ") + write(from)
	case from == "":
		return w.T("until ", "đến ") + write(to)
	}
	return write(from) + " – " + write(to)
}

// inOrder refuses a period that ends before it begins.
func inOrder(p *wire.Params, from, to time.Time) {
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		p.Bad.Add("to", "must not be before “From”", "không được trước “Từ ngày”")
	}
}

// countTo is how many rows of a filter are counted at most if the file keeps no counter of
// them. Nobody turns a hundred pages, and counting all rows would make each page slow.
const countTo = 2000

// maxPrinted is how many rows the printed page of a list has at most.
const maxPrinted = 1000

// pageOf is the page that the address names; the first if the address names none.
func pageOf(v *visit) app.Page {
	number, err := strconv.ParseInt(v.URL.Query().Get("page"), 10, 64)
	if err != nil || number < 1 || number > 1_000_000 {
		number = 1
	}
	page := app.Page{Number: number, Size: app.DefaultPageSize, CountTo: countTo}
	if v.URL.Query().Has("print") {
		page.Size = maxPrinted
	}
	return page
}

// until is the id of the newest row that the pages of a list show. The first page takes the
// newest row, and its links carry the id, so that new rows don't shift the other pages.
func until(v *visit, p app.Page, newest int64) int64 {
	if id, ok := wire.ParseID(v.URL.Query().Get("until")); ok && p.Number > 1 {
		return id
	}
	return newest
}

// pages are the links from a page of a list to its other pages, and to the printed list.
type pages struct {
	Number int64
	Last   int64
	More   bool // there are more rows after page Last
	Print  bool // the page is to be printed now
	values url.Values
	path   string
}

func pagesOf(p app.Page, total int64, values url.Values, path string) pages {
	more := total == app.Uncounted
	if more {
		total = p.CountTo
	}
	return pages{p.Number, p.LastPage(total), more, p.Size == maxPrinted, values, path}
}

// Newer and Older are the addresses of the previous and the next page.
func (p pages) Newer() string { return p.link(p.Number-1, p.Print) }
func (p pages) Older() string { return p.link(p.Number+1, p.Print) }

// Here is the address of the page, Printed of the printed list, and List of the list.
func (p pages) Here() string    { return p.link(p.Number, p.Print) }
func (p pages) Printed() string { return p.link(1, true) }
func (p pages) List() string    { return p.link(1, false) }

func (p pages) link(number int64, print bool) string {
	values := maps.Clone(p.values)
	values.Set("page", strconv.FormatInt(number, 10))
	if number == 1 {
		values.Del("until") // the first page shows the newest rows
	}
	if print {
		values.Set("print", "1")
	}
	return linkTo(p.path, values)
}

// Found writes how many rows a listing found, or that there are more than were
// counted.
func (w words) Found(n int64, one, many, vi string) string {
	return w.FoundTo(countTo, n, one, many, vi)
}

// FoundTo is Found for a listing whose rows are counted to another number.
func (w words) FoundTo(counted, n int64, one, many, vi string) string {
	if n == app.Uncounted {
		return w.T("More than ", "Hơn ") + w.Count(counted, one, many, vi)
	}
	return w.Count(n, one, many, vi)
}
