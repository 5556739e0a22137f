package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"time"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
	"baoco/app/sms"
)

// smsForwarder reads the webhooks of SmsForwarder
// (github.com/pppscn/SmsForwarder): a form, or JSON where the merchant wrote
// the parameters so.
var smsForwarder = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "smsforwarder", Name: "SmsForwarder", Group: inbound.PhoneApps,
		About: app.Text{EN: "Android app, forwards notifications of bank apps too",
			VI: "Ứng dụng Android, chuyển tiếp cả thông báo app ngân hàng"},
		Auths: []inbound.Auth{inbound.AuthHMAC}, DefaultAuth: inbound.AuthHMAC, Options: []inbound.SourceOption{inbound.OptionSender},
		Setup: always(app.Text{
			EN: "1. In SmsForwarder, add a webhook with the method POST, this URL (https only: " +
				"the signature does not cover the text) and the secret. 2. " +
				"As parameters enter " + forwarderParameters + ". 3. " +
				"Add a rule that forwards your bank’s SMS to it, or a rule for the notifications of your bank’s app, by its package such as " +
				"com.VCB.",
			VI: "1. Trong SmsForwarder, thêm webhook với phương thức POST, URL này (chỉ dùng https: " +
				"chữ ký không bao gồm nội dung tin) và khoá bí mật. 2. " +
				"Ở phần tham số nhập " + forwarderParameters + ". 3. " +
				"Thêm quy tắc chuyển tiếp SMS của ngân hàng tới webhook đó, hoặc quy tắc cho thông báo của app ngân hàng theo tên gói, " +
				"ví dụ com.VCB.",
		}),
	},
	Verify: verifySMSForwarder,
	read:   readSMSForwarder,
}

const forwarderParameters = "from=[from]&title=[title]&content=[org_content]&timestamp=[timestamp]&sign=[sign]" +
	"&receive_time=[receive_time:yyyy-MM-dd'T'HH:mm:ssZ]"

// smsForwarderWindow is how far the timestamp may be from now. The app's own
// documentation asks for one of at most an hour, because whoever has seen a sign
// can sign any text with it. The app tries again seconds later, with the
// timestamp of the first time.
const smsForwarderWindow = 300 * time.Second

// verifySMSForwarder checks the sign, urlencode(base64(HMAC-SHA256(secret,
// timestamp + "\n" + secret))). It proves that the caller knew the secret at
// that time, and nothing of the text.
func verifySMSForwarder(in Call, _ http.Header) inbound.Refusal {
	v, err := exactjson.ParseFields(in.Body, maxNoticeValues)
	if err != nil {
		return refusal(inbound.RefusalMalformed, "The body is neither a form nor a JSON object.",
			"Nội dung không phải là form hay đối tượng JSON.")
	}
	for _, key := range []string{"timestamp", "sign"} {
		switch {
		case v.Get(key).Word() == "":
			return refusalf(inbound.RefusalMissing, "The field %s is missing.", "Thiếu trường %s.", key)
		case v.Times(key) > 1:
			return refusalf(inbound.RefusalRepeated, "The field %s appears more than once.", "Trường %s xuất hiện nhiều lần.", key)
		}
	}
	stamp, sign := v.Get("timestamp").Word(), []byte(v.Get("sign").Word())
	mac := hmac.New(sha256.New, []byte(in.Source.Secret))
	mac.Write([]byte(stamp + "\n" + in.Source.Secret))
	want := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// The app encodes the sign and then the form with it, so that one encoding is
	// left; a form that follows the documentation to the letter has none.
	if !hmac.Equal(sign, []byte(want)) && !hmac.Equal(sign, []byte(url.QueryEscape(want))) {
		return refusal(inbound.RefusalSignature, "sign does not match: it was computed with a different secret or for a different timestamp.",
			"sign không khớp: được tạo bằng khoá bí mật khác hoặc cho timestamp khác.")
	}
	return checkStamp("timestamp", stamp, time.Millisecond, in.At, smsForwarderWindow)
}

// readSMSForwarder takes the time at which the phone received the text, where
// the parameters have it, and that at which it forwarded it otherwise. The sender of a
// notice is the package of its app, whose title is a part of what the bank says. The
// title of an SMS is the SIM.
func readSMSForwarder(in Call) inbound.Reading {
	v, err := exactjson.ParseFields(in.Body, maxNoticeValues)
	if err != nil {
		return inbound.Reading{Elements: []inbound.Incoming{unreadable("body", "must be a form or a JSON object",
			"phải là form hoặc đối tượng JSON")}}
	}
	m := forwardedSMS{sender: v.Get("from").Str(), received: v.Get("receive_time").Word(), receivedKey: "timestamp"}
	if readReceipt(m.received, in.Zone).IsZero() {
		m.received = v.Get("timestamp").Word()
	}
	m.fault = firstFault(repeatedKey(v, []string{"from", "title", "content", "receive_time"}), readString(v, "content", &m.text))
	if m.notice = sms.FromApp(m.sender); m.notice {
		m.title = v.Get("title").Str()
	}
	return readSMS(in, m)
}
