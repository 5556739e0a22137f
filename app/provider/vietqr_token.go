package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// This file has VietQR's access tokens. VietQR asks for one with user name and
// password, and sends it with what it tells in the minutes after. A token is
// kept nowhere: it says whose it is and until when, and is signed with the
// source's secret, so that a new secret ends it.

// VietQRTokenLife is what VietQR's documents give a token.
const VietQRTokenLife = 300 * time.Second

// vietQRToken is what an access token says: v1.<source id>.<expiry>.<signature>.
type vietQRToken struct {
	Source    int64
	expiry    int64 // unix seconds
	signature string
}

func MakeVietQRToken(source app.Source, expiry time.Time) string {
	t := vietQRToken{Source: source.ID, expiry: expiry.Unix()}
	t.signature = t.sign(source.Secret)
	return t.String()
}

func (t vietQRToken) String() string {
	return fmt.Sprintf("v1.%d.%d.%s", t.Source, t.expiry, t.signature)
}

// sign is the signature that t should have.
func (t vietQRToken) sign(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "baoco vietqr token v1\n%d\n%d", t.Source, t.expiry)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ParseVietQRToken takes a token apart and proves nothing of it. It is strict,
// so that a token has one form.
func ParseVietQRToken(s string) (t vietQRToken, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 4 || parts[0] != "v1" {
		return t, false
	}
	t.Source, _ = strconv.ParseInt(parts[1], 10, 64)
	t.expiry, _ = strconv.ParseInt(parts[2], 10, 64)
	t.signature = parts[3]
	return t, t.Source > 0 && t.expiry > 0 && s == t.String()
}

// verifyVietQR checks the access token of a call.
func verifyVietQR(in Call, h http.Header) app.Refusal {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return why
	}
	token, found := cutScheme(value, "Bearer")
	t, ok := ParseVietQRToken(token)
	switch {
	case !ok || !found:
		return Refusal(app.RefusalMalformed, "The Authorization header is not Bearer followed by an access token from token_generate.",
			"Header Authorization không có dạng Bearer kèm access token lấy từ token_generate.")
	case !hmac.Equal([]byte(t.signature), []byte(t.sign(in.Source.Secret))) || t.Source != in.Source.ID:
		return Refusal(app.RefusalKey, "The access token belongs to another source, or was issued before the secret was rotated.",
			"Access token thuộc nguồn khác hoặc được cấp trước khi đổi secret.")
	case in.At.Unix() >= t.expiry:
		return Refusal(app.RefusalTime, "The access token has expired.", "Access token đã hết hạn.")
	}
	return app.Refusal{}
}

// BasicLogin is the user name and password of the one Authorization header,
// with a colon between them.
func BasicLogin(h http.Header) (string, app.Refusal) {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return "", why
	}
	encoded, found := cutScheme(value, "Basic")
	login, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil {
		return "", Refusal(app.RefusalMalformed, "The Authorization header is not Basic followed by a username and password in base64.",
			"Header Authorization không có dạng Basic kèm tên đăng nhập và mật khẩu mã hoá base64.")
	}
	return string(login), app.Refusal{}
}

// VerifyVietQRLogin compares user name and password at once: no user name has
// a colon.
func VerifyVietQRLogin(in Call, h http.Header) app.Refusal {
	login, why := BasicLogin(h)
	if why.Code == "" && !hmac.Equal([]byte(login), []byte(in.Source.Options.Username+":"+in.Source.Secret)) {
		why = Refusal(app.RefusalKey, "The username and password are not this source’s username and secret.", "Tên đăng nhập và mật khẩu không phải là tên đăng nhập và secret của nguồn này.")
	}
	return why
}
