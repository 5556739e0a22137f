package dashboard

import (
	"net/url"
	"strconv"
	"strings"
	"time"

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

// transactionForm is the filter in the address and in the form.
type transactionForm struct {
	Query, Type, From, To, Min, Max, BankAccountID, DeliveryState string
}

// Narrowed tells whether the filter holds anything but a search text.
func (f transactionForm) Narrowed() bool {
	f.Query = ""
	return f != transactionForm{}
}

type transactionsData struct {
	Form    transactionForm
	States  []app.DeliveryState // that the form offers
	Banks   []app.BankAccount
	Rows    []transactionRow
	Found   app.TransactionPage
	Pages   pages
	Older   bool   // a search went further back: rows of the pages before aren't found again
	Further string // address that searches further back; empty: all was searched
	Live    string // address of the stream of new rows; empty: there is none
	News    string // address of the stream that says how many are new
	Exports exports
}

// exports are the addresses of the exports of the filter.
type exports struct{ CSV, XLSX string }

// onlyFilter keeps those parameters of an address that filter the list.
func onlyFilter(values url.Values) url.Values {
	for _, place := range []string{"page", "until", "before", "since"} {
		values.Del(place)
	}
	return values
}

func exportLinks(values url.Values) exports {
	values = onlyFilter(values)
	link := func(format sheet.Format) string {
		values.Set("format", string(format))
		return exportPath + "?" + values.Encode()
	}
	return exports{link(sheet.CSV), link(sheet.XLSX)}
}

func (s *Server) transactionsPage(v *visit) error {
	data := transactionsData{Form: readTransactionForm(v.URL.Query()), States: app.TransactionStates}
	var err error
	if data.Banks, err = s.Service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	// Read before the rows are, so that no row is missing in both list and stream.
	newest, err := s.Service.NewestIDs(v.Context())
	if err != nil {
		return err
	}
	f, err := s.transactionFilter(v, data.Form)
	f.Page = pageOf(v)
	f.UntilID = until(v, f.Page, newest.TransactionID)
	if before, ok := wire.ParseID(v.URL.Query().Get("before")); ok && before > 1 {
		f.UntilID, data.Older = min(f.UntilID, before-1), true
	}
	filtered := data.Form != transactionForm{}
	f.Sums = filtered && !data.Older
	if err == nil {
		data.Rows, data.Found, err = s.transactionRows(v, f)
	}
	data.Pages = pagesOf(f.Page, data.Found.Total, v.URL.Query(), "/transactions")
	data.Pages.values.Set("until", strconv.FormatInt(f.UntilID, 10))
	if data.Found.SearchedTo != 0 && int64(f.Page.Number) >= data.Pages.Last {
		values := onlyFilter(v.URL.Query())
		values.Set("before", strconv.FormatInt(data.Found.SearchedTo, 10))
		data.Further = "/transactions?" + values.Encode()
	}
	data.Exports = exportLinks(v.URL.Query())
	switch {
	case err != nil: // the page says why
	case f.Page.Number == 1 && !filtered && !data.Older:
		data.Live = liveAddress(newest)
	default:
		data.News = liveNewAddress(newest, v.URL.Query())
	}
	return s.renderForm(v, err, "transactions", "transactions", app.Text{EN: "Transactions", VI: "Giao dịch"}, data)
}

func readTransactionForm(values url.Values) transactionForm {
	get := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	return transactionForm{get("q"), get("type"), get("from"), get("to"), get("min"), get("max"), get("bank_account_id"), get("delivery_state")}
}

// transactionFilter reads the form; dates are days in the zone.
func (s *Server) transactionFilter(v *visit, form transactionForm) (app.TransactionFilter, error) {
	var bad app.Invalid
	f := app.TransactionFilter{Query: app.ReadQuery(form.Query, &bad), Type: app.Direction(form.Type), DeliveryState: wire.ReadDeliveryState(form.DeliveryState, &bad)}
	if f.Type != "" && f.Type != app.In && f.Type != app.Out {
		bad.Add("type", "must be IN or OUT", "phải là IN hoặc OUT")
	}
	for _, bound := range []struct {
		field, text string
		upper       bool
		into        *time.Time
	}{{"from", form.From, false, &f.From}, {"to", form.To, true, &f.To}} {
		at, err := app.ParseBound(bound.text, bound.upper, v.zone)
		if bound.text != "" && err != nil {
			bad.Add(bound.field, "must be a date", "phải là ngày hợp lệ")
		} else if bound.text != "" {
			*bound.into = at
		}
	}
	f.MinAmount, f.MaxAmount = app.ReadAmountBound("min", form.Min, true, &bad), app.ReadAmountBound("max", form.Max, false, &bad)
	if form.BankAccountID != "" {
		id, found := wire.ParseID(form.BankAccountID)
		if !found {
			bad.Add("bank_account_id", "does not exist", "không tồn tại")
		}
		f.BankAccountID = id
	}
	return f, bad.Err()
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
