package web

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
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
	Query, Type, From, To, Min, Max, BankAccountID string
}

type transactionsData struct {
	Form    transactionForm
	Banks   []app.BankAccount
	Rows    []transactionRow
	Total   int64
	Pages   pages
	Live    string // address of the stream of new rows; empty: none arrive
	Problem string
}

// pages is the place of a page among the others.
type pages struct {
	Number int
	Last   int64
	values url.Values
	path   string
}

// Link is the address of another page of the same listing.
func (p pages) Link(number int) string {
	values := url.Values{}
	for key, value := range p.values {
		values[key] = value
	}
	values.Set("page", strconv.Itoa(number))
	return p.path + "?" + values.Encode()
}

func (s *Server) transactionsPage(v *visit) error {
	data := transactionsData{Form: readTransactionForm(v.URL.Query())}
	var err error
	if data.Banks, err = s.service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	status := http.StatusOK
	f, err := s.transactionFilter(v, data.Form)
	f.Page = pageOf(v)
	if err == nil {
		data.Rows, data.Total, err = s.transactionRows(v, f)
	}
	if problem := fieldProblems(err, v.lang); problem != "" {
		data.Problem, status, err = problem, http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return err
	}
	data.Pages = pages{f.Page.Number, f.Page.LastPage(data.Total), v.URL.Query(), "/transactions"}
	if f.Page.Number == 1 && data.Form == (transactionForm{}) {
		if data.Live, err = s.liveAddress(v); err != nil {
			return err
		}
	}
	return s.render(v, status, "transactions", "transactions", app.Text{EN: "Transactions", VI: "Giao dịch"}, data)
}

func readTransactionForm(values url.Values) transactionForm {
	get := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	return transactionForm{get("q"), get("type"), get("from"), get("to"), get("min"), get("max"), get("bank_account_id")}
}

// transactionFilter reads the form; dates are days in the zone.
func (s *Server) transactionFilter(v *visit, form transactionForm) (app.TransactionFilter, error) {
	var bad app.Invalid
	f := app.TransactionFilter{Query: form.Query, Type: app.Direction(form.Type)}
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

// pageOf is the page that an address names; the first where it names none.
func pageOf(v *visit) app.Page {
	number, err := strconv.Atoi(v.URL.Query().Get("page"))
	if err != nil || number < 1 || number > 1_000_000 {
		number = 1
	}
	return app.Page{Number: number, Size: app.DefaultPageSize}
}

type transactionData struct {
	Row transactionRow
	Key string // of the forms that send again, see formKey
}

func (s *Server) transactionPage(v *visit) error {
	id, found := parseID(v.PathValue("id"))
	if !found {
		return app.NotFound("There is no transaction with this id.", "Không có giao dịch với id này.")
	}
	t, err := s.service.Transaction(v.Context(), v.account.ID, id)
	if err != nil {
		return err
	}
	deliveries, err := s.service.DeliveriesOf(v.Context(), v.account.ID, []int64{id})
	if err != nil {
		return err
	}
	title := app.Text{EN: "Transaction " + strconv.FormatInt(id, 10), VI: "Giao dịch " + strconv.FormatInt(id, 10)}
	return s.render(v, http.StatusOK, "transaction", "transactions", title, transactionData{transactionRow{t, deliveries[id]}, rand.Text()})
}
