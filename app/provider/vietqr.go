package provider

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// VietQR is the kind whose calls have routes and answers of their own.
const VietQR app.Provider = "vietqr"

// vietQR reads VietQR.vn's transaction-sync (api.vietqr.vn). VietQR
// fetches an access token first.
var vietQR = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: VietQR, Name: "VietQR.vn", Group: inbound.Gateways,
		About: app.Text{EN: "VietQR.vn, merchant connection", VI: "VietQR.vn, kết nối merchant"},
		Auths: []inbound.Auth{inbound.AuthBasic}, DefaultAuth: inbound.AuthBasic, Options: []inbound.SourceOption{inbound.OptionUsername},
		Setup: always(app.Text{
			EN: "1. At VietQR.vn, create a merchant connection with this URL as its base. 2. Enter the username, and the secret as the password. " +
				"3. Transfer a small amount and check it in the inbound log. (VietQR’s Test Callback is recorded like a real payment.)",
			VI: "1. Tại VietQR.vn, khai báo kết nối merchant với URL này làm địa chỉ gốc. 2. Nhập tên đăng nhập, và khoá bí mật làm mật khẩu. 3. " +
				"Chuyển thử một khoản nhỏ rồi xem lại trong lịch sử nhận. (Test Callback của VietQR cũng được ghi nhận như một khoản tiền thật.)",
		}),
	},
	Verify: verifyVietQR,
	read:   readVietQR,
}

// readVietQR reads one transaction. VietQR's documents write its keys in two
// ways, bankaccount and bankAccount, so their case doesn't count.
func readVietQR(in Call) inbound.Reading {
	body, unread := parseObject(in.Body)
	if unread != nil {
		return inbound.Reading{Elements: unread}
	}
	v := exactjson.Value{Kind: exactjson.Object}
	for _, m := range body.Members {
		v.Members = append(v.Members, exactjson.Member{Key: strings.ToLower(m.Key), Value: m.Value})
	}
	e := inbound.Incoming{Content: v.Get("content").Word(), AccountNumber: v.Get("bankaccount").Word()}
	setDate(&e, v.Get("transactiontime"), in.Zone)
	e.Fault = firstFault(
		repeatedKey(v, []string{"transactionid", "referencenumber", "bankaccount", "transtype", "amount"}),
		readWord("transactionid", v.Get("transactionid"), &e.EventID),
		readWord("referencenumber", v.Get("referencenumber"), &e.Number),
		missing("bankaccount", e.AccountNumber),
		readVietQRDirection(v, &e.Type),
		readAmountWord("amount", v.Get("amount"), &e.Amount),
	)
	e.EventID = cmp.Or(e.EventID, e.Number)
	if e.EventID == "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "transactionid", Text: required}
	}
	return inbound.Reading{Elements: []inbound.Incoming{e}}
}

func readVietQRDirection(v exactjson.Value, into *app.Direction) *app.FieldError {
	switch v.Get("transtype").Str() {
	case "C", "c":
		*into = app.In
	case "D", "d":
		*into = app.Out
	default:
		return &app.FieldError{Field: "transtype", Text: app.Text{EN: "must be C or D", VI: "phải là C hoặc D"}}
	}
	return nil
}

// VietQR asks for an access token with user name and password, and sends the
// token with its calls of the next minutes. A token is kept nowhere: it holds its
// source and its expiry, and is signed with the source's secret, so that a new
// secret ends it.

// VietQRTokenLife is how long a token is valid, by VietQR's documents.
const VietQRTokenLife = 300 * time.Second

// vietQRToken is what an access token says: v1.<source id>.<expiry>.<signature>.
type vietQRToken struct {
	source    int64
	expiry    int64 // unix seconds
	signature string
}

// MakeVietQRToken makes the access token of a source that is good for
// VietQRTokenLife from now on.
func MakeVietQRToken(source inbound.Source, now time.Time) string {
	t := vietQRToken{source: source.ID, expiry: now.Add(VietQRTokenLife).Unix()}
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

// VietQRTokenSource is the id of the source that an access token names, which
// proves nothing. ok is false for what is no token.
func VietQRTokenSource(token string) (id int64, ok bool) {
	t, ok := parseVietQRToken(token)
	return t.source, ok
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

func verifyVietQR(in Call, h http.Header) inbound.Refusal {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return why
	}
	token, found := cutScheme(value, "Bearer")
	t, ok := parseVietQRToken(token)
	switch {
	case !ok || !found:
		return refusal(inbound.RefusalMalformed, "The Authorization header is not Bearer followed by an access token from token_generate.",
			"Header Authorization không có dạng Bearer kèm access token lấy từ token_generate.")
	case !hmac.Equal([]byte(t.signature), []byte(t.sign(in.Source.Secret))) || t.source != in.Source.ID:
		return refusal(inbound.RefusalKey, "The access token belongs to another source, or was issued before the secret was rotated.",
			"Access token thuộc nguồn khác hoặc được cấp trước khi đổi khoá bí mật.")
	case in.At.Unix() >= t.expiry:
		return refusal(inbound.RefusalTime, "The access token has expired.", "Access token đã hết hạn.")
	}
	return inbound.Refusal{}
}

// BasicUsername is the user name of a call that has one Authorization header of
// the scheme Basic.
func BasicUsername(h http.Header) (name string, ok bool) {
	login, why := basicLogin(h)
	name, _, _ = strings.Cut(login, ":")
	return name, why.Code == ""
}

// basicLogin is the user name and password of the one Authorization header,
// with a colon between them.
func basicLogin(h http.Header) (string, inbound.Refusal) {
	value, why := oneHeader(h, "Authorization")
	if why.Code != "" {
		return "", why
	}
	encoded, found := cutScheme(value, "Basic")
	login, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil {
		return "", refusal(inbound.RefusalMalformed, "The Authorization header is not Basic followed by a username and password in base64.",
			"Header Authorization không có dạng Basic kèm tên đăng nhập và mật khẩu mã hoá base64.")
	}
	return string(login), inbound.Refusal{}
}

// VerifyVietQRLogin compares user name and password at once: no user name has
// a colon.
func VerifyVietQRLogin(in Call, h http.Header) inbound.Refusal {
	login, why := basicLogin(h)
	if why.Code == "" && !hmac.Equal([]byte(login), []byte(in.Source.Options.Username+":"+in.Source.Secret)) {
		why = refusal(inbound.RefusalKey, "The username and password are not this source’s username and secret.",
			"Tên đăng nhập và mật khẩu không phải là tên đăng nhập và khoá bí mật của nguồn này.")
	}
	return why
}
