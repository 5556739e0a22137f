package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
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
	return fmt.Sprintf("v1.%d.%d.%s", t.source, t.expiry, t.sign(source.Secret))
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
	var isID bool
	if t.source, isID = parseID(parts[1]); !isID {
		return t, false
	}
	t.expiry, isID = parseID(parts[2])
	t.signature = parts[3]
	return t, isID
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

// vietQRTokenEntrance is the way in for token_generate.
var vietQRTokenEntrance = entrance{
	find: (*Server).findVietQRByUsername,
	failure: func(f failure) any {
		return struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		}{"FAILED", f.Messages}
	},
}

// findVietQRByUsername finds a source by the path's token, or on the bare path
// by the user name.
func (s *Server) findVietQRByUsername(r *http.Request) (source app.Source, a adapter, found bool, err error) {
	if r.PathValue("token") != "" {
		source, a, found, err = s.findVietQRByPath(r)
	} else if login, why := basicLogin(r.Header); why.Code == "" {
		name, _, _ := strings.Cut(login, ":")
		source, found, err = s.service.FindSourceByUsername(r.Context(), name)
		a, found = vietQRAdapter, found && source.Provider == providerVietQR
	}
	a.verify = verifyVietQRLogin
	return source, a, found, err
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

// vietQRToken answers token_generate.
func (s *Server) vietQRToken(w http.ResponseWriter, r *http.Request) {
	in, _, err := s.verified(w, r, vietQRTokenEntrance, time.Now())
	if err != nil {
		status, body := s.refused(w, r, err, in.at)
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Basic")
		}
		writeJSON(w, status, vietQRTokenEntrance.failure(body))
		return
	}
	writeJSON(w, http.StatusOK, struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}{makeVietQRToken(in.source, in.at.Add(vietQRTokenLife)), "Bearer", int(vietQRTokenLife / time.Second)})
}
