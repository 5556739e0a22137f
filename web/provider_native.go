package web

import (
	"crypto/sha256"
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
)

const providerNative app.Provider = "native"

// nativeAdapter reads baoco's own format: the body that baoco delivers, so
// that one installation can feed another, and whoever has transactions of
// their own can send them.
var nativeAdapter = adapter{
	kind: app.ProviderKind{
		Provider: providerNative, Auths: []app.Auth{app.AuthBearer, app.AuthHMAC}, DefaultAuth: app.AuthBearer,
		Setup: app.Text{
			EN: "Send each call with the header Authorization: Bearer and the secret. With auth hmac, send X-Webhook-Signature instead: the HMAC-SHA256 of the body with the secret, in lowercase hexadecimal.",
			VI: "Gửi mỗi lượt gọi kèm header Authorization: Bearer và secret. Với auth hmac thì thay bằng X-Webhook-Signature: HMAC-SHA256 của nội dung với secret, viết bằng chữ số thập lục phân thường.",
		},
	},
	verify: verifyNative,
	read:   readNative,
	strict: true,
	many:   true,
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

// readByHand reads what somebody recorded by hand: an object of the native
// format, as POST /api/v1/transactions keeps it.
func readByHand(body []byte, zone *time.Location) []app.Incoming {
	v, err := exactjson.Parse(body)
	if err != nil {
		return notJSON()
	}
	return []app.Incoming{readNativeElement(v, zone)}
}

// moneyKeys are the keys of an element that must be unmistakable.
var moneyKeys = []string{"id", "gateway", "transactionNumber", "accountNumber", "transferType", "transferAmount"}

// readNativeElement reads one transaction. Only the money fields can be at
// fault.
func readNativeElement(v exactjson.Value, zone *time.Location) app.Incoming {
	var e app.Incoming
	if v.Kind != exactjson.Object {
		return unreadable("body", "must be a JSON object", "phải là một đối tượng JSON")
	}
	e.Gateway = v.Get("gateway").Str()
	e.Content = v.Get("content").Word()
	setDate(&e, v, "transactionDate", zone)
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
