package delivery

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/appsscript"
)

// MaxWebhooks is how many webhooks an account may have.
const MaxWebhooks = 100

const maxWebhookBankAccounts = 100

// WebhookType is the directions for which a webhook gets deliveries.
type WebhookType string

// The types of a webhook.
const (
	WebhookIn  WebhookType = "IN"
	WebhookOut WebhookType = "OUT"
	WebhookAll WebhookType = "ALL"
)

// WebhookTypes are all types.
var WebhookTypes = []WebhookType{WebhookIn, WebhookOut, WebhookAll}

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
	WebhookStandard WebhookKind = "standard" // a URL of the shop; 200
	WebhookSheet    WebhookKind = "sheet"    // a Google Apps Script; the redirect of one that ran
	WebhookSepay    WebhookKind = "sepay"    // a shop that was made for SePay; 2xx, unless the body says that it failed
)

// Verdict is what an answer means: no class where the delivery was taken. body is its first
// 64 KiB.
func (k WebhookKind) Verdict(status int, location string, body []byte) (ErrorClass, Cause) {
	switch {
	case k == WebhookSheet && appsscript.Ran(status, location):
		return ErrorNone, CauseSheet
	case status >= 300 && status < 400:
		return ErrorRedirect, ""
	case k == WebhookSepay && status >= 200 && status < 300:
		if sepayRefused(body) {
			return ErrorAnswer, ""
		}
		if status != http.StatusOK {
			return ErrorNone, CauseSepay
		}
	case status != http.StatusOK, k == WebhookSheet:
		return ErrorHTTPStatus, ""
	}
	return ErrorNone, ""
}

// Webhook is a URL of the shop that gets a delivery for each transaction.
type Webhook struct {
	ID             int64
	AccountID      int64
	Name           string
	Kind           WebhookKind
	URL            string
	Type           WebhookType
	BankAccountIDs []int64   // in order; nil: all bank accounts
	CodePrefixes   []string  // with one of which the payment codes of its transactions begin; nil: any, or none
	CodeOnly       bool      // it gets only transactions with a payment code
	Auth           SepayAuth // of WebhookSepay
	HeaderNames    []string  // of its own headers, which are sent with each call
	IsActive       bool
	CreatedAt      time.Time
	OverlapTo      time.Time // end of the rotation of its secret, see [Secrets]; zero: none
	// ReceivingNumber is the one to which its transactions came; empty: all transactions.
	ReceivingNumber string
	// Silent says that the webhook gets nothing: none of the bank accounts that it is limited
	// to is still linked, or none of them has its receiving number.
	Silent bool
	// SecretLost says that the secret can't be opened, because its key is lost.
	// Deliveries wait until somebody rotates the secret.
	SecretLost bool
}

