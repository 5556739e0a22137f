package web

import (
	"crypto/sha256"
	"net/http"
	"time"

	"baoco/app"
)

const providerNative app.Provider = "native"

// nativeAdapter reads baoco's own format: the body that baoco delivers, so
// that one installation can feed another, and whoever has transactions of
// their own can send them.
var nativeAdapter = adapter{
	kind: app.ProviderKind{
		Provider: providerNative, Auths: []app.Auth{app.AuthBearer, app.AuthHMAC}, DefaultAuth: app.AuthBearer,
		Setup: app.Text{
			EN: "Send each call with Authorization: Bearer and the secret; with --auth hmac instead with X-Webhook-Signature, the HMAC-SHA256 of the body under the secret in lower-case hexadecimal digits.",
			VI: "Gửi kèm mỗi lệnh gọi header Authorization: Bearer và secret; với --auth hmac thì thay bằng X-Webhook-Signature, là HMAC-SHA256 của nội dung theo secret, viết bằng chữ số thập lục phân thường.",
		},
	},
	verify: verifyNative,
	read:   readNative,
	strict: true,
}

func verifyNative(in inbound, h http.Header) app.Refusal {
	if in.source.Auth == app.AuthBearer {
		return checkCredential(h, "Bearer", in.source.Secret)
	}
	signature, why := oneHeader(h, "X-Webhook-Signature")
	if why.Code == "" {
		why = checkHexHMAC("X-Webhook-Signature", signature, sha256.New, in.source.Secret, in.body)
	}
	return why
}

func readNative(in inbound) reading {
	return reading{elements: readList(in, "transactions", readNativeElement)}
}

// readList reads the elements of the array that stands under key in an object.
func readList(in inbound, key string, element func(v jsonValue, zone *time.Location) app.Incoming) []app.Incoming {
	v, err := parseJSON(in.body)
	if err != nil {
		return notJSON()
	}
	if v.kind != jsonObject {
		return []app.Incoming{unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")}
	}
	list := v.get(key)
	if list.kind != jsonArray || v.times(key) != 1 {
		return []app.Incoming{unreadable(key, "must be an array, given once", "phải là một mảng, chỉ xuất hiện một lần")}
	}
	elements := make([]app.Incoming, len(list.items))
	for i, item := range list.items {
		elements[i] = element(item, in.zone)
		if item.kind != jsonObject {
			elements[i].Fault.Field = faultElement
		}
	}
	return elements
}

// moneyKeys are the keys of an element that must be unmistakable.
var moneyKeys = []string{"id", "gateway", "transactionNumber", "accountNumber", "transferType", "transferAmount"}

// readNativeElement reads one transaction. Only the money fields can be at
// fault.
func readNativeElement(v jsonValue, zone *time.Location) app.Incoming {
	var e app.Incoming
	if v.kind != jsonObject {
		return unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")
	}
	e.Gateway = v.get("gateway").str()
	e.Content = v.get("content").word()
	e.Time, _ = app.ParseTime(v.get("transactionDate").str(), zone)
	e.Fault = firstFault(
		repeatedKey(v, moneyKeys),
		readWord(v, "id", &e.EventID),
		readWord(v, "transactionNumber", &e.Number),
		readString(v, "accountNumber", &e.AccountNumber),
		readDirection(v, "transferType", &e.Type),
		readAmount(v, "transferAmount", &e.Amount),
	)
	if e.EventID == "" {
		e.EventID = e.Number
	}
	if e.EventID == "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "id", Text: app.IDRule}
	}
	return e
}

func firstFault(faults ...*app.FieldError) *app.FieldError {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

func repeatedKey(v jsonValue, keys []string) *app.FieldError {
	for _, key := range keys {
		if v.times(key) > 1 {
			return &app.FieldError{Field: key, Text: app.Text{EN: "is given more than once", VI: "bị lặp lại"}}
		}
	}
	return nil
}

// readWord reads an optional string, or an integer as its digits.
func readWord(v jsonValue, key string, into *string) *app.FieldError {
	switch value := v.get(key); value.kind {
	case jsonNull:
		return nil
	case jsonString:
		*into = value.text
		return nil
	case jsonNumber:
		if isInteger(value.text) {
			*into = value.text
			return nil
		}
	}
	return &app.FieldError{Field: key, Text: app.Text{EN: "must be a string or an integer", VI: "phải là chuỗi ký tự hoặc số nguyên"}}
}

func isInteger(literal string) bool {
	for i := range len(literal) {
		if literal[i] < '0' || literal[i] > '9' {
			return false
		}
	}
	return literal != ""
}

func readString(v jsonValue, key string, into *string) *app.FieldError {
	value := v.get(key)
	if value.kind != jsonString || value.text == "" {
		return &app.FieldError{Field: key, Text: app.Text{EN: "must be a string that is not empty", VI: "phải là chuỗi ký tự không rỗng"}}
	}
	*into = value.text
	return nil
}

func readDirection(v jsonValue, key string, into *app.Direction) *app.FieldError {
	switch d := app.Direction(v.get(key).str()); d {
	case app.In, app.Out:
		*into = d
		return nil
	}
	return &app.FieldError{Field: key, Text: app.Text{EN: "must be IN or OUT", VI: "phải là IN hoặc OUT"}}
}

// readAmount reads a positive amount from a JSON number, and from nothing
// else.
func readAmount(v jsonValue, key string, into *int64) *app.FieldError {
	value := v.get(key)
	n, err := app.ParseAmount(value.text)
	if value.kind != jsonNumber || err != nil || n < 1 {
		return &app.FieldError{Field: key, Text: app.AmountRule}
	}
	*into = n
	return nil
}
