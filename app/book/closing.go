package book

import (
	"cmp"
	"context"
	"math"
	"time"

	"baoco/app"
)

// Close closes the books through the end of a period, with all days before it.
func (s *Service) Close(ctx context.Context, accountID int64, p Period, by string, now time.Time) (Closing, error) {
	if p.Last >= app.DayOf(now, s.zone) {
		return Closing{}, app.InvalidField("period", "is not over yet", "chưa kết thúc")
	}
	c := Closing{Through: p.Last, Zone: s.zone, EndsAt: (p.Last + 1).Start(s.zone), ClosedAt: now, ClosedBy: by}
	return s.store.CloseBooks(ctx, accountID, c, func(present []Closing) error {
		if n := len(present); n > 0 && present[n-1].Through >= c.Through {
			return app.Refused(app.CodeConflict, app.Textf("The books are closed through %s already.", "Sổ đã chốt đến hết ngày %s.",
				present[n-1].Through.String()))
		}
		return nil
	})
}

// ErrNoneClosed refuses to open books that aren't closed.
var ErrNoneClosed = app.Conflict("No book is closed.", "Chưa chốt sổ nào.")

// LastClosing returns the closing that OpenBooks would take back. ErrNoneClosed.
func (s *Service) LastClosing(ctx context.Context, accountID int64) (last Closing, err error) {
	list, err := s.Closings(ctx, accountID)
	if err != nil || len(list) == 0 {
		return last, cmp.Or(err, error(ErrNoneClosed))
	}
	return list[len(list)-1], nil
}

// ErrOtherClosing refuses to take back another closing than the one that was shown.
var ErrOtherClosing = app.Conflict("The last closing is another one by now. Nothing was opened.",
	"Lần chốt sổ gần nhất nay đã khác. Chưa mở lại sổ nào.")

// SetHeading writes the heading of the books that aren't closed.
func (s *Service) SetHeading(ctx context.Context, accountID int64, h Heading) error {
	h, err := h.check()
	if err != nil {
		return err
	}
	return s.store.SetHeading(ctx, accountID, h)
}

// SetCash writes the sales for cash of a day. ErrClosed.
func (s *Service) SetCash(ctx context.Context, accountID int64, c Cash, now time.Time) error {
	c, err := c.check(app.DayOf(now, s.zone))
	if err != nil {
		return err
	}
	return s.store.SetCash(ctx, accountID, c)
}

// SetOpening writes the opening balance of a bank account, or removes it if b has none. ErrClosed
// if its day, or the day of the present opening balance, is in a closed book.
func (s *Service) SetOpening(ctx context.Context, accountID int64, b BankAccount, now time.Time) error {
	var bad app.Invalid
	if b.HasOpening && (b.Opening < -app.MaxAmount || b.Opening > app.MaxAmount) {
		bad.Add("amount", app.TypedAmountRule.EN, app.TypedAmountRule.VI)
	}
	if b.HasOpening && b.OpenedOn > app.DayOf(now, s.zone) {
		bad.Add("day", "must not be after today", "không được sau hôm nay")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	return s.store.SetOpening(ctx, accountID, b)
}

// calendar knows to which book a moment belongs.
type calendar struct {
	closings []Closing
	zone     *time.Location // the zone of the books that aren't closed
}

// start returns the first moment of a day, in the zone of the book that has the day before.
func (c calendar) start(day app.Day) time.Time {
	for _, closing := range c.closings {
		if day <= closing.Through+1 {
			return day.Start(closing.Zone)
		}
	}
	return day.Start(c.zone)
}

// Stretch selects transactions that follow each other in a book: from From on and before To, with
// ids up to UntilID; those at the moment From only with ids after AfterID. A Late stretch has the
// transactions that were recorded after their time was closed: those with ids after AfterID, by id.
type Stretch struct {
	From, To         time.Time
	AfterID, UntilID int64
	Late             bool

	day  app.Day        // the day of late transactions in the book
	zone *time.Location // the zone of the days of the book
}

// after returns the rest of the stretch after the transaction e.
func (st Stretch) after(e Entry) Stretch {
	if st.AfterID = e.ID; !st.Late {
		st.From = e.Time
	}
	return st
}

// since returns the stretch without the transactions before a moment.
func (st Stretch) since(t time.Time) Stretch {
	if st.From.Before(t) {
		st.From = t
	}
	return st
}

// stretches returns the stretches of the books from a moment on and before another. A book begins
// at the end of a closing, first with the late transactions: those that this closing doesn't have.
func (c calendar) stretches(from, to time.Time) (list []Stretch) {
	for i := range len(c.closings) + 1 {
		book := Stretch{From: from, To: to, UntilID: math.MaxInt64, zone: c.zone}
		if i < len(c.closings) {
			next := c.closings[i]
			book.UntilID, book.zone = next.LastID, next.Zone
			if next.EndsAt.Before(to) {
				book.To = next.EndsAt
			}
		}
		if i > 0 {
			last := c.closings[i-1]
			if begins := last.EndsAt; !begins.Before(from) && begins.Before(to) {
				late := Stretch{To: begins, AfterID: last.LastID, UntilID: book.UntilID, Late: true, day: last.Through + 1, zone: book.zone}
				list = append(list, late)
			}
			book = book.since(last.EndsAt)
		}
		if book.From.Before(book.To) {
			list = append(list, book)
		}
	}
	return list
}

// closed returns the closing that closed a period; found is false if the period is open.
func (c calendar) closed(p Period) (by Closing, found bool) {
	for _, closing := range c.closings {
		if closing.Through >= p.Last {
			return closing, true
		}
	}
	return by, false
}
