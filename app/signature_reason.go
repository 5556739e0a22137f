package app

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
)

// This file says why a signature doesn't match, once a key and a body are found
// that it is of, or once none is.

// mistakesOfKey says how the secret that was entered isn't the one that signed.
func (c *signatureChecker) mistakesOfKey(f found) []Mistake {
	if f.stored == nil {
		if c.own > 0 && !slices.ContainsFunc(c.stored[:c.own], func(s storedSecret) bool { return same(s.secret, f.key.key) }) {
			c.noteStale(f.key.key)
		}
		return mistakesOf(f.key.wrong)
	}
	mine := c.webhook == nil || f.stored.webhook.ID == c.webhook.ID
	entered := c.enteredAs()
	switch name := Isolated(f.stored.webhook.Name); {
	case entered != nil && entered.webhook.ID != f.stored.webhook.ID:
		return []Mistake{mistakeSecretWebhook.mistake(Isolated(entered.webhook.Name), name)}
	case entered != nil && entered.role == roleNext:
		return []Mistake{mistakeSecretEarly.mistake()}
	case entered != nil && entered.role == roleFormer:
		return []Mistake{mistakeSecretFormer.mistake()}
	case !mine:
		return []Mistake{mistakeCallWebhook.mistake(name)}
	case f.stored.role == roleFormer:
		return []Mistake{mistakeCallFormer.mistake()}
	case entered != nil || len(c.entered) == 0 && f.stored.role == roleNext:
		return []Mistake{mistakeCallNext.mistake()}
	case len(c.entered) == 0:
		return nil
	default:
		return []Mistake{mistakeSecretOther.mistake(name)}
	}
}

// noteStale notes that a secret that did sign isn't the webhook's any more, or
// is another webhook's.
func (c *signatureChecker) noteStale(secret string) {
	for _, s := range c.stored[c.own:] {
		if same(s.secret, secret) {
			c.notes = append(c.notes, mistakeCallWebhook.mistake(Isolated(s.webhook.Name)))
			return
		}
	}
	c.note(mistakeSecretStale)
}

// mistakesOfBody says how the body that was seen isn't the one that was signed.
func (c *signatureChecker) mistakesOfBody(f found) []Mistake {
	switch {
	case bytes.Equal(f.body.body, c.claim.Body):
		return nil
	case !f.body.original:
		return mistakesOf(f.body.wrong)
	}
	return mistakesOf(c.changes(f.body.body))
}

// changes is what was done to the body that was sent.
func (c *signatureChecker) changes(sent []byte) []mistakeCode {
	seen := c.claim.Body
	switch trimmed := bytes.TrimSpace(seen); {
	case len(trimmed) == 0:
		return []mistakeCode{mistakeBodyEmpty}
	case isObject(trimmed):
		return []mistakeCode{mistakeBodyObject}
	case c.part:
		return []mistakeCode{mistakeBodyPart}
	case len(trimmed) < len(sent) && bytes.HasPrefix(sent, trimmed):
		return []mistakeCode{mistakeBodyCut}
	case bytes.Equal(bytes.TrimPrefix(trimmed, []byte(byteOrderMark)), sent), slices.Equal(readTransactions(sent), c.seen):
		if list := reencodings(sent, seen); len(list) > 0 {
			return list
		}
	}
	return []mistakeCode{mistakeBodyChanged}
}

// isObject tells whether a body is what languages write for a parsed one.
func isObject(body []byte) bool {
	return slices.Contains([]string{"[object Object]", "Array", "null", "undefined"}, string(body)) || bytes.HasPrefix(body, []byte(`{"type":"Buffer"`))
}

// wrongWay looks for how else the value that was given may have been computed.
func (c *signatureChecker) wrongWay() []Mistake {
	keys := c.entered
	if len(keys) == 0 {
		for _, s := range c.stored[:c.own] {
			keys = append(keys, keyGuess{key: s.secret})
		}
	}
	for _, d := range c.given.digests {
		for _, t := range c.seen {
			if sum, err := hex.DecodeString(t.checksum); err == nil && hmac.Equal(sum, d.sum) {
				return []Mistake{mistakeSignatureChecksum.mistake()}
			}
		}
		for _, key := range keys {
			for _, body := range c.bodies {
				if m, known := c.computedSo(d, key.key, body.body); known {
					list := append(mistakesOf(key.wrong), m.mistake())
					return append(list, c.mistakesOfBody(found{body: body})...)
				}
			}
		}
	}
	return nil
}

