package dashboard

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/payment"
	"baoco/app/target"
	"baoco/web/wire"
)

func paymentPath(id int64) string { return "/payments/" + strconv.FormatInt(id, 10) }

type paymentsData struct {
	filters
	Pages      pages
	Statuses   []app.PaymentStatus
	Rows       []payment.Request
	Total      int64
	Sums       payment.Page
	Unmatched  int64 // how many transactions without a request wait for a person
	NoPatterns bool  // codes can't be made
}

func (s *Server) paymentsPage(v *visit) error {
	data := paymentsData{Statuses: app.PaymentStatuses, filters: v.filtersOf("/payments", paymentFilters, v.paymentWord)}
	f, err := paymentFilter(data.Form, v)
	if err == nil {
		err = s.fillPayments(v, f, &data)
	}
	return s.render(v, err, pageHead{"payments", "payments", app.Text{EN: "Payment requests", VI: "Yêu cầu thanh toán"}}, data)
}

func (s *Server) fillPayments(v *visit, f payment.Filter, data *paymentsData) error {
	page, err := s.Services.Payments.PaymentRequests(v.Context(), v.account.ID, f, v.now)
	if err != nil {
		return err
	}
	for i, r := range page.Rows {
		if page.Rows[i], err = s.visibleRequest(v, r); err != nil {
			return err
		}
	}
	data.Rows, data.Total, data.Sums = page.Rows, page.Total, page
	data.Pages = pagesOf(f.Page, page.Total, data.Form, data.Path)
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data.NoPatterns = len(patterns) == 0
	waiting, err := s.Services.Payments.WaitingForPerson(v.Context(), v.account.ID, v.now)
	data.Unmatched = int64(len(waiting))
	return err
}

func paymentFilter(form url.Values, v *visit) (payment.Filter, error) {
	var bad app.Invalid
	f := payment.Filter{Status: app.PaymentStatus(form.Get("status")), Reference: form.Get("reference"),
		Code: app.ReadCodeFilter("payment_code", form.Get("payment_code"), &bad), Page: pageOf(v)}
	if f.Status != "" && !slices.Contains(app.PaymentStatuses, f.Status) {
		bad.Add("status", "must be one of the values in the list", "phải là một mục trong danh sách")
	}
	return f, bad.Err()
}

// paymentWord writes a value of the filter for people.
func (w words) paymentWord(name, value string) string {
	if name == "status" {
		return app.PaymentStatus(value).Name().In(w.Lang)
	}
	return ""
}

// PaymentClass is the CSS class of a status.
func (w words) PaymentClass(s app.PaymentStatus) string {
	switch s {
	case app.PaymentPaid:
		return "active"
	case app.PaymentUnderpaid, app.PaymentOverpaid, app.PaymentPaidLate:
		return "pending"
	}
	return ""
}

func (w words) StatusOf(r payment.Request) app.PaymentStatus { return r.Status(w.now) }

type paymentForm struct {
	Amount, BankAccountID, Reference, Code, Expires, ReturnURL string
	ReceivingNumber                                            string
	Numbers                                                    []app.ReceivingNumber
	Distinct                                                   bool
	Banks                                                      []app.BankAccount
	DistinctAllowed                                            bool
	NoCodes                                                    bool // there is no pattern by which a code can be made
}

// expiries are the times for which a request may be payable, in minutes; 0: it doesn't expire.
var expiries = []int{15, 60, 24 * 60, 7 * 24 * 60, 0}

func (f paymentForm) Expiries() []int { return expiries }

func (w words) ExpiryName(minutes int) string {
	switch {
	case minutes == 0:
		return w.T("no expiry", "không hết hạn")
	case minutes < 60:
		return w.Count(int64(minutes), "minute", "minutes", "phút")
	case minutes < 24*60:
		return w.Count(int64(minutes/60), "hour", "hours", "giờ")
	}
	return w.Count(int64(minutes/60/24), "day", "days", "ngày")
}

