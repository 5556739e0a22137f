package verify

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"baoco/app/delivery"
)

// timestampTolerance is how far webhook-timestamp may be from the present for
// the libraries of Standard Webhooks.
const timestampTolerance = 5 * time.Minute

// noteCall notes what is wrong but doesn't keep the signature from matching.
func (c *checker) noteCall(now time.Time) {
	if c.given.prefixed {
		c.notes = append(c.notes, signaturePrefix)
	}
	if at := c.given.timestamp; !at.IsZero() && now.Sub(at).Abs() > timestampTolerance {
		c.notes = append(c.notes, timestampExpired)
	}
	if w := c.facts.Webhook; w != nil && c.claim.WebhookID != 0 && c.claim.WebhookID != w.ID {
		c.notes = append(c.notes, callOfOtherWebhook.naming(*w))
	}
}

// isOthers tells whether a secret is known to be of another webhook than the one
// that sent the call.
func (c *checker) isOthers(s *delivery.StoredSecret) bool {
	return s != nil && c.facts.Webhook != nil && s.Webhook.ID != c.facts.Webhook.ID
}

// mistakesOfKey says why the secret that was entered isn't k, which signed the
// call.
func (c *checker) mistakesOfKey(k key) []Mistake {
	meant := c.meant.stored
	if k.stored == nil {
		if c.isOthers(meant) {
			c.notes = append(c.notes, callOfOtherWebhook.naming(meant.Webhook))
		}
		return k.wrong
	}
	switch signer := k.stored.Webhook; {
	case meant != nil && meant.Webhook.ID != signer.ID:
		return []Mistake{secretOfOtherWebhook.naming(meant.Webhook, signer)}
	case meant != nil && meant.Use == delivery.SecretNext:
		return []Mistake{secretNext}
	case meant != nil && meant.Use == delivery.SecretFormer:
		return []Mistake{secretFormer}
	case c.isOthers(k.stored):
		return []Mistake{callOfOtherWebhook.naming(signer)}
	case k.stored.Use == delivery.SecretFormer:
		return []Mistake{callBeforeRotation}
	case c.claim.Secret != "":
		return []Mistake{secretOther.naming(signer)}
	}
	return nil
}

// mistakesOfBody says what was done to the body that was sent.
func (c *checker) mistakesOfBody(sent []byte) []Mistake {
	switch trimmed := bytes.TrimSpace(c.claim.Body); {
	case bytes.Equal(c.claim.Body, sent):
		return nil
	case len(trimmed) == 0:
		return []Mistake{bodyEmpty}
	case bytes.Equal(trimmed, sent):
		return []Mistake{bodySpace}
	case slices.Equal(readTransactions(sent), c.seen):
		return []Mistake{bodyEncodedAgain}
	}
	return []Mistake{bodyChanged}
}

// difference is nil where the body that was seen holds a secret, which isn't
// shown.
func (c *checker) difference(sent []byte) *Difference {
	if bytes.Contains(c.claim.Body, []byte(delivery.SecretPrefix)) {
		return nil
	}
	return firstDifference(sent, c.claim.Body)
}

// unmatched says what is wrong where no key and body make the signature.
func (c *checker) unmatched() (list []Mistake, d *Difference) {
	add := func(found bool, m Mistake) {
		if found {
			list = append(list, m)
		}
	}
	lost := c.facts.Webhook != nil && c.signing == ""
	add(lost, secretLost)
	if len(c.given.standard) > 0 {
		add(c.given.messageID == "" || c.given.timestamp.IsZero(), standardNeedsHeaders)
	} else if c.given.plain == "" {
		add(!lost || strings.TrimSpace(c.claim.Signature) != "", signatureShape)
	} else {
		add(slices.ContainsFunc(c.seen, func(t seenTransaction) bool { return same(t.checksum, c.given.plain) }), signatureIsChecksum)
	}
	list = append(list, c.mistakesOfEntered()...)
	if c.facts.Sent != nil && c.signing != "" {
		sent, resigned := c.sentBody()
		list = append(list, c.mistakesOfBody(sent)...)
		add(resigned, bodyOfOtherSecret)
		d = c.difference(sent)
	} else {
		add(len(bytes.TrimSpace(c.claim.Body)) == 0, bodyEmpty)
	}
	add(len(list) == 0, unexplained)
	return list, d
}

// mistakesOfEntered judges the secret that was entered by those that are stored,
// or by the checksums in the body where none is.
func (c *checker) mistakesOfEntered() []Mistake {
	meant := c.meant
	for _, k := range c.entered {
		if len(c.facts.Secrets) == 0 && slices.ContainsFunc(c.checksums(k), func(t Checksum) bool { return t.Matches }) {
			meant = k
		}
	}
	switch {
	case c.isOthers(meant.stored):
		return []Mistake{secretOfOtherWebhook.naming(meant.stored.Webhook, *c.facts.Webhook)}
	case meant.stored != nil && meant.stored.Use == delivery.SecretFormer:
		return []Mistake{secretFormer}
	case len(meant.wrong) > 0:
		return meant.wrong
	case meant.secret != "":
		return []Mistake{secretRight}
	case c.claim.Secret != "" && len(c.facts.Secrets) > 0:
		return []Mistake{secretUnknown}
	}
	return nil
}

// sentBody is the body that was sent. Where resigned, it carried the checksum
// that was seen, which isn't made with the present secret.
func (c *checker) sentBody() (sent []byte, resigned bool) {
	checksum := c.facts.Sent.Checksum(c.signing)
	if len(c.seen) > 0 && len(c.seen[0].checksum) == len(checksum) && c.seen[0].checksum != checksum {
		return c.facts.Sent.BodyWith(c.seen[0].checksum), true
	}
	return c.facts.Sent.BodyWith(checksum), false
}
