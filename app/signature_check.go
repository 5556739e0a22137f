package app

import (
	"bytes"
	"context"
	"crypto/subtle"
	"strconv"
	"strings"
	"time"
)

// MaxCheckedBody is the largest body that CheckSignature looks at, in bytes;
// what baoco sends is far smaller.
const MaxCheckedBody = 64 << 10

// SignatureClaim is a call as a receiver saw it, with the secret that it has.
type SignatureClaim struct {
	Body      []byte
	Signature string // the value of X-Webhook-Signature, or of webhook-signature
	MessageID string // webhook-id; empty: not known
	Timestamp string // webhook-timestamp; empty: not known
	Secret    string // empty: those of the webhook
	// What is known of where the call comes from; 0: nothing.
	WebhookID  int64
	DeliveryID int64
}

// SignatureCheck says whether a receiver that compares as it should accepts a
// call, and if not, why. It holds no secret, nothing that was entered as one,
// and no signature.
type SignatureCheck struct {
	Matches    bool
	Mistakes   []Mistake   // why it doesn't match, what is certain first
	Notes      []Mistake   // what is odd but was overlooked here
	Difference *Difference // of the body that was sent; nil where that isn't known, or is what was seen
	Checksums  []ChecksumCheck
}

// ChecksumCheck is one transaction of a body: whether its checksum is that of
// its other fields, under the secret that was entered or turned out to be meant.
type ChecksumCheck struct {
	TransactionID string
	Matches       bool
}

// storedSecret is a secret of a webhook that may have signed a call.
type storedSecret struct {
	webhook Webhook
	role    secretRole
	secret  string
}

// secretRole is what a stored secret is for at a moment.
type secretRole byte

const (
	roleSigning secretRole = iota // of X-Webhook-Signature
	roleNext                      // takes over at the end of the overlap
	roleFormer                    // was followed by another
)

// roles are the secrets with what each is for at now; lost ones are left out,
// for with an empty key anybody could sign.
func (s Secrets) roles(w Webhook, now time.Time) (list []storedSecret) {
	add := func(secret string, role secretRole) {
		if secret != "" {
			list = append(list, storedSecret{w, role, secret})
		}
	}
	signing, _ := s.At(now)
	add(signing, roleSigning)
	if signing == s.Current {
		add(s.Next, roleNext)
	} else {
		add(s.Current, roleFormer)
	}
	return list
}

// CheckSignature checks a call by what was entered alone.
func CheckSignature(claim SignatureClaim) (SignatureCheck, error) {
	if err := claim.check(); err != nil {
		return SignatureCheck{}, err
	}
	return newSignatureChecker(claim).check(), nil
}

// check says what of a claim is missing or too much.
func (claim SignatureClaim) check() error {
	var v Invalid
	switch known := claim.DeliveryID != 0; {
	case strings.TrimSpace(claim.Signature) == "" && !known:
		v.Add("signature", "is required", "không được để trống")
	case len(claim.Signature) > 2000:
		v.Add("signature", "is longer than any signature", "dài hơn mọi chữ ký")
	}
	switch known := claim.WebhookID != 0 || claim.DeliveryID != 0; {
	case claim.Secret == "" && !known:
		v.Add("secret", "is required", "không được để trống")
	case len(claim.Secret) > 1000:
		v.Add("secret", "is longer than any secret", "dài hơn mọi secret")
	}
	if len(claim.Body) > MaxCheckedBody {
		v.Add("body", "must be at most 64 KiB", "tối đa 64 KiB")
	}
	return v.Err()
}

// CheckSignature checks a call by what was entered and by what this account
// knows: the secrets of its webhooks and what was sent. CodeNotFound where the
// webhook or the delivery that is named doesn't exist. Of stored secrets it
// gives away only whether the call was signed with one; it signs nothing but
// what was recorded, and shows no signature.
func (s *Service) CheckSignature(ctx context.Context, accountID int64, claim SignatureClaim, now time.Time) (SignatureCheck, error) {
	if err := claim.check(); err != nil {
		return SignatureCheck{}, err
	}
	c := newSignatureChecker(claim)
	c.account = true
	if err := s.findSent(ctx, accountID, c); err != nil {
		return SignatureCheck{}, err
	}
	if err := s.findSecrets(ctx, accountID, c, now); err != nil {
		return SignatureCheck{}, err
	}
	return c.check(), nil
}

