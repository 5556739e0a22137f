package book_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/apptest"
	"baoco/app/book"
)

// reported is what a report says of one row, without those that have nothing.
func reported(name string, s book.Sums) string {
	if s == (book.Sums{}) {
		return ""
	}
	return fmt.Sprintf("%s: %d in %d, %d in %d, revenue %d, refunded %d, cash %d", name, s.In.Total, s.In.Count, s.Out.Total, s.Out.Count,
		s.Revenue, s.Refunded, s.Cash)
}

func reportLines(r *book.Report) (list []string) {
	total := book.ReportRow{Text: app.Text{EN: "Total"}, Sums: r.Total}
	for _, row := range append(slices.Clone(r.Rows), total, book.ReportRow{Text: app.Text{EN: "Before"}, Sums: r.Before}) {
		if line := reported(row.Text.EN, row.Sums); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// count is the sums of some days, counted from the rows, by the names that name gives.
func (l *ledger) count(first, last app.Day, bank int, name func(r *row) string, cashName func(d app.Day) string) map[string]book.Sums {
	sums := map[string]book.Sums{}
	marks := l.marked
	for _, r := range l.rows {
		date := r.Time.In(l.zone).Format(app.DateLayout)
		if date < first.String() || date > last.String() || bank >= 0 && r.bank != bank {
			continue
		}
		s := sums[name(r)]
		s.Add(r.Type, app.Amounts{Count: 1, Total: r.Amount})
		if marks && l.revenue(r) {
			s.Revenue += r.Amount
		}
		if l.refunds[r.ID] != 0 {
			s.Refunded += r.Amount
		}
		sums[name(r)] = s
	}
	for d, amount := range l.cash {
		if amount != 0 && bank < 0 && d >= first && d <= last {
			s := sums[cashName(d)]
			s.Cash += amount
			sums[cashName(d)] = s
		}
	}
	return sums
}

// checkReport counts a report of some days anew.
func (l *ledger) checkReport() {
	today := app.DayOf(l.now, l.zone)
	asked := book.ReportRequest{First: min(day(l.when()[:10]), today), By: book.ReportGroupings[l.random.IntN(6)]}
	asked.Last = asked.First + app.Day(l.random.IntN(100))
	if l.random.IntN(2) == 0 {
		asked.First = asked.First.MonthStart()
		asked.Last = (asked.First + 31*app.Day(1+l.random.IntN(4))).MonthStart() - 1
	}
	bank := -1
	if l.random.IntN(3) == 0 {
		bank = l.random.IntN(2)
		asked.BankAccountID = l.banks[bank].ID
	}
	const date = "02/01/2006"
	within := func(first, last time.Time) string { // of the days that are asked for
		if first.Before(asked.First.Date()) {
			first = asked.First.Date()
		}
		if last.After(asked.Last.Date()) {
			last = asked.Last.Date()
		}
		switch {
		case first.Equal(last):
			return first.Format(date)
		case first.Day() == 1 && last.Month() == first.Month() && last.AddDate(0, 0, 1).Day() == 1:
			return first.Format("01/2006")
		}
		return first.Format(date) + " – " + last.Format(date)
	}
	byDate := func(t time.Time) string {
		d := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		switch asked.By {
		case book.ByWeek:
			for d.Weekday() != time.Monday {
				d = d.AddDate(0, 0, -1)
			}
			return within(d, d.AddDate(0, 0, 6))
		case book.ByMonth:
			d = d.AddDate(0, 0, 1-d.Day())
			return within(d, d.AddDate(0, 1, -1))
		}
		return d.Format(date)
	}
	cash := func(d app.Day) string { return byDate(d.Date()) }
	name := func(r *row) string { return byDate(r.Time.In(l.zone)) }
	switch asked.By {
	case book.ByAccount:
		name = func(r *row) string { return l.banks[r.bank].Title() }
	case book.ByPrefix:
		name = func(r *row) string {
			if len(r.Content) > 4 && (r.Content[:2] == "DH" || r.Content[:2] == "KH") {
				return r.Content[:2]
			}
			return "no code"
		}
	case book.ByHour:
		name = func(r *row) string {
			if r.DateOnly {
				return "no time"
			}
			return r.Time.In(l.zone).Format("15:00")
		}
	}
	if !slices.Contains([]book.Grouping{book.ByDay, book.ByWeek, book.ByMonth}, asked.By) {
		cash = func(app.Day) string { return "Sales for cash" }
	}
	before := [2]time.Time{asked.First.Date().AddDate(0, 0, -int(asked.Last-asked.First+1)), asked.First.Date().AddDate(0, 0, -1)}
	if first, end := asked.First.Date(), asked.Last.Date().AddDate(0, 0, 1); first.Day() == 1 && end.Day() == 1 {
		before[0] = first.AddDate(0, int(first.Month())-int(end.Month())-12*(end.Year()-first.Year()), 0)
	}
	var want []string
	for text, s := range l.count(asked.First, asked.Last, bank, name, cash) {
		want = append(want, reported(text, s))
	}
	whole := func(text string, first, last app.Day) {
		all := l.count(first, last, bank, func(*row) string { return text }, func(app.Day) string { return text })
		for _, s := range all {
			want = append(want, reported(text, s))
		}
	}
	whole("Total", asked.First, asked.Last)
	whole("Before", day(before[0].Format(app.DateLayout)), day(before[1].Format(app.DateLayout)))
	r, err := l.books.Report(l.T.Context(), 1, asked, l.now)
	apptest.Must(l.T, err)
	got := reportLines(r)
	slices.Sort(want)
	slices.Sort(got)
	l.want(fmt.Sprintf("report %+v", asked), want, got)
}

// refund links money out with the first money in that it may give back.
func (l *ledger) refund() {
	out := l.pick()
	if out == nil || out.Type != app.Out || l.refunds[out.ID] != 0 {
		return
	}
	for _, in := range l.rows {
		if l.Store.LinkRefund(l.T.Context(), 1, out.ID, in.ID) == nil {
			l.refunds[out.ID] = in.ID
			return
		}
	}
}

// What can't be reported is refused with the field that is wrong.
func TestReportRefused(t *testing.T) {
	s := newShop(t)
	ask := func(from, to string, by book.Grouping, bank int64) error {
		r, err := book.ReadReport(from, to, by, bank, app.DayOf(s.now, s.zone))
		if err == nil {
			_, err = s.books.Report(t.Context(), 1, r, s.now) // on 2 December 2026
		}
		return err
	}
	for _, refused := range []struct {
		field string
		err   error
	}{
		{"from", ask("2026-12-03", "2026-12-31", "", 0)}, {"from", ask("2026-12", "2026-12-31", "", 0)},
		{"to", ask("2026-11-30", "2026-11-29", "", 0)}, {"to", ask("2026-11-30", "30/11/2026", "", 0)},
		{"to", ask("2023-12-01", "2026-12-01", "", 0)}, {"by", ask("2026-11-30", "2026-11-30", "year", 0)},
		{"bank_account_id", ask("2026-11-30", "2026-11-30", "", 99)},
	} {
		if e, is := refused.err.(*app.Error); !is || e.Code != app.CodeValidation || len(e.Fields) != 1 ||
			e.Fields[0].Field != refused.field {
			t.Errorf("%s: %v", refused.field, refused.err)
		}
	}
	for _, err := range []error{ask("2023-12-02", "2026-12-01", "", 0), ask("", "2026-12-31", book.ByHour, s.banks[0].ID),
		ask("", "", "", 0), ask("2026-12-02", "2026-12-02", "", 0)} {
		apptest.Must(t, err)
	}
}

// Somebody who is limited sees the sums of what they may see, and no cash.
func TestReportWithinALimit(t *testing.T) {
	s := newShop(t)
	s.move(0, "2026-11-30 10:00:00", 100, "a")
	s.move(1, "2026-11-30 10:00:00", 200, "b")
	apptest.Must(t, s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-11-30"), Amount: 5}, s.now))
	ctx := access.SeeingOnly(t.Context(), access.BankAccountLimit{On: true, IDs: []int64{s.banks[1].ID}})
	for _, by := range book.ReportGroupings {
		r, err := s.books.Report(ctx, 1, book.ReportRequest{First: day("2026-11-30"), Last: day("2026-11-30"), By: by}, s.now)
		apptest.Must(t, err)
		if lines := reportLines(r); len(lines) != 2 || r.Total.In.Total != 200 || r.Total.Cash != 0 {
			t.Errorf("%s: %q", by, lines)
		}
	}
}

// Refunds stand beside the money in, also where there were some in the time before alone; an hour without money has
// its row.
func TestReportColumns(t *testing.T) {
	s := newShop(t)
	s.Pattern("DH", 6, 8)
	s.Pattern("DH9", 6, 8)
	in := s.move(0, "2026-11-29 10:00:00", 1000, "DH9123456")
	out := s.move(0, "2026-11-29 12:00:00", -300, "hoan tien")
	s.move(0, "2026-11-30 08:30:00", 50, "a")
	apptest.Must(t, s.Store.LinkRefund(t.Context(), 1, out.ID, in.ID))
	s.mark(in, book.Mark{Kind: book.Revenue})
	apptest.Must(t, s.books.SetCash(t.Context(), 1, book.Cash{Day: day("2026-11-29"), Amount: 7}, s.now))
	report := func(ctx context.Context, first, last string, by book.Grouping) *book.Report {
		t.Helper()
		r, err := s.books.Report(ctx, 1, book.ReportRequest{First: day(first), Last: day(last), By: by}, s.now)
		apptest.Must(t, err)
		return r
	}
	columns := func(r *book.Report, sums book.Sums) (text string) {
		for _, c := range r.Columns() {
			text += fmt.Sprintf("%s %d, ", c.Name.EN, c.Of(sums))
		}
		return text
	}
	r := report(t.Context(), "2026-11-29", "2026-11-29", book.ByPrefix)
	const want = "Money in 1000, Payments in 1, Money out 300, Payments out 1, In less out 700, Revenue 1000, Refunded 300, " +
		"In after refunds 700, Sales for cash 7, "
	if got := columns(r, r.Total); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if r.Rows[1].Key != "DH9" {
		t.Errorf("the longest prefix: %+v", r.Rows)
	}
	r = report(t.Context(), "2026-11-30", "2026-11-30", book.ByHour)
	if got := columns(r, r.Before); got != want {
		t.Errorf("before: %s; want %s", got, want)
	}
	if len(r.Rows) != 24 || r.Rows[8].In.Total != 50 {
		t.Errorf("%d hours: %+v", len(r.Rows), r.Rows)
	}
	// A refund of money that somebody doesn't see is money out to them.
	elsewhere := s.move(1, "2026-11-30 09:00:00", -20, "hoan tien")
	apptest.Must(t, s.Store.LinkRefund(t.Context(), 1, elsewhere.ID, in.ID))
	ctx := access.SeeingOnly(t.Context(), access.BankAccountLimit{On: true, IDs: []int64{s.banks[1].ID}})
	if r = report(ctx, "2026-11-30", "2026-11-30", book.ByDay); r.Total.Refunded != 0 || r.Total.Out.Total != 20 {
		t.Errorf("within a limit: %+v", r.Total)
	}
}
