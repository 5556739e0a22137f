// Package verify says why a receiver doesn't find the signature of a call right.
// It is given what the receiver saw, and what the account knows of the call.
package verify

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"baoco/app"
	"baoco/app/delivery"
)

// MaxBody is the largest body that is checked, in bytes; what baoco
// sends is far smaller.
const MaxBody = 64 << 10

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
	Checksums  []Checksum
}

// Checksum is one transaction of a body, and whether its checksum is made
// from its other fields with the secret that was entered, or with a stored one.
type Checksum struct {
	TransactionID string `json:"transaction_id"`
	Matches       bool   `json:"matches"`
}

// Reference names the call for [delivery.Service.SignatureFacts].
func (claim Claim) Reference() delivery.CallReference {
	if seen := readTransactions(claim.Body); len(seen) == 1 {
		claim.TransactionID, _ = strconv.ParseInt(seen[0].ID, 10, 64)
	}
	return claim.CallReference
}

// validate says what of a claim is missing or too much.
func (claim Claim) validate() error {
	var v app.Invalid
	switch {
	case strings.TrimSpace(claim.Signature) == "" && claim.DeliveryID == 0:
		v.Add("signature", "is required", "là bắt buộc")
	case len(claim.Signature) > 2000:
		v.Add("signature", "is longer than any signature", "dài hơn mọi chữ ký")
	}
	switch {
	case claim.Secret == "" && claim.WebhookID == 0 && claim.DeliveryID == 0:
		v.Add("secret", "is required", "là bắt buộc")
	case len(claim.Secret) > 1000:
		v.Add("secret", "is longer than any secret", "dài hơn mọi khoá bí mật")
	}
	if len(claim.Body) > MaxBody {
		v.Add("body", "must be at most 64 KiB", "tối đa 64 KiB")
	}
	return v.Err()
}

// checker holds a claim against the facts.
type checker struct {
	claim   Claim
	facts   delivery.SignatureFacts
	given   givenSignature
	seen    []seenTransaction // in the body, as far as it can be read
	entered []key             // the secret as it was entered first
	meant   key               // the one of entered that is stored; zero: none
	signing string            // the secret of the webhook that sent the call; empty: not known
	notes   []Mistake
}

// Check checks a call by what was entered and by what is known of it,
// which may be nothing. Of stored secrets it gives away only whether the call
// was signed with one, and it signs nothing but what was recorded.
func Check(claim Claim, facts delivery.SignatureFacts, now time.Time) (r Result, err error) {
	if err := claim.validate(); err != nil {
		return r, err
	}
	c := newChecker(claim, facts)
	c.noteCall(now)
	if k, body, found := c.search(); found {
		r.Mistakes = append(c.mistakesOfKey(k), c.mistakesOfBody(body)...)
		if c.given.base64 {
			r.Mistakes = append(r.Mistakes, signatureBase64)
		}
		r.Difference, r.Checksums = c.difference(body), c.checksums(k)
	} else {
		r.Mistakes, r.Difference = c.unmatched()
		r.Checksums = c.checksums(c.keys()...)
	}
	r.Matches, r.Notes = len(r.Mistakes) == 0, c.notes
	return r, nil
}

func newChecker(claim Claim, facts delivery.SignatureFacts) *checker {
	c := &checker{claim: claim, facts: facts, given: readSignature(claim), seen: readTransactions(claim.Body), entered: enteredKeys(claim.Secret)}
	for i, s := range facts.Secrets {
		if s.Use == delivery.SecretSigning && facts.Webhook != nil && facts.Webhook.ID == s.Webhook.ID {
			c.signing = s.Secret
		}
		for _, k := range c.entered {
			if same(k.secret, s.Secret) {
				c.meant = key{k.secret, k.wrong, &facts.Secrets[i]}
			}
		}
	}
	if strings.TrimSpace(claim.Signature) == "" && c.signing != "" && facts.Sent != nil { // the header isn't at hand
		c.given.plain = delivery.Signature(c.signing, facts.Sent.Body(c.signing))
	}
	return c
}

// key is a secret that may have signed a call.
type key struct {
	secret string
	wrong  []Mistake              // in the secret that was entered
	stored *delivery.StoredSecret // nil: not known here
}

// enteredKeys are the secret as it was entered, and what it becomes when the
// usual mistakes are undone one after the other.
func enteredKeys(entered string) []key {
	if entered == "" {
		return nil
	}
	keys := []key{{secret: entered}}
	undo := func(m Mistake, change func(string) string) {
		last := keys[len(keys)-1]
		if secret := change(last.secret); secret != last.secret && secret != "" {
			keys = append(keys, key{secret: secret, wrong: append(slices.Clip(last.wrong), m)})
		}
	}
	undo(secretSpace, func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }), "")
	})
	undo(secretQuotes, func(s string) string { return strings.Trim(s, "\"'`") })
	undo(secretWithoutPrefix, func(s string) string { return delivery.SecretPrefix + strings.TrimPrefix(s, delivery.SecretPrefix) })
	return keys
}

// keys are all that may have signed the call, the entered ones first.
func (c *checker) keys() []key {
	list := slices.Clip(c.entered)
	for i, s := range c.facts.Secrets {
		list = append(list, key{secret: s.Secret, stored: &c.facts.Secrets[i]})
	}
	return list
}

// search looks for the key and the body that the call's signature is made from.
func (c *checker) search() (k key, body []byte, found bool) {
	for _, k := range c.keys() {
		bodies := [][]byte{c.claim.Body}
		if c.facts.Sent != nil {
			bodies = append(bodies, c.facts.Sent.Body(k.secret))
		}
		if len(c.seen) == 1 { // what stands in it, written as baoco writes it
			bodies = append(bodies, c.seen[0].Body(k.secret))
		}
		for _, body := range bodies {
			if c.given.signs(k.secret, body) {
				return k, body, true
			}
		}
	}
	return key{}, nil, false
}

// checksums checks the transactions of the body. A checksum is right where one
// of the keys makes it.
func (c *checker) checksums(keys ...key) (list []Checksum) {
	for _, t := range c.seen {
		right := slices.ContainsFunc(keys, func(k key) bool { return same(t.checksum, t.Checksum(k.secret)) })
		list = append(list, Checksum{t.ID, right})
	}
	return list
}
