package payment

import (
	"fmt"
	"time"

	"baoco/app"
	"baoco/app/paymentcode"
	"baoco/app/vietqr"
)

// A payment request asks somebody for money: for an order, or a bill at the counter. The payer
// writes its code into the content of the transfer, and by the code the transfer is matched
// with the request in the commit that records it.

// Request is a payment request with the money that came for it.
type Request struct {
	ID             int64
	AccountID      int64
	BankAccount    app.BankAccount // to which the money goes
	PayTo          string          // the number of BankAccount to which the payer transfers; empty: the default
	Unlinked       bool            // the bank account was unlinked since
	Token          string          // opens its page
	Code           string
	Reference      string // the shop's own; empty: none
	Amount         int64  // VND
	TransferAmount int64  // the amount to transfer: Amount, or a few đồng more
	Tolerance      int64  // so much less than Amount, in VND, is enough
	ReturnURL      string // the page links back to it; empty: no link
	CreatedBy      string // name of the user or the API key
	ShiftID        int64  // the shift of a bill at the counter; 0: no bill
	CashierID      int64  // the cashier of that shift
	CreatedAt      time.Time
	ExpiresAt      time.Time // its last second; zero: it doesn't expire
	CancelledAt    time.Time // zero: it wasn't cancelled

	Received  int64     // sum of the matched transfers
	Transfers int       // number of them
	PaidAt    time.Time // when the transfer that made it full was matched; zero: it isn't full
	Late      bool      // that transfer came after the end
}

// ReferenceKey is the reference in the normal form in which contents are searched; empty: it
// can't be searched.
func (r Request) ReferenceKey() string { return paymentcode.Reference(r.Reference) }

// Status returns the status of the request at now.
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

// EndedAt is when the request was paid in full or cancelled, or else when it expires; zero:
// it is open and doesn't expire.
func (r Request) EndedAt() time.Time {
	switch {
	case r.PaidAt.After(r.CancelledAt):
		return r.PaidAt
	case !r.CancelledAt.IsZero():
		return r.CancelledAt
	}
	return r.ExpiresAt
}

// Rest is the amount still to be paid, in VND; 0: the request is full.
func (r Request) Rest() int64 {
	if !r.PaidAt.IsZero() {
		return 0
	}
	return r.Amount - r.Received
}

// Overpaid is how much more came than was asked for, in VND; 0 if the request isn't full. An
// overpaid request may have the status PaymentPaidLate.
func (r Request) Overpaid() int64 {
	if r.PaidAt.IsZero() {
		return 0
	}
	return max(0, r.Received-r.TransferAmount)
}

// Asked is the amount that the payer is asked to transfer now: TransferAmount, or the rest if
// a part has come.
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

// Shown returns a text that changes when the view of the request on a screen must change.
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

// LateFor reports whether a transfer that is recorded at now came after the end. If only its
// day is known, it counts as made at the end of that day, but not after now.
func (r Request) LateFor(t app.Transaction, now time.Time) bool {
	at := t.Time
	if t.DateOnly {
		if at = t.Time.Add(24*time.Hour - time.Second); now.Before(at) {
			at = now
		}
	}
	return r.Ended(at)
}

// With returns the request with one more transfer, which was matched at now.
func (r Request) With(amount int64, late bool, now time.Time) Request {
	r.Received += amount
	r.Transfers++
	if r.PaidAt.IsZero() && r.Received >= r.Amount-r.Tolerance {
		r.PaidAt, r.Late = now, late
	}
	return r
}

// Recount returns the request with exactly these transfers, which are in the order in which
// they were matched.
func (r Request) Recount(transfers []Transfer) Request {
	r.Received, r.Transfers, r.PaidAt, r.Late = 0, 0, time.Time{}, false
	for _, t := range transfers {
		r = r.With(t.Amount, t.Late, t.MatchedAt)
	}
	return r
}

// Match is the way in which a transfer was matched with a request.
type Match string

// The ways of matching, in the order in which they are tried.
const (
	MatchedByCode      Match = "code"
	MatchedByReference Match = "reference"
	MatchedByAmount    Match = "amount" // an amount that no other request had
	MatchedByHand      Match = "hand"
)

// Name names the way of matching for people.
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
	MatchedBy string // the user who matched it by hand
}

// State returns the state of r at now, as its transactions carry it.
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
	// Due is the sum of the amounts, without requests that were cancelled before they were paid.
	// Received is the sum of all transfers, also for cancelled requests.
	Due, Received int64
	// Waiting is the sum of the rests of the requests that haven't ended.
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
