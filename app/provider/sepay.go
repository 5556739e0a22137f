package provider

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

// sepay reads SePay's webhook (developer.sepay.vn): one transaction a
// call, as JSON or as a form, authenticated by an Apikey or by an HMAC with a
// timestamp over the body in each format. SePay wants a 2xx and gives up after 8
// attempts in about 33 minutes.
var sepay = Kind{
	kind: app.ProviderKind{
		Provider: "sepay", Auths: []app.Auth{app.AuthAPIKey, app.AuthHMAC}, CatchUp: true,
		Setup: app.Text{
			EN: "1. At my.sepay.vn, open Webhook integrations and click Add webhook. 2. Enter this URL, choose any payload format, and turn on retries on errors. 3. Under Security, choose API Key or HMAC-SHA256, whichever this source uses (apikey or hmac), and enter the secret.",
			VI: "1. Tại my.sepay.vn, mở Tích hợp Webhook rồi bấm Thêm webhook. 2. Nhập URL này, chọn kiểu dữ liệu bất kỳ, và bật gửi lại khi lỗi. 3. Ở bước Bảo mật, chọn API Key hoặc HMAC-SHA256, đúng như nguồn này (apikey hoặc hmac), rồi nhập secret.",
		},
	},
	Verify: verifySePay,
	read:   readSePay,
}

// sepayWindow is how far SePay's timestamp may be from now.
const sepayWindow = 300 * time.Second

func verifySePay(in Call, h http.Header) app.Refusal {
	if in.Source.Auth == app.AuthAPIKey {
		return checkCredential(h, "Apikey", in.Source.Secret)
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
	why = checkHexHMAC("X-SePay-Signature", hexDigits, sha256.New, in.Source.Secret, []byte(stamp), []byte("."), in.Body)
	if why.Code != "" {
		return why
	}
	return checkStamp("X-SePay-Timestamp", stamp, time.Second, in.At, sepayWindow)
}

func readSePay(in Call) Reading {
	v, err := parseFields(in.Body)
	if err != nil {
		return Reading{Elements: []app.Incoming{unreadable(FaultNotJSON, "is neither valid JSON nor a form", "không phải JSON hợp lệ, cũng không phải biểu mẫu")}}
	}
	return Reading{Elements: []app.Incoming{readTransfer(v, "referenceCode", in.Zone)}}
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
