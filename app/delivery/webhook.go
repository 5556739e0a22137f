package delivery

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/appsscript"
)

// MaxWebhooks is how many webhooks an account may have.
const MaxWebhooks = 100

// maxWebhookBankAccounts is how many bank accounts a webhook is limited to at most.
const maxWebhookBankAccounts = 100

// WebhookType is the directions for which a webhook gets deliveries.
type WebhookType string

// The types of a webhook.
const (
	WebhookIn  WebhookType = "IN"
	WebhookOut WebhookType = "OUT"
	WebhookAll WebhookType = "ALL"
)

// Name names the directions.
func (t WebhookType) Name() app.Text {
	switch t {
	case WebhookIn:
		return app.Text{EN: "Money in", VI: "Tiền vào"}
	case WebhookOut:
		return app.Text{EN: "Money out", VI: "Tiền ra"}
	}
	return app.Text{EN: "Money in and out", VI: "Tiền vào và tiền ra"}
}

// Takes reports whether a webhook of this type gets deliveries for d.
func (t WebhookType) Takes(d app.Direction) bool { return t == WebhookAll || string(t) == string(d) }

// WebhookKind is how a webhook is called, and what it answers when it took a
// delivery.
type WebhookKind string

// The kinds of webhooks. A webhook keeps its kind.
const (
	WebhookHTTP  WebhookKind = "http"  // a URL of the shop; 200
	WebhookSheet WebhookKind = "sheet" // a Google Apps Script; the redirect of one that ran
)

// Accepted reports whether an answer is the redirect by which a webhook of the kind
// says that it took the delivery.
func (k WebhookKind) Accepted(status int, location string) bool {
	return k == WebhookSheet && appsscript.Ran(status, location)
}

// Webhook is a URL of the shop that gets a delivery for each transaction.
type Webhook struct {
	ID             int64
	AccountID      int64
	Name           string
	Kind           WebhookKind
	URL            string
	Type           WebhookType
	BankAccountIDs []int64 // in order; nil: all bank accounts
	CodePrefix     string  // with which the payment codes of its transactions begin; empty: all transactions
	IsActive       bool
	CreatedAt      time.Time
	OverlapTo      time.Time // end of the rotation of its secret, see [Secrets]; zero: none
	// ReceivingNumber is the one to which its transactions came; empty: all transactions.
	ReceivingNumber string
	// Silent says that it is limited to bank accounts of which none is linked any more: it
	// gets nothing.
	Silent bool
	// SecretLost says that the secret can't be opened, because its key is gone.
	// Deliveries wait until somebody rotates the secret.
	SecretLost bool
}

// Takes reports whether the webhook gets a delivery for t.
func (w Webhook) Takes(t app.Transaction) bool {
	return w.Type.Takes(t.Type) && (w.BankAccountIDs == nil || slices.Contains(w.BankAccountIDs, t.BankAccountID)) &&
		strings.HasPrefix(t.Code.Text, w.CodePrefix) && (w.ReceivingNumber == "" || w.ReceivingNumber == t.ReceivingNumber)
}

// Rotating reports whether two secrets are valid at now.
func (w Webhook) Rotating(now time.Time) bool { return now.Before(w.OverlapTo) }

// Secrets are the keys that sign a webhook's deliveries, two during a rotation.
// An empty Current is a lost secret: nothing is sent until somebody rotates it.
type Secrets struct {
	Current   string
	Next      string    // empty: no rotation under way
	OverlapTo time.Time // Next takes over then
	ChangedAt time.Time // the last change by a person; zero: never
}

// At gives the secret of signature and checksum at now, and all secrets that
// sign webhook-signature: that one is the first of them.
func (s Secrets) At(now time.Time) (signing string, all []string) {
	switch {
	case s.Next == "":
		return s.Current, []string{s.Current}
	case now.Before(s.OverlapTo):
		return s.Current, []string{s.Current, s.Next}
	}
	return s.Next, []string{s.Next}
}

// Rotated begins a rotation: the present secret stays valid until now+overlap.
func (s Secrets) Rotated(next string, overlap time.Duration, now time.Time) Secrets {
	signing, _ := s.At(now)
	if overlap <= 0 || signing == "" {
		return Secrets{Current: next, ChangedAt: now}
	}
	return Secrets{Current: signing, Next: next, OverlapTo: now.Add(overlap), ChangedAt: now}
}

// SecretsChange says what the secrets of a webhook become, by what they are.
type SecretsChange struct {
	Change func(Secrets) (Secrets, error)
	Key    app.IdempotencyKey
}

