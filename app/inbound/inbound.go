package inbound

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/delivery"
)

// Incoming is one transaction as a provider named it, before it has a bank
// account. If it could not be read, Fault says why, and the other fields hold
// what could be read.
type Incoming struct {
	EventID       string // the provider's id, unique within source and channel
	Gateway       string // as named; FindBank knows which bank it is
	AccountNumber string
	SubAccount    string // a virtual account of that one, to which the payer transferred; empty: none was named
	Number        string
	Type          app.Direction
	Amount        int64
	Content       string
	Time          time.Time    // zero: missing or impossible
	DateOnly      bool         // as in [Transaction]
	DateFlaw      app.DateFlaw // as in [Transaction]; settled by the use cases
	Masked        bool         // AccountNumber shows only some digits
	Fault         *app.FieldError
	Sender        string // of a bank's text, if the fault is that its source doesn't allow the sender

	// Balance is that of the bank account after the transaction, in VND;
	// negative: overdrawn; 0: the provider named none, or none that can be read
	// exactly. Providers write 0 for a balance that they don't know. Available is
	// the part of the balance that can be spent; 0: not named.
	Balance, Available int64

	Forwarded bool // a bank's text, which a phone may forward twice
	Clocked   bool // a bank's text has the time itself; false: Time is that of its receipt
	NotRepeat bool // the person who records it says that it is no repeat

	// EventIDChannel is the channel among whose event ids EventID is unique;
	// empty: the channel of the call. A provider whose list and calls share
	// their ids names one channel for both.
	EventIDChannel app.Channel
}

// ReceivedOn is the receiving number of b that e names; empty: none.
func (e Incoming) ReceivedOn(b app.BankAccount) string {
	for _, number := range []string{e.AccountNumber, e.SubAccount} {
		if b.Receives(number) {
			return number
		}
	}
	return ""
}

// Reader reads a body that came in on a channel of source. It never fails: a part
// that it can't read becomes an element with a fault. receivedAt replaces dates that
// are missing in the body.
type Reader func(source Source, channel app.Channel, body []byte, receivedAt time.Time, zone *time.Location) Reading

// Reading is the content of a body.
type Reading struct {
	Elements    []Incoming
	Explanation app.Text // a sentence about a body without elements, such as a test call
	Fault       bool     // the provider reports an error on its side, until the next transaction
	// Drop says that the body must not be kept: it is about a one-time code, or a private
	// text. Trace says that the call is kept nevertheless.
	Drop, Trace bool
}

// MaxElements is how many elements a call may have; real ones have a few
// hundred. Nothing of a larger call is read.
const MaxElements = 2000

// Call is one authenticated call of a source.
type Call struct {
	AccountID    int64
	Source       Source // zero on ChannelHand
	Channel      app.Channel
	Body         []byte
	ReceivedAt   time.Time
	Elements     []Incoming
	NoDeliveries bool // the transactions are recorded, and no webhook gets them
	Key          app.IdempotencyKey

	DryRun      bool   // record nothing, but return the results
	File        string // on ChannelFile: its name
	ImportID    int64  // the import to which the elements belong; 0: a new one, made with the first recorded transaction
	SourceFault bool   // the provider reports a fault on its side

	NoDeliveriesBefore time.Time // as NoDeliveries, for transactions with an earlier time; zero: for none
}

// Outcome is the result for one element of a call.
type Outcome string

// The outcomes. Unassigned, conflicting and rejected elements, and those that may be
// repeats, are kept as [Item]s until somebody links, retries, settles or discards
// them.
const (
	OutcomeRecorded    Outcome = "recorded"
	OutcomeDuplicate   Outcome = "duplicate"
	OutcomeUnassigned  Outcome = "unassigned"
	OutcomeConflict    Outcome = "conflict"
	OutcomeRejected    Outcome = "rejected"
	OutcomeMayBeRepeat Outcome = "may_be_repeat" // of a transaction that another channel reported: see [RepeatRule]
	OutcomeDiscarded   Outcome = "discarded"     // by a person
)

// Open reports whether somebody has to decide about the element.
func (o Outcome) Open() bool {
	return o == OutcomeUnassigned || o == OutcomeConflict || o == OutcomeRejected || o == OutcomeMayBeRepeat
}

