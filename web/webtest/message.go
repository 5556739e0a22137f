package webtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"baoco/app"
	"baoco/app/apptest"
)

// PhoneText is an SMS on a phone. Zero fields are filled with those of one and
// the same text.
type PhoneText struct {
	Sender, Text string
	Received     time.Time
	ID           string // capcom6's messageId
}

// A text of a bank with a full account number, one with a masked one that
// names neither bank nor time, and one that must never be stored.
const (
	acbText   = "ACB: TK 19354957(VND) + 200,000 luc 10:59 14/10/2025. So du 763,222,700. GD: DH123"
	MbbText   = "TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: DH123"
	TcbText   = "TK 19034000000017\nSo tien GD:+10,000,000\nSo du:734,571,040\nNGUYEN VAN A chuyen tien"
	CodeText  = "Vietcombank: Ma OTP cua Quy khach la 839271. Tuyet doi khong cung cap ma nay cho bat ky ai."
	OtpDigits = "839271"
)

func (x PhoneText) Filled() PhoneText {
	if x.Sender == "" {
		x.Sender = "ACB"
	}
	if x.Text == "" {
		x.Text = acbText
	}
	if x.Received.IsZero() {
		x.Received = time.UnixMilli(1760414385123)
	}
	if x.ID == "" {
		x.ID = "abc123"
	}
	return x
}

func (x PhoneText) Capcom6() string {
	x = x.Filled()
	return Quoted(map[string]any{
		"id": "Ey6ECgOkVVFjz3CL48B8C", "webhookId": "LreFUt", "deviceId": "ffffffffceb0b1db", "event": "sms:received",
		"payload": map[string]any{
			"messageId": x.ID, "sender": x.Sender, "recipient": "+84901234567", "simNumber": 1, "phoneNumber": x.Sender, "message": x.Text,
			"receivedAt": x.Received.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		},
	})
}

func (x PhoneText) SMSToURL() string {
	x = x.Filled()
	return Quoted(map[string]any{"from": x.Sender, "text": x.Text, "sentStamp": x.Received.UnixMilli() - 4000, "receivedStamp": x.Received.UnixMilli(), "sim": "sim1"})
}

// ForwarderSign is SmsForwarder's, before it is urlencoded.
func ForwarderSign(secret, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "\n" + secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Forwarder is a call of SmsForwarder with the parameters that Setup names.
func (x PhoneText) Forwarder(s app.Source, at time.Time) url.Values {
	x = x.Filled()
	stamp := strconv.FormatInt(at.UnixMilli(), 10)
	return url.Values{
		"from": {x.Sender}, "content": {x.Text}, "timestamp": {stamp}, "sign": {url.QueryEscape(ForwarderSign(s.Secret, stamp))},
		"receive_time": {x.Received.UTC().Format("2006-01-02T15:04:05-0700")},
	}
}

// Texts has the phone of a source forward a text, and checks what became of it.
func (w *World) Texts(want Counts, s app.Source, x PhoneText) {
	w.T.Helper()
	body := map[app.Provider]func() string{
		"capcom6": x.Capcom6, "sms-to-url": x.SMSToURL, "smsforwarder": func() string { return x.Forwarder(s, time.Now()).Encode() },
	}[s.Provider]()
	w.Wants(want, s, body)
}

const (
	TokenPath = "/api/token_generate"
	SyncPath  = "/bank/api/transaction-sync"
)

func Basic(username, password string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}

// VietQRToken asks for a token as VietQR does, at base.
func (w *World) VietQRToken(base string, s app.Source) string {
	w.T.Helper()
	a := w.Do("POST", base+TokenPath, "", Basic(s.Options.Username, s.Secret)...)
	v := a.JSON(w.T)
	token, _ := v["access_token"].(string)
	if a.Status != http.StatusOK || token == "" || v["token_type"] != "Bearer" || fmt.Sprint(v["expires_in"]) != "300" || len(v) != 3 {
		w.T.Fatalf("no token: %d %s", a.Status, a.Body)
	}
	return token
}

// SignedToken is a token as this version writes it.
func SignedToken(s app.Source, id int64, expiry time.Time) string {
	mac := hmac.New(sha256.New, []byte(s.Secret))
	fmt.Fprintf(mac, "baoco vietqr token v1\n%d\n%d", id, expiry.Unix())
	return fmt.Sprintf("v1.%d.%d.%s", id, expiry.Unix(), base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
}

func VietQRBody(pairs ...any) string {
	v := map[string]any{
		"transactionid": "b9a2c8a1-5d3e-4a51-9a0f-2f2a4f1b0c11", "transactiontime": int64(1760414370000), "referencenumber": "FT253146879VN", "amount": 200000,
		"content": "VQR26044A5CCKYZA DH123", "bankaccount": SomeAccount, "transType": "C", "orderId": "DH123", "terminalCode": "", "sign": "",
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(v, pairs[i].(string))
			continue
		}
		v[pairs[i].(string)] = pairs[i+1]
	}
	return Quoted(v)
}

// Syncs tells of a transaction and checks the answer's reference.
func (w *World) Syncs(base, token, body, reference string) {
	w.T.Helper()
	a := w.Do("POST", base+SyncPath, body, "Authorization", "Bearer "+token)
	v := a.JSON(w.T)
	object, _ := v["object"].(map[string]any)
	if a.Status != http.StatusOK || v["error"] != false || v["errorReason"] != nil || v["toastMessage"] == "" || len(v) != 4 || object["reftransactionid"] != reference {
		w.T.Errorf("%s: %d %s, want the reference %s", body, a.Status, a.Body, reference)
	}
}

// Mapped reads pairs of field and path.
func Mapped(pairs ...string) map[string]string {
	fields := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	return fields
}

// Adds adds a source to account 1.
func (w *World) Adds(add app.SourceAdd) app.Source {
	w.T.Helper()
	add.Name = "test"
	s, err := w.Service.AddSource(context.Background(), 1, add, time.Now())
	apptest.Must(w.T, err)
	return s
}

var FlatMap = Mapped("id", "id", "amount", "amount", "account", "acc", "type", "type", "time", "time", "content", "text", "number", "ref", "gateway", "bank")
