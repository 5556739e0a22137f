package web

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// sepayAdapter reads SePay's webhook (developer.sepay.vn): one transaction a
// call, as JSON or as a form, authenticated by an Apikey or by an HMAC with a
// timestamp over the body in each format. SePay wants a 2xx and gives up after 8
// attempts in about 33 minutes.
var sepayAdapter = adapter{
	kind: app.ProviderKind{
		Provider: "sepay", Auths: []app.Auth{app.AuthAPIKey, app.AuthHMAC}, CatchUp: true,
		Setup: app.Text{
			EN: "1. At my.sepay.vn, open Webhook integrations and click Add webhook. 2. Enter this URL, choose any payload format, and turn on retries on errors. 3. Under Security, choose API Key or HMAC-SHA256, whichever this source uses (apikey or hmac), and enter the secret.",
			VI: "1. Tại my.sepay.vn, mở Tích hợp Webhook rồi bấm Thêm webhook. 2. Nhập URL này, chọn kiểu dữ liệu bất kỳ, và bật gửi lại khi lỗi. 3. Ở bước Bảo mật, chọn API Key hoặc HMAC-SHA256, đúng như nguồn này (apikey hoặc hmac), rồi nhập secret.",
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
		return refusal(app.RefusalMalformed, "X-SePay-Signature does not start with sha256=.", "X-SePay-Signature không bắt đầu bằng sha256=.")
	}
	why = checkHexHMAC("X-SePay-Signature", hexDigits, sha256.New, in.source.Secret, []byte(stamp), []byte("."), in.body)
	if why.Code != "" {
		return why
	}
	return checkStamp("X-SePay-Timestamp", stamp, time.Second, in.at, sepayWindow)
}

func readSePay(in inbound) reading {
	v, err := parseFields(in.body)
	if err != nil {
		return reading{elements: []app.Incoming{unreadable(faultNotJSON, "is neither valid JSON nor a form", "không phải JSON hợp lệ, cũng không phải biểu mẫu")}}
	}
	return reading{elements: []app.Incoming{readTransfer(v, "referenceCode", in.zone)}}
}

// readTransfer reads the object that SePay and Pay2S name a transaction with;
// number is the key of the bank's transaction number.
func readTransfer(v exactjson.Value, number string, zone *time.Location) app.Incoming {
	e := app.Incoming{Gateway: v.Get("gateway").Str(), Content: v.Get("content").Word(), Number: v.Get(number).Word()}
	setDate(&e, v, "transactionDate", zone)
	e.Fault = firstFault(
		repeatedKey(v, []string{"id", "gateway", "accountNumber", "transferType", "transferAmount", number}),
		readWord(v, "id", &e.EventID),
		readAccountWord(v, "accountNumber", &e.AccountNumber),
		readTransferType(v, &e.Type),
		readAmountWord(v, "transferAmount", &e.Amount),
	)
	if e.EventID == "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "id", Text: required}
	}
	return e
}

var required = app.Text{EN: "is required", VI: "là bắt buộc"}

func readTransferType(v exactjson.Value, into *app.Direction) *app.FieldError {
	switch strings.ToLower(v.Get("transferType").Str()) {
	case "in":
		*into = app.In
	case "out":
		*into = app.Out
	default:
		return &app.FieldError{Field: "transferType", Text: app.Text{EN: "must be in or out", VI: "phải là in hoặc out"}}
	}
	return nil
}
