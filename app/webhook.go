package app

import (
	"context"
	"strings"
	"time"
)

// MaxWebhooks is how many webhooks an account may have.
const MaxWebhooks = 100

// WebhookType says which directions a webhook is told of.
type WebhookType string

// The types of a webhook.
const (
	WebhookIn  WebhookType = "IN"
	WebhookOut WebhookType = "OUT"
	WebhookAll WebhookType = "ALL"
)

// Takes tells whether a webhook of this type is told of that direction.
func (t WebhookType) Takes(d Direction) bool { return t == WebhookAll || string(t) == string(d) }

// Webhook is a URL of the shop's that is told of transactions.
type Webhook struct {
	ID            int64
	AccountID     int64
	Name          string
	URL           string
	BankAccountID int64 // 0: all bank accounts
	Type          WebhookType
	IsActive      bool
	CreatedAt     time.Time
	OverlapTo     time.Time // of the rotation of its secret, see [Secrets]; zero: none
	// SecretLost says that the secret is gone with the key that it was sealed
	// with: nothing is sent until somebody rotates it, and all that is to be sent
	// waits.
	SecretLost bool
}

// Rotating tells whether two secrets count beside each other at now.
func (w Webhook) Rotating(now time.Time) bool { return now.Before(w.OverlapTo) }

// Secrets are what a webhook's deliveries are signed with. During a rotation
// there are two. Where Current is empty the secret is lost with the key that it
// was sealed with: nothing is sent until somebody rotates it.
type Secrets struct {
	Current   string
	Next      string    // empty: no rotation under way
	OverlapTo time.Time // Next takes over then
	ChangedAt time.Time // by somebody, last; zero: never
}

// At gives the secret of signature and checksum at now, and all that
// webhook-signature carries.
func (s Secrets) At(now time.Time) (signing string, all []string) {
	switch {
	case s.Next == "":
		return s.Current, []string{s.Current}
	case now.Before(s.OverlapTo):
		return s.Current, []string{s.Current, s.Next}
	}
	return s.Next, []string{s.Next}
}

// Rotated begins a rotation: until now+overlap the secret of now stays.
func (s Secrets) Rotated(next string, overlap time.Duration, now time.Time) Secrets {
	signing, _ := s.At(now)
	if overlap <= 0 || signing == "" {
		return Secrets{Current: next, ChangedAt: now}
	}
	return Secrets{Current: signing, Next: next, OverlapTo: now.Add(overlap), ChangedAt: now}
}

// WebhookCreate is what somebody creates.
type WebhookCreate struct {
	Name          string
	URL           string
	Type          WebhookType
	BankAccountID int64 // 0: all
	// Key makes the creation safe to repeat: the second time gives the webhook
	// of the first, without its secret.
	Key IdempotencyKey
}

// WebhookUpdate changes what is not nil.
type WebhookUpdate struct {
	Name *string
	URL  *string
	Type *WebhookType
}

// CheckWebhook says what of in is not valid by itself.
func (s *Service) CheckWebhook(in WebhookCreate) error {
	return s.CheckWebhookUpdate(WebhookUpdate{Name: &in.Name, URL: &in.URL, Type: &in.Type})
}

// CreateWebhook makes an active webhook and gives its secret this once; it is
// empty where in.Key was used before.
func (s *Service) CreateWebhook(ctx context.Context, accountID int64, in WebhookCreate, now time.Time) (Webhook, string, error) {
	if err := s.CheckWebhook(in); err != nil {
		return Webhook{}, "", err
	}
	secret := newSecret()
	w, made, err := s.store.CreateWebhook(ctx, Webhook{
		AccountID: accountID, Name: strings.TrimSpace(in.Name), URL: in.URL, BankAccountID: in.BankAccountID,
		Type: in.Type, IsActive: true, CreatedAt: now,
	}, secret, in.Key, now)
	if !made {
		secret = ""
	}
	return w, secret, err
}

// CheckWebhookUpdate says what of u is not valid by itself.
func (s *Service) CheckWebhookUpdate(u WebhookUpdate) error {
	var v Invalid
	if u.Name != nil {
		_, err := cleanName("name", *u.Name)
		v.Merge(err)
	}
	if u.URL != nil {
		if bad := s.targets.CheckURL(*u.URL); bad != nil {
			v.Add("webhook_url", bad.EN, bad.VI)
		}
	}
	if u.Type != nil && *u.Type != WebhookIn && *u.Type != WebhookOut && *u.Type != WebhookAll {
		v.Add("type", "must be IN, OUT or ALL", "phải là IN, OUT hoặc ALL")
	}
	return v.Err()
}

