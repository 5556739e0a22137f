package provider

import (
	"net/http"
	"strings"

	"baoco/app"
	"baoco/app/inbound"
)

// smsToURL reads what Incoming SMS to URL sends with the template that
// it begins with (github.com/bogkonstantin/android_income_sms_gateway_webhook).
// The app tries again up to ten times, with the body of the first time.
var smsToURL = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "sms-to-url", Name: "Incoming SMS to URL", Group: inbound.PhoneApps,
		About: app.Text{EN: "Small, free Android app", VI: "Ứng dụng Android nhỏ, miễn phí"},
		Auths: []inbound.Auth{inbound.AuthBearer, inbound.AuthToken, inbound.AuthHMAC}, DefaultAuth: inbound.AuthBearer,
		Options: []inbound.SourceOption{inbound.OptionHeader, inbound.OptionSender}, Check: checkSecretHeader,
		Setup: func(s inbound.Source) app.Text {
			secret := app.Text{EN: "Enter the secret as its signing key", VI: "Nhập khoá bí mật làm khoá ký (signing key)"}
			if s.Auth != inbound.AuthHMAC {
				header := `{"Authorization":"Bearer SECRET"}`
				if s.Auth == inbound.AuthToken {
					header = `{"` + s.Options.Header + `":"SECRET"}`
				}
				secret = app.Textf("As headers enter %s with the secret in its place",
					"Ở phần headers nhập %s và thay SECRET bằng khoá bí mật", header)
			}
			return app.Textf(
				"1. In Incoming SMS to URL, add a rule with this URL, for the bank's name as sender. 2. "+
					"%[1]s. 3. Leave the payload as it is: from, text, sentStamp, receivedStamp, sim.",
				"1. Trong Incoming SMS to URL, thêm một quy tắc với URL này, người gửi là tên của ngân hàng. 2. "+
					"%[2]s. 3. Giữ nguyên payload: from, text, sentStamp, receivedStamp, sim.", secret.EN, secret.VI)
		},
	},
	Verify: verifySMSToURL,
	read:   readSMSToURL,
}

// verifySMSToURL checks the secret in a header, or the signature over the body.
func verifySMSToURL(in Call, h http.Header) inbound.Refusal {
	if in.Source.Auth != inbound.AuthHMAC {
		return verifySecretHeader(in, h)
	}
	return checkSignature(h, "X-Signature", in)
}

// readSMSToURL takes no sender from a notice of an app: it has only a title, and anybody whom the
// owner of the phone chats with can be called Vietcombank.
func readSMSToURL(in Call) inbound.Reading {
	v, unread := parseObject(in.Body)
	if unread != nil {
		return inbound.Reading{Elements: unread}
	}
	m := forwardedSMS{sender: v.Get("from").Str(), received: v.Get("receivedStamp").Word(), receivedKey: "receivedStamp"}
	if strings.EqualFold(strings.TrimSpace(v.Get("sim").Str()), "notification") {
		m.sender = ""
	}
	m.fault = firstFault(repeatedKey(v, []string{"from", "text", "receivedStamp", "sim"}), readString(v, "text", &m.text))
	return readSMS(in, m)
}
