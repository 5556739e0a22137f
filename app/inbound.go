package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"
)

// Channel is the way on which a transaction came in. A source's event ids are
// unique on one channel, not across them.
type Channel string

// The channels.
const (
	ChannelCall Channel = "call" // the provider called
	ChannelPoll Channel = "poll" // the provider's list was read
	ChannelFile Channel = "file" // a statement file was imported
	ChannelHand Channel = "hand" // somebody recorded it
)

// Incoming is one transaction as a provider named it, before it is known whom
// it belongs to. Where it could not be read, Fault says why and the other
// fields hold what could.
type Incoming struct {
	EventID       string // the provider's id: unique for a source and channel
	Gateway       string // as named; FindBank knows which bank it is
	AccountNumber string
	Number        string
	Type          Direction
	Amount        int64
	Content       string
	Time          time.Time // zero: missing or impossible
	DateOnly      bool      // as in [Transaction]
	DateFlaw      DateFlaw  // as in [Transaction]; the use case sees to it
	Masked        bool      // AccountNumber shows some of its digits only
	Fault         *FieldError

	// EventIDChannel is the channel among whose event ids EventID is unique;
	// empty: the channel of the call. A provider whose list and calls share
	// their ids names one channel for both.
	EventIDChannel Channel
}

// ReadInbound reads a body that came in on a channel of source. It never
// fails: what it can't read becomes an element with a fault. The time of
// receipt stands in for what a text doesn't say of its own.
type ReadInbound func(source Source, channel Channel, body []byte, receivedAt time.Time, zone *time.Location) InboundReading

// InboundReading is what a body says.
type InboundReading struct {
	Elements []Incoming
	Nothing  Text // what a body without elements is, such as a test call; a sentence
}

// MaxElements is how many elements a call has at most. Of one with more nothing
// is read: a real one has a few hundred.
const MaxElements = 2000

// InboundCall is one authenticated call of a source.
type InboundCall struct {
	AccountID    int64
	Source       Source // zero on ChannelHand
	Channel      Channel
	Body         []byte
	ReceivedAt   time.Time
	Elements     []Incoming
	NoDeliveries bool // the transactions are recorded, and no webhook is told
	Key          IdempotencyKey

	DryRun      bool   // record nothing, and tell what would be
	File        string // on ChannelFile: its name
	ImportID    int64  // the import to which the elements belong; 0: a new one, made with the first recorded transaction
	SourceFault bool   // the provider reports a fault on its side

	NoDeliveriesBefore time.Time // as NoDeliveries, for transactions with an earlier time; zero: for none
}

// Outcome is what became of one element of a call.
type Outcome string

// The outcomes. Unassigned, conflicting and rejected elements are kept as
// [InboundItem]s until somebody links, retries or discards them.
const (
	OutcomeRecorded   Outcome = "recorded"
	OutcomeDuplicate  Outcome = "duplicate"
	OutcomeUnassigned Outcome = "unassigned"
	OutcomeConflict   Outcome = "conflict"
	OutcomeRejected   Outcome = "rejected"
	OutcomeDiscarded  Outcome = "discarded" // by a person
)

// Open tells whether somebody has to decide about an element.
func (o Outcome) Open() bool {
	return o == OutcomeUnassigned || o == OutcomeConflict || o == OutcomeRejected
}

// Recording is what became of a call.
type Recording struct {
	Recorded, Duplicates, Unassigned, Conflicts, Rejected int
	Outcomes                                              []Outcome // one an element
	TransactionIDs                                        []int64   // one an element; 0 where it has none
	Deliveries                                            int
	Webhooks                                              []int64    // that got them, one a delivery
	Ready                                                 []Outgoing // the first of them, in the same order, for an attempt at once; ID 0: not known
	EventID                                               int64
	ImportID                                              int64 // of a file; 0: nothing of it was recorded
	DateNotice                                            Text  // which of them are dated by their receipt, and why; empty: none
}

// Count notes the outcome of the next element.
func (r *Recording) Count(o Outcome, transactionID int64) {
	switch o {
	case OutcomeRecorded:
		r.Recorded++
	case OutcomeDuplicate:
		r.Duplicates++
	case OutcomeUnassigned:
		r.Unassigned++
	case OutcomeConflict:
		r.Conflicts++
	case OutcomeRejected:
		r.Rejected++
	}
	r.Outcomes = append(r.Outcomes, o)
	r.TransactionIDs = append(r.TransactionIDs, transactionID)
}

// Known is what an event id was recorded as before.
type Known struct {
	Bank          string // code; empty where an unassigned item named no known bank
	AccountNumber string
	Type          Direction
	Amount        int64
}