// Takes reports whether the webhook gets a delivery for t.
func (w Webhook) Takes(t app.Transaction) bool {
	return w.Type.Takes(t.Type) && (w.BankAccountIDs == nil || slices.Contains(w.BankAccountIDs, t.BankAccountID)) &&
		(w.ReceivingNumber == "" || w.ReceivingNumber == t.ReceivingNumber) &&
		(!w.CodeOnly || t.Code.Text != "") && (w.CodePrefixes == nil ||
		slices.ContainsFunc(w.CodePrefixes, func(prefix string) bool { return strings.HasPrefix(t.Code.Text, prefix) }))
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

// At returns the secret of signature and checksum at now, and all secrets that sign
// webhook-signature; the first of these is the same secret.
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

// SecretsChange makes the new secrets of a webhook from its present ones.
type SecretsChange struct {
	Change func(Secrets) (Secrets, error)
	Key    app.IdempotencyKey
}

// WebhookCreate is a request to create a webhook.
type WebhookCreate struct {
	Name           string
	Kind           WebhookKind // empty: WebhookStandard
	URL            string
	Type           WebhookType
	BankAccountIDs []int64  // nil: all
	CodePrefixes   []string // nil: all
	CodeOnly       bool     // only with a payment code
	// ReceivingNumber is one of a linked bank account; empty: all.
	ReceivingNumber string
	Headers         []Header  // of its own
	Auth            SepayAuth // of WebhookSepay
	Secret          string    // one of NewSecret, of WebhookSepay one that the shop has; empty: one is made
	// Key makes the creation safe to repeat: the second time returns the first webhook
	// again, without its secret.
	Key app.IdempotencyKey
}

// Sealed is the part of a new webhook that is kept encrypted.
type Sealed struct {
	Secret  string
	Headers []Header
}

// WebhookUpdate changes the fields that are not nil.
type WebhookUpdate struct {
	Name     *string
	URL      *string
	Type     *WebhookType
	IsActive *bool // as [Service.ToggleWebhook] has it
	// These choose among the transactions that are recorded after the change.
	BankAccountIDs  *[]int64  // empty: all
	CodePrefixes    *[]string // empty: all
	CodeOnly        *bool
	ReceivingNumber *string   // empty: all
	Headers         *[]Header // they replace all of its own headers
}

// CheckWebhook checks the fields of in, without looking at the storage.
func (s *Service) CheckWebhook(in WebhookCreate) error {
	var v app.Invalid
	v.Merge(s.CheckWebhookUpdate(WebhookUpdate{Name: &in.Name, URL: &in.URL, Type: &in.Type, BankAccountIDs: &in.BankAccountIDs,
		CodePrefixes: &in.CodePrefixes}))
	v.Merge(checkHeaders(in.Kind, in.Headers))
	sepay := in.Kind == WebhookSepay
	switch in.Kind {
	case "", WebhookStandard, WebhookSepay:
	case WebhookSheet:
		v.Merge(checkSheetURL(in.URL))
	default:
		v.Add("kind", "must be standard, sepay or sheet", "phải là standard, sepay hoặc sheet")
	}
	if sepay != (in.Auth == SepayAPIKey || in.Auth == SepayHMAC) || !sepay && in.Auth != "" {
		v.Add("auth", "must be apikey or hmac for the kind sepay, and is nothing of another kind",
			"phải là apikey hoặc hmac với loại sepay; loại khác thì bỏ trống")
	}
	switch {
	case in.Secret == "", sepay && isSepayKey(in.Secret), !sepay && IsSecret(in.Secret):
	case sepay:
		v.Add("secret", "must be 8 to 200 printable ASCII characters without blanks",
			"phải có 8 đến 200 ký tự ASCII in được, không có dấu cách")
	default:
		v.Add("secret", "is not one of a webhook", "không phải khoá bí mật của webhook")
	}
	return v.Err()
}

const maxCodePrefixes = 20

// SheetScript is the script that writes the deliveries of a webhook of WebhookSheet
// into a sheet; it takes only calls that carry a token of secret.
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

func checkSheetURL(raw string) error {
	if appsscript.IsURL(raw) {
		return nil
	}
	return app.InvalidField("webhook_url",
		"must be the web app URL that Google shows after “Deploy”: https://script.google.com/macros/s/…/exec",
		"phải là URL ứng dụng web mà Google hiển thị sau khi bấm “Triển khai”: https://script.google.com/macros/s/…/exec")
}

// CreateWebhook makes an active webhook and returns its secret, which nobody sees
// again. The secret is empty if in.Key was used before.
func (s *Service) CreateWebhook(ctx context.Context, accountID int64, in WebhookCreate, now time.Time) (Webhook, string, error) {
	if err := s.CheckWebhook(in); err != nil {
		return Webhook{}, "", err
	}
	secret := cmp.Or(in.Secret, NewSecret())
	if in.Secret == "" && in.Kind == WebhookSepay {
		secret = NewSepayKey()
	}
	w, made, err := s.store.CreateWebhook(ctx, Webhook{
		AccountID: accountID, Name: strings.TrimSpace(in.Name), Kind: cmp.Or(in.Kind, WebhookStandard), URL: in.URL, Type: in.Type,
		BankAccountIDs: ordered(in.BankAccountIDs), CodePrefixes: ordered(in.CodePrefixes), CodeOnly: in.CodeOnly,
		ReceivingNumber: app.NormalizeAccountNumber(in.ReceivingNumber), Auth: in.Auth, IsActive: true, CreatedAt: now,
	}, Sealed{secret, in.Headers}, in.Key, now)
	if !made {
		secret = ""
	}
	return w, secret, err
}

// ordered sorts a list and removes repeats; nil if it is empty.
func ordered[T cmp.Ordered](list []T) []T { return slices.Compact(slices.Sorted(slices.Values(list))) }

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
	if u.Type != nil && !slices.Contains(WebhookTypes, *u.Type) {
		v.Add("type", "must be IN, OUT or ALL", "phải là IN, OUT hoặc ALL")
	}
	if u.BankAccountIDs != nil && len(*u.BankAccountIDs) > maxWebhookBankAccounts {
		v.Add("bank_account_ids", "must be at most 100 bank accounts; leave it out for all",
			"tối đa 100 tài khoản ngân hàng; bỏ trống để nhận tất cả")
	}
	if u.CodePrefixes != nil {
		if len(*u.CodePrefixes) > maxCodePrefixes {
			v.Add("code_prefixes", "must be at most 20; leave it out for all", "tối đa 20 tiền tố; bỏ trống để nhận tất cả")
		}
		for _, prefix := range *u.CodePrefixes {
			v.Merge(app.CheckCodePrefix("code_prefixes", prefix))
		}
	}
	return v.Err()
}

