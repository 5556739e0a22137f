package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"baoco/app"
)

// deliveryRow is an attempt with the name of its webhook; empty where the
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
	Form    url.Values // the filter, as it was typed
	Hooks   []app.Webhook
	Rows    []deliveryRow
	Total   int64
	Waiting int64 // deliveries
	Pages   pages
	Live    string // address of the stream that says how many are new; empty: none does
	Failed  string // address of the resend of what failed; empty: nothing on the page did
	Problem string
}

// filterNames are the parameters of the history's filter.
var filterNames = []string{"q", "webhook_id", "status", "type", "from", "to", "transaction_id"}

// filterOf picks the filter out of an address or a form.
func filterOf(values url.Values) url.Values {
	form := url.Values{}
	for _, name := range filterNames {
		if value := values.Get(name); value != "" {
			form.Set(name, value)
		}
	}
	return form
}

func (s *Server) deliveriesPage(v *visit) error {
	data := deliveriesData{Form: filterOf(v.URL.Query())}
	var err error
	if data.Hooks, err = s.service.Webhooks(v.Context(), v.account.ID); err != nil {
		return err
	}
	if data.Waiting, err = s.service.PendingDeliveries(v.Context(), v.account.ID); err != nil {
		return err
	}
	p := &params{values: data.Form, zone: v.zone}
	f := p.historyFilter()
	f.Page = pageOf(v)
	if f.Page.Number == 1 {
		if data.Live, err = s.liveDeliveriesAddress(v, 0); err != nil {
			return err
		}
	}
	status := http.StatusOK
	if err = p.bad.Err(); err == nil {
		data.Rows, data.Total, err = s.deliveryRows(v, f, data.Hooks)
	}
	if problem := fieldProblems(err, v.lang); problem != "" {
		data.Problem, status, err = problem, http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(data.Rows, func(r deliveryRow) bool { return r.Delivery.State == app.DeliveryFailed }) {
		data.Failed = failedAddress(data.Form)
	}
	data.Pages = pagesOf(f.Page, data.Total, data.Form, "/deliveries")
	return s.render(v, status, "deliveries", "deliveries", app.Text{EN: "Delivery history", VI: "Lịch sử gửi"}, data)
}

// deliveryRows lists a page of attempts with their webhooks' names.
func (s *Server) deliveryRows(v *visit, f app.HistoryFilter, hooks []app.Webhook) ([]deliveryRow, int64, error) {
	list, total, err := s.service.History(v.Context(), v.account.ID, f)
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

// failedAddress is where what failed of a filter is resent.
func failedAddress(form url.Values) string {
	values := filterOf(form)
	values.Del("status")
	values.Set("failed", "all")
	return "/deliveries/resend?" + values.Encode()
}

func failedFilter(f app.HistoryFilter) app.FailedFilter {
	return app.FailedFilter{WebhookID: f.WebhookID, TransactionID: f.TransactionID, Type: f.Type, From: f.From, To: f.To, Query: f.Query}
}

// liveDeliveriesAddress is the stream that counts what comes after a page was
// made, of one delivery where id isn't 0.
func (s *Server) liveDeliveriesAddress(v *visit, id int64) (string, error) {
	n, err := s.service.Newest(v.Context())
	to := livePrefix + "deliveries?since=" + position{0, n.AttemptID}.String()
	if id != 0 {
		to += "&delivery_id=" + strconv.FormatInt(id, 10)
	}
	return to, err
}

// liveDeliveries says how many attempts were made since a page was. It never
// moves what somebody reads: the page is loaded anew by who wants to.
func (s *Server) liveDeliveries(v *visit) error {
	since, err := v.position()
	if err != nil {
		return err
	}
	id, _ := parseID(v.URL.Query().Get("delivery_id"))
	w := view{Lang: v.lang, zone: v.zone}
	told := 0
	return s.follow(v, since, func(stream *stream, at position) (position, error) {
		n, last, err := s.service.AttemptsSince(v.Context(), v.account.ID, app.HistoryFilter{DeliveryID: id}, at.attempt)
		next := position{0, max(at.attempt, last)}
		if told += n; err != nil || n == 0 {
			return next, err
		}
		// A connection that broke counts from the page again.
		return next, stream.send(since.String(), `<a class="pill pending" href="">`+w.Number(int64(told))+" "+w.T("new: show", "lần gửi mới: xem")+`</a>`)
	})
}

// Verdict is the class of an attempt's pill.
func (v view) Verdict(r app.Result) app.DeliveryState {
	if r.OK() {
		return app.DeliveryDelivered
	}
	return app.DeliveryFailed
}

// Turn says which of its attempts this one of a delivery is.
func (v view) Turn(d app.Delivery, number int) string {
	if d.Single {
		return v.T("test", "gửi thử")
	}
	return v.T("attempt", "lần") + nbsp + strconv.Itoa(number) + "/" + strconv.Itoa(len(app.RetrySchedule))
}

// Carried writes the amount of a payload as that of its transaction.
func (v view) Carried(p app.Payload) string {
	return v.Signed(app.Transaction{Type: p.TransferType, Amount: p.TransferAmount})
}
