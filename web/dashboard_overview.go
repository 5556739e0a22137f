package web

import (
	"net/http"
	"strconv"

	"baoco/app"
)

// overviewData is the first page: what came in, what goes out, what needs
// somebody.
type overviewData struct {
	Today, Week, Month dayTotal
	Sent               app.DeliveryHealth // of the last 24 hours
	Status             app.AccountStatus
	Days               int // of the chart
	Ranges             []int
	Wide, Narrow       chart
	Newest             []transactionRow
	Live               string          // address of the stream of new rows
	Attention          []app.Attention // for owners
	Steps              []setUpStep     // of setting up; none once it works
}

var overviewRanges = []int{7, 14, 30, 90}

func (s *Server) overviewPage(v *visit) error {
	days, err := strconv.Atoi(v.URL.Query().Get("days"))
	if err != nil || days < 1 || days > 366 {
		days = 30
	}
	data := overviewData{Days: days, Ranges: overviewRanges}
	if err := s.readTotals(v, &data); err != nil {
		return err
	}
	if data.Status, err = s.service.AccountStatus(v.Context(), v.account.ID); err != nil {
		return err
	}
	if data.Sent, err = s.service.DeliveryHealth(v.Context(), v.account.ID, v.now); err != nil {
		return err
	}
	newest, err := s.service.Newest(v.Context())
	if err != nil {
		return err
	}
	data.Live = liveAddress(newest)
	if data.Newest, _, err = s.transactionRows(v, app.TransactionFilter{Page: app.Page{Number: 1, Size: 10}}); err != nil {
		return err
	}
	if v.owner() {
		if data.Attention, err = s.service.Attention(v.Context(), v.account.ID, s.installation, v.now); err != nil {
			return err
		}
	}
	if data.Steps, err = s.steps(v); err != nil {
		return err
	}
	return s.render(v, http.StatusOK, "overview", "overview", app.Text{EN: "Overview", VI: "Tổng quan"}, data)
}

// readTotals reads the kept totals once, from the first day that is asked for.
func (s *Server) readTotals(v *visit, data *overviewData) error {
	today := app.DayOf(v.now, v.zone)
	week, month, from := today.WeekStart(), today.MonthStart(), today-app.Day(data.Days-1)
	first := min(week, month, from)
	rows, err := s.service.Days(v.Context(), v.account.ID, first, today)
	if err != nil {
		return err
	}
	all := dayTotals(rows, first, today)
	data.Today, data.Week, data.Month = sumDays(all, today), sumDays(all, week), sumDays(all, month)
	shown := all[from-first:]
	w := view{Lang: v.lang, zone: v.zone, now: v.now}
	data.Wide = w.drawChart(shown, 960, 260)
	data.Narrow = w.drawChart(shown[max(0, len(shown)-14):], 360, 220)
	return nil
}

// sumDays is the sum of the days from one on.
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
