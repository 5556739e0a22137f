package book

import (
	"cmp"
	"context"
	"math"
	"time"

	"baoco/app"
)

// Close closes the books through the end of a period, with all that came before it.
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

// LastClosing is the closing that OpenBooks takes back. ErrNoneClosed.
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

// SetHeading writes what stands above the books that aren't closed.
func (s *Service) SetHeading(ctx context.Context, accountID int64, h Heading) error {
	h, err := h.check()
	if err != nil {
		return err
	}
	return s.store.SetHeading(ctx, accountID, h)
}

// SetCash writes down what was sold for cash on a day. ErrClosed.
func (s *Service) SetCash(ctx context.Context, accountID int64, c Cash, now time.Time) error {
	c, err := c.check(app.DayOf(now, s.zone))
	if err != nil {
		return err
	}
	return s.store.SetCash(ctx, accountID, c)
}

// SetOpening writes the opening balance of a bank account, or removes it where b has none. ErrClosed
// where the day, or the one of before, is in a closed book.
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

// calendar knows in which book a moment stands.
type calendar struct {
	closings []Closing
	zone     *time.Location // of the books that aren't closed
}

// start is the first moment of a day, by the calendar of the book that the day before stands in.
func (c calendar) start(day app.Day) time.Time {
	for _, closing := range c.closings {
		if day <= closing.Through+1 {
			return day.Start(closing.Zone)
		}
	}
	return day.Start(c.zone)
}

// Stretch is transactions that follow each other in a book: those from From on and before To with
// ids up to UntilID. Of one moment only those after AfterID. Late ones came after their time was
// closed: they are those with ids after AfterID, in that order.
type Stretch struct {
	From, To         time.Time
	AfterID, UntilID int64
	Late             bool

	day  app.Day        // on which late ones stand
	zone *time.Location // of the days of the book
}

// after is the stretch without its transactions up to one.
func (st Stretch) after(e Entry) Stretch {
	if st.AfterID = e.ID; !st.Late {
		st.From = e.Time
	}
	return st
}

// since is the stretch without what happened before a moment.
func (st Stretch) since(t time.Time) Stretch {
	if st.From.Before(t) {
		st.From = t
	}
	return st
}

// stretches divides what stands in the books from a moment on and before another. A book begins
// where a closing ends: first with what that closing didn't know of the time before.
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

// closed is the closing that a period is closed by; found is false where it is open.
func (c calendar) closed(p Period) (by Closing, found bool) {
	for _, closing := range c.closings {
		if closing.Through >= p.Last {
			return closing, true
		}
	}
	return by, false
}
