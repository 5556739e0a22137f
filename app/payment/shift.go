package payment

import (
	"context"
	"time"

	"baoco/app"
)

// Shift is the time in which a cashier takes money at the counter. It begins with the
// first bill.
type Shift struct {
	ID        int64
	AccountID int64
	UserID    int64 // of the cashier
	UserName  string
	OpenedAt  time.Time
	ClosedAt  time.Time // zero: it is open
	ShiftFigures

	ReceivedAtClosing int64 // Received when the shift was closed
}

// ShiftFigures are the sums of the bills of a shift; amounts are in VND.
type ShiftFigures struct {
	Bills    int64 // number of them
	Full     int64 // number of bills that are paid and not overpaid
	Received int64 // money for all bills
	Over     int64 // the excess of the overpaid bills
	Under    int64 // the missing rest of the bills that are paid in part
}

// Closing is the result of a shift when it was closed, or at present. A stored closing doesn't
// change.
type Closing struct {
	ShiftFigures
	List          []ClosingBill // the last MaxClosing, newest first
	Unbilled      []ClosingMoney
	UnbilledCount int64
	UnbilledSum   int64  // VND
	Cash          *int64 // the counted cash, in VND; nil: not counted
	Note          string
}

// ClosingBill is a bill of a shift at the time of the closing.
type ClosingBill struct {
	ID               int64
	Code             string
	Amount, Received int64 // VND
	Status           app.PaymentStatus
	Open             bool // somebody could still pay it
	At               time.Time
}

// ClosingMoney is money in without a bill, in the time of a shift, on a bank account of its bills.
type ClosingMoney struct {
	ID       int64
	Amount   int64 // VND
	Content  string
	At       time.Time
	DateOnly bool
}

// MaxClosing is how many bills, and how many payments without a bill, a closing lists.
const MaxClosing = 1000

// maxClosingContent is how many characters of a content a closing keeps.
const maxClosingContent = 100

// NewClosing makes the closing of a shift at now from its bills and the money without a bill.
func NewClosing(f ShiftFigures, bills []Request, money []app.Transaction, now time.Time) Closing {
	c := Closing{ShiftFigures: f}
	for _, r := range bills {
		c.List = append(c.List, ClosingBill{r.ID, r.Code, r.Amount, r.Received, r.Status(now), r.Payable(now), r.CreatedAt})
	}
	for _, t := range money {
		c.UnbilledCount++
		c.UnbilledSum += t.Amount
		c.Unbilled = append(c.Unbilled, ClosingMoney{t.ID, t.Amount, app.CleanText(t.Content, maxClosingContent), t.Time, t.DateOnly})
	}
	return c
}

// OpenBills are the bills that somebody could still pay.
func (c Closing) OpenBills() (open []ClosingBill) {
	for _, b := range c.List {
		if b.Open {
			open = append(open, b)
		}
	}
	return open
}

// CashCounted is Cash, or 0 if it is nil.
func (c Closing) CashCounted() int64 {
	if c.Cash == nil {
		return 0
	}
	return *c.Cash
}

// ShiftCount is what a cashier enters to close a shift.
type ShiftCount struct {
	Cash *int64 // the counted cash, in VND; nil: not counted
	Note string // at most maxShiftNote characters
}

const maxShiftNote = 500

// CloseShift ends a shift and stores its closing. ErrShiftClosed if it is closed already.
func (s *Service) CloseShift(ctx context.Context, accountID, id int64, in ShiftCount, now time.Time) error {
	var v app.Invalid
	if in.Cash != nil && (*in.Cash < 0 || *in.Cash > app.MaxAmount) {
		v.Add("cash", app.TypedAmountRule.EN, app.TypedAmountRule.VI)
	}
	var ok bool
	if in.Note, ok = app.ReadText(in.Note, maxShiftNote, "\r\n"); !ok {
		v.Add("note", "must be at most 500 characters without control characters",
			"dài tối đa 500 ký tự, không chứa ký tự điều khiển")
	}
	if err := v.Err(); err != nil {
		return err
	}
	return s.store.CloseShift(ctx, accountID, id, in, now)
}

// BillExpiry is how long a bill at the counter can be paid.
const BillExpiry = 30 * time.Minute

// ErrNoShift says that an id names no shift.
var ErrNoShift error = app.NotFound("There is no shift with this id.", "Không có ca với id này.")

// ErrShiftClosed refuses to close a shift twice.
var ErrShiftClosed error = app.Conflict("This shift is closed already, perhaps on another device. Nothing was changed.",
	"Ca này đã được đóng, có thể trên thiết bị khác. Chưa có gì thay đổi.")
