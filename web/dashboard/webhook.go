package dashboard

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// attemptsShown is how many attempts the page of a webhook lists.
const attemptsShown = 10

type webhookData struct {
	webhookRow
	Pending   int64
	Attempts  []delivery.Attempt
	Test      *delivery.Attempt // the test that was just made
	Receivers []receiver
	Remove    confirmation
}

// Failing reports whether the last alert.WorryingFailures attempts of an active webhook failed.
func (d webhookData) Failing() bool {
	return d.IsActive && d.Health.FailedInRow >= alert.WorryingFailures
}

func (s *Server) showWebhook(v *visit, hook delivery.Webhook, refused error) (err error) {
	data := webhookData{webhookRow: webhookRow{Webhook: hook}, Receivers: receivers(hook, "", v.Lang)}
	if data.Health, err = s.Services.Deliveries.WebhookHealth(v.Context(), v.account.ID, hook.ID, v.now); err != nil {
		return err
	}
	data.Chart = v.drawHours(data.Health, 360, 56)
	if data.Pending, err = s.Services.Deliveries.PendingDeliveries(v.Context(), v.account.ID, hook.ID); err != nil {
		return err
	}
	data.Remove = s.webhookRemoval(v, hook, data.Pending)
	if data.Attempts, _, err = s.Services.Deliveries.History(v.Context(), v.account.ID, delivery.HistoryFilter{
		WebhookID: hook.ID, Page: app.Page{Number: 1, Size: attemptsShown},
	}); err != nil {
		return err
	}
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data.Only = v.webhookOnly(hook, banks)
	if data.Test, err = s.testedNow(v, hook); err != nil {
		return err
	}
	return s.render(v, refused, pageHead{"webhook", "webhooks", app.Text{EN: app.Isolated(hook.Name), VI: app.Isolated(hook.Name)}}, data)
}

// testedNow is the attempt of the test that the address names; nil if the address names no test
// of this webhook.
func (s *Server) testedNow(v *visit, hook delivery.Webhook) (*delivery.Attempt, error) {
	id, found := wire.ParseID(v.URL.Query().Get("tested"))
	if !found {
		return nil, nil
	}
	a, err := s.Services.Deliveries.HistoryRecord(v.Context(), v.account.ID, id)
	if app.CodeOf(err) == app.CodeNotFound || err == nil && (a.Delivery.WebhookID != hook.ID || !a.Payload.Test) {
		return nil, nil
	}
	return &a, err
}

// tryWebhook sends a test, and leads to a page that shows the result.
func (s *Server) tryWebhook(v *visit, hook delivery.Webhook) error {
	a, err := s.Services.Deliveries.TestWebhook(v.Context(), v.account.ID, hook.ID, v.now)
	return s.done(v, err, v.nextAt("webhook", webhookPath(hook.ID)+"?tested="+strconv.FormatInt(a.ID, 10)), app.Text{})
}

// switchWebhook sets the status that the form names, so that a form that is sent
// twice doesn't switch it back.
func (s *Server) switchWebhook(v *visit, hook delivery.Webhook) error {
	if on := v.PostFormValue("active") == "1"; on != hook.IsActive {
		switched, err := s.Services.Deliveries.ToggleWebhook(v.Context(), v.account.ID, hook.ID, v.now)
		if err != nil {
			return s.showWebhook(v, hook, err)
		}
		hook = switched
	}
	flash := app.Text{EN: "Webhook turned on. Waiting deliveries are sent as scheduled.",
		VI: "Đã bật webhook. Các thông báo đang chờ sẽ được gửi tiếp theo lịch."}
	switch {
	case hook.IsActive && hook.SecretLost:
		flash = app.Text{EN: "Webhook turned on. Nothing is sent until you rotate its secret.",
			VI: "Đã bật webhook. Chưa gửi được gì cho đến khi bạn đổi khoá bí mật."}
	case !hook.IsActive:
		flash = app.Text{EN: "Webhook turned off. Waiting deliveries are kept until you turn it on.",
			VI: "Đã tắt webhook. Các thông báo đang chờ được giữ lại đến khi bạn bật."}
	}
	return s.redirect(v, webhookPath(hook.ID), flash)
}