// Recording is the result of a call.
type Recording struct {
	Recorded, Duplicates, Unassigned, Conflicts, Rejected int
	MayBeRepeats                                          int
	Discarded                                             int       // of a retry: those of the last four that stay discarded
	Outcomes                                              []Outcome // one for each element
	TransactionIDs                                        []int64   // one for each element; 0: no transaction
	Deliveries                                            int
	Webhooks                                              []int64 // the webhook of each delivery
	// the first deliveries in the same order, for an attempt at once; ID 0: not known
	Ready      []delivery.Outgoing
	EventID    int64
	ImportID   int64    // of a file; 0: nothing was recorded
	DateNotice app.Text // how many are dated by their receipt, and why; empty: none
}

// Add adds the outcome of the next element.
func (r *Recording) Add(o Outcome, transactionID int64) {
	r.add(o, 1)
	r.Outcomes = append(r.Outcomes, o)
	r.TransactionIDs = append(r.TransactionIDs, transactionID)
}

// Recount changes the outcome of the element at a position, which a later element decided.
func (r *Recording) Recount(position int, o Outcome, transactionID int64) {
	r.add(r.Outcomes[position], -1)
	r.add(o, 1)
	r.Outcomes[position], r.TransactionIDs[position] = o, transactionID
}

func (r *Recording) add(o Outcome, n int) {
	switch o {
	case OutcomeRecorded:
		r.Recorded += n
	case OutcomeDuplicate:
		r.Duplicates += n
	case OutcomeUnassigned:
		r.Unassigned += n
	case OutcomeConflict:
		r.Conflicts += n
	case OutcomeRejected:
		r.Rejected += n
	case OutcomeMayBeRepeat:
		r.MayBeRepeats += n
	}
}

// RecordedAs is what was recorded under an event id before.
type RecordedAs struct {
	Bank          string // code; empty: an unassigned item that named no known bank
	AccountNumber string
	Type          app.Direction
	Amount        int64

	ReceivingNumber string // which may stand in the place of the account number; empty: none
}

// Compare judges an element whose event id is known: OutcomeDuplicate if
// amount, direction, account number and bank agree, else OutcomeConflict. A
// changed content, number or date is ignored.
func (k RecordedAs) Compare(e Incoming) Outcome {
	bank, known := app.FindBank(e.Gateway)
	sameBank := !known || k.Bank == "" || bank.Is(k.Bank)
	sameNumber := e.AccountNumber == k.AccountNumber || e.AccountNumber == "" ||
		k.ReceivingNumber != "" && (e.AccountNumber == k.ReceivingNumber || e.SubAccount == k.ReceivingNumber) || e.Masked &&
		app.ShowsDigitsOf(e.AccountNumber, k.AccountNumber)
	if e.Amount == k.Amount && e.Type == k.Type && sameNumber && sameBank {
		return OutcomeDuplicate
	}
	return OutcomeConflict
}

// Event is an authenticated call in the inbound log.
type Event struct {
	ID         int64
	SourceID   int64 // 0: by hand
	SourceName string
	Provider   app.Provider
	Channel    app.Channel
	ReceivedAt time.Time
	Body       []byte // not in a listing
	Recording
	Open   int // items that still need somebody's attention
	OpenBy OpenItems
	Items  []Item // in a listing the first open ones, at most ListedItems

	// The content of the body, where it was read again: see Element.
	Elements     []Element
	ElementCount int      // how many elements the body has
	Explanation  app.Text // a sentence about a body without elements
	Unread       bool     // the body is too long for a listing
}

// How many items of an event a listing shows, and the page of the event. Open
// items come first.
const (
	ListedItems = 5
	ShownItems  = 1000
)

// Item is an element of an inbound event that needs somebody's
// attention.
type Item struct {
	ID             int64
	InboundEventID int64
	Position       int
	State          Outcome
	TransactionID  int64 // that its event id is recorded as, or that it may repeat; 0: none
	Incoming             // its Fault says why it isn't recorded
}

// OpenItems counts the open items.
type OpenItems struct{ Unassigned, Conflicts, Rejected, MayBeRepeats int64 }

// Filter narrows the inbound log; zero values do not.
type Filter struct {
	SourceID int64
	OpenOnly bool      // only events with open items
	State    Outcome   // only events with items in this state, which is an open one
	From, To time.Time // received from From on, before To
	Before   int64     // only events with a lower id; for InboundEventsBefore
	Page     app.Page
}

