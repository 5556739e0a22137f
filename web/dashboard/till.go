package dashboard

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/payment"
	"baoco/app/target"
	"baoco/app/vietqr"
	"baoco/web/wire"
)

// The till is on the cashier's phone: a keypad, the VietQR code of a bill, and the money for
// it. It is a counter screen that shows money for the bills of its cashier and money without
// a bill. The customer's screen shows the last bill on another device.

const tillPath = "/till"

func billPath(id int64) string { return tillPath + "/" + strconv.FormatInt(id, 10) }

// tillData is what a till shows besides the cards.
type tillData struct {
	Form  tillForm
	Banks []app.BankAccount // to choose from, if there are several
	Bill  *billData         // nil: the keypad
	Bills []billRow
	None  bool // codes can't be made

	MayBeRepeats int64 // open items that may repeat a recorded transaction
}

type tillForm struct{ Amount, BankAccountID string }

// Keys are the keys of the keypad, without the key that deletes.
func (v view) Keys() []string {
	return []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "000", "0"}
}

// billData is a bill on the till and on the customer's screen.
type billData struct {
	payment.Request
	Status  app.PaymentStatus
	Payable bool
	QR      template.HTML // an SVG

	// These are on the till only.
	Offers    []payment.Offer
	MayTake   bool   // the visitor may match an offer
	Reached   bool   // an alert about the cashier's question reaches the owners
	MatchedBy string // who matched money with the bill by hand last; empty: nobody
}

func (s *Server) billData(r payment.Request, now time.Time) (*billData, error) {
	b := &billData{Request: r, Status: r.Status(now), Payable: r.Payable(now)}
	if !b.Payable {
		return b, nil
	}
	_, text, err := r.Transfer()
	if err != nil {
		return nil, err
	}
	code, err := vietqr.Code(text)
	if err != nil {
		return nil, err
	}
	b.QR = template.HTML(vietqr.SVG(code))
	return b, nil
}

// billState writes the bill and the state that a screen shows, to compare.
func billState(r payment.Request, now time.Time) string {
	return strconv.FormatInt(r.ID, 10) + " " + r.Shown(now)
}

// billsShown is how many bills of the shift a till lists.
const billsShown = 10

func (s *Server) tillPage(v *visit) error { return s.showTill(v, nil, tillForm{}, nil) }

// bill finds a bill of the visitor, or any bill if the visitor is an owner.
func (s *Server) bill(v *visit, id int64) (payment.Request, error) {
	r, err := s.Services.Payments.PaymentRequest(v.Context(), v.account.ID, id)
	if err == nil && (r.ShiftID == 0 || r.CashierID != v.user.ID && !v.may(ownerOnly)) {
		err = payment.ErrNoRequest
	}
	if err != nil {
		return r, err
	}
	return s.visibleBill(v, r)
}

// visibleBill is a bill without the money above its amount that came on bank accounts and receiving numbers that
// are hidden from the visitor. Money up to the amount counts, or the customer would be asked to pay twice.
func (s *Server) visibleBill(v *visit, r payment.Request) (payment.Request, error) {
	visible, err := s.visibleRequest(v, r)
	if !r.PaidAt.IsZero() {
		r.Received = max(visible.Received, min(r.Received, r.TransferAmount))
	}
	return r, err
}

func (s *Server) pageBill(v *visit) (payment.Request, error) { return s.bill(v, v.pathID()) }

// showBill shows the bill. wrong is why an action on it was refused: then showBill reads it again.
func (s *Server) showBill(v *visit, r payment.Request, wrong error) error {
	if wrong != nil {
		if now, err := s.bill(v, r.ID); err == nil {
			r = now
		}
	}
	return s.showTill(v, &r, tillForm{}, wrong)
}

