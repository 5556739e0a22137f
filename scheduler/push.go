package scheduler

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/alert"
	"baoco/app/delivery"
	"baoco/app/services"
	"baoco/app/upkeep"
	"baoco/app/webpush"
	"baoco/scheduler/courier"
)

// push begins to send the due messages to phones, and doesn't wait for them.
func (s *Scheduler) push(ctx context.Context, service *services.All) {
	list, err := service.Alerts.PaymentPushes(ctx, time.Now())
	s.logFault(ctx, "push payments", err)
	s.sendPushes(service, list)
}

func (s *Scheduler) pushAttention(ctx context.Context, service *services.All, in upkeep.Installation) {
	list, err := service.Alerts.AttentionPushes(ctx, in, time.Now())
	s.logFault(ctx, "push what needs attention", err)
	s.sendPushes(service, list)
}

func (s *Scheduler) sendPushes(service *services.All, list []alert.Push) {
	for _, p := range list {
		s.running.Go(func() {
			if err := service.Alerts.SendPush(s.ctx, p, time.Now()); err != nil && s.ctx.Err() == nil {
				s.log.Warn("a message to a phone failed", "account", p.Phone.AccountID, "phone", p.Phone.ID, "err", err)
			}
		})
	}
}

// Push sends a message to a phone, as [alert.Config] says. The endpoint is a secret: errors
// name its host only.
func (a *Alerter) Push(ctx context.Context, p alert.Push) error {
	browser, err := webpush.ReadBrowser(p.Phone.P256dh, p.Phone.Auth)
	if err != nil {
		return err
	}
	body, err := browser.Encrypt(p.Payload)
	if err != nil {
		return err
	}
	contact := p.Phone.Origin
	if !strings.HasPrefix(contact, "https://") {
		contact = ""
	}
	authorization, err := webpush.Authorization(p.Key, p.Phone.Endpoint, contact, time.Now())
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Phone.Endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the endpoint of phone %d can't be read", p.Phone.ID)
	}
	for name, value := range map[string]string{
		"Authorization": authorization, "Content-Encoding": "aes128gcm", "Content-Type": "application/octet-stream",
		"TTL": strconv.Itoa(int(p.TTL.Seconds())), "Urgency": "high", "Topic": p.Topic, "User-Agent": delivery.UserAgent(a.version),
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := a.pushes.Do(request)
	if err != nil {
		if class, _ := courier.Classify(err, delivery.CauseConnect); class == delivery.ErrorBlocked {
			return &alert.Error{Text: app.Textf("%s has no public address, so it is no push service.",
				"%s không có địa chỉ công khai nên không phải dịch vụ thông báo.", request.URL.Host)}
		}
		return unreachableAlert(request.URL.Host, err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, chatBody))
	if response.StatusCode/100 == 2 {
		return nil
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	fault := &alert.Error{
		Text: app.Textf("The push service %s answered %d.", "Dịch vụ thông báo %s trả lời %d.", request.URL.Host, response.StatusCode),
		Gone: response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone,
		// An hour is more than anything is tried again.
		RetryAfter: time.Duration(min(max(seconds, 0), 3600)) * time.Second,
	}
	if fault.Gone {
		fault.Text = app.Text{EN: "This browser no longer takes messages, so it was removed here. Turn it on again there.",
			VI: "Trình duyệt này không còn nhận thông báo nên đã được gỡ. Hãy bật lại trên máy đó."}
	}
	return fault
}
