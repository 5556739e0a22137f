package dashboard

import (
	"strconv"
	"time"

	"baoco/app"
	"baoco/web/wire"
)

// overviewData is the first page: money, deliveries and what needs attention.
type overviewData struct {
	overviewSums
	Status       app.AccountStatus
	Expired      bool // the plan has expired
	Days         int  // of the chart
	Ranges       []int
	Banks        []app.BankAccount
	Bank         int64 // the bank account of the chart; 0: all
	Wide, Narrow chart
	Newest       []transactionRow
	Attention    []app.Attention  // for owners
	Steps        []onboardingStep // of the onboarding; none once it is done
}

// overviewSums are the sums of the first page.
type overviewSums struct {
	Today, Week, Month dayTotal
	Sent               app.DeliveryHealth // of the last 24 hours
}

var overviewRanges = []int{7, 14, 30, 90}

func (s *Server) overviewPage(v *visit) error {
	days, err := strconv.Atoi(v.URL.Query().Get("days"))
	if err != nil || days < 1 || days > 366 {
		days = 30
	}
	data := overviewData{Days: days, Ranges: overviewRanges}
	today := app.DayOf(v.now, v.zone)
	from := today - app.Day(days-1)
	shown, err := s.readSums(v, &data.overviewSums, from, v.now)
	if err != nil {
		return err
	}
	if data.Status, err = s.Service.AccountStatus(v.Context(), v.account.ID); err != nil {
		return err
	}
	data.Expired = data.Status.Expired(v.now)
	if data.Banks, err = s.Service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	if id, ok := wire.ParseID(v.URL.Query().Get("bank_account_id")); ok {
		rows, err := s.Service.Days(v.Context(), v.account.ID, id, from, today)
		if err != nil {
			return err
		}
		data.Bank, shown = id, dayTotals(rows, from, today)
	}
	data.Wide = v.drawChart(shown, 960, 260)
	data.Narrow = v.drawChart(shown[max(0, len(shown)-14):], 360, 220)
	if data.Newest, _, err = s.transactionRows(v, app.TransactionFilter{Page: app.Page{Number: 1, Size: 10}}); err != nil {
		return err
	}
	if v.owner() {
		if data.Attention, err = s.Service.Attention(v.Context(), v.account.ID, s.Installation, v.now); err != nil {
			return err
		}
		data.Attention = groupRefused(data.Attention)
	}
	if data.Steps, err = s.onboardingSteps(v); err != nil {
		return err
	}
	return s.render(v, "overview", "overview", app.Text{EN: "Overview", VI: "Tổng quan"}, data)
}

// readSums reads the sums at now, and returns the totals of the days since from.
// It reads the kept totals once.
func (s *Server) readSums(v *visit, sums *overviewSums, from app.Day, now time.Time) ([]dayTotal, error) {
	today := app.DayOf(now, v.zone)
	week, month := today.WeekStart(), today.MonthStart()
	first := min(week, month, from)
	rows, err := s.Service.Days(v.Context(), v.account.ID, 0, first, today)
	if err != nil {
		return nil, err
	}
	all := dayTotals(rows, first, today)
	sums.Today, sums.Week, sums.Month = sumDays(all, today), sumDays(all, week), sumDays(all, month)
	sums.Sent, err = s.Service.DeliveryHealth(v.Context(), v.account.ID, now)
	return all[from-first:], err
}

// sumDays is the sum of the days since from.
func sumDays(days []dayTotal, from app.Day) dayTotal {
	sum := dayTotal{Day: from}
	for _, d := range days {
		if d.Day >= from {
			sum.In.Count, sum.In.Total = sum.In.Count+d.In.Count, sum.In.Total+d.In.Total
			sum.Out.Count, sum.Out.Total = sum.Out.Count+d.Out.Count, sum.Out.Total+d.Out.Total
		}
	}
	return sum
}
