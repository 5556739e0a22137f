package api

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
	"baoco/web/wire"
)

// InboundEventJSON is an event of the inbound log. Its source is null if somebody recorded it
// by hand.
type InboundEventJSON struct {
	ID         int64             `json:"id"`
	SourceID   *int64            `json:"source_id"`
	Source     *string           `json:"source"`
	Provider   *app.Provider     `json:"provider"`
	Channel    app.Channel       `json:"channel"`
	ReceivedAt string            `json:"received_at"`
	Recorded   int               `json:"recorded"`
	Duplicates int               `json:"duplicates"`
	Unassigned int               `json:"unassigned"`
	Conflicts  int               `json:"conflicts"`
	Rejected   int               `json:"rejected"`
	MayRepeat  int               `json:"may_be_repeat,omitempty"`
	Open       int               `json:"open"`  // how many items need attention
	Items      []InboundItemJSON `json:"items"` // the first items that need attention
}

// InboundItemJSON is an element of an event that needs attention, or needed it.
type InboundItemJSON struct {
	ID int64 `json:"id"`
	InboundNamedJSON
}

// InboundElementJSON is an element of an event, with the id of its item, and the event with an
// open item of the same event id.
type InboundElementJSON struct {
	InboundNamedJSON
	ItemID  *int64 `json:"item_id"`
	WaitsIn *int64 `json:"waits_in"`
}

// InboundNamedJSON is the fields of an element, and its state: null if that isn't known. Bank,
// type and amount are null if they couldn't be read.
type InboundNamedJSON struct {
	Position          int              `json:"position"`
	State             *inbound.Outcome `json:"state"`
	Field             string           `json:"field"`
	Reason            string           `json:"reason"` // in the reader's language
	TransactionID     *string          `json:"transaction_id"`
	EventID           string           `json:"event_id"`
	Gateway           string           `json:"gateway"`
	Bank              *string          `json:"bank"`
	AccountNumber     string           `json:"account_number"`
	Masked            bool             `json:"masked"` // account_number shows some digits only
	TransactionNumber string           `json:"transaction_number"`
	Type              *app.Direction   `json:"type"`
	Amount            *int64           `json:"amount"`
	Content           string           `json:"content"`
	TransactionDate   string           `json:"transaction_date"`
	DateFlagged       bool             `json:"date_flagged"`
}

// InboundEventBodyJSON is an event with all its items, its elements, and its body: as text, or
// as base64 if the body isn't text.
type InboundEventBodyJSON struct {
	InboundEventJSON
	Elements     []InboundElementJSON `json:"elements"`
	ElementCount int                  `json:"element_count"` // including the elements that aren't listed
	Nothing      *string              `json:"nothing"`       // why the event has no elements, in the reader's language
	Body         *string              `json:"body"`
	BodyBase64   *string              `json:"body_base64"`
}

// EncodeInboundEvent writes e with its times in zone, for a reader of lang.
func EncodeInboundEvent(e inbound.Event, zone *time.Location, lang app.Lang) InboundEventJSON {
	return InboundEventJSON{
		ID: e.ID, SourceID: OrNull(e.SourceID), Source: OrNull(e.SourceName), Provider: OrNull(e.Provider),
		Channel: e.Channel, ReceivedAt: app.FormatTime(e.ReceivedAt, zone),
		Recorded: e.Recorded, Duplicates: e.Duplicates, Unassigned: e.Unassigned, Conflicts: e.Conflicts, Rejected: e.Rejected,
		MayRepeat: int(e.OpenBy.MayBeRepeats), Open: e.Open,
		Items: All(e.Items, func(i inbound.Item) InboundItemJSON { return InboundItemJSON{i.ID, encodeNamed(i, zone, lang)} }),
	}
}

