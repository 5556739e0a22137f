package dashboard

import (
	"strconv"

	"baoco/app"
)

// CanSendNow tells whether the delivery is pending, and nothing holds it back.
func (d deliveryData) CanSendNow() bool { return d.SendableNow(d.Deleted, d.Webhook) == nil }

// Waiting counts the deliveries that can be sent now.
func (d webhookData) Waiting() int64 {
	if d.Sends() != nil {
		return 0
	}
	return d.Pending
}

func (s *Server) sendNow(v *visit) error {
	d, err := s.deliveryDetails(v)
	if err != nil {
		return err
	}
	if err := s.Service.SendNow(v.Context(), v.account.ID, d.ID, v.form.key, v.now); err != nil {
		return s.showDelivery(v, deliveryData{DeliveryDetails: d}, err)
	}
	return s.redirect(v, "/deliveries/"+strconv.FormatInt(d.ID, 10), app.Text{EN: "Sending now.", VI: "Đang gửi ngay."})
}

func (s *Server) sendWaiting(v *visit) error {
	hook, err := s.pageWebhook(v)
	if err != nil {
		return err
	}
	n, err := s.Service.SendWaiting(v.Context(), v.account.ID, hook.ID, v.form.key, v.now)
	if err != nil {
		return err
	}
	return s.redirect(v, webhookPath(hook.ID), app.Textf("Deliveries being sent now: %d.", "Đang gửi ngay %d lượt.", n))
}
