package dashboard

import (
	"bytes"
	"encoding/json"

	"baoco/app"
)

type transactionData struct {
	Row    transactionRow
	JSON   string // as the API gives it; empty: for developers only
	Origin app.TransactionOrigin
	Event  *app.InboundEvent // nil if there is none, or for developers only
}

func (s *Server) transactionPage(v *visit) error {
	t, err := s.Service.Transaction(v.Context(), v.account.ID, v.pathID())
	if err == nil && !v.sees(t) {
		err = app.ErrNoTransaction
	}
	if err != nil {
		return err
	}
	deliveries, err := s.deliveriesOf(v, []int64{t.ID})
	if err != nil {
		return err
	}
	data := transactionData{Row: transactionRow{t, deliveries[t.ID]}}
	if data.Origin, err = s.Service.TransactionOrigin(v.Context(), v.account.ID, t.ID); err != nil {
		return err
	}
	if !v.may(connect) {
		return s.showTransaction(v, data)
	}
	if data.Event, err = s.eventOf(v, data.Origin.InboundEventID); err != nil {
		return err
	}
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s.EncodeTransaction(t, v.zone)); err != nil {
		return err
	}
	data.JSON = encoded.String()
	return s.showTransaction(v, data)
}

func (s *Server) showTransaction(v *visit, data transactionData) error {
	return s.render(v, "transaction", "transactions", app.Textf("Transaction %d", "Giao dịch %d", data.Row.ID), data)
}

// eventOf reads what a provider sent. It returns nil if the event was pruned
// meanwhile.
func (s *Server) eventOf(v *visit, eventID int64) (*app.InboundEvent, error) {
	if eventID == 0 {
		return nil, nil
	}
	e, err := s.Service.InboundEvent(v.Context(), v.account.ID, eventID)
	if app.CodeOf(err) == app.CodeNotFound {
		return nil, nil
	}
	return &e, err
}

// ChannelName names the channel by which a transaction came in.
func (w words) ChannelName(c app.Channel) string {
	switch c {
	case app.ChannelCall:
		return w.T("provider call", "nhà cung cấp gọi đến")
	case app.ChannelPoll:
		return w.T("provider sync", "đồng bộ từ nhà cung cấp")
	case app.ChannelFile:
		return w.T("statement import", "nhập từ sao kê")
	case app.ChannelHand:
		return w.T("recorded manually", "ghi nhận thủ công")
	}
	return string(c)
}