func encodeNamed(e inbound.Item, zone *time.Location, lang app.Lang) InboundNamedJSON {
	bank, _ := app.FindBank(e.Gateway)
	named := InboundNamedJSON{
		Position: e.Position, State: OrNull(e.State),
		EventID: e.EventID, Gateway: e.Gateway, Bank: OrNull(bank.Code), AccountNumber: e.AccountNumber, Masked: e.Masked,
		TransactionNumber: e.Number, Type: OrNull(e.Type), Amount: OrNull(e.Amount), Content: e.Content,
		TransactionDate: app.FormatTime(e.Time, zone), DateFlagged: e.DateFlaw != "",
	}
	if e.Fault != nil {
		named.Field, named.Reason = e.Fault.Field, e.Fault.Text.In(lang)
	}
	if e.TransactionID != 0 {
		named.TransactionID = OrNull(strconv.FormatInt(e.TransactionID, 10))
	}
	return named
}

// EncodeInboundBody writes e with its items, its elements and its body.
func EncodeInboundBody(e inbound.Event, zone *time.Location, lang app.Lang) InboundEventBodyJSON {
	encoded := InboundEventBodyJSON{
		InboundEventJSON: EncodeInboundEvent(e, zone, lang), Elements: make([]InboundElementJSON, len(e.Elements)), ElementCount: e.ElementCount,
	}
	for n, i := range e.Elements {
		named := inbound.Item{Position: i.Position, State: i.State, TransactionID: i.TransactionID, Incoming: i.Incoming}
		encoded.Elements[n] = InboundElementJSON{encodeNamed(named, zone, lang), nil, OrNull(i.WaitsIn)}
		if i.Item != nil {
			encoded.Elements[n].ItemID = OrNull(i.Item.ID)
		}
	}
	if len(e.Elements) == 0 {
		encoded.Nothing = OrNull(e.Explanation.In(lang))
	}
	if utf8.Valid(e.Body) {
		encoded.Body = new(string(e.Body))
	} else {
		encoded.BodyBase64 = new(base64.StdEncoding.EncodeToString(e.Body))
	}
	return encoded
}

// OrNull is v, or null for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (s *Server) listInbound(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	f := inbound.Filter{SourceID: p.ID("source_id"), From: p.Bound("from", false), To: p.Bound("to", true), Page: p.Page()}
	switch state := p.Values.Get("state"); state {
	case "":
	case "open":
		f.OpenOnly = true
	case string(inbound.OutcomeUnassigned), string(inbound.OutcomeConflict), string(inbound.OutcomeRejected),
		string(inbound.OutcomeMayBeRepeat):
		f.State = inbound.Outcome(state)
	default:
		p.Bad.Add("state", "must be open, unassigned, conflict, rejected or may_be_repeat",
			"phải là open, unassigned, conflict, rejected hoặc may_be_repeat")
	}
	if err := p.Bad.Err(); err != nil {
		return err
	}
	list, total, err := s.service.Inbound.InboundEvents(q.Context(), q.account(), f)
	encoded := All(list, func(e inbound.Event) InboundEventJSON { return EncodeInboundEvent(e, s.zone, wire.Lang(q.Request)) })
	return q.ok(err, "Inbound log.", "Lịch sử nhận.", member{"events", encoded},
		member{"pagination", paginate(f.Page, total)})
}

func (s *Server) showInbound(q *Request) error {
	e, err := s.service.Inbound.ReadInboundEvent(q.Context(), q.account(), q.pathID())
	return q.ok(err, "Inbound event.", "Lần nhận.",
		member{"event", EncodeInboundBody(e, s.zone, wire.Lang(q.Request))})
}

func (s *Server) retryInbound(q *Request) error {
	r, err := s.service.Inbound.RetryInbound(q.Context(), q.account(), q.pathID(), q.now)
	if err != nil {
		return err
	}
	wire.WriteJSON(q.writer, http.StatusOK, struct {
		wire.Envelope
		InboundCountsJSON
	}{wire.OK(q.Request, "The event was read again.", "Đã xử lý lại lần nhận."), EncodeInboundCounts(r)})
	return nil
}

// InboundCountsJSON counts the elements of a call by their outcome.
type InboundCountsJSON struct {
	Recorded   int `json:"recorded"`
	Duplicates int `json:"duplicates"`
	Unassigned int `json:"unassigned"`
	Conflicts  int `json:"conflicts"`
	Rejected   int `json:"rejected"`
	MayRepeat  int `json:"may_be_repeat,omitempty"`
}

