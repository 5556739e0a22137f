package inbound

import (
	"context"
	"slices"
	"time"

	"baoco/app"
)

// EventLink names the bank account of the unassigned items of an inbound
// event. Bank and number may be empty where the items name them. The account
// name is needed only for a bank account that isn't linked yet.
type EventLink struct {
	EventID                          int64
	Bank, AccountNumber, AccountName string
	Notify                           NotifyOnLink
}

// EventLinkResult is the result for the unassigned items of an event.
type EventLinkResult struct {
	BankAccount    app.BankAccount
	Linked         bool // newly; false: it was linked before
	Recorded       int
	Duplicates     int
	TransactionIDs []int64 // one for each item that is recorded now, or was before
	Waiting        int     // recorded items of other events
	More           bool    // items are left; FinishLinks records them
	Open           int     // items of the event that are still open
	Deliveries     int
	Webhooks       []int64 // that got them
}

// Fits reports whether e can be about the bank account: the bank and number
// that e names don't contradict it.
func Fits(b app.BankAccount, e Incoming) bool {
	return (fitsNumber(e, b.AccountNumber) || b.Receives(e.AccountNumber)) && fitsBank(e, b.Bank)
}

func fitsNumber(e Incoming, number string) bool {
	return e.AccountNumber == "" || e.AccountNumber == number || e.Masked && app.ShowsDigitsOf(e.AccountNumber, number)
}

func fitsBank(e Incoming, code string) bool {
	bank, known := app.FindBank(e.Gateway)
	return !known || bank.Is(code)
}

// Complete fills in the missing bank and number. They come from own, the bank
// account that the source is for (zero: the source is for all), or from the
// items if these leave no doubt. A number also tells the bank if only one
// linked account has it. CodeValidation where there is doubt, or where no item
// fits the bank account.
func (l EventLink) Complete(items []Incoming, own app.BankAccount, linked []app.BankAccount) (EventLink, error) {
	if own.ID != 0 && l.AccountNumber == "" && (l.Bank == "" || l.Bank == own.Bank) {
		l.Bank, l.AccountNumber = own.Bank, own.AccountNumber
	}
	if l.AccountNumber == "" {
		if err := l.completeNumber(items); err != nil {
			return l, err
		}
	}
	if !slices.ContainsFunc(items, func(e Incoming) bool { return fitsNumber(e, l.AccountNumber) }) {
		return l, app.InvalidField("account_number", "is not the account number that the event names", "không phải số tài khoản mà lần nhận nêu")
	}
	if l.Bank == "" {
		if err := l.completeBank(items, linked); err != nil {
			return l, err
		}
	}
	if !slices.ContainsFunc(items, func(e Incoming) bool { return Fits(app.BankAccount{Bank: l.Bank, AccountNumber: l.AccountNumber}, e) }) {
		return l, errOtherBank
	}
	return l, nil
}

var errOtherBank = app.InvalidField("bank", "is not the bank that the event names", "không phải ngân hàng mà lần nhận nêu")

func (l *EventLink) completeNumber(items []Incoming) error {
	masked := false
	for _, e := range items {
		if e.AccountNumber == l.AccountNumber || l.Bank != "" && !fitsBank(e, l.Bank) {
			continue
		}
		if l.AccountNumber != "" {
			return app.InvalidField("account_number", "is required: the event names several accounts", "là bắt buộc: lần nhận nêu nhiều tài khoản")
		}
		l.AccountNumber, masked = e.AccountNumber, e.Masked
	}
	switch {
	case masked:
		return app.InvalidField("account_number", "is required: the event shows only some digits of it",
			"là bắt buộc: lần nhận chỉ cho thấy một phần số tài khoản")
	case l.AccountNumber == "" && l.Bank != "":
		return errOtherBank
	case l.AccountNumber == "":
		return app.InvalidField("account_number", "is required: the event names none", "là bắt buộc: lần nhận không nêu số tài khoản")
	}
	return nil
}

