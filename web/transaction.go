package web

import (
	"net/http"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/provider"
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
}

// EncodeTransaction writes t with its times in zone.
func EncodeTransaction(t app.Transaction, zone *time.Location) TransactionJSON {
	return TransactionJSON{
		strconv.FormatInt(t.ID, 10), t.BankAccountID, t.Bank, t.AccountNumber, t.Number, t.Type, t.Amount, t.Content,
		app.FormatTime(t.Time, zone), t.DateFlaw != "", app.FormatTime(t.CreatedAt, zone),
	}
}

func (s *apiServer) listTransactions(w http.ResponseWriter, q *query) error {
	p := paramsOf(q.Request, s.service.Zone())
	f := app.TransactionFilter{
		BankAccountID: p.id("bank_account_id"), Type: p.direction(), From: p.bound("from", false), To: p.bound("to", true),
		MinAmount: p.amount("min_amount"), MaxAmount: p.amount("max_amount"), Query: p.query(), Page: p.page(),
		Sort: app.TransactionSort(p.values.Get("sort")),
	}
	f.DeliveryState = readDeliveryState(p.values.Get("delivery_state"), &p.bad)
	switch f.Sort {
	case "", app.SortID, app.SortIDDesc, app.SortDate, app.SortDateDesc:
	default:
		p.bad.Add("sort", "must be -id, id, -date or date", "phải là -id, id, -date hoặc date")
	}
	if since := p.values.Get("since_id"); since != "" {
		id, found := parseID(since)
		if !found && since != "0" {
			p.bad.Add("since_id", "must be a transaction id in decimal digits", "phải là id giao dịch dạng chữ số")
		}
		if f.Sort != "" && f.Sort != app.SortID {
			p.bad.Add("sort", "must be id together with since_id", "phải là id khi dùng since_id")
		}
		f.SinceID = &id
	}
	if err := p.bad.Err(); err != nil {
		return err
	}
	page, err := s.service.Transactions(q.Context(), q.account(), f)
	if err != nil {
		return err
	}
	encoded := make([]TransactionJSON, len(page.Rows))
	for i, t := range page.Rows {
		encoded[i] = EncodeTransaction(t, s.service.Zone())
	}
	writeJSON(w, http.StatusOK, struct {
		envelope
		Transactions []TransactionJSON `json:"transactions"`
		Pagination   pagination        `json:"pagination"`
	}{ok(q.Request, "Transactions.", "Danh sách giao dịch."), encoded, paginate(f.Page, page.Total)})
	return nil
}

// addTransaction records one transaction by hand: an object of the native
// format, read as strictly as the calls of native sources.
func (s *apiServer) addTransaction(w http.ResponseWriter, q *query) error {
	e := provider.ReadNativeElement(q.body, s.service.Zone())
	if e.Fault != nil {
		return app.InvalidField(e.Fault.Field, e.Fault.Text.EN, e.Fault.Text.VI)
	}
	key, err := q.idempotencyKey()
	if err != nil {
		return err
	}
	t, outcome, err := s.service.RecordByHand(q.Context(), q.account(), e, q.raw, key, q.now)
	if err != nil {
		return err
	}
	status, message := http.StatusCreated, app.Text{EN: "The transaction was recorded.", VI: "Đã ghi nhận giao dịch."}.And(t.DateFlaw.Notice())
	if outcome == app.OutcomeDuplicate {
		status, message = http.StatusOK, app.Text{EN: "The transaction was recorded before.", VI: "Giao dịch đã được ghi nhận trước đó."}
	}
	writeJSON(w, status, struct {
		envelope
		Transaction TransactionJSON `json:"transaction"`
	}{ok(q.Request, message.EN, message.VI), EncodeTransaction(t, s.service.Zone())})
	return nil
}
