package dashboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/inbound"
	"baoco/app/payment"
	"baoco/web/wire"
)

type transactionData struct {
	Row       transactionRow
	Note      app.Note
	Form      noteForm
	JSON      string // the API's JSON; empty: the visitor is no developer or owner
	Origin    app.TransactionOrigin
	Likely    []payment.Request // the requests that a transaction without one may be for
	Refund    payment.Refund    // for money out: the refund that it is
	Refunds   []payment.Refund  // for money in
	Offers    []app.Transaction // the transactions that money out may give back
	MatchedBy string            // who matched it by hand; empty: nobody
	Event     *inbound.Event    // nil: there is none, or the visitor is no developer or owner
}

// noteForm is the form of the note. Seen is the note when the form was shown.
type noteForm struct{ Seen, Text string }

func transactionPath(id int64) string { return "/transactions/" + strconv.FormatInt(id, 10) }

func (s *Server) pageTransaction(v *visit) (transactionData, error) {
	t, err := s.transactionOf(v, v.pathID())
	return transactionData{Row: transactionRow{Transaction: t}, Form: noteForm{t.Note, t.Note}}, err
}

// transactionOf finds a transaction that the visitor may see.
func (s *Server) transactionOf(v *visit, id int64) (app.Transaction, error) {
	t, err := s.Services.Ledger.Transaction(v.Context(), v.account.ID, id)
	if err == nil && !v.sees(t) {
		err = app.ErrNoTransaction
	}
	return t, err
}

// setNote writes the note. If somebody else has changed it meanwhile, the page shows the other
// note, and the visitor's text stays in the form, to be sent again.
func (s *Server) setNote(v *visit, d *transactionData) error {
	d.Form = noteForm{v.PostFormValue("seen"), v.PostFormValue("note")}
	err := s.Services.Ledger.SetNote(v.Context(), v.account.ID, d.Row.ID, d.Form.Seen,
		app.Note{Text: d.Form.Text, ChangedAt: v.now, ChangedBy: v.user.Name})
	if app.CodeOf(err) == app.CodeConflict {
		d.Form.Seen = d.Row.Note
	}
	return s.done(v, err, transactionPath(d.Row.ID), app.Text{EN: "Note saved.", VI: "Đã lưu ghi chú."})
}

// partReport records a report that was taken for this transaction as another transaction.
func (s *Server) partReport(v *visit, d *transactionData) error {
	source, _ := wire.ParseID(v.PostFormValue("source_id")) // 0: a file, not a source
	ref := inbound.EventRef{SourceID: source, Channel: app.Channel(v.PostFormValue("channel")), EventID: v.PostFormValue("event_id")}
	settled, err := s.Services.Inbound.PartReport(v.Context(), v.account.ID, inbound.ReportPart{TransactionID: d.Row.ID, EventRef: ref}, v.now)
	return s.done(v, err, transactionPath(settled.TransactionID), app.Textf(
		"Recorded as a transaction of its own. Notifications sent to your shop: %d.",
		"Đã ghi nhận thành giao dịch riêng. Thông báo cho cửa hàng: %d.", len(settled.Webhooks)))
}

// showTransaction shows the page. refused is why an action on the transaction was refused.
func (s *Server) showTransaction(v *visit, data transactionData, refused error) error {
	t := data.Row.Transaction
	deliveries, err := s.deliveriesOf(v, []int64{t.ID})
	if err != nil {
		return err
	}
	data.Row.Deliveries = deliveries[t.ID]
	if data.Note, err = s.Services.Ledger.Note(v.Context(), v.account.ID, t.ID); err != nil {
		return err
	}
	if data.Origin, err = s.Services.Ledger.TransactionOrigin(v.Context(), v.account.ID, t.ID); err != nil {
		return err
	}
	if v.may(seeMoney) {
		if data.Likely, err = s.Services.Payments.LikelyPayments(v.Context(), t); err != nil {
			return err
		}
		if err = s.fillRefunds(v, &data); err != nil {
			return err
		}
		if data.MatchedBy, err = s.Services.Payments.MatchedBy(v.Context(), t); err != nil {
			return err
		}
	}
	if v.may(connect) {
		if data.Event, err = s.eventOf(v, data.Origin.InboundEventID); err != nil {
			return err
		}
		if data.JSON, err = s.transactionJSON(v, t); err != nil {
			return err
		}
	}
	return s.render(v, refused, pageHead{"transaction", "transactions", app.Textf("Transaction %d", "Giao dịch %d", t.ID)}, data)
}

