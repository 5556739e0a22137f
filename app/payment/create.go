package payment

import (
	"context"
	"net/url"
	"strings"
	"time"

	"baoco/app"
)

// These are the bounds of payment requests.
const (
	MaxReference       = 100 // characters
	MaxExpiry          = 365 * 24 * time.Hour
	maxDistinctExpiry  = 7 * 24 * time.Hour // short, since distinct amounts are few
	maxDistinct        = 99                 // an amount may differ by so many đồng
	toleranceShare     = 10                 // the tolerance is a tenth of the amount at most
	DistinctAmountKept = 24 * time.Hour     // from a request's end until its amount is used again
	CodeKept           = UnmatchedKept      // from a request's end until its code is used again: so long a person sees late money
	maxReturnURL       = 2048
)

// RequestCreate is the input for a new payment request.
type RequestCreate struct {
	Amount         int64
	BankAccountID  int64         // 0: the only one that is linked
	Reference      string        // empty: none
	Code           string        // empty: one is made
	Prefix         string        // the prefix of the pattern for the code; empty: the first pattern with a free code
	ExpiresIn      time.Duration // 0: it never ends
	ReturnURL      string        // empty: none
	DistinctAmount bool          // asks for an amount that no other open request has
	CashierID      int64         // the request is a bill in the shift of this user, which it opens; 0: no bill

	ReceivingNumber string // the number of the bank account to which the payer transfers; empty: the default
}

// Choices is the data of the store from which the fields of a new payment request are chosen.
type Choices struct {
	Account      app.Account
	BankAccounts []app.BankAccount
	Patterns     []app.CodePattern
	// ReceivingNumber is the only one to which the actor is limited; empty: any.
	ReceivingNumber string
	// CodeTaken tells whether a request of the account has a code and hasn't ended, or
	// ended within CodeKept.
	CodeTaken func(code string) (bool, error)
	// AmountTaken tells whether a request asks for a transfer of that amount to that bank
	// account and hasn't ended, or ended within DistinctAmountKept.
	AmountTaken func(bankAccountID, amount int64) (bool, error)
}

// CreatePaymentRequest makes a payment request. CodeConflict if the account has no code
// pattern, or no code or distinct amount is free; CodeAlreadyExists if the code is taken.
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

// CheckRequest checks the fields of in without the store.
func CheckRequest(in RequestCreate) error {
	_, err := in.read(0, time.Time{})
	return err
}

// read returns the request with the fields that don't depend on the store.
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

// isReturnURL reports whether a page may link to raw. An empty raw means no link.
func isReturnURL(raw string) bool {
	if raw == "" {
		return true
	}
	u, err := url.Parse(raw)
	printable := !strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' })
	return err == nil && printable && len(raw) <= maxReturnURL && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// choose completes r with the data of the store.
func (in RequestCreate) choose(r Request, c Choices) (Request, error) {
	var err error
	if r.BankAccount, err = in.bankAccount(c.BankAccounts); err != nil {
		return r, err
	}
	if r.PayTo, err = r.BankAccount.PayTo(in.ReceivingNumber); err != nil {
		return r, err
	}
	if len(r.BankAccount.Receiving()) > 0 { // a later change of the default doesn't change a printed request
		r.PayTo = r.AccountNumber()
	}
	if c.ReceivingNumber != "" && r.AccountNumber() != c.ReceivingNumber {
		return r, app.ErrUnknownReference("receiving_number")
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

// tolerance returns how much less than amount, in VND, is enough by the account's settings.
func tolerance(amount int64, a app.Account) int64 {
	return min(a.PaymentTolerance, amount/toleranceShare)
}

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

// code returns the given code if the patterns read it, or a new code if none is given.
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

// tokenLength gives 131 random bits.
const tokenLength = 22

func newPaymentToken() string {
	return drawn("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", tokenLength)
}

// distinctAmount returns an amount that no other request asks for. It is a few đồng more than
// r's amount, so that it is enough for r.
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
