package dashboard

import (
	"net/url"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/sheet"
	"baoco/web/wire"
)

// transactionRow is a transaction with its deliveries.
type transactionRow struct {
	app.Transaction
	Deliveries []app.LatestDelivery
}

// transactionRows lists a page of transactions with their deliveries.
func (s *Server) transactionRows(v *visit, f app.TransactionFilter) ([]transactionRow, app.TransactionPage, error) {
	page, err := s.Service.Transactions(v.Context(), v.account.ID, f)
	if err != nil {
		return nil, page, err
	}
	ids := make([]int64, len(page.Rows))
	for i, t := range page.Rows {
		ids[i] = t.ID
	}
	deliveries, err := s.Service.DeliveriesOf(v.Context(), v.account.ID, ids)
	rows := make([]transactionRow, len(page.Rows))
	for i, t := range page.Rows {
		rows[i] = transactionRow{t, deliveries[t.ID]}
	}
	return rows, page, err
}

// dayRows are rows of one day that stand together in a list of transactions.
type dayRows struct {
	Day  app.Day
	ID   string    // of the row above them
	Sums *app.Flow // of the whole day; nil where the list doesn't show them
	Rows []transactionRow
}

// groupByDay groups rows that follow each other. Lists are in the order in which
// transactions were recorded, so a day may come again further down; only its first
// group has the sums.
func (s *Server) groupByDay(v *visit, rows []transactionRow, sums bool) ([]dayRows, error) {
	var groups []dayRows
	seen := map[app.Day]bool{}
	for _, row := range rows {
		day := app.DayOf(row.Time, v.zone)
		if n := len(groups); n > 0 && groups[n-1].Day == day {
			groups[n-1].Rows = append(groups[n-1].Rows, row)
			continue
		}
		group := dayRows{Day: day, ID: "day-" + strconv.Itoa(int(day)), Rows: []transactionRow{row}}
		switch {
		case seen[day]:
			group.ID += "-" + strconv.FormatInt(row.ID, 10)
		case sums:
			kept, err := s.Service.Days(v.Context(), v.account.ID, 0, day, day)
			if err != nil {
				return nil, err
			}
			group.Sums = &dayTotals(kept, day, day)[0].Flow
		}
		seen[day] = true
		groups = append(groups, group)
	}
	return groups, nil
}

// notice is in a few words whether all webhooks were told of a transaction.
type notice struct {
	State app.DeliveryState
	Text  string
	Codes string // of each webhook, for developers
}

// Notice sums up the deliveries of a transaction: the worst state, and how many of
// several are in it. Cancelled ones don't count.
func (w words) Notice(deliveries []app.LatestDelivery) notice {
	var all, tried int
	in := map[app.DeliveryState]int{}
	n := notice{State: app.DeliveryDelivered}
	for _, d := range deliveries {
		if d.State == app.DeliveryCancelled {
			continue
		}
		all++
		if n.Codes += d.WebhookName + ": " + w.Pill(d); all < len(deliveries) {
			n.Codes += "\n"
		}
		in[d.State]++
		if d.State == app.DeliveryFailed || d.State == app.DeliveryPending && n.State != app.DeliveryFailed {
			n.State = d.State
		}
		if d.State == app.DeliveryPending && d.HistoryID != 0 {
			tried++
		}
	}
	switch {
	case all == 0:
		return notice{Text: w.T("Not sent", "Không gửi")}
	case n.State == app.DeliveryFailed:
		n.Text = w.T("Could not notify", "Chưa báo được")
	case n.State == app.DeliveryPending && tried > 0:
		n.Text = w.T("Will notify again", "Chờ báo lại")
	case n.State == app.DeliveryPending:
		n.Text = w.T("Notifying", "Đang báo")
	default:
		n.Text = w.T("Notified", "Đã báo")
	}
	if all > 1 {
		n.Text += nbsp + strconv.Itoa(in[n.State]) + "/" + strconv.Itoa(all)
	}
	return n
}

type transactionsData struct {
	Form    url.Values          // the filter as it was entered
	States  []app.DeliveryState // that the form offers
	Banks   []app.BankAccount
	Days    []dayRows
	Found   app.TransactionPage
	Pages   pages
	Older   bool   // a search went further back: rows of the pages before aren't found again
	Further string // address that searches further back; empty: all was searched
	News    string // address of the first page, if newer rows are there; a later page keeps its rows
	Exports exports
}

// Filtered tells whether the account may have transactions that the page leaves out.
func (d transactionsData) Filtered() bool {
	return len(d.Form) > 0 || d.Older || d.Pages.Number > 1
}

// exports are the addresses of the exports of the filter.
type exports struct{ CSV, XLSX string }