// EncodeInboundCounts writes the counts of r.
func EncodeInboundCounts(r inbound.Recording) InboundCountsJSON {
	return InboundCountsJSON{r.Recorded, r.Duplicates, r.Unassigned, r.Conflicts, r.Rejected, r.MayBeRepeats}
}

// settleInbound stores a person's decision about an item that may be a repeat.
func (s *Server) settleInbound(q *Request) error {
	e, f, err := found(q, s.service.Inbound.InboundEvent, "item_id", "transaction_id", "repeat")
	if err != nil {
		return err
	}
	item, repeat := f.reference("item_id"), f.state("repeat")
	if f.body.Get("repeat").Kind == exactjson.Null {
		f.bad.Add("repeat", "is required", "là bắt buộc")
	}
	var transaction int64
	if text := f.optional("transaction_id"); text != nil {
		var ok bool
		if transaction, ok = wire.ParseID(*text); !ok {
			f.bad.Add("transaction_id", app.UnknownReference.EN, app.UnknownReference.VI)
		}
	}
	if err := f.bad.Err(); err != nil {
		return err
	}
	settled, err := s.service.Inbound.SettleRepeat(q.Context(), q.account(), inbound.RepeatSettle{
		EventID: e.ID, ItemID: item, TransactionID: transaction, Repeat: *repeat,
	}, q.now)
	return q.ok(err, "The item is settled.", "Đã xác nhận.",
		member{"state", settled.Outcome}, member{"transaction_id", strconv.FormatInt(settled.TransactionID, 10)},
		member{"deliveries", len(settled.Webhooks)})
}

func (s *Server) discardInbound(q *Request) error {
	e, f, err := found(q, s.service.Inbound.InboundEvent, "item_id")
	if err != nil {
		return err
	}
	item := f.reference("item_id")
	if err := f.bad.Err(); err != nil {
		return err
	}
	var n int
	if item != 0 {
		n, err = s.service.Inbound.DiscardInboundItem(q.Context(), q.account(), e.ID, item)
	} else {
		n, err = s.service.Inbound.DiscardInbound(q.Context(), q.account(), e.ID)
	}
	return q.ok(err, "What needed attention was closed.", "Đã đóng những mục cần xử lý.", member{"discarded", n})
}

// InboundLinkJSON is the result of linking an event to a bank account.
type InboundLinkJSON struct {
	Recorded       int             `json:"recorded"`
	Duplicates     int             `json:"duplicates"`
	TransactionIDs []string        `json:"transaction_ids"`
	Waiting        int             `json:"waiting_recorded"` // of other events
	More           bool            `json:"more"`             // the rest is recorded in the background
	Open           int             `json:"open"`
	Deliveries     int             `json:"deliveries"`
	Linked         bool            `json:"linked"` // the bank account was linked by this request
	BankAccount    BankAccountJSON `json:"bank_account"`
}

// EncodeInboundLink writes r with its times in zone.
func EncodeInboundLink(r inbound.EventLinkResult, zone *time.Location) InboundLinkJSON {
	ids := All(r.TransactionIDs, func(id int64) string { return strconv.FormatInt(id, 10) })
	return InboundLinkJSON{r.Recorded, r.Duplicates, ids, r.Waiting, r.More, r.Open, r.Deliveries, r.Linked,
		EncodeBankAccount(r.BankAccount, zone)}
}

func (s *Server) linkInbound(q *Request) error {
	e, f, err := found(q, s.service.Inbound.InboundEvent, "bank", "account_number", "account_name", "notify")
	if err != nil {
		return err
	}
	in := inbound.EventLink{
		EventID: e.ID, Bank: f.given("bank"), AccountNumber: f.given("account_number"), AccountName: f.given("account_name"),
	}
	in.Notify = inbound.ReadNotifyOnLink(f.given("notify"), &f.bad)
	if err := f.bad.Err(); err != nil {
		return err
	}
	r, err := s.service.Inbound.LinkInbound(q.Context(), q.account(), in, q.now)
	if err != nil {
		return err
	}
	wire.WriteJSON(q.writer, http.StatusOK, struct {
		wire.Envelope
		InboundLinkJSON
	}{wire.OK(q.Request, "The transactions were recorded.", "Đã ghi nhận các giao dịch."), EncodeInboundLink(r, s.zone)})
	return nil
}
