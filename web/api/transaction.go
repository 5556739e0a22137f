package api

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/book"
	"baoco/app/exactjson"
	"baoco/app/inbound"
	"baoco/app/payer"
	"baoco/app/provider"
	"baoco/web/wire"
)

// TransactionJSON is a transaction of the listing.
type TransactionJSON struct {
	ID                string        `json:"id"`
	BankAccountID     int64         `json:"bank_account_id"`
	Bank              string        `json:"bank"`
	AccountNumber     string        `json:"account_number"`
	TransactionNumber string        `json:"transaction_number"`
	Type              app.Direction `json:"type"`
	Amount            int64         `json:"amount"`
	Content           string        `json:"content"`
	TransactionDate   string        `json:"transaction_date"`
	DateFlagged       bool          `json:"date_flagged"` // transaction_date is the time of receipt
	CreatedAt         string        `json:"created_at"`
	PayerName         *string       `json:"payer_name"` // as it is in the content
	ReceivingNumber   string        `json:"receiving_number,omitempty"`
	Code              *string       `json:"code,omitempty"` // empty: the content has no code; missing: the account had no patterns

	PaymentRequest *app.PaymentState `json:"payment_request,omitempty"` // the payment request that it is matched with, and its present state

	// These are of money in, once its account has a mark or a rule of revenue.
	Revenue     *bool     `json:"revenue,omitempty"`
	RevenueKind book.Kind `json:"revenue_kind,omitempty"` // the kind of money that isn't revenue
	RevenueNote string    `json:"revenue_note,omitempty"`
}

// EncodeTransaction writes t with its times in zone.
func EncodeTransaction(t app.Transaction, zone *time.Location) TransactionJSON {
	encoded := TransactionJSON{
		strconv.FormatInt(t.ID, 10), t.BankAccountID, t.Bank, t.AccountNumber, t.Number, t.Type, t.Amount, t.Content,
		app.FormatTime(t.Time, zone), t.DateFlaw != "", app.FormatTime(t.CreatedAt, zone), nil, t.ReceivingNumber, nil, nil,
		nil, "", t.RevenueNote,
	}
	if name := payer.Of(t).Name; name != "" {
		encoded.PayerName = &name
	}
	if kind := book.Kind(t.Revenue); kind != "" {
		encoded.Revenue = new(kind == book.Revenue)
		if kind != book.Revenue {
			encoded.RevenueKind = kind
		}
	}
	if t.Code.Read {
		encoded.Code = &t.Code.Text
	}
	if t.PaymentRequest.ID != 0 {
		encoded.PaymentRequest = &t.PaymentRequest
	}
	return encoded
}

func (s *Server) listTransactions(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	f := app.TransactionFilter{
		BankAccountID: p.ID("bank_account_id"), Type: p.Direction(), From: p.Bound("from", false), To: p.Bound("to", true),
		MinAmount: p.Amount("min_amount"), MaxAmount: p.Amount("max_amount"), Query: p.Search(), Page: p.Page(),
		Sort: app.TransactionSort(p.Values.Get("sort")),
	}
	f.Code = app.ReadCodeFilter("code", p.Values.Get("code"), &p.Bad)
	f.DeliveryState = wire.ReadDeliveryState(p.Values.Get("delivery_state"), &p.Bad)
	f.Revenue = p.Truth("revenue")
	switch f.Sort {
	case "", app.SortID, app.SortIDDesc, app.SortDate, app.SortDateDesc:
	default:
		p.Bad.Add("sort", "must be -id, id, -date or date", "phải là -id, id, -date hoặc date")
	}
	if since := p.Values.Get("since_id"); since != "" {
		f.SinceID = new(readSinceID("since_id", since, &p.Bad))
		if f.Sort != "" && f.Sort != app.SortID {
			p.Bad.Add("sort", "must be id together with since_id", "phải là id khi dùng since_id")
		}
	}
	if err := p.Bad.Err(); err != nil {
		return err
	}
	page, err := s.service.Ledger.Transactions(q.Context(), q.account(), f)
	encoded := All(page.Rows, func(t app.Transaction) TransactionJSON { return EncodeTransaction(t, s.zone) })
	return q.ok(err, "Transactions.", "Danh sách giao dịch.", member{"transactions", encoded},
		member{"pagination", paginate(f.Page, page.Total)})
}

func (s *Server) showTransaction(q *Request) error {
	t, err := s.service.Ledger.Transaction(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The transaction.", "Giao dịch.", member{"transaction", EncodeTransaction(t, s.zone)})
}

func (s *Server) markTransaction(q *Request) error {
	t, f, err := found(q, s.service.Ledger.Transaction, "revenue", "revenue_kind", "revenue_note")
	if err != nil {
		return err
	}
	m := book.Mark{Kind: book.Kind(f.given("revenue_kind")), Note: f.given("revenue_note")}
	revenue := f.state("revenue")
	switch {
	case !slices.ContainsFunc(q.body.Members, func(m exactjson.Member) bool { return m.Key == "revenue" }):
		f.bad.Add("revenue", "is required", "là bắt buộc")
	case revenue != nil && !*revenue:
		m.Kind = cmp.Or(m.Kind, book.Other)
		book.CheckKind("revenue_kind", m.Kind, &f.bad)
	case m.Kind != "":
		f.bad.Add("revenue_kind", "must be given with revenue false only", "chỉ dùng khi revenue là false")
	case revenue != nil:
		m.Kind = book.Revenue
	case m.Note != "":
		f.bad.Add("revenue_note", "must not be given with revenue null", "không dùng khi revenue là null")
	}
	if err := f.bad.Err(); err != nil {
		return err
	}
	t, err = s.service.Books.SetMark(q.Context(), q.account(), t.ID, m)
	return q.ok(err, "The transaction was marked.", "Đã đánh dấu giao dịch.",
		member{"transaction", EncodeTransaction(t, s.zone)})
}

// readSinceID reads the id of the last transaction that a reader has; 0: it has none.
func readSinceID(field, text string, bad *app.Invalid) int64 {
	id, found := wire.ParseID(text)
	if !found && text != "0" {
		bad.Add(field, "must be a transaction id in decimal digits", "phải là id giao dịch dạng chữ số")
	}
	return id
}

// addTransaction records one transaction by hand: an object of the native format, which is read
// as strictly as the calls of native sources.
func (s *Server) addTransaction(q *Request) error {
	e := provider.ReadNativeElement(q.body, s.zone)
	if e.Fault != nil {
		return app.InvalidField(e.Fault.Field, e.Fault.Text.EN, e.Fault.Text.VI)
	}
	f := fields{body: q.body}
	e.NotRepeat = f.truth("not_a_repeat")
	if err := f.bad.Err(); err != nil {
		return err
	}
	key, err := q.idempotencyKey()
	if err != nil {
		return err
	}
	t, outcome, err := s.service.Inbound.RecordByHand(q.Context(), q.account(), inbound.TransactionCreate{
		Incoming: e, Body: q.raw, Key: key,
	}, q.now)
	status, message := http.StatusCreated, app.Text{EN: "The transaction was recorded.", VI: "Đã ghi nhận giao dịch."}.And(t.DateFlaw.Notice())
	if outcome == inbound.OutcomeDuplicate {
		status, message = http.StatusOK, app.Text{EN: "The transaction was recorded before.", VI: "Giao dịch đã được ghi nhận trước đó."}
	}
	return q.answer(err, status, message.EN, message.VI, member{"transaction", EncodeTransaction(t, s.zone)})
}
