package apptest

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"baoco/app/inbound"
)

// PhoneText is an SMS on a phone. Zero fields get the values of a default text.
type PhoneText struct {
	Sender, Text string
	Received     time.Time
	ID           string // capcom6's messageId
	Title        string // SmsForwarder's: the title of a notice, or the SIM
}

// Texts of banks: one with a full account number, one with a masked number and
// without the bank and the time, and one that must never be stored.
const (
	acbText   = "ACB: TK 19354957(VND) + 200,000 luc 10:59 14/10/2025. So du 763,222,700. GD: DH123"
	MbbText   = "TK 7220xxxx2005|GD: +5,000,000VND 29/02/20 01:15|SD:151,495,520VND|ND: DH123"
	TcbText   = "TK 19034000000017\nSo tien GD:+10,000,000\nSo du:734,571,040\nNGUYEN VAN A chuyen tien"
	CodeText  = "Vietcombank: Ma OTP cua Quy khach la 839271. Tuyet doi khong cung cap ma nay cho bat ky ai."
	OtpDigits = "839271"
)

func (x PhoneText) Filled() PhoneText {
	x.Sender, x.Text, x.ID = cmp.Or(x.Sender, "ACB"), cmp.Or(x.Text, acbText), cmp.Or(x.ID, "abc123")
	x.Received = cmp.Or(x.Received, time.UnixMilli(1760414385123))
	return x
}

func (x PhoneText) Capcom6() string {
	x = x.Filled()
	return Quoted(map[string]any{
		"id": "Ey6ECgOkVVFjz3CL48B8C", "webhookId": "LreFUt", "deviceId": "ffffffffceb0b1db", "event": "sms:received",
		"payload": map[string]any{
			"messageId": x.ID, "sender": x.Sender, "recipient": "+84901234567", "simNumber": 1, "phoneNumber": x.Sender, "message": x.Text,
			"receivedAt": x.Received.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		},
	})
}

func (x PhoneText) SMSToURL() string {
	x = x.Filled()
	return Quoted(map[string]any{"from": x.Sender, "text": x.Text, "sentStamp": x.Received.UnixMilli() - 4000,
		"receivedStamp": x.Received.UnixMilli(), "sim": "sim1"})
}

// Forwarder returns a call of SmsForwarder with the parameters that Setup names.
func (x PhoneText) Forwarder(s inbound.Source, at time.Time) url.Values {
	x = x.Filled()
	stamp := strconv.FormatInt(at.UnixMilli(), 10)
	return url.Values{
		"from": {x.Sender}, "title": {x.Title}, "content": {x.Text}, "timestamp": {stamp},
		"sign":         {url.QueryEscape(ForwarderSign(s.Secret, stamp))},
		"receive_time": {x.Received.UTC().Format("2006-01-02T15:04:05-0700")},
	}
}
