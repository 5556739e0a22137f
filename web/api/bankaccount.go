package api

import (
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
	"baoco/app/vietqr"
	"baoco/web/wire"
)

// BankAccountJSON is the schema BankAccount of openapi.yaml.
type BankAccountJSON struct {
	ID            int64                 `json:"id"`
	Bank          string                `json:"bank"`
	AccountNumber string                `json:"account_number"`
	AccountName   string                `json:"account_name"`
	Status        app.BankAccountStatus `json:"status"`
	CreatedAt     string                `json:"created_at"`

	ReceivingNumbers []app.ReceivingNumber `json:"receiving_numbers,omitempty"`
	ContentPrefix    string                `json:"content_prefix,omitempty"`
}

// EncodeBankAccount writes b with its times in zone.
func EncodeBankAccount(b app.BankAccount, zone *time.Location) BankAccountJSON {
	return BankAccountJSON{b.ID, b.Bank, b.AccountNumber, b.AccountName, b.Status, app.FormatTime(b.CreatedAt, zone),
		b.Receiving(), b.ContentPrefix}
}

func (s *Server) listBankAccounts(q *Request) error {
	return listed(q, s.service.Ledger.BankAccounts, func(b app.BankAccount) BankAccountJSON { return EncodeBankAccount(b, s.zone) },
		"bank_accounts", app.Text{EN: "Bank accounts.", VI: "Danh sách tài khoản ngân hàng."})
}

// linkBankAccount links a bank account, and records the items that waited for it.
func (s *Server) linkBankAccount(q *Request) error {
	f, err := q.fields("bank", "account_number", "account_name", "pending", "notify", "receiving_numbers", "content_prefix")
	if err != nil {
		return err
	}
	in := inbound.BankAccountLink{Bank: f.required("bank"), AccountNumber: f.required("account_number"),
		AccountName: f.required("account_name"), Pending: f.truth("pending")}
	in.Notify = inbound.ReadNotifyOnLink(f.given("notify"), &f.bad)
	in.BankAccountReceiving = f.receiving(app.BankAccountReceiving{})
	in.Key, err = q.idempotencyKey()
	f.bad.Merge(err)
	if err := f.bad.Err(); err != nil {
		return err
	}
	r, err := s.service.Inbound.LinkBankAccount(q.Context(), q.account(), in, q.now)
	if r.Before {
		return q.ok(err, "The bank account was linked before.", "Tài khoản ngân hàng đã được liên kết trước đó.",
			member{"bank_account", EncodeBankAccount(r.BankAccount, s.zone)})
	}
	return q.answer(err, http.StatusCreated, "Bank account linked.", "Đã liên kết tài khoản ngân hàng.",
		member{"bank_account", EncodeBankAccount(r.BankAccount, s.zone)}, member{"waiting_recorded", r.Recorded},
		member{"more", r.More}, member{"deliveries", r.Deliveries})
}

// receiving reads the receiving numbers and the content prefix of a bank account. A field that
// isn't given keeps its value in r.
func (f *fields) receiving(r app.BankAccountReceiving) app.BankAccountReceiving {
	if prefix := f.optional("content_prefix"); prefix != nil {
		r.ContentPrefix = *prefix
	}
	list := f.body.Get("receiving_numbers")
	if list.Kind == exactjson.Null {
		return r
	}
	r.ReceivingNumbers = ""
	bad := list.Kind != exactjson.Array
	for _, item := range list.Items {
		n := app.ReceivingNumber{Number: item.Get("number").Str(), Name: item.Get("name").Str()}
		r.ReceivingNumbers += n.String() + "\n"
		bad = bad || n.Number == ""
	}
	if bad {
		f.bad.Add("receiving_numbers", "must be a list of objects with number and name", "phải là danh sách đối tượng có number và name")
	}
	return r
}

// updateBankAccount changes the holder's name, the receiving numbers and the content prefix.
func (s *Server) updateBankAccount(q *Request) error {
	b, f, err := found(q, s.service.Ledger.BankAccount, "account_name", "receiving_numbers", "content_prefix")
	if err != nil {
		return err
	}
	name := f.optional("account_name")
	if name != nil {
		_, err := app.CleanName("account_name", *name)
		f.bad.Merge(err)
	}
	b.BankAccountReceiving = f.receiving(b.BankAccountReceiving)
	if len(q.body.Members) == 0 {
		f.bad.Add("body", "must have at least one of account_name, receiving_numbers and content_prefix",
			"phải có ít nhất một trong account_name, receiving_numbers và content_prefix")
	}
	if err := f.bad.Err(); err != nil {
		return err
	}
	b, err = s.service.Ledger.SetBankAccountReceiving(q.Context(), q.account(), b.ID, b.BankAccountReceiving)
	if err == nil && name != nil {
		b, err = s.service.Ledger.SetAccountName(q.Context(), q.account(), b.ID, *name)
	}
	return q.ok(err, "The bank account was updated.", "Đã cập nhật tài khoản ngân hàng.",
		member{"bank_account", EncodeBankAccount(b, s.zone)})
}