func (s *Server) editWebhookPage(v *visit, hook delivery.Webhook) error {
	return s.showEditWebhook(v, webhookForm{ID: hook.ID, Name: hook.Name, URL: hook.URL, Type: string(hook.Type), Kind: hook.Kind,
		BankAccountIDs: hook.BankAccountIDs, CodePrefixes: hook.CodePrefixes, CodeOnly: hook.CodeOnly,
		numberChoice: numberChoice{ReceivingNumber: hook.ReceivingNumber}, HeaderNames: hook.HeaderNames}, nil)
}

func (s *Server) showEditWebhook(v *visit, form webhookForm, wrong error) error {
	if err := s.fillChoices(v, &form); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"webhook_edit", "webhooks", app.Text{EN: "Edit webhook", VI: "Sửa webhook"}}, form)
}

func (s *Server) editWebhook(v *visit, hook delivery.Webhook) error {
	form, in, err := readWebhookForm(v)
	form.ID, form.Kind, form.HeaderNames = hook.ID, hook.Kind, hook.HeaderNames
	if err == nil {
		err = v.unchanged(hook.Name, hook.URL, hook.Type, hook.BankAccountIDs, strings.Join(hook.CodePrefixes, " "),
			hook.CodeOnly, hook.ReceivingNumber)
	}
	u := delivery.WebhookUpdate{Name: &in.Name, URL: &in.URL, Type: &in.Type, BankAccountIDs: &in.BankAccountIDs,
		CodePrefixes: &in.CodePrefixes, CodeOnly: &in.CodeOnly, ReceivingNumber: &in.ReceivingNumber}
	if in.Headers != nil || form.NoHeaders {
		u.Headers = &in.Headers
	}
	if err == nil {
		hook, err = s.Services.Deliveries.UpdateWebhook(v.Context(), v.account.ID, hook.ID, u, v.now)
	}
	if err != nil {
		return s.showEditWebhook(v, form, err)
	}
	warning := s.warning(v, hook)
	return s.redirect(v, webhookPath(hook.ID), app.Text{EN: "Saved." + warning.EN, VI: "Đã lưu." + warning.VI})
}

type rotateData struct {
	Webhook delivery.Webhook
	Hours   string
}

// Longest is the longest overlap, in hours.
func (rotateData) Longest() int { return int(delivery.MaxOverlap / time.Hour) }

func (s *Server) rotatePage(v *visit, hook delivery.Webhook) error {
	return s.showRotate(v, rotateData{Webhook: hook, Hours: "24"}, nil)
}

