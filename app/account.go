package app

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// DefaultAccountID is the account that the file is created with, under the name
// DefaultAccountName.
const (
	DefaultAccountID   = 1
	DefaultAccountName = "default"
)

// Account is a customer of the service, with its plan.
type Account struct {
	ID                int64
	Name              string
	Plan              string
	ExpiresAt         time.Time // zero: never
	IsTrial           bool
	MaxBankAccounts   int
	NeedsSecondFactor bool   // every user must have a second factor
	PaymentTolerance  int64  // so much less than a payment request asks for is enough, in đồng
	DistinctAmounts   bool   // payment requests may ask for an amount that no other one has
	CashiersMatch     bool   // cashiers may take money without a code for their bills
	SmallAmount       int64  // money below it is announced with a warning, in đồng; 0: none is
	MarksRevenue      bool   // some money in was marked as no revenue, or there was a rule about it
	GuideSkipped      string // what owners skipped of the set-up: names of steps, with spaces between
	CreatedAt         time.Time
}

// ShopName is the name that somebody gave the account; other where nobody did, and of no
// account.
func (a Account) ShopName(other string) string {
	if a.ID == DefaultAccountID && a.Name == DefaultAccountName {
		return other
	}
	return cmp.Or(a.Name, other)
}

// neverExpires is written as the end of a plan that never ends, in any zone.
const neverExpires = "9999-12-31 23:59:59"

// Expired reports whether the plan has ended: now is past the second of
// ExpiresAt.
func (a Account) Expired(now time.Time) bool {
	return !a.ExpiresAt.IsZero() && now.Unix() > a.ExpiresAt.Unix()
}

// FormatExpiry writes the end of a plan in zone.
func FormatExpiry(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return neverExpires
	}
	return FormatTime(t, zone)
}

// ErrPlanExpired refuses to add or enable something once the plan has expired.
// Recording, reading and delivering go on.
var ErrPlanExpired error = Refused(CodePlanExpired, Text{
	"The plan of this account has expired, so no bank account, webhook or stream can be added or turned on. " +
		"Transactions are still received and delivered.",
	"Gói dịch vụ của tài khoản đã hết hạn nên không thể thêm hay bật tài khoản ngân hàng, webhook và luồng. " +
		"Giao dịch vẫn được nhận và gửi đi.",
})

// ErrPlanLimit refuses a bank account beyond the plan.
func ErrPlanLimit(limit int) error {
	return Refused(CodePlanLimit, Textf(
		"All bank accounts that the plan allows (%d) are in use.",
		"Đã dùng hết số tài khoản ngân hàng mà gói dịch vụ cho phép (%d).", limit))
}

// AccountUpdate changes what is not nil.
type AccountUpdate struct {
	Name            *string
	Plan            *string
	ExpiresAt       *time.Time
	IsTrial         *bool
	MaxBankAccounts *int
	// Of payment requests that are made from then on.
	PaymentTolerance *int64
	DistinctAmounts  *bool
	SmallAmount      *int64
	CashiersMatch    *bool

	GuideSkipped *string
}

// CreateAccount adds a customer on the plan that account 1 begins with.
func (s *Service) CreateAccount(ctx context.Context, name string, now time.Time) (Account, error) {
	name, err := CleanName("name", name)
	if err != nil {
		return Account{}, err
	}
	return s.store.CreateAccount(ctx, NewAccount(name, now))
}

// NewAccount is an account on the plan of somebody who hosts for themselves.
func NewAccount(name string, now time.Time) Account {
	return Account{Name: name, Plan: "self-hosted", MaxBankAccounts: 100, SmallAmount: 1000, CreatedAt: now}
}

// UpdateAccount changes a name or a plan. The change counts from the next request on.
func (s *Service) UpdateAccount(ctx context.Context, id int64, u AccountUpdate) (Account, error) {
	var v Invalid
	if u.Name != nil {
		name, err := CleanName("shop_name", *u.Name)
		if err != nil {
			return Account{}, err
		}
		u.Name = &name
	}
	if u.Plan != nil {
		if plan, err := CleanName("plan", *u.Plan); err != nil {
			return Account{}, err
		} else {
			u.Plan = &plan
		}
	}
	if u.MaxBankAccounts != nil && (*u.MaxBankAccounts < 0 || *u.MaxBankAccounts > 1_000_000) {
		v.Add("max_bank_accounts", "must be from 0 to 1000000", "phải từ 0 đến 1000000")
	}
	if u.PaymentTolerance != nil && (*u.PaymentTolerance < 0 || *u.PaymentTolerance > maxTolerance) {
		v.Add("payment_tolerance", "must be from 0 to 100,000", "phải từ 0 đến 100.000")
	}
	if u.SmallAmount != nil && (*u.SmallAmount < 0 || *u.SmallAmount > maxTolerance) {
		v.Add("small_amount", "must be from 0 to 100,000", "phải từ 0 đến 100.000")
	}
	if err := v.Err(); err != nil {
		return Account{}, err
	}
	return s.store.UpdateAccount(ctx, id, u)
}

// CleanName checks a name that a person gives: 1 to 100 characters, no control
// characters. Surrounding white space is cut.
func CleanName(field, name string) (string, error) {
	name, ok := ReadText(name, 100, "")
	if !ok || name == "" {
		return "", InvalidField(field, "must be 1 to 100 characters without control characters",
			"phải có từ 1 đến 100 ký tự, không chứa ký tự điều khiển")
	}
	return name, nil
}

// ReadText cuts the white space around a text that a person gives. A text of which
// nothing can be seen becomes empty. ok is false where it has more than limit
// characters, or a control character that isn't in allowed.
func ReadText(text string, limit int, allowed string) (_ string, ok bool) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	refused := func(r rune) bool { return IsControl(r) && !strings.ContainsRune(allowed, r) }
	if utf8.RuneCountInString(text) > limit || strings.ContainsFunc(text, refused) {
		return "", false
	}
	if !strings.ContainsFunc(text, isVisible) {
		return "", true
	}
	return text, true
}

// isVisible reports whether a person can see the character; fillers are not seen.
func isVisible(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x2800, 0x3164, 0xffa0:
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

// IsControl reports whether a character could forge a line of a listing or turn
// the direction of a text: C0, C1 and bidirectional controls, line separators.
func IsControl(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x200e, r == 0x200f, r == 0x061c, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
		return true
	}
	return false
}

// maxTolerance is the most, in đồng, that a request may lack and count as paid, and that
// counts as a small amount.
const maxTolerance = 100_000
