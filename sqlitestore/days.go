package sqlitestore

import (
	"context"
	"math"
	"time"

	"baoco/app"
	"baoco/app/access"
)

// daysOf returns the table of daily totals that a filter needs, and the conditions on it
// without those on days.
func daysOf(accountID int64, f app.TransactionFilter) (table string, c *conditions) {
	table, c = "bank_account_days", &conditions{}
	if f.ReceivingNumber != "" {
		table = "receiving_number_days"
		c.add("receiving_number = ?", f.ReceivingNumber)
	}
	switch {
	case f.BankAccountID != 0:
		c.add("bank_account_id = ?", f.BankAccountID)
	case f.Among != nil:
		c.add("bank_account_id IN (SELECT value FROM json_each(?))", jsonArray(f.Among))
	default:
		table = "account_days"
		c.add("account_id = ?", accountID)
	}
	c.addIf(f.Type != "", "type = ?", string(f.Type))
	return table, c
}

// shownDays is a table of the daily totals of bank accounts, within the receiving number of ctx.
// param is the name of the parameter that limitOf is bound to.
func shownDays(ctx context.Context, param string) string {
	if access.LimitOf(ctx).ReceivingNumber == "" {
		return "bank_account_days"
	}
	return `(SELECT bank_account_id, day, type, count, amount FROM receiving_number_days WHERE receiving_number = ` + param + ` ->> 'number')`
}

// dayRange is the days from first on and before end.
type dayRange struct{ first, end app.Day }

// timeRange is the time from the instant from on and before to.
type timeRange struct{ from, to time.Time }

// wholeDays divides the time between two instants into the whole days of a zone, and the
// parts of days before and after them. A zero instant is no bound.
func wholeDays(from, to time.Time, zone *time.Location) (whole dayRange, cut []timeRange) {
	whole = dayRange{math.MinInt32, math.MaxInt32}
	if !from.IsZero() {
		if whole.first = app.DayOf(from, zone); whole.first.Start(zone).Before(from) {
			whole.first++
		}
	}
	if !to.IsZero() {
		whole.end = app.DayOf(to, zone)
	}
	if whole.first > whole.end { // within one day
		return whole, []timeRange{{from, to}}
	}
	if begin := whole.first.Start(zone); !from.IsZero() && from.Before(begin) {
		cut = append(cut, timeRange{from, begin})
	}
	if end := whole.end.Start(zone); !to.IsZero() && end.Before(to) {
		cut = append(cut, timeRange{end, to})
	}
	return whole, cut
}
