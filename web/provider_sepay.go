package web

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"baoco/app"
)

// sepayAdapter reads SePay's webhook (docs.sepay.vn): one transaction a call,
// authenticated by an Apikey or by an HMAC with a timestamp. SePay wants a 2xx
// and gives up after 8 attempts in about 33 minutes.
var sepayAdapter = adapter{
	kind: app.ProviderKind{
		Provider: "sepay", Auths: []app.Auth{app.AuthAPIKey, app.AuthHMAC}, CatchUp: true,
		Setup: app.Text{
			EN: "At SePay, make a webhook with this URL, choose API Key or HMAC-SHA256 as --auth says, and enter the secret.",
			VI: "Tại SePay, tạo webhook với URL này, chọn API Key hoặc HMAC-SHA256 theo --auth, rồi nhập secret.",
		},
	},
	verify: verifySePay,
	read:   readSePay,
}

// sepayWindow is how far SePay's timestamp may be from now.
const sepayWindow = 300 * time.Second

func verifySePay(in inbound, h http.Header) app.Refusal {
	if in.source.Auth == app.AuthAPIKey {
		return checkCredential(h, "Apikey", in.source.Secret)
	}
	stamp, why := oneHeader(h, "X-SePay-Timestamp")
	if why.Code != "" {
		return why
	}
	signature, why := oneHeader(h, "X-SePay-Signature")
	if why.Code != "" {
		return why
	}
	hexDigits, found := strings.CutPrefix(signature, "sha256=")
	if !found {
		return refusal(app.RefusalMalformed, "X-SePay-Signature does not begin with sha256=.", "X-SePay-Signature không bắt đầu bằng sha256=.")
	}
	why = checkHexHMAC("X-SePay-Signature", hexDigits, sha256.New, in.source.Secret, []byte(stamp), []byte("."), in.body)
	if why.Code != "" {
		return why
	}
	return checkStamp("X-SePay-Timestamp", stamp, time.Second, in.at, sepayWindow)
}

func readSePay(in inbound) reading {
	return reading{elements: readSePayBody(in.body, in.zone)}
}

func readSePayBody(body []byte, zone *time.Location) []app.Incoming {
	v, err := parseJSON(body)
	if err != nil {
		return notJSON()
	}
	if v.kind != jsonObject {
		return []app.Incoming{unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")}
	}
	e := app.Incoming{
		Gateway: v.get("gateway").str(), Content: v.get("content").word(), Number: v.get("referenceCode").word(),
	}
	e.Time, _ = app.ParseTime(v.get("transactionDate").str(), zone)
	e.Fault = firstFault(
		repeatedKey(v, []string{"id", "gateway", "accountNumber", "transferType", "transferAmount", "referenceCode"}),
		readWord(v, "id", &e.EventID),
		readAccountWord(v, "accountNumber", &e.AccountNumber),
		readSePayDirection(v, &e.Type),
		readAmountWord(v, "transferAmount", &e.Amount),
	)
	if e.EventID == "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "id", Text: app.Text{EN: "is required", VI: "là bắt buộc"}}
	}
	return []app.Incoming{e}
}

func readSePayDirection(v jsonValue, into *app.Direction) *app.FieldError {
	switch strings.ToLower(v.get("transferType").str()) {
	case "in":
		*into = app.In
	case "out":
		*into = app.Out
	default:
		return &app.FieldError{Field: "transferType", Text: app.Text{EN: "must be in or out", VI: "phải là in hoặc out"}}
	}
	return nil
}

// readAccountWord reads an account number that a provider may write as a
// number.
func readAccountWord(v jsonValue, key string, into *string) *app.FieldError {
	if *into = v.get(key).word(); *into == "" {
		return &app.FieldError{Field: key, Text: app.Text{EN: "is required", VI: "là bắt buộc"}}
	}
	return nil
}

// readAmountWord reads a positive amount that a provider may write as a
// string.
func readAmountWord(v jsonValue, key string, into *int64) *app.FieldError {
	n, err := app.ParseAmount(v.get(key).word())
	if err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountRule}
	}
	*into = n
	return nil
}
