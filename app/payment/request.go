package payment

import (
	"fmt"
	"time"

	"baoco/app"
	"baoco/app/paymentcode"
	"baoco/app/vietqr"
)

// A payment request asks somebody for money: for an order, or a bill at the counter. Its
// code goes into the content of the transfer; by it the transfer is matched with the
// request in the commit that records it.

// Request is a payment request with what has come for it.
type Request struct {
	ID             int64
	AccountID      int64
	BankAccount    app.BankAccount // that the money is to go to
	PayTo          string          // the number of it that the payer is to transfer to; empty: the default
	Unlinked       bool            // the bank account, since then
	Token          string          // opens its page
	Code           string
	Reference      string // the shop's own; empty: none
	Amount         int64  // VND
	TransferAmount int64  // what the payer is asked to transfer: Amount, or a few đồng more
	Tolerance      int64  // so much less is enough
	ReturnURL      string // to which the page leads back; empty: none
	CreatedBy      string // name of the user or the API key
	ShiftID        int64  // of a bill at the counter; 0: it is none
	CashierID      int64  // of that shift
	CreatedAt      time.Time
	ExpiresAt      time.Time // its last second; zero: it never ends
	CancelledAt    time.Time // zero: it wasn't cancelled

	Received  int64     // sum of the matched transfers
	Transfers int       // number of them
	PaidAt    time.Time // when the transfer that made it full was matched; zero: it isn't full
	Late      bool      // that transfer came after the end
}

// ReferenceKey is the reference as it is looked for in a content; empty: it can't be.
func (r Request) ReferenceKey() string { return paymentcode.Reference(r.Reference) }

// Status is that of the request at now.
func (r Request) Status(now time.Time) app.PaymentStatus {
	switch {
	case !r.PaidAt.IsZero() && r.Late:
		return app.PaymentPaidLate
	case r.Overpaid() > 0:
		return app.PaymentOverpaid
	case !r.PaidAt.IsZero():
		return app.PaymentPaid
	case !r.CancelledAt.IsZero():
		return app.PaymentCancelled
	case r.Received > 0:
		return app.PaymentUnderpaid
	case r.Ended(now):
		return app.PaymentExpired
	}
	return app.PaymentOpen
}

// Ended reports whether a transfer at t comes too late: the request was cancelled, or
// t is past the second in which it expires.
func (r Request) Ended(t time.Time) bool {
	return !r.CancelledAt.IsZero() || !r.ExpiresAt.IsZero() && t.Unix() > r.ExpiresAt.Unix()
}

// EndedAt is when it ended, or will end by itself: it was paid in full or cancelled, or
// expires; zero: it doesn't end by itself.
func (r Request) EndedAt() time.Time {
	switch {
	case r.PaidAt.After(r.CancelledAt):
		return r.PaidAt
	case !r.CancelledAt.IsZero():
		return r.CancelledAt
	}
	return r.ExpiresAt
}

// Rest is what is still to be paid; 0 where it is full.
func (r Request) Rest() int64 {
	if !r.PaidAt.IsZero() {
		return 0
	}
	return r.Amount - r.Received
}

// Overpaid is how much more came than was asked for; 0 where it isn't full. Its status may be
// PaymentPaidLate all the same.
func (r Request) Overpaid() int64 {
	if r.PaidAt.IsZero() {
		return 0
	}
	return max(0, r.Received-r.TransferAmount)
}

// Asked is what the payer is asked to transfer now: the amount to transfer, or the rest
// of it.
func (r Request) Asked() int64 {
	if r.Received == 0 {
		return r.TransferAmount
	}
	return r.Rest()
}

// Suspended reports whether the bank account takes no money for the shop now: it was
// unlinked or switched off after the request was made.
func (r Request) Suspended() bool {
	return r.Unlinked || r.BankAccount.Status == app.BankAccountInactive
}

// Payable reports whether somebody is asked to pay at now.
func (r Request) Payable(now time.Time) bool {
	return r.PaidAt.IsZero() && !r.Ended(now) && !r.Suspended()
}

// Shown differs where what a screen shows of the request differs.
func (r Request) Shown(now time.Time) string {
	return fmt.Sprint(r.Status(now), " ", r.Received, " ", r.Payable(now))
}

// Transfer is the transfer that the VietQR code of the request fills in, and the text of
// that code.
func (r Request) Transfer() (t vietqr.Transfer, text string, err error) {
	return r.BankAccount.Transfer(r.Asked(), r.Code, r.PayTo)
}

// AccountNumber is the number that the payer is to transfer to.
func (r Request) AccountNumber() string { return r.BankAccount.NumberToPay(r.PayTo) }

// URLPath is the path of its page.
func (r Request) URLPath() string { return "/pay/" + r.Token }

// LateFor reports whether a transfer that is recorded at now comes after the end. Where only
// its day is known it may have been made at the end of that day.
func (r Request) LateFor(t app.Transaction, now time.Time) bool {
	at := t.Time
	if t.DateOnly {
		if at = t.Time.Add(24*time.Hour - time.Second); now.Before(at) {
			at = now
		}
	}
	return r.Ended(at)
}

// With is the request with one transfer more, which was matched at now.
func (r Request) With(amount int64, late bool, now time.Time) Request {
	r.Received += amount
	r.Transfers++
	if r.PaidAt.IsZero() && r.Received >= r.Amount-r.Tolerance {
		r.PaidAt, r.Late = now, late
	}
	return r
}

