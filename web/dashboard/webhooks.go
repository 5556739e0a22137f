package dashboard

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"baoco/app"
	"baoco/app/access"
	"baoco/app/delivery"
)

func webhookPath(id int64) string { return "/webhooks/" + strconv.FormatInt(id, 10) }

type webhookRow struct {
	delivery.Webhook
	Only   string // bank accounts and codes that it is limited to; empty: no limit
	Health delivery.WebhookHealth
	Chart  hoursChart
}

type webhooksData struct {
	Rows []webhookRow
	Form webhookForm // shown if there is no webhook yet
}

func (s *Server) webhooksPage(v *visit) error {
	hooks, err := s.Services.Deliveries.Webhooks(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	healths, err := s.Services.Deliveries.WebhookHealths(v.Context(), v.account.ID, v.now)
	if err != nil {
		return err
	}
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	data := webhooksData{Form: webhookForm{Type: string(delivery.WebhookIn)}}
	if len(hooks) == 0 {
		if err := s.fillChoices(v, &data.Form); err != nil {
			return err
		}
	}
	for _, hook := range hooks {
		health := healths[hook.ID]
		data.Rows = append(data.Rows,
			webhookRow{hook, v.webhookOnly(hook, banks), health, v.drawHours(health, 168, 32)})
	}
	return s.render(v, nil, pageHead{"webhooks", "webhooks", app.Text{EN: "Webhooks", VI: "Webhook"}}, data)
}

type webhookForm struct {
	ID              int64 // 0: a new one
	Name, URL, Type string
	Kind            delivery.WebhookKind
	Auth            delivery.SepayAuth
	BankAccountIDs  []int64
	CodePrefixes    []string
	CodeOnly        bool
	Headers         string   // own headers as they were entered, one on each line
	HeaderNames     []string // the names of the headers that it has; none if it is new
	NoHeaders       bool     // its own headers must be removed
	Banks           []limitChoice
	numberChoice
	Prefixes       []prefixChoice // of the code patterns
	Secret, Script string         // of a new webhook of delivery.WebhookSheet: the script is deployed first, and holds the token
}

// PrefixText is the chosen prefixes in one text.
func (f webhookForm) PrefixText() string { return strings.Join(f.CodePrefixes, " ") }

// prefixChoice is a prefix of payment codes that a webhook may be limited to.
type prefixChoice struct {
	Prefix string
	Chosen bool
}

// fillScript shows the script of a sheet with the form. The script keeps its secret while the
// form is refused.
func (f *webhookForm) fillScript(v *visit) {
	if f.Secret == "" {
		f.Secret = delivery.NewSecret()
	}
	f.Script = delivery.SheetScript(f.Secret, v.Lang)
}

func readWebhookForm(v *visit) (form webhookForm, in delivery.WebhookCreate, err error) {
	form = webhookForm{
		Name: v.PostFormValue("name"), URL: strings.TrimSpace(v.PostFormValue("webhook_url")), Type: v.PostFormValue("type"),
		Kind: delivery.WebhookKind(v.PostFormValue("kind")), Auth: delivery.SepayAuth(v.PostFormValue("auth")),
		numberChoice: numberChoice{ReceivingNumber: v.PostFormValue("receiving_number")}, CodePrefixes: v.PostForm["code_prefix"],
		CodeOnly: v.PostFormValue("code_only") != "",
		Headers:  strings.TrimSpace(v.PostFormValue("headers")), NoHeaders: v.PostFormValue("no_headers") != "",
	}
	form.BankAccountIDs, err = v.chosenBankAccounts()
	in = delivery.WebhookCreate{Name: form.Name, URL: form.URL, Type: delivery.WebhookType(form.Type), Kind: form.Kind, Auth: form.Auth,
		BankAccountIDs: form.BankAccountIDs, CodePrefixes: form.CodePrefixes, CodeOnly: form.CodeOnly, Secret: v.PostFormValue("secret"),
		ReceivingNumber: form.ReceivingNumber, Key: v.form.key}
	for line := range strings.Lines(form.Headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		in.Headers = append(in.Headers, delivery.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	if form.Kind == delivery.WebhookSheet {
		form.Secret = in.Secret
		form.fillScript(v)
	}
	return form, in, err
}

func (s *Server) newWebhookPage(v *visit) error {
	form := webhookForm{Type: string(delivery.WebhookIn)}
	switch kind := delivery.WebhookKind(v.URL.Query().Get("kind")); kind {
	case delivery.WebhookSheet:
		form.Kind = kind
		form.fillScript(v)
	case delivery.WebhookSepay:
		form.Kind = kind
	}
	return s.showNewWebhook(v, form, nil)
}

// fillChoices fills in the bank accounts and codes that a webhook may be limited to.
func (s *Server) fillChoices(v *visit, form *webhookForm) error {
	banks, err := s.Services.Ledger.BankAccounts(v.Context(), v.account.ID)
	if err != nil {
		return err
	}
	form.Banks = v.limitChoices(access.BankAccountLimit{IDs: form.BankAccountIDs}, banks)
	form.numberChoice = chooseNumber(form.ReceivingNumber, banks)
	prefixes, err := s.codePrefixes(v)
	for _, prefix := range slices.Compact(slices.Sorted(slices.Values(append(prefixes, form.CodePrefixes...)))) {
		form.Prefixes = append(form.Prefixes, prefixChoice{prefix, slices.Contains(form.CodePrefixes, prefix)})
	}
	return err
}

// webhookOnly writes the limits of a webhook; empty: there are none.
func (v *visit) webhookOnly(hook delivery.Webhook, banks []app.BankAccount) string {
	only := v.onlyOf(hook.BankAccountIDs, strings.Join(hook.CodePrefixes, ", "), hook.ReceivingNumber, banks)
	if hook.CodeOnly && hook.CodePrefixes == nil {
		only = strings.TrimPrefix(only+"; "+v.T("with a payment code", "có mã thanh toán"), "; ")
	}
	return only
}

func (s *Server) showNewWebhook(v *visit, form webhookForm, wrong error) error {
	if err := s.fillChoices(v, &form); err != nil {
		return err
	}
	return s.render(v, wrong, pageHead{"webhook_new", "webhooks", app.Text{EN: "Create webhook", VI: "Tạo webhook"}}, form)
}

var webhookStep = guideStep{
	Name: "webhook", Title: app.Text{EN: "Webhook to your shop", VI: "Webhook báo cho cửa hàng"}, To: "/webhooks", Optional: true,
	form: "webhook_new", read: (*Server).readWebhookStep, show: (*Server).showWebhookStep,
}

// readWebhookStep reads the step, which is done once an attempt succeeded.
func (s *Server) readWebhookStep(v *visit) (guideProgress, error) {
	hooks, err := s.Services.Deliveries.Webhooks(v.Context(), v.account.ID)
	if err != nil || len(hooks) == 0 {
		return doneIf(""), err
	}
	sum, err := s.Services.Ledger.Overview(v.Context(), v.account.ID)
	if err != nil || sum.WebhooksSent <= sum.WebhooksErrors {
		return doneIf(""), err
	}
	return doneByFirst(hooks, nil, func(hook delivery.Webhook) string { return hook.Name })
}

// guideWebhook is a webhook with its last attempt; nil: none was made.
type guideWebhook struct {
	delivery.Webhook
	Last *delivery.Attempt
}

// guideWebhooksShown is how many webhooks the guide shows and tests at most.
const guideWebhooksShown = 10

func (s *Server) guideWebhooks(v *visit) (list []guideWebhook, err error) {
	hooks, err := s.Services.Deliveries.Webhooks(v.Context(), v.account.ID)
	for _, hook := range hooks[:min(len(hooks), guideWebhooksShown)] {
		f := delivery.HistoryFilter{WebhookID: hook.ID, Page: app.Page{Number: 1, Size: 1}}
		last, _, err := s.Services.Deliveries.History(v.Context(), v.account.ID, f)
		if err != nil {
			return nil, err
		}
		one := guideWebhook{Webhook: hook}
		if len(last) > 0 {
			one.Last = &last[0]
		}
		list = append(list, one)
	}
	return list, err
}

// webhookStepData is the step: the webhooks, or the form of the first webhook.
type webhookStepData struct {
	Webhooks []guideWebhook
	Form     webhookForm
}

func (s *Server) showWebhookStep(v *visit, page view, sent any) (html template.HTML, err error) {
	var data webhookStepData
	if data.Webhooks, err = s.guideWebhooks(v); err != nil {
		return "", err
	}
	var refused bool
	if data.Form, refused = sent.(webhookForm); !refused {
		data.Form.Type = string(delivery.WebhookIn)
		if err := s.fillChoices(v, &data.Form); err != nil {
			return "", err
		}
	}
	return s.showPart(page, "guide-webhook", data)
}

// addWebhook makes a webhook and answers with the page that shows its secret.
func (s *Server) addWebhook(v *visit) error {
	form, in, bad := readWebhookForm(v)
	var all app.Invalid
	all.Merge(s.Services.Deliveries.CheckWebhook(in))
	all.Merge(bad)
	hook, secret, err := delivery.Webhook{}, "", all.Err()
	if err == nil {
		hook, secret, err = s.Services.Deliveries.CreateWebhook(v.Context(), v.account.ID, in, v.now)
	}
	if err != nil {
		return s.showNewWebhook(v, form, err)
	}
	return s.showSecret(v, hook, secret, true)
}

// showSecret shows the new secret of a webhook; made: the webhook is new too.
func (s *Server) showSecret(v *visit, hook delivery.Webhook, secret string, made bool) error {
	name := app.Isolated(hook.Name)
	data := secretData{
		Path: webhookPath(hook.ID), Secret: secret, New: made, Plain: strings.TrimSpace(s.warning(v, hook).In(v.Lang)),
		Receivers: receivers(hook, secret, v.Lang),
		Lead:      app.Textf("Webhook “%s” has a new secret.", "Webhook “%s” đã có khoá bí mật mới.", name),
		Use: app.Text{EN: "Your shop uses this secret to verify that calls come from baoco.",
			VI: "Cửa hàng dùng khoá bí mật này để xác thực từng lần gửi của baoco."},
	}
	if hook.Kind == delivery.WebhookSepay {
		data.Help = "sepay-shop"
		data.Use = app.Text{EN: "It is what your shop has to have as SePay’s key.", VI: "Đây là khoá mà cửa hàng phải khai như khoá của SePay."}
	}
	if made {
		data.Lead = app.Textf("Created webhook “%s”.", "Đã tạo webhook “%s”.", name)
	}
	if hook.Rotating(v.now) {
		data.OverlapTo = hook.OverlapTo
	}
	if hook.Kind == delivery.WebhookSheet {
		data.Script = delivery.SheetScript(secret, v.Lang)
	}
	return s.showSigningSecret(v, data)
}

// warning is the text of Service.Warning, without the part that can't be read.
func (s *Server) warning(v *visit, hook delivery.Webhook) app.Text {
	warning, _ := s.Services.Deliveries.Warning(v.Context(), hook)
	return warning
}

func (s *Server) secretFile(v *visit, hook delivery.Webhook) error {
	return v.sendSecret("webhook", hook.ID)
}

func (s *Server) pageWebhook(v *visit) (delivery.Webhook, error) {
	return s.Services.Deliveries.Webhook(v.Context(), v.account.ID, v.pathID())
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

// Plain reports whether a URL is plain http.
func (w words) Plain(raw string) bool { return delivery.IsPlainHTTP(raw) }

// PlainHTTPWarning is the warning about a URL of plain http.
func (w words) PlainHTTPWarning() string { return delivery.PlainHTTPWarning.In(w.Lang) }

// Rotating reports whether a webhook has two secrets now.
func (w words) Rotating(hook delivery.Webhook) bool { return hook.Rotating(w.now) }
