package dashboard

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// deliveryRow is an attempt with the name of its webhook; empty: the webhook was deleted.
type deliveryRow struct {
	delivery.Attempt
	Webhook string
}

// Resendable reports whether the delivery can be resent.
func (r deliveryRow) Resendable() bool {
	return r.Webhook != "" && r.Delivery.State != app.DeliveryPending
}

type deliveriesData struct {
	filters
	Hooks     []delivery.Webhook
	Rows      []deliveryRow
	Pending   []delivery.Pending // instead of Rows, if the filter asks for them
	Total     int64
	CountedTo int64
	Waiting   int64 // how many deliveries are pending
	Pages     pages
	News      string // address of the first page, if newer rows are there; a later page keeps its rows
	Failed    string // address of the resend of failed deliveries; empty: the page shows no link to it
}

// searchTo is how many attempts of a search are counted. It is lower than countTo,
// since a search is more work than another filter.
const searchTo = 100

func (s *Server) deliveriesPage(v *visit) (err error) {
	var data deliveriesData
	if data.Hooks, err = s.Services.Deliveries.Webhooks(v.Context(), v.account.ID); err != nil {
		return err
	}
	data.filters = v.filtersOf("/deliveries", historyFilters,
		func(name, value string) string { return v.historyWord(name, value, data.Hooks) })
	if data.Waiting, err = s.Services.Deliveries.PendingDeliveries(v.Context(), v.account.ID, 0); err != nil {
		return err
	}
	if data.Form.Get("status") == waitingStatus {
		return s.pendingPage(v, data)
	}
	p := &wire.Params{Values: data.Form, Zone: v.zone}
	f := p.HistoryFilter()
	inOrder(p, f.From, f.To)
	f.Page = pageOf(v)
	if f.Query != "" {
		f.Page.CountTo = searchTo
	}
	f.UntilID = until(v, f.Page, v.newest.AttemptID)
	if err = p.Bad.Err(); err == nil {
		data.Rows, data.Total, err = s.deliveryRows(v, f, data.Hooks)
	}
	if err == nil && f.Page.Number > 1 && f.UntilID < v.newest.AttemptID {
		newest := f
		newest.UntilID, newest.Page = 0, app.Page{Number: 1, Size: 1, CountTo: 1}
		var rows []delivery.Attempt
		if rows, _, err = s.Services.Deliveries.History(v.Context(), v.account.ID, newest); len(rows) > 0 && rows[0].ID > f.UntilID {
			data.News = backToHistory(data.Form)
		}
	}
	if slices.ContainsFunc(data.Rows, func(r deliveryRow) bool { return r.Delivery.State == app.DeliveryFailed }) {
		data.Failed = failedAddress(data.Form)
	}
	pinned := maps.Clone(data.Form)
	pinned.Set("until", strconv.FormatInt(f.UntilID, 10))
	data.Pages = pagesOf(f.Page, data.Total, pinned, data.Path)
	data.CountedTo = f.Page.CountTo
	return s.render(v, err, pageHead{"deliveries", "deliveries", historyTitle}, data)
}

// historyWord writes a value of the filter for people.
func (w words) historyWord(name, value string, hooks []delivery.Webhook) string {
	switch name {
	case "webhook_id":
		id, _ := wire.ParseID(value)
		return webhookNames(hooks)[id]
	case "status":
		switch value {
		case "1":
			return w.T("Succeeded", "Thành công")
		case "0":
			return w.T("Failed", "Thất bại")
		case waitingStatus:
			return w.T("Waiting", "Đang chờ")
		}
	case "transaction_id":
		return w.T("Transaction ", "Giao dịch ") + value
	}
	return ""
}

var historyTitle = app.Text{EN: "Delivery history", VI: "Lịch sử gửi"}

// waitingStatus is the status in the history's filter that asks for pending
// deliveries. They are no attempts, and have a page of their own.
const waitingStatus = "waiting"

func (s *Server) pendingPage(v *visit, data deliveriesData) error {
	values := maps.Clone(data.Form)
	values.Del("status")
	p := &wire.Params{Values: values, Zone: v.zone}
	h := p.HistoryFilter()
	inOrder(p, h.From, h.To)
	page := pageOf(v)
	err := p.Bad.Err()
	if err == nil {
		data.Pending, data.Total, err = s.Services.Deliveries.Pending(v.Context(), v.account.ID, deliveryFilter(h), page)
	}
	data.Pages = pagesOf(page, data.Total, data.Form, data.Path)
	data.CountedTo = page.CountTo
	return s.render(v, err, pageHead{"pending", "deliveries", historyTitle}, data)
}

// Due reports whether the next attempt of a delivery is due.
func (w words) Due(d delivery.Delivery) bool { return !d.DueAt.After(w.now) }

// AttemptsMade writes how many attempts of a delivery were made.
func (w words) AttemptsMade(d delivery.Delivery) string {
	if d.Attempts == 0 {
		return w.T("not sent yet", "chưa gửi lần nào")
	}
	made := strconv.Itoa(d.Attempts) + "/" + strconv.Itoa(len(delivery.RetrySchedule))
	return w.T(made+" attempts made", "đã gửi "+made+" lần")
}

// deliveryRows lists a page of attempts with their webhooks' names. It has one row for each
// delivery, its newest attempt on the page; the dots of the row show the attempts before.
func (s *Server) deliveryRows(v *visit, f delivery.HistoryFilter, hooks []delivery.Webhook) (rows []deliveryRow, total int64, _ error) {
	list, total, err := s.Services.Deliveries.History(v.Context(), v.account.ID, f)
	names := webhookNames(hooks)
	seen := map[int64]bool{}
	for _, a := range list {
		if !seen[a.Delivery.ID] {
			rows = append(rows, deliveryRow{a, names[a.Delivery.WebhookID]})
		}
		seen[a.Delivery.ID] = true
	}
	return rows, total, err
}

func webhookNames(hooks []delivery.Webhook) map[int64]string {
	names := map[int64]string{}
	for _, w := range hooks {
		names[w.ID] = w.Name
	}
	return names
}

// failedAddress is the address of the page that resends the failed deliveries of a filter.
func failedAddress(form url.Values) string {
	values := filterOf(form, historyFilters)
	values.Del("status")
	values.Set("failed", "all")
	return linkTo("/deliveries/resend", values)
}

func deliveryFilter(f delivery.HistoryFilter) delivery.Filter {
	return delivery.Filter{WebhookID: f.WebhookID, TransactionID: f.TransactionID, Type: f.Type, From: f.From, To: f.To, Query: f.Query}
}

// PayloadAmount writes the amount of a payload like that of a transaction.
func (w words) PayloadAmount(p delivery.Payload) string {
	return w.Signed(app.Transaction{Type: p.TransferType, Amount: p.TransferAmount})
}
