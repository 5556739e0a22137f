package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// givenDigest is one signature of a header.
type givenDigest struct {
	sum      []byte
	standard bool // of the Standard Webhooks specification: over id, timestamp and body
	base64   bool // written so where it should be hexadecimal
}

// maxDigests is how many signatures of a header are looked at; baoco sends two
// at most.
const maxDigests = 4

// givenSignature is a header as it was read.
type givenSignature struct {
	digests       []givenDigest // none: the header holds no signature
	wrong         mistakeCode
	notes         []Mistake
	id, timestamp string // of the call, for the standard givenDigests
}

// readSignature reads the value of X-Webhook-Signature or webhook-signature,
// as people find it in a log: with its name, in quotes, in capital letters.
func readSignature(header string) (g givenSignature) {
	note := func(m mistakeCode) { g.notes = append(g.notes, m.mistake()) }
	value := strings.TrimSpace(header)
	if strings.HasPrefix(unquoted(value), secretPrefix) {
		g.wrong = mistakeSignatureIsSecret
		return g
	}
	if name, rest, found := strings.Cut(value, ":"); found && strings.Contains(strings.ToLower(name), "signature") {
		value = strings.TrimSpace(rest)
	}
	value = unquoted(value)
	for _, prefix := range []string{"sha256=", "sha256:", "hmac-sha256="} {
		if len(value) > len(prefix) && strings.EqualFold(value[:len(prefix)], prefix) {
			value = value[len(prefix):]
			note(mistakeSignaturePrefix)
		}
	}
	if strings.HasPrefix(value, "v1,") {
		for one := range strings.FieldsSeq(value) {
			if len(g.digests) == maxDigests {
				break
			}
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1,"))
			if err == nil && len(sum) == sha256.Size && strings.HasPrefix(one, "v1,") {
				g.digests = append(g.digests, givenDigest{sum: sum, standard: true})
			}
		}
		if len(g.digests) == 0 {
			g.wrong = mistakeSignatureShape
		}
		return g
	}
	if sum, err := hex.DecodeString(value); err == nil && hashOfSize(len(sum)) != nil {
		if value != strings.ToLower(value) {
			note(mistakeSignatureCapitals)
		}
		g.digests = []givenDigest{{sum: sum}}
		return g
	}
	if sum, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "=")); err == nil && len(sum) == sha256.Size {
		g.digests = []givenDigest{{sum: sum, base64: true}}
		return g
	}
	g.wrong = mistakeSignatureShape
	return g
}

// unquoted is s without one pair of quotes around it.
func unquoted(s string) string {
	for _, quote := range []string{`"`, `'`, "`"} {
		if len(s) >= 2 && strings.HasPrefix(s, quote) && strings.HasSuffix(s, quote) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// standardMessage is what a signature of the Standard Webhooks is made over.
func (g givenSignature) standardMessage(body []byte) []byte {
	return append([]byte(g.id+"."+g.timestamp+"."), body...)
}

// signs tells whether the header is a signature of body under secret, made as
// baoco makes it.
func (g givenSignature) signs(secret string, body []byte) bool {
	var plain, standard []byte // made once, whatever the number of digests
	for _, d := range g.digests {
		switch {
		case d.base64:
		case d.standard:
			if standard == nil {
				standard = signatureSum(string(decodedSecret(secret)), g.standardMessage(body))
			}
			if hmac.Equal(d.sum, standard) {
				return true
			}
		default:
			if plain == nil {
				plain = signatureSum(secret, body)
			}
			if hmac.Equal(d.sum, plain) {
				return true
			}
		}
	}
	return false
}
