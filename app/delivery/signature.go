package delivery

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// SecretPrefix begins every secret of a webhook.
const SecretPrefix = "whsec_"

// NewSecret is SecretPrefix and the base64 of 32 random bytes.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:])
	return SecretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// IsSecret reports whether a text has the form of NewSecret.
func IsSecret(text string) bool {
	encoded, found := strings.CutPrefix(text, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	return found && err == nil && len(key) == 32
}

// Signature is the X-Webhook-Signature of a body: the HMAC-SHA256 under the
// whole secret as UTF-8 bytes, in bare lower-case hexadecimal digits.
func Signature(secret string, body []byte) string {
	return hex.EncodeToString(signatureSum(secret, body))
}

func signatureSum(secret string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return mac.Sum(nil)
}

// StandardSignature is one signature of the webhook-signature header of the
// Standard Webhooks specification: v1 and the base64 of the HMAC-SHA256 over
// id.timestamp.body, under the decoded base64 part of the secret.
func StandardSignature(secret, id string, timestamp time.Time, body []byte) string {
	mac := hmac.New(sha256.New, decodedSecret(secret))
	mac.Write([]byte(id + "." + strconv.FormatInt(timestamp.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// decodedSecret is the key of a standard signature: the decoded base64 part, or
// the secret itself if it isn't base64.
func decodedSecret(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, SecretPrefix))
	if err != nil {
		return []byte(secret)
	}
	return key
}

// Payload is a transaction as it is delivered.
type Payload struct {
	ID                string
	Gateway           string
	TransactionDate   string
	TransactionNumber string
	AccountNumber     string
	Content           string
	TransferType      app.Direction
	TransferAmount    int64
	Code              app.PaymentCode
	PaymentRequest    app.PaymentState // without an ID: none
	ReceivingNumber   string           // empty: the transaction names none
	Test              bool             // the body says that it is a test
	TestID            int64            `json:",omitempty"` // of the delivery by which a test was sent first; 0: no test
}

// PayloadOf is the content of all deliveries of a transaction. It never changes.
func PayloadOf(t app.Transaction) Payload {
	return Payload{
		ID:                strconv.FormatInt(t.ID, 10),
		Gateway:           t.Bank,
		TransactionDate:   app.FormatTime(t.Time, time.FixedZone("", t.ZoneOffset)),
		TransactionNumber: t.Number,
		AccountNumber:     t.AccountNumber,
		Content:           t.Content,
		TransferType:      t.Type,
		TransferAmount:    t.Amount,
		Code:              t.Code,
		PaymentRequest:    t.PaymentSent,
		ReceivingNumber:   t.ReceivingNumber,
	}
}

// canonical is the text of the checksum: keys ascending, no white space,
// escaped as by JSON.stringify and RFC 8785.
func (p Payload) canonical() []byte {
	b := make([]byte, 0, 320+len(p.Content))
	b = app.AppendMember(b, `{"accountNumber":`, p.AccountNumber)
	if p.Code.Read {
		b = app.AppendMember(b, `,"code":`, p.Code.Text)
	}
	b = app.AppendMember(b, `,"content":`, p.Content)
	b = app.AppendMember(b, `,"gateway":`, p.Gateway)
	b = app.AppendMember(b, `,"id":`, p.ID)
	if p.PaymentRequest.ID != 0 {
		b = p.PaymentRequest.AppendJSON(append(b, `,"payment_request":`...))
	}
	if p.ReceivingNumber != "" {
		b = app.AppendMember(b, `,"receiving_number":`, p.ReceivingNumber)
	}
	b = app.AppendMember(b, `,"transactionDate":`, p.TransactionDate)
	b = app.AppendMember(b, `,"transactionNumber":`, p.TransactionNumber)
	b = append(b, `,"transferAmount":`...)
	b = strconv.AppendInt(b, p.TransferAmount, 10)
	b = app.AppendMember(b, `,"transferType":`, string(p.TransferType))
	return append(b, '}')
}

// Checksum is the digest of one transaction under a webhook's secret.
func (p Payload) Checksum(secret string) string {
	return Signature(secret, p.canonical())
}

// Body is the request body of a delivery: the same bytes on every attempt and
// resend under the same secret.
func (p Payload) Body(secret string) []byte { return p.BodyWith(p.Checksum(secret)) }

// BodyWith is the body with a checksum that is already known.
func (p Payload) BodyWith(checksum string) []byte {
	return p.endBody(app.AppendMember(p.beginBody(), `,"checksum":`, checksum))
}

// Unsigned is the body without a checksum, for readers that have no secret.
func (p Payload) Unsigned() []byte { return p.endBody(p.beginBody()) }

// ParseUnsigned reads what Unsigned wrote.
func ParseUnsigned(body []byte) (Payload, error) {
	var b struct {
		Transactions []struct {
			Payload
			Code            *string
			ReceivingNumber string           `json:"receiving_number"`
			PaymentRequest  app.PaymentState `json:"payment_request"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil || len(b.Transactions) != 1 {
		return Payload{}, errors.New("not a transaction as baoco sends it")
	}
	t := b.Transactions[0]
	if id, err := strconv.ParseInt(t.ID, 10, 64); err != nil || id <= 0 || t.TransferAmount <= 0 || t.TransferAmount > app.MaxAmount ||
		t.TransferType != app.In && t.TransferType != app.Out {
		return Payload{}, errors.New("not a transaction as baoco sends it")
	}
	t.Payload.PaymentRequest, t.Payload.ReceivingNumber = t.PaymentRequest, t.ReceivingNumber
	if t.Code != nil {
		t.Payload.Code = app.PaymentCode{Text: *t.Code, Read: true}
	}
	return t.Payload, nil
}

func (p Payload) beginBody() []byte {
	b := make([]byte, 0, 420+len(p.Content))
	b = app.AppendMember(b, `{"transactions":[{"id":`, p.ID)
	b = app.AppendMember(b, `,"gateway":`, p.Gateway)
	b = app.AppendMember(b, `,"transactionDate":`, p.TransactionDate)
	b = app.AppendMember(b, `,"transactionNumber":`, p.TransactionNumber)
	b = app.AppendMember(b, `,"accountNumber":`, p.AccountNumber)
	b = app.AppendMember(b, `,"content":`, p.Content)
	b = app.AppendMember(b, `,"transferType":`, string(p.TransferType))
	b = append(b, `,"transferAmount":`...)
	b = strconv.AppendInt(b, p.TransferAmount, 10)
	if p.Code.Read {
		b = app.AppendMember(b, `,"code":`, p.Code.Text)
	}
	if p.PaymentRequest.ID != 0 {
		b = p.PaymentRequest.AppendJSON(append(b, `,"payment_request":`...))
	}
	if p.ReceivingNumber != "" {
		b = app.AppendMember(b, `,"receiving_number":`, p.ReceivingNumber)
	}
	return b
}

func (p Payload) endBody(b []byte) []byte {
	if p.Test {
		return append(b, `}],"test":true}`...)
	}
	return append(b, `}]}`...)
}

// CallReference names a call by the ids that its receiver knows; 0: not known.
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
	Secret  string
	Signs   bool // now; false: before a rotation, or after its overlap
}

// stored lists the secrets of w with their use at now. A lost secret is left
// out: with an empty key anybody could sign.
func (s Secrets) stored(w Webhook, now time.Time) (list []StoredSecret) {
	signing, _ := s.At(now)
	for _, secret := range []string{s.Current, s.Next} {
		if secret != "" {
			list = append(list, StoredSecret{w, secret, secret == signing})
		}
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
		t, err := s.ledger.Transaction(ctx, accountID, call.TransactionID)
		if err != nil && app.CodeOf(err) != app.CodeNotFound {
			return f, err
		}
		if sent := PayloadOf(t); err == nil {
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