// IsPlainHTTP tells whether deliveries to url travel unencrypted.
func IsPlainHTTP(url string) bool {
	return len(url) > 7 && strings.EqualFold(url[:7], "http://")
}

// PlainWarning recommends HTTPS where the webhook doesn't use it. It begins with
// a space.
func (w Webhook) PlainWarning() Text {
	if !IsPlainHTTP(w.URL) {
		return Text{}
	}
	return Text{
		EN: " HTTPS is recommended: over http:// anybody on the way can read the transactions.",
		VI: " Nên dùng HTTPS: với http://, người khác trên đường truyền có thể đọc được giao dịch.",
	}
}

// UpdateWebhook changes some fields; the next attempt of a pending delivery
// goes to the new URL.
func (s *Service) UpdateWebhook(ctx context.Context, accountID, id int64, u WebhookUpdate) (Webhook, error) {
	if err := s.CheckWebhookUpdate(u); err != nil {
		return Webhook{}, err
	}
	if u.Name != nil {
		name := strings.TrimSpace(*u.Name)
		u.Name = &name
	}
	return s.store.UpdateWebhook(ctx, accountID, id, u)
}

// ToggleWebhook switches a webhook off, when its pending deliveries wait, or
// on, when they go on.
func (s *Service) ToggleWebhook(ctx context.Context, accountID, id int64, now time.Time) (Webhook, error) {
	w, err := s.store.ToggleWebhook(ctx, accountID, id, now)
	if err == nil && w.IsActive {
		s.wake([]int64{id}, nil)
	}
	return w, err
}

// MaxOverlap is the longest time that two secrets count beside each other.
const MaxOverlap = 168 * time.Hour

// RotateSecret gives the new secret this once. For the overlap, signature and
// checksum stay under the old one and webhook-signature carries both. Where key
// was used before nothing changes and the secret is empty.
func (s *Service) RotateSecret(ctx context.Context, accountID, id int64, overlap time.Duration, key IdempotencyKey, now time.Time) (string, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return "", InvalidField("overlap_hours", "must be a whole number from 0 to 168", "phải là số nguyên từ 0 đến 168")
	}
	secret := newSecret()
	changed, err := s.store.ChangeSecrets(ctx, accountID, id, key, func(old Secrets) (Secrets, error) {
		return old.Rotated(secret, overlap, now), nil
	}, now)
	if !changed {
		secret = ""
	}
	return secret, err
}

// ActivateSecret ends the overlap of a rotation: everything is under the new
// secret from now on. CodeConflict where no rotation is under way.
func (s *Service) ActivateSecret(ctx context.Context, accountID, id int64, now time.Time) error {
	_, err := s.store.ChangeSecrets(ctx, accountID, id, IdempotencyKey{}, func(old Secrets) (Secrets, error) {
		if old.Next == "" || !now.Before(old.OverlapTo) {
			return old, Refused(CodeConflict, Text{
				"No rotated secret is waiting to be activated.",
				"Không có secret mới nào đang chờ kích hoạt.",
			})
		}
		return Secrets{Current: old.Next, ChangedAt: now}, nil
	}, now)
	return err
}

// ErrNoWebhook says that an id names no webhook.
var ErrNoWebhook error = NotFound("There is no webhook with this id.", "Không có webhook với id này.")

// ErrSecretLost refuses to sign with a secret that is lost.
var ErrSecretLost error = Refused(CodeSecretLost, Text{
	"The secret of this webhook is lost, so nothing can be signed. Rotate the secret and put the new one into your shop.",
	"Secret của webhook này đã mất nên không thể ký. Hãy đổi secret rồi cập nhật secret mới ở cửa hàng.",
})

// ErrTooManyWebhooks refuses the webhook after the last.
var ErrTooManyWebhooks error = Refused(CodeConflict, Textf(
	"An account may have at most %d webhooks.",
	"Mỗi tài khoản có tối đa %d webhook.", MaxWebhooks))

// ErrUnknownBankAccountID refuses a bank account that doesn't exist in this
// account.
var ErrUnknownBankAccountID error = InvalidField("bank_account_id", NotLinked.EN, NotLinked.VI)
