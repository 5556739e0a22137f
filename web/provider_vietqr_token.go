package web

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

// vietQRTokenLife is what VietQR's documents give a token.
const vietQRTokenLife = 300 * time.Second

// vietQRToken is what an access token says: v1.<source id>.<expiry>.<signature>.
type vietQRToken struct {
	source    int64
	expiry    int64 // unix seconds
	signature string
}

func makeVietQRToken(source app.Source, expiry time.Time) string {
	t := vietQRToken{source: source.ID, expiry: expiry.Unix()}
	t.signature = t.sign(source.Secret)
	return t.String()
}

func (t vietQRToken) String() string {
	return fmt.Sprintf("v1.%d.%d.%s", t.source, t.expiry, t.signature)
}

// sign is the signature that t should have.
func (t vietQRToken) sign(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "baoco vietqr token v1\n%d\n%d", t.source, t.expiry)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// parseVietQRToken takes a token apart and proves nothing of it. It is strict,
// so that a token has one form.
func parseVietQRToken(s string) (t vietQRToken, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 4 || parts[0] != "v1" {
		return t, false
	}
	t.source, _ = strconv.ParseInt(parts[1], 10, 64)
	t.expiry, _ = strconv.ParseInt(parts[2], 10, 64)
	t.signature = parts[3]
	return t, t.source > 0 && t.expiry > 0 && s == t.String()
}

// verifyVietQR checks the access token of a call.
func verifyVietQR(in inbound, h http.Header) app.Refusal {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return why
	}
	token, found := cutScheme(value, "Bearer")
	t, ok := parseVietQRToken(token)
	switch {
	case !ok || !found:
		return refusal(app.RefusalMalformed, "The Authorization header is not Bearer followed by an access token from token_generate.",
			"Header Authorization không có dạng Bearer kèm access token lấy từ token_generate.")
	case !hmac.Equal([]byte(t.signature), []byte(t.sign(in.source.Secret))) || t.source != in.source.ID:
		return refusal(app.RefusalKey, "The access token belongs to another source, or was issued before the secret was rotated.",
			"Access token thuộc nguồn khác hoặc được cấp trước khi đổi secret.")
	case in.at.Unix() >= t.expiry:
		return refusal(app.RefusalTime, "The access token has expired.", "Access token đã hết hạn.")
	}
	return app.Refusal{}
}

// basicLogin is the user name and password of the one Authorization header,
// with a colon between them.
func basicLogin(h http.Header) (string, app.Refusal) {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return "", why
	}
	encoded, found := cutScheme(value, "Basic")
	login, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil {
		return "", refusal(app.RefusalMalformed, "The Authorization header is not Basic followed by a username and password in base64.",
			"Header Authorization không có dạng Basic kèm tên đăng nhập và mật khẩu mã hoá base64.")
	}
	return string(login), app.Refusal{}
}

// verifyVietQRLogin compares user name and password at once: no user name has
// a colon.
func verifyVietQRLogin(in inbound, h http.Header) app.Refusal {
	login, why := basicLogin(h)
	if why.Code == "" && !hmac.Equal([]byte(login), []byte(in.source.Options.Username+":"+in.source.Secret)) {
		why = refusal(app.RefusalKey, "The username and password are not this source’s username and secret.", "Tên đăng nhập và mật khẩu không phải là tên đăng nhập và secret của nguồn này.")
	}
	return why
}