// Compare judges an element whose event id is known: OutcomeDuplicate if
// amount, direction, account number and bank agree, else OutcomeConflict. A
// changed content, number or date is ignored.
func (k Known) Compare(e Incoming) Outcome {
	bank, known := FindBank(e.Gateway)
	sameBank := !known || k.Bank == "" || bank.Is(k.Bank)
	sameNumber := e.AccountNumber == k.AccountNumber || e.AccountNumber == "" || e.Masked && ShowsDigitsOf(e.AccountNumber, k.AccountNumber)
	if e.Amount == k.Amount && e.Type == k.Type && sameNumber && sameBank {
		return OutcomeDuplicate
	}
	return OutcomeConflict
}

// InboundEvent is an authenticated call as it is kept.
type InboundEvent struct {
	ID         int64
	SourceID   int64 // 0: by hand
	SourceName string
	Provider   Provider
	Channel    Channel
	ReceivedAt time.Time
	Body       []byte // not in a listing
	Recording
	Open  int           // items that still need somebody's attention
	Items []InboundItem // in a listing the first of those, at most ListedItems

	// What it said, where it was read again: see InboundElement.
	Elements []InboundElement
	Named    int  // elements that there are
	Nothing  Text // what it is where there are none
	Unread   bool // its body is too long for a listing
}

// How many items are shown of an event: in a listing, and of it alone, where
// those that need attention come first.
const (
	ListedItems = 5
	ShownItems  = 1000
)

// InboundItem is an element of an inbound event that needs somebody's
// attention.
type InboundItem struct {
	ID             int64
	InboundEventID int64
	Position       int
	State          Outcome
	TransactionID  int64 // that its event id is recorded as; 0: none
	Incoming             // its Fault is why
}

// OpenInbound is how many elements of calls need somebody's attention.
type OpenInbound struct{ Unassigned, Conflicts, Rejected int64 }

// InboundFilter narrows the inbound log; zero values do not.
type InboundFilter struct {
	SourceID int64
	OpenOnly bool      // those with items that need attention
	State    Outcome   // those with items that are so: unassigned, conflict or rejected
	From, To time.Time // received from From on, before To
	Before   int64     // only events with a lower id; for InboundEventsBefore
	Page     Page
}

// RecordTransactions records what a call names and queues the deliveries that
// follow. When it returns without error everything is on disk. An error means
// that the caller must try again; by the rules for duplicates that is safe.
func (s *Service) RecordTransactions(ctx context.Context, call InboundCall) (Recording, error) {
	s.normalize(&call)
	recording, err := s.store.RecordInbound(ctx, call, s.zone)
	if err != nil {
		return Recording{}, err
	}
	recording.DateNotice = dateNotice(call.Elements, recording.Outcomes)
	s.wake(recording.Webhooks, recording.Ready)
	return recording, nil
}

// normalize brings the elements of a call into the form in which they are
// compared and stored. A flaw outside the money fields never costs the
// transaction.
func (s *Service) normalize(call *InboundCall) {
	for i := range call.Elements {
		e := &call.Elements[i]
		if e.EventIDChannel == "" {
			e.EventIDChannel = call.Channel
		}
		e.EventID = cleanKey(e.EventID)
		e.Gateway = CleanText(e.Gateway, 100)
		e.AccountNumber = cleanKey(NormalizeAccountNumber(e.AccountNumber))
		if e.Number = cleanKey(e.Number); BlankID(e.Number) {
			e.Number = ""
		}
		e.Content = CleanText(e.Content, MaxContent)
		e.settleDate(call.ReceivedAt)
		if e.Fault == nil {
			e.Fault = moneyFault(*e, call.Source)
		}
	}
}

// maxKey is how many characters of an id, an account number or a transaction
// number are kept.
const maxKey = 200

// cleanKey is the text of what tells one thing from another. One that is too
// long is cut, but never so that two become the same.
func cleanKey(s string) string {
	clean := CleanText(s, len(s))
	if utf8.RuneCountInString(clean) <= maxKey {
		return clean
	}
	sum := sha256.Sum256([]byte(clean))
	return CleanText(clean, maxKey/2) + "~" + hex.EncodeToString(sum[:])
}

// BlankID tells whether an id has nothing by which it could tell one thing from
// another: no characters but spaces, and NULs, which are dropped.
func BlankID(id string) bool { return strings.Trim(id, " \t\r\n\x00") == "" }

// moneyFault is the last gate before the ledger, whatever an adapter let pass.
func moneyFault(e Incoming, source Source) *FieldError {
	switch {
	case BlankID(e.EventID):
		return &FieldError{"id", IDRule}
	case e.AccountNumber == "" && source.BankAccountID == 0:
		return &FieldError{"accountNumber", Text{"is required", "là bắt buộc"}}
	case e.Type != In && e.Type != Out:
		return &FieldError{"transferType", Text{"must be IN or OUT", "phải là IN hoặc OUT"}}
	case e.Amount < 1 || e.Amount > MaxAmount:
		return &FieldError{"transferAmount", AmountRule}
	}
	return nil
}

