package payment

import (
	"context"
	"fmt"
	"net/url"
	"strings"
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

// Bounds of payment requests.
const (
	MaxReference       = 100 // characters
	MaxExpiry          = 365 * 24 * time.Hour
	maxDistinctExpiry  = 7 * 24 * time.Hour // there are few amounts
	maxDistinct        = 99                 // đồng, by which an amount may differ
	toleranceShare     = 10                 // the tolerance is a tenth of the amount at most
	DistinctAmountKept = 24 * time.Hour     // after its end, before an amount is asked for again
	CodeKept           = UnmatchedKept      // after its end, before a code is given again: so far back a person sees money that comes late
	maxReturnURL       = 2048
)

// RequestCreate is what somebody asks for.
type RequestCreate struct {
	Amount         int64
	BankAccountID  int64         // 0: the only one that is linked
	Reference      string        // empty: none
	Code           string        // empty: one is made
	Prefix         string        // of the pattern by which the code is made; empty: the first pattern that has a code left
	ExpiresIn      time.Duration // 0: it never ends
	ReturnURL      string        // empty: none
	DistinctAmount bool          // asks for an amount that no other open request has
	CashierID      int64         // makes it a bill of the shift of this user, which it opens; 0: it is none

	ReceivingNumber string // of the bank account, that the payer is to transfer to; empty: the default
}

// Choices is what a new payment request is chosen by, from the storage.
type Choices struct {
	Account      app.Account
	BankAccounts []app.BankAccount
	Patterns     []app.CodePattern
	// CodeTaken tells whether a request of the account has a code and hasn't ended, or
	// ended within CodeKept.
	CodeTaken func(code string) (bool, error)
	// AmountTaken tells whether a request asks for a transfer of that amount to that bank
	// account and hasn't ended, or ended within DistinctAmountKept.
	AmountTaken func(bankAccountID, amount int64) (bool, error)
}

// CreatePaymentRequest makes a payment request. CodeConflict where the account has no
// code pattern, the code was used before, or no code or distinct amount is free.
func (s *Service) CreatePaymentRequest(ctx context.Context, accountID int64, in RequestCreate, key app.IdempotencyKey,
	now time.Time) (Request, error) {
	r, err := in.read(accountID, now)
	if err != nil {
		return r, err
	}
	by, _ := app.ActorOf(ctx)
	r.CreatedBy = app.CleanText(by.Name, 100)
	return s.store.CreatePaymentRequest(ctx, r, func(c Choices) (Request, error) { return in.choose(r, c) }, key)
}

// CheckRequest checks the fields of in, without looking at the storage.
func CheckRequest(in RequestCreate) error {
	_, err := in.read(0, time.Time{})
	return err
}

// read is the request with the fields that the storage doesn't decide.
func (in RequestCreate) read(accountID int64, now time.Time) (r Request, err error) {
	var v app.Invalid
	r = Request{AccountID: accountID, Amount: in.Amount, TransferAmount: in.Amount, ReturnURL: in.ReturnURL, CashierID: in.CashierID,
		Token: newPaymentToken(), CreatedAt: now}
	if in.Amount < 1 || in.Amount > app.MaxAmount {
		v.Add("amount", app.AmountRule.EN, app.AmountRule.VI)
	}
	var ok bool
	if r.Reference, ok = app.ReadText(in.Reference, MaxReference, ""); !ok {
		v.Add("reference", "must be at most 100 characters without control characters", "dài tối đa 100 ký tự, không chứa ký tự điều khiển")
	}
	if in.Code != "" {
		if r.Code, ok = app.ReadCode(in.Code); !ok {
			v.Add("code", "must be a payment code: 5 to 25 letters A–Z and digits", "phải là mã thanh toán gồm 5 đến 25 chữ cái A–Z và chữ số")
		}
	}
	switch {
	case in.ExpiresIn < 0 || in.ExpiresIn > MaxExpiry || in.ExpiresIn%time.Minute != 0:
		v.Add("expires_in", "must be a whole number of minutes from 1 to 525600", "phải là số phút nguyên từ 1 đến 525600")
	case in.DistinctAmount && (in.ExpiresIn == 0 || in.ExpiresIn > maxDistinctExpiry):
		v.Add("expires_in", "must be from 1 to 10080 minutes where the amount is to be distinct",
			"phải từ 1 đến 10080 phút khi dùng số tiền riêng")
	case in.ExpiresIn > 0:
		r.ExpiresAt = now.Add(in.ExpiresIn)
	}
	if !isReturnURL(in.ReturnURL) {
		v.Add("return_url", "must be an http or https URL of at most 2048 characters", "phải là URL http hoặc https dài tối đa 2048 ký tự")
	}
	return r, v.Err()
}

// isReturnURL reports whether a page may lead to raw; an empty one is none.
func isReturnURL(raw string) bool {
	if raw == "" {
		return true
	}
	u, err := url.Parse(raw)
	printable := !strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' })
	return err == nil && printable && len(raw) <= maxReturnURL && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// choose completes r by what the storage knows.
func (in RequestCreate) choose(r Request, c Choices) (Request, error) {
	var err error
	if r.BankAccount, err = in.bankAccount(c.BankAccounts); err != nil {
		return r, err
	}
	if r.PayTo, err = r.BankAccount.PayTo(in.ReceivingNumber); err != nil {
		return r, err
	}
	if r.Code, err = in.code(r.Code, c); err != nil {
		return r, err
	}
	r.Tolerance = tolerance(r.Amount, c.Account)
	if in.DistinctAmount {
		if !c.Account.DistinctAmounts {
			return r, app.InvalidField("distinct_amount", "is not allowed in the settings of this account",
				"chưa được cho phép trong phần cài đặt của tài khoản này")
		}
		if r.TransferAmount, err = distinctAmount(r, c.AmountTaken); err != nil {
			return r, err
		}
	}
	_, _, err = r.Transfer()
	return r, err
}

// tolerance is how much less than amount is enough, by the settings of the account.
func tolerance(amount int64, a app.Account) int64 {
	return min(a.PaymentTolerance, amount/toleranceShare)
}

// bankAccount is the bank account that the money goes to.
func (in RequestCreate) bankAccount(linked []app.BankAccount) (app.BankAccount, error) {
	if in.BankAccountID == 0 && len(linked) != 1 {
		return app.BankAccount{}, app.InvalidField("bank_account_id", "is required unless exactly one bank account is linked",
			"là bắt buộc, trừ khi chỉ có một tài khoản ngân hàng được liên kết")
	}
	for _, b := range linked {
		if in.BankAccountID != 0 && b.ID != in.BankAccountID {
			continue
		}
		if b.Status == app.BankAccountInactive {
			return b, ErrToInactive
		}
		return b, nil
	}
	return app.BankAccount{}, app.ErrUnknownBankAccountID
}

// code is the given code, if the patterns read it, or a new one.
func (in RequestCreate) code(given string, c Choices) (string, error) {
	if len(c.Patterns) == 0 {
		return "", ErrNoPattern
	}
	reader := app.NewCodeReader(c.Patterns)
	if given != "" {
		if reader.Read(given).Text != given {
			return "",
				app.InvalidField("code", "is not a code of the patterns of this account", "không khớp mẫu mã thanh toán nào của tài khoản này")
		}
		taken, err := c.CodeTaken(given)
		if err == nil && taken {
			err = ErrCodeTaken
		}
		return given, err
	}
	err := app.InvalidField("prefix", "is not the prefix of a code pattern of this account",
		"không phải tiền tố của mẫu mã thanh toán nào của tài khoản này")
	for _, p := range c.Patterns {
		if in.Prefix != "" && p.Prefix != strings.ToUpper(in.Prefix) {
			continue
		}
		var code string
		if code, err = newCode(p.Pattern, reader, c.CodeTaken); err != ErrNoFreeCode {
			return code, err
		}
	}
	return "", err
}

// tokenLength is that of 131 random bits.
const tokenLength = 22

func newPaymentToken() string {
	return drawn("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", tokenLength)
}

// distinctAmount is an amount that no other request asks for, a few đồng above that of r:
// so whoever pays it pays enough.
func distinctAmount(r Request, taken func(bankAccountID, amount int64) (bool, error)) (int64, error) {
	first := randomBelow(maxDistinct)
	for i := range maxDistinct {
		amount := r.Amount + 1 + int64((first+i)%maxDistinct)
		if used, err := taken(r.BankAccount.ID, amount); err != nil || !used && amount <= app.MaxAmount {
			return amount, err
		}
	}
	return 0, ErrNoFreeAmount
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
}

// ErrNoRequest says that an id, a code or a token names no payment request.
var ErrNoRequest error = app.NotFound("There is no payment request with this id.", "Không có yêu cầu thanh toán với id này.")

// Refusals of payment requests.
var (
	ErrNoPattern error = app.Refused(app.CodeConflict, app.Text{
		EN: "This account has no code pattern yet. Create one first: a payment request gets its code by it.",
		VI: "Tài khoản này chưa có mẫu mã thanh toán. Hãy tạo mẫu trước: yêu cầu thanh toán lấy mã theo mẫu đó.",
	})
	ErrCodeTaken error = app.Refused(app.CodeAlreadyExists, app.Text{
		EN: "Another payment request has this code, or had it in the last 30 days.",
		VI: "Mã này đang dùng cho một yêu cầu thanh toán khác, hoặc mới dùng trong 30 ngày qua.",
	})
	ErrNoFreeCode error = app.Refused(app.CodeConflict, app.Text{
		EN: "The codes of this pattern are used up for now. Create a pattern with longer codes.",
		VI: "Mẫu này tạm hết mã. Hãy tạo thêm mẫu có mã dài hơn.",
	})
	ErrNoFreeAmount error = app.Refused(app.CodeConflict, app.Text{
		EN: "Every distinct amount near this one is asked for already. Create the request without one.",
		VI: "Mọi số tiền riêng gần số tiền này đều đang được dùng. Hãy tạo yêu cầu không dùng số tiền riêng.",
	})
	ErrToInactive error = app.Refused(app.CodeConflict, app.Text{
		EN: "This bank account is switched off: your shop would not be notified of the payment. Switch it on first.",
		VI: "Tài khoản ngân hàng này đang tắt nên cửa hàng sẽ không được báo khi khách trả. Hãy bật lại trước.",
	})
	ErrEnded error = app.Refused(app.CodeConflict, app.Text{
		EN: "Nothing is to be paid: this payment request is paid, cancelled or expired, or its bank account is unlinked or switched off.",
		VI: "Không còn gì phải trả: yêu cầu thanh toán này đã trả đủ, đã huỷ hoặc hết hạn, hoặc tài khoản ngân hàng đã huỷ " +
			"liên kết hay đang tắt.",
	})
	ErrIsPaid error = app.Refused(app.CodeConflict, app.Text{
		EN: "This payment request is paid already.",
		VI: "Yêu cầu thanh toán này đã được trả đủ.",
	})
	ErrNotMoneyIn error = app.Refused(app.CodeConflict, app.Text{
		EN: "Only money in can be matched with a payment request.",
		VI: "Chỉ tiền vào mới ghép được với yêu cầu thanh toán.",
	})
	ErrNotMatched error = app.Refused(app.CodeConflict, app.Text{
		EN: "This transaction is not matched with this payment request.",
		VI: "Giao dịch này không được ghép với yêu cầu thanh toán này.",
	})
)

// ErrMatchedAlready refuses to count a transfer twice.
func ErrMatchedAlready(requestID int64) error {
	return app.Refused(app.CodeConflict, app.Textf(
		"This transaction is matched with payment request %d already. Undo that first.",
		"Giao dịch này đã được ghép với yêu cầu thanh toán %d. Hãy bỏ ghép trước.", requestID))
}