// WebhookCreate is a request to create a webhook.
type WebhookCreate struct {
	Name           string
	Kind           WebhookKind // empty: WebhookHTTP
	URL            string
	Type           WebhookType
	BankAccountIDs []int64 // nil: all
	CodePrefix     string  // empty: all
	Secret         string  // one of NewSecret; empty: one is made
	// ReceivingNumber is one of a linked bank account; empty: all.
	ReceivingNumber string
	// Key makes the creation safe to repeat: the second time gives the first
	// webhook again, without its secret.
	Key app.IdempotencyKey
}

// WebhookUpdate changes what is not nil.
type WebhookUpdate struct {
	Name     *string
	URL      *string
	Type     *WebhookType
	IsActive *bool // as [Service.ToggleWebhook] has it
}

// CheckWebhook checks the fields of in, without looking at the storage.
func (s *Service) CheckWebhook(in WebhookCreate) error {
	var v app.Invalid
	v.Merge(s.CheckWebhookUpdate(WebhookUpdate{Name: &in.Name, URL: &in.URL, Type: &in.Type}))
	switch in.Kind {
	case "", WebhookHTTP:
	case WebhookSheet:
		v.Merge(checkSheetURL(in.URL))
	default:
		v.Add("kind", "must be http or sheet", "phải là http hoặc sheet")
	}
	if len(in.BankAccountIDs) > maxWebhookBankAccounts {
		v.Add("bank_account_ids", "must be at most 100 bank accounts; leave it out for all",
			"tối đa 100 tài khoản ngân hàng; bỏ trống để nhận tất cả")
	}
	v.Merge(app.CheckCodePrefix(in.CodePrefix))
	if in.Secret != "" && !IsSecret(in.Secret) {
		v.Add("secret", "is not one of a webhook", "không phải khoá bí mật của webhook")
	}
	return v.Err()
}

// SheetScript is the script that writes the deliveries of a webhook of WebhookSheet
// into a sheet; it holds what secret lets in.
func SheetScript(secret string, lang app.Lang) string {
	return appsscript.Script(secret, appsscript.Texts{
		Paste: app.Text{
			EN: "Google Sheets: Extensions, Apps Script. Replace everything there by this, then Deploy, New deployment, Web app: Execute as: " +
				"Me, Who has access: Anyone.",
			VI: "Google Sheets: Tiện ích mở rộng, Apps Script. Thay toàn bộ mã ở đó bằng mã này, rồi Triển khai, Triển khai mới, Ứng dụng web: " +
				"Thực thi với tư cách: Tôi, Ai có quyền truy cập: Bất kỳ ai.",
		}.In(lang),
		Repeat: app.Text{EN: "A call that was made before, and a transaction that is there, are not written again.",
			VI: "Lần gọi đã ghi và giao dịch đã có thì không ghi lại."}.In(lang),
		Head: app.Text{EN: "Time,Bank,Account,Money in,Money out,Content,Number,baoco id,webhook_id",
			VI: "Thời gian,Ngân hàng,Số tài khoản,Tiền vào,Tiền ra,Nội dung,Mã giao dịch,Mã baoco,webhook_id"}.In(lang),
	})
}

// checkSheetURL refuses what isn't the address of a deployed script.
func checkSheetURL(raw string) error {
	if appsscript.IsURL(raw) {
		return nil
	}
	return app.InvalidField("webhook_url",
		"must be the web app URL that Google shows after “Deploy”: https://script.google.com/macros/s/…/exec",
		"phải là URL ứng dụng web mà Google hiển thị sau khi bấm “Triển khai”: https://script.google.com/macros/s/…/exec")
}

// CreateWebhook makes an active webhook and gives its secret, which nobody sees
// again. The secret is empty where in.Key was used before.
func (s *Service) CreateWebhook(ctx context.Context, accountID int64, in WebhookCreate, now time.Time) (Webhook, string, error) {
	if err := s.CheckWebhook(in); err != nil {
		return Webhook{}, "", err
	}
	secret := cmp.Or(in.Secret, NewSecret())
	w, made, err := s.store.CreateWebhook(ctx, Webhook{
		AccountID: accountID, Name: strings.TrimSpace(in.Name), Kind: cmp.Or(in.Kind, WebhookHTTP), URL: in.URL, Type: in.Type,
		BankAccountIDs: slices.Compact(slices.Sorted(slices.Values(in.BankAccountIDs))), CodePrefix: in.CodePrefix,
		ReceivingNumber: app.NormalizeAccountNumber(in.ReceivingNumber), IsActive: true, CreatedAt: now,
	}, secret, in.Key, now)
	if !made {
		secret = ""
	}
	return w, secret, err
}