// IsPlainHTTP reports whether deliveries to url are sent unencrypted.
func IsPlainHTTP(url string) bool {
	return len(url) > 7 && strings.EqualFold(url[:7], "http://")
}

// PlainHTTPWarning recommends HTTPS.
var PlainHTTPWarning = app.Text{EN: "HTTPS is recommended: over http:// anybody on the way can read the transactions.",
	VI: "Nên dùng HTTPS: với http://, người khác trên đường truyền có thể đọc được giao dịch."}

// Warning is the warning about a webhook that was made or changed, after a space: that it
// doesn't use HTTPS, or that it gets nothing, since no pattern reads the codes that it wants.
func (s *Service) Warning(ctx context.Context, w Webhook) (warning app.Text, err error) {
	add := func(t app.Text) { warning = app.Text{EN: warning.EN + " " + t.EN, VI: warning.VI + " " + t.VI} }
	if IsPlainHTTP(w.URL) {
		add(PlainHTTPWarning)
	}
	if w.CodePrefixes == nil && !w.CodeOnly {
		return warning, nil
	}
	patterns, err := s.ledger.CodePatterns(ctx, w.AccountID)
	awaited := func(p app.CodePattern) bool {
		return w.CodePrefixes == nil || slices.ContainsFunc(w.CodePrefixes, func(prefix string) bool {
			return strings.HasPrefix(p.Prefix, prefix) || strings.HasPrefix(prefix, p.Prefix)
		})
	}
	if err == nil && !slices.ContainsFunc(patterns, awaited) {
		add(app.Text{EN: "No such payment code is read now, so this webhook gets nothing. Make a pattern of codes for it.",
			VI: "Hiện không có mẫu mã thanh toán nào như vậy nên webhook này chưa nhận được gì. Hãy tạo mẫu mã thanh toán."})
	}
	return warning, err
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
	w, err := s.Webhook(ctx, accountID, id)
	if err != nil {
		return Webhook{}, err
	}
	if u.URL != nil && w.Kind == WebhookSheet {
		err = checkSheetURL(*u.URL)
	}
	if u.Headers != nil {
		err = errors.Join(err, checkHeaders(w.Kind, *u.Headers))
	}
	if err != nil {
		return Webhook{}, err
	}
	if u.BankAccountIDs != nil {
		u.BankAccountIDs = new(ordered(*u.BankAccountIDs))
	}
	if u.CodePrefixes != nil {
		u.CodePrefixes = new(ordered(*u.CodePrefixes))
	}
	if u.ReceivingNumber != nil {
		u.ReceivingNumber = new(app.NormalizeAccountNumber(*u.ReceivingNumber))
	}
	w, err = s.store.UpdateWebhook(ctx, accountID, id, u, now)
	if err == nil && u.IsActive != nil && w.IsActive {
		s.Wake([]int64{id}, nil)
	}
	return w, err
}

// ToggleWebhook switches a webhook off, so that its pending deliveries wait, or
// on, so that they are sent.
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

// RotateSecret makes a new secret and returns it this once. During the overlap,
// signature and checksum use the old secret, and webhook-signature has both.
// If in.Key was used before, nothing changes and the result is empty.
func (s *Service) RotateSecret(ctx context.Context, accountID, id int64, in SecretRotate, now time.Time) (string, error) {
	if in.Overlap < 0 || in.Overlap > MaxOverlap {
		return "", app.InvalidField("overlap_hours", "must be a whole number from 0 to 168", "phải là số nguyên từ 0 đến 168")
	}
	w, err := s.Webhook(ctx, accountID, id)
	if err != nil {
		return "", err
	}
	secret := NewSecret()
	if w.Kind == WebhookSepay {
		secret = NewSepayKey()
	}
	changed, err := s.store.ChangeSecrets(ctx, accountID, id, SecretsChange{Key: in.Key, Change: func(old Secrets) (Secrets, error) {
		return old.Rotated(secret, in.Overlap, now), nil
	}}, now)
	if !changed {
		secret = ""
	}
	return secret, err
}

// ActivateSecret ends the overlap of a rotation: only the new secret is valid
// from now on. It fails with CodeConflict if no rotation is under way.
func (s *Service) ActivateSecret(ctx context.Context, accountID, id int64, now time.Time) error {
	_, err := s.store.ChangeSecrets(ctx, accountID, id, SecretsChange{Change: func(old Secrets) (Secrets, error) {
		if old.Next == "" || !now.Before(old.OverlapTo) {
			return old, app.Conflict("No rotated secret is waiting to be activated.", "Không có khoá bí mật mới nào đang chờ kích hoạt.")
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
