package app

import (
	"context"
	"strings"
	"time"
)

// DayBook is what came in and went out on one day.
type DayBook struct {
	Day   Day
	First Day // the first day with a transaction; the day itself where there is none
	Flow
	Before, WeekBefore Flow // of the day before, and of the same weekday a week before
	Banks              []BankAccountDay
	Hours              []HourFlow // from the first hour with a transaction to the last
	Untimed            Flow       // of transactions whose time isn't known
}

// BankAccountDay is one bank account in a DayBook. It may be unlinked since.
type BankAccountDay struct {
	BankAccount
	Flow
	Opening, Closing *Balance // last told before the day, and on it; nil: none was
}

// HourFlow is one hour of the clock in a DayBook.
type HourFlow struct {
	Hour int // from 0
	Flow
}

// HourRow is the transactions of one hour in one direction.
type HourRow struct {
	Since   int  // how many whole hours of the range came before
	Untimed bool // only their day is known
	Type    Direction
	Amounts
}

// add adds amounts to those of a direction.
func (f *Flow) add(d Direction, a Amounts) {
	sum := &f.In
	if d == Out {
		sum = &f.Out
	}
	sum.Count, sum.Total = sum.Count+a.Count, sum.Total+a.Total
}

// DayBook reads the book of one day.
func (s *Service) DayBook(ctx context.Context, accountID int64, day Day) (DayBook, error) {
	book := DayBook{Day: day}
	rows, err := s.Days(ctx, accountID, 0, day-7, day)
	if err != nil {
		return book, err
	}
	for _, row := range rows {
		switch row.Day {
		case day:
			book.add(row.Type, row.Amounts)
		case day - 1:
			book.Before.add(row.Type, row.Amounts)
		case day - 7:
			book.WeekBefore.add(row.Type, row.Amounts)
		}
	}
	if book.First, err = s.store.FirstDay(ctx, accountID, day); err != nil {
		return book, err
	}
	if book.Banks, err = s.bankAccountDays(ctx, accountID, day); err != nil {
		return book, err
	}
	return book, s.addHours(ctx, accountID, &book)
}

// bankAccountDays lists the bank accounts that had transactions on a day.
func (s *Service) bankAccountDays(ctx context.Context, accountID int64, day Day) ([]BankAccountDay, error) {
	list, err := s.store.BankAccountDays(ctx, accountID, day)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	opening, err := s.Balances(ctx, accountID, day-1)
	if err != nil {
		return nil, err
	}
	closing, err := s.Balances(ctx, accountID, day)
	for i := range list {
		if b, told := opening[list[i].ID]; told {
			list[i].Opening = &b
		}
		if b, told := closing[list[i].ID]; told && DayOf(b.At, s.zone) == day {
			list[i].Closing = &b
		}
	}
	return list, err
}

// addHours reads the transactions of the day one by one.
func (s *Service) addHours(ctx context.Context, accountID int64, book *DayBook) error {
	start := book.Day.Start(s.zone)
	rows, err := s.store.HoursBetween(ctx, accountID, start, (book.Day + 1).Start(s.zone))
	if err != nil {
		return err
	}
	var hours [24]Flow
	first, last := len(hours), -1
	for _, row := range rows {
		if row.Untimed {
			book.Untimed.add(row.Type, row.Amounts)
			continue
		}
		// Where the clocks change, an hour of the clock comes twice or not at all.
		hour := start.Add(time.Duration(row.Since) * time.Hour).In(s.zone).Hour()
		hours[hour].add(row.Type, row.Amounts)
		first, last = min(first, hour), max(last, hour)
	}
	for hour := first; hour <= last; hour++ {
		book.Hours = append(book.Hours, HourFlow{hour, hours[hour]})
	}
	return nil
}

// The report of the day tells a channel at closing time what came in. It goes the
// way of alerts (alert.go), as a message of its own, when there is no news.

// ReportTime is when a channel gets the report of the day: a time of day such as
// 21:30 in the zone of the installation; empty: never. A shop that closes after
// midnight gets before nightEnds the report of the day before.
type ReportTime string

const nightEnds ReportTime = "06:00"

// night tells whether the report is about the day before.
func (r ReportTime) night() bool { return r < nightEnds }

// closing is when the report of a day is due.
func (r ReportTime) closing(day Day, zone *time.Location) (time.Time, error) {
	if r.night() {
		day++
	}
	return ParseTime(day.String()+" "+string(r)+":00", zone)
}

// lastClosed is the last day whose report was due at now.
func (r ReportTime) lastClosed(now time.Time, zone *time.Location) (Day, error) {
	day := DayOf(now, zone)
	for {
		at, err := r.closing(day, zone)
		if err != nil || !at.After(now) {
			return day, err
		}
		day--
	}
}

