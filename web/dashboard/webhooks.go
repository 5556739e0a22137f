package dashboard

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"baoco/app"
)

func webhookPath(id int64) string { return "/webhooks/" + strconv.FormatInt(id, 10) }

// webhookRow is a webhook in the list.
type webhookRow struct {
	app.Webhook
	BankAccount app.BankAccount // zero: all, or one that is no longer linked
	Health      app.WebhookHealth
	Chart       hoursChart
}

type webhooksData struct {
	Rows []webhookRow
	Form webhookForm // shown if there is no webhook yet
}

func (s *Server) webhooksPage(v *visit) error {
	hooks, err := s.Service.Webhooks(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	healths, err := s.Service.WebhookHealths(v.Context(), v.account.ID, v.now)
	if err != nil {
		return err
	}
	banks, err := s.Service.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := webhooksData{Form: webhookForm{Type: string(app.WebhookIn), Banks: banks}}
	for _, hook := range hooks {
		health := healths[hook.ID]
		data.Rows = append(data.Rows, webhookRow{hook, bankAccount(banks, hook.BankAccountID), health, v.drawHours(health, 168, 32)})
	}
	return s.render(v, "webhooks", "webhooks", app.Text{EN: "Webhooks", VI: "Webhook"}, data)
}

// webhookForm is the form of a webhook as it was entered.
type webhookForm struct {
	ID                             int64 // 0: a new one
	Name, URL, Type, BankAccountID string
	Banks                          []app.BankAccount
	Secret, Script                 string // of a new webhook of app.WebhookSheet: the script is deployed first, and holds the token
}

// fillScript shows the script of a sheet beside the form, under the same secret for
// as long as the form is refused.
func (f *webhookForm) fillScript(v *visit) {
	if f.Secret == "" {
		f.Secret = app.NewSecret()
	}
	f.Script = app.SheetScript(f.Secret, v.Lang)
}

// readWebhookForm reads the form that was sent.
func readWebhookForm(v *visit) (form webhookForm, in app.WebhookCreate, err error) {
	form = webhookForm{
		Name: v.PostFormValue("name"), URL: strings.TrimSpace(v.PostFormValue("webhook_url")), Type: v.PostFormValue("type"),
		BankAccountID: v.PostFormValue("bank_account_id"),
	}
	in = app.WebhookCreate{Name: form.Name, URL: form.URL, Type: app.WebhookType(form.Type), Key: v.form.key}
	if app.WebhookKind(v.PostFormValue("kind")) == app.WebhookSheet {
		form.Secret = v.PostFormValue("secret")
		in.Kind, in.Secret = app.WebhookSheet, form.Secret
		form.fillScript(v)
	}
	in.BankAccountID, err = readBankAccountID(form.BankAccountID)
	return form, in, err
}

func (s *Server) newWebhookPage(v *visit) error {
	form := webhookForm{Type: string(app.WebhookIn)}
	if app.WebhookKind(v.URL.Query().Get("kind")) == app.WebhookSheet {
		form.fillScript(v)
	}
	return s.showNewWebhook(v, form, nil)
}

func (s *Server) showNewWebhook(v *visit, form webhookForm, wrong error) (err error) {
	if v.inGuide() {
		return s.showGuide(v, guideData{Open: "webhook", Webhook: form}, wrong)
	}
	if form.Banks, err = s.Service.BankAccounts(v.Context(), v.account.ID); err != nil {
		return err
	}
	return s.renderForm(v, wrong, "webhook_new", "webhooks", app.Text{EN: "Create webhook", VI: "Tạo webhook"}, form)
}

// addWebhook answers with the page that shows the new secret.
func (s *Server) addWebhook(v *visit) error {
	form, in, bad := readWebhookForm(v)
	var all app.Invalid
	all.Merge(s.Service.CheckWebhook(in))
	all.Merge(bad)
	hook, secret, err := app.Webhook{}, "", all.Err()
	if err == nil {
		hook, secret, err = s.Service.CreateWebhook(v.Context(), v.account.ID, in, v.now)
	}
	if err != nil {
		return s.showNewWebhook(v, form, err)
	}
	return s.showSecret(v, secretData{Webhook: hook, Secret: secret, New: true})
}

// secretData is the page of a new secret. Secret is empty if it was shown before.
type secretData struct {
	Webhook   app.Webhook
	Secret    string
	New       bool // the webhook is new too
	Plain     string
	Receivers []receiver
	Script    string // of a webhook of app.WebhookSheet, which has no receivers
}

func (s *Server) showSecret(v *visit, data secretData) error {
	title := app.Text{EN: "Save this secret now", VI: "Hãy lưu khoá bí mật này ngay"}
	if data.Secret == "" {
		title = app.Text{EN: "Secret already shown", VI: "Khoá bí mật đã được hiển thị"}
	}
	data.Plain = strings.TrimSpace(data.Webhook.PlainWarning().In(v.Lang))
	if data.Webhook.Kind == app.WebhookSheet {
		data.Script = app.SheetScript(data.Secret, v.Lang)
	}
	data.Receivers = receivers(data.Webhook, data.Secret, v.Lang)
	return s.render(v, "webhook_secret", "webhooks", title, data)
}

// secretFile answers with a secret as a file. The page of a new secret sends the
// secret here, since the server keeps no copy.
func (s *Server) secretFile(v *visit) error {
	hook, err := s.pageWebhook(v)
	if err != nil {
		return err
	}
	secret := v.PostFormValue("secret")
	if !app.IsSecret(secret) {
		return app.InvalidField("secret", "is not one of a webhook", "không phải khoá bí mật của webhook")
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="baoco-webhook-`+strconv.FormatInt(hook.ID, 10)+`.env"`)
	_, _ = v.w.Write([]byte("# baoco, webhook " + strconv.FormatInt(hook.ID, 10) + "\nBAOCO_SECRET=" + secret + "\n"))
	return nil
}

// pageWebhook is the webhook that the path names.
func (s *Server) pageWebhook(v *visit) (app.Webhook, error) {
	return s.Service.Webhook(v.Context(), v.account.ID, v.pathID())
}

// Host is the host of a URL, without the path and query, which may be long or
// secret.
func (w words) Host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return cmp.Or(u.Host, raw)
}

// Plain tells whether a URL is plain http.
func (w words) Plain(raw string) bool { return app.IsPlainHTTP(raw) }

// PlainHTTPWarning is what is said of such a URL.
func (w words) PlainHTTPWarning() string { return app.PlainHTTPWarning.In(w.Lang) }

// Rotating tells whether a webhook has two secrets now.
func (w words) Rotating(hook app.Webhook) bool { return hook.Rotating(w.now) }

// WebhookTypeText names the directions of which a webhook gets transactions.
func (w words) WebhookTypeText(t app.WebhookType) string { return t.Name().In(w.Lang) }
