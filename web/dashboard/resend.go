package dashboard

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// resendData is the page that asks before a resend. It says how many deliveries would be sent.
type resendData struct {
	Groups   []resendGroup
	Total    int64
	Received int     // how many of these transactions the shop has received before
	Running  []int64 // ids of deliveries by which some of them are being sent now
	More     bool
	All      bool // with More: the deliveries beyond Total are sent too
	Refused  []app.Text
	Off      []string   // names of disabled webhooks; their failed deliveries aren't sent
	Failed   bool       // the resend is of all failed deliveries of the filter, not of chosen rows
	Dated    bool       // the filter names days
	Fields   url.Values // the choice, as hidden fields
	Back     string
}

type resendGroup struct {
	Webhook delivery.Webhook
	Count   int
}

// resendPage says what a resend would do and changes nothing.
func (s *Server) resendPage(v *visit) error {
	values := v.URL.Query()
	hooks, err := s.Services.Deliveries.Webhooks(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := resendData{Failed: values.Get("failed") != "", Back: backToHistory(values), Fields: filterOf(values, historyFilters)}
	if data.Failed {
		err = s.planFailed(v, values, hooks, &data)
	} else {
		err = s.planChosen(v, values["row"], hooks, &data)
	}
	return s.render(v, err, pageHead{"resend", "deliveries", app.Text{EN: "Resend", VI: "Gửi lại"}}, data)
}

// backToHistory is the address of the list in which the rows were chosen.
func backToHistory(values url.Values) string {
	return linkTo("/deliveries", filterOf(values, historyFilters))
}

func (s *Server) planFailed(v *visit, values url.Values, hooks []delivery.Webhook, data *resendData) error {
	f, err := readFailedFilter(v, values)
	if err != nil {
		return err
	}
	list, more, err := s.Services.Deliveries.FailedDeliveries(v.Context(), v.account.ID, f, delivery.MaxResend)
	if err != nil {
		return err
	}
	counts := map[int64]int{}
	for _, d := range list {
		counts[d.WebhookID]++
	}
	data.count(counts, hooks)
	data.More, data.All = more, more && f.Replays()
	data.Dated = !f.From.IsZero() || !f.To.IsZero()
	for _, w := range hooks {
		if !w.IsActive && (f.WebhookID == 0 || f.WebhookID == w.ID) {
			data.Off = append(data.Off, w.Name)
		}
	}
	data.Fields.Set("failed", "all")
	return nil
}

func readFailedFilter(v *visit, values url.Values) (delivery.Filter, error) {
	p := &wire.Params{Values: filterOf(values, historyFilters), Zone: v.zone}
	f := p.HistoryFilter()
	inOrder(p, f.From, f.To)
	return deliveryFilter(f), p.Bad.Err()
}

// planChosen counts the deliveries of the chosen attempts, as the resend would: each delivery
// counts once.
func (s *Server) planChosen(v *visit, texts []string, hooks []delivery.Webhook, data *resendData) error {
	ids, err := readIDs(texts, delivery.ErrNoHistory)
	if err != nil {
		return err
	}
	active := map[int64]bool{}
	for _, w := range hooks {
		active[w.ID] = w.IsActive
	}
	var chosen []delivery.Delivery
	counts, seen := map[int64]int{}, map[int64]bool{}
	for _, id := range ids {
		a, err := s.Services.Deliveries.HistoryRecord(v.Context(), v.account.ID, id)
		if err != nil {
			return err
		}
		if seen[a.Delivery.ID] {
			continue
		}
		seen[a.Delivery.ID] = true
		isActive, exists := active[a.Delivery.WebhookID]
		if refused := a.Delivery.Resendable(!exists, isActive); refused != nil {
			data.refuse(refused)
			continue
		}
		counts[a.Delivery.WebhookID]++
		chosen = append(chosen, a.Delivery)
		data.Fields.Add("row", strconv.FormatInt(id, 10))
	}
	data.count(counts, hooks)
	return s.noteResent(v, chosen, data)
}

// noteResent counts the deliveries whose transaction the webhook has received, by them or by
// a resend. It lists the pending deliveries of the same transactions to the same webhooks.
func (s *Server) noteResent(v *visit, chosen []delivery.Delivery, data *resendData) error {
	var transactions []int64
	for _, d := range chosen {
		if d.TransactionID != 0 {
			transactions = append(transactions, d.TransactionID)
		}
	}
	latest, err := s.Services.Deliveries.DeliveriesOf(v.Context(), v.account.ID, transactions)
	for _, d := range chosen {
		received := d.State == app.DeliveryDelivered
		for _, p := range latest[d.TransactionID] {
			if p.WebhookID != d.WebhookID {
				continue
			}
			received = received || p.State == app.DeliveryDelivered
			if p.State == app.DeliveryPending && !slices.Contains(data.Running, p.ID) {
				data.Running = append(data.Running, p.ID)
			}
		}
		if received {
			data.Received++
		}
	}
	return err
}

func (d *resendData) refuse(err error) {
	var e *app.Error
	if errors.As(err, &e) && !slices.Contains(d.Refused, e.Text) {
		d.Refused = append(d.Refused, e.Text)
	}
}

// withRefused adds left, which says how many rows were refused, and each reason once.
func withRefused(text, left app.Text, refused []error) app.Text {
	if len(refused) == 0 {
		return text
	}
	var why resendData
	for _, err := range refused {
		why.refuse(err)
	}
	for _, more := range append([]app.Text{left}, why.Refused...) {
		text = app.Text{EN: text.EN + " " + more.EN, VI: text.VI + " " + more.VI}
	}
	return text
}

func (d *resendData) count(counts map[int64]int, hooks []delivery.Webhook) {
	for _, w := range hooks {
		if n := counts[w.ID]; n > 0 {
			d.Groups = append(d.Groups, resendGroup{w, n})
			d.Total += int64(n)
		}
	}
}

// readIDs reads the ids of the rows that were ticked in a list, each once: at least one, at
// most app.MaxPageSize. It returns unknown if a text is no id.
func readIDs(texts []string, unknown error) ([]int64, error) {
	var ids []int64
	for _, text := range texts {
		id, ok := wire.ParseID(text)
		if !ok {
			return nil, unknown
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > app.MaxPageSize {
			return nil, app.InvalidField("row", "can hold at most 100 rows", "chỉ được có tối đa 100 dòng")
		}
	}
	if len(ids) == 0 {
		return nil, app.InvalidField("row", "is empty: select rows in the list first", "đang trống: hãy đánh dấu các dòng trong danh sách")
	}
	return ids, nil
}

// resendDeliveries does what resendPage announced.
func (s *Server) resendDeliveries(v *visit) error {
	var r delivery.ResendResult
	if v.PostForm.Get("failed") != "" {
		f, err := readFailedFilter(v, v.PostForm)
		if err == nil {
			r, err = s.Services.Deliveries.ResendFailed(v.Context(), v.account.ID, f, v.form.key, v.now)
		}
		if err != nil {
			return err
		}
	} else {
		ids, err := readIDs(v.PostForm["row"], delivery.ErrNoHistory)
		if err == nil {
			r, err = s.Services.Deliveries.ResendMany(v.Context(), v.account.ID, ids, v.form.key, v.now)
		}
		if err != nil {
			return err
		}
	}
	return s.redirect(v, backToHistory(v.PostForm), resent(r))
}

// resent says how many deliveries were sent and how many weren't.
func resent(r delivery.ResendResult) app.Text {
	var refused []error
	for _, one := range r.Refused {
		refused = append(refused, one.Err)
	}
	text := withRefused(app.Textf("Deliveries being resent: %d.", "Đang gửi lại %d thông báo.", r.Count),
		app.Textf("Not resent: %d.", "Không gửi lại được: %d.", len(refused)), refused)
	if r.More {
		text.EN += " There are more: resend again for the rest."
		text.VI += " Vẫn còn nữa: hãy gửi lại tiếp phần còn lại."
	}
	return text
}

// resendDelivery resends the last attempt of one delivery. If a resend of the delivery is
// pending or has succeeded, it sends nothing and shows the page of that resend, where the
// visitor can resend again.
func (s *Server) resendDelivery(v *visit, d *deliveryData) error {
	if len(d.Calls) == 0 {
		return cmp.Or(d.Resendable(d.Deleted, d.Webhook.IsActive), delivery.ErrNoHistory)
	}
	for _, again := range d.ResentAs {
		if again.State == app.DeliveryPending || again.State == app.DeliveryDelivered {
			return s.redirect(v, deliveryPath(again.ID),
				app.Text{EN: "This is the resend: nothing more was sent.", VI: "Đây là thông báo gửi lại; không gửi thêm thông báo nào."})
		}
	}
	last := d.Calls[len(d.Calls)-1]
	again, err := s.Services.Deliveries.Resend(v.Context(), v.account.ID, last.ID, v.form.key, v.now)
	return s.done(v, err, deliveryPath(again.ID), app.Text{EN: "Resending as this new delivery.", VI: "Đang gửi lại. Đây là thông báo mới."})
}

// CanSendNow reports whether the next attempt of the delivery can be made now.
func (d deliveryData) CanSendNow() bool { return d.SendableNow(d.Deleted, d.Webhook) == nil }

// Waiting counts the deliveries that can be sent now.
func (d webhookData) Waiting() int64 {
	if d.Sends() != nil {
		return 0
	}
	return d.Pending
}

func (s *Server) sendNow(v *visit, d *deliveryData) error {
	err := s.Services.Deliveries.SendNow(v.Context(), v.account.ID, d.ID, v.form.key, v.now)
	return s.done(v, err, deliveryPath(d.ID),
		app.Text{EN: "It is sent at once, without a wait.", VI: "Thông báo này được gửi ngay, không phải chờ."})
}

func (s *Server) sendWaiting(v *visit, hook delivery.Webhook) error {
	n, err := s.Services.Deliveries.SendWaiting(v.Context(), v.account.ID, hook.ID, v.form.key, v.now)
	return s.done(v, err, webhookPath(hook.ID), app.Textf("Deliveries being sent now: %d.", "Đang gửi ngay %d thông báo.", n))
}
