package provider

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// payOS reads payOS's webhook (payos.vn/docs): one payment that came
// in. Its signature stands in the body and is over the object data alone, so
// nothing outside of data is read: code, desc and success there are anybody's.
var payOS = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "payos", Name: "payOS", Group: inbound.Gateways,
		About: app.Text{EN: "my.payos.vn, payment channel", VI: "my.payos.vn, kênh thanh toán"},
		Auths: []inbound.Auth{inbound.AuthHMAC}, DefaultAuth: inbound.AuthHMAC, OwnSecret: "Checksum Key",
		Before: app.Text{EN: "At my.payos.vn, open your payment channel and copy its Checksum Key.",
			VI: "Tại my.payos.vn, mở kênh thanh toán và sao chép Checksum Key."},
		Setup: always(app.Text{
			EN: "1. At my.payos.vn, open the payment channel whose Checksum Key you used. 2. Enter this URL as its Webhook URL and save: " +
				"payOS sends a test call right away.",
			VI: "1. Tại my.payos.vn, mở kênh thanh toán có Checksum Key bạn vừa dùng. 2. Nhập URL này vào ô Webhook URL của kênh rồi lưu: " +
				"payOS gọi thử ngay.",
		}),
	},
	Verify: verifyPayOS,
	read:   readPayOS,
}

func verifyPayOS(in Call, _ http.Header) inbound.Refusal {
	_, signature, why := parseSignedBody(in.Body, "signature")
	if why.Code != "" {
		return why
	}
	fields, ok := payOSFields(in.Body)
	if !ok {
		return refusal(inbound.RefusalMalformed, "data is missing, or contains fields that payOS does not sign.",
			"Thiếu data hoặc data có trường mà payOS không ký.")
	}
	return checkHexHMAC("signature", signature, sha256.New, in.Source.Secret, fields.signedText())
}

// payOSFields are the fields of data as payOS's own libraries sign them
// (github.com/payOSHQ): keys sorted, null as nothing, an array as the JSON of
// its objects (of objects within those payOS doesn't sort the keys: such a call, of
// which none is known, would be refused). What stands in an object that is no element of an array isn't signed
// by them, and isn't read here.
func payOSFields(body []byte) (signedFields, bool) {
	v, _ := exactjson.Parse(exactjson.Canonical(body)) // of what can't be read nothing
	data := v.Get("data")
	fields := signedFields{}
	for _, m := range data.Members {
		text := m.Value.Text
		switch m.Value.Kind {
		case exactjson.Array:
			if slices.ContainsFunc(m.Value.Items, func(item exactjson.Value) bool { return item.Kind != exactjson.Object }) {
				return nil, false
			}
			text = string(exactjson.AppendJS(nil, m.Value))
		case exactjson.Object:
			text = "[object Object]"
		}
		if text == "null" || text == "undefined" {
			text = ""
		}
		if strings.ContainsAny(m.Key, "=&") {
			return nil, false
		}
		fields = append(fields, signedField{m.Key, text})
	}
	return fields, data.Kind == exactjson.Object
}

func readPayOS(in Call) inbound.Reading {
	data, ok := payOSFields(in.Body)
	if !ok {
		return inbound.Reading{Elements: []inbound.Incoming{notObject("data")}}
	}
	if fault := data.ambiguous(); fault != nil {
		return inbound.Reading{Elements: []inbound.Incoming{{Fault: fault}}}
	}
	if data.get("orderCode") == "123" && data.get("reference") == "TF230204212323" {
		return inbound.Reading{Explanation: onlyATest} // it tries a URL when it is registered
	}
	if code := data.get("code"); code != "00" && code != "" {
		return inbound.Reading{Explanation: nothingPaid}
	}
	e := inbound.Incoming{
		EventID:       data.get("reference") + data.get("paymentLinkId"),
		AccountNumber: data.get("accountNumber"), SubAccount: data.get("virtualAccountNumber"),
		Number: data.get("reference"), Type: app.In, Content: data.get("description"),
	}
	e.SetDate(data.get("transactionDateTime"), in.Zone)
	e.Fault = firstFault(missing("code", data.get("code")), missing("reference", e.Number),
		readAmountWord("amount", data.value("amount"), &e.Amount))
	if currency := data.get("currency"); currency != "VND" && currency != "" && e.Fault == nil {
		e.Fault = &app.FieldError{Field: "currency", Text: app.Text{EN: "must be VND", VI: "phải là VND"}}
	}
	return inbound.Reading{Elements: []inbound.Incoming{e}}
}
