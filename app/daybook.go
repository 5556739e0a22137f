package app

import (
	"context"
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
	Opening, Closing *Balance // last reported before the day, and on it; nil: none was
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

// Add adds amounts to those of a direction.
func (f *Flow) Add(d Direction, a Amounts) {
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
			book.Add(row.Type, row.Amounts)
		case day - 1:
			book.Before.Add(row.Type, row.Amounts)
		case day - 7:
			book.WeekBefore.Add(row.Type, row.Amounts)
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
		if b, known := opening[list[i].ID]; known {
			list[i].Opening = &b
		}
		if b, known := closing[list[i].ID]; known && DayOf(b.At, s.zone) == day {
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
			book.Untimed.Add(row.Type, row.Amounts)
			continue
		}
		// Where the clocks change, an hour of the clock comes twice or not at all.
		hour := start.Add(time.Duration(row.Since) * time.Hour).In(s.zone).Hour()
		hours[hour].Add(row.Type, row.Amounts)
		first, last = min(first, hour), max(last, hour)
	}
	for hour := first; hour <= last; hour++ {
		book.Hours = append(book.Hours, HourFlow{hour, hours[hour]})
	}
	return nil
}

// The report of the day tells a channel at closing time what came in. It goes the
// way of alerts (alert.go), as a message of its own, when there is no news.
