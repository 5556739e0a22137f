package app

import (
	"context"
	"time"
)

// CallReference is what a receiver knows of a call; 0: not known.
type CallReference struct {
	WebhookID     int64
	DeliveryID    int64
	TransactionID int64 // in the body
}

// SignatureFacts is what an account knows about a call whose signature is
// checked. The secrets in it are never shown or logged.
type SignatureFacts struct {
	Webhook *Webhook // that sent the call; nil: not known
	Sent    *Payload // what the call carried; nil: not known
	Secrets []StoredSecret
}

// StoredSecret is a secret of a webhook that may have signed a call.
type StoredSecret struct {
	Webhook Webhook
	Use     SecretUse
	Secret  string
}

// SecretUse is the use of a stored secret at a moment.
type SecretUse byte

// The uses of a secret.
const (
	SecretSigning SecretUse = iota // makes X-Webhook-Signature
	SecretNext                     // takes over at the end of the overlap
	SecretFormer                   // was replaced by another
)

// stored lists the secrets of w with their uses at now. A lost secret is left
// out: with an empty key anybody could sign.
func (s Secrets) stored(w Webhook, now time.Time) (list []StoredSecret) {
	add := func(secret string, use SecretUse) {
		if secret != "" {
			list = append(list, StoredSecret{w, use, secret})
		}
	}
	signing, _ := s.At(now)
	add(signing, SecretSigning)
	if signing == s.Current {
		add(s.Next, SecretNext)
	} else {
		add(s.Current, SecretFormer)
	}
	return list
}

// SignatureFacts finds the webhook that made a call, what it sent, and the
// secrets of all webhooks of the account. It fails with CodeNotFound where the
// webhook or the delivery that is named doesn't exist.
func (s *Service) SignatureFacts(ctx context.Context, accountID int64, call CallReference, now time.Time) (SignatureFacts, error) {
	var f SignatureFacts
	if call.WebhookID != 0 {
		w, err := s.Webhook(ctx, accountID, call.WebhookID)
		if err != nil {
			return f, err
		}
		f.Webhook = &w
	}
	if call.DeliveryID != 0 {
		d, err := s.store.DeliveryFacts(ctx, accountID, call.DeliveryID)
		if err != nil {
			return f, err
		}
		f.Webhook, f.Sent = &d.Webhook, &d.Payload
	} else if call.TransactionID > 0 {
		t, err := s.Transaction(ctx, accountID, call.TransactionID)
		if err != nil && CodeOf(err) != CodeNotFound {
			return f, err
		}
		if sent := t.Payload(); err == nil {
			f.Sent = &sent
		}
	}
	hooks, err := s.Webhooks(ctx, accountID)
	if err != nil {
		return f, err
	}
	secrets, err := s.store.WebhookSecrets(ctx, accountID)
	for _, w := range hooks {
		f.Secrets = append(f.Secrets, secrets[w.ID].stored(w, now)...)
	}
	return f, err
}