func (l *EventLink) completeBank(items []Incoming, linked []app.BankAccount) error {
	var named []string
	for _, e := range items {
		if bank, known := app.FindBank(e.Gateway); known && fitsNumber(e, l.AccountNumber) && !slices.ContainsFunc(named, bank.Is) {
			named = append(named, bank.Code)
		}
	}
	if len(named) == 0 {
		for _, b := range linked {
			if b.AccountNumber == l.AccountNumber {
				named = append(named, b.Bank)
			}
		}
	}
	switch len(named) {
	case 0:
		return app.InvalidField("bank", "is required: the event names no known bank", "là bắt buộc: lần nhận không nêu ngân hàng nào đã biết")
	case 1:
		l.Bank = named[0]
		return nil
	}
	return app.InvalidField("bank", "is required: it can be one of several", "là bắt buộc: có thể là một trong nhiều ngân hàng")
}

// LinkInbound records the unassigned items of an inbound event on a bank
// account, by the same rules for duplicates and deliveries as LinkBankAccount.
// A bank account that isn't linked yet is linked first, within the plan, and
// its items in other events are recorded too. CodeConflict where no item of the
// event is unassigned, or where its source is for another bank account.
func (s *Service) LinkInbound(ctx context.Context, accountID int64, in EventLink, now time.Time) (EventLinkResult, error) {
	var v app.Invalid
	if in.Bank != "" {
		in.Bank = app.BankField(&v, in.Bank)
	}
	if in.AccountNumber != "" {
		in.AccountNumber = app.AccountNumberField(&v, in.AccountNumber)
	}
	if in.AccountName != "" {
		name, err := app.CleanName("account_name", in.AccountName)
		v.Merge(err)
		in.AccountName = name
	}
	if err := v.Err(); err != nil {
		return EventLinkResult{}, err
	}
	result, err := s.store.LinkInbound(ctx, accountID, in, s.zone, now)
	s.deliveries.Wake(result.Webhooks, nil)
	return result, err
}

// RestFollows says that the rest of a link is recorded automatically.
var RestFollows = app.Text{EN: " The rest is being recorded.", VI: " Phần còn lại đang được ghi nhận."}

// ErrNothingUnassigned refuses to link an event without unassigned items.
var ErrNothingUnassigned error = app.Conflict("Nothing of this event is unassigned.",
	"Lần nhận này không có giao dịch nào của tài khoản chưa liên kết.")

// ErrSourceIsForOther refuses a bank account that the source isn't for.
func ErrSourceIsForOther(bankAccountID int64) error {
	return app.Refused(app.CodeConflict, app.Textf(
		"The source of this event records on bank account %d only.",
		"Nguồn của lần nhận này chỉ ghi nhận cho tài khoản ngân hàng %d.", bankAccountID))
}

// ErrNameNeeded asks for the name of a bank account that is to be linked.
var ErrNameNeeded error = app.InvalidField("account_name", "is required: the bank account is not linked yet",
	"là bắt buộc: tài khoản ngân hàng chưa được liên kết")

// NotifyOnLink says for which waiting transactions webhooks get deliveries when
// the bank account is linked.
type NotifyOnLink int

// NotifyRecent takes those received within RecentlyReceived.
const (
	NotifyRecent NotifyOnLink = iota
	NotifyAll
	NotifyNone
)

// ReadNotifyOnLink reads recent, all or none; recent where none is given.
func ReadNotifyOnLink(text string, bad *app.Invalid) NotifyOnLink {
	n, known := map[string]NotifyOnLink{"": NotifyRecent, "recent": NotifyRecent, "all": NotifyAll, "none": NotifyNone}[text]
	if !known {
		bad.Add("notify", "must be recent, all or none", "phải là recent, all hoặc none")
	}
	return n
}