// showTill shows the keypad, or a bill. wrong is why a bill was refused.
func (s *Server) showTill(v *visit, bill *payment.Request, form tillForm, wrong error) (err error) {
	data := tillData{Form: form}
	if data.Banks, err = s.Services.Ledger.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	data.Banks = slices.DeleteFunc(data.Banks, func(b app.BankAccount) bool { return b.Status == app.BankAccountInactive })
	patterns, err := s.Services.Ledger.CodePatterns(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data.None = len(patterns) == 0
	bills, err := s.shiftBills(v, v.user.ID, v.now)
	if err != nil {
		return err
	}
	offers, err := s.offers(v, bills, bill, v.now)
	if err != nil {
		return err
	}
	data.Bills = billRows(bills, offers)
	open, err := s.Services.Inbound.OpenInbound(v.Context(), v.account.ID, alert.CountedUpTo)
	if err != nil {
		return err
	}
	data.MayBeRepeats = open.MayBeRepeats
	if form.BankAccountID == "" && len(data.Bills) > 0 { // take the bank account of the bill before
		data.Form.BankAccountID = strconv.FormatInt(data.Bills[0].BankAccount.ID, 10)
	}
	if bill != nil {
		if data.Bill, err = s.billData(*bill, v.now); err == nil {
			err = s.showOffers(v, data.Bill, offers[bill.ID])
		}
		if err != nil {
			return err
		}
	}
	return s.showScreen(v, payment.CounterLink{AccountID: v.account.ID, Name: v.user.Name}, tillPath, &data, wrong)
}

// shiftBills lists the newest bills of a cashier's open shift.
func (s *Server) shiftBills(v *visit, userID int64, now time.Time) ([]payment.Request, error) {
	shift, open, err := s.Services.Payments.OpenShift(v.Context(), v.account.ID, userID)
	if err != nil || !open {
		return nil, err
	}
	page, err := s.Services.Payments.PaymentRequests(v.Context(), v.account.ID,
		payment.Filter{ShiftID: shift.ID, Page: app.Page{Number: 1, Size: billsShown}}, now)
	for i := range page.Rows {
		if err == nil {
			page.Rows[i], err = s.visibleBill(v, page.Rows[i])
		}
	}
	return page.Rows, err
}

func (s *Server) createBill(v *visit) error {
	form := tillForm{v.PostFormValue("amount"), v.PostFormValue("bank_account_id")}
	in := payment.RequestCreate{ExpiresIn: payment.BillExpiry, CashierID: v.user.ID}
	var bad app.Invalid
	in.Amount = app.ReadShortAmountBound("amount", form.Amount, false, &bad)
	in.BankAccountID = readBankAccountID(form.BankAccountID, &bad)
	r, err := s.createRequest(v, in, bad.Err())
	if err != nil {
		return s.showTill(v, nil, form, err)
	}
	return s.redirect(v, billPath(r.ID), app.Text{})
}

// requestPace bounds the payment requests that a user makes by hand: each takes a code.
var requestPace = wire.Pace{Burst: 30, PerMinute: 30}

var errTooManyRequests = app.Refused(app.CodeRateLimited, app.Text{
	EN: "You have made 30 within a minute. Wait a few seconds, then try again.",
	VI: "Bạn đã tạo 30 yêu cầu trong một phút. Hãy đợi vài giây rồi thử lại.",
})

// createRequest makes a payment request that the visitor has typed. If the form has a fault,
// wrong, it makes nothing and returns wrong.
func (s *Server) createRequest(v *visit, in payment.RequestCreate, wrong error) (payment.Request, error) {
	if wrong != nil {
		return payment.Request{}, wrong
	}
	if _, _, may := s.requests.Take(v.user.ID, requestPace, v.now); !may {
		return payment.Request{}, errTooManyRequests
	}
	key := v.form.key
	key.Hash = sha256.Sum256(fmt.Appendf(nil, "%+v", in))
	r, err := s.Services.Payments.CreatePaymentRequest(v.Context(), v.account.ID, in, key, v.now)
	if errors.Is(err, app.ErrIdempotencyReused) {
		err = errOtherRequest
	}
	return r, err
}

// errOtherRequest refuses a form that was sent before with other fields: the request of then
// must not look like the request that is typed now.
var errOtherRequest = app.Conflict(
	"This form was sent before with something else, and a payment request was made of it. "+
		"Nothing was made now: send it again to make another.",
	"Biểu mẫu này đã được gửi trước đó với nội dung khác và đã tạo một yêu cầu thanh toán. "+
		"Lần này chưa tạo gì: hãy gửi lại để tạo yêu cầu mới.")

func (s *Server) cancelBill(v *visit, r *payment.Request) error {
	_, err := s.Services.Payments.CancelPaymentRequest(v.Context(), v.account.ID, r.ID, v.now)
	return s.done(v, err, tillPath, app.Text{})
}

// receiptData is the receipt of a bill, for a roll of paper of 58 mm.
type receiptData struct {
	payment.Request
	Status    app.PaymentStatus
	Transfers []payment.Transfer
	Cashier   string
	Check     string        // address of the page of the present state; empty: the customer can't reach it
	QR        template.HTML // of that address, an SVG
	Print     bool          // print the receipt when the page has loaded
	Again     bool          // the receipt was printed before
}

func (s *Server) receiptPage(v *visit, r payment.Request) error {
	return s.showReceipt(v, receiptData{Request: r})
}

// printReceipt shows the receipt, which is printed at once. Each print but the first says that it
// is a copy: with two originals somebody could get goods, or a refund, twice.
func (s *Server) printReceipt(v *visit, r payment.Request) error {
	again, err := s.Services.Payments.PrintReceipt(v.Context(), v.account.ID, r.ID)
	if err != nil {
		return err
	}
	return s.showReceipt(v, receiptData{Request: r, Print: true, Again: again})
}

func (s *Server) showReceipt(v *visit, data receiptData) (err error) {
	r := data.Request
	data.Status = r.Status(v.now)
	if check := s.givenAddress(v, r.URLPath(), target.ReachNetwork); !check.Blocked() {
		code, err := vietqr.Code(check.URL)
		if err != nil {
			return err
		}
		data.Check, data.QR = check.URL, template.HTML(vietqr.SVG(code))
	}
	if data.Transfers, err = s.Services.Payments.PaymentTransfers(v.Context(), v.account.ID, r.ID, app.MaxPageSize); err != nil {
		return err
	}
	shift, err := s.Services.Payments.Shift(v.Context(), v.account.ID, r.ShiftID)
	if err != nil {
		return err
	}
	data.Cashier = shift.UserName
	return s.writeSlip(v, "receipt", s.view(v, "till", app.Textf("Receipt %s", "Biên nhận %s", r.Code), data))
}

// liveTill streams the cards of the visitor's till, and the bill that it shows.
func (s *Server) liveTill(v *visit) error {
	till := &tillStream{userID: v.user.ID}
	if id, found := wire.ParseID(v.URL.Query().Get("bill")); found {
		if _, err := s.bill(v, id); err != nil {
			return err
		}
		till.billID = id
	}
	return s.sendCounter(v, ownCounter(v), till, eventStreamHolder{account: v.account.ID, user: v.user.ID},
		func() error { return s.stillAllowed(v) })
}

// tillStream is what the event stream of a till has besides that of a counter.
type tillStream struct {
	userID int64
	billID int64  // the bill that the page shows; 0: none
	sent   string // the state of the bill that was sent last
	list   string // the state of the shift's bills that was sent last
}

// tillShows reports whether a till shows a transaction: money for a bill of its cashier, or
// without a payment request.
func (s *Server) tillShows(v *visit, userID int64, t app.Transaction) (bool, error) {
	id := t.Payment().ID
	if id == 0 {
		return true, nil
	}
	r, err := s.Services.Payments.PaymentRequest(v.Context(), t.AccountID, id)
	if app.CodeOf(err) == app.CodeNotFound {
		return false, nil
	}
	return r.CashierID == userID, err
}

// sendBills sends the bills of the shift, and the bill of the page, if their states changed.
func (c *counterStream) sendBills() error {
	if c.till == nil {
		return nil
	}
	now := time.Now()
	bills, err := c.shiftBills(c.v, c.till.userID, now)
	if err != nil {
		return err
	}
	var shown *payment.Request
	if c.till.billID != 0 {
		r, err := c.bill(c.v, c.till.billID)
		if err != nil {
			return err
		}
		shown = &r
	}
	offers, err := c.offers(c.v, bills, shown, now)
	if err != nil {
		return err
	}
	state := ""
	for _, r := range bills {
		state += billState(r, now) + offersState(offers[r.ID]) + ";"
	}
	if state != c.till.list {
		list := partView[[]billRow]{c.view(c.v, "till", app.Text{}, nil), billRows(bills, offers)}
		list.words = c.v.at(now)
		if err := c.stream.part("bills", "bills", "", list); err != nil {
			return err
		}
		c.till.list = state
	}
	if shown == nil {
		return nil
	}
	if state = billState(*shown, now) + offersState(offers[shown.ID]); state == c.till.sent {
		return nil
	}
	page, err := c.billView(c.v, *shown, now)
	if err == nil {
		err = c.showOffers(c.v, page.Of, offers[shown.ID])
	}
	if err != nil {
		return err
	}
	if err = c.stream.part("bill", "bill", "", page); err == nil {
		c.till.sent = state
	}
	return err
}

func (s *Server) billView(v *visit, r payment.Request, now time.Time) (page partView[*billData], err error) {
	if page.Of, err = s.billData(r, now); err != nil {
		return page, err
	}
	page.view = s.view(v, "till", app.Text{}, nil)
	page.words = v.at(now)
	return page, nil
}

// displayPage is the customer's screen: the last bill of the cashier's shift.
func (s *Server) displayPage(v *visit) error {
	v.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	html, _, err := s.display(v, v.now)
	if err != nil {
		return err
	}
	return s.write(v, 200, "display", s.view(v, "till", app.Text{EN: "Customer’s screen", VI: "Màn hình cho khách"}, template.HTML(html)))
}

// paidShown is how long the customer's screen shows that a bill is paid.
const paidShown = time.Minute

// display makes the HTML of the customer's screen and its state, to compare.
func (s *Server) display(v *visit, now time.Time) (html, state string, err error) {
	bill, err := s.shiftBills(v, v.user.ID, now)
	if err != nil {
		return "", "", err
	}
	var b bytes.Buffer
	if len(bill) == 0 || !bill[0].Payable(now) && (bill[0].PaidAt.IsZero() || now.Sub(bill[0].PaidAt) > paidShown) {
		err := templates().ExecuteTemplate(&b, "display-none", s.view(v, "till", app.Text{}, nil))
		return b.String(), "none", err
	}
	page, err := s.billView(v, bill[0], now)
	if err == nil {
		err = templates().ExecuteTemplate(&b, "display-bill", page)
	}
	return b.String(), billState(bill[0], now), err
}

// liveDisplay streams the customer's screen.
func (s *Server) liveDisplay(v *visit) error {
	stream, err := s.openEventStream(v, eventStreamHolder{account: v.account.ID, user: v.user.ID}, func() error { return s.stillAllowed(v) })
	if err != nil {
		return err
	}
	defer stream.close()
	sent := ""
	for {
		_, _, changed := s.changes.State()
		html, state, err := s.display(v, time.Now())
		if err == nil && state != sent {
			if err := stream.Event("display", "", html); err != nil {
				return nil // the screen connects again
			}
			sent = state
		}
		most := liveBeat
		if err != nil { // the storage failed: without events the screen says that it has no connection
			most = storageRetry
		} else if err := stream.alive(); err != nil {
			return nil
		}
		if err := stream.wait(changed, most, func() error { return nil }); err != nil {
			return nil
		}
	}
}
