package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/payment"
	"baoco/web/wire"
)

// PaymentRequestJSON is the schema PaymentRequest of openapi.yaml.
type PaymentRequestJSON struct {
	ID             int64             `json:"id"`
	Status         app.PaymentStatus `json:"status"`
	Reference      string            `json:"reference"`
	Code           string            `json:"code"`
	Amount         int64             `json:"amount"`
	TransferAmount int64             `json:"transfer_amount"`
	Received       int64             `json:"received"`
	Rest           int64             `json:"rest"`
	Overpaid       int64             `json:"overpaid,omitempty"`
	Transfers      int               `json:"transfers"`
	BankAccountID  int64             `json:"bank_account_id"`
	Bank           string            `json:"bank"`
	AccountNumber  string            `json:"account_number"`
	AccountName    string            `json:"account_name"`
	PayTo          string            `json:"receiving_number,omitempty"` // missing: account_number
	Content        string            `json:"content,omitempty"`          // missing: code
	URLPath        string            `json:"url_path"`                   // of its page
	ReturnURL      *string           `json:"return_url"`
	CreatedAt      string            `json:"created_at"`
	ExpiresAt      *string           `json:"expires_at"`
	PaidAt         *string           `json:"paid_at"`
	CancelledAt    *string           `json:"cancelled_at"`
}

// EncodePaymentRequest writes r with its status at now and its times in zone.
func EncodePaymentRequest(r payment.Request, zone *time.Location, now time.Time) PaymentRequestJSON {
	payTo, content := r.AccountNumber(), ""
	if payTo == r.BankAccount.AccountNumber {
		payTo = ""
	}
	if r.BankAccount.ContentPrefix != "" {
		content = r.BankAccount.Content(r.Code)
	}
	return PaymentRequestJSON{
		r.ID, r.Status(now), r.Reference, r.Code, r.Amount, r.TransferAmount, r.Received, r.Rest(), r.Overpaid(), r.Transfers,
		r.BankAccount.ID, r.BankAccount.Bank, r.BankAccount.AccountNumber, r.BankAccount.AccountName,
		payTo, content,
		r.URLPath(), OrNull(r.ReturnURL), app.FormatTime(r.CreatedAt, zone), TimeOrNull(r.ExpiresAt, zone), TimeOrNull(r.PaidAt, zone),
		TimeOrNull(r.CancelledAt, zone),
	}
}

// PaymentTransferJSON is a transaction of a payment request.
type PaymentTransferJSON struct {
	TransactionJSON
	MatchedBy payment.Match `json:"matched_by"`
	Late      bool          `json:"late"`
	MatchedAt string        `json:"matched_at"`
}

// EncodePaymentTransfer writes t with its times in zone.
func EncodePaymentTransfer(t payment.Transfer, zone *time.Location) PaymentTransferJSON {
	return PaymentTransferJSON{EncodeTransaction(t.Transaction, zone), t.FoundBy, t.Late, app.FormatTime(t.MatchedAt, zone)}
}

func (s *Server) listPaymentRequests(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	f := payment.Filter{
		Status: app.PaymentStatus(p.Values.Get("status")), BankAccountID: p.ID("bank_account_id"), Reference: p.Values.Get("reference"),
		Code: app.ReadCodeFilter("code", p.Values.Get("code"), &p.Bad), From: p.Bound("from", false), To: p.Bound("to", true), Page: p.Page(),
	}
	if f.Status != "" && !slices.Contains(app.PaymentStatuses, f.Status) {
		p.Bad.Add("status", "must be open, underpaid, paid, overpaid, paid_late, expired or cancelled",
			"phải là open, underpaid, paid, overpaid, paid_late, expired hoặc cancelled")
	}
	if err := p.Bad.Err(); err != nil {
		return err
	}
	page, err := s.service.Payments.PaymentRequests(q.Context(), q.account(), f, q.now)
	list := All(page.Rows, func(r payment.Request) PaymentRequestJSON { return EncodePaymentRequest(r, s.zone, q.now) })
	return q.ok(err, "Payment requests.", "Danh sách yêu cầu thanh toán.", member{"payment_requests", list},
		member{"amount", page.Due}, member{"received", page.Received}, member{"pagination", paginate(f.Page, page.Total)})
}

// UnmatchedJSON is money in without a payment request.
type UnmatchedJSON struct {
	TransactionJSON
	Likely []PaymentRequestJSON `json:"likely"` // requests that it may be for, the likeliest first
}

// EncodeUnmatched writes t with the status of its requests at now and its times in zone.
func EncodeUnmatched(t payment.UnmatchedTransaction, zone *time.Location, now time.Time) UnmatchedJSON {
	likely := All(t.Likely, func(r payment.Request) PaymentRequestJSON { return EncodePaymentRequest(r, zone, now) })
	return UnmatchedJSON{EncodeTransaction(t.Transaction, zone), likely}
}

func (s *Server) listUnmatched(q *Request) error {
	p := wire.ParamsOf(q.Request, s.zone)
	f := payment.UnmatchedFilter{Page: p.Page()}
	if aside := p.Truth("put_aside"); aside != nil {
		f.Aside = *aside
	}
	if err := p.Bad.Err(); err != nil {
		return err
	}
	rows, total, err := s.service.Payments.UnmatchedTransactions(q.Context(), q.account(), f, q.now)
	list := All(rows, func(t payment.UnmatchedTransaction) UnmatchedJSON { return EncodeUnmatched(t, s.zone, q.now) })
	return q.ok(err, "Money in without a payment request.", "Tiền vào chưa ghép với yêu cầu thanh toán nào.",
		member{"transactions", list}, member{"pagination", paginate(f.Page, total)})
}

