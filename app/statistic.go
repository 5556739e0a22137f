package app

import (
	"context"
	"time"
)

// Overview is the totals of an account, of all time.
type Overview struct {
	Transactions   int64
	TotalIn        int64 // VND
	TotalOut       int64 // VND
	BankAccounts   int64 // linked
	WebhooksSent   int64 // attempts ever made
	WebhooksErrors int64 // failed attempts
}

// PeriodRow is the transactions of one day in one direction.
type PeriodRow struct {
	Day  Day
	Type Direction
	Amounts
}

// Range is a window of days that ends today.
type Range string

// The ranges.
const (
	rangeDaily   Range = "daily"
	rangeWeekly  Range = "weekly"
	RangeMonthly Range = "monthly"
)

var rangeDays = map[Range]Day{rangeDaily: 1, rangeWeekly: 7, RangeMonthly: 30}

// AccountStatus is an account's plan and how much of it is in use.
type AccountStatus struct {
	Account
	BankAccounts int64 // linked and not inactive
	Webhooks     int64 // active
}

// Period reads the kept totals of the days of r.
func (s *Service) Period(ctx context.Context, accountID int64, r Range, now time.Time) ([]PeriodRow, error) {
	days, ok := rangeDays[r]
	if !ok {
		return nil, InvalidField("range", "must be daily, weekly or monthly", "phải là daily, weekly hoặc monthly")
	}
	today := DayOf(now, s.zone)
	return s.Days(ctx, accountID, 0, today-days+1, today)
}

// InByNow is the money in of an earlier day up to the time of day of now, to compare
// today's with. It is zero where that day had none until then. A time of day that the
// clocks skipped on that day is the moment at which they were set forward.
func (s *Service) InByNow(ctx context.Context, accountID int64, day Day, now time.Time) (Amounts, error) {
	end, err := ParseTime(day.String()+now.In(s.zone).Format(" 15:04:05"), s.zone)
	if err != nil {
		return Amounts{}, err
	}
	page, err := s.Transactions(ctx, accountID, TransactionFilter{
		Type: In, From: day.Start(s.zone), To: end.Add(time.Second), Sums: true, Page: Page{Number: 1, Size: 1},
	})
	if err != nil {
		return Amounts{}, err
	}
	return page.Sums.In, nil
}