// IDRule says what an event needs to be told from others.
var IDRule = Text{"is required unless transactionNumber is given", "là bắt buộc nếu không có transactionNumber"}

// RecordByHand records one transaction that somebody typed. The transaction
// is that of an earlier record where the outcome is a duplicate. CodeConflict
// where the id was recorded with another amount, direction or account;
// CodeValidation where it can't be read or names no linked bank account (then
// nothing is kept).
func (s *Service) RecordByHand(ctx context.Context, accountID int64, e Incoming, body []byte, key IdempotencyKey, now time.Time) (Transaction, Outcome, error) {
	call := InboundCall{
		AccountID: accountID, Channel: ChannelHand, Body: body, ReceivedAt: now,
		Elements: []Incoming{e}, Key: key,
	}
	s.normalize(&call)
	if fault := call.Elements[0].Fault; fault != nil {
		return Transaction{}, OutcomeRejected, InvalidField(fault.Field, fault.Text.EN, fault.Text.VI)
	}
	recording, err := s.store.RecordInbound(ctx, call, s.zone)
	if err != nil {
		return Transaction{}, "", err
	}
	s.wake(recording.Webhooks, recording.Ready)
	t, err := s.Transaction(ctx, accountID, recording.TransactionIDs[0])
	return t, recording.Outcomes[0], err
}

// ErrUnknownBankAccount refuses to record by hand on an account that isn't
// linked.
var ErrUnknownBankAccount error = InvalidField("accountNumber", "is not a linked bank account of this bank", "chưa được liên kết ở ngân hàng này")

// ErrEventConflict refuses an event id that was recorded otherwise.
var ErrEventConflict error = Refused(CodeConflict, Text{
	"A transaction with this id is recorded with another amount, direction or account.",
	"Giao dịch với id này đã được ghi nhận với số tiền, chiều hoặc tài khoản khác.",
})

// RetryInbound reads the body of an inbound event again, as the adapters read
// it today, and records what can be recorded now.
func (s *Service) RetryInbound(ctx context.Context, accountID, eventID int64, now time.Time) (Recording, error) {
	event, source, err := s.store.InboundEvent(ctx, accountID, eventID)
	if err != nil {
		return Recording{}, err
	}
	if event.Channel == ChannelHand {
		return Recording{}, Refused(CodeConflict, Text{
			"This was recorded by hand; there is nothing to read again.",
			"Sự kiện này được ghi tay, không có gì để đọc lại.",
		})
	}
	call := InboundCall{
		AccountID: accountID, Source: source, Channel: event.Channel, Body: event.Body, ReceivedAt: event.ReceivedAt,
		NoDeliveries: now.Sub(event.ReceivedAt) > RecentlyReceived,
	}
	if event.Channel == ChannelPoll {
		call.NoDeliveriesBefore = source.ListFrom
	}
	call.Elements = s.readInbound(source, event.Channel, event.Body, event.ReceivedAt, s.zone).Elements
	s.normalize(&call)
	recording, err := s.store.RetryInbound(ctx, eventID, call, s.zone, now)
	if err != nil {
		return Recording{}, err
	}
	s.wake(recording.Webhooks, recording.Ready)
	return recording, nil
}

// DiscardInbound closes what of an event needs attention, because somebody
// decided that it is nothing. The event stays in the log for its time, and a
// repeat of it stays a duplicate.
func (s *Service) DiscardInbound(ctx context.Context, accountID, eventID int64) (int, error) {
	return s.store.DiscardInbound(ctx, accountID, eventID, 0)
}

// DiscardInboundItem closes one item of an event. CodeValidation where the
// event has no such item.
func (s *Service) DiscardInboundItem(ctx context.Context, accountID, eventID, itemID int64) (int, error) {
	if itemID < 1 {
		return 0, ErrUnknownReference("item_id")
	}
	return s.store.DiscardInbound(ctx, accountID, eventID, itemID)
}

// InboundEvent finds an event with its body and its items.
func (s *Service) InboundEvent(ctx context.Context, accountID, id int64) (InboundEvent, error) {
	e, _, err := s.store.InboundEvent(ctx, accountID, id)
	if err != nil {
		return e, err
	}
	e.Items, err = s.store.InboundItems(ctx, accountID, id, ShownItems)
	return e, err
}

// ErrNoInboundEvent says that an id names no inbound event.
var ErrNoInboundEvent error = NotFound("There is no inbound event with this id.", "Không có sự kiện vào với id này.")