// computedSo tells in which wrong way a digest was computed from key and body.
func (c *signatureChecker) computedSo(d givenDigest, key string, body []byte) (mistakeCode, bool) {
	signed := func(key string, message []byte) bool { return hmac.Equal(d.sum, signatureSum(key, message)) }
	hashed := func(parts ...[]byte) bool {
		sum := sha256.Sum256(bytes.Join(parts, nil))
		return hmac.Equal(d.sum, sum[:])
	}
	message, decoded := c.given.standardMessage(body), string(decodedSecret(key))
	if d.standard {
		seconds := c.given
		seconds.timestamp = seconds.timestamp[:min(10, len(seconds.timestamp))]
		switch {
		case signed(key, message):
			return mistakeStandardKey, true
		case signed(decoded, body), signed(key, body):
			return mistakeStandardMessage, true
		case len(c.given.timestamp) == 13 && signed(decoded, seconds.standardMessage(body)):
			return mistakeStandardTime, true
		}
		return "", false
	}
	other := hashOfSize(len(d.sum))
	switch {
	case d.base64 && signed(key, body):
		return mistakeSignatureBase64, true
	case signed(strings.TrimPrefix(key, secretPrefix), body):
		return mistakeKeyStripped, true
	case signed(decoded, body):
		return mistakeKeyDecoded, true
	case signed(decoded, message):
		return mistakeSignatureStandard, true
	case hashed(body):
		return mistakeKeyNone, true
	case hashed([]byte(key), body), hashed(body, []byte(key)):
		return mistakeKeyJoined, true
	case signed(string(body), []byte(key)):
		return mistakeKeySwapped, true
	case len(d.sum) != sha256.Size && other != nil:
		mac := hmac.New(other, []byte(key))
		mac.Write(body)
		return mistakeOtherHash, hmac.Equal(mac.Sum(nil), d.sum)
	}
	for _, t := range c.seen {
		if signed(key, t.canonical()) {
			return mistakeSignatureChecksum, true
		}
	}
	return "", false
}

// hashOfSize is the usual hash function whose digests have so many bytes.
func hashOfSize(size int) func() hash.Hash {
	switch size {
	case md5.Size:
		return md5.New
	case sha1.Size:
		return sha1.New
	case sha256.Size:
		return sha256.New
	case sha512.Size384:
		return sha512.New384
	case sha512.Size:
		return sha512.New
	}
	return nil
}

// unexplained says what is wrong where no key and body make the signature.
func (c *signatureChecker) unexplained(checks []ChecksumCheck) (list []Mistake, d *Difference) {
	add := func(m mistakeCode, names ...any) { list = append(list, m.mistake(names...)) }
	if c.lost {
		add(mistakeSecretLost)
	}
	if len(c.given.digests) == 0 && !(c.lost && strings.TrimSpace(c.claim.Signature) == "") {
		add(c.given.wrong)
	}
	if slices.ContainsFunc(c.given.digests, func(d givenDigest) bool { return d.standard }) && (c.given.id == "" || c.given.timestamp == "") {
		add(mistakeStandardNeeds)
	}
	entered := c.enteredAs()
	switch {
	case len(c.entered) == 0:
	case entered != nil && c.webhook != nil && entered.webhook.ID != c.webhook.ID:
		add(mistakeSecretWebhook, Isolated(entered.webhook.Name), Isolated(c.webhook.Name))
	case entered != nil && entered.role == roleFormer:
		add(mistakeSecretFormer)
	case entered != nil:
		c.secretRight(&list, entered.secret)
	case slices.ContainsFunc(checks, func(one ChecksumCheck) bool { return one.Matches }) && !c.account:
		c.secretRight(&list, "")
	case !slices.ContainsFunc(c.entered, func(key keyGuess) bool { return isSecret(key.key) }):
		add(mistakeSecretShape)
	case c.account:
		add(mistakeSecretUnknown)
	}
	changed, d := c.compared()
	list = append(list, changed...)
	if len(list) == 0 || len(list) == 1 && list[0].Code == string(mistakeSecretRight) && len(checks) == 0 {
		add(mistakeUnknown)
	}
	return list, d
}

// secretRight says that the secret isn't the reason, or what is wrong with how
// it was entered.
func (c *signatureChecker) secretRight(list *[]Mistake, secret string) {
	for _, key := range c.entered {
		if same(key.key, secret) && len(key.wrong) > 0 {
			*list = append(*list, mistakesOf(key.wrong)...)
			return
		}
	}
	*list = append(*list, mistakeSecretRight.mistake())
}

// isSecret tells whether s is written as a webhook's secret is.
func isSecret(s string) bool {
	return strings.HasPrefix(s, secretPrefix) && len(decodedSecret(s)) == 32
}

// compared holds the body against what was sent, where that is known, else
// against what no body can be.
func (c *signatureChecker) compared() ([]Mistake, *Difference) {
	seen := bytes.TrimSpace(c.claim.Body)
	if c.sent == nil || c.webhook == nil {
		switch {
		case len(seen) == 0:
			return mistakesOf([]mistakeCode{mistakeBodyEmpty}), nil
		case isObject(seen):
			return mistakesOf([]mistakeCode{mistakeBodyObject}), nil
		}
		return nil, nil
	}
	sent, other := c.sentBody()
	var list []mistakeCode
	if !bytes.Equal(sent, c.claim.Body) {
		list = c.changes(sent)
	}
	switch {
	case other:
		list = append(list, mistakeBodyResign)
	case len(c.given.digests) > 0:
		list = append(list, mistakeSignatureNotSent)
	}
	return mistakesOf(list), c.difference(sent)
}

// sentBody is the body that was sent. other says that it is signed with another
// secret than the webhook has now; then the checksum is the one that was seen.
func (c *signatureChecker) sentBody() (sent []byte, other bool) {
	seen := ""
	if len(c.seen) > 0 {
		seen = c.seen[0].checksum
	}
	for _, s := range c.stored[:c.own] {
		if checksum := c.sent.Checksum(s.secret); s.role == roleSigning && (len(seen) != len(checksum) || seen == checksum) {
			return c.sent.bodyWith(checksum), false
		}
	}
	return c.sent.bodyWith(seen), c.own > 0
}
