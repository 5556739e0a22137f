package dashboard

import (
	"strconv"

	"baoco/app"
	"baoco/web/wire"
)

// waitingStatus is what the history's filter calls the deliveries that are
// still to be attempted. They are no attempts, and have a page of their own.
const waitingStatus = "waiting"

func (s *Server) pendingPage(v *visit, data deliveriesData) error {
	values := filterOf(data.Form)
	values.Del("status")
	p := &wire.Params{Values: values, Zone: v.zone}
	h := p.HistoryFilter()
	f := app.PendingFilter{WebhookID: h.WebhookID, TransactionID: h.TransactionID, Type: h.Type, From: h.From, To: h.To, Query: h.Query, Page: pageOf(v)}
	err := p.Bad.Err()
	if err == nil {
		data.Pending, data.Total, err = s.Service.Pending(v.Context(), v.account.ID, f)
	}
	data.Pages = pagesOf(f.Page, data.Total, data.Form, "/deliveries")
	data.CountedTo = f.Page.CountTo
	return s.renderDeliveries(v, "pending", data, err)
}

// Due tells whether the next attempt of a delivery is to be made at once.
func (w words) Due(d app.Delivery) bool { return !d.DueAt.After(w.now) }

// AttemptsMade writes how many attempts of a delivery were made.
func (w words) AttemptsMade(d app.Delivery) string {
	if d.Attempts == 0 {
		return w.T("not sent yet", "chưa gửi lần nào")
	}
	made := strconv.Itoa(d.Attempts) + "/" + strconv.Itoa(len(app.RetrySchedule))
	return w.T(made+" attempts made", "đã gửi "+made+" lần")
}
