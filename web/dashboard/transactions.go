package dashboard

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
	"baoco/app/payer"
	"baoco/app/sheet"
	"baoco/web/wire"
)

type transactionRow struct {
	app.Transaction
	Deliveries []delivery.Latest
}

// transactionRows lists a page of transactions with their deliveries.
func (s *Server) transactionRows(v *visit, f app.TransactionFilter) ([]transactionRow, app.TransactionPage, error) {
	page, err := s.Services.Ledger.Transactions(v.Context(), v.account.ID, f)
	if err != nil {
		return nil, page, err
	}
	rows, err := s.withDeliveries(v, page.Rows)
	return rows, page, err
}

func (s *Server) withDeliveries(v *visit, list []app.Transaction) ([]transactionRow, error) {
	ids := make([]int64, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	deliveries, err := s.deliveriesOf(v, ids)
	rows := make([]transactionRow, len(list))
	for i, t := range list {
		rows[i] = transactionRow{t, deliveries[t.ID]}
	}
	return rows, err
}

// deliveriesOf reads the deliveries of transactions. Visitors without the permission connect
// get only the states, without webhooks and answers.
func (s *Server) deliveriesOf(v *visit, ids []int64) (map[int64][]delivery.Latest, error) {
	all, err := s.Services.Deliveries.DeliveriesOf(v.Context(), v.account.ID, ids)
	if v.may(connect) {
		return all, err
	}
	for _, list := range all {
		for i, d := range list {
			list[i] = delivery.Latest{Delivery: delivery.Delivery{State: d.State}, HistoryID: d.HistoryID}
		}
	}
	return all, err
}

// narrow limits a filter to what the visitor's role may see: all transactions, or the money in
// of today. The storage applies the limit of bank accounts.
func (v *visit) narrow(f app.TransactionFilter) app.TransactionFilter {
	if !v.may(seeAllDays) {
		today := app.DayOf(v.now, v.zone)
		f.Type, f.From, f.To = app.In, today.Start(v.zone), (today + 1).Start(v.zone)
	}
	return f
}

// sees reports whether narrow lets the visitor see a transaction.
func (v *visit) sees(t app.Transaction) bool {
	return v.may(seeAllDays) || t.Type == app.In && app.DayOf(t.Time, v.zone) == app.DayOf(v.now, v.zone)
}

// transactionFilters are the filters that the visitor may use.
func (v *visit) transactionFilters() []string {
	if v.may(seeAllDays) {
		return transactionFilters
	}
	return cashierFilters
}

// dayRows are the rows of one day, one after the other, in a list of transactions.
type dayRows struct {
	Day  app.Day
	ID   string    // the HTML id of the row above them
	Sums *app.Flow // of the whole day; nil: not shown
	Rows []transactionRow
}

// rowView is one row of a list of transactions, and rowsView all its rows. Filtered: the account
// may have other transactions.
type rowView struct {
	words
	Row  transactionRow
	Tick bool // the row can be ticked
}

type rowsView struct {
	view
	Days     []dayRows
	Filtered bool
	Tick     bool
}

// Rows makes a list of rows, and Ticked makes one whose rows can be ticked.
func (v view) Rows(days []dayRows, filtered bool) rowsView { return rowsView{v, days, filtered, false} }
func (v view) Ticked(days []dayRows, filtered bool) rowsView {
	return rowsView{v, days, filtered, true}
}
func (v rowsView) Day(day dayRows) partView[dayRows] { return partView[dayRows]{v.view, day} }

func (v rowsView) Row(row transactionRow) rowView {
	if !may(v.User.Role, seeMoney) {
		row.Revenue = "" // not everybody may know that money is a loan
	}
	return rowView{v.words, row, v.Tick}
}

// groupByDay groups successive rows of the same day. A search is in the order of recording, so
// a day may have several groups; only the first one has the sums.
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
			kept, err := s.Services.Ledger.Days(v.Context(), v.account.ID, 0, day, day)
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

// notice says in a few words whether all webhooks were notified of a transaction.
type notice struct {
	State app.DeliveryState
	Text  string
	Codes string // the state at each webhook, for developers
}

// Notice sums up the deliveries of a transaction: the worst state, and how many deliveries
// have it, if there are several. Cancelled deliveries don't count.
func (w words) Notice(deliveries []delivery.Latest) notice {
	var all, tried int
	in := map[app.DeliveryState]int{}
	n := notice{State: app.DeliveryDelivered}
	for _, d := range deliveries {
		if d.State == app.DeliveryCancelled {
			continue
		}
		all++
		if d.WebhookName != "" {
			n.Codes = strings.TrimPrefix(n.Codes+"\n"+d.WebhookName+": "+w.Pill(d), "\n")
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
		return notice{Text: w.T("Nobody to notify", "Chưa có nơi báo")}
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
	filters
	Meaning app.SearchMeaning   // what else the search text may mean
	States  []app.DeliveryState // the states that the form offers
	Banks   []app.BankAccount
	Days    []dayRows
	Period  chip              // the period that the search text names
	Payer   payer.Payer       // the payer whose name is the search text
	Noted   []app.Transaction // the transactions whose notes have the search text
	Found   app.TransactionPage
	Pages   pages
	News    string // address of the first page, if newer rows are there; a later page keeps its rows
	Exports exports
}

// Filtered reports whether the account may have transactions that the page leaves out.
func (d transactionsData) Filtered() bool {
	return len(d.Form) > 0 || d.Pages.Number > 1
}

func (s *Server) transactionsPage(v *visit) (err error) {
	data := transactionsData{States: app.TransactionStates}
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	data.filters = v.filtersOf("/transactions", v.transactionFilters(),
		func(name, value string) string { return v.transactionWord(name, value, data.Banks) })
	codes, err := s.codes(v)
	if err != nil {
		return err
	}
	f, err := transactionFilter(v, data.Form, data.Banks, codes)
	f.Page = pageOf(v)
	f.UntilID = until(v, f.Page, v.newest.TransactionID)
	if f.Code == "" && f.Query == "" && f.MinAmount == 0 && f.MaxAmount == 0 && f.DeliveryState == "" && f.Revenue == nil {
		f.Sort = app.SortDateDesc // with other filters the order is that of recording
	}
	f.Sums = (len(data.Form) > 0 || f.Page.Size == maxPrinted) && v.may(seeMoney)
	if err == nil {
		var rows []transactionRow
		if rows, data.Found, err = s.transactionRows(v, f); err == nil {
			data.Days, err = s.groupByDay(v, rows, len(data.Form) == 0 && v.may(seeMoney))
		}
	}
	if err == nil && f.Query != "" && f.Page.Number == 1 && v.may(seeAllDays) {
		data.Noted, err = s.Services.Ledger.Noted(v.Context(), v.account.ID, f.Query, shownNoted)
	}
	if asked := payer.Given(url.Values{"name": {f.Query}}); f.Query != "" && v.may(seeMoney) {
		for _, t := range data.Found.Rows {
			if payer.Of(t).Name == asked.Name {
				data.Payer = asked
			}
		}
	}
	if meant, ok := rangeMeant(f.Query, app.DayOf(v.now, v.zone)); ok && v.may(seeAllDays) {
		values, from, to := maps.Clone(data.Form), meant.first.String(), meant.last.String()
		values.Del("q")
		values.Set("from", from)
		values.Set("to", to)
		data.Period = chip{Text: v.periodText(from, to), To: linkTo(data.Path, values)}
	}
	data.Meaning = f.Or
	pinned := maps.Clone(data.Form)
	pinned.Set("until", strconv.FormatInt(f.UntilID, 10))
	data.Pages = pagesOf(f.Page, data.Found.Total, pinned, data.Path)
	data.Exports = exportLinks(exportPath, filterOf(data.Form, transactionFilters))
	if err == nil && f.Page.Number > 1 && f.UntilID < v.newest.TransactionID {
		newest := f
		newest.UntilID, newest.Sort, newest.Sums, newest.Page = 0, "", false, app.Page{Number: 1, Size: 1, CountTo: countTo}
		var found app.TransactionPage
		if found, err = s.Services.Ledger.Transactions(v.Context(), v.account.ID, newest); len(found.Rows) > 0 && found.Rows[0].ID > f.UntilID {
			data.News = linkTo(data.Path, data.Form)
		}
	}
	return s.render(v, err, pageHead{"transactions", "transactions", app.Text{EN: "Transactions", VI: "Giao dịch"}}, data)
}

// shownNoted is how many transactions are shown because of their notes.
const shownNoted = 20

// transactionFilter reads the filter, within what the visitor may see; dates are days in the
// zone. The meaning of the search text also depends on the bank accounts and the code patterns.
func transactionFilter(v *visit, form url.Values, banks []app.BankAccount, codes app.CodeReader) (app.TransactionFilter, error) {
	p := &wire.Params{Values: form, Zone: v.zone}
	f := app.TransactionFilter{
		Query: p.Search(), Type: p.Direction(), From: p.Bound("from", false), To: p.Bound("to", true), BankAccountID: p.ID("bank_account_id"),
		MinAmount:     app.ReadShortAmountBound("min", form.Get("min"), true, &p.Bad),
		MaxAmount:     app.ReadShortAmountBound("max", form.Get("max"), false, &p.Bad),
		DeliveryState: wire.ReadDeliveryState(form.Get("delivery_state"), &p.Bad),
		Code:          app.ReadCodeFilter("payment_code", form.Get("payment_code"), &p.Bad),
		Revenue:       p.Truth("revenue"),
	}
	f.Or = app.MeaningOf(f.Query, banks, codes)
	inOrder(p, f.From, f.To)
	if f.MaxAmount != 0 && f.MaxAmount < f.MinAmount {
		p.Bad.Add("max", "must not be below the minimum amount", "không được nhỏ hơn “Số tiền từ”")
	}
	return v.narrow(f), p.Bad.Err()
}

// exportTransactions sends the transactions of the listing's filter, or the ticked ones, as a
// file. An error after the first byte breaks the connection, so that a part of a file never
// looks like a complete file.
func (s *Server) exportTransactions(v *visit) error {
	values := v.URL.Query()
	e := &export[app.Transaction]{v: v, server: s}
	if err := e.readFormat(values); err != nil {
		return err
	}
	var ticked []app.Transaction
	if values.Has("row") {
		var err error
		if ticked, err = s.chosen(v, values["row"]); err != nil {
			return err
		}
		slices.Reverse(ticked) // the oldest first, as in each file
	}
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	codes, err := s.codes(v)
	if err != nil {
		return err
	}
	f, err := transactionFilter(v, filterOf(values, transactionFilters), banks, codes)
	if err != nil {
		return err
	}
	extra := sheet.Extra{Receiving: len(receivingNumbers(banks)) > 0, Revenue: v.account.MarksRevenue,
		Shop: v.account.ShopName("Báo Có"), Accounts: v.only, From: f.From, To: f.To}
	words := func(name, value string) string { return v.transactionWord(name, value, banks) }
	if f.BankAccountID != 0 {
		id := strconv.FormatInt(f.BankAccountID, 10)
		extra.Accounts = cmp.Or(words("bank_account_id", id), "id "+id) // the bank account may be unlinked
	}
	var also []string
	for _, c := range v.filtersOf("", []string{"q", "type", "min", "max", "delivery_state", "payment_code", "revenue"}, words).Chips {
		also = append(also, c.Text)
	}
	if ticked != nil {
		also = append(also, v.Count(int64(len(ticked)), "selected transaction", "selected transactions", "giao dịch đã chọn"))
	}
	extra.Filter = strings.Join(also, ", ")
	e.begin = func(format sheet.Format, w io.Writer, lang app.Lang, zone *time.Location) (sheet.Writer[app.Transaction], error) {
		return sheet.New(format, w, lang, zone, extra)
	}
	e.name = exportName("baoco", f.From, f.To, v.now.In(v.zone))
	return e.send(func(ctx context.Context) error {
		if ticked != nil {
			return e.add(ticked)
		}
		return s.Services.Ledger.ExportTransactions(ctx, v.account.ID, f, e.add)
	})
}

// bankTitle names a bank account. A role without the permission seeMoney sees only the end of its
// number.
func (w words) bankTitle(role access.Role, b app.BankAccount) string {
	if !may(role, seeMoney) {
		b.AccountNumber = w.Tail(b.AccountNumber)
	}
	return b.Title()
}

func (v view) BankTitle(b app.BankAccount) string { return v.bankTitle(v.User.Role, b) }

// transactionWord writes a value of the filter for people.
func (v *visit) transactionWord(name, value string, banks []app.BankAccount) string {
	switch name {
	case "min", "max":
		n, err := app.ReadShortAmount(value)
		if err != nil {
			return ""
		}
		if name == "min" {
			return "≥ " + v.Money(n)
		}
		return "≤ " + v.Money(n)
	case "delivery_state":
		if slices.Contains(app.TransactionStates, app.DeliveryState(value)) {
			return v.NotifiedWord(app.DeliveryState(value))
		}
	case "payment_code":
		return value
	case "revenue":
		if value == "true" {
			return v.T("Revenue", "Doanh thu")
		}
		return v.T("Not revenue", "Không phải doanh thu")
	case "bank_account_id":
		for _, b := range banks {
			if strconv.FormatInt(b.ID, 10) == value {
				return v.bankTitle(v.user.Role, b)
			}
		}
	}
	return ""
}

// NotifiedWord names the state of a delivery, or of all deliveries of a transaction.
func (w words) NotifiedWord(state app.DeliveryState) string {
	switch state {
	case app.DeliveryFailed:
		return w.T("Could not notify", "Chưa báo được")
	case app.DeliveryPending:
		return w.T("Waiting to notify", "Chờ báo")
	case app.DeliveryDelivered:
		return w.T("Notified", "Đã báo")
	case app.DeliveryCancelled:
		return w.T("Cancelled", "Đã huỷ")
	}
	return w.T("Nobody to notify", "Chưa có nơi báo")
}

// Sum writes the sum and the number of transactions in one direction.
func (w words) Sum(d app.Direction, sum app.Amounts) string {
	write := w.SignedIn
	if d == app.Out {
		write = w.SignedOut
	}
	return write(sum.Total) + " " + strings.ToLower(w.Direction(d)) + nbsp + "(" + w.Number(sum.Count) + ")"
}
