package dashboard

import (
	"html"
	"net/url"
	"slices"
	"strconv"

	"baoco/app"
	"baoco/web/wire"
)

// deliveryRow is an attempt with the name of its webhook, which is empty if the
// webhook was deleted.
type deliveryRow struct {
	app.Attempt
	Webhook string
}

// Resendable tells whether a resend can be asked for.
func (r deliveryRow) Resendable() bool {
	return r.Webhook != "" && r.Delivery.State != app.DeliveryPending
}

type deliveriesData struct {
	Form      url.Values // the filter as it was entered
	Hooks     []app.Webhook
	Rows      []deliveryRow
	Pending   []app.PendingDelivery // instead of Rows, if the filter asks for them
	Total     int64
	CountedTo int64
	Waiting   int64 // how many deliveries are pending
	Pages     pages
	Live      string // address of the stream that says how many are new; empty: there is none
	Failed    string // address of the resend of failed deliveries; empty: the page shows none
}

// searchTo is how many attempts of a search are counted. It is lower than countTo,
// since a search is more work than another filter.
const searchTo = 100

func (s *Server) deliveriesPage(v *visit) error {
	data := deliveriesData{Form: filterOf(v.URL.Query(), historyFilters)}
	var err error
	if data.Hooks, err = s.Service.Webhooks(v.Context(), v.account.ID); err != nil {
		return err
	}
	if data.Waiting, err = s.Service.PendingDeliveries(v.Context(), v.account.ID, 0); err != nil {
		return err
	}
	if data.Form.Get("status") == waitingStatus {
		return s.pendingPage(v, data)
	}
	// Read before the rows are, so that no row is missing in both list and stream.
	newest, err := s.Service.NewestIDs(v.Context())
	if err != nil {
		return err
	}
	p := &wire.Params{Values: data.Form, Zone: v.zone}
	f := p.HistoryFilter()
	f.Page = pageOf(v)
	if f.Query != "" {
		f.Page.CountTo = searchTo
	}
	f.UntilID = until(v, f.Page, newest.AttemptID)
	if err = p.Bad.Err(); err == nil {
		data.Rows, data.Total, err = s.deliveryRows(v, f, data.Hooks)
	}
	if err == nil {
		data.Live = liveDeliveriesAddress(f.UntilID, data.Form)
	}
	if slices.ContainsFunc(data.Rows, func(r deliveryRow) bool { return r.Delivery.State == app.DeliveryFailed }) {
		data.Failed = failedAddress(data.Form)
	}
	pinned := filterOf(data.Form, historyFilters)
	pinned.Set("until", strconv.FormatInt(f.UntilID, 10))
	data.Pages = pagesOf(f.Page, data.Total, pinned, "/deliveries")
	data.CountedTo = f.Page.CountTo
	return s.renderForm(v, err, "deliveries", "deliveries", historyTitle, data)
}

var historyTitle = app.Text{EN: "Delivery history", VI: "Lịch sử gửi"}

// waitingStatus is the status in the history's filter that asks for pending
// deliveries. They are no attempts, and have a page of their own.
const waitingStatus = "waiting"

func (s *Server) pendingPage(v *visit, data deliveriesData) error {
	values := filterOf(data.Form, historyFilters)
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
	return s.renderForm(v, err, "pending", "deliveries", historyTitle, data)
}

// Due tells whether the next attempt of a delivery is due.
func (w words) Due(d app.Delivery) bool { return !d.DueAt.After(w.now) }

// AttemptsMade writes how many attempts of a delivery were made.
func (w words) AttemptsMade(d app.Delivery) string {
	if d.Attempts == 0 {
		return w.T("not sent yet", "chưa gửi lần nào")
	}
	made := strconv.Itoa(d.Attempts) + "/" + strconv.Itoa(len(app.RetrySchedule))
	return w.T(made+" attempts made", "đã gửi "+made+" lần")
}

// deliveryRows lists a page of attempts with their webhooks' names.
func (s *Server) deliveryRows(v *visit, f app.HistoryFilter, hooks []app.Webhook) ([]deliveryRow, int64, error) {
	list, total, err := s.Service.History(v.Context(), v.account.ID, f)
	names := webhookNames(hooks)
	rows := make([]deliveryRow, len(list))
	for i, a := range list {
		rows[i] = deliveryRow{a, names[a.Delivery.WebhookID]}
	}
	return rows, total, err
}

func webhookNames(hooks []app.Webhook) map[int64]string {
	names := map[int64]string{}
	for _, w := range hooks {
		names[w.ID] = w.Name
	}
	return names
}

// failedAddress is the page that resends the failed deliveries of a filter.
func failedAddress(form url.Values) string {
	values := filterOf(form, historyFilters)
	values.Del("status")
	values.Set("failed", "all")
	return linkTo("/deliveries/resend", values)
}

func failedFilter(f app.HistoryFilter) app.FailedFilter {
	return app.FailedFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID, Type: f.Type, From: f.From, To: f.To, Query: f.Query}
}

// liveDeliveriesAddress is the stream that counts the attempts of a filter that
// are newer than one attempt.
func liveDeliveriesAddress(since int64, filter url.Values) string {
	values := filterOf(filter, historyFilters)
	values.Set("since", position{0, since}.String())
	if id := filter.Get("delivery_id"); id != "" {
		values.Set("delivery_id", id)
	}
	return linkTo(livePrefix+"deliveries", values)
}

// liveDeliveries streams a link to the first page, with how many attempts of the
// filter came since the page was made. The rows that somebody reads never move.
func (s *Server) liveDeliveries(v *visit) error {
	since, err := v.position()
	if err != nil {
		return err
	}
	p := &wire.Params{Values: v.URL.Query(), Zone: v.zone}
	f := p.HistoryFilter()
	if err := p.Bad.Err(); err != nil {
		return err
	}
	to := ""
	if f.DeliveryID == 0 {
		to = backToHistory(p.Values)
	}
	count := 0
	return s.follow(v, since, func(stream *stream, at position) (position, error) {
		n, last, err := s.Service.AttemptsSince(v.Context(), v.account.ID, f, at.attempt)
		next := position{0, max(at.attempt, last)}
		if count += n; err != nil || n == 0 {
			return next, err
		}
		// A connection that broke counts from the page again.
		return next, stream.send(since.String(), `<a class="pill pending" href="`+html.EscapeString(to)+`">`+v.Number(int64(count))+" "+v.T("new – show", "lần gửi mới – xem")+`</a>`)
	})
}

// PayloadAmount writes the amount of a payload as that of its transaction.
func (w words) PayloadAmount(p app.Payload) string {
	return w.Signed(app.Transaction{Type: p.TransferType, Amount: p.TransferAmount})
}
