package api

import (
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/delivery"
	"baoco/web/wire"
)

// WebhookJSON is the schema Webhook of openapi.yaml.
type WebhookJSON struct {
	ID              int64                `json:"id"`
	Name            string               `json:"name"`
	URL             string               `json:"webhook_url"`
	BankAccountID   *int64               `json:"bank_account_id"` // the first one; null: all
	Type            delivery.WebhookType `json:"type"`
	IsActive        bool                 `json:"is_active"`
	CreatedAt       string               `json:"created_at"`
	Kind            delivery.WebhookKind `json:"kind,omitempty"`             // missing: standard
	Auth            delivery.SepayAuth   `json:"auth,omitempty"`             // of the kind sepay
	SecretLost      bool                 `json:"secret_lost,omitempty"`      // it must be rotated before anything is sent
	BankAccountIDs  []int64              `json:"bank_account_ids,omitempty"` // if there are several
	CodePrefix      string               `json:"code_prefix,omitempty"`      // the first one; missing: all transactions
	CodePrefixes    []string             `json:"code_prefixes,omitempty"`    // if there are several
	CodeOnly        bool                 `json:"code_only,omitempty"`
	ReceivingNumber string               `json:"receiving_number,omitempty"` // missing: all transactions
	Headers         []string             `json:"headers,omitempty"`          // the names of its own headers
	Silent          bool                 `json:"silent,omitempty"`           // it gets nothing
}

// EncodeWebhook writes w with its times in zone.
func EncodeWebhook(w delivery.Webhook, zone *time.Location) WebhookJSON {
	kind := w.Kind
	if kind == delivery.WebhookStandard {
		kind = ""
	}
	encoded := WebhookJSON{
		ID: w.ID, Name: w.Name, URL: w.URL, Type: w.Type, IsActive: w.IsActive, CreatedAt: app.FormatTime(w.CreatedAt, zone), Kind: kind,
		SecretLost: w.SecretLost, Silent: w.Silent, Auth: w.Auth, CodeOnly: w.CodeOnly, Headers: w.HeaderNames,
		ReceivingNumber: w.ReceivingNumber,
	}
	if len(w.CodePrefixes) > 0 {
		encoded.CodePrefix = w.CodePrefixes[0]
	}
	if len(w.CodePrefixes) > 1 {
		encoded.CodePrefixes = w.CodePrefixes
	}
	if len(w.BankAccountIDs) > 0 {
		encoded.BankAccountID = &w.BankAccountIDs[0]
	}
	if len(w.BankAccountIDs) > 1 {
		encoded.BankAccountIDs = w.BankAccountIDs
	}
	return encoded
}

func (s *Server) listWebhooks(q *Request) error {
	return listed(q, s.service.Deliveries.Webhooks, func(hook delivery.Webhook) WebhookJSON { return EncodeWebhook(hook, s.zone) },
		"webhooks", app.Text{EN: "Webhooks.", VI: "Danh sách webhook."})
}

func (s *Server) createWebhook(q *Request) error {
	known := []string{"name", "kind", "webhook_url", "type", "bank_account_id", "bank_account_ids", "code_prefix", "code_prefixes",
		"code_only", "headers", "receiving_number"}
	if q.body.Get("kind").Text == string(delivery.WebhookSepay) {
		known = append(known, "auth", "secret")
	}
	f, err := q.fields(known...)
	if err != nil {
		return err
	}
	in := delivery.WebhookCreate{
		Name: f.required("name"), URL: f.required("webhook_url"), Type: delivery.WebhookType(f.required("type")),
		BankAccountIDs: f.bankAccounts(), CodePrefixes: f.texts("code_prefixes"), CodeOnly: f.truth("code_only"),
		Headers: f.headers(), ReceivingNumber: f.given("receiving_number"), Auth: delivery.SepayAuth(f.given("auth")), Secret: f.given("secret"),
	}
	if prefix := f.given("code_prefix"); prefix != "" {
		if err := app.CheckCodePrefix("code_prefix", prefix); err != nil {
			f.bad.Merge(err)
		} else {
			in.CodePrefixes = append(in.CodePrefixes, prefix)
		}
	}
	if kind := f.optional("kind"); kind != nil {
		in.Kind = delivery.WebhookKind(*kind)
	}
	in.Key, err = q.idempotencyKey()
	f.bad.Merge(err)
	f.bad.Merge(s.service.Deliveries.CheckWebhook(in))
	if err := f.bad.Err(); err != nil {
		return err
	}
	hook, secret, err := s.service.Deliveries.CreateWebhook(q.Context(), q.account(), in, q.now)
	if err != nil {
		return f.asSent(err)
	}
	if secret == "" {
		return q.ok(nil, "The webhook was created before; its secret is not shown again.",
			"Webhook đã được tạo trước đó; khoá bí mật sẽ không hiển thị lại.", member{"webhook", EncodeWebhook(hook, s.zone)})
	}
	warning, _ := s.service.Deliveries.Warning(q.Context(), hook)
	members := []member{{"webhook", EncodeWebhook(hook, s.zone)}, {"secret", secret}}
	if hook.Kind == delivery.WebhookSheet {
		members = append(members, member{"script", delivery.SheetScript(secret, wire.Lang(q.Request))})
	}
	return q.answer(nil, http.StatusCreated, "The webhook was created. Store the secret now: it is not shown again."+warning.EN,
		"Đã tạo webhook. Hãy lưu khoá bí mật ngay: khoá bí mật sẽ không hiển thị lại."+warning.VI, members...)
}

