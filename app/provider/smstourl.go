package provider

import "baoco/app"

// smsToURL reads what Incoming SMS to URL sends with the template that
// it begins with (github.com/bogkonstantin/android_income_sms_gateway_webhook).
// The app tries again up to ten times, with the body of the first time.
var smsToURL = Kind{
	ProviderKind: app.ProviderKind{
		Provider: "sms-to-url", Name: "Incoming SMS to URL", Group: app.PhoneApps,
		About: app.Text{EN: "Small, free Android app", VI: "Ứng dụng Android nhỏ, miễn phí"},
		Auths: []app.Auth{app.AuthBearer, app.AuthToken}, DefaultAuth: app.AuthBearer,
		Options: []app.SourceOption{app.OptionHeader, app.OptionSender}, Check: checkSecretHeader,
		Setup: app.Text{
			EN: `1. In Incoming SMS to URL, add a rule with this URL, for the bank's name as sender. 2. As headers enter {"Authorization":"Bearer SECRET"} with the secret in its place, or {"NAME":"SECRET"} with the header that you named for this source. 3. Leave the payload as it is: from, text, sentStamp, receivedStamp, sim.`,
			VI: `1. Trong Incoming SMS to URL, thêm một quy tắc với URL này, người gửi là tên của ngân hàng. 2. Ở phần headers nhập {"Authorization":"Bearer SECRET"} và thay SECRET bằng secret, hoặc {"NAME":"SECRET"} với tên header bạn đã đặt cho nguồn này. 3. Giữ nguyên payload: from, text, sentStamp, receivedStamp, sim.`,
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