// SetReport says when a channel gets the report of the day; never where at is
// empty. The first one is that of the next closing time.
func (s *AlertService) SetReport(ctx context.Context, accountID int64, medium AlertMedium, at ReportTime, now time.Time) error {
	c, err := s.AlertChannel(ctx, accountID, medium)
	if err != nil || c.ReportTime == at {
		return err
	}
	var closed Day
	if at != "" {
		if t, err := time.Parse("15:04", string(at)); err != nil || t.Format("15:04") != string(at) {
			return InvalidField("report_time", "must be a time of day such as 21:30", "phải là một giờ trong ngày, ví dụ 21:30")
		}
		if closed, err = at.lastClosed(now, s.zone); err != nil {
			return err
		}
	}
	return s.store.SetReport(ctx, accountID, medium, at, closed)
}

// reportDue gives the day of which the channel is to get the report at now. After
// a pause of the server it is the last day that has closed, and no other. A day
// that hasn't come yet was reported by a clock that was wrong.
func (s *AlertService) reportDue(c AlertChannel, now time.Time) (day Day, due bool, err error) {
	if c.ReportTime == "" {
		return 0, false, nil
	}
	day, err = c.ReportTime.lastClosed(now, s.zone)
	return day, err == nil && (c.ReportedDay < day || c.ReportedDay > DayOf(now, s.zone)), err
}

// reportLate is how long after closing time a report says that it is late.
const reportLate = 30 * time.Minute

// reportMessage writes the report of a day.
func (s *AlertService) reportMessage(ctx context.Context, c AlertChannel, day Day, in Installation, now time.Time) (AlertMessage, error) {
	p, err := s.AlertPreferences(ctx, c.AccountID)
	if err != nil {
		return AlertMessage{}, err
	}
	a, err := s.rooms.Ledger.Account(ctx, c.AccountID)
	if err != nil {
		return AlertMessage{}, err
	}
	book, err := s.rooms.Ledger.DayBook(ctx, c.AccountID, day)
	if err != nil {
		return AlertMessage{}, err
	}
	closing, err := c.ReportTime.closing(day, s.zone)
	if err != nil {
		return AlertMessage{}, err
	}
	w := reportWriter{lang: p.Lang}
	w.line(w.amounts("Money in", "Tiền vào", book.In))
	w.line(w.amounts("Money out", "Tiền ra", book.Out))
	w.line(w.amounts("A week before, money in", "Tiền vào cùng thứ tuần trước", book.WeekBefore.In))
	for _, b := range book.Banks {
		w.line("")
		w.bank(b)
	}
	w.line("")
	if DayOf(now, s.zone) == day {
		w.line(w.t("As of ", "Tính đến ") + now.In(s.zone).Format("15:04") + ".")
	}
	if now.Sub(closing) > reportLate {
		w.line(Textf("This is late: it could not be sent at %s.", "Tin này gửi muộn: lúc %s chưa gửi được.", c.ReportTime).In(w.lang))
	}
	if in.BaseURL != "" {
		w.line(in.BaseURL + s.config.DayPath(day))
	}
	name := alertSender(a) + " · " + w.t("Day book ", "Sổ ngày ") + day.date().Format("02/01/2006")
	return AlertMessage{
		Medium:  c.Medium,
		Subject: name + ": +" + w.money(book.In.Total),
		Text:    name + "\n\n" + strings.TrimSpace(strings.Join(w.lines, "\n")),
	}, nil
}

// reportWriter gathers the lines of a report.
type reportWriter struct {
	lang  Lang
	lines []string
}

func (w *reportWriter) line(text string) { w.lines = append(w.lines, text) }

func (w *reportWriter) t(en, vi string) string { return Text{en, vi}.In(w.lang) }

func (w *reportWriter) money(n int64) string { return GroupDigits(n, w.lang) + "\u00a0₫" }

func (w *reportWriter) amounts(en, vi string, a Amounts) string {
	return w.t(en, vi) + ": " + w.money(a.Total) + " (" + GroupDigits(a.Count, w.lang) + ")"
}

func (w *reportWriter) bank(b BankAccountDay) {
	name := b.Bank
	if b.Nickname != "" {
		name = Isolated(b.Nickname)
	}
	w.line(name + " " + Tail(b.AccountNumber))
	w.line(w.amounts("In", "Vào", b.In))
	if b.Out.Count > 0 {
		w.line(w.amounts("Out", "Ra", b.Out))
	}
	if b.Closing != nil {
		w.line(w.t("Balance told last: ", "Số dư được báo gần nhất: ") + w.money(b.Closing.Amount))
	}
}