func (s *Server) showNewPayment(v *visit, form paymentForm, wrong error) (err error) {
	if form.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	form.Banks = slices.DeleteFunc(form.Banks, func(b app.BankAccount) bool { return b.Status == app.BankAccountInactive })
	form.Numbers = receivingNumbers(form.Banks)
	form.DistinctAllowed = v.account.DistinctAmounts
	prefixes, err := s.codePrefixes(v)
	if err != nil {
		return err
	}
	form.NoCodes = len(prefixes) == 0
	title := app.Text{EN: "Create a payment request", VI: "Tạo yêu cầu thanh toán"}
	return s.render(v, wrong, pageHead{"payment_new", "payments", title}, form)
}

func (s *Server) createPayment(v *visit) error {
	form := paymentForm{
		Amount: v.PostFormValue("amount"), BankAccountID: v.PostFormValue("bank_account_id"), Reference: v.PostFormValue("reference"),
		Code: v.PostFormValue("code"), Expires: v.PostFormValue("expires_in"), ReturnURL: v.PostFormValue("return_url"),
		Distinct: v.PostFormValue("distinct_amount") == "1", ReceivingNumber: v.PostFormValue("receiving_number"),
	}
	in := payment.RequestCreate{Reference: form.Reference, Code: form.Code, ReturnURL: form.ReturnURL, DistinctAmount: form.Distinct,
		ReceivingNumber: form.ReceivingNumber}
	var bad app.Invalid
	in.Amount = app.ReadShortAmountBound("amount", form.Amount, false, &bad)
	in.BankAccountID = readBankAccountID(form.BankAccountID, &bad)
	if minutes, err := strconv.Atoi(form.Expires); err == nil && slices.Contains(expiries, minutes) {
		in.ExpiresIn = time.Duration(minutes) * time.Minute
	} else {
		bad.Add("expires_in", "must be one of the values in the list", "phải là một mục trong danh sách")
	}
	r, err := s.createRequest(v, in, bad.Err())
	if err != nil {
		return s.showNewPayment(v, form, err)
	}
	return s.redirect(v, paymentPath(r.ID), app.Text{EN: "The payment request was created.", VI: "Đã tạo yêu cầu thanh toán."})
}

type paymentData struct {
	payment.Request
	Status    app.PaymentStatus
	Payable   bool
	Page      givenAddress // for the payer
	Image     string       // address of its QR code
	Transfers []payment.Transfer
	Refunded  int64        // of the transfers
	Ask       confirmation // asks before the request is cancelled
}

func (s *Server) pagePayment(v *visit) (payment.Request, error) {
	return s.Services.Payments.PaymentRequest(v.Context(), v.account.ID, v.pathID())
}

// visibleRequest is a payment request without the money that came on bank accounts that are hidden
// from the visitor.
func (s *Server) visibleRequest(v *visit, r payment.Request) (payment.Request, error) {
	if !v.user.Limit.On {
		return r, nil
	}
	transfers, err := s.Services.Payments.PaymentTransfers(v.Context(), v.account.ID, r.ID, app.MaxPageSize)
	r.Received, r.Transfers = 0, len(transfers)
	for _, t := range transfers {
		r.Received += t.Amount
	}
	return r, err
}

func (s *Server) showPayment(v *visit, r payment.Request, refused error) error {
	r, err := s.visibleRequest(v, r)
	if err != nil {
		return err
	}
	data := paymentData{
		Request: r, Status: r.Status(v.now), Payable: r.Payable(v.now), Page: s.givenAddress(v, r.URLPath(), target.ReachInternet),
		Image: r.URLPath() + "/qr.png", Ask: s.paymentCancel(v, r),
	}
	if data.Transfers, err = s.Services.Payments.PaymentTransfers(v.Context(), v.account.ID, r.ID, app.MaxPageSize); err != nil {
		return err
	}
	refunds, err := s.Services.Payments.Refunds(v.Context(), v.account.ID, payment.RefundFilter{RequestID: r.ID})
	if err != nil {
		return err
	}
	data.Refunded = payment.Refunded(refunds)
	return s.render(v, refused, pageHead{"payment", "payments", app.Textf("Payment request %s", "Yêu cầu thanh toán %s", r.Code)}, data)
}

