package book

import (
	"context"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/fold"
)

// Money in is revenue, unless a mark or a rule of the account gives it another kind. A mark is
// stronger than every rule. Money out is never revenue.

// Kind is the kind of money in.
type Kind string

// The kinds.
const (
	Revenue  Kind = "revenue"
	Loan     Kind = "loan"
	OwnMoney Kind = "own_money"
	Refund   Kind = "refund"
	Transfer Kind = "transfer"
	Other    Kind = "other"
)

// NotRevenue are the kinds of money in that is no revenue.
var NotRevenue = []Kind{Loan, OwnMoney, Refund, Transfer, Other}

var kindNames = map[Kind]app.Text{
	Revenue: {EN: "Revenue", VI: "Doanh thu"}, Loan: {EN: "Loan", VI: "Tiền vay"}, OwnMoney: {EN: "Own money", VI: "Tiền của chủ"},
	Refund: {EN: "Refund", VI: "Tiền được hoàn lại"}, Transfer: {EN: "Between own accounts", VI: "Chuyển giữa tài khoản của mình"},
	Other: {EN: "Other", VI: "Khoản khác"},
}

func (k Kind) Name() app.Text { return kindNames[k] }

// CheckKind adds an error to bad unless k is one of NotRevenue.
func CheckKind(field string, k Kind, bad *app.Invalid) {
	if !slices.Contains(NotRevenue, k) {
		bad.Add(field, "must be loan, own_money, refund, transfer or other", "phải là loan, own_money, refund, transfer hoặc other")
	}
}

// Mark is the kind that somebody chose for money in. The zero value is no mark.
type Mark struct {
	Kind Kind
	Note string
}

// maxNote is the length of the note of a mark or of cash, in characters.
const maxNote = 200

func checkNote(field, text string, bad *app.Invalid) string {
	text, ok := app.ReadText(text, maxNote, "")
	if !ok {
		bad.Add(field, "must be at most 200 characters without control characters", "dài tối đa 200 ký tự, không chứa ký tự điều khiển")
	}
	return text
}

// Errors of marks.
var (
	ErrNotMoneyIn = app.Conflict("Only money in can be revenue or not.", "Chỉ tiền vào mới phân biệt là doanh thu hay không.")
	ErrClosed     = app.Conflict("This is in a closed book, so it can’t be changed. Open the book again first.",
		"Khoản này thuộc sổ đã chốt nên không sửa được. Hãy mở lại sổ trước.")
	// ErrCashOfShop refuses a change of the cash by a user who is limited to some of the money.
	ErrCashOfShop = app.Refused(app.CodeForbidden, app.Text{EN: "Cash is of the whole shop: ask the owner to enter it.",
		VI: "Tiền mặt là của cả cửa hàng: hãy nhờ chủ cửa hàng nhập."})
)

// SetMark marks a transaction, and returns it with the mark. The zero Mark removes the mark.
// ErrNotMoneyIn, ErrClosed.
func (s *Service) SetMark(ctx context.Context, accountID, transactionID int64, m Mark) (app.Transaction, error) {
	var bad app.Invalid
	if m.Kind != "" && m.Kind != Revenue {
		CheckKind("revenue_kind", m.Kind, &bad)
	}
	m.Note = checkNote("revenue_note", m.Note, &bad)
	if err := bad.Err(); err != nil {
		return app.Transaction{}, err
	}
	if err := s.store.SetMark(ctx, accountID, transactionID, m); err != nil {
		return app.Transaction{}, err
	}
	return s.ledger.Transaction(ctx, accountID, transactionID)
}

// Rule gives money in a kind other than revenue: all money to a bank account, or all whose
// content contains a text.
type Rule struct {
	ID            int64
	BankAccountID int64  // 0: the rule is about Text
	Text          string // empty: the rule is about BankAccountID
	Kind          Kind
}

// These are the bounds of the rules. Each rule costs some time for every line of a book.
const (
	maxRules    = 15
	minRuleText = 3
	maxRuleText = 100
)

// ErrTooManyRules refuses a rule beyond the bound.
var ErrTooManyRules = app.Refused(app.CodeLimitReached, app.Textf("There are %d rules already. Remove one first.",
	"Đã có %d quy tắc. Hãy xoá bớt.", maxRules))

// AddRule makes a rule, which holds for the books that aren't closed. A rule that exists
// already isn't made again.
func (s *Service) AddRule(ctx context.Context, accountID int64, r Rule) error {
	var bad app.Invalid
	CheckKind("kind", r.Kind, &bad)
	var ok bool
	if r.Text, ok = app.ReadText(r.Text, maxRuleText, ""); r.BankAccountID == 0 && (!ok || len([]rune(fold.String(r.Text))) < minRuleText) {
		bad.Add("content", "must be 3 to 100 characters of a content", "phải là 3 đến 100 ký tự có trong nội dung chuyển khoản")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	if r.BankAccountID != 0 {
		r.Text = ""
	}
	return s.store.AddRule(ctx, accountID, r, func(present []Rule) error {
		if len(present) >= maxRules {
			return ErrTooManyRules
		}
		return nil
	})
}

// PossibleTransfer is money in that may come from another bank account of the same account: the
// same amount went out there at about the same time.
type PossibleTransfer struct {
	In, Out app.Transaction
}

// transferWindow is the longest time between money out and the same money in, and
// mostTransfers how many such transfers are shown.
const (
	transferWindow = time.Hour
	mostTransfers  = 50
)

// PossibleTransfers lists money in that counts as revenue and may be a transfer between own bank
// accounts: the same amount went out of another one in the period.
func (s *Service) PossibleTransfers(ctx context.Context, accountID int64, p Period) ([]PossibleTransfer, error) {
	from, to := p.First.Start(s.zone), (p.Last + 1).Start(s.zone)
	return s.store.PossibleTransfers(ctx, accountID, TransferSearch{from, to, transferWindow, mostTransfers})
}

// TransferSearch bounds a search for transfers: the money out is from From on and before To, the
// money in at most Within apart, and at most Limit transfers are found.
type TransferSearch struct {
	From, To time.Time
	Within   time.Duration
	Limit    int
}
