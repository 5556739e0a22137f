package dashboard

import (
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// overviewData is the first page: money, deliveries, and the things that need attention.
type overviewData struct {
	overviewSums
	Status    app.AccountStatus // for owners
	Expired   bool              // the plan has expired
	EndsSoon  bool              // the plan has expired, or expires within 30 days
	Days      int               // of the chart
	Ranges    []int
	Sent      delivery.Health // of the last 24 hours
	Banks     []app.BankAccount
	Bank      int64 // the bank account of the chart; 0: all
	Chart     chart
	Newest    []dayRows
	Attention []alert.Attention // the things that the visitor may settle
	Steps     shownSteps        // of the guide; empty once they are done or hidden
}

// FewLeft reports whether few more bank accounts fit into the plan, and PlanShown whether the
// page shows the plan: a new account's plan without an end is shown only if few fit.
func (view) FewLeft(s app.AccountStatus) bool { return s.BankAccounts*5 >= int64(s.MaxBankAccounts)*4 }

func (v view) PlanShown(s app.AccountStatus) bool {
	return s.Plan != app.NewAccount("", v.now).Plan || s.IsTrial || !s.ExpiresAt.IsZero() || v.FewLeft(s)
}

// overviewSums are the sums of the first page.
type overviewSums struct {
	Today, Week, Month dayTotal
	Yesterday          app.Amounts // the money in of yesterday until this time of day
	LastWeek           app.Amounts // the money in of last week until this weekday and time
}

var overviewRanges = []int{7, 14, 30, 90}

func (s *Server) overviewPage(v *visit) error {
	data := overviewData{Days: 30, Ranges: overviewRanges}
	if err := s.readMoney(v, &data); err != nil {
		return err
	}
	if err := s.readState(v, &data); err != nil {
		return err
	}
	newest, err := s.newestRows(v)
	if err != nil {
		return err
	}
	if data.Newest, err = s.groupByDay(v, newest, v.may(seeMoney)); err != nil {
		return err
	}
	if data.Steps, err = s.stepsOnOverview(v); err != nil {
		return err
	}
	return s.render(v, nil, pageHead{"overview", "overview", app.Text{EN: "Overview", VI: "Tổng quan"}}, data)
}

// newestRows reads the ten transactions that were recorded last. If some of them were recorded
// long after their time, for example from a statement, it reads the ten newest by time.
func (s *Server) newestRows(v *visit) ([]transactionRow, error) {
	f := v.narrow(app.TransactionFilter{Page: app.Page{Number: 1, Size: 10}})
	rows, _, err := s.transactionRows(v, f)
	if slices.ContainsFunc(rows, func(r transactionRow) bool {
		return app.DayOf(r.Time, v.zone) < app.DayOf(r.CreatedAt, v.zone) || r.CreatedAt.Sub(r.KnownAt()) >= spokenWithin
	}) {
		f.Sort = app.SortDateDesc
		rows, _, err = s.transactionRows(v, f)
	}
	return rows, err
}

// readMoney reads the sums and the chart. For a visitor who may not see them it reads the money
// in of today, or nothing.
func (s *Server) readMoney(v *visit, data *overviewData) error {
	today := app.DayOf(v.now, v.zone)
	if !v.may(seeMoney) {
		if !v.may(useCounter) {
			return nil
		}
		rows, err := s.Services.Ledger.Days(v.Context(), v.account.ID, 0, today, today)
		data.Today = sumDays(dayTotals(rows, today, today), today)
		data.Today.Out = app.Amounts{}
		return err
	}
	if days, err := strconv.Atoi(v.URL.Query().Get("days")); err == nil && days >= 1 && days <= 366 {
		data.Days = days
	}
	from := today - app.Day(2*data.Days-1) // the first of the days of the chart and as many before
	shown, err := s.readSums(v, &data.overviewSums, from, v.now)
	if err != nil {
		return err
	}
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	if id, ok := wire.ParseID(v.URL.Query().Get("bank_account_id")); ok {
		rows, err := s.Services.Ledger.Days(v.Context(), v.account.ID, id, from, today)
		if err != nil {
			return err
		}
		data.Bank, shown = id, dayTotals(rows, from, today)
	}
	data.Chart = v.drawChart(shown[data.Days:], shown[:data.Days])
	return nil
}

// readState reads the plan, the health of the webhooks, and the things that need attention.
func (s *Server) readState(v *visit, data *overviewData) (err error) {
	if v.may(ownerOnly) {
		if data.Status, err = s.Services.Ledger.AccountStatus(v.Context(), v.account.ID); err != nil {
			return err
		}
		data.Expired = data.Status.Expired(v.now)
		data.EndsSoon = data.Status.Expired(v.now.AddDate(0, 0, 30))
	}
	if v.may(connect) {
		if data.Sent, err = s.Services.Deliveries.DeliveryHealth(v.Context(), v.account.ID, v.now); err != nil {
			return err
		}
	}
	data.Attention, err = s.attention(v)
	return err
}

// readSums reads the sums at now, and returns the totals of the days since from.
// It reads the daily totals once.
func (s *Server) readSums(v *visit, sums *overviewSums, from app.Day, now time.Time) ([]dayTotal, error) {
	today := app.DayOf(now, v.zone)
	week, month := today.WeekStart(), today.MonthStart()
	first := min(week-7, month, from)
	rows, err := s.Services.Ledger.Days(v.Context(), v.account.ID, 0, first, today)
	if err != nil {
		return nil, err
	}
	all := dayTotals(rows, first, today)
	sums.Today, sums.Week, sums.Month = sumDays(all, today), sumDays(all, week), sumDays(all, month)
	if sums.Yesterday, err = s.Services.Ledger.InByNow(v.Context(), v.account.ID, today-1, now); err != nil {
		return nil, err
	}
	sums.LastWeek, err = s.Services.Ledger.InByNow(v.Context(), v.account.ID, today-7, now)
	sums.LastWeek.Total += sumDays(all[week-7-first:today-7-first], week-7).In.Total
	return all[from-first:], err
}

// Compared writes by how much the money in differs from an earlier period, which en and vi name.
func (w words) Compared(now, before int64, en, vi string) string {
	than := w.T(en, vi)
	switch change := w.change(now, before); {
	case change == "":
		return ""
	case change == w.Number(0)+w.T("", nbsp)+"%":
		return w.T("about the same as ", "gần bằng ") + than
	case now >= inTimes*before:
		return change + " " + than
	default:
		return change + w.T(" on ", " so với ") + than
	}
}