// Recount is the request with these transfers and no others. They are in the order in
// which they were matched.
func (r Request) Recount(transfers []Transfer) Request {
	r.Received, r.Transfers, r.PaidAt, r.Late = 0, 0, time.Time{}, false
	for _, t := range transfers {
		r = r.With(t.Amount, t.Late, t.MatchedAt)
	}
	return r
}

// Match says by what a transfer was matched with a request.
type Match string

// The ways of matching, in the order in which they are tried.
const (
	MatchedByCode      Match = "code"
	MatchedByReference Match = "reference"
	MatchedByAmount    Match = "amount" // that no other request had
	MatchedByHand      Match = "hand"
)

// Name says it in a word or two.
func (m Match) Name() app.Text {
	return map[Match]app.Text{
		MatchedByCode:      {EN: "Payment code", VI: "Mã thanh toán"},
		MatchedByReference: {EN: "Reference", VI: "Mã đơn"},
		MatchedByAmount:    {EN: "Distinct amount", VI: "Số tiền riêng"},
		MatchedByHand:      {EN: "By hand", VI: "Ghép tay"},
	}[m]
}

// Transfer is a transaction that was matched with a request.
type Transfer struct {
	app.Transaction
	FoundBy   Match
	Late      bool // it came after the end of the request
	MatchedAt time.Time
	MatchedBy string // who did it by hand
}

// State is what a transaction of r says of it at now.
func (r Request) State(now time.Time) app.PaymentState {
	return app.PaymentState{Due: r.Amount, ID: r.ID, Overpaid: r.Overpaid(), Received: r.Received, Reference: r.Reference,
		Status: r.Status(now)}
}

// Filter narrows a listing of payment requests; zero values do not.
type Filter struct {
	Status        app.PaymentStatus
	BankAccountID int64
	Reference     string // exactly
	ShiftID       int64
	Code          string
	From, To      time.Time // created from From on, before To
	Page          app.Page
}

// Page is a page of a listing, newest first, with the sums of all pages.
type Page struct {
	Rows  []Request
	Total int64
	// Due is the sum of the amounts, but of those that were cancelled before they were paid.
	// Received is the sum of all transfers, also for those. Several requests of one reference
	// add up so.
	Due, Received int64
	// Waiting is the sum of what is still to be paid of those that haven't ended.
	Waiting int64
}

// ErrNoRequest says that an id, a code or a token names no payment request.
var ErrNoRequest error = app.NotFound("There is no payment request with this id.", "Không có yêu cầu thanh toán với id này.")

// Refusals of payment requests.
var (
	ErrNoPattern error = app.Conflict("This account has no code pattern yet. Create one first: a payment request gets its code by it.",
		"Tài khoản này chưa có mẫu mã thanh toán. Hãy tạo mẫu trước: yêu cầu thanh toán lấy mã theo mẫu đó.")
	ErrCodeTaken error = app.Refused(app.CodeAlreadyExists, app.Text{
		EN: "Another payment request has this code, or had it in the last 30 days.",
		VI: "Mã này đang dùng cho một yêu cầu thanh toán khác, hoặc mới dùng trong 30 ngày qua.",
	})
	ErrNoFreeCode error = app.Conflict("The codes of this pattern are used up for now. Create a pattern with longer codes.",
		"Mẫu này tạm hết mã. Hãy tạo thêm mẫu có mã dài hơn.")
	ErrNoFreeAmount error = app.Conflict("Every distinct amount near this one is asked for already. Create the request without one.",
		"Mọi số tiền riêng gần số tiền này đều đang được dùng. Hãy tạo yêu cầu không dùng số tiền riêng.")
	ErrToInactive error = app.Conflict(
		"This bank account is switched off: your shop would not be notified of the payment. Switch it on first.",
		"Tài khoản ngân hàng này đang tắt nên cửa hàng sẽ không được báo khi khách trả. Hãy bật lại trước.")
	ErrEnded error = app.Conflict(
		"Nothing is to be paid: this payment request is paid, cancelled or expired, or its bank account is unlinked or switched off.",
		"Không còn gì phải trả: yêu cầu thanh toán này đã đủ tiền, đã huỷ hoặc hết hạn, hoặc tài khoản ngân hàng đã huỷ liên kết hay đang tắt.")
	ErrIsPaid     error = app.Conflict("This payment request is paid already.", "Yêu cầu thanh toán này đã đủ tiền.")
	ErrNotMoneyIn error = app.Conflict("Only money in can be matched with a payment request.",
		"Chỉ tiền vào mới ghép được với yêu cầu thanh toán.")
	ErrNotUnmatched error = app.Conflict(
		"This transaction is not unmatched money: it has a payment request, or is no money in since the first one.",
		"Giao dịch này không phải tiền chưa ghép: đã có yêu cầu, hoặc không phải tiền vào kể từ yêu cầu đầu tiên.")
	ErrNotMatched error = app.Conflict("This transaction is not matched with this payment request.",
		"Giao dịch này không được ghép với yêu cầu thanh toán này.")
)

// ErrMatchedAlready refuses to count a transfer twice.
func ErrMatchedAlready(requestID int64) error {
	return app.Refused(app.CodeConflict, app.Textf(
		"This transaction is matched with payment request %d already. Undo that first.",
		"Giao dịch này đã được ghép với yêu cầu thanh toán %d. Hãy bỏ ghép trước.", requestID))
}
