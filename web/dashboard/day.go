package dashboard

import (
	"math"
	"net/url"
	"slices"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/payment"
)

type dayData struct {
	app.DayBook
	Banks    []bankDay
	Bars     []hourBar
	Compared []comparison
	Earlier  string       // address of the day before; empty: no data is that old
	Later    string       // address of the day after; empty: that day hasn't begun
	Today    bool         // the day isn't over yet
	Revenue  *app.Amounts // the money in that is revenue; nil: the account has no marks of revenue
	Refunded int64        // on this day
	File     string       // address of the XLSX file
	Slip     string       // of the page for narrow paper
}

// Net is the money in without what was refunded.
func (d dayData) Net() int64 { return d.In.Total - d.Refunded }

// Balances reports whether a balance of any bank account is known.
func (d dayData) Balances() bool {
	return slices.ContainsFunc(d.Banks, func(b bankDay) bool { return b.Opening != nil || b.Closing != nil })
}

type bankDay struct {
	app.BankAccountDay
	Opening, Closing *reportedBalance
}

// hourBar is an hour, with the widths of its bars in percent of the longest bar.
type hourBar struct {
	app.HourFlow
	InWidth, OutWidth float64
}

// comparison is an earlier day, to compare.
type comparison struct {
	Day app.Day
	app.Flow
	Percent string // by how much the money in differs; empty: see change
}

func (s *Server) dayPage(v *visit) error {
	day, wrong := v.requestedDay()
	data, err := s.readDay(v, day)
	if err != nil {
		return err
	}
	title := app.Text{EN: "Day book", VI: "Sổ ngày"}
	if v.URL.Query().Get("paper") == "58" && wrong == nil {
		v.live = false
		page := s.view(v, "day", title, data)
		page.Title += " " + v.Date(day)
		return s.writeSlip(v, "day-slip", page)
	}
	return s.render(v, wrong, pageHead{"day", "day", title}, data)
}

// requestedDay is the day that the address names, else today. A day that hasn't begun
// is refused.
func (v *visit) requestedDay() (app.Day, error) {
	today := app.DayOf(v.now, v.zone)
	text := v.URL.Query().Get("date")
	if text == "" {
		return today, nil
	}
	day, err := app.ParseDay(text)
	if err != nil || day > today {
		return today, app.InvalidField("date", "must be a day up to today, such as "+today.String(),
			"phải là một ngày không sau hôm nay, ví dụ "+today.String())
	}
	return day, nil
}

func (s *Server) readDay(v *visit, day app.Day) (d dayData, err error) {
	if d.DayBook, err = s.Services.Ledger.DayBook(v.Context(), v.account.ID, day); err != nil {
		return d, err
	}
	today := app.DayOf(v.now, v.zone)
	d.Today = day == today
	if day > d.First {
		d.Earlier = alert.DayPath(day - 1)
	}
	if day < today {
		d.Later = alert.DayPath(day + 1)
	}
	if v.account.MarksRevenue {
		found, err := s.Services.Ledger.Transactions(v.Context(), v.account.ID, app.TransactionFilter{
			From: day.Start(v.zone), To: (day + 1).Start(v.zone), Revenue: new(true), Sums: true, Page: app.Page{Number: 1, Size: 1},
		})
		if err != nil {
			return d, err
		}
		d.Revenue = &found.Sums.In
	}
	refunds, err := s.Services.Payments.Refunds(v.Context(), v.account.ID,
		payment.RefundFilter{From: day.Start(v.zone), To: (day + 1).Start(v.zone)})
	if err != nil {
		return d, err
	}
	d.Refunded = payment.Refunded(refunds)
	d.File = exportLinks(exportPath, url.Values{"from": {day.String()}, "to": {day.String()}}).XLSX
	d.Slip = alert.DayPath(day) + "&paper=58"
	for _, b := range d.DayBook.Banks {
		d.Banks = append(d.Banks, bankDay{b, s.reportedBalance(v, b.Opening), s.reportedBalance(v, b.Closing)})
	}
	var most int64
	for _, h := range d.Hours {
		most = max(most, h.In.Total, h.Out.Total)
	}
	width := func(n int64) float64 { return round1(100 * float64(n) / float64(max(most, 1))) }
	for _, h := range d.Hours {
		d.Bars = append(d.Bars, hourBar{h, width(h.In.Total), width(h.Out.Total)})
	}
	d.Compared = []comparison{{day - 1, d.Before, ""}, {day - 7, d.WeekBefore, ""}}
	for i := range d.Compared {
		if c := &d.Compared[i]; !d.Today {
			c.Percent = v.change(d.In.Total, c.In.Total)
		}
	}
	return d, nil
}

// inTimes is the ratio to the earlier amount from which on a change is written as "11 times",
// and incomparable the ratio from which on it isn't written.
const inTimes, incomparable = 11, 100

// change writes by how much an amount differs from an earlier one: in percent, or as
// "11 times". It is empty if the earlier amount was 0 or too small to compare.
func (w words) change(now, before int64) string {
	if before == 0 || now/before >= incomparable {
		return ""
	}
	if times := now / before; times >= inTimes {
		return w.T("", "gấp ") + w.Number(times) + w.T(" times", " lần")
	}
	percent := int64(math.Round(float64(now-before) / float64(before) * 100))
	sign := ""
	if percent > 0 {
		sign = "+"
	}
	return sign + w.Number(percent) + w.T("", nbsp) + "%"
}

// Transactions is the address of the transactions of a day.
func (d dayData) Transactions() string {
	return linkTo("/transactions", url.Values{"from": {d.Day.String()}, "to": {d.Day.String()}})
}
