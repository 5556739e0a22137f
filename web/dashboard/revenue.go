package dashboard

import (
	"net/url"

	"baoco/app"
	"baoco/app/book"
)

// revenuePath is the page of the money in that is revenue, and of the money in that isn't.
const revenuePath = "/book/revenue"

// revenueData is the page of revenue, for one period.
type revenueData struct {
	Periods   []book.Period
	Period    book.Period
	Not       bool // lists the money that isn't revenue
	Here      string
	Sums      [2]app.Amounts // of the money that isn't revenue, and of the money that is
	Rows      []app.Transaction
	Pages     pages
	Transfers []book.PossibleTransfer
	Rules     []ruleRow // for owners
	Banks     []app.BankAccount
	Form      book.Rule
}

type ruleRow struct {
	book.Rule
	Bank app.BankAccount // zero: the rule is about a text
}

// NotRevenue names the kind of money in that isn't revenue; empty: it is revenue, or money out.
func (w words) NotRevenue(t app.Transaction) string {
	if kind := book.Kind(t.Revenue); kind != book.Revenue {
		return kind.Name().In(w.Lang)
	}
	return ""
}

// Kinds are the kinds of money in that isn't revenue.
func (view) Kinds() []book.Kind { return book.NotRevenue }

// requestedPeriod is the period that the address names, else the month of today.
func (s *Server) requestedPeriod(v *visit) (book.Period, error) {
	today := app.DayOf(v.now, v.zone)
	month, _ := book.ParsePeriod(today.String()[:len("2026-11")], today)
	text := v.URL.Query().Get("period")
	if text == "" {
		return month, nil
	}
	p, err := book.ParsePeriod(text, today)
	if err != nil {
		p = month
	}
	return p, err
}

func (s *Server) showRevenue(v *visit, form book.Rule, refused error) error {
	d := revenueData{Periods: book.Periods(app.DayOf(v.now, v.zone)), Form: form, Not: v.URL.Query().Get("show") == "not"}
	var wrong, err error
	if d.Period, wrong = s.requestedPeriod(v); refused == nil {
		refused = wrong
	}
	values := url.Values{"period": {d.Period.String()}}
	if d.Not {
		values.Set("show", "not")
	}
	d.Here = linkTo(revenuePath, values)
	f := app.TransactionFilter{From: d.Period.First.Start(v.zone), To: (d.Period.Last + 1).Start(v.zone), Sums: true, Sort: app.SortDateDesc}
	f.Page = pageOf(v)
	f.Page.CountTo = 0 // for the sums
	for i, revenue := range []bool{false, true} {
		f.Revenue = &revenue
		found, err := s.Services.Ledger.Transactions(v.Context(), v.account.ID, f)
		if err != nil {
			return err
		}
		if d.Sums[i] = found.Sums.In; revenue != d.Not {
			d.Rows, d.Pages = found.Rows, pagesOf(f.Page, found.Total, values, revenuePath)
		}
	}
	if d.Transfers, err = s.Services.Books.PossibleTransfers(v.Context(), v.account.ID, d.Period); err != nil {
		return err
	}
	if v.may(ownerOnly) {
		if err := s.readRules(v, &d); err != nil {
			return err
		}
	}
	return s.render(v, refused, pageHead{"revenue", "book", app.Text{EN: "Revenue or not", VI: "Doanh thu hay không"}}, d)
}

func (s *Server) readRules(v *visit, d *revenueData) (err error) {
	if d.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	rules, err := s.Services.Books.Rules(v.Context(), v.account.ID)
	for _, r := range rules {
		d.Rules = append(d.Rules, ruleRow{r, bankAccount(d.Banks, r.BankAccountID)})
	}
	return err
}

// addRule makes a rule about a bank account, or about a text.
func (s *Server) addRule(v *visit) (err error) {
	r := book.Rule{Kind: book.Kind(v.PostFormValue("kind")), Text: v.PostFormValue("text")}
	var bad app.Invalid
	r.BankAccountID = readBankAccountID(v.PostFormValue("bank_account_id"), &bad)
	if err = bad.Err(); err == nil {
		err = s.Services.Books.AddRule(v.Context(), v.account.ID, r)
	}
	if err != nil {
		return s.showRevenue(v, r, err)
	}
	return s.redirect(v, revenuePath, app.Text{EN: "The rule is in force.", VI: "Quy tắc đã có hiệu lực."})
}

func (s *Server) removeRule(v *visit) error {
	return s.done(v, s.Services.Books.RemoveRule(v.Context(), v.account.ID, v.pathID()), revenuePath,
		app.Text{EN: "The rule was removed.", VI: "Đã xoá quy tắc."})
}

// setRevenue marks the kind of money in. If the mark is refused, the page of the transaction says why.
func (s *Server) setRevenue(v *visit, d *transactionData) error {
	m := book.Mark{Kind: book.Kind(v.PostFormValue("kind")), Note: v.PostFormValue("revenue_note")}
	marked, err := s.Services.Books.SetMark(v.Context(), v.account.ID, d.Row.ID, m)
	to, done := transactionPath(d.Row.ID), app.Text{EN: "Counted as revenue.", VI: "Đã tính là doanh thu."}
	if back := v.PostFormValue("back"); back != "" {
		to = localPath(back)
	}
	if name := v.NotRevenue(marked); name != "" {
		done = app.Textf("Not revenue: %s.", "Không phải doanh thu: %s.", name)
	}
	return s.done(v, err, to, done)
}