func (s *Server) paymentCancel(v *visit, r payment.Request) confirmation {
	return confirmation{
		Path: paymentPath(r.ID) + "/cancel", Back: paymentPath(r.ID), section: "payments",
		Title: v.T("Cancel the payment request ", "Huỷ yêu cầu thanh toán ") + r.Code + "?", Button: v.T("Cancel the request", "Huỷ yêu cầu"),
		Texts: []string{v.T("Its page tells the customer not to pay. Money that comes all the same is still matched with "+
			"it, and shown as too late.",
			"Trang thanh toán sẽ báo khách đừng chuyển tiền. Nếu tiền vẫn đến, baoco vẫn ghép vào yêu cầu này và ghi là muộn.")},
		do: func() error {
			_, err := s.Services.Payments.CancelPaymentRequest(v.Context(), v.account.ID, r.ID, v.now)
			return err
		},
		done: app.Text{EN: "The payment request was cancelled.", VI: "Đã huỷ yêu cầu thanh toán."},
	}
}

// formTransaction is the id of the transaction that the form names.
func (v *visit) formTransaction() (int64, error) {
	id, found := wire.ParseID(v.PostFormValue("transaction_id"))
	if !found {
		return 0, app.ErrUnknownReference("transaction_id")
	}
	return id, nil
}

func (s *Server) matchPayment(v *visit, r *payment.Request) error {
	transaction, err := v.formTransaction()
	if err == nil {
		_, err = s.Services.Payments.MatchTransaction(v.Context(), v.account.ID, r.ID, transaction, v.now)
	}
	return s.done(v, err, paymentPath(r.ID), app.Text{EN: "Transaction matched.", VI: "Đã ghép giao dịch."})
}

func (s *Server) unmatchPayment(v *visit, r *payment.Request) error {
	transaction, err := v.formTransaction()
	if err == nil {
		_, err = s.Services.Payments.UnmatchTransaction(v.Context(), v.account.ID, r.ID, transaction)
	}
	return s.done(v, err, paymentPath(r.ID), app.Text{EN: "Match undone.", VI: "Đã bỏ ghép."})
}

type paymentSettingsForm struct {
	Tolerance, Small         string
	Distinct, Match, Refused bool
}

// showPaymentsPart makes the part of the page of payment codes with these settings.
func (s *Server) showPaymentsPart(v *visit, page view, sent any) (template.HTML, error) {
	form, refused := sent.(paymentSettingsForm)
	if !refused {
		a := v.account
		form = paymentSettingsForm{strconv.FormatInt(a.PaymentTolerance, 10), strconv.FormatInt(a.SmallAmount, 10), a.DistinctAmounts,
			a.CashiersMatch, false}
	}
	return s.showPart(page, "payment-settings", form)
}

// setPaymentSettings changes the settings for new payment requests.
func (s *Server) setPaymentSettings(v *visit) error {
	form := paymentSettingsForm{v.PostFormValue("payment_tolerance"), v.PostFormValue("small_amount"),
		v.PostFormValue("distinct_amounts") == "1", v.PostFormValue("cashiers_match") == "1", true}
	var bad app.Invalid
	amount := func(field, text string) int64 {
		if strings.TrimSpace(text) == "" {
			bad.Add(field, "is required", "là bắt buộc")
		}
		return app.ReadShortAmountBound(field, text, true, &bad)
	}
	tolerance, small := amount("payment_tolerance", form.Tolerance), amount("small_amount", form.Small)
	err := bad.Err()
	if err == nil {
		_, err = s.Services.Ledger.UpdateAccount(v.Context(), v.account.ID,
			app.AccountUpdate{PaymentTolerance: &tolerance, DistinctAmounts: &form.Distinct, SmallAmount: &small,
				CashiersMatch: &form.Match})
	}
	if err != nil {
		return s.showCodes(v, "payments", form, err)
	}
	return s.redirect(v, "/settings/codes", app.Text{EN: "Saved.", VI: "Đã lưu."})
}