func (s *Server) showRotate(v *visit, data rotateData, wrong error) error {
	return s.render(v, wrong, pageHead{"webhook_rotate", "webhooks", app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"}}, data)
}

// rotateWebhook answers with the page of the new secret.
func (s *Server) rotateWebhook(v *visit, hook delivery.Webhook) error {
	data := rotateData{Webhook: hook, Hours: strings.TrimSpace(v.PostFormValue("overlap_hours"))}
	hours, err := strconv.Atoi(data.Hours)
	if err != nil || hours < 0 || hours > data.Longest() {
		hours = -1 // refused below
	}
	secret, err := s.Services.Deliveries.RotateSecret(v.Context(), v.account.ID, hook.ID, delivery.SecretRotate{
		Overlap: time.Duration(hours) * time.Hour, Key: v.form.key,
	}, v.now)
	if err != nil {
		return s.showRotate(v, data, err)
	}
	if hook, err = s.pageWebhook(v); err != nil { // read the webhook again, with the end of the overlap
		return err
	}
	return s.showSecret(v, hook, secret, false)
}

func (s *Server) activateWebhook(v *visit, hook delivery.Webhook) error {
	return s.done(v, s.Services.Deliveries.ActivateSecret(v.Context(), v.account.ID, hook.ID, v.now), webhookPath(hook.ID),
		app.Text{EN: "The new secret is now the only one in use.", VI: "Từ bây giờ chỉ dùng khoá bí mật mới để ký."})
}

// replayDays is how far back a replay goes by default.
const replayDays = 7

// maxFailedCounted is how many failed deliveries of a webhook a page counts at most to say how
// many can be sent again.
const maxFailedCounted = 5000

// replayData is the page of a replay, with From and To as they were entered.
type replayData struct {
	Webhook  delivery.Webhook
	From, To string
	Count    int64
	All      bool // Count is complete; false: there are more
}

// replayOf reads the days of a replay.
func replayOf(v *visit, data replayData) (delivery.ReplayCreate, error) {
	p := wire.Params{Values: url.Values{"from": {data.From}, "to": {data.To}}, Zone: v.zone}
	in := delivery.ReplayCreate{WebhookID: data.Webhook.ID, From: p.Bound("from", false), To: p.Bound("to", true)}
	return in, p.Bad.Err()
}

// replayPage says how many deliveries a replay would send again.
func (s *Server) replayPage(v *visit, hook delivery.Webhook) error {
	query := v.URL.Query()
	data := replayData{Webhook: hook, From: query.Get("from"), To: query.Get("to")}
	if !query.Has("from") {
		data.From = (app.DayOf(v.now, v.zone) - replayDays + 1).Start(v.zone).In(v.zone).Format(time.DateOnly)
	}
	in, err := replayOf(v, data)
	if err == nil {
		data.Count, data.All, err = s.Services.Deliveries.Replayable(v.Context(), v.account.ID, in, maxFailedCounted, v.now)
	}
	return s.showReplay(v, data, err)
}

func (s *Server) showReplay(v *visit, data replayData, wrong error) error {
	title := app.Text{EN: "Resend failed deliveries", VI: "Gửi lại các thông báo thất bại"}
	return s.render(v, wrong, pageHead{"webhook_replay", "webhooks", title}, data)
}

func (s *Server) replayWebhook(v *visit, hook delivery.Webhook) error {
	data := replayData{Webhook: hook, From: v.PostFormValue("from"), To: v.PostFormValue("to")}
	in, err := replayOf(v, data)
	var n int
	if err == nil {
		in.Key = v.form.key
		n, err = s.Services.Deliveries.Replay(v.Context(), v.account.ID, in, v.now)
	}
	if err != nil {
		return s.showReplay(v, data, err)
	}
	return s.redirect(v, webhookPath(hook.ID), app.Textf("Deliveries being resent: %d.", "Đang gửi lại %d thông báo.", n))
}

// AtLeast writes a count; all: it is complete.
func (w words) AtLeast(n int64, all bool) string {
	if all {
		return w.Number(n)
	}
	return w.T("at least ", "ít nhất ") + w.Number(n)
}

// webhookRemoval asks before a webhook is deleted, which has so many pending deliveries.
func (s *Server) webhookRemoval(v *visit, hook delivery.Webhook, pending int64) confirmation {
	waiting := v.T("No deliveries are waiting.", "Không có thông báo nào đang chờ.")
	if pending > 0 {
		waiting = v.T("Waiting deliveries: ", "Số thông báo đang chờ: ") + v.Number(pending) + ". " +
			v.T("They will be cancelled, and your shop will not be notified of them.", "Các thông báo này sẽ bị huỷ và cửa hàng sẽ không được báo.")
	}
	return confirmation{
		Path: webhookPath(hook.ID) + "/delete", Back: webhookPath(hook.ID), section: "webhooks", to: "/webhooks",
		Title: v.T("Delete webhook", "Xoá webhook"), Button: v.T("Delete permanently", "Xoá vĩnh viễn"),
		Texts: []string{
			waiting,
			v.T("New transactions will no longer be sent to this webhook.", "Giao dịch mới sẽ không được gửi đến webhook này nữa."),
			v.T("The delivery history is kept. The secret is permanently deleted.", "Lịch sử gửi vẫn được giữ. Khoá bí mật bị xoá vĩnh viễn."),
		},
		do:   func() error { return s.Services.Deliveries.DeleteWebhook(v.Context(), v.account.ID, hook.ID, v.now) },
		done: app.Text{EN: "Webhook deleted. Its history is kept.", VI: "Đã xoá webhook. Lịch sử gửi vẫn được giữ."},
	}.typeName(v, hook.Name)
}

func (s *Server) removeWebhook(v *visit, hook delivery.Webhook) error {
	pending, err := s.Services.Deliveries.PendingDeliveries(v.Context(), v.account.ID, hook.ID)
	if err != nil {
		return err
	}
	return s.confirm(v, s.webhookRemoval(v, hook, pending))
}
