package provider

import (
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
		Auths: []inbound.Auth{inbound.AuthBearer, inbound.AuthToken}, DefaultAuth: inbound.AuthBearer,
		Options: []inbound.SourceOption{inbound.OptionHeader, inbound.OptionSender}, Check: checkSecretHeader,
		Setup: func(s inbound.Source) app.Text {
			header := `{"Authorization":"Bearer SECRET"}`
			if s.Auth == inbound.AuthToken {
				header = `{"` + s.Options.Header + `":"SECRET"}`
			}
			return app.Textf(
				"1. In Incoming SMS to URL, add a rule with this URL, for the bank's name as sender. 2. "+
					"As headers enter %s with the secret in its place. 3. Leave the payload as it is: from, text, sentStamp, receivedStamp, sim.",
				"1. Trong Incoming SMS to URL, thêm một quy tắc với URL này, người gửi là tên của ngân hàng. 2. "+
					"Ở phần headers nhập %s và thay SECRET bằng khoá bí mật. 3. Giữ nguyên payload: from, text, sentStamp, receivedStamp, sim.", header)
		},
	},
	Verify: verifySecretHeader,
	read:   readSMSToURL,
}

func readSMSToURL(in Call) Reading {
	v, unread := parseObject(in.Body)
	if unread != nil {
		return Reading{Elements: unread}
	}
	m := forwardedSMS{sender: v.Get("from").Str(), received: v.Get("receivedStamp").Word(), receivedKey: "receivedStamp"}
	m.fault = firstFault(repeatedKey(v, []string{"from", "text", "receivedStamp"}), readString(v, "text", &m.text))
	return readSMS(in, m)
}
