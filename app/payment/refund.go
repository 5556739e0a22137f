package payment

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/payer"
)

// A refund is money out that gives money in back, in whole or in part. RefundOffers finds the
// money in that money out may give back; a person confirms it, and the store links the two if
// MayRefund agrees. No refund is guessed. A refund doesn't change money in, the sums of days or
// payment requests.

// Deeds of the audit log.
const (
	DeedRefund     app.Deed = "transaction.refund"
	DeedRefundUndo app.Deed = "transaction.refund_undo"
)

// Refund is a refund that a person has confirmed.
type Refund struct {
	OutID, InID int64
	Amount      int64     // amount of the money out, in VND
	At          time.Time // time of the money out
}

// RefundFilter narrows a listing of refunds; zero values don't narrow.
type RefundFilter struct {
	OutID, InID, RequestID int64     // at most one is set; RequestID: refunds of the money that came for a payment request
	From, To               time.Time // time of the money out: from From on, before To
}

// MaxRefunds is how many refunds are read at most.
const MaxRefunds = 10_000

// refundable is how long after money in its refund is possible.
const refundable = 90 * 24 * time.Hour

// ErrNoRefund says that money out can't be a refund of this money in.
var ErrNoRefund error = app.Conflict(
	"This can’t be a refund of that: it must be money out within 90 days after the money in, of no more than is left of it.",
	"Không thể ghi là hoàn tiền: phải là tiền ra trong 90 ngày sau khoản tiền vào, và không lớn hơn phần chưa hoàn.")

// MayRefund returns ErrNoRefund if out can't be a refund of in. refunded is the sum of earlier refunds
// of in, in VND.
func MayRefund(out, in app.Transaction, refunded int64) error {
	day := time.Duration(0)
	if out.DateOnly || in.DateOnly {
		day = 24 * time.Hour
	}
	after := out.Time.Sub(in.Time)
	if out.Type != app.Out || in.Type != app.In || after < -day || after > refundable+day || refunded+out.Amount > in.Amount {
		return ErrNoRefund
	}
	return nil
}

// reference matches a part of a content that may be the number of another transaction.
var reference = regexp.MustCompile(`[A-Za-z]{0,6}[0-9]{6,20}`)

const maxReferences = 3

// RefundOffers returns the money in that out may give back, at most maxOffers: it has the same
// payment code, or its number is in the content of out, or it has the same amount and the name of
// its payer is in the content of out.
func (s *Service) RefundOffers(ctx context.Context, out app.Transaction) (offers []app.Transaction, err error) {
	if out.Type != app.Out {
		return nil, nil
	}
	content := app.Squeeze(out.Content)
	look := func(f app.TransactionFilter, fits func(in app.Transaction) bool) {
		f.Type, f.From, f.To, f.Page = app.In, out.Time.Add(-refundable), out.Time.Add(24*time.Hour), app.Page{Number: 1, Size: 20, CountTo: 20}
		page, lookErr := s.ledger.Transactions(ctx, out.AccountID, f)
		if err == nil {
			err = lookErr
		}
		for _, in := range page.Rows {
			offered := func(o app.Transaction) bool { return o.ID == in.ID }
			if err == nil && len(offers) < maxOffers && fits(in) && !slices.ContainsFunc(offers, offered) {
				err = s.offerRefund(ctx, out, in, &offers)
			}
		}
	}
	if out.Code.Text != "" {
		look(app.TransactionFilter{Code: out.Code.Text}, func(app.Transaction) bool { return true })
	}
	for _, number := range reference.FindAllString(out.Content, maxReferences) {
		look(app.TransactionFilter{Query: number}, func(in app.Transaction) bool { return strings.EqualFold(in.Number, number) })
	}
	look(app.TransactionFilter{MinAmount: out.Amount, MaxAmount: out.Amount}, func(in app.Transaction) bool {
		name := payer.Of(in).Name
		return name != "" && strings.Contains(content, app.Squeeze(name))
	})
	return offers, err
}

// offerRefund adds in to offers if it may be refunded by out.
func (s *Service) offerRefund(ctx context.Context, out, in app.Transaction, offers *[]app.Transaction) error {
	before, err := s.Refunds(ctx, out.AccountID, RefundFilter{InID: in.ID})
	if err == nil && MayRefund(out, in, Refunded(before)) == nil {
		*offers = append(*offers, in)
	}
	return err
}

// Refunded is the sum of refunds.
func Refunded(list []Refund) (sum int64) {
	for _, r := range list {
		sum += r.Amount
	}
	return sum
}
