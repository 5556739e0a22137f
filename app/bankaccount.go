package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"baoco/app/fold"
	"baoco/app/vietqr"
)

// BankAccountStatus says whether a bank account's transactions are notified.
type BankAccountStatus string

// The statuses of a bank account. Only inactive ones are not notified.
const (
	BankAccountPending  BankAccountStatus = "pending"  // linked, no transaction seen yet
	BankAccountActive   BankAccountStatus = "active"   // recorded and notified
	BankAccountInactive BankAccountStatus = "inactive" // switched off: recorded, counted, not notified
	BankAccountError    BankAccountStatus = "error"    // its source reported or showed a fault
)

// Name says the status in a word or two.
func (s BankAccountStatus) Name() Text {
	switch s {
	case BankAccountActive:
		return Text{"Active", "Đang hoạt động"}
	case BankAccountPending:
		return Text{"Waiting for first transaction", "Chờ giao dịch đầu tiên"}
	case BankAccountError:
		return Text{"Error", "Lỗi"}
	}
	return Text{"Off", "Đang tắt"}
}

// Toggled is the status after a switch: off when active, on otherwise.
func (s BankAccountStatus) Toggled() BankAccountStatus {
	if s == BankAccountActive {
		return BankAccountInactive
	}
	return BankAccountActive
}

// AfterTransaction is the status after a transaction came in: active, unless
// somebody switched the account off.
func (s BankAccountStatus) AfterTransaction() BankAccountStatus {
	if s == BankAccountInactive {
		return s
	}
	return BankAccountActive
}

// BankAccount is a linked account at a bank.
type BankAccount struct {
	ID            int64
	AccountID     int64
	Bank          string // code
	AccountNumber string
	AccountName   string
	Status        BankAccountStatus
	CreatedAt     time.Time
	BankAccountLabel
	BankAccountReceiving
}

// BankAccountLabel is how a shop recognises one of its bank accounts. It is for
// people: neither webhooks nor the API have it.
type BankAccountLabel struct {
	Nickname string // empty: none
	Colour   Colour
}

// Colour is the colour of a bank account's name in the dashboard; empty: none.
type Colour string

// Colours are all that can be chosen. The style sheet knows each in light and in
// dark.
var Colours = []Colour{"red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"}

var colourNames = map[Colour]Text{
	"red": {"Red", "Đỏ"}, "orange": {"Orange", "Cam"}, "yellow": {"Yellow", "Vàng"}, "green": {"Green", "Xanh lá"},
	"teal": {"Teal", "Xanh ngọc"}, "blue": {"Blue", "Xanh dương"}, "purple": {"Purple", "Tím"}, "pink": {"Pink", "Hồng"},
}

// Name is what people call the colour.
func (c Colour) Name() Text { return colourNames[c] }

// maxNickname is how many characters a nickname has at most: it stands in lists
// in the place of bank and number.
const maxNickname = 30

// SetBankAccountLabel changes how a bank account is shown.
func (s *Service) SetBankAccountLabel(ctx context.Context, accountID, id int64, label BankAccountLabel) error {
	var v Invalid
	var ok bool
	if label.Nickname, ok = ReadText(strings.Join(strings.Fields(label.Nickname), " "), maxNickname, ""); !ok {
		v.Add("nickname", "must be at most 30 characters without control characters", "dài tối đa 30 ký tự, không chứa ký tự điều khiển")
	}
	if label.Colour != "" && !slices.Contains(Colours, label.Colour) {
		v.Add("colour", fmt.Sprintf("must be one of %v", Colours), fmt.Sprintf("phải là một trong %v", Colours))
	}
	if err := v.Err(); err != nil {
		return err
	}
	return s.store.SetBankAccountLabel(ctx, accountID, id, label)
}

// SetAccountName corrects the name of the holder, which QR codes and the pages of payers have.
func (s *Service) SetAccountName(ctx context.Context, accountID, id int64, name string) (BankAccount, error) {
	name, err := CleanName("account_name", name)
	if err != nil {
		return BankAccount{}, err
	}
	return s.store.SetAccountName(ctx, accountID, id, name)
}

// Title is how the bank account is named where its number stands in full.
func (b BankAccount) Title() string {
	title := BankShortName(b.Bank) + " " + b.AccountNumber
	if b.Nickname != "" {
		title = Isolated(b.Nickname) + " · " + title
	}
	return title
}

// Balance is what a provider said was on a bank account after a transaction.
type Balance struct {
	Amount   int64     // VND; negative: overdrawn
	At       time.Time // of the transaction; the first moment of its day where no more is known
	Provider Provider
}

// MatchBankAccount picks the bank account that a provider means. candidates are
// the linked ones with the number that it named. If gateway is a known bank,
// the account at that bank is meant, else the only candidate. Where the number
// was masked, candidates may have several numbers; then there must be only one
// candidate too.
func MatchBankAccount(candidates []BankAccount, gateway string) (BankAccount, bool) {
	bank, known := FindBank(gateway)
	var match BankAccount
	for _, b := range candidates {
		switch {
		case known && !bank.Is(b.Bank):
		case match.ID == 0:
			match = b
		case !known || match.AccountNumber != b.AccountNumber:
			return BankAccount{}, false
		}
	}
	return match, match.ID != 0
}

