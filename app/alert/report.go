package alert

import (
	"context"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/upkeep"
)

// ReportTime is when a channel gets the report of the day: a time of day such as
// 21:30 in the zone of the installation; empty: never. A shop that closes after
// midnight gets before nightEnds the report of the day before.
type ReportTime string

const nightEnds ReportTime = "06:00"

// night tells whether the report is about the day before.
func (r ReportTime) night() bool { return r < nightEnds }

// closing is when the report of a day is due.
func (r ReportTime) closing(day app.Day, zone *time.Location) time.Time {
	if r.night() {
		day++
	}
	return r.at(day, zone)
}

func (r ReportTime) at(day app.Day, zone *time.Location) time.Time {
	t, _ := app.ParseTime(day.String()+" "+string(r)+":00", zone) // as SetReport checked it
	return t
}

// lastClosed is the last day whose report was due at now.
func (r ReportTime) lastClosed(now time.Time, zone *time.Location) app.Day {
	day := app.DayOf(now, zone)
	for r.closing(day, zone).After(now) {
		day--
	}
	return day
}

// DayPath is the path, with its query, of the dashboard's page of a day.
func DayPath(d app.Day) string { return "/day?date=" + d.String() }

// SetReport says when a channel gets the report of the day; never where at is
// empty. The first one is that of the next closing time.
func (s *Service) SetReport(ctx context.Context, accountID int64, medium Medium, at ReportTime, now time.Time) error {
	c, err := s.AlertChannel(ctx, accountID, medium)
	if err != nil || c.ReportTime == at {
		return err
	}
	var closed app.Day
	if at != "" {
		if t, err := time.Parse("15:04", string(at)); err != nil || t.Format("15:04") != string(at) {
			return app.InvalidField("report_time", "must be a time of day such as 21:30", "phải là một giờ trong ngày, ví dụ 21:30")
		}
		closed = at.lastClosed(now, s.zone)
	}
	return s.store.SetReport(ctx, accountID, medium, at, closed)
}

// reportDue gives the day of which the channel is to get the report at now. After
// a pause of the server it is the last day that has closed, and no other. A day
// that hasn't come yet was reported by a clock that was wrong.
func (s *Service) reportDue(c Channel, now time.Time) (day app.Day, due bool) {
	if c.ReportTime == "" {
		return 0, false
	}
	day = c.ReportTime.lastClosed(now, s.zone)
	return day, c.ReportedDay < day || c.ReportedDay > app.DayOf(now, s.zone)
}

// monthTime is when, on the first of a month, the report of the month before is due.
const monthTime ReportTime = "08:00"

// lastMonth is the last month whose report was due at now, and when it was.
func (s *Service) lastMonth(now time.Time) (month app.Day, due time.Time) {
	first := app.DayOf(now, s.zone).MonthStart()
	if monthTime.at(first, s.zone).After(now) {
		first = (first - 1).MonthStart()
	}
	return (first - 1).MonthStart(), monthTime.at(first, s.zone)
}

// SetMonthReport says whether a channel gets the report of a month on the first of the next one.
func (s *Service) SetMonthReport(ctx context.Context, accountID int64, medium Medium, on bool, now time.Time) error {
	c, err := s.AlertChannel(ctx, accountID, medium)
	if err != nil || (c.ReportedMonth != 0) == on {
		return err
	}
	var month app.Day
	if on {
		month, _ = s.lastMonth(now)
	}
	return s.store.SetMonthReport(ctx, accountID, medium, month)
}

// monthDue gives the month of which the channel is to get the report at now, as reportDue does.
func (s *Service) monthDue(c Channel, now time.Time) (month app.Day, due bool) {
	if c.ReportedMonth == 0 {
		return 0, false
	}
	month, _ = s.lastMonth(now)
	return month, c.ReportedMonth < month || c.ReportedMonth > app.DayOf(now, s.zone)
}

