package payment

import (
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

	Bills             int64
	Full              int64 // of them
	Received          int64 // for all of them, in VND
	ReceivedAtClosing int64 // Received when the shift was closed
}

// BillExpiry is how long a bill at the counter can be paid.
const BillExpiry = 30 * time.Minute

// ErrNoShift says that an id names no shift.
var ErrNoShift error = app.NotFound("There is no shift with this id.", "Không có ca với id này.")

// ErrShiftClosed refuses to close a shift twice.
var ErrShiftClosed error = app.Refused(app.CodeConflict, app.Text{
	EN: "This shift is closed already, perhaps on another device. Nothing was changed.",
	VI: "Ca này đã được đóng, có thể trên thiết bị khác. Chưa có gì thay đổi.",
})
