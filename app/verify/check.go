// Package verify says why a receiver doesn't find the signature of a call right.
// It is given what the receiver saw, and what the account knows of the call.
package verify

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/delivery"
)

// MaxBody is the largest body that is checked, in bytes; what baoco
// sends is far smaller.
const MaxBody = 64 << 10

// timestampTolerance is how far webhook-timestamp may be from the present for
// the libraries of Standard Webhooks.
const timestampTolerance = 5 * time.Minute

// Claim is a call as a receiver saw it, with the secret that it has.
type Claim struct {
	delivery.CallReference // where the call comes from
	Body                   []byte
	Signature              string // the value of X-Webhook-Signature, or of webhook-signature
	MessageID              string // webhook-id; empty: not known
	Timestamp              string // webhook-timestamp; empty: not known
	Secret                 string // empty: those of the webhook
}

// Result says whether a receiver that compares as it should accepts a
// call, and if not, why. It holds no secret, nothing that was entered as one,
// and no signature.
type Result struct {
	Matches    bool
	Mistakes   []Mistake   // why it doesn't match
	Notes      []Mistake   // what is wrong but was overlooked here
	Difference *Difference // nil where the sent body isn't known, or is the one that was seen
}

// Reference names the call for [delivery.Service.SignatureFacts].
func (claim Claim) Reference() delivery.CallReference {
	claim.TransactionID, _ = rewritten(claim.Body)
	return claim.CallReference
}

// validate says what of a claim is missing or too much.
func (claim Claim) validate() error {
	var v app.Invalid
	if claim.Signature == "" && claim.DeliveryID == 0 {
		v.Add("signature", "is required", "là bắt buộc")
	}
	if claim.Secret == "" && claim.WebhookID == 0 && claim.DeliveryID == 0 {
		v.Add("secret", "is required", "là bắt buộc")
	}
	if len(claim.Body) > MaxBody {
		v.Add("body", "must be at most 64 KiB", "tối đa 64 KiB")
	}
	return v.Err()
}

// Check checks a call by what was entered and by what is known of it,
// which may be nothing. Of stored secrets it gives away only whether the call
// was signed with one, and it signs nothing but what was recorded.
func Check(claim Claim, facts delivery.SignatureFacts, now time.Time) (r Result, err error) {
	claim.Signature, claim.MessageID = strings.TrimSpace(claim.Signature), strings.TrimSpace(claim.MessageID)
	if err := claim.validate(); err != nil {
		return r, err
	}
	const prefix = "sha256="
	if value := claim.Signature; len(value) > len(prefix) && strings.EqualFold(value[:len(prefix)], prefix) {
		claim.Signature, r.Notes = value[len(prefix):], append(r.Notes, signaturePrefix)
	}
	if at := claim.sentAt(); !at.IsZero() && now.Sub(at).Abs() > timestampTolerance {
		r.Notes = append(r.Notes, timestampExpired)
	}
	signing := signingSecret(facts)
	if claim.Signature == "" && facts.Sent != nil && signing != "" { // the header isn't at hand
		claim.Signature = delivery.Signature(signing, facts.Sent.Body(signing))
	}
	_, written := rewritten(claim.Body)
	secret, sent := claim.signer(written, facts)
	switch digest, err := hex.DecodeString(claim.Signature); {
	case secret != "":
		r.Mistakes = secretMistakes(claim.Secret, secret, facts)
		if err != nil && !claim.standard() {
			r.Mistakes = append(r.Mistakes, signatureBase64)
		}
		if !bytes.Equal(sent, claim.Body) {
			wrong := bodyChanged
			if bytes.Equal(sent, written) {
				wrong = bodyEncodedAgain
			}
			r.Mistakes, r.Difference = append(r.Mistakes, wrong), firstDifference(sent, claim.Body)
		}
	case facts.Webhook != nil && signing == "":
		r.Mistakes = []Mistake{secretLost}
	case len(digest) != sha256.Size && !claim.standard():
		r.Mistakes = []Mistake{signatureOfOtherHeader}
	default:
		r.Mistakes = []Mistake{unexplained}
	}
	r.Matches = len(r.Mistakes) == 0
	return r, nil
}

