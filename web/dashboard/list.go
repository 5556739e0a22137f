package dashboard

import (
	"maps"
	"net/url"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/web/wire"
)

// The filters of the lists, by their parameters in the address. The same names
// are those of the inputs.
var (
	transactionFilters = []string{"q", "type", "from", "to", "min", "max", "bank_account_id", "delivery_state"}
	cashierFilters     = []string{"q", "min", "max", "bank_account_id"} // of the money in of today
	historyFilters     = []string{"q", "webhook_id", "status", "type", "from", "to", "transaction_id"}
	eventFilters       = []string{"source_id", "state"}
)

// filterOf picks a filter out of an address or a form, and makes a copy of it.
// What is empty is left out.
func filterOf(values url.Values, names []string) url.Values {
	filter := url.Values{}
	for _, name := range names {
		if value := strings.TrimSpace(values.Get(name)); value != "" {
			filter.Set(name, value)
		}
	}
	return filter
}

// linkTo is an address with parameters.
func linkTo(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// countTo is how many rows of a filter are counted if their number isn't kept.
// Nobody turns a hundred pages, and counting all rows would slow each page.
const countTo = 2000

// pageOf is the page that the address names; the first if it names none.
func pageOf(v *visit) app.Page {
	number, err := strconv.ParseInt(v.URL.Query().Get("page"), 10, 64)
	if err != nil || number < 1 || number > 1_000_000 {
		number = 1
	}
	return app.Page{Number: number, Size: app.DefaultPageSize, CountTo: countTo}
}

// until is the id of the newest row that a page looks at. The first page takes the
// newest there is and its links carry it, so that new rows don't shift the pages
// that somebody turns.
func until(v *visit, p app.Page, newest int64) int64 {
	if id, ok := wire.ParseID(v.URL.Query().Get("until")); ok && p.Number > 1 {
		return id
	}
	return newest
}

// pages are the links from a page to the pages beside it.
type pages struct {
	Number int64
	Last   int64
	More   bool // there are more rows than the pages up to Last show
	values url.Values
	path   string
}

func pagesOf(p app.Page, total int64, values url.Values, path string) pages {
	more := total == app.Uncounted
	if more {
		total = p.CountTo
	}
	return pages{p.Number, p.LastPage(total), more, values, path}
}

// Newer and Older are the addresses of the pages beside it.
func (p pages) Newer() string { return p.link(p.Number - 1) }
func (p pages) Older() string { return p.link(p.Number + 1) }

func (p pages) link(number int64) string {
	values := maps.Clone(p.values)
	values.Set("page", strconv.FormatInt(number, 10))
	if number == 1 {
		values.Del("until") // the first page shows the newest rows
	}
	return linkTo(p.path, values)
}

// Found writes how many rows a listing found, or that there are more than were
// counted.
func (w words) Found(n int64, one, many, vi string) string {
	return w.FoundTo(countTo, n, one, many, vi)
}

// FoundTo is Found of a listing that is counted to another number.
func (w words) FoundTo(counted, n int64, one, many, vi string) string {
	if n == app.Uncounted {
		return w.T("More than ", "Hơn ") + w.Count(counted, one, many, vi)
	}
	return w.Count(n, one, many, vi)
}