// Narrowed tells whether the filter holds anything but a search text.
func (d transactionsData) Narrowed() bool { return len(filterOf(d.Form, transactionFilters[1:])) > 0 }

func exportLinks(form url.Values) exports {
	values := filterOf(form, transactionFilters)
	link := func(format sheet.Format) string {
		values.Set("format", string(format))
		return linkTo(exportPath, values)
	}
	return exports{link(sheet.CSV), link(sheet.XLSX)}
}

func (s *Server) transactionsPage(v *visit) error {
	query := v.URL.Query()
	data := transactionsData{Form: filterOf(query, transactionFilters), States: app.TransactionStates}
	var err error
	if data.Banks, err = s.Service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	f, err := transactionFilter(v, data.Form)
	f.Page = pageOf(v)
	f.UntilID = until(v, f.Page, v.newest.TransactionID)
	pinned := filterOf(query, transactionFilters)
	if before, ok := wire.ParseID(query.Get("before")); ok && before > 1 {
		f.UntilID, data.Older = min(f.UntilID, before-1), true
		pinned.Set("before", query.Get("before"))
	}
	f.Sums = len(data.Form) > 0 && !data.Older
	if err == nil {
		var rows []transactionRow
		if rows, data.Found, err = s.transactionRows(v, f); err == nil {
			data.Days, err = s.groupByDay(v, rows, len(data.Form) == 0)
		}
	}
	pinned.Set("until", strconv.FormatInt(f.UntilID, 10))
	data.Pages = pagesOf(f.Page, data.Found.Total, pinned, "/transactions")
	if data.Found.SearchedTo != 0 && int64(f.Page.Number) >= data.Pages.Last {
		values := filterOf(query, transactionFilters)
		values.Set("before", strconv.FormatInt(data.Found.SearchedTo, 10))
		data.Further = linkTo("/transactions", values)
	}
	data.Exports = exportLinks(data.Form)
	if err == nil && (f.Page.Number > 1 || data.Older) && f.UntilID < v.newest.TransactionID {
		newer := f
		newer.SinceID, newer.UntilID, newer.Sums, newer.Page = &f.UntilID, 0, false, app.Page{Number: 1, Size: 1}
		var found app.TransactionPage
		if found, err = s.Service.Transactions(v.Context(), v.account.ID, newer); len(found.Rows) > 0 {
			data.News = linkTo("/transactions", data.Form)
		}
	}
	return s.renderForm(v, err, "transactions", "transactions", app.Text{EN: "Transactions", VI: "Giao dịch"}, data)
}

// transactionFilter reads the filter; dates are days in the zone.
func transactionFilter(v *visit, form url.Values) (app.TransactionFilter, error) {
	p := &wire.Params{Values: form, Zone: v.zone}
	f := app.TransactionFilter{
		Query: p.Search(), Type: p.Direction(), From: p.Bound("from", false), To: p.Bound("to", true), BankAccountID: p.ID("bank_account_id"),
		MinAmount: app.ReadAmountBound("min", form.Get("min"), true, &p.Bad), MaxAmount: app.ReadAmountBound("max", form.Get("max"), false, &p.Bad),
		DeliveryState: wire.ReadDeliveryState(form.Get("delivery_state"), &p.Bad),
	}
	return f, p.Bad.Err()
}

// NotifiedWord names the state of a transaction's deliveries.
func (w words) NotifiedWord(state app.DeliveryState) string {
	switch state {
	case app.DeliveryFailed:
		return w.T("Failed", "Thất bại")
	case app.DeliveryPending:
		return w.T("Waiting", "Đang chờ gửi")
	case app.DeliveryDelivered:
		return w.T("Delivered", "Thành công")
	}
	return w.T("Not sent", "Không gửi")
}

// SearchFound writes how many transactions a search has found so far.
func (w words) SearchFound(d transactionsData) string {
	switch n := d.Found.Total; {
	case d.Found.SearchedTo != 0 && n == 0:
		return w.T("Nothing found so far", "Chưa tìm thấy giao dịch nào")
	case d.Found.SearchedTo != 0:
		return w.T("At least ", "Ít nhất ") + w.Count(n, "transaction", "transactions", "giao dịch")
	case d.Older:
		return w.Found(n, "older transaction", "older transactions", "giao dịch cũ hơn")
	default:
		return w.Found(n, "transaction", "transactions", "giao dịch")
	}
}

// Sum writes the sum and the number of the transactions of one direction.
func (w words) Sum(d app.Direction, sum app.Amounts) string {
	write := w.SignedIn
	if d == app.Out {
		write = w.SignedOut
	}
	return write(sum.Total) + " " + strings.ToLower(w.Direction(d)) + nbsp + "(" + w.Number(sum.Count) + ")"
}
