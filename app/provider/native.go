package provider

import (
	"cmp"
	"net/http"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// Native is the kind of baoco's own format.
const Native app.Provider = "native"

// native reads baoco's own format: the body that baoco delivers, so
// that one installation can feed another, and whoever has transactions of
// their own can send them.
var native = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: Native, Name: "baoco", Group: inbound.OwnPrograms,
		About: app.Text{EN: "The format of baoco", VI: "Định dạng riêng của baoco"},
		Auths: []inbound.Auth{inbound.AuthBearer, inbound.AuthHMAC}, DefaultAuth: inbound.AuthBearer,
		Setup: func(s inbound.Source) app.Text {
			if s.Auth == inbound.AuthHMAC {
				return app.Text{
					EN: "Send each call with the header X-Webhook-Signature: the HMAC-SHA256 of the body with the secret, in lowercase hexadecimal.",
					VI: "Gửi mỗi lần gọi kèm header X-Webhook-Signature: HMAC-SHA256 của nội dung với khoá bí mật, viết bằng chữ số thập lục phân thường.",
				}
			}
			return app.Text{EN: "Send each call with the header Authorization: Bearer and the secret.",
				VI: "Gửi mỗi lần gọi kèm header Authorization: Bearer và khoá bí mật."}
		},
	},
	Verify: verifyNative,
	read:   readNative,
	Strict: true,
	many:   true,
}

func verifyNative(in Call, h http.Header) inbound.Refusal {
	if in.Source.Auth == inbound.AuthBearer {
		return checkCredential(h, "Bearer", in.Source.Secret)
	}
	return checkSignature(h, "X-Webhook-Signature", in)
}

func readNative(in Call) inbound.Reading {
	return inbound.Reading{Elements: readList(in, "transactions", ReadNativeElement)}
}

// readByHand reads what somebody recorded by hand: an object of the native
// format, as POST /api/v1/transactions keeps it.
func readByHand(body []byte, zone *time.Location) []inbound.Incoming {
	v, err := exactjson.Parse(body)
	if err != nil {
		return notJSON()
	}
	return []inbound.Incoming{ReadNativeElement(v, zone)}
}

// moneyKeys are the keys of an element that must be unmistakable.
var moneyKeys = []string{"id", "gateway", "transactionNumber", "accountNumber", "transferType", "transferAmount"}

// ReadNativeElement reads one transaction. Only the money fields can be at
// fault.
func ReadNativeElement(v exactjson.Value, zone *time.Location) inbound.Incoming {
	var e inbound.Incoming
	if v.Kind != exactjson.Object {
		return notObject("body")
	}
	e.Gateway = v.Get("gateway").Str()
	e.Content = v.Get("content").Word()
	setDate(&e, v.Get("transactionDate"), zone)
	e.Fault = firstFault(
		repeatedKey(v, moneyKeys),
		readWord("id", v.Get("id"), &e.EventID),
		readWord("transactionNumber", v.Get("transactionNumber"), &e.Number),
		readString(v, "accountNumber", &e.AccountNumber),
		readDirection(v, "transferType", &e.Type),
		readAmount(v, "transferAmount", &e.Amount),
	)
	e.EventID = cmp.Or(e.EventID, e.Number)
	if e.EventID == "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "id", Text: inbound.IDRule}
	}
	return e
}