// CheckWebhookUpdate checks the fields of u, without looking at the storage.
func (s *Service) CheckWebhookUpdate(u WebhookUpdate) error {
	var v app.Invalid
	if u.Name != nil {
		_, err := app.CleanName("name", *u.Name)
		v.Merge(err)
	}
	if u.URL != nil {
		if bad := s.config.Targets.CheckURL(*u.URL); bad != nil {
			v.Add("webhook_url", bad.EN, bad.VI)
		}
	}
	if u.Type != nil && *u.Type != WebhookIn && *u.Type != WebhookOut && *u.Type != WebhookAll {
		v.Add("type", "must be IN, OUT or ALL", "phải là IN, OUT hoặc ALL")
	}
	return v.Err()
}

// IsPlainHTTP reports whether deliveries to url travel unencrypted.
func IsPlainHTTP(url string) bool {
	return len(url) > 7 && strings.EqualFold(url[:7], "http://")
}

// PlainHTTPWarning recommends HTTPS.
var PlainHTTPWarning = app.Text{
	EN: "HTTPS is recommended: over http:// anybody on the way can read the transactions.",
	VI: "Nên dùng HTTPS: với http://, người khác trên đường truyền có thể đọc được giao dịch.",
}

// PlainWarning is PlainHTTPWarning after a space where the webhook doesn't use
// HTTPS, and else empty.
func (w Webhook) PlainWarning() app.Text {
	if !IsPlainHTTP(w.URL) {
		return app.Text{}
	}
	return app.Text{EN: " " + PlainHTTPWarning.EN, VI: " " + PlainHTTPWarning.VI}
}

// UpdateWebhook changes some fields. The next attempts of pending deliveries go
// to the new URL.
func (s *Service) UpdateWebhook(ctx context.Context, accountID, id int64, u WebhookUpdate, now time.Time) (Webhook, error) {
	if err := s.CheckWebhookUpdate(u); err != nil {
		return Webhook{}, err
	}
	if u.Name != nil {
		u.Name = new(strings.TrimSpace(*u.Name))
	}
	if u.URL != nil {
		w, err := s.Webhook(ctx, accountID, id)
		if err == nil && w.Kind == WebhookSheet {
			err = checkSheetURL(*u.URL)
		}
		if err != nil {
			return Webhook{}, err
		}
	}
	w, err := s.store.UpdateWebhook(ctx, accountID, id, u, now)
	if err == nil && u.IsActive != nil && w.IsActive {
		s.Wake([]int64{id}, nil)
	}
	return w, err
}

// ToggleWebhook switches a webhook off, so that its pending deliveries wait, or
// on, so that they go on.
func (s *Service) ToggleWebhook(ctx context.Context, accountID, id int64, now time.Time) (Webhook, error) {
	w, err := s.store.ToggleWebhook(ctx, accountID, id, now)
	if err == nil && w.IsActive {
		s.Wake([]int64{id}, nil)
	}
	return w, err
}

// MaxOverlap is the longest time for which two secrets are valid.
const MaxOverlap = 168 * time.Hour

// SecretRotate is a request for a new secret of a webhook.
type SecretRotate struct {
	Overlap time.Duration // for which the old secret stays valid, at most MaxOverlap
	Key     app.IdempotencyKey
}

// RotateSecret makes a new secret and gives it this once. During the overlap,
// signature and checksum use the old secret, and webhook-signature has both.
// Where in.Key was used before nothing changes and the result is empty.
func (s *Service) RotateSecret(ctx context.Context, accountID, id int64, in SecretRotate, now time.Time) (string, error) {
	if in.Overlap < 0 || in.Overlap > MaxOverlap {
		return "", app.InvalidField("overlap_hours", "must be a whole number from 0 to 168", "phải là số nguyên từ 0 đến 168")
	}
	secret := NewSecret()
	changed, err := s.store.ChangeSecrets(ctx, accountID, id, SecretsChange{Key: in.Key, Change: func(old Secrets) (Secrets, error) {
		return old.Rotated(secret, in.Overlap, now), nil
	}}, now)
	if !changed {
		secret = ""
	}
	return secret, err
}