// standard tells whether the signature is a webhook-signature that can be checked.
func (claim Claim) standard() bool {
	return strings.HasPrefix(claim.Signature, "v1,") && claim.MessageID != "" && !claim.sentAt().IsZero()
}

// sentAt is the time of webhook-timestamp; zero: not known.
func (claim Claim) sentAt() time.Time {
	seconds, err := strconv.ParseInt(strings.TrimSpace(claim.Timestamp), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// signer finds the secret and the body that the signature is made from: the body that
// was seen, what is written in it as baoco writes it, or what was recorded.
func (claim Claim) signer(written []byte, facts delivery.SignatureFacts) (secret string, sent []byte) {
	secrets := []string{claim.Secret, bare(claim.Secret)}
	for _, s := range facts.Secrets {
		secrets = append(secrets, s.Secret)
	}
	for _, secret := range secrets {
		bodies := [][]byte{claim.Body}
		if written != nil {
			bodies = append(bodies, written)
		}
		if facts.Sent != nil {
			bodies = append(bodies, facts.Sent.Body(secret))
		}
		for _, body := range bodies {
			if secret != "" && claim.signed(secret, body) { // with an empty key anybody could sign
				return secret, body
			}
		}
	}
	return "", nil
}

// signed tells whether the signature is one of body under secret, in whatever form.
func (claim Claim) signed(secret string, body []byte) bool {
	if claim.standard() {
		right := delivery.StandardSignature(secret, claim.MessageID, claim.sentAt(), body)
		return slices.ContainsFunc(strings.Fields(claim.Signature), func(one string) bool { return same(one, right) })
	}
	right := delivery.Signature(secret, body)
	sum, err := hex.DecodeString(right)
	return err == nil && (same(strings.ToLower(claim.Signature), right) || same(claim.Signature, base64.StdEncoding.EncodeToString(sum)))
}

// same compares secrets or signatures. The time that it takes doesn't tell how
// much of them agrees.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// bare is a secret without the spaces, line breaks and quotes that don't belong to it.
func bare(secret string) string {
	return strings.Trim(strings.Join(strings.Fields(secret), ""), "\"'`")
}

// signingSecret is that of the webhook that sent the call; empty: not known.
func signingSecret(facts delivery.SignatureFacts) string {
	for _, s := range facts.Secrets {
		if s.Signs && facts.Webhook != nil && facts.Webhook.ID == s.Webhook.ID {
			return s.Secret
		}
	}
	return ""
}

// secretMistakes says why the secret that was entered isn't the one that signed the call.
func secretMistakes(entered, signer string, facts delivery.SignatureFacts) []Mistake {
	if same(entered, signer) {
		return nil
	}
	if same(bare(entered), signer) {
		return []Mistake{secretSpace}
	}
	stored := func(secret string) (found delivery.StoredSecret) {
		for _, s := range facts.Secrets {
			if same(s.Secret, secret) {
				found = s
			}
		}
		return found
	}
	by, meant := stored(signer), stored(bare(entered)).Webhook.ID
	if entered == "" && facts.Webhook != nil {
		meant = facts.Webhook.ID
	}
	switch {
	case meant != by.Webhook.ID:
		return []Mistake{secretOther.naming(by.Webhook)}
	case entered != "" || !by.Signs:
		return []Mistake{secretRotated}
	}
	return nil
}

// rewritten reads a body of one transaction, and writes it as baoco does, with the
// checksum that it has; nil where it can't be read.
func rewritten(body []byte) (id int64, written []byte) {
	var read struct {
		Transactions []struct {
			delivery.Payload
			Code     *string
			Request  app.PaymentState `json:"payment_request"`
			Checksum string
		}
		Test bool
	}
	err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &read) // some editors write a byte order mark
	if err != nil || len(read.Transactions) != 1 {
		return 0, nil
	}
	t := read.Transactions[0]
	t.PaymentRequest, t.Test = t.Request, read.Test
	if t.Code != nil {
		t.Payload.Code = app.PaymentCode{Text: *t.Code, Read: true}
	}
	id, _ = strconv.ParseInt(t.ID, 10, 64)
	return id, t.BodyWith(t.Checksum)
}
