package provider

import (
	"crypto/sha256"
	"net/http"

	"baoco/app"
	"baoco/app/exactjson"
	"baoco/app/inbound"
)

// capcom6 reads the webhooks of SMS Gateway for Android
// (docs.sms-gate.app). The app tries again for about two days, so there is no
// window for its timestamp.
var capcom6 = Kind{
	ProviderKind: inbound.ProviderKind{
		Provider: "capcom6", Name: "SMS Gateway for Android", Group: inbound.PhoneApps,
		About: app.Text{EN: "sms-gate.app, webhook for received SMS", VI: "sms-gate.app, webhook khi nhận SMS"},
		Auths: []inbound.Auth{inbound.AuthHMAC}, DefaultAuth: inbound.AuthHMAC, Options: []inbound.SourceOption{inbound.OptionSender},
		Setup: always(app.Text{
			EN: "1. In SMS Gateway for Android, register a webhook for the event sms:received with this URL. 2. " +
				"Enter the secret under Settings > Webhooks > Signing Key. 3. Exclude the app from the phone’s battery saving, and have your bank’s " +
				"SMS sent to this phone.",
			VI: "1. Trong SMS Gateway for Android, đăng ký webhook cho sự kiện sms:received với URL này. 2. " +
				"Nhập khoá bí mật tại Settings > Webhooks > Signing Key. 3. Tắt chế độ tiết kiệm pin cho ứng dụng và đăng ký nhận SMS biến " +
				"động số dư về máy này.",
		}),
	},
	Verify: verifyCapcom6,
	read:   readCapcom6,
}

// verifyCapcom6 checks a signature over the body and then the timestamp, with
// nothing between them. A timestamp of exactly ten digits keeps anybody from
// moving characters from the one to the other.
func verifyCapcom6(in Call, h http.Header) inbound.Refusal {
	stamp, why := oneHeader(h, "X-Timestamp")
	if why.Code != "" {
		return why
	}
	signature, why := oneHeader(h, "X-Signature")
	if why.Code != "" {
		return why
	}
	if len(stamp) != 10 || !app.AllDigits(stamp) {
		return refusal(inbound.RefusalMalformed, "X-Timestamp is not a timestamp in seconds with ten digits.",
			"X-Timestamp không phải là mốc thời gian tính bằng giây gồm mười chữ số.")
	}
	return checkHexHMAC("X-Signature", signature, sha256.New, in.Source.Secret, in.Body, []byte(stamp))
}

// readCapcom6 reads the event of a received text. Other events of the app, of
// texts that were sent and of the app itself, are not kept.
func readCapcom6(in Call) inbound.Reading {
	v, unread := parseObject(in.Body)
	if unread != nil {
		return inbound.Reading{Elements: unread}
	}
	if event := v.Get("event"); event.Kind == exactjson.String && event.Text != "sms:received" && v.Times("event") == 1 {
		return inbound.Reading{Drop: true}
	}
	payload := v.Get("payload")
	sender, senderKey := payload.Get("sender"), "sender"
	if sender.Kind == exactjson.Null { // as older versions write it
		sender, senderKey = payload.Get("phoneNumber"), "phoneNumber"
	}
	m := forwardedSMS{
		id: payload.Get("messageId").Word(), sender: sender.Str(), received: payload.Get("receivedAt").Word(), receivedKey: "receivedAt",
	}
	m.fault = firstFault(
		repeatedKey(v, []string{"event", "payload"}),
		repeatedKey(payload, []string{"messageId", senderKey, "message", "receivedAt"}),
		readString(payload, "message", &m.text),
	)
	return readSMS(in, m)
}