// RecordTransactions records what a call names and makes the deliveries that
// follow. When it returns without error everything is on disk. After an error
// the caller must try again; the rules for duplicates make that safe.
func (s *Service) RecordTransactions(ctx context.Context, call Call) (Recording, error) {
	s.normalize(&call)
	recording, err := s.store.RecordInbound(ctx, call, s.zone)
	if err != nil {
		return Recording{}, err
	}
	recording.DateNotice = dateNotice(call.Elements, recording.Outcomes)
	s.counted(call.Source, recording)
	return recording, nil
}

// normalize brings the elements of a call into the form in which they are
// compared and stored. A flaw outside the money fields never costs the
// transaction.
func (s *Service) normalize(call *Call) {
	for i := range call.Elements {
		e := &call.Elements[i]
		e.EventIDChannel = cmp.Or(e.EventIDChannel, call.Channel)
		e.EventID = cleanKey(e.EventID)
		e.Gateway = app.CleanText(e.Gateway, 100)
		e.AccountNumber = cleanKey(app.NormalizeAccountNumber(e.AccountNumber))
		e.SubAccount = cleanKey(app.NormalizeAccountNumber(e.SubAccount))
		if e.Number = cleanKey(e.Number); BlankID(e.Number) {
			e.Number = ""
		}
		e.Content = app.CleanText(e.Content, app.MaxContent)
		e.settleDate(call.ReceivedAt, s.likelyNow(call.ReceivedAt))
		if e.Fault == nil {
			e.Fault = moneyFault(*e, call.Source)
		}
	}
}

// maxKey is how many characters of an id or a number are kept.
const maxKey = 200

// cleanKey cleans an id or a number. A long one is cut and gets a digest, so
// that two different ones stay different.
func cleanKey(s string) string {
	clean := app.CleanText(s, len(s))
	if utf8.RuneCountInString(clean) <= maxKey {
		return clean
	}
	sum := sha256.Sum256([]byte(clean))
	return app.CleanText(clean, maxKey/2) + "~" + hex.EncodeToString(sum[:])
}

// BlankID reports whether an id holds nothing but spaces and NULs (which are
// dropped), and so names nothing.
func BlankID(id string) bool { return strings.Trim(id, " \t\r\n\x00") == "" }

// moneyFault is the last check before the ledger, whatever the reader of a kind let pass.
func moneyFault(e Incoming, source Source) *app.FieldError {
	switch {
	case BlankID(e.EventID):
		return &app.FieldError{Field: "id", Text: IDRule}
	case e.AccountNumber == "" && source.BankAccountID == 0:
		return &app.FieldError{Field: "accountNumber", Text: app.Text{EN: "is required", VI: "là bắt buộc"}}
	case e.Type != app.In && e.Type != app.Out:
		return &app.FieldError{Field: "transferType", Text: app.Text{EN: "must be IN or OUT", VI: "phải là IN hoặc OUT"}}
	case e.Amount < 1 || e.Amount > app.MaxAmount:
		return &app.FieldError{Field: "transferAmount", Text: app.AmountRule}
	}
	return nil
}

// IDRule is the rule for an event's id.
var IDRule = app.Text{EN: "is required unless transactionNumber is given", VI: "là bắt buộc nếu không có transactionNumber"}

// TransactionCreate is a transaction that somebody typed.
type TransactionCreate struct {
	Incoming
	Body []byte // as it came to the API; nil: it didn't
	Key  app.IdempotencyKey
}

// RecordByHand records one transaction. If the outcome is a
// duplicate, it returns the transaction of the earlier record. CodeConflict where
// the id was recorded with another amount, direction or account. CodeValidation
// where the element has a fault or names no linked bank account; then nothing
// is kept.
func (s *Service) RecordByHand(
	ctx context.Context, accountID int64, in TransactionCreate, now time.Time,
) (app.Transaction, Outcome, error) {
	call := Call{
		AccountID: accountID, Channel: app.ChannelHand, Body: in.Body, ReceivedAt: now,
		Elements: []Incoming{in.Incoming}, Key: in.Key,
	}
	s.normalize(&call)
	if fault := call.Elements[0].Fault; fault != nil {
		return app.Transaction{}, OutcomeRejected, app.InvalidField(fault.Field, fault.Text.EN, fault.Text.VI)
	}
	recording, err := s.store.RecordInbound(ctx, call, s.zone)
	if err != nil {
		return app.Transaction{}, "", err
	}
	s.counted(Source{}, recording)
	t, err := s.ledger.Transaction(ctx, accountID, recording.TransactionIDs[0])
	return t, recording.Outcomes[0], err
}