// ActivateSecret ends the overlap of a rotation: only the new secret is valid
// from now on. CodeConflict where no rotation is under way.
func (s *Service) ActivateSecret(ctx context.Context, accountID, id int64, now time.Time) error {
	_, err := s.store.ChangeSecrets(ctx, accountID, id, SecretsChange{Change: func(old Secrets) (Secrets, error) {
		if old.Next == "" || !now.Before(old.OverlapTo) {
			return old, app.Refused(app.CodeConflict, app.Text{
				EN: "No rotated secret is waiting to be activated.",
				VI: "Không có khoá bí mật mới nào đang chờ kích hoạt.",
			})
		}
		return Secrets{Current: old.Next, ChangedAt: now}, nil
	}}, now)
	return err
}

// ErrNoWebhook says that an id names no webhook.
var ErrNoWebhook error = app.NotFound("There is no webhook with this id.", "Không có webhook với id này.")

// ErrSecretLost refuses to sign with a lost secret.
var ErrSecretLost error = app.Refused(app.CodeSecretLost, app.Text{
	EN: "The secret of this webhook is lost, so nothing can be signed. Rotate the secret and put the new one into your shop.",
	VI: "Khoá bí mật của webhook này đã mất nên không thể ký. Hãy đổi khoá bí mật rồi cập nhật khoá bí mật mới ở cửa hàng.",
})

// ErrTooManyWebhooks refuses a webhook beyond MaxWebhooks.
var ErrTooManyWebhooks error = app.Refused(app.CodeLimitReached, app.Textf(
	"An account may have at most %d webhooks.",
	"Mỗi tài khoản có tối đa %d webhook.", MaxWebhooks))

// HealthHours is how many hours the health of a webhook goes back.
const HealthHours = 24

// HourHealth counts the attempts that began in one hour.
type HourHealth struct{ Succeeded, Failed int64 }

// WebhookHealth is how a webhook's attempts went lately.
type WebhookHealth struct {
	WebhookID   int64
	Hours       [HealthHours]HourHealth // without tests; clock hours in UTC; the last is the present one
	FailedInRow int64                   // attempts since the last success, tests included
	Retrying    int64                   // deliveries that failed so far and are tried again, up to CountedUpTo
	RetryAt     time.Time               // when the first of them is; zero: there is none
	HistoryID   int64                   // of the last attempt; 0: none, or it was pruned
	Last        Result                  // of the last attempt, without Body and Phases
}

// Sum adds up the hours.
func (h WebhookHealth) Sum() (sum HourHealth) {
	for _, hour := range h.Hours {
		sum.Succeeded += hour.Succeeded
		sum.Failed += hour.Failed
	}
	return sum
}

// WebhookHealths reads the health of every webhook of an account, by webhook
// id.
func (s *Service) WebhookHealths(ctx context.Context, accountID int64, now time.Time) (map[int64]WebhookHealth, error) {
	list, err := s.store.WebhookHealth(ctx, accountID, 0, now)
	byID := make(map[int64]WebhookHealth, len(list))
	for _, h := range list {
		byID[h.WebhookID] = h
	}
	return byID, err
}

// WebhookHealth reads the health of one webhook; CodeNotFound where there is
// none.
func (s *Service) WebhookHealth(ctx context.Context, accountID, webhookID int64, now time.Time) (WebhookHealth, error) {
	list, err := s.store.WebhookHealth(ctx, accountID, webhookID, now)
	return app.Find(list, err, func(WebhookHealth) bool { return true }, ErrNoWebhook)
}

// Health counts the attempts of the last 24 hours and the queue.
type Health struct {
	Delivered, Failed int64 // attempts, without tests
	Pending           int64 // deliveries
	Unmended          bool  // a delivery that failed is to be tried again, or was given up and not resent
}

// DeliveryHealth reads the counts of the last 24 hours of the clock.
func (s *Service) DeliveryHealth(ctx context.Context, accountID int64, now time.Time) (h Health, err error) {
	sum, err := s.store.RecentAttempts(ctx, accountID, now)
	if err != nil {
		return h, err
	}
	h.Delivered, h.Failed = sum.Succeeded, sum.Failed
	if h.Pending, err = s.PendingDeliveries(ctx, accountID, 0); err != nil || h.Failed == 0 {
		return h, err
	}
	hooks, err := s.WebhookHealths(ctx, accountID, now)
	if err != nil {
		return h, err
	}
	for _, hook := range hooks {
		h.Unmended = h.Unmended || hook.Retrying > 0
	}
	if !h.Unmended {
		failed, _, e := s.FailedDeliveries(ctx, accountID, Filter{From: now.Add(-app.Recently)}, 1)
		h.Unmended, err = len(failed) > 0, e
	}
	return h, err
}
