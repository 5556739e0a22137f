package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"baoco/app"
)

// sepayAdapter reads SePay's webhook (docs.sepay.vn): one transaction a call,
// authenticated by an Apikey or by an HMAC with a timestamp. SePay wants a 2xx
// and gives up after 8 attempts in about 33 minutes.
var sepayAdapter = adapter{
	kind:   app.ProviderKind{Provider: "sepay", Auths: []app.Auth{app.AuthAPIKey, app.AuthHMAC}},
	verify: verifySePay,
	read:   readSePay,
}

// sepayWindow is how far SePay's timestamp may be from now.
const sepayWindow = 300 * time.Second

func verifySePay(source app.Source, h http.Header, body []byte, now time.Time) string {
	if source.Auth == app.AuthAPIKey {
		return checkToken(h, "Apikey", source.Secret)
	}
	stamp, fault := oneHeader(h, "X-SePay-Timestamp")
	if fault != "" {
		return fault
	}
	signature, fault := oneHeader(h, "X-SePay-Signature")
	if fault != "" {
		return fault
	}
	hexDigits, found := strings.CutPrefix(signature, "sha256=")
	if !found {
		return "X-SePay-Signature does not begin with sha256="
	}
	if !signedBy(hexDigits, source.Secret, []byte(stamp), []byte("."), body) {
		return "X-SePay-Signature does not match: another key, or the body was altered on the way"
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return "X-SePay-Timestamp is not a number of seconds"
	}
	if off := now.Sub(time.Unix(seconds, 0)); off.Abs() > sepayWindow {
		return "X-SePay-Timestamp is " + off.Round(time.Second).String() + " away from this server's clock; 5 minutes are allowed"
	}
	return ""
}

func readSePay(body []byte, zone *time.Location) []app.Incoming {
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
