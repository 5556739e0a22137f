// Package secondfactor is the codes that a user enters after the password: those
// of an authenticator app (TOTP, RFC 6238), and recovery codes.
package secondfactor

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

const (
	period      = 30 // seconds of a step
	window      = 1  // steps before and after, for clocks that differ
	digits      = otp.DigitsSix
	secretBytes = 20
)

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret makes the secret of an authenticator app, as people can type it.
func NewSecret() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return encoding.EncodeToString(b[:])
}

// ValidSecret tells whether NewSecret may have made it.
func ValidSecret(secret string) bool {
	b, err := encoding.DecodeString(secret)
	return err == nil && len(b) == secretBytes && encoding.EncodeToString(b) == secret
}

// Address is what the QR code of a secret holds. place tells installations apart in
// the app.
func Address(place, user, secret string) string {
	query := url.Values{"secret": {secret}, "issuer": {"baoco"}}
	return "otpauth://totp/" + url.PathEscape("baoco:"+user+" ("+place+")") + "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
}

// Step gives the step whose code was entered: the one of now, that before or that
// after. ok is false for a wrong code, and for one of a step up to last, which was
// used.
func Step(secret, code string, last int64, now time.Time) (step int64, ok bool) {
	code = plain(code)
	present := now.Unix() / period
	for step := max(present-window, last+1); step <= present+window; step++ {
		right, err := hotp.GenerateCodeCustom(secret, uint64(step), hotp.ValidateOpts{Digits: digits, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(right), []byte(code)) == 1 {
			return step, true
		}
	}
	return 0, false
}

// RecoveryCodes is how many a user gets.
const RecoveryCodes = 10

// NewRecoveryCodes makes codes of 80 random bits, in groups that can be read aloud.
func NewRecoveryCodes() []string {
	codes := make([]string, RecoveryCodes)
	for i := range codes {
		c := strings.ToLower(rand.Text()[:16])
		codes[i] = c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
	}
	return codes
}

// IsRecoveryCode tells whether a code has the form of a recovery code, not of a code
// of an app.
func IsRecoveryCode(code string) bool { return len(plain(code)) == 16 }

// RecoveryHash is what is kept of the recovery code of a user. ok is false for what
// can't be one.
func RecoveryHash(userID int64, code string) (hash [sha256.Size]byte, ok bool) {
	return sha256.Sum256(fmt.Appendf(nil, "baoco recovery v1\n%d\n%s", userID, plain(code))), IsRecoveryCode(code)
}

// plain is a code without what people put between its characters.
func plain(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "\t", "", "\u00a0", "").Replace(code))
}