// ShowsDigitsOf reports whether a masked account number, such as 7220xxxx2005,
// can be number: the digits before and after the mask are the ends of number.
// The length of the mask says nothing, because banks shorten it.
func ShowsDigitsOf(masked, number string) bool {
	first, last := strings.IndexByte(masked, 'x'), strings.LastIndexByte(masked, 'x')
	if first < 0 {
		return masked == number
	}
	prefix, suffix := masked[:first], masked[last+1:]
	return len(prefix)+len(suffix) < len(number) && strings.HasPrefix(number, prefix) && strings.HasSuffix(number, suffix)
}

// Amounts is a number of transactions and the sum of their amounts in VND.
type Amounts struct {
	Count int64
	Total int64
}

// Flow is money in and money out.
type Flow struct{ In, Out Amounts }

// Both is the sum of money in and out.
func (f Flow) Both() Amounts { return Amounts{f.In.Count + f.Out.Count, f.In.Total + f.Out.Total} }

// BankAccountSummary is a bank account with the transactions of all time, IN
// and OUT together, of today, of this week (from Monday) and of this month.
type BankAccountSummary struct {
	BankAccount
	Balance            *Balance // nil: no provider reported one
	All                Amounts
	Today, Week, Month Flow
}

// Transfer is the transfer to b that a VietQR code fills in, and the text of that code.
// Without an amount the payer enters it. The accents of the content are dropped. to is
// the number to pay to, as PayTo gives it.
func (b BankAccount) Transfer(amount int64, content, to string) (t vietqr.Transfer, text string, err error) {
	bank, _ := FindBank(b.Bank)
	t = vietqr.Transfer{BIN: bank.BIN, Account: b.NumberToPay(to), Amount: amount, Content: fold.Letters(b.Content(content))}
	if text, err = t.String(); err != nil {
		err = InvalidField("content", "must be at most 95 letters, digits and symbols", "chỉ được có tối đa 95 chữ cái, chữ số và ký hiệu")
	}
	return t, text, err
}

// BankAccount finds a linked bank account.
func (s *Service) BankAccount(ctx context.Context, accountID, id int64) (BankAccount, error) {
	list, err := s.BankAccounts(ctx, accountID)
	return Find(list, err, func(b BankAccount) bool { return b.ID == id }, ErrNoBankAccount)
}

// BankField is the code of the bank with this name; v notes an unknown name.
func BankField(v *Invalid, name string) string {
	bank, known := FindBank(name)
	if !known {
		v.Add("bank", "is not a known bank code, such as ACB, VCB, BIDV, MBB, CTG or TCB",
			"không phải mã ngân hàng hợp lệ, ví dụ ACB, VCB, BIDV, MBB, CTG hoặc TCB")
	}
	return bank.Code
}

// AccountNumberField is the typed account number; v notes an impossible one.
func AccountNumberField(v *Invalid, s string) string {
	number := NormalizeAccountNumber(s)
	if !validAccountNumber(number) {
		v.Add("account_number", "must be 1 to 50 letters and digits", "phải gồm 1 đến 50 chữ cái và chữ số")
	}
	return number
}

// NormalizeAccountNumber drops the spaces, dots and dashes with which people
// group an account number. Leading zeros count.
func NormalizeAccountNumber(s string) string {
	return ungroup.Replace(strings.TrimSpace(s))
}

var ungroup = strings.NewReplacer(" ", "", ".", "", "-", "", "\u00a0", "")

func validAccountNumber(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 50
}

// BankAccountSummaries lists the linked bank accounts with their sums.
func (s *Service) BankAccountSummaries(ctx context.Context, accountID int64, now time.Time) ([]BankAccountSummary, error) {
	today := DayOf(now, s.zone)
	list, err := s.store.BankAccountSummaries(ctx, accountID, today)
	if err != nil {
		return nil, err
	}
	balances, err := s.Balances(ctx, accountID, today)
	for i := range list {
		if b, known := balances[list[i].ID]; known {
			list[i].Balance = &b
		}
	}
	return list, err
}

// ErrBankAccountLinked refuses to link a pair of bank and number twice.
func ErrBankAccountLinked(bank, number string) error {
	return Refused(CodeAlreadyExists, Textf(
		"The bank account %s %s is linked already.",
		"Tài khoản ngân hàng %s %s đã được liên kết.", bank, number))
}

// ErrNoBankAccount says that an id names no linked bank account.
var ErrNoBankAccount error = NotFound("There is no bank account with this id.", "Không có tài khoản ngân hàng với id này.")

// Tail is the end of an account number, enough for its owner to recognise it.
func Tail(number string) string {
	if len(number) <= 4 {
		return number
	}
	return "··" + number[len(number)-4:]
}

// ErrUnknownBankAccountID refuses an id that names no linked bank account.
var ErrUnknownBankAccountID error = InvalidField("bank_account_id", NotLinked.EN, NotLinked.VI)