// findSent looks for what was sent: the delivery that is named, else that of
// the webhook-id, else the transaction that the body names.
func (s *Service) findSent(ctx context.Context, accountID int64, c *signatureChecker) error {
	id := c.claim.DeliveryID
	if id == 0 {
		id = deliveryOfMessage(c.claim.MessageID)
	}
	if id != 0 {
		facts, err := s.store.DeliveryFacts(ctx, accountID, id)
		switch {
		case err == nil && (c.claim.DeliveryID != 0 || facts.MessageID() == c.claim.MessageID):
			c.delivery, c.sent = &facts, &facts.Payload
			if c.claim.MessageID == "" {
				c.claim.MessageID = facts.MessageID()
			} else if facts.MessageID() != c.claim.MessageID {
				c.note(mistakeMessageID)
			}
			return nil
		case err != nil && (c.claim.DeliveryID != 0 || CodeOf(err) != CodeNotFound):
			return err
		}
		c.note(mistakeMessageID)
	}
	if len(c.seen) != 1 {
		return nil
	}
	transactionID, err := strconv.ParseInt(c.seen[0].ID, 10, 64)
	if err != nil || transactionID < 1 {
		return nil
	}
	t, err := s.Transaction(ctx, accountID, transactionID)
	if err == nil {
		p := t.Payload()
		c.sent = &p
	} else if CodeOf(err) != CodeNotFound {
		return err
	}
	return nil
}

// deliveryOfMessage is the delivery that a webhook-id names; 0: none.
func deliveryOfMessage(messageID string) int64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(messageID, "dlv_"), "_")
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id < 1 || !strings.HasPrefix(messageID, "dlv_") {
		return 0
	}
	return id
}

// findSecrets gathers the secrets that may have signed the call, first those of
// the webhook that it is from: the delivery's, else the one that is named.
func (s *Service) findSecrets(ctx context.Context, accountID int64, c *signatureChecker, now time.Time) error {
	if c.claim.WebhookID != 0 {
		w, err := s.store.Webhook(ctx, accountID, c.claim.WebhookID)
		if err != nil {
			return err
		}
		c.webhook = &w
	}
	if c.delivery != nil {
		if c.webhook != nil && c.webhook.ID != c.delivery.Webhook.ID {
			c.notes = append(c.notes, mistakeCallWebhook.mistake(Isolated(c.delivery.Webhook.Name)))
		}
		c.webhook = &c.delivery.Webhook
	}
	hooks, err := s.store.Webhooks(ctx, accountID)
	if err != nil {
		return err
	}
	secrets, err := s.store.WebhookSecrets(ctx, accountID)
	if err != nil {
		return err
	}
	var others []storedSecret
	for _, w := range hooks {
		roles := secrets[w.ID].roles(w, now)
		if c.webhook == nil || w.ID != c.webhook.ID {
			others = append(others, roles...)
			continue
		}
		c.stored = roles
	}
	c.own = len(c.stored)
	c.lost = c.webhook != nil && c.own == 0
	c.stored = append(c.stored, others...)
	return nil
}

// signatureChecker looks for what makes a call match.
type signatureChecker struct {
	claim   SignatureClaim
	given   givenSignature
	seen    []seenTransaction // in the body, as far as it can be read
	part    bool              // the body is only a part of one
	bodies  []bodyGuess       // the body as it was seen first
	entered []keyGuess        // the secret as it was entered first
	notes   []Mistake

	account  bool           // what follows was looked for
	webhook  *Webhook       // that the call is from; nil: not known
	lost     bool           // its secret, or the webhook with it
	delivery *DeliveryFacts // nil: not known
	sent     *Payload       // nil: not known
	stored   []storedSecret // the first own of them are the webhook's
	own      int
}

