package provider

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// pay2s reads Pay2S's webhook (docs.pay2s.vn): an array of transactions,
// authenticated by a Bearer token. Pay2S wants 200 and "success":true and calls
// up to six times more, a minute apart. Its transactionNumber can be a small
// number that every bank account counts by itself, so only id tells events apart.
var pay2s = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "pay2s", Name: "Pay2S", Group: inbound.Gateways,
		About: app.Text{EN: "my.pay2s.vn, bank account webhook", VI: "my.pay2s.vn, webhook của tài khoản ngân hàng"},
		Auths: []inbound.Auth{inbound.AuthBearer}, DefaultAuth: inbound.AuthBearer, OwnSecret: "Bearer token",
		Setup: always(app.Text{
			EN: "1. At my.pay2s.vn, link the bank account and add a webhook for it. 2. Enter this URL. 3. " +
				"Enter this secret as the Bearer token, unless it is the token that Pay2S gave you.",
			VI: "1. Tại my.pay2s.vn, liên kết tài khoản ngân hàng rồi thêm webhook cho tài khoản đó. 2. Nhập URL này. 3. " +
				"Nhập khoá bí mật này vào ô Bearer token, trừ khi đó chính là token Pay2S đã cấp cho bạn.",
		}),
	},
	Verify: func(in Call, h http.Header) inbound.Refusal { return checkCredential(h, "Bearer", in.Source.Secret) },
	read: func(in Call) inbound.Reading {
		return inbound.Reading{Elements: readList(in, "transactions", func(v exactjson.Value, zone *time.Location) inbound.Incoming {
			return readTransfer(v, "transactionNumber", zone)
		})}
	},
	many: true,
}

// pay2sIPN reads the notice of Pay2S's payment links: one payment of an
// order, signed over fields of the body. It names no bank account.
var pay2sIPN = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "pay2s-ipn", Name: "Pay2S IPN", Group: inbound.Gateways,
		About: app.Text{EN: "my.pay2s.vn, payment links: IPN is their notice that one was paid",
			VI: "my.pay2s.vn, link thanh toán: IPN là thông báo link đã được trả"},
		Auths: []inbound.Auth{inbound.AuthHMAC}, DefaultAuth: inbound.AuthHMAC,
		Options: []inbound.SourceOption{inbound.OptionAccessKey}, NamesNoAccount: true, OwnSecret: "Secret Key",
		Before: app.Text{EN: "At my.pay2s.vn, open the payment integration and copy its Access Key and Secret Key.",
			VI: "Tại my.pay2s.vn, mở phần tích hợp thanh toán, sao chép Access Key và Secret Key."},
		Setup: always(app.Text{
			EN: "Send this URL as ipnUrl with every payment link you create.",
			VI: "Gửi URL này làm ipnUrl mỗi khi tạo link thanh toán.",
		}),
		Check: func(in inbound.SourceAdd) error {
			if key := in.Options.AccessKey; strings.TrimSpace(key) != key || key == "" {
				return app.InvalidField("access_key", "is required, without spaces around it: Pay2S signs it",
					"là bắt buộc, không có khoảng trắng ở hai đầu: Pay2S ký cả khoá này")
			}
			return nil
		},
	},
	Verify: verifyPay2SIPN,
	read:   readPay2SIPN,
}

// pay2sSigned are the keys in the order in which they are signed, after
// accessKey.
var pay2sSigned = []string{
	"amount", "extraData", "message", "orderId", "orderInfo", "orderType", "partnerCode", "payType",
	"requestId", "responseTime", "resultCode", "transId",
}

func verifyPay2SIPN(in Call, _ http.Header) inbound.Refusal {
	v, signature, why := parseSignedBody(in.Body, "m2signature")
	if why.Code != "" {
		return why
	}
	fields, ok := pay2sFields(v)
	if !ok {
		return refusal(inbound.RefusalMalformed, "A signed field is neither a string nor a number.",
			"Có trường được ký không phải là chuỗi ký tự hay số.")
	}
	signed := append(signedFields{{"accessKey", in.Source.Options.AccessKey}}, fields...)
	why = checkHexHMAC("m2signature", signature, sha256.New, in.Source.Secret, signed.signedText())
	if why.Code == inbound.RefusalSignature {
		why.Text = app.Text{
			EN: "m2signature does not match: it was made with another secret key or access key, or a signed field was altered on the way.",
			VI: "m2signature không khớp: được ký bằng secret key hoặc access key khác, hoặc một trường được ký đã bị thay đổi trên đường đi.",
		}
	}
	return why
}

// pay2sFields are the signed fields of the body, numbers as they stand there.
func pay2sFields(v exactjson.Value) (signedFields, bool) {
	fields := signedFields{}
	for _, key := range pay2sSigned {
		value := v.Get(key)
		if value.Kind != exactjson.Null && value.Kind != exactjson.String && value.Kind != exactjson.Number {
			return nil, false
		}
		fields = append(fields, signedField{key, value.Word()})
	}
	return fields, true
}

func readPay2SIPN(in Call) inbound.Reading {
	v, err := exactjson.Parse(in.Body)
	if err != nil {
		return inbound.Reading{Elements: notJSON()}
	}
	fields, ok := pay2sFields(v)
	if !ok || v.Kind != exactjson.Object {
		return inbound.Reading{Elements: []inbound.Incoming{unreadable("body", "must be a JSON object of strings and numbers",
			"phải là một đối tượng JSON gồm chuỗi ký tự và số")}}
	}
	if fault := fields.ambiguous(); fault != nil {
		return inbound.Reading{Elements: []inbound.Incoming{{Fault: fault}}}
	}
	if result := fields.get("resultCode"); result != "0" && result != "" {
		return inbound.Reading{Explanation: nothingPaid}
	}
	e := inbound.Incoming{EventID: fields.get("transId"), Type: app.In, Content: fields.get("orderInfo")}
	e.SetDate(fields.get("responseTime"), in.Zone)
	e.Fault = firstFault(missing("resultCode", fields.get("resultCode")), missing("transId", e.EventID),
		readAmountWord("amount", fields.value("amount"), &e.Amount))
	return inbound.Reading{Elements: []inbound.Incoming{e}}
}