func (s *Server) unlinkBankAccount(q *Request) error {
	return q.ok(s.service.Ledger.UnlinkBankAccount(q.Context(), q.account(), q.pathID(), q.now),
		"The bank account was unlinked; its transactions stay.",
		"Đã huỷ liên kết tài khoản ngân hàng; các giao dịch vẫn được giữ.")
}

func (s *Server) showBankAccount(q *Request) error {
	b, err := s.service.Ledger.BankAccount(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The bank account.", "Tài khoản ngân hàng.",
		member{"bank_account", EncodeBankAccount(b, s.zone)})
}

func (s *Server) bankAccountQR(q *Request) error {
	b, err := s.service.Ledger.BankAccount(q.Context(), q.account(), q.pathID())
	if err != nil {
		return err
	}
	p := wire.ParamsOf(q.Request, s.zone)
	amount := p.Amount("amount")
	to, err := b.PayTo(p.Values.Get("receiving_number"))
	p.Bad.Merge(err)
	transfer, text, err := b.Transfer(amount, p.Values.Get("content"), to)
	p.Bad.Merge(err)
	if err := p.Bad.Err(); err != nil {
		return err
	}
	return q.qr(member{"bank_account_id", b.ID}, transfer, text)
}

// qr answers with the VietQR code of a transfer; of is the thing that the transfer is for.
func (q *Request) qr(of member, transfer vietqr.Transfer, text string) error {
	code, err := vietqr.Code(text)
	return q.ok(err, "The VietQR code.", "Mã VietQR.", of, member{"amount", OrNull(transfer.Amount)},
		member{"content", transfer.Content}, member{"qr", text}, member{"svg", vietqr.SVG(code)}, member{"png", code.PNG()})
}

func (s *Server) bankAccountSummary(q *Request) error {
	page, err := listPage(q)
	if err != nil {
		return err
	}
	list, err := s.service.Ledger.BankAccountSummaries(q.Context(), q.account(), q.now)
	list, pages := paged(list, page)
	type bank struct {
		ID                    int64                 `json:"id"`
		AccountNumber         string                `json:"account_number"`
		Bank                  string                `json:"bank"`
		AccountName           string                `json:"account_name"`
		Status                app.BankAccountStatus `json:"status"`
		TransactionCount      int64                 `json:"transaction_count"`
		TotalAmount           int64                 `json:"total_amount"`
		TodayTransactionCount int64                 `json:"today_transaction_count"`
		TodayTotalAmount      int64                 `json:"today_total_amount"`
		WeekTransactionCount  int64                 `json:"week_transaction_count"`
		WeekTotalAmount       int64                 `json:"week_total_amount"`
		MonthTransactionCount int64                 `json:"month_transaction_count"`
		MonthTotalAmount      int64                 `json:"month_total_amount"`
	}
	banks := All(list, func(b app.BankAccountSummary) bank {
		today, week, month := b.Today.Both(), b.Week.Both(), b.Month.Both()
		return bank{b.ID, b.AccountNumber, b.Bank, b.AccountName, b.Status, b.All.Count, b.All.Total, today.Count, today.Total,
			week.Count, week.Total, month.Count, month.Total}
	})
	return q.ok(err, "Summary of the bank accounts.", "Tổng hợp theo tài khoản ngân hàng.", member{"banks", banks},
		member{"pagination", pages})
}

func (s *Server) toggleBankAccount(q *Request) error {
	b, err := s.service.Ledger.ToggleBankAccount(q.Context(), q.account(), q.pathID(), q.now)
	message := app.Text{EN: "The bank account was activated.", VI: "Đã kích hoạt tài khoản ngân hàng."}
	if b.Status == app.BankAccountInactive {
		message = app.Text{EN: "The bank account was deactivated; its transactions are recorded but not notified.",
			VI: "Đã tắt tài khoản ngân hàng; giao dịch vẫn được ghi nhận nhưng cửa hàng không được báo."}
	}
	return q.ok(err, message.EN, message.VI, member{"bank_account", EncodeBankAccount(b, s.zone)})
}
