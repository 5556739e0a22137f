package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/sheet"
)

// transactionRow is a transaction with what became of it.
type transactionRow struct {
	app.Transaction
	Deliveries []app.DeliveryProgress
}

// transactionRows lists a page of transactions with their deliveries.
func (s *Server) transactionRows(v *visit, f app.TransactionFilter) ([]transactionRow, int64, error) {
	list, total, err := s.service.Transactions(v.Context(), v.account.ID, f)
	if err != nil {
		return nil, 0, err
	}
	ids := make([]int64, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	deliveries, err := s.service.DeliveriesOf(v.Context(), v.account.ID, ids)
	rows := make([]transactionRow, len(list))
	for i, t := range list {
		rows[i] = transactionRow{t, deliveries[t.ID]}
	}
	return rows, total, err
}

// transactionForm is the filter as it stands in the address and in the form.
type transactionForm struct {
	Query, Type, From, To, Min, Max, BankAccountID, DeliveryState string
}

type transactionsData struct {
	Form    transactionForm
	Banks   []app.BankAccount
	Rows    []transactionRow
	Total   int64
	Pages   pages
	Live    string // address of the stream of new rows; empty: none arrive
	Exports exports
	Problem string
}

// exports are the addresses of the files of the filter.
type exports struct{ CSV, XLSX string }

func exportLinks(values url.Values) exports {
	values.Del("page")
	values.Del("until")
	link := func(format sheet.Format) string {
		values.Set("format", string(format))
		return exportPath + "?" + values.Encode()
	}
	return exports{link(sheet.CSV), link(sheet.XLSX)}
}

func (s *Server) transactionsPage(v *visit) error {
	data := transactionsData{Form: readTransactionForm(v.URL.Query())}
	var err error
	if data.Banks, err = s.service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	// Before the rows are read, so that none falls between them and the stream.
	newest, err := s.service.Newest(v.Context())
	if err != nil {
		return err
	}
	status := http.StatusOK
	f, err := s.transactionFilter(v, data.Form)
	f.Page = pageOf(v)
	f.UntilID = until(v, f.Page, newest.TransactionID)
	if err == nil {
		data.Rows, data.Total, err = s.transactionRows(v, f)
	}
	if problem := fieldProblems(err, v.lang); problem != "" {
		data.Problem, status, err = problem, http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return err
	}
	data.Pages = pagesOf(f.Page, data.Total, v.URL.Query(), "/transactions")
	data.Pages.values.Set("until", strconv.FormatInt(f.UntilID, 10))
	data.Exports = exportLinks(v.URL.Query())
	if f.Page.Number == 1 && data.Form == (transactionForm{}) {
		data.Live = liveAddress(newest)
	}
	return s.render(v, status, "transactions", "transactions", app.Text{EN: "Transactions", VI: "Giao dịch"}, data)
}

func readTransactionForm(values url.Values) transactionForm {
	get := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	return transactionForm{get("q"), get("type"), get("from"), get("to"), get("min"), get("max"), get("bank_account_id"), get("delivery_state")}
}

// transactionFilter reads the form; dates are days in the zone.
func (s *Server) transactionFilter(v *visit, form transactionForm) (app.TransactionFilter, error) {
	var bad app.Invalid
	f := app.TransactionFilter{Query: app.CleanText(form.Query, 200), Type: app.Direction(form.Type), DeliveryState: readDeliveryState(form.DeliveryState, &bad)}
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
			bad.Add(bound.field, "must be a date", "phải là một ngày")
		} else if bound.text != "" {
			*bound.into = at
		}
	}
	for _, bound := range []struct {
		field, text string
		into        *int64
	}{{"min", form.Min, &f.MinAmount}, {"max", form.Max, &f.MaxAmount}} {
		n, err := app.ParseAmount(strings.NewReplacer(".", "", ",", "", " ", "").Replace(bound.text))
		if bound.text != "" && (err != nil || n < 1) {
			bad.Add(bound.field, "must be an amount", "phải là một số tiền")
		}
		*bound.into = n
	}
	if form.BankAccountID != "" {
		id, found := parseID(form.BankAccountID)
		if !found {
			bad.Add("bank_account_id", "is unknown", "không tồn tại")
		}
		f.BankAccountID = id
	}
	return f, bad.Err()
}

// readDeliveryState reads what a listing of transactions can be narrowed by.
func readDeliveryState(text string, bad *app.Invalid) app.DeliveryState {
	switch state := app.DeliveryState(text); state {
	case "", app.DeliveryFailed, app.DeliveryPending:
		return state
	}
	bad.Add("delivery_state", "must be failed or pending", "phải là failed hoặc pending")
	return ""
}