// RecentlyReceived is how long after its receipt an unassigned transaction is
// still worth a delivery.
const RecentlyReceived = 24 * time.Hour

// LinkResult is a new bank account and the result for the transactions that waited for it.
type LinkResult struct {
	BankAccount app.BankAccount
	Recorded    int
	More        bool // transactions are left; FinishLinks records them
	Before      bool // the bank account was linked before, with the same key
	Deliveries  int
	Webhooks    []int64 // that got them
}

// BankAccountLink is a request to link a bank account.
type BankAccountLink struct {
	Bank, AccountNumber, AccountName string
	Pending                          bool
	Notify                           NotifyOnLink
	app.BankAccountReceiving
	// Key makes the link safe to repeat: the second time returns the bank account.
	Key app.IdempotencyKey
}

// LinkBankAccount links a bank account and records the transactions that had
// been waiting for it.
func (s *Service) LinkBankAccount(ctx context.Context, accountID int64, in BankAccountLink, now time.Time) (LinkResult, error) {
	var v app.Invalid
	bank := app.BankField(&v, in.Bank)
	number := app.AccountNumberField(&v, in.AccountNumber)
	if err := v.Err(); err != nil {
		return LinkResult{}, err
	}
	name, err := app.CleanName("account_name", in.AccountName)
	if err != nil {
		return LinkResult{}, err
	}
	receiving, err := s.ledger.ReadReceiving(ctx, accountID, in.BankAccountReceiving)
	if err != nil {
		return LinkResult{}, err
	}
	b := app.BankAccount{
		AccountID: accountID, Bank: bank, AccountNumber: number, AccountName: name,
		Status: app.BankAccountActive, CreatedAt: now, BankAccountReceiving: receiving,
	}
	if in.Pending {
		b.Status = app.BankAccountPending
	}
	result, err := s.store.LinkBankAccount(ctx, b, in, s.zone, now)
	s.deliveries.Wake(result.Webhooks, nil)
	return result, err
}

// linkTime is how long FinishLinks leaves a new link to the caller who made it.
const linkTime = 30 * time.Second

// FinishLinks continues links that a crash or a deadline cut off. Nothing else would
// finish them: people don't link the same account twice.
func (s *Service) FinishLinks(ctx context.Context, now time.Time) error {
	webhooks, err := s.store.FinishLinks(ctx, now.Add(-linkTime), s.zone, now)
	s.deliveries.Wake(webhooks, nil)
	return err
}

// BankAccountReason says why a bank account isn't active, and what to do about it.
// sources are the sources of its account.
func BankAccountReason(b app.BankAccount, sources []Source) app.Text {
	switch b.Status {
	case app.BankAccountPending:
		return app.Text{EN: "No transactions yet. The first one activates the account.",
			VI: "Chưa có giao dịch. Tài khoản sẽ hoạt động khi có giao dịch đầu tiên."}
	case app.BankAccountInactive:
		return app.Text{EN: "Off: transactions are recorded, but your shop is not notified.",
			VI: "Đang tắt: giao dịch vẫn được ghi nhận nhưng cửa hàng không được báo."}
	case app.BankAccountError:
		for _, src := range sources {
			if src.PollError == PollKeyRefused && (src.BankAccountID == 0 || src.BankAccountID == b.ID) {
				return app.Textf("The provider rejects the API key of source “%s”. Enter a new key.",
					"Nhà cung cấp không chấp nhận khoá API của nguồn “%s”. Hãy nhập khoá mới.", app.Isolated(src.Name))
			}
		}
		return app.Text{
			EN: "The provider reports that its connection to the bank is broken. Reconnect the account at the provider; " +
				"the next transaction clears this warning.",
			VI: "Nhà cung cấp báo mất kết nối với ngân hàng. Hãy kết nối lại bên nhà cung cấp; cảnh báo này sẽ hết khi có giao dịch tiếp theo.",
		}
	}
	return app.Text{}
}