func (s *Server) putAside(q *Request) error {
	t, f, err := found(q, s.service.Ledger.Transaction, "put_aside")
	if err != nil {
		return err
	}
	aside := f.state("put_aside")
	if aside == nil {
		f.bad.Add("put_aside", "is required", "là bắt buộc")
		return f.bad.Err()
	}
	err = s.service.Payments.PutAside(q.Context(), q.account(), t.ID, *aside)
	return q.ok(err, "Saved.", "Đã lưu.", member{"transaction_id", strconv.FormatInt(t.ID, 10)}, member{"put_aside", *aside})
}

func (s *Server) createPaymentRequest(q *Request) error {
	f, err := q.fields("amount", "bank_account_id", "reference", "code", "prefix", "expires_in", "return_url", "distinct_amount",
		"receiving_number")
	if err != nil {
		return err
	}
	in := payment.RequestCreate{
		Amount: f.amount("amount"), BankAccountID: f.reference("bank_account_id"), Reference: f.given("reference"), Code: f.given("code"),
		Prefix: f.given("prefix"), ReceivingNumber: f.given("receiving_number"),
		ReturnURL: f.given("return_url"), DistinctAmount: f.truth("distinct_amount"),
	}
	most := int(payment.MaxExpiry / time.Minute)
	in.ExpiresIn = time.Minute * time.Duration(f.whole("expires_in", 0, 1, most, app.Text{
		EN: "must be a whole number of minutes from 1 to 525600", VI: "phải là số phút nguyên từ 1 đến 525600",
	}))
	f.bad.Merge(payment.CheckRequest(in))
	if err := f.bad.Err(); err != nil {
		return err
	}
	key, err := q.idempotencyKey()
	if err != nil {
		return err
	}
	r, err := s.service.Payments.CreatePaymentRequest(q.Context(), q.account(), in, key, q.now)
	return q.answer(err, http.StatusCreated, "The payment request was created.", "Đã tạo yêu cầu thanh toán.",
		member{"payment_request", EncodePaymentRequest(r, s.zone, q.now)})
}

// amount reads an amount in VND, a number or a text as programs write it; 0: it is missing or
// wrong.
func (f *fields) amount(name string) int64 {
	v := f.body.Get(name)
	read, rule := app.ParseAmount, app.AmountRule
	if v.Kind == exactjson.String {
		read = app.ParseAmountText
	}
	n, err := read(v.Text)
	if v.Kind != exactjson.Number && v.Kind != exactjson.String || err != nil || n < 1 {
		if v.Kind == exactjson.String {
			rule = app.AmountFault(err)
		}
		f.bad.Add(name, rule.EN, rule.VI)
		return 0
	}
	return n
}

func (s *Server) showPaymentRequest(q *Request) error {
	r, err := s.service.Payments.PaymentRequest(q.Context(), q.account(), q.pathID())
	if err != nil {
		return err
	}
	transfers, err := s.service.Payments.PaymentTransfers(q.Context(), q.account(), r.ID, app.MaxPageSize)
	list := All(transfers, func(t payment.Transfer) PaymentTransferJSON { return EncodePaymentTransfer(t, s.zone) })
	return q.ok(err, "The payment request.", "Yêu cầu thanh toán.",
		member{"payment_request", EncodePaymentRequest(r, s.zone, q.now)}, member{"transactions", list})
}

func (s *Server) paymentRequestQR(q *Request) error {
	r, err := s.service.Payments.PaymentRequest(q.Context(), q.account(), q.pathID())
	if err != nil {
		return err
	}
	if !r.Payable(q.now) {
		return payment.ErrEnded
	}
	transfer, text, err := r.Transfer()
	if err != nil {
		return err
	}
	return q.qr(member{"payment_request_id", r.ID}, transfer, text)
}

func (s *Server) cancelPaymentRequest(q *Request) error {
	r, err := s.service.Payments.CancelPaymentRequest(q.Context(), q.account(), q.pathID(), q.now)
	return q.ok(err, "The payment request was cancelled.", "Đã huỷ yêu cầu thanh toán.",
		member{"payment_request", EncodePaymentRequest(r, s.zone, q.now)})
}

func (s *Server) matchTransaction(q *Request) error {
	id, transaction, err := s.match(q)
	if err != nil {
		return err
	}
	r, err := s.service.Payments.MatchTransaction(q.Context(), q.account(), id, transaction, q.now)
	return q.ok(err, "The transaction was matched with the payment request.", "Đã ghép giao dịch với yêu cầu thanh toán.",
		member{"payment_request", EncodePaymentRequest(r, s.zone, q.now)})
}

func (s *Server) unmatchTransaction(q *Request) error {
	id, transaction, err := s.match(q)
	if err != nil {
		return err
	}
	r, err := s.service.Payments.UnmatchTransaction(q.Context(), q.account(), id, transaction)
	return q.ok(err, "The transaction is no longer matched with the payment request.",
		"Đã bỏ ghép giao dịch với yêu cầu thanh toán.", member{"payment_request", EncodePaymentRequest(r, s.zone, q.now)})
}

func (s *Server) match(q *Request) (id, transaction int64, err error) {
	r, f, err := found(q, s.service.Payments.PaymentRequest, "transaction_id")
	if err != nil {
		return 0, 0, err
	}
	if text := f.required("transaction_id"); text != "" {
		var found bool
		if transaction, found = wire.ParseID(text); !found {
			f.bad.Add("transaction_id", app.UnknownReference.EN, app.UnknownReference.VI)
		}
	}
	return r.ID, transaction, f.bad.Err()
}
