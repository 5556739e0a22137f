package dashboard

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/audit"
	"baoco/app/sheet"
	"baoco/web/wire"
)

const auditPath = "/settings/audit"

// auditLines is how many lines a page has.
const auditLines = 50

type auditData struct {
	filters
	Nouns   []audit.Noun
	Ways    []app.Way
	Users   []access.User
	Days    []auditDay
	Newest  string // address of the first page; empty: this is the first
	Older   string // address of the next page; empty: there are no older lines
	Exports exports
}

type auditDay struct {
	Day  app.Day
	Rows []auditRow
}

// auditRow is a line of the audit log, and the page of its noun.
type auditRow struct {
	app.AuditLine
	To string // address of that page; empty: see nounPage
}

func (s *Server) auditPage(v *visit) error {
	query := v.URL.Query()
	if query.Get("noun") == "" { // an id alone names nothing
		delete(query, "id")
	}
	if clean := cleanAddress(&url.URL{Path: auditPath, RawQuery: query.Encode()}); clean != "" || len(query) != len(v.URL.Query()) {
		return s.redirect(v, linkTo(auditPath, filterOf(query, append([]string{"before"}, auditFilters...))), app.Text{})
	}
	data := auditData{Nouns: audit.Nouns, Ways: app.Ways, filters: v.filtersOf(auditPath, auditFilters, v.auditWord)}
	f, err := auditFilter(v, data.Form)
	before, ok := wire.ParseID(query.Get("before"))
	if ok {
		f.Before, data.Newest = before, linkTo(auditPath, data.Form)
	}
	data.Exports = exportLinks(auditPath+"/export", data.Form)
	var fault error
	if data.Users, fault = s.Services.Access.Users(v.Context(), v.account.ID); fault != nil {
		return fault
	}
	if err == nil {
		var list []app.AuditLine
		if list, err = s.Services.Ledger.AuditLines(v.Context(), v.account.ID, f, auditLines+1); len(list) > auditLines {
			list = list[:auditLines]
			older := maps.Clone(data.Form)
			older.Set("before", strconv.FormatInt(list[auditLines-1].ID, 10))
			data.Older = linkTo(auditPath, older)
		}
		data.Days = auditDays(v, list)
	}
	return s.render(v, err, pageHead{"audit", "settings", app.Text{EN: "Audit log", VI: "Nhật ký thao tác"}}, data)
}

// auditFilter reads the filter of the audit log; dates are days in the zone.
func auditFilter(v *visit, form url.Values) (app.AuditFilter, error) {
	p := &wire.Params{Values: form, Zone: v.zone}
	f := app.AuditFilter{
		Who: form.Get("who"), Way: app.Way(form.Get("way")), Deed: app.Deed(form.Get("deed")), Noun: form.Get("noun"), NounID: p.ID("id"),
		From: p.Bound("from", false), To: p.Bound("to", true),
	}
	inOrder(p, f.From, f.To)
	if f.Way != "" && !slices.Contains(app.Ways, f.Way) {
		p.Bad.Add("way", "must be one of the list", "phải nằm trong danh sách")
	}
	if f.Deed != "" && !audit.Known(f.Deed) {
		p.Bad.Add("deed", "must be one of the list", "phải nằm trong danh sách")
	}
	if f.Noun != "" && audit.NounName(f.Noun).EN == "" {
		p.Bad.Add("noun", "must be one of the list", "phải nằm trong danh sách")
	}
	return f, p.Bad.Err()
}

// auditWord writes a value of the filter for people.
func (v *visit) auditWord(name, value string) string {
	switch name {
	case "way":
		if slices.Contains(app.Ways, app.Way(value)) {
			return app.Way(value).Name().In(v.Lang)
		}
	case "deed":
		if audit.Known(app.Deed(value)) {
			return audit.DeedName(app.Deed(value)).In(v.Lang)
		}
	case "noun":
		return audit.NounName(value).In(v.Lang)
	case "id":
		return "#" + value
	}
	return ""
}

// exportAudit sends the lines of the listing's filter as a file.
func (s *Server) exportAudit(v *visit) error {
	values := v.URL.Query()
	e := &export[app.AuditLine]{v: v, server: s, begin: sheet.NewAudit}
	if err := e.readFormat(values); err != nil {
		return err
	}
	f, err := auditFilter(v, filterOf(values, auditFilters))
	if err != nil {
		return err
	}
	e.name = exportName("baoco-audit", f.From, f.To, v.now.In(v.zone))
	return e.send(func(ctx context.Context) error { return s.Services.Ledger.ExportAudit(ctx, v.account.ID, f, e.add) })
}

// auditDays groups lines by their days.
func auditDays(v *visit, list []app.AuditLine) (days []auditDay) {
	for _, l := range list {
		day := app.DayOf(l.Actor.At, v.zone)
		if len(days) == 0 || days[len(days)-1].Day != day {
			days = append(days, auditDay{Day: day})
		}
		last := &days[len(days)-1]
		last.Rows = append(last.Rows, auditRow{l, v.nounPage(l)})
	}
	return days
}

// onePage has the page of each noun of the audit log with an id; listPages has the pages of
// other nouns, and of lines about several things.
var (
	onePage = map[string]func(id int64) string{
		"user": userPath, "source": sourcePath, "bank_account": bankPath, "webhook": webhookPath, "stream": streamPath,
		"transaction": transactionPath, "inbound_event": eventPath, "delivery": deliveryPath, "payment_request": paymentPath, "shift": shiftPath,
	}
	listPages = map[string]string{
		"transaction": "/transactions", "delivery": "/deliveries", "payment_request": "/payments",
		"import":       "/transactions/import",
		"code_pattern": "/settings/codes", "api_key": "/keys", "counter_link": "/settings#counters", "account": "/settings",
		"book": bookPath, "alert_channel": "/settings/alerts", "alerts": "/settings/alerts", "database": "/system",
	}
)

// nounPage is the address of the page of a line's noun; empty: the noun was removed, or the
// visitor has no page of it.
func (v *visit) nounPage(l app.AuditLine) string {
	noun := l.Deed.Noun()
	page, one := onePage[noun]
	switch {
	case one && l.NounID != 0 && l.Gone, noun == "database" && !v.operator():
		return ""
	case one && l.NounID != 0:
		return page(l.NounID)
	}
	return listPages[noun]
}

// Did writes a line of the audit log as a sentence.
func (w words) Did(l app.AuditLine) string { return audit.Sentence(l, w.zone).In(w.Lang) }

// ActedFrom writes the address from which somebody acted.
func (w words) ActedFrom(a app.Actor) string { return audit.Address(a).In(w.Lang) }

// DeedName names a deed without its noun's name or id.
func (w words) DeedName(d app.Deed) string { return audit.DeedName(d).In(w.Lang) }
