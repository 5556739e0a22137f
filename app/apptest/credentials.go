package apptest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app/inbound"
	"baoco/app/provider"
)

func HexHMAC(secret string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// Credentials returns the headers with which a source's call authenticates, as pairs.
func Credentials(s inbound.Source, body string, now time.Time) []string {
	switch {
	case s.Auth == inbound.AuthBearer:
		return []string{"Authorization", "Bearer " + s.Secret}
	case s.Auth == inbound.AuthAPIKey:
		return []string{"Authorization", "Apikey " + s.Secret}
	case s.Auth == inbound.AuthBasic:
		return []string{"Authorization", "Bearer " + SignedToken(s, s.ID, now.Add(time.Minute))}
	case s.Provider == "casso":
		return []string{"Secure-Token", s.Secret}
	case s.Auth == inbound.AuthToken:
		return []string{s.Options.Header, s.Secret}
	case s.Provider == "capcom6":
		stamp := strconv.FormatInt(now.Unix(), 10)
		return []string{"X-Timestamp", stamp, "X-Signature", HexHMAC(s.Secret, body, stamp)}
	case s.Provider == "sms-to-url":
		return []string{"X-Signature", HexHMAC(s.Secret, body)}
	case s.Provider == "sepay":
		stamp := strconv.FormatInt(now.Unix(), 10)
		return []string{"X-SePay-Timestamp", stamp, "X-SePay-Signature", "sha256=" + HexHMAC(s.Secret, stamp, ".", body)}
	}
	return []string{"X-Webhook-Signature", HexHMAC(s.Secret, body)}
}

// ForwarderSign returns the signature of SmsForwarder, before it is URL-encoded.
func ForwarderSign(secret, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "\n" + secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// SignedToken returns a VietQR token as this version writes it.
func SignedToken(s inbound.Source, id int64, expiry time.Time) string {
	mac := hmac.New(sha256.New, []byte(s.Secret))
	fmt.Fprintf(mac, "baoco vietqr token v1\n%d\n%d", id, expiry.Unix())
	return fmt.Sprintf("v1.%d.%d.%s", id, expiry.Unix(), base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
}

// RefusalOf returns the refusal of a call by the provider of its source, without the limit
// on failing calls that web/inbound has.
func RefusalOf(source inbound.Source, body []byte, h http.Header, at time.Time) inbound.Refusal {
	a, found := provider.Find(source.Provider)
	if !found {
		panic("unknown provider " + source.Provider)
	}
	return a.Verify(provider.Call{Source: source, Body: body, At: at}, h)
}

// SameCredential reports whether two values of a header mean the same: the case of an
// authentication scheme doesn't count.
func SameCredential(name, a, b string) bool {
	schemeA, restA, _ := strings.Cut(a, " ")
	schemeB, restB, _ := strings.Cut(b, " ")
	return a == b || name == "Authorization" && restA == restB && strings.EqualFold(schemeA, schemeB)
}