// fillRefunds reads the refunds of money in; of money out, the money in that it gives back or
// may give back.
func (s *Server) fillRefunds(v *visit, d *transactionData) error {
	t, f := d.Row.Transaction, payment.RefundFilter{OutID: d.Row.ID}
	if t.Type == app.In {
		f = payment.RefundFilter{InID: t.ID}
	}
	list, err := s.Services.Payments.Refunds(v.Context(), v.account.ID, f)
	switch {
	case err != nil || t.Type == app.In:
		d.Refunds = list
	case len(list) > 0:
		d.Refund = list[0]
	default:
		d.Offers, err = s.Services.Payments.RefundOffers(v.Context(), t)
	}
	return err
}

// Refunded is how much of the transaction was given back, in VND.
func (d transactionData) Refunded() int64 { return payment.Refunded(d.Refunds) }

// linkRefund stores which money in the transaction gives back, or that it gives back none.
func (s *Server) linkRefund(v *visit, d *transactionData) (err error) {
	done := app.Text{EN: "The link of the refund was undone.", VI: "Đã bỏ ghi nhận hoàn tiền."}
	if text := v.PostFormValue("of"); text == "" {
		err = s.Services.Payments.UnlinkRefund(v.Context(), v.account.ID, d.Row.ID)
	} else {
		of, _ := wire.ParseID(text) // 0: no transaction has this id
		done = app.Textf("Noted as a refund of #%d.", "Đã ghi là hoàn tiền của #%d.", of)
		err = s.Services.Payments.LinkRefund(v.Context(), v.account.ID, d.Row.ID, of)
	}
	return s.done(v, err, transactionPath(d.Row.ID), done)
}

// transactionJSON is the API's JSON of the transaction.
func (s *Server) transactionJSON(v *visit, t app.Transaction) (string, error) {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s.EncodeTransaction(t, v.zone))
	return encoded.String(), err
}

// eventOf reads an inbound event. It returns nil if eventID is 0 or the event was pruned.
func (s *Server) eventOf(v *visit, eventID int64) (*inbound.Event, error) {
	if eventID == 0 {
		return nil, nil
	}
	e, err := s.Services.Inbound.InboundEvent(v.Context(), v.account.ID, eventID)
	if app.CodeOf(err) == app.CodeNotFound {
		return nil, nil
	}
	return &e, err
}

// RecordedLater reports whether the time of recording differs from the transaction's own time.
func (w words) RecordedLater(t app.Transaction) bool {
	return t.DateOnly || t.CreatedAt.Sub(t.Time).Abs() > time.Minute
}

var channelNames = map[app.Channel]app.Text{
	app.ChannelCall:   {EN: "provider call", VI: "nhà cung cấp gọi đến"},
	app.ChannelNotice: {EN: "notification of the bank's app", VI: "thông báo của app ngân hàng"},
	app.ChannelPoll:   {EN: "provider sync", VI: "đồng bộ từ nhà cung cấp"},
	app.ChannelFile:   {EN: "statement import", VI: "nhập từ sao kê"},
	app.ChannelHand:   {EN: "recorded manually", VI: "ghi nhận thủ công"},
}

// ChannelName names the channel by which a transaction came in.
func (w words) ChannelName(c app.Channel) string {
	return cmp.Or(channelNames[c].In(w.Lang), string(c))
}