func (s *Service) monthMessage(ctx context.Context, c Channel, month app.Day, in upkeep.Installation, now time.Time) (Message, error) {
	w, err := s.newReport(ctx, c)
	if err != nil {
		return Message{}, err
	}
	asked := book.ReportRequest{First: month, Last: (month + 31).MonthStart() - 1, By: book.ByMonth}
	r, err := s.rooms.Books.Report(ctx, c.AccountID, asked, now)
	if err != nil {
		return Message{}, err
	}
	for _, column := range r.Columns() {
		text := w.money(column.Of(r.Total))
		if column.Count {
			text = app.GroupDigits(column.Of(r.Total), w.lang)
		}
		w.line(column.Name.In(w.lang) + ": " + text)
	}
	w.line("")
	w.line(w.amounts("The month before, money in", "Tiền vào tháng trước đó", r.Before.In))
	w.line("")
	_, due := s.lastMonth(now)
	w.late(due, now, due.Format("02/01 15:04"))
	if in.BaseURL != "" {
		w.line(in.BaseURL + "/report?from=" + r.First.String() + "&to=" + r.Last.String() + "&by=day")
	}
	return w.message(w.t("Report of the month ", "Báo cáo tháng ")+r.Name(), r.Total.In.Total), nil
}

func (s *Service) reportMessage(ctx context.Context, c Channel, day app.Day, in upkeep.Installation, now time.Time) (Message, error) {
	w, err := s.newReport(ctx, c)
	if err != nil {
		return Message{}, err
	}
	sums, err := s.rooms.Ledger.DayBook(ctx, c.AccountID, day)
	if err != nil {
		return Message{}, err
	}
	w.line(w.amounts("Money in", "Tiền vào", sums.In))
	w.line(w.amounts("Money out", "Tiền ra", sums.Out))
	w.line(w.amounts("A week before, money in", "Tiền vào cùng thứ tuần trước", sums.WeekBefore.In))
	for _, b := range sums.Banks {
		w.line("")
		w.bank(b)
	}
	w.line("")
	if app.DayOf(now, s.zone) == day {
		w.line(w.t("As of ", "Tính đến ") + now.In(s.zone).Format("15:04") + ".")
	}
	w.late(c.ReportTime.closing(day, s.zone), now, string(c.ReportTime))
	if in.BaseURL != "" {
		w.line(in.BaseURL + DayPath(day))
	}
	return w.message(w.t("Day book ", "Sổ ngày ")+day.Date().Format("02/01/2006"), sums.In.Total), nil
}

type reportWriter struct {
	medium Medium
	lang   app.Lang
	sender string
	lines  []string
}

func (s *Service) newReport(ctx context.Context, c Channel) (w reportWriter, err error) {
	p, err := s.AlertPreferences(ctx, c.AccountID)
	if err != nil {
		return w, err
	}
	a, err := s.rooms.Ledger.Account(ctx, c.AccountID)
	return reportWriter{medium: c.Medium, lang: p.Lang, sender: alertSender(a)}, err
}

func (w *reportWriter) line(text string) { w.lines = append(w.lines, text) }

// reportLate is how long after closing time a report says that it is late.
const reportLate = 30 * time.Minute

// late says that a report which was due at a time, as at names it, is late.
func (w *reportWriter) late(due, now time.Time, at string) {
	if now.Sub(due) > reportLate {
		w.line(app.Textf("This is late: it could not be sent at %s.", "Tin này gửi muộn: lúc %s chưa gửi được.", at).In(w.lang))
	}
}

// message is the message with a name, about so much money in.
func (w *reportWriter) message(name string, in int64) Message {
	name = w.sender + " · " + name
	return Message{Medium: w.medium, Subject: name + ": +" + w.money(in),
		Text: name + "\n\n" + strings.TrimSpace(strings.Join(w.lines, "\n"))}
}

func (w *reportWriter) t(en, vi string) string { return app.Text{EN: en, VI: vi}.In(w.lang) }

func (w *reportWriter) money(n int64) string { return app.GroupDigits(n, w.lang) + "\u00a0₫" }

func (w *reportWriter) amounts(en, vi string, a app.Amounts) string {
	return w.t(en, vi) + ": " + w.money(a.Total) + " (" + app.GroupDigits(a.Count, w.lang) + ")"
}

func (w *reportWriter) bank(b app.BankAccountDay) {
	name := b.Bank
	if b.Nickname != "" {
		name = app.Isolated(b.Nickname)
	}
	w.line(name + " " + app.Tail(b.AccountNumber))
	w.line(w.amounts("In", "Vào", b.In))
	if b.Out.Count > 0 {
		w.line(w.amounts("Out", "Ra", b.Out))
	}
	if b.Closing != nil {
		w.line(w.t("Balance told last: ", "Số dư được báo gần nhất: ") + w.money(b.Closing.Amount))
	}
}
