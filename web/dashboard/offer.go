package dashboard

import (
	"fmt"
	"slices"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/payment"
)

// The till offers money without a code below each open bill that asks for the same amount.
// The rules are payment.Offer and payment.Take.

// billRow is a bill in the list of a till.
type billRow struct {
	payment.Request
	Offers []payment.Offer
}

// offers finds the offers for bills and for the bill that the page shows.
func (s *Server) offers(v *visit, bills []payment.Request, shown *payment.Request, now time.Time) (map[int64][]payment.Offer, error) {
	if shown != nil && !slices.ContainsFunc(bills, func(r payment.Request) bool { return r.ID == shown.ID }) {
		bills = append(bills[:len(bills):len(bills)], *shown)
	}
	return s.Services.Payments.Offers(v.Context(), v.account.ID, bills, now)
}

func billRows(bills []payment.Request, offers map[int64][]payment.Offer) []billRow {
	rows := make([]billRow, len(bills))
	for i, r := range bills {
		rows[i] = billRow{r, offers[r.ID]}
	}
	return rows
}

// HasOffers reports whether a bill of a list has offers.
func (w words) HasOffers(rows []billRow) bool {
	for _, row := range rows {
		if len(row.Offers) > 0 {
			return true
		}
	}
	return false
}

// OfferSaid says which money came, and asks for which bill it is.
func (w words) OfferSaid(o payment.Offer) string {
	came := w.T(" came just now, without a code: ", " vừa vào, không có mã: ")
	if o.Doubt {
		came = w.T(" came just now, without the code of this bill: ", " vừa vào, không có mã của đơn này: ")
	}
	text := w.Money(o.Amount) + came + app.Isolated(w.Said(o.Transaction)) + ". "
	if o.Doubt {
		text += w.T("Its content may name another order.", "Nội dung có thể ghi đơn khác.")
	} else {
		text += w.T("This customer’s?", "Của khách này?")
	}
	if o.Another {
		text += " " + w.T("Another bill asks for the same amount.", "Còn đơn khác cùng số tiền.")
	}
	return text
}

// offersState writes the state of offers that a screen shows, to compare.
func offersState(offers []payment.Offer) (state string) {
	for _, o := range offers {
		state += fmt.Sprint(" ", o.ID, o.Another, o.Doubt, o.Asked)
	}
	return state
}

// offered reads the transaction of the form, which is taken for a bill.
func (v *visit) offered(r *payment.Request) (payment.Take, error) {
	id, err := v.formTransaction()
	return payment.Take{RequestID: r.ID, TransactionID: id, ByOwner: v.may(ownerOnly), Key: v.form.key}, err
}

// takeMoney matches money without a code with a bill, with one tap.
func (s *Server) takeMoney(v *visit, r *payment.Request) error {
	take, err := v.offered(r)
	if err == nil {
		_, err = s.Services.Payments.TakeTransaction(v.Context(), v.account.ID, take, v.now)
	}
	return s.done(v, err, billPath(r.ID), app.Text{})
}

// askOwner asks the owners to match money without a code with a bill.
func (s *Server) askOwner(v *visit, r *payment.Request) error {
	ask, err := v.offered(r)
	if err == nil {
		err = s.Services.Payments.AskToMatch(v.Context(), v.account.ID, ask, v.now)
	}
	return s.done(v, err, billPath(r.ID), app.Text{})
}

// showOffers completes a bill with the offers for it.
func (s *Server) showOffers(v *visit, b *billData, offers []payment.Offer) (err error) {
	b.Offers, b.MayTake = offers, v.account.CashiersMatch || v.may(ownerOnly)
	for _, o := range offers {
		if o.Asked && !b.Reached {
			b.Reached, err = s.Services.Alerts.Reaches(v.Context(), v.account.ID, alert.AttentionMatch)
		}
	}
	if err != nil || b.Received == 0 {
		return err
	}
	transfers, err := s.Services.Payments.PaymentTransfers(v.Context(), v.account.ID, b.ID, app.MaxPageSize)
	for _, t := range transfers {
		if t.MatchedBy != "" {
			b.MatchedBy = t.MatchedBy
		}
	}
	return err
}
