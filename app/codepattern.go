package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app/paymentcode"
)

// A payment code says which order a transfer is for: the customer writes it into the
// content. Package paymentcode finds it there by the patterns of the account. What was
// found when a transaction was recorded stays, also where the patterns change.

// PaymentCode is what was read from the content of a transaction.
type PaymentCode struct {
	Text string // empty: there is no code, or a doubt
	Read bool   // its account had patterns when it was recorded
}

// MaxCodePatterns is how many patterns an account may have.
const MaxCodePatterns = 50

// CodePattern is a pattern of an account.
type CodePattern struct {
	ID        int64
	AccountID int64
	paymentcode.Pattern
	CreatedAt time.Time
}

// CheckCodePattern checks the fields of p, without looking at the storage.
func CheckCodePattern(p paymentcode.Pattern) error {
	switch err := p.Check(); {
	case err == nil:
		return nil
	case errors.Is(err, paymentcode.ErrBankWord):
		return InvalidField("prefix", "is a word that banks write themselves, before numbers of their own",
			"là từ mà ngân hàng tự ghi trước các số của họ")
	case errors.Is(err, paymentcode.ErrAlphabet):
		return InvalidField("alphabet", "must be digits or letters_and_digits", "phải là digits hoặc letters_and_digits")
	case errors.Is(err, paymentcode.ErrPrefix):
		return badPrefix("prefix")
	}
	least, most := p.Lengths()
	t := Textf("must be from %d to %d", "phải từ %d đến %d", least, most)
	if p.Least < least || p.Least > most {
		return InvalidField("min_length", t.EN, t.VI)
	}
	t = Textf("must be from %d to %d", "phải từ %d đến %d", p.Least, most)
	return InvalidField("max_length", t.EN, t.VI)
}

func badPrefix(field string) error {
	return InvalidField(field, "must be 2 to 10 letters A–Z and digits, the first one a letter",
		"phải gồm 2 đến 10 chữ cái A–Z và chữ số, bắt đầu bằng chữ cái")
}

// CreateCodePattern makes a pattern, by which transactions are read from now on.
// CodeConflict where the account has one with the same prefix.
func (s *Service) CreateCodePattern(ctx context.Context, accountID int64, p paymentcode.Pattern, now time.Time) (CodePattern, error) {
	if err := CheckCodePattern(p); err != nil {
		return CodePattern{}, err
	}
	banks, err := s.BankAccounts(ctx, accountID)
	if err != nil {
		return CodePattern{}, err
	}
	if slices.ContainsFunc(banks, func(b BankAccount) bool { return b.hides(p.Prefix) }) {
		return CodePattern{}, InvalidField("prefix", "must not begin as the content prefix of a bank account does, which hides it",
			"không được trùng phần đầu của tiền tố nội dung của một tài khoản ngân hàng, vì khi đó không đọc được mã")
	}
	return s.store.CreateCodePattern(ctx, CodePattern{AccountID: accountID, Pattern: p, CreatedAt: now})
}

// CodeReader reads the payment codes of an account's transactions. The zero CodeReader
// is that of an account without patterns.
type CodeReader struct{ finder *paymentcode.Finder }

// NewCodeReader gives the reader of these patterns.
func NewCodeReader(patterns []CodePattern) CodeReader {
	if len(patterns) == 0 {
		return CodeReader{}
	}
	list := make([]paymentcode.Pattern, len(patterns))
	for i, p := range patterns {
		list[i] = p.Pattern
	}
	return CodeReader{paymentcode.NewFinder(list)}
}

// Read reads the code in a content.
func (r CodeReader) Read(content string) PaymentCode {
	if r.finder == nil {
		return PaymentCode{}
	}
	if len(content) >= MaxContent && utf8.RuneCountInString(content) >= MaxContent {
		return PaymentCode{Read: true} // it was cut, perhaps within a code: see [CleanText]
	}
	code, _ := r.finder.Find(content)
	return PaymentCode{code, true}
}

// Begins reports whether a text has something that begins as a code.
func (r CodeReader) Begins(text string) bool { return r.finder != nil && r.finder.Begins(text) }

// SampleCode is the code of a test, which has none in its content.
func (s *Service) SampleCode(ctx context.Context, accountID int64) (PaymentCode, error) {
	patterns, err := s.CodePatterns(ctx, accountID)
	return NewCodeReader(patterns).Read(""), err
}

// ReadCode reads a code that a person typed, perhaps with spaces and in small letters.
// It is empty, and ok false, where it can't be a code of any pattern.
func ReadCode(text string) (code string, ok bool) {
	code = strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, text))
	if !paymentcode.IsCode(code) {
		return "", false
	}
	return code, true
}

// ReadCodeFilter reads the code that a listing is narrowed to; empty where none is
// given.
func ReadCodeFilter(field, text string, bad *Invalid) string {
	code, ok := ReadCode(text)
	if !ok && text != "" {
		bad.Add(field, "must be a payment code: 5 to 25 letters A–Z and digits", "phải là mã thanh toán gồm 5 đến 25 chữ cái A–Z và chữ số")
	}
	return code
}

// CheckCodePrefix checks a prefix to which a webhook or a stream is limited.
func CheckCodePrefix(field, prefix string) error {
	if paymentcode.IsPrefix(prefix) {
		return nil
	}
	return badPrefix(field)
}

// ErrNoCodePattern says that an id names no pattern.
var ErrNoCodePattern error = NotFound("There is no code pattern with this id.", "Không có mẫu mã thanh toán với id này.")

// CodePattern finds a code pattern.
func (s *Service) CodePattern(ctx context.Context, accountID, id int64) (CodePattern, error) {
	list, err := s.CodePatterns(ctx, accountID)
	return Find(list, err, func(p CodePattern) bool { return p.ID == id }, ErrNoCodePattern)
}

// ErrSamePrefix refuses a second pattern with a prefix.
var ErrSamePrefix error = Refused(CodeAlreadyExists, Text{
	"A code pattern with this prefix exists. Delete it first, if this one is to replace it.",
	"Đã có mẫu mã thanh toán với tiền tố này. Muốn thay thì hãy xoá mẫu cũ trước.",
})

// ErrPatternInUse refuses to delete a pattern by which open payment requests are found.
var ErrPatternInUse error = Refused(CodeConflict, Text{
	"Payment requests with such codes are open: their money would not be found. Cancel them first, or wait until they have ended.",
	"Đang có yêu cầu thanh toán dùng mã này, nếu xoá thì không nhận ra tiền của chúng. Hãy huỷ các yêu cầu đó hoặc đợi chúng kết thúc.",
})

// ErrTooManyCodePatterns refuses a pattern beyond MaxCodePatterns.
var ErrTooManyCodePatterns error = Refused(CodeLimitReached, Textf(
	"An account may have at most %d code patterns.",
	"Mỗi tài khoản có tối đa %d mẫu mã thanh toán.", MaxCodePatterns))