func (s *Server) showWebhook(q *Request) error {
	hook, err := s.service.Deliveries.Webhook(q.Context(), q.account(), q.pathID())
	return q.ok(err, "The webhook.", "Webhook.", member{"webhook", EncodeWebhook(hook, s.zone)})
}

func (s *Server) updateWebhook(q *Request) error {
	before, f, err := found(q, s.service.Deliveries.Webhook, "name", "webhook_url", "type", "is_active", "bank_account_ids",
		"code_prefixes", "code_only", "headers", "receiving_number")
	if err != nil {
		return err
	}
	u := delivery.WebhookUpdate{
		Name: f.optional("name"), URL: f.optional("webhook_url"), Type: (*delivery.WebhookType)(f.optional("type")),
		IsActive: f.state("is_active"), CodeOnly: f.state("code_only"), ReceivingNumber: f.optional("receiving_number"),
	}
	if f.has("bank_account_ids") {
		u.BankAccountIDs = new(f.bankAccountList())
	}
	if f.has("code_prefixes") {
		u.CodePrefixes = new(f.texts("code_prefixes"))
	}
	if f.has("headers") {
		u.Headers = new(f.headers())
	}
	f.bad.Merge(s.service.Deliveries.CheckWebhookUpdate(u))
	if f.bad.Err() == nil && u == (delivery.WebhookUpdate{}) {
		f.bad.Add("body", "must have at least one of the fields that can be changed",
			"phải có ít nhất một trường có thể thay đổi")
	}
	if err := f.bad.Err(); err != nil {
		return err
	}
	hook, err := s.service.Deliveries.UpdateWebhook(q.Context(), q.account(), before.ID, u, q.now)
	warning, _ := s.service.Deliveries.Warning(q.Context(), hook)
	return q.ok(err, "The webhook was updated."+warning.EN, "Đã cập nhật webhook."+warning.VI,
		member{"webhook", EncodeWebhook(hook, s.zone)})
}

func (s *Server) toggleWebhook(q *Request) error {
	hook, err := s.service.Deliveries.ToggleWebhook(q.Context(), q.account(), q.pathID(), q.now)
	message := app.Text{EN: "The webhook was enabled.", VI: "Đã bật webhook."}
	if !hook.IsActive {
		message = app.Text{EN: "The webhook was disabled.", VI: "Đã tắt webhook."}
	}
	type state struct {
		ID       int64 `json:"id"`
		IsActive bool  `json:"is_active"`
	}
	return q.ok(err, message.EN, message.VI, member{"webhook", state{hook.ID, hook.IsActive}})
}

func (s *Server) deleteWebhook(q *Request) error {
	return q.ok(s.service.Deliveries.DeleteWebhook(q.Context(), q.account(), q.pathID(), q.now),
		"The webhook was deleted; its history stays.", "Đã xoá webhook; lịch sử gửi vẫn được giữ.")
}

func (s *Server) rotateSecret(q *Request) error {
	hook, f, err := found(q, s.service.Deliveries.Webhook, "overlap_hours")
	if err != nil {
		return err
	}
	hours := f.whole("overlap_hours", 24, 0, int(delivery.MaxOverlap/time.Hour),
		app.Text{EN: "must be a whole number from 0 to 168", VI: "phải là số nguyên từ 0 đến 168"})
	if err := f.bad.Err(); err != nil {
		return err
	}
	secret, err := s.service.Deliveries.RotateSecret(q.Context(), q.account(), hook.ID, delivery.SecretRotate{
		Overlap: time.Duration(hours) * time.Hour,
	}, q.now)
	return q.ok(err, "The webhook has a new secret. Store it now: it is not shown again.",
		"Webhook đã có khoá bí mật mới. Hãy lưu ngay: khoá bí mật sẽ không hiển thị lại.", member{"secret", secret})
}

func (s *Server) activateSecret(q *Request) error {
	return q.ok(s.service.Deliveries.ActivateSecret(q.Context(), q.account(), q.pathID(), q.now),
		"The new secret signs everything from now on.", "Từ bây giờ mọi thứ được ký bằng khoá bí mật mới.")
}
