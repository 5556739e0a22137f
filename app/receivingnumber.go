package app

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
)

// ReceivingNumber is a number to which customers pay a bank account, beside its own: a
// virtual account, of a branch or a till. From some banks a provider hears of nothing else.
type ReceivingNumber struct {
	Number string `json:"number"`
	Name   string `json:"name,omitempty"` // of the branch or the till; empty: none
}

// String is NUMBER or NUMBER = NAME, in one line.
func (n ReceivingNumber) String() string {
	text := n.Number
	if n.Name != "" {
		text += " = " + n.Name
	}
	return strings.Join(strings.Fields(text), " ")
}

// BankAccountReceiving is how customers pay a bank account.
type BankAccountReceiving struct {
	// ReceivingNumbers has each in a line as a person types it: NUMBER or NUMBER = NAME. The
	// first one is the default; none: the account number.
	ReceivingNumbers string
	ContentPrefix    string // with which contents begin, so that the provider hears of the transfer; empty: none
}

// Receiving lists the receiving numbers.
func (r BankAccountReceiving) Receiving() (list []ReceivingNumber) {
	for line := range strings.Lines(r.ReceivingNumbers) {
		if number, name, _ := strings.Cut(line, "="); strings.TrimSpace(line) != "" {
			list = append(list, ReceivingNumber{NormalizeAccountNumber(number), strings.TrimSpace(name)})
		}
	}
	return list
}

// Receives reports whether number is a receiving number.
func (r BankAccountReceiving) Receives(number string) bool {
	return slices.ContainsFunc(r.Receiving(), func(n ReceivingNumber) bool { return n.Number == number })
}

// ReadReceiving brings what a person entered into the form in which it is kept. A content
// prefix must not hide the payment codes of the account.
func (s *Service) ReadReceiving(ctx context.Context, accountID int64, r BankAccountReceiving) (BankAccountReceiving, error) {
	r, err := r.read()
	if err != nil || r.ContentPrefix == "" {
		return r, err
	}
	patterns, err := s.CodePatterns(ctx, accountID)
	if slices.ContainsFunc(patterns, func(p CodePattern) bool { return r.hides(p.Prefix) }) {
		err = InvalidField("content_prefix", "must not begin as payment codes do, which could not be read any more",
			"không được trùng phần đầu của mã thanh toán, vì khi đó không đọc được mã")
	}
	return r, err
}

// hides reports whether codes that begin so are taken for the content prefix.
func (r BankAccountReceiving) hides(codePrefix string) bool {
	return r.ContentPrefix != "" && (strings.HasPrefix(codePrefix, r.ContentPrefix) || strings.HasPrefix(r.ContentPrefix, codePrefix))
}

func (r BankAccountReceiving) read() (BankAccountReceiving, error) {
	var v Invalid
	list, seen := r.Receiving(), map[string]bool{}
	good, lines := len(list) <= 100, make([]string, len(list))
	for i, n := range list {
		lines[i] = n.String()
		_, named := ReadText(n.Name, 50, "")
		good = good && named && validAccountNumber(n.Number) && !seen[n.Number]
		seen[n.Number] = true
	}
	if !good {
		v.Add("receiving_numbers", "must be at most 100 numbers of 1 to 50 letters and digits, each once, with names of at most 50 characters",
			"tối đa 100 số, mỗi số gồm 1 đến 50 chữ cái và chữ số và chỉ có một lần, tên dài tối đa 50 ký tự")
	}
	prefix := strings.ToUpper(strings.TrimSpace(r.ContentPrefix))
	if !contentPrefix.MatchString(prefix) {
		v.Add("content_prefix", "must be at most 12 letters A–Z and digits", "tối đa 12 chữ cái A–Z và chữ số")
	}
	return BankAccountReceiving{strings.Join(lines, "\n"), prefix}, v.Err()
}

var contentPrefix = regexp.MustCompile(`^[A-Z0-9]{0,12}$`)

// Content is what a payer writes so that the provider hears of the transfer.
func (r BankAccountReceiving) Content(content string) string {
	return strings.TrimSpace(r.ContentPrefix + " " + strings.TrimSpace(content))
}

// WithoutPrefix is a content in which spaces stand for the content prefix, which is no part
// of a payment code. Everything else stays in its place, since banks cut by places.
func (r BankAccountReceiving) WithoutPrefix(content string) string {
	if r.ContentPrefix == "" {
		return content
	}
	at := regexp.MustCompile(`(?i)(?:^|[^\pL\pN])(` + r.ContentPrefix + `)`).FindStringSubmatchIndex(content)
	if at == nil {
		return content
	}
	return content[:at[2]] + strings.Repeat(" ", at[3]-at[2]) + content[at[3]:]
}

// PayTo checks the number that a payer is to transfer to: a receiving number, the account
// number, or empty for the default.
func (b BankAccount) PayTo(number string) (string, error) {
	number = NormalizeAccountNumber(number)
	if number != "" && number != b.AccountNumber && !b.Receives(number) {
		return "", ErrUnknownReference("receiving_number")
	}
	return number, nil
}

// NumberToPay is the number that a payer is to transfer to, of one that PayTo gave.
func (b BankAccount) NumberToPay(to string) string {
	if list := b.Receiving(); to == "" && len(list) > 0 {
		return list[0].Number
	}
	return cmp.Or(to, b.AccountNumber)
}

// SetBankAccountReceiving changes how customers pay a bank account, and gives it after that.
// CodeAlreadyExists where a number is one of a linked bank account at the same bank.
func (s *Service) SetBankAccountReceiving(ctx context.Context, accountID, id int64, r BankAccountReceiving) (BankAccount, error) {
	r, err := s.ReadReceiving(ctx, accountID, r)
	if err != nil {
		return BankAccount{}, err
	}
	return s.store.SetBankAccountReceiving(ctx, accountID, id, r)
}