func newSignatureChecker(claim SignatureClaim) *signatureChecker {
	c := &signatureChecker{claim: claim, given: readSignature(claim.Signature), seen: readTransactions(claim.Body), bodies: guessBodies(claim.Body)}
	c.given.id, c.given.timestamp = strings.TrimSpace(claim.MessageID), strings.TrimSpace(claim.Timestamp)
	c.claim.MessageID = c.given.id
	c.notes = c.given.notes
	for _, around := range []string{`{"transactions":[%]}`, `{"transactions":%}`} {
		if before, after, _ := strings.Cut(around, "%"); len(c.seen) == 0 {
			c.seen = readTransactions(wrapped(before, claim.Body, after))
			c.part = len(c.seen) > 0
		}
	}
	if claim.Secret != "" {
		c.entered = guessKeys(claim.Secret)
	}
	return c
}

func (c *signatureChecker) note(m mistakeCode) { c.notes = append(c.notes, m.mistake()) }

// found is a key and a body that the call's signature is of.
type found struct {
	key    keyGuess
	stored *storedSecret // nil: the key was entered
	body   bodyGuess
}

func (c *signatureChecker) check() SignatureCheck {
	c.given.id = c.claim.MessageID // which the delivery may have told
	if len(c.given.digests) == 0 && c.delivery != nil && strings.TrimSpace(c.claim.Signature) == "" {
		c.takeSentSignature()
	}
	var r SignatureCheck
	if f, right := c.search(); right {
		r.Mistakes = append(c.mistakesOfKey(f), c.mistakesOfBody(f)...)
		r.Matches = len(r.Mistakes) == 0
		r.Difference = c.difference(f.body.body)
		r.Checksums = checksums(c.seen, f.key.key)
	} else {
		r.Checksums = c.checksums()
		if r.Mistakes = c.wrongWay(); len(r.Mistakes) == 0 {
			r.Mistakes, r.Difference = c.unexplained(r.Checksums)
		}
	}
	r.Notes = c.notes
	return r
}

// takeSentSignature checks body and secret against what a delivery carried,
// where nobody has its header at hand.
func (c *signatureChecker) takeSentSignature() {
	for _, s := range c.stored[:c.own] {
		if s.role == roleSigning {
			c.given.digests = append(c.given.digests, givenDigest{sum: signatureSum(s.secret, c.sent.Body(s.secret))})
		}
	}
}

// search tries every key with every body, the likely ones first.
func (c *signatureChecker) search() (found, bool) {
	try := func(key keyGuess, stored *storedSecret) (found, bool) {
		for _, body := range c.bodies {
			if c.given.signs(key.key, body.body) {
				return found{key, stored, body}, true
			}
		}
		if sent := c.mayBeSent(); sent != nil {
			if body := sent.Body(key.key); c.given.signs(key.key, body) {
				return found{key, stored, bodyGuess{body: body, original: true}}, true
			}
		}
		return found{}, false
	}
	for _, key := range c.entered {
		if f, right := try(key, nil); right {
			return f, true
		}
	}
	for i, s := range c.stored {
		if f, right := try(keyGuess{key: s.secret}, &c.stored[i]); right {
			return f, true
		}
	}
	return found{}, false
}

// mayBeSent is what the call told of: what was recorded, else what can be read
// of the body. A signature proves it.
func (c *signatureChecker) mayBeSent() *Payload {
	if c.sent == nil && len(c.seen) == 1 {
		return &c.seen[0].Payload
	}
	return c.sent
}

// same compares secrets without telling by its time how much of them agrees.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// enteredAs is the stored secret that was entered, or meant; nil: none.
func (c *signatureChecker) enteredAs() *storedSecret {
	for _, key := range c.entered {
		for i, s := range c.stored {
			if same(key.key, s.secret) {
				return &c.stored[i]
			}
		}
	}
	return nil
}

// difference is where the body that was seen leaves the one that was sent. What
// holds a secret isn't shown.
func (c *signatureChecker) difference(sent []byte) *Difference {
	if bytes.Contains(c.claim.Body, []byte(secretPrefix)) {
		return nil
	}
	return firstDifference(sent, c.claim.Body)
}

// checksums is the checks of the body's transactions under the key that most of
// them are of.
func (c *signatureChecker) checksums() []ChecksumCheck {
	keys := c.entered
	for _, s := range c.stored {
		keys = append(keys, keyGuess{key: s.secret})
	}
	var best []ChecksumCheck
	most := -1
	for _, key := range keys {
		list := checksums(c.seen, key.key)
		n := 0
		for _, one := range list {
			if one.Matches {
				n++
			}
		}
		if n > most {
			best, most = list, n
		}
	}
	return best
}
