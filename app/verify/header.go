package verify

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"baoco/app/delivery"
)

// givenSignature is the value of a header: plain or standard, or neither where
// it couldn't be read.
type givenSignature struct {
	plain     string    // an X-Webhook-Signature, in small hexadecimal digits
	base64    bool      // plain was written in base64
	prefixed  bool      // plain had sha256= before it
	standard  []string  // the signatures of a webhook-signature, each with its v1
	messageID string    // webhook-id
	timestamp time.Time // webhook-timestamp; zero: not known
}

// readSignature reads the value of X-Webhook-Signature or webhook-signature.
func readSignature(claim Claim) givenSignature {
	value := strings.TrimSpace(claim.Signature)
	g := givenSignature{messageID: strings.TrimSpace(claim.MessageID)}
	if strings.HasPrefix(value, "v1,") {
		g.standard = strings.Fields(value)
		if seconds, err := strconv.ParseInt(strings.TrimSpace(claim.Timestamp), 10, 64); err == nil {
			g.timestamp = time.Unix(seconds, 0)
		}
		return g
	}
	const prefix = "sha256="
	if g.prefixed = len(value) > len(prefix) && strings.EqualFold(value[:len(prefix)], prefix); g.prefixed {
		value = value[len(prefix):]
	}
	if sum, err := hex.DecodeString(value); err == nil && len(sum) == 32 {
		g.plain = hex.EncodeToString(sum)
	} else if sum, err := base64.StdEncoding.DecodeString(value); err == nil && len(sum) == 32 {
		g.plain, g.base64 = hex.EncodeToString(sum), true
	}
	return g
}

// signs tells whether the header is a signature of body under secret.
func (g givenSignature) signs(secret string, body []byte) bool {
	if g.plain != "" {
		return same(g.plain, delivery.Signature(secret, body))
	}
	right := delivery.StandardSignature(secret, g.messageID, g.timestamp, body)
	return slices.ContainsFunc(g.standard, func(one string) bool { return same(one, right) })
}

// same compares secrets or signatures. The time that it takes doesn't tell how
// much of them agrees.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