// ErrUnknownBankAccount refuses to record by hand on an unlinked account.
var ErrUnknownBankAccount error = app.InvalidField("accountNumber", "is not a linked bank account of this bank",
	"chưa được liên kết ở ngân hàng này")

// SumTooLarge is the fault of an amount with which the sums of the account would pass
// 2^63-1 dong.
var SumTooLarge = app.Text{EN: "would make the sums of this account too large to be kept",
	VI: "làm tổng số tiền của tài khoản này lớn quá mức lưu được"}

// ErrSumTooLarge refuses to record such an amount by hand.
var ErrSumTooLarge error = &app.Error{
	Code: app.CodeLimitReached,
	Text: app.Text{EN: "The sums of this account would be too large to be kept.",
		VI: "Tổng số tiền của tài khoản này sẽ lớn quá mức lưu được."},
	Fields: []app.FieldError{{Field: "transferAmount", Text: SumTooLarge}},
}

// ErrEventConflict refuses an event id that names another transaction.
var ErrEventConflict error = app.Conflict("A transaction with this id is recorded with another amount, direction or account.",
	"Giao dịch với id này đã được ghi nhận với số tiền, loại giao dịch hoặc tài khoản khác.")

// RetryInbound reads the body of an inbound event again, with the kinds of
// today, and records what can be recorded now. CodeConflict for a record by
// hand and for rows of a file.
func (s *Service) RetryInbound(ctx context.Context, accountID, eventID int64, now time.Time) (Recording, error) {
	event, source, err := s.store.InboundEvent(ctx, accountID, eventID)
	if err != nil {
		return Recording{}, err
	}
	if event.Channel == app.ChannelHand || event.Channel == app.ChannelFile {
		return Recording{}, app.Conflict("This was recorded by hand or came with a file; there is nothing to read again.",
			"Lần nhận này được ghi tay hoặc đến từ một tệp, không có gì để đọc lại.")
	}
	call := Call{
		AccountID: accountID, Source: source, Channel: event.Channel, Body: event.Body, ReceivedAt: event.ReceivedAt,
		NoDeliveries: now.Sub(event.ReceivedAt) > RecentlyReceived,
	}
	if event.Channel == app.ChannelPoll {
		call.NoDeliveriesBefore = source.ListFrom
	}
	call.Elements = s.config.Read(source, event.Channel, event.Body, event.ReceivedAt, s.zone).Elements
	s.normalize(&call)
	recording, err := s.store.RetryInbound(ctx, eventID, call, s.zone, now)
	if err != nil {
		return Recording{}, err
	}
	s.announce(recording)
	return recording, nil
}

// DiscardInbound closes the open items of an event, because a person decided that
// they are no transactions, and returns how many. The event stays in the log for its
// time, and a repeat of it is still a duplicate.
func (s *Service) DiscardInbound(ctx context.Context, accountID, eventID int64) (int, error) {
	return s.store.DiscardInbound(ctx, accountID, eventID, 0)
}

// DiscardInboundItem closes one item of an event. CodeValidation where the
// event has no such item.
func (s *Service) DiscardInboundItem(ctx context.Context, accountID, eventID, itemID int64) (int, error) {
	if itemID < 1 {
		return 0, app.ErrUnknownReference("item_id")
	}
	return s.store.DiscardInbound(ctx, accountID, eventID, itemID)
}

// InboundEvent finds an event with its body and its items.
func (s *Service) InboundEvent(ctx context.Context, accountID, id int64) (Event, error) {
	e, _, err := s.store.InboundEvent(ctx, accountID, id)
	if err != nil {
		return e, err
	}
	e.Items, err = s.store.InboundItems(ctx, accountID, id, ShownItems)
	return e, err
}

// ErrNoEvent says that an id names no inbound event.
var ErrNoEvent error = app.NotFound("There is no inbound event with this id.", "Không có lần nhận với id này.")
