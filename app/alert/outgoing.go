package alert

import (
	"context"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// This file finds what needs attention on the way out: webhooks, their deliveries, streams.

// webhookAttention lists the active webhooks that have lost their secret or keep
// failing, and then those with a delivery that failed and is tried again.
func (s *Service) webhookAttention(ctx context.Context, accountID int64, now time.Time) ([]Attention, error) {
	hooks, err := s.rooms.Deliveries.Webhooks(ctx, accountID)
	if err != nil || len(hooks) == 0 {
		return nil, err
	}
	healths, err := s.rooms.Deliveries.WebhookHealths(ctx, accountID, now)
	if err != nil {
		return nil, err
	}
	var list, retries []Attention
	for _, hook := range hooks {
		if !hook.IsActive {
			continue
		}
		id, name, health := strconv.FormatInt(hook.ID, 10), app.Isolated(hook.Name), healths[hook.ID]
		if hook.SecretLost {
			list = append(list, Attention{
				Kind: AttentionWebhook, Key: "secret of webhook " + id,
				Name: app.Textf("Webhook “%s” has lost its secret", "Webhook “%s” đã mất khoá bí mật", name),
				Text: app.Textf("Webhook “%s” has lost its secret, so nothing is sent to your shop. Rotate the secret and waiting deliveries are sent.",
					"Webhook “%s” đã mất khoá bí mật nên không gửi được gì đến cửa hàng. Hãy đổi khoá bí mật, các thông báo đang chờ sẽ được gửi ngay.",
					name),
				ID: hook.ID, SecretLost: true, Action: app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"},
			})
			continue
		}
		if hook.Silent {
			list = append(list, Attention{
				Kind: AttentionWebhook, Key: "silent webhook " + id,
				Name: app.Textf("Webhook “%s” gets nothing", "Webhook “%s” không nhận được gì", name),
				Text: app.Textf("Webhook “%s” gets nothing: what it is limited to is no longer linked or no longer entered.",
					"Webhook “%s” không nhận được gì: tài khoản hoặc số nhận tiền của nó đã bị xoá.", name),
				ID: hook.ID, Action: app.Text{EN: "Edit webhook", VI: "Sửa webhook"},
			})
		}
		failing, err := s.failing(ctx, accountID, health)
		if err != nil {
			return nil, err
		}
		switch {
		case failing:
			list = append(list, Attention{
				Kind: AttentionWebhook, Key: "webhook " + id,
				Name: app.Textf("Webhook “%s” is not reaching your shop", "Webhook “%s” không gửi được", name),
				Text: app.Textf("Webhook “%s” is not reaching your shop: the last %d attempts failed.",
					"Webhook “%s” không gửi được: %d lần gửi gần nhất đều thất bại.", name, health.FailedInRow),
				ID: hook.ID, Action: app.Text{EN: "See why", VI: "Xem lý do"},
			})
		case health.Retrying > 0:
			retries = append(retries, s.retryAttention(hook, health, now))
		}
	}
	return append(list, retries...), nil
}

// failing reports whether WorryingFailures attempts in a row have failed. Test
// sends aren't counted: whoever sends one sees its result.
func (s *Service) failing(ctx context.Context, accountID int64, h delivery.WebhookHealth) (bool, error) {
	if h.FailedInRow < WorryingFailures {
		return false, nil
	}
	// Few are read first: there are hardly ever tests among them.
	for _, size := range []int{WorryingFailures, CountedUpTo} {
		attempts, _, err := s.rooms.Deliveries.History(ctx, accountID,
			delivery.HistoryFilter{WebhookID: h.WebhookID, Page: app.Page{Number: 1, Size: size}})
		if err != nil {
			return false, err
		}
		failed := 0
		if len(attempts) < size {
			failed = max(0, int(h.FailedInRow)-len(attempts)) // these were pruned
		}
		for _, a := range attempts[:min(len(attempts), int(h.FailedInRow))] {
			if a.Delivery.TransactionID != 0 {
				failed++
			}
		}
		if failed >= WorryingFailures {
			return true, nil
		}
	}
	return false, nil
}

// retryAttention says that a webhook has deliveries that failed and are tried
// again. It stands on the overview from the first failure on. There are no alerts
// about it.
func (s *Service) retryAttention(hook delivery.Webhook, h delivery.WebhookHealth, now time.Time) Attention {
	name := app.Isolated(hook.Name)
	text := counted(h.Retrying, "transaction could not be delivered yet", "transactions could not be delivered yet",
		"giao dịch chưa báo được cho cửa hàng")
	if h.Retrying == CountedUpTo {
		text = app.Text{EN: "At least " + text.EN, VI: "Ít nhất " + text.VI}
	}
	next := app.Text{EN: "is being tried again", VI: "đang thử lại"}
	if h.RetryAt.After(now) {
		at := h.RetryAt.In(s.zone).Format("15:04:05")
		next = app.Text{EN: "next attempt at " + at, VI: "thử lại lúc " + at}
	}
	return Attention{
		Kind: AttentionRetry, Key: "retry " + strconv.FormatInt(hook.ID, 10), ID: hook.ID, Action: app.Text{EN: "See why", VI: "Xem lý do"},
		Name: app.Textf("Webhook “%s” is trying again", "Webhook “%s” đang thử lại", name),
		Text: app.Text{EN: "Webhook “" + name + "”: " + text.EN + ", " + next.EN + ".",
			VI: "Webhook “" + name + "”: " + text.VI + ", " + next.VI + "."},
	}
}

// failedAttention counts the deliveries that failed lately and weren't resent.
func (s *Service) failedAttention(ctx context.Context, accountID int64, now time.Time) ([]Attention, error) {
	since := now.Add(-app.Recently)
	failed, more, err := s.rooms.Deliveries.FailedDeliveries(ctx, accountID, delivery.Filter{From: since}, CountedUpTo)
	if err != nil || len(failed) == 0 {
		return nil, err
	}
	text := counted(int64(len(failed)), "delivery failed in the last 24 hours. Your shop has not confirmed the transaction.",
		"deliveries failed in the last 24 hours. Your shop has not confirmed the transactions.",
		"thông báo thất bại trong 24 giờ qua. Cửa hàng chưa xác nhận đã nhận giao dịch.")
	if more {
		text = app.Text{EN: "More than " + text.EN, VI: "Hơn " + text.VI}
	}
	return []Attention{{
		Kind: AttentionFailed, Key: "failed", Text: text,
		Name:  app.Text{EN: "Deliveries failed in the last 24 hours", VI: "Có thông báo thất bại trong 24 giờ qua"},
		Since: app.DayOf(since, s.zone), Action: app.Text{EN: "Review and resend", VI: "Xem và gửi lại"},
	}}, nil
}

// worryingStreamFailure is how long a stream must fail before it needs attention. Less
// may be a restart of the broker.
const worryingStreamFailure = time.Minute

// streamAttention lists the active streams that have lost their secret, or keep failing.
func (s *Service) streamAttention(ctx context.Context, accountID int64, now time.Time) (list []Attention, _ error) {
	streams, err := s.rooms.Streams.Streams(ctx, accountID)
	for _, st := range streams {
		id, name := strconv.FormatInt(st.ID, 10), app.Isolated(st.Name)
		switch {
		case !st.IsActive:
		case st.SecretLost:
			list = append(list, Attention{
				Kind: AttentionStream, Key: "secret of stream " + id,
				Name: app.Textf("Stream “%s” has lost its secret", "Luồng “%s” đã mất khoá bí mật", name),
				Text: app.Textf("Stream “%s” has lost its secret and its password, so nothing is sent. "+
					"Rotate the secret, then enter the password again.",
					"Luồng “%s” đã mất khoá bí mật và mật khẩu nên không gửi được gì. Hãy đổi khoá bí mật rồi nhập lại mật khẩu.", name),
				ID: st.ID, SecretLost: true, Action: app.Text{EN: "Rotate secret", VI: "Đổi khoá bí mật"},
			})
		case !st.FailingSince.IsZero() && now.Sub(st.FailingSince) >= worryingStreamFailure:
			at := app.WriteTime(st.FailingSince, s.zone)
			list = append(list, Attention{
				Kind: AttentionStream, Key: "stream " + id,
				Name: app.Textf("Stream “%s” is not reaching its broker", "Luồng “%s” không gửi được", name),
				Text: app.Text{EN: "Stream “" + name + "” has not reached its broker since " + at.EN + ".",
					VI: "Luồng “" + name + "” không gửi được từ " + at.VI + "."}.And(st.Problem),
				ID: st.ID, Action: app.Text{EN: "See why", VI: "Xem lý do"},
			})
		}
	}
	return list, err
}
